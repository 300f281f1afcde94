/* The kernels with AVX2. */
#include "agent/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define TABLE ocdm__kernels_avx2
#define INSTRUCTIONS "AVX2"
#define WIDE_ROOT(to, from)                                                                                                    \
    do {                                                                                                                       \
        wide from_ = (from);                                                                                                   \
        float *half_ = (float *)&from_;                                                                                        \
        _mm256_storeu_ps(half_, _mm256_sqrt_ps(_mm256_loadu_ps(half_)));                                                       \
        _mm256_storeu_ps(half_ + 8, _mm256_sqrt_ps(_mm256_loadu_ps(half_ + 8)));                                               \
        (to) = from_;                                                                                                          \
    } while (0)
#include "agent/kernels_body.h"

#endif
