/* Types, look-ups and writing; reading is in safetensors_read.c. */
#include "base/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "base/safetensors_dtype.h"

size_t ocdm__dtype_size(enum ocdm__dtype dtype)
{
    return ocdm__dtypes[dtype].size;
}

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

const struct ocdm__tensor *ocdm__safetensors_find(const struct ocdm__safetensors *file, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < file->tensor_count; i++)
        if (file->tensors[i].name_length == length && !memcmp(file->tensors[i].name, name, length))
            return &file->tensors[i];
    return NULL;
}

const struct ocdm__note *ocdm__safetensors_note(const struct ocdm__safetensors *file, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < file->note_count; i++)
        if (file->notes[i].key_length == length && !memcmp(file->notes[i].key, key, length))
            return &file->notes[i];
    return NULL;
}

bool ocdm__note_is(const struct ocdm__note *note, const char *text)
{
    char value[OCDM__NOTE_COMPARED];
    if (!note || note->value_length > sizeof value)
        return false;
    size_t length = ocdm__json_unescape(note->value, note->value_length, value);
    return length == strlen(text) && !memcmp(value, text, length);
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

/* The header while it grows; room is counted beforehand. */
struct header {
    char *text;
    size_t length;
};

static void append(struct header *header, const char *text)
{
    size_t length = strlen(text);
    memcpy(header->text + header->length, text, length);
    header->length += length;
}

static void append_quoted(struct header *header, const char *text)
{
    header->length += ocdm__json_quote(text, strlen(text), header->text + header->length);
}

static void append_number(struct header *header, uint64_t x)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, x);
    append(header, digits);
}

static void append_tensor(struct header *header, const struct ocdm__tensor *tensor, uint64_t offset)
{
    append(header, ",");
    append_quoted(header, tensor->name);
    append(header, ":{\"dtype\":\"");
    append(header, ocdm__dtypes[tensor->dtype].name);
    append(header, "\",\"shape\":[");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        append(header, i ? "," : "");
        append_number(header, tensor->shape[i]);
    }
    append(header, "],\"data_offsets\":[");
    append_number(header, offset);
    append(header, ",");
    append_number(header, offset + tensor->size);
    append(header, "]}");
}

static size_t header_room(const struct ocdm__note *notes, size_t note_count, const struct ocdm__tensor *tensors,
                          size_t tensor_count)
{
    size_t room = 128;
    for (size_t i = 0; i < note_count; i++)
        room += OCDM__JSON_QUOTED(strlen(notes[i].key)) + OCDM__JSON_QUOTED(strlen(notes[i].value)) + 2;
    for (size_t i = 0; i < tensor_count; i++)
        room += OCDM__JSON_QUOTED(strlen(tensors[i].name)) + 128 + 24 * (size_t)tensors[i].rank;
    return room;
}

/* `first` opens the metadata. Spaces at the end align the data. */
static void build_header(struct header *header, const char *first, const struct ocdm__note *notes, size_t note_count,
                         const struct ocdm__tensor *tensors, size_t tensor_count)
{
    append(header, first);
    for (size_t i = 0; i < note_count; i++) {
        append(header, header->text[header->length - 1] == '{' ? "" : ",");
        append_quoted(header, notes[i].key);
        append(header, ":");
        append_quoted(header, notes[i].value);
    }
    append(header, "}");
    uint64_t offset = 0;
    for (size_t i = 0; i < tensor_count; i++) {
        append_tensor(header, &tensors[i], offset);
        offset += tensors[i].size;
    }
    append(header, "}");
    while (header->length % 8)
        append(header, " ");
}

static void fill_in_checksum(struct header *header, size_t digits, const struct ocdm__tensor *tensors, size_t tensor_count)
{
    uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, header->text, header->length);
    for (size_t i = 0; i < tensor_count; i++)
        sum = ocdm__checksum(sum, tensors[i].data, tensors[i].size);
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    memcpy(header->text + digits, text, strlen(OCDM__CHECKSUM_BLANK));
}

static uint64_t write_header(ocdm__output *output, const struct header *header)
{
    unsigned char length[8];
    ocdm__put_u64(length, header->length);
    ocdm__output_write(output, length, sizeof length);
    ocdm__output_write(output, header->text, header->length);
    return ocdm__checksum(ocdm__checksum(OCDM__CHECKSUM_START, length, sizeof length), header->text, header->length);
}

ocdm_status ocdm__safetensors_begin(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, uint64_t *sum, ocdm_error *error)
{
    struct header header = {ocdm__allocate(header_room(notes, note_count, tensors, tensor_count), 1), 0};
    if (!header.text)
        return ocdm__fail_memory(error, "a file's header");
    build_header(&header, "{\"__metadata__\":{", notes, note_count, tensors, tensor_count);
    *sum = write_header(output, &header);
    ocdm__release(header.text);
    return OCDM_OK;
}

ocdm_status ocdm__safetensors_write(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, ocdm_error *error)
{
    struct header header = {ocdm__allocate(header_room(notes, note_count, tensors, tensor_count), 1), 0};
    if (!header.text)
        return ocdm__fail_memory(error, "a file's header");
    static const char first[] = "{\"__metadata__\":{\"checksum\":\"";
    build_header(&header, "{\"__metadata__\":{\"checksum\":\"" OCDM__CHECKSUM_BLANK "\"", notes, note_count, tensors,
                 tensor_count);
    fill_in_checksum(&header, strlen(first), tensors, tensor_count);
    write_header(output, &header);
    for (size_t i = 0; i < tensor_count; i++)
        ocdm__output_write(output, tensors[i].data, tensors[i].size);
    ocdm__release(header.text);
    return OCDM_OK;
}
