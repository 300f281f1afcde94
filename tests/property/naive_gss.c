/*
 * The judge's rules for gss and gss-released: scores in a plain array by slot, summed again for every decision, each cosine
 * computed from the toy gradients for each pair. It shares with the library how many slots are drawn and with which numbers,
 * and that scores are rounded to multiples of 2^-32.
 */
#include "../test.h"
#include "naive.h"

#include "../toy_gradients.h"

static const double whole = 4294967296.0;

static bool as_released(const struct naive *naive)
{
    return naive->options.policy == ocdm_policy_find("gss-released");
}

static double rounded(double score)
{
    return floor(score * whole + 0.5) / whole;
}

/* The gradients that a batch is compared with, at most ten: of samples, or of groups of samples. */
struct references {
    struct toy_gradient gradient[10];
    size_t count;
};

/* Draws `count` different slots. */
static void draw_slots(const struct naive *naive, size_t count, size_t *drawn, ocdm__random *stream)
{
    bool taken[NAIVE_COMPARED] = {false};
    assert_true(naive->size <= NAIVE_COMPARED);
    for (size_t i = 0; i < count; i++) {
        size_t last = naive->size - count + i;
        size_t v = ocdm__random_below(stream, last + 1);
        drawn[i] = taken[v] ? last : v;
        taken[drawn[i]] = true;
    }
}

/* gss: ten samples, or all when they are fewer. */
static struct references draw_samples(const struct naive *naive, ocdm__random *stream)
{
    struct references found = {.count = naive->size < 10 ? naive->size : 10};
    size_t drawn[10];
    draw_slots(naive, found.count, drawn, stream);
    for (size_t i = 0; i < found.count; i++)
        found.gradient[i] = toy_gradient_of(naive->pool[drawn[i]].id);
    return found;
}

/* gss-released: ten groups of ten, or as many as are whole; of a memory with less than ten samples, all of them as one. */
static struct references draw_groups(const struct naive *naive, ocdm__random *stream)
{
    struct references found = {.count = naive->size >= 100 ? 10 : naive->size >= 10 ? naive->size / 10 : naive->size > 0};
    size_t drawn[100], each = naive->size < 10 ? naive->size : 10;
    draw_slots(naive, found.count * each, drawn, stream);
    for (size_t left = found.count * each; left > 1; left--) {
        size_t other = ocdm__random_below(stream, left), v = drawn[other];
        drawn[other] = drawn[left - 1];
        drawn[left - 1] = v;
    }
    for (size_t i = 0; i < found.count * each; i++)
        toy_add(&found.gradient[i / each], naive->pool[drawn[i]].id);
    return found;
}

/* c = 1 + max cosine, not yet rounded; the cosine is 0.1 when there is no sample to compare with. */
static double score_of(const struct references *references, struct toy_gradient gradient)
{
    double largest = references->count > 0 ? -1 : 0.1;
    for (size_t i = 0; i < references->count; i++) {
        double cosine = toy_cosine(&gradient, &references->gradient[i]);
        largest = cosine > largest ? cosine : largest;
    }
    return 1 + largest;
}

/* Slot v with probability weight[v] / their sum; those that were drawn have a negative weight. Where all others have none, any
 * of them. */
static uint32_t draw_weighted(const struct naive *naive, const double *weight, ocdm__random *stream)
{
    double total = 0, left = 0;
    for (size_t v = 0; v < naive->size; v++) {
        total += weight[v] > 0 ? weight[v] : 0;
        left += weight[v] >= 0;
    }
    double scale = total > 0 ? whole : 1;
    double aim = (double)ocdm__random_below(stream, (uint64_t)((total > 0 ? total : left) * scale)) / scale;
    double before = 0;
    for (uint32_t v = 0; v < naive->size; v++) {
        if (weight[v] < 0)
            continue;
        before += total > 0 ? weight[v] : 1;
        if (aim < before)
            return v;
    }
    return OCDM_NONE;
}

/* gss-released, for a full memory that takes the batch: one slot for each sample, by C - min C and without replacement. The
 * published code divides by max C - min C + 0.01, which changes no probability. */
static void give_chances(const struct naive *naive, struct naive_sample *joining, size_t count, ocdm__random *stream)
{
    double weight[NAIVE_COMPARED], least = INFINITY;
    for (size_t v = 0; v < naive->size; v++)
        least = naive->pool[v].score < least ? naive->pool[v].score : least;
    for (size_t v = 0; v < naive->size; v++)
        weight[v] = naive->pool[v].score - least;
    for (size_t i = 0; i < count; i++) {
        joining[i].chance = draw_weighted(naive, weight, stream);
        if (joining[i].chance == OCDM_NONE)
            continue;
        weight[joining[i].chance] = -1;
    }
}

void naive_compare_gss(struct naive *naive, const ocdm_sample *batch, struct naive_sample *joining, size_t count)
{
    uint64_t base = ocdm__random_at(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), naive->arrived);
    ocdm__random stream = ocdm__random_stream(base, 0);
    struct references references = as_released(naive) ? draw_groups(naive, &stream) : draw_samples(naive, &stream);
    naive->batch_score = score_of(&references, toy_gradient_of_batch(batch, count));
    for (size_t i = 0; i < count; i++) {
        joining[i].score = rounded(score_of(&references, toy_gradient_of(joining[i].id)));
        joining[i].chance = OCDM_NONE;
    }
    if (as_released(naive) && naive->size == naive->options.capacity && naive->batch_score < 1)
        give_chances(naive, joining, count, &stream);
}

size_t naive_shrink_gss(const struct naive *naive, ocdm__random *stream)
{
    double weight[NAIVE_COMPARED];
    for (size_t v = 0; v < naive->size; v++)
        weight[v] = naive->pool[v].score;
    return draw_weighted(naive, weight, stream);
}

uint32_t naive_replace_gss(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream)
{
    if (naive->batch_score >= 1 || (as_released(naive) && newcomer->chance == OCDM_NONE))
        return OCDM_NONE;
    uint32_t slot = as_released(naive) ? newcomer->chance : (uint32_t)naive_shrink_gss(naive, stream);
    double mine = newcomer->score, held = naive->pool[slot].score;
    if (mine == 0 && held == 0)
        return ocdm__random_below(stream, 2) < 1 ? slot : OCDM_NONE;
    double aim = (double)ocdm__random_below(stream, (uint64_t)((held + mine) * whole)) / whole;
    return aim < held ? slot : OCDM_NONE;
}
