/*
 * The forward pass of a training step, one region per layer, and evaluation. An item takes one image through the batch norms
 * that are due and the layer's primitive and sums its output, all while the image is in the cache. Between regions the sums of
 * the images become the statistics of the batch, so the batch norm of a layer is applied in the region of the next.
 */
#include "agent/network.h"

/* ---- statistics ----------------------------------------------------------------------------------------------------- */

/* The constants of a channel of a batch norm, which maps x to (x - mean) * inverse * gain + bias. */
static void set_constants(const ocdm__network *network, const struct ocdm__layer *layer, size_t c, double mean, double inverse)
{
    size_t channels = layer->node->channels;
    double scale = inverse * (double)network->parameters[layer->gain].value[c];
    float *constants = layer->constants + c;
    constants[OCDM__MEAN * channels] = (float)mean;
    constants[OCDM__INVERSE * channels] = (float)inverse;
    constants[OCDM__SCALE * channels] = (float)scale;
    constants[OCDM__SHIFT * channels] = (float)((double)network->parameters[layer->bias].value[c] - mean * scale);
}

/* Computes the constants of a batch norm from its running statistics. */
static void freeze_norm(const ocdm__network *network, const struct ocdm__layer *layer)
{
    const float *mean = network->parameters[layer->mean].value, *variance = network->parameters[layer->variance].value;
    for (size_t c = 0; c < layer->node->channels; c++)
        set_constants(network, layer, c, (double)mean[c],
                      1.0 / sqrt((double)variance[c] + (double)network->model.norm_epsilon));
}

/* The constants of a batch norm from the batch; the running statistics move a tenth of the way towards it. All images have the
 * same number of pixels, so the mean is the mean of the images' means, and the sum of squares about it is the sum of those
 * about the images' means plus that of the means' own deviations. */
static void norm_statistics(const struct ocdm__pass *pass, const struct ocdm__layer *layer)
{
    const ocdm__network *network = pass->network;
    size_t channels = layer->node->channels, images = pass->share.images;
    float *running_mean = network->parameters[layer->mean].value, *variance = network->parameters[layer->variance].value;
    double pixels = (double)layer->node->height * layer->node->width, count = pixels * (double)images;
    ocdm__norm_wait(&pass->share, layer);
    for (size_t c = 0; c < channels; c++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < images; i++)
            mean += layer->partial[2 * i * channels + c];
        mean /= (double)images;
        for (size_t i = 0; i < images; i++) {
            double away = layer->partial[2 * i * channels + c] - mean;
            square += layer->partial[(2 * i + 1) * channels + c] + pixels * away * away;
        }
        set_constants(network, layer, c, mean, 1.0 / sqrt(square / count + (double)network->model.norm_epsilon));
        running_mean[c] = (float)(0.9 * (double)running_mean[c] + 0.1 * mean);
        variance[c] = (float)(0.9 * (double)variance[c] + 0.1 * square / (count > 1 ? count - 1 : 1));
    }
}

/* ---- a layer -------------------------------------------------------------------------------------------------------- */

/* The region of layer `position`: the norm of the layer before it is due. An item takes `together` images, the last one perhaps
 * fewer. */
struct region {
    const struct ocdm__pass *pass;
    uint32_t position;
    size_t together;
};

/* Number 0 is the network's input, else one more than the position of a node. */
static const unsigned char *output_of(const struct ocdm__pass *pass, uint32_t number, size_t image)
{
    const ocdm__network *network = pass->network;
    if (number == 0)
        return ocdm__input_piece(pass, image);
    const struct ocdm__layer *layer = &network->layers[number - 1];
    return ocdm__piece(pass, &layer->output, layer->image_bytes, image);
}

/* The weights of a convolution in the layout of its primitive. */
static const void *weights_of(const ocdm__network *network, const struct ocdm__layer *layer)
{
    return layer->forward_weights != NULL ? layer->forward_weights : network->parameters[layer->weight].value;
}

/* Scale, shift, residual and activation in one pass over an image. */
static void apply_norm(const ocdm__network *network, const struct ocdm__layer *layer, void *output, const void *raw,
                       const void *residual)
{
    const struct ocdm__node *node = layer->node;
    const float *const scale_shift[2] = {layer->constants + (size_t)OCDM__SCALE * node->channels,
                                         layer->constants + (size_t)OCDM__SHIFT * node->channels};
    struct ocdm__extent extent = ocdm__extent_of(network, node);
    network->kernels->normalise(output, raw, node->residual != 0 ? residual : NULL, scale_shift, &extent, node->activation);
}

