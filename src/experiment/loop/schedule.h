/*
 * Which samples a run trains on, step by step, and after which steps it is evaluated: the only part of a run that knows tasks.
 * Samples come task by task, shuffled inside a task. The shuffle of a task depends only on the seed and the number of the
 * task, so another order of tasks moves whole tasks and nothing inside them. A batch never mixes tasks; the last one of a task
 * is shorter. Everything depends only on seed and step, so a run can continue from any step.
 *
 * With --blur samples leave their tasks: the stream is then a sequence of periods, as many and as long as the tasks, each with
 * samples of several tasks. What is said above of tasks holds for periods. An evaluation still comes after each of them, and
 * covers every task of which a sample can have been seen.
 *
 * Samples can be held out of the stream, and tests resampled. Both use strata: the samples of a task whose rarest class, among
 * the samples of their part, is the same one. So a rare class has its share of what is held out, and as many tests as before.
 */
#ifndef OCDM_EXPERIMENT_LOOP_SCHEDULE_H
#define OCDM_EXPERIMENT_LOOP_SCHEDULE_H

#include "base/base.h"
#include "experiment/loop/settings.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* Start with all bytes zero. */
typedef struct ocdm__stream_order {
    size_t count;
    uint32_t *samples; /* of the stream */
    size_t task_count; /* of the whole stream: a task may have no sample of this part */
    uint32_t *tasks;   /* in their order */
    size_t *ends;      /* task number k of the order is samples[ends[k - 1]] up to samples[ends[k] - 1], from 0 for the first */

    /* Partial labels: of each class the number in the order of the first task whose training samples know it, OCDM_NONE if none
     * does; NULL: all labels are known, or there is no training sample. `disjoint`: no class is known in two tasks. */
    uint32_t *class_places;
    bool disjoint;
    ocdm__arena arena; /* what the lists are in */
} ocdm__stream_order;

/*
 * Orders the samples of one part. Training samples are shuffled by the seed; test samples keep the file's order. If the tasks
 * introduce classes that only their own samples know (`disjoint`), a test belongs to the first task of the order that
 * introduces one of its labels; otherwise to its own.
 *
 * tasks  the tasks in the order wanted, every one that the stream has once; NULL for ascending
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (a task is missing, unknown or there twice), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__stream_order_make(ocdm__stream_order *order, const ocdm__stream_table *table, enum ocdm__part part,
                                    const uint64_t *tasks, size_t task_count, uint64_t seed, ocdm_error *error);

/* Room for an order of so many samples. OCDM_OK, OCDM_NO_MEMORY. Clear it even after an error. */
ocdm_status ocdm__stream_order_allocate(ocdm__stream_order *order, size_t samples, size_t tasks, ocdm_error *error);

/*
 * Replaces the tests of each stratum by as many of them, drawn with replacement by the seed: a bootstrap that keeps the balance
 * of classes. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__stream_order_resample(ocdm__stream_order *tests, const ocdm__stream_table *table, uint64_t seed,
                                        ocdm_error *error);

/*
 * Lets samples leave their task by the seed: a share of each task goes to the other tasks, as many to each of them; or every
 * sample arrives earlier or later by a normally distributed number of tasks; or classes are dealt to the tasks anew and a share
 * of the samples is blurred (Si-Blurry). `ends` are the ends of periods then; only Si-Blurry changes them. docs/methods.md has
 * the constructions. OCDM_OK; OCDM_BAD_ARGUMENT when only one task has
 * samples; OCDM_NO_MEMORY.
 */
ocdm_status ocdm__stream_order_blur(ocdm__stream_order *order, const ocdm__stream_table *table, const ocdm__blur *blur,
                                    uint64_t seed, ocdm_error *error);

/* The rarest class of a sample by the counts of classes, the first of equally rare ones; OCDM_NONE: it has no labels. */
uint32_t ocdm__rarest_class(const ocdm__stream_table *table, uint32_t sample, const uint64_t *counts);

/* Releases everything. */
void ocdm__stream_order_clear(ocdm__stream_order *order);

/* ---- schedule ------------------------------------------------------------------------------------------------------------ */

/* Start with all bytes zero. */
typedef struct ocdm__schedule {
    ocdm__stream_order order; /* of the training samples */
    /* Those that are held out, which are not in the order: of each task a share, spread evenly over its strata; a sample that
     * is alone in its stratum stays. */
    ocdm__stream_order held_out;
    uint64_t *task_ends; /* steps up to the end of each task, by its place in the order */
    /* Number of tasks to evaluate after each of them: every task seen so far. Without blur 1, 2, 3, ... */
    size_t *tested;
    size_t *first; /* the place in the order of each task's first sample; SIZE_MAX: it has none */
    size_t batch;  /* the most samples of a step */
    bool multitask;
    uint32_t epochs;
    uint64_t seed;
    uint32_t *pool; /* multitask: all samples so far, shuffled for one task and epoch */
    uint64_t pool_of;
    ocdm__arena arena;
} ocdm__schedule;

/* OCDM_OK, OCDM_BAD_ARGUMENT (the order), OCDM_NO_MEMORY. Clear it even after an error. */
ocdm_status ocdm__schedule_make(ocdm__schedule *schedule, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                                ocdm_error *error);
void ocdm__schedule_clear(ocdm__schedule *schedule);

/* Steps of the whole run. */
uint64_t ocdm__schedule_steps(const ocdm__schedule *schedule);

/* The samples of a step, from 0: writes them to `samples`, room for `batch`, and returns how many; 0 beyond the end. */
size_t ocdm__schedule_batch(ocdm__schedule *schedule, uint64_t step, uint32_t *samples);

/* The place in the order of the task that a step, from 0, belongs to. */
size_t ocdm__schedule_place(const ocdm__schedule *schedule, uint64_t step);

/* Number of tasks to evaluate after `steps` steps: every task seen so far, and those before it in the order. */
size_t ocdm__schedule_tasks_seen(const ocdm__schedule *schedule, uint64_t steps);

/* How far the stream is after `steps` steps, in samples. For multitask, which sees all samples of a task at once, the share of
 * the task's steps that were made. */
uint64_t ocdm__schedule_time(const ocdm__schedule *schedule, uint64_t steps);

/* Samples of the stream that have been seen after `steps` steps; for multitask, all of the tasks so far. */
uint64_t ocdm__schedule_seen(const ocdm__schedule *schedule, uint64_t steps);

#endif
