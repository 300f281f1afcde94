/*
 * An agent on several ranks. Rank 0 leads: it runs the whole program, and for each call of the agent that has work for more
 * than one process it broadcasts an order, which the others carry out with it. All ranks have the whole network, and after each
 * step the same weights, to the bit.
 *
 * An agent that all ranks make and call alike has no leader and no orders; see ocdm__agent_deal. buckets.c has what the ranks
 * exchange within a step.
 */
#include "agent/network.h"

#include <string.h>

#include "agent/agent_parts.h"
#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"

/* Room for the name of a model. */
enum { MODEL_NAME = 64 };

/* ---- orders ----------------------------------------------------------------------------------------------------------- */

enum order_kind { CREATE, DESTROY, WEIGHTS, COLLECT, TRAIN, USE, FEATURES, END };

/* Units of four bytes, as all exchanges. */
struct order {
    uint32_t kind;
    uint32_t number;        /* of the agent: how many were created before it */
    uint64_t count;         /* samples of a batch, or the version of the weights */
    uint64_t labels, steps; /* of a batch; of the agent */
    uint64_t fresh;         /* samples of the stream in a batch */
    uint64_t weighted;      /* 1: weights of classes come with the batch */
    uint64_t aged;          /* 1: ages of classes come with the batch */
    uint64_t dark;          /* floats of logits that come with the batch */
    uint64_t known;         /* bytes of known labels that come with it */
    ocdm__agent_settings settings;
};

static void send_order(const ocdm__ranks *ranks, struct order *order)
{
    ranks->broadcast(order, sizeof *order / sizeof(uint32_t));
}

static uint32_t agents_created;

bool ocdm__together_leads(const ocdm__agent *agent)
{
    return agent->ranks != NULL && agent->ranks->rank == 0 && !agent->settings.everywhere;
}

ocdm_status ocdm__together_begin(ocdm__agent *agent, const char *model, ocdm_error *error)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    char name[MODEL_NAME] = {0};
    if (ranks == NULL || agent->network->image_layers == 0 || agent->settings.fast)
        return OCDM_OK;
    agent->starts = ocdm__allocate(ranks->size + 1, sizeof *agent->starts);
    if (agent->starts == NULL)
        return ocdm__fail_memory(error, "parts of a batch");
    agent->ranks = ranks;
    if (!ocdm__together_leads(agent))
        return OCDM_OK;
    agent->number = agents_created++;
    struct order order = {.kind = CREATE, .number = agent->number, .settings = agent->settings};
    memcpy(name, model, strlen(model));
    send_order(ranks, &order);
    ranks->broadcast(name, sizeof name / sizeof(uint32_t));
    return OCDM_OK;
}

/* ---- the leader ------------------------------------------------------------------------------------------------------- */

/* Every value that a step changes, in the same order on all ranks. */
static void share_weights(ocdm__agent *agent)
{
    ocdm__network *network = agent->network;
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
}

static ocdm_status bring_up_to_date(ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->changed)
        return OCDM_OK;
    OCDM_TRY(ocdm__parameters_add_adam(agent->network, error));
    struct order order = {.kind = WEIGHTS, .number = agent->number, .steps = agent->steps};
    send_order(agent->ranks, &order);
    share_weights(agent);
    agent->changed = false;
    return OCDM_OK;
}

/* Of so many bytes; the last one may be padded. */
static size_t units_of(uint64_t bytes)
{
    return (size_t)bytes / sizeof(uint32_t) + (bytes % sizeof(uint32_t) != 0);
}

