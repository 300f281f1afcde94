/* Searching lanes: in plain C, with AVX2 and with AVX-512, which run only where the CPU has them, and which way to use. */
#include "memory/lanes.h"

#include <stdbool.h>

#include "ocdm/ocdm.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

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

/* A block is four vectors of eight, or eight of four; each goes through a chain of its own, so that they do not wait for each
 * other. */
_Static_assert(OCDM__LANES == 32, "the vectors below are laid out for blocks of 32 lanes");

/* ---- eight at a time ------------------------------------------------------------------------------------------------ */

#define BY_EIGHT __attribute__((target("avx512f")))

BY_EIGHT static int64_t highest_by_eight(const struct lanes *lanes, uint32_t block)
{
    __m512i a = _mm512_set1_epi64(INT64_MIN), b = a, c = a, d = a;
    do {
        const int64_t *score = lanes->score + (size_t)block * OCDM__LANES;
        a = _mm512_max_epi64(a, _mm512_loadu_si512(score));
        b = _mm512_max_epi64(b, _mm512_loadu_si512(score + 8));
        c = _mm512_max_epi64(c, _mm512_loadu_si512(score + 16));
        d = _mm512_max_epi64(d, _mm512_loadu_si512(score + 24));
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    return _mm512_reduce_max_epi64(_mm512_max_epi64(_mm512_max_epi64(a, b), _mm512_max_epi64(c, d)));
}

/* One bit for each lane of a block. */
BY_EIGHT static inline uint32_t reach_by_eight(const int64_t *score, __m512i floor)
{
    uint32_t reached = 0;
    for (unsigned i = 0; i < OCDM__LANES; i += 8)
        reached |= (uint32_t)_mm512_cmpge_epi64_mask(_mm512_loadu_si512(score + i), floor) << i;
    return reached;
}

/* Of the lanes of one block whose bits are set and the best so far, the one with the least order. */
static uint32_t first_of(const struct lanes *lanes, uint32_t best, uint32_t first_lane, uint32_t bits)
{
    for (; bits; bits &= bits - 1) {
        uint32_t lane = first_lane + (uint32_t)__builtin_ctz(bits);
        best = best == OCDM_NONE || lanes->order[lane] < lanes->order[best] ? lane : best;
    }
    return best;
}

BY_EIGHT static uint32_t first_by_eight(const struct lanes *lanes, uint32_t block, int64_t score)
{
    __m512i wanted = _mm512_set1_epi64(score);
    uint32_t first = OCDM_NONE;
    for (; block != OCDM_NONE; block = lanes->blocks[block].next) {
        const int64_t *scores = lanes->score + (size_t)block * OCDM__LANES;
        uint32_t equal = 0;
        for (unsigned i = 0; i < OCDM__LANES; i += 8)
            equal |= (uint32_t)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(scores + i), wanted) << i;
        first = equal ? first_of(lanes, first, block * OCDM__LANES, equal) : first;
    }
    return first;
}

static uint32_t take_reached(uint32_t first_lane, uint32_t reached, uint32_t *lane)
{
    uint32_t count = 0;
    for (; reached; reached &= reached - 1)
        lane[count++] = first_lane + (uint32_t)__builtin_ctz(reached);
    return count;
}

BY_EIGHT static uint32_t from_by_eight(const struct lanes *lanes, uint32_t *block, int64_t floor, uint32_t *lane, uint32_t room)
{
    __m512i floors = _mm512_set1_epi64(floor);
    uint32_t count = 0;
    for (; *block != OCDM_NONE && count + OCDM__LANES <= room; *block = lanes->blocks[*block].next) {
        uint32_t reached = reach_by_eight(lanes->score + (size_t)*block * OCDM__LANES, floors);
        count += reached ? take_reached(*block * OCDM__LANES, reached, lane + count) : 0;
    }
    return count;
}

/* ---- four at a time ------------------------------------------------------------------------------------------------- */

#define BY_FOUR __attribute__((target("avx2")))

BY_FOUR static inline __m256i load_four(const int64_t *numbers)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)numbers);
}

