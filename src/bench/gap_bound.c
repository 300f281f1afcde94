/*
 * The bound. For any distributions q, p and r over the classes, with u_i = ln(r_i / p_i),
 *
 *     KL(q || p) = sum q_i u_i + KL(q || r) >= sum q_i u_i        (Gibbs)
 *
 * so the least value of sum q_i u_i over all choices is a bound, for every r. With q_i = m_i / S it is a ratio of two sums over
 * samples, and a ratio is minimised exactly over choices of b samples by Dinkelbach's method: for a guess t, delete the b
 * samples with the largest sum of (u_i - t) over their labels, take the ratio as the next guess. The best r is the distribution
 * at the minimum over fractions of samples; Frank-Wolfe steps lead there: r moves towards the choice just found.
 */
#include "bench/gap_bound.h"

#include <math.h>

#include "base/allocate.h"
#include "base/error.h"
#include "bench/gap_search.h"

enum { ROUNDS = 300, GUESSES = 30 };

struct relaxation {
    const ocdm__gap_pool *pool;
    size_t deletions;
    double *mixed; /* r, as class counts */
    double *u;     /* by class */
    uint32_t chosen[OCDM__GAP_DELETIONS];
};

static double set_sum(const struct relaxation *relaxation, uint32_t set, double guess)
{
    const ocdm__gap_pool *pool = relaxation->pool;
    double sum = 0;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        sum += relaxation->u[pool->set_label[j]] - guess;
    return sum;
}

/* Puts the samples with the largest sums into `chosen`: no label set more often than it has samples. */
static void choose(struct relaxation *relaxation, double guess)
{
    double best[OCDM__GAP_DELETIONS];
    size_t found = 0;
    for (uint32_t set = 0; set < relaxation->pool->set_count; set++) {
        double sum = set_sum(relaxation, set, guess);
        for (uint32_t copy = 0; copy < relaxation->pool->copies[set]; copy++) {
            if (found == relaxation->deletions && sum <= best[found - 1])
                break;
            size_t at = found < relaxation->deletions ? found++ : found - 1;
            for (; at > 0 && best[at - 1] < sum; at--) {
                best[at] = best[at - 1];
                relaxation->chosen[at] = relaxation->chosen[at - 1];
            }
            best[at] = sum;
            relaxation->chosen[at] = set;
        }
    }
}

/* The least ratio sum m_i u_i / S over all choices; the choice is in `chosen`. Guesses only fall, and the last one is the least
 * when it falls no more; should that not happen in time, there is no bound. */
static double least_ratio(struct relaxation *relaxation)
{
    const ocdm__gap_pool *pool = relaxation->pool;
    double all = 0;
    for (size_t c = 0; c < pool->class_count; c++)
        all += pool->count[c] > 0 ? pool->count[c] * relaxation->u[c] : 0;
    double ratio = all / (double)pool->total;
    for (int guess = 0; guess < GUESSES; guess++) {
        double above = all, below = (double)pool->total;
        choose(relaxation, ratio);
        for (size_t k = 0; k < relaxation->deletions; k++) {
            uint32_t set = relaxation->chosen[k];
            above -= set_sum(relaxation, set, 0);
            below -= (double)(pool->set_start[set + 1] - pool->set_start[set]);
        }
        if (below <= 0)
            return -INFINITY;
        if (guess > 0 && above / below >= ratio)
            return ratio;
        ratio = above / below;
    }
    return -INFINITY;
}

static void weigh_classes(struct relaxation *relaxation)
{
    double total = 0;
    for (size_t c = 0; c < relaxation->pool->class_count; c++)
        total += relaxation->mixed[c];
    for (size_t c = 0; c < relaxation->pool->class_count; c++)
        if (relaxation->mixed[c] > 0)
            relaxation->u[c] = log(relaxation->mixed[c] / total * (double)relaxation->pool->in_play);
}

/* r moves by `share` towards the distribution that the choice leaves; no class in play ever gets to 0. */
static void move_mixture(struct relaxation *relaxation, double share)
{
    const ocdm__gap_pool *pool = relaxation->pool;
    for (size_t c = 0; c < pool->class_count; c++)
        relaxation->mixed[c] += share * (pool->count[c] - relaxation->mixed[c]);
    for (size_t k = 0; k < relaxation->deletions; k++) {
        uint32_t set = relaxation->chosen[k];
        for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
            relaxation->mixed[pool->set_label[j]] -= share;
    }
}

ocdm_status ocdm__gap_bound(const ocdm__gap_pool *pool, size_t deletions, double *bound, ocdm_error *error)
{
    struct relaxation relaxation = {.pool = pool, .deletions = deletions};
    relaxation.mixed = ocdm__allocate(pool->class_count, sizeof *relaxation.mixed);
    relaxation.u = ocdm__allocate(pool->class_count, sizeof *relaxation.u);
    ocdm_status status = OCDM_OK;
    if (relaxation.mixed == NULL || relaxation.u == NULL) {
        status = ocdm__fail_memory(error, "a bound for the optimum");
    } else {
        double best = 0;
        for (size_t c = 0; c < pool->class_count; c++)
            relaxation.mixed[c] = pool->count[c];
        for (int round = 0; round < ROUNDS; round++) {
            weigh_classes(&relaxation);
            double ratio = least_ratio(&relaxation);
            best = ratio > best ? ratio : best;
            move_mixture(&relaxation, 2.0 / (round + 3));
        }
        *bound = best;
    }
    ocdm__release(relaxation.mixed);
    ocdm__release(relaxation.u);
    return status;
}
