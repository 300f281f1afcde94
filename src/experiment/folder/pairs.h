/* The pairs of classes that occur together most often in the training samples of a stream, and how often in a memory. */
#ifndef OCDM_EXPERIMENT_FOLDER_PAIRS_H
#define OCDM_EXPERIMENT_FOLDER_PAIRS_H

#include "base/base.h"
#include "stream/file.h"

#define OCDM__MOST_PAIRS 20u

typedef struct ocdm__pair {
    uint32_t low, high; /* numbers of classes */
    uint64_t seen;      /* training samples that carry both */
    uint64_t kept;      /* samples in memory that do */
} ocdm__pair;

/*
 * The most frequent pairs, more frequent ones first, of equally frequent ones that with the lower classes. `memory` has numbers
 * of samples as ids; NULL: none. None are found in a stream whose samples have more than 2^24 pairs together. OCDM_OK,
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__pairs_find(const ocdm__stream_table *table, const ocdm_memory *memory, ocdm__pair pairs[OCDM__MOST_PAIRS],
                             size_t *count, ocdm_error *error);

#endif
