/* The kernels on elements of bf16, computed in float: a bf16 is the upper half of a float, and storing rounds to even. */
#include "agent/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512bf16")))

TARGET static inline __m512 widened(const uint16_t *from)
{
    __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

TARGET static inline void narrowed(uint16_t *to, __m512 value)
{
    __m256bh bits = _mm512_cvtneps_pbh(value);
    memcpy(to, &bits, sizeof bits);
}

TARGET static inline float widened_one(const uint16_t *from)
{
    uint32_t bits = (uint32_t)*from << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TARGET static inline void narrowed_one(uint16_t *to, float value)
{
    __m128bh bits = _mm_cvtneps_pbh(_mm_set_ss(value));
    memcpy(to, &bits, sizeof *to);
}

#define ELEMENT uint16_t
#define LOAD(p) ((wide)widened(p))
#define STORE(p, v) narrowed(p, (__m512)(v))
#define LOAD_ONE(p) widened_one(p)
#define STORE_ONE(p, v) narrowed_one(p, v)
#define TABLE ocdm__kernels_bf16
#define INSTRUCTIONS "AVX-512 with bf16"
#include "agent/kernels_body.h"

#endif
