/* What an agent is made of: for the files of src/agent that are its parts. */
#ifndef OCDM_AGENT_AGENT_PARTS_H
#define OCDM_AGENT_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/network.h"

struct ocdm__agent {
    ocdm__network *network;
    ocdm__agent_settings settings; /* model: NULL, the network knows it */
    uint64_t steps;
    float *logits, *logit_gradients; /* of a batch */
    size_t batch_room;
};

#endif
