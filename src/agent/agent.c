/* The agent: settings, steps, predictions, gradients. loss.c has the losses, agent_weights.c loads and saves weights; the other
 * files of this folder implement the network. */
#include "agent/agent.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "agent/agent_parts.h"
#include "base/allocate.h"
#include "base/error.h"

/* The number of images whose features are in memory while logits are computed. */
enum { BLOCK = 64 };

/* ---- making and unmaking -------------------------------------------------------------------------------------------- */

ocdm__agent_settings ocdm__agent_settings_default(void)
{
    return (ocdm__agent_settings){
        .model = "linear", .learning_rate = 1e-4, .epsilon = 1e-4, .loss = {.negatives = 1}, .threads = 1};
}

static ocdm_status check_loss(const ocdm__loss_rule *loss, ocdm_error *error)
{
    if (!(loss->negatives >= 0 && loss->negatives <= 1))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the weight of negatives must be from 0 to 1");
    if (!(loss->focal >= 0 && loss->focal <= OCDM__MOST_FOCAL))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "focal must be from 0 to %g", OCDM__MOST_FOCAL);
    if (loss->kind == OCDM__LOSS_ASL && loss->focal > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --focal out", "the loss asl has a focal power of its own");
    return OCDM_OK;
}

static ocdm_status check_descent(const ocdm__agent_settings *settings, ocdm_error *error)
{
    if (!(settings->weight_decay >= 0 && settings->weight_decay <= 1) ||
        (settings->weight_decay > 0 && settings->optimiser == OCDM__OPTIMISER_ADAM))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "weight decay must be from 0 to 1, and 0 for adam");
    if (!(settings->momentum >= 0 && settings->momentum < 1))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "momentum must be from 0 to below 1");
    if (settings->lr_schedule == OCDM__LR_COSINE && settings->horizon == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a cosine schedule needs a horizon");
    return OCDM_OK;
}

static ocdm_status check_settings(const ocdm__agent_settings *settings, ocdm_error *error)
{
    if (settings->threads < 1 || settings->threads > OCDM__MAX_THREADS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "threads must be 1 to %d, not %u", OCDM__MAX_THREADS,
                          settings->threads);
    if (!(settings->learning_rate >= 0 && settings->learning_rate <= 1e6))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the learning rate must be from 0 to 1e6");
    if (!(settings->epsilon > 0 && settings->epsilon <= 1e6))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "Adam's epsilon must be above 0 and at most 1e6");
    if (!(settings->clip >= 0 && settings->clip <= 1e30))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "clip must be from 0 (none) to 1e30");
    for (uint32_t i = 0; i < settings->averages.count; i++)
        if (!(settings->averages.values[i] > 0 && settings->averages.values[i] < 1))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "the rate of an average must be above 0 and below 1");
    OCDM_TRY(check_descent(settings, error));
    return check_loss(&settings->loss, error);
}

static ocdm_status create_network(ocdm__agent *agent, const ocdm__agent_settings *settings, ocdm_error *error)
{
    bool images = ocdm__model_takes_images(settings->model);
    struct ocdm__network_settings network = {.size = {.name = settings->model,
                                                      .class_count = settings->class_count,
                                                      .features = settings->features,
                                                      .height = settings->height,
                                                      .width = settings->width,
                                                      .blocks = settings->blocks},
                                             .bf16 = settings->bf16,
                                             .fast = settings->fast,
                                             .threads = images ? settings->threads : 1,
                                             .seed = settings->seed};
    int before = ocdm__single_thread();
    ocdm_status status = ocdm__network_create(&network, &agent->network, error);
    ocdm__restore_threads(before);
    agent->settings = *settings;
    agent->settings.model = NULL;
    if (status == OCDM_OK)
        agent->network->average_count = settings->averages.count;
    return status;
}

static void release_room(struct ocdm__pass_room *room)
{
    ocdm__release_aligned(room->logits);
    ocdm__release_aligned(room->logit_gradients);
    ocdm__release(room->row_losses);
    *room = (struct ocdm__pass_room){.rows = 0};
}

void ocdm__agent_destroy(ocdm__agent *agent)
{
    if (agent == NULL)
        return;
    ocdm__together_destroy(agent);
    ocdm__network_destroy(agent->network);
    release_room(&agent->step);
    release_room(&agent->asked);
    ocdm__release(agent->fresh_weights);
    ocdm__release(agent);
}

/* ---- a pass --------------------------------------------------------------------------------------------------------- */

