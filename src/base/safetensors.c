/* Writes and reads safetensors files. Nothing in a header is trusted before it is checked. */
#include "base/safetensors.h"

#include "base/bytes.h"
#include "base/json.h"

const struct ocdm__dtype_facts ocdm__dtypes[OCDM__DTYPE_COUNT] = {{"U8", 1},  {"I8", 1},  {"U32", 4},  {"I32", 4}, {"U64", 8},
                                                                  {"I64", 8}, {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F64", 8}};

/* ---- types, look-ups and writing ------------------------------------------------------------------------------------ */

size_t ocdm__dtype_size(enum ocdm__dtype dtype)
{
    return ocdm__dtypes[dtype].size;
}

/* A list of numbers; the caller gives it more dimensions if it has them. */
struct ocdm__tensor ocdm__tensor_of(const char *name, enum ocdm__dtype dtype, const void *data, uint64_t count)
{
    return (struct ocdm__tensor){
        .name = name,
        .name_length = strlen(name),
        .dtype = dtype,
        .rank = 1,
        .shape = {count},
        .data = data,
        .size = (size_t)count * ocdm__dtype_size(dtype),
    };
}

/* Files have hundreds of tensors at most, and names differ early. */
const struct ocdm__tensor *ocdm__safetensors_find(const struct ocdm__safetensors *file, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < file->tensor_count; i++)
        if (file->tensors[i].name_length == length && !memcmp(file->tensors[i].name, name, length))
            return &file->tensors[i];
    return NULL;
}

/* NULL if the file has none of that key. */
const struct ocdm__note *ocdm__safetensors_note(const struct ocdm__safetensors *file, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < file->note_count; i++)
        if (file->notes[i].key_length == length && !memcmp(file->notes[i].key, key, length))
            return &file->notes[i];
    return NULL;
}

/* Also of a note with escapes in it. */
bool ocdm__note_is(const struct ocdm__note *note, const char *text)
{
    char value[OCDM__NOTE_COMPARED];
    if (!note || note->value_length > sizeof value)
        return false;
    size_t length = ocdm__json_unescape(note->value, note->value_length, value);
    return length == strlen(text) && !memcmp(value, text, length);
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

/* Where the digits of the checksum are: behind the header's length and the first key. */
static const char before_checksum[] = "{\"__metadata__\":{\"checksum\":\"";
enum { LENGTH = 8 };

/* The header in memory, with its length before it. Spaces at its end align the data. */
static ocdm_status build_header(ocdm__output *header, bool has_checksum, const struct ocdm__note *notes, size_t note_count,
                                const struct ocdm__tensor *tensors, size_t tensor_count, ocdm_error *error)
{
    static const unsigned char no_length[LENGTH] = {0};
    uint64_t offset = 0;
    OCDM_TRY(ocdm__output_open_memory(header, "a file's header", error));
    ocdm__output_write(header, no_length, LENGTH);
    ocdm__json_open(header, NULL, '{');
    ocdm__json_open(header, "__metadata__", '{');
    if (has_checksum)
        ocdm__json_string(header, "checksum", OCDM__CHECKSUM_BLANK);
    for (size_t i = 0; i < note_count; i++)
        ocdm__json_string(header, notes[i].key, notes[i].value);
    ocdm__json_close(header, '}');
    for (size_t i = 0; i < tensor_count; i++) {
        ocdm__json_open(header, tensors[i].name, '{');
        ocdm__json_string(header, "dtype", ocdm__dtypes[tensors[i].dtype].name);
        ocdm__json_open(header, "shape", '[');
        for (uint32_t k = 0; k < tensors[i].rank; k++)
            ocdm__json_count(header, NULL, tensors[i].shape[k]);
        ocdm__json_close(header, ']');
        ocdm__json_open(header, "data_offsets", '[');
        ocdm__json_count(header, NULL, offset);
        ocdm__json_count(header, NULL, offset += tensors[i].size);
        ocdm__json_close(header, ']');
        ocdm__json_close(header, '}');
    }
    ocdm__json_close(header, '}');
    while (header->used % 8 != 0)
        ocdm__output_write(header, " ", 1);
    ocdm__put_u64((unsigned char *)header->buffer, header->used - LENGTH);
    ocdm_status status = ocdm__output_check(header, error);
    if (status != OCDM_OK)
        ocdm__output_abandon(header);
    return status;
}

/* The header names every offset, so all sizes must be known. */
ocdm_status ocdm__safetensors_begin(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, uint64_t *sum, ocdm_error *error)
{
    ocdm__output header;
    OCDM_TRY(build_header(&header, false, notes, note_count, tensors, tensor_count, error));
    ocdm__output_write(output, header.buffer, header.used);
    *sum = ocdm__checksum(OCDM__CHECKSUM_START, header.buffer, header.used);
    ocdm__output_abandon(&header);
    return OCDM_OK;
}

/* Adds the data of all tensors to a checksum; with an output, writes it. */
static ocdm_status pass_data(const struct ocdm__tensor *tensors, size_t count, ocdm__tensor_data *data_of, const void *state,
                             uint64_t *sum, ocdm__output *output, ocdm_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *data = tensors[i].data;
        if (data_of != NULL)
            OCDM_TRY(data_of(state, i, &data, error));
        if (output != NULL)
            ocdm__output_write(output, data, tensors[i].size);
        else
            *sum = ocdm__checksum(*sum, data, tensors[i].size);
    }
    return OCDM_OK;
}

