/* Logits of a part of a stream as an NPY file: a row for each sample in the order of the stream, a column for each class. */
#ifndef OCDM_EXPERIMENT_PREDICT_H
#define OCDM_EXPERIMENT_PREDICT_H

#include <stdint.h>

#include "base/progress.h"
#include "experiment/predict_network.h"
#include "ocdm/ocdm.h"

enum ocdm__predict_part { OCDM__PREDICT_TEST, OCDM__PREDICT_TRAIN, OCDM__PREDICT_ALL };

typedef struct ocdm__predict_settings {
    ocdm__predictor_settings network; /* needs_head is not looked at: there must be one */
    enum ocdm__predict_part part;
    const char *output;
} ocdm__predict_settings;

typedef struct ocdm__predict_report {
    uint64_t samples, classes;
    uint64_t skipped; /* rows of NaN: samples whose image could not be decoded */
    ocdm_error first_skipped;
} ocdm__predict_report;

/*
 * Writes the file, atomically: on error, or when stopped, the path is as it was. With `skip_bad` a sample whose image cannot be
 * decoded has a row of NaN; without it such an image is an error.
 * OCDM_OK, OCDM_BAD_FILE (what ocdm__predictor_open gives; no sample in that part), OCDM_BAD_RECORD (a logit that is not
 * finite), OCDM_IO, OCDM_NO_MEMORY, OCDM_STOPPED.
 */
ocdm_status ocdm__predict(const ocdm__predict_settings *settings, const ocdm__progress *progress, ocdm__predict_report *report,
                          ocdm_error *error);

#endif
