/* Evaluation: an item is one image through all layers, in memory of its thread, norms by their running statistics. What comes
 * out for an image does not depend on the others. */
#include "agent/network.h"

#include "agent/aligned.h"
#include "base/error.h"

/* Vectors that go through linear layers at once. */
enum { ROWS = 256 };

struct evaluation {
    ocdm__network *network;
    const float *input;
    float *features;
};

static unsigned char *place_of(const ocdm__network *network, const struct ocdm__span *span, unsigned slot)
{
    return network->eval_arena + slot * network->eval_image + span->at;
}

static unsigned char *output_of(const ocdm__network *network, uint32_t number, unsigned slot)
{
    return place_of(network, &network->layers[number - 1].passing, slot);
}

/* `input` is the image as the first layer reads it. */
static void take_layer(ocdm__network *network, uint32_t k, const void *input, unsigned slot)
{
    struct ocdm__layer *layer = &network->layers[k];
    const struct ocdm__node *node = layer->node;
    bool conv = node->kind == OCDM__NODE_CONV;
    unsigned char *target = output_of(network, k + 1, slot);
    const void *second = place_of(network, &layer->pool_room, slot);
    if (conv)
        second = layer->forward_weights != NULL ? layer->forward_weights : network->parameters[layer->weight].value;
    const void *source = node->input ? output_of(network, node->input, slot) : input;
    if (ocdm__op_run(layer->forward, slot, source, second, target) != OCDM_OK)
        atomic_store(&network->failed, true);
    if (!conv)
        return;
    const float *const scale_shift[2] = {layer->constants + (size_t)OCDM__SCALE * node->channels,
                                         layer->constants + (size_t)OCDM__SHIFT * node->channels};
    struct ocdm__extent extent = ocdm__extent_of(network, node);
    network->kernels->normalise(target, target, node->residual ? output_of(network, node->residual, slot) : NULL, scale_shift,
                                &extent, node->activation);
}

static void evaluate_image(void *context, size_t image, unsigned slot)
{
    const struct evaluation *evaluation = context;
    ocdm__network *network = evaluation->network;
    const struct ocdm__node *first = network->layers[0].node, *last = network->layers[network->image_layers - 1].node;
    size_t pixels = (size_t)first->in_height * first->in_width;
    const float *planes = evaluation->input + image * 3 * pixels;
    void *interleaved = place_of(network, &network->eval_input, slot);
    if (!network->blocked)
        network->kernels->interleave(interleaved, planes, pixels, 3);
    for (uint32_t k = 0; k < network->image_layers; k++)
        take_layer(network, k, network->blocked ? (const void *)planes : interleaved, slot);
    struct ocdm__extent extent = ocdm__extent_of(network, last);
    network->kernels->average(output_of(network, network->image_layers, slot), &extent,
                              evaluation->features + image * last->channels);
}

static ocdm_status evaluate_images(ocdm__network *network, const float *input, size_t images, float *features,
                                   ocdm_error *error)
{
    ocdm_status status = ocdm__layers_refresh(network, error);
    if (status != OCDM_OK)
        return status;
    if (network->eval_arena == NULL)
        network->eval_arena = ocdm__allocate_aligned(network->threads, network->eval_image);
    if (network->eval_arena == NULL)
        return ocdm__fail_memory(error, "an evaluation");
    for (uint32_t k = 0; k < network->image_layers; k++)
        if (network->layers[k].node->kind == OCDM__NODE_CONV)
            ocdm__norm_freeze(network, &network->layers[k]);
    struct evaluation evaluation = {network, input, features};
    struct ocdm__work work = {evaluate_image, &evaluation, images};
    ocdm__team_run(network->team, &work, 1);
    return ocdm__network_check(network, error);
}

/* Linear layers but the head, on features or on what the images gave; the models have one at most. */
static ocdm_status evaluate_vectors(ocdm__network *network, const float *input, size_t rows, float *features)
{
    ocdm_status status = OCDM_OK;
    for (uint32_t k = 0; k + 1 < network->model.count && status == OCDM_OK; k++)
        status = ocdm__linear_forward(network, &network->layers[k], input, rows, features);
    return status;
}

ocdm_status ocdm__network_evaluate(ocdm__network *network, const float *input, size_t images, float *features, float *logits,
                                   ocdm_error *error)
{
    struct ocdm__layer *head = &network->layers[network->model.count - 1];
    size_t width = head->node->in_channels;
    if (network->image_layers > 0) {
        ocdm_status status = evaluate_images(network, input, images, features, error);
        if (status != OCDM_OK)
            return status;
    }
    bool direct = network->image_layers == 0 && network->model.count == 1;
    for (size_t at = 0; at < images; at += ROWS) {
        size_t rows = images - at < ROWS ? images - at : ROWS;
        ocdm_status status = OCDM_OK;
        if (network->image_layers == 0 && !direct)
            status = evaluate_vectors(network, input + at * network->layers[0].node->in_channels, rows, features + at * width);
        const float *before = direct ? input + at * width : features + at * width;
        if (status == OCDM_OK && logits != NULL)
            status = ocdm__linear_forward(network, head, before, rows, logits + at * head->node->channels);
        if (status != OCDM_OK)
            return ocdm__fail_memory(error, "a linear layer");
    }
    return OCDM_OK;
}
