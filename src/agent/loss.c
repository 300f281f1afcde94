/* The loss of one logit x with target t is max(x, 0) - x t + ln(1 + e^-|x|), and its gradient sigmoid(x) - t. */
#include "agent/loss.h"

#include <math.h>
#include <stdbool.h>

/* So many factors between 1 and 2 are multiplied before a logarithm is taken: one for all of them. */
enum { FACTORS = 32 };

/* A row as if it had no label; gradients of the sum, not of the mean. */
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

double ocdm__loss(const struct ocdm__targets *targets, const float *logits, float *gradients, size_t *bad_row)
{
    double total = 0, count = (double)targets->rows * (double)targets->classes;
    float share = (float)(1.0 / count);
    *bad_row = targets->rows;
    for (size_t row = 0; row < targets->rows; row++) {
        const float *x = logits + row * targets->classes;
        float *g = gradients + row * targets->classes;
        double sum = row_without_labels(x, g, targets->classes);
        for (size_t at = targets->starts[row]; at < targets->starts[row + 1]; at++) {
            uint32_t label = targets->labels[at];
            if (repeated(targets, row, at))
                continue;
            sum -= (double)x[label];
            g[label] -= 1.0f;
        }
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