static ocdm_status check_batch(const ocdm__agent *agent, const struct ocdm__labelled_batch *batch, ocdm_error *error)
{
    if (batch->count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a batch without samples has no loss");
    if (batch->fresh > batch->count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%zu of %zu samples of a batch are of the stream", batch->fresh,
                          batch->count);
    for (size_t i = 0; i < batch->count; i++)
        for (size_t at = batch->starts[i]; at < batch->starts[i + 1]; at++)
            if (batch->labels[at] >= agent->settings.class_count)
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "sample %zu of the batch has class %u of %u", i,
                                  batch->labels[at], agent->settings.class_count);
    return OCDM_OK;
}

/* If a channel has only one value, batch norm maps it to 0 and decays the running variance to 0. */
static ocdm_status check_norms(const ocdm__network *network, size_t images, ocdm_error *error)
{
    for (uint32_t k = 0; k < network->image_layers; k++) {
        const struct ocdm__node *node = network->layers[k].node;
        if (node->kind == OCDM__NODE_CONV && (size_t)node->height * node->width * images == 1)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take larger batches, or larger images",
                              "one sample whose image is down to one pixel at %s: a batch norm cannot learn from one value",
                              node->norm);
    }
    return OCDM_OK;
}

static ocdm_status reserve_rows(struct ocdm__pass_room *room, size_t rows, size_t classes, ocdm_error *error)
{
    if (rows <= room->rows)
        return OCDM_OK;
    release_room(room);
    room->row_losses = ocdm__allocate(rows, sizeof *room->row_losses);
    room->logits = ocdm__allocate_aligned(rows * classes, sizeof *room->logits);
    room->logit_gradients = ocdm__allocate_aligned(rows * classes, sizeof *room->logit_gradients);
    if (room->logits == NULL || room->logit_gradients == NULL || room->row_losses == NULL)
        return ocdm__fail_memory(error, "logits");
    room->rows = rows;
    return OCDM_OK;
}

static ocdm_status reserve(ocdm__agent *agent, const struct ocdm__share *share, struct ocdm__pass_room *room, ocdm_error *error)
{
    ocdm_status status = ocdm__network_reserve(agent->network, share, error);
    if (status == OCDM_OK && agent->fresh_weights == NULL) {
        agent->fresh_weights = ocdm__allocate(agent->settings.class_count, sizeof *agent->fresh_weights);
        status = agent->fresh_weights != NULL ? OCDM_OK : ocdm__fail_memory(error, "the weights of classes");
    }
    return status == OCDM_OK ? reserve_rows(room, share->images, agent->settings.class_count, error) : status;
}

/* What only a training step needs, so that a run without enough memory ends before its first step. */
static ocdm_status reserve_training(ocdm__agent *agent, size_t batch, ocdm_error *error)
{
    const struct ocdm__share share = ocdm__share_of(agent->network, batch);
    int before = ocdm__single_thread();
    ocdm_status status = reserve(agent, &share, &agent->step, error);
    if (status == OCDM_OK)
        status = ocdm__parameters_add_adam(agent->network, error);
    ocdm__restore_threads(before);
    return status;
}

ocdm_status ocdm__agent_create(const ocdm__agent_settings *settings, const struct ocdm__weights *weights, ocdm__agent **agent,
                               ocdm_error *error)
{
    ocdm__agent_settings wanted = *settings;
    struct ocdm__weights_fit fit = {0};
    OCDM_TRY(check_settings(settings, error));
    if (weights != NULL)
        OCDM_TRY(ocdm__weights_fit(weights->file, &fit, error));
    if (wanted.blocks == 0 && fit.model != NULL && strcmp(fit.model, wanted.model) == 0)
        wanted.blocks = fit.blocks;
    ocdm__agent *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "an agent");
    ocdm_status status = create_network(made, &wanted, error);
    if (status == OCDM_OK && weights != NULL)
        status = ocdm__agent_load(made, weights, NULL, error);
    if (status == OCDM_OK)
        status = ocdm__together_begin(made, wanted.model, error);
    if (status == OCDM_OK && wanted.batch > 0)
        status =
            made->ranks == NULL ? reserve_training(made, wanted.batch, error) : ocdm__parameters_add_adam(made->network, error);
    if (status != OCDM_OK) {
        ocdm__agent_destroy(made);
        return status;
    }
    *agent = made;
    return OCDM_OK;
}

/* The targets of a batch; room for the weights of its classes is the agent's. */
static struct ocdm__targets targets_of(const ocdm__agent *agent, const struct ocdm__labelled_batch *batch, double *row_losses)
{
    struct ocdm__targets targets = {.starts = batch->starts,
                                    .labels = batch->labels,
                                    .rows = batch->count,
                                    .classes = agent->settings.class_count,
                                    .fresh = batch->fresh,
                                    .class_weights = batch->class_weights,
                                    .dark = batch->dark,
                                    .known = batch->known,
                                    .row_losses = row_losses,
                                    .fresh_weights = batch->class_weights};
    if (agent->settings.loss.negatives < 1 && batch->fresh > 0) {
        ocdm__loss_weigh_absent(&targets, agent->settings.loss.negatives, agent->fresh_weights);
        targets.fresh_weights = agent->fresh_weights;
    }
    return targets;
}

