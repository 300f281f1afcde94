/*
 * An agent of a network that takes images, on several ranks. All ranks make it and call it alike, each with its own part of the
 * images; counts and labels are those of all. All have the whole network, and after each step the same weights, to the bit.
 * buckets.c has what the ranks exchange within a step.
 */
#include "agent/network.h"
#include "base/allocate.h"
#include "base/error.h"

ocdm_status ocdm__agent_join_ranks(ocdm__agent *agent, ocdm_error *error)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    if (ranks->size == 1 || agent->network->image_layers == 0 || agent->network->fast)
        return OCDM_OK;
    agent->starts = ocdm__allocate(ranks->size + 1, sizeof *agent->starts);
    if (agent->starts == NULL)
        return ocdm__fail_memory(error, "parts of a batch");
    agent->ranks = ranks;
    return OCDM_OK;
}

/* Samples 0 to count - 1 in equal parts: what is in `starts` then counts `units` for each. */
static void part_equally(const ocdm__agent *agent, size_t count, size_t units)
{
    for (size_t r = 0; r <= agent->ranks->size; r++)
        agent->starts[r] = count * r / agent->ranks->size * units;
}

ocdm_status ocdm__agent_gather_features(ocdm__agent *agent, const float *input, size_t count, float *features,
                                        ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    size_t own = count * (ranks->rank + 1) / ranks->size - count * ranks->rank / ranks->size;
    part_equally(agent, count, ocdm__agent_feature_width(agent));
    OCDM_TRY(ocdm__network_evaluate(agent->network, input, own, features + agent->starts[ranks->rank], NULL, error));
    ranks->gather_all(features, agent->starts);
    return OCDM_OK;
}

const ocdm__ranks *ocdm__agent_deal(void *state, size_t count, bool training, const size_t **starts)
{
    ocdm__agent *agent = state;
    if (agent->ranks == NULL)
        return NULL;
    if (training) {
        struct ocdm__share share = ocdm__share_of(agent->network, count);
        share.ranks = agent->ranks;
        share.starts = agent->starts;
        ocdm__share_starts(&share, 1);
    } else {
        part_equally(agent, count, 1);
    }
    *starts = agent->starts;
    return agent->ranks;
}

/* Every value that a step changes, in the same order on all ranks. */
ocdm_status ocdm__agent_share(void *state, ocdm_error *error)
{
    ocdm__agent *agent = state;
    ocdm__network *network = agent->network;
    OCDM_TRY(ocdm__parameters_add_adam(network, error));
    agent->ranks->broadcast(&agent->steps, sizeof agent->steps / sizeof(uint32_t));
    for (size_t i = 0; i < network->parameter_count; i++) {
        struct ocdm__parameter *parameter = &network->parameters[i];
        agent->ranks->broadcast(parameter->value, parameter->room);
        if (parameter->trained) {
            agent->ranks->broadcast(parameter->mean, parameter->room);
            agent->ranks->broadcast(parameter->square, parameter->room);
        }
        for (uint32_t k = 0; k < network->average_count; k++)
            agent->ranks->broadcast(parameter->averages[k], parameter->room);
    }
    network->stale = true;
    return OCDM_OK;
}

void ocdm__agent_collect(void *state)
{
    ocdm__agent *agent = state;
    ocdm__buckets_collect(agent->network, agent->ranks);
}
