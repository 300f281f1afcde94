/* Timing. Reading labels, making memories and copying pools stay outside the clock. */
#define _POSIX_C_SOURCE 200809L

#include "bench/memory.h"

#include <math.h>
#include <time.h>

#include "base/allocate.h"
#include "base/error.h"
#include "bench/reference.h"

/* Seconds after which a policy gets no further pass, and seconds for the steps of the reference. */
#define POLICY_BUDGET 10.0
#define REFERENCE_BUDGET 3.0

double ocdm__bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

size_t ocdm__bench_steps(const ocdm__bench_plan *plan)
{
    return plan->stream->sample_count / plan->batch + (plan->stream->sample_count % plan->batch != 0);
}

static ocdm_status make_memory(const ocdm__bench_plan *plan, const ocdm_policy *policy, ocdm_memory **memory, ocdm_error *error)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = plan->capacity;
    options.batch = plan->batch;
    options.policy = policy;
    options.seed = plan->seed;
    return ocdm_memory_create(&options, memory, error);
}

static const ocdm_sample *batch_at(const ocdm__bench_plan *plan, size_t step, size_t *count)
{
    size_t at = step * plan->batch;
    size_t left = plan->stream->sample_count - at;
    *count = left < plan->batch ? left : plan->batch;
    return plan->stream->samples + at;
}

static ocdm_status offer(const ocdm__bench_plan *plan, ocdm_memory *memory, size_t first, size_t end, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t step = first; step < end && status == OCDM_OK; step++) {
        size_t count;
        const ocdm_sample *batch = batch_at(plan, step, &count);
        status = ocdm_memory_update(memory, batch, count, NULL, error);
    }
    return status;
}

/* Sorts by insertion: there are a hundred at most. */
static double median(double *value, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && value[j - 1] > value[j]; j--) {
            double swapped = value[j];
            value[j] = value[j - 1];
            value[j - 1] = swapped;
        }
    return count % 2 == 1 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

ocdm_status ocdm__bench_policy(const ocdm__bench_plan *plan, const ocdm_policy *policy, ocdm__bench_result *result,
                               ocdm_memory **memory, ocdm_error *error)
{
    double seconds[OCDM__BENCH_PASSES], spent = 0;
    size_t passes = 0, steps = ocdm__bench_steps(plan);
    ocdm_memory *last = NULL;
    while (passes < plan->passes && (passes == 0 || spent < POLICY_BUDGET)) {
        ocdm_memory_destroy(last);
        last = NULL;
        ocdm_status status = make_memory(plan, policy, &last, error);
        double start = ocdm__bench_clock();
        if (status == OCDM_OK)
            status = offer(plan, last, 0, steps, error);
        seconds[passes] = ocdm__bench_clock() - start;
        if (status != OCDM_OK) {
            ocdm_memory_destroy(last);
            return status;
        }
        spent += seconds[passes++];
    }
    *result = (ocdm__bench_result){steps, passes, steps > 0 ? 1e6 * median(seconds, passes) / (double)steps : 0,
                                   ocdm_memory_distance(last, OCDM_IN_PLAY), ocdm_memory_distance(last, OCDM_SEEN_EVER)};
    if (memory != NULL)
        *memory = last;
    else
        ocdm_memory_destroy(last);
    return OCDM_OK;
}

/* The loop on one step's pool. */
struct rival {
    const ocdm__bench_plan *plan;
    ocdm__snapshot snapshot;
    uint32_t *deleted; /* plan->batch of them */
    double seconds;    /* of all steps so far */
    double distance;   /* after the last one */
};

static ocdm_status time_step(struct rival *rival, const ocdm_memory *memory, size_t step, ocdm_error *error)
{
    const ocdm__bench_plan *plan = rival->plan;
    size_t count;
    const ocdm_sample *batch = batch_at(plan, step, &count);
    ocdm_status status = ocdm__snapshot_take(&rival->snapshot, memory, batch, count, plan->stream->class_count, error);
    if (status != OCDM_OK)
        return status;
    size_t size = rival->snapshot.pool.sample_count;
    size_t deletions = size > plan->capacity ? size - plan->capacity : 0;
    double start = ocdm__bench_clock();
    status = ocdm__reference_delete(&rival->snapshot.pool, deletions, rival->deleted, &rival->distance, error);
    rival->seconds += ocdm__bench_clock() - start;
    return status;
}

/* Walks with the policy ocdm and times `wanted` of the first `steps` steps, evenly spread, the last of them always. */
static ocdm_status walk(struct rival *rival, size_t steps, size_t wanted, ocdm_error *error)
{
    const ocdm__bench_plan *plan = rival->plan;
    size_t at = 0;
    ocdm_memory *memory = NULL;
    rival->seconds = 0;
    ocdm_status status = make_memory(plan, ocdm_policy_find("ocdm"), &memory, error);
    for (size_t i = 0; i < wanted && status == OCDM_OK; i++) {
        size_t step = (i + 1) * steps / wanted - 1;
        status = offer(plan, memory, at, step, error);
        if (status == OCDM_OK)
            status = time_step(rival, memory, step, error);
        at = step;
    }
    ocdm_memory_destroy(memory);
    return status;
}

ocdm_status ocdm__bench_reference(const ocdm__bench_plan *plan, ocdm__bench_result *result, ocdm_error *error)
{
    size_t steps = ocdm__bench_steps(plan);
    struct rival rival = {.plan = plan, .distance = NAN};
    OCDM_TRY(ocdm__new(&rival.deleted, plan->batch, sizeof *rival.deleted, "the reference loop", error));
    /* Measures one step, not the last one, whose batch may be small. */
    size_t wanted = steps > 0;
    ocdm_status status = walk(&rival, steps > 1 ? steps - 1 : steps, wanted, error);
    if (status == OCDM_OK && steps > 1) {
        double affordable = REFERENCE_BUDGET / (rival.seconds > 1e-9 ? rival.seconds : 1e-9);
        wanted = affordable < 4 ? 4 : affordable > (double)steps ? steps : (size_t)affordable;
        wanted = wanted < steps ? wanted : steps;
        status = walk(&rival, steps, wanted, error);
    }
    ocdm__snapshot_release(&rival.snapshot);
    ocdm__release(rival.deleted);
    if (status == OCDM_OK)
        *result = (ocdm__bench_result){wanted, 1, wanted > 0 ? 1e6 * rival.seconds / (double)wanted : 0, rival.distance, NAN};
    return status;
}
