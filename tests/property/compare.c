/* Everything that the library can be asked, against the judge. */
#include "compare.h"

#include <math.h>

#include "../toy_gradients.h"

ocdm_memory *make_memory(const ocdm_options *options)
{
    ocdm_memory *memory = NULL;
    ocdm_error error;
    if (ocdm_memory_create(options, &memory, &error) != OCDM_OK)
        fail_msg("create: %s", error.message);
    return with_gradients(memory);
}

ocdm_change offer(ocdm_memory *memory, const ocdm_sample *batch, size_t count, const char *where)
{
    ocdm_change change = {0};
    ocdm_error error;
    if (ocdm_memory_update(memory, batch, count, &change, &error) != OCDM_OK)
        fail_msg("in %s: update: %s", where, error.message);
    return change;
}

static void compare_departures(const ocdm_change *change, const struct naive *naive, const char *where)
{
    HOLDS(where, change->left_count == naive->left_count);
    for (size_t i = 0; i < change->left_count; i++) {
        HOLDS(where, change->left[i].id == naive->left[i].id);
        HOLDS(where, change->left[i].slot == naive->left[i].slot);
        HOLDS(where, change->left[i].item == naive->left[i].item);
    }
}

void compare_change(const ocdm_change *change, const struct naive *naive, const char *where)
{
    compare_departures(change, naive, where);
    size_t stored = 0;
    for (size_t v = 0; v < naive->size; v++)
        stored += naive->pool[v].item != OCDM_NONE;
    HOLDS(where, change->stored == stored);
    for (size_t i = 0; i < change->stored; i++) {
        HOLDS(where, i == 0 || change->item[i - 1] < change->item[i]);
        HOLDS(where, change->slot[i] < naive->size);
        HOLDS(where, naive->pool[change->slot[i]].item == change->item[i]);
    }
}

/* The library's labels of a slot ascend and are the judge's set; with less room they are its first ones. */
static void compare_labels(const ocdm_memory *memory, const struct naive *naive, uint32_t slot, const char *where)
{
    const struct naive_sample *sample = &naive->pool[slot];
    uint32_t label[NAIVE_CLASSES];
    HOLDS(where, ocdm_memory_labels(memory, slot, label, NAIVE_CLASSES) == sample->label_count);
    for (size_t i = 0; i < sample->label_count; i++) {
        HOLDS(where, i == 0 || label[i - 1] < label[i]);
        bool found = false;
        for (size_t j = 0; j < sample->label_count; j++)
            found = found || naive->classes[sample->label[j]].id == label[i];
        HOLDS(where, found);
    }
    uint32_t few[2] = {0, 0};
    HOLDS(where, ocdm_memory_labels(memory, slot, few, 2) == sample->label_count);
    for (size_t i = 0; i < 2 && i < sample->label_count; i++)
        HOLDS(where, few[i] == label[i]);
}

static void compare_slots(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    HOLDS(where, ocdm_memory_size(memory) == naive->size);
    HOLDS(where, ocdm_memory_arrived(memory) == naive->arrived);
    for (uint32_t v = 0; v < naive->size; v++) {
        HOLDS(where, ocdm_memory_id(memory, v) == naive->pool[v].id);
        HOLDS(where, ocdm_memory_arrival(memory, v) == naive->pool[v].arrival);
        HOLDS(where, ocdm_memory_find(memory, naive->pool[v].id) == v);
        compare_labels(memory, naive, v, where);
    }
    for (size_t i = 0; i < naive->left_count; i++)
        HOLDS(where, ocdm_memory_find(memory, naive->left[i].id) == OCDM_NONE);
}

static void compare_counts(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    ocdm_class classes[NAIVE_CLASSES];
    uint32_t kept[NAIVE_CLASSES];
    long double log_p[NAIVE_CLASSES];
    naive_count(naive, kept);
    naive_target(naive, OCDM_SEEN_EVER, log_p);
    HOLDS(where, ocdm_memory_counts(memory, classes, NAIVE_CLASSES) == naive->class_count);
    for (size_t c = 0; c < naive->class_count; c++) {
        HOLDS(where, classes[c].id == naive->classes[c].id);
        HOLDS(where, classes[c].kept == kept[c]);
        HOLDS(where, classes[c].seen == naive->classes[c].seen);
        HOLDS(where, fabsl(classes[c].target - expl(log_p[c])) < 1e-12L);
        HOLDS(where, ocdm_memory_kept(memory, classes[c].id) == kept[c]);
        HOLDS(where, ocdm_memory_seen(memory, classes[c].id) == naive->classes[c].seen);
    }
}

