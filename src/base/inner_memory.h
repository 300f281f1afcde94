/*
 * What the program uses of the memory beyond ocdm/ocdm.h. It is not part of the library's interface: no program that links
 * libocdm can call it.
 */
#ifndef OCDM_BASE_INNER_MEMORY_H
#define OCDM_BASE_INNER_MEMORY_H

#include "ocdm/ocdm.h"

/* The policies of the library, in the order of ocdm_policy_at: X(symbol, name) for the struct ocdm__policy_SYMBOL. */
/* clang-format off */
#define OCDM__POLICIES(X)                                                                                                      \
    X(ocdm, "ocdm")                                                                                                            \
    X(prs, "prs")                                                                                                              \
    X(prs_released, "prs-released")                                                                                            \
    X(cbes, "cbes")                                                                                                            \
    X(max, "max")                                                                                                              \
    X(onlyone, "onlyone")                                                                                                      \
    X(rs, "rs")                                                                                                                \
    X(random, "random")                                                                                                        \
    X(cbrs, "cbrs")                                                                                                            \
    X(gss, "gss")                                                                                                              \
    X(gss_released, "gss-released")

/* The distances and the tie rules, in the order of their enums: X(symbol, name) for the enumerator OCDM_SYMBOL. */
#define OCDM__DISTANCES(X)                                                                                                     \
    X(KL, "kl")                                                                                                                \
    X(REVERSE_KL, "reverse-kl")                                                                                                \
    X(L2, "l2")                                                                                                                \
    X(TV, "tv")

#define OCDM__TIES(X)                                                                                                          \
    X(TIE_KEY, "key")                                                                                                          \
    X(TIE_OLDEST, "oldest")                                                                                                    \
    X(TIE_NEWEST, "newest")                                                                                                    \
    X(TIE_UNIFORM, "uniform")
/* clang-format on */

/*
 * For a caller that has checked its input: class ids are dense from now on (0, 1, 2, ..., as labels were numbered), so classes
 * are found by an array index, and ids are unique, so they are not checked again. ocdm_memory_find and ocdm_memory_forget then
 * find no id. Call it once, before the first update.
 */
void ocdm__memory_trust(ocdm_memory *memory);

/*
 * Never fewer than `minimum` samples of a class while as many were seen, for the policies ocdm and onlyone under KL: when the
 * sample that the policy would delete carries a class that has no more than its minimum, the best deletion among the samples
 * that carry no such class is made instead. There is one if the minimums add up to no more than the capacity, and often beyond,
 * since one sample may serve several; if there is none, the update fails with OCDM_LIMIT and the memory is as before.
 * Costs a look at every distinct label set in that case. OCDM_OK or OCDM_NO_MEMORY.
 */
ocdm_status ocdm__memory_set_minimum(ocdm_memory *memory, uint32_t class_id, uint32_t minimum, ocdm_error *error);

/* How many deletions the minimums have changed so far. */
uint64_t ocdm__memory_spared(const ocdm_memory *memory);

/* ---- shards of a stream --------------------------------------------------------------------------------------------- */

/* Shards of a stream are sampled separately and merged later: their tie keys follow from seed, shard and arrival, so that
 * those of all shards can be compared. Shard 0 has the keys of a memory without shards. Call it before the first update. */
void ocdm__memory_set_shard(ocdm_memory *memory, uint64_t shard);

/* The place among equals that a sample had, or would have had, in its shard; `before` is how many samples the shards before it
 * had, for the tie rules that depend on age. */
uint64_t ocdm__memory_priority(const ocdm_memory *memory, uint64_t shard, uint64_t arrival, uint64_t before);

/* The places among equals of the items of the next update, instead of what their arrival would give. Must outlive it. */
void ocdm__memory_set_priorities(ocdm_memory *memory, const uint64_t *priority);

/* Counts samples of a class that were seen elsewhere: they are part of n_i. OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__memory_add_seen(ocdm_memory *memory, uint32_t class_id, uint64_t count, ocdm_error *error);

#endif
