/*
 * OCDM, Algorithm 1: while memory and batch exceed M, delete the sample whose loss leaves the least Dist(p_omega, p), eq. (7).
 * KL is answered by the index of scores, the other distances by a scan over distinct label sets (distances.c); both name
 * all label sets that tie, and the tie rule picks the sample.
 *
 * Onlyone is the same but lets only samples with exactly one label into the memory.
 */
#include "memory/policies.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/distances.h"
#include "memory/scores_parts.h"

/* What the scan needs for a batch: the target, which is fixed for it, and room for class weights. Not used under KL. */
struct scan {
    double *target;
    int64_t *weight;
    uint32_t room;
    uint64_t step;         /* the batch that the target is for */
    int64_t *best_of_size; /* with minimums: the highest score by number of labels, up to OCDM_MAX_LABELS */
};

static ocdm_status create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)memory;
    (void)data;
    *state = ocdm__allocate(1, sizeof(struct scan));
    return *state ? OCDM_OK : ocdm__fail_memory(error, "the policy's state");
}

static void destroy(void *state)
{
    struct scan *scan = state;
    ocdm__release(scan->target);
    ocdm__release(scan->weight);
    ocdm__release(scan->best_of_size);
    ocdm__release(scan);
}

static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    (void)batch;
    (void)count;
    struct scan *scan = state;
    if (memory->pool.has_minimums && scan->best_of_size == NULL) {
        scan->best_of_size = ocdm__allocate((size_t)OCDM_MAX_LABELS + 1, sizeof *scan->best_of_size);
        if (scan->best_of_size == NULL)
            return ocdm__fail_memory(error, "the policy's state");
    }
    if (memory->options.distance == OCDM_KL || memory->pool.class_count <= scan->room)
        return OCDM_OK;
    uint32_t room = memory->pool.class_count * 2 + 62;
    bool failed = false;
    scan->target = ocdm__grown(scan->target, room, sizeof *scan->target, &failed);
    scan->weight = ocdm__grown(scan->weight, room, sizeof *scan->weight, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the policy's state");
    scan->room = room;
    return OCDM_OK;
}

/* Under distances other than KL: all sets that tie. */
static uint32_t scan_sets(struct scan *scan, const ocdm_memory *memory)
{
    if (scan->step != memory->step) {
        ocdm__target(memory, OCDM_IN_PLAY, scan->target);
        scan->step = memory->step;
    }
    return ocdm__scan_best(memory, scan->target, scan->weight);
}

/* Key, oldest, newest: each set keeps its samples in this order. */
static uint32_t smallest_priority(const ocdm_memory *memory, uint32_t count)
{
    const struct pool *pool = &memory->pool;
    uint32_t best = pool->sets[memory->scores->tied[0]].first;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t node = pool->sets[memory->scores->tied[i]].first;
        best = pool->nodes[node].priority < pool->nodes[best].priority ? node : best;
    }
    return best;
}

static uint32_t uniform_choice(const ocdm_memory *memory, uint32_t count)
{
    ocdm__random random = ocdm__decision_random(memory);
    struct lottery lottery = ocdm__lottery(&random);
    for (uint32_t i = 0; i < count; i++)
        ocdm__lottery_enter_set(&lottery, &memory->pool, memory->scores->tied[i]);
    return lottery.node;
}

/* The index is the memory's own cache: a search reorders it and changes nothing that anyone can see. */
static struct pool *pool_of(const ocdm_memory *memory)
{
    return (struct pool *)&memory->pool;
}

static uint32_t best_deletion(void *state, const ocdm_memory *memory)
{
    const struct pool *pool = &memory->pool;
    bool uniform = ocdm__ties[memory->options.tie].fresh;
    if (memory->options.distance == OCDM_KL && !uniform)
        return pool->nodes[pool->sets[ocdm__scores_best(memory->scores, pool_of(memory))].first].position;
    uint32_t count =
        memory->options.distance == OCDM_KL ? ocdm__scores_all_best(memory->scores, pool_of(memory)) : scan_sets(state, memory);
    uint32_t node = uniform ? uniform_choice(memory, count) : smallest_priority(memory, count);
    return pool->nodes[node].position;
}

/* ---- minimums ------------------------------------------------------------------------------------------------------- */

