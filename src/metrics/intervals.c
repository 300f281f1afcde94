/*
 * Summaries of runs. The t quantile comes from the finite series that P(|t| <= x) has for whole degrees of freedom (Abramowitz
 * and Stegun 26.7.3, 26.7.4), whose terms are all positive, and a bisection; beyond MANY degrees from the expansion around the
 * normal quantile (26.7.5), whose first neglected term is then below 1e-15.
 */
#include "metrics/intervals.h"

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

/* From P(|t| <= x), halving the interval until no double is between its ends. */
double ocdm__t_of_95_percent(size_t degrees)
{
    double n = (double)degrees, low = 1, high = 16; /* one degree has 12.7, and more degrees have less */
    if (degrees == 0)
        return NAN;
    if (degrees > MANY) {
        double x = NORMAL_QUANTILE, x2 = x * x;
        double g1 = x * (x2 + 1) / 4;
        double g2 = x * ((5 * x2 + 16) * x2 + 3) / 96;
        double g3 = x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
        double g4 = x * ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / 92160;
        return x + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
    }
    for (;;) {
        double x = low + (high - low) / 2;
        if (x <= low || x >= high)
            return x;
        double cosine2 = n / (n + x * x), sine = x / sqrt(n + x * x);
        double within = degrees % 2 == 0
                            ? sine * series(cosine2, degrees / 2, 0)
                            : 2 / PI * (atan(x / sqrt(n)) + sine * sqrt(cosine2) * series(cosine2, degrees / 2, 1));
        if (within < 0.95)
            low = x;
        else
            high = x;
    }
}

/* ---- the studentised range ------------------------------------------------------------------------------------------ */

/*
 * P(range of k normals <= w) = k * integral of phi(z) (Phi(z) - Phi(z - w))^(k - 1), and the studentised range averages that
 * over w = q s, where s^2 is chi^2 / n. Both integrands are smooth and vanish at both ends, so that equal steps converge
 * exponentially; s is integrated over its logarithm.
 */
#define NORMAL_END 9.0
#define NORMAL_STEPS 90
#define DEVIATION_STEPS 200

/* phi(z) and Phi(z) at the steps, which every integral needs. */
struct normal {
    double density[NORMAL_STEPS + 1], below[NORMAL_STEPS + 1];
};

#define NORMAL_STEP (2 * NORMAL_END / NORMAL_STEPS)

static double normal_at(size_t i)
{
    return -NORMAL_END + NORMAL_STEP * (double)i;
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double range_within(const struct normal *normal, double w, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i <= NORMAL_STEPS; i++) {
        double within = normal->below[i] - normal_below(normal_at(i) - w);
        sum += normal->density[i] * pow(within > 0 ? within : 0, (double)count - 1);
    }
    return (double)count * sum * NORMAL_STEP;
}

/* The density of u = ln s is proportional to exp(n u - n e^(2u) / 2), largest at 0; the sum over it normalises. */
static double studentised_within(const struct normal *normal, double q, size_t count, size_t degrees)
{
    double n = (double)degrees, width = 9 / sqrt(2 * n), low = -width - 25 / n;
    double step = (width - low) / DEVIATION_STEPS, sum = 0, all = 0;
    for (size_t i = 0; i <= DEVIATION_STEPS; i++) {
        double u = low + step * (double)i;
        double density = exp(n * u - n * expm1(2 * u) / 2);
        all += density;
        sum += density > 1e-18 ? density * range_within(normal, q * exp(u), count) : 0;
    }
    return sum / all;
}

/* False position with the Illinois rule: an end that stays twice has its value halved, so that both ends converge. */
double ocdm__range_of_95_percent(size_t count, size_t degrees)
{
    struct normal normal;
    double low = 0, high = 4, at_low = -0.95, at_high;
    if (count < 2 || degrees == 0)
        return NAN;
    for (size_t i = 0; i <= NORMAL_STEPS; i++) {
        normal.density[i] = exp(-normal_at(i) * normal_at(i) / 2) / sqrt(2 * PI);
        normal.below[i] = normal_below(normal_at(i));
    }
    while ((at_high = studentised_within(&normal, high, count, degrees) - 0.95) < 0) {
        low = high;
        at_low = at_high;
        high *= 2;
    }
    for (double last = 0; high - low > 1e-9 * high;) {
        double middle = (low * at_high - high * at_low) / (at_high - at_low);
        double at_middle = studentised_within(&normal, middle, count, degrees) - 0.95;
        if (fabs(at_middle) < 1e-12)
            return middle;
        bool above = at_middle > 0;
        if (above) {
            high = middle;
            at_high = at_middle;
            at_low /= last > 0 ? 2 : 1;
        } else {
            low = middle;
            at_low = at_middle;
            at_high /= last < 0 ? 2 : 1;
        }
        last = above ? 1 : -1;
    }
    return low + (high - low) / 2;
}

static double mean_of(const double *values, size_t count, size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i * stride];
    return sum / (double)count;
}

