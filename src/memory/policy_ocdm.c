/*
 * OCDM, Algorithm 1: while memory and batch exceed M, delete the sample whose loss leaves the least Dist(p_omega, p), eq. (7).
 * KL is answered by the index of label sets, the other distances by a scan over all label sets (distances.c). Both find the
 * sets that tie, and the tie rule picks the sample.
 *
 * Onlyone is the same but lets only samples with exactly one label into the memory.
 */
#include "memory/policies.h"

#include "memory/distances.h"

/* A scan, which distances other than KL need; it stays empty under KL. */
static ocdm_status ocdm_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)data;
    struct scan *scan;
    OCDM_TRY(ocdm__new(&scan, 1, sizeof *scan, "the policy's state", error));
    scan->memory = memory;
    *state = scan;
    return OCDM_OK;
}

static void ocdm_destroy(void *state)
{
    struct scan *scan = state;
    OCDM_RELEASE(scan->target, scan->weight, scan);
}

/* Makes room for the target, one number for each class that the batch may bring. */
static ocdm_status ocdm_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    (void)batch;
    (void)count;
    struct scan *scan = state;
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

/* ---- ties ----------------------------------------------------------------------------------------------------------- */

/* The choice among the sets that tie: by the least priority of all their samples, or by a lottery. */
struct tie_break {
    const ocdm_memory *memory;
    struct lottery lottery;
    uint32_t first; /* the sample with the least priority; OCDM_NONE: no set yet */
};

/* What a set adds to the choice: its first sample, or under a uniform rule all of its samples. */
static void enter_set(void *context, uint32_t number)
{
    struct tie_break *tie = context;
    const struct pool *pool = &tie->memory->pool;
    uint32_t node = pool->sets[number].first;
    if (tie->first == OCDM_NONE || pool->nodes[node].priority < pool->nodes[tie->first].priority)
        tie->first = node;
    if (ocdm__ties[tie->memory->options.tie].fresh)
        ocdm__lottery_enter_set(&tie->lottery, pool, number);
}

static struct tie_break start_tie_break(const ocdm_memory *memory)
{
    ocdm__random random = ocdm__decision_random(memory);
    return (struct tie_break){.memory = memory, .lottery = ocdm__lottery(&random), .first = OCDM_NONE};
}

/* The node whose loss leaves the least distance, eq. (7), ties by the rule. The target of distances other than KL is that of
 * the batch: it does not change while samples of it are deleted. */
static uint32_t best_deletion(struct scan *scan, const ocdm_memory *memory)
{
    if (memory->options.distance == OCDM_KL) {
        ocdm__index_search(memory->index, &memory->pool, memory->options.tolerance);
    } else {
        if (scan->step != memory->step)
            ocdm__target(memory, OCDM_IN_PLAY, scan->target);
        scan->step = memory->step;
        ocdm__scan_search(scan);
    }
    if (!ocdm__ties[memory->options.tie].fresh)
        return memory->pool.sets[ocdm__index_first(memory->index)].first;
    struct tie_break tie = start_tie_break(memory);
    ocdm__index_each_tied(memory->index, enter_set, &tie);
    return tie.lottery.node;
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

/* The best deletion of the sets that are not protected, after a search: the same rule, by a plain look at all of them. */
static ocdm_status best_free_deletion(const ocdm_memory *memory, uint32_t *node, ocdm_error *error)
{
    const struct pool *pool = &memory->pool;
    struct index *index = memory->index;
    for (uint32_t i = 0; i < index->present_count; i++)
        index->buckets[index->present[i]].best = INT64_MIN;
    for (uint32_t position = 0; position < pool->size; position++) {
        uint32_t number = free_set_at(pool, position);
        if (number == OCDM_NONE)
            continue;
        int64_t *best = &index->buckets[pool->sets[number].cardinality].best, score = index->score[pool->sets[number].place];
        *best = score > *best ? score : *best;
    }
    struct kl_objective kl = {index, pool};
    index->contender_count = 0;
    for (uint32_t i = 0; i < index->present_count; i++) {
        uint32_t labels = index->present[i];
        struct bucket *bucket = &index->buckets[labels];
        bucket->threshold = INT64_MAX;
        if (bucket->best == INT64_MIN)
            continue;
        bucket->value = ocdm__index_kl(&kl, labels, bucket->best);
        index->contenders[index->contender_count++] = labels;
    }
    if (index->contender_count == 0)
        return ocdm__fail(
            error, OCDM_LIMIT, "a larger memory, or smaller minimums",
            "the minimums do not fit into %u samples: whichever of memory and batch left, a class would fall below its minimum",
            memory->options.capacity);
    ocdm__index_tie(index, pool, memory->options.tolerance, ocdm__index_kl, &kl);
    struct tie_break tie = start_tie_break(memory);
    for (uint32_t position = 0; position < pool->size; position++) {
        uint32_t number = free_set_at(pool, position);
        const struct set *set = number == OCDM_NONE ? NULL : &pool->sets[number];
        if (set != NULL && index->score[set->place] >= index->buckets[set->cardinality].threshold)
            enter_set(&tie, number);
    }
    index->spared++;
    *node = ocdm__ties[memory->options.tie].fresh ? tie.lottery.node : tie.first;
    return OCDM_OK;
}

/* Minimums are looked at only if the best deletion breaks one, so they cost nothing otherwise. */
static ocdm_status remove_best(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    const struct pool *pool = &memory->pool;
    uint32_t node = best_deletion(state, memory);
    if (pool->has_minimums && is_protected(pool, &pool->sets[pool->nodes[node].set]))
        OCDM_TRY(best_free_deletion(memory, &node, error));
    *slot = pool->nodes[node].position;
    return OCDM_OK;
}

/* Repeats of a label count once. */
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
    .traits = OCDM_BY_DISTANCE,
    .create = ocdm_create,
    .destroy = ocdm_destroy,
    .begin = ocdm_begin,
    .remove = remove_best,
};

const ocdm_policy ocdm__policy_onlyone = {
    .size = sizeof(ocdm_policy),
    .name = "onlyone",
    .traits = OCDM_BY_DISTANCE,
    .create = ocdm_create,
    .destroy = ocdm_destroy,
    .begin = ocdm_begin,
    .admit = has_one_label,
    .remove = remove_best,
};
