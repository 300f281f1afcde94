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

/* Full classes are the marked ones of the ranking. Only classes that are not full yet are visited, so each is visited once. */
static void refresh_full(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)sample;
    struct ranking *ranking = memory->pool.ranking;
    if (memory->pool.size < memory->options.capacity)
        return;
    for (uint32_t i = ocdm__ranking_unmarked(ranking); i != OCDM_NONE; i = ocdm__ranking_unmarked(ranking))
        ocdm__ranking_mark(ranking, i);
}

static bool is_of_largest(const struct pool *pool, uint32_t node, uint32_t most)
{
    const struct set *set = &pool->sets[pool->nodes[node].set];
    return set->cardinality && pool->classes[pool->cells[set->cells].class_index].kept == most;
}

/* Any sample of the largest classes, all of them together when several tie. */
static uint32_t any_of_largest(const struct pool *pool, ocdm__random *random)
{
    struct rank largest = ocdm__ranking_all(pool->ranking);
    uint64_t candidates = (uint64_t)largest.tied * largest.most;
    uint32_t guess = ocdm__guess(pool, random, candidates, is_of_largest, largest.most);
    if (guess != OCDM_NONE)
        return guess;
    struct lottery lottery = ocdm__lottery(random);
    for (uint32_t i = 0; i < largest.tied; i++)
        ocdm__lottery_enter_class(&lottery, pool, ocdm__ranking_find(pool->ranking, i));
    return pool->nodes[lottery.node].position;
}

/* Of the classes that are largest cbrs takes all together, cbes one. */
static ocdm_status replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)sample;
    (void)error;
    const struct pool *pool = &memory->pool;
    bool single = (memory->policy.traits & OCDM_SINGLE_LABEL) != 0;
    uint32_t count;
    const uint32_t *offered = ocdm__offered(memory, &count);
    *slot = OCDM_NONE;
    if (!count)
        return OCDM_OK;
    ocdm__random random = ocdm__decision_random(memory);
    /* The class of the newcomer with fewest samples in memory, lowest id on a tie; OCDM_NONE if one of them is not full. */
    uint32_t scarcest = offered[0];
    for (uint32_t i = 0; i < count && scarcest != OCDM_NONE; i++) {
        const struct class *class = &pool->classes[offered[i]], *least = &pool->classes[scarcest];
        if (!ocdm__ranking_marked(pool->ranking, offered[i]))
            scarcest = OCDM_NONE;
        else if (class->kept < least->kept || (class->kept == least->kept && class->id < least->id))
            scarcest = offered[i];
    }
    if (!pool->label_total) /* unlabelled samples only: no class is largest */
        *slot = ocdm__any_at_all(pool, &random);
    else if (scarcest == OCDM_NONE)
        *slot = single ? any_of_largest(pool, &random) : ocdm__any_of_class(pool, ocdm__largest_class(pool, &random), &random);
    else {
        /* It stays with probability m_c / n_c, n_c with the newcomer. */
        const struct class *class = &pool->classes[scarcest];
        if (ocdm__random_unit(&random) * (double)(class->seen + 1) < (double)class->kept)
            *slot = ocdm__any_of_class(pool, scarcest, &random);
    }
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

/* A class that lost its last sample to forget or resize starts again: as a full one it would never be let in again. */
static void restart_empty(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    (void)state;
    if (status != OCDM_OK || change->stored > 0 || change->left_count == 0 || change->left[0].item != OCDM_NONE)
        return;
    for (uint32_t i = 0; i < memory->pool.class_count; i++)
        if (memory->pool.classes[i].kept == 0)
            ocdm__ranking_unmark(memory->pool.ranking, i);
}

/* A byte for each class: whether it is full. */
static ocdm_status cbes_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                             ocdm_error *error)
{
    (void)state;
    (void)error;
    *size = memory->pool.class_count;
    for (uint32_t i = 0; i < *size && i < room; i++)
        bytes[i] = ocdm__ranking_marked(memory->pool.ranking, i);
    return OCDM_OK;
}

/* The marks of the classes, in the order of the memory's classes. */
static ocdm_status cbes_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
{
    (void)state;
    if (size != memory->pool.class_count)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state has %zu bytes, not one a class", size);
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[i] > 1)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "the policy's state says %d for class %lu, not 0 or 1", bytes[i],
                              (unsigned long)i);
        if (bytes[i])
            ocdm__ranking_mark(memory->pool.ranking, i);
    }
    return OCDM_OK;
}

/* clang-format off */
#define BALANCED(its_name, its_traits, its_remove)                                                                             \
    {.size = sizeof(ocdm_policy), .name = (its_name), .traits = (its_traits) | RANKS_CLASSES, .replace = replace,              \
     .remove = (its_remove), .seen = refresh_full, .save = cbes_save, .load = cbes_load, .end = restart_empty}
/* clang-format on */

const ocdm_policy ocdm__policy_cbes = BALANCED("cbes", 0, ocdm__remove_from_largest);
const ocdm_policy ocdm__policy_cbrs = BALANCED("cbrs", OCDM_SINGLE_LABEL, remove_single);
