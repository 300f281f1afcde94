/*
 * The paper's numbers from the scores of classes: CF1, OF1, mAP and what they are made of, over all classes, a group of them
 * (majority, moderate, minority) or the classes of a task. A class that no test sample carries is left out of every average,
 * the overall ones too: its wrong predictions do not count.
 *
 * Which column is in which group comes from elsewhere.
 */
#ifndef OCDM_METRICS_AVERAGES_H
#define OCDM_METRICS_AVERAGES_H

#include "metrics/class_scores.h"

/* The averages, those of the paper's tables first. metrics/explain.h has the formula of each. */
enum ocdm__metric {
    OCDM__CF1,
    OCDM__OF1,
    OCDM__MAP,
    OCDM__CP,
    OCDM__CR,
    OCDM__CF1_MACRO,
    OCDM__OP,
    OCDM__OR,
    OCDM__METRIC_COUNT
};

/* The averages over some classes. */
typedef struct ocdm__averages {
    size_t classes;                   /* how many the averages are over: those with a positive sample */
    double value[OCDM__METRIC_COUNT]; /* fractions from 0 to 1; all NaN when classes is 0 */
} ocdm__averages;

/* The averages over all of `class_count` classes. O(class_count); sums run in the order of the columns. */
ocdm__averages ocdm__average_all(const ocdm__class_score *scores, size_t class_count);

/* The same over the classes c with group[c] == wanted: a group by its number, or the classes of a task by a mark. */
ocdm__averages ocdm__average_group(const ocdm__class_score *scores, size_t class_count, const uint8_t *group, uint8_t wanted);

/* The name of a metric as in files and tables ("CF1", "mAP"), NULL for a number that is none. Static text. */
const char *ocdm__metric_name(enum ocdm__metric metric);

#endif
