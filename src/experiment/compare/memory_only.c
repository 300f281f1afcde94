/* Runs many memories at once: each thread takes the next run that nobody has taken. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/memory_only.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/loop/schedule.h"

/* What the threads share. */
struct work {
    const ocdm__memory_plan *plan;
    ocdm__memory_result *results;
    const ocdm__progress *progress;
    pthread_mutex_t lock;
    size_t next, done;
    size_t failed; /* the first run that failed; run_count: none */
    ocdm_error error;
};

/* A shuffled stream as samples, kept by a thread from one run to the next. */
struct ordered {
    const ocdm__memory_run *of; /* the run it was made for; NULL: none yet */
    ocdm__stream_order order;
    ocdm_sample *samples;
};

/* ---- the samples in their order --------------------------------------------------------------------------------------- */

static void clear_ordered(struct ordered *ordered)
{
    ocdm__stream_order_clear(&ordered->order);
    ocdm__release(ordered->samples);
    *ordered = (struct ordered){.of = NULL};
}

static bool same_order(const ocdm__memory_run *a, const ocdm__memory_run *b)
{
    if (a->options.seed != b->options.seed || a->order_count != b->order_count || (a->order == NULL) != (b->order == NULL))
        return false;
    return a->order == NULL || memcmp(a->order, b->order, a->order_count * sizeof *a->order) == 0;
}

static ocdm_status put_in_order(struct ordered *ordered, const ocdm__stream_table *table, const ocdm__memory_run *run,
                                ocdm_error *error)
{
    if (ordered->of != NULL && same_order(ordered->of, run))
        return OCDM_OK;
    clear_ordered(ordered);
    ocdm_status status =
        ocdm__stream_order_make(&ordered->order, table, OCDM__TRAIN, run->order, run->order_count, run->options.seed, error);
    if (status != OCDM_OK)
        return status;
    ordered->samples = ocdm__allocate(ordered->order.count, sizeof *ordered->samples);
    if (ordered->samples == NULL)
        return ocdm__fail_memory(error, "the samples in their order");
    for (size_t i = 0; i < ordered->order.count; i++) {
        uint32_t sample = ordered->order.samples[i];
        uint64_t start = table->label_starts[sample];
        ordered->samples[i] = (ocdm_sample){
            .id = sample, .labels = table->labels + start, .label_count = (size_t)(table->label_starts[sample + 1] - start)};
    }
    ordered->of = run;
    return OCDM_OK;
}

/* ---- one run ---------------------------------------------------------------------------------------------------------- */

static size_t count_steps(const ocdm__stream_order *order, size_t batch)
{
    size_t steps = 0, start = 0;
    for (size_t k = 0; k < order->task_count; k++) {
        steps += (order->ends[k] - start + batch - 1) / batch;
        start = order->ends[k];
    }
    return steps;
}

static ocdm_status start_curve(ocdm__memory_result *result, const ocdm__stream_order *order, const ocdm__memory_plan *plan,
                               size_t batch, ocdm_error *error)
{
    if (plan->curve_every == 0)
        return OCDM_OK;
    size_t room = count_steps(order, batch) / (size_t)plan->curve_every + order->task_count + 1;
    result->curve = ocdm__allocate(room, sizeof *result->curve);
    return result->curve != NULL ? OCDM_OK : ocdm__fail_memory(error, "a curve of distances");
}

static void note_moment(ocdm__memory_result *result, const ocdm_memory *memory, uint64_t step, uint32_t task)
{
    result->curve[result->curve_count++] = (ocdm__memory_moment){.step = step,
                                                                 .task = task,
                                                                 .distance = ocdm_memory_distance(memory, OCDM_IN_PLAY),
                                                                 .distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER)};
}

static ocdm_status pass_by(ocdm_memory *memory, const struct ordered *ordered, uint64_t curve_every,
                           ocdm__memory_result *result, ocdm_error *error)
{
    size_t batch = ocdm_memory_options(memory)->batch, at = 0;
    uint64_t step = 0;
    for (size_t k = 0; k < ordered->order.task_count; k++)
        while (at < ordered->order.ends[k]) {
            size_t left = ordered->order.ends[k] - at, count = left < batch ? left : batch;
            ocdm_status status = ocdm_memory_update(memory, ordered->samples + at, count, NULL, error);
            if (status != OCDM_OK)
                return status;
            at += count;
            step++;
            if (curve_every != 0 && (step % curve_every == 0 || at == ordered->order.ends[k]))
                note_moment(result, memory, step, ordered->order.tasks[k]);
        }
    return OCDM_OK;
}

