/* Making a memory and asking it questions. Offering it samples is in update.c. */
#include "memory/memory.h"

#include "memory/distances.h"
#include "memory/internal.h"
#include "memory/policies.h"

/* A memory up to this size has all its room from the start; a larger one doubles as it fills, so that asking for far more than
 * a stream holds costs nothing. */
#define ROOM_AT_START (1u << 20)

ocdm_options ocdm_options_default(void)
{
    return (ocdm_options){.size = sizeof(ocdm_options), .capacity = 1000, .batch = 10, .policy = &ocdm__policy_ocdm};
}

/* A callback that left no message is named by what it was asked for. */
ocdm_status ocdm__pass_on(ocdm_status status, const ocdm_error *found, const char *what, ocdm_error *error)
{
    if (status == OCDM_OK)
        return OCDM_OK;
    if (found->message[0])
        return ocdm__fail(error, status, found->hint, "%s", found->message);
    return ocdm__fail(error, status, found->hint, "%s: %s", what, ocdm_status_text(status));
}

/* ---- what a caller hands in ----------------------------------------------------------------------------------------- */

/*
 * Copies a struct that begins with its size. `known` are the `count` sizes that it has had since it exists, ascending, the last
 * one the present one; what the caller's lacks is 0 in the copy.
 */
static ocdm_status copy_sized(void *copy, const void *given, const size_t *known, size_t count, const char *what,
                              ocdm_error *error)
{
    size_t size, present = known[count - 1], i = 0;
    memcpy(&size, given, sizeof size);
    while (i < count && known[i] != size)
        i++;
    if (i == count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "set its first member to sizeof; a newer header needs a newer library",
                          "%s of %zu bytes is not one that this library knows", what, size);
    memset(copy, 0, present);
    memcpy(copy, given, size);
    memcpy(copy, &present, sizeof size);
    return OCDM_OK;
}

/* A copy of the caller's policy, whose first version ended before `end`. The name goes into files and messages, so it is short
 * and printable. */
static ocdm_status copy_policy(const ocdm_policy *given, ocdm_policy *policy, ocdm_error *error)
{
    static const size_t known[] = {offsetof(ocdm_policy, end), sizeof(ocdm_policy)};
    if (given == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "set options.policy, for example by ocdm_policy_find(\"ocdm\")",
                          "no policy");
    OCDM_TRY(copy_sized(policy, given, known, 2, "an ocdm_policy", error));
    if (policy->name == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a policy without a name");
    size_t length = strlen(policy->name);
    if (!length || length > 63)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a policy's name must have 1 to 63 characters");
    for (size_t i = 0; i < length; i++)
        if (policy->name[i] < 0x20 || policy->name[i] > 0x7e)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a policy's name must be printable ASCII");
    if (policy->replace == NULL && policy->remove == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "policy %s must implement replace or remove", policy->name);
    return OCDM_OK;
}

/* Comparisons are written so that NaN fails them. */
static ocdm_status check_options(const ocdm_options *options, ocdm_error *error)
{
    if (!options->capacity || options->capacity > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a memory holds at least one sample",
                          "capacity %lu is not between 1 and %lu", (unsigned long)options->capacity,
                          (unsigned long)OCDM_MAX_CAPACITY);
    if (!options->batch)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a batch holds at least one sample", "batch 0 is not at least 1");
    if (!(options->rho >= -OCDM_MAX_RHO && options->rho <= OCDM_MAX_RHO))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "0 asks for equal shares, 1 for the stream's own",
                          "rho %g is not between -16 and 16", options->rho);
    if (!(options->tolerance >= 0 && options->tolerance <= OCDM_MAX_TOLERANCE))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "0 is the paper's rule; try 0.1", "tolerance %g is not between 0 and %g",
                          options->tolerance, OCDM_MAX_TOLERANCE);
    if (!ocdm_distance_name(options->distance))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%d is no distance", (int)options->distance);
    if (!ocdm_tie_name(options->tie))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%d is no tie rule", (int)options->tie);
    if (options->shard > OCDM_MAX_SHARD)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "number shards 0, 1, 2, ...", "shard %llu is not between 0 and %lu",
                          (unsigned long long)options->shard, (unsigned long)OCDM_MAX_SHARD);
    return options->minimum > 0 ? ocdm__check_minimum(options, error) : OCDM_OK;
}

/* Only a search over all label sets can pass over those that a minimum protects. */
ocdm_status ocdm__check_minimum(const ocdm_options *options, ocdm_error *error)
{
    if (options->policy == NULL || (options->policy->traits & OCDM_BY_DISTANCE) == 0 || options->distance != OCDM_KL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use the policy ocdm or onlyone, and the distance kl",
                          "minimums need a policy that searches, under the distance kl");
    return OCDM_OK;
}

