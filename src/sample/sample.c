/*
 * The sampler: gathers batches, offers them to the memory and keeps the bytes of the records that it stores.
 *
 * An id may be held once, by a record in memory or in the batch. A table leads from the hash of an id to its holders; two ids
 * may share a hash, so the bytes of every holder are compared.
 */
#include "sample/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/hash_bytes.h"
#include "base/progress.h"
#include "sample/state.h"

/* ---- ids ------------------------------------------------------------------------------------------------------------ */

#define SMALL_BATCH 16u
#define FIRST_ROOM 64u
#define MOST_ROOM (UINT32_MAX / 3u)

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

static bool is_same(const ocdm__id_text *a, const ocdm__id_text *b)
{
    return a->length == b->length && memcmp(a->content, b->content, a->length) == 0;
}

static bool is_in_table(const ocdm__sampling *sampling, uint64_t hash, const ocdm__id_text *id)
{
    uint32_t tag = ocdm__hash_table_tag(hash), place = tag & sampling->ids.mask, holder;
    while ((holder = ocdm__hash_table_next(&sampling->ids, tag, &place)) != OCDM_NONE) {
        ocdm__id_text other =
            holder & OCDM__IN_BATCH ? ocdm__id_of_item(sampling, holder & ~OCDM__IN_BATCH) : ocdm__id_of_kept(sampling, holder);
        if (is_same(&other, id))
            return true;
    }
    return false;
}

/* Small batches are searched linearly: most of their records leave at once, so that adding them to the table and removing them
 * would cost more. */
static bool is_small(const ocdm__sampling *sampling)
{
    return sampling->options.memory.batch <= SMALL_BATCH;
}

static bool is_in_batch(const ocdm__sampling *sampling, uint64_t hash, const ocdm__id_text *id)
{
    for (uint32_t i = 0; i < sampling->batch_count; i++) {
        if (sampling->batch[i].hash != hash)
            continue;
        ocdm__id_text other = ocdm__id_of_item(sampling, i);
        if (is_same(&other, id))
            return true;
    }
    return false;
}

/* Doubles the table. An entry's tag is all of the hash that the table uses. */
static ocdm_status grow_ids(ocdm__sampling *sampling, ocdm_error *error)
{
    struct ocdm__hash_table larger, *ids = &sampling->ids;
    if (sampling->id_room > MOST_ROOM / 2)
        return ocdm__fail(error, OCDM_LIMIT, "use a smaller memory or batch", "too many ids in memory and batch: over %u",
                          sampling->id_room);
    uint32_t room = sampling->id_room ? 2 * sampling->id_room : FIRST_ROOM;
    if (ocdm__hash_table_create(&larger, room) != OCDM_OK)
        return ocdm__fail_memory(error, "the ids in memory");
    for (uint64_t place = 0; ids->places && place <= ids->mask; place++)
        if (ids->places[place].entry != OCDM_NONE)
            ocdm__hash_table_add(&larger, (uint64_t)ids->places[place].tag << 32, ids->places[place].entry);
    ocdm__hash_table_destroy(ids);
    *ids = larger;
    sampling->id_room = room;
    return OCDM_OK;
}

static void add(ocdm__sampling *sampling, uint64_t hash, uint32_t holder)
{
    ocdm__hash_table_add(&sampling->ids, hash, holder);
    sampling->id_count++;
}

static void remove_holder(ocdm__sampling *sampling, uint64_t hash, uint32_t holder)
{
    ocdm__hash_table_remove(&sampling->ids, hash, holder);
    sampling->id_count--;
}

/* Notes the id of an item of the batch, whose record is there. If another record holds it, `taken` is true and nothing is
 * noted. */
static ocdm_status take_id(ocdm__sampling *sampling, uint32_t item, bool *taken, ocdm_error *error)
{
    ocdm_status status = sampling->id_count + item < sampling->id_room ? OCDM_OK : grow_ids(sampling, error);
    if (status != OCDM_OK)
        return status;
    ocdm__batch_record *entry = &sampling->batch[item];
    if (!entry->record.has_id)
        number_record(sampling, entry);
    ocdm__id_text id = ocdm__id_of_item(sampling, item);
    entry->hash = ocdm__hash_bytes(id.content, id.length);
    *taken = is_in_table(sampling, entry->hash, &id) || (is_small(sampling) && is_in_batch(sampling, entry->hash, &id));
    if (!*taken && !is_small(sampling))
        add(sampling, entry->hash, OCDM__IN_BATCH | item);
    return OCDM_OK;
}

