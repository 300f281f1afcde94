/* Memory and batch of one step as plain label lists, taken before the update: the pool that the paper's loop would see. */
#ifndef OCDM_BENCH_REFERENCE_POOL_H
#define OCDM_BENCH_REFERENCE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "bench/reference.h"
#include "ocdm/ocdm.h"

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

/* Gives the room back. */
void ocdm__snapshot_release(ocdm__snapshot *snapshot);

#endif
