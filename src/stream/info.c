/* Counts the samples of a stream file, or of records, whose task and split are read one by one. */
#include "stream/info.h"

static ocdm_status count_records(ocdm__stream_info *info, ocdm_error *error)
{
    ocdm__record record;
    bool found;
    for (;; ocdm__records_release(info->records)) {
        OCDM_TRY(ocdm__records_next(info->records, &record, &found, error));
        if (!found)
            return OCDM_OK;
        ocdm__record_members members;
        if (!ocdm__member_reader_read(&info->members, info->records, &record, &members)) {
            record.shown_at = members.at;
            return ocdm__records_refuse(info->records, &record, members.reason, NULL, false, error);
        }
        ocdm__counted_sample sample = {.label_count = record.label_count,
                                       .test = members.part == OCDM__TEST,
                                       .has_task = (members.found & 1u << OCDM__MEMBER_TASK) != 0,
                                       .task = members.task};
        if (sample.label_count > 0)
            sample.labels = info->records->numbers + record.label_at;
        OCDM_TRY(ocdm__statistics_add(&info->statistics, &sample, error));
    }
}

/* ---- a stream file -------------------------------------------------------------------------------------------------- */

static ocdm_status read_stream(ocdm__stream_info *info, const char *path, ocdm_error *error)
{
    info->is_stream_file = true;
    OCDM_TRY(ocdm__stream_open(&info->stream, path, error));
    const ocdm__stream_table *table = &info->stream.table;
    uint64_t known[2] = {0}, all[2] = {0}; /* of the samples of each part */
    for (size_t i = 0; i < table->sample_count; i++) {
        bool test = table->parts[i] == OCDM__TEST;
        ocdm__counted_sample sample = {.labels = ocdm__labels(table, i),
                                       .label_count = (size_t)(table->label_starts[i + 1] - table->label_starts[i]),
                                       .test = test,
                                       .has_task = true,
                                       .task = table->tasks[i]};
        OCDM_TRY(ocdm__statistics_add(&info->statistics, &sample, error));
        known[test] += ocdm__bits_count(ocdm__known_labels(table, i), table->class_count);
        all[test] += table->class_count;
    }
    for (size_t part = 0; part < 2; part++)
        info->known[part] = all[part] > 0 ? (double)known[part] / (double)all[part] : 1;
    OCDM_TRY(ocdm__new(&info->classes, table->class_count, sizeof *info->classes, "the list of classes", error));
    for (uint32_t i = 0; i < table->class_count; i++)
        if (ocdm__tally_class(&info->statistics.total, i).count > 0)
            info->classes[info->class_count++] = i;
    return OCDM_OK;
}

ocdm__class_groups ocdm__stream_info_groups(const ocdm__stream_info *info, const uint64_t *bounds)
{
    const ocdm__tally *total = &info->statistics.total;
    const uint8_t *groups = info->stream.table.groups;
    const ocdm__class_counts class_counts = ocdm__tally_counts(total);
    uint64_t usual[2];
    if (bounds != NULL)
        return ocdm__tally_groups(total, bounds[0], bounds[1]);
    if (groups == NULL) {
        ocdm__usual_bounds(&class_counts, usual);
        return ocdm__tally_groups(total, usual[0], usual[1]);
    }
    ocdm__class_groups counts = {0, 0, 0};
    for (size_t i = 0; i < info->stream.table.class_count; i++) {
        counts.majority += groups[i] == OCDM__MAJORITY;
        counts.moderate += groups[i] == OCDM__MODERATE;
        counts.minority += groups[i] == OCDM__MINORITY;
    }
    return counts;
}

/* ---- the order of the classes --------------------------------------------------------------------------------------- */

ocdm_status ocdm__stream_info_read(ocdm__stream_info *info, const char *path, const ocdm__record_options *options,
                                   ocdm_error *error)
{
    static const ocdm__record_options usual = {.format = OCDM__FORMAT_JSONL};
    if (path != NULL && ocdm__is_stream_file(path))
        return read_stream(info, path, error);
    ocdm_status status = ocdm__records_open(&info->records, path, options != NULL ? options : &usual, NULL, error);
    info->members.wanted.which = 1u << OCDM__MEMBER_TASK | 1u << OCDM__MEMBER_SPLIT;
    OCDM_THEN(status, ocdm__member_reader_begin(&info->members, info->records, path != NULL ? path : "<stdin>", error));
    OCDM_THEN(status, count_records(info, error));
    OCDM_TRY(status);
    const ocdm__label_table *labels = &info->records->table;
    uint8_t *occurs;
    OCDM_TRY(ocdm__new(&info->classes, labels->count, sizeof *info->classes, "the list of classes", error));
    OCDM_TRY(ocdm__new(&occurs, labels->count, 1, "the list of classes", error));
    for (uint32_t i = 0; i < labels->count; i++)
        occurs[i] = ocdm__tally_class(&info->statistics.total, i).count > 0;
    status = ocdm__label_table_sort(labels, occurs, info->classes, &info->class_count, error);
    ocdm__release(occurs);
    return status;
}

const char *ocdm__stream_info_label(const ocdm__stream_info *info, uint32_t class_number, size_t *length)
{
    if (info->is_stream_file)
        return ocdm__text_at(&info->stream.table.classes, class_number, length);
    return ocdm__label_table_text(&info->records->table, class_number, length);
}

void ocdm__stream_info_clear(ocdm__stream_info *info)
{
    ocdm__statistics_clear(&info->statistics);
    ocdm__member_reader_clear(&info->members);
    ocdm__release(info->classes);
    ocdm__records_close(info->records);
    ocdm__stream_close(&info->stream);
    *info = (ocdm__stream_info){.class_count = 0};
}
