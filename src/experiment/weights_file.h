/*
 * Weights files: safetensors, mapped and checked, with the names that other programs put around a network's own taken away, and
 * what is known about them. Pickled files of PyTorch are refused, since reading one can execute arbitrary code.
 */
#ifndef OCDM_EXPERIMENT_WEIGHTS_FILE_H
#define OCDM_EXPERIMENT_WEIGHTS_FILE_H

#include "base/base.h"
#include "agent/agent.h"
#include "base/files.h"
#include "base/safetensors.h"
#include "experiment/folder/weights_about.h"

/* Start with all bytes zero. */
typedef struct ocdm__weights_file {
    ocdm__mapped_file map;
    struct ocdm__safetensors whole;   /* as it is in the file */
    struct ocdm__safetensors tensors; /* the network's: those under the wrapper, by their names without it */
    const char *wrapper;              /* such as "module." or "state_dict.model.", not ended by a NUL */
    size_t wrapper_length;            /* 0: none */
} ocdm__weights_file;

/* OCDM_OK, OCDM_IO, OCDM_BAD_FILE (also for the checkpoint of a run and for a stream), OCDM_NO_MEMORY; on error nothing is left
 * open. `path` must live as long as the file. */
ocdm_status ocdm__weights_open(ocdm__weights_file *weights, const char *path, ocdm_error *error);

/* The same for any safetensors file. */
ocdm_status ocdm__weights_open_any(ocdm__weights_file *weights, const char *path, ocdm_error *error);

/* Closes the file. Does nothing for a struct of zeros. */
void ocdm__weights_close(ocdm__weights_file *weights);

/* OCDM_OK for weights. OCDM_BAD_FILE for the checkpoint of a run or for a stream: the hint says which file to take. */
ocdm_status ocdm__weights_check_kind(const ocdm__weights_file *weights, ocdm_error *error);

/* What the file says about itself and which model its tensors fit, checked against each other. Clear `about` even after an
 * error. OCDM_OK, OCDM_BAD_FILE, OCDM_NO_MEMORY. */
ocdm_status ocdm__weights_describe(const ocdm__weights_file *weights, struct ocdm__weights_fit *fit, ocdm__weights_about *about,
                                   ocdm_error *error);

/*
 * The model to use: the one that is asked for, or, if that is NULL, the one that the tensors fit. A model of images that is
 * asked for and lacks tensors is left to the agent, which reports them. OCDM_OK, OCDM_BAD_FILE with the one reason why no model
 * fits.
 */
ocdm_status ocdm__weights_choose_model(const ocdm__weights_file *weights, const struct ocdm__weights_fit *fit,
                                       const char **model, ocdm_error *error);

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

/* Whether the classes are those of a stream, in the same order; OCDM_OK too if the file does not name them. OCDM_BAD_FILE. */
ocdm_status ocdm__weights_check_classes(const char *path, const ocdm__weights_about *about, const ocdm__stream_table *table,
                                        ocdm_error *error);

/*
 * Makes the features of a stream those that the weights were trained with. If only the weights carry a mean and a deviation,
 * the stream standardizes by them from now on: `about` must outlive it, and `note`, which may be NULL, is called.
 *
 * OCDM_OK, also if nothing is known or the stream has no features of that number; OCDM_BAD_FILE for a stream that was
 * standardized, but not as that of the weights.
 */
ocdm_status ocdm__weights_match_features(const char *path, const ocdm__weights_about *about, ocdm__stream *stream,
                                         void (*note)(const char *text), ocdm_error *error);

/* The sizes of images: where they are 0, those that the weights were trained with, if they say so; if only one is given, the
 * other is made to fit. Unless NULL, `note` is called if the result differs from what the weights were trained with. */
void ocdm__weights_choose_size(const ocdm__weights_about *about, uint32_t *resize, uint32_t *crop,
                               void (*note)(const char *text));

/* Calls `note` alone, which may be NULL, for a size that is known already. */
void ocdm__weights_tell_size(const ocdm__weights_about *about, uint32_t resize, uint32_t crop, void (*note)(const char *text));

/* What image files have where nothing else is known: 256 and 224 pixels, or as much as fits. */
void ocdm__weights_usual_size(const ocdm__weights_about *about, uint32_t *resize, uint32_t *crop);

/* OCDM_BAD_ARGUMENT for sizes that are given with a model of features. */
ocdm_status ocdm__weights_check_size(const char *model, uint32_t resize, uint32_t crop, ocdm_error *error);

/* The learned numbers in it: without running statistics, counters, averages and what the optimiser keeps. */
uint64_t ocdm__weights_parameters(const struct ocdm__safetensors *file);

#endif
