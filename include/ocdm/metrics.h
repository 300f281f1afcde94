/*
 * Metrics of multi-label classification, on plain arrays: counts, average precision, AUC and calibration of each class, the
 * averages of the paper's tables (CF1, OF1, mAP and their parts), rankings of classes within samples, and forgetting. Stable,
 * as ocdm.h is.
 *
 *     ocdm_test_set set = {.size = sizeof set, .logits = logits, .samples = 6000, .classes = 70, .label_starts = starts,
 *                          .labels = labels};
 *     ocdm_class_score scores[70];
 *     if (ocdm_score_classes(&set, scores, &error) != OCDM_OK) { fputs(error.message, stderr); exit(1); }
 *     printf("CF1 %.1f %%, mAP %.1f %%\n", 100 * ocdm_average(OCDM_CF1, scores, 70), 100 * ocdm_average(OCDM_MAP, scores, 70));
 *
 * Values are fractions from 0 to 1, except the coverage, which is a number of classes. A class without a positive sample is
 * left out of every average, the overall ones too: its false positives do not count, and it is in no ranking. The results are
 * the same on any compiler and CPU.
 */
#ifndef OCDM_METRICS_H
#define OCDM_METRICS_H

#include "ocdm/ocdm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- classes -------------------------------------------------------------------------------------------------------- */

/* Predictions and true labels of some samples. The arrays are yours and are only read. You may advance logits and label_starts
 * to look at part of the samples: label_starts[0] need not be 0. */
typedef struct ocdm_test_set {
    size_t size;         /* sizeof(ocdm_test_set), so that a later version can append members */
    const float *logits; /* sample i, class c: logits[i * classes + c]; no NaN */
    size_t samples;      /* below 2^32 */
    size_t classes;
    const uint64_t *label_starts; /* samples + 1, never decreasing */
    const uint32_t *labels;       /* of sample i: from label_starts[i] up to label_starts[i + 1]; columns, repeats count once */
    float threshold;              /* a class is predicted if its logit is over it; 0, the default, is a score of 1/2 */
} ocdm_test_set;

/* A class in a test set. */
typedef struct ocdm_class_score {
    uint32_t positives; /* G: samples that carry it */
    uint32_t predicted; /* P: samples whose logit is over the threshold */
    uint32_t hits;      /* TP: both */
    uint32_t samples;   /* of the test set */
    double ap;          /* average precision; NaN when G is 0 */
    double auc;         /* area under the ROC curve, ties count half; NaN when G is 0 or all samples */
    double ece;         /* expected calibration error, see OCDM_ECE; NaN when G is 0 */
} ocdm_class_score;

/*
 * Scores every class.
 *
 * scores   room for set->classes; written on success only
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (NULL or an unknown size, a logit that is NaN, a label that is not a column, decreasing starts),
 * OCDM_LIMIT (2^32 samples), OCDM_NO_MEMORY. Cost: O(samples classes), about 20 ms for 6,000 samples of 70 classes; temporarily
 * allocates about 80 bytes per sample.
 */
ocdm_status ocdm_score_classes(const ocdm_test_set *set, ocdm_class_score *scores, ocdm_error *error);

/*
 * The average precision of one class, as scikit-learn's average_precision_score: AP = sum over thresholds of
 * (R_k - R_(k-1)) P_k from the highest score down, equal scores are one threshold, no interpolation.
 *
 * scores    of `count` samples; no NaN
 * positive  of each: not 0 when it carries the class
 * ap        set on success; NaN when no sample carries the class
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_LIMIT, OCDM_NO_MEMORY. O(count).
 */
ocdm_status ocdm_average_precision(const float *scores, const uint8_t *positive, size_t count, double *ap, ocdm_error *error);

/* ---- averages ------------------------------------------------------------------------------------------------------- */

