/* The primitives of a network's layers, and copies of their weights in the layouts that the primitives require. */
#include "agent/network.h"

/* The usual number of images in a lane, for which the layout of the weights is chosen. */
enum { USUAL_LANE = 1 };

/* Weights of this many bytes do not stay in a core's cache from image to image; two images are then processed together. */
enum { HEAVY_WEIGHTS = 4 << 20 };

/* The most bytes of a slice of weights, where the channels of a block allow it: seven of them fit into a core's cache. */
enum { SLICE_BYTES = 144 << 10 };

/* A node as oneDNN wants to hear of it, for so many images at once. */
static struct ocdm__conv_shape layer_shape(const ocdm__network *network, const struct ocdm__node *node, size_t images)
{
    return (struct ocdm__conv_shape){*node, images, network->bf16, network->blocked};
}

/* The number of lanes is a power of two that follows from the number of images alone, and so does the sum of their
 * gradients. */
struct ocdm__share ocdm__share_of(const ocdm__network *network, size_t images)
{
    struct ocdm__share share = {.images = images, .lanes = 1, .end = images, .room = images};
    while (network->image_layers > 0 && 2 * share.lanes <= images &&
           (share.lanes < OCDM__LANES || images > share.lanes * OCDM__LANE_IMAGES))
        share.lanes *= 2;
    share.end_lane = share.lanes;
    return share;
}

size_t ocdm__lane_start(const struct ocdm__share *share, size_t lane)
{
    return lane * share->images / share->lanes;
}

bool ocdm__layer_is_product(const ocdm__network *network, const struct ocdm__node *node)
{
    return !network->blocked && node->kernel == 1 && node->stride == 1 && !node->depthwise;
}

static const ocdm__layout *home_of(const ocdm__network *network, const struct ocdm__layer *layer)
{
    const struct ocdm__parameter *weight = &network->parameters[layer->weight];
    return weight->home != NULL ? weight->home : weight->plain;
}

/* For products a matrix product, for others a convolution's backward primitive, of a slice of the output channels if there are
 * slices. */
static ocdm_status create_weights_op(ocdm__network *network, struct ocdm__layer *layer, size_t images, ocdm__op **op,
                                     ocdm_error *error)
{
    const struct ocdm__node *node = layer->node;
    struct ocdm__conv_shape shape = layer_shape(network, node, images);
    shape.node.channels /= (uint32_t)layer->slices;
    const struct ocdm__product_shape product = {.rows = node->channels,
                                                .columns = node->in_channels,
                                                .depth = (int64_t)images * node->height * node->width,
                                                .a_turned = true,
                                                .bf16 = network->bf16};
    ocdm__layout *part = NULL;
    if (ocdm__layer_is_product(network, node))
        return ocdm__product_create(network->device, &product, op, error);
    OCDM_TRY(ocdm__layout_slice(home_of(network, layer), shape.node.channels, &part, error));
    ocdm_status status = ocdm__conv_create(network->device, OCDM__CONV_WEIGHTS, &shape, part, op, error);
    ocdm__layout_destroy(part);
    return status;
}

/* ---- where weights live --------------------------------------------------------------------------------------------- */

/* The home layout of a convolution's weights is that of their gradient, so that Adam's step needs no copy. */
static ocdm_status find_home(ocdm__network *network, struct ocdm__layer *layer, ocdm_error *error)
{
    struct ocdm__parameter *weight = &network->parameters[layer->weight];
    struct ocdm__conv_shape shape = layer_shape(network, layer->node, USUAL_LANE);
    ocdm__op *op = NULL;
    OCDM_TRY(ocdm__layout_plain(&shape, &weight->plain, error));
    if (ocdm__layer_is_product(network, layer->node))
        return OCDM_OK;
    ocdm_status status = ocdm__conv_create(network->device, OCDM__CONV_WEIGHTS, &shape, NULL, &op, error);
    if (status == OCDM_OK && !ocdm__layout_equal(ocdm__op_weights(op), weight->plain)) {
        status = ocdm__layout_copy(ocdm__op_weights(op), &weight->home, error);
        OCDM_THEN(status, ocdm__reorder_create(network->device, weight->plain, weight->home, &weight->to_home, error));
        OCDM_THEN(status, ocdm__reorder_create(network->device, weight->home, weight->plain, &weight->from_home, error));
        weight->room = status == OCDM_OK ? ocdm__layout_bytes(weight->home) / sizeof(float) : 0;
    }
    ocdm__op_destroy(op);
    return status;
}