/* Doubles up to capacity + batch, which is all that a stream of whole batches needs. */
ocdm_status ocdm__memory_reserve(ocdm_memory *memory, uint32_t samples, ocdm_error *error)
{
    if (samples <= memory->pool.reserved)
        return OCDM_OK;
    uint64_t all = (uint64_t)memory->options.capacity + memory->options.batch;
    uint64_t doubled = (uint64_t)memory->pool.reserved * 2;
    uint64_t room = doubled < all ? doubled : all;
    room = room < samples ? samples : room;
    uint64_t *drawn_at = ocdm__resize(memory->drawn_at, (size_t)room, sizeof *drawn_at);
    if (!drawn_at)
        return ocdm__fail_memory(error, "the samples in memory");
    memset(drawn_at + memory->pool.reserved, 0, (size_t)(room - memory->pool.reserved) * sizeof *drawn_at);
    memory->drawn_at = drawn_at;
    return ocdm__pool_reserve(&memory->pool, (uint32_t)room, error);
}

/* After a failure ocdm_memory_destroy releases what there is. */
static ocdm_status fill_memory(ocdm_memory *memory, ocdm_error *error)
{
    uint64_t all = (uint64_t)memory->options.capacity + memory->options.batch;
    uint32_t room = all < ROOM_AT_START ? (uint32_t)all : ROOM_AT_START;
    ocdm_status status = ocdm__pool_create(&memory->pool, room, error);
    if (status != OCDM_OK)
        return status;
    memory->pool.minimum = memory->options.minimum;
    memory->pool.has_minimums = memory->options.minimum > 0;
    OCDM_TRY(ocdm__new(&memory->drawn_at, room, sizeof *memory->drawn_at, "the samples in memory", error));
    if ((memory->policy.traits & RANKS_CLASSES) != 0)
        status = ocdm__new(&memory->pool.ranking, 1, sizeof *memory->pool.ranking, "the ranking of the classes", error);
    if (status == OCDM_OK && (memory->policy.traits & OCDM_BY_DISTANCE) != 0)
        status = ocdm__index_create(&memory->index, memory->options.rho, memory->options.distance == OCDM_KL, room, error);
    OCDM_THEN(status, ocdm__memory_reserve_batch(memory, memory->options.batch < room ? memory->options.batch : room, error));
    if (status != OCDM_OK || memory->policy.create == NULL)
        return status;
    /* The policy sees the memory with its options, before any sample. */
    ocdm_error found;
    ocdm__error_reset(&found);
    status = memory->policy.create(memory, memory->options.policy_data, &memory->state, &found);
    return ocdm__pass_on(status, &found, "the policy's create failed", error);
}

/* What the caller handed in is copied: a policy or options of an older header lack members, which are 0 then. */
ocdm_status ocdm_memory_create(const ocdm_options *given, ocdm_memory **result, ocdm_error *error)
{
    if (given == NULL || result == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "options and memory must not be NULL");
    ocdm_options options = ocdm_options_default();
    ocdm_policy policy = {.size = 0};
    static const size_t known[] = {offsetof(ocdm_options, policy_data), offsetof(ocdm_options, tolerance),
                                   offsetof(ocdm_options, shard), sizeof(ocdm_options)};
    OCDM_TRY(copy_sized(&options, given, known, 4, "an ocdm_options", error));
    OCDM_TRY(check_options(&options, error));
    OCDM_TRY(copy_policy(options.policy, &policy, error));
    ocdm_memory *memory;
    OCDM_TRY(ocdm__new(&memory, 1, sizeof *memory, "a memory", error));
    /* Everything that needs no room: the options, the policy, where random numbers start. */
    memory->options = options;
    memory->policy = policy;
    memory->key_base = ocdm__key_base(options.seed, options.shard);
    memory->decision_base = ocdm__random_base(options.seed, OCDM__FOR_DECISIONS);
    memory->draw_base = ocdm__random_base(options.seed, OCDM__FOR_DRAWS);
    memory->keeps_journal = !ocdm__policy_is_ours(options.policy) || options.minimum > 0;
    memory->beginning_count = SIZE_MAX;
    ocdm_status status = fill_memory(memory, error);
    if (status != OCDM_OK) {
        ocdm_memory_destroy(memory);
        return status;
    }
    *result = memory;
    return OCDM_OK;
}

