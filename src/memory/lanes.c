/* Searching lanes: in plain C, and which way to use. */
#include "memory/lanes.h"

#include <stdbool.h>

#include "ocdm/ocdm.h"

static int64_t highest(const struct lanes *lanes, uint32_t block)
{
    int64_t highest = INT64_MIN;
    for (; block != OCDM_NONE; block = lanes->blocks[block].next) {
        const int64_t *score = lanes->score + (size_t)block * OCDM__LANES;
        for (uint32_t i = 0; i < OCDM__LANES; i++)
            highest = score[i] > highest ? score[i] : highest;
    }
    return highest;
}

static uint32_t first(const struct lanes *lanes, uint32_t block, int64_t score)
{
    int64_t least = INT64_MAX;
    uint32_t first = OCDM_NONE;
    for (; block != OCDM_NONE; block = lanes->blocks[block].next)
        for (uint32_t lane = block * OCDM__LANES, end = lane + OCDM__LANES; lane < end; lane++) {
            bool better = (lanes->score[lane] == score) & (lanes->order[lane] <= least);
            least = better ? lanes->order[lane] : least;
            first = better ? lane : first;
        }
    return first;
}

static uint32_t from(const struct lanes *lanes, uint32_t *block, int64_t floor, uint32_t *lane, uint32_t room)
{
    uint32_t count = 0;
    for (; *block != OCDM_NONE && count + OCDM__LANES <= room; *block = lanes->blocks[*block].next)
        for (uint32_t i = *block * OCDM__LANES, end = i + OCDM__LANES; i < end; i++) {
            lane[count] = i;
            count += lanes->score[i] >= floor;
        }
    return count;
}

static uint64_t reach(const uint16_t *height, uint16_t least)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(height[i] >= least) << i;
    return bits;
}

static const struct ocdm__lane_search plain = {highest, first, from, reach};

#if defined(__x86_64__) && defined(__GNUC__)

const struct ocdm__lane_search *ocdm__lane_search_at(size_t index)
{
    const struct ocdm__lane_search *usable[4] = {NULL};
    size_t count = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        usable[count++] = &ocdm__lane_search_avx512;
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &ocdm__lane_search_avx2;
    usable[count++] = &plain;
    return index < count ? usable[index] : NULL;
}

#else

const struct ocdm__lane_search *ocdm__lane_search_at(size_t index)
{
    return index == 0 ? &plain : NULL;
}

#endif
