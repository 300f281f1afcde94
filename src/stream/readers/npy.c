/*
 * Reads tables saved by NumPy (.npy, versions 1.0 to 3.0): two axes in C order, little-endian. The file is mapped, so it may be
 * larger than memory. Rows and columns in messages count from 0, as in NumPy.
 *
 * The header is eight bytes of magic and version, a length, and a Python dictionary with three entries, which is parsed
 * strictly as that and never evaluated. Refused, with a hint how to convert: Fortran order, other numbers of axes, big-endian,
 * objects, structures, text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "ocdm/ocdm.h"
#include "stream/readers/readers.h"

enum npy_type { NPY_U1, NPY_I1, NPY_B1, NPY_I4, NPY_I8, NPY_F2, NPY_F4, NPY_F8 };

#define NPY_FEATURES (1u << NPY_F2 | 1u << NPY_F4 | 1u << NPY_F8 | 1u << NPY_U1 | 1u << NPY_I1)
#define NPY_LABELS (1u << NPY_U1 | 1u << NPY_I1 | 1u << NPY_B1 | 1u << NPY_I4 | 1u << NPY_I8 | 1u << NPY_F4 | 1u << NPY_F8)

/* A table: `rows` rows of `columns` elements of `size` bytes from byte `data_at` on, none of them 0, and nothing after them. */
struct npy_table {
    enum npy_type type;
    size_t size;
    uint64_t rows;
    size_t columns;
    size_t data_at;
};

/* ---- the header ----------------------------------------------------------------------------------------------------- */

/* Headers usually have about a hundred bytes; NumPy reads up to ten thousand by default. */
#define LONGEST_HEADER 65535

#define HINT_SAVE "save it again with NumPy: np.save(file, np.ascontiguousarray(array))"

/* Going through the dictionary. */
struct header {
    const ocdm__mapped_file *file;
    ocdm_error *error;
    const char *at, *end;
    bool has_type, has_order, has_shape;
    bool fortran;
    unsigned rank;
    uint64_t shape[2]; /* the first two */
    const char *type;  /* inside its quotes */
    size_t type_length;
};

/* ---- failing -------------------------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static ocdm_status
fail(const struct header *header, const char *hint, const char *format, ...)
{
    char reason[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail(header->error, OCDM_BAD_FILE, hint, "%s: byte %zu: %s", header->file->name,
                      (size_t)((const unsigned char *)header->at - header->file->bytes), reason);
}

static ocdm_status fail_syntax(const struct header *header, const char *wanted)
{
    return fail(header, HINT_SAVE, "the header is not as NumPy writes it: %s is missing", wanted);
}

/* ---- the dictionary ------------------------------------------------------------------------------------------------- */

static void pass_spaces(struct header *header)
{
    while (header->at < header->end && (*header->at == ' ' || *header->at == '\n'))
        header->at++;
}

/* Whether `byte` comes next, spaces aside; passes it if so. */
static bool take(struct header *header, char byte)
{
    pass_spaces(header);
    bool there = header->at < header->end && *header->at == byte;
    header->at += there;
    return there;
}

static bool take_word(struct header *header, const char *word)
{
    size_t length = strlen(word);
    pass_spaces(header);
    bool there = (size_t)(header->end - header->at) >= length && memcmp(header->at, word, length) == 0;
    header->at += there ? length : 0;
    return there;
}

/* A string in either kind of quotes, without escapes; NULL when there is none. */
static const char *take_string(struct header *header, size_t *length)
{
    pass_spaces(header);
    if (header->at == header->end || (*header->at != '\'' && *header->at != '"'))
        return NULL;
    const char *start = header->at + 1, *quote = memchr(start, *header->at, (size_t)(header->end - start));
    if (quote == NULL || memchr(start, '\\', (size_t)(quote - start)) != NULL)
        return NULL;
    *length = (size_t)(quote - start);
    header->at = quote + 1;
    return start;
}

