/*
 * Runs many memories at once: each thread takes the next run that is free.
 *
 * Results do not depend on the number of threads, since no run knows of another. Of several errors the first run's is
 * reported, whichever thread came first.
 */

#include "experiment/compare/memory_only.h"

#include <pthread.h>

#include "experiment/loop/run.h"

/* What the threads share. Runs are numbered as the results are: those with the same order and seed follow each other. */
struct work {
    const ocdm__compare_plan *plan;
    const ocdm__stream_table *table;
    const ocdm__compare_memory_options *options;
    const ocdm__compare_memories *memories;
    const ocdm__progress *progress;
    pthread_mutex_t lock;
    size_t next, done;
    size_t failed; /* the first run that failed; the number of runs: none */
    ocdm_error error;
};

/* The steps over a shuffled stream, kept by a thread from one run to the next. */
struct steps {
    ocdm__schedule schedule;
    uint64_t seed;
    const uint64_t *order; /* points share theirs if it is the same list, or the default of none */
    uint32_t *batch;       /* NULL: none yet */
    ocdm_sample *offered;
};

/* ---- one run ------------------------------------------------------------------------------------------------------------ */

/* Before other steps, and at the end of a thread. */
static void clear_steps(struct steps *steps)
{
    ocdm__schedule_clear(&steps->schedule);
    ocdm__release(steps->batch);
    ocdm__release(steps->offered);
    *steps = (struct steps){.batch = NULL};
}

/* The shuffle takes longer than a small memory, so runs that follow each other share it. */
static ocdm_status make_steps(struct steps *steps, const ocdm__stream_table *table, const ocdm__run_settings *settings,
                              ocdm_error *error)
{
    if (steps->batch != NULL && steps->seed == settings->network.seed && steps->order == settings->order)
        return OCDM_OK;
    clear_steps(steps);
    OCDM_TRY(ocdm__schedule_make(&steps->schedule, settings, table, error));
    steps->seed = settings->network.seed;
    steps->order = settings->order;
    OCDM_TRY(ocdm__new(&steps->offered, steps->schedule.batch, sizeof *steps->offered, "a batch", error));
    return ocdm__new(&steps->batch, steps->schedule.batch, sizeof *steps->batch, "a batch", error);
}

/* The steps of `ocdm run`, without a learner. */
static ocdm_status take_steps(ocdm_memory *memory, const ocdm__stream_table *table, struct steps *steps, uint64_t curve_every,
                              ocdm__memory_result *result, ocdm_error *error)
{
    ocdm__schedule *schedule = &steps->schedule;
    uint64_t step = 0;
    for (size_t k = 0; k < schedule->order.task_count; k++)
        while (step < schedule->task_ends[k]) {
            size_t count = ocdm__schedule_batch(schedule, step, steps->batch);
            for (size_t i = 0; i < count; i++)
                steps->offered[i] = ocdm__sample_of(table, steps->batch[i]);
            if (step == (k > 0 ? schedule->task_ends[k - 1] : 0))
                OCDM_TRY(ocdm_memory_begin_task(memory, NULL, error));
            OCDM_TRY(ocdm_memory_update(memory, steps->offered, count, NULL, error));
            step++;
            if (curve_every != 0 && (step % curve_every == 0 || step == schedule->task_ends[k]))
                result->curve[result->curve_count++] =
                    (ocdm__memory_moment){.step = step,
                                          .task = schedule->order.tasks[k],
                                          .distance = ocdm_memory_distance(memory, OCDM_IN_PLAY),
                                          .distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER)};
        }
    return OCDM_OK;
}

/* Offers the whole stream to a memory, and takes down what is in it then. */
static ocdm_status fill_result(const struct work *work, ocdm_memory *memory, struct steps *steps, ocdm__memory_result *result,
                               ocdm_error *error)
{
    size_t classes = work->table->class_count;
    uint64_t every = work->options->curve_every;
    const ocdm__schedule *schedule = &steps->schedule;
    size_t moments = every > 0 ? (size_t)(ocdm__schedule_steps(schedule) / every) + schedule->order.task_count + 1 : 0;
    double kept = 0, seen = 0;
    OCDM_TRY(ocdm__class_weights_set(memory, work->options->class_weights, classes, error));
    result->kept = ocdm__allocate(classes, sizeof *result->kept);
    result->curve = moments > 0 ? ocdm__allocate(moments, sizeof *result->curve) : NULL;
    if (result->kept == NULL || (moments > 0 && result->curve == NULL))
        return ocdm__fail_memory(error, "the results of a memory");
    OCDM_TRY(take_steps(memory, work->table, steps, every, result, error));
    result->size = ocdm_memory_size(memory);
    result->distance = ocdm_memory_distance(memory, OCDM_IN_PLAY);
    result->distance_seen = ocdm_memory_distance(memory, OCDM_SEEN_EVER);
    result->balance = ocdm__balance_of(memory, classes, result->kept);
    for (uint32_t c = 0; c < classes; c++) {
        kept += result->kept[c];
        seen += (double)ocdm_memory_seen(memory, c);
    }
    result->labels = kept / result->size;
    result->labels_seen = seen / (double)ocdm_memory_arrived(memory);
    return OCDM_OK;
}