/* Tensors come one by one, so that no two of them have to be in memory. */
ocdm_status ocdm__safetensors_write_from(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                         const struct ocdm__tensor *tensors, size_t tensor_count, ocdm__tensor_data *data_of,
                                         const void *state, ocdm_error *error)
{
    ocdm__output header;
    char digits[24];
    OCDM_TRY(build_header(&header, true, notes, note_count, tensors, tensor_count, error));
    uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, header.buffer + LENGTH, header.used - LENGTH);
    ocdm_status status = pass_data(tensors, tensor_count, data_of, state, &sum, NULL, error);
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    memcpy(header.buffer + LENGTH + strlen(before_checksum), digits, strlen(OCDM__CHECKSUM_BLANK));
    if (status == OCDM_OK)
        ocdm__output_write(output, header.buffer, header.used);
    ocdm__output_abandon(&header);
    OCDM_THEN(status, pass_data(tensors, tensor_count, data_of, state, &sum, output, error));
    return status;
}

ocdm_status ocdm__safetensors_write(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, ocdm_error *error)
{
    return ocdm__safetensors_write_from(output, notes, note_count, tensors, tensor_count, NULL, NULL, error);
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

/* The limit of the reference implementation. */
#define HEADER_LIMIT 100000000u

/* What is needed while reading. */
struct reader {
    struct ocdm__safetensors *file;
    size_t tensor_room;
    size_t note_room;
    const char *name;
    const unsigned char *bytes;
    size_t size;
    size_t header_length;
    bool has_metadata;
    ocdm__json json;
    ocdm_error *error;
};

static ocdm_status bad(struct reader *reader, size_t at, const char *what)
{
    return ocdm__fail(reader->error, OCDM_BAD_FILE, "the file is damaged or not a safetensors file: use another copy",
                      "%s: byte %zu: %s", reader->name, at, what);
}

/* The place in the file of the current event. */
static size_t here(const struct reader *reader)
{
    return (size_t)((const unsigned char *)reader->json.text - reader->bytes);
}

static ocdm_status unexpected(struct reader *reader, enum ocdm__json_event event, const char *what)
{
    if (event == OCDM__JSON_ERROR)
        return bad(reader, 8 + reader->json.error_at, reader->json.reason);
    return bad(reader, here(reader), what);
}

/* ---- pieces of the header ------------------------------------------------------------------------------------------- */

/* All of __metadata__: keys and their texts; other kinds of values are no notes. */
static ocdm_status read_notes(struct reader *reader)
{
    struct ocdm__safetensors *file = reader->file;
    if (reader->has_metadata)
        return bad(reader, here(reader), "__metadata__ comes twice");
    reader->has_metadata = true;
    enum ocdm__json_event event = ocdm__json_next(&reader->json);
    if (event != OCDM__JSON_OBJECT)
        return unexpected(reader, event, "__metadata__ is not an object");
    while ((event = ocdm__json_next(&reader->json)) == OCDM__JSON_KEY) {
        struct ocdm__note note = {.key = reader->json.text, .key_length = reader->json.length};
        event = ocdm__json_next(&reader->json);
        if (event != OCDM__JSON_STRING)
            return unexpected(reader, event, "a value of __metadata__ is not a string");
        note.value = reader->json.text;
        note.value_length = reader->json.length;
        if (!ocdm__reserve(&file->notes, &reader->note_room, file->note_count + 1, sizeof *file->notes))
            return ocdm__fail_memory(reader->error, "a file's metadata");
        file->notes[file->note_count++] = note;
    }
    return event == OCDM__JSON_OBJECT_END ? OCDM_OK : unexpected(reader, event, "__metadata__ does not end");
}

/* An array of at most `room` integers. */
static ocdm_status read_numbers(struct reader *reader, uint64_t *number, uint32_t room, uint32_t *count)
{
    enum ocdm__json_event event = ocdm__json_next(&reader->json);
    if (event != OCDM__JSON_ARRAY)
        return unexpected(reader, event, "an array of numbers is missing");
    for (*count = 0; (event = ocdm__json_next(&reader->json)) != OCDM__JSON_ARRAY_END; ++*count) {
        if (event != OCDM__JSON_NUMBER)
            return unexpected(reader, event, "this is not a number");
        if (*count == room)
            return bad(reader, here(reader), "the array has too many numbers");
        if (!ocdm__json_uint64(&reader->json, &number[*count]))
            return bad(reader, here(reader), "this is not a whole number from 0 to 2^64 - 1");
    }
    return OCDM_OK;
}

/* Each of the three once, in any order. */
static ocdm_status read_member(struct reader *reader, struct ocdm__tensor *tensor, uint64_t offset[2], unsigned *seen)
{
    static const char *const members[] = {"dtype", "shape", "data_offsets"};
    unsigned member = 0;
    while (member < 3 && !ocdm__json_is(&reader->json, members[member], strlen(members[member])))
        member++;
    if (member == 3 || *seen & 1u << member)
        return bad(reader, here(reader), "a tensor's entry has dtype, shape and data_offsets, once each");
    *seen |= 1u << member;
    if (member == 0) {
        enum ocdm__json_event event = ocdm__json_next(&reader->json);
        if (event != OCDM__JSON_STRING)
            return unexpected(reader, event, "dtype is not a string");
        for (size_t i = 0; i < OCDM__DTYPE_COUNT; i++)
            if (ocdm__json_is(&reader->json, ocdm__dtypes[i].name, strlen(ocdm__dtypes[i].name))) {
                tensor->dtype = (enum ocdm__dtype)i;
                return OCDM_OK;
            }
        return bad(reader, here(reader), "this dtype is not known");
    }
    uint32_t count = 0;
    OCDM_TRY(member == 1 ? read_numbers(reader, tensor->shape, OCDM__TENSOR_RANK, &tensor->rank)
                         : read_numbers(reader, offset, 2, &count));
    if (member == 2 && count != 2)
        return bad(reader, here(reader), "data_offsets needs two numbers");
    return OCDM_OK;
}

/* A name and what is said of it. Offsets must lie in the file, and be as far apart as the shape says. */
static ocdm_status read_tensor(struct reader *reader)
{
    struct ocdm__tensor tensor = {.name = reader->json.text, .name_length = reader->json.length};
    size_t at = here(reader), data = 8 + reader->header_length;
    uint64_t offset[2] = {0, 0};
    unsigned seen = 0;
    enum ocdm__json_event event = ocdm__json_next(&reader->json);
    if (event != OCDM__JSON_OBJECT)
        return unexpected(reader, event, "a tensor's entry is not an object");
    while ((event = ocdm__json_next(&reader->json)) == OCDM__JSON_KEY)
        OCDM_TRY(read_member(reader, &tensor, offset, &seen));
    if (event != OCDM__JSON_OBJECT_END || seen != 7)
        return unexpected(reader, event, "a tensor's entry lacks dtype, shape or data_offsets");
    if (offset[0] > offset[1] || offset[1] > reader->size - data)
        return bad(reader, at, "a tensor's offsets lie outside the file");
    tensor.data = reader->bytes + data + offset[0];
    tensor.size = (size_t)(offset[1] - offset[0]);
    uint64_t bytes = ocdm__dtype_size(tensor.dtype);
    bool fits = true;
    for (uint32_t i = 0; i < tensor.rank; i++) {
        fits = fits && (tensor.shape[i] == 0 || bytes <= UINT64_MAX / tensor.shape[i]);
        bytes *= tensor.shape[i];
    }
    if (!fits || bytes != tensor.size)
        return bad(reader, at, "a tensor's shape does not fit its offsets");
    struct ocdm__safetensors *file = reader->file;
    if (!ocdm__reserve(&file->tensors, &reader->tensor_room, file->tensor_count + 1, sizeof *file->tensors))
        return ocdm__fail_memory(reader->error, "a file's tensors");
    file->tensors[file->tensor_count++] = tensor;
    return OCDM_OK;
}

/* One JSON object, with spaces behind it at most. */
static ocdm_status read_header(struct reader *reader)
{
    ocdm__json_begin(&reader->json, reader->bytes + 8, reader->header_length);
    enum ocdm__json_event event = ocdm__json_next(&reader->json);
    if (event != OCDM__JSON_OBJECT)
        return unexpected(reader, event, "the header is not an object");
    while ((event = ocdm__json_next(&reader->json)) == OCDM__JSON_KEY) {
        bool metadata = ocdm__json_is(&reader->json, "__metadata__", 12);
        OCDM_TRY(metadata ? read_notes(reader) : read_tensor(reader));
    }
    if (event == OCDM__JSON_OBJECT_END)
        event = ocdm__json_next(&reader->json);
    return event == OCDM__JSON_END ? OCDM_OK : unexpected(reader, event, "the header does not end");
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct ocdm__tensor *first = a, *second = b;
    if (first->data != second->data)
        return first->data < second->data ? -1 : 1;
    return (first->size > second->size) - (first->size < second->size);
}

static int by_name(const void *a, const void *b)
{
    const struct ocdm__tensor *first = a, *second = b;
    size_t shorter = first->name_length < second->name_length ? first->name_length : second->name_length;
    int order = memcmp(first->name, second->name, shorter);
    return order ? order : (first->name_length > second->name_length) - (first->name_length < second->name_length);
}

/* Names differ; the data of all tensors, one after the other, is the rest of the file. */
static ocdm_status check_layout(struct reader *reader)
{
    struct ocdm__safetensors *file = reader->file;
    if (file->tensor_count)
        qsort(file->tensors, file->tensor_count, sizeof *file->tensors, by_name);
    for (size_t i = 1; i < file->tensor_count; i++)
        if (!by_name(&file->tensors[i - 1], &file->tensors[i]))
            return bad(reader, (size_t)((const unsigned char *)file->tensors[i].name - reader->bytes),
                       "two tensors have the same name");
    if (file->tensor_count)
        qsort(file->tensors, file->tensor_count, sizeof *file->tensors, by_place);
    const unsigned char *expected = reader->bytes + 8 + reader->header_length;
    for (size_t i = 0; i < file->tensor_count; i++) {
        if (file->tensors[i].data != expected)
            return bad(reader, (size_t)(file->tensors[i].data - reader->bytes), "tensors overlap, or leave a gap");
        expected += file->tensors[i].size;
    }
    if (expected != reader->bytes + reader->size)
        return bad(reader, (size_t)(expected - reader->bytes), "the file continues after its last tensor");
    return OCDM_OK;
}

/* Over everything but the checksum itself, where a file has one. */
static ocdm_status check_checksum(struct reader *reader)
{
    const struct ocdm__note *note = ocdm__safetensors_note(reader->file, "checksum");
    size_t digits = strlen(OCDM__CHECKSUM_BLANK);
    if (!note || note->value_length != digits)
        return OCDM_OK;
    const char *header = (const char *)reader->bytes + 8;
    const char *after = note->value + digits;
    uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, header, (size_t)(note->value - header));
    sum = ocdm__checksum(sum, OCDM__CHECKSUM_BLANK, digits);
    sum = ocdm__checksum(sum, after, reader->size - (size_t)((const unsigned char *)after - reader->bytes));
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    return memcmp(text, note->value, digits) ? bad(reader, 0, "the checksum does not match the contents") : OCDM_OK;
}

