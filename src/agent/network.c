/* Creates and destroys networks, and allocates the memory of their passes. */
#include "agent/network.h"

/* The team first: its threads may look at anything. */
void ocdm__network_destroy(ocdm__network *network)
{
    if (network == NULL)
        return;
    ocdm__team_destroy(network->team);
    ocdm__layers_release(network);
    ocdm__parameters_release(network);
    ocdm__model_destroy(&network->model);
    ocdm__release_aligned(network->arena);
    ocdm__release_aligned(network->eval_arena);
    ocdm__release_aligned(network->lane_memory);
    OCDM_RELEASE(network->parts, network->merges, network->chunk_sizes);
    ocdm__buckets_destroy(network->buckets);
    ocdm__release_aligned(network->partials);
    ocdm__release_aligned(network->vectors);
    ocdm__device_destroy(network->device);
    ocdm__release(network);
}

/* Creates a layer for each node, and finds the sizes of the vectors between linear layers. */
static ocdm_status list_layers(ocdm__network *network, ocdm_error *error)
{
    const struct ocdm__model *model = &network->model;
    OCDM_TRY(ocdm__new(&network->layers, model->count, sizeof *network->layers, "the network's layers", error));
    for (size_t i = 0; i < model->count; i++) {
        const struct ocdm__node *node = &model->nodes[i];
        network->layers[i].node = node;
        bool vector = node->kind == OCDM__NODE_AVERAGE || node->kind == OCDM__NODE_LINEAR;
        if (node->kind == OCDM__NODE_AVERAGE)
            network->image_layers = (uint32_t)i;
        if (!vector || i + 1 == model->count)
            continue;
        network->vector_slots++;
        network->vector_width = network->vector_width < node->channels ? node->channels : network->vector_width;
    }
    network->input_bytes = (size_t)model->nodes[0].in_height * model->nodes[0].in_width * 3 * network->kernels->element;
    return ocdm__parameters_list(network, error);
}

/* A network is whole or not there. */
static ocdm_status hand_over(ocdm__network *made, ocdm_status status, ocdm__network **network)
{
    if (status == OCDM_OK)
        *network = made;
    else
        ocdm__network_destroy(made);
    return status;
}

/* In the order in which each needs the one before; linear and mlp have no images to divide among threads. Weights are drawn
 * last, into the layouts that were chosen. */
ocdm_status ocdm__network_create(const ocdm__agent_settings *settings, ocdm__network **network, ocdm_error *error)
{
    ocdm__network *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a network", error));
    made->threads = ocdm__model_takes_images(settings->size.name) ? settings->network.threads : 1;
    made->bf16 = settings->network.precision == OCDM__PRECISION_BF16;
    made->average_count = (uint32_t)settings->network.averages.count;
    ocdm_status status = ocdm__device_create(made->threads, made->bf16, &made->device, error);
    made->kernels = ocdm__kernels_for(made->bf16);
    made->blocked = ocdm__device_blocks(made->bf16);
    OCDM_THEN(status, ocdm__model_create(&settings->size, &made->model, error));
    OCDM_THEN(status, ocdm__team_create(made->threads, &made->team, error));
    OCDM_THEN(status, list_layers(made, error));
    OCDM_THEN(status, ocdm__layers_create(made, error));
    OCDM_THEN(status, ocdm__parameters_allocate(made, error));
    OCDM_THEN(status, ocdm__plan_evaluation(made, error));
    if (status == OCDM_OK)
        ocdm__parameters_draw(made, settings->network.seed);
    OCDM_THEN(status, ocdm__network_check(made, error));
    return hand_over(made, status, network);
}

/* Names, shapes and nodes without memory or primitives: for files of weights and for ONNX. */
ocdm_status ocdm__network_outline(const struct ocdm__model_size *size, ocdm__network **network, ocdm_error *error)
{
    ocdm__network *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "a network", error));
    made->kernels = ocdm__kernels_for(false);
    ocdm_status status = ocdm__model_create(size, &made->model, error);
    OCDM_THEN(status, list_layers(made, error));
    return hand_over(made, status, network);
}

size_t ocdm__network_input_size(const ocdm__network *network)
{
    const struct ocdm__node *first = &network->model.nodes[0];
    return (size_t)first->in_channels * first->in_height * first->in_width;
}

ocdm_status ocdm__network_check(ocdm__network *network, ocdm_error *error)
{
    if (!atomic_exchange(&network->failed, false))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_NO_MEMORY, "take smaller batches or images, or free some of the machine's memory",
                      "out of memory: a layer of the network could not run");
}

/* ---- memory of passes ----------------------------------------------------------------------------------------------- */

/* What one layer's weight gradient needs: all sizes follow from the share and the layer, so every caller gets the same plan.
 * Chunks are as large as possible with enough items for the threads: few gradients in memory, and few that are added later. */
