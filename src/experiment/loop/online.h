/*
 * The online step: draw samples to replay, one forward, backward and Adam step on them and the stream's batch together, then
 * update the memory with the batch. Agent and memory see samples, labels and the order in which they come, and nothing else:
 * what a task is, nobody here knows (experiment/loop/schedule.h does).
 */
#ifndef OCDM_EXPERIMENT_LOOP_ONLINE_H
#define OCDM_EXPERIMENT_LOOP_ONLINE_H

#include <stddef.h>
#include <stdint.h>

#include "experiment/loop/gss_similarity.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/labels.h"
#include "experiment/loop/learner.h"
#include "ocdm/ocdm.h"

/* Seconds that the parts of all steps took. */
typedef struct ocdm__step_times {
    double draw;   /* choosing whom to replay */
    double decode; /* waiting for samples, and bringing them together */
    double train;
    double update; /* of the memory */
} ocdm__step_times;

/* Who takes part; they stay the caller's. */
typedef struct ocdm__online_parts {
    ocdm__label_lists labels;
    const ocdm__learner *learner; /* NULL: the memory alone */
    ocdm__inputs *inputs;         /* of the same stream; NULL without a learner */
    ocdm_memory *memory;          /* NULL: nothing is replayed; ids in it are numbers of samples */
    uint32_t batch;               /* the most samples of a step */
    uint32_t replay;
} ocdm__online_parts;

/* Start with all bytes zero. */
typedef struct ocdm__online {
    ocdm__online_parts parts;
    ocdm__gss_similarity similarity;
    ocdm__step_times times;
    uint64_t skipped; /* samples of the stream whose image could not be decoded: they neither train nor enter the memory */
    bool requested;   /* the next step's batch is being prepared already */

    uint32_t *slots, *replayed; /* what is replayed: slots of the memory, samples of the stream */
    uint32_t *chosen;           /* the samples of the step, those of the stream first */
    size_t stream_count;        /* how many of them are of the stream */
    ocdm_sample *offered;
    ocdm__batch_labels labels;
    float *input;
} ocdm__online;

/* Makes room for the steps; `online` must stay where it is, since a memory of the policy gss asks it. OCDM_OK, OCDM_NO_MEMORY.
 * To be closed in either case. */
ocdm_status ocdm__online_open(ocdm__online *online, const ocdm__online_parts *parts, ocdm_error *error);
void ocdm__online_close(ocdm__online *online);

/* A step's samples of the stream, and those of the step after it, which are prepared meanwhile. */
typedef struct ocdm__online_batch {
    uint64_t step; /* from 0: for the augmentation */
    const uint32_t *samples;
    size_t count;
    const uint32_t *next;
    size_t next_count; /* 0: there is none */
} ocdm__online_batch;

/*
 * One step. `loss` becomes NaN when nothing was trained on. OCDM_OK, and what reading a sample, training (OCDM_BAD_RECORD: the
 * loss is not finite) or the memory gives. After an error the step cannot be made again.
 */
ocdm_status ocdm__online_step(ocdm__online *online, const ocdm__online_batch *batch, double *loss, ocdm_error *error);

#endif
