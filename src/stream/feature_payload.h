/*
 * Features on their way from a source's rows into a stream file: chosen, standardized on request, as 32 or 16 bits. One row is
 * in memory at a time.
 */
#ifndef OCDM_STREAM_FEATURE_PAYLOAD_H
#define OCDM_STREAM_FEATURE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"
#include "stream/file.h"
#include "stream/selection.h"

/* Start with all bytes zero. */
typedef struct ocdm__feature_payload {
    ocdm__payload_source source; /* for ocdm__stream_write */
    ocdm__feature_rows *rows;
    const ocdm__selection *selection;
    float *mean, *deviation; /* NULL when features stay as they are */
    float *row;              /* the one at hand */
    const char *file;        /* for messages; may be NULL; set it after opening */
} ocdm__feature_payload;

/*
 * Prepares the features of a selection; row i belongs to sample i of the set. With `standardize`, mean and deviation (of the
 * population: divided by n) of the training samples are found in a first pass over the rows.
 * OCDM_OK, OCDM_BAD_FILE (no rows for some samples, no training samples), OCDM_NO_MEMORY, OCDM_STOPPED, and what reading gives.
 */
ocdm_status ocdm__feature_payload_open(ocdm__feature_payload *payload, ocdm__feature_rows *rows,
                                       const ocdm__selection *selection, enum ocdm__dtype dtype, bool standardize,
                                       const ocdm__progress *progress, ocdm_error *error);

/* Gives everything back but the rows and the selection. */
void ocdm__feature_payload_close(ocdm__feature_payload *payload);

#endif
