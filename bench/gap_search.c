/* Groups samples by label set, deletes and restores them; only what one sample changes is recomputed. */
#include "bench/gap_search.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/logarithm.h"

static ocdm__gap_pool *allocate_pool(const ocdm__reference_pool *lists)
{
    ocdm__gap_pool *pool = ocdm__allocate(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    size_t samples = lists->sample_count;
    size_t labels = lists->label_start[samples];
    pool->set_start = ocdm__allocate(samples + 1, sizeof *pool->set_start);
    pool->set_label = ocdm__allocate(labels, sizeof *pool->set_label);
    pool->copies = ocdm__allocate(samples, sizeof *pool->copies);
    pool->set_of = ocdm__allocate(samples, sizeof *pool->set_of);
    pool->count = ocdm__allocate(lists->class_count, sizeof *pool->count);
    pool->step = ocdm__allocate(samples + 1, sizeof *pool->step);
    pool->ln = ocdm__allocate(labels + 1, sizeof *pool->ln);
    if (pool->set_start != NULL && pool->set_label != NULL && pool->copies != NULL && pool->set_of != NULL &&
        pool->count != NULL && pool->step != NULL && pool->ln != NULL)
        return pool;
    ocdm__gap_pool_destroy(pool);
    return NULL;
}

static void sort_labels(uint32_t *label, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && label[j - 1] > label[j]; j--) {
            uint32_t swapped = label[j];
            label[j] = label[j - 1];
            label[j - 1] = swapped;
        }
}

/* The set equal to these labels, a new one if need be. Plain search: pools are small and this is not what is measured. */
static uint32_t find_set(ocdm__gap_pool *pool, const uint32_t *label, size_t count)
{
    size_t end = pool->set_start[pool->set_count];
    uint32_t *candidate = pool->set_label + end;
    for (size_t j = 0; j < count; j++)
        candidate[j] = label[j];
    sort_labels(candidate, count);
    for (size_t s = 0; s < pool->set_count; s++)
        if (pool->set_start[s + 1] - pool->set_start[s] == count &&
            memcmp(pool->set_label + pool->set_start[s], candidate, count * sizeof *candidate) == 0)
            return (uint32_t)s;
    pool->set_start[++pool->set_count] = end + count;
    return (uint32_t)(pool->set_count - 1);
}

ocdm_status ocdm__gap_pool_create(const ocdm__reference_pool *lists, ocdm__gap_pool **pool, ocdm_error *error)
{
    ocdm__gap_pool *made = allocate_pool(lists);
    if (made == NULL)
        return ocdm__fail_memory(error, "a pool to search");
    for (size_t m = 1; m <= lists->sample_count; m++)
        made->step[m] = ocdm__nearest(ocdm__ln_step(m) * OCDM__GRID);
    for (size_t s = 1; s <= lists->label_start[lists->sample_count]; s++)
        made->ln[s] = ocdm__ln(s);
    for (size_t i = 0; i < lists->sample_count; i++) {
        size_t labels = lists->label_start[i + 1] - lists->label_start[i];
        made->set_of[i] = find_set(made, lists->label + lists->label_start[i], labels);
        ocdm__gap_restore(made, made->set_of[i]);
    }
    made->class_count = lists->class_count;
    for (size_t c = 0; c < lists->class_count; c++)
        made->in_play += made->count[c] > 0;
    *pool = made;
    return OCDM_OK;
}

void ocdm__gap_pool_destroy(ocdm__gap_pool *pool)
{
    if (pool == NULL)
        return;
    ocdm__release(pool->set_start);
    ocdm__release(pool->set_label);
    ocdm__release(pool->copies);
    ocdm__release(pool->set_of);
    ocdm__release(pool->count);
    ocdm__release(pool->step);
    ocdm__release(pool->ln);
    ocdm__release(pool);
}

void ocdm__gap_delete(ocdm__gap_pool *pool, uint32_t set)
{
    pool->copies[set]--;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        pool->sum -= pool->step[pool->count[pool->set_label[j]]--];
    pool->total -= pool->set_start[set + 1] - pool->set_start[set];
}

