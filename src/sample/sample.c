/* The sampler: gathers batches, offers them to the memory and keeps the bytes of the records that it stores. */
#include "sample/sample.h"

#include "base/progress.h"
#include "memory/internal.h"
#include "sample/state.h"

/* ---- opening and closing -------------------------------------------------------------------------------------------- */

static ocdm_status open_records(const ocdm__sample_options *options, ocdm__records **records, ocdm_error *error)
{
    const char *first = options->path_count > 0 ? options->paths[0] : NULL;
    OCDM_TRY(ocdm__records_open(records, first, &options->records, options->stop, error));
    if (options->path_count > 1)
        ocdm__records_follow(*records, options->paths + 1, options->path_count - 1);
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

ocdm_status ocdm__sampling_open(ocdm__sampling **sampling, const ocdm__sample_options *given, ocdm_error *error)
{
    ocdm__sampling *made;
    uint64_t count = 0;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the sampler", error));
    ocdm__sample_options *options = &made->options;
    *options = *given;
    made->started = ocdm__seconds_now();
    ocdm_status status = OCDM_OK;
    if (options->percent > 0) {
        /* The capacity is a share of the records, rounded to nearest, at least 1. */
        status = ocdm__count_records(options, &count, NULL, error);
        double share = floor((double)count * options->percent / 100 + 0.5);
        if (status == OCDM_OK && share > OCDM_MAX_CAPACITY)
            status = ocdm__fail(error, OCDM_LIMIT, "", "%g %% of %llu records are more than a memory can hold",
                                options->percent, (unsigned long long)count);
        options->memory.capacity = share < 1 || status != OCDM_OK ? 1 : (uint32_t)share;
    }
    OCDM_THEN(status, ocdm_memory_create(&options->memory, &made->memory, error));
    if (status == OCDM_OK)
        ocdm__memory_trust(made->memory);
    OCDM_THEN(status, open_records(options, &made->records, error));
    OCDM_THEN(status, ocdm__take_label_options(made, error));
    if (options->shards != NULL)
        OCDM_THEN(status, ocdm__begin_merge(made, error));
    OCDM_THEN(status, ocdm__open_rest(made, error));
    if (options->trace != NULL)
        OCDM_THEN(status, ocdm__output_open(&made->trace, options->trace, error));
    if (options->summary != NULL)
        OCDM_THEN(status, ocdm__output_open(&made->summary, options->summary, error));
    if (status == OCDM_OK)
        *sampling = made;
    else
        ocdm__sampling_close(made);
    return status;
}

void ocdm__sampling_close(ocdm__sampling *sampling)
{
    if (sampling == NULL)
        return;
    ocdm__output_abandon(&sampling->output);
    ocdm__output_abandon(&sampling->rest);
    ocdm__output_abandon(&sampling->trace);
    ocdm__output_abandon(&sampling->summary);
    ocdm__records_close(sampling->records);
    ocdm_memory_destroy(sampling->memory);
    ocdm__seen_ids_clear(&sampling->seen);
    for (size_t slot = 0; slot < sampling->kept_room; slot++)
        ocdm__release(sampling->kept[slot].bytes);
    OCDM_RELEASE(sampling->named, sampling->places, sampling->kept, sampling->batch, sampling->samples, sampling->order,
                 sampling->classes, sampling);
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

/* Refuses a record whose id an earlier one has, and notes the id of any other. */
static ocdm_status check_id(ocdm__sampling *sampling, const ocdm__record *record, bool *taken, ocdm_error *error)
{
    char reason[160], digits[24];
    const char *id = record->has_id ? ocdm__records_id(sampling->records, record) : digits;
    size_t length = record->id_length;
    OCDM_TRY(record->has_id ? ocdm__see_id(&sampling->seen, id, length, taken, error)
                            : ocdm__see_numbered(&sampling->seen, sampling->accepted, taken, error));
    if (!*taken)
        return OCDM_OK;
    if (!record->has_id)
        length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)sampling->accepted);
    snprintf(reason, sizeof reason, "the id %.*s, which an earlier record has", length < 100 ? (int)length : 100, id);
    return ocdm__records_refuse(
        sampling->records, record, reason,
        sampling->options.shards == NULL ? "--on-duplicate skip passes over such records, --no-id ignores ids" : NULL,
        sampling->options.skip_duplicates, error);
}

