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
#define AVERAGE ocdm__average_plain
#define SUM_TREE ocdm__sum_tree_plain
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

const char *ocdm__kernels_instructions(void)
{
    if (has_avx512())
        return "AVX-512";
    return __builtin_cpu_supports("avx2") ? "AVX2" : "plain";
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

void ocdm__average(float *average, const float *value, float keep, float rest, size_t count)
{
    if (has_avx512())
        ocdm__average_avx512(average, value, keep, rest, count);
    else if (__builtin_cpu_supports("avx2"))
        ocdm__average_avx2(average, value, keep, rest, count);
    else
        ocdm__average_plain(average, value, keep, rest, count);
}

void ocdm__sum_tree(float *sum, const struct ocdm__tree *tree, size_t at, size_t count)
{
    if (has_avx512())
        ocdm__sum_tree_avx512(sum, tree, at, count);
    else if (__builtin_cpu_supports("avx2"))
        ocdm__sum_tree_avx2(sum, tree, at, count);
    else
        ocdm__sum_tree_plain(sum, tree, at, count);
}

#else

/* bf16 exists on x86-64 only: ocdm__device_create rejects it elsewhere. */
const struct ocdm__kernels *ocdm__kernels_for(bool bf16)
{
    return bf16 ? NULL : &ocdm__kernels_plain;
}

const char *ocdm__kernels_instructions(void)
{
    return "plain";
}

void ocdm__adam(const struct ocdm__adam *adam)
{
    ocdm__adam_plain(adam);
}

void ocdm__average(float *average, const float *value, float keep, float rest, size_t count)
{
    ocdm__average_plain(average, value, keep, rest, count);
}

void ocdm__sum_tree(float *sum, const struct ocdm__tree *tree, size_t at, size_t count)
{
    ocdm__sum_tree_plain(sum, tree, at, count);
}

#endif

/* ---- trees and rows ------------------------------------------------------------------------------------------------------ */

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

void ocdm__sum_rows(float *sum, const float *rows, size_t row_count, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] = rows[i];
    for (size_t row = 1; row < row_count; row++)
        for (size_t i = 0; i < count; i++)
            sum[i] += rows[row * stride + i];
}
