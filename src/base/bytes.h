/* Numbers as little-endian bytes on any machine, rows of bits, checksums of bytes, and 16-bit floating point. */
#ifndef OCDM_BASE_BYTES_H
#define OCDM_BASE_BYTES_H

#include "base/base.h"

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

static inline void ocdm__put_float(unsigned char *bytes, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    ocdm__put_u32(bytes, bits);
}

static inline float ocdm__get_float(const unsigned char *bytes)
{
    uint32_t bits = ocdm__get_u32(bytes);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
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

/* ---- rows of bits ---- */

/* Bit i is bit i mod 8 of byte i / 8, lowest bit first. A row that is NULL has all bits. */

static inline size_t ocdm__bits_size(size_t count)
{
    return count / 8 + (count % 8 != 0);
}

static inline bool ocdm__bits_have(const uint8_t *bits, size_t i)
{
    return bits == NULL || (bits[i / 8] >> (i % 8) & 1) != 0;
}

static inline void ocdm__bits_add(uint8_t *bits, size_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << (i % 8));
}

/* How many of the first `count` bits are set. */
static inline size_t ocdm__bits_count(const uint8_t *bits, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += ocdm__bits_have(bits, i);
    return found;
}

/* ---- checksums ---- */

/* FNV-1a, 64 bits: detects accidents, not attacks. Any change of one byte changes it. */

#define OCDM__CHECKSUM_START 0xCBF29CE484222325u

static inline uint64_t ocdm__checksum(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001B3u;
    return sum;
}

/* A faster one, for files that every run reads: four words of eight bytes in parallel. Any change of one word changes it. */

static inline uint64_t ocdm__row_sum_step(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return sum << 29 | sum >> 35;
}

/* The next eight bytes in one load; ocdm__get_u64 takes them one by one. */
static inline uint64_t ocdm__load_u64(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t ocdm__row_sum(const unsigned char *bytes, size_t size)
{
    uint64_t a = size, b = 1, c = 2, d = 3, word = 0;
    size_t at = 0;
    for (; size - at >= 32; at += 32) {
        a = ocdm__row_sum_step(a, ocdm__load_u64(bytes + at));
        b = ocdm__row_sum_step(b, ocdm__load_u64(bytes + at + 8));
        c = ocdm__row_sum_step(c, ocdm__load_u64(bytes + at + 16));
        d = ocdm__row_sum_step(d, ocdm__load_u64(bytes + at + 24));
    }
    uint64_t sum = ocdm__row_sum_step(ocdm__row_sum_step(ocdm__row_sum_step(a, b), c), d);
    for (; size - at >= 8; at += 8)
        sum = ocdm__row_sum_step(sum, ocdm__load_u64(bytes + at));
    for (size_t i = 0; i < size - at; i++)
        word |= (uint64_t)bytes[at + i] << (8 * i);
    return ocdm__row_sum_step(sum, word);
}

/* ---- 16-bit floating point ---- */

/* IEEE 754 binary16 to and from 32 bits, by integer operations, so that every machine gives the same bits. */

/* The value of the bits; every half is exactly a float. */
static inline float ocdm__half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 0x3FFu, bits;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f; /* a power of two times ten bits: exact */
        return sign != 0 ? -value : value;
    }
    bits = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112) << 23) | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Below the smallest normal half the last place stays at 2^-24 while the fraction loses bits. */
static inline uint16_t ocdm__subnormal_half(uint32_t magnitude)
{
    uint32_t exponent = magnitude >> 23, fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
    if (exponent < 102)
        return 0;
    uint32_t shift = 126 - exponent, kept = fraction >> shift;
    uint32_t rest = fraction & ((1u << shift) - 1), middle = 1u << (shift - 1);
    return (uint16_t)(kept + (rest > middle || (rest == middle && (kept & 1u) != 0)));
}

/* The nearest half, ties to even; infinity from 65520 on. NaN stays NaN. */
static inline uint16_t ocdm__float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u), half;
    if (magnitude > 0x7F800000u)
        half = (uint16_t)(0x7E00u | (magnitude >> 13 & 0x3FFu));
    else if (magnitude >= 0x477FF000u)
        half = 0x7C00u;
    else if (magnitude < 0x38800000u)
        half = ocdm__subnormal_half(magnitude);
    else /* a carry out of the fraction moves into the exponent, which is right */
        half = (uint16_t)((magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13);
    return (uint16_t)(sign | half);
}

#endif
