/* RS: reservoir sampling, Vitter's algorithm R: sample number t (from 0) takes slot j of 0..t, drawn uniformly, if there is
 * one. */
#include "memory/policies.h"

static ocdm_status replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)sample;
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    uint64_t drawn = ocdm__random_below(&random, memory->arrived + 1);
    *slot = drawn < memory->pool.size ? (uint32_t)drawn : OCDM_NONE;
    return OCDM_OK;
}

const ocdm_policy ocdm__policy_rs = {.size = sizeof(ocdm_policy), .name = "rs", .replace = replace};