/* A copy of the weights for a primitive whose layout differs from `home`, and how to make it. */
static ocdm_status create_copy(ocdm__network *network, const ocdm__layout *home, const ocdm__op *op, ocdm__op **to_copy,
                               void **copy, ocdm_error *error)
{
    const ocdm__layout *wanted = ocdm__op_weights(op);
    if (ocdm__layout_equal(home, wanted))
        return OCDM_OK;
    void *room = ocdm__allocate_aligned(ocdm__layout_bytes(wanted), 1);
    if (room == NULL)
        return ocdm__fail_memory(error, "a copy of the weights");
    ocdm_status status = ocdm__reorder_create(network->device, home, wanted, to_copy, error);
    if (status != OCDM_OK) {
        ocdm__release_aligned(room);
        return status;
    }
    *copy = room;
    network->stale = true;
    return OCDM_OK;
}

/* ---- making them ---------------------------------------------------------------------------------------------------- */

/* What evaluation needs. Backward primitives are made when training begins. */
ocdm_status ocdm__layers_create(ocdm__network *network, ocdm_error *error)
{
    for (uint32_t i = 0; i < network->image_layers; i++) {
        struct ocdm__layer *layer = &network->layers[i];
        const struct ocdm__node *node = layer->node;
        bool conv = node->kind == OCDM__NODE_CONV;
        struct ocdm__conv_shape shape = layer_shape(network, node, 1);
        layer->image_bytes = (size_t)node->height * node->width * node->channels * network->kernels->element;
        if (conv)
            OCDM_TRY(find_home(network, layer, error));
        OCDM_TRY(ocdm__conv_create(network->device, conv ? OCDM__CONV_FORWARD : OCDM__POOL_FORWARD, &shape, NULL,
                                   &layer->forward, error));
        if (!conv)
            continue;
        /* Blocks of output channels come first in the layout of weights, so that a range of them is in one piece. */
        size_t bytes = network->parameters[layer->weight].room * sizeof(float);
        layer->slices = 1;
        while (network->blocked && !node->depthwise && node->channels % (2 * layer->slices * OCDM__CHANNEL_BLOCK) == 0 &&
               bytes > layer->slices * SLICE_BYTES)
            layer->slices *= 2;
        layer->constants = ocdm__allocate_aligned((size_t)OCDM__CONSTANTS * node->channels, sizeof *layer->constants);
        if (layer->constants == NULL)
            return ocdm__fail_memory(error, "a batch norm");
        OCDM_TRY(
            create_copy(network, home_of(network, layer), layer->forward, &layer->to_forward, &layer->forward_weights, error));
    }
    return OCDM_OK;
}

/* The backward primitive with its copy of the weights: both or neither. The gradient of a matrix product's input is a product
 * too: a 1x1 convolution with transposed weights, which oneDNN computes faster as a forward convolution than as a backward
 * one. */
static ocdm_status create_data_op(ocdm__network *network, struct ocdm__layer *layer, ocdm_error *error)
{
    bool conv = layer->node->kind == OCDM__NODE_CONV, turns = conv && ocdm__layer_is_product(network, layer->node);
    struct ocdm__conv_shape shape = layer_shape(network, layer->node, 1);
    enum ocdm__op_kind kind = turns ? OCDM__CONV_FORWARD : conv ? OCDM__CONV_DATA : OCDM__POOL_BACKWARD;
    ocdm__op *op = NULL;
    ocdm__layout *turned = NULL;
    ocdm_status status = OCDM_OK;
    if (turns) {
        shape.node.in_channels = layer->node->channels;
        shape.node.channels = layer->node->in_channels;
        status = ocdm__layout_turned(&shape, &turned, error);
    }
    OCDM_THEN(status, ocdm__conv_create(network->device, kind, &shape, NULL, &op, error));
    if (conv)
        OCDM_THEN(status, create_copy(network, turns ? turned : home_of(network, layer), op, &layer->to_data,
                                      &layer->data_weights, error));
    ocdm__layout_destroy(turned);
    if (status == OCDM_OK)
        layer->data = op;
    else
        ocdm__op_destroy(op);
    return status;
}

/* Weights that fall out of the cache between two images are read once for both. The first layer has no gradient of its
 * input. */
