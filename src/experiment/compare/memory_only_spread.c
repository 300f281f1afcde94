/* Quantiles of results. */
#include "experiment/compare/memory_only_spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

ocdm__spread ocdm__spread_of(double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    if (known == 0)
        return (ocdm__spread){NAN, NAN, NAN};
    qsort(values, known, sizeof *values, compare_doubles);
    return (ocdm__spread){quantile(values, known, 0.05), quantile(values, known, 0.5), quantile(values, known, 0.95)};
}

static double figure_of(const ocdm__memory_result *result, enum ocdm__memory_figure figure)
{
    switch (figure) {
    case OCDM__FIGURE_DISTANCE:
        return result->distance;
    case OCDM__FIGURE_DISTANCE_SEEN:
        return result->distance_seen;
    case OCDM__FIGURE_FEWEST:
        return result->balance.fewest;
    case OCDM__FIGURE_LOST:
        return (double)result->balance.lost;
    case OCDM__FIGURE_COUNT:
        break;
    }
    return NAN;
}

ocdm_status ocdm__memory_spread(const ocdm__memory_result *results, size_t first, size_t stride, size_t count,
                                enum ocdm__memory_figure figure, ocdm__spread *spread, ocdm_error *error)
{
    double *values = ocdm__allocate(count, sizeof *values);
    if (values == NULL)
        return ocdm__fail_memory(error, "the figures of the runs");
    for (size_t i = 0; i < count; i++)
        values[i] = figure_of(&results[first + i * stride], figure);
    *spread = ocdm__spread_of(values, count);
    ocdm__release(values);
    return OCDM_OK;
}
