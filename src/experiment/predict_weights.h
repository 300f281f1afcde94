/*
 * A weights file: safetensors, mapped and checked. Pickled files of PyTorch are refused, since reading one can execute
 * arbitrary code.
 */
#ifndef OCDM_EXPERIMENT_PREDICT_WEIGHTS_H
#define OCDM_EXPERIMENT_PREDICT_WEIGHTS_H

#include "base/files.h"
#include "base/safetensors.h"
#include "ocdm/ocdm.h"

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
 * Whether the head of a file is one for so many classes. The agent would initialise another one at random, which is right
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

#endif
