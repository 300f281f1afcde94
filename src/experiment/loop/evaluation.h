/*
 * An evaluation: the paper's metrics of a learner's predictions on the test sets of some tasks. Over the tests of all these
 * tasks together for all classes and each group of them, and on the tests of each task.
 */
#ifndef OCDM_EXPERIMENT_LOOP_EVALUATION_H
#define OCDM_EXPERIMENT_LOOP_EVALUATION_H

#include "base/base.h"
#include "base/output.h"
#include "base/progress.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "experiment/loop/schedule.h"
#include "metrics/metrics.h"
#include "stream/file.h"
#include "stream/statistics.h"

/* For the message about logits that are not finite, which follow from weights that are too large or training that diverged. */
typedef struct ocdm__logits_source {
    const char *stream; /* the file's name */
    const char *hint;   /* the hint */
} ocdm__logits_source;

/* OCDM_OK; OCDM_BAD_RECORD when one of the `classes` logits of a sample is infinite or not a number. */
ocdm_status ocdm__logits_check(const ocdm__logits_source *source, uint32_t sample, const float *logits, size_t classes,
                               ocdm_error *error);

/* Start with all bytes zero. */
typedef struct ocdm__evaluation {
    uint32_t task;          /* that was learnt last */
    uint64_t step, samples; /* of training so far */
    double distance;        /* of the memory; NaN for none */
    double distance_seen;   /* likewise */
    uint64_t skipped;       /* tests whose image could not be decoded: they are left out */
    double ahead;           /* mAP of the next task, which is not learnt yet, as a fraction; NaN: not asked for */
    double threshold;       /* of the logits: a class is predicted above it; NaN: none was chosen, it is 0 */
    ocdm__averages total;   /* fractions, as in metrics/averages.h */
    ocdm__averages groups[OCDM__GROUPS];
    ocdm__averages *tasks; /* of each task so far, in their order, on its own tests */
    size_t task_count;
} ocdm__evaluation;

/* Frees what is in it. */
void ocdm__evaluation_clear(ocdm__evaluation *evaluation);

/* Room for the tasks, everything else "none": what an evaluation without an agent is. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__evaluation_start(ocdm__evaluation *evaluation, size_t task_count, ocdm_error *error);

/* What is evaluated on what. */
typedef struct ocdm__examination {
    const ocdm__learner *learner; /* NULL without `given`: there are no metrics */
    ocdm__model_inputs *inputs;   /* with its slots 0 and 1 free */
    const float *given; /* scores that the caller has, a row for each of the tests in their order: no learner is asked */
    const ocdm__stream_table *table;
    const ocdm__stream_order *tests;
    const uint8_t *groups;      /* of the classes */
    bool ahead;                 /* the task after those that are evaluated is asked about too, if there is one */
    ocdm__logits_source source; /* for messages */
    const ocdm__progress *progress;
} ocdm__examination;

/*
 * Evaluates the first `count` versions of the learner's weights on the tests of the first `task_count` tasks, in one pass over
 * the tests, and fills in their metrics. The learner is back at its trained weights afterwards.
 *
 * OCDM_OK, OCDM_STOPPED, OCDM_NO_MEMORY, OCDM_BAD_RECORD (a logit is not finite), and what reading a sample gives. On error
 * the evaluations must be discarded.
 */
struct ocdm__version_result {
    ocdm__evaluation *evaluation;
    ocdm__class_score *scores;  /* of the classes over all these tests: class_count of them, the caller's */
    double threshold;           /* of the logits: a class is predicted above it */
    ocdm__operation *operation; /* becomes that of all these tests; NULL: it is not asked for */
};
ocdm_status ocdm__evaluate(const ocdm__examination *examination, size_t task_count, const struct ocdm__version_result *results,
                           size_t count, ocdm_error *error);

/* The mAP of each task's tests by a learner that knows none of them, NaN for a task without positive tests: `map` has room for
 * all tasks. As ocdm__evaluate. */
ocdm_status ocdm__evaluate_fresh(const ocdm__examination *examination, ocdm__class_score *scores, double *map,
                                 ocdm_error *error);

/* ---- as JSON ----------------------------------------------------------------------------------------------------------- */

/* The members of an evaluation, without braces; `after` is its number. `tasks` are the tasks in their order. A threshold and a
 * mAP ahead are members only where there is one. */
void ocdm__evaluation_write(ocdm__output *output, const ocdm__evaluation *evaluation, size_t after, const uint32_t *tasks);

/* The part of them that is metrics, in percent, beginning with a comma: total, each group, each task. */
void ocdm__evaluation_metrics_write(ocdm__output *output, const ocdm__evaluation *evaluation, const uint32_t *tasks);

/* A list with AP, precision, recall and positives of each class. `scores` NULL: nulls. */
void ocdm__class_scores_write(ocdm__output *output, const ocdm__class_score *scores, size_t class_count);

/* ---- groups of classes --------------------------------------------------------------------------------------------- */

/* Which group each class of a stream is in: as the stream says, by bounds on training counts, by terciles of them, or as a file
 * says. */

/*
 * The groups by a text: "stream" for the stream's own; "H,L" for majority over H training samples, minority under L;
 * "terciles" for such bounds by ocdm__tercile_bounds; else the path of a file (stream/recipes/class_files.h).
 *
 * groups  enum ocdm__class_group of each class, class_count of them, the caller's
 * counts  training samples with each class, likewise (ocdm__count_classes); only bounds and terciles need them
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (bounds that increase, a stream without groups of its own), and what the file gives.
 */
ocdm_status ocdm__evaluation_groups(const char *text, const ocdm__stream_table *table, const uint64_t *counts, uint8_t *groups,
                                    ocdm_error *error);

/* The text where none is given: "stream" if the stream has groups, else "600,100" or "terciles" by ocdm__usual_bounds. OCDM_OK,
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__evaluation_usual_groups(const ocdm__stream_table *table, const char **text, ocdm_error *error);

/* Whether such a text names a file; it need not end with a NUL. Whether it asks for terciles. */
bool ocdm__groups_are_of_a_file(const char *text, size_t length);
bool ocdm__groups_are_terciles(const char *text);

/*
 * What a user should know before a run about classes that cannot be evaluated, as a line: that there are no test samples, or
 * which classes have none. "" when every class has some. `tests` is the number of test samples with each class.
 */
#define OCDM__UNTESTED_TEXT 512
void ocdm__untested_text(const ocdm__stream_table *table, const uint64_t *tests, char text[OCDM__UNTESTED_TEXT]);

/* Whether the stream has test samples. */
bool ocdm__stream_has_tests(const ocdm__stream_table *table);

/* How many samples of a part (enum ocdm__part) carry each class; `counts` is set to 0 first. */
void ocdm__count_classes(const ocdm__stream_table *table, uint8_t part, uint64_t *counts);

/* How many training samples of each task carry each class: class_count rows of a number per task of the order, tasks by rising
 * number. `counts` is zero before. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__count_classes_by_task(const ocdm__stream_table *table, const ocdm__stream_order *order, uint32_t *counts,
                                        ocdm_error *error);

#endif
