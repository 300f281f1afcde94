/* Bytes that the golden files hold in hexadecimal. */
#ifndef OCDM_TESTS_IMAGE_HEX_H
#define OCDM_TESTS_IMAGE_HEX_H

#include <stdlib.h>
#include <string.h>

/* The bytes, to be freed. */
static inline unsigned char *from_hex(const char *text, size_t *size)
{
    static const char digits[] = "0123456789abcdef";
    *size = strlen(text) / 2;
    unsigned char *bytes = malloc(*size + 1);
    for (size_t i = 0; bytes && i < *size; i++)
        bytes[i] = (unsigned char)((strchr(digits, text[2 * i]) - digits) * 16 + (strchr(digits, text[2 * i + 1]) - digits));
    return bytes;
}

#endif
