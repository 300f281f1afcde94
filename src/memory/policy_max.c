/* Max: while memory and batch exceed M, a uniform member of the class with most samples goes; ties between classes uniform. */
#include "memory/policies.h"

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

const ocdm_policy ocdm__policy_max = {.size = sizeof(ocdm_policy), .name = "max", .remove = ocdm__remove_from_largest};
