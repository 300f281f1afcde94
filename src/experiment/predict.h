/*
 * Applies a network with the weights of a file to the samples of a stream, in evaluation mode: writes its logits as an NPY
 * file, or the inputs of its head as a stream of features. Samples come in batches; while one is worked on, the next is
 * prepared:
 *
 *     status = ocdm__predictor_open(&predictor, &settings, error);
 *     ocdm__predictor_begin(&predictor, samples, count);
 *     while (status == OCDM_OK && (status = ocdm__predictor_next(&predictor, &batch, error)) == OCDM_OK && batch.count > 0)
 *         status = ocdm__agent_predict(predictor.agent, batch.ready.tensor, batch.ready.count, logits, error);
 */
#ifndef OCDM_EXPERIMENT_PREDICT_H
#define OCDM_EXPERIMENT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/safetensors.h"
#include "base/sha256.h"
#include "experiment/loop/inputs.h"
#include "ocdm/ocdm.h"
#include "stream/features.h"
#include "stream/file.h"

/* ---- weights files ------------------------------------------------------------------------------------------------- */

/*
 * A weights file: safetensors, mapped and checked. Pickled files of PyTorch are refused, since reading one can execute
 * arbitrary code.
 */

/* Start with all bytes zero. */
typedef struct ocdm__weights_file {
    ocdm__mapped_file map;
    struct ocdm__safetensors tensors;
} ocdm__weights_file;

/* OCDM_OK, OCDM_IO, OCDM_BAD_FILE, OCDM_NO_MEMORY; on error nothing is left open. `path` must live as long as the file. */
ocdm_status ocdm__weights_open(ocdm__weights_file *weights, const char *path, ocdm_error *error);

/* Closes the file. Does nothing for a struct of zeros. */
void ocdm__weights_close(ocdm__weights_file *weights);

struct ocdm__weights_fit;

/*
 * Whether the head of a file is one for this many classes. The agent would initialise another one at random, which is right
 * for training and wrong for predicting.
 *
 * path   the file's, for the message
 * fit    what the agent says of it
 *
 * OCDM_OK; OCDM_BAD_FILE for another number of classes, or none.
 */
ocdm_status ocdm__weights_check_head(const char *path, const struct ocdm__weights_fit *fit, size_t classes, ocdm_error *error);

/* The learned numbers in it: without running statistics, counters and what the optimiser keeps. */
uint64_t ocdm__weights_parameters(const struct ocdm__safetensors *file);

/* ---- network ------------------------------------------------------------------------------------------------------------- */

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
    ocdm__model_inputs *inputs;
    ocdm__agent *agent;
    const uint32_t *samples; /* the caller's */
    size_t count;
    size_t batch;
    size_t next; /* the first sample of the batch to come */
    unsigned slot;
} ocdm__predictor;

/*
 * Opens both files and makes the network. OCDM_OK; OCDM_BAD_FILE for a damaged file, weights that do not fit the model or the
 * stream, a stream that is not what the model takes; OCDM_IO, OCDM_BAD_ARGUMENT, OCDM_LIMIT, OCDM_NO_MEMORY. Close it even
 * after an error.
 */
ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error);

/* Releases everything. */
void ocdm__predictor_close(ocdm__predictor *predictor);

/* Which samples to go through, in which order. The array must outlive the work. Once for a predictor. */
ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, const uint32_t *samples, size_t count, ocdm_error *error);

/* A batch: the samples from number `first` of the list on. */
typedef struct ocdm__predictor_batch {
    size_t first, count;
    ocdm__ready ready; /* those of them that could be prepared */
} ocdm__predictor_batch;

/* The next batch, with a count of 0 when all are done. Invalidates the previous one. OCDM_OK, and what ocdm__model_inputs_wait
 * gives. */
ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__predictor_batch *batch, ocdm_error *error);

/* ---- logits -------------------------------------------------------------------------------------------------------------- */

enum ocdm__predict_part { OCDM__PREDICT_TEST, OCDM__PREDICT_TRAIN, OCDM__PREDICT_ALL };

typedef struct ocdm__predict_settings {
    ocdm__predictor_settings network; /* needs_head is ignored: a head is needed */
    enum ocdm__predict_part part;
    const char *output;
} ocdm__predict_settings;

typedef struct ocdm__predict_report {
    uint64_t samples, classes;
    uint64_t skipped; /* rows of NaN: samples whose image could not be decoded */
    ocdm_error first_skipped;
} ocdm__predict_report;

/*
 * Writes the file, atomically: on error, or when stopped, the path is unchanged. With `skip_bad` a sample whose image cannot be
 * decoded has a row of NaN; without it such an image is an error.
 * OCDM_OK, OCDM_BAD_FILE (what ocdm__predictor_open gives; no sample in that part), OCDM_BAD_RECORD (a logit that is not
 * finite), OCDM_IO, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__predict(const ocdm__predict_settings *settings, const ocdm__progress *progress, ocdm__predict_report *report,
                          ocdm_error *error);

/* ---- features ------------------------------------------------------------------------------------------------------------ */

typedef struct ocdm__featurize_settings {
    ocdm__predictor_settings network; /* needs_head and skip_bad are ignored: no head is needed, every image is */
    enum ocdm__dtype type;            /* of the stored features: OCDM__F32 or OCDM__F16 */
    enum ocdm__standardize standardize;
    const char *command; /* for the file's notes */
    const char *output;
} ocdm__featurize_settings;

typedef struct ocdm__featurize_report {
    uint64_t samples, features, classes;
    char ids[OCDM__SHA256_TEXT];
} ocdm__featurize_report;

/*
 * Writes the stream, atomically: on error, or when stopped, the path is unchanged. Memory does not grow with the number of
 * samples' features; with `standardize` they go through a temporary file beside the output.
 * OCDM_OK; OCDM_BAD_FILE (what ocdm__predictor_open gives; an image that cannot be decoded; no training sample to standardize
 * by); OCDM_BAD_RECORD (a feature that is not finite); OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__featurize(const ocdm__featurize_settings *settings, const ocdm__progress *progress,
                            ocdm__featurize_report *report, ocdm_error *error);

#endif
