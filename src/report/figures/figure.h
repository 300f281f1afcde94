/*
 * The figures of a report: each is a picture (SVG) and its numbers (CSV) of one study. A figure is one row, defined next to the
 * functions that draw it and listed in figures.c.
 */
#ifndef OCDM_REPORT_FIGURES_FIGURE_H
#define OCDM_REPORT_FIGURES_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "report/figures/canvas.h"
#include "report/runs/groups.h"

/* The section of the page that shows a figure. */
enum ocdm__figure_section { OCDM__SECTION_FIGURES, OCDM__SECTION_TIME };

typedef struct ocdm__figure {
    const char *name;    /* of its files, and in the page */
    const char *title;   /* a few words */
    const char *reading; /* a sentence or two on how to read it */
    enum ocdm__figure_section section;
    const char *scales[2];                      /* its own and the other one that the page offers; NULL if there is one only */
    bool (*is_there)(const ocdm__study *study); /* whether the runs have the data for it */
    ocdm_status (*draw)(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error);
    ocdm_status (*write_csv)(const ocdm__study *study, ocdm__output *out, ocdm_error *error);
} ocdm__figure;

/* All figures, in the order of the page, terminated by NULL. */
extern const ocdm__figure *const ocdm__figures[];

/* Writes FOLDER/PREFIXname.svg and .csv of every figure that the study has data for. Creates the folder if it is missing.
 * Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__figures_write(const ocdm__study *study, const char *folder, const char *prefix, ocdm_error *error);

/* ---- for the figures of this folder ------------------------------------------------------------------------------------- */

/* Which groups a figure shows. */
typedef bool ocdm__group_filter(const ocdm__study *study, const ocdm__run_group *group);

/* The groups of the plain comparison. */
bool ocdm__is_base_group(const ocdm__study *study, const ocdm__run_group *group);

/* curves.c: the distance over the steps. */
ocdm_status ocdm__draw_distance(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                                ocdm_error *error);
void ocdm__csv_distance(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out);

/* memory.c: the class distribution in memory. */
ocdm_status ocdm__draw_memory(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                              ocdm_error *error);
void ocdm__csv_memory(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out);

extern const ocdm__figure ocdm__figure_memory, ocdm__figure_stream, ocdm__figure_age;
extern const ocdm__figure ocdm__figure_distance, ocdm__figure_loss, ocdm__figure_anytime;
extern const ocdm__figure ocdm__figure_map, ocdm__figure_difference, ocdm__figure_tasks;
extern const ocdm__figure ocdm__figure_classes;
extern const ocdm__figure ocdm__figure_rho, ocdm__figure_rho_kept, ocdm__figure_memory_size;
extern const ocdm__figure ocdm__figure_orders, ocdm__figure_orders_distance, ocdm__figure_orders_memory;
extern const ocdm__figure ocdm__figure_time;

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

/* ---- the picture of `ocdm demo` ----------------------------------------------------------------------------------------- */

/* How evenly policies hold the classes of a stream: a file with a panel for each policy. The same numbers give the same bytes.
 */

/* The upper end of the bars' scale; a higher bar is cut off there, marked, and its number is written above it. */
#define OCDM__PICTURE_TOP 70.0

typedef struct ocdm__picture_panel {
    const char *policy;   /* UTF-8 */
    double distance;      /* over the classes in play */
    double distance_seen; /* over all classes seen; shown when the policy lost some */
    const uint32_t *kept; /* m_i of each class, by `column` */
} ocdm__picture_panel;

typedef struct ocdm__balance_picture {
    const ocdm__study_class *classes;  /* by turn; only `name`, `group`, `column` and `turn` are used */
    size_t class_count;                /* at least 1 */
    ocdm__numbers tasks;               /* by turn */
    const ocdm__picture_panel *panels; /* from top to bottom */
    size_t panel_count;
    const char *caption; /* a line below the title */
} ocdm__balance_picture;

/* Writes the picture, as base/output.h writes a path. Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error);

#endif
