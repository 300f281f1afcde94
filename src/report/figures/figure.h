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
extern const ocdm__figure ocdm__figure_distance, ocdm__figure_loss;
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
    double left;      /* where that starts */
    unsigned colour;
} ocdm__time_part;

#define OCDM__TIME_PARTS 5u
extern const ocdm__time_part ocdm__time_parts[OCDM__TIME_PARTS];

/* ---- the picture of `ocdm demo` ----------------------------------------------------------------------------------------- */

/*
 * How evenly policies hold the classes of a stream: one self-contained SVG with a panel of bars for each policy and a bar for
 * each class. One sample is one unit high, so the numbers can be read back from the file. The same numbers give the same bytes.
 */

/* The most samples that a bar shows; a higher one is cut off there, marked, and its number is written above it. */
#define OCDM__PICTURE_TOP 70u

/* The paper's groups: majority classes occur more often than the first, minority classes less often than the second. */
#define OCDM__PICTURE_MAJORITY 600u
#define OCDM__PICTURE_MINORITY 100u

typedef struct ocdm__picture_class {
    const char *name; /* UTF-8 */
    uint64_t seen;    /* n_i at the end of the stream */
    uint32_t task;    /* classes of a task stand together */
} ocdm__picture_class;

typedef struct ocdm__picture_panel {
    const char *policy;   /* UTF-8 */
    double distance;      /* over the classes in play */
    double distance_seen; /* over all classes seen; shown when the policy lost some */
    const uint32_t *kept; /* m_i of each class */
} ocdm__picture_panel;

typedef struct ocdm__balance_picture {
    const ocdm__picture_class *classes; /* in the order of the stream */
    size_t class_count;                 /* at least 1 */
    const ocdm__picture_panel *panels;  /* from top to bottom */
    size_t panel_count;
    uint32_t capacity;     /* M, below 10,000: the numbers over the bars have room for four digits */
    uint64_t sample_count; /* of the stream */
} ocdm__balance_picture;

/* Writes the picture, as base/output.h writes a path. Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error);

#endif
