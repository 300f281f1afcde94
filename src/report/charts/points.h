/* The points of a chart's lines, from its table. */
#ifndef OCDM_REPORT_CHARTS_POINTS_H
#define OCDM_REPORT_CHARTS_POINTS_H

#include "report/charts/chart.h"

typedef struct ocdm__point {
    double x, y;      /* y is NaN in a gap */
    double low, high; /* the spread around y; NaN for none */
} ocdm__point;

typedef struct ocdm__line {
    const ocdm__series *series;
    bool behind; /* a thin line behind the others, without a name */
    ocdm__point *points;
    size_t count;
} ocdm__line;

typedef struct ocdm__lines {
    ocdm__line *lines; /* those behind first, and in each part one for each series */
    size_t count;
} ocdm__lines;

/* Collects the points of the series, rising in x. Returns OCDM_OK or OCDM_NO_MEMORY; the lines must be cleared in either case.
 */
ocdm_status ocdm__lines_collect(ocdm__lines *lines, const ocdm__chart *chart, ocdm_error *error);

void ocdm__lines_clear(ocdm__lines *lines);

#endif
