/* How far the results of many runs of the memory lie apart: median and the range from 5 to 95 percent. */
#ifndef OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_SPREAD_H
#define OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_SPREAD_H

#include <stddef.h>

#include "experiment/compare/memory_only.h"
#include "ocdm/ocdm.h"

typedef struct ocdm__spread {
    double low, median, high; /* quantiles 0.05, 0.5, 0.95, interpolated between neighbours; NaN when there is no value */
} ocdm__spread;

/* Of `count` numbers, which are sorted in place; NaNs are left out. O(count log count). */
ocdm__spread ocdm__spread_of(double *values, size_t count);

/* What is looked at. */
enum ocdm__memory_figure {
    OCDM__FIGURE_DISTANCE,
    OCDM__FIGURE_DISTANCE_SEEN,
    OCDM__FIGURE_FEWEST,
    OCDM__FIGURE_LOST,
    OCDM__FIGURE_COUNT
};

/* The spread of a figure over results[first], results[first + stride], ...: `count` of them. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__memory_spread(const ocdm__memory_result *results, size_t first, size_t stride, size_t count,
                                enum ocdm__memory_figure figure, ocdm__spread *spread, ocdm_error *error);

#endif
