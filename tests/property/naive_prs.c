/* The judge's PRS (Kim, Jeong, Kim 2020), by the paper and by the published code: sample-in, sample-out, shares. Sums run over
 * classes in order of first appearance. */
#include "naive.h"

#include "base/logarithm.h"

#include <math.h>

/* Below this a difference is rounding: a deviation this small is 0, and two sums of deviations this near are equal. Shares are
 * rounded quotients, so that m_i = p_i S and ties between label sets, both common at rho = 0 and 1, are missed by a bit or two.
 */
static const long double nothing = 0x1p-30L;

static bool as_released(const struct naive *naive)
{
    return naive->options.policy == ocdm_policy_find("prs-released");
}

/* s: the softmax over Y of -n_i, shifted by its maximum, weighs r_i = min(1, M p_i / n_i), 1 for a class without p_i. */
static double admission(const struct naive *naive, const struct naive_sample *newcomer)
{
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 0; i < newcomer->label_count; i++)
        if (naive->classes[newcomer->label[i]].seen < fewest)
            fewest = naive->classes[newcomer->label[i]].seen;
    double weights = 0;
    double weighted = 0;
    for (size_t i = 0; i < newcomer->label_count; i++) {
        const struct naive_class *c = &naive->classes[newcomer->label[i]];
        double weight = ocdm__exp(-(double)(c->seen - fewest));
        double r = as_released(naive) && c->seen > 0 && !c->has_share ? 0 : 1;
        if (c->has_share && (double)naive->options.capacity * c->share / (double)c->seen < 1)
            r = (double)naive->options.capacity * c->share / (double)c->seen;
        weights += weight;
        weighted += weight * r;
    }
    return weighted / weights;
}

/* delta_i = m_i - p_i S for the classes in memory. */
static void find_deltas(const struct naive *naive, const uint32_t *kept, uint64_t sum, double *delta)
{
    for (size_t c = 0; c < naive->class_count; c++)
        delta[c] = kept[c] > 0 ? (double)kept[c] - naive->classes[c].share * (double)sum : -INFINITY;
}

/* Class g, drawn from softmax(delta). */
static uint32_t draw_class(const struct naive *naive, const uint32_t *kept, const double *delta, ocdm__random *stream)
{
    double largest = -INFINITY;
    for (size_t c = 0; c < naive->class_count; c++)
        if (kept[c] > 0 && delta[c] > largest)
            largest = delta[c];
    double total = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        if (kept[c] > 0)
            total += ocdm__exp(delta[c] - largest);
    double aim = ocdm__random_unit(stream) * total;
    double cumulated = 0;
    uint32_t last = 0;
    for (size_t c = 0; c < naive->class_count; c++) {
        if (kept[c] == 0)
            continue;
        last = (uint32_t)c;
        cumulated += ocdm__exp(delta[c] - largest);
        if (cumulated > aim)
            return last;
    }
    return last;
}

/* How many classes of Q = {i : delta_i <= 0} a sample lacks. */
static size_t lacking(const struct naive *naive, const struct naive_sample *sample, const uint32_t *kept, const double *delta)
{
    size_t count = 0;
    for (uint32_t c = 0; c < naive->class_count; c++)
        if (kept[c] > 0 && delta[c] <= nothing && !naive_carries(sample, c))
            count++;
    return count;
}

/* The sum of |m'_i - p_i S'| over the classes that are not empty once `sample` is gone. */
static long double imbalance_without(const struct naive *naive, const struct naive_sample *sample, const uint32_t *kept,
                                     uint64_t sum)
{
    long double total = 0;
    long double rest = (long double)(sum - sample->label_count);
    for (uint32_t c = 0; c < naive->class_count; c++) {
        uint32_t remaining = kept[c] - (naive_carries(sample, c) ? 1 : 0);
        if (remaining > 0)
            total += fabsl(remaining - naive->classes[c].share * rest);
    }
    return total;
}

/* The published code's loop over the same candidates: best = (the first of them, M), replaced by what is below it. */
static uint32_t choose_as_released(const struct naive *naive, uint32_t g, const uint32_t *kept, uint64_t sum,
                                   const double *delta, size_t most)
{
    uint32_t chosen = OCDM_NONE;
    long double best = naive->options.capacity;
    for (uint32_t v = 0; v < naive->size; v++) {
        const struct naive_sample *sample = &naive->pool[v];
        if (!naive_carries(sample, g) || lacking(naive, sample, kept, delta) < most)
            continue;
        if (chosen == OCDM_NONE)
            chosen = v;
        long double leaves = imbalance_without(naive, sample, kept, sum);
        if (leaves < best - nothing) {
            best = leaves;
            chosen = v;
        }
    }
    return chosen;
}

/* Among the carriers of g that lack most of Q the first whose loss leaves the least imbalance. */
static uint32_t choose_victim(const struct naive *naive, uint32_t g, const uint32_t *kept, uint64_t sum, const double *delta)
{
    size_t most = 0;
    for (size_t v = 0; v < naive->size; v++)
        if (naive_carries(&naive->pool[v], g) && lacking(naive, &naive->pool[v], kept, delta) > most)
            most = lacking(naive, &naive->pool[v], kept, delta);
    if (as_released(naive))
        return choose_as_released(naive, g, kept, sum, delta, most);
    uint32_t chosen = OCDM_NONE;
    long double least = INFINITY;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t v = 0; v < naive->size && chosen == OCDM_NONE; v++) {
            const struct naive_sample *sample = &naive->pool[v];
            if (!naive_carries(sample, g) || lacking(naive, sample, kept, delta) < most)
                continue;
            long double leaves = imbalance_without(naive, sample, kept, sum);
            if (pass == 0 && leaves < least)
                least = leaves;
            if (pass == 1 && leaves <= least + nothing)
                chosen = v;
        }
    return chosen;
}

static uint32_t sample_out(const struct naive *naive, ocdm__random *stream)
{
    uint32_t kept[NAIVE_CLASSES];
    double delta[NAIVE_CLASSES];
    uint64_t sum = naive_count(naive, kept);
    find_deltas(naive, kept, sum, delta);
    uint32_t g = draw_class(naive, kept, delta, stream);
    return choose_victim(naive, g, kept, sum, delta);
}

size_t naive_shrink_prs(const struct naive *naive, ocdm__random *stream)
{
    return sample_out(naive, stream);
}

uint32_t naive_replace_prs(const struct naive *naive, const struct naive_sample *newcomer)
{
    if (newcomer->label_count == 0)
        return OCDM_NONE;
    ocdm__random stream = ocdm__random_stream(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), newcomer->arrival);
    if (!(ocdm__random_unit(&stream) < admission(naive, newcomer)))
        return OCDM_NONE;
    uint32_t kept[NAIVE_CLASSES];
    if (naive_count(naive, kept) == 0)
        return (uint32_t)naive_pick(naive, NULL, &stream);
    return sample_out(naive, &stream);
}

/* p_i = n_i^rho / sum_j n_j^rho over the classes in memory; an emptied class keeps its stale share. */
void naive_share_prs(struct naive *naive)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    double total = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        if (kept[c] > 0)
            total += ocdm__exp(naive->options.rho * ocdm__ln(naive->classes[c].seen));
    for (size_t c = 0; c < naive->class_count; c++) {
        if (kept[c] == 0)
            continue;
        naive->classes[c].has_share = true;
        naive->classes[c].share = ocdm__exp(naive->options.rho * ocdm__ln(naive->classes[c].seen)) / total;
    }
}
