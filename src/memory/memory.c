/* Making a memory and asking it questions. Offering it samples is in update.c. */
#include "memory/memory.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "memory/policies.h"
#include "memory/update.h"

/* A memory up to this size has all its room from the start; a larger one doubles as it fills, so that asking for far more than
 * a stream holds costs nothing. */
#define ROOM_AT_START (1u << 20)

ocdm_options ocdm_options_default(void)
{
    return (ocdm_options){.capacity = 1000, .batch = 10, .policy = &ocdm__policy_ocdm};
}

static ocdm_status check_policy(const ocdm_policy *policy, ocdm_error *error)
{
    if (!policy || !policy->name)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "set options.policy, for example by ocdm_policy_find(\"ocdm\")",
                          "no policy");
    size_t length = strlen(policy->name);
    if (!length || length > 63)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a policy's name must have 1 to 63 characters");
    for (size_t i = 0; i < length; i++)
        if (policy->name[i] < 0x20 || policy->name[i] > 0x7e)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a policy's name must be printable ASCII");
    if (!policy->replace == !policy->remove)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "policy %s must implement one of replace and remove", policy->name);
    return OCDM_OK;
}

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
    if (!ocdm_distance_name(options->distance))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%d is no distance", (int)options->distance);
    if (!ocdm_tie_name(options->tie))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%d is no tie rule", (int)options->tie);
    return check_policy(options->policy, error);
}

static uint32_t room_at_start(const ocdm_options *options)
{
    uint64_t all = (uint64_t)options->capacity + options->batch;
    return all < ROOM_AT_START ? (uint32_t)all : ROOM_AT_START;
}

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

static ocdm_status fill_memory(ocdm_memory *memory, ocdm_error *error)
{
    const ocdm_policy *policy = memory->options.policy;
    uint32_t room = room_at_start(&memory->options);
    ocdm_status status = ocdm__pool_create(&memory->pool, room, error);
    if (status != OCDM_OK)
        return status;
    memory->drawn_at = ocdm__allocate(room, sizeof *memory->drawn_at);
    if (!memory->drawn_at)
        return ocdm__fail_memory(error, "the samples in memory");
    if (ocdm__policy_ranks(&memory->options))
        status = ocdm__ranking_create(&memory->pool.ranking, policy == &ocdm__policy_prs, memory->pool.reserved, error);
    if (status == OCDM_OK && ocdm__policy_minimises(policy))
        status = ocdm__scores_create(&memory->scores, memory->options.rho, memory->options.distance == OCDM_KL, room, error);
    if (status == OCDM_OK)
        status = ocdm__memory_reserve_batch(memory, memory->options.batch, error);
    if (status == OCDM_OK && policy->create)
        status = policy->create(memory, &memory->state, error);
    return status;
}

ocdm_status ocdm_memory_create(const ocdm_options *options, ocdm_memory **result, ocdm_error *error)
{
    if (!options || !result)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "options and memory must not be NULL");
    ocdm_status status = check_options(options, error);
    if (status != OCDM_OK)
        return status;
    ocdm_memory *memory = ocdm__allocate(1, sizeof *memory);
    if (!memory)
        return ocdm__fail_memory(error, "a memory");
    memory->options = *options;
    memory->key_base = ocdm__random_base(options->seed, OCDM__FOR_KEYS);
    memory->decision_base = ocdm__random_base(options->seed, OCDM__FOR_DECISIONS);
    memory->draw_base = ocdm__random_base(options->seed, OCDM__FOR_DRAWS);
    memory->keeps_journal = !ocdm__policy_is_ours(options->policy);
    status = fill_memory(memory, error);
    if (status != OCDM_OK) {
        ocdm_memory_destroy(memory);
        return status;
    }
    *result = memory;
    return OCDM_OK;
}

