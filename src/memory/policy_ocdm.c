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

/* What the scan needs for a batch: the target, which is fixed for it, and room for class weights. Not used under KL. */
struct scan {
    double *target;
    int64_t *weight;
    uint32_t room;
    uint64_t step; /* the batch that the target is for */
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
    ocdm__release(scan);
}

static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
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

static ocdm_status remove_best(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)error;
    *slot = best_deletion(state, memory);
    return OCDM_OK;
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