/* Sends the labels and images of a step to all ranks. */
ocdm_status ocdm__together_train(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, const struct ocdm__share *share,
                                 ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    ocdm_status status = bring_up_to_date(agent, error);
    if (status != OCDM_OK)
        return status;
    struct order order = {.kind = TRAIN,
                          .number = agent->number,
                          .count = batch->count,
                          .labels = batch->starts[batch->count],
                          .steps = agent->steps,
                          .fresh = batch->fresh,
                          .weighted = batch->class_weights != NULL,
                          .aged = batch->ages != NULL,
                          .dark = batch->dark != NULL ? (batch->count - batch->fresh) * agent->settings.class_count : 0,
                          .known = batch->known != NULL ? batch->count * ocdm__bits_size(agent->settings.class_count) : 0};
    uint32_t *known = ocdm__allocate(units_of(order.known), sizeof *known);
    if (known == NULL)
        return ocdm__fail_memory(error, "the known labels of a batch");
    send_order(ranks, &order);
    /* Rank 0 sends: what the pointers lead to is only read. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    ranks->broadcast((void *)(uintptr_t)batch->starts, (batch->count + 1) * (sizeof *batch->starts / sizeof(uint32_t)));
    ranks->broadcast((void *)(uintptr_t)batch->labels, order.labels); /* NOLINT(performance-no-int-to-ptr) */
    if (order.weighted)                                               /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->class_weights, agent->settings.class_count);
    if (order.dark > 0) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->dark, (size_t)order.dark);
    if (order.known > 0) {
        memcpy(known, batch->known, (size_t)order.known);
        ranks->broadcast(known, units_of(order.known));
    }
    ocdm__release(known);
    if (order.aged) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        ranks->broadcast((void *)(uintptr_t)batch->ages, agent->settings.class_count);
    ocdm__share_starts(share, ocdm__network_input_size(agent->network));
    ranks->scatter(batch->input, share->starts, NULL);
    return OCDM_OK;
}

void ocdm__together_collect(ocdm__agent *agent)
{
    struct order order = {.kind = COLLECT, .number = agent->number, .steps = agent->steps};
    if (!ocdm__together_leads(agent) || agent->network->buckets == NULL)
        return;
    send_order(agent->ranks, &order);
    ocdm__buckets_collect(agent->network, agent->ranks);
}

ocdm_status ocdm__together_use(ocdm__agent *agent, uint32_t version, ocdm_error *error)
{
    OCDM_TRY(bring_up_to_date(agent, error));
    struct order order = {.kind = USE, .number = agent->number, .count = version, .steps = agent->steps};
    if (agent->ranks->rank == 0)
        send_order(agent->ranks, &order);
    return OCDM_OK;
}

/* Images 0 to count - 1 in equal parts: what is in `starts` then counts `units` for each. */
static void part_images(const ocdm__agent *agent, size_t count, size_t units)
{
    for (size_t r = 0; r <= agent->ranks->size; r++)
        agent->starts[r] = count * r / agent->ranks->size * units;
}

/* Features of this rank's part of the images, of which the leader has all. */
static ocdm_status features_of_part(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    const ocdm__ranks *ranks = agent->ranks;
    size_t first = count * ranks->rank / ranks->size, end = count * (ranks->rank + 1) / ranks->size;
    return ocdm__network_evaluate(agent->network, input, end - first, features, NULL, error);
}

static ocdm_status lead_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    OCDM_TRY(bring_up_to_date(agent, error));
    struct order order = {.kind = FEATURES, .number = agent->number, .count = count, .steps = agent->steps};
    send_order(agent->ranks, &order);
    part_images(agent, count, ocdm__network_input_size(agent->network));
    agent->ranks->scatter(input, agent->starts, NULL);
    ocdm_status status = features_of_part(agent, input, count, features, error);
    if (status != OCDM_OK)
        agent->ranks->abort(error != NULL ? error->message : "an evaluation failed", OCDM__TOGETHER_FAILED);
    part_images(agent, count, ocdm__model_feature_width(&agent->network->model));
    agent->ranks->gather(NULL, agent->starts, features);
    return OCDM_OK;
}

ocdm_status ocdm__together_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error)
{
    if (!agent->settings.everywhere)
        return lead_features(agent, input, count, features, error);
    size_t width = ocdm__model_feature_width(&agent->network->model);
    part_images(agent, count, width);
    OCDM_TRY(features_of_part(agent, input, count, features + agent->starts[agent->ranks->rank], error));
    agent->ranks->gather_all(features, agent->starts);
    return OCDM_OK;
}

void ocdm__together_destroy(ocdm__agent *agent)
{
    struct order order = {.kind = DESTROY, .number = agent->number};
    if (ocdm__together_leads(agent))
        send_order(agent->ranks, &order);
    ocdm__release(agent->starts);
}

