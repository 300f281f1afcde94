/*
 * Tasks for classes that nobody has assigned: classes that occur together go to one task. Average-link clustering on the
 * Jaccard similarity, which asks how often two classes come together among the samples that have either, and so does not let a
 * class that is everywhere draw all others to it.
 *
 * Plain average link makes one giant task and some of a single class, which train nobody. So the smallest cluster always merges
 * next, with its nearest, and no task of K gets more than 2/(K + 1) of the classes, rounded up; none is empty. Similarities are
 * whole numbers, ties go to the lower class number: the answer is the same on every machine.
 */
#ifndef OCDM_STREAM_RECIPES_COCLUSTERS_H
#define OCDM_STREAM_RECIPES_COCLUSTERS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* The most classes: the counts are a square, and the work grows with it. */
#define OCDM__MAX_CLUSTERED 2048

/*
 * How many samples have both of two classes: counts[a * class_count + b], symmetric; on the diagonal how many have the class.
 * `counts` is all zero before. Labels of each sample ascending, no repeats. O(sum of the squares of the samples' label counts).
 */
void ocdm__count_together(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                          uint32_t *counts);

/*
 * Assigns classes to the tasks 0..task_count-1, numbered by their first classes. A class that no sample has gets UINT32_MAX.
 *
 * counts       as ocdm__count_together gives them
 * class_tasks  class_count of them, written on success
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (no tasks, or fewer classes than tasks), OCDM_LIMIT (too many classes), OCDM_NO_MEMORY.
 * O(class_count^2) as a rule, never more than its cube.
 */
ocdm_status ocdm__cluster_classes(const uint32_t *counts, size_t class_count, size_t task_count, uint32_t *class_tasks,
                                  ocdm_error *error);

/* The same from a labelled set's samples, counting first. Also OCDM_LIMIT. */
ocdm_status ocdm__cluster_samples(size_t count, const uint64_t *label_starts, const uint32_t *labels, size_t class_count,
                                  size_t task_count, uint32_t *class_tasks, ocdm_error *error);

#endif
