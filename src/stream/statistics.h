/*
 * What is in a stream: samples, classes and their counts per task and in total, and how often classes occur together. MLR(c),
 * the multi-label ratio of class c, is the share of the samples with c that carry another label too; AMLR is its mean over the
 * classes that occur. Both look at the training part alone.
 *
 *     ocdm__statistics statistics = {0};
 *     ocdm__counted_sample sample = {.labels = labels, .label_count = 2, .has_task = true, .task = 0};
 *     if (ocdm__statistics_add(&statistics, &sample, error) != OCDM_OK) ...
 *     printf("%.2f\n", ocdm__tally_amlr(&statistics.total));
 *     ocdm__statistics_clear(&statistics);
 *
 * The room needed grows with classes times tasks, not with the number of samples.
 */
#ifndef OCDM_STREAM_STATISTICS_H
#define OCDM_STREAM_STATISTICS_H

#include "base/base.h"

/* ---- groups of classes ---- */

enum ocdm__class_group { OCDM__MAJORITY = 0, OCDM__MODERATE = 1, OCDM__MINORITY = 2, OCDM__GROUPS = 3 };

/* "majority", "moderate", "minority". */
const char *ocdm__class_group_name(enum ocdm__class_group group);

/* The bounds of the paper, used where no others are given. */
#define OCDM__MAJORITY_OVER 600u
#define OCDM__MINORITY_UNDER 100u

/* The group of a class with `count` training samples: over `high` majority, under `low` minority, otherwise moderate. */
enum ocdm__class_group ocdm__class_group_of(uint64_t count, uint64_t high, uint64_t low);

/* ---- statistics ---- */

/* The most tasks of a stream: a column of record numbers taken for tasks should not fill the memory. */
#define OCDM__MAX_TASKS 65536

/* Training samples are counted by their number of labels, 0, 1, 2, ...; the last step counts all higher numbers. */
#define OCDM__LABEL_STEPS 9

/* A class in the training part. */
typedef struct ocdm__class_tally {
    uint64_t count;  /* samples with it */
    uint64_t shared; /* those of them that have another label too */
} ocdm__class_tally;

/* One task, or the whole stream. */
typedef struct ocdm__tally {
    uint64_t task; /* its number; of no meaning for the whole stream */
    uint64_t train, test;
    ocdm__class_tally *classes; /* by class number; a class from class_room on does not occur */
    size_t class_room;
} ocdm__tally;

/* Start with all bytes zero. */
typedef struct ocdm__statistics {
    ocdm__tally total;  /* every sample, whether it has a task or not */
    ocdm__tally *tasks; /* in ascending order of their numbers */
    size_t task_count;

    uint64_t without_task;               /* samples */
    uint64_t label_count;                /* of the training part, repeats on a sample aside */
    uint64_t samples[OCDM__LABEL_STEPS]; /* of the training part, by their number of labels */

    size_t task_room;
    bool *noted; /* by class: on the current sample, which is how repeats are noticed */
    size_t noted_room;
} ocdm__statistics;

/* A sample as it arrives. */
typedef struct ocdm__counted_sample {
    const uint32_t *labels; /* class numbers, best without gaps; repeats count once */
    size_t label_count;
    bool test; /* of the test part: counted, its labels are ignored */
    bool has_task;
    uint64_t task;
} ocdm__counted_sample;

/* Counts a sample. OCDM_OK, OCDM_LIMIT (too many tasks), OCDM_NO_MEMORY; after an error the statistics can only be cleared.
 * Cost: O(labels + log tasks), a new task's aside. */
ocdm_status ocdm__statistics_add(ocdm__statistics *statistics, const ocdm__counted_sample *sample, ocdm_error *error);

/* Releases everything; the statistics are empty again. */
void ocdm__statistics_clear(ocdm__statistics *statistics);

/* The counts of a class, zeros when it does not occur. */
ocdm__class_tally ocdm__tally_class(const ocdm__tally *tally, size_t class_number);

/* How many classes occur. */
size_t ocdm__tally_class_count(const ocdm__tally *tally);

/* The smallest and the largest count of a class that occurs; zeros when none does. */
void ocdm__tally_range(const ocdm__tally *tally, uint64_t *smallest, uint64_t *largest);

/* MLR of a class and AMLR, in percent; NaN when the class, or every class, does not occur. */
double ocdm__tally_mlr(const ocdm__tally *tally, size_t class_number);
double ocdm__tally_amlr(const ocdm__tally *tally);

/* How many classes are in each group, by ocdm__class_group_of. Classes that do not occur are in none. */
typedef struct ocdm__class_groups {
    size_t majority, moderate, minority;
} ocdm__class_groups;
ocdm__class_groups ocdm__tally_groups(const ocdm__tally *tally, uint64_t high, uint64_t low);

/* Counts of training samples, by class; they may be members of structs. */
typedef struct ocdm__class_counts {
    const uint64_t *first;
    size_t stride; /* bytes from one to the next */
    size_t count;
} ocdm__class_counts;
ocdm__class_counts ocdm__tally_counts(const ocdm__tally *tally);

/*
 * Bounds that divide the k classes with training samples into terciles: at most k/3 have more than the first, at most k/3 fewer
 * than the second, as many as that allows; classes with equal counts stay together.
 */
void ocdm__tercile_bounds(const ocdm__class_counts *counts, uint64_t bounds[2]);

/* The bounds where none are given: the paper's 600 and 100; in a small data set, where no class has more than 600 training
 * samples and three or more classes have some, the terciles, and the result is true. */
bool ocdm__usual_bounds(const ocdm__class_counts *counts, uint64_t bounds[2]);

#endif