/* Also of a memory that was not finished: what is missing is NULL. */
void ocdm_memory_destroy(ocdm_memory *memory)
{
    if (!memory)
        return;
    if (memory->state != NULL && memory->policy.destroy != NULL)
        memory->policy.destroy(memory->state);
    ocdm__pool_destroy(&memory->pool);
    ocdm__index_destroy(memory->index);
    OCDM_RELEASE(memory->class_index, memory->first_class, memory->item_node, memory->left, memory->stored_slot,
                 memory->stored_item, memory->moved, memory->flat, memory->journal, memory->journal_classes, memory->drawn_at,
                 memory);
}

void ocdm__memory_trust(ocdm_memory *memory)
{
    memory->pool.trusting = true;
}

uint64_t ocdm__memory_spared(const ocdm_memory *memory)
{
    return memory->index == NULL ? 0 : memory->index->spared;
}

/* ---- draws ---------------------------------------------------------------------------------------------------------- */

/* For replay. A draw follows from the seed and its number, and never touches which samples are kept. */

/* Floyd's way to draw a subset: the j-th of the last `count` numbers, or one below it that was not drawn yet; then shuffled. */
size_t ocdm_memory_draw(ocdm_memory *memory, size_t count, uint32_t *slot)
{
    if (memory == NULL || slot == NULL)
        return 0;
    uint32_t size = memory->pool.size;
    uint32_t wanted = count < size ? (uint32_t)count : size;
    ocdm__random random = ocdm__random_stream(memory->draw_base, memory->draws);
    memory->draws++;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t last = size - wanted + i;
        uint32_t chosen = (uint32_t)ocdm__random_below(&random, (uint64_t)last + 1);
        if (memory->drawn_at[chosen] == memory->draws)
            chosen = last;
        memory->drawn_at[chosen] = memory->draws;
        uint32_t place = (uint32_t)ocdm__random_below(&random, (uint64_t)i + 1);
        slot[i] = slot[place];
        slot[place] = chosen;
    }
    return wanted;
}

uint64_t ocdm__memory_draws(const ocdm_memory *memory)
{
    return memory->draws;
}

/* A class of the memory is drawn first, then one of its samples; samples without labels are a class of their own. */
void ocdm__memory_balance(const ocdm_memory *memory, double *weight)
{
    const struct pool *pool = &memory->pool;
    uint32_t unlabelled = 0;
    for (uint32_t slot = 0; slot < pool->size; slot++)
        unlabelled += pool->sets[pool->nodes[pool->node_at[slot]].set].cardinality == 0;
    for (uint32_t slot = 0; slot < pool->size; slot++) {
        const struct set *set = &pool->sets[pool->nodes[pool->node_at[slot]].set];
        weight[slot] = set->cardinality == 0 ? 1 / (double)unlabelled : 0;
        for (uint32_t i = 0; i < set->cardinality; i++)
            weight[slot] += 1 / (double)pool->classes[pool->cells[set->cells + i].class_index].kept;
    }
}

/* The slots whose exponential variables of rate `weight` are smallest: as if one was drawn after the other, each by the weights
 * of those that are left. Insertion keeps the keys sorted: the drawn slots come out in that order. */
size_t ocdm__draw_apart(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *keys,
                        size_t count)
{
    size_t drawn = 0;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_REPLAY), number);
    for (uint32_t slot = 0; count > 0 && slot < size; slot++) {
        double key = -log(1 - ocdm__random_unit(&random)) / weight[slot];
        if (!(weight[slot] > 0) || (drawn == count && !(key < keys[drawn - 1])))
            continue;
        size_t at = drawn < count ? drawn++ : drawn - 1;
        for (; at > 0 && key < keys[at - 1]; at--) {
            slots[at] = slots[at - 1];
            keys[at] = keys[at - 1];
        }
        slots[at] = slot;
        keys[at] = key;
    }
    return drawn;
}

/* Sums of the weights up to each slot, then a binary search for each draw. O(size + count log size). */
size_t ocdm__draw_again(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *sums,
                        size_t count)
{
    double total = 0;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_REPLAY), number);
    for (uint32_t slot = 0; slot < size; slot++)
        sums[slot] = total += weight[slot];
    if (!(total > 0))
        return 0;
    for (size_t i = 0; i < count; i++) {
        double aim = ocdm__random_unit(&random) * total;
        uint32_t low = 0, high = size - 1; /* the first slot whose sum is above the aim */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (sums[middle] > aim)
                high = middle;
            else
                low = middle + 1;
        }
        slots[i] = low;
    }
    return count;
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

