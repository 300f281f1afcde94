/* Stream, weights, inputs and network brought together, with an error for every way in which they do not fit. */
#include "experiment/predict_network.h"

#include <inttypes.h>
#include <string.h>

#include "agent/model.h"
#include "base/error.h"

static ocdm_status open_inputs(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    bool features = predictor->stream.shape.kind == OCDM__FEATURES;
    if (ocdm__model_takes_images(settings->model) == features)
        return ocdm__fail(error, OCDM_BAD_FILE, "choose another --model, or a stream of the other kind",
                          "%s: %s takes %s, and the stream has %s", settings->stream, settings->model,
                          features ? "images" : "features", features ? "features" : "none");
    ocdm__input_settings inputs = {.resize = settings->resize,
                                   .crop = settings->crop,
                                   .symmetric = ocdm__model_is_symmetric(settings->model),
                                   .strict = !settings->skip_bad,
                                   .image_root = settings->image_root,
                                   .threads = settings->threads};
    return ocdm__inputs_open(&predictor->stream, &inputs, &predictor->inputs, error);
}

/* The agent would give a network of another size, or a head of its own; here both are errors. */
static ocdm_status check_fit(const ocdm__predictor *predictor, const ocdm__predictor_settings *settings,
                             const struct ocdm__weights_fit *fit, ocdm_error *error)
{
    size_t classes = predictor->stream.table.class_count, features = ocdm__inputs_size(predictor->inputs);
    if (fit->model == NULL)
        return OCDM_OK; /* the agent tells which tensors are wrong */
    if (strcmp(fit->model, settings->model) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm weights info FILE` tells more of them",
                          "%s: the weights are for %s, not for %s", settings->weights, fit->model, settings->model);
    if (fit->features > 0 && fit->features != features)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights and stream must come from the same features",
                          "%s: the weights are for %" PRIu32 " features, the stream has %zu", settings->weights, fit->features,
                          features);
    return settings->needs_head ? ocdm__weights_check_head(settings->weights, fit, classes, error) : OCDM_OK;
}

static ocdm_status make_agent(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    struct ocdm__weights weights = {settings->weights, &predictor->weights.tensors};
    struct ocdm__weights_fit fit = {.model = NULL};
    ocdm__agent_settings agent = ocdm__agent_settings_default();
    ocdm_status status = ocdm__weights_fit(weights.file, &fit, error);
    if (status == OCDM_OK)
        status = check_fit(predictor, settings, &fit, error);
    if (status != OCDM_OK)
        return status;
    agent.model = settings->model;
    agent.class_count = fit.class_count > 0 ? fit.class_count : 1; /* a head that nobody asks */
    agent.features = (uint32_t)ocdm__inputs_size(predictor->inputs);
    agent.height = ocdm__inputs_height(predictor->inputs);
    agent.width = ocdm__inputs_width(predictor->inputs);
    agent.bf16 = settings->bf16;
    agent.threads = settings->threads;
    return ocdm__agent_create(&agent, &weights, &predictor->agent, error);
}

ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    ocdm_status status = ocdm__stream_open(&predictor->stream, settings->stream, error);
    predictor->batch = settings->batch;
    if (status == OCDM_OK && predictor->stream.table.sample_count > UINT32_MAX)
        status = ocdm__fail(error, OCDM_LIMIT, "", "%s: more than 2^32 - 1 samples", settings->stream);
    if (status == OCDM_OK)
        status = ocdm__weights_open(&predictor->weights, settings->weights, error);
    if (status == OCDM_OK)
        status = open_inputs(predictor, settings, error);
    if (status == OCDM_OK)
        status = make_agent(predictor, settings, error);
    return status;
}

void ocdm__predictor_close(ocdm__predictor *predictor)
{
    ocdm__agent_destroy(predictor->agent);
    ocdm__inputs_close(predictor->inputs);
    ocdm__weights_close(&predictor->weights);
    ocdm__stream_close(&predictor->stream);
    *predictor = (ocdm__predictor){.agent = NULL};
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

static size_t batch_size(const ocdm__predictor *predictor, size_t first)
{
    size_t rest = predictor->count - first;
    return rest < predictor->batch ? rest : predictor->batch;
}

static ocdm_status request(ocdm__predictor *predictor, unsigned slot, size_t first, ocdm_error *error)
{
    size_t count = batch_size(predictor, first);
    if (count == 0)
        return OCDM_OK;
    return ocdm__inputs_request(predictor->inputs, slot, predictor->samples + first, count, 0, false, error);
}

ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, const uint32_t *samples, size_t count, ocdm_error *error)
{
    predictor->samples = samples;
    predictor->count = count;
    return request(predictor, 0, 0, error);
}

ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__predictor_batch *batch, ocdm_error *error)
{
    ocdm__predictor_batch found = {.first = predictor->next, .count = batch_size(predictor, predictor->next)};
    ocdm_status status = OCDM_OK;
    if (found.count > 0)
        status = request(predictor, 1 - predictor->slot, found.first + found.count, error);
    if (status == OCDM_OK && found.count > 0)
        status = ocdm__inputs_wait(predictor->inputs, predictor->slot, &found.ready, error);
    if (status != OCDM_OK)
        return status;
    predictor->next += found.count;
    predictor->slot = 1 - predictor->slot;
    *batch = found;
    return OCDM_OK;
}
