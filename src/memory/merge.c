/*
 * Merging memories that sampled the shards of a stream: what they kept is offered in one batch to a memory that knows what all
 * of them saw, n_i added up, and is deleted down to M by the greedy rule. Places among equals are those that the samples had in
 * their shards, so that the result depends on the shards and their numbers alone.
 */
#include "memory/memory.h"

#include "memory/distances.h"
#include "memory/internal.h"
#include "memory/policies.h"

uint64_t ocdm__key_base(uint64_t seed, uint64_t shard)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_KEYS);
    return shard == 0 ? base : ocdm__random_at(base ^ OCDM__GOLDEN_STEP, shard);
}

/* Arrivals of a shard count from 0, so they are keyed by the shard, or counted on from the shards before it. */
ocdm_status ocdm__memory_expect_shards(ocdm_memory *memory, const struct ocdm__shard_counts *shards, size_t count,
                                       uint64_t *places, ocdm_error *error)
{
    const struct tie *tie = &ocdm__ties[memory->options.tie];
    bool keyed = tie->priority == ocdm__ties[OCDM_TIE_KEY].priority;
    uint64_t before = 0; /* by age, the samples of a shard are older than those of the shards after it */
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ocdm__shard_counts *shard = &shards[i];
        uint64_t key_base = ocdm__key_base(memory->options.seed, shard->number);
        for (size_t j = 0; j < shard->kept_count; j++)
            places[used++] = tie->priority(key_base, keyed ? shard->arrivals[j] : before + shard->arrivals[j]);
        for (size_t j = 0; j < shard->class_count; j++) {
            const ocdm_class *class = &shard->classes[j];
            uint32_t class_index = ocdm__pool_add_class(&memory->pool, class->id);
            if (class_index == OCDM_NONE)
                return ocdm__fail_memory(error, "the classes");
            memory->pool.classes[class_index].seen += class->seen - class->kept;
        }
        before += shard->arrived;
    }
    memory->priorities = places;
    memory->merged = used > 0;
    return OCDM_OK;
}

/* ---- memories as shards ---------------------------------------------------------------------------------------------- */

/* The memories in the order of their shards, and one batch of all that they kept. */
struct merge {
    const ocdm_memory **memories;
    struct ocdm__shard_counts *shards;
    size_t count;
    ocdm_class *classes; /* of all shards, one after another, as are the arrays below */
    uint64_t *arrivals, *ids, *offsets, *places;
    uint32_t *labels;
    size_t class_total, kept_total, label_total;
    uint64_t arrived;
    ocdm__arena arena; /* all arrays */
};

static int compare_shards(const void *left, const void *right)
{
    uint64_t a = (*(const ocdm_memory *const *)left)->options.shard, b = (*(const ocdm_memory *const *)right)->options.shard;
    return (a > b) - (a < b);
}

static int compare_arrivals(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

/* Whether `other` has what was set for the classes of `memory`. */
static bool has_settings(const ocdm_memory *other, const ocdm_memory *memory)
{
    for (uint32_t i = 0; i < memory->pool.setting_count; i++) {
        struct class_setting mine = ocdm__pool_setting(&memory->pool, memory->pool.settings[i].class_id);
        struct class_setting theirs = ocdm__pool_setting(&other->pool, mine.class_id);
        if (mine.weight != theirs.weight || mine.minimum != theirs.minimum)
            return false;
    }
    return true;
}

/* What must be equal: everything that decides about a sample. Capacities may differ. */
static ocdm_status check_shard(const ocdm_memory *memory, const ocdm_memory *first, ocdm_error *error)
{
    const ocdm_options *a = &first->options, *b = &memory->options;
    if (!ocdm__policy_is_ours(b->policy) || (b->policy->traits & OCDM_BY_DISTANCE) == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "sample the shards with the policy ocdm or onlyone",
                          "memories of the policy %s cannot be merged", memory->policy.name);
    if (memory->merged)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "merge all shards at once", "a memory is the result of a merge");
    if (a->policy != b->policy || a->distance != b->distance || a->tie != b->tie || a->rho != b->rho || a->seed != b->seed ||
        a->tolerance != b->tolerance || a->minimum != b->minimum || !has_settings(memory, first) ||
        !has_settings(first, memory))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT,
                          "policy, distance, tie, rho, seed, tolerance, weights and minimums must be the same",
                          "shards %llu and %llu were sampled with different settings", (unsigned long long)a->shard,
                          (unsigned long long)b->shard);
    return OCDM_OK;
}

/* Sorts the memories by their shards, checks that they go together, and counts what they have. */
static ocdm_status take_memories(struct merge *merge, const ocdm_memory *const *memories, size_t count, ocdm_error *error)
{
    merge->memories = ocdm__arena_new(&merge->arena, count, sizeof *merge->memories);
    merge->shards = ocdm__arena_new(&merge->arena, count, sizeof *merge->shards);
    OCDM_TRY(ocdm__arena_check(&merge->arena, "the shards", error));
    merge->count = count;
    memcpy(merge->memories, memories, count * sizeof *memories);
    qsort(merge->memories, count, sizeof *merge->memories, compare_shards);
    for (size_t i = 0; i < count; i++) {
        const ocdm_memory *memory = merge->memories[i];
        OCDM_TRY(check_shard(memory, merge->memories[0], error));
        if (i > 0 && memory->options.shard == merge->memories[i - 1]->options.shard)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give every shard its own number", "two memories are of shard %llu",
                              (unsigned long long)memory->options.shard);
        merge->class_total += memory->pool.class_count;
        merge->kept_total += memory->pool.size;
        merge->label_total += (size_t)memory->pool.label_total;
        merge->arrived += memory->arrived;
    }
    return merge->kept_total <= OCDM_MAX_CAPACITY
               ? OCDM_OK
               : ocdm__fail(error, OCDM_LIMIT, "merge smaller memories", "the shards have too many samples");
}

