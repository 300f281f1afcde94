/*
 * Several runs with different seeds: mean, standard deviation, and the difference between methods that were run with the same
 * seeds, with its 95 % interval. Student's t is used, so the interval is valid, if wide, from two seeds on. Where several
 * methods are compared, Tukey's studentised range takes its place, so that all differences hold together in 95 % of cases.
 *
 * Not supported: other levels than 95 %, nonparametric tests.
 */
#ifndef OCDM_METRICS_INTERVALS_H
#define OCDM_METRICS_INTERVALS_H

#include "base/base.h"

/* Summary of some numbers. A NaN among them makes everything but `count` NaN. */
typedef struct ocdm__summary {
    size_t count;
    double mean;      /* NaN when there is none */
    double deviation; /* sample standard deviation, divided by n - 1; NaN when there are fewer than two */
    double low, high; /* 95 % interval of the mean: mean -+ t(n - 1) deviation / sqrt(n); NaN when there are fewer than two */
} ocdm__summary;

/* Summarises `count` numbers. Sums are taken in the order given, so the result is reproducible to the bit. O(count). */
ocdm__summary ocdm__summarise(const double *values, size_t count);

/* The same for the differences a[i] - b[i] of paired runs: the difference is significant when 0 is outside the interval. `b` is
 * NULL for plain numbers. */
ocdm__summary ocdm__summarise_pairs(const double *a, const double *b, size_t count);

/* The value that |t| exceeds with probability 5 %, with t from Student's distribution with `degrees` degrees of freedom: 12.7
 * for 1, 4.30 for 2, decreasing to 1.96. Relative error below 1e-12. NaN for 0 degrees. */
double ocdm__t_of_95_percent(size_t degrees);

/* ---- several methods ---------------------------------------------------------------------------------------------------- */

/* The value that the studentised range exceeds with probability 5 %: the largest difference between `count` standard normal
 * numbers over an independent estimate of their deviation with `degrees` degrees of freedom. By numerical integration, relative
 * error below 1e-6; 0.1 to 5 ms. NaN for fewer than two numbers or no degree. */
double ocdm__range_of_95_percent(size_t count, size_t degrees);

/*
 * The standard error of a method's mean over seeds, when all methods were run with the same seeds. What a seed does to all of
 * them is taken out: the deviation is that of the residuals after removing the means of methods and of seeds, with
 * (methods - 1) (seeds - 1) degrees of freedom, and is taken to be the same for all methods.
 *
 * values   methods x seeds, those of a method one after another
 *
 * NaN for fewer than two methods or seeds, and when a value is. O(methods seeds).
 */
double ocdm__paired_error(const double *values, size_t methods, size_t seeds);

/* The least difference between the means of two methods that is significant, whichever two are looked at and why: with equal
 * methods some difference exceeds it with probability 5 % (Tukey): ocdm__paired_error times the quantile of the studentised
 * range. With two methods it is half the width of the paired t interval. */
double ocdm__least_significant_difference(const double *values, size_t methods, size_t seeds);

/* A method among others in a column of numbers. */
typedef struct ocdm__judgement {
    bool competes;            /* the caller's choice: an upper bound does not; nor does what has no value */
    bool bold;                /* the best, or not significantly worse */
    ocdm__summary summary;    /* over the seeds that have a value */
    size_t other;             /* the best of the other methods; the number of methods when there is none */
    ocdm__summary difference; /* to it, over the seeds that all have; positive when this method's number is larger. Its interval
                                 holds together with those of all other pairs; NaN for a method that does not compete */
} ocdm__judgement;

/*
 * Judges methods that were run with the same seeds. A difference is significant when it exceeds
 * ocdm__least_significant_difference over all competing methods and the seeds that all of them have: the best one is picked
 * from the same numbers, so that an interval of one pair would find differences between equal methods far too often. Without
 * it, as with one seed, only the best itself is bold. Where every method would be bold nothing is.
 *
 * values      methods x seeds, those of a method one after another; NaN where a run has none
 * sign        1 when more is better, -1 when less is
 * room        scratch space for as many numbers
 * judgements  of each method; `competes` is set by the caller, and cleared for a method without a value
 */
void ocdm__judge(const double *values, size_t methods, size_t seeds, int sign, double *room, ocdm__judgement *judgements);

#endif
