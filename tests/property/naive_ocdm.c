/*
 * The judge's OCDM with KL, decided in integers: class weights rounded to multiples of 2^-32, A summed from the rounded steps
 * one by one, the winners of each cardinality compared by their KL rounded to 2^-40.
 */
#include "../test.h"
#include "naive.h"

#include "base/allocate.h"
#include "base/logarithm.h"

#include <math.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#else
typedef int64_t wide; /* enough for memories of the size that tests have */
#endif

/* f(m) - f(m - 1) with f(m) = m ln m, as a multiple of 2^-32; written down once it has been worked out. */
static int64_t rounded_step(uint32_t m)
{
    static int64_t known[4096];
    if (m >= 4096)
        return llround(ocdm__ln_step(m) * 0x1p32);
    if (m > 1 && known[m] == 0)
        known[m] = llround(ocdm__ln_step(m) * 0x1p32);
    return known[m];
}

/* rho ln n_i + ln w_i, each as a multiple of 2^-32. */
static int64_t rounded_tilt(const struct naive *naive, size_t c)
{
    return llround(naive->options.rho * ocdm__ln(naive->classes[c].seen) * 0x1p32) +
           llround(ocdm__ln_real(naive->classes[c].weight) * 0x1p32);
}

/* A = sum of f(m_i) - m_i (rho ln n_i + ln w_i). */
static wide whole_sum(const struct naive *naive, const uint32_t *kept)
{
    wide sum = 0;
    for (size_t c = 0; c < naive->class_count; c++) {
        int64_t tilt = kept[c] > 0 ? rounded_tilt(naive, c) : 0;
        for (uint32_t m = 1; m <= kept[c]; m++)
            sum += rounded_step(m) - tilt;
    }
    return sum;
}

/* What deleting a sample takes off A. */
static int64_t gain(const struct naive *naive, const struct naive_sample *sample, const uint32_t *kept)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sample->label_count; i++)
        sum += rounded_step(kept[sample->label[i]]) - rounded_tilt(naive, sample->label[i]);
    return sum;
}

/* KL without ln Z, a multiple of 2^-40, of what is left when `taken` and k labels go; INT64_MAX when no label is left. */
static int64_t rounded_distance(wide whole, int64_t taken, uint64_t sum, size_t k)
{
    if (sum == k)
        return INT64_MAX;
    double distance = (double)(whole - taken) / 0x1p32 / (double)(sum - k) - ocdm__ln(sum - k);
    return llround(distance * 0x1p40);
}

/* Among the marked positions the one that the tie rule names. */
static size_t break_tie(const struct naive *naive, const bool *tied)
{
    if (naive->options.tie == OCDM_TIE_UNIFORM) {
        ocdm__random stream = naive_removal_stream(naive);
        return naive_pick(naive, tied, &stream);
    }
    size_t chosen = naive->size;
    uint64_t least = 0;
    for (size_t v = 0; v < naive->size; v++) {
        uint64_t rank = naive_key(naive, &naive->pool[v]);
        if (naive->options.tie == OCDM_TIE_OLDEST)
            rank = naive->pool[v].arrival;
        if (naive->options.tie == OCDM_TIE_NEWEST)
            rank = UINT64_MAX - naive->pool[v].arrival;
        if (tied[v] && (chosen == naive->size || rank < least)) {
            chosen = v;
            least = rank;
        }
    }
    return chosen;
}

/* tolerance / S, a multiple of 2^-40. */
static int64_t rounded_slack(const struct naive *naive, uint64_t sum)
{
    return sum > 0 ? llround(naive->options.tolerance / (double)sum * 0x1p40) : 0;
}

/* Marks the samples of each cardinality with the largest gain whose distance is the least of all cardinalities; with a
 * tolerance also those whose distance is little more than the least. */
static void mark_best(const struct naive *naive, const int64_t *gains, const uint32_t *kept, uint64_t sum, const bool *allowed,
                      bool *tied)
{
    wide whole = whole_sum(naive, kept);
    int64_t largest_gain[NAIVE_CLASSES + 1];
    for (size_t k = 0; k <= naive->class_count; k++)
        largest_gain[k] = INT64_MIN;
    for (size_t v = 0; v < naive->size; v++)
        if ((allowed == NULL || allowed[v]) && gains[v] > largest_gain[naive->pool[v].label_count])
            largest_gain[naive->pool[v].label_count] = gains[v];
    int64_t least = INT64_MAX;
    for (size_t k = 0; k <= naive->class_count; k++)
        if (largest_gain[k] != INT64_MIN && rounded_distance(whole, largest_gain[k], sum, k) < least)
            least = rounded_distance(whole, largest_gain[k], sum, k);
    for (size_t v = 0; v < naive->size; v++) {
        size_t k = naive->pool[v].label_count;
        int64_t distance = rounded_distance(whole, gains[v], sum, k), slack = rounded_slack(naive, sum);
        bool is_best = gains[v] == largest_gain[k] && distance == least;
        bool is_near = slack > 0 && distance < INT64_MAX && distance - slack <= least;
        tied[v] = (allowed == NULL || allowed[v]) && (is_best || is_near);
    }
}

size_t naive_remove_exactly(const struct naive *naive)
{
    return naive_remove_exactly_of(naive, NULL);
}

size_t naive_remove_exactly_of(const struct naive *naive, const bool *allowed)
{
    assert_int_equal(naive->options.distance, OCDM_KL);
    uint32_t kept[NAIVE_CLASSES];
    uint64_t sum = naive_count(naive, kept);
    int64_t *gains = ocdm__allocate(naive->size, sizeof *gains);
    bool *tied = ocdm__allocate(naive->size, sizeof *tied);
    assert_non_null(gains);
    assert_non_null(tied);
    for (size_t v = 0; v < naive->size; v++)
        gains[v] = gain(naive, &naive->pool[v], kept);
    mark_best(naive, gains, kept, sum, allowed, tied);
    size_t chosen = break_tie(naive, tied);
    ocdm__release(gains);
    ocdm__release(tied);
    return chosen;
}