static struct ocdm__pass_room *room_of(ocdm__agent *agent, const struct ocdm__gradient_sink *sink)
{
    return sink->flat == NULL ? &agent->step : &agent->asked;
}

/* Forward, loss, backward into the sink. */
static ocdm_status run_pass(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, const struct ocdm__share *share,
                            bool frozen, const struct ocdm__gradient_sink *sink, double *loss, ocdm_error *error)
{
    const struct ocdm__pass_room *room = room_of(agent, sink);
    struct ocdm__pass pass = {.network = agent->network,
                              .input = batch->input,
                              .share = *share,
                              .frozen = frozen,
                              .logits = room->logits,
                              .logit_gradients = room->logit_gradients};
    const struct ocdm__targets targets = targets_of(agent, batch, room->row_losses);
    size_t bad;
    OCDM_TRY(ocdm__network_forward(&pass, error));
    double mean = ocdm__loss(&targets, &agent->settings.loss, room->logits, room->logit_gradients, &bad);
    agent->bad_sample = bad;
    if (bad < batch->count)
        return ocdm__fail(error, OCDM_BAD_RECORD, "go back to the last checkpoint; a smaller learning rate or --clip may help",
                          "the loss of sample %zu of the batch is not a finite number", bad);
    OCDM_TRY(ocdm__network_backward(&pass, sink, error));
    if (loss != NULL)
        *loss = mean;
    return OCDM_OK;
}

static ocdm_status prepared_pass(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, bool frozen,
                                 const struct ocdm__gradient_sink *sink, double *loss, ocdm_error *error)
{
    OCDM_TRY(ocdm__agent_check(agent, error));
    OCDM_TRY(check_batch(agent, batch, error));
    if (!frozen)
        OCDM_TRY(check_norms(agent->network, batch->count, error));
    struct ocdm__share share = ocdm__share_of(agent->network, batch->count);
    bool together = agent->ranks != NULL && sink->flat == NULL;
    share.starts = agent->starts;
    if (together)
        ocdm__share_deal(&share, agent->ranks);
    if (together && ocdm__together_leads(agent))
        share.given = 0;
    int before = ocdm__single_thread();
    ocdm_status status = reserve(agent, &share, room_of(agent, sink), error);
    if (status == OCDM_OK && sink->flat == NULL)
        status = ocdm__parameters_add_adam(agent->network, error);
    if (status == OCDM_OK && together && ocdm__together_leads(agent))
        status = ocdm__together_train(agent, batch, &share, error);
    if (status == OCDM_OK) {
        status = run_pass(agent, batch, &share, frozen, sink, loss, error);
        agent->broken = status == OCDM_NO_MEMORY && sink->flat == NULL;
    }
    if (status == OCDM_NO_MEMORY && together)
        agent->ranks->abort(error != NULL ? error->message : "out of memory in a step of the network", OCDM__TOGETHER_FAILED);
    ocdm__restore_threads(before);
    return status;
}

double ocdm__learning_rate(const ocdm__agent_settings *settings, uint64_t step)
{
    double rate = settings->learning_rate, t = (double)step;
    if (settings->lr_schedule == OCDM__LR_COSINE)
        rate *= 0.5 * (1 + cos(acos(-1) * fmin(1, (t - 1) / (double)settings->horizon)));
    return step < settings->warmup ? rate * t / (double)settings->warmup : rate;
}

struct ocdm__adam ocdm__step_of(const ocdm__agent_settings *settings, uint64_t step)
{
    double rate = ocdm__learning_rate(settings, step), t = (double)step;
    bool sgd = settings->optimiser == OCDM__OPTIMISER_SGD;
    return (struct ocdm__adam){.step_size = (float)(sgd ? rate : rate / (1.0 - pow(0.9, t))),
                               .root_scale = (float)(1.0 / sqrt(1.0 - pow(0.999, t))),
                               .epsilon = (float)settings->epsilon,
                               .clip = (float)settings->clip,
                               .decay = sgd ? 0 : (float)(rate * settings->weight_decay),
                               .sgd = sgd,
                               .momentum = (float)settings->momentum,
                               .penalty = (float)settings->weight_decay};
}

