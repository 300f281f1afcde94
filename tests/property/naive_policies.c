/* The judge's rules for rs, random, max, cbrs and cbes, and the table that finds a policy's rule. */
#include "../test.h"
#include "naive.h"

#include "base/allocate.h"

#include <string.h>

/* ---- helpers: which classes are largest, which samples carry them ----------------------------------------------------- */

/* Marks the classes with the most samples; returns how many there are, 0 when no sample is labelled. */
static size_t mark_largest(const struct naive *naive, bool *largest)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    uint32_t most = 0;
    for (size_t c = 0; c < naive->class_count; c++)
        if (kept[c] > most)
            most = kept[c];
    size_t tied = 0;
    for (size_t c = 0; c < naive->class_count; c++) {
        largest[c] = most > 0 && kept[c] == most;
        if (largest[c])
            tied++;
    }
    return tied;
}

/* One of the marked classes, uniformly; a number is drawn only when there is a choice. */
static uint32_t pick_class(const bool *marked, size_t tied, ocdm__random *stream)
{
    uint64_t skip = tied > 1 ? ocdm__random_below(stream, tied) : 0;
    uint32_t c = 0;
    while (!marked[c] || skip-- > 0)
        c++;
    return c;
}

/* With more candidates than this, positions are guessed first, at most this many times. */
#define NAIVE_FEW 256

/* A uniform member among the candidates. Many candidates: positions are drawn until one is a candidate. */
static size_t pick_candidate(const struct naive *naive, const bool *candidate, ocdm__random *stream)
{
    size_t count = 0;
    for (size_t v = 0; v < naive->size; v++)
        count += candidate[v];
    for (int i = 0; count > NAIVE_FEW && i < NAIVE_FEW; i++) {
        size_t v = ocdm__random_below(stream, naive->size);
        if (candidate[v])
            return v;
    }
    return naive_pick(naive, candidate, stream);
}

/* A uniform member among those that carry one of the marked classes. */
static size_t pick_member(const struct naive *naive, const bool *marked, ocdm__random *stream)
{
    bool *candidate = ocdm__allocate(naive->size, sizeof *candidate);
    assert_non_null(candidate);
    for (size_t v = 0; v < naive->size; v++)
        for (size_t i = 0; i < naive->pool[v].label_count; i++)
            if (marked[naive->pool[v].label[i]])
                candidate[v] = true;
    size_t chosen = pick_candidate(naive, candidate, stream);
    ocdm__release(candidate);
    return chosen;
}

static size_t pick_member_of(const struct naive *naive, uint32_t class_number, ocdm__random *stream)
{
    bool marked[NAIVE_CLASSES] = {false};
    marked[class_number] = true;
    return pick_member(naive, marked, stream);
}

/* ---- policies that remove from the pool ------------------------------------------------------------------------------- */

static size_t remove_random(const struct naive *naive)
{
    ocdm__random stream = naive_removal_stream(naive);
    return ocdm__random_below(&stream, naive->size);
}

static size_t remove_max(const struct naive *naive)
{
    ocdm__random stream = naive_removal_stream(naive);
    bool largest[NAIVE_CLASSES];
    size_t tied = mark_largest(naive, largest);
    if (tied == 0)
        return naive_pick(naive, NULL, &stream);
    return pick_member_of(naive, pick_class(largest, tied, &stream), &stream);
}

/* ---- policies that replace one sample at a time ----------------------------------------------------------------------- */

static uint32_t replace_rs(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream)
{
    uint64_t j = ocdm__random_below(stream, newcomer->arrival + 1);
    return j < naive->options.capacity ? (uint32_t)j : OCDM_NONE;
}

/* The newcomer's class c is full: a sample of c makes room with probability m_c / n_c, the newcomer counted in n_c. */
static uint32_t replace_within(const struct naive *naive, uint32_t c, ocdm__random *stream)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    double u = ocdm__random_unit(stream);
    if (!(u * (double)(naive->classes[c].seen + 1) < (double)kept[c]))
        return OCDM_NONE;
    return (uint32_t)pick_member_of(naive, c, stream);
}

