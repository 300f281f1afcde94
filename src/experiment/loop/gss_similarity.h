/*
 * What the policy gss asks of the agent: how alike are the gradients of a batch to those of some samples of memory? Gradients
 * are those of the loss by all parameters in evaluation mode, images in their middle, not augmented.
 */
#ifndef OCDM_EXPERIMENT_LOOP_GSS_SIMILARITY_H
#define OCDM_EXPERIMENT_LOOP_GSS_SIMILARITY_H

#include "agent/agent.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/labels.h"
#include "ocdm/ocdm.h"

/* Start with all bytes zero. */
typedef struct ocdm__gss_similarity {
    ocdm__agent *agent;
    ocdm__inputs *inputs;
    unsigned slot; /* of the inputs, free whenever the memory is updated */
    ocdm__label_lists lists;
    ocdm__batch_labels labels;
    size_t size; /* floats of a gradient */
    float *kept; /* the gradients of the samples in memory that are compared with, and their norms */
    double *norms;
    size_t kept_room;
    float *gradient;
    uint32_t *samples;
    size_t sample_room;
} ocdm__gss_similarity;

/*
 * Gets ready to answer for `memory`, whose ids are numbers of samples, and tells it so. The rest is the caller's and must live
 * as long. OCDM_OK, OCDM_NO_MEMORY. A comparison with n samples needs room for n + 1 gradients. To be closed in either case.
 */
ocdm_status ocdm__gss_similarity_open(ocdm__gss_similarity *similarity, ocdm_memory *memory, ocdm__agent *agent,
                                      ocdm__inputs *inputs, unsigned slot, const ocdm__label_lists *lists, ocdm_error *error);
void ocdm__gss_similarity_close(ocdm__gss_similarity *similarity);

#endif
