/*
 * Losses of logits against label sets, and their gradients. Every loss is a sum of terms, one for each sample and class, and is
 * divided by the number of all terms, whatever their weights are. The terms of classes that are not known are 0.
 */
#include <math.h>
#include <string.h>

#include "agent/agent_parts.h"
#include "base/bytes.h"

/* ---- plain binary cross entropy --------------------------------------------------------------------------------------- */

/* The loss of one logit x with target t is max(x, 0) - x t + ln(1 + e^-|x|), and its gradient sigmoid(x) - t. */

/* The number of factors between 1 and 2 that are multiplied before one logarithm is taken of the product. */
enum { FACTORS = 32 };

/* The loss of a row as if it had no label, with the gradients of the sum, not of the mean. Logits and gradients may be the same
 * array. */
static double row_without_labels(const float *logits, float *gradients, size_t classes)
{
    double sum = 0;
    for (size_t start = 0; start < classes; start += FACTORS) {
        size_t end = classes - start < FACTORS ? classes : start + FACTORS;
        double product = 1;
        for (size_t i = start; i < end; i++) {
            float x = logits[i], e = expf(-fabsf(x));
            product *= 1.0 + (double)e;
            sum += x > 0 ? (double)x : 0;
            gradients[i] = (x > 0 ? 1.0f : e) / (1.0f + e);
            sum += x == x ? 0 : (double)x;
        }
        sum += log(product);
    }
    return sum;
}

/* Whether labels[at] has come before in its row. */
static bool repeated(const struct ocdm__targets *targets, size_t row, size_t at)
{
    for (size_t i = targets->starts[row]; i < at; i++)
        if (targets->labels[i] == targets->labels[at])
            return true;
    return false;
}

/* The classes of a row that are known, as bits; NULL: all. */
static const uint8_t *known_of(const struct ocdm__targets *targets, size_t row)
{
    return targets->known != NULL ? targets->known + row * ocdm__bits_size(targets->classes) : NULL;
}

/* A logit of minus infinity has no loss and no gradient. Logits that are not finite still make the sum so. */
static double masked_row_without_labels(const struct ocdm__targets *targets, size_t row, const float *x, float *gradients)
{
    const uint8_t *known = known_of(targets, row);
    double unknown = 0;
    for (size_t i = 0; i < targets->classes; i++) {
        bool counts = ocdm__bits_have(known, i);
        gradients[i] = counts ? x[i] : -INFINITY;
        unknown += counts ? 0 : (double)(x[i] - x[i]);
    }
    return unknown + row_without_labels(gradients, gradients, targets->classes);
}

static double plain_row(const struct ocdm__targets *targets, size_t row, const float *x, float *gradients)
{
    double sum = targets->known != NULL ? masked_row_without_labels(targets, row, x, gradients)
                                        : row_without_labels(x, gradients, targets->classes);
    for (size_t at = targets->starts[row]; at < targets->starts[row + 1]; at++) {
        uint32_t label = targets->labels[at];
        if (repeated(targets, row, at))
            continue;
        sum -= (double)x[label];
        gradients[label] -= 1.0f;
    }
    return sum;
}

/* ---- the terms of all losses ------------------------------------------------------------------------------------------ */

/* ln(1 + e^x) */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double sigmoid(double x)
{
    double e = exp(-fabs(x));
    return (x > 0 ? 1 : e) / (1 + e);
}

/* The loss of one logit and its derivative. */
struct term {
    double loss, slope;
};

/*
 * Focal negatives: the derivative is p^(1+G) with p = sigmoid(x), so the loss is the integral of q^G / (1 - q) from 0 to p. For
 * x <= 0 that is the series of p^(G+k) / (G+k), k from 1. For x > 0, with u = 1 - p, it is softplus(x) + T(u) + a constant,
 * where T(u) is the sum of (-1)^(k+1) binomial(G, k) u^k / k. Both converge at least as fast as powers of 1/2.
 */
enum { MOST_TERMS = 200 };
#define SMALLEST_TERM 1e-18

static double focal_series(double p, double focal)
{
    double power = pow(p, focal), sum = 0;
    for (int k = 1; k < MOST_TERMS && power > SMALLEST_TERM; k++) {
        power *= p;
        sum += power / (focal + k);
    }
    return sum;
}

static double focal_remainder(double u, double focal)
{
    double coefficient = -1, sum = 0;
    for (int k = 1; k < MOST_TERMS && fabs(coefficient) > SMALLEST_TERM; k++) {
        coefficient *= -u * (focal - k + 1) / k;
        sum += coefficient / k;
    }
    return sum;
}

static struct term focal_negative(double x, double focal, double constant)
{
    double p = sigmoid(x);
    double loss = x <= 0 ? focal_series(p, focal) : softplus(x) + focal_remainder(sigmoid(-x), focal) + constant;
    return (struct term){loss, p * pow(p, focal)};
}

/* What joins the two halves at x = 0. */
static double focal_constant(double focal)
{
    return focal_series(0.5, focal) - softplus(0) - focal_remainder(0.5, focal);
}

