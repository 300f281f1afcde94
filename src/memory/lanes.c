/* Crowning the champion of a block: three passes over the lanes, each of which a compiler turns into vector instructions. */
#include "memory/lanes.h"

static inline void crown(struct block *block, const int64_t *score, const int64_t *orders, uint32_t first)
{
    int64_t max = INT64_MIN, least = INT64_MAX, champion = 0;
    for (int i = 0; i < OCDM__LANES; i++)
        max = score[i] > max ? score[i] : max;
    for (int i = 0; i < OCDM__LANES; i++) {
        int64_t other = -(int64_t)(score[i] != max);
        int64_t order = (orders[i] & ~other) | (INT64_MAX & other);
        least = order < least ? order : least;
    }
    for (int i = 0; i < OCDM__LANES; i++)
        champion |= score[i] == max && orders[i] == least ? i : 0;
    block->max = max;
    block->order = least;
    block->champion = first + (uint32_t)champion;
    block->stale = false;
}

static void crown_anywhere(struct block *block, const int64_t *score, const int64_t *order, uint32_t first)
{
    crown(block, score, order, first);
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("avx512f,avx512vl,avx512dq"), flatten)) static void
crown_by_eight(struct block *block, const int64_t *score, const int64_t *order, uint32_t first)
{
    crown(block, score, order, first);
}

__attribute__((target("avx2"), flatten)) static void crown_by_four(struct block *block, const int64_t *score,
                                                                   const int64_t *order, uint32_t first)
{
    crown(block, score, order, first);
}

ocdm__crown_function *ocdm__crown_for_this_cpu(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return crown_by_eight;
    if (__builtin_cpu_supports("avx2"))
        return crown_by_four;
    return crown_anywhere;
}

#else

ocdm__crown_function *ocdm__crown_for_this_cpu(void)
{
    return crown_anywhere;
}

#endif