ocdm_status ocdm__layers_prepare_training(ocdm__network *network, ocdm_error *error)
{
    for (uint32_t i = 0; i < network->image_layers; i++) {
        struct ocdm__layer *layer = &network->layers[i];
        const ocdm__layout *weights = ocdm__op_weights(layer->forward);
        struct ocdm__conv_shape shape = layer_shape(network, layer->node, 2);
        if (layer->node->kind == OCDM__NODE_CONV && ocdm__layout_bytes(weights) >= HEAVY_WEIGHTS && layer->forward_pair == NULL)
            OCDM_TRY(ocdm__conv_create(network->device, OCDM__CONV_FORWARD, &shape, weights, &layer->forward_pair, error));
        if (layer->node->input != 0 && layer->data == NULL)
            OCDM_TRY(create_data_op(network, layer, error));
    }
    return OCDM_OK;
}

/* Lanes differ by one image at most, so two primitives are enough for any batch. */
ocdm_status ocdm__layers_prepare_lanes(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error)
{
    size_t smallest = share->images / share->lanes, largest = (share->images + share->lanes - 1) / share->lanes;
    for (uint32_t i = 0; i < network->image_layers; i++) {
        struct ocdm__layer *layer = &network->layers[i];
        for (size_t size = smallest; size <= largest && layer->node->kind == OCDM__NODE_CONV; size++)
            if (layer->weights[size] == NULL)
                OCDM_TRY(create_weights_op(network, layer, size, &layer->weights[size], error));
    }
    return OCDM_OK;
}

/* Whatever was made; a layer that was not finished has NULLs. */
void ocdm__layers_release(ocdm__network *network)
{
    for (size_t i = 0; network->layers != NULL && i < network->model.count; i++) {
        struct ocdm__layer *layer = &network->layers[i];
        ocdm__op_destroy(layer->forward);
        ocdm__op_destroy(layer->forward_pair);
        ocdm__op_destroy(layer->data);
        for (size_t j = 0; j <= OCDM__LANE_IMAGES; j++)
            ocdm__op_destroy(layer->weights[j]);
        ocdm__op_destroy(layer->to_forward);
        ocdm__op_destroy(layer->to_data);
        for (size_t j = 0; j < OCDM__PRODUCTS; j++)
            ocdm__products_destroy(&layer->products[j]);
        ocdm__release_aligned(layer->narrow);
        ocdm__release_aligned(layer->forward_weights);
        ocdm__release_aligned(layer->data_weights);
        ocdm__release_aligned(layer->constants);
    }
    ocdm__release(network->layers);
    network->layers = NULL;
}

/* ---- copies --------------------------------------------------------------------------------------------------------- */

/* Copies of the weights from number `first` on: two of each layer, for forward and backward. */
struct refreshing {
    ocdm__network *network;
    size_t first;
};

/* Copies in the layouts that forward and backward want, from the weights at home. */
static void refresh_one(void *context, size_t item, unsigned slot)
{
    const struct refreshing *refreshing = context;
    ocdm__network *network = refreshing->network;
    size_t number = refreshing->first + item;
    struct ocdm__layer *layer = &network->layers[number / 2];
    ocdm__op *op = number % 2 ? layer->to_data : layer->to_forward;
    void *copy = number % 2 ? layer->data_weights : layer->forward_weights;
    if (op != NULL && ocdm__op_run(op, slot, network->parameters[layer->weight].value, NULL, copy) != OCDM_OK)
        atomic_store(&network->failed, true);
}

static void refresh(ocdm__network *network, size_t first, size_t end)
{
    struct refreshing refreshing = {network, first};
    struct ocdm__work work = {refresh_one, &refreshing, end - first};
    ocdm__team_run(network->team, &work, 1);
}

void ocdm__layers_refresh_for(ocdm__network *network, uint32_t k)
{
    size_t number = 2 * (size_t)k;
    refresh(network, k > 0 ? number - 1 : number, k < network->image_layers ? number + 1 : number);
}

/* After a step or a load; until then the copies are those of the last weights. */
ocdm_status ocdm__layers_refresh(ocdm__network *network, ocdm_error *error)
{
    if (!network->stale)
        return OCDM_OK;
    refresh(network, 0, 2 * (size_t)network->image_layers);
    ocdm_status status = ocdm__network_check(network, error);
    network->stale = status != OCDM_OK;
    return status;
}
