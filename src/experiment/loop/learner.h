/*
 * A learner: a table of functions around a state. The online loop, evaluations and checkpoints know learners only through this
 * table; experiment/agent_learner.h makes one of the networks of src/agent.
 *
 * Functions return OCDM_OK, OCDM_NO_MEMORY, or what their comment says. A learner is used by one thread at a time.
 */
#ifndef OCDM_EXPERIMENT_LOOP_LEARNER_H
#define OCDM_EXPERIMENT_LOOP_LEARNER_H

#include "base/base.h"
#include "agent/batch.h"
#include "base/output.h"
#include "base/safetensors.h"
#include "experiment/loop/settings.h"
#include "experiment/loop/inputs.h"
#include "ranks/ranks.h"

typedef struct ocdm__learner_functions {
    /* Training and prediction are NULL for a learner outside the loop, which requests each step (ocdm_loop_open).
     * One step. OCDM_BAD_RECORD if the loss is not finite: `*bad` is the sample of the batch that caused it. */
    ocdm_status (*train)(void *state, const ocdm__batch *batch, double *loss, size_t *bad, ocdm_error *error);

    /* Logits, count x classes, positive where the class is predicted. */
    ocdm_status (*predict)(void *state, const float *input, size_t count, float *logits, ocdm_error *error);

    /* Gradient of the mean loss of a batch, gradient_size floats; nothing changes. NULL: policies that need gradients cannot be
     * used. */
    ocdm_status (*gradient)(void *state, const ocdm__batch *batch, float *gradient, ocdm_error *error);
    size_t (*gradient_size)(const void *state);

    /* Lists the tensors to save: all that a checkpoint needs, or only what is needed to predict. The list is allocated with
     * ocdm__allocate. */
    ocdm_status (*save)(void *state, bool all, ocdm__tensor_list *tensors, ocdm_error *error);

    /* The bytes of tensor number i of the list, valid until the next call. OCDM_BAD_RECORD for values that could not be loaded
     * again. NULL: the list has all data. */
    ocdm_status (*fetch)(void *state, const ocdm__tensor_list *tensors, size_t i, const unsigned char **data,
                         ocdm_error *error);

    /* Restores what a checkpoint saved. OCDM_BAD_FILE: nothing has changed. */
    ocdm_status (*load)(void *state, const struct ocdm__weights *saved, ocdm_error *error);

    /* What the last step computed. NULL: the run cannot use it. */
    ocdm__outputs (*outputs)(const void *state);

    /* Chooses what prediction and saving take from now on: 0 the trained weights, i the average of them number i - 1. NULL: the
     * learner keeps no averages. */
    ocdm_status (*use)(void *state, size_t version, ocdm_error *error);

    /* Floating-point operations of a training step on `count` samples, of which `fresh` are of the stream; docs/methods.md
     * says what is counted. NULL: not known. */
    double (*operations)(const void *state, size_t count, size_t fresh);

    void (*destroy)(void *state);

    /* For a learner that several ranks train and ask together, each with its own part of the samples in `input`: which rank has
     * which samples of a batch, as in ocdm__learner_part; all of them take over what the leader's learner is like; and the
     * leader gets what it lacks to save it. `deal` is NULL, or returns NULL, for a learner of this process alone. OCDM_OK,
     * OCDM_NO_MEMORY. */
    const ocdm__ranks *(*deal)(void *state, size_t count, bool training, const size_t **starts);
    ocdm_status (*share)(void *state, ocdm_error *error);
    void (*collect)(void *state);
} ocdm__learner_functions;

typedef struct ocdm__learner {
    const ocdm__learner_functions *functions;
    void *state;
    char instructions[64]; /* of the CPU that the last bits of its numbers depend on; "": it does not say */
} ocdm__learner;

/* Which samples of a batch this process prepares: first to end - 1; all of them if it is alone. */
typedef struct ocdm__learner_part {
    const ocdm__ranks *ranks; /* that have the other samples */
    const size_t *starts;     /* of all ranks, until the learner's next call */
    size_t first, end;
} ocdm__learner_part;

ocdm__learner_part ocdm__learner_part_of(const ocdm__learner *learner, size_t count, bool training);

/* Makes the learner of a run, whose samples are those of `inputs`. */
typedef struct ocdm__learner_maker ocdm__learner_maker;
struct ocdm__learner_maker {
    ocdm_status (*make)(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *learner, ocdm_error *error);
    void *context;                       /* for `make` */
    const ocdm__image_functions *images; /* of the inputs; NULL: the learner takes features */
    bool reads_samples;                  /* the learner reads the samples itself: `inputs` is NULL */
};

/* ---- files ------------------------------------------------------------------------------------------------------------- */

/* A safetensors file in which some tensors come from a learner. */
typedef struct ocdm__learner_file {
    const struct ocdm__note *notes;
    size_t note_count;
    const struct ocdm__tensor *tensors;
    size_t tensor_count;
    const ocdm__learner *learner;
    const ocdm__tensor_list *saved; /* these are tensors[first] and those after it, under names of the caller's choice */
    size_t first;
} ocdm__learner_file;

/* Writes the file, with the learner's tensors fetched one at a time. The second writes what is needed to predict as a weights
 * file with these notes. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY, OCDM_BAD_RECORD; on error `path` is as it was. */
ocdm_status ocdm__learner_file_write(const char *path, const ocdm__learner_file *file, ocdm_error *error);
ocdm_status ocdm__learner_save(const ocdm__learner *learner, const struct ocdm__note *notes, size_t note_count,
                               const char *path, ocdm_error *error);

#endif
