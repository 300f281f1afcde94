/* Answers of a network that are no answers: what weights that are too large, or a training that diverged, end in. */
#ifndef OCDM_EXPERIMENT_LOOP_LOGITS_CHECK_H
#define OCDM_EXPERIMENT_LOOP_LOGITS_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* Whose answer it is, for the message. */
typedef struct ocdm__logits_source {
    const char *stream; /* the file's name */
    const char *hint;   /* what a user may do about it */
} ocdm__logits_source;

/* OCDM_OK; OCDM_BAD_RECORD when one of the `classes` logits of a sample is infinite or not a number. */
ocdm_status ocdm__logits_check(const ocdm__logits_source *source, uint32_t sample, const float *logits, size_t classes,
                               ocdm_error *error);

#endif
