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

/* ---- making ------------------------------------------------------------------------------------------------------------ */

/* A network with the weights of a file, if one is given. */
static ocdm_status create(const ocdm__agent_settings *settings, const char *weights, ocdm__agent **agent, ocdm_error *error)
{
    if (weights == NULL)
        return ocdm__agent_create(settings, NULL, agent, error);
    ocdm__weights_file file = {.tensors = {.tensor_count = 0}};
    ocdm_status status = ocdm__weights_open(&file, weights, error);
    struct ocdm__weights given = {.name = weights, .file = &file.tensors};
    OCDM_THEN(status, ocdm__agent_create(settings, &given, agent, error));
    ocdm__weights_close(&file);
    return status;
}

/* The learner of a run by its settings. A step's batch holds what is replayed too, which room is made for. */
static ocdm_status make(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *learner, ocdm_error *error)
{
    ocdm__agent *made = NULL;
    (void)maker;
    if (ocdm__run_is_ridge(settings))
        return ocdm__ridge_learner(
            inputs->size, class_count,
            &(ocdm__ridge_options){settings->lambda, settings->project, settings->class_balance, settings->network.seed},
            &inputs->stream->table, learner, error);
    bool replays = ocdm__run_has_memory(settings) || ocdm__is_upper_bound(settings->method);
    uint32_t side = inputs->side;
    const ocdm__agent_settings agent = {.size = {.name = settings->model,
                                                 .class_count = class_count,
                                                 .height = side,
                                                 .width = side,
                                                 .features = side == 0 ? (uint32_t)inputs->size : 0},
                                        .network = settings->network,
                                        .batch = (size_t)settings->batch + (replays ? settings->replay : 0)};
    OCDM_TRY(create(&agent, settings->weights, &made, error));
    *learner = ocdm__agent_learner(made);
    return OCDM_OK;
}

const ocdm__learner_maker ocdm__agent_maker = {.make = make, .images = &ocdm__image_loading};
