/* NPY tables, a row at a time: features as floats, labels as the columns that are 1. */
#include "stream/readers/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/half.h"
#include "stream/readers/npy_header.h"

/* How far a pass goes before the mapped file hears of it. */
#define PASSED_STEP ((size_t)8 * 1024 * 1024)

struct npy_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    ocdm__mapped_file file;
    ocdm__npy_table table;
    size_t passed;
    char path[]; /* the file's name */
};

static const unsigned char *row_bytes(const ocdm__mapped_file *file, const ocdm__npy_table *table, uint64_t row)
{
    return file->bytes + table->data_at + (size_t)row * table->columns * table->size;
}

/* Tells the file how far a pass is, now and then: it costs a system call. */
static void tell_passed(ocdm__mapped_file *file, const unsigned char *at, size_t *passed)
{
    size_t offset = (size_t)(at - file->bytes);
    if (offset < *passed)
        *passed = offset;
    if (offset - *passed < PASSED_STEP)
        return;
    ocdm__mapped_file_passed(file, offset);
    *passed = offset;
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

static inline float get_float(const unsigned char *bytes)
{
    uint32_t bits = ocdm__get_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void convert(const ocdm__npy_table *table, const unsigned char *at, float *out)
{
    size_t count = table->columns;
    switch (table->type) {
    case OCDM__NPY_U1:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)at[i];
        break;
    case OCDM__NPY_I1:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)(signed char)at[i];
        break;
    case OCDM__NPY_F2:
        for (size_t i = 0; i < count; i++)
            out[i] = ocdm__half_to_float((uint16_t)(at[2 * i] | at[2 * i + 1] << 8));
        break;
    case OCDM__NPY_F4:
        for (size_t i = 0; i < count; i++)
            out[i] = get_float(at + 4 * i);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)ocdm__get_double(at + 8 * i);
        break;
    }
}

/* The first number of a row that is not finite; `count` when there is none. Looked for after converting, so that a double which
 * no float can hold is found too. */
static size_t find_infinite(const float *values, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * 0.0f; /* 0 for a finite number, not a number for the others */
    if (sum == 0)
        return count;
    size_t i = 0;
    while (i < count && isfinite(values[i]))
        i++;
    return i;
}

static ocdm_status fail_value(const struct npy_rows *npy, uint64_t row, size_t column, float value, ocdm_error *error)
{
    const unsigned char *at = row_bytes(&npy->file, &npy->table, row) + column * npy->table.size;
    double written = npy->table.type == OCDM__NPY_F8 ? ocdm__get_double(at) : (double)value;
    if (isfinite(written))
        return ocdm__fail(error, OCDM_BAD_FILE, "scale the features, or leave the row out",
                          "%s: row %" PRIu64 ", column %zu is %g, too large for 32 bits", npy->path, row, column, written);
    const char *name = isnan(written) ? "nan" : written < 0 ? "-inf" : "inf";
    return ocdm__fail(error, OCDM_BAD_FILE, "features must be finite: np.nan_to_num(array) replaces such values",
                      "%s: row %" PRIu64 ", column %zu is %s", npy->path, row, column, name);
}

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct npy_rows *npy = (struct npy_rows *)rows;
    if (row >= rows->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %" PRIu64 " of %" PRIu64, npy->path, row, rows->count);
    const unsigned char *at = row_bytes(&npy->file, &npy->table, row);
    convert(&npy->table, at, out);
    size_t bad = find_infinite(out, rows->width);
    if (bad < rows->width)
        return fail_value(npy, row, bad, out[bad], error);
    tell_passed(&npy->file, at, &npy->passed);
    return OCDM_OK;
}

static void close_rows(ocdm__feature_rows *rows)
{
    ocdm__unmap_file(&((struct npy_rows *)rows)->file);
    ocdm__release(rows);
}

