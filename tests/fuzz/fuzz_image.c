/*
 * Any bytes as an image file. The first byte picks the sizes; the rest is the file. It is refused, or becomes a picture within
 * the limits, of which every byte is touched and which is resized and cropped; a second decoding must give the same. The
 * checksums of a PNG are made right first, so that what is behind them is reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "stream/images/prepare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, so that a run is short whatever the file promises. */
static const ocdm__image_limits limits = {.pixels = 1 << 16, .scans = 12, .memory = 1 << 21};

/* The polynomial of PNG, bit by bit. */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

/* Chunks: four bytes of length, four of name, the contents, four of checksum over name and contents. */
static void make_checksums_right(uint8_t *bytes, size_t size)
{
    for (size_t at = 8; at < size && size - at >= 12;) {
        size_t length = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (length > size - at - 12)
            return;
        uint32_t sum = checksum(bytes + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            bytes[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static uint64_t hash_of(const ocdm__image *image)
{
    return ocdm__hash_bytes((const char *)image->rgb.bytes, (size_t)image->width * image->height * 3);
}

static void check_error(ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_BAD_FILE && status != OCDM_LIMIT)
        abort();
    if (error->status != status || strncmp(error->message, "fuzz: ", 6) != 0)
        abort();
}

static void crop(const ocdm__image *image, uint32_t resize, uint8_t choice)
{
    static uint8_t rgb[32 * 32 * 3];
    ocdm__image_size size = ocdm__image_resized_size(image->width, image->height, resize);
    uint32_t side = resize ? 1 + choice % resize : 1;
    ocdm__image_region region = {(size.width - side) / 2, size.height - side, side, side};
    ocdm__image_resizer resizer = {0};
    if (ocdm__image_resize(&resizer, image, size, &region, rgb, NULL) != OCDM_OK)
        abort();
    ocdm__image_resizer_clear(&resizer);
}

static void decode_twice(const ocdm__image_file *file, uint8_t choice)
{
    uint32_t resize = choice % 33;
    ocdm__image image = {0}, again = {0};
    ocdm_error error;
    ocdm_status status = ocdm__image_decode(file, &limits, resize, &image, &error);
    if (status != OCDM_OK)
        check_error(status, &error);
    else {
        if (image.width == 0 || image.height == 0 || (uint64_t)image.width * image.height > limits.pixels)
            abort();
        if (ocdm__image_decode(file, &limits, resize, &again, &error) != OCDM_OK || hash_of(&image) != hash_of(&again))
            abort();
        crop(&image, resize, choice / 33);
    }
    ocdm__image_buffer_clear(&image.rgb);
    ocdm__image_buffer_clear(&again.rgb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        abort();
    memcpy(bytes, data + 1, size - 1);
    if (size > 1 && bytes[0] == 0x89)
        make_checksums_right(bytes, size - 1);
    ocdm__image_file file = {.name = "fuzz", .bytes = bytes, .size = size - 1};
    decode_twice(&file, data[0]);
    free(bytes);
    return 0;
}
