/* Implements the functions of a learner with an agent. */
#include "experiment/agent_learner.h"

#include <stdio.h>

#include "agent/kernels.h"
#include "agent/primitives.h"
#include "base/error.h"
#include "experiment/predict.h"

static struct ocdm__labelled_batch labelled(const ocdm__learner_batch *batch)
{
    return (struct ocdm__labelled_batch){.input = batch->input,
                                         .starts = batch->starts,
                                         .labels = batch->labels,
                                         .count = batch->count,
                                         .fresh = batch->fresh,
                                         .class_weights = batch->class_weights,
                                         .dark = batch->dark,
                                         .known = batch->known,
                                         .ages = batch->ages};
}

static ocdm_status train(void *agent, const ocdm__learner_batch *batch, double *loss, size_t *bad, ocdm_error *error)
{
    const struct ocdm__labelled_batch samples = labelled(batch);
    ocdm_status status = ocdm__agent_train(agent, &samples, loss, error);
    if (status == OCDM_BAD_RECORD)
        *bad = ocdm__agent_bad_sample(agent);
    return status;
}

static ocdm_status predict(void *agent, const float *input, size_t count, float *logits, ocdm_error *error)
{
    return ocdm__agent_predict(agent, input, count, logits, error);
}

static ocdm_status gradient(void *agent, const ocdm__learner_batch *batch, float *room, ocdm_error *error)
{
    const struct ocdm__labelled_batch samples = labelled(batch);
    return ocdm__agent_gradient(agent, &samples, room, error);
}

static size_t gradient_size(const void *agent)
{
    return ocdm__agent_gradient_size(agent);
}

static ocdm_status save(void *agent, bool all, ocdm__learner_tensors *tensors, ocdm_error *error)
{
    struct ocdm__agent_state state = {.count = 0};
    ocdm_status status = ocdm__agent_list(agent, all, &state, error);
    *tensors = (ocdm__learner_tensors){state.tensors, state.count, state.memory};
    return status;
}

static ocdm_status fetch(void *agent, const ocdm__learner_tensors *tensors, size_t i, const unsigned char **data,
                         ocdm_error *error)
{
    const struct ocdm__agent_state state = {tensors->tensors, tensors->count, tensors->memory};
    return ocdm__agent_fetch(agent, &state, i, data, error);
}

static ocdm_status load(void *agent, const char *name, const struct ocdm__safetensors *file, ocdm_error *error)
{
    const struct ocdm__weights weights = {.name = name, .file = file};
    return ocdm__agent_load(agent, &weights, NULL, error);
}

static ocdm__learner_outputs outputs(const void *agent)
{
    return (ocdm__learner_outputs){ocdm__agent_logits(agent), ocdm__agent_losses(agent)};
}

static size_t average_count(const void *agent)
{
    return ocdm__agent_average_count(agent);
}

static ocdm_status use(void *agent, size_t version, ocdm_error *error)
{
    return ocdm__agent_use(agent, version, error);
}

static double operations(const void *agent, size_t count, size_t fresh)
{
    (void)fresh;
    return 3 * ocdm__agent_operations(agent) * (double)count;
}

static void destroy(void *agent)
{
    ocdm__agent_destroy(agent);
}

static const ocdm__ranks *deal(void *agent, size_t count, bool training, const size_t **starts)
{
    return ocdm__agent_deal(agent, count, training, starts);
}

static ocdm_status share(void *agent, ocdm_error *error)
{
    return ocdm__agent_share(agent, error);
}

static void collect(void *agent)
{
    ocdm__agent_collect(agent);
}

ocdm__learner ocdm__agent_learner(ocdm__agent *agent)
{
    static const ocdm__learner_functions functions = {.train = train,
                                                      .predict = predict,
                                                      .gradient = gradient,
                                                      .gradient_size = gradient_size,
                                                      .save = save,
                                                      .fetch = fetch,
                                                      .load = load,
                                                      .outputs = outputs,
                                                      .average_count = average_count,
                                                      .use = use,
                                                      .operations = operations,
                                                      .destroy = destroy,
                                                      .deal = deal,
                                                      .share = share,
                                                      .collect = collect};
    ocdm__learner learner = {.functions = &functions, .state = agent};
    snprintf(learner.instructions, sizeof learner.instructions, "oneDNN %s, kernels %s", ocdm__device_instructions(),
             ocdm__kernels_instructions());
    return learner;
}

/* ---- making ------------------------------------------------------------------------------------------------------------ */

static ocdm_status create(const ocdm__agent_settings *settings, const char *weights, ocdm__agent **agent, ocdm_error *error)
{
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

static ocdm_status make(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *learner, ocdm_error *error)
{
    ocdm__agent *made = NULL;
    if (ocdm__run_is_ridge(settings))
        return ocdm__ridge_learner(ocdm__model_inputs_size(inputs), class_count, settings->lambda,
                                   &ocdm__model_inputs_stream(inputs)->table, learner, error);
    ocdm__agent_settings agent = ocdm__agent_settings_default();
    agent.model = settings->model;
    agent.class_count = class_count;
    agent.height = ocdm__model_inputs_height(inputs);
    agent.width = ocdm__model_inputs_width(inputs);
    agent.features = agent.height == 0 ? (uint32_t)ocdm__model_inputs_size(inputs) : 0;
    agent.bf16 = settings->precision == OCDM__PRECISION_BF16;
    agent.learning_rate = settings->learning_rate;
    agent.epsilon = settings->epsilon;
    agent.clip = settings->clip;
    agent.loss = (ocdm__loss_rule){
        .kind = settings->loss, .negatives = settings->negatives, .focal = settings->focal, .dark = settings->dark};
    agent.averages = settings->averages;
    agent.optimiser = settings->optimiser;
    agent.weight_decay = settings->weight_decay;
    agent.momentum = settings->momentum;
    agent.lr_schedule = settings->lr_schedule;
    agent.horizon = settings->horizon;
    agent.warmup = settings->warmup;
    agent.seed = settings->seed;
    agent.batch = settings->batch;
    if (ocdm__run_has_memory(settings) || ocdm__is_upper_bound(settings->method))
        agent.batch += settings->replay;
    agent.threads = settings->threads;
    agent.everywhere = maker == &ocdm__dealt_agent_maker;
    OCDM_TRY(create(&agent, settings->weights, &made, error));
    *learner = ocdm__agent_learner(made);
    return OCDM_OK;
}

const ocdm__learner_maker ocdm__agent_maker = {.make = make, .images = &ocdm__image_loading};
const ocdm__learner_maker ocdm__dealt_agent_maker = {.make = make, .images = &ocdm__image_loading};
