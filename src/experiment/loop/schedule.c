/* Steps and samples. */
#include "experiment/loop/schedule.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"

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

/* All samples up to a task, in an order of their own for each task and epoch. The numbers of these shuffles lie beyond those of
 * any task (experiment/loop/stream_order.c). */
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