static ocdm_status run_one(const ocdm__memory_plan *plan, const ocdm__memory_run *run, struct ordered *ordered,
                           ocdm__memory_result *result, ocdm_error *error)
{
    ocdm_memory *memory = NULL;
    ocdm_status status = put_in_order(ordered, plan->table, run, error);
    if (status == OCDM_OK)
        status = ocdm_memory_create(&run->options, &memory, error);
    if (status == OCDM_OK)
        status = start_curve(result, &ordered->order, plan, run->options.batch, error);
    if (status == OCDM_OK && (result->kept = ocdm__allocate(plan->table->class_count, sizeof *result->kept)) == NULL)
        status = ocdm__fail_memory(error, "the counts of the classes");
    if (status == OCDM_OK)
        status = pass_by(memory, ordered, plan->curve_every, result, error);
    if (status == OCDM_OK) {
        result->size = ocdm_memory_size(memory);
        result->distance = ocdm_memory_distance(memory, OCDM_IN_PLAY);
        result->distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
        result->balance = ocdm__balance_of(memory, plan->table->class_count, result->kept);
    }
    ocdm_memory_destroy(memory);
    return status;
}

/* ---- the threads ------------------------------------------------------------------------------------------------------ */

/* The next run to do; run_count when there is none, or when it comes after one that failed. */
static size_t take_run(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    size_t run = work->next;
    if (run < work->failed)
        work->next++;
    else
        run = work->plan->run_count;
    pthread_mutex_unlock(&work->lock);
    return run;
}

static size_t note_end(struct work *work, size_t run, ocdm_status status, const ocdm_error *error)
{
    pthread_mutex_lock(&work->lock);
    if (status != OCDM_OK && run < work->failed) {
        work->failed = run;
        work->error = *error;
    }
    size_t done = ++work->done;
    pthread_mutex_unlock(&work->lock);
    return done;
}

static void work_on(struct work *work, const ocdm__progress *progress)
{
    struct ordered ordered = {.of = NULL};
    size_t run;
    while ((run = take_run(work)) < work->plan->run_count) {
        ocdm_error error = {.status = OCDM_OK};
        ocdm_status status =
            ocdm__progress_stopped(work->progress)
                ? ocdm__fail(&error, OCDM_STOPPED, "", "stopped at run %zu of %zu", run + 1, work->plan->run_count)
                : run_one(work->plan, &work->plan->runs[run], &ordered, &work->results[run], &error);
        size_t done = note_end(work, run, status, &error);
        ocdm__progress_tell(progress, "memories", done, work->plan->run_count);
    }
    clear_ordered(&ordered);
}

/* Only the caller's own thread reports progress. */
static void *work_in_thread(void *work)
{
    work_on(work, NULL);
    return NULL;
}

ocdm_status ocdm__memory_only(const ocdm__memory_plan *plan, ocdm__memory_result *results, const ocdm__progress *progress,
                              ocdm_error *error)
{
    struct work work = {.plan = plan, .results = results, .progress = progress, .failed = plan->run_count};
    memset(results, 0, plan->run_count * sizeof *results);
    pthread_t *threads = ocdm__allocate(plan->threads, sizeof *threads);
    if (threads == NULL)
        return ocdm__fail_memory(error, "threads");
    pthread_mutex_init(&work.lock, NULL);
    /* A thread that cannot be had is done without: the others take its runs. */
    size_t started = 0;
    while (started + 1 < plan->threads && started + 1 < plan->run_count &&
           pthread_create(&threads[started], NULL, work_in_thread, &work) == 0)
        started++;
    work_on(&work, progress);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&work.lock);
    ocdm__release(threads);
    if (work.failed == plan->run_count)
        return OCDM_OK;
    if (error != NULL)
        *error = work.error;
    return work.error.status;
}

void ocdm__memory_results_clear(ocdm__memory_result *results, size_t count)
{
    for (size_t i = 0; results != NULL && i < count; i++) {
        ocdm__release(results[i].kept);
        ocdm__release(results[i].curve);
        results[i] = (ocdm__memory_result){.size = 0};
    }
}

/* ---- the runs of a comparison -------------------------------------------------------------------------------------------- */

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
                run->options.seed = ocdm__compare_seed(plan, seed);
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

/* ---- quantiles ----------------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

ocdm__spread ocdm__spread_of(double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    if (known == 0)
        return (ocdm__spread){NAN, NAN, NAN};
    qsort(values, known, sizeof *values, compare_doubles);
    return (ocdm__spread){quantile(values, known, 0.05), quantile(values, known, 0.5), quantile(values, known, 0.95)};
}

static double figure_of(const ocdm__memory_result *result, enum ocdm__memory_figure figure)
{
    switch (figure) {
    case OCDM__FIGURE_DISTANCE:
        return result->distance;
    case OCDM__FIGURE_DISTANCE_SEEN:
        return result->distance_seen;
    case OCDM__FIGURE_FEWEST:
        return result->balance.fewest;
    case OCDM__FIGURE_LOST:
        return (double)result->balance.lost;
    case OCDM__FIGURE_COUNT:
        break;
    }
    return NAN;
}

ocdm_status ocdm__memory_spread(const ocdm__memory_result *results, size_t first, size_t stride, size_t count,
                                enum ocdm__memory_figure figure, ocdm__spread *spread, ocdm_error *error)
{
    double *values = ocdm__allocate(count, sizeof *values);
    if (values == NULL)
        return ocdm__fail_memory(error, "the figures of the runs");
    for (size_t i = 0; i < count; i++)
        values[i] = figure_of(&results[first + i * stride], figure);
    *spread = ocdm__spread_of(values, count);
    ocdm__release(values);
    return OCDM_OK;
}
