/*
 * What a network learns by: its settings, the learning rate and the constants of a step, and the losses.
 *
 * Losses are of logits against label sets, with their gradients. Every loss is a sum of terms, one for each sample and class,
 * and is divided by the number of all terms, whatever their weights are. The terms of classes that are not known are 0.
 */
#include "agent/network.h"
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

/* The classes of a row that are known, as bits; NULL: all. */
static const uint8_t *known_of(const ocdm__batch *batch, size_t classes, size_t row)
{
    return batch->known != NULL ? batch->known + row * ocdm__bits_size(classes) : NULL;
}

/* A row in which no term is weighted: the sum of the terms below, with one logarithm for many. The logit of a class that is not
 * known becomes minus infinity, which has no loss and no gradient; logits that are not finite still make the sum so. */
static double plain_row(const ocdm__batch *batch, size_t classes, size_t row, const float *x, float *gradients)
{
    const uint8_t *known = known_of(batch, classes, row);
    double unknown = 0;
    for (size_t i = 0; known != NULL && i < classes; i++) {
        bool counts = ocdm__bits_have(known, i);
        gradients[i] = counts ? x[i] : -INFINITY;
        unknown += counts ? 0 : (double)(x[i] - x[i]);
    }
    double sum = row_without_labels(known != NULL ? gradients : x, gradients, classes);
    sum = known != NULL ? unknown + sum : sum;
    for (size_t at = batch->starts[row]; at < batch->starts[row + 1]; at++) {
        uint32_t label = batch->labels[at];
        size_t before = batch->starts[row];
        while (batch->labels[before] != label)
            before++;
        if (before < at) /* a repeated label counts once */
            continue;
        sum -= (double)x[label];
        gradients[label] -= 1.0f;
    }
    return sum;
}

/* ---- terms ------------------------------------------------------------------------------------------------------------ */

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

/* The loss whose gradient is p^(1 + focal), as a series in p: for p up to one half. */
static double focal_series(double p, double focal)
{
    double power = pow(p, focal), sum = 0;
    for (int k = 1; k < MOST_TERMS && power > SMALLEST_TERM; k++) {
        power *= p;
        sum += power / (focal + k);
    }
    return sum;
}

/* The same for p near 1, where the series would be slow, up to a constant that joins the two. */
static double focal_remainder(double u, double focal)
{
    double coefficient = -1, sum = 0;
    for (int k = 1; k < MOST_TERMS && fabs(coefficient) > SMALLEST_TERM; k++) {
        coefficient *= -u * (focal - k + 1) / k;
        sum += coefficient / k;
    }
    return sum;
}

/* How a negative is judged: the power, and its constant. */
struct focus {
    double power, constant;
};

/* -ln(1 - p), or its focal form. */
static struct term negative(double x, const struct focus *focus)
{
    if (focus->power == 0)
        return (struct term){softplus(x), sigmoid(x)};
    double p = sigmoid(x);
    double loss =
        x <= 0 ? focal_series(p, focus->power) : softplus(x) + focal_remainder(sigmoid(-x), focus->power) + focus->constant;
    return (struct term){loss, p * pow(p, focus->power)};
}

/* -ln p */
static struct term positive(double x)
{
    return (struct term){softplus(-x), -sigmoid(-x)};
}

/* Asymmetric loss (Ridnik et al. 2021) with their settings for COCO: -q^4 ln(1 - q) with q = max(p - 0.05, 0). */
static struct term asymmetric_negative(double x, const struct focus *focus)
{
    (void)focus; /* the power is part of the loss */
    const double margin = 0.05;
    double p = sigmoid(x), q = p > margin ? p - margin : 0, q3 = q * q * q;
    double loss = -q3 * q * log1p(-q);
    double by_q = -4 * q3 * log1p(-q) + q3 * q / (1 - q);
    return (struct term){loss, by_q * p * sigmoid(-x)};
}

/* ---- the losses ------------------------------------------------------------------------------------------------------- */

