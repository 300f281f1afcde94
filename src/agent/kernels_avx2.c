/* The kernels with AVX2. */
#include "agent/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define ELEMENT float
#define LOAD(p) LOAD_WIDE(p)
#define STORE(p, v) STORE_WIDE(p, v)
#define LOAD_ONE(p) (*(p))
#define STORE_ONE(p, v) (*(p) = (v))
#define TABLE ocdm__kernels_avx2
#include "agent/kernels_body.h"

#define WIDE_ROOT(to, from)                                                                                                    \
    do {                                                                                                                       \
        wide from_ = (from);                                                                                                   \
        float *half_ = (float *)&from_;                                                                                        \
        _mm256_storeu_ps(half_, _mm256_sqrt_ps(_mm256_loadu_ps(half_)));                                                       \
        _mm256_storeu_ps(half_ + 8, _mm256_sqrt_ps(_mm256_loadu_ps(half_ + 8)));                                               \
        (to) = from_;                                                                                                          \
    } while (0)
#define ADAM ocdm__adam_avx2
#define AVERAGE ocdm__average_avx2
#define SUM_TREE ocdm__sum_tree_avx2
#include "agent/adam_body.h"

#endif
