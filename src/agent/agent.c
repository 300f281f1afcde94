/* The agent: settings, steps, predictions, gradients. learning.c has the losses, agent_weights.c loads and saves weights; the
 * other files of this folder implement the network. */
#include "agent/agent.h"

#include "agent/network.h"

/* The number of images whose features are in memory while logits are computed. */
enum { BLOCK = 64 };

/* ---- making and unmaking -------------------------------------------------------------------------------------------- */

static void release_room(struct ocdm__pass_room *room)
{
    ocdm__release_aligned(room->logits);
    ocdm__release_aligned(room->logit_gradients);
    OCDM_RELEASE(room->row_losses, room->fresh_weights);
    *room = (struct ocdm__pass_room){.rows = 0};
}

/* Also of an agent that was not finished. */
void ocdm__agent_destroy(void *state)
{
    ocdm__agent *agent = state;
    if (agent == NULL)
        return;
    ocdm__network_destroy(agent->network);
    release_room(&agent->step);
    release_room(&agent->asked);
    OCDM_RELEASE(agent->starts, agent);
}

/* ---- a pass --------------------------------------------------------------------------------------------------------- */

/* Room of a pass, which stays for the next ones. The network comes first: it knows whether the batch is possible at all. */
static ocdm_status reserve(ocdm__agent *agent, const struct ocdm__share *share, struct ocdm__pass_room *room, ocdm_error *error)
{
    OCDM_TRY(ocdm__network_reserve(agent->network, share, error));
    size_t rows = share->images;
    if (rows <= room->rows)
        return OCDM_OK;
    release_room(room);
    room->row_losses = ocdm__allocate(rows, sizeof *room->row_losses);
    room->logits = ocdm__allocate_aligned(rows * agent->class_count, sizeof *room->logits);
    room->logit_gradients = ocdm__allocate_aligned(rows * agent->class_count, sizeof *room->logit_gradients);
    room->fresh_weights = ocdm__allocate(agent->class_count, sizeof *room->fresh_weights);
    if (room->logits == NULL || room->logit_gradients == NULL || room->row_losses == NULL || room->fresh_weights == NULL)
        return ocdm__fail_memory(error, "logits");
    room->rows = rows;
    return OCDM_OK;
}

/* The agent is complete or not there. The number of blocks of a mobilenet1, and the width of an mlp, are those of its weights.
 * What training needs is made here if the batch is known, so that a run without enough memory ends before its first step. */
ocdm_status ocdm__agent_create(const ocdm__agent_settings *settings, const struct ocdm__weights *weights, ocdm__agent **agent,
                               ocdm_error *error)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    ocdm__agent_settings wanted = *settings;
    struct ocdm__weights_fit fit = {0};
    ocdm__agent *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "an agent", error));
    ocdm_status status = weights != NULL ? ocdm__weights_fit(weights->file, &fit, error) : OCDM_OK;
    if (wanted.size.blocks == 0 && fit.model != NULL && strcmp(fit.model, wanted.size.name) == 0) {
        wanted.size.blocks = fit.blocks;
        wanted.size.hidden = fit.hidden;
    }
    made->settings = settings->network;
    made->class_count = settings->size.class_count;
    int before = ocdm__single_thread();
    OCDM_THEN(status, ocdm__network_create(&wanted, &made->network, error));
    ocdm__restore_threads(before);
    if (weights != NULL)
        OCDM_THEN(status, ocdm__agent_load(made, weights, error));
    if (status == OCDM_OK && ranks->size > 1 && made->network->image_layers > 0) {
        status = ocdm__new(&made->starts, ranks->size + 1, sizeof *made->starts, "parts of a batch", error);
        made->ranks = ranks;
    }
    if (status == OCDM_OK && settings->batch > 0) {
        const struct ocdm__share share = ocdm__share_of(made->network, settings->batch);
        before = ocdm__single_thread();
        status = made->ranks == NULL ? reserve(made, &share, &made->step, error) : OCDM_OK;
        OCDM_THEN(status, ocdm__parameters_add_adam(made->network, error));
        ocdm__restore_threads(before);
    }
    if (status == OCDM_OK)
        *agent = made;
    else
        ocdm__agent_destroy(made);
    return status;
}

static struct ocdm__pass_room *room_of(ocdm__agent *agent, const struct ocdm__gradient_sink *sink)
{
    return sink->flat == NULL ? &agent->step : &agent->asked;
}

