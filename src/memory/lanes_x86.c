/* Searching lanes with AVX-512 and AVX2: the functions here run only where the CPU has them. */
#include "memory/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "ocdm/ocdm.h"

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

/* Eight lanes' best so far: the least order, and where it was found; nowhere is -1. */
struct eight {
    __m512i order;
    __m512i where;
};

BY_EIGHT static inline struct eight better_eight(struct eight a, struct eight b)
{
    __mmask8 found = _mm512_cmpneq_epi64_mask(b.where, _mm512_set1_epi64(-1));
    __mmask8 better = _mm512_mask_cmple_epi64_mask(found, b.order, a.order);
    return (struct eight){_mm512_mask_mov_epi64(a.order, better, b.order), _mm512_mask_mov_epi64(a.where, better, b.where)};
}

BY_EIGHT static inline struct eight look_at_eight(struct eight best, const struct lanes *lanes, uint32_t lane, __m512i wanted)
{
    const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i order = _mm512_loadu_si512(lanes->order + lane);
    __mmask8 has_it = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(lanes->score + lane), wanted);
    __mmask8 better = _mm512_mask_cmple_epi64_mask(has_it, order, best.order);
    __m512i here = _mm512_add_epi64(_mm512_set1_epi64(lane), steps);
    return (struct eight){_mm512_mask_mov_epi64(best.order, better, order), _mm512_mask_mov_epi64(best.where, better, here)};
}

BY_EIGHT static uint32_t first_by_eight(const struct lanes *lanes, uint32_t block, int64_t score)
{
    __m512i wanted = _mm512_set1_epi64(score);
    struct eight a = {_mm512_set1_epi64(INT64_MAX), _mm512_set1_epi64(-1)}, b = a, c = a, d = a;
    do {
        uint32_t lane = block * OCDM__LANES;
        a = look_at_eight(a, lanes, lane, wanted);
        b = look_at_eight(b, lanes, lane + 8, wanted);
        c = look_at_eight(c, lanes, lane + 16, wanted);
        d = look_at_eight(d, lanes, lane + 24, wanted);
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    struct eight best = better_eight(better_eight(a, b), better_eight(c, d));
    __mmask8 found = _mm512_cmpneq_epi64_mask(best.where, _mm512_set1_epi64(-1));
    int64_t least = _mm512_reduce_min_epi64(best.order);
    __mmask8 winner = _mm512_mask_cmpeq_epi64_mask(found, best.order, _mm512_set1_epi64(least));
    __m512i where = _mm512_maskz_compress_epi64(winner, best.where);
    return winner ? (uint32_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(where)) : OCDM_NONE;
}

const struct ocdm__lane_search ocdm__lane_search_avx512 = {highest_by_eight, first_by_eight};

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

struct four {
    __m256i order;
    __m256i where;
};

BY_FOUR static inline struct four choose_four(struct four a, struct four b, __m256i better)
{
    return (struct four){_mm256_blendv_epi8(a.order, b.order, better), _mm256_blendv_epi8(a.where, b.where, better)};
}

BY_FOUR static inline struct four look_at_four(struct four best, const struct lanes *lanes, uint32_t lane, __m256i wanted)
{
    const __m256i steps = _mm256_set_epi64x(3, 2, 1, 0);
    struct four here = {load_four(lanes->order + lane), _mm256_add_epi64(_mm256_set1_epi64x(lane), steps)};
    __m256i has_it = _mm256_cmpeq_epi64(load_four(lanes->score + lane), wanted);
    return choose_four(best, here, _mm256_andnot_si256(_mm256_cmpgt_epi64(here.order, best.order), has_it));
}

BY_FOUR static inline struct four better_four(struct four a, struct four b)
{
    __m256i nowhere = _mm256_cmpeq_epi64(b.where, _mm256_set1_epi64x(-1));
    __m256i worse = _mm256_or_si256(nowhere, _mm256_cmpgt_epi64(b.order, a.order));
    return choose_four(b, a, worse);
}

BY_FOUR static uint32_t first_by_four(const struct lanes *lanes, uint32_t block, int64_t score)
{
    __m256i wanted = _mm256_set1_epi64x(score);
    struct four a = {_mm256_set1_epi64x(INT64_MAX), _mm256_set1_epi64x(-1)}, b = a, c = a, d = a;
    do {
        uint32_t lane = block * OCDM__LANES;
        a = look_at_four(look_at_four(a, lanes, lane, wanted), lanes, lane + 16, wanted);
        b = look_at_four(look_at_four(b, lanes, lane + 4, wanted), lanes, lane + 20, wanted);
        c = look_at_four(look_at_four(c, lanes, lane + 8, wanted), lanes, lane + 24, wanted);
        d = look_at_four(look_at_four(d, lanes, lane + 12, wanted), lanes, lane + 28, wanted);
        block = lanes->blocks[block].next;
    } while (block != OCDM_NONE);
    struct four best = better_four(better_four(a, b), better_four(c, d));
    int64_t order[4], where[4], least = INT64_MAX, first = -1;
    _mm256_storeu_si256((__m256i *)(void *)order, best.order);
    _mm256_storeu_si256((__m256i *)(void *)where, best.where);
    for (int i = 0; i < 4; i++) {
        int better = (where[i] >= 0) & (order[i] <= least);
        least = better ? order[i] : least;
        first = better ? where[i] : first;
    }
    return first < 0 ? OCDM_NONE : (uint32_t)first;
}

const struct ocdm__lane_search ocdm__lane_search_avx2 = {highest_by_four, first_by_four};

#else

typedef int ocdm__no_vectors_here;

#endif
