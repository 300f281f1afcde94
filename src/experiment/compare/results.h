/*
 * The results of the runs of a comparison: the numbers of their summaries, and the differences between methods that were run
 * with the same seeds. Seeds are paired across methods (same shuffle, same first weights), so that differences are judged seed
 * by seed.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_RESULTS_H
#define OCDM_EXPERIMENT_COMPARE_RESULTS_H

#include "base/base.h"
#include "experiment/compare/plan.h"
#include "metrics/intervals.h"
#include "metrics/metrics.h"

/* The numbers of a run that are compared: groups of classes times metrics of the paper's tables, those of the run, then groups
 * times metrics of other papers. */
enum {
    OCDM__COMPARE_GROUPS = 4,
    OCDM__COMPARE_METRICS = OCDM__TABLE_METRICS,
    OCDM__COMPARE_OTHER_METRICS = OCDM__METRIC_COUNT - OCDM__OTHER_METRICS,
    OCDM__COMPARE_TOTAL_MAP = 11,
    OCDM__COMPARE_OF_GROUPS, /* how many columns are metrics of groups */
    OCDM__COMPARE_MEAN_MAP = OCDM__COMPARE_OF_GROUPS,
    OCDM__COMPARE_FORGETTING,
    OCDM__COMPARE_TIME,
    OCDM__COMPARE_DISTANCE,
    OCDM__COMPARE_DISTANCE_SEEN,
    OCDM__COMPARE_SHARE,
    OCDM__COMPARE_VALIDATION,
    OCDM__COMPARE_MEAN_CF1,
    OCDM__COMPARE_MEAN_OF1,
    OCDM__COMPARE_AREA,
    OCDM__COMPARE_OPERATIONS,
    OCDM__COMPARE_BYTES,
    OCDM__COMPARE_MISSED,
    OCDM__COMPARE_LABELS,
    OCDM__COMPARE_LABELS_SEEN,
    OCDM__COMPARE_BACKWARD,
    OCDM__COMPARE_FORWARD,
    OCDM__COMPARE_OTHERS,
    OCDM__COMPARE_COLUMNS = OCDM__COMPARE_OTHERS + OCDM__COMPARE_GROUPS * OCDM__COMPARE_OTHER_METRICS
};

typedef struct ocdm__compare_column {
    const char *group;  /* "majority", ...; of the others "run" */
    const char *metric; /* "CF1", ... */
    const char *path;   /* in summary.json */
    const char *head;   /* the heading of the column; NULL: not in tables for people */
    int decimals;
    bool low;    /* less is better */
    bool ranked; /* the best are bold: not times, which depend on the machine, nor distances, which one method minimises */
} ocdm__compare_column;

extern const ocdm__compare_column ocdm__compare_columns[OCDM__COMPARE_COLUMNS];

/* Which of the groups of classes a column is of; OCDM__COMPARE_GROUPS for the columns of a run. */
size_t ocdm__compare_group(size_t column);

struct ocdm__compare_results;

/* Whether a column is shown: the area under mAP at any time, and forward transfer, only where a run has it. */
bool ocdm__compare_has(const struct ocdm__compare_results *results, size_t column);

/* Start with all bytes zero. */
typedef struct ocdm__compare_results {
    size_t point_count, method_count, seed_count;
    const char *const *methods;
    double *values;                       /* [point][method][seed][column]; NaN where a run has none, or is not there */
    size_t classes[OCDM__COMPARE_GROUPS]; /* that the metrics of a group are means over; 0 while no run is read */
    double *room;                         /* scratch space: two numbers for each method and seed, */
    ocdm__judgement *judgements;          /* and a judgement for each method */
    ocdm__arena arena;                    /* of all of it */
} ocdm__compare_results;

/* Room for a plan's results, all NaN. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__compare_results_create(ocdm__compare_results *results, const ocdm__compare_plan *plan, ocdm_error *error);

/* The numbers of one run: OCDM__COMPARE_COLUMNS of them. */
double *ocdm__compare_values(const ocdm__compare_results *results, size_t point, size_t method, uint64_t seed);

/* Reads what there is of summary.json under the folders of the plan in `folder`; runs that are not there, or not at their end,
 * stay NaN. OCDM_OK, OCDM_BAD_FILE, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__compare_results_read(ocdm__compare_results *results, const ocdm__compare_plan *plan, const char *folder,
                                       ocdm_error *error);

/* A group as tables head their columns: "minority (14)", with the number of its classes where that is known; "minority (5-7)"
 * where the comparisons of one table, `count` of them, differ in it. */
#define OCDM__GROUP_HEAD 64
void ocdm__compare_group_head(const ocdm__compare_results *const *results, size_t count, const char *group,
                              char text[OCDM__GROUP_HEAD]);

void ocdm__compare_results_clear(ocdm__compare_results *results);

/* A method's numbers at a point in a column, over the seeds that have a value; NaN where the column is none. */
ocdm__summary ocdm__compare_summary(const ocdm__compare_results *results, size_t point, size_t column, size_t method);

/* Judges the methods at a point in a column (metrics/intervals.h), except multitask, which sees all data. A judgement for each,
 * valid until the next call; nothing is bold in a column that is not ranked. */
const ocdm__judgement *ocdm__compare_judge(const ocdm__compare_results *results, size_t point, size_t column);

#endif
