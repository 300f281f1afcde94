/*
 * Feeds a learner with batches. Of every batch, a process prepares the samples that it computes on: all of them, or its part
 * where several ranks share a learner. Once they are prepared, all ranks know which samples of the batch can be used.
 *
 *     ocdm__feed_request(&feed, 0, &first, first.count, 0, first.count, error);
 *     ocdm__feed_request(&feed, 1, &second, ...);
 *     ocdm__feed_receive(&feed, 0, &first, error);  train on first.input;  ocdm__feed_request(&feed, 0, &third, ...);
 */
#ifndef OCDM_EXPERIMENT_LOOP_FEED_H
#define OCDM_EXPERIMENT_LOOP_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/batch.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "ocdm/ocdm.h"

/* Start with all bytes zero. */
typedef struct ocdm__feed {
    ocdm__model_inputs *inputs;
    const ocdm__learner *learner; /* says which samples are this process's */
    bool training;                /* images are augmented; else the middle of each is taken */
    bool reports;                 /* where a rank cannot prepare its part, all get its error; else that rank ends them all */
    struct ocdm__feed_range {
        size_t first, end;
    } ranges[OCDM__INPUT_SLOTS]; /* of each slot, the positions in its batch that are being prepared; 0 to 0: none are */
    uint32_t *unusable;          /* for each sample of a batch: 1 if it cannot be prepared */
    uint32_t *usable, *samples;  /* what is left of a batch: positions, and their samples */
    uint64_t lost;               /* samples so far that no rank could prepare */
} ocdm__feed;

/* Room for batches of up to `room` samples. `feed` has inputs, learner and the two flags. OCDM_OK, OCDM_NO_MEMORY. Close it
 * even after an error. */
ocdm_status ocdm__feed_open(ocdm__feed *feed, size_t room, ocdm_error *error);
void ocdm__feed_close(ocdm__feed *feed);

/* Starts preparing those samples at positions `first` to `end` - 1 that are this process's when `count` samples are trained on
 * or predicted at once. Step, update, samples and fresh of the batch are read. A slot may have been asked for these samples
 * already, when `count` was expected to be another number: it keeps them, unless this process has other ones now. OCDM_OK, and
 * what ocdm__model_inputs_request gives. */
ocdm_status ocdm__feed_request(ocdm__feed *feed, unsigned slot, const ocdm__batch *batch, size_t count, size_t first,
                               size_t end, ocdm_error *error);

/*
 * Waits for a batch whose samples were requested from one slot, or from two, which follow each other in the batch: their input
 * is joined in `joined`, room for all samples, and NULL for one slot.
 *
 * Then `input` of the batch has this process's samples, and the batch the samples that every rank can use: `usable` are their
 * positions in what the batch was. Both arrays live until the next batch. OCDM_OK, and what ocdm__model_inputs_wait gives.
 */
ocdm_status ocdm__feed_receive(ocdm__feed *feed, unsigned slot, ocdm__batch *batch, ocdm_error *error);
ocdm_status ocdm__feed_receive_two(ocdm__feed *feed, unsigned first, unsigned second, float *joined, ocdm__batch *batch,
                                   ocdm_error *error);

#endif