/* Adds the record that was read to the batch, unless something is wrong with it or none of its labels counts. */
static ocdm_status accept_record(ocdm__sampling *sampling, ocdm__record *record, ocdm_error *error)
{
    const ocdm_policy *policy = ocdm_memory_options(sampling->memory)->policy;
    bool taken;
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
    const uint32_t *labels = sampling->records->numbers + record->label_at;
    bool several = false;
    for (size_t i = 1; policy->traits & OCDM_SINGLE_LABEL && i < record->label_count; i++)
        several = several || labels[i] != labels[0];
    if (several) {
        char reason[160];
        snprintf(reason, sizeof reason, "several labels, and the policy %s takes one", policy->name);
        return ocdm__records_refuse(sampling->records, record, reason, NULL, false, error);
    }
    OCDM_TRY(check_id(sampling, record, &taken, error));
    sampling->batch_count += !taken;
    sampling->accepted += !taken;
    return OCDM_OK;
}

/* ---- offering it to the memory -------------------------------------------------------------------------------------- */

void ocdm__id_of_item(const ocdm__sampling *sampling, size_t item, struct ocdm__id_text *id)
{
    const ocdm__record *record = &sampling->batch[item];
    id->is_json = record->has_id && record->shown_length > 0;
    if (id->is_json) {
        id->text = ocdm__records_bytes(sampling->records, record->at) + record->shown_at;
        id->length = record->shown_length;
    } else if (record->has_id) {
        id->text = ocdm__records_id(sampling->records, record);
        id->length = record->id_length;
    } else {
        unsigned long long number = sampling->accepted - sampling->batch_count + item;
        id->text = id->digits;
        id->length = (size_t)snprintf(id->digits, sizeof id->digits, "%llu", number);
    }
}

/* Keeps the bytes of a record that was stored. A block is used again when it fits well, so that one long line does not keep
 * memory forever. */
static ocdm_status keep(ocdm__sampling *sampling, uint32_t slot, uint32_t item, ocdm_error *error)
{
    const ocdm__record *record = &sampling->batch[item];
    struct ocdm__id_text id = {.text = "", .length = 0};
    if (!ocdm__reserve_zeroed(&sampling->kept, &sampling->kept_room, (size_t)slot + 1, sizeof *sampling->kept))
        return ocdm__fail_memory(error, "the records in memory");
    if (sampling->options.trace != NULL)
        ocdm__id_of_item(sampling, item, &id);
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
    memcpy(kept->bytes + record->length, id.text, id.length);
    kept->line_length = (uint32_t)record->length;
    kept->id_length = (uint32_t)id.length;
    kept->id_is_json = id.is_json;
    return OCDM_OK;
}

/* Gathers a batch, and offers it to the memory. */
ocdm_status ocdm__sampling_step(ocdm__sampling *sampling, bool *more, ocdm_error *error)
{
    ocdm_change change;
    *more = true;
    sampling->batch_count = 0;
    while (*more && sampling->batch_count < sampling->options.memory.batch) {
        if (!ocdm__reserve(&sampling->batch, &sampling->batch_room, sampling->batch_count + 1, sizeof *sampling->batch))
            return ocdm__fail_memory(error, "a batch");
        ocdm__record *record = &sampling->batch[sampling->batch_count];
        OCDM_TRY(ocdm__records_next(sampling->records, record, more, error));
        if (*more)
            OCDM_TRY(accept_record(sampling, record, error));
    }
    const size_t count = sampling->batch_count;
    if (count == 0)
        return OCDM_OK;
    if (!ocdm__reserve(&sampling->samples, &sampling->sample_room, count, sizeof *sampling->samples))
        return ocdm__fail_memory(error, "a batch");
    for (size_t i = 0; i < count; i++) {
        const ocdm__record *record = &sampling->batch[i];
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
    if (sampling->options.stop && *sampling->options.stop)
        *more = false;
    return OCDM_OK;
}