/* Prepares the input of the layer: converts the network's input, or applies the batch norm that is due. */
static void prepare_image(const struct region *region, size_t image)
{
    const struct ocdm__pass *pass = region->pass;
    ocdm__network *network = pass->network;
    if (region->position == 0 && !network->blocked) {
        size_t pixels = (size_t)network->layers[0].node->in_height * network->layers[0].node->in_width;
        network->kernels->interleave(ocdm__piece(pass, &network->input, network->input_bytes, image),
                                     pass->input + (image - pass->share.given) * 3 * pixels, pixels, 3);
    }
    const struct ocdm__layer *before = region->position > 0 ? &network->layers[region->position - 1] : NULL;
    if (before != NULL && before->node->kind == OCDM__NODE_CONV)
        apply_norm(network, before, ocdm__piece(pass, &before->output, before->image_bytes, image),
                   ocdm__piece(pass, &before->raw, before->image_bytes, image), output_of(pass, before->node->residual, image));
}

static bool is_own(const struct ocdm__share *share, size_t image)
{
    return image >= share->first && image < share->end;
}

/* Pairs are the same for any division of the batch, and so are their results. If one image of a pair belongs to another
 * process, whatever is in its place is processed too and its result is ignored. */
static void take_images(void *context, size_t item, unsigned slot)
{
    const struct region *region = context;
    const struct ocdm__pass *pass = region->pass;
    const struct ocdm__share *share = &pass->share;
    ocdm__network *network = pass->network;
    const struct ocdm__layer *layer = &network->layers[region->position];
    const struct ocdm__node *node = layer->node;
    const struct ocdm__extent extent = ocdm__extent_of(network, node);
    bool conv = node->kind == OCDM__NODE_CONV;
    size_t first = share->first / region->together * region->together + item * region->together;
    size_t left = share->images - first, count = left < region->together ? left : region->together;
    for (size_t i = first; i < first + count; i++)
        if (is_own(share, i))
            prepare_image(region, i);
    const void *second =
        conv ? weights_of(network, layer) : ocdm__piece(pass, &layer->workspace, layer->workspace.bytes, first);
    unsigned char *target = ocdm__piece(pass, conv ? &layer->raw : &layer->output, layer->image_bytes, first);
    if (ocdm__op_run(count == 2 ? layer->forward_pair : layer->forward, slot, output_of(pass, node->input, first), second,
                     target) != OCDM_OK)
        atomic_store(&network->failed, true);
    /* Mean and squares of each image alone: norm_statistics joins those of the batch in the order of the images. */
    for (size_t i = first; conv && !pass->frozen && i < first + count; i++) {
        double *partial = layer->partial + 2 * i * node->channels;
        if (is_own(share, i))
            network->kernels->moments(ocdm__piece(pass, &layer->raw, layer->image_bytes, i), &extent, partial,
                                      partial + node->channels);
    }
}

