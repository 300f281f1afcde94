/* One step of OCDM on a real stream, as the paper's Figure 1 draws it: a batch joins a full memory, samples leave one by one,
 * and the class distribution approaches the target. */
#ifndef OCDM_EXPERIMENT_PAPER_PROCESS_H
#define OCDM_EXPERIMENT_PAPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"

#define OCDM__PROCESS_BATCH 10

/* A sample that joins or leaves, and the distance of the pool after that. */
typedef struct ocdm__process_event {
    bool joins;
    uint32_t sample; /* of the stream */
    double distance; /* KL to equal shares over the classes in the pool; NaN while the batch joins */
} ocdm__process_event;

typedef struct ocdm__process {
    uint64_t step; /* from 1 */
    ocdm__process_event events[2 * OCDM__PROCESS_BATCH];
    size_t event_count;
    uint64_t *counts; /* samples in memory with each class of the table, after the step */
} ocdm__process;

/*
 * Runs the memory with `capacity` slots up to the first step of the second task, or the first that finds the memory full if
 * that comes later, and records what happens in it. rho is 0. OCDM_OK, OCDM_BAD_ARGUMENT (the memory never fills),
 * OCDM_NO_MEMORY. Clear it even after an error.
 */
ocdm_status ocdm__process_of(ocdm__process *process, const ocdm__stream_table *table, uint32_t capacity, ocdm_error *error);

void ocdm__process_clear(ocdm__process *process);

#endif
