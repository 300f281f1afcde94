/*
 * The figures of a report: each is a chart of one study, whose picture (SVG) and numbers (CSV) follow from its table. A figure
 * is one row, defined next to the function that makes the table and listed in figures.c.
 */
#ifndef OCDM_REPORT_FIGURES_FIGURE_H
#define OCDM_REPORT_FIGURES_FIGURE_H

#include "report/charts/chart.h"
#include "report/runs/groups.h"

/* The section of the page that shows a figure; the first unless its row says otherwise. */
enum ocdm__figure_section { OCDM__SECTION_FIGURES, OCDM__SECTION_TIME };

typedef struct ocdm__figure {
    const char *name;    /* of its files, and in the page */
    const char *title;   /* a few words */
    const char *reading; /* a sentence or two on how to read it */
    enum ocdm__figure_section section;
    const char *scales[2];    /* its own and the other one that the page offers; NULL if there is one only */
    const char *sweep;        /* it shows the groups of the sweep of this setting; NULL: those of the plain comparison */
    const ocdm__chart *chart; /* what is drawn how, without its numbers */
    /* Fills the chart: of the study, and then of each group that the chart shows. NULL: nothing. */
    void (*fill)(const ocdm__study *study, ocdm__chart *chart);
    void (*fill_group)(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart);
} ocdm__figure;

/* All figures, in the order of the page: to add one, add its name here and its row next to the function that fills it. */
/* clang-format off */
#define OCDM__FIGURES(FIGURE) \
    FIGURE(memory) FIGURE(distance) \
    FIGURE(map) FIGURE(anytime) FIGURE(difference) FIGURE(tasks) FIGURE(classes) FIGURE(thresholds) FIGURE(loss) \
    FIGURE(rho) FIGURE(rho_kept) FIGURE(memory_size) FIGURE(orders) FIGURE(orders_distance) FIGURE(orders_memory) \
    FIGURE(stream) FIGURE(pairs) FIGURE(age) FIGURE(class_age) FIGURE(time)
/* clang-format on */
#define OCDM__FIGURE_ROW(name) extern const ocdm__figure ocdm__figure_##name;
OCDM__FIGURES(OCDM__FIGURE_ROW)

/* The same, terminated by NULL. */
extern const ocdm__figure *const ocdm__figures[];

/* Makes the chart of a figure; without numbers (ocdm__chart_has_numbers) where the runs do not have the data for it. Clear the
 * chart in either case. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__figure_make(const ocdm__figure *figure, const ocdm__study *study, ocdm__chart *chart, ocdm_error *error);

/* Writes FOLDER/PREFIXname.svg and .csv of every figure that the study has data for. Creates the folder if it is missing.
 * Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__figures_write(const ocdm__study *study, const char *folder, const char *prefix, ocdm_error *error);

/* ---- for the figures of this folder ---------------------------------------------------------------------------------------
 */

/* sweeps.c: whether a chart shows a group. */
bool ocdm__chart_takes(const ocdm__chart *chart, const ocdm__study *study, const ocdm__run_group *group);

/* The series of a group, by its label and in its colour. */
ocdm__series *ocdm__chart_add_group(ocdm__chart *chart, const ocdm__run_group *group);

/* Cells with a summary: the mean, which has this key, the deviation and the number of runs. */
#define OCDM__SUMMARY(key, summary)                                                                                            \
    OCDM__EXACT(key, (summary).mean), OCDM__EXACT("deviation", (summary).deviation),                                           \
        OCDM__EXACT("runs", (double)(summary).count)

/* Where the tasks begin that a run has evaluations of; `what` is the member of an evaluation that x shows. */
void ocdm__add_task_sections(ocdm__chart *chart, const ocdm__run_record *run, const char *what, double scale);

/* The parts of a run's time. */
typedef struct ocdm__time_part {
    const char *name; /* in tables and the CSV */
    const char *path; /* in the summary */
    const char *text; /* in the legend */
    unsigned heat;    /* its step of the style sheet's colour */
} ocdm__time_part;

#define OCDM__TIME_PARTS 5u
extern const ocdm__time_part ocdm__time_parts[OCDM__TIME_PARTS];

/* Whether the runs spend time on it: only images are decoded. */
bool ocdm__time_part_is_there(const ocdm__study *study, size_t part);

#endif
