/*
 * A frozen backbone: what the head of a network sees of every sample (middle square, evaluation mode), computed once and stored
 * as a stream of features with the labels, tasks, parts, ids and groups of the stream that it comes from.
 */
#ifndef OCDM_EXPERIMENT_FEATURIZE_H
#define OCDM_EXPERIMENT_FEATURIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "base/safetensors.h"
#include "base/sha256.h"
#include "experiment/predict_network.h"
#include "ocdm/ocdm.h"

typedef struct ocdm__featurize_settings {
    ocdm__predictor_settings network; /* needs_head and skip_bad are not looked at: no head is needed, every image is */
    enum ocdm__dtype type;            /* of the stored features: OCDM__F32 or OCDM__F16 */
    bool standardize;                 /* by mean and deviation of the training part */
    const char *command;              /* for the file's notes */
    const char *output;
} ocdm__featurize_settings;

typedef struct ocdm__featurize_report {
    uint64_t samples, features, classes;
    char ids[OCDM__SHA256_TEXT];
} ocdm__featurize_report;

/*
 * Writes the stream, atomically: on error, or when stopped, the path is as it was. Memory does not grow with the number of
 * samples' features; with `standardize` they go through a temporary file beside the output.
 * OCDM_OK; OCDM_BAD_FILE (what ocdm__predictor_open gives; an image that cannot be decoded; no training sample to standardize
 * by); OCDM_BAD_RECORD (a feature that is not finite); OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__featurize(const ocdm__featurize_settings *settings, const ocdm__progress *progress,
                            ocdm__featurize_report *report, ocdm_error *error);

#endif
