/*
 * What the program uses of the memory beyond ocdm/ocdm.h. It is not part of the library's interface: no program that links
 * libocdm can call it.
 */
#ifndef OCDM_MEMORY_INTERNAL_H
#define OCDM_MEMORY_INTERNAL_H

#include "base/base.h"

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
    X(gss_released, "gss-released")                                                                                            \
    X(bat_ocdm, "bat-ocdm")

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

/* options.minimum of a memory that is empty. OCDM_OK; OCDM_BAD_ARGUMENT for policies and distances that cannot keep minimums;
 * OCDM_NO_MEMORY. */
ocdm_status ocdm__memory_set_default_minimum(ocdm_memory *memory, uint32_t minimum, ocdm_error *error);

/* How many deletions the minimums have changed so far. */
uint64_t ocdm__memory_spared(const ocdm_memory *memory);

/* ---- draws by weights ------------------------------------------------------------------------------------------------ */

/* How many draws were made: the number of the next one. A draw of 0 slots by ocdm_memory_draw counts too. */
uint64_t ocdm__memory_draws(const ocdm_memory *memory);

/* Weights by slot that draw each class alike. O(labels). */
void ocdm__memory_balance(const ocdm_memory *memory, double *weight);

/*
 * Draw number `number` under a seed: up to `count` of `size` slots by finite weights, 0 for those that are not to be drawn.
 * _apart draws each slot once at most, fewer than `count` if no more have a weight, with room for `count` keys; _again draws
 * with replacement, none if no slot has a weight, with room for `size` sums. Returns how many were drawn.
 */
size_t ocdm__draw_apart(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *keys,
                        size_t count);
size_t ocdm__draw_again(uint64_t seed, uint64_t number, const double *weight, uint32_t size, uint32_t *slots, double *sums,
                        size_t count);

/* ---- shards of a stream --------------------------------------------------------------------------------------------- */

/* What a shard of a stream kept and saw. */
struct ocdm__shard_counts {
    uint64_t number, arrived; /* its options.shard; how many samples were offered to it */
    const uint64_t *arrivals; /* of the samples that it kept, ascending */
    size_t kept_count;
    const ocdm_class *classes; /* id, kept and seen of each class */
    size_t class_count;
};

/*
 * Prepares a new memory for its first update, whose batch is what the shards kept: shard after shard, ascending by number, each
 * in order of arrival. Counts what they saw and did not keep, and fills `places`, room for the places among equals of the whole
 * batch, which must outlive the update. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__memory_expect_shards(ocdm_memory *memory, const struct ocdm__shard_counts *shards, size_t count,
                                       uint64_t *places, ocdm_error *error);

#endif
