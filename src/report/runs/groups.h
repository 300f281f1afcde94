/*
 * Whole runs sorted out for comparison: a study is what was run on one stream, a group in it the runs that differ in nothing
 * but the seed. Where a setting was swept (several memory sizes, say), the groups with its most usual value are the base: those
 * the plain comparison shows; the others are for the figures of the sweep.
 */
#ifndef OCDM_REPORT_RUNS_GROUPS_H
#define OCDM_REPORT_RUNS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/intervals.h"
#include "metrics/metrics.h"
#include "report/runs/read.h"

/* The groups of classes in the paper's tables; the last is all classes together. */
#define OCDM__PAPER_GROUPS 4u
extern const char *const ocdm__paper_groups[OCDM__PAPER_GROUPS];

/* A class of the stream, as the first run of a study has it. */
typedef struct ocdm__study_class {
    const char *name;
    const char *group;   /* "majority", "moderate", "minority", or something else that the file says */
    size_t column;       /* its place in the lists of the files */
    size_t turn;         /* the first position in the base order of tasks at which it occurs; task_count when nowhere */
    double train;        /* training samples with it */
    ocdm__numbers tasks; /* the same of each task */
} ocdm__study_class;

typedef struct ocdm__run_group {
    const ocdm__run_record **runs; /* by seed */
    size_t run_count;
    const char *method;
    char *label;     /* the method, and what else tells it from the base group of that method */
    bool base;       /* part of the plain comparison */
    bool bound;      /* multitask: not a rival, since it sees everything again */
    unsigned colour; /* a number for each base group, from 0; the others have that of their method's base group */
    double *room;    /* for as many numbers as there are runs */
} ocdm__run_group;

typedef struct ocdm__study {
    ocdm__run_group *groups; /* the base groups first, the best of them first of all */
    size_t group_count;
    size_t base_count;
    ocdm__study_class *classes; /* in the order in which the stream brings them */
    size_t class_count;
    size_t task_count;
    ocdm__numbers order; /* of the tasks in the base */
    bool trained;        /* there is a network, and so metrics: the total mAP decides; else the distance does */
} ocdm__study;

typedef struct ocdm__study_list {
    ocdm__study *studies;
    size_t count;
} ocdm__study_list;

/* Sorts out the whole runs of a list, which must outlive the studies. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__studies_make(ocdm__study_list *studies, const ocdm__run_list *runs, ocdm_error *error);

void ocdm__studies_clear(ocdm__study_list *studies);

/* ---- questions ---------------------------------------------------------------------------------------------------------- */

/* The number at a path of the summary ("final.total.mAP"), over the runs of a group. */
ocdm__summary ocdm__group_summary(const ocdm__run_group *group, const char *path);

/* The path of a metric over one of ocdm__paper_groups at the end of the stream: "final.total.mAP". */
#define OCDM__METRIC_PATH 48
void ocdm__metric_path(size_t group, enum ocdm__metric metric, char path[OCDM__METRIC_PATH]);

/* The same of evaluation number `after`. */
ocdm__summary ocdm__group_evaluation(const ocdm__run_group *group, size_t after, const char *path);

/* The difference a - b of that number over the seeds that both groups have; count 0 when there is none. */
ocdm__summary ocdm__group_difference(const ocdm__run_group *a, const ocdm__run_group *b, const char *path);

/* The mean over the runs of number `column` of their counts, targets or seen; NaN when there is none. */
double ocdm__group_count(const ocdm__run_group *group, size_t column);
double ocdm__group_target(const ocdm__run_group *group, size_t column);

/* What decides who is best, and whether more of it is better. */
const char *ocdm__study_measure(const ocdm__study *study);

/* Whether value `a` of the measure is better than `b`; a NaN is never. */
bool ocdm__study_better(const ocdm__study *study, double a, double b);

/* Whether groups of one method differ in the setting: it was swept, and is not just another method's own value. */
bool ocdm__study_sweeps(const ocdm__study *study, const char *setting);

/* Whether the groups differ in this setting. */
bool ocdm__study_varies(const ocdm__study *study, const char *setting);

/* A setting as one would type it: a list with commas, "none" for null; always ends with a NUL, cut when too long. */
void ocdm__setting_text(const ocdm__json_node *setting, char *text, size_t room);

/* Whether two nodes are the same value. */
bool ocdm__json_same(const ocdm__json_node *a, const ocdm__json_node *b);

#endif