static bool take_whole(struct header *header, uint64_t *value)
{
    pass_spaces(header);
    const char *digits = header->at;
    *value = 0;
    for (; header->at < header->end && *header->at >= '0' && *header->at <= '9'; header->at++) {
        uint64_t digit = (uint64_t)(*header->at - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return header->at > digits;
}

static ocdm_status read_type(struct header *header)
{
    pass_spaces(header);
    if (header->at < header->end && *header->at == '[')
        return fail(header, "save one array of numbers: np.save(file, array['field'])", "the elements are structures");
    header->type = take_string(header, &header->type_length);
    return header->type != NULL ? OCDM_OK : fail_syntax(header, "the type of the elements");
}

static ocdm_status read_order(struct header *header)
{
    header->fortran = take_word(header, "True");
    return header->fortran || take_word(header, "False") ? OCDM_OK : fail_syntax(header, "True or False");
}

static ocdm_status read_shape(struct header *header)
{
    bool comma = true;
    if (!take(header, '('))
        return fail_syntax(header, "the shape");
    for (header->rank = 0; !take(header, ')'); header->rank++) {
        uint64_t axis;
        if (!comma)
            return fail_syntax(header, "a comma");
        if (!take_whole(header, &axis))
            return fail_syntax(header, "a whole number");
        if (header->rank < 2)
            header->shape[header->rank] = axis;
        comma = take(header, ',');
    }
    return OCDM_OK;
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

static ocdm_status (*const entry_readers[])(struct header *) = {read_type, read_order, read_shape};

static ocdm_status read_entry(struct header *header)
{
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    bool *const seen[] = {&header->has_type, &header->has_order, &header->has_shape};
    size_t length = 0;
    const char *name = take_string(header, &length);
    if (name == NULL)
        return fail_syntax(header, "a name in quotes");
    for (size_t i = 0; i < 3; i++) {
        if (!is_text(name, length, names[i]))
            continue;
        if (*seen[i])
            return fail(header, HINT_SAVE, "the header has %s twice", names[i]);
        *seen[i] = true;
        return take(header, ':') ? entry_readers[i](header) : fail_syntax(header, "a colon");
    }
    return fail(header, HINT_SAVE, "the header has an entry that NumPy does not know");
}

static ocdm_status read_dictionary(struct header *header)
{
    if (!take(header, '{'))
        return fail_syntax(header, "{");
    bool comma = true;
    while (!take(header, '}')) {
        if (!comma)
            return fail_syntax(header, "a comma");
        OCDM_TRY(read_entry(header));
        comma = take(header, ',');
    }
    pass_spaces(header);
    if (header->at != header->end)
        return fail(header, HINT_SAVE, "something follows the header's }");
    if (!header->has_type || !header->has_order || !header->has_shape)
        return fail(header, HINT_SAVE, "the header needs descr, fortran_order and shape");
    return OCDM_OK;
}

/* ---- what it means -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t size;
} types[] = {[NPY_U1] = {"u1", 1}, [NPY_I1] = {"i1", 1}, [NPY_B1] = {"b1", 1}, [NPY_I4] = {"i4", 4},
             [NPY_I8] = {"i8", 8}, [NPY_F2] = {"f2", 2}, [NPY_F4] = {"f4", 4}, [NPY_F8] = {"f8", 8}};

/* A single byte has no byte order, so any mark is accepted. */
static bool find_type(const struct header *header, unsigned allowed, struct npy_table *table)
{
    if (header->type_length != 3)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool order = header->type[0] == '<' || (types[i].size == 1 && memchr("|>", header->type[0], 2) != NULL);
        if ((allowed & 1u << i) == 0 || !order || memcmp(header->type + 1, types[i].name, 2) != 0)
            continue;
        table->type = (enum npy_type)i;
        table->size = types[i].size;
        return true;
    }
    return false;
}

static ocdm_status check_shape(const struct header *header)
{
    if (header->fortran)
        return fail(header, HINT_SAVE, "the table is in Fortran order");
    if (header->rank != 2)
        return fail(header, "a row for each sample: np.save(file, array.reshape(len(array), -1))",
                    "the array has %u %s where a table has 2", header->rank, header->rank == 1 ? "axis" : "axes");
    if (header->shape[0] == 0 || header->shape[1] == 0)
        return fail(header, "", "the table has %" PRIu64 " rows of %" PRIu64 " columns", header->shape[0], header->shape[1]);
    return OCDM_OK;
}

static ocdm_status check_length(const struct header *header, struct npy_table *table)
{
    uint64_t there = header->file->size - table->data_at;
    uint64_t most_columns = there / table->size, most_rows = most_columns / header->shape[1];
    if (header->shape[1] <= most_columns && header->shape[0] <= most_rows &&
        header->shape[0] * header->shape[1] * table->size == there)
        return OCDM_OK;
    bool longer = header->shape[0] <= most_rows && header->shape[1] <= most_columns;
    return ocdm__fail(
        header->error, OCDM_BAD_FILE, longer ? HINT_SAVE : "the file was cut off; copy or save it again",
        "%s: the header states %" PRIu64 " rows of %" PRIu64 " elements of %zu bytes, but %" PRIu64 " bytes follow it: %s",
        header->file->name, header->shape[0], header->shape[1], table->size, there, longer ? "too many" : "too few");
}

/* Finds the header's text by the first bytes. */
static ocdm_status find_text(struct header *header, struct npy_table *table)
{
    const unsigned char *bytes = header->file->bytes;
    size_t size = header->file->size;
    header->at = (const char *)bytes;
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return fail(header, "give a file that np.save wrote", "not an NPY file");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        header->at += 6;
        return fail(header, HINT_SAVE, "NPY version %u.%u, where 1.0, 2.0 and 3.0 are known", bytes[6], bytes[7]);
    }
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = size < start ? SIZE_MAX : bytes[6] == 1 ? bytes[8] | (size_t)bytes[9] << 8 : ocdm__get_u32(bytes + 8);
    header->at += 8;
    if (length > LONGEST_HEADER && length != SIZE_MAX)
        return fail(header, HINT_SAVE, "a header of %zu bytes; the most is %d", length, LONGEST_HEADER);
    if (length == SIZE_MAX || length > size - start)
        return fail(header, "the file was cut off; copy or save it again", "the header does not end inside the file");
    header->at = (const char *)bytes + start;
    header->end = header->at + length;
    table->data_at = start + length;
    return OCDM_OK;
}

/* Reads the header and checks it against the file's length. `allowed` has a bit for each accepted type. OCDM_OK,
 * OCDM_BAD_FILE. */
static ocdm_status npy_read_header(const ocdm__mapped_file *file, unsigned allowed, struct npy_table *table, ocdm_error *error)
{
    struct header header = {.file = file, .error = error};
    ocdm_status status = find_text(&header, table);
    OCDM_THEN(status, read_dictionary(&header));
    header.at = (const char *)file->bytes + (status == OCDM_OK ? table->data_at : 0);
    if (status != OCDM_OK)
        return status;
    if (!find_type(&header, allowed, table)) {
        header.at = header.type;
        int length = header.type_length < 40 ? (int)header.type_length : 40;
        const char *hint = (allowed & 1u << NPY_F2) != 0
                               ? "features are f2, f4, f8, u1 or i1: np.save(file, array.astype('<f4'))"
                               : "labels are 0 and 1 in u1, i1, b1, i4, i8, f4 or f8: np.save(file, array.astype('u1'))";
        if (header.type_length > 0 && memchr(header.type, 'O', header.type_length) != NULL)
            return fail(&header, hint, "the elements are Python objects (%.*s)", length, header.type);
        if (header.type_length > 0 && header.type[0] == '>')
            return fail(&header, hint, "the elements are big-endian (%.*s)", length, header.type);
        return fail(&header, hint, "elements of type %.*s are not supported", length, header.type);
    }
    status = check_shape(&header);
    OCDM_THEN(status, check_length(&header, table));
    table->rows = header.shape[0];
    table->columns = (size_t)header.shape[1];
    return status;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

/* Bytes between two calls of ocdm__mapped_file_passed. */
#define PASSED_STEP ((size_t)8 * 1024 * 1024)

struct npy_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    ocdm__mapped_file file;
    struct npy_table table;
    size_t passed;
    char path[]; /* the file's name */
};

static const unsigned char *row_bytes(const ocdm__mapped_file *file, const struct npy_table *table, uint64_t row)
{
    return file->bytes + table->data_at + (size_t)row * table->columns * table->size;
}

/* Tells the mapped file from time to time how far the pass is; each call is a system call. */
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

/* The first number of a row that is not finite; `count` when there is none. Tested after the conversion, so that a double
 * beyond the range of a float is found too. */
static size_t find_infinite(const float *values, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * 0.0f; /* 0 for a finite number, NaN for others */
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
    double written = npy->table.type == NPY_F8 ? ocdm__get_double(at) : (double)value;
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
    size_t count = npy->table.columns;
    switch (npy->table.type) {
    case NPY_U1:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)at[i];
        break;
    case NPY_I1:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)(signed char)at[i];
        break;
    case NPY_F2:
        for (size_t i = 0; i < count; i++)
            out[i] = ocdm__half_to_float((uint16_t)(at[2 * i] | at[2 * i + 1] << 8));
        break;
    case NPY_F4:
        for (size_t i = 0; i < count; i++)
            out[i] = get_float(at + 4 * i);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            out[i] = (float)ocdm__get_double(at + 8 * i);
        break;
    }
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
    OCDM_THEN(status, npy_read_header(&npy->file, NPY_FEATURES, &npy->table, error));
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
    uint64_t first; /* samples in the set before: ids continue from there */
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    ocdm__mapped_file file;
    struct npy_table table;
    uint32_t *classes; /* by column */
    uint32_t *found;   /* of the current row */
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
        OCDM_TRY(ocdm__label_table_add(&labels->set->classes, name, length, &labels->classes[i], labels->error));
    }
    return OCDM_OK;
}

