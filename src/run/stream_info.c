/* Reads records one by one, looks into each for task and split, and counts it. */
#include "run/stream_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"

/* ---- task and split ------------------------------------------------------------------------------------------------- */

/* A record on its way through the scanner. */
struct reading {
    ocdm__json json;
    ocdm__counted_sample *sample;
    bool has_split;
    const char *reason; /* why it is bad, NULL as long as it is not; json.text is where */
};

static void take_task(struct reading *reading)
{
    if (reading->sample->has_task)
        reading->reason = "\"task\" is there twice";
    else if (ocdm__json_next(&reading->json) != OCDM__JSON_NUMBER || !ocdm__json_uint64(&reading->json, &reading->sample->task))
        reading->reason = "\"task\" must be a whole number from 0";
    reading->sample->has_task = true;
}

static void take_split(struct reading *reading)
{
    if (reading->has_split) {
        reading->reason = "\"split\" is there twice";
        return;
    }
    bool is_text = ocdm__json_next(&reading->json) == OCDM__JSON_STRING;
    reading->sample->test = is_text && ocdm__json_is(&reading->json, "test", 4);
    if (!is_text || !(reading->sample->test || ocdm__json_is(&reading->json, "train", 5)))
        reading->reason = "\"split\" must be \"train\" or \"test\"";
    reading->has_split = true;
}

/* Goes over the record's own members, not over those of objects inside it. The reader has accepted the record as JSON. */
static void take_members(struct reading *reading)
{
    ocdm__json_next(&reading->json);
    while (reading->reason == NULL && ocdm__json_next(&reading->json) == OCDM__JSON_KEY) {
        if (ocdm__json_is(&reading->json, "task", 4))
            take_task(reading);
        else if (ocdm__json_is(&reading->json, "split", 5))
            take_split(reading);
        else
            ocdm__json_skip(&reading->json, OCDM__JSON_KEY);
    }
}

/* ---- the records ---------------------------------------------------------------------------------------------------- */

static ocdm_status count_record(ocdm__stream_info *info, const ocdm__record *record, ocdm_error *error)
{
    const char *bytes = ocdm__records_bytes(info->records, record->at);
    ocdm__counted_sample sample = {.labels = ocdm__records_labels(info->records) + record->label_at,
                                   .label_count = record->label_count};
    struct reading reading = {.sample = &sample};
    ocdm__json_begin(&reading.json, bytes, record->length);
    take_members(&reading);
    if (reading.reason == NULL)
        return ocdm__statistics_add(&info->statistics, &sample, error);
    ocdm__record place = *record;
    place.shown_at = (size_t)(reading.json.text - bytes);
    return ocdm__records_refuse(info->records, &place, reading.reason, error);
}

static ocdm_status count_records(ocdm__stream_info *info, ocdm_error *error)
{
    for (;;) {
        ocdm__record record;
        bool found;
        ocdm_status status = ocdm__records_next(info->records, &record, &found, error);
        if (status == OCDM_OK && !found)
            return OCDM_OK;
        if (status == OCDM_OK)
            status = count_record(info, &record, error);
        if (status != OCDM_OK)
            return status;
        ocdm__records_release(info->records);
    }
}

/* ---- the order of the classes --------------------------------------------------------------------------------------- */

struct named_class {
    const char *label;
    size_t length;
    uint32_t number;
};

static int compare_labels(const void *left, const void *right)
{
    const struct named_class *a = left, *b = right;
    return ocdm__compare_texts(a->label, a->length, b->label, b->length);
}

static ocdm_status sort_classes(ocdm__stream_info *info, ocdm_error *error)
{
    const ocdm__tally *total = &info->statistics.total;
    size_t count = 0, room = ocdm__tally_class_count(total);
    struct named_class *named = ocdm__allocate(room, sizeof *named);
    info->classes = ocdm__allocate(room, sizeof *info->classes);
    if (named == NULL || info->classes == NULL) {
        ocdm__release(named);
        return ocdm__fail_memory(error, "the list of classes");
    }
    for (uint32_t number = 0; count < room; number++) {
        if (ocdm__tally_class(total, number).count == 0)
            continue;
        named[count].number = number;
        named[count].label = ocdm__stream_info_label(info, number, &named[count].length);
        count++;
    }
    qsort(named, count, sizeof *named, compare_labels);
    for (size_t i = 0; i < count; i++)
        info->classes[i] = named[i].number;
    info->class_count = count;
    ocdm__release(named);
    return OCDM_OK;
}

ocdm_status ocdm__stream_info_read(ocdm__stream_info *info, const char *path, ocdm_error *error)
{
    static const ocdm__record_options options = {.format = OCDM__FORMAT_JSONL,
                                                 .hint = "`ocdm stream info --help` tells what a record may hold"};
    ocdm_status status = ocdm__records_open(&info->records, path, &options, NULL, error);
    if (status == OCDM_OK)
        status = count_records(info, error);
    return status == OCDM_OK ? sort_classes(info, error) : status;
}

const char *ocdm__stream_info_label(const ocdm__stream_info *info, uint32_t class_number, size_t *length)
{
    return ocdm__label_table_text(ocdm__records_label_table(info->records), class_number, length);
}

void ocdm__stream_info_clear(ocdm__stream_info *info)
{
    ocdm__statistics_clear(&info->statistics);
    ocdm__release(info->classes);
    ocdm__records_close(info->records);
    *info = (ocdm__stream_info){.class_count = 0};
}
