/*
 * The judge's rule for gss: scores in a plain array by slot, summed anew for every decision, each cosine computed from the toy
 * gradients for each pair. It shares with the library how many slots are drawn and with which numbers, and that scores are
 * rounded to multiples of 2^-32.
 */
#include "../test.h"
#include "naive.h"

#include "../toy_gradients.h"

static double rounded(double score)
{
    return floor(score * 4294967296.0 + 0.5) / 4294967296.0;
}

/* Whether slot `v` is one of those that the batch is compared with: ten of all, or all when they are fewer. */
static void mark_compared(const struct naive *naive, bool *compared)
{
    uint64_t base = ocdm__random_at(ocdm__random_base(naive->options.seed, OCDM__FOR_DECISIONS), naive->arrived);
    ocdm__random stream = ocdm__random_stream(base, 0);
    size_t first = naive->size > 10 ? naive->size - 10 : 0;
    for (size_t last = first; last < naive->size; last++) {
        size_t v = ocdm__random_below(&stream, last + 1);
        compared[compared[v] ? last : v] = true;
    }
}

/* c = 1 + max cosine, not yet rounded; 0.1 when there is nobody to compare with. */
static double score_of(const struct naive *naive, const bool *compared, struct toy_gradient gradient)
{
    bool any = false;
    double largest = 0;
    for (size_t v = 0; v < naive->size; v++) {
        struct toy_gradient kept = toy_gradient_of(naive->pool[v].id);
        double cosine = compared[v] ? toy_cosine(&gradient, &kept) : 0;
        if (compared[v] && (!any || cosine > largest))
            largest = cosine;
        any = any || compared[v];
    }
    return any ? 1 + largest : 0.1;
}

void naive_compare_gss(struct naive *naive, const ocdm_sample *batch, struct naive_sample *joining, size_t count)
{
    bool compared[NAIVE_COMPARED] = {false};
    assert_true(naive->size <= NAIVE_COMPARED);
    mark_compared(naive, compared);
    naive->batch_score = score_of(naive, compared, toy_gradient_of_batch(batch, count));
    for (size_t i = 0; i < count; i++)
        joining[i].score = rounded(score_of(naive, compared, toy_gradient_of(joining[i].id)));
}

size_t naive_shrink_gss(const struct naive *naive, ocdm__random *stream)
{
    double total = 0;
    for (size_t v = 0; v < naive->size; v++)
        total += naive->pool[v].score;
    uint32_t slot = 0;
    if (total > 0) {
        double aim = (double)ocdm__random_below(stream, (uint64_t)(total * 4294967296.0)) / 4294967296.0;
        double before = 0;
        while (aim >= before + naive->pool[slot].score)
            before += naive->pool[slot++].score;
    } else {
        slot = (uint32_t)ocdm__random_below(stream, naive->size);
    }
    return slot;
}

uint32_t naive_replace_gss(const struct naive *naive, const struct naive_sample *newcomer, ocdm__random *stream)
{
    if (naive->batch_score >= 1)
        return OCDM_NONE;
    uint32_t slot = (uint32_t)naive_shrink_gss(naive, stream);
    double mine = newcomer->score, held = naive->pool[slot].score;
    if (mine == 0 && held == 0)
        return ocdm__random_below(stream, 2) < 1 ? slot : OCDM_NONE;
    double aim = (double)ocdm__random_below(stream, (uint64_t)((held + mine) * 4294967296.0)) / 4294967296.0;
    return aim < held ? slot : OCDM_NONE;
}
