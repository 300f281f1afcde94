/* Numbers as little-endian bytes, on any machine. */
#ifndef OCDM_BASE_BYTES_H
#define OCDM_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline void ocdm__put_u64(unsigned char *bytes, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

static inline uint64_t ocdm__get_u64(const unsigned char *bytes)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | bytes[i];
    return x;
}

static inline void ocdm__put_u32(unsigned char *bytes, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

static inline uint32_t ocdm__get_u32(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void ocdm__put_double(unsigned char *bytes, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    ocdm__put_u64(bytes, bits);
}

static inline double ocdm__get_double(const unsigned char *bytes)
{
    uint64_t bits = ocdm__get_u64(bytes);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
