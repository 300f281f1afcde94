/* SHA-256 with x86's SHA instructions, found at run time: about six times the plain rounds. */
#include "base/sha256.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

extern const uint32_t ocdm__sha256_constants[64];

bool ocdm__sha256_has_native(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b >> 29 & 1) == 0)
        return false;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 19 & 1) == 1 && (c >> 9 & 1) == 1;
}

/* The instructions want the state as two words of four: a b e f and c d g h, from high to low. */
#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

TARGET static void add_block(__m128i *abef, __m128i *cdgh, const unsigned char *bytes)
{
    const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i w[4], x = *abef, y = *cdgh;
    for (size_t i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)), order);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) {
        __m128i sum = _mm_add_epi32(w[i % 4], _mm_loadu_si128((const __m128i *)(const void *)(ocdm__sha256_constants + 4 * i)));
        y = _mm_sha256rnds2_epu32(y, x, sum);
        x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(sum, 0x0E));
        if (i < 12) {
            __m128i older = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
            w[i % 4] = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), older);
            w[i % 4] = _mm_sha256msg2_epu32(w[i % 4], w[(i + 3) % 4]);
        }
    }
    *abef = _mm_add_epi32(*abef, x);
    *cdgh = _mm_add_epi32(*cdgh, y);
}

TARGET void ocdm__sha256_blocks_native(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (size_t i = 0; i < count; i++)
        add_block(&abef, &cdgh, bytes + 64 * i);
    static const int place[4] = {5, 4, 1, 0};
    uint32_t part[4];
    _mm_storeu_si128((__m128i *)(void *)part, abef);
    for (int i = 0; i < 4; i++)
        state[place[i]] = part[i];
    _mm_storeu_si128((__m128i *)(void *)part, cdgh);
    for (int i = 0; i < 4; i++)
        state[place[i] + 2] = part[i];
}

#else

bool ocdm__sha256_has_native(void)
{
    return false;
}

void ocdm__sha256_blocks_native(uint32_t state[8], const unsigned char *bytes, size_t count)
{
    ocdm__sha256_blocks_plain(state, bytes, count);
}

#endif