struct ocdm__lane_plan ocdm__plan_lanes(const ocdm__network *network, const struct ocdm__share *share,
                                        const struct ocdm__layer *layer)
{
    size_t weights = network->parameters[layer->weight].room, slices = layer->slices;
    size_t items = slices > 1 && network->threads > OCDM__CHUNK / 2 ? 2 * (size_t)network->threads : OCDM__CHUNK;
    struct ocdm__lane_plan plan = {.chunk = 1, .stride = ocdm__rounded_floats(weights), .slice = weights / slices};
    while ((slices > 1 || plan.chunk < OCDM__CHUNK) &&
           (share->end_lane - share->first_lane) / (2 * plan.chunk) * slices >= items)
        plan.chunk *= 2;
    plan.chunks = ocdm__share_chunks(share, plan.chunk, NULL, NULL);
    plan.place = ocdm__rounded_floats(plan.slice);
    plan.image = layer->image_bytes / slices;
    for (size_t lanes = plan.chunk; lanes > 1; lanes = (lanes + OCDM__FAN - 1) / OCDM__FAN)
        plan.levels++;
    plan.at_once = slices > 1 && plan.chunks == 1 && share->ranks == NULL;
    plan.in_bucket = share->ranks != NULL && plan.chunks == ocdm__share_chunks(share, share->lanes, NULL, NULL);
    plan.room = (plan.levels * (OCDM__FAN - 1) + (plan.at_once ? 1 : 0)) * plan.place;
    if (slices > 1)
        plan.room += ocdm__rounded(OCDM__LANE_IMAGES * plan.image) / sizeof(float);
    return plan;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The chunks' sums of two layers, since one is made while another is added, or the gradients of a linear layer's weights and
 * biases; and for each item at work the gradients of its lanes. */
static ocdm_status reserve_lanes(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error)
{
    size_t half = 0, room = 0;
    for (size_t i = 0; i < network->parameter_count; i++)
        half = larger(half, ocdm__rounded_floats(network->parameters[i].room));
    for (uint32_t k = 0; k < network->image_layers; k++) {
        const struct ocdm__layer *layer = &network->layers[k];
        if (layer->node->kind != OCDM__NODE_CONV)
            continue;
        const struct ocdm__lane_plan plan = ocdm__plan_lanes(network, share, layer);
        size_t items = plan.chunks * layer->slices;
        half = larger(half, plan.in_bucket ? 0 : plan.chunks * plan.stride);
        room = larger(room, plan.room * (network->threads < items ? network->threads : items));
    }
    if (share->lanes > network->part_room) {
        network->part_room = 0;
        OCDM_RELEASE(network->parts, network->merges, network->chunk_sizes);
        network->parts = ocdm__allocate(2 * share->lanes, sizeof *network->parts);
        network->merges = ocdm__allocate(2 * share->lanes, sizeof *network->merges);
        network->chunk_sizes = ocdm__allocate(2 * share->lanes, sizeof *network->chunk_sizes);
        if (network->parts == NULL || network->merges == NULL || network->chunk_sizes == NULL)
            return ocdm__fail_memory(error, "the gradients of a layer");
        network->part_room = share->lanes;
    }
    network->lane_half = half;
    if (!ocdm__reserve_aligned(&network->lane_memory, &network->lane_room, 2 * half + room, sizeof(float)))
        return ocdm__fail_memory(error, "the gradients of a layer");
    return OCDM_OK;
}

/* Everything a pass needs, so that a step cannot run out of memory half way, but for oneDNN's own. */
ocdm_status ocdm__network_reserve(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error)
{
    size_t images = share->images;
    if (!network->can_train) {
        OCDM_TRY(ocdm__layers_prepare_training(network, error));
        OCDM_TRY(ocdm__plan_training(network, error));
        network->can_train = true;
    }
    OCDM_TRY(reserve_lanes(network, share, error));
    if (share->ranks != NULL)
        OCDM_TRY(ocdm__buckets_reserve(network, share, error));
    if (network->image_layers > 0) {
        /* Two doubles for each image and channel of each layer: mean and squares, or the two sums on the way back. */
        size_t channels = 0;
        for (uint32_t k = 0; k < network->image_layers; k++)
            channels += network->layers[k].node->channels;
        if (!ocdm__reserve_aligned(&network->partials, &network->partial_images, images, 2 * channels * sizeof(double)))
            return ocdm__fail_memory(error, "the sums of batch norms");
        double *at = network->partials;
        for (uint32_t k = 0; k < network->image_layers; k++) {
            network->layers[k].partial = at;
            at += 2 * network->partial_images * network->layers[k].node->channels;
        }
        OCDM_TRY(ocdm__layers_prepare_lanes(network, share, error));
    }
    for (size_t k = 0; k < network->model.count; k++)
        if (network->layers[k].node->kind == OCDM__NODE_LINEAR)
            OCDM_TRY(ocdm__linear_prepare(network, &network->layers[k], images, error));
    size_t row = 2 * network->vector_slots * network->vector_width * sizeof(float);
    if (!ocdm__reserve_aligned(&network->vectors, &network->vector_rows, images, row))
        return ocdm__fail_memory(error, "features of a batch");
    if (!ocdm__reserve_aligned(&network->arena, &network->arena_images, share->room, network->arena_image))
        return ocdm__fail(error, OCDM_NO_MEMORY, "take smaller batches or images, or bf16",
                          "out of memory: a batch of %zu needs %zu MiB", share->room, share->room * network->arena_image >> 20);
    return OCDM_OK;
}
