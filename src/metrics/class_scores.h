/*
 * A test set, scored class by class: how many samples carry the class, how many are said to, how many rightly, and the average
 * precision. Everything that is reported about an evaluation is an average of these (metrics/averages.h).
 *
 *     ocdm__test_set set = {.logits = logits, .samples = 6000, .classes = 70, .label_starts = starts, .labels = labels};
 *     ocdm__class_score scores[70];
 *     if (ocdm__score_classes(&set, scores, error) != OCDM_OK) ...
 *     ocdm__averages total = ocdm__average_all(scores, 70);
 *     printf("mAP %.1f %%\n", 100 * total.value[OCDM__MAP]);
 *
 * Values are fractions from 0 to 1 in all of src/metrics; whoever prints or writes them makes them percentages.
 */
#ifndef OCDM_METRICS_CLASS_SCORES_H
#define OCDM_METRICS_CLASS_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/metrics.h"

/* What the network said of each sample, and what is true of it. Belongs to the caller, who may move the pointers on to look at
 * part of the samples: label_starts[0] need not be 0. */
typedef struct ocdm__test_set {
    const float *logits; /* sample i, class c: logits[i * classes + c] */
    size_t samples;      /* below 2^32 */
    size_t classes;
    const uint64_t
        *label_starts;      /* samples + 1, never falling: sample i carries labels[label_starts[i]] up to, not including, */
    const uint32_t *labels; /* labels[label_starts[i + 1]]: numbers of columns, in any order; repeats count once */
} ocdm__test_set;

/* A class in a test set. */
typedef ocdm_class_score ocdm__class_score;

/*
 * Scores every class.
 *
 * scores   room for set->classes; written on success only
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (a logit that is not a number, a label that is no column, starts that fall), OCDM_LIMIT (2^32
 * samples), OCDM_NO_MEMORY. Cost: O(samples classes), about 5 ms for 6,000 samples of 70 classes; room for about 80 bytes a
 * sample.
 */
ocdm_status ocdm__score_classes(const ocdm__test_set *set, ocdm__class_score *scores, ocdm_error *error);

#endif
