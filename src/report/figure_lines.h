/* Lines over a number or over names: one picture for every curve and sweep. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURE_LINES_H
#define OCDM_REPORT_FIGURE_LINES_H

#include "report/figure_canvas.h"

/* One line. A NaN in y is a gap. */
typedef struct ocdm__chart_line {
    const char *label;
    unsigned colour;
    size_t count;
    double *x, *y;
    double *low, *high; /* the spread around y; NaN for none */
} ocdm__chart_line;

/* From where on it is called so. */
typedef struct ocdm__chart_section {
    double from;
    char name[40];
} ocdm__chart_section;

/* Start with all bytes zero but what is said here; give back with ocdm__chart_clear. */
typedef struct ocdm__chart {
    const char *x_what, *y_what;
    bool dotted; /* points are marked, and the spread is a bar at each; else it is a band */
    bool is_log; /* y */
    ocdm__chart_line *lines;
    size_t line_count;
    ocdm__chart_section *sections; /* along x */
    size_t section_count;
    char (*names)[40]; /* of x = 0, 1, ...; NULL when x is a number */
    size_t name_count;
} ocdm__chart;

/* A new line of `count` points, all zero; NULL when there is no memory. The pointer lives until the next call. */
ocdm__chart_line *ocdm__chart_add(ocdm__chart *chart, const char *label, unsigned colour, size_t count);

/* Draws it; nothing but the ground when there is no number at all. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error);

void ocdm__chart_clear(ocdm__chart *chart);

#endif
