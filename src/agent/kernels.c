/* The kernels for any CPU, and the choice between the versions. */
#include "agent/kernels.h"

#define TARGET
#define TABLE ocdm__kernels_plain
#define INSTRUCTIONS "plain"
#define WIDE_ROOT(to, from)                                                                                                    \
    do {                                                                                                                       \
        for (size_t lane_ = 0; lane_ < 16; lane_++)                                                                            \
            (to)[lane_] = sqrtf((from)[lane_]);                                                                                \
    } while (0)
#include "agent/kernels_body.h"

#if defined(__x86_64__) && defined(__GNUC__)

/* The widest that the CPU has. */
const struct ocdm__kernels *ocdm__kernels_for(bool bf16)
{
    if (bf16)
        return &ocdm__kernels_bf16;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &ocdm__kernels_avx512;
    return __builtin_cpu_supports("avx2") ? &ocdm__kernels_avx2 : &ocdm__kernels_plain;
}

#else

/* bf16 exists on x86-64 only: ocdm__device_create rejects it elsewhere. */
const struct ocdm__kernels *ocdm__kernels_for(bool bf16)
{
    return bf16 ? NULL : &ocdm__kernels_plain;
}

#endif

/* Blocks in binary: `before` lanes end where the block starts, so that it closes a pair for each bit that carries. */
void ocdm__tree_merges(const size_t *sizes, size_t count, unsigned char *merges)
{
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        merges[i] = 0;
        size_t size = sizes != NULL ? sizes[i] : 1;
        for (size_t carried = size; (before & carried) != 0; carried *= 2)
            merges[i]++;
        before += size;
    }
}
