/*
 * The best deletion under reverse KL, L2 and TV: the rule is the one of KL (whole-number weights per class, the largest sum per
 * cardinality, winners compared at 2^-40), but weights depend on S - k or on the target, so every distinct set is scored anew.
 *
 * With T = S - k:
 *
 * - reverse-kl: KL(p || p_omega) = const - sum_i p_i ln m_i + ln S, so w_i = -(p_i / p_max) ln(m_i / (m_i - 1)); m = 0 counts
 * as 1/2.
 *
 * - l2: w_i = (2 m_i - 1) / T - 2 p_i; the distance falls by sum w_i / T.
 *
 * - tv: w_i = |m_i - p_i T| - |m_i - 1 - p_i T|; the distance falls by sum w_i / (2 T).
 */
#include "memory/policies.h"

#include <math.h>

#include "memory/logarithm.h"

/* One cardinality's view: T labels are left, and what the distance would be if no class had lost any of them. */
struct view {
    double rest;
    double base;
    double scale; /* the distance falls by scale * (sum of weights) */
};

static double largest(const double *p, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = p[i] > most ? p[i] : most;
    return most;
}

static double weight_of(ocdm_distance distance, uint32_t kept, double p, double most_p, double rest)
{
    if (distance == OCDM_REVERSE_KL)
        return -(p / most_p) * (kept > 1 ? ocdm__ln_ratio(kept) : ocdm__ln(2));
    if (distance == OCDM_L2)
        return (2 * (double)kept - 1) / rest - 2 * p;
    return fabs((double)kept - p * rest) - fabs((double)kept - 1 - p * rest);
}

static double base_of(ocdm_distance distance, uint32_t kept, double p, double rest)
{
    double difference = (double)kept / rest - p;
    return distance == OCDM_L2 ? difference * difference : fabs(difference) / 2;
}

static struct view look(const ocdm_memory *memory, const double *p, int64_t *weight, uint32_t cardinality)
{
    const struct pool *pool = &memory->pool;
    ocdm_distance distance = memory->options.distance;
    double most_p = largest(p, pool->class_count);
    struct view view = {.rest = (double)(pool->label_total - cardinality)};
    for (uint32_t i = 0; i < pool->class_count; i++) {
        uint32_t kept = pool->classes[i].kept;
        if (distance != OCDM_REVERSE_KL && p[i] > 0)
            view.base += base_of(distance, kept, p[i], view.rest);
        weight[i] = kept ? ocdm__nearest(weight_of(distance, kept, p[i], most_p, view.rest) * OCDM__GRID) : 0;
    }
    if (distance == OCDM_REVERSE_KL)
        view.base = ocdm__ln_real(view.rest);
    view.scale = distance == OCDM_REVERSE_KL ? most_p : distance == OCDM_L2 ? 1 / view.rest : 0.5 / view.rest;
    return view;
}

static int64_t score_of(const struct pool *pool, const int64_t *weight, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    int64_t score = 0;
    for (uint32_t i = 0; i < set->cardinality; i++)
        score += weight[pool->cells[set->cells + i].class_index];
    return score;
}

/* Scores all sets of a cardinality into their lanes and returns the best. */
static int64_t score_sets(const ocdm_memory *memory, const int64_t *weight, uint32_t cardinality)
{
    struct scores *scores = memory->scores;
    int64_t best = INT64_MIN;
    for (uint32_t b = scores->buckets[cardinality].first_block; b != OCDM_NONE; b = scores->lanes.blocks[b].next)
        for (uint32_t lane = b * OCDM__LANES, end = lane + scores->lanes.blocks[b].used; lane < end; lane++) {
            int64_t score = score_of(&memory->pool, weight, scores->lanes.set[lane]);
            scores->lanes.score[lane] = score;
            best = score > best ? score : best;
        }
    return best;
}

static struct contender contend(const ocdm_memory *memory, const double *p, int64_t *weight, uint32_t cardinality)
{
    if (memory->pool.label_total == cardinality) {
        for (uint32_t i = 0; i < memory->pool.class_count; i++)
            weight[i] = 0;
        return (struct contender){.value = INT64_MAX, .score = score_sets(memory, weight, cardinality)};
    }
    struct view view = look(memory, p, weight, cardinality);
    int64_t score = score_sets(memory, weight, cardinality);
    double left = view.base - view.scale * ((double)score / OCDM__GRID);
    return (struct contender){.value = ocdm__nearest(left * 0x1p40), .score = score};
}

uint32_t ocdm__scan_best(const ocdm_memory *memory, const double *p, int64_t *weight)
{
    struct scores *scores = memory->scores;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        scores->contenders[i] = contend(memory, p, weight, scores->present[i]);
        least = scores->contenders[i].value < least ? scores->contenders[i].value : least;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < scores->present_count; i++)
        if (scores->contenders[i].value == least)
            count = ocdm__scores_collect(scores, scores->present[i], scores->contenders[i].score, count);
    return count;
}
