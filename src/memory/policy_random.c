/* Random: while memory and batch exceed M, a uniform member goes. Old tasks decay as (M / (M + b))^t. */
#include "memory/policies.h"

static ocdm_status remove_any(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    (void)error;
    ocdm__random random = ocdm__decision_random(memory);
    *slot = (uint32_t)ocdm__random_below(&random, memory->pool.size);
    return OCDM_OK;
}

const ocdm_policy ocdm__policy_random = {.size = sizeof(ocdm_policy), .name = "random", .remove = remove_any};
