/* Panels of bars, one under another, with the same bars in each: classes, or stretches of the stream. Inside src/report only.
 */
#ifndef OCDM_REPORT_FIGURES_PANELS_H
#define OCDM_REPORT_FIGURES_PANELS_H

#include "report/figures/canvas.h"
#include "report/runs/groups.h"

/* What colour a bar has: of its group of classes, */
enum ocdm__bar_kind { OCDM__BAR_MAJORITY, OCDM__BAR_MODERATE, OCDM__BAR_MINORITY, OCDM__BAR_MIXED };

/* From which bar on it is called so; between bars is fine. */
typedef struct ocdm__panel_section {
    double from;
    char name[40];
} ocdm__panel_section;

typedef struct ocdm__panel {
    const char *label;
    char notes[3][40]; /* small, below the label */
    int colour;        /* or of the panel; -1 when bars have their own */
    double *values;    /* NaN for no bar */
    double *targets;   /* a mark across the bar; NaN for none */
} ocdm__panel;

/* Start with all bytes zero but what is said here; give back with ocdm__panels_clear. */
typedef struct ocdm__panels {
    const char *y_what, *x_what;
    const char *target_what; /* what the marks are */
    bool is_log;
    bool own_scales; /* each panel has its own, as high as its bars; else all share one */
    bool marks_lost; /* a bar of height 0 gets a cross */
    bool has_groups; /* the legend tells the groups' colours */
    size_t bar_count;
    unsigned char *kinds; /* of each bar; NULL when panels have colours */
    const char **names;   /* of each bar; NULL for none */
    ocdm__scale x;        /* where bars have no names: the numbers that they stand for; `from` and `to` are set here */
    ocdm__panel_section *sections;
    size_t section_count;
    ocdm__panel *panels;
    size_t panel_count;
} ocdm__panels;

/* A new panel of bar_count bars, their values and targets NaN; NULL when there is no memory. Lives until the next call. */
ocdm__panel *ocdm__panels_add(ocdm__panels *panels, const char *label);

void ocdm__panels_draw(const ocdm__panels *panels, const ocdm__canvas *canvas);

void ocdm__panels_clear(ocdm__panels *panels);

/* ---- classes as bars ---------------------------------------------------------------------------------------------------- */

/* The classes that the bars stand for; of each, `name`, `group` and `turn` are looked at. */
typedef struct ocdm__class_list {
    const ocdm__study_class *classes; /* by turn */
    size_t count;
    ocdm__numbers order; /* of the tasks: a class's turn is its place in it */
} ocdm__class_list;

/* Starts panels with the bars of the classes, which must outlive them. OCDM_OK, OCDM_NO_MEMORY; to be cleared in either case.
 */
ocdm_status ocdm__class_panels_begin(ocdm__panels *panels, const ocdm__class_list *list, ocdm_error *error);

/* A number of a class. */
typedef double ocdm__class_number(const void *state, const ocdm__study_class *class);

/* Fills a panel's values or targets. A bar is the mean of its classes; NaN when one of them has no number. */
void ocdm__class_panels_fill(const ocdm__class_list *list, double *bars, ocdm__class_number *number, const void *state);

#endif
