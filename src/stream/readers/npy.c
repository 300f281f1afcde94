/*
 * Reads tables saved by NumPy (.npy, versions 1.0 to 3.0): two axes in C order, little-endian. The file is mapped, so it may be
 * larger than memory. Rows and columns in messages count from 0, as in NumPy.
 *
 * The header is eight bytes of magic and version, a length, and a Python dictionary with three entries, which is parsed
 * strictly as that and never evaluated. Refused, with a hint how to convert: Fortran order, other numbers of axes, big-endian,
 * objects, structures, text.
 */
#include "base/bytes.h"
#include "base/files.h"
#include "base/text.h"
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
    unsigned seen; /* a bit for each of the entries */
    bool fortran;
    unsigned rank;
    uint64_t shape[2]; /* the first two */
    const char *type;  /* inside its quotes */
    size_t type_length;
};

/* OCDM_BAD_FILE about the byte where the header stands. */
OCDM_FORMAT(3, 4)
static ocdm_status fail(const struct header *header, const char *hint, const char *format, ...)
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

static const struct {
    const char *name;
    ocdm_status (*read)(struct header *);
} entries[] = {{"descr", read_type}, {"fortran_order", read_order}, {"shape", read_shape}};

static ocdm_status read_entry(struct header *header)
{
    size_t length = 0;
    const char *name = take_string(header, &length);
    if (name == NULL)
        return fail_syntax(header, "a name in quotes");
    for (size_t i = 0; i < 3; i++) {
        if (!ocdm__text_is(name, length, entries[i].name))
            continue;
        if ((header->seen & 1u << i) != 0)
            return fail(header, HINT_SAVE, "the header has %s twice", entries[i].name);
        header->seen |= 1u << i;
        return take(header, ':') ? entries[i].read(header) : fail_syntax(header, "a colon");
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
    if (header->seen != 7)
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
    if (header.fortran)
        return fail(&header, HINT_SAVE, "the table is in Fortran order");
    if (header.rank != 2)
        return fail(&header, "a row for each sample: np.save(file, array.reshape(len(array), -1))",
                    "the array has %u %s where a table has 2", header.rank, header.rank == 1 ? "axis" : "axes");
    if (header.shape[0] == 0 || header.shape[1] == 0)
        return fail(&header, "", "the table has %" PRIu64 " rows of %" PRIu64 " columns", header.shape[0], header.shape[1]);
    OCDM_TRY(check_length(&header, table));
    table->rows = header.shape[0];
    table->columns = (size_t)header.shape[1];
    return OCDM_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

/* An open table. */
struct npy {
    ocdm__mapped_file file;
    struct npy_table table;
};

static const unsigned char *row_bytes(struct npy *npy, uint64_t row)
{
    size_t offset = npy->table.data_at + (size_t)row * npy->table.columns * npy->table.size;
    ocdm__mapped_file_passed(&npy->file, offset);
    return npy->file.bytes + offset;
}

/* An element as a double, which holds every value of the types but the large ones of i8, and those are far from 0 and 1. */
static inline double element(enum npy_type type, const unsigned char *at)
{
    switch (type) {
    case NPY_I1:
        return (signed char)*at;
    case NPY_I4:
        return (int32_t)ocdm__get_u32(at);
    case NPY_I8:
        return (double)(int64_t)ocdm__get_u64(at);
    case NPY_F2:
        return (double)ocdm__half_to_float((uint16_t)(at[0] | at[1] << 8));
    case NPY_F4:
        return (double)ocdm__get_float(at);
    case NPY_F8:
        return ocdm__get_double(at);
    default:
        return *at;
    }
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

struct npy_rows {
    ocdm__feature_rows rows; /* first, so that one address is both */
    struct npy npy;
    char *path; /* the file's name */
};

/* Whether a number is finite is tested after the conversion, so that a double beyond the range of a float is found too. */
static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct npy_rows *table = (struct npy_rows *)rows;
    if (row >= rows->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: row %" PRIu64 " of %" PRIu64, table->path, row, rows->count);
    const unsigned char *at = row_bytes(&table->npy, row);
    const enum npy_type type = table->npy.table.type;
    const size_t size = table->npy.table.size;
    for (size_t i = 0; i < rows->width; i++, at += size) {
        out[i] = (float)element(type, at);
        if (isfinite(out[i]))
            continue;
        double value = element(type, at);
        if (isfinite(value))
            return ocdm__fail(error, OCDM_BAD_FILE, "scale the features, or leave the row out",
                              "%s: row %" PRIu64 ", column %zu is %g, too large for 32 bits", table->path, row, i, value);
        return ocdm__fail(error, OCDM_BAD_FILE, "features must be finite: np.nan_to_num(array) replaces such values",
                          "%s: row %" PRIu64 ", column %zu is %s", table->path, row, i,
                          isnan(value) ? "nan"
                          : value < 0  ? "-inf"
                                       : "inf");
    }
    return OCDM_OK;
}

static void close_rows(ocdm__feature_rows *rows)
{
    struct npy_rows *table = (struct npy_rows *)rows;
    ocdm__unmap_file(&table->npy.file);
    OCDM_RELEASE(table->path, table);
}

ocdm_status ocdm__npy_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error)
{
    struct npy_rows *table;
    OCDM_TRY(ocdm__new(&table, 1, sizeof *table, "a table of features", error));
    struct npy *npy = &table->npy;
    ocdm_status status = ocdm__format(&table->path, error, "%s", path);
    OCDM_THEN(status, ocdm__map_file(&npy->file, table->path, error));
    OCDM_THEN(status, npy_read_header(&npy->file, NPY_FEATURES, &npy->table, error));
    table->rows = (ocdm__feature_rows){npy->table.rows, npy->table.columns, read_row, close_rows};
    if (status == OCDM_OK)
        *rows = &table->rows;
    else
        close_rows(&table->rows);
    return status;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

static ocdm_status read_label_row(struct npy *npy, ocdm__table_samples *samples, uint64_t row)
{
    const struct npy_table *table = &npy->table;
    const unsigned char *at = row_bytes(npy, row);
    char where[300];
    samples->found_count = 0;
    for (size_t column = 0; column < table->columns; column++, at += table->size) {
        double value = element(table->type, at);
        if (value == 1)
            samples->found[samples->found_count++] = samples->classes[column];
        if (value == 0 || value == 1)
            continue;
        snprintf(where, sizeof where, "%s: row %" PRIu64 ", column %zu", npy->file.name, row, column);
        if (!samples->reading->skip_bad)
            return ocdm__fail(samples->error, OCDM_BAD_RECORD,
                              "labels are multi-hot: a column for each class, 1 where a sample has it",
                              "%s is %g, where a label is 0 or 1", where, value);
        ocdm__reading_skip(samples->reading, "rows with a label other than 0 and 1", where);
        return OCDM_OK;
    }
    snprintf(where, sizeof where, "%s: row %" PRIu64, npy->file.name, row);
    return ocdm__table_samples_add(samples, row, where);
}

static ocdm_status read_label_rows(struct npy *npy, ocdm__table_samples *samples)
{
    OCDM_TRY(ocdm__table_samples_begin(samples, npy->table.columns));
    for (size_t i = 0; i < npy->table.columns; i++) {
        char name[24];
        size_t length = (size_t)snprintf(name, sizeof name, "%zu", i);
        OCDM_TRY(ocdm__label_table_add(&samples->set->classes, name, length, &samples->classes[i], samples->error));
    }
    for (uint64_t row = 0; row < npy->table.rows; row++) {
        if (row % 4096 == 0)
            OCDM_TRY(ocdm__reading_goes_on(samples->reading, "reading labels", row, npy->table.rows, samples->error));
        OCDM_TRY(read_label_row(npy, samples, row));
    }
    samples->set->row_count = samples->rows_before + npy->table.rows;
    return ocdm__reading_goes_on(samples->reading, "reading labels", npy->table.rows, npy->table.rows, samples->error);
}

ocdm_status ocdm__npy_read_labels(ocdm__labelled_set *set, const char *path, ocdm__reading *reading, ocdm_error *error)
{
    struct npy npy = {.file = {.size = 0}};
    ocdm__table_samples samples = {.set = set, .reading = reading, .error = error};
    ocdm_status status = ocdm__map_file(&npy.file, path, error);
    OCDM_THEN(status, npy_read_header(&npy.file, NPY_LABELS, &npy.table, error));
    OCDM_THEN(status, read_label_rows(&npy, &samples));
    ocdm__table_samples_clear(&samples);
    ocdm__unmap_file(&npy.file);
    return status;
}
