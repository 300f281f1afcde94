/* Counts the classes of the pool after each sample that joins or leaves; the decisions are the memory's own. */
#include "experiment/paper/paper.h"

#include "experiment/loop/schedule.h"

/* The pool, counted. */
struct pool {
    const ocdm__stream_table *table;
    uint64_t *counts; /* of each class */
};

/* Adds the labels of a sample, or takes them away. */
static void count_sample(struct pool *pool, uint32_t sample, bool joins)
{
    for (uint64_t k = pool->table->label_starts[sample]; k < pool->table->label_starts[sample + 1]; k++)
        pool->counts[pool->table->labels[k]] += joins ? 1 : UINT64_MAX;
}

/* KL to equal shares of `classes` classes, those that are in the pool when the batch has joined. */
static double distance_of(const struct pool *pool, size_t classes)
{
    double sum = 0, total = 0;
    for (size_t c = 0; c < pool->table->class_count; c++) {
        double m = (double)pool->counts[c];
        total += m;
        sum += m > 0 ? m * log(m) : 0;
    }
    return total > 0 ? sum / total - log(total) + log((double)classes) : NAN;
}

/* Notes each sample of the batch that joins and each that leaves, with the distance after it. */
static ocdm_status watch_step(ocdm__process *process, ocdm_memory *memory, struct pool *pool, const ocdm_sample *batch,
                              size_t count, ocdm_error *error)
{
    ocdm_change change;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        count_sample(pool, (uint32_t)ocdm_memory_id(memory, slot), true);
    OCDM_TRY(ocdm_memory_update(memory, batch, count, &change, error));
    for (size_t i = 0; i < count; i++) {
        count_sample(pool, (uint32_t)batch[i].id, true);
        process->events[process->event_count++] =
            (ocdm__process_event){.joins = true, .sample = (uint32_t)batch[i].id, .distance = NAN};
    }
    size_t classes = 0;
    for (size_t c = 0; c < pool->table->class_count; c++)
        classes += pool->counts[c] > 0;
    process->events[process->event_count - 1].distance = distance_of(pool, classes);
    for (size_t i = 0; i < change.left_count; i++) {
        count_sample(pool, (uint32_t)change.left[i].id, false);
        process->events[process->event_count++] =
            (ocdm__process_event){.sample = (uint32_t)change.left[i].id, .distance = distance_of(pool, classes)};
    }
    return OCDM_OK;
}

/* The memory decides as in a run; only the step that is drawn is watched. */
static ocdm_status run_up_to(ocdm__process *process, ocdm_memory *memory, struct pool *pool, const ocdm__stream_order *order,
                             ocdm_error *error)
{
    ocdm_sample batch[OCDM__PROCESS_BATCH];
    size_t at = 0;
    for (size_t k = 0; k < order->task_count; k++)
        while (at < order->ends[k]) {
            size_t left = order->ends[k] - at, count = left < OCDM__PROCESS_BATCH ? left : OCDM__PROCESS_BATCH;
            for (size_t i = 0; i < count; i++)
                batch[i] = ocdm__sample_of(pool->table, order->samples[at + i]);
            process->step++;
            if ((k > 0 || order->task_count == 1) && ocdm_memory_size(memory) == ocdm_memory_options(memory)->capacity)
                return watch_step(process, memory, pool, batch, count, error);
            OCDM_TRY(ocdm_memory_update(memory, batch, count, NULL, error));
            at += count;
        }
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the stream never fills a memory of %u",
                      ocdm_memory_options(memory)->capacity);
}

ocdm_status ocdm__process_of(ocdm__process *process, const ocdm__stream_table *table, ocdm_error *error)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    ocdm__stream_order order;
    struct pool pool = {.table = table, .counts = ocdm__allocate(table->class_count, sizeof *pool.counts)};
    options.capacity = OCDM__PROCESS_MEMORY;
    *process = (ocdm__process){.counts = pool.counts};
    ocdm_status status = ocdm__stream_order_make(&order, table, OCDM__TRAIN, NULL, 0, options.seed, error);
    OCDM_THEN(status, pool.counts != NULL ? OCDM_OK : ocdm__fail_memory(error, "the counts of the classes"));
    OCDM_THEN(status, ocdm_memory_create(&options, &memory, error));
    OCDM_THEN(status, run_up_to(process, memory, &pool, &order, error));
    ocdm_memory_destroy(memory);
    ocdm__stream_order_clear(&order);
    return status;
}
