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
    double *row_losses;
    size_t rows;
};

struct ocdm__agent {
    ocdm__network *network;
    ocdm__agent_settings settings; /* model is NULL: the network has it */
    uint64_t steps;
    struct ocdm__pass_room step;  /* what the last step computed */
    struct ocdm__pass_room asked; /* of gradients between steps, which must not change that */
    float *fresh_weights;         /* of the classes of a batch */
    bool broken;                  /* a change of the weights was interrupted */
    size_t bad_sample;            /* of the last batch whose loss was not a number */
    /* on several ranks; see together.c */
    const ocdm__ranks *ranks; /* NULL: this process alone */
    uint32_t number;          /* among the agents of all ranks */
    bool changed;             /* the other ranks have other weights */
    size_t *starts;           /* one more than there are ranks */
};

/* The exit code of a rank that cannot continue: that of a program that is out of memory. */
enum { OCDM__TOGETHER_FAILED = 5 };

/* ---- together.c: several ranks ----------------------------------------------------------------------------------------- */

/* Whether this rank tells the others what to do for the agent. */
bool ocdm__together_leads(const ocdm__agent *agent);

/* What the leader calls: after creating and loading; at the start of a step; before another version of the weights is used; for
 * the features of images; at the end. */
ocdm_status ocdm__together_begin(ocdm__agent *agent, const char *model, ocdm_error *error);
ocdm_status ocdm__together_train(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, const struct ocdm__share *share,
                                 ocdm_error *error);
ocdm_status ocdm__together_use(ocdm__agent *agent, uint32_t version, ocdm_error *error);
ocdm_status ocdm__together_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error);
void ocdm__together_destroy(ocdm__agent *agent);

/* Brings Adam's averages of an agent that leads up to date, before they are saved or replaced. */
void ocdm__together_collect(ocdm__agent *agent);

/* Returns OCDM_OK, or OCDM_NO_MEMORY for an agent that must not be used any more. */
static inline ocdm_status ocdm__agent_check(const ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->broken)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_NO_MEMORY, "start again from the last checkpoint",
                      "memory ran out while the agent's weights were being changed: it cannot go on");
}

/* The learning rate of step number `step`, from 1. */
double ocdm__learning_rate(const ocdm__agent_settings *settings, uint64_t step);

/* The constants of that step; the arrays are not filled in. */
struct ocdm__adam ocdm__step_of(const ocdm__agent_settings *settings, uint64_t step);

/* ---- loss.c -------------------------------------------------------------------------------------------------------------- */

/* The true labels of a batch, in rows as in ocdm__labelled_batch, and weights of classes; NULL: all are 1. */
struct ocdm__targets {
    const size_t *starts;
    const uint32_t *labels;
    size_t rows, classes;
    size_t fresh;               /* the first rows, which have weights of their own */
    const float *fresh_weights; /* of the terms of these */
    const float *class_weights; /* of the others */
    const float *dark;          /* logits that these once had; NULL: not known */
    double *row_losses;         /* out: the mean loss of each row without the part of `dark`; NULL: not wanted */
    const uint8_t *known;       /* a row of bits for each row: terms of other classes are 0; NULL: all are known */
};

/* The mean loss over all logits; `gradients` receives its gradient. Stops at a row whose loss is not finite: `*bad_row` is
 * its index, otherwise `rows`. */
double ocdm__loss(const struct ocdm__targets *targets, const ocdm__loss_rule *rule, const float *logits, float *gradients,
                  size_t *bad_row);

/* The weights of fresh rows: `negatives` for classes that none of them has, 1 for the others; times class_weights. */
void ocdm__loss_weigh_absent(const struct ocdm__targets *targets, double negatives, float *weights);

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
