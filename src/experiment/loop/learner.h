/* The agent of a run and its files: made for a stream with the weights of a file, saved for others to read. */
#ifndef OCDM_EXPERIMENT_LOOP_LEARNER_H
#define OCDM_EXPERIMENT_LOOP_LEARNER_H

#include "agent/agent.h"
#include "experiment/loop/inputs.h"
#include "experiment/predict_weights.h"
#include "ocdm/ocdm.h"

/* Makes an agent, its features or image size being those of the inputs; `weights` is a file's path or NULL. As
 * ocdm__agent_create, and what the file gives. */
ocdm_status ocdm__learner_create(ocdm__agent_settings *settings, const ocdm__inputs *inputs, const char *weights,
                                 ocdm__agent **agent, ocdm_error *error);

/* Whether a model wants its images from -1 to 1 rather than by ImageNet's mean and deviation. */
bool ocdm__learner_is_symmetric(const char *model);

/* Writes the network, without Adam's averages. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__learner_save(ocdm__agent *agent, const char *model, const char *path, ocdm_error *error);

#endif