/* The averages over classes. New ones are appended, numbers never change. */
typedef enum ocdm_metric {
    OCDM_CF1 = 0,          /* "CF1": 2 CP CR / (CP + CR), PRS's form; 0 when both are 0 */
    OCDM_OF1 = 1,          /* "OF1": 2 OP OR / (OP + OR) */
    OCDM_MAP = 2,          /* "mAP": the mean of AP */
    OCDM_CP = 3,           /* "CP": the mean of TP / P, 0 where P is 0 */
    OCDM_CR = 4,           /* "CR": the mean of TP / G */
    OCDM_CF1_MACRO = 5,    /* "CF1_macro": the mean of the F1 of each class */
    OCDM_OP = 6,           /* "OP": sum of TP / sum of P */
    OCDM_OR = 7,           /* "OR": sum of TP / sum of G */
    OCDM_AUC = 8,          /* "AUC": the mean of the area under the ROC curve over classes with positives and negatives, as
                              scikit-learn's macro roc_auc_score */
    OCDM_RANKING_LOSS = 9, /* "ranking_loss": the share of pairs of a carried and another class of a sample in which the other
                              one scores at least as high; its mean over samples, 0 for a sample that carries none or all of
                              the classes: scikit-learn's label_ranking_loss */
    OCDM_COVERAGE = 10,    /* "coverage": the classes that score at least as high as the lowest that a sample carries; the mean
                              over samples, 0 for a sample that carries none: scikit-learn's coverage_error */
    OCDM_HAMMING = 11,     /* "hamming": the share of wrong decisions, logit over 0, of all samples and classes: hamming_loss */
    OCDM_ONE_ERROR = 12,   /* "one_error": the share, of the samples that carry a class, of those where another class scores at
                              least as high as all that it carries */
    OCDM_ECE = 13          /* "ECE": the mean over classes of sum_b n_b / n |mean of sigma(logit) - share of positives|, over 15
                              bins of equal width, ((b - 1) / 15, b / 15], of sigma(logit), with a grid of 2^-31 for it */
} ocdm_metric;

/* The name of a metric as in files and tables, or NULL for a number that is none. Counting from 0 until NULL lists them. Static
 * data; do not free it. */
const char *ocdm_metric_name(ocdm_metric metric);

/*
 * A metric over `class_count` classes: a fraction from 0 to 1, NaN when no class has a positive sample, when the metric is
 * none, or when scores is NULL; also for those that rank classes within samples (OCDM_RANKING_LOSS, OCDM_COVERAGE,
 * OCDM_ONE_ERROR), which ocdm_measure computes. Sums are taken in the order of the classes. O(class_count).
 */
double ocdm_average(ocdm_metric metric, const ocdm_class_score *scores, size_t class_count);

/* The same over the classes c with group[c] == wanted: the minority classes, or those of a task. */
double ocdm_average_group(ocdm_metric metric, const ocdm_class_score *scores, size_t class_count, const uint8_t *group,
                          uint8_t wanted);

/*
 * Every metric of a test set, over the classes of a group.
 *
 * group    of each class, NULL for all of them; `wanted` is the group's number
 * values   room for `count` numbers; values[m] becomes that of metric m, NaN where there is none. Written on success only
 *
 * As ocdm_score_classes, and the rankings: O(samples classes) unless samples carry very many classes.
 */
ocdm_status ocdm_measure(const ocdm_test_set *set, const uint8_t *group, uint8_t wanted, double *values, size_t count,
                         ocdm_error *error);

/*
 * The threshold for all classes together whose CF1 on this set is greatest: half way between two neighbouring logits, the
 * highest of equally good ones. Found on a validation set and used on a test set, it replaces 0, which misleads for scores that
 * are not probabilities. The threshold of `set` is not read.
 *
 * threshold   set on success; NaN when no class has a positive sample
 *
 * As ocdm_score_classes; O(n log n) for n = samples x classes.
 */
ocdm_status ocdm_best_threshold(const ocdm_test_set *set, float *threshold, ocdm_error *error);

/* ---- over the evaluations of a run ---------------------------------------------------------------------------------- */

/*
 * Forgetting of each task: its best earlier mAP on its own test set minus the final one; negative when it is best at the end.
 * Values may be fractions or percentages; results have the same unit. NaN means "no value".
 *
 * map          evaluations x tasks, row by row, oldest first; map[e * tasks + t] is NaN before task t has been seen
 * forgetting   room for `tasks`, or NULL: NaN for a task without an earlier or a final value, such as the last one of a run
 * mean         set on success: over the tasks that have a value; NaN when none has
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. O(evaluations tasks).
 */
ocdm_status ocdm_forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting, double *mean,
                            ocdm_error *error);

/*
 * Backward and forward transfer, in the unit of the values. NaN means "no value".
 *
 * map        as in ocdm_forgetting
 * ahead      of each task, its mAP just before it is learnt; NULL with `fresh`: there is no forward transfer
 * fresh      of each task, the mAP of an untrained model
 * backward   set on success: the mean over the tasks but the last of the final mAP minus the first one in its column; NaN when
 * none has both forward    set on success: the mean over the tasks that have both of ahead[t] - fresh[t]; NaN when none has
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT. O(evaluations tasks).
 */
ocdm_status ocdm_transfer(const double *map, size_t evaluations, size_t tasks, const double *ahead, const double *fresh,
                          double *backward, double *forward, ocdm_error *error);

#ifdef __cplusplus
}
#endif

#endif
