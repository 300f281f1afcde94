/* How good could the choice of eq. (3) be? Searches over what to delete from one pool. */
#ifndef OCDM_BENCH_GAP_SEARCH_H
#define OCDM_BENCH_GAP_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "bench/gap_pool.h"

/* The most samples that the searches delete at once. */
#define OCDM__GAP_DELETIONS 16

/*
 * The optimum: tries every choice of `deletions` samples, from 1 to OCDM__GAP_DELETIONS and at most what is left. Writes their
 * label sets to `sets` and returns the distance that they leave; the pool is as before. Cost: (sets over deletions) label sets.
 */
double ocdm__gap_best(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets);

/*
 * A bound where trying everything is out of reach: from the given choice (deleted from the pool already, its label sets in
 * `sets`) exchanges one deleted sample at a time, then two at a time, for better ones until no exchange helps. Leaves the
 * better choice deleted and in `sets`, returns its distance.
 */
double ocdm__gap_exchange(ocdm__gap_pool *pool, size_t deletions, uint32_t *sets);

#endif
