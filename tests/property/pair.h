/*
 * The library's memory and the judge's, changed together. After every change all that can be asked of them is compared, and
 * payloads that are copied as the changes say are where they belong.
 */
#ifndef OCDM_TESTS_PAIR_H
#define OCDM_TESTS_PAIR_H

#include "naive.h"

/* Whether the judge has the policy with this number: all but those that are told tasks, which come last (test_bat.c). */
static inline bool is_judged(size_t policy)
{
    return ocdm_policy_at(policy) != NULL && (ocdm_policy_at(policy)->traits & OCDM_NEEDS_TASKS) == 0;
}

/* The bounds of what a pair is given. */
#define PAIR_LARGEST_MEMORY 160u
#define PAIR_LARGEST_BATCH 64u

struct pair {
    ocdm_memory *memory;
    struct naive *naive;
    uint64_t payload[PAIR_LARGEST_MEMORY + PAIR_LARGEST_BATCH]; /* by slot: that of a sample is its id */
    char where[200];                                            /* names the case on failure */
};

/* Two empty memories; `name` tells the case from others with the same options. */
void pair_open(struct pair *pair, const ocdm_options *options, const char *name);
void pair_close(struct pair *pair);

void pair_update(struct pair *pair, const ocdm_sample *batch, size_t count);
void pair_weigh(struct pair *pair, uint32_t id, double weight);
void pair_forget(struct pair *pair, uint64_t id); /* one that is in memory */
void pair_resize(struct pair *pair, uint32_t capacity);

/* Saves and loads the library's memory: it is the same, has the same bytes and continues in the same way. */
void pair_reload(struct pair *pair);

#endif