void ocdm_memory_destroy(ocdm_memory *memory)
{
    if (!memory)
        return;
    if (memory->state && memory->options.policy->destroy)
        memory->options.policy->destroy(memory->state);
    ocdm__pool_destroy(&memory->pool);
    ocdm__scores_destroy(memory->scores);
    ocdm__release(memory->class_index);
    ocdm__release(memory->first_class);
    ocdm__release(memory->item_node);
    ocdm__release(memory->batch_ids);
    ocdm__release(memory->left);
    ocdm__release(memory->stored_slot);
    ocdm__release(memory->stored_item);
    ocdm__release(memory->journal);
    ocdm__release(memory->journal_classes);
    ocdm__release(memory->drawn_at);
    ocdm__release(memory);
}

void ocdm_memory_set_similarity(ocdm_memory *memory, ocdm_similarity similarity, void *state)
{
    memory->similarity = similarity;
    memory->similarity_state = state;
}

/* Floyd's way to draw a subset: the j-th of the last `count` numbers, or one below it that was not drawn yet; then shuffled. */
size_t ocdm_memory_draw(ocdm_memory *memory, size_t count, uint32_t *slot)
{
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

uint32_t ocdm_memory_size(const ocdm_memory *memory)
{
    return memory->pool.size;
}

const ocdm_options *ocdm_memory_options(const ocdm_memory *memory)
{
    return &memory->options;
}

uint64_t ocdm_memory_arrived(const ocdm_memory *memory)
{
    return memory->arrived;
}

static const struct node *node_in(const ocdm_memory *memory, uint32_t slot)
{
    return &memory->pool.nodes[memory->pool.node_at[slot]];
}

uint64_t ocdm_memory_id(const ocdm_memory *memory, uint32_t slot)
{
    return node_in(memory, slot)->id;
}

uint64_t ocdm_memory_arrival(const ocdm_memory *memory, uint32_t slot)
{
    return node_in(memory, slot)->arrival;
}

uint32_t ocdm_memory_find(const ocdm_memory *memory, uint64_t id)
{
    uint32_t node = ocdm__pool_find(&memory->pool, id);
    return node == OCDM_NONE ? OCDM_NONE : memory->pool.nodes[node].position;
}

/* Cells ascend by class index; a class's number in order of appearance says nothing about its id. */
size_t ocdm_memory_labels(const ocdm_memory *memory, uint32_t slot, uint32_t *label, size_t room)
{
    const struct pool *pool = &memory->pool;
    const struct set *set = &pool->sets[node_in(memory, slot)->set];
    size_t written = set->cardinality < room ? set->cardinality : room;
    if (!written)
        return set->cardinality;
    if (written == set->cardinality) {
        for (uint32_t i = 0; i < set->cardinality; i++)
            label[i] = pool->classes[pool->cells[set->cells + i].class_index].id;
        ocdm__sort(label, set->cardinality);
        return set->cardinality;
    }
    uint64_t lowest = 0;
    for (size_t i = 0; i < written; i++) {
        uint64_t least = UINT64_MAX;
        for (uint32_t j = 0; j < set->cardinality; j++) {
            uint64_t id = pool->classes[pool->cells[set->cells + j].class_index].id;
            least = id >= lowest && id < least ? id : least;
        }
        label[i] = (uint32_t)least;
        lowest = least + 1;
    }
    return set->cardinality;
}

uint32_t ocdm_memory_kept(const ocdm_memory *memory, uint32_t class_id)
{
    uint32_t class_index = ocdm__pool_class(&memory->pool, class_id);
    return class_index == OCDM_NONE ? 0 : memory->pool.classes[class_index].kept;
}

uint64_t ocdm_memory_seen(const ocdm_memory *memory, uint32_t class_id)
{
    uint32_t class_index = ocdm__pool_class(&memory->pool, class_id);
    return class_index == OCDM_NONE ? 0 : memory->pool.classes[class_index].seen;
}

uint64_t ocdm_memory_random(const ocdm_memory *memory, uint32_t draw, uint64_t below)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_at(memory->decision_base, memory->decision), draw);
    return ocdm__random_below(&random, below);
}