ocdm_status ocdm__agent_train(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, double *loss, ocdm_error *error)
{
    const struct ocdm__gradient_sink sink = {.adam = ocdm__step_of(&agent->settings, agent->steps + 1)};
    ocdm__parameters_use(agent->network, 0);
    ocdm_status status = prepared_pass(agent, batch, false, &sink, loss, error);
    if (status == OCDM_OK) {
        agent->steps++;
        if (agent->settings.averages.count > 0)
            ocdm__parameters_average(agent->network, &agent->settings.averages, agent->steps, batch->ages);
    }
    if (agent->ranks != NULL)
        agent->ranks->note_step(agent->steps);
    return status;
}

size_t ocdm__agent_bad_sample(const ocdm__agent *agent)
{
    return agent->bad_sample;
}

const float *ocdm__agent_logits(const ocdm__agent *agent)
{
    return agent->step.logits;
}

const double *ocdm__agent_losses(const ocdm__agent *agent)
{
    return agent->step.row_losses;
}

ocdm_status ocdm__agent_gradient(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, float *gradient,
                                 ocdm_error *error)
{
    struct ocdm__gradient_sink sink = {.flat = gradient};
    return prepared_pass(agent, batch, true, &sink, NULL, error);
}

ocdm_status ocdm__agent_batch_gradient(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, float *gradient,
                                       double *loss, ocdm_error *error)
{
    struct ocdm__gradient_sink sink = {.flat = gradient};
    return prepared_pass(agent, batch, false, &sink, loss, error);
}

ocdm_status ocdm__agent_use(ocdm__agent *agent, size_t version, ocdm_error *error)
{
    uint32_t wanted = agent->steps > 0 ? (uint32_t)version : 0;
    OCDM_TRY(ocdm__agent_check(agent, error));
    if (ocdm__together_leads(agent) && wanted != agent->network->version)
        OCDM_TRY(ocdm__together_use(agent, wanted, error));
    ocdm__parameters_use(agent->network, wanted);
    return OCDM_OK;
}

/* ---- evaluation ----------------------------------------------------------------------------------------------------- */

/* Features, and logits unless NULL. The layers of images are computed by all ranks. */
static ocdm_status evaluate(ocdm__agent *agent, const float *input, size_t count, float *features, float *logits,
                            ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    if (agent->ranks != NULL) {
        status = ocdm__together_features(agent, input, count, features, error);
        input = NULL;
    }
    return status == OCDM_OK ? ocdm__network_evaluate(agent->network, input, count, features, logits, error) : status;
}

ocdm_status ocdm__agent_predict(ocdm__agent *agent, const float *input, size_t count, float *logits, ocdm_error *error)
{
    size_t width = ocdm__agent_feature_width(agent), sample = ocdm__network_input_size(agent->network);
    if (ocdm__agent_check(agent, error) != OCDM_OK)
        return OCDM_NO_MEMORY;
    bool dealt = agent->ranks != NULL && agent->settings.everywhere;
    float *features = ocdm__allocate_aligned((dealt ? count : BLOCK) * width, sizeof *features);
    if (features == NULL)
        return ocdm__fail_memory(error, "features");
    int before = ocdm__single_thread();
    ocdm_status status = dealt ? ocdm__together_features(agent, input, count, features, error) : OCDM_OK;
    for (size_t at = 0; at < count && status == OCDM_OK; at += BLOCK) {
        size_t block = count - at < BLOCK ? count - at : BLOCK;
        float *rows = logits + at * agent->settings.class_count;
        status = dealt ? ocdm__network_evaluate(agent->network, NULL, block, features + at * width, rows, error)
                       : evaluate(agent, input + at * sample, block, features, rows, error);
    }
    ocdm__restore_threads(before);
    ocdm__release_aligned(features);
    return status;
}

ocdm_status ocdm__agent_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    if (ocdm__agent_check(agent, error) != OCDM_OK)
        return OCDM_NO_MEMORY;
    if (agent->network->model.count == 1) { /* linear: the head sees the input itself */
        memcpy(features, input, count * ocdm__network_input_size(agent->network) * sizeof *features);
        return OCDM_OK;
    }
    int before = ocdm__single_thread();
    ocdm_status status = evaluate(agent, input, count, features, NULL, error);
    ocdm__restore_threads(before);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

uint32_t ocdm__agent_feature_width(const ocdm__agent *agent)
{
    return ocdm__model_feature_width(&agent->network->model);
}

size_t ocdm__agent_gradient_size(const ocdm__agent *agent)
{
    return agent->network->trained_count;
}

size_t ocdm__agent_average_count(const ocdm__agent *agent)
{
    return agent->settings.averages.count;
}

double ocdm__agent_operations(const ocdm__agent *agent)
{
    return ocdm__model_operations(&agent->network->model);
}

uint64_t ocdm__agent_steps(const ocdm__agent *agent)
{
    return agent->steps;
}
