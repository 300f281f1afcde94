/*
 * The sampler: gathers batches, offers them to the memory and keeps the bytes of the records that it stores.
 *
 * An id may occur once in a stream, so every id that a record brings along is remembered: in 16 bytes of a table that is
 * between three eighths and three quarters full, which ids that are whole numbers share with up to 63 neighbours, and, if it is
 * longer than 15 bytes, its bytes. Records without ids are numbered; of those only the runs of numbers are remembered, so that
 * a stream without ids takes constant memory.
 */
#include "sample/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/hash_table.h"
#include "base/progress.h"
#include "memory/internal.h"
#include "sample/state.h"

/* ---- ids ------------------------------------------------------------------------------------------------------------ */

#define FIRST_PLACES 1024u
#define LONG_ID 0xFFu /* in an entry's last byte */

ocdm__id_text ocdm__id_of_kept(const ocdm__sampling *sampling, uint32_t slot)
{
    const ocdm__kept_record *kept = &sampling->kept[slot];
    return (ocdm__id_text){.content = kept->bytes + kept->line_length,
                           .length = kept->id_length,
                           .shown = kept->bytes + kept->shown_at,
                           .shown_length = kept->shown_length};
}

ocdm__id_text ocdm__id_of_item(const ocdm__sampling *sampling, uint32_t item)
{
    const ocdm__batch_record *entry = &sampling->batch[item];
    const ocdm__record *record = &entry->record;
    if (!record->has_id)
        return (ocdm__id_text){.content = entry->number, .length = entry->number_length};
    return (ocdm__id_text){.content = ocdm__records_id(sampling->records, record),
                           .length = record->id_length,
                           .shown = ocdm__records_bytes(sampling->records, record->at) + record->shown_at,
                           .shown_length = record->shown_length};
}

/* A record without an id has its number as one, in digits. */
static void number_record(const ocdm__sampling *sampling, ocdm__batch_record *entry)
{
    uint64_t number = sampling->accepted;
    char digits[sizeof entry->number];
    uint32_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    entry->number_length = (uint32_t)sizeof digits - at;
    memcpy(entry->number, digits + at, entry->number_length);
}

/* The entry of an id that is no number, as far as it follows from the id alone. OCDM__INPUT_PADDING bytes from its content on
 * may be read. */
static union ocdm__seen_id entry_of(const ocdm__id_text *id)
{
    union ocdm__seen_id entry = {.word = {0}};
    bool is_short = id->length <= OCDM__SHORT_ID;
    if (is_short)
        ocdm__short_label(id->content, id->length, &entry.word[0], &entry.word[1]);
    else
        entry.word[0] = ocdm__hash_bytes(id->content, id->length);
    entry.byte[15] = (unsigned char)(is_short ? id->length + 1 : LONG_ID);
    return entry;
}

/* Whether a place has the long id: the bytes before the last say where it is, its length, then its content. */
static bool is_long_id(const struct ocdm__seen_ids *seen, const union ocdm__seen_id *place, const ocdm__id_text *id)
{
    size_t at = 0, length;
    for (int i = 15; i-- > 8;)
        at = at << 8 | place->byte[i];
    memcpy(&length, seen->bytes + at, sizeof length);
    return length == id->length && memcmp(seen->bytes + at + sizeof length, id->content, length) == 0;
}

/* Where the search for an entry starts. */
static inline size_t start_of(const struct ocdm__seen_ids *seen, const struct ocdm__seen_table *table,
                              const union ocdm__seen_id *entry)
{
    return (size_t)(table == &seen->numbers ? ocdm__hash_number(entry->word[0])
                                            : ocdm__hash_pair(entry->word[0], entry->byte[15] == LONG_ID ? 0 : entry->word[1]));
}

/* The place of the block of a number, or the free place where it would be. */
static union ocdm__seen_id *find_block(const struct ocdm__seen_ids *seen, uint64_t number)
{
    union ocdm__seen_id block = {.word = {number / 64}};
    for (size_t i = start_of(seen, &seen->numbers, &block);; i++) {
        union ocdm__seen_id *place = &seen->numbers.places[i & seen->numbers.mask];
        if (place->word[1] == 0 || place->word[0] == block.word[0])
            return place;
    }
}