double ocdm__paired_error(const double *values, size_t methods, size_t seeds)
{
    double squares = 0;
    if (methods < 2 || seeds < 2)
        return NAN;
    double all = mean_of(values, methods * seeds, 1);
    for (size_t method = 0; method < methods; method++) {
        double of_method = mean_of(values + method * seeds, seeds, 1);
        for (size_t seed = 0; seed < seeds; seed++) {
            double off = values[method * seeds + seed] - of_method - mean_of(values + seed, methods, seeds) + all;
            squares += off * off;
        }
    }
    return sqrt(squares / (double)((methods - 1) * (seeds - 1)) / (double)seeds);
}

double ocdm__least_significant_difference(const double *values, size_t methods, size_t seeds)
{
    if (methods < 2 || seeds < 2)
        return NAN;
    return ocdm__range_of_95_percent(methods, (methods - 1) * (seeds - 1)) * ocdm__paired_error(values, methods, seeds);
}

/* ---- summaries ------------------------------------------------------------------------------------------------------ */

ocdm__summary ocdm__summarise(const double *values, size_t count)
{
    return ocdm__summarise_pairs(values, NULL, count);
}

/* Two passes: squares of numbers that lie close together would lose their difference in one. */
ocdm__summary ocdm__summarise_pairs(const double *a, const double *b, size_t count)
{
    ocdm__summary summary = {count, NAN, NAN, NAN, NAN};
    double n = (double)count, sum = 0, squares = 0;
    if (count == 0)
        return summary;
    for (size_t i = 0; i < count; i++)
        sum += b != NULL ? a[i] - b[i] : a[i];
    summary.mean = sum / n;
    if (count == 1)
        return summary;
    for (size_t i = 0; i < count; i++) {
        double off = (b != NULL ? a[i] - b[i] : a[i]) - summary.mean;
        squares += off * off;
    }
    summary.deviation = sqrt(squares / (n - 1));
    double half = ocdm__t_of_95_percent(count - 1) * summary.deviation / sqrt(n);
    summary.low = summary.mean - half;
    summary.high = summary.mean + half;
    return summary;
}

/* ---- judging ---------------------------------------------------------------------------------------------------------- */

/* What is judged. */
struct column {
    const double *values;
    size_t methods, seeds;
    int sign;
    const ocdm__judgement *judgements;
};

/* Whether a seed can be compared: all competing methods have a value for it. */
static bool all_have(const struct column *column, size_t seed)
{
    for (size_t i = 0; i < column->methods; i++)
        if (column->judgements[i].competes && isnan(column->values[i * column->seeds + seed]))
            return false;
    return true;
}

/* Over the seeds that all have. */
static ocdm__summary difference_of(const struct column *column, size_t method, size_t other, double least)
{
    ocdm__summary difference = {0, NAN, NAN, NAN, NAN};
    double sum = 0;
    for (size_t seed = 0; seed < column->seeds; seed++) {
        double value = column->values[method * column->seeds + seed] - column->values[other * column->seeds + seed];
        if (isnan(value) || !all_have(column, seed))
            continue;
        sum += value;
        difference.count++;
    }
    if (difference.count == 0)
        return difference;
    difference.mean = sum / (double)difference.count;
    if (column->judgements[method].competes) {
        difference.low = difference.mean - least;
        difference.high = difference.mean + least;
    }
    return difference;
}

/* The best competing method except `but`, the first of equals; the number of methods if there is none. */
static size_t best_but(const struct column *column, size_t but)
{
    const ocdm__judgement *judgements = column->judgements;
    size_t best = column->methods;
    for (size_t i = 0; i < column->methods; i++)
        if (i != but && judgements[i].competes &&
            (best == column->methods ||
             column->sign * judgements[i].summary.mean > column->sign * judgements[best].summary.mean))
            best = i;
    return best;
}

void ocdm__judge(const double *values, size_t methods, size_t seeds, int sign, double *room, ocdm__judgement *judgements)
{
    const struct column column = {values, methods, seeds, sign, judgements};
    size_t rivals = 0, bold = 0, used = 0;
    for (size_t i = 0; i < methods; i++) {
        size_t count = 0;
        for (size_t seed = 0; seed < seeds; seed++)
            if (!isnan(values[i * seeds + seed]))
                room[count++] = values[i * seeds + seed];
        judgements[i] = (ocdm__judgement){.competes = judgements[i].competes && count > 0,
                                          .summary = ocdm__summarise(room, count),
                                          .other = methods,
                                          .difference = ocdm__summarise(room, 0)};
        rivals += judgements[i].competes;
    }
    for (size_t i = 0; i < methods; i++)
        for (size_t seed = 0; judgements[i].competes && seed < seeds; seed++)
            if (all_have(&column, seed))
                room[used++] = values[i * seeds + seed];
    double least = ocdm__least_significant_difference(room, rivals, rivals > 0 ? used / rivals : 0);
    size_t best = best_but(&column, methods);
    for (size_t i = 0; i < methods; i++) {
        judgements[i].bold = judgements[i].competes && (judgements[i].summary.mean == judgements[best].summary.mean ||
                                                        fabs(difference_of(&column, best, i, least).mean) <= least);
        bold += judgements[i].bold;
        judgements[i].other = best_but(&column, i);
        if (judgements[i].other < methods)
            judgements[i].difference = difference_of(&column, i, judgements[i].other, least);
    }
    for (size_t i = 0; bold == rivals && i < methods; i++)
        judgements[i].bold = false;
}
