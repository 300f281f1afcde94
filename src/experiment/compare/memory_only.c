/* Runs many memories at once: each thread takes the next run that is free. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/memory_only.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/loop/run.h"

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

/* The steps over a shuffled stream, kept by a thread from one run to the next. */
struct steps {
    const ocdm__memory_run *of; /* the run they were made for; NULL: none yet */
    ocdm__schedule schedule;
    uint32_t *batch;
};

/* ---- steps -------------------------------------------------------------------------------------------------------------- */

static void clear_steps(struct steps *steps)
{
    ocdm__schedule_clear(&steps->schedule);
    ocdm__release(steps->batch);
    *steps = (struct steps){.of = NULL};
}

static bool same_steps(const ocdm__memory_run *a, const ocdm__memory_run *b)
{
    if (a->options.seed != b->options.seed || a->options.batch != b->options.batch || a->order_count != b->order_count ||
        (a->order == NULL) != (b->order == NULL))
        return false;
    return a->order == NULL || memcmp(a->order, b->order, a->order_count * sizeof *a->order) == 0;
}

static ocdm_status make_steps(struct steps *steps, const ocdm__memory_plan *plan, const ocdm__memory_run *run,
                              ocdm_error *error)
{
    if (steps->of != NULL && same_steps(steps->of, run))
        return OCDM_OK;
    clear_steps(steps);
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.batch = run->options.batch;
    settings.network.seed = run->options.seed;
    settings.order = run->order;
    settings.order_count = run->order_count;
    settings.blur = plan->blur;
    OCDM_TRY(ocdm__schedule_make(&steps->schedule, &settings, plan->table, error));
    steps->batch = ocdm__allocate(steps->schedule.batch, sizeof *steps->batch);
    if (steps->batch == NULL)
        return ocdm__fail_memory(error, "a batch");
    steps->of = run;
    return OCDM_OK;
}

/* ---- one run ------------------------------------------------------------------------------------------------------------ */

static ocdm_status make_results(ocdm__memory_result *result, const ocdm__memory_plan *plan, const ocdm__schedule *schedule,
                                ocdm_error *error)
{
    result->kept = ocdm__allocate(plan->table->class_count, sizeof *result->kept);
    if (result->kept == NULL)
        return ocdm__fail_memory(error, "the counts of the classes");
    if (plan->curve_every == 0)
        return OCDM_OK;
    size_t room = (size_t)(ocdm__schedule_steps(schedule) / plan->curve_every) + schedule->order.task_count + 1;
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

/* The steps of `ocdm run`, without a learner. */
static ocdm_status take_steps(ocdm__online *online, struct steps *steps, uint64_t curve_every, ocdm__memory_result *result,
                              ocdm_error *error)
{
    ocdm__schedule *schedule = &steps->schedule;
    uint64_t step = 0;
    for (size_t k = 0; k < schedule->order.task_count; k++)
        while (step < schedule->task_ends[k]) {
            const ocdm__batch batch = {.step = step,
                                       .update = step,
                                       .samples = steps->batch,
                                       .count = ocdm__schedule_batch(schedule, step, steps->batch)};
            ocdm__online_draw(online, &batch);
            OCDM_TRY(ocdm__online_remember(online, error));
            step++;
            if (curve_every != 0 && (step % curve_every == 0 || step == schedule->task_ends[k]))
                note_moment(result, online->parts.memory, step, schedule->order.tasks[k]);
        }
    return OCDM_OK;
}

static ocdm_status fill_memory(const ocdm__memory_plan *plan, ocdm_memory *memory, struct steps *steps,
                               ocdm__memory_result *result, ocdm_error *error)
{
    ocdm__online online = {.skipped = 0};
    const ocdm__online_parts parts = {.table = plan->table, .memory = memory, .batch = ocdm_memory_options(memory)->batch};
    ocdm_status status = ocdm__online_open(&online, &parts, error);
    if (status == OCDM_OK)
        status = take_steps(&online, steps, plan->curve_every, result, error);
    ocdm__online_close(&online);
    return status;
}

static void count_labels(const ocdm_memory *memory, size_t class_count, ocdm__memory_result *result)
{
    double kept = 0, seen = 0;
    for (uint32_t c = 0; c < class_count; c++) {
        kept += result->kept[c];
        seen += (double)ocdm_memory_seen(memory, c);
    }
    result->labels = kept / result->size;
    result->labels_seen = seen / (double)ocdm_memory_arrived(memory);
}

static ocdm_status run_one(const ocdm__memory_plan *plan, const ocdm__memory_run *run, struct steps *steps,
                           ocdm__memory_result *result, ocdm_error *error)
{
    ocdm_memory *memory = NULL;
    ocdm_status status = make_steps(steps, plan, run, error);
    if (status == OCDM_OK)
        status = ocdm_memory_create(&run->options, &memory, error);
    if (status == OCDM_OK)
        status = ocdm__class_weights_set(memory, plan->class_weights, plan->table->class_count, error);
    if (status == OCDM_OK)
        status = make_results(result, plan, &steps->schedule, error);
    if (status == OCDM_OK)
        status = fill_memory(plan, memory, steps, result, error);
    if (status == OCDM_OK) {
        result->size = ocdm_memory_size(memory);
        result->distance = ocdm_memory_distance(memory, OCDM_IN_PLAY);
        result->distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
        result->balance = ocdm__balance_of(memory, plan->table->class_count, result->kept);
        count_labels(memory, plan->table->class_count, result);
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
    struct steps steps = {.of = NULL};
    size_t run;
    while ((run = take_run(work)) < work->plan->run_count) {
        ocdm_error error = {.status = OCDM_OK};
        ocdm_status status =
            ocdm__progress_stopped(work->progress)
                ? ocdm__fail(&error, OCDM_STOPPED, "", "stopped at run %zu of %zu", run + 1, work->plan->run_count)
                : run_one(work->plan, &work->plan->runs[run], &steps, &work->results[run], &error);
        size_t done = note_end(work, run, status, &error);
        ocdm__progress_tell(progress, "memories", done, work->plan->run_count);
    }
    clear_steps(&steps);
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
    /* If a thread cannot be created, the other threads take its runs. */
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
                                  .blur = options->blur,
                                  .class_weights = options->class_weights,
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
    case OCDM__FIGURE_LABELS:
        return result->labels;
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
