/* A copy of all tensors of an agent, for comparisons. Release it with ocdm__tensor_list_clear. */
#ifndef OCDM_TESTS_AGENT_STATE_H
#define OCDM_TESTS_AGENT_STATE_H

#include <string.h>

#include "agent/agent.h"
#include "base/allocate.h"
#include "base/error.h"

/* A step of which nobody asks which sample was bad. */
static inline ocdm_status agent_train(ocdm__agent *agent, const ocdm__batch *batch, double *loss, ocdm_error *error)
{
    size_t bad;
    return ocdm__agent_train(agent, batch, loss, &bad, error);
}

/* Fetches every tensor into `copy`, which has room for their bytes and names. */
static inline ocdm_status agent_state_fill(ocdm__agent *agent, ocdm__tensor_list *listed, unsigned char *copy,
                                           ocdm_error *error)
{
    for (size_t i = 0; i < listed->count; i++) {
        struct ocdm__tensor *tensor = &listed->tensors[i];
        const unsigned char *data;
        ocdm_status status = ocdm__agent_fetch(agent, listed, i, &data, error);
        if (status != OCDM_OK)
            return status;
        memcpy(copy, data, tensor->size);
        tensor->data = copy;
        copy += tensor->size;
    }
    for (size_t i = 0; i < listed->count; i++) {
        memcpy(copy, listed->tensors[i].name, listed->tensors[i].name_length + 1);
        listed->tensors[i].name = (char *)copy;
        copy += listed->tensors[i].name_length + 1;
    }
    return OCDM_OK;
}

/* As ocdm__agent_list, with all data. On error `state` is as it was. */
static inline ocdm_status agent_save(ocdm__agent *agent, bool optimiser, ocdm__tensor_list *state, ocdm_error *error)
{
    ocdm__tensor_list listed = {.count = 0};
    ocdm_status status = ocdm__agent_list(agent, optimiser, &listed, error);
    size_t room = 0;
    for (size_t i = 0; i < listed.count; i++)
        room += listed.tensors[i].size + listed.tensors[i].name_length + 1;
    unsigned char *copy = status == OCDM_OK ? ocdm__allocate(room, 1) : NULL;
    if (status == OCDM_OK)
        status =
            copy != NULL ? agent_state_fill(agent, &listed, copy, error) : ocdm__fail_memory(error, "a copy of the weights");
    if (status != OCDM_OK) {
        ocdm__release(copy);
        ocdm__tensor_list_clear(&listed);
        return status;
    }
    ocdm__release(listed.memory);
    listed.memory = copy;
    *state = listed;
    return OCDM_OK;
}

#endif
