/* The order of the samples, and the steps that they are divided into. */
#include "experiment/loop/schedule.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/statistics.h"

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* How many samples each task has, of either part: a task that only tests is a task too. */
static size_t count_tasks(const ocdm__stream_table *table, enum ocdm__part part, size_t *counts, bool *exists)
{
    size_t tasks = 0;
    for (size_t i = 0; i < table->sample_count; i++) {
        uint32_t task = table->tasks[i];
        tasks += !exists[task];
        exists[task] = true;
        counts[task] += table->parts[i] == part;
    }
    return tasks;
}

static ocdm_status take_tasks(ocdm__stream_order *order, const uint64_t *tasks, size_t task_count, bool *exists,
                              ocdm_error *error)
{
    static const char hint[] = "name every task of the stream once, for example --order 0,3,1,2; `ocdm stream info` lists them";
    if (tasks != NULL && task_count != order->task_count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the order names %zu tasks, the stream has %zu", task_count,
                          order->task_count);
    size_t next = 0;
    for (uint32_t task = 0; tasks == NULL && task < OCDM__MAX_TASKS; task++)
        if (exists[task])
            order->tasks[next++] = task;
    for (size_t i = 0; tasks != NULL && i < task_count; i++) {
        if (tasks[i] >= OCDM__MAX_TASKS || !exists[tasks[i]])
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the order names task %llu twice, or the stream has no such task",
                              (unsigned long long)tasks[i]);
        exists[tasks[i]] = false;
        order->tasks[i] = (uint32_t)tasks[i];
    }
    return OCDM_OK;
}

static void shuffle(uint32_t *samples, size_t count, uint64_t seed, uint32_t task)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_SHUFFLES), task);
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)ocdm__random_below(&random, i);
        uint32_t sample = samples[i - 1];
        samples[i - 1] = samples[other];
        samples[other] = sample;
    }
}

/* `next` is the place of the next sample of each task. */
static void place_samples(ocdm__stream_order *order, const ocdm__stream_table *table, enum ocdm__part part, size_t *next,
                          uint64_t seed)
{
    size_t at = 0;
    for (size_t k = 0; k < order->task_count; k++) {
        size_t count = next[order->tasks[k]];
        next[order->tasks[k]] = at;
        at += count;
        order->ends[k] = at;
    }
    order->count = at;
    for (size_t i = 0; i < table->sample_count; i++)
        if (table->parts[i] == part)
            order->samples[next[table->tasks[i]]++] = (uint32_t)i;
    for (size_t k = 0; part == OCDM__TRAIN && k < order->task_count; k++) {
        size_t start = k > 0 ? order->ends[k - 1] : 0;
        shuffle(order->samples + start, order->ends[k] - start, seed, order->tasks[k]);
    }
}

ocdm_status ocdm__stream_order_make(ocdm__stream_order *order, const ocdm__stream_table *table, enum ocdm__part part,
                                    const uint64_t *tasks, size_t task_count, uint64_t seed, ocdm_error *error)
{
    *order = (ocdm__stream_order){.count = 0};
    size_t *counts = ocdm__allocate(OCDM__MAX_TASKS, sizeof *counts);
    bool *exists = ocdm__allocate(OCDM__MAX_TASKS, sizeof *exists);
    ocdm_status status = ocdm__fail_memory(error, "the order of the samples");
    if (counts != NULL && exists != NULL) {
        order->task_count = count_tasks(table, part, counts, exists);
        order->samples = ocdm__allocate(table->sample_count, sizeof *order->samples);
        order->tasks = ocdm__allocate(order->task_count, sizeof *order->tasks);
        order->ends = ocdm__allocate(order->task_count, sizeof *order->ends);
    }
    if (order->samples != NULL && order->tasks != NULL && order->ends != NULL)
        status = take_tasks(order, tasks, task_count, exists, error);
    if (status == OCDM_OK)
        place_samples(order, table, part, counts, seed);
    else
        ocdm__stream_order_clear(order);
    ocdm__release(counts);
    ocdm__release(exists);
    return status;
}

