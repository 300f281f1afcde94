/* ARFF: the labels of all rows, and the features a row at a time. */
#include "stream/readers/arff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/arff_state.h"

/* ---- labels --------------------------------------------------------------------------------------------------------- */

struct arff_labels {
    uint64_t first; /* samples that the set had before: ids go on from there */
    ocdm__arff arff;
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    uint32_t *classes;    /* by label */
    unsigned char *there; /* by label, of the row at hand */
    uint32_t *found;      /* the classes of the row at hand */
};

static ocdm_status name_classes(struct arff_labels *labels)
{
    size_t count = labels->arff.label_count;
    labels->classes = ocdm__allocate(count, sizeof *labels->classes);
    labels->there = ocdm__allocate(count, 1);
    labels->found = ocdm__allocate(count, sizeof *labels->found);
    if (labels->classes == NULL || labels->there == NULL || labels->found == NULL)
        return ocdm__fail_memory(labels->error, "the labels of a table");
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(&labels->arff.names, labels->arff.label_attributes[i], &length);
        const char *name = ocdm__arff_copy(&labels->arff, text, length, 0); /* padded */
        if (name == NULL)
            return ocdm__fail_memory(labels->error, "the labels of a table");
        ocdm_status status = ocdm__label_table_add(&labels->set->classes, name, length, &labels->classes[i], labels->error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

static ocdm_status add_sample(struct arff_labels *labels, uint64_t row)
{
    char id[24 + OCDM__LABEL_PADDING];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id;
    sample.id_length = (size_t)snprintf(id, sizeof id, "%" PRIu64, labels->first + row);
    sample.labels = labels->found;
    sample.row = row;
    for (size_t i = 0; i < labels->arff.label_count; i++) {
        labels->found[sample.label_count] = labels->classes[i];
        sample.label_count += labels->there[i];
    }
    ocdm_status status = ocdm__labelled_set_add(labels->set, &sample, labels->error);
    const ocdm__table_lines *lines = &labels->arff.lines;
    if (status == OCDM_DUPLICATE_ID)
        return ocdm__fail(labels->error, status, "", "%s:%" PRIu64 ":1: another source has a sample number %" PRIu64,
                          lines->path, lines->line, row);
    if (status == OCDM_TOO_MANY_LABELS)
        return ocdm__fail(labels->error, status, "", "%s:%" PRIu64 ":1: more than %u labels on one sample", lines->path,
                          lines->line, OCDM_MAX_LABELS);
    return status;
}

/* The row at hand, or a count of it. */
static ocdm_status read_sample(struct arff_labels *labels, uint64_t row)
{
    ocdm_error why = {.status = OCDM_OK};
    ocdm_status status = ocdm__arff_read_row(&labels->arff, NULL, labels->there, &why);
    if (status == OCDM_OK)
        return add_sample(labels, row);
    if (status == OCDM_BAD_RECORD && labels->reading->skip_bad) {
        ocdm__reading_skip(labels->reading, labels->arff.trouble, why.message);
        return OCDM_OK;
    }
    if (labels->error != NULL)
        *labels->error = why;
    return status;
}

static ocdm_status read_samples(struct arff_labels *labels)
{
    const ocdm__table_lines *lines = &labels->arff.lines;
    for (uint64_t row = 0; ocdm__arff_next_row(&labels->arff); row++) {
        ocdm_status status = OCDM_OK;
        if (row % 1024 == 0)
            status = ocdm__reading_goes_on(labels->reading, "reading labels", lines->place.at, lines->file.size, labels->error);
        if (status == OCDM_OK)
            status = read_sample(labels, row);
        if (status != OCDM_OK)
            return status;
    }
    return ocdm__reading_goes_on(labels->reading, "reading labels", lines->file.size, lines->file.size, labels->error);
}

ocdm_status ocdm__arff_read(ocdm__labelled_set *set, const char *arff_path, const char *xml_path, ocdm__reading *reading,
                            ocdm_error *error)
{
    struct arff_labels labels = {.set = set, .first = set->count, .reading = reading, .error = error};
    ocdm_status status = ocdm__arff_open(&labels.arff, arff_path, error);
    if (status == OCDM_OK)
        status = ocdm__arff_read_labels(&labels.arff, xml_path, error);
    if (status == OCDM_OK)
        status = name_classes(&labels);
    if (status == OCDM_OK)
        status = read_samples(&labels);
    ocdm__release(labels.classes);
    ocdm__release(labels.there);
    ocdm__release(labels.found);
    ocdm__arff_close(&labels.arff);
    return status;
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

struct arff_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    ocdm__arff arff;
    uint64_t next;        /* the row that the next line is */
    unsigned char *there; /* labels, read and not looked at */
};

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct arff_rows *table = (struct arff_rows *)rows;
    ocdm__arff *arff = &table->arff;
    if (row >= rows->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %" PRIu64 " of %" PRIu64, arff->lines.path, row, rows->count);
    if (row < table->next) {
        ocdm__table_lines_go(&arff->lines, arff->data);
        table->next = 0;
    }
    for (; table->next <= row; table->next++)
        if (!ocdm__arff_next_row(arff))
            return ocdm__fail(error, OCDM_IO, "", "%s: row %" PRIu64 " is gone", arff->lines.path, row);
    return ocdm__arff_read_row(arff, out, table->there, error);
}

static void close_rows(ocdm__feature_rows *rows)
{
    struct arff_rows *table = (struct arff_rows *)rows;
    ocdm__arff_close(&table->arff);
    ocdm__release(table->there);
    ocdm__release(table);
}

/* Text and dates are no features: the first of them is what the message is about. */
static ocdm_status check_features(ocdm__arff *arff, ocdm_error *error)
{
    for (size_t i = 0; i < arff->attribute_count; i++) {
        const ocdm__arff_attribute *attribute = &arff->attributes[i];
        if (attribute->label != UINT32_MAX || attribute->kind != OCDM__ARFF_TEXT)
            continue;
        ocdm__table_lines_go(&arff->lines, attribute->place);
        return ocdm__table_fail(&arff->lines, arff->lines.start + attribute->column, error,
                                "take the attribute out of the file, for instance with WEKA's RemoveType",
                                "a string or date attribute is no feature");
    }
    if (arff->feature_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: every attribute is a label: there are no features", arff->lines.path);
    return OCDM_OK;
}

static ocdm_status count_rows(struct arff_rows *table, ocdm_error *error)
{
    ocdm__arff *arff = &table->arff;
    while (ocdm__arff_next_row(arff))
        table->rows.count++;
    if (table->rows.count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: there are no rows after @data", arff->lines.path);
    ocdm__table_lines_go(&arff->lines, arff->data);
    table->rows.width = arff->feature_count;
    table->there = ocdm__allocate(arff->label_count, 1);
    return table->there != NULL ? OCDM_OK : ocdm__fail_memory(error, "the labels of a table");
}

ocdm_status ocdm__arff_open_rows(const char *arff_path, const char *xml_path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct arff_rows *table = ocdm__allocate(1, sizeof *table);
    if (table == NULL)
        return ocdm__fail_memory(error, "a table of features");
    table->rows = (ocdm__feature_rows){.read = read_row, .close = close_rows};
    ocdm_status status = ocdm__arff_open(&table->arff, arff_path, error);
    if (status == OCDM_OK)
        status = ocdm__arff_read_labels(&table->arff, xml_path, error);
    if (status == OCDM_OK)
        status = check_features(&table->arff, error);
    if (status == OCDM_OK)
        status = count_rows(table, error);
    if (status != OCDM_OK) {
        close_rows(&table->rows);
        return status;
    }
    *rows = &table->rows;
    return OCDM_OK;
}