void ocdm__together_end(void)
{
    struct order order = {.kind = END};
    if (ocdm__ranks_all() != NULL)
        send_order(ocdm__ranks_all(), &order);
}

/* ---- agents of all ranks ---------------------------------------------------------------------------------------------- */

const ocdm__ranks *ocdm__agent_deal(ocdm__agent *agent, size_t count, bool training, const size_t **starts)
{
    if (agent->ranks == NULL || !agent->settings.everywhere)
        return NULL;
    struct ocdm__share share = ocdm__share_of(agent->network, count);
    share.ranks = agent->ranks;
    share.starts = agent->starts;
    if (training)
        ocdm__share_starts(&share, 1);
    else
        part_images(agent, count, 1);
    *starts = agent->starts;
    return agent->ranks;
}

ocdm_status ocdm__agent_share(ocdm__agent *agent, ocdm_error *error)
{
    OCDM_TRY(ocdm__parameters_add_adam(agent->network, error));
    agent->ranks->broadcast(&agent->steps, sizeof agent->steps / sizeof(uint32_t));
    share_weights(agent);
    return OCDM_OK;
}

void ocdm__agent_collect(ocdm__agent *agent)
{
    ocdm__buckets_collect(agent->network, agent->ranks);
}

/* ---- the others ------------------------------------------------------------------------------------------------------- */

/* Agents by their numbers, and room for a batch. */
struct follower {
    const ocdm__ranks *ranks;
    ocdm__agent **agents;
    size_t agent_count;
    float *input, *features, *weights, *dark, *ages;
    float *known; /* bytes, in units of four */
    size_t input_room, feature_room, weight_room, dark_room, age_room, known_room;
};

static ocdm_status follow_create(struct follower *follower, const struct order *order, ocdm_error *error)
{
    char name[MODEL_NAME];
    ocdm__agent_settings settings = order->settings;
    follower->ranks->broadcast(name, sizeof name / sizeof(uint32_t));
    settings.model = name;
    bool failed = false;
    follower->agents = ocdm__grown(follower->agents, follower->agent_count + 1, sizeof *follower->agents, &failed);
    if (failed)
        return ocdm__fail_memory(error, "an agent");
    ocdm__agent **agent = &follower->agents[follower->agent_count++];
    *agent = NULL;
    return ocdm__agent_create(&settings, NULL, agent, error);
}

static ocdm_status follow_weights(ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    ocdm_status status = ocdm__parameters_add_adam(agent->network, error);
    if (status == OCDM_OK)
        share_weights(agent);
    agent->steps = order->steps;
    return status;
}

static ocdm_status follow_step(struct follower *follower, ocdm__agent *agent, const struct order *order, size_t *starts,
                               uint32_t *labels, ocdm_error *error)
{
    const ocdm__ranks *ranks = follower->ranks;
    struct ocdm__share share = ocdm__share_of(agent->network, (size_t)order->count);
    size_t size = ocdm__network_input_size(agent->network);
    share.starts = agent->starts;
    ocdm__share_deal(&share, ranks);
    ranks->broadcast(starts, ((size_t)order->count + 1) * (sizeof *starts / sizeof(uint32_t)));
    ranks->broadcast(labels, (size_t)order->labels);
    if (!ocdm__reserve_floats(&follower->weights, &follower->weight_room, agent->settings.class_count) ||
        !ocdm__reserve_floats(&follower->ages, &follower->age_room, agent->settings.class_count) ||
        !ocdm__reserve_floats(&follower->dark, &follower->dark_room, (size_t)order->dark + 1) ||
        !ocdm__reserve_floats(&follower->known, &follower->known_room, units_of(order->known) + 1))
        return ocdm__fail_memory(error, "the weights of classes, or logits");
    if (order->weighted)
        ranks->broadcast(follower->weights, agent->settings.class_count);
    if (order->dark > 0)
        ranks->broadcast(follower->dark, (size_t)order->dark);
    if (order->known > 0)
        ranks->broadcast(follower->known, units_of(order->known));
    if (order->aged)
        ranks->broadcast(follower->ages, agent->settings.class_count);
    if (!ocdm__reserve_floats(&follower->input, &follower->input_room, (share.end - share.first) * size + 1))
        return ocdm__fail_memory(error, "images of a batch");
    ocdm__share_starts(&share, size);
    ranks->scatter(NULL, share.starts, follower->input);
    const struct ocdm__labelled_batch batch = {.input = follower->input,
                                               .starts = starts,
                                               .labels = labels,
                                               .count = (size_t)order->count,
                                               .fresh = (size_t)order->fresh,
                                               .class_weights = order->weighted ? follower->weights : NULL,
                                               .dark = order->dark > 0 ? follower->dark : NULL,
                                               .known = order->known > 0 ? (const uint8_t *)follower->known : NULL,
                                               .ages = order->aged ? follower->ages : NULL};
    ocdm_status status = ocdm__agent_train(agent, &batch, NULL, error);
    return status == OCDM_BAD_RECORD ? OCDM_OK : status; /* the leader reports it */
}

