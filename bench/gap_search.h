/* Searches for the best choice of eq. (3): which samples to delete from one pool. */
#ifndef OCDM_BENCH_GAP_SEARCH_H
#define OCDM_BENCH_GAP_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "bench/reference.h"
#include "ocdm/ocdm.h"

/* ---- the pool ------------------------------------------------------------------------------------------------------ */

/*
 * Memory and batch of one step, grouped by label set, from which samples are deleted and put back: what the searches for the
 * optimum of eq. (3) run on. Samples with equal label sets are interchangeable, so a search needs to look at one of each. For
 * the KL distance to an equal target (rho = 0). Sums are kept on a grid of 2^-32 in whole numbers: taking a sample out and
 * putting it back leaves no trace.
 */

typedef struct ocdm__gap_pool {
    size_t set_count;  /* distinct label sets */
    size_t *set_start; /* set s carries set_label[set_start[s]] .. set_label[set_start[s + 1] - 1], ascending */
    uint32_t *set_label;
    uint32_t *copies; /* samples of each set, not deleted */
    uint32_t *set_of; /* of each sample of the lists that the pool was made from */
    size_t class_count;
    size_t in_play;  /* classes that the pool had when it was made: the target's */
    uint32_t *count; /* m_i of what is left */
    uint64_t total;  /* S, their sum */
    int64_t sum;     /* sum of m_i ln m_i */
    int64_t *step;   /* m ln m - (m - 1) ln (m - 1) by m */
    double *ln;      /* ln s by s, up to the first S */
} ocdm__gap_pool;

/* Groups the samples of `lists`, whose target is not used. OCDM_OK, OCDM_NO_MEMORY; on success yours to destroy. */
ocdm_status ocdm__gap_pool_create(const ocdm__reference_pool *lists, ocdm__gap_pool **pool, ocdm_error *error);

/* Frees it. NULL is fine. */
void ocdm__gap_pool_destroy(ocdm__gap_pool *pool);

/* Deletes a sample with this label set, or puts one back. There must be one. */
void ocdm__gap_delete(ocdm__gap_pool *pool, uint32_t set);
void ocdm__gap_restore(ocdm__gap_pool *pool, uint32_t set);

/* KL(p_omega || p) of what is left; infinite when no label is. */
double ocdm__gap_distance(const ocdm__gap_pool *pool);

/* The same when one sample more were deleted. O(its labels). */
double ocdm__gap_distance_without(const ocdm__gap_pool *pool, uint32_t set);

/* The most samples that the searches delete at once. */
#define OCDM__GAP_DELETIONS 16

/*
 * The optimum: tries every choice of `deletions` samples, from 1 to OCDM__GAP_DELETIONS and at most what is left. Writes their
 * label sets to `sets` and returns the distance that they leave; the pool is as before. Cost: (sets over deletions) label sets.
 */
double ocdm__gap_best(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets);

/*
 * An upper bound for pools on which an exhaustive search is infeasible: from the given choice (deleted from the pool already,
 * its label sets in `sets`) exchanges one deleted sample at a time, then two at a time, for better ones until no exchange
 * helps. Leaves the better choice deleted and in `sets`, returns its distance.
 */
double ocdm__gap_exchange(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets);

/* ---- the bound ----------------------------------------------------------------------------------------------------- */

/* A lower bound for the optimum of eq. (3), for pools that are too large for an exhaustive search. */

/*
 * Sets `bound` to a distance such that no choice of `deletions` samples, 1 to OCDM__GAP_DELETIONS and fewer than are left,
 * leaves less, up to rounding (about 1e-12). The pool must have a label.
 *
 * OCDM_OK, OCDM_NO_MEMORY. Cost: a few hundred looks at every label set.
 */
ocdm_status ocdm__gap_bound(const ocdm__gap_pool *pool, size_t deletions, double *bound, ocdm_error *error);

#endif
