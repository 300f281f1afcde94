/*
 * The header of an NPY file: eight bytes of magic and version, a length, and a Python dictionary with three entries. It is read
 * as that, strictly, never as Python.
 */
#include "stream/readers/npy_header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

/* Ours have about a hundred bytes; the longest that NumPy reads without being asked has ten thousand. */
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
        ocdm_status status = read_entry(header);
        if (status != OCDM_OK)
            return status;
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
} types[] = {[OCDM__NPY_U1] = {"u1", 1}, [OCDM__NPY_I1] = {"i1", 1}, [OCDM__NPY_B1] = {"b1", 1}, [OCDM__NPY_I4] = {"i4", 4},
             [OCDM__NPY_I8] = {"i8", 8}, [OCDM__NPY_F2] = {"f2", 2}, [OCDM__NPY_F4] = {"f4", 4}, [OCDM__NPY_F8] = {"f8", 8}};

static ocdm_status fail_type(const struct header *header, unsigned allowed)
{
    int length = header->type_length < 40 ? (int)header->type_length : 40;
    const char *hint = (allowed & 1u << OCDM__NPY_F2) != 0
                           ? "features are f2, f4, f8, u1 or i1: np.save(file, array.astype('<f4'))"
                           : "labels are 0 and 1 in u1, i1, b1, i4, i8, f4 or f8: np.save(file, array.astype('u1'))";
    if (header->type_length > 0 && memchr(header->type, 'O', header->type_length) != NULL)
        return fail(header, hint, "the elements are Python objects (%.*s)", length, header->type);
    if (header->type_length > 0 && header->type[0] == '>')
        return fail(header, hint, "the elements are big-endian (%.*s)", length, header->type);
    return fail(header, hint, "elements of type %.*s are not read here", length, header->type);
}

/* A byte has no order: whatever is written for it will do. */
static bool find_type(const struct header *header, unsigned allowed, ocdm__npy_table *table)
{
    if (header->type_length != 3)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool order = header->type[0] == '<' || (types[i].size == 1 && memchr("|>", header->type[0], 2) != NULL);
        if ((allowed & 1u << i) == 0 || !order || memcmp(header->type + 1, types[i].name, 2) != 0)
            continue;
        table->type = (enum ocdm__npy_type)i;
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

static ocdm_status check_length(const struct header *header, ocdm__npy_table *table)
{
    uint64_t there = header->file->size - table->data_at;
    uint64_t most_columns = there / table->size, most_rows = most_columns / header->shape[1];
    if (header->shape[1] <= most_columns && header->shape[0] <= most_rows &&
        header->shape[0] * header->shape[1] * table->size == there)
        return OCDM_OK;
    bool longer = header->shape[0] <= most_rows && header->shape[1] <= most_columns;
    return ocdm__fail(
        header->error, OCDM_BAD_FILE, longer ? HINT_SAVE : "the file was cut off; copy or save it again",
        "%s: the header tells of %" PRIu64 " rows of %" PRIu64 " elements of %zu bytes, but %" PRIu64 " bytes follow it: %s",
        header->file->name, header->shape[0], header->shape[1], table->size, there, longer ? "too many" : "too few");
}

/* Finds the header's text by the first bytes. */
static ocdm_status find_text(struct header *header, ocdm__npy_table *table)
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

ocdm_status ocdm__npy_read_header(const ocdm__mapped_file *file, unsigned allowed, ocdm__npy_table *table, ocdm_error *error)
{
    struct header header = {.file = file, .error = error};
    ocdm_status status = find_text(&header, table);
    if (status == OCDM_OK)
        status = read_dictionary(&header);
    header.at = (const char *)file->bytes + (status == OCDM_OK ? table->data_at : 0);
    if (status != OCDM_OK)
        return status;
    if (!find_type(&header, allowed, table)) {
        header.at = header.type;
        return fail_type(&header, allowed);
    }
    status = check_shape(&header);
    if (status == OCDM_OK)
        status = check_length(&header, table);
    table->rows = header.shape[0];
    table->columns = (size_t)header.shape[1];
    return status;
}
