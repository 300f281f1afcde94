/* The internals of an agent, for the files of src/agent and its tests. */
#ifndef OCDM_AGENT_AGENT_PARTS_H
#define OCDM_AGENT_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/network.h"
#include "base/error.h"
#include "base/safetensors.h"

/* Room for what a pass computes of a batch. */
struct ocdm__pass_room {
    float *logits, *logit_gradients;
    double *row_losses;   /* without the part of dark replay */
    float *fresh_weights; /* of the classes, for samples of the stream */
    size_t rows;
};

struct ocdm__agent {
    ocdm__network *network;
    ocdm__network_settings settings;
    size_t class_count;
    uint64_t steps;
    struct ocdm__pass_room step;  /* what the last step computed */
    struct ocdm__pass_room asked; /* of gradients between steps, which must not change that */
    bool broken;                  /* a change of the weights was interrupted */
    size_t bad_sample;            /* of the last batch whose loss was not a number */
    const ocdm__ranks *ranks;     /* that work on it with this one; NULL: none */
    size_t *starts;               /* one more than there are ranks */
};

/* ---- agent_ranks.c ------------------------------------------------------------------------------------------------------- */

/* Finds the other ranks. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__agent_join_ranks(ocdm__agent *agent, ocdm_error *error);

/* Features of `count` images, of which this rank has its part: all ranks get all. */
ocdm_status ocdm__agent_gather_features(ocdm__agent *agent, const float *input, size_t count, float *features,
                                        ocdm_error *error);

/* Returns OCDM_OK, or OCDM_NO_MEMORY for an agent that must not be used any more. */
static inline ocdm_status ocdm__agent_check(const ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->broken)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_NO_MEMORY, "start again from the last checkpoint",
                      "memory ran out while the agent's weights were being changed: it cannot go on");
}

/* The learning rate of step number `step`, from 1. */
double ocdm__learning_rate(const ocdm__network_settings *settings, uint64_t step);

/* The constants of that step; the arrays are not filled in. */
struct ocdm__adam ocdm__step_of(const ocdm__network_settings *settings, uint64_t step);

/* ---- loss.c -------------------------------------------------------------------------------------------------------------- */

/* The mean loss of room->logits over all samples and classes; its gradient and the losses of samples go into the room. Stops at
 * a sample whose loss is not finite: `*bad` is its index, otherwise the batch's count. */
double ocdm__loss(const ocdm__loss_rule *rule, const ocdm__batch *batch, size_t classes, const struct ocdm__pass_room *room,
                  size_t *bad);

/* OCDM_OK; OCDM_BAD_ARGUMENT for a rule that its loss does not take. */
ocdm_status ocdm__loss_check(const ocdm__loss_rule *rule, ocdm_error *error);

/* ---- weights files --------------------------------------------------------------------------------------------------- */

/* Names that do not fit, as "a, b, c and 12 more". */
struct ocdm__name_list {
    char text[300];
    size_t used, count, left_out;
};

struct ocdm__weights_match {
    struct ocdm__name_list missing, unknown, misshapen;
    bool head_kept; /* the file has no head, or one with another number of classes: the network keeps its own */
    bool optimiser; /* Adam's averages are there */
};

/* Compares names and shapes, not values. */
void ocdm__weights_match(const ocdm__network *network, const struct ocdm__safetensors *file, struct ocdm__weights_match *match);

/* Whether everything fits. */
bool ocdm__weights_fit_all(const struct ocdm__weights_match *match);

/* The tensor of a parameter: its value for "", Adam's averages for "adam.m." and "adam.v.". NULL when there is none. */
const struct ocdm__tensor *ocdm__weights_find(const struct ocdm__safetensors *file, const char *prefix, const char *name);

/* Whether a file has all parameters of a network, the head too, in finite numbers. OCDM_OK, OCDM_BAD_FILE. */
ocdm_status ocdm__weights_check(const ocdm__network *network, const struct ocdm__weights *weights, ocdm_error *error);

/* Element number i of a tensor as a float; NaN for types that are not floating point. */
float ocdm__tensor_float(const struct ocdm__tensor *tensor, size_t i);

/* Whether the parameter belongs to the head. */
bool ocdm__is_head(const ocdm__network *network, const struct ocdm__parameter *parameter);

#endif
