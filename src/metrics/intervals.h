/*
 * Several runs with different seeds: mean, standard deviation, and the difference between two methods that were run with the
 * same seeds, with its 95 % interval. Student's t is used, so the interval is valid, if wide, from two seeds on.
 *
 * Not supported: other levels than 95 %, nonparametric tests, corrections for multiple comparisons.
 */
#ifndef OCDM_METRICS_INTERVALS_H
#define OCDM_METRICS_INTERVALS_H

#include <stddef.h>

/* Summary of some numbers. A NaN among them makes everything but `count` NaN. */
typedef struct ocdm__summary {
    size_t count;
    double mean;      /* NaN when there is none */
    double deviation; /* sample standard deviation, divided by n - 1; NaN when there are fewer than two */
    double low, high; /* 95 % interval of the mean: mean -+ t(n - 1) deviation / sqrt(n); NaN when there are fewer than two */
} ocdm__summary;

/* Summarises `count` numbers. Sums are taken in the order given, so the result is reproducible to the bit. O(count). */
ocdm__summary ocdm__summarise(const double *values, size_t count);

/* The same for the differences a[i] - b[i] of paired runs: the difference is significant when 0 is outside the interval. */
ocdm__summary ocdm__summarise_pairs(const double *a, const double *b, size_t count);

/* The value that |t| exceeds with probability 5 %, with t from Student's distribution with `degrees` degrees of freedom: 12.7
 * for 1, 4.30 for 2, decreasing to 1.96. Relative error below 1e-12. NaN for 0 degrees. */
double ocdm__t_of_95_percent(size_t degrees);

#endif
