/* Searching lanes: the loops over the lanes of a block are what a compiler turns into vector instructions. */
#include "memory/lanes.h"

#include "ocdm/ocdm.h"

static inline int64_t highest(const struct lanes *lanes, uint32_t block)
{
    int64_t best[OCDM__LANES];
    for (int i = 0; i < OCDM__LANES; i++)
        best[i] = INT64_MIN;
    do {
        const int64_t *score = lanes->score + (size_t)block * OCDM__LANES;
        for (int i = 0; i < OCDM__LANES; i++)
            best[i] = score[i] > best[i] ? score[i] : best[i];
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    int64_t max = INT64_MIN;
    for (int i = 0; i < OCDM__LANES; i++)
        max = best[i] > max ? best[i] : max;
    return max;
}

static inline uint32_t first(const struct lanes *lanes, uint32_t block, int64_t wanted)
{
    int64_t least[OCDM__LANES], where[OCDM__LANES];
    for (int i = 0; i < OCDM__LANES; i++) {
        least[i] = INT64_MAX;
        where[i] = 0;
    }
    do {
        const int64_t *score = lanes->score + (size_t)block * OCDM__LANES;
        const int64_t *orders = lanes->order + (size_t)block * OCDM__LANES;
        int64_t here = (int64_t)block * OCDM__LANES;
        for (int i = 0; i < OCDM__LANES; i++) {
            int64_t order = orders[i];
            int64_t better = -(int64_t)((score[i] == wanted) & (order <= least[i]));
            least[i] = (order & better) | (least[i] & ~better);
            where[i] = ((here + i) & better) | (where[i] & ~better);
        }
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    int64_t order = INT64_MAX, lane = 0;
    for (int i = 0; i < OCDM__LANES; i++)
        order = least[i] < order ? least[i] : order;
    for (int i = 0; i < OCDM__LANES; i++)
        lane |= where[i] & -(int64_t)(least[i] == order);
    return (uint32_t)lane;
}

static int64_t highest_anywhere(const struct lanes *lanes, uint32_t block)
{
    return highest(lanes, block);
}

static uint32_t first_anywhere(const struct lanes *lanes, uint32_t block, int64_t score)
{
    return first(lanes, block, score);
}

static const struct ocdm__lane_search anywhere = {highest_anywhere, first_anywhere};

#if defined(__x86_64__) && defined(__GNUC__)

#define BY_EIGHT __attribute__((target("avx512f,avx512vl,avx512dq"), flatten))
#define BY_FOUR __attribute__((target("avx2"), flatten))

BY_EIGHT static int64_t highest_by_eight(const struct lanes *lanes, uint32_t block)
{
    return highest(lanes, block);
}

BY_EIGHT static uint32_t first_by_eight(const struct lanes *lanes, uint32_t block, int64_t score)
{
    return first(lanes, block, score);
}

BY_FOUR static int64_t highest_by_four(const struct lanes *lanes, uint32_t block)
{
    return highest(lanes, block);
}

BY_FOUR static uint32_t first_by_four(const struct lanes *lanes, uint32_t block, int64_t score)
{
    return first(lanes, block, score);
}

const struct ocdm__lane_search *ocdm__lane_search_for_this_cpu(void)
{
    static const struct ocdm__lane_search by_eight = {highest_by_eight, first_by_eight};
    static const struct ocdm__lane_search by_four = {highest_by_four, first_by_four};
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return &by_eight;
    return __builtin_cpu_supports("avx2") ? &by_four : &anywhere;
}

#else

const struct ocdm__lane_search *ocdm__lane_search_for_this_cpu(void)
{
    return &anywhere;
}

#endif
