/*
 * CBRS (Chrysakis & Moens 2020) for samples with one label, and CBES (Yan et al. 2021), which carries it over to label sets.
 *
 * A class is `full` if it is, or once was, a largest class since the memory filled. Samples of classes that are not full push
 * out samples of a largest class; the others stay with probability m_c / n_c, as in a reservoir of their class.
 *
 * The code of CBES was never published: this is a reconstruction from its description, made so that it acts as CBRS does on
 * streams with one label.
 */
#include "memory/policies.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

struct full_classes {
    unsigned char *full; /* by class index */
    uint32_t room;
};

static ocdm_status create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)memory;
    (void)data;
    *state = ocdm__allocate(1, sizeof(struct full_classes));
    return *state ? OCDM_OK : ocdm__fail_memory(error, "the policy's state");
}

static void destroy(void *state)
{
    struct full_classes *classes = state;
    ocdm__release(classes->full);
    ocdm__release(classes);
}

static ocdm_status reserve(struct full_classes *classes, uint32_t count, ocdm_error *error)
{
    if (count <= classes->room)
        return OCDM_OK;
    uint32_t room = count * 2 + 62;
    unsigned char *full = ocdm__resize(classes->full, room, 1);
    if (!full)
        return ocdm__fail_memory(error, "the policy's state");
    memset(full + classes->room, 0, room - classes->room);
    classes->full = full;
    classes->room = room;
    return OCDM_OK;
}

static ocdm_status begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    (void)batch;
    (void)count;
    return reserve(state, memory->pool.class_count, error);
}

static void refresh_full(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)sample;
    struct full_classes *classes = state;
    if (memory->pool.size < memory->options.capacity)
        return;
    uint32_t most = ocdm__most_kept(&memory->pool);
    for (uint32_t i = 0; most && i < memory->pool.class_count; i++)
        classes->full[i] |= memory->pool.classes[i].kept == most;
}

/* True with probability m_c / n_c, n_c with the newcomer. */
static bool stays(const struct class *class, ocdm__random *random)
{
    return ocdm__random_unit(random) * (double)(class->seen + 1) < (double)class->kept;
}

static bool is_of_largest(const struct pool *pool, uint32_t node, uint32_t most)
{
    const struct set *set = &pool->sets[pool->nodes[node].set];
    return set->cardinality && pool->classes[pool->cells[set->cells].class_index].kept == most;
}

/* Any sample of the largest classes, all of them together when several tie. */
static uint32_t any_of_largest(const struct pool *pool, ocdm__random *random)
{
    uint32_t most = ocdm__most_kept(pool);
    uint64_t candidates = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        candidates += pool->classes[i].kept == most ? most : 0;
    uint32_t guess = ocdm__guess(pool, random, candidates, is_of_largest, most);
    if (guess != OCDM_NONE)
        return guess;
    struct lottery lottery = ocdm__lottery(random);
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].kept == most)
            ocdm__lottery_enter_class(&lottery, pool, i);
    return pool->nodes[lottery.node].position;
}

static uint32_t choose_single(void *state, const ocdm_memory *memory)
{
    const struct full_classes *classes = state;
    const struct pool *pool = &memory->pool;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    if (!count)
        return OCDM_NONE;
    ocdm__random random = ocdm__decision_random(memory);
    if (!pool->label_total) /* unlabelled samples only: no class is largest */
        return ocdm__any_at_all(pool, &random);
    if (!classes->full[*offered])
        return any_of_largest(pool, &random);
    return stays(&pool->classes[*offered], &random) ? ocdm__any_of_class(pool, *offered, &random) : OCDM_NONE;
}

static ocdm_status replace_single(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                  ocdm_error *error)
{
    (void)sample;
    (void)error;
    *slot = choose_single(state, memory);
    return OCDM_OK;
}

/* The class of the newcomer with fewest samples in memory, lowest id on a tie; OCDM_NONE if one of them is not full. */
static uint32_t scarcest_if_all_full(const struct full_classes *classes, const struct pool *pool, const uint32_t *offered,
                                     uint32_t count)
{
    uint32_t scarcest = offered[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct class *class = &pool->classes[offered[i]], *least = &pool->classes[scarcest];
        if (!classes->full[offered[i]])
            return OCDM_NONE;
        if (class->kept < least->kept || (class->kept == least->kept && class->id < least->id))
            scarcest = offered[i];
    }
    return scarcest;
}

static uint32_t choose(void *state, const ocdm_memory *memory)
{
    const struct pool *pool = &memory->pool;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    if (!count)
        return OCDM_NONE;
    ocdm__random random = ocdm__decision_random(memory);
    if (!pool->label_total) /* unlabelled samples only: no class is largest */
        return ocdm__any_at_all(pool, &random);
    uint32_t scarcest = scarcest_if_all_full(state, pool, offered, count);
    if (scarcest == OCDM_NONE)
        return ocdm__any_of_class(pool, ocdm__largest_class(pool, &random), &random);
    return stays(&pool->classes[scarcest], &random) ? ocdm__any_of_class(pool, scarcest, &random) : OCDM_NONE;
}

static ocdm_status replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)sample;
    (void)error;
    *slot = choose(state, memory);
    return OCDM_OK;
}

/* When the memory is made smaller. */
static ocdm_status remove_single(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    *slot = memory->pool.label_total > 0 ? any_of_largest(&memory->pool, &random) : ocdm__any_at_all(&memory->pool, &random);
    return OCDM_OK;
}

/* A class that lost its last sample to forget or resize starts again: as a full one it would be let in never more. */
static void restart_empty(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    struct full_classes *classes = state;
    if (status != OCDM_OK || change->stored > 0 || change->left_count == 0 || change->left[0].item != OCDM_NONE)
        return;
    for (uint32_t i = 0; i < memory->pool.class_count && i < classes->room; i++)
        classes->full[i] &= memory->pool.classes[i].kept > 0;
}

static ocdm_status save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                        ocdm_error *error)
{
    (void)error;
    const struct full_classes *classes = state;
    size_t count = memory->pool.class_count;
    for (size_t i = 0; i < count && i < room; i++)
        bytes[i] = i < classes->room ? classes->full[i] : 0;
    *size = count;
    return OCDM_OK;
}

static ocdm_status load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
{
    struct full_classes *classes = state;
    if (size != memory->pool.class_count)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state has %zu bytes, not one a class", size);
    ocdm_status status = reserve(classes, memory->pool.class_count, error);
    for (size_t i = 0; status == OCDM_OK && i < size; i++) {
        if (bytes[i] > 1)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state says %d for class %zu, not 0 or 1", bytes[i], i);
        classes->full[i] = bytes[i];
    }
    return status;
}

const ocdm_policy ocdm__policy_cbes = {
    .size = sizeof(ocdm_policy),
    .name = "cbes",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .replace = replace,
    .remove = ocdm__remove_from_largest,
    .seen = refresh_full,
    .save = save,
    .load = load,
    .end = restart_empty,
};

const ocdm_policy ocdm__policy_cbrs = {
    .size = sizeof(ocdm_policy),
    .name = "cbrs",
    .traits = OCDM_SINGLE_LABEL,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .replace = replace_single,
    .remove = remove_single,
    .seen = refresh_full,
    .save = save,
    .load = load,
    .end = restart_empty,
};
