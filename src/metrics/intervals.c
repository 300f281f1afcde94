/*
 * Summaries of runs. The t quantile comes from the finite series that P(|t| <= x) has for whole degrees of freedom (Abramowitz
 * and Stegun 26.7.3, 26.7.4), whose terms are all positive, and a bisection; beyond MANY degrees from the expansion around the
 * normal quantile (26.7.5), whose first neglected term is then below 1e-15.
 */
#include "metrics/intervals.h"

#include <math.h>

#define PI 3.14159265358979323846
#define NORMAL_QUANTILE 1.95996398454005423552 /* of 0.975 */
#define MANY 1000

/* ---- the t quantile ------------------------------------------------------------------------------------------------- */

/* 1 + (1/2) x + (1 3)/(2 4) x^2 + ... when `odd` is 0, 1 + (2/3) x + (2 4)/(3 5) x^2 + ... when it is 1. */
static double series(double x, size_t terms, size_t odd)
{
    double term = 1, sum = 0;
    for (size_t i = 0; i < terms; i++) {
        sum += term;
        term *= x * (double)(2 * i + 1 + odd) / (double)(2 * i + 2 + odd);
    }
    return sum;
}

/* P(|t| <= x). */
static double probability_within(double x, size_t degrees)
{
    double n = (double)degrees;
    double cosine2 = n / (n + x * x), sine = x / sqrt(n + x * x);
    if (degrees % 2 == 0)
        return sine * series(cosine2, degrees / 2, 0);
    return 2 / PI * (atan(x / sqrt(n)) + sine * sqrt(cosine2) * series(cosine2, degrees / 2, 1));
}

/* Halves the interval until no double is between its ends. */
static double find_quantile(size_t degrees)
{
    double low = 1, high = 16; /* the quantile of one degree is 12.7, and more degrees have smaller ones */
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            return middle;
        if (probability_within(middle, degrees) < 0.95)
            low = middle;
        else
            high = middle;
    }
}

static double expanded_quantile(double degrees)
{
    double x = NORMAL_QUANTILE, x2 = x * x;
    double g1 = x * (x2 + 1) / 4;
    double g2 = x * ((5 * x2 + 16) * x2 + 3) / 96;
    double g3 = x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
    double g4 = x * ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / 92160;
    return x + (g1 + (g2 + (g3 + g4 / degrees) / degrees) / degrees) / degrees;
}

double ocdm__t_of_95_percent(size_t degrees)
{
    if (degrees == 0)
        return NAN;
    return degrees > MANY ? expanded_quantile((double)degrees) : find_quantile(degrees);
}

/* ---- summaries ------------------------------------------------------------------------------------------------------ */

/* The i-th number to sum up: a value, or the difference of a pair when there is a b. */
static double number_at(const double *a, const double *b, size_t i)
{
    return b ? a[i] - b[i] : a[i];
}

/* Two passes: squares of numbers that lie close together would lose their difference in one. */
static ocdm__summary summarise(const double *a, const double *b, size_t count)
{
    ocdm__summary summary = {count, NAN, NAN, NAN, NAN};
    double n = (double)count, sum = 0, squares = 0;
    if (count == 0)
        return summary;
    for (size_t i = 0; i < count; i++)
        sum += number_at(a, b, i);
    summary.mean = sum / n;
    if (count == 1)
        return summary;
    for (size_t i = 0; i < count; i++) {
        double off = number_at(a, b, i) - summary.mean;
        squares += off * off;
    }
    summary.deviation = sqrt(squares / (n - 1));
    double half = ocdm__t_of_95_percent(count - 1) * summary.deviation / sqrt(n);
    summary.low = summary.mean - half;
    summary.high = summary.mean + half;
    return summary;
}

ocdm__summary ocdm__summarise(const double *values, size_t count)
{
    return summarise(values, NULL, count);
}

ocdm__summary ocdm__summarise_pairs(const double *a, const double *b, size_t count)
{
    return summarise(a, b, count);
}