/* The columns: name; the terms of labels and of other classes; a faster sum of a row in which no term is weighted, or NULL;
 * whether --focal changes the terms of other classes. To add a loss, add a row and what it names. */
#define LOSSES(ROW)                                                                                                            \
    ROW("bce", positive, negative, plain_row, true)                                                                            \
    ROW("asl", positive, asymmetric_negative, NULL, false)                                                                     \
    ROW("softmargin", positive, negative, plain_row, true)

#define NAME(name, ...) name,
const char *const ocdm__loss_names[] = {LOSSES(NAME) NULL};

#define ENTRY(name, ...) {__VA_ARGS__},
static const struct loss {
    struct term (*positive)(double x);
    struct term (*negative)(double x, const struct focus *focus);
    double (*plain_row)(const ocdm__batch *batch, size_t classes, size_t row, const float *x, float *gradients);
    bool takes_focal;
} losses[] = {LOSSES(ENTRY)};

/* ---- all rows --------------------------------------------------------------------------------------------------------- */

/* What all rows are judged by. */
struct judge {
    const struct loss *loss;
    struct focus focus;
    const ocdm__batch *batch;
    size_t classes;
};

/* Labels are marked in `gradients` first, so that a repeated one counts once. `weights` are of the classes; NULL: all are 1. */
static double weighted_row(const struct judge *judge, size_t row, const float *weights, const float *x, float *gradients)
{
    const ocdm__batch *batch = judge->batch;
    const uint8_t *known = known_of(batch, judge->classes, row);
    double sum = 0;
    memset(gradients, 0, judge->classes * sizeof *gradients);
    for (size_t at = batch->starts[row]; at < batch->starts[row + 1]; at++)
        gradients[batch->labels[at]] = 1;
    for (size_t i = 0; i < judge->classes; i++) {
        struct term term =
            gradients[i] > 0 ? judge->loss->positive((double)x[i]) : judge->loss->negative((double)x[i], &judge->focus);
        double weight = !ocdm__bits_have(known, i) ? 0 : weights != NULL ? (double)weights[i] : 1;
        gradients[i] = (float)(weight * term.slope);
        sum += weight * term.loss + (double)(x[i] - x[i]); /* not a number unless the logit is finite: asl is bounded */
    }
    return sum;
}

/* Adds the squared distances to the logits that a sample once had, as dark experience replay does; of known classes only. */
static double add_dark(const struct judge *judge, double weight, size_t row, const float *x, float *gradients)
{
    const float *once = judge->batch->dark + (row - judge->batch->fresh) * judge->classes;
    const uint8_t *known = known_of(judge->batch, judge->classes, row);
    double sum = 0;
    for (size_t i = 0; i < judge->classes; i++) {
        if (!ocdm__bits_have(known, i))
            continue;
        double apart = (double)x[i] - (double)once[i];
        sum += weight * apart * apart;
        gradients[i] += (float)(2 * weight * apart);
    }
    return sum;
}

/* The weights of samples of the stream: `negatives` for classes that none of them has, 1 for the others; times those of all
 * samples. */
static const float *weigh_absent(const ocdm__batch *batch, double negatives, size_t classes, float *weights)
{
    if (negatives == 1 || batch->fresh == 0)
        return batch->class_weights;
    for (size_t i = 0; i < classes; i++)
        weights[i] = 0;
    for (size_t at = batch->starts[0]; at < batch->starts[batch->fresh]; at++)
        weights[batch->labels[at]] = 1;
    for (size_t i = 0; i < classes; i++) {
        double weight = weights[i] > 0 ? 1 : negatives;
        weights[i] = (float)(batch->class_weights != NULL ? weight * (double)batch->class_weights[i] : weight);
    }
    return weights;
}