void ocdm__gap_restore(ocdm__gap_pool *pool, uint32_t set)
{
    pool->copies[set]++;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        pool->sum += pool->step[++pool->count[pool->set_label[j]]];
    pool->total += pool->set_start[set + 1] - pool->set_start[set];
}

/* With an equal target KL = (sum of m ln m) / S - ln S + ln C. */
static double distance_at(const ocdm__gap_pool *pool, int64_t sum, uint64_t total)
{
    return total == 0 ? INFINITY : (double)sum / (OCDM__GRID * (double)total) - pool->ln[total] + pool->ln[pool->in_play];
}

double ocdm__gap_distance(const ocdm__gap_pool *pool)
{
    return distance_at(pool, pool->sum, pool->total);
}

double ocdm__gap_distance_without(const ocdm__gap_pool *pool, uint32_t set)
{
    int64_t sum = pool->sum;
    for (size_t j = pool->set_start[set]; j < pool->set_start[set + 1]; j++)
        sum -= pool->step[pool->count[pool->set_label[j]]];
    return distance_at(pool, sum, pool->total - (pool->set_start[set + 1] - pool->set_start[set]));
}

/* ---- searches ------------------------------------------------------------------------------------------------------ */

/* Exhaustive and local search over distinct label sets. */

/* Distances closer than this are equal: far above the grid's rounding, far below any relevant gap. */
#define EQUAL 1e-11

struct search {
    size_t depth;
    uint32_t path[OCDM__GAP_DELETIONS];
    uint32_t best[OCDM__GAP_DELETIONS];
    double least;
    bool found;
};

/* Label sets in ascending order only: a choice is tried once, whatever the order of its deletions. */
static void descend(ocdm__gap_pool *pool, struct search *search, uint32_t first, size_t deletions)
{
    for (uint32_t set = first; set < pool->set_count; set++) {
        if (pool->copies[set] == 0)
            continue;
        search->path[search->depth++] = set;
        if (deletions > 1) {
            ocdm__gap_delete(pool, set);
            descend(pool, search, set, deletions - 1);
            ocdm__gap_restore(pool, set);
        } else {
            double distance = ocdm__gap_distance_without(pool, set);
            if (!search->found || distance < search->least) {
                search->least = distance;
                search->found = true;
                memcpy(search->best, search->path, sizeof search->best);
            }
        }
        search->depth--;
    }
}

double ocdm__gap_best(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets)
{
    struct search search = {.depth = 0};
    descend(pool, &search, 0, deletions);
    memcpy(sets, search.best, deletions * sizeof *sets);
    return search.least;
}

/* Puts the deleted samples at positions a and b (one sample when they are equal) back and deletes the best instead. Whether
 * that is better than before. */
static bool exchange(ocdm__gap_pool *pool, uint32_t *sets, size_t a, size_t b)
{
    double before = ocdm__gap_distance(pool);
    uint32_t better[2];
    ocdm__gap_restore(pool, sets[a]);
    if (a != b)
        ocdm__gap_restore(pool, sets[b]);
    bool improved = ocdm__gap_best(pool, a == b ? 1 : 2, better) < before - EQUAL;
    if (improved) {
        sets[a] = better[0];
        sets[b] = better[a != b];
    }
    ocdm__gap_delete(pool, sets[a]);
    if (a != b)
        ocdm__gap_delete(pool, sets[b]);
    return improved;
}

double ocdm__gap_exchange(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets)
{
    bool improved = true;
    while (improved) {
        improved = false;
        for (size_t a = 0; a < deletions; a++)
            improved |= exchange(pool, sets, a, a);
        for (size_t a = 0; a < deletions && !improved; a++)
            for (size_t b = a + 1; b < deletions; b++)
                improved |= exchange(pool, sets, a, b);
    }
    return ocdm__gap_distance(pool);
}

/* ---- the bound ----------------------------------------------------------------------------------------------------- */

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
 * when it stops falling; if that does not happen in time, there is no bound. */
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
