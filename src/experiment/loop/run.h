/*
 * A whole run, without files: a stream, an agent, a memory, the steps in their order and the evaluations between them.
 *
 *     ocdm__run *run = NULL;
 *     enum ocdm__run_event event = OCDM__RUN_STEPPED;
 *     ocdm_status status = ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, error);
 *     if (status == OCDM_OK)
 *         status = ocdm__run_begin(run, error);
 *     while (status == OCDM_OK && event != OCDM__RUN_FINISHED)
 *         status = ocdm__run_advance(run, NULL, &event, error);
 *     ... run->evaluations, run->memory, run->curve ...
 *     ocdm__run_close(run);
 *
 * Everything but `times` follows from settings and stream; a run that was restored from a checkpoint
 * (experiment/folder/checkpoint.h) ends as one that was never stopped.
 */
#ifndef OCDM_EXPERIMENT_LOOP_RUN_H
#define OCDM_EXPERIMENT_LOOP_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "experiment/folder/settings.h"
#include "experiment/folder/summary_curve.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "experiment/loop/online.h"
#include "experiment/loop/schedule.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

/* Seconds. */
typedef struct ocdm__run_times {
    ocdm__step_times steps;
    double evaluate, total;
} ocdm__run_times;

typedef struct ocdm__run {
    const ocdm__run_settings *settings; /* resolved */
    const ocdm__stream *stream;
    ocdm__schedule schedule;
    ocdm__stream_order tests;
    uint64_t *train_counts, *test_counts; /* samples with each class */
    uint8_t *groups;                      /* of each class */

    ocdm__learner *learner; /* NULL: none */
    ocdm__learner made;     /* what it points to */
    ocdm__inputs *inputs;   /* NULL: none */
    ocdm_memory *memory;    /* NULL: none */
    ocdm__online online;

    uint64_t step; /* made so far */
    double loss;   /* of the last one; NaN for none */
    ocdm__curve *curve;
    ocdm__evaluation *evaluations; /* one for each task, the first evaluation_count of them made */
    size_t evaluation_count;
    ocdm__class_score *scores; /* of the last evaluation */

    ocdm__run_times earlier; /* before the checkpoint that the run was restored from */
    uint64_t earlier_skipped;
    double evaluate_seconds, started;
    uint32_t *samples, *next; /* of the step */
} ocdm__run;

/* Makes everything that a run needs, the learner with `maker` unless the model is "none"; nothing is learnt yet. Settings and
 * stream must outlive the run. OCDM_OK, and whatever inputs, learner, memory, order and groups return. */
ocdm_status ocdm__run_open(const ocdm__run_settings *settings, const ocdm__stream *stream, const ocdm__learner_maker *maker,
                           ocdm__run **run, ocdm_error *error);

/* After opening, and restoring if there is a checkpoint: gets the first step ready. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__run_begin(ocdm__run *run, ocdm_error *error);

/* NULL is fine. */
void ocdm__run_close(ocdm__run *run);

enum ocdm__run_event { OCDM__RUN_STEPPED, OCDM__RUN_EVALUATED, OCDM__RUN_FINISHED };

/* Makes the next step or evaluation. OCDM_OK; OCDM_STOPPED when an evaluation was interrupted: the run is as it was before it;
 * what steps and evaluations give, and OCDM_BAD_FILE at the last evaluation when not one image could be trained on, after which
 * the run can only be closed. */
ocdm_status ocdm__run_advance(ocdm__run *run, const ocdm__progress *progress, enum ocdm__run_event *event, ocdm_error *error);

/* Whether the step that was just made is one to log: every `log_every`-th, and the last of a task. */
bool ocdm__run_logs_step(const ocdm__run *run);

/* The point of the curve after the step that was just made: what the memory is like now. */
ocdm__curve_point ocdm__run_point(const ocdm__run *run);

/* Times so far, those before a resume included; images that could not be decoded. */
ocdm__run_times ocdm__run_times_now(const ocdm__run *run);
double ocdm__step_seconds(const ocdm__step_times *times);
uint64_t ocdm__run_skipped(const ocdm__run *run);

#endif