ocdm_status ocdm__npy_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error)
{
    size_t length = strlen(path) + 1;
    struct npy_rows *npy = ocdm__allocate(sizeof *npy + length, 1);
    if (npy == NULL)
        return ocdm__fail_memory(error, "a table of features");
    memcpy(npy->path, path, length);
    ocdm_status status = ocdm__map_file(&npy->file, npy->path, error);
    if (status == OCDM_OK)
        status = ocdm__npy_read_header(&npy->file, OCDM__NPY_FEATURES, &npy->table, error);
    if (status != OCDM_OK) {
        close_rows(&npy->rows);
        return status;
    }
    npy->rows =
        (ocdm__feature_rows){.count = npy->table.rows, .width = npy->table.columns, .read = read_row, .close = close_rows};
    *rows = &npy->rows;
    return OCDM_OK;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

struct npy_labels {
    uint64_t first; /* samples that the set had before: ids go on from there */
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    ocdm__mapped_file file;
    ocdm__npy_table table;
    uint32_t *classes; /* by column */
    uint32_t *found;   /* of the row at hand */
    size_t passed;
};

static ocdm_status name_classes(struct npy_labels *labels)
{
    size_t count = labels->table.columns;
    labels->classes = ocdm__allocate(count, sizeof *labels->classes);
    labels->found = ocdm__allocate(count, sizeof *labels->found);
    if (labels->classes == NULL || labels->found == NULL)
        return ocdm__fail_memory(labels->error, "the classes of a table");
    for (size_t i = 0; i < count; i++) {
        char name[24 + OCDM__LABEL_PADDING];
        size_t length = (size_t)snprintf(name, sizeof name, "%zu", i);
        ocdm_status status = ocdm__label_table_add(&labels->set->classes, name, length, &labels->classes[i], labels->error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

/* An element as a double, near enough to tell 0 and 1 from all others. */
static double element(const ocdm__npy_table *table, const unsigned char *at)
{
    switch (table->type) {
    case OCDM__NPY_I1:
        return (signed char)*at;
    case OCDM__NPY_I4:
        return (int32_t)ocdm__get_u32(at);
    case OCDM__NPY_I8:
        return (double)(int64_t)ocdm__get_u64(at);
    case OCDM__NPY_F4:
        return (double)get_float(at);
    case OCDM__NPY_F8:
        return ocdm__get_double(at);
    default:
        return *at;
    }
}

static ocdm_status refuse_row(struct npy_labels *labels, uint64_t row, size_t column, double value)
{
    char where[sizeof labels->reading->skips[0].first];
    snprintf(where, sizeof where, "%s: row %" PRIu64 ", column %zu", labels->file.name, row, column);
    if (labels->reading->skip_bad) {
        ocdm__reading_skip(labels->reading, "rows with a label other than 0 and 1", where);
        return OCDM_OK;
    }
    return ocdm__fail(labels->error, OCDM_BAD_RECORD, "labels are multi-hot: a column for each class, 1 where a sample has it",
                      "%s: row %" PRIu64 ", column %zu is %g, where a label is 0 or 1", labels->file.name, row, column, value);
}

static ocdm_status add_sample(struct npy_labels *labels, uint64_t row, size_t count)
{
    char id[24 + OCDM__LABEL_PADDING];
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id;
    sample.id_length = (size_t)snprintf(id, sizeof id, "%" PRIu64, labels->first + row);
    sample.labels = labels->found;
    sample.label_count = count;
    sample.row = row;
    ocdm_status status = ocdm__labelled_set_add(labels->set, &sample, labels->error);
    if (status == OCDM_DUPLICATE_ID)
        return ocdm__fail(labels->error, status, "", "%s: row %" PRIu64 ": another source has a sample of that number",
                          labels->file.name, row);
    if (status == OCDM_TOO_MANY_LABELS)
        return ocdm__fail(labels->error, status, "", "%s: row %" PRIu64 ": more than %u labels on one sample",
                          labels->file.name, row, OCDM_MAX_LABELS);
    return status;
}

static ocdm_status read_label_row(struct npy_labels *labels, uint64_t row)
{
    const ocdm__npy_table *table = &labels->table;
    const unsigned char *at = row_bytes(&labels->file, table, row);
    size_t count = 0;
    tell_passed(&labels->file, at, &labels->passed);
    for (size_t column = 0; column < table->columns; column++, at += table->size) {
        double value = element(table, at);
        if (value != 0 && value != 1)
            return refuse_row(labels, row, column, value);
        labels->found[count] = labels->classes[column];
        count += value == 1;
    }
    return add_sample(labels, row, count);
}

static ocdm_status read_label_rows(struct npy_labels *labels)
{
    for (uint64_t row = 0; row < labels->table.rows; row++) {
        ocdm_status status = OCDM_OK;
        if (row % 4096 == 0)
            status = ocdm__reading_goes_on(labels->reading, "reading labels", row, labels->table.rows, labels->error);
        if (status == OCDM_OK)
            status = read_label_row(labels, row);
        if (status != OCDM_OK)
            return status;
    }
    return ocdm__reading_goes_on(labels->reading, "reading labels", labels->table.rows, labels->table.rows, labels->error);
}

ocdm_status ocdm__npy_read_labels(ocdm__labelled_set *set, const char *path, ocdm__reading *reading, ocdm_error *error)
{
    struct npy_labels labels = {.set = set, .first = set->count, .reading = reading, .error = error};
    ocdm_status status = ocdm__map_file(&labels.file, path, error);
    if (status == OCDM_OK)
        status = ocdm__npy_read_header(&labels.file, OCDM__NPY_LABELS, &labels.table, error);
    if (status == OCDM_OK)
        status = name_classes(&labels);
    if (status == OCDM_OK)
        status = read_label_rows(&labels);
    ocdm__release(labels.classes);
    ocdm__release(labels.found);
    ocdm__unmap_file(&labels.file);
    return status;
}
