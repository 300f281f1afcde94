/*
 * Complete runs, grouped for comparison: a study is all runs on one stream; a group of a study is the runs that differ only
 * in the seed. Methods and models are compared; any other setting that runs of one method and model differ in (several memory
 * sizes, for example) was swept: the groups with its most frequent value are the base, which the plain comparison shows, and
 * the others appear in the figures of the sweep.
 */
#ifndef OCDM_REPORT_RUNS_GROUPS_H
#define OCDM_REPORT_RUNS_GROUPS_H

#include "metrics/intervals.h"
#include "metrics/metrics.h"
#include "report/runs/read.h"

/* A class of the stream, from the first run of a study. */
typedef struct ocdm__study_class {
    const char *name;
    const char *group; /* "majority", "moderate", "minority", or whatever else the file contains */
    size_t column;     /* its index in the lists of the files */
    size_t turn;  /* the first position in the base order of tasks at which it occurs; as many as there are tasks if at none */
    double train; /* training samples with it */
    ocdm__numbers turns; /* the same of each task, in the base order of tasks */
} ocdm__study_class;

typedef struct ocdm__run_group {
    const ocdm__run_record **runs; /* by seed */
    size_t run_count;
    const char *method;
    const char *label; /* the method, and the settings that distinguish it from the method's base group */
    const char *mark;  /* the label of the base group with its method and model: what a reader hides and shows together */
    bool base;         /* part of the plain comparison */
    bool bound;        /* multitask: an upper bound, since it sees all samples again */
    unsigned colour;   /* of its method; further base groups of the method, those of other models, have other dashes */
    double *room;      /* scratch space for run_count numbers */
} ocdm__run_group;

typedef struct ocdm__study {
    ocdm__run_group *groups; /* the base groups first, best first */
    size_t group_count;
    size_t base_count;
    ocdm__study_class *classes; /* in the order of their first task */
    size_t class_count;
    const ocdm__study_class **by_name; /* the same, sorted */
    ocdm__numbers order;               /* of the tasks in the base */
    bool trained;                      /* there is a network: groups are ranked by total mAP, otherwise by distance */
    ocdm__numbers seeds;               /* of the runs of the base, each once */
    double *room;                      /* scratch space: two numbers for each group of the base and seed, */
    ocdm__judgement *judgements;       /* and a judgement for each slot and group of the base */
    ocdm__arena arena;                 /* of all of it but the groups and their runs */
} ocdm__study;

typedef struct ocdm__study_list {
    ocdm__study *studies;
    size_t count;
} ocdm__study_list;

/* Groups the complete runs of a list, which must outlive the studies. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__studies_make(ocdm__study_list *studies, const ocdm__run_list *runs, ocdm_error *error);

void ocdm__studies_clear(ocdm__study_list *studies);

/* ---- questions ---------------------------------------------------------------------------------------------------------- */

/*
 * Summarises the number at a path of the summary ("final.total.mAP") over the runs of a group. Three paths are counted over the
 * classes that the training part has: "count.fewest" and "count.most", samples in memory of the rarest and of the most frequent
 * class, and "count.lost", classes without any.
 */
ocdm__summary ocdm__group_summary(const ocdm__run_group *group, const char *path);

/* The path of a metric over one of ocdm__paper_groups at the end of the stream: "final.total.mAP". */
#define OCDM__METRIC_PATH 48
void ocdm__metric_path(size_t group, ocdm_metric metric, char path[OCDM__METRIC_PATH]);

/* The same by a path in evaluation number `after`. */
ocdm__summary ocdm__group_evaluation(const ocdm__run_group *group, size_t after, const char *path);

/* The difference a - b of that number over the seeds that both groups have; count is 0 when there are none. */
ocdm__summary ocdm__group_evaluation_difference(const ocdm__run_group *a, const ocdm__run_group *b, size_t after,
                                                const char *path);

/* Judges the base groups by the number at a path, bounds excluded (ocdm__judge); `sign` is 1 where more is better, -1 where
 * less is. The judgements of a slot, such as the column of a table, are valid until the next call for it. */
#define OCDM__STUDY_SLOTS 24
const ocdm__judgement *ocdm__study_judge(const ocdm__study *study, size_t slot, const char *path, int sign);

/* The mean over the runs of entry `column` of a list of theirs (ocdm__run_list_of), such as "counts"; NaN when one has none. */
double ocdm__group_entry(const ocdm__run_group *group, const char *list, size_t column);

/* The mean over the runs of the average precision of entry `column`; NaN when one has none. */
double ocdm__group_precision(const ocdm__run_group *group, size_t column);

/* The number in study->classes of the class that a label names; class_count for one that names none. */
size_t ocdm__study_class_of(const ocdm__study *study, const ocdm__json_node *label);

/* The best base group by the measure, bounds excluded; NULL when none has a number. */
const ocdm__run_group *ocdm__study_best(const ocdm__study *study);

/* Whether the samples of the stream are images, which have to be decoded. */
bool ocdm__study_has_images(const ocdm__study *study);

/* The path of the number that ranks methods. */
const char *ocdm__study_measure(const ocdm__study *study);

/* The settings of the first run but for its seed, one after another: the first, and the one after `setting`; NULL at the end.
 */
const ocdm__json_node *ocdm__settings_first(const ocdm__run_record *run);
const ocdm__json_node *ocdm__settings_next(const ocdm__json_node *setting);

/* A setting of the group's runs, which are alike but for the seed; NULL when they do not say. */
const ocdm__json_node *ocdm__group_setting(const ocdm__run_group *group, const char *setting);

/* Whether two groups have the same value of it. */
bool ocdm__groups_agree(const ocdm__run_group *a, const ocdm__run_group *b, const char *setting);

/* Whether groups of one method and model differ in the setting: it was swept, and does not only differ between them. */
bool ocdm__study_sweeps(const ocdm__study *study, const char *setting);

/* Whether the groups differ in this setting. */
bool ocdm__study_varies(const ocdm__study *study, const char *setting);

/* A setting as on the command line: lists with commas, "none" for null. Truncated to the room, always with a NUL. */
void ocdm__setting_text(const ocdm__json_node *setting, char *text, size_t room);

/* Whether two nodes are the same value. */
bool ocdm__json_same(const ocdm__json_node *a, const ocdm__json_node *b);

#endif
