/* The kernels with AVX-512. */
#include "agent/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define TABLE ocdm__kernels_avx512
#define INSTRUCTIONS "AVX-512"
#define WIDE_ROOT(to, from) ((to) = (wide)_mm512_sqrt_ps((__m512)(from)))
#include "agent/kernels_body.h"

#endif
