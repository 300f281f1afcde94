/* The shape of what tests/make-golden-metrics writes. */
#ifndef OCDM_TESTS_METRICS_CASES_H
#define OCDM_TESTS_METRICS_CASES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics.h"

/* A test set and its scores; class c is of group c % GOLDEN_GROUPS. */
#define GOLDEN_GROUPS 3
struct golden_case {
    const char *name;
    size_t samples, classes;
    const float *logits;
    const uint64_t *starts;
    const uint32_t *labels;
    const ocdm__class_score *scores; /* by class */
    const ocdm__averages *averages;  /* of all classes, then of each group */
};

/* The 97.5 % quantile of Student's t. */
struct golden_quantile {
    size_t degrees;
    double value;
};

/* The 95 % quantile of the studentised range of so many numbers. */
struct golden_range {
    size_t count, degrees;
    double value;
};

/* Paired numbers, and their summaries. */
struct golden_pairs {
    size_t count;
    const double *a, *b;
    double a_mean, a_deviation;
    double mean, deviation, low, high; /* of a - b */
};

#endif
