/* The public experiment: a learner of the caller's behind the table of functions of the loop. */
#include "ocdm/experiment.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/folder/run_folder.h"
#include "experiment/loop/learner.h"

/* The tensor of a checkpoint that has the learner's bytes. */
static const char saved_name[] = "state";

static ocdm_learner_batch public_batch(const ocdm__learner_batch *batch)
{
    return (ocdm_learner_batch){
        .count = batch->count, .features = batch->input, .starts = batch->starts, .labels = batch->labels};
}

static ocdm_status train(void *state, const ocdm__learner_batch *batch, double *loss, size_t *bad, ocdm_error *error)
{
    const ocdm_learner *learner = state;
    const ocdm_learner_batch samples = public_batch(batch);
    *bad = 0;
    return learner->train(learner->state, &samples, loss, error);
}

static ocdm_status predict(void *state, const float *input, size_t count, float *logits, ocdm_error *error)
{
    const ocdm_learner *learner = state;
    return learner->predict(learner->state, input, count, logits, error);
}

static ocdm_status gradient(void *state, const ocdm__learner_batch *batch, float *room, ocdm_error *error)
{
    const ocdm_learner *learner = state;
    const ocdm_learner_batch samples = public_batch(batch);
    return learner->gradient(learner->state, &samples, room, error);
}

static size_t gradient_size(const void *state)
{
    return ((const ocdm_learner *)state)->gradient_size;
}

static ocdm_status save(void *state, bool all, ocdm__learner_tensors *tensors, ocdm_error *error)
{
    (void)all; /* the bytes are not divided */
    const ocdm_learner *learner = state;
    size_t size = 0;
    const void *bytes = learner->save(learner->state, &size);
    struct ocdm__tensor *made = bytes != NULL ? ocdm__allocate(1, sizeof *made) : NULL;
    if (made == NULL)
        return ocdm__fail_memory(error, "the state of the learner");
    *made = ocdm__tensor_of(saved_name, OCDM__U8, bytes, size);
    *tensors = (ocdm__learner_tensors){.tensors = made, .count = 1};
    return OCDM_OK;
}

static ocdm_status load(void *state, const char *name, const struct ocdm__safetensors *file, ocdm_error *error)
{
    const ocdm_learner *learner = state;
    const struct ocdm__tensor *saved = ocdm__safetensors_find(file, saved_name);
    if (saved == NULL || saved->dtype != OCDM__U8)
        return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: the state of the learner is missing", name);
    return learner->load(learner->state, saved->data, saved->size, error);
}

static void destroy(void *state)
{
    ocdm__release(state);
}

/* ---- making ------------------------------------------------------------------------------------------------------------ */

static ocdm_status make(const ocdm__learner_maker *maker, const ocdm__run_settings *settings, const ocdm__model_inputs *inputs,
                        uint32_t class_count, ocdm__learner *made, ocdm_error *error)
{
    static const ocdm__learner_functions with_gradient = {train, predict, gradient, gradient_size, save, NULL, load, destroy};
    static const ocdm__learner_functions without = {train, predict, NULL, NULL, save, NULL, load, destroy};
    const ocdm_learner *learner = maker->context;
    ocdm_learner *copy = ocdm__allocate(1, sizeof *copy);
    (void)settings;
    if (copy == NULL)
        return ocdm__fail_memory(error, "a learner");
    *copy = *learner;
    ocdm_status status = learner->begin(learner->state, ocdm__model_inputs_size(inputs), class_count, error);
    if (status == OCDM_OK)
        *made = (ocdm__learner){learner->gradient != NULL ? &with_gradient : &without, copy};
    else
        ocdm__release(copy);
    return status;
}

static ocdm_status check_learner(const ocdm_learner *learner, ocdm_error *error)
{
    if (learner->name == NULL || learner->name[0] == '\0' || learner->begin == NULL || learner->train == NULL ||
        learner->predict == NULL || learner->save == NULL || learner->load == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "only gradient may be NULL", "the learner lacks its name or a function");
    for (size_t i = 0; ocdm__run_models[i] != NULL; i++)
        if (strcmp(ocdm__run_models[i], learner->name) == 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give it another name", "a model of ocdm is called %s", learner->name);
    return OCDM_OK;
}

ocdm_experiment ocdm_experiment_default(void)
{
    const ocdm__run_settings settings = ocdm__run_settings_default();
    return (ocdm_experiment){.size = sizeof(ocdm_experiment),
                             .method = settings.method,
                             .memory = settings.memory,
                             .batch = settings.batch,
                             .replay = settings.replay};
}

static ocdm_status run(const ocdm_experiment *asked, const ocdm_learner *learner, ocdm_error *error)
{
    const ocdm__learner_maker maker = {.make = make, .context = learner};
    const ocdm__run_hooks hooks = {.progress = {.stop = asked->stop}};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.method = asked->method;
    settings.memory = asked->memory;
    settings.batch = asked->batch;
    settings.replay = asked->replay;
    settings.rho = asked->rho;
    settings.seed = asked->seed;
    settings.model = learner->name;
    settings.own_learner = true;
    const ocdm__run_job job = {
        .settings = &settings, .stream = &stream, .learner = &maker, .folder = asked->folder, .resume = asked->resume};
    ocdm_status status = ocdm__stream_open(&stream, asked->stream, error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_resolve(&settings, &stream, asked->stream, error);
    if (status == OCDM_OK)
        status = ocdm__run_in_folder(&job, &hooks, error);
    ocdm__stream_close(&stream);
    return status;
}

ocdm_status ocdm_experiment_run(const ocdm_experiment *experiment, const ocdm_learner *learner, ocdm_error *error)
{
    ocdm_experiment asked = {.size = 0};
    ocdm_learner given = {.size = 0};
    /* Callers that were compiled with an older header have shorter structs, whose other members are 0. */
    memcpy(&asked, experiment, experiment->size < sizeof asked ? experiment->size : sizeof asked);
    memcpy(&given, learner, learner->size < sizeof given ? learner->size : sizeof given);
    if (asked.stream == NULL || asked.folder == NULL || asked.method == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the experiment lacks its stream, folder or method");
    ocdm_status status = check_learner(&given, error);
    return status == OCDM_OK ? run(&asked, &given, error) : status;
}