uint32_t ocdm_memory_size(const ocdm_memory *memory)
{
    return memory == NULL ? 0 : memory->pool.size;
}

const ocdm_options *ocdm_memory_options(const ocdm_memory *memory)
{
    return memory == NULL ? NULL : &memory->options;
}

uint64_t ocdm_memory_arrived(const ocdm_memory *memory)
{
    return memory == NULL ? 0 : memory->arrived;
}

/* NULL when there is no such slot. */
static const struct node *node_in(const ocdm_memory *memory, uint32_t slot)
{
    if (memory == NULL || slot >= memory->pool.size)
        return NULL;
    return &memory->pool.nodes[memory->pool.node_at[slot]];
}

uint64_t ocdm_memory_id(const ocdm_memory *memory, uint32_t slot)
{
    const struct node *node = node_in(memory, slot);
    return node == NULL ? 0 : node->id;
}

uint64_t ocdm_memory_arrival(const ocdm_memory *memory, uint32_t slot)
{
    const struct node *node = node_in(memory, slot);
    return node == NULL ? 0 : node->arrival;
}

uint32_t ocdm_memory_find(const ocdm_memory *memory, uint64_t id)
{
    uint32_t node = memory == NULL ? OCDM_NONE : ocdm__pool_find(&memory->pool, id);
    return node == OCDM_NONE ? OCDM_NONE : memory->pool.nodes[node].position;
}

/* Cells ascend by class index; a class's number in order of appearance says nothing about its id. */
static void write_labels(const struct pool *pool, const struct set *set, uint32_t *label)
{
    for (uint32_t i = 0; i < set->cardinality; i++)
        label[i] = pool->classes[pool->cells[set->cells + i].class_index].id;
    ocdm__sort(label, set->cardinality);
}

/* With too little room, the lowest labels: one pass over the set for each of them, since nothing may be allocated. */
size_t ocdm_memory_labels(const ocdm_memory *memory, uint32_t slot, uint32_t *label, size_t room)
{
    const struct node *node = node_in(memory, slot);
    if (node == NULL)
        return 0;
    const struct set *set = &memory->pool.sets[node->set];
    if (label != NULL && set->cardinality <= room)
        write_labels(&memory->pool, set, label);
    else if (label != NULL) {
        /* The lowest `room` labels of a set that has more. */
        uint64_t lowest = 0;
        for (size_t i = 0; i < room; i++) {
            uint64_t least = UINT64_MAX;
            for (uint32_t j = 0; j < set->cardinality; j++) {
                uint64_t id = memory->pool.classes[memory->pool.cells[set->cells + j].class_index].id;
                least = id >= lowest && id < least ? id : least;
            }
            label[i] = (uint32_t)least;
            lowest = least + 1;
        }
    }
    return set->cardinality;
}

/* In CSR form: the labels of slot i are label[offset[i]] up to label[offset[i + 1] - 1]. */
size_t ocdm_memory_all_labels(const ocdm_memory *memory, uint64_t *offset, uint32_t *label, size_t room)
{
    if (memory == NULL)
        return 0;
    const struct pool *pool = &memory->pool;
    bool fits = label != NULL && pool->label_total <= room;
    uint64_t used = 0;
    for (uint32_t slot = 0; slot < pool->size; slot++) {
        const struct set *set = &pool->sets[node_in(memory, slot)->set];
        if (offset != NULL)
            offset[slot] = used;
        if (fits)
            write_labels(pool, set, label + used);
        used += set->cardinality;
    }
    if (offset != NULL)
        offset[pool->size] = used;
    return (size_t)used;
}

static const struct class *class_of(const ocdm_memory *memory, uint32_t class_id)
{
    uint32_t class_index = memory == NULL ? OCDM_NONE : ocdm__pool_class(&memory->pool, class_id);
    return class_index == OCDM_NONE ? NULL : &memory->pool.classes[class_index];
}

uint32_t ocdm_memory_kept(const ocdm_memory *memory, uint32_t class_id)
{
    const struct class *class = class_of(memory, class_id);
    return class == NULL ? 0 : class->kept;
}

uint64_t ocdm_memory_seen(const ocdm_memory *memory, uint32_t class_id)
{
    const struct class *class = class_of(memory, class_id);
    return class == NULL ? 0 : class->seen;
}

ocdm_work ocdm_memory_work(const ocdm_memory *memory)
{
    const ocdm_work none = {0};
    return memory == NULL || memory->index == NULL ? none : memory->index->work;
}

