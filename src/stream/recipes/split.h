/*
 * Tasks for anyone's own data: each class belongs to a task, and a sample to the task that has most of its labels (on a tie the
 * one with the lowest number). A sample with labels of several tasks is mixed: its labels of other tasks leave it, since a
 * task's samples are labelled with the task's classes; or it is left out.
 *
 * A source that does not tell training from test samples gets a test part: each sample with the same chance, by the seed.
 */
#ifndef OCDM_STREAM_RECIPES_SPLIT_H
#define OCDM_STREAM_RECIPES_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/labelled_set.h"
#include "stream/selection.h"

typedef struct ocdm__split_settings {
    const uint32_t *class_tasks; /* by number of a label in the set, OCDM__NO_TASK for a class that no task has; NULL: tasks are
                                    the samples' own */
    bool drop_mixed;
    double test_share; /* 0 to 1 */
    uint64_t seed;
} ocdm__split_settings;

/* What happened to samples that did not fit. */
typedef struct ocdm__split_tally {
    uint64_t without_task; /* none of the labels is of a task: left out */
    uint64_t mixed;        /* labels of several tasks */
} ocdm__split_tally;

/* OCDM_OK, OCDM_BAD_RECORD (as ocdm__select_all, when tasks are the samples' own), OCDM_NO_MEMORY. */
ocdm_status ocdm__select_split(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings,
                               ocdm__split_tally *tally, ocdm_error *error);

#endif