/* Asymmetric loss (Ridnik et al. 2021) with their settings for COCO: -q^4 ln(1 - q) with q = max(p - 0.05, 0). */
static struct term asymmetric_negative(double x)
{
    const double margin = 0.05;
    double p = sigmoid(x), q = p > margin ? p - margin : 0, q3 = q * q * q;
    double loss = -q3 * q * log1p(-q);
    double by_q = -4 * q3 * log1p(-q) + q3 * q / (1 - q);
    return (struct term){loss, by_q * p * sigmoid(-x)};
}

/* A rule with the constant of its focal half. */
struct rule {
    const ocdm__loss_rule *rule;
    double focal_constant;
};

static struct term negative(const struct rule *rule, double x)
{
    if (rule->rule->kind == OCDM__LOSS_ASL)
        return asymmetric_negative(x);
    if (rule->rule->focal > 0)
        return focal_negative(x, rule->rule->focal, rule->focal_constant);
    return (struct term){softplus(x), sigmoid(x)};
}

static struct term positive(double x)
{
    return (struct term){softplus(-x), -sigmoid(-x)};
}

/* Labels are marked in `gradients` first, so that a repeated one counts once. */
static double weighted_row(const struct ocdm__targets *targets, const struct rule *rule, size_t row, const float *x,
                           float *gradients)
{
    const float *weights = row < targets->fresh ? targets->fresh_weights : targets->class_weights;
    const uint8_t *known = known_of(targets, row);
    double sum = 0;
    memset(gradients, 0, targets->classes * sizeof *gradients);
    for (size_t at = targets->starts[row]; at < targets->starts[row + 1]; at++)
        gradients[targets->labels[at]] = 1;
    for (size_t i = 0; i < targets->classes; i++) {
        struct term term = gradients[i] > 0 ? positive((double)x[i]) : negative(rule, (double)x[i]);
        double weight = !ocdm__bits_have(known, i) ? 0 : weights != NULL ? (double)weights[i] : 1;
        gradients[i] = (float)(weight * term.slope);
        sum += weight * term.loss + (double)(x[i] - x[i]); /* not a number unless the logit is finite: asl is bounded */
    }
    return sum;
}

/* Adds the squared distances to the logits that a sample once had, as dark experience replay does; of known classes only. */
static double add_dark(const struct ocdm__targets *targets, double weight, size_t row, const float *x, float *gradients)
{
    const float *once = targets->dark + (row - targets->fresh) * targets->classes;
    const uint8_t *known = known_of(targets, row);
    double sum = 0;
    for (size_t i = 0; i < targets->classes; i++) {
        if (!ocdm__bits_have(known, i))
            continue;
        double apart = (double)x[i] - (double)once[i];
        sum += weight * apart * apart;
        gradients[i] += (float)(2 * weight * apart);
    }
    return sum;
}

/* ---- all rows --------------------------------------------------------------------------------------------------------- */

static bool is_plain(const struct ocdm__targets *targets, const ocdm__loss_rule *rule)
{
    return rule->kind != OCDM__LOSS_ASL && rule->focal == 0 && targets->fresh_weights == NULL && targets->class_weights == NULL;
}

double ocdm__loss(const struct ocdm__targets *targets, const ocdm__loss_rule *rule, const float *logits, float *gradients,
                  size_t *bad_row)
{
    const struct rule prepared = {rule, rule->focal > 0 ? focal_constant(rule->focal) : 0};
    double total = 0, count = (double)targets->rows * (double)targets->classes;
    float share = (float)(1.0 / count);
    bool plain = is_plain(targets, rule);
    *bad_row = targets->rows;
    for (size_t row = 0; row < targets->rows; row++) {
        const float *x = logits + row * targets->classes;
        float *g = gradients + row * targets->classes;
        double sum = plain ? plain_row(targets, row, x, g) : weighted_row(targets, &prepared, row, x, g);
        if (targets->row_losses != NULL)
            targets->row_losses[row] = sum / (double)targets->classes;
        if (targets->dark != NULL && row >= targets->fresh)
            sum += add_dark(targets, rule->dark, row, x, g);
        for (size_t i = 0; i < targets->classes; i++)
            g[i] *= share;
        if (!isfinite(sum)) {
            *bad_row = row;
            return sum;
        }
        total += sum;
    }
    return total / count;
}

void ocdm__loss_weigh_absent(const struct ocdm__targets *targets, double negatives, float *weights)
{
    for (size_t i = 0; i < targets->classes; i++)
        weights[i] = 0;
    for (size_t at = targets->starts[0]; at < targets->starts[targets->fresh]; at++)
        weights[targets->labels[at]] = 1;
    for (size_t i = 0; i < targets->classes; i++) {
        double weight = weights[i] > 0 ? 1 : negatives;
        weights[i] = (float)(targets->class_weights != NULL ? weight * (double)targets->class_weights[i] : weight);
    }
}
