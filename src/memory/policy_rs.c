/* RS: reservoir sampling, Vitter's algorithm R: sample number t (from 0) takes slot j of 0..t, drawn uniformly, if there is
 * one. */
#include "memory/policies.h"

static uint32_t replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)sample;
    ocdm__random random = ocdm__decision_random(memory);
    uint64_t slot = ocdm__random_below(&random, memory->arrived + 1);
    return slot < memory->pool.size ? (uint32_t)slot : OCDM_NONE;
}

const ocdm_policy ocdm__policy_rs = {.name = "rs", .replace = replace};