/* Nothing is copied: tensors and notes point into the bytes. */
ocdm_status ocdm__safetensors_read(struct ocdm__safetensors *file, const char *name, const unsigned char *bytes, size_t size,
                                   ocdm_error *error)
{
    memset(file, 0, sizeof *file);
    struct reader reader = {.file = file, .name = name, .bytes = bytes, .size = size, .error = error};
    if (size < 8)
        return bad(&reader, 0, "too short for a header");
    uint64_t length = ocdm__get_u64(bytes);
    if (length > size - 8 || length > HEADER_LIMIT)
        return bad(&reader, 0, "the header is longer than the file, or than 100 MB");
    reader.header_length = (size_t)length;
    ocdm_status status = read_header(&reader);
    OCDM_THEN(status, check_layout(&reader));
    OCDM_THEN(status, check_checksum(&reader));
    if (status != OCDM_OK)
        ocdm__safetensors_close(file);
    return status;
}

void ocdm__tensor_list_clear(ocdm__tensor_list *list)
{
    OCDM_RELEASE(list->tensors, list->memory);
    *list = (ocdm__tensor_list){.count = 0};
}

void ocdm__safetensors_close(struct ocdm__safetensors *file)
{
    OCDM_RELEASE(file->tensors, file->notes);
    memset(file, 0, sizeof *file);
}
