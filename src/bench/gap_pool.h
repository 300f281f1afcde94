/*
 * Memory and batch of one step, grouped by label set, from which samples are deleted and put back: what the searches for the
 * optimum of eq. (3) run on. Samples with equal label sets are interchangeable, so a search needs to look at one of each. For
 * the KL distance to an equal target (rho = 0). Sums are kept on a grid of 2^-32 in whole numbers: taking a sample out and
 * putting it back leaves no trace.
 */
#ifndef OCDM_BENCH_GAP_POOL_H
#define OCDM_BENCH_GAP_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "bench/reference.h"
#include "ocdm/ocdm.h"

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

#endif
