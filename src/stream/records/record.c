/* Records: one after another, good ones only. */
#include "stream/records/record.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/records/state.h"

const char *ocdm__format_name(enum ocdm__record_format format)
{
    static const char *const names[] = {"auto", "jsonl", "csv", "tsv", "svm"};
    return names[format];
}

/* Field by field: a struct made elsewhere and copied here costs more than all of it. */
static inline void begin_record(ocdm__record *record, const ocdm__record_place *place)
{
    record->at = place->at;
    record->length = place->end - place->at;
    record->line = place->line;
    record->has_id = false;
    record->id_at = record->id_length = 0;
    record->shown_at = record->shown_length = 0;
    record->label_at = record->label_count = 0;
}

static inline ocdm_status read_json_line(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record,
                                         ocdm_error *error)
{
    if (!records->labels.simple || !records->id.simple)
        return ocdm__read_jsonl(records, place, record, error);
    size_t id_used = records->id_used;
    if (ocdm__read_simple(records, place, record))
        return OCDM_OK;
    begin_record(record, place);
    records->id_used = id_used;
    return ocdm__read_jsonl(records, place, record, error);
}

static inline ocdm_status read_record(ocdm__records *records, ocdm__record *record, ocdm_error *error)
{
    const ocdm__record_place *place = &records->place;
    records->piece_count = 0;
    records->scratch_used = 0;
    records->lost_count = false;
    begin_record(record, place);
    switch (records->format) {
    case OCDM__FORMAT_JSONL:
        return read_json_line(records, place, record, error);
    case OCDM__FORMAT_CSV:
    case OCDM__FORMAT_TSV:
        return ocdm__read_fields(records, place, record, error);
    default:
        return ocdm__read_svm(records, place, record, error);
    }
}

static void count_skipped(ocdm__records *records, const ocdm_error *why)
{
    if (records->skipped++ == 0)
        records->first_skipped = *why;
}

/* The next record, good or not, with its labels; found is false at the end. */
static ocdm_status next_any(ocdm__records *records, ocdm__record *record, bool *found, ocdm_error *error)
{
    ocdm_status status = ocdm__next_place(records, &records->place, found, error);
    if (status != OCDM_OK || !*found)
        return status;
    size_t id_used = records->id_used;
    status = read_record(records, record, error);
    if (status == OCDM_OK)
        records->kept = records->next;
    else
        records->id_used = id_used;
    return status;
}

ocdm_status ocdm__records_next(ocdm__records *records, ocdm__record *record, bool *found, ocdm_error *error)
{
    ocdm_error why;
    for (;;) {
        ocdm_status status = next_any(records, record, found, &why);
        if (status == OCDM_OK)
            return OCDM_OK;
        if (status != OCDM_BAD_RECORD || !records->options.skip_bad) {
            if (error)
                *error = why;
            return status;
        }
        count_skipped(records, &why);
        if (records->lost_count)
            ocdm__resume_after_first_line(records, &records->place);
        ocdm__close_gap(records);
    }
}

void ocdm__records_release(ocdm__records *records)
{
    ocdm__input_release(&records->input, records->next);
    records->next = 0;
    records->kept = 0;
    records->number_count = 0;
    records->id_used = 0;
}

ocdm_status ocdm__records_refuse(ocdm__records *records, const ocdm__record *record, const char *reason, ocdm_error *error)
{
    ocdm_error why;
    ocdm_status status = ocdm__bad_record(records, &records->place, record->at + record->shown_at, &why, NULL, "%s", reason);
    if (!records->options.skip_bad) {
        if (error)
            *error = why;
        return status;
    }
    count_skipped(records, &why);
    records->kept = record->at;
    ocdm__close_gap(records);
    records->number_count = record->label_at;
    if (record->has_id)
        records->id_used = record->id_at;
    return OCDM_OK;
}

const char *ocdm__records_bytes(const ocdm__records *records, size_t at)
{
    return records->input.data + at;
}

const char *ocdm__records_id(const ocdm__records *records, const ocdm__record *record)
{
    return records->ids + record->id_at;
}

const uint32_t *ocdm__records_labels(const ocdm__records *records)
{
    return records->numbers;
}

ocdm_status ocdm__records_number_label(ocdm__records *records, const char *text, size_t length, uint32_t *number,
                                       ocdm_error *error)
{
    char *padded = ocdm__allocate(length + OCDM__LABEL_PADDING, 1);
    if (padded == NULL)
        return ocdm__fail_memory(error, "a label");
    memcpy(padded, text, length);
    ocdm_status status = ocdm__label_table_add(&records->table, padded, length, number, error);
    ocdm__release(padded);
    return status;
}

const ocdm__label_table *ocdm__records_label_table(const ocdm__records *records)
{
    return &records->table;
}

enum ocdm__record_format ocdm__records_format(const ocdm__records *records)
{
    return records->format;
}

const char *ocdm__records_header(const ocdm__records *records, size_t *length)
{
    *length = records->header_length;
    return records->header;
}

uint64_t ocdm__records_skipped(const ocdm__records *records)
{
    return records->skipped;
}

const char *ocdm__records_first_skipped(const ocdm__records *records)
{
    return records->skipped ? records->first_skipped.message : NULL;
}

uint64_t ocdm__records_bytes_read(const ocdm__records *records)
{
    return records->input.bytes_read;
}