void ocdm__stream_order_clear(ocdm__stream_order *order)
{
    ocdm__release(order->samples);
    ocdm__release(order->tasks);
    ocdm__release(order->ends);
    *order = (ocdm__stream_order){.count = 0};
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static size_t task_start(const ocdm__schedule *schedule, size_t place)
{
    return place > 0 ? schedule->order.ends[place - 1] : 0;
}

static uint64_t first_step(const ocdm__schedule *schedule, size_t place)
{
    return place > 0 ? schedule->task_ends[place - 1] : 0;
}

static uint64_t batches_of(const ocdm__schedule *schedule, size_t samples)
{
    return samples / schedule->batch + (samples % schedule->batch != 0);
}

ocdm_status ocdm__schedule_make(ocdm__schedule *schedule, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                                ocdm_error *error)
{
    bool multitask = strcmp(settings->method, "multitask") == 0;
    *schedule = (ocdm__schedule){.batch = multitask ? (size_t)settings->batch + settings->replay : settings->batch,
                                 .multitask = multitask,
                                 .epochs = settings->epochs,
                                 .seed = settings->seed,
                                 .pool_of = UINT64_MAX};
    ocdm_status status = ocdm__stream_order_make(&schedule->order, table, OCDM__TRAIN, settings->order, settings->order_count,
                                                 settings->seed, error);
    if (status != OCDM_OK)
        return status;
    schedule->task_ends = ocdm__allocate(schedule->order.task_count, sizeof *schedule->task_ends);
    schedule->pool = ocdm__allocate(multitask ? schedule->order.count : 0, sizeof *schedule->pool);
    if (schedule->task_ends == NULL || schedule->pool == NULL)
        return ocdm__fail_memory(error, "the plan of the steps");
    uint64_t steps = 0;
    for (size_t k = 0; k < schedule->order.task_count; k++) {
        size_t start = multitask ? 0 : task_start(schedule, k);
        steps += batches_of(schedule, schedule->order.ends[k] - start) * (multitask ? settings->epochs : 1);
        schedule->task_ends[k] = steps;
    }
    return OCDM_OK;
}

void ocdm__schedule_clear(ocdm__schedule *schedule)
{
    ocdm__stream_order_clear(&schedule->order);
    ocdm__release(schedule->task_ends);
    ocdm__release(schedule->pool);
    *schedule = (ocdm__schedule){.batch = 0};
}

uint64_t ocdm__schedule_steps(const ocdm__schedule *schedule)
{
    return schedule->task_ends[schedule->order.task_count - 1];
}

size_t ocdm__schedule_place(const ocdm__schedule *schedule, uint64_t step)
{
    size_t place = 0;
    while (place + 1 < schedule->order.task_count && step >= schedule->task_ends[place])
        place++;
    return place;
}

/* All samples up to a task, shuffled again for each task and epoch. The numbers of these shuffles are above those of all tasks.
 */
static void fill_pool(ocdm__schedule *schedule, size_t place, uint64_t epoch)
{
    uint64_t number = ((uint64_t)place + 1) << 32 | epoch;
    if (schedule->pool_of == number)
        return;
    size_t count = schedule->order.ends[place];
    ocdm__random random = ocdm__random_stream(ocdm__random_base(schedule->seed, OCDM__FOR_SHUFFLES), number);
    memcpy(schedule->pool, schedule->order.samples, count * sizeof *schedule->pool);
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)ocdm__random_below(&random, i);
        uint32_t sample = schedule->pool[i - 1];
        schedule->pool[i - 1] = schedule->pool[other];
        schedule->pool[other] = sample;
    }
    schedule->pool_of = number;
}

size_t ocdm__schedule_batch(ocdm__schedule *schedule, uint64_t step, uint32_t *samples)
{
    if (step >= ocdm__schedule_steps(schedule))
        return 0;
    size_t place = ocdm__schedule_place(schedule, step);
    uint64_t number = step - first_step(schedule, place);
    size_t start = schedule->multitask ? 0 : task_start(schedule, place), end = schedule->order.ends[place];
    const uint32_t *all = schedule->order.samples;
    if (schedule->multitask) {
        uint64_t each = batches_of(schedule, end);
        fill_pool(schedule, place, number / each);
        number %= each;
        all = schedule->pool;
    }
    start += (size_t)number * schedule->batch;
    size_t count = end - start < schedule->batch ? end - start : schedule->batch;
    memcpy(samples, all + start, count * sizeof *samples);
    return count;
}

uint64_t ocdm__schedule_seen(const ocdm__schedule *schedule, uint64_t steps)
{
    if (steps == 0)
        return 0;
    size_t place = ocdm__schedule_place(schedule, steps - 1);
    uint64_t of_task = (steps - first_step(schedule, place)) * schedule->batch, end = schedule->order.ends[place];
    uint64_t seen = task_start(schedule, place) + of_task;
    return schedule->multitask || seen > end ? end : seen;
}
