/* Sampling: the batches. Lines are copied out of the reader's window only when the memory has kept them. */
#include "sample/sample.h"

#include "base/allocate.h"
#include "base/clock.h"
#include "base/error.h"
#include "sample/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ocdm__table_destroy(&sampling->ids);
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
    size_t room = sampling->batch_room ? 2 * sampling->batch_room : 16;
    ocdm__batch_record *batch = ocdm__resize(sampling->batch, room, sizeof *batch);
    if (batch)
        sampling->batch = batch;
    ocdm_sample *samples = batch ? ocdm__resize(sampling->samples, room, sizeof *samples) : NULL;
    if (!samples)
        return ocdm__fail_memory(error, "a batch");
    sampling->samples = samples;
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

/* Takes the record that was read into the batch as its next, unless something is wrong with it. */
static ocdm_status accept_record(ocdm__sampling *sampling, const ocdm__record *record, ocdm_error *error)
{
    if (sampling->single_label && has_several_labels(sampling, record))
        return refuse_labels(sampling, record, error);
    bool taken;
    ocdm_status status = ocdm__take_id(sampling, (uint32_t)sampling->batch_count, &taken, error);
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
    size_t room = sampling->kept_room ? sampling->kept_room : 64;
    while (room <= slot)
        room *= 2;
    ocdm__kept_record *kept = ocdm__resize(sampling->kept, room, sizeof *kept);
    if (!kept)
        return ocdm__fail_memory(error, "the records in memory");
    memset(kept + sampling->kept_room, 0, (room - sampling->kept_room) * sizeof *kept);
    sampling->kept = kept;
    sampling->kept_room = room;
    return OCDM_OK;
}

/* A block of `size` bytes for a slot: its old one when that fits well, so that one long line does not leave room for ever. */
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
    ocdm__hand_over_id(sampling, item, slot);
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
        ocdm__forget_id(sampling, &change.left[i]);
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
