/*
 * The policies without state.
 *
 * - RS: reservoir sampling, Vitter's algorithm R: sample number t (from 0) takes slot j of 0..t, drawn uniformly, if there is
 *   such a slot.
 * - Random: while memory and batch exceed M, a uniform member goes. Old tasks decay as (M / (M + b))^t.
 * - Max: while memory and batch exceed M, a uniform member of the class with most samples goes; ties between classes uniform.
 */
#include "memory/policies.h"

/* The newcomer is sample number `arrived`, counted from 0, so that arrived + 1 samples have come with it. */
static ocdm_status rs_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                              ocdm_error *error)
{
    (void)state;
    (void)sample;
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    uint64_t drawn = ocdm__random_below(&random, memory->arrived + 1);
    *slot = drawn < memory->pool.size ? (uint32_t)drawn : OCDM_NONE;
    return OCDM_OK;
}

const ocdm_policy ocdm__policy_rs = {.size = sizeof(ocdm_policy), .name = "rs", .replace = rs_replace};

/* Members of the batch go like any other: the pool knows no difference. */
static ocdm_status remove_any(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    *slot = (uint32_t)ocdm__random_below(&random, memory->pool.size);
    return OCDM_OK;
}

const ocdm_policy ocdm__policy_random = {.size = sizeof(ocdm_policy), .name = "random", .remove = remove_any};

/* Samples without labels are of no class: one goes only when no sample has a label. */
ocdm_status ocdm__remove_from_largest(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)error;
    const struct pool *pool = &memory->pool;
    ocdm__random random = ocdm__decision_random(memory);
    if (!pool->label_total)
        *slot = ocdm__any_at_all(pool, &random);
    else
        *slot = ocdm__any_of_class(pool, ocdm__largest_class(pool, &random), &random);
    return OCDM_OK;
}

const ocdm_policy ocdm__policy_max = {
    .size = sizeof(ocdm_policy), .name = "max", .traits = RANKS_CLASSES, .remove = ocdm__remove_from_largest};
