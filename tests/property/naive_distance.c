/* The judge's distances: the definitions, in long double with libm's logarithms. */
#include "naive.h"

#include <math.h>

static bool in_scope(const struct naive_class *c, ocdm_scope scope)
{
    return c->seen > 0 && (scope == OCDM_SEEN_EVER || c->in_play);
}

/* ln p_i = rho ln n_i + ln w_i - ln Z, shifted so that rho = 16 does not overflow; -inf for a class out of scope. */
void naive_target(const struct naive *naive, ocdm_scope scope, long double *log_p)
{
    long double largest = -INFINITY;
    for (size_t c = 0; c < naive->class_count; c++) {
        log_p[c] = -INFINITY;
        if (in_scope(&naive->classes[c], scope))
            log_p[c] = (long double)naive->options.rho * logl((long double)naive->classes[c].seen) +
                       logl((long double)naive->classes[c].weight);
        if (log_p[c] > largest)
            largest = log_p[c];
    }
    long double z = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        if (in_scope(&naive->classes[c], scope))
            z += expl(log_p[c] - largest);
    for (size_t c = 0; c < naive->class_count; c++)
        log_p[c] -= largest + logl(z);
}

/* One class's part of Dist; m may be 0. */
static long double part(ocdm_distance distance, uint32_t m, uint64_t sum, long double log_p)
{
    long double q = (long double)m / (long double)sum;
    long double p = expl(log_p);
    switch (distance) {
    case OCDM_KL:
        return m > 0 ? q * (logl(q) - log_p) : 0;
    case OCDM_REVERSE_KL:
        return p * (log_p - logl((m > 0 ? (long double)m : 0.5L) / (long double)sum));
    case OCDM_L2:
        return (q - p) * (q - p);
    default:
        return fabsl(q - p) / 2;
    }
}

long double naive_distance_of(const struct naive *naive, ocdm_scope scope, const uint32_t *kept)
{
    long double log_p[NAIVE_CLASSES];
    naive_target(naive, scope, log_p);
    uint64_t sum = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        sum += kept[c];
    if (sum == 0)
        return INFINITY;
    long double total = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        if (in_scope(&naive->classes[c], scope))
            total += part(naive->options.distance, kept[c], sum, log_p[c]);
    return total;
}

long double naive_distance(const struct naive *naive, ocdm_scope scope)
{
    uint32_t kept[NAIVE_CLASSES];
    if (naive_count(naive, kept) == 0)
        return NAN;
    return naive_distance_of(naive, scope, kept);
}

long double naive_distance_without(const struct naive *naive, size_t v)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    for (size_t i = 0; i < naive->pool[v].label_count; i++)
        kept[naive->pool[v].label[i]]--;
    return naive_distance_of(naive, OCDM_IN_PLAY, kept);
}
