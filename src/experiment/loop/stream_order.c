/* Tasks in their order, samples shuffled inside each. */
#include "experiment/loop/stream_order.h"

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/statistics.h"

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

/* `next` tells for each task where its next sample goes. */
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