/* Row by row. Rows of samples of the stream have weights of their own, those of replayed samples the class weights alone. */
double ocdm__loss(const ocdm__loss_rule *rule, const ocdm__batch *batch, size_t classes, const struct ocdm__pass_room *room,
                  size_t *bad)
{
    /* What joins the two halves at x = 0. */
    const struct judge judge = {
        &losses[rule->kind],
        {rule->focal, (rule->focal > 0 ? focal_series(0.5, rule->focal) - softplus(0) - focal_remainder(0.5, rule->focal) : 0)},
        batch,
        classes};
    const float *fresh_weights = weigh_absent(batch, rule->negatives, classes, room->fresh_weights);
    bool plain = judge.loss->plain_row != NULL && rule->focal == 0 && fresh_weights == NULL && batch->class_weights == NULL;
    double total = 0, count = (double)batch->count * (double)classes;
    float share = (float)(1.0 / count);
    *bad = batch->count;
    for (size_t row = 0; row < batch->count; row++) {
        const float *x = room->logits + row * classes, *weights = row < batch->fresh ? fresh_weights : batch->class_weights;
        float *g = room->logit_gradients + row * classes;
        double sum = plain ? judge.loss->plain_row(batch, classes, row, x, g) : weighted_row(&judge, row, weights, x, g);
        room->row_losses[row] = sum / (double)classes;
        if (batch->dark != NULL && row >= batch->fresh)
            sum += add_dark(&judge, rule->dark, row, x, g);
        for (size_t i = 0; i < classes; i++)
            g[i] *= share;
        if (!isfinite(sum)) {
            *bad = row;
            return sum;
        }
        total += sum;
    }
    return total / count;
}

/* ---- settings, and what they make of a step ------------------------------------------------------------------------- */

ocdm__network_settings ocdm__network_settings_default(void)
{
    return (ocdm__network_settings){.learning_rate = 1e-4, .epsilon = 1e-4, .loss = {.negatives = 1}, .threads = 1};
}

/* What a row of a setting cannot say, because it takes two. */
ocdm_status ocdm__network_settings_check(const ocdm__network_settings *settings, ocdm_error *error)
{
    bool cosine = settings->lr_schedule == OCDM__LR_COSINE;
    if (settings->optimiser == OCDM__OPTIMISER_ADAM && settings->weight_decay > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--optimiser adamw has it", "adam has no weight decay");
    if (settings->optimiser == OCDM__OPTIMISER_ADAMW && settings->weight_decay == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as --weight-decay 0.01", "adamw without weight decay is adam");
    if (cosine != (settings->horizon > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--schedule cosine --horizon STEPS",
                          cosine ? "the cosine schedule needs a horizon" : "a horizon without the cosine schedule");
    if (settings->loss.focal > 0 && !losses[settings->loss.kind].takes_focal)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --focal out", "the loss %s has a focal power of its own",
                          ocdm__loss_names[settings->loss.kind]);
    return OCDM_OK;
}

double ocdm__learning_rate(const ocdm__network_settings *settings, uint64_t step)
{
    double rate = settings->learning_rate, t = (double)step;
    if (settings->lr_schedule == OCDM__LR_COSINE)
        rate *= 0.5 * (1 + cos(acos(-1) * fmin(1, (t - 1) / (double)settings->horizon)));
    return step < settings->warmup ? rate * t / (double)settings->warmup : rate;
}

/* Adam's corrections for its first steps depend on the step alone, so they are computed once for all weights. */
struct ocdm__adam ocdm__step_of(const ocdm__network_settings *settings, uint64_t step)
{
    double rate = ocdm__learning_rate(settings, step), t = (double)step;
    bool sgd = settings->optimiser == OCDM__OPTIMISER_SGD;
    return (struct ocdm__adam){.step_size = (float)(sgd ? rate : rate / (1.0 - pow(0.9, t))),
                               .root_scale = (float)(1.0 / sqrt(1.0 - pow(0.999, t))),
                               .epsilon = (float)settings->epsilon,
                               .clip = (float)settings->clip,
                               .decay = sgd ? 0 : (float)(rate * settings->weight_decay),
                               .sgd = sgd,
                               .momentum = (float)settings->momentum,
                               .penalty = (float)settings->weight_decay};
}