BY_FOUR static inline __m256i larger(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
}

BY_FOUR static int64_t highest_by_four(const struct lanes *lanes, uint32_t block)
{
    __m256i a = _mm256_set1_epi64x(INT64_MIN), b = a, c = a, d = a;
    do {
        const int64_t *score = lanes->score + (size_t)block * OCDM__LANES;
        a = larger(larger(a, load_four(score)), load_four(score + 16));
        b = larger(larger(b, load_four(score + 4)), load_four(score + 20));
        c = larger(larger(c, load_four(score + 8)), load_four(score + 24));
        d = larger(larger(d, load_four(score + 12)), load_four(score + 28));
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    int64_t four[4], highest;
    _mm256_storeu_si256((__m256i *)(void *)four, larger(larger(a, b), larger(c, d)));
    highest = four[0] > four[1] ? four[0] : four[1];
    highest = four[2] > highest ? four[2] : highest;
    return four[3] > highest ? four[3] : highest;
}

BY_FOUR static inline uint32_t reach_by_four(const int64_t *score, __m256i below)
{
    uint32_t reached = 0;
    for (unsigned i = 0; i < OCDM__LANES; i += 4)
        reached |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(load_four(score + i), below))) << i;
    return reached;
}

BY_FOUR static uint32_t first_by_four(const struct lanes *lanes, uint32_t block, int64_t score)
{
    __m256i wanted = _mm256_set1_epi64x(score);
    uint32_t first = OCDM_NONE;
    for (; block != OCDM_NONE; block = lanes->blocks[block].next) {
        const int64_t *scores = lanes->score + (size_t)block * OCDM__LANES;
        uint32_t equal = 0;
        for (unsigned i = 0; i < OCDM__LANES; i += 4)
            equal |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(load_four(scores + i), wanted))) << i;
        first = equal ? first_of(lanes, first, block * OCDM__LANES, equal) : first;
    }
    return first;
}

/* A floor of INT64_MIN would have nothing below it; no score is so low. */
BY_FOUR static uint32_t from_by_four(const struct lanes *lanes, uint32_t *block, int64_t floor, uint32_t *lane, uint32_t room)
{
    __m256i below = _mm256_set1_epi64x(floor - (floor > INT64_MIN));
    uint32_t count = 0;
    for (; *block != OCDM_NONE && count + OCDM__LANES <= room; *block = lanes->blocks[*block].next) {
        uint32_t reached = reach_by_four(lanes->score + (size_t)*block * OCDM__LANES, below);
        count += reached ? take_reached(*block * OCDM__LANES, reached, lane + count) : 0;
    }
    return count;
}

/* x is at least y when the larger of both is x. Bytes are packed within halves of vectors, hence the permutation. */
BY_FOUR static uint64_t reach_by_sixteen(const uint16_t *height, uint16_t least)
{
    __m256i wanted = _mm256_set1_epi16((short)least);
    uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i += 32) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(height + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(height + i + 16));
        a = _mm256_cmpeq_epi16(_mm256_max_epu16(a, wanted), a);
        b = _mm256_cmpeq_epi16(_mm256_max_epu16(b, wanted), b);
        __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8);
        bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(bytes) << i;
    }
    return bits;
}

static const struct ocdm__lane_search by_four = {highest_by_four, first_by_four, from_by_four, reach_by_sixteen};

static const struct ocdm__lane_search by_eight = {highest_by_eight, first_by_eight, from_by_eight, reach_by_sixteen};

/* ---- which way to use ----------------------------------------------------------------------------------------------- */

const struct ocdm__lane_search *ocdm__lane_search_at(size_t index)
{
    const struct ocdm__lane_search *usable[4] = {NULL};
    size_t count = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        usable[count++] = &by_eight;
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &by_four;
    usable[count++] = &plain;
    return index < count ? usable[index] : NULL;
}

#else

const struct ocdm__lane_search *ocdm__lane_search_at(size_t index)
{
    return index == 0 ? &plain : NULL;
}

#endif
