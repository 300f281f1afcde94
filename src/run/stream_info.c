/* Reads records one by one, looks into each for task and split, and counts it. */
#include "run/stream_info.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/records_source_members.h"

/* ---- the records ---------------------------------------------------------------------------------------------------- */

static ocdm_status count_record(ocdm__stream_info *info, const ocdm__record *record, ocdm_error *error)
{
    static const ocdm__wanted_members wanted = {.which = 1u << OCDM__MEMBER_TASK | 1u << OCDM__MEMBER_SPLIT};
    ocdm__record_members members;
    if (!ocdm__read_json_members(ocdm__records_bytes(info->records, record->at), record->length, &wanted, &members)) {
        ocdm__record place = *record;
        place.shown_at = members.at;
        return ocdm__records_refuse(info->records, &place, members.reason, error);
    }
    bool has_split = (members.found & 1u << OCDM__MEMBER_SPLIT) != 0;
    ocdm__counted_sample sample = {.label_count = record->label_count,
                                   .test = has_split && members.part == OCDM__TEST,
                                   .has_task = (members.found & 1u << OCDM__MEMBER_TASK) != 0};
    if (sample.label_count > 0)
        sample.labels = ocdm__records_labels(info->records) + record->label_at;
    sample.task = sample.has_task ? members.task : 0;
    return ocdm__statistics_add(&info->statistics, &sample, error);
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
