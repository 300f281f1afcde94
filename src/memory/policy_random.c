/* Random: while memory and batch exceed M, a uniform member goes. Old tasks decay as (M / (M + b))^t. */
#include "memory/policies.h"

static uint32_t remove_any(void *state, const ocdm_memory *memory)
{
    (void)state;
    ocdm__random random = ocdm__decision_random(memory);
    return (uint32_t)ocdm__random_below(&random, memory->pool.size);
}

const ocdm_policy ocdm__policy_random = {.name = "random", .remove = remove_any};
