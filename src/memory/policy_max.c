/* Max: while memory and batch exceed M, a uniform member of the class with most samples goes; ties between classes uniform. */
#include "memory/policies.h"

static uint32_t remove_from_largest(void *state, const ocdm_memory *memory)
{
    (void)state;
    const struct pool *pool = &memory->pool;
    ocdm__random random = ocdm__decision_random(memory);
    if (!pool->label_total)
        return ocdm__any_at_all(pool, &random);
    return ocdm__any_of_class(pool, ocdm__largest_class(pool, &random), &random);
}

const ocdm_policy ocdm__policy_max = {.name = "max", .remove = remove_from_largest};