/* The last norm is due here, as the norm of any layer is due when the next one runs. */
static void average_image(void *context, size_t item, unsigned slot)
{
    (void)slot;
    const struct region *region = context;
    const struct ocdm__pass *pass = region->pass;
    size_t image = pass->share.first + item;
    const ocdm__network *network = pass->network;
    prepare_image(region, image);
    const struct ocdm__node *last = network->layers[network->image_layers - 1].node;
    struct ocdm__extent extent = ocdm__extent_of(network, last);
    network->kernels->average(output_of(pass, network->image_layers, image), &extent,
                              network->vectors + image * last->channels);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

/* Several ranks update copies of the weights while they wait for each other's sums, layer by layer. */
static void run_images(const struct ocdm__pass *pass)
{
    ocdm__network *network = pass->network;
    const struct ocdm__share *share = &pass->share;
    if (network->stale)
        ocdm__layers_refresh_for(network, 0);
    for (uint32_t k = 0; k <= network->image_layers; k++) {
        bool is_average = k == network->image_layers;
        size_t together = !is_average && network->layers[k].forward_pair != NULL ? 2 : 1;
        struct region region = {pass, k, together};
        size_t items = (share->end + together - 1) / together - share->first / together;
        struct ocdm__work work = {is_average ? average_image : take_images, &region, share->end > share->first ? items : 0};
        ocdm__team_run(network->team, &work, 1);
        if (!is_average && !pass->frozen)
            ocdm__norm_start(share, &network->layers[k]);
        if (!is_average && network->stale)
            ocdm__layers_refresh_for(network, k + 1);
        if (is_average || network->layers[k].node->kind != OCDM__NODE_CONV)
            continue;
        if (pass->frozen)
            freeze_norm(network, &network->layers[k]);
        else
            norm_statistics(pass, &network->layers[k]);
    }
    if (share->ranks != NULL) { /* every rank has the features of its images */
        ocdm__share_starts(share, network->layers[network->image_layers - 1].node->channels);
        share->ranks->gather_all(network->vectors, share->starts);
    }
}

/* Image layers region by region, then linear layers on the features of the whole batch. */
ocdm_status ocdm__network_forward(struct ocdm__pass *pass, ocdm_error *error)
{
    ocdm__network *network = pass->network;
    ocdm_status status = OCDM_OK;
    if (pass->share.ranks == NULL)
        OCDM_TRY(ocdm__layers_refresh(network, error));
    const float *rows = pass->input;
    float *next = network->vectors;
    size_t count = network->model.count, at = 0;
    if (network->image_layers > 0) {
        run_images(pass);
        OCDM_TRY(ocdm__network_check(network, error));
        network->stale = false;
        at = network->image_layers + 1;
        rows = next;
        next += network->vector_rows * network->vector_width;
    }
    for (; at < count && status == OCDM_OK; at++) {
        float *output = at + 1 == count ? pass->logits : next;
        status = ocdm__linear_forward(network, &network->layers[at], rows, pass->share.images, output);
        rows = output;
        next += network->vector_rows * network->vector_width;
    }
    if (status != OCDM_OK)
        return ocdm__fail_memory(error, "a linear layer");
    return OCDM_OK;
}

/* ---- evaluation ------------------------------------------------------------------------------------------------------ */

/* An item is one image through all layers, in the memory of its thread, with batch norm by running statistics. The result for
 * an image does not depend on the others. */

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

/* One image through all layers in the memory of one thread, so that nothing waits for another image. */
static void evaluate_image(void *context, size_t image, unsigned slot)
{
    const struct evaluation *evaluation = context;
    ocdm__network *network = evaluation->network;
    const struct ocdm__layer *layers = network->layers, *last = &layers[network->image_layers - 1];
    size_t pixels = (size_t)layers[0].node->in_height * layers[0].node->in_width;
    const float *planes = evaluation->input + image * 3 * pixels;
    void *interleaved = place_of(network, &network->eval_input, slot);
    if (!network->blocked)
        network->kernels->interleave(interleaved, planes, pixels, 3);
    const void *input = network->blocked ? (const void *)planes : interleaved; /* as the first layer reads it */
    for (uint32_t k = 0; k < network->image_layers; k++) {
        const struct ocdm__node *node = layers[k].node;
        bool conv = node->kind == OCDM__NODE_CONV;
        unsigned char *target = place_of(network, &layers[k].passing, slot);
        const void *second = conv ? weights_of(network, &layers[k]) : place_of(network, &layers[k].pool_room, slot);
        const void *source = node->input ? place_of(network, &layers[node->input - 1].passing, slot) : input;
        if (ocdm__op_run(layers[k].forward, slot, source, second, target) != OCDM_OK)
            atomic_store(&network->failed, true);
        if (conv)
            apply_norm(network, &layers[k], target, target,
                       node->residual ? place_of(network, &layers[node->residual - 1].passing, slot) : NULL);
    }
    struct ocdm__extent extent = ocdm__extent_of(network, last->node);
    network->kernels->average(place_of(network, &last->passing, slot), &extent,
                              evaluation->features + image * last->node->channels);
}

/* Vectors go through the linear layers ROWS at a time: all but the head, of which models have at most one, then the head. */
ocdm_status ocdm__network_evaluate(ocdm__network *network, const float *input, size_t images, float *features, float *logits,
                                   ocdm_error *error)
{
    uint32_t last = (uint32_t)network->model.count - 1;
    struct ocdm__layer *head = &network->layers[last];
    size_t width = head->node->in_channels;
    if (network->image_layers > 0 && input != NULL) {
        OCDM_TRY(ocdm__layers_refresh(network, error));
        if (network->eval_arena == NULL)
            network->eval_arena = ocdm__allocate_aligned(network->threads, network->eval_image);
        if (network->eval_arena == NULL)
            return ocdm__fail_memory(error, "an evaluation");
        for (uint32_t k = 0; k < network->image_layers; k++) /* the same constants for all images */
            if (network->layers[k].node->kind == OCDM__NODE_CONV)
                freeze_norm(network, &network->layers[k]);
        struct evaluation evaluation = {network, input, features};
        const struct ocdm__work work = {evaluate_image, &evaluation, images};
        ocdm__team_run(network->team, &work, 1);
        OCDM_TRY(ocdm__network_check(network, error));
    }
    for (size_t at = 0; at < images; at += ROWS) {
        size_t rows = images - at < ROWS ? images - at : ROWS;
        const float *before = network->image_layers == 0 && last == 0 ? input + at * width : features + at * width;
        ocdm_status status = OCDM_OK;
        for (uint32_t k = 0; network->image_layers == 0 && k < last; k++)
            OCDM_THEN(status,
                      ocdm__linear_forward(network, &network->layers[k], input + at * network->layers[0].node->in_channels,
                                           rows, features + at * width));
        if (logits != NULL)
            OCDM_THEN(status, ocdm__linear_forward(network, head, before, rows, logits + at * head->node->channels));
        if (status != OCDM_OK)
            return ocdm__fail_memory(error, "a linear layer");
    }
    return OCDM_OK;
}