static void compare_distance(const ocdm_memory *memory, const struct naive *naive, ocdm_scope scope, const char *where)
{
    double got = ocdm_memory_distance(memory, scope);
    long double expected = naive_distance(naive, scope);
    if (isnan(expected))
        HOLDS(where, isnan(got));
    else
        HOLDS(where, fabsl(got - expected) <= 1e-9L);
}

void compare_memory(const ocdm_memory *memory, const struct naive *naive, const char *where)
{
    compare_slots(memory, naive, where);
    compare_counts(memory, naive, where);
    compare_distance(memory, naive, OCDM_IN_PLAY, where);
    compare_distance(memory, naive, OCDM_SEEN_EVER, where);
}

/* ---- deletions that are the best ones --------------------------------------------------------------------------------- */

/* What the grid of 2^-32 costs: how much worse than the best a deletion may leave things. */
static const long double rounding = 1e-9L;

/* How much more a deletion may leave than the best, so that both tie. */
static long double slack_of(const struct naive *naive)
{
    uint32_t kept[NAIVE_CLASSES];
    uint64_t labels = naive_count(naive, kept);
    return labels > 0 ? (long double)naive->options.tolerance / labels : 0;
}

/* How many labels of `sample` have the same m and w and, where it matters, n as class `like`. */
static size_t alike(const struct naive *naive, const struct naive_sample *sample, const uint32_t *kept, uint32_t like)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->label_count; i++) {
        uint32_t c = sample->label[i];
        bool same_n = naive->options.rho == 0 || naive->classes[c].seen == naive->classes[like].seen;
        if (kept[c] == kept[like] && same_n && naive->classes[c].weight == naive->classes[like].weight)
            count++;
    }
    return count;
}

/* Whether two samples have as many labels with the same (m, n): by symmetry every distance is then the same, to the bit. */
static bool must_tie(const struct naive *naive, const struct naive_sample *a, const struct naive_sample *b)
{
    if (a->label_count != b->label_count)
        return false;
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    for (size_t i = 0; i < a->label_count; i++)
        if (alike(naive, a, kept, a->label[i]) != alike(naive, b, kept, a->label[i]))
            return false;
    return true;
}

/* What the tie rule compares: the smallest goes. */
static uint64_t tie_rank(const struct naive *naive, const struct naive_sample *sample)
{
    ocdm__random stream = naive_removal_stream(naive);
    switch (naive->options.tie) {
    case OCDM_TIE_KEY:
        return naive_key(naive, sample);
    case OCDM_TIE_OLDEST:
        return sample->arrival;
    case OCDM_TIE_NEWEST:
        return UINT64_MAX - sample->arrival;
    default:
        return ocdm__random_at(ocdm__random_next(&stream), sample->arrival);
    }
}

/* Samples that tie for certain: by symmetry, or because they are well within the tolerance. */
static void expect_tie_rule(const struct naive *naive, size_t chosen, long double best, const char *where)
{
    const struct naive_sample *gone = &naive->pool[chosen];
    long double slack = slack_of(naive);
    for (size_t v = 0; v < naive->size; v++)
        if (v != chosen && (must_tie(naive, gone, &naive->pool[v]) ||
                            (slack > rounding && naive_distance_without(naive, v) < best + slack - rounding)))
            HOLDS(where, tie_rank(naive, gone) < tie_rank(naive, &naive->pool[v]));
}

size_t follow_departures(const struct naive *naive, void *context)
{
    const struct witness *witness = context;
    HOLDS(witness->where, naive->left_count < witness->change->left_count);
    uint64_t id = witness->change->left[naive->left_count].id;
    size_t chosen = naive->size;
    long double best = INFINITY;
    for (size_t v = 0; v < naive->size; v++) {
        long double distance = naive_distance_without(naive, v);
        if (distance < best)
            best = distance;
        if (naive->pool[v].id == id)
            chosen = v;
    }
    HOLDS(witness->where, chosen < naive->size);
    long double mine = naive_distance_without(naive, chosen), allowed = rounding + slack_of(naive);
    if (!(mine == best || mine - best <= allowed))
        print_error("deleting %llu leaves %.15Lf, the best leaves %.15Lf\n", (unsigned long long)id, mine, best);
    HOLDS(witness->where, mine == best || mine - best <= allowed);
    expect_tie_rule(naive, chosen, best, witness->where);
    return chosen;
}
