/*
 * Gradients for tests without a network: a short vector of small integers, a function of the sample's id, such that zero,
 * equal, opposite and orthogonal gradients all occur. The comparisons that the policy gss requests are computed from them.
 */
#ifndef OCDM_TESTS_TOY_GRADIENTS_H
#define OCDM_TESTS_TOY_GRADIENTS_H

#include <math.h>
#include <stdint.h>

#include "base/random.h"
#include "ocdm/ocdm.h"

#define TOY_PARAMETERS 3

struct toy_gradient {
    int64_t along[TOY_PARAMETERS];
};

/* Each number from -2 to 2; one id in eight has a zero gradient. */
static inline struct toy_gradient toy_gradient_of(uint64_t id)
{
    struct toy_gradient gradient = {{0}};
    ocdm__random random = ocdm__random_stream(id, 5);
    if (ocdm__random_below(&random, 8) == 0)
        return gradient;
    for (int i = 0; i < TOY_PARAMETERS; i++)
        gradient.along[i] = (int64_t)ocdm__random_below(&random, 5) - 2;
    return gradient;
}

static inline void toy_add(struct toy_gradient *sum, uint64_t id)
{
    struct toy_gradient one = toy_gradient_of(id);
    for (int j = 0; j < TOY_PARAMETERS; j++)
        sum->along[j] += one.along[j];
}

/* The batch's gradient: the sum, whose cosines are those of the mean. */
static inline struct toy_gradient toy_gradient_of_batch(const ocdm_sample *batch, size_t count)
{
    struct toy_gradient sum = {{0}};
    for (size_t i = 0; i < count; i++)
        toy_add(&sum, batch[i].id);
    return sum;
}

static inline double toy_cosine(const struct toy_gradient *a, const struct toy_gradient *b)
{
    int64_t product = 0, square_a = 0, square_b = 0;
    for (int i = 0; i < TOY_PARAMETERS; i++) {
        product += a->along[i] * b->along[i];
        square_a += a->along[i] * a->along[i];
        square_b += b->along[i] * b->along[i];
    }
    return square_a && square_b ? (double)product / sqrt((double)(square_a * square_b)) : 0;
}

static inline double toy_largest_cosine(const struct toy_gradient *gradient, const ocdm_memory *memory,
                                        const ocdm_comparison *asked)
{
    double largest = -1;
    for (size_t i = 0; i < asked->slot_count; i += asked->group_size) {
        struct toy_gradient kept = {{0}};
        for (size_t k = 0; k < asked->group_size; k++)
            toy_add(&kept, ocdm_memory_id(memory, asked->slot[i + k]));
        double cosine = toy_cosine(gradient, &kept);
        largest = cosine > largest ? cosine : largest;
    }
    return largest;
}

/* An ocdm_similarity. Computes only what is needed. */
static inline ocdm_status toy_similarity(void *state, const ocdm_memory *memory, const ocdm_comparison *asked,
                                         ocdm_error *error)
{
    (void)state;
    (void)error;
    if (asked->batch_cosine) {
        struct toy_gradient mean = toy_gradient_of_batch(asked->batch, asked->count);
        *asked->batch_cosine = toy_largest_cosine(&mean, memory, asked);
    }
    if (asked->batch_first && *asked->batch_cosine >= 0)
        return OCDM_OK;
    for (size_t i = 0; i < asked->count; i++) {
        struct toy_gradient one = toy_gradient_of(asked->batch[i].id);
        asked->item_cosine[i] = toy_largest_cosine(&one, memory, asked);
    }
    return OCDM_OK;
}

/* A memory with a function that answers if its policy requests gradients. */
static inline ocdm_memory *with_gradients(ocdm_memory *memory)
{
    if (memory != NULL && ocdm_memory_options(memory)->policy->traits & OCDM_NEEDS_GRADIENTS)
        ocdm_memory_set_similarity(memory, toy_similarity, NULL);
    return memory;
}

#endif