/* An element as a double, precise enough to distinguish 0 and 1 from all other values. */
static double element(const struct npy_table *table, const unsigned char *at)
{
    switch (table->type) {
    case NPY_I1:
        return (signed char)*at;
    case NPY_I4:
        return (int32_t)ocdm__get_u32(at);
    case NPY_I8:
        return (double)(int64_t)ocdm__get_u64(at);
    case NPY_F4:
        return (double)get_float(at);
    case NPY_F8:
        return ocdm__get_double(at);
    default:
        return *at;
    }
}

static ocdm_status read_label_row(struct npy_labels *labels, uint64_t row)
{
    const struct npy_table *table = &labels->table;
    const unsigned char *at = row_bytes(&labels->file, table, row);
    size_t count = 0;
    tell_passed(&labels->file, at, &labels->passed);
    for (size_t column = 0; column < table->columns; column++, at += table->size) {
        double value = element(table, at);
        if (value != 0 && value != 1) {
            char where[sizeof labels->reading->skips[0].first];
            snprintf(where, sizeof where, "%s: row %" PRIu64 ", column %zu", labels->file.name, row, column);
            if (labels->reading->skip_bad) {
                ocdm__reading_skip(labels->reading, "rows with a label other than 0 and 1", where);
                return OCDM_OK;
            }
            return ocdm__fail(
                labels->error, OCDM_BAD_RECORD, "labels are multi-hot: a column for each class, 1 where a sample has it",
                "%s: row %" PRIu64 ", column %zu is %g, where a label is 0 or 1", labels->file.name, row, column, value);
        }
        labels->found[count] = labels->classes[column];
        count += value == 1;
    }
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

static ocdm_status read_label_rows(struct npy_labels *labels)
{
    for (uint64_t row = 0; row < labels->table.rows; row++) {
        if (row % 4096 == 0)
            OCDM_TRY(ocdm__reading_goes_on(labels->reading, "reading labels", row, labels->table.rows, labels->error));
        OCDM_TRY(read_label_row(labels, row));
    }
    return ocdm__reading_goes_on(labels->reading, "reading labels", labels->table.rows, labels->table.rows, labels->error);
}

ocdm_status ocdm__npy_read_labels(ocdm__labelled_set *set, const char *path, ocdm__reading *reading, ocdm_error *error)
{
    struct npy_labels labels = {.set = set, .first = set->count, .reading = reading, .error = error};
    ocdm_status status = ocdm__map_file(&labels.file, path, error);
    OCDM_THEN(status, npy_read_header(&labels.file, NPY_LABELS, &labels.table, error));
    OCDM_THEN(status, name_classes(&labels));
    OCDM_THEN(status, read_label_rows(&labels));
    ocdm__release(labels.classes);
    ocdm__release(labels.found);
    ocdm__unmap_file(&labels.file);
    return status;
}
