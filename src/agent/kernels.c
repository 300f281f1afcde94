/* The kernels for any CPU, and the choice between the versions. */
#include "agent/kernels.h"

#include <math.h>

#define TARGET
#define ELEMENT float
#define LOAD(p) LOAD_WIDE(p)
#define STORE(p, v) STORE_WIDE(p, v)
#define LOAD_ONE(p) (*(p))
#define STORE_ONE(p, v) (*(p) = (v))
#define TABLE ocdm__kernels_plain
#include "agent/kernels_body.h"

#define WIDE_ROOT(to, from)                                                                                                    \
    do {                                                                                                                       \
        for (size_t lane_ = 0; lane_ < 16; lane_++)                                                                            \
            (to)[lane_] = sqrtf((from)[lane_]);                                                                                \
    } while (0)
#define ADAM ocdm__adam_plain
#define SUM_LANES ocdm__sum_lanes_plain
#include "agent/adam_body.h"

#if defined(__x86_64__) && defined(__GNUC__)

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct ocdm__kernels *ocdm__kernels_for(bool bf16)
{
    if (bf16)
        return &ocdm__kernels_bf16;
    if (has_avx512())
        return &ocdm__kernels_avx512;
    return __builtin_cpu_supports("avx2") ? &ocdm__kernels_avx2 : &ocdm__kernels_plain;
}

void ocdm__adam(const struct ocdm__adam *adam)
{
    if (has_avx512())
        ocdm__adam_avx512(adam);
    else if (__builtin_cpu_supports("avx2"))
        ocdm__adam_avx2(adam);
    else
        ocdm__adam_plain(adam);
}

void ocdm__sum_lanes(float *sum, const float *lanes, size_t lane_count, size_t lane_stride, size_t count)
{
    if (has_avx512())
        ocdm__sum_lanes_avx512(sum, lanes, lane_count, lane_stride, count);
    else if (__builtin_cpu_supports("avx2"))
        ocdm__sum_lanes_avx2(sum, lanes, lane_count, lane_stride, count);
    else
        ocdm__sum_lanes_plain(sum, lanes, lane_count, lane_stride, count);
}

#else

/* bf16 exists on x86-64 only: ocdm__device_create rejects it elsewhere. */
const struct ocdm__kernels *ocdm__kernels_for(bool bf16)
{
    return bf16 ? NULL : &ocdm__kernels_plain;
}

void ocdm__adam(const struct ocdm__adam *adam)
{
    ocdm__adam_plain(adam);
}

void ocdm__sum_lanes(float *sum, const float *lanes, size_t lane_count, size_t lane_stride, size_t count)
{
    ocdm__sum_lanes_plain(sum, lanes, lane_count, lane_stride, count);
}

#endif
