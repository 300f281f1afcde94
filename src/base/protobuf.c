/* The wire format of protobuf: a key, which is a field's number and how its value is written, then the value. */
#include "base/protobuf.h"

#include "base/bytes.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Seven bits a byte, the low ones first; all bytes but the last have the eighth. */
static void put_varint(ocdm__output *output, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    ocdm__output_write(output, bytes, count);
}

static void put_key(ocdm__output *output, unsigned field, enum wire wire)
{
    put_varint(output, (uint64_t)field << 3 | wire);
}

static void put_double(ocdm__output *output, double value)
{
    unsigned char bytes[8];
    ocdm__put_double(bytes, value);
    ocdm__output_write(output, bytes, sizeof bytes);
}

void ocdm__proto_whole(ocdm__output *output, unsigned field, uint64_t value)
{
    put_key(output, field, VARINT);
    put_varint(output, value);
}

void ocdm__proto_float(ocdm__output *output, unsigned field, float value)
{
    unsigned char bytes[4];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    ocdm__put_u32(bytes, bits);
    put_key(output, field, FIXED32);
    ocdm__output_write(output, bytes, sizeof bytes);
}

void ocdm__proto_double(ocdm__output *output, unsigned field, double value)
{
    put_key(output, field, FIXED64);
    put_double(output, value);
}

void ocdm__proto_doubles(ocdm__output *output, unsigned field, const double *values, size_t count)
{
    ocdm__proto_begin(output, field, 8 * (uint64_t)count);
    for (size_t i = 0; i < count; i++)
        put_double(output, values[i]);
}

void ocdm__proto_text(ocdm__output *output, unsigned field, const char *text)
{
    ocdm__proto_bytes(output, field, text, strlen(text));
}

void ocdm__proto_bytes(ocdm__output *output, unsigned field, const void *bytes, size_t size)
{
    ocdm__proto_begin(output, field, size);
    ocdm__output_write(output, bytes, size);
}

void ocdm__proto_message(ocdm__output *output, unsigned field, ocdm__output *message)
{
    ocdm__proto_bytes(output, field, message->buffer, message->used);
    message->used = 0;
}

void ocdm__proto_begin(ocdm__output *output, unsigned field, uint64_t size)
{
    put_key(output, field, BYTES);
    put_varint(output, size);
}

uint64_t ocdm__proto_number_size(uint64_t value)
{
    uint64_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}
