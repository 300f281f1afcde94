/* Records of a stream file. */
#include "stream/export.h"

#include "stream/labelled_set.h"

/* Nineteen digits fit 64 bits whatever they are. */
static bool is_number(const char *text, size_t length)
{
    if (length == 0 || length > 19 || (text[0] == '0' && length > 1))
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

void ocdm__write_record_id(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    size_t length;
    const char *id = ocdm__text_at(&table->ids, sample, &length);
    if (is_number(id, length))
        ocdm__output_write(output, id, length);
    else
        ocdm__output_json_string(output, id, length);
}

void ocdm__write_record_labels(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        ocdm__output_text(output, k > table->label_starts[sample] ? "," : "");
        ocdm__output_json_string(output, label, length);
    }
}

void ocdm__write_record(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    ocdm__output_text(output, "{\"id\":");
    ocdm__write_record_id(output, table, sample);
    ocdm__output_text(output, ",\"labels\":[");
    ocdm__write_record_labels(output, table, sample);
    ocdm__output_count(output, "],\"task\":", table->tasks[sample]);
    ocdm__output_text(output, table->parts[sample] == OCDM__TEST ? ",\"split\":\"test\"" : ",\"split\":\"train\"");
    if (table->paths.starts != NULL) {
        size_t length;
        const char *path = ocdm__text_at(&table->paths, sample, &length);
        if (length > 0) {
            ocdm__output_text(output, ",\"image\":");
            ocdm__output_json_string(output, path, length);
        }
    }
    ocdm__output_text(output, "}\n");
}