/* The place of an id that is no number, or the free place where it would be. */
static union ocdm__seen_id *find_text(const struct ocdm__seen_ids *seen, const union ocdm__seen_id *entry,
                                      const ocdm__id_text *id)
{
    bool lengthy = entry->byte[15] == LONG_ID;
    for (size_t i = start_of(seen, &seen->texts, entry);; i++) {
        union ocdm__seen_id *place = &seen->texts.places[i & seen->texts.mask];
        if (place->word[1] == 0)
            return place;
        if (place->word[0] == entry->word[0] &&
            (lengthy ? place->byte[15] == LONG_ID && is_long_id(seen, place, id) : place->word[1] == entry->word[1]))
            return place;
    }
}

/* Makes room for one more entry: doubles a table that is three quarters full. */
static ocdm_status reserve_place(const struct ocdm__seen_ids *seen, struct ocdm__seen_table *table, ocdm_error *error)
{
    if (table->places != NULL && table->count < (table->mask + 1) / 4 * 3)
        return OCDM_OK;
    size_t count = table->places != NULL ? 2 * (table->mask + 1) : FIRST_PLACES;
    union ocdm__seen_id *places = ocdm__allocate(count, sizeof *places);
    if (places == NULL)
        return ocdm__fail(error, OCDM_NO_MEMORY, "`--no-id` numbers the records instead, in constant memory",
                          "out of memory for the ids of %llu records", (unsigned long long)seen->count);
    for (size_t i = 0; table->places != NULL && i <= table->mask; i++) {
        size_t to = start_of(seen, table, &table->places[i]);
        if (table->places[i].word[1] == 0)
            continue;
        while (places[to & (count - 1)].word[1] != 0)
            to++;
        places[to & (count - 1)] = table->places[i];
    }
    ocdm__release(table->places);
    table->places = places;
    table->mask = count - 1;
    return OCDM_OK;
}

/* Notes an id that is no number; `taken` when another record had it before. */
static ocdm_status see_text(struct ocdm__seen_ids *seen, const ocdm__id_text *id, bool *taken, ocdm_error *error)
{
    OCDM_TRY(reserve_place(seen, &seen->texts, error));
    union ocdm__seen_id entry = entry_of(id), *place = find_text(seen, &entry, id);
    *taken = place->word[1] != 0;
    if (*taken)
        return OCDM_OK;
    if (entry.byte[15] == LONG_ID) {
        size_t at = seen->used, needed = at + sizeof id->length + id->length;
        if (!ocdm__reserve(&seen->bytes, &seen->room, needed, 1))
            return ocdm__fail_memory(error, "the ids of the records");
        memcpy(seen->bytes + at, &id->length, sizeof id->length);
        memcpy(seen->bytes + at + sizeof id->length, id->content, id->length);
        seen->used = needed;
        for (int i = 8; i < 15; i++, at >>= 8)
            entry.byte[i] = (unsigned char)at;
    }
    *place = entry;
    seen->texts.count++;
    seen->count++;
    return OCDM_OK;
}

/* The same of a number. */
static ocdm_status see_number(struct ocdm__seen_ids *seen, uint64_t number, bool *taken, ocdm_error *error)
{
    OCDM_TRY(reserve_place(seen, &seen->numbers, error));
    union ocdm__seen_id *block = find_block(seen, number);
    uint64_t bit = (uint64_t)1 << number % 64;
    *taken = block->word[1] & bit;
    seen->count += !*taken;
    seen->numbers.count += block->word[1] == 0;
    *block = (union ocdm__seen_id){.word = {number / 64, block->word[1] | bit}};
    return OCDM_OK;
}

static bool is_number_seen(const struct ocdm__seen_ids *seen, uint64_t number)
{
    return seen->numbers.places != NULL && find_block(seen, number)->word[1] >> number % 64 & 1;
}