/* Forward, loss, backward into the sink. */
static ocdm_status run_pass(ocdm__agent *agent, const ocdm__batch *batch, const struct ocdm__share *share, bool frozen,
                            const struct ocdm__gradient_sink *sink, double *loss, ocdm_error *error)
{
    const struct ocdm__pass_room *room = room_of(agent, sink);
    struct ocdm__pass pass = {.network = agent->network,
                              .input = batch->input,
                              .share = *share,
                              .frozen = frozen,
                              .logits = room->logits,
                              .logit_gradients = room->logit_gradients};
    size_t bad;
    OCDM_TRY(ocdm__network_forward(&pass, error));
    double mean = ocdm__loss(&agent->settings.loss, batch, agent->class_count, room, &bad);
    agent->bad_sample = bad;
    if (bad < batch->count)
        return ocdm__fail(error, OCDM_BAD_RECORD, "go back to the last checkpoint; a smaller learning rate or --clip may help",
                          "the loss of sample %zu of the batch is not a finite number", bad);
    OCDM_TRY(ocdm__network_backward(&pass, sink, error));
    if (loss != NULL)
        *loss = mean;
    return OCDM_OK;
}

/* All checks of a batch, the room for it, and then the pass. A step that fails before its pass has changed nothing. */
static ocdm_status prepared_pass(ocdm__agent *agent, const ocdm__batch *batch, bool frozen,
                                 const struct ocdm__gradient_sink *sink, double *loss, ocdm_error *error)
{
    OCDM_TRY(ocdm__agent_check(agent, error));
    if (batch->count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a batch without samples has no loss");
    if (batch->fresh > batch->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%zu of %zu samples of a batch are of the stream", batch->fresh,
                          batch->count);
    for (size_t i = 0; i < batch->count; i++)
        for (size_t at = batch->starts[i]; at < batch->starts[i + 1]; at++)
            if (batch->labels[at] >= agent->class_count)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "sample %zu of the batch has class %u of %zu", i,
                                  batch->labels[at], agent->class_count);
    if (!frozen) {
        /* If a channel has only one value, batch norm maps it to 0 and decays the running variance to 0. */
        for (uint32_t k = 0; k < agent->network->image_layers; k++) {
            const struct ocdm__node *node = agent->network->layers[k].node;
            if (node->kind == OCDM__NODE_CONV && (size_t)node->height * node->width * batch->count == 1)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take larger batches, or larger images",
                                  "one sample whose image is down to one pixel at %s: a batch norm cannot learn from one value",
                                  node->norm);
        }
    }
    struct ocdm__share share = ocdm__share_of(agent->network, batch->count);
    bool together = agent->ranks != NULL && sink->flat == NULL;
    share.starts = agent->starts;
    if (together)
        ocdm__share_deal(&share, agent->ranks);
    int before = ocdm__single_thread();
    ocdm_status status = reserve(agent, &share, room_of(agent, sink), error);
    if (sink->flat == NULL)
        OCDM_THEN(status, ocdm__parameters_add_adam(agent->network, error));
    if (status == OCDM_OK) {
        status = run_pass(agent, batch, &share, frozen, sink, loss, error);
        agent->broken = status == OCDM_NO_MEMORY && sink->flat == NULL;
    }
    if (status == OCDM_NO_MEMORY && together) { /* the others would wait for this rank */
        ocdm_error own;
        (void)ocdm__fail_memory(&own, "a step of the network");
        agent->ranks->fail(error != NULL ? error : &own);
    }
    ocdm__restore_threads(before);
    return status;
}

/* Steps are taken from the trained weights whatever version was in use. */
ocdm_status ocdm__agent_train(void *state, const ocdm__batch *batch, double *loss, size_t *bad, ocdm_error *error)
{
    ocdm__agent *agent = state;
    const struct ocdm__gradient_sink sink = {.adam = ocdm__step_of(&agent->settings, agent->steps + 1)};
    ocdm__parameters_use(agent->network, 0);
    ocdm_status status = prepared_pass(agent, batch, false, &sink, loss, error);
    if (status == OCDM_OK) {
        agent->steps++;
        if (agent->settings.averages.count > 0)
            ocdm__parameters_average(agent->network, &agent->settings, agent->steps, batch->ages);
    }
    if (agent->ranks != NULL)
        agent->ranks->note_step(agent->steps);
    *bad = agent->bad_sample;
    return status;
}

ocdm__outputs ocdm__agent_outputs(const void *agent)
{
    const struct ocdm__pass_room *step = &((const ocdm__agent *)agent)->step;
    return (ocdm__outputs){step->logits, step->row_losses};
}

