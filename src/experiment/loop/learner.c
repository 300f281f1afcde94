/* Agents and weights files. */
#include "experiment/loop/learner.h"

#include <string.h>

#include "base/error.h"
#include "base/output.h"

ocdm_status ocdm__learner_create(ocdm__agent_settings *settings, const ocdm__inputs *inputs, const char *weights,
                                 ocdm__agent **agent, ocdm_error *error)
{
    settings->height = ocdm__inputs_height(inputs);
    settings->width = ocdm__inputs_width(inputs);
    settings->features = settings->height == 0 ? (uint32_t)ocdm__inputs_size(inputs) : 0;
    if (weights == NULL)
        return ocdm__agent_create(settings, NULL, agent, error);
    ocdm__weights_file file = {.tensors = {.tensor_count = 0}};
    ocdm_status status = ocdm__weights_open(&file, weights, error);
    struct ocdm__weights given = {.name = weights, .file = &file.tensors};
    if (status == OCDM_OK)
        status = ocdm__agent_create(settings, &given, agent, error);
    ocdm__weights_close(&file);
    return status;
}

bool ocdm__learner_is_symmetric(const char *model)
{
    return strcmp(model, "mobilenet1") == 0;
}

ocdm_status ocdm__learner_save(ocdm__agent *agent, const char *model, const char *path, ocdm_error *error)
{
    const struct ocdm__note notes[] = {{.key = "format", .value = "pt"}, {.key = "model", .value = model}};
    struct ocdm__agent_state state = {.count = 0};
    ocdm__output output;
    ocdm_status status = ocdm__output_open(&output, path, error);
    if (status != OCDM_OK)
        return status;
    status = ocdm__agent_save(agent, false, &state, error);
    if (status == OCDM_OK)
        status = ocdm__safetensors_write(&output, notes, 2, state.tensors, state.count, error);
    ocdm__agent_state_release(&state);
    if (status == OCDM_OK)
        return ocdm__output_commit(&output, error);
    ocdm__output_abandon(&output);
    return status;
}
