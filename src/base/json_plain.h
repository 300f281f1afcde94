/*
 * The innermost loop of reading JSON: how many bytes from here on are plain characters of a string, that is, printable ASCII
 * except the quote and the backslash. Several bytes are tested at once; all variants give the same result.
 */
#ifndef OCDM_BASE_JSON_PLAIN_H
#define OCDM_BASE_JSON_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define OCDM__JSON_STRIDE 16u
#else
#define OCDM__JSON_STRIDE 8u
#endif

static inline bool ocdm__json_is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* How many of the OCDM__JSON_STRIDE bytes at `at`, all of which are read, are plain before the first that is not. */
static inline unsigned ocdm__json_plain_run(const unsigned char *at)
{
#if defined(__SSE2__) && defined(__GNUC__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i outside = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* signed: bytes above 0x7F are negative */
    unsigned special = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), outside));
    return (unsigned)__builtin_ctz(special | 0x10000u);
#elif defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* In each byte the high bit comes up where it is below 0x20, a quote, a backslash or above 0x7F; a borrow may spoil the
     * bytes above the first such one, which are ignored. */
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, at, 8);
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    uint64_t special = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | word;
    special &= ones * 0x80;
    return special ? (unsigned)__builtin_ctzll(special) / 8 : 8;
#else
    unsigned run = 0;
    while (run < OCDM__JSON_STRIDE && ocdm__json_is_plain(at[run]))
        run++;
    return run;
#endif
}

#endif
