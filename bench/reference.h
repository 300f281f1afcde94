/*
 * The paper's loop as written (Algorithm 1 with eq. (7)): for every deletion and every candidate, the distance is computed
 * again over all classes, one logarithm each, nothing kept from one candidate to the next. It is what the fast memory is
 * measured against.
 */
#ifndef OCDM_BENCH_REFERENCE_H
#define OCDM_BENCH_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* Memory and batch together, as label lists: sample i carries label[label_start[i]] .. label[label_start[i + 1] - 1], no
 * repeats. */
typedef struct ocdm__reference_pool {
    size_t sample_count;
    size_t class_count;
    const size_t *label_start; /* sample_count + 1 of them */
    const uint32_t *label;     /* below class_count */
    const double *target;      /* p_i of each class, over 0 for every class of the pool */
} ocdm__reference_pool;

/*
 * Deletes `deletions` samples one by one, each the first one whose deletion leaves the least KL(p_omega || p).
 *
 * deleted   room for `deletions` positions in the pool, in order of deletion
 * distance  the distance of what is left; infinite when no label is; may be NULL
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (more deletions than samples), OCDM_NO_MEMORY.
 * Cost: deletions x samples x classes logarithms.
 */
ocdm_status ocdm__reference_delete(const ocdm__reference_pool *pool, size_t deletions, uint32_t *deleted, double *distance,
                                   ocdm_error *error);

/* ---- the pool of a step -------------------------------------------------------------------------------------------- */

/* Memory and batch of one step as plain label lists, taken before the update: the pool that the paper's loop would see. */

/* Start from {0}; release when done. One snapshot may be taken over and over. */
typedef struct ocdm__snapshot {
    ocdm__reference_pool pool; /* slots 0, 1, ... first, then the batch; the target is equal over the classes in play */
    size_t *label_start;
    uint32_t *label;
    double *target;
    size_t sample_room, label_room, class_room;
} ocdm__snapshot;

/* Takes the pool of `memory` and `batch`, whose class ids are below class_count. OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__snapshot_take(ocdm__snapshot *snapshot, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                                size_t class_count, ocdm_error *error);

/* Frees the snapshot. */
void ocdm__snapshot_release(ocdm__snapshot *snapshot);

#endif