static ocdm_status follow_train(struct follower *follower, ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    size_t *starts = ocdm__allocate((size_t)order->count + 1, sizeof *starts);
    uint32_t *labels = ocdm__allocate((size_t)order->labels + 1, sizeof *labels);
    ocdm_status status = starts != NULL && labels != NULL ? follow_step(follower, agent, order, starts, labels, error)
                                                          : ocdm__fail_memory(error, "labels of a batch");
    ocdm__release(starts);
    ocdm__release(labels);
    return status;
}

static ocdm_status follow_features(struct follower *follower, ocdm__agent *agent, const struct order *order, ocdm_error *error)
{
    size_t count = (size_t)order->count / follower->ranks->size + 1, size = ocdm__network_input_size(agent->network);
    size_t width = ocdm__model_feature_width(&agent->network->model);
    if (!ocdm__reserve_floats(&follower->input, &follower->input_room, count * size) ||
        !ocdm__reserve_floats(&follower->features, &follower->feature_room, count * width))
        return ocdm__fail_memory(error, "images of an evaluation");
    part_images(agent, (size_t)order->count, size);
    follower->ranks->scatter(NULL, agent->starts, follower->input);
    int before = ocdm__single_thread();
    ocdm_status status = features_of_part(agent, follower->input, (size_t)order->count, follower->features, error);
    ocdm__restore_threads(before);
    part_images(agent, (size_t)order->count, width);
    if (status == OCDM_OK)
        follower->ranks->gather(follower->features, agent->starts, NULL);
    return status;
}

static ocdm_status follow(struct follower *follower, const struct order *order, ocdm_error *error)
{
    ocdm__agent **agent = order->kind != CREATE ? &follower->agents[order->number] : NULL;
    switch ((enum order_kind)order->kind) {
    case CREATE:
        return follow_create(follower, order, error);
    case WEIGHTS:
        return follow_weights(*agent, order, error);
    case COLLECT:
        ocdm__buckets_collect((*agent)->network, (*agent)->ranks);
        return OCDM_OK;
    case TRAIN:
        return follow_train(follower, *agent, order, error);
    case USE:
        ocdm__parameters_use((*agent)->network, (uint32_t)order->count);
        return OCDM_OK;
    case FEATURES:
        return follow_features(follower, *agent, order, error);
    case DESTROY:
        ocdm__agent_destroy(*agent);
        *agent = NULL;
        return OCDM_OK;
    case END:
        break;
    }
    return OCDM_OK;
}

void ocdm__together_follow(void)
{
    struct follower follower = {.ranks = ocdm__ranks_all()};
    struct order order = {.kind = CREATE};
    ocdm_error error;
    for (;;) {
        send_order(follower.ranks, &order); /* a broadcast: here it is received */
        if (order.kind == END)
            break;
        follower.ranks->note_step(order.steps);
        if (follow(&follower, &order, &error) != OCDM_OK)
            follower.ranks->abort(error.message, OCDM__TOGETHER_FAILED);
    }
    for (size_t i = 0; i < follower.agent_count; i++)
        ocdm__agent_destroy(follower.agents[i]);
    ocdm__release(follower.agents);
    ocdm__release_aligned(follower.input);
    ocdm__release_aligned(follower.features);
    ocdm__release_aligned(follower.weights);
    ocdm__release_aligned(follower.dark);
    ocdm__release_aligned(follower.known);
    ocdm__release_aligned(follower.ages);
}
