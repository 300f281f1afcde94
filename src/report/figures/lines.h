/* Lines over a number or over names: one picture for every curve and sweep. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_LINES_H
#define OCDM_REPORT_FIGURES_LINES_H

#include "report/figures/canvas.h"

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

/* A number from elsewhere to compare a line with: a hollow mark in the line's colour. */
typedef struct ocdm__chart_mark {
    double x, y;
    unsigned colour;
} ocdm__chart_mark;

/* Start with all bytes zero but what is said here; give back with ocdm__chart_clear. */
typedef struct ocdm__chart {
    const char *x_what, *y_what;
    const char *mark_what; /* whose the marks are, a word or two; NULL when there is none */
    double height;         /* of the lines' field; 0 for the usual one */
    double y_reach[2];     /* numbers that the axis has to reach; both 0 for none */
    bool dotted;           /* points are marked, and the spread is a bar at each; else it is a band */
    bool is_log;           /* y */
    ocdm__chart_line *lines;
    size_t line_count;
    ocdm__chart_section *sections; /* along x */
    size_t section_count;
    ocdm__chart_mark *marks;
    size_t mark_count;
    char (*names)[40]; /* of x = 0, 1, ...; NULL when x is a number */
    size_t name_count;
} ocdm__chart;

/* A new line of `count` points, all zero; NULL when there is no memory. The pointer lives until the next call. */
ocdm__chart_line *ocdm__chart_add(ocdm__chart *chart, const char *label, unsigned colour, size_t count);

/* Draws it; nothing but the ground when there is no number at all. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error);

void ocdm__chart_clear(ocdm__chart *chart);

#endif
