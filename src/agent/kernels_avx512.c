/* The kernels with AVX-512. */
#include "agent/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define ELEMENT float
#define LOAD(p) LOAD_WIDE(p)
#define STORE(p, v) STORE_WIDE(p, v)
#define LOAD_ONE(p) (*(p))
#define STORE_ONE(p, v) (*(p) = (v))
#define TABLE ocdm__kernels_avx512
#include "agent/kernels_body.h"

#define WIDE_ROOT(to, from) ((to) = (wide)_mm512_sqrt_ps((__m512)(from)))
#define ADAM ocdm__adam_avx512
#define AVERAGE ocdm__average_avx512
#define SUM_TREE ocdm__sum_tree_avx512
#include "agent/adam_body.h"

#endif
