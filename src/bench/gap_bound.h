/* What no choice can beat: a lower bound for the optimum of eq. (3) on pools that are too large to try everything. */
#ifndef OCDM_BENCH_GAP_BOUND_H
#define OCDM_BENCH_GAP_BOUND_H

#include <stddef.h>

#include "bench/gap_pool.h"
#include "ocdm/ocdm.h"

/*
 * Sets `bound` to a distance such that no choice of `deletions` samples, 1 to OCDM__GAP_DELETIONS and fewer than are left,
 * leaves less, up to rounding (about 1e-12). The pool must have a label.
 *
 * OCDM_OK, OCDM_NO_MEMORY. Cost: a few hundred looks at every label set.
 */
ocdm_status ocdm__gap_bound(const ocdm__gap_pool *pool, size_t deletions, double *bound, ocdm_error *error);

#endif
