/*
 * Comparisons of gradients: a policy asks, the caller's ocdm_similarity answers, and what is here stands between them, so that
 * a policy sees cosines that are cosines.
 */
#include "memory/policies.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

/* How far beyond 1 rounding may carry a cosine. */
#define ROUNDING 1e-3

void ocdm_memory_set_similarity(ocdm_memory *memory, ocdm_similarity similarity, void *state)
{
    if (memory == NULL)
        return;
    memory->similarity = similarity;
    memory->similarity_state = state;
}

ocdm_status ocdm__fail_without_gradients(const ocdm_memory *memory, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "tell the memory who compares them, by ocdm_memory_set_similarity",
                      "the policy %s needs the gradients of the agent that learns from the memory", memory->policy.name);
}

static ocdm_status malformed(const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a comparison of gradients %s", what);
}

static ocdm_status check_question(const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    if (asked->size != sizeof *asked)
        return malformed("has a size that this library does not know", error);
    if (memory->beginning_count == SIZE_MAX)
        return malformed("can be asked for from a policy's `begin` only", error);
    if (asked->batch != memory->beginning || asked->count != memory->beginning_count || asked->count == 0)
        return malformed("must be about the batch that `begin` was given, and it must not be empty", error);
    if (asked->slot == NULL || asked->slot_count == 0 || asked->item_cosine == NULL)
        return malformed("names no samples of memory, or has no room for the answers", error);
    if (asked->batch_first && asked->batch_cosine == NULL)
        return malformed("puts the batch first and does not ask for its cosine", error);
    for (size_t i = 0; i < asked->slot_count; i++)
        if (asked->slot[i] >= memory->pool.size || (i > 0 && asked->slot[i] <= asked->slot[i - 1]))
            return malformed("must name slots of the memory in ascending order", error);
    return OCDM_OK;
}

static bool is_cosine(double x)
{
    return x >= -1 - ROUNDING && x <= 1 + ROUNDING;
}

static ocdm_status check_answers(const ocdm_comparison *asked, ocdm_error *error)
{
    static const char hint[] = "gradients with NaN or infinity in them have no cosine";
    if (asked->batch_cosine != NULL && !is_cosine(*asked->batch_cosine))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the cosine given for the batch, %g, is not between -1 and 1",
                          *asked->batch_cosine);
    bool items = !asked->batch_first || *asked->batch_cosine < 0;
    for (size_t i = 0; items && i < asked->count; i++)
        if (!is_cosine(asked->item_cosine[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint,
                              "the cosine given for item %zu (id %llu), %g, is not between -1 and 1", i,
                              (unsigned long long)asked->batch[i].id, asked->item_cosine[i]);
    return OCDM_OK;
}

static ocdm_status ask(const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    ocdm_error found;
    char what[128];
    ocdm__clear_words(&found);
    ocdm_status status = memory->similarity(memory->similarity_state, memory, asked, &found);
    snprintf(what, sizeof what, "the gradients that the policy %s needs could not be compared", memory->policy.name);
    return ocdm__pass_on(status, &found, what, error);
}

ocdm_status ocdm_memory_compare(const ocdm_memory *memory, const ocdm_comparison *comparison, ocdm_error *error)
{
    if (memory == NULL || comparison == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory and comparison must not be NULL");
    ocdm_status status = check_question(memory, comparison, error);
    if (status == OCDM_OK && memory->similarity == NULL)
        status = ocdm__fail_without_gradients(memory, error);
    if (status != OCDM_OK)
        return status;
    for (size_t i = 0; i < comparison->count; i++)
        comparison->item_cosine[i] = NAN;
    if (comparison->batch_cosine != NULL)
        *comparison->batch_cosine = NAN;
    status = ask(memory, comparison, error);
    return status == OCDM_OK ? check_answers(comparison, error) : status;
}