/* Frees the id of a record that has left memory or batch. */
static void forget_id(ocdm__sampling *sampling, const ocdm_departure *left)
{
    if (left->item == OCDM_NONE)
        remove_holder(sampling, sampling->kept[left->slot].hash, left->slot);
    else if (!is_small(sampling))
        remove_holder(sampling, sampling->batch[left->item].hash, OCDM__IN_BATCH | left->item);
}

/* Gives the id of an item to the slot where the item is now. */
static void hand_over_id(ocdm__sampling *sampling, uint32_t item, uint32_t slot)
{
    uint64_t hash = sampling->batch[item].hash;
    if (!is_small(sampling))
        remove_holder(sampling, hash, OCDM__IN_BATCH | item);
    add(sampling, hash, slot);
}

/* ---- opening and closing -------------------------------------------------------------------------------------------- */

/* One label=weight; labels may have a = in them, so the last one counts. */
static ocdm_status set_weight(ocdm__sampling *sampling, const char *text, size_t length, ocdm_error *error)
{
    char number[64] = "", *end = number;
    size_t label = length;
    while (label > 0 && text[label - 1] != '=')
        label--;
    size_t digits = length - label;
    double weight = 0;
    if (label > 1 && digits > 0 && digits < sizeof number) {
        memcpy(number, text + label, digits);
        number[digits] = '\0';
        weight = strtod(number, &end);
    }
    if (end == number || *end != '\0')
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "write it as in --weight cat=3,dog=0.5",
                          "the weight \"%.*s\" is not label=number", (int)(length < 100 ? length : 100), text);
    uint32_t class_id = 0;
    ocdm_status status = ocdm__records_number_label(sampling->records, text, label - 1, &class_id, error);
    return status == OCDM_OK ? ocdm_memory_set_weight(sampling->memory, class_id, weight, error) : status;
}

