/*
 * The best deletion under a distance other than KL: the rule is the one of KL (whole-number weights per class, the largest sum
 * per cardinality, winners compared at 2^-40), but weights depend on S - k or on the target, so every distinct set is scored
 * anew. distances.c has the weights.
 */
#include "memory/policies.h"

#include "memory/distances.h"
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

static struct view look(const ocdm_memory *memory, const double *p, int64_t *weight, uint32_t cardinality)
{
    const struct pool *pool = &memory->pool;
    const struct distance *distance = &ocdm__distances[memory->options.distance];
    double most_p = largest(p, pool->class_count);
    struct view view = {.rest = (double)(pool->label_total - cardinality)};
    for (uint32_t i = 0; i < pool->class_count; i++) {
        uint32_t kept = pool->classes[i].kept;
        if (distance->base != NULL && p[i] > 0)
            view.base += distance->base(kept, p[i], view.rest);
        weight[i] = kept ? ocdm__nearest(distance->weight(kept, p[i], most_p, view.rest) * OCDM__GRID) : 0;
    }
    if (distance->offset != NULL)
        view.base += distance->offset(view.rest);
    view.scale = distance->scale(most_p, view.rest);
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