static uint32_t replace_cbrs(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream)
{
    if (newcomer->label_count == 0)
        return OCDM_NONE;
    uint32_t c = newcomer->label[0];
    if (naive->classes[c].full)
        return replace_within(naive, c, stream);
    bool largest[NAIVE_CLASSES];
    size_t tied = mark_largest(naive, largest);
    if (tied == 0)
        return (uint32_t)naive_pick(naive, NULL, stream);
    return (uint32_t)pick_member(naive, largest, stream);
}

/* The newcomer's class with the fewest samples in memory, the lowest id on a tie. */
static uint32_t rarest_label(const struct naive *naive, const struct naive_sample *newcomer)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    uint32_t rarest = newcomer->label[0];
    for (size_t i = 1; i < newcomer->label_count; i++) {
        uint32_t c = newcomer->label[i];
        if (kept[c] < kept[rarest] || (kept[c] == kept[rarest] && naive->classes[c].id < naive->classes[rarest].id))
            rarest = c;
    }
    return rarest;
}

static uint32_t replace_cbes(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream)
{
    if (newcomer->label_count == 0)
        return OCDM_NONE;
    bool all_full = true;
    for (size_t i = 0; i < newcomer->label_count; i++)
        if (!naive->classes[newcomer->label[i]].full)
            all_full = false;
    if (all_full)
        return replace_within(naive, rarest_label(naive, newcomer), stream);
    bool largest[NAIVE_CLASSES];
    size_t tied = mark_largest(naive, largest);
    if (tied == 0)
        return (uint32_t)naive_pick(naive, NULL, stream);
    return (uint32_t)pick_member_of(naive, pick_class(largest, tied, stream), stream);
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

static bool is(const struct naive *naive, const char *name)
{
    return strcmp(naive->options.policy->name, name) == 0;
}

bool naive_removes_from_pool(const struct naive *naive)
{
    return is(naive, "ocdm") || is(naive, "onlyone") || is(naive, "max") || is(naive, "random");
}

size_t naive_remove(const struct naive *naive)
{
    if (is(naive, "random"))
        return remove_random(naive);
    if (is(naive, "max"))
        return remove_max(naive);
    return naive_remove_exactly(naive);
}

/* Decisions of a policy that replaces are numbered by arrival; these come from the other end. */
size_t naive_shrink(const struct naive *naive)
{
    ocdm__random stream = ocdm__random_stream(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), ~naive->departed);
    if (is(naive, "rs"))
        return ocdm__random_below(&stream, naive->size);
    if (is(naive, "gss") || is(naive, "gss-released"))
        return naive_shrink_gss(naive, &stream);
    bool largest[NAIVE_CLASSES];
    size_t tied = mark_largest(naive, largest);
    if (tied == 0)
        return naive_pick(naive, NULL, &stream);
    if (is(naive, "cbrs"))
        return pick_member(naive, largest, &stream);
    if (is(naive, "cbes"))
        return pick_member_of(naive, pick_class(largest, tied, &stream), &stream);
    return naive_shrink_prs(naive, &stream);
}

uint32_t naive_replace(struct naive *naive, const struct naive_sample *newcomer)
{
    ocdm__random stream = ocdm__random_stream(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), newcomer->arrival);
    if (is(naive, "rs"))
        return replace_rs(naive, newcomer, &stream);
    if (is(naive, "cbrs"))
        return replace_cbrs(naive, newcomer, &stream);
    if (is(naive, "cbes"))
        return replace_cbes(naive, newcomer, &stream);
    if (is(naive, "gss") || is(naive, "gss-released"))
        return naive_replace_gss(naive, newcomer, &stream);
    return naive_replace_prs(naive, newcomer);
}

void naive_follow_departure(struct naive *naive)
{
    if (is(naive, "prs") || is(naive, "prs-released"))
        naive_share_prs(naive);
}

/* What a policy notes after each sample, stored or not: prs its shares, cbrs and cbes which classes are full. */
void naive_after_sample(struct naive *naive)
{
    if (is(naive, "prs") || is(naive, "prs-released"))
        naive_share_prs(naive);
    if (naive->size < naive->options.capacity)
        return;
    bool largest[NAIVE_CLASSES];
    mark_largest(naive, largest);
    for (size_t c = 0; c < naive->class_count; c++)
        if (largest[c])
            naive->classes[c].full = true;
}
