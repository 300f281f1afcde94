/*
 * What looks wrong about labels: joined by a character that is not the separator, lists or arrays of zeros and ones that were
 * not read as such, labels that differ only in case or in spaces around them.
 */
#include "base/text.h"
#include "stream/lines.h"
#include "stream/records/record.h"

/* A character that occurs inside at least a third of the labels, as if it were the separator; 0 if there is none. */
static char likely_separator(const ocdm__label_table *table, uint32_t *example)
{
    static const char candidates[] = "|,;/";
    for (const char *candidate = candidates; *candidate != '\0'; candidate++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < table->count; i++) {
            size_t length;
            const char *text = ocdm__label_table_text(table, i, &length);
            const char *found = memchr(text, *candidate, length);
            if (found != NULL && found != text && found + 1 < text + length && count++ == 0)
                *example = i;
        }
        if (count > 1 && count >= table->count / 3)
            return *candidate;
    }
    return 0;
}

/* How many labels begin with [ and end with ], or are 0 or 1. */
static uint32_t count_labels(const ocdm__label_table *table, bool lists)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(table, i, &length);
        if (lists)
            count += length > 1 && text[0] == '[' && text[length - 1] == ']';
        else
            count += length == 1 && (text[0] == '0' || text[0] == '1');
    }
    return count;
}

/* Counts the labels that are equal to an earlier one in lower case (ASCII) without blanks around; `pair` is the first of them
 * and that one. */
static ocdm_status find_variants(const ocdm__label_table *table, uint32_t *variants, uint32_t pair[2], ocdm_error *error)
{
    ocdm__label_table folded = {.count = 0};
    uint32_t *first_of = ocdm__allocate(table->count, sizeof *first_of);
    char *out = ocdm__allocate(table->used, 1);
    ocdm_status status = first_of != NULL && out != NULL ? OCDM_OK : ocdm__fail_memory(error, "a look at the labels");
    *variants = 0;
    for (uint32_t i = 0; i < table->count && status == OCDM_OK; i++) {
        size_t length;
        uint32_t known = folded.count, number = 0;
        const char *label = ocdm__label_table_text(table, i, &length), *stop = label + length;
        ocdm__trim(&label, &stop);
        length = (size_t)(stop - label);
        for (size_t k = 0; k < length; k++)
            out[k] = label[k] >= 'A' && label[k] <= 'Z' ? (char)(label[k] - 'A' + 'a') : label[k];
        status = ocdm__label_table_add(&folded, out, length, &number, error);
        if (status == OCDM_OK && number == known)
            first_of[number] = i;
        else if (status == OCDM_OK && (*variants)++ == 0)
            memcpy(pair, (uint32_t[]){i, first_of[number]}, 2 * sizeof *pair);
    }
    ocdm__label_table_clear(&folded);
    OCDM_RELEASE(first_of, out);
    return status;
}

ocdm_status ocdm__records_label_warning(const ocdm__records *records, char text[OCDM__DOUBT], ocdm_error *error)
{
    const ocdm__label_table *table = &records->table;
    bool fields = records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV;
    bool joined = (fields || records->format == OCDM__FORMAT_JSONL) && !records->separated;
    uint32_t example = 0, count = table->count;
    text[0] = '\0';
    if (count == 0 || records->options.label_form != OCDM__LABELS_PLAIN || records->options.one_hot != NULL)
        return OCDM_OK;
    char separator = joined ? likely_separator(table, &example) : '\0';
    uint32_t variants = 0, pair[2] = {0};
    if (fields && count_labels(table, true) > count / 2)
        snprintf(text, OCDM__DOUBT, "labels such as %s look like lists: --label-form list",
                 ocdm__label_table_show(table, example).text);
    else if (separator != '\0')
        snprintf(text, OCDM__DOUBT, "labels such as %s look like several: --sep '%c'",
                 ocdm__label_table_show(table, example).text, separator);
    else if (count == 2 && count_labels(table, false) == 2 && records->format != OCDM__FORMAT_SVM)
        snprintf(text, OCDM__DOUBT, "all labels are 0 or 1: %s",
                 fields ? "--one-hot COLUMNS, if each label has a column"
                        : "--label-form multi-hot, if their places are labels");
    else if (find_variants(table, &variants, pair, error) != OCDM_OK)
        return OCDM_NO_MEMORY;
    if (variants > 0)
        snprintf(text, OCDM__DOUBT,
                 "%u of %u labels differ from others only in case or in spaces, such as \"%s\" from \"%s\": write "
                 "each label in one way",
                 variants, count, ocdm__label_table_show(table, pair[0]).text, ocdm__label_table_show(table, pair[1]).text);
    return OCDM_OK;
}