/* One run of the plan, by its number. */
static ocdm_status run_one(const struct work *work, size_t run, struct steps *steps, ocdm_error *error)
{
    const ocdm__compare_plan *plan = work->plan;
    size_t methods = plan->method_count, seeds = (size_t)plan->seed_count;
    const ocdm__compare_point *point = &plan->points[run / methods / seeds];
    ocdm__run_settings settings = *work->options->settings;
    ocdm_memory *memory = NULL;
    settings.method = plan->methods[run % methods];
    settings.memory = point->memory;
    settings.rho = point->rho;
    settings.network.seed = ocdm__compare_seed(plan, run / methods % seeds);
    settings.order = point->order;
    settings.order_count = point->order_count;
    settings.validation = 0; /* the whole stream is offered */
    const ocdm_options options = ocdm__run_memory_options(&settings);
    ocdm_status status = make_steps(steps, work->table, &settings, error);
    OCDM_THEN(status, ocdm_memory_create(&options, &memory, error));
    OCDM_THEN(status, fill_result(work, memory, steps, &work->memories->results[run], error));
    ocdm_memory_destroy(memory);
    return status;
}

/* ---- the threads ------------------------------------------------------------------------------------------------------ */

/* Takes one run after another, up to the first that failed. */
static void work_on(struct work *work, const ocdm__progress *progress)
{
    struct steps steps = {.batch = NULL};
    size_t count = work->memories->count;
    for (;;) {
        ocdm_error error = {.status = OCDM_OK};
        pthread_mutex_lock(&work->lock);
        size_t run = work->next < work->failed ? work->next++ : count;
        pthread_mutex_unlock(&work->lock);
        if (run == count)
            break;
        ocdm_status status = ocdm__progress_stopped(work->progress)
                                 ? ocdm__fail(&error, OCDM_STOPPED, "", "stopped at run %zu of %zu", run + 1, count)
                                 : run_one(work, run, &steps, &error);
        pthread_mutex_lock(&work->lock);
        if (status != OCDM_OK && run < work->failed) {
            work->failed = run;
            work->error = error;
        }
        size_t done = ++work->done;
        pthread_mutex_unlock(&work->lock);
        ocdm__progress_tell(progress, "memories", done, count);
    }
    clear_steps(&steps);
}

/* Only the caller's own thread reports progress. */
static void *work_in_thread(void *work)
{
    work_on(work, NULL);
    return NULL;
}

bool ocdm__runs_alone(const char *method)
{
    const ocdm_policy *policy = ocdm_policy_find(method);
    return policy != NULL && (policy->traits & OCDM_NEEDS_GRADIENTS) == 0;
}

ocdm_status ocdm__compare_memories_run(ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                       const ocdm__stream_table *table, const ocdm__compare_memory_options *options,
                                       const ocdm__progress *progress, ocdm_error *error)
{
    for (size_t i = 0; i < plan->method_count; i++)
        if (!ocdm__runs_alone(plan->methods[i]))
            return ocdm__fail(error, OCDM_UNKNOWN_NAME, "policies that decide by labels do, such as ocdm",
                              "%s does not run without a network", plan->methods[i]);
    memories->count = plan->point_count * (size_t)plan->seed_count * plan->method_count;
    memories->results = ocdm__allocate(memories->count, sizeof *memories->results);
    pthread_t *threads = ocdm__allocate(options->threads, sizeof *threads);
    struct work work = {.plan = plan,
                        .table = table,
                        .options = options,
                        .memories = memories,
                        .progress = progress,
                        .failed = memories->count};
    if (memories->results == NULL || threads == NULL) {
        ocdm__release(threads);
        return ocdm__fail_memory(error, "the runs of the memory");
    }
    pthread_mutex_init(&work.lock, NULL);
    /* If a thread cannot be created, the other threads take its runs. */
    size_t started = 0;
    while (started + 1 < options->threads && started + 1 < memories->count &&
           pthread_create(&threads[started], NULL, work_in_thread, &work) == 0)
        started++;
    work_on(&work, progress);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&work.lock);
    ocdm__release(threads);
    if (work.failed < memories->count && error != NULL)
        *error = work.error;
    return work.failed < memories->count ? work.error.status : OCDM_OK;
}

const ocdm__memory_result *ocdm__compare_memory(const ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                                size_t point, size_t method, uint64_t seed)
{
    return &memories->results[(point * (size_t)plan->seed_count + (size_t)seed) * plan->method_count + method];
}

void ocdm__compare_memories_clear(ocdm__compare_memories *memories)
{
    for (size_t i = 0; memories->results != NULL && i < memories->count; i++) {
        ocdm__release(memories->results[i].kept);
        ocdm__release(memories->results[i].curve);
    }
    ocdm__release(memories->results);
    *memories = (ocdm__compare_memories){.count = 0};
}

/* ---- quantiles ----------------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between neighbours, as the default of numpy.quantile. */
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
