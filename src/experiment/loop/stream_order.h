/*
 * The order in which a run sees a stream's samples: task by task, shuffled inside a task. What a task's shuffle is depends on
 * the seed and the task's number alone, so that another order of tasks moves whole tasks and nothing inside them.
 */
#ifndef OCDM_EXPERIMENT_LOOP_STREAM_ORDER_H
#define OCDM_EXPERIMENT_LOOP_STREAM_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

/* Start with all bytes zero. */
typedef struct ocdm__stream_order {
    size_t count;
    uint32_t *samples; /* of the stream */
    size_t task_count; /* of the whole stream: a task may have no sample of this part */
    uint32_t *tasks;   /* in their order */
    size_t *ends;      /* task number k of the order is samples[ends[k - 1]] up to samples[ends[k] - 1], from 0 for the first */
} ocdm__stream_order;

/*
 * Orders the samples of one part. Training samples are shuffled by the seed; test samples keep the file's order.
 *
 * tasks  the tasks in the order wanted, every one that the stream has once; NULL for ascending
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (a task is missing, unknown or there twice), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__stream_order_make(ocdm__stream_order *order, const ocdm__stream_table *table, enum ocdm__part part,
                                    const uint64_t *tasks, size_t task_count, uint64_t seed, ocdm_error *error);

/* Gives everything back. */
void ocdm__stream_order_clear(ocdm__stream_order *order);

#endif
