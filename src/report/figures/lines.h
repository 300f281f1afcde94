/* Line charts over numbers or names, for all curves and sweeps. Internal to src/report. */
#ifndef OCDM_REPORT_FIGURES_LINES_H
#define OCDM_REPORT_FIGURES_LINES_H

#include "report/figures/canvas.h"
#include "report/runs/groups.h"

/* The colour of lines that are not methods, such as groups of classes: their dashes and marks tell them apart. */
#define OCDM__INK(dash) (OCDM__COLOURS * OCDM__DASHES + (unsigned)(dash))

/* One line. A NaN in y is a gap. */
typedef struct ocdm__chart_line {
    const char *label;
    const char *mark; /* the method that it belongs to; NULL for none */
    unsigned colour;  /* of a method, or OCDM__INK and a dash */
    bool behind;      /* a thin line behind the others, without a name */
    size_t count;
    double *x, *y;
    double *low, *high; /* the spread around y; NaN for none */
} ocdm__chart_line;

/* A named range of x: from here to the next section. */
typedef struct ocdm__chart_section {
    double from;
    char name[40];
} ocdm__chart_section;

/* A reference value for a line: a hollow mark in the line's colour. */
typedef struct ocdm__chart_mark {
    double x, y;
    unsigned colour;
} ocdm__chart_mark;

/* Members that are not set below must be zero; release with ocdm__chart_clear. */
typedef struct ocdm__chart {
    const char *x_what, *y_what;
    const char *mark_what; /* the source of the marks, a word or two; NULL when there are none */
    double height;         /* of the plot; 0 for the default */
    double y_reach[2];     /* values that the axis must include; both 0 for none */
    bool dotted;           /* points are marked and the spread is an error bar; otherwise it is a band */
    bool is_log;           /* y, on the figure's own scale; the other one is linear and starts at 0 */
    ocdm__chart_line *lines;
    size_t line_count;
    ocdm__chart_section *sections; /* along x */
    size_t section_count;
    ocdm__chart_mark *marks;
    size_t mark_count;
    char (*names)[40]; /* of x = 0, 1, ...; NULL when x is a number */
    size_t name_count;
} ocdm__chart;

/* Adds a line of `count` points, all zero. NULL if an allocation fails. The pointer is valid until the next call. */
ocdm__chart_line *ocdm__chart_add(ocdm__chart *chart, const char *label, unsigned colour, size_t count);

/* Draws the chart, in a page below a legend for narrow screens, or only its background when it has no values. Returns OCDM_OK
 * or OCDM_NO_MEMORY. */
ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error);

void ocdm__chart_clear(ocdm__chart *chart);

#endif