ocdm_status ocdm__agent_gradient(void *state, const ocdm__batch *batch, float *gradient, ocdm_error *error)
{
    struct ocdm__gradient_sink sink = {.flat = gradient};
    return prepared_pass(state, batch, true, &sink, NULL, error);
}

ocdm_status ocdm__agent_batch_gradient(ocdm__agent *agent, const ocdm__batch *batch, float *gradient, double *loss,
                                       ocdm_error *error)
{
    struct ocdm__gradient_sink sink = {.flat = gradient};
    return prepared_pass(agent, batch, false, &sink, loss, error);
}

/* Before the first step averages are the weights, so there is nothing to exchange. */
ocdm_status ocdm__agent_use(void *state, size_t version, ocdm_error *error)
{
    ocdm__agent *agent = state;
    OCDM_TRY(ocdm__agent_check(agent, error));
    ocdm__parameters_use(agent->network, agent->steps > 0 ? (uint32_t)version : 0);
    return OCDM_OK;
}

/* ---- evaluation ----------------------------------------------------------------------------------------------------- */

/* Samples 0 to count - 1 in equal parts: what is in `starts` then counts `units` for each. */
static void part_equally(const ocdm__agent *agent, size_t count, size_t units)
{
    for (size_t r = 0; r <= agent->ranks->size; r++)
        agent->starts[r] = count * r / agent->ranks->size * units;
}

/* Features of `count` images, of which this rank has its part: all ranks get all. */
static ocdm_status gather_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    size_t own = count * (ranks->rank + 1) / ranks->size - count * ranks->rank / ranks->size;
    part_equally(agent, count, ocdm__agent_feature_width(agent));
    OCDM_TRY(ocdm__network_evaluate(agent->network, input, own, features + agent->starts[ranks->rank], NULL, error));
    ranks->gather_all(features, agent->starts);
    return OCDM_OK;
}

/* In blocks, so that features need no room for all samples. With several ranks each computes the features of its part, and all
 * have all logits. */
ocdm_status ocdm__agent_predict(void *state, const float *input, size_t count, float *logits, ocdm_error *error)
{
    ocdm__agent *agent = state;
    size_t width = ocdm__agent_feature_width(agent), sample = ocdm__network_input_size(agent->network);
    bool together = agent->ranks != NULL;
    OCDM_TRY(ocdm__agent_check(agent, error));
    float *features = ocdm__allocate_aligned((together ? count : BLOCK) * width, sizeof *features);
    if (features == NULL)
        return ocdm__fail_memory(error, "features");
    int before = ocdm__single_thread();
    ocdm_status status = together ? gather_features(agent, input, count, features, error) : OCDM_OK;
    for (size_t at = 0; at < count && status == OCDM_OK; at += BLOCK) {
        const float *block = together ? NULL : input + at * sample;
        status = ocdm__network_evaluate(agent->network, block, count - at < BLOCK ? count - at : BLOCK,
                                        features + (together ? at * width : 0), logits + at * agent->class_count, error);
    }
    ocdm__restore_threads(before);
    ocdm__release_aligned(features);
    return status;
}

/* What the head reads; a model that has nothing before its head passes the input on. */
ocdm_status ocdm__agent_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    OCDM_TRY(ocdm__agent_check(agent, error));
    if (agent->network->model.count == 1) { /* linear: the head sees the input itself */
        memcpy(features, input, count * ocdm__network_input_size(agent->network) * sizeof *features);
        return OCDM_OK;
    }
    int before = ocdm__single_thread();
    ocdm_status status = agent->ranks != NULL ? gather_features(agent, input, count, features, error)
                                              : ocdm__network_evaluate(agent->network, input, count, features, NULL, error);
    ocdm__restore_threads(before);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

uint32_t ocdm__agent_feature_width(const ocdm__agent *agent)
{
    const struct ocdm__model *model = &agent->network->model;
    return model->nodes[model->count - 1].in_channels; /* of the head */
}

size_t ocdm__agent_gradient_size(const void *agent)
{
    return ((const ocdm__agent *)agent)->network->trained_count;
}

double ocdm__agent_operations(const void *agent, size_t count, size_t fresh)
{
    (void)fresh; /* replayed samples cost the same */
    return 3 * ocdm__model_operations(&((const ocdm__agent *)agent)->network->model) * (double)count;
}

/* ---- several ranks ---------------------------------------------------------------------------------------------------- */

/* All ranks have the whole network, and after each step the same weights, to the bit. buckets.c has what they exchange within a
 * step. */

/* Training follows the lanes, so that a rank has whole lanes; predictions have no lanes. */
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
