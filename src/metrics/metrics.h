/*
 * Metrics of multi-label classification on plain arrays: per-class counts and average precision, the averages of the paper's
 * tables (CF1, OF1, mAP and their parts), and forgetting. Depends on src/base only.
 *
 *     ocdm__test_set set = {.logits = logits, .samples = 6000, .classes = 70, .label_starts = starts, .labels = labels};
 *     ocdm__class_score scores[70];
 *     if (ocdm__score_classes(&set, scores, error) != OCDM_OK) ...
 *     ocdm__averages total;
 *     if (ocdm__measure(&set, scores, NULL, 0, &total, error) != OCDM_OK) ...
 *     printf("mAP %.1f %%\n", 100 * total.value[OCDM_MAP]);
 *
 * Values are fractions from 0 to 1, except the coverage. Callers that print or write them multiply them by the scale of the
 * metric's row, which makes percentages of fractions.
 */
#ifndef OCDM_METRICS_METRICS_H
#define OCDM_METRICS_METRICS_H

#include "base/bytes.h"
#include "ocdm/metrics.h"

/* ---- scores of classes -------------------------------------------------------------------------------------------------- */

/* Predictions and true labels of some samples. The arrays belong to the caller, who may advance the pointers to select a range
 * of samples: label_starts[0] need not be 0. */
typedef struct ocdm__test_set {
    const float *logits; /* sample i, class c: logits[i * classes + c] */
    size_t samples;      /* below 2^32 */
    size_t classes;
    const uint64_t *label_starts; /* samples + 1 values, non-decreasing */
    const uint32_t *labels;       /* of sample i: from label_starts[i] up to label_starts[i + 1]; columns, repeats count once */
    const uint8_t *known; /* a row of bits (base/bytes.h) for each sample: the classes that count for it. Labels of others are
                             ignored; a sample without any is in no ranking. NULL: all count */
    float threshold;      /* a class is predicted if its logit is over it: 0 is a score of 1/2 */
} ocdm__test_set;

/* Whether a class counts for a sample. */
static inline bool ocdm__test_set_knows(const ocdm__test_set *set, size_t sample, size_t class_number)
{
    return set->known == NULL || ocdm__bits_have(set->known + sample * ocdm__bits_size(set->classes), class_number);
}

/* A class in a test set. */
typedef ocdm_class_score ocdm__class_score;

/*
 * Scores every class.
 *
 * scores   room for set->classes; written on success only
 *
 * Returns OCDM_OK, OCDM_BAD_ARGUMENT (a logit that is NaN, a label that is not a column, decreasing starts), OCDM_LIMIT (2^32
 * samples) or OCDM_NO_MEMORY. Cost: O(samples classes), about 20 ms for 6,000 samples of 70 classes; allocates about 80 bytes
 * per sample.
 */
ocdm_status ocdm__score_classes(const ocdm__test_set *set, ocdm__class_score *scores, ocdm_error *error);

/* ---- metrics ------------------------------------------------------------------------------------------------------------ */

/* How many metrics there are: ocdm_metric in ocdm/metrics.h names them, ocdm__metrics has a row for each. */
#define OCDM__METRIC_COUNT ((unsigned)OCDM_ECE + 1)

/* The first of them are the columns of the paper's tables, those from OCDM__OTHER_METRICS on are of other papers. Names are
 * macros for literals such as "total." OCDM__MAP_NAME. */
#define OCDM__TABLE_METRICS 3u
#define OCDM__OTHER_METRICS OCDM_AUC
#define OCDM__CF1_NAME "CF1"
#define OCDM__OF1_NAME "OF1"
#define OCDM__MAP_NAME "mAP"
#define OCDM__AUC_NAME "AUC"
#define OCDM__RANKING_LOSS_NAME "ranking_loss"
#define OCDM__COVERAGE_NAME "coverage"
#define OCDM__HAMMING_NAME "hamming"
#define OCDM__ONE_ERROR_NAME "one_error"
#define OCDM__ECE_NAME "ECE"

/* A name used in files and tables, and its formula: one line of ASCII without a full stop. */
typedef struct ocdm__explanation {
    const char *name;
    const char *formula;
} ocdm__explanation;

/* The groups of classes that the paper's tables average over; the last is all classes together. */
#define OCDM__PAPER_GROUPS 4u
extern const char *const ocdm__paper_groups[OCDM__PAPER_GROUPS];

/* Sums over some classes, from which every metric is computed. */
typedef struct ocdm__class_sums ocdm__class_sums;

/* Sums over samples, each of which ranks some of the classes. */
typedef struct ocdm__rank_sums {
    uint64_t samples;    /* 0: there are no rankings */
    uint64_t labelled;   /* samples that carry one of the classes */
    uint64_t one_errors; /* of them, those where another class scores at least as high as all that they carry */
    uint64_t covered;    /* over samples, the classes that score at least as high as the lowest one carried */
    double ranking_loss; /* over samples, the share of pairs of a carried and another class in the wrong order or tied */
} ocdm__rank_sums;

/* Ranks the classes c with counted[c] != 0 in every sample; a logit is not NaN. OCDM_OK, OCDM_NO_MEMORY. O(samples classes log
 * k) for k carried classes. */
