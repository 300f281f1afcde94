/*
 * Which samples a run trains on, step by step, and after which steps it is evaluated: the one place of a run that knows tasks.
 * A batch never mixes tasks; the last one of a task is shorter. Everything follows from seed and step, so that a run can go on
 * from any step.
 */
#ifndef OCDM_EXPERIMENT_LOOP_SCHEDULE_H
#define OCDM_EXPERIMENT_LOOP_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "experiment/folder/settings.h"
#include "experiment/loop/stream_order.h"
#include "ocdm/ocdm.h"

/* Start with all bytes zero. */
typedef struct ocdm__schedule {
    ocdm__stream_order order; /* of the training samples */
    uint64_t *task_ends;      /* steps up to the end of each task, by its place in the order */
    size_t batch;             /* the most samples of a step */
    bool multitask;
    uint32_t epochs;
    uint64_t seed;
    uint32_t *pool; /* multitask: all samples so far, shuffled for one task and epoch */
    uint64_t pool_of;
} ocdm__schedule;

/* OCDM_OK, OCDM_BAD_ARGUMENT (the order), OCDM_NO_MEMORY. To be cleared in either case. */
ocdm_status ocdm__schedule_make(ocdm__schedule *schedule, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                                ocdm_error *error);
void ocdm__schedule_clear(ocdm__schedule *schedule);

/* Steps of the whole run. */
uint64_t ocdm__schedule_steps(const ocdm__schedule *schedule);

/* The samples of a step, from 0: writes them to `samples`, room for `batch`, and returns how many; 0 beyond the end. */
size_t ocdm__schedule_batch(ocdm__schedule *schedule, uint64_t step, uint32_t *samples);

/* The place in the order of the task that a step, from 0, belongs to. */
size_t ocdm__schedule_place(const ocdm__schedule *schedule, uint64_t step);

/* Samples of the stream that have been seen after so many steps; for multitask, all of the tasks so far. */
uint64_t ocdm__schedule_seen(const ocdm__schedule *schedule, uint64_t steps);

#endif
