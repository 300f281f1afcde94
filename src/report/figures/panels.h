/* Panels of bars, one below another, with the same bars in each: classes, or ranges of the stream. Internal to src/report. */
#ifndef OCDM_REPORT_FIGURES_PANELS_H
#define OCDM_REPORT_FIGURES_PANELS_H

#include "report/figures/canvas.h"
#include "report/runs/groups.h"

/* The group of classes that a bar belongs to, which decides how it is filled: solid, half, hollow. Its colour is the method's.
 */
enum ocdm__bar_kind { OCDM__BAR_MAJORITY, OCDM__BAR_MODERATE, OCDM__BAR_MINORITY, OCDM__BAR_MIXED };

enum ocdm__bar_kind ocdm__bar_kind_of(const ocdm__study_class *class);

/* A square in ink that is filled as the bars of a group of classes. */
void ocdm__bar_kind_draw(const ocdm__canvas *canvas, enum ocdm__bar_kind kind, double x, double y, double side);

/* Such squares with the names of the groups that the classes have, at the top of a picture. */
void ocdm__bar_kind_legend(const ocdm__canvas *canvas, const ocdm__study_class *classes, size_t count);

/* A named range of bars: from here to the next section; may start between bars. */
typedef struct ocdm__panel_section {
    double from;
    char name[40];
} ocdm__panel_section;

/* The lines that fit beside the bars, below the label. */
#define OCDM__PANEL_NOTES 4u

typedef struct ocdm__panel {
    const char *label;
    const char *mark;                  /* the method that it belongs to; NULL for none */
    char notes[OCDM__PANEL_NOTES][40]; /* small, below the label */
    int colour;                        /* of all bars; -1 for ink */
    double *values;                    /* NaN for no bar */
    double *targets;                   /* a mark across the bar; NaN for none */
} ocdm__panel;

/* Members that are not set below must be zero; release with ocdm__panels_clear. */
typedef struct ocdm__panels {
    const char *y_what, *x_what;
    const char *target_what; /* the name of the marks */
    bool is_log;             /* on the figure's own scale */
    double highest;          /* the upper end of every scale; 0: it follows from values and targets */
    bool own_scales;         /* each panel has its own scale, as high as its bars; otherwise all share one */
    bool marks_lost;         /* a bar of height 0 gets a cross */
    bool has_groups;         /* the legend tells how the groups are filled */
    size_t bar_count;
    unsigned char *kinds; /* of each bar; NULL when all are solid */
    const char **names;   /* of each bar; NULL for none */
    ocdm__scale x;        /* if bars have no names: the values that they represent; `from` and `to` are ignored */
    ocdm__panel_section *sections;
    size_t section_count;
    ocdm__panel *panels;
    size_t panel_count;
} ocdm__panels;

/* Adds a panel of bar_count bars with values and targets NaN. NULL if an allocation fails. The pointer is valid until the
 * next call. */
ocdm__panel *ocdm__panels_add(ocdm__panels *panels, const char *label);

void ocdm__panels_draw(const ocdm__panels *panels, const ocdm__canvas *canvas);

void ocdm__panels_clear(ocdm__panels *panels);

/* ---- classes as bars ---------------------------------------------------------------------------------------------------- */

/* The classes that the bars represent; only their `name`, `group` and `turn` are used. With very many classes, a bar
 * represents several that are neighbours in the order of the stream. */
typedef struct ocdm__class_list {
    const ocdm__study_class *classes; /* by turn */
    size_t count;
    ocdm__numbers order; /* of the tasks: a class's turn is an index into it */
} ocdm__class_list;

/* Starts panels with the bars of the classes, which must outlive them. Returns OCDM_OK or OCDM_NO_MEMORY; the panels must
 * be cleared in either case. */
ocdm_status ocdm__class_panels_begin(ocdm__panels *panels, const ocdm__class_list *list, ocdm_error *error);

/* A number of a class. */
typedef double ocdm__class_number(const void *state, const ocdm__study_class *class);

/* Fills a panel's values or targets. A bar is the mean of its classes; NaN when one of them has no value. */
void ocdm__class_panels_fill(const ocdm__class_list *list, double *bars, ocdm__class_number *number, const void *state);

#endif
