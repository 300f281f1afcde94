/*
 * Over the evaluations of a run: how much of each task was forgotten, and the mean of a value. Values are what the caller has,
 * fractions or percentages; results are in the same unit, so that percentages give points. NaN stands for "none".
 */
#ifndef OCDM_METRICS_FORGETTING_H
#define OCDM_METRICS_FORGETTING_H

#include <stddef.h>

/*
 * Forgetting of each task: its best earlier mAP on its own test set minus the final one; below zero when it is best at the end.
 *
 * map          evaluations x tasks, row by row, oldest first: map[e * tasks + t] is task t's mAP at evaluation e, NaN before
 * the task has been seen forgetting   room for `tasks`: NaN for a task that has no earlier or no final value, as the last task
 * of a run
 *
 * Returns the mean over the tasks that have one, NaN when none has. O(evaluations tasks).
 */
double ocdm__forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting);

/* The mean of those values that are not NaN, as of total mAP over the evaluations; NaN when there is none. */
double ocdm__mean_of_known(const double *values, size_t count);

#endif