/* Whether a class of the set has no more than its minimum. */
static bool is_protected(const struct pool *pool, const struct set *set)
{
    for (uint32_t i = 0; i < set->cardinality; i++) {
        const struct class *class = &pool->classes[pool->cells[set->cells + i].class_index];
        if (class->kept <= class->minimum)
            return true;
    }
    return false;
}

/* The set of the member at a position if it is the first of that set, so that a walk over positions meets every set once, and
 * may be deleted; else OCDM_NONE. */
static uint32_t free_set_at(const struct pool *pool, uint32_t position)
{
    uint32_t node = pool->node_at[position], number = pool->nodes[node].set;
    const struct set *set = &pool->sets[number];
    return set->first != node || is_protected(pool, set) ? OCDM_NONE : number;
}

/* The highest score of the free sets by number of labels; returns the least objective that one of them leaves. */
static int64_t score_free_sets(struct scan *scan, const ocdm_memory *memory)
{
    struct pool *pool = pool_of(memory);
    int64_t least = INT64_MAX, *best = scan->best_of_size;
    for (uint32_t i = 0; i <= OCDM_MAX_LABELS; i++)
        best[i] = INT64_MIN;
    for (uint32_t position = 0; position < pool->size; position++) {
        uint32_t number = free_set_at(pool, position);
        int64_t score = number == OCDM_NONE ? INT64_MIN : ocdm__scores_sum_weights(pool, number);
        if (number != OCDM_NONE && score > best[pool->sets[number].cardinality])
            best[pool->sets[number].cardinality] = score;
    }
    for (uint32_t i = 0; i <= OCDM_MAX_LABELS; i++) {
        int64_t value = best[i] == INT64_MIN ? INT64_MAX : ocdm__scores_objective(memory->scores, pool, i, best[i]);
        least = value < least ? value : least;
    }
    return least;
}

/* The best deletion of the sets that are not protected: the rule of the index, by a plain look at all of them. The weights of
 * the classes are those of the search before. */
static ocdm_status best_free_deletion(struct scan *scan, const ocdm_memory *memory, uint32_t *position, ocdm_error *error)
{
    struct pool *pool = pool_of(memory);
    ocdm__random random = ocdm__decision_random(memory);
    struct lottery lottery = ocdm__lottery(&random);
    int64_t least = score_free_sets(scan, memory);
    uint32_t first = OCDM_NONE;
    for (uint32_t i = 0; i < pool->size; i++) {
        uint32_t number = free_set_at(pool, i);
        const struct set *set = number == OCDM_NONE ? NULL : &pool->sets[number];
        if (set == NULL || ocdm__scores_sum_weights(pool, number) != scan->best_of_size[set->cardinality] ||
            ocdm__scores_objective(memory->scores, pool, set->cardinality, scan->best_of_size[set->cardinality]) != least)
            continue;
        ocdm__lottery_enter_set(&lottery, pool, number);
        if (first == OCDM_NONE || pool->nodes[set->first].priority < pool->nodes[first].priority)
            first = set->first;
    }
    if (first == OCDM_NONE)
        return ocdm__fail(
            error, OCDM_LIMIT, "a larger memory, or smaller minimums",
            "the minimums do not fit into %u samples: whichever of memory and batch left, a class would fall below its minimum",
            memory->options.capacity);
    pool->spared++;
    *position = pool->nodes[ocdm__ties[memory->options.tie].fresh ? lottery.node : first].position;
    return OCDM_OK;
}

static ocdm_status remove_best(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    const struct pool *pool = &memory->pool;
    *slot = best_deletion(state, memory);
    bool kept = pool->has_minimums && is_protected(pool, &pool->sets[pool->nodes[pool->node_at[*slot]].set]);
    return kept ? best_free_deletion(state, memory, slot, error) : OCDM_OK;
}

static int has_one_label(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)memory;
    for (size_t i = 1; i < sample->label_count; i++)
        if (sample->labels[i] != sample->labels[0])
            return 0;
    return sample->label_count > 0;
}

const ocdm_policy ocdm__policy_ocdm = {
    .size = sizeof(ocdm_policy),
    .name = "ocdm",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .remove = remove_best,
};

const ocdm_policy ocdm__policy_onlyone = {
    .size = sizeof(ocdm_policy),
    .name = "onlyone",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .admit = has_one_label,
    .remove = remove_best,
};