ocdm_status ocdm__rank_classes(const ocdm__test_set *set, const uint8_t *counted, ocdm__rank_sums *sums, ocdm_error *error);

/* Everything that is known about a metric. The name is its JSON key and its heading in tables. */
typedef struct ocdm__metric_row {
    ocdm__explanation about;
    const char *unit;                                /* of the value times the scale */
    double scale;                                    /* of the number in files and tables: 100 for percentages */
    int decimals;                                    /* in tables */
    bool low;                                        /* less is better */
    double (*compute)(const ocdm__class_sums *sums); /* a fraction; the sums are over at least one class */
    size_t place;                                    /* among the formulas of all metrics, in reading order, from 0 */
} ocdm__metric_row;

extern const ocdm__metric_row ocdm__metrics[OCDM__METRIC_COUNT];

/* The name of a metric, NULL for a number that is none. Static text. */
const char *ocdm__metric_name(ocdm_metric metric);

/* The metrics over some classes. */
typedef struct ocdm__averages {
    size_t classes;                   /* the number of classes that are averaged: those with a positive sample */
    double value[OCDM__METRIC_COUNT]; /* not yet scaled; all NaN when classes is 0 */
} ocdm__averages;

/*
 * All metrics of a test set over the classes c with group[c] == wanted; `group` NULL: over all classes. A class without a
 * positive test sample is excluded from all of them, including the overall ones: its false positives do not count, and it is in
 * no ranking.
 *
 * scores   of ocdm__score_classes for the same set
 *
 * OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__measure(const ocdm__test_set *set, const ocdm__class_score *scores, const uint8_t *group, uint8_t wanted,
                          ocdm__averages *averages, ocdm_error *error);

/* The same of `class_count` classes from their scores alone: metrics that need rankings are NaN. O(class_count); sums are taken
 * in the order of the columns. */
ocdm__averages ocdm__average_all(const ocdm__class_score *scores, size_t class_count);

/* The same over the classes c with group[c] == wanted: a group of classes, or the classes of a task. */
ocdm__averages ocdm__average_group(const ocdm__class_score *scores, size_t class_count, const uint8_t *group, uint8_t wanted);

/* ---- thresholds (threshold.c) ------------------------------------------------------------------------------------------- */

/* What one threshold for all classes gives. */
typedef struct ocdm__operating_point {
    float threshold; /* of the logits */
    double precision, recall, cf1;
} ocdm__operating_point;

/* Points along the curve of CP over CR, by falling threshold: the first one that reaches each multiple of 1/32 in CR. */
#define OCDM__OPERATING_POINTS 33u
typedef struct ocdm__operation {
    ocdm__operating_point best; /* the greatest CF1; the highest of equally good thresholds */
    ocdm__operating_point points[OCDM__OPERATING_POINTS];
    size_t count; /* 0, and everything NaN, when no class has a positive sample */
} ocdm__operation;

/* A logit as a score from 0 to 1: the sigmoid. */
double ocdm__score_of(double logit);

/* Tries every threshold between two logits of the set on all classes together. OCDM_OK, OCDM_BAD_ARGUMENT and OCDM_LIMIT as
 * ocdm__score_classes, OCDM_NO_MEMORY. O(n log n) for n = samples x classes. */
ocdm_status ocdm__operate(const ocdm__test_set *set, ocdm__operation *operation, ocdm_error *error);

/* A number that decreases as the score increases, so that sorting by it ranks. Equal scores have equal numbers, 0.0 and -0.0
 * included. The score is not NaN. */
static inline uint32_t ocdm__descending_key(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    if (bits == 0x80000000u)
        bits = 0;
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

/* ---- over the evaluations of a run -------------------------------------------------------------------------------------- */

/*
 * Forgetting of each task: its best earlier mAP on its own test set minus the final one; negative when it is best at the end.
 * Values may be fractions or percentages; the result has the same unit. NaN means "no value".
 *
 * map          evaluations x tasks, row by row, oldest first; map[e * tasks + t] is NaN before task t has been seen
 * forgetting   room for `tasks`; NaN for a task without an earlier or a final value, such as the last task of a run
 *
 * Returns the mean over the tasks that have a value, NaN when none has. O(evaluations tasks).
 */
double ocdm__forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting);

/* What training on later tasks adds to a task, of the same numbers: its last mAP minus the one after it was learnt, its first.
 * The mean over the tasks but the last; NaN when none has both. O(evaluations tasks). */
double ocdm__backward_transfer(const double *map, size_t evaluations, size_t tasks);

/* What training on earlier tasks gives a task before it is learnt: ahead[t] - fresh[t], its mAP just before it is learnt and
 * that of an untrained network. The mean over the tasks that have both, NaN when none has. */
double ocdm__forward_transfer(const double *ahead, const double *fresh, size_t tasks);

/* The mean of the values that are not NaN, such as total mAP over the evaluations; NaN when there is none. */
double ocdm__mean_of_known(const double *values, size_t count);

/* ---- formulas ----------------------------------------------------------------------------------------------------------- */

/* The explanations in reading order: 0, 1, 2, ... until NULL. Static data. */
const ocdm__explanation *ocdm__explanation_at(size_t index);

/* The explanation of a name, NULL when there is none. Case matters: "mAP". */
const ocdm__explanation *ocdm__explain(const char *name);

#endif