/* Appends the samples of a shard to the batch, in the order in which they arrived. */
static void append_shard(struct merge *merge, size_t number, const struct node **order)
{
    const ocdm_memory *memory = merge->memories[number];
    for (uint32_t slot = 0; slot < memory->pool.size; slot++)
        order[slot] = &memory->pool.nodes[memory->pool.node_at[slot]];
    qsort(order, memory->pool.size, sizeof *order, compare_arrivals);
    merge->shards[number] = (struct ocdm__shard_counts){.number = memory->options.shard,
                                                        .arrived = memory->arrived,
                                                        .arrivals = merge->arrivals + merge->kept_total,
                                                        .kept_count = memory->pool.size,
                                                        .classes = merge->classes + merge->class_total,
                                                        .class_count = memory->pool.class_count};
    ocdm_memory_counts(memory, merge->classes + merge->class_total, memory->pool.class_count);
    merge->class_total += memory->pool.class_count;
    for (uint32_t i = 0; i < memory->pool.size; i++, merge->kept_total++) {
        merge->arrivals[merge->kept_total] = order[i]->arrival;
        merge->ids[merge->kept_total] = order[i]->id;
        merge->label_total +=
            ocdm_memory_labels(memory, order[i]->position, merge->labels + merge->label_total, OCDM_MAX_LABELS);
        merge->offsets[merge->kept_total + 1] = merge->label_total;
    }
}

/* What the shards kept, as one batch. */
static ocdm_status gather(struct merge *merge, ocdm_error *error)
{
    ocdm__arena *arena = &merge->arena;
    merge->classes = ocdm__arena_new(arena, merge->class_total, sizeof *merge->classes);
    merge->arrivals = ocdm__arena_new(arena, merge->kept_total, sizeof *merge->arrivals);
    merge->ids = ocdm__arena_new(arena, merge->kept_total, sizeof *merge->ids);
    merge->offsets = ocdm__arena_new(arena, merge->kept_total + 1, sizeof *merge->offsets);
    merge->places = ocdm__arena_new(arena, merge->kept_total, sizeof *merge->places);
    merge->labels = ocdm__arena_new(arena, merge->label_total, sizeof *merge->labels);
    const struct node **order = ocdm__arena_new(arena, merge->kept_total, sizeof *order);
    OCDM_TRY(ocdm__arena_check(arena, "the samples of the shards", error));
    merge->class_total = merge->kept_total = merge->label_total = 0;
    for (size_t i = 0; i < merge->count; i++)
        append_shard(merge, i, order);
    return OCDM_OK;
}

/* The merged memory is shard 0 with the options of the first one and what was set there for classes; it is offered the batch.
 */
static ocdm_status merge_into(struct merge *merge, uint32_t capacity, ocdm_memory **result, ocdm_error *error)
{
    const struct pool *first = &merge->memories[0]->pool;
    ocdm_options options = merge->memories[0]->options;
    options.capacity = capacity;
    options.shard = 0;
    OCDM_TRY(gather(merge, error));
    ocdm_memory *memory = NULL;
    OCDM_TRY(ocdm_memory_create(&options, &memory, error));
    ocdm_status status = OCDM_OK;
    for (uint32_t i = 0; i < first->setting_count; i++) {
        const struct class_setting *setting = &first->settings[i];
        OCDM_THEN(status, ocdm_memory_set_weight(memory, setting->class_id, setting->weight, error));
        if (setting->minimum != OCDM_NONE)
            OCDM_THEN(status, ocdm_memory_set_minimum(memory, setting->class_id, setting->minimum, error));
    }
    OCDM_THEN(status, ocdm__memory_expect_shards(memory, merge->shards, merge->count, merge->places, error));
    OCDM_THEN(status,
              ocdm_memory_update_flat(memory, merge->ids, merge->offsets, merge->labels, merge->kept_total, NULL, error));
    if (status != OCDM_OK) {
        ocdm_memory_destroy(memory);
        return status;
    }
    memory->arrived = merge->arrived; /* the arrivals to come have keys that no sample of shard 0 had */
    memory->departed = merge->arrived - memory->pool.size;
    *result = memory;
    return OCDM_OK;
}

/* The order in which the shards are given does not matter: they are sorted by their numbers. */
ocdm_status ocdm_memory_merge(const ocdm_memory *const *shards, size_t count, uint32_t capacity, ocdm_memory **merged,
                              ocdm_error *error)
{
    if (shards == NULL || merged == NULL || count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a merge needs at least one memory, and a place for the result");
    for (size_t i = 0; i < count; i++)
        if (shards[i] == NULL)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory %zu of a merge is NULL", i);
    struct merge merge = {.count = 0};
    ocdm_status status = take_memories(&merge, shards, count, error);
    OCDM_THEN(status, merge_into(&merge, capacity, merged, error));
    ocdm__arena_clear(&merge.arena);
    return status;
}
