/* Bytes in a page: digests for the Content-Security-Policy, pictures as data URLs. */
#include <png.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/sha256.h"
#include "report/page/parts.h"

static void put_base64(ocdm__output *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t here = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= here > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= here > 2 ? (uint32_t)bytes[i + 2] : 0;
        char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63], digits[bits & 63]};
        for (size_t k = here + 1; k < 4; k++)
            text[k] = '=';
        ocdm__output_write(out, text, 4);
    }
}

static unsigned char hex_digit(char digit)
{
    return (unsigned char)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

void ocdm__put_digest(ocdm__output *out, const char *const *parts)
{
    ocdm__sha256 sha;
    char hex[OCDM__SHA256_TEXT];
    unsigned char bytes[OCDM__SHA256_SIZE];
    ocdm__sha256_begin(&sha);
    for (; *parts != NULL; parts++)
        ocdm__sha256_add(&sha, *parts, strlen(*parts));
    ocdm__sha256_end(&sha, hex);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
    ocdm__output_text(out, "'sha256-");
    put_base64(out, bytes, sizeof bytes);
    ocdm__output_text(out, "'");
}

ocdm_status ocdm__put_picture(ocdm__output *out, const uint8_t *rgb, uint32_t side, ocdm_error *error)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = side, .height = side, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char *bytes = ocdm__allocate(size, 1);
    if (bytes == NULL || png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL) == 0) {
        ocdm__release(bytes);
        return ocdm__fail_memory(error, "a picture");
    }
    ocdm__output_text(out, "data:image/png;base64,");
    put_base64(out, bytes, size);
    ocdm__release(bytes);
    return OCDM_OK;
}