uint64_t ocdm_memory_random(const ocdm_memory *memory, uint32_t draw, uint64_t below)
{
    if (memory == NULL)
        return 0;
    ocdm__random random = ocdm__random_stream(ocdm__random_at(memory->decision_base, memory->decision), draw);
    return ocdm__random_below(&random, below);
}

/* ---- comparisons of gradients -------------------------------------------------------------------------------------- */

/*
 * Comparisons of gradients: a policy asks, the caller's ocdm_similarity answers, and what is here stands between them, so that
 * a policy sees cosines that are cosines.
 */

/* How far beyond 1 rounding may carry a cosine. */
#define ROUNDING 1e-3

void ocdm_memory_set_similarity(ocdm_memory *memory, ocdm_similarity similarity, void *state)
{
    if (memory == NULL)
        return;
    memory->similarity = similarity;
    memory->similarity_state = state;
}

ocdm_status ocdm__fail_without_gradients(const ocdm_memory *memory, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "set a callback with ocdm_memory_set_similarity",
                      "the policy %s needs the gradients of the agent that learns from the memory", memory->policy.name);
}

static ocdm_status malformed(const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a comparison of gradients %s", what);
}

/* A policy of the caller asks too, so nothing is taken for granted. */
static ocdm_status check_question(const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    if (memory->beginning_count == SIZE_MAX)
        return malformed("can be asked for from a policy's `begin` only", error);
    if (asked->batch != memory->beginning || asked->count != memory->beginning_count || asked->count == 0)
        return malformed("must be about the batch that `begin` was given, and it must not be empty", error);
    if (asked->slot == NULL || asked->slot_count == 0 || asked->item_cosine == NULL)
        return malformed("names no samples of memory, or has no room for the answers", error);
    if (asked->batch_first && asked->batch_cosine == NULL)
        return malformed("puts the batch first and does not ask for its cosine", error);
    if (asked->slot_count % asked->group_size != 0)
        return malformed("must name whole groups of samples", error);
    size_t ascending = asked->group_size > 1 ? asked->group_size : asked->slot_count;
    for (size_t i = 0; i < asked->slot_count; i++)
        if (asked->slot[i] >= memory->pool.size || (i % ascending > 0 && asked->slot[i] <= asked->slot[i - 1]))
            return malformed("must name slots of the memory in ascending order, inside each group if there are any", error);
    return OCDM_OK;
}

static bool is_cosine(double x)
{
    return x >= -1 - ROUNDING && x <= 1 + ROUNDING;
}

/* Answers that are not cosines end the question: no decision is made on them. */
ocdm_status ocdm_memory_compare(const ocdm_memory *memory, const ocdm_comparison *comparison, ocdm_error *error)
{
    if (memory == NULL || comparison == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory and comparison must not be NULL");
    if (comparison->size != sizeof *comparison && comparison->size != offsetof(ocdm_comparison, group_size))
        return malformed("has a size that this library does not know", error);
    ocdm_comparison asked = {.size = 0}; /* members that an older header does not have are 0 */
    memcpy(&asked, comparison, comparison->size);
    asked.size = sizeof asked;
    asked.group_size = asked.group_size > 0 ? asked.group_size : 1;
    OCDM_TRY(check_question(memory, &asked, error));
    if (memory->similarity == NULL)
        return ocdm__fail_without_gradients(memory, error);
    for (size_t i = 0; i < asked.count; i++)
        asked.item_cosine[i] = NAN;
    if (asked.batch_cosine != NULL)
        *asked.batch_cosine = NAN;
    /* The callback is the only place where the memory runs code of the learner. */
    ocdm_error found;
    char what[128];
    ocdm__error_reset(&found);
    ocdm_status status = memory->similarity(memory->similarity_state, memory, &asked, &found);
    snprintf(what, sizeof what, "the gradients that the policy %s needs could not be compared", memory->policy.name);
    OCDM_TRY(ocdm__pass_on(status, &found, what, error));
    /* NaN was written before the question, so that an answer that the callback forgot is found. */
    static const char hint[] = "gradients with NaN or infinity in them have no cosine";
    if (asked.batch_cosine != NULL && !is_cosine(*asked.batch_cosine))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the cosine given for the batch, %g, is not between -1 and 1",
                          *asked.batch_cosine);
    bool items = !asked.batch_first || *asked.batch_cosine < 0;
    for (size_t i = 0; items && i < asked.count; i++)
        if (!is_cosine(asked.item_cosine[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint,
                              "the cosine given for item %zu (id %llu), %g, is not between -1 and 1", i,
                              (unsigned long long)asked.batch[i].id, asked.item_cosine[i]);
    return OCDM_OK;
}