/* Whether an id is a number in its usual form, below 10^19. */
static bool read_number(const ocdm__id_text *id, uint64_t *number)
{
    if (id->length == 0 || id->length > 19 || (id->content[0] == '0' && id->length > 1))
        return false;
    *number = 0;
    for (size_t i = 0; i < id->length; i++) {
        unsigned digit = (unsigned char)id->content[i] - (unsigned)'0';
        if (digit > 9)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* Whether a number was given to a record that had no id of its own. */
static bool is_given(const struct ocdm__seen_ids *seen, uint64_t number)
{
    size_t low = 0, high = seen->run_count;
    if (high == 0)
        return false;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(seen->runs[middle].from <= number ? &low : &high) = middle;
    }
    return number >= seen->runs[low].from && number < seen->runs[low].to;
}

/* Notes that a record was numbered: numbers rise, so that records without ids are few runs. */
static ocdm_status give_number(struct ocdm__seen_ids *seen, uint64_t number, ocdm_error *error)
{
    if (seen->run_count > 0 && seen->runs[seen->run_count - 1].to == number) {
        seen->runs[seen->run_count - 1].to++;
        return OCDM_OK;
    }
    if (!ocdm__reserve(&seen->runs, &seen->run_room, seen->run_count + 1, sizeof *seen->runs))
        return ocdm__fail_memory(error, "the ids of the records");
    seen->runs[seen->run_count++] = (struct ocdm__number_run){number, number + 1};
    return OCDM_OK;
}

/* Notes the id of an item of the batch, whose record is there. If another record had it, `taken` is true. */
static ocdm_status take_id(ocdm__sampling *sampling, uint32_t item, bool *taken, ocdm_error *error)
{
    struct ocdm__seen_ids *seen = &sampling->seen;
    ocdm__batch_record *entry = &sampling->batch[item];
    uint64_t number = sampling->accepted;
    if (!entry->record.has_id) {
        number_record(sampling, entry);
        *taken = is_number_seen(seen, number);
        return *taken ? OCDM_OK : give_number(seen, number, error);
    }
    ocdm__id_text id = ocdm__id_of_item(sampling, item);
    if (!read_number(&id, &number))
        return see_text(seen, &id, taken, error);
    *taken = is_given(seen, number);
    return *taken ? OCDM_OK : see_number(seen, number, taken, error);
}

/* ---- opening and closing -------------------------------------------------------------------------------------------- */

static ocdm_status open_records(const ocdm__sample_options *options, ocdm__records **records, ocdm_error *error)
{
    OCDM_TRY(ocdm__records_open(records, options->path, &options->records, options->stop, error));
    ocdm__records_follow(*records, options->more_paths, options->more_count);
    return OCDM_OK;
}

/* A pass over all records for their number. */
ocdm_status ocdm__count_records(const ocdm__sample_options *options, uint64_t *count, uint64_t *sum, ocdm_error *error)
{
    ocdm__records *records = NULL;
    ocdm__record record;
    bool found = true;
    *count = 0;
    if (sum != NULL)
        *sum = OCDM__CHECKSUM_START;
    ocdm_status status = open_records(options, &records, error);
    while (status == OCDM_OK && found) {
        status = ocdm__records_next(records, &record, &found, error);
        if (status == OCDM_OK && found) {
            ++*count;
            if (sum != NULL)
                *sum = ocdm__add_record(*sum, ocdm__records_bytes(records, record.at), record.length);
            ocdm__records_release(records);
        }
    }
    ocdm__records_close(records);
    return status;
}

/* The capacity as a share of the records, rounded to nearest, at least 1. */
static ocdm_status settle_capacity(ocdm__sample_options *options, ocdm_error *error)
{
    uint64_t count;
    if (!(options->percent > 0))
        return OCDM_OK;
    OCDM_TRY(ocdm__count_records(options, &count, NULL, error));
    double share = floor((double)count * options->percent / 100 + 0.5);
    if (share > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_LIMIT, "", "%g %% of %llu records are more than a memory can hold", options->percent,
                          (unsigned long long)count);
    options->memory.capacity = share < 1 ? 1 : (uint32_t)share;
    return OCDM_OK;
}

static ocdm_status open_parts(ocdm__sampling *sampling, ocdm_error *error)
{
    ocdm__sample_options *options = &sampling->options;
    OCDM_TRY(settle_capacity(options, error));
    OCDM_TRY(ocdm_memory_create(&options->memory, &sampling->memory, error));
    ocdm__memory_trust(sampling->memory);
    OCDM_TRY(open_records(options, &sampling->records, error));
    OCDM_TRY(ocdm__take_label_options(sampling, error));
    if (options->shards != NULL)
        OCDM_TRY(ocdm__begin_merge(sampling, error));
    OCDM_TRY(ocdm__open_rest(sampling, error));
    if (options->trace != NULL)
        OCDM_TRY(ocdm__output_open(&sampling->trace, options->trace, error));
    return options->summary != NULL ? ocdm__output_open(&sampling->summary, options->summary, error) : OCDM_OK;
}

ocdm_status ocdm__sampling_open(ocdm__sampling **sampling, const ocdm__sample_options *options, ocdm_error *error)
{
    ocdm__sampling *made = ocdm__allocate(1, sizeof *made);
    if (!made)
        return ocdm__fail_memory(error, "the sampler");
    made->options = *options;
    made->started = ocdm__seconds_now();
    made->single_label = options->memory.policy != NULL && options->memory.policy->traits & OCDM_SINGLE_LABEL;
    ocdm_status status = open_parts(made, error);
    if (status == OCDM_OK)
        *sampling = made;
    else
        ocdm__sampling_close(made);
    return status;
}

void ocdm__sampling_close(ocdm__sampling *sampling)
{
    if (!sampling)
        return;
    ocdm__output_abandon(&sampling->output);
    ocdm__output_abandon(&sampling->rest);
    ocdm__output_abandon(&sampling->trace);
    ocdm__output_abandon(&sampling->summary);
    ocdm__records_close(sampling->records);
    ocdm_memory_destroy(sampling->memory);
    ocdm__release(sampling->seen.numbers.places);
    ocdm__release(sampling->seen.texts.places);
    ocdm__release(sampling->seen.bytes);
    ocdm__release(sampling->seen.runs);
    ocdm__release(sampling->labels.named);
    ocdm__release(sampling->places);
    for (size_t slot = 0; slot < sampling->kept_room; slot++)
        ocdm__release(sampling->kept[slot].bytes);
    ocdm__release(sampling->kept);
    ocdm__release(sampling->batch);
    ocdm__release(sampling->samples);
    ocdm__release(sampling);
}

const ocdm_memory *ocdm__sampling_memory(const ocdm__sampling *sampling)
{
    return sampling->memory;
}

const ocdm__records *ocdm__sampling_records(const ocdm__sampling *sampling)
{
    return sampling->records;
}

/* ---- gathering a batch ---------------------------------------------------------------------------------------------- */

static bool has_several_labels(const ocdm__sampling *sampling, const ocdm__record *record)
{
    const uint32_t *labels = sampling->records->numbers + record->label_at;
    for (size_t i = 1; i < record->label_count; i++)
        if (labels[i] != labels[0])
            return true;
    return false;
}

/* Adds the record that was read to the batch, unless something is wrong with it or none of its labels counts. */
static ocdm_status accept_record(ocdm__sampling *sampling, ocdm__record *record, ocdm_error *error)
{
    if (record->label_count == 0 && sampling->options.unlabelled != OCDM__UNLABELLED_KEEP) {
        /* A record without labels changes no count, so that a balanced memory would keep it for ever: unless the user wants it,
         * it is left out. */
        if (sampling->options.unlabelled == OCDM__UNLABELLED_ERROR)
            return ocdm__records_refuse(sampling->records, record, "no label", "--unlabelled drop leaves such records out",
                                        false, error);
        sampling->unlabelled++;
        ocdm__write_left_out(sampling, record);
        ocdm__records_drop_labels(sampling->records, record, NULL, 0, 0, false);
        return OCDM_OK;
    }
    if (record->label_count > 0 && !ocdm__drop_labels(sampling, record)) {
        ocdm__write_left_out(sampling, record);
        sampling->passed++;
        return OCDM_OK;
    }
    if (sampling->single_label && has_several_labels(sampling, record)) {
        char reason[160];
        snprintf(reason, sizeof reason, "several labels, and the policy %s takes one", sampling->options.memory.policy->name);
        return ocdm__records_refuse(sampling->records, record, reason, NULL, false, error);
    }
    bool taken;
    OCDM_TRY(take_id(sampling, (uint32_t)sampling->batch_count, &taken, error));
    if (taken) {
        char reason[160];
        ocdm__id_text id = ocdm__id_of_item(sampling, (uint32_t)sampling->batch_count);
        int length = id.length < 100 ? (int)id.length : 100;
        snprintf(reason, sizeof reason, "the id %.*s, which an earlier record has", length, id.content);
        return ocdm__records_refuse(
            sampling->records, record, reason,
            sampling->options.shards == NULL ? "--on-duplicate skip passes over such records, --no-id ignores ids" : NULL,
            sampling->options.skip_duplicates, error);
    }
    sampling->batch_count++;
    sampling->accepted++;
    return OCDM_OK;
}

static ocdm_status gather(ocdm__sampling *sampling, bool *more, ocdm_error *error)
{
    sampling->batch_count = 0;
    while (sampling->batch_count < sampling->options.memory.batch) {
        if (!ocdm__reserve(&sampling->batch, &sampling->batch_room, sampling->batch_count + 1, sizeof *sampling->batch))
            return ocdm__fail_memory(error, "a batch");
        ocdm__record *record = &sampling->batch[sampling->batch_count].record;
        ocdm_status status = ocdm__records_next(sampling->records, record, more, error);
        if (status != OCDM_OK || !*more)
            return status;
        OCDM_TRY(accept_record(sampling, record, error));
    }
    return OCDM_OK;
}

/* ---- offering it to the memory -------------------------------------------------------------------------------------- */

/* Keeps the bytes of a record that was stored. A block is used again when it fits well, so that one long line does not keep
 * memory forever. */
static ocdm_status keep(ocdm__sampling *sampling, uint32_t slot, uint32_t item, ocdm_error *error)
{
    const ocdm__record *record = &sampling->batch[item].record;
    ocdm__id_text id = {.length = 0};
    if (!ocdm__reserve_zeroed(&sampling->kept, &sampling->kept_room, (size_t)slot + 1, sizeof *sampling->kept))
        return ocdm__fail_memory(error, "the records in memory");
    if (sampling->options.trace != NULL)
        id = ocdm__id_of_item(sampling, item);
    ocdm__kept_record *kept = &sampling->kept[slot];
    uint32_t size = (uint32_t)(record->length + id.length);
    if (kept->bytes == NULL || size > kept->room || kept->room / 2 > size + 64) {
        ocdm__release(kept->bytes);
        kept->bytes = ocdm__resize(NULL, size, 1);
        kept->room = kept->bytes != NULL ? size : 0;
    }
    if (kept->bytes == NULL)
        return ocdm__fail_memory(error, "a record in memory");
    memcpy(kept->bytes, ocdm__records_bytes(sampling->records, record->at), record->length);
    if (id.length > 0)
        memcpy(kept->bytes + record->length, id.content, id.length);
    kept->line_length = (uint32_t)record->length;
    kept->id_length = (uint32_t)id.length;
    kept->shown_at = (uint32_t)record->shown_at;
    kept->shown_length = (uint32_t)record->shown_length;
    return OCDM_OK;
}

static ocdm_status offer(ocdm__sampling *sampling, ocdm_error *error)
{
    const size_t count = sampling->batch_count;
    ocdm_change change;
    if (!ocdm__reserve(&sampling->samples, &sampling->sample_room, count, sizeof *sampling->samples))
        return ocdm__fail_memory(error, "a batch");
    for (size_t i = 0; i < count; i++) {
        const ocdm__record *record = &sampling->batch[i].record;
        const uint32_t *labels = record->label_count > 0 ? sampling->records->numbers + record->label_at : NULL;
        sampling->samples[i] = (ocdm_sample){sampling->accepted - count + i, labels, record->label_count};
    }
    OCDM_TRY(ocdm_memory_update(sampling->memory, sampling->samples, count, &change, error));
    sampling->step++;
    if (sampling->options.trace != NULL)
        ocdm__write_trace(sampling, &change);
    ocdm__write_departures(sampling, &change);
    for (size_t i = 0; i < change.stored; i++)
        OCDM_TRY(keep(sampling, change.slot[i], change.item[i], error));
    ocdm__records_release(sampling->records);
    return OCDM_OK;
}

ocdm_status ocdm__sampling_step(ocdm__sampling *sampling, bool *more, ocdm_error *error)
{
    *more = true;
    ocdm_status status = gather(sampling, more, error);
    if (status == OCDM_OK && sampling->batch_count > 0)
        status = offer(sampling, error);
    if (sampling->options.stop && *sampling->options.stop)
        *more = false;
    return status;
}
