/*
 * A network with the weights of a file over the samples of a stream, in evaluation mode: what predicting and featurizing share.
 * Samples come in batches, and while one is looked at the next is prepared:
 *
 *     status = ocdm__predictor_open(&predictor, &settings, error);
 *     ocdm__predictor_begin(&predictor, samples, count);
 *     while (status == OCDM_OK && (status = ocdm__predictor_next(&predictor, &batch, error)) == OCDM_OK && batch.count > 0)
 *         status = ocdm__agent_predict(predictor.agent, batch.ready.tensor, batch.ready.count, logits, error);
 */
#ifndef OCDM_EXPERIMENT_PREDICT_NETWORK_H
#define OCDM_EXPERIMENT_PREDICT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/progress.h"
#include "experiment/loop/inputs.h"
#include "experiment/predict_weights.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

/* The texts must live as long as the predictor. */
typedef struct ocdm__predictor_settings {
    const char *stream;     /* a stream file */
    const char *model;      /* one of ocdm__model_names */
    const char *weights;    /* a weights file */
    uint32_t resize, crop;  /* as in experiment/loop/inputs.h */
    const char *image_root; /* instead of the stream's own; NULL */
    unsigned threads;       /* for the network, and as many for images */
    size_t batch;           /* samples at a time, from 1 */
    bool bf16;
    bool skip_bad;   /* images that cannot be decoded are left out of a batch; else they end the work */
    bool needs_head; /* the weights must have a head with the stream's number of classes */
} ocdm__predictor_settings;

/* Start with all bytes zero. */
typedef struct ocdm__predictor {
    ocdm__stream stream;
    ocdm__weights_file weights;
    ocdm__inputs *inputs;
    ocdm__agent *agent;
    const uint32_t *samples; /* the caller's */
    size_t count;
    size_t batch;
    size_t next; /* the first sample of the batch to come */
    unsigned slot;
} ocdm__predictor;

/*
 * Opens both files and makes the network. OCDM_OK; OCDM_BAD_FILE for a damaged file, weights that do not fit the model or the
 * stream, a stream that is not what the model takes; OCDM_IO, OCDM_BAD_ARGUMENT, OCDM_LIMIT, OCDM_NO_MEMORY. To be closed in
 * either case.
 */
ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error);

/* Gives everything back. */
void ocdm__predictor_close(ocdm__predictor *predictor);

/* Which samples to go through, in which order. The array must outlive the work. Once for a predictor. */
ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, const uint32_t *samples, size_t count, ocdm_error *error);

/* A batch: the samples from number `first` of the list on. */
typedef struct ocdm__predictor_batch {
    size_t first, count;
    ocdm__ready ready; /* those of them that could be prepared */
} ocdm__predictor_batch;

/* The next batch, with a count of 0 when all are done; the one before is gone then. OCDM_OK, and what ocdm__inputs_wait gives.
 */
ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__predictor_batch *batch, ocdm_error *error);

#endif
