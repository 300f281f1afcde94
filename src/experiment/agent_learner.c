/*
 * The learner that is a network of src/agent, and the maker that chooses it, or ridge, by the settings of a run.
 *
 * The network's functions have the signatures of the table, so that none needs a wrapper here.
 */
#include "experiment/agent_learner.h"

#include "agent/kernels.h"
#include "agent/primitives.h"
#include "experiment/predict.h"

ocdm__learner ocdm__agent_learner(ocdm__agent *agent)
{
    static const ocdm__learner_functions functions = {.train = ocdm__agent_train,
                                                      .predict = ocdm__agent_predict,
                                                      .gradient = ocdm__agent_gradient,
                                                      .gradient_size = ocdm__agent_gradient_size,
                                                      .save = ocdm__agent_list,
                                                      .fetch = ocdm__agent_fetch,
                                                      .load = ocdm__agent_load,
                                                      .outputs = ocdm__agent_outputs,
                                                      .use = ocdm__agent_use,
                                                      .operations = ocdm__agent_operations,
                                                      .destroy = ocdm__agent_destroy,
                                                      .deal = ocdm__agent_deal,
                                                      .share = ocdm__agent_share,
                                                      .collect = ocdm__agent_collect};
    ocdm__learner learner = {.functions = &functions, .state = agent};
    snprintf(learner.instructions, sizeof learner.instructions, "oneDNN %s, kernels %s", ocdm__device_instructions(),
             ocdm__kernels_for(false)->instructions);
    return learner;
}

/* The learner of a run by its settings. A step's batch holds what is replayed too, which room is made for. */
static ocdm_status make(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *learner, ocdm_error *error)
{
    ocdm__agent *made = NULL;
    (void)maker;
    if (ocdm__run_is_ridge(settings))
        return ocdm__ridge_learner(inputs->size, class_count, settings, &inputs->stream->table, learner, error);
    bool replays = ocdm__run_has_memory(settings) || ocdm__is_upper_bound(settings->method);
    uint32_t side = inputs->side;
    const ocdm__agent_settings agent = {.size = {.name = settings->model,
                                                 .class_count = class_count,
                                                 .height = side,
                                                 .width = side,
                                                 .features = side == 0 ? (uint32_t)inputs->size : 0},
                                        .network = settings->network,
                                        .batch = (size_t)settings->batch + (replays ? settings->replay : 0)};
    ocdm__weights_file file = {.tensors = {.tensor_count = 0}};
    const struct ocdm__weights given = {.name = settings->weights, .file = &file.tensors};
    ocdm_status status = settings->weights != NULL ? ocdm__weights_open(&file, settings->weights, error) : OCDM_OK;
    OCDM_THEN(status, ocdm__agent_create(&agent, settings->weights != NULL ? &given : NULL, &made, error));
    ocdm__weights_close(&file);
    if (status == OCDM_OK)
        *learner = ocdm__agent_learner(made);
    return status;
}

const ocdm__learner_maker ocdm__agent_maker = {.make = make, .images = &ocdm__image_loading};
