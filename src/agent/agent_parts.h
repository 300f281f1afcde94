/* What an agent is made of: for the files of src/agent that are its parts. */
#ifndef OCDM_AGENT_AGENT_PARTS_H
#define OCDM_AGENT_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/network.h"
#include "base/error.h"

struct ocdm__agent {
    ocdm__network *network;
    ocdm__agent_settings settings; /* model: NULL, the network knows it */
    uint64_t steps;
    float *logits, *logit_gradients; /* of a batch */
    size_t batch_room;
    bool broken;       /* a change of the weights ended in the middle */
    size_t bad_sample; /* of the last batch whose loss was not a number */
};

/* OCDM_OK, or OCDM_NO_MEMORY for an agent that must not be used any more. */
static inline ocdm_status ocdm__agent_check(const ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->broken)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_NO_MEMORY, "start again from the last checkpoint",
                      "memory ran out while the agent's weights were being changed: it cannot go on");
}

#endif
