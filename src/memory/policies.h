/* The library's policies, one file each, and what they share. */
#ifndef OCDM_MEMORY_POLICIES_H
#define OCDM_MEMORY_POLICIES_H

#include "memory/internal.h"
#include "memory/memory.h"

#define OCDM__POLICY_DECLARATION(symbol, name) extern const ocdm_policy ocdm__policy_##symbol;
OCDM__POLICIES(OCDM__POLICY_DECLARATION)

/* Traits of rows that no caller has to know: what the memory keeps for the policy beyond counts, and what it must not do. */
#define DIVIDES_PLACES (1u << 29) /* its places belong to tasks: no sample is forgotten, and the capacity stays */
#define RANKS_CLASSES (1u << 30)  /* it asks for the largest classes */

/* OCDM_BAD_ARGUMENT: there is no callback for the comparisons that the policy needs. */
ocdm_status ocdm__fail_without_gradients(const ocdm_memory *memory, ocdm_error *error);
/* Whether it is a row of the table, and no copy. */
bool ocdm__policy_is_ours(const ocdm_policy *policy);

/*
 * A uniform choice among candidates that come in any order: every sample gets a ticket, a hash of its arrival number under a
 * base drawn for this choice, and the smallest ticket wins. So the choice does not depend on how the pool is laid out.
 */
struct lottery {
    uint64_t base;
    uint64_t ticket;
    uint32_t node; /* the winner so far; OCDM_NONE before the first candidate */
};

struct lottery ocdm__lottery(ocdm__random *random);
void ocdm__lottery_enter_set(struct lottery *lottery, const struct pool *pool, uint32_t set);
void ocdm__lottery_enter_class(struct lottery *lottery, const struct pool *pool, uint32_t class_index);

/*
 * The same choice for many candidates: guess positions until one fits, since a share of the pool that is not small is soon hit.
 * OCDM_NONE when the candidates are few, or none was hit; the lottery decides then.
 */
typedef bool ocdm__fits(const struct pool *pool, uint32_t node, uint32_t which);
uint32_t ocdm__guess(const struct pool *pool, ocdm__random *random, uint64_t candidates, ocdm__fits *fits, uint32_t which);

/* A uniform sample among those that carry a class, some do: its position. */
uint32_t ocdm__any_of_class(const struct pool *pool, uint32_t class_index, ocdm__random *random);

/* A uniform sample of the whole pool: its position. */
uint32_t ocdm__any_at_all(const struct pool *pool, ocdm__random *random);

/* The rule of max: a uniform sample of one of the largest classes. cbes shrinks by it, too. */
ocdm_status ocdm__remove_from_largest(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error);

/* One of the classes with the largest m_i, ties uniform. Some class has a sample, and classes are ranked. */
uint32_t ocdm__largest_class(const struct pool *pool, ocdm__random *random);

/* What a search under a distance other than KL needs: the target, which is fixed for a batch, and what is left after the
 * deletion of a sample with so many labels, base - scale * (the sum of its classes' weights). */
struct scan {
    const ocdm_memory *memory;
    double *target;
    int64_t *weight;
    uint32_t room;
    uint64_t step; /* the batch that the target is for */
    uint32_t labels;
    double base;
    double scale;
};

/* What ocdm__index_search does, under a distance other than KL. */
void ocdm__scan_search(struct scan *scan);

#endif