static ocdm_status set_weights(ocdm__sampling *sampling, ocdm_error *error)
{
    const char *text = sampling->options.weights;
    ocdm_status status = OCDM_OK;
    while (text != NULL && status == OCDM_OK) {
        size_t length = strcspn(text, ",");
        status = set_weight(sampling, text, length, error);
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return status;
}

static ocdm_status open_parts(ocdm__sampling *sampling, ocdm_error *error)
{
    const ocdm__sample_options *options = &sampling->options;
    ocdm_status status = ocdm_memory_create(&options->memory, &sampling->memory, error);
    if (status == OCDM_OK)
        status = ocdm__records_open(&sampling->records, options->path, &options->records, options->stop, error);
    if (status == OCDM_OK)
        status = set_weights(sampling, error);
    if (status == OCDM_OK && options->trace)
        status = ocdm__output_open(&sampling->trace, options->trace, error);
    if (status == OCDM_OK && options->summary)
        status = ocdm__output_open(&sampling->summary, options->summary, error);
    return status;
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
    ocdm__output_abandon(&sampling->trace);
    ocdm__output_abandon(&sampling->summary);
    ocdm__records_close(sampling->records);
    ocdm_memory_destroy(sampling->memory);
    ocdm__hash_table_destroy(&sampling->ids);
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

static ocdm_status grow_batch(ocdm__sampling *sampling, ocdm_error *error)
{
    bool failed = false;
    size_t room = ocdm__larger_room(sampling->batch_room, 1);
    sampling->batch = ocdm__grown(sampling->batch, room, sizeof *sampling->batch, &failed);
    sampling->samples = ocdm__grown(sampling->samples, room, sizeof *sampling->samples, &failed);
    if (failed)
        return ocdm__fail_memory(error, "a batch");
    sampling->batch_room = room;
    return OCDM_OK;
}

static bool has_several_labels(const ocdm__sampling *sampling, const ocdm__record *record)
{
    const uint32_t *labels = ocdm__records_labels(sampling->records) + record->label_at;
    for (size_t i = 1; i < record->label_count; i++)
        if (labels[i] != labels[0])
            return true;
    return false;
}

static ocdm_status refuse_labels(ocdm__sampling *sampling, const ocdm__record *record, ocdm_error *error)
{
    char reason[160];
    snprintf(reason, sizeof reason, "several labels, and the policy %s takes one", sampling->options.memory.policy->name);
    return ocdm__records_refuse(sampling->records, record, reason, error);
}

static ocdm_status refuse_id(ocdm__sampling *sampling, const ocdm__record *record, ocdm_error *error)
{
    char reason[160];
    ocdm__id_text id = ocdm__id_of_item(sampling, (uint32_t)sampling->batch_count);
    int length = id.length < 100 ? (int)id.length : 100;
    snprintf(reason, sizeof reason, "the id %.*s, which memory or batch already hold", length, id.content);
    return ocdm__records_refuse(sampling->records, record, reason, error);
}

/* Adds the record that was read to the batch, unless something is wrong with it. */
static ocdm_status accept_record(ocdm__sampling *sampling, const ocdm__record *record, ocdm_error *error)
{
    if (sampling->single_label && has_several_labels(sampling, record))
        return refuse_labels(sampling, record, error);
    bool taken;
    ocdm_status status = take_id(sampling, (uint32_t)sampling->batch_count, &taken, error);
    if (status != OCDM_OK)
        return status;
    if (taken)
        return refuse_id(sampling, record, error);
    sampling->batch_count++;
    sampling->accepted++;
    return OCDM_OK;
}

static ocdm_status gather(ocdm__sampling *sampling, bool *more, ocdm_error *error)
{
    sampling->batch_count = 0;
    while (sampling->batch_count < sampling->options.memory.batch) {
        ocdm_status status = sampling->batch_count < sampling->batch_room ? OCDM_OK : grow_batch(sampling, error);
        if (status != OCDM_OK)
            return status;
        ocdm__record *record = &sampling->batch[sampling->batch_count].record;
        status = ocdm__records_next(sampling->records, record, more, error);
        if (status != OCDM_OK || !*more)
            return status;
        status = accept_record(sampling, record, error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

/* ---- offering it to the memory -------------------------------------------------------------------------------------- */

static ocdm_status update(ocdm__sampling *sampling, ocdm_change *change, ocdm_error *error)
{
    const uint32_t *labels = ocdm__records_labels(sampling->records);
    uint64_t first = sampling->accepted - sampling->batch_count;
    for (size_t i = 0; i < sampling->batch_count; i++) {
        const ocdm__record *record = &sampling->batch[i].record;
        sampling->samples[i] = (ocdm_sample){.id = first + i,
                                             .labels = record->label_count ? labels + record->label_at : NULL,
                                             .label_count = record->label_count};
    }
    return ocdm_memory_update(sampling->memory, sampling->samples, sampling->batch_count, change, error);
}

static ocdm_status grow_kept(ocdm__sampling *sampling, uint32_t slot, ocdm_error *error)
{
    if (!ocdm__reserve_zeroed(&sampling->kept, &sampling->kept_room, (size_t)slot + 1, sizeof *sampling->kept))
        return ocdm__fail_memory(error, "the records in memory");
    return OCDM_OK;
}

/* Allocates `size` bytes for a slot; reuses its old block when that fits well, so that one long line does not keep memory
 * forever. */
static ocdm_status refit(ocdm__kept_record *kept, uint32_t size, ocdm_error *error)
{
    if (kept->bytes && size <= kept->room && kept->room / 2 <= size + 64)
        return OCDM_OK;
    ocdm__release(kept->bytes);
    kept->bytes = ocdm__resize(NULL, size, 1);
    kept->room = kept->bytes ? size : 0;
    return kept->bytes ? OCDM_OK : ocdm__fail_memory(error, "a record in memory");
}

static ocdm_status keep(ocdm__sampling *sampling, uint32_t slot, uint32_t item, ocdm_error *error)
{
    ocdm_status status = slot < sampling->kept_room ? OCDM_OK : grow_kept(sampling, slot, error);
    if (status != OCDM_OK)
        return status;
    const ocdm__batch_record *entry = &sampling->batch[item];
    const ocdm__record *record = &entry->record;
    ocdm__id_text id = ocdm__id_of_item(sampling, item);
    ocdm__kept_record *kept = &sampling->kept[slot];
    status = refit(kept, (uint32_t)(record->length + id.length), error);
    if (status != OCDM_OK)
        return status;
    memcpy(kept->bytes, ocdm__records_bytes(sampling->records, record->at), record->length);
    memcpy(kept->bytes + record->length, id.content, id.length);
    kept->hash = entry->hash;
    kept->line_length = (uint32_t)record->length;
    kept->id_length = (uint32_t)id.length;
    kept->shown_at = (uint32_t)record->shown_at;
    kept->shown_length = (uint32_t)record->shown_length;
    hand_over_id(sampling, item, slot);
    return OCDM_OK;
}

static ocdm_status offer(ocdm__sampling *sampling, ocdm_error *error)
{
    ocdm_change change;
    ocdm_status status = update(sampling, &change, error);
    if (status != OCDM_OK)
        return status;
    sampling->step++;
    if (sampling->options.trace)
        ocdm__write_trace(sampling, &change);
    for (size_t i = 0; i < change.left_count; i++)
        forget_id(sampling, &change.left[i]);
    for (size_t i = 0; status == OCDM_OK && i < change.stored; i++)
        status = keep(sampling, change.slot[i], change.item[i], error);
    ocdm__records_release(sampling->records);
    return status;
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
