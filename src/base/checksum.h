/* FNV-1a, 64 bits: for accidents, not for attackers. Any change of one byte changes it. */
#ifndef OCDM_BASE_CHECKSUM_H
#define OCDM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define OCDM__CHECKSUM_START 0xCBF29CE484222325u

static inline uint64_t ocdm__checksum(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001B3u;
    return sum;
}

#endif
