/* A plan as runs of the memory alone. */
#include "experiment/compare/memory.h"

#include "base/allocate.h"
#include "base/error.h"

static size_t index_of(const ocdm__compare_plan *plan, size_t point, size_t method, uint64_t seed)
{
    return (point * (size_t)plan->seed_count + (size_t)seed) * plan->method_count + method;
}

bool ocdm__runs_alone(const char *method)
{
    const ocdm_policy *policy = ocdm_policy_find(method);
    return policy != NULL && (policy->traits & OCDM_NEEDS_GRADIENTS) == 0;
}

static ocdm_status check_methods(const ocdm__compare_plan *plan, ocdm_error *error)
{
    for (size_t i = 0; i < plan->method_count; i++)
        if (!ocdm__runs_alone(plan->methods[i]))
            return ocdm__fail(error, OCDM_UNKNOWN_NAME, "policies that decide by labels do, such as ocdm",
                              "%s does not run without a network", plan->methods[i]);
    return OCDM_OK;
}

static void list_runs(const ocdm__compare_plan *plan, const ocdm_options *options, ocdm__memory_run *runs)
{
    for (size_t point = 0; point < plan->point_count; point++)
        for (uint64_t seed = 0; seed < plan->seed_count; seed++)
            for (size_t method = 0; method < plan->method_count; method++) {
                ocdm__memory_run *run = &runs[index_of(plan, point, method, seed)];
                run->options = *options;
                run->options.policy = ocdm_policy_find(plan->methods[method]);
                run->options.capacity = plan->points[point].memory;
                run->options.rho = plan->points[point].rho;
                run->options.seed = seed;
                run->order = plan->points[point].order;
                run->order_count = plan->points[point].order_count;
            }
}

ocdm_status ocdm__compare_memories_run(ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                       const ocdm__stream_table *table, const ocdm__compare_memory_options *options,
                                       const ocdm__progress *progress, ocdm_error *error)
{
    memories->count = plan->point_count * (size_t)plan->seed_count * plan->method_count;
    memories->results = ocdm__allocate(memories->count, sizeof *memories->results);
    ocdm__memory_run *runs = ocdm__allocate(memories->count, sizeof *runs);
    ocdm_status status = OCDM_OK;
    if (memories->results == NULL || runs == NULL)
        status = ocdm__fail_memory(error, "the runs of the memory");
    if (status == OCDM_OK)
        status = check_methods(plan, error);
    if (status == OCDM_OK) {
        list_runs(plan, &options->memory, runs);
        ocdm__memory_plan work = {.table = table,
                                  .runs = runs,
                                  .run_count = memories->count,
                                  .curve_every = options->curve_every,
                                  .threads = options->threads};
        status = ocdm__memory_only(&work, memories->results, progress, error);
    }
    ocdm__release(runs);
    return status;
}

const ocdm__memory_result *ocdm__compare_memory(const ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                                size_t point, size_t method, uint64_t seed)
{
    return &memories->results[index_of(plan, point, method, seed)];
}

void ocdm__compare_memories_clear(ocdm__compare_memories *memories)
{
    ocdm__memory_results_clear(memories->results, memories->results != NULL ? memories->count : 0);
    ocdm__release(memories->results);
    *memories = (ocdm__compare_memories){.count = 0};
}
