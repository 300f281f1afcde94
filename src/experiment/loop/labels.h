/* The labels of a stream's samples, and those of some samples brought together for the agent. */
#ifndef OCDM_EXPERIMENT_LOOP_LABELS_H
#define OCDM_EXPERIMENT_LOOP_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* Sample i of the stream has labels[starts[i]] up to labels[starts[i + 1] - 1]. */
typedef struct ocdm__label_lists {
    const uint64_t *starts;
    const uint32_t *labels;
} ocdm__label_lists;

/* The same of a batch, in room of its own that is used again and again. Start with all bytes zero. */
typedef struct ocdm__batch_labels {
    size_t *starts;
    uint32_t *labels;
    size_t start_room, label_room;
} ocdm__batch_labels;

/* Copies the labels of `count` samples. OCDM_OK, OCDM_NO_MEMORY. Allocates only when a batch is larger than any before. */
ocdm_status ocdm__batch_labels_gather(ocdm__batch_labels *batch, const ocdm__label_lists *lists, const uint32_t *samples,
                                      size_t count, ocdm_error *error);
void ocdm__batch_labels_clear(ocdm__batch_labels *batch);

#endif
