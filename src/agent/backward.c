/*
 * The backward pass of a training step, one region per layer. An item propagates one image's gradient through the batch norm
 * and the primitive of the layer, then folds it into the layer before (activation, residual, sums for its batch norm). In the
 * same region, chunks of lanes compute the weight gradient of the layer after it, and the chunks of the layer after that are
 * summed and applied by Adam. So weight gradients of at most two layers are in memory.
 */
#include "agent/network.h"

#include <string.h>

#include "base/error.h"

/* Weights that Adam takes in one item. */
enum { SLICE = 1 << 16 };

/* The state of a backward pass. A layer with nothing to do is OCDM__NOTHING. */
struct back {
    const struct ocdm__pass *pass;
    const struct ocdm__gradient_sink *sink;
    size_t chunks, half; /* of this process; for which there is memory */
    uint32_t position;   /* the layer of the region; the number of image layers means the average */
    uint32_t making;     /* the layer whose weights' gradient is made in chunks of lanes */
    uint32_t adding;     /* the layer whose chunks are added */
    unsigned turn;       /* which half of the chunks' memory is being written */
};

/* ---- gradients to their place --------------------------------------------------------------------------------------- */

/* Where the sum of a chunk is made, for either layer. */
static float *chunk_memory(const struct back *back, unsigned half, size_t chunk)
{
    const ocdm__network *network = back->pass->network;
    return network->lane_memory + (half * back->half + chunk) * network->lane_stride;
}

/* The gradient of a small parameter, or part of a large one: `at` and `count` are in memory order. */
static void step_part(const struct back *back, const struct ocdm__parameter *parameter, const struct ocdm__tree *gradient,
                      size_t at, size_t count)
{
    struct ocdm__adam adam = back->sink->adam;
    adam.value = parameter->value + at;
    adam.mean = parameter->mean + at;
    adam.square = parameter->square + at;
    adam.gradient = *gradient;
    adam.at = at;
    adam.count = count;
    ocdm__adam(&adam);
}

static void deliver(const struct back *back, const struct ocdm__parameter *parameter, const float *gradient)
{
    const struct ocdm__tree alone = {.parts = &gradient, .merges = (const unsigned char[]){0}, .count = 1};
    if (back->sink->flat == NULL)
        step_part(back, parameter, &alone, 0, parameter->size);
    else
        memcpy(back->sink->flat + parameter->first, gradient, parameter->size * sizeof *gradient);
}

/* One process applies the sum at once; several exchange it first. */
static void add_slice(void *context, size_t item, unsigned slot)
{
    (void)slot;
    const struct back *back = context;
    const ocdm__network *network = back->pass->network;
    const struct ocdm__parameter *weight = &network->parameters[network->layers[back->adding].weight];
    const struct ocdm__tree chunks = {
        .parts = network->parts + (1 - back->turn) * back->chunks, .merges = network->merges, .count = back->chunks};
    size_t at = item * SLICE, count = weight->room - at < SLICE ? weight->room - at : SLICE;
    if (back->pass->share.ranks != NULL)
        ocdm__buckets_add(network, &back->pass->share, back->adding, &chunks, at, count);
    else if (back->sink->flat == NULL)
        step_part(back, weight, &chunks, at, count);
    else
        ocdm__sum_tree(chunk_memory(back, 1 - back->turn, 0) + at, &chunks, at, count);
}

/* Takes the added-up gradient out, in plain order. */
static void take_out(const struct back *back)
{
    ocdm__network *network = back->pass->network;
    if (back->sink->flat == NULL || back->adding == OCDM__NOTHING)
        return;
    const struct ocdm__parameter *weight = &network->parameters[network->layers[back->adding].weight];
    const float *sum = chunk_memory(back, 1 - back->turn, 0);
    if (weight->from_home == NULL)
        memcpy(back->sink->flat + weight->first, sum, weight->size * sizeof *sum);
    else if (ocdm__op_run(weight->from_home, 0, sum, NULL, back->sink->flat + weight->first) != OCDM_OK)
        atomic_store(&network->failed, true);
}

/* ---- lanes ---------------------------------------------------------------------------------------------------------- */

static void make_lane(const struct back *back, size_t lane, float *target, unsigned slot)
{
    const struct ocdm__pass *pass = back->pass;
    ocdm__network *network = pass->network;
    struct ocdm__layer *layer = &network->layers[back->making];
    const struct ocdm__node *node = layer->node;
    size_t start = ocdm__lane_start(&pass->share, lane), images = ocdm__lane_start(&pass->share, lane + 1) - start;
    const struct ocdm__layer *before = node->input ? &network->layers[node->input - 1] : NULL;
    const unsigned char *source =
        before != NULL ? ocdm__piece(pass, &before->output, before->image_bytes, start) : ocdm__input_piece(pass, start);
    const unsigned char *gradient = ocdm__piece(pass, &layer->raw, layer->image_bytes, start);
    bool product = ocdm__layer_is_product(network, node);
    if (ocdm__op_run(layer->weights[images], slot, product ? gradient : source, product ? source : gradient, target) != OCDM_OK)
        atomic_store(&network->failed, true);
}

/* The first lane of a chunk is made where the chunk's sum will be, the others in memory of the thread's own. */
static void make_chunk(void *context, size_t chunk, unsigned slot)
{
    const struct back *back = context;
    const ocdm__network *network = back->pass->network;
    size_t lanes = network->chunk_sizes[chunk], others = network->threads < back->chunks ? slot : chunk;
    const float *parts[OCDM__CHUNK];
    float *sum = chunk_memory(back, back->turn, chunk);
    float *room = chunk_memory(back, 2, 0) + others * (back->pass->share.chunk - 1) * network->lane_stride;
    size_t first = back->pass->share.first_lane;
    for (size_t i = 0; i < chunk; i++)
        first += network->chunk_sizes[i];
    static const unsigned char merges[OCDM__CHUNK] = {0, 1, 0, 2};
    const struct ocdm__tree tree = {.parts = parts, .merges = merges, .count = lanes};
    for (size_t i = 0; i < lanes; i++) {
        float *target = i == 0 ? sum : room + (i - 1) * network->lane_stride;
        make_lane(back, first + i, target, slot);
        parts[i] = target;
    }
    if (lanes > 1)
        ocdm__sum_tree(sum, &tree, 0, network->parameters[network->layers[back->making].weight].room);
}

/* ---- images --------------------------------------------------------------------------------------------------------- */

/* Propagates the gradient that arrived at layer k through its activation, and on to the layer that k adds if that one's
 * gradient is complete. */
static void fold(const struct ocdm__pass *pass, uint32_t k, size_t image)
{
    const ocdm__network *network = pass->network;
    const struct ocdm__layer *layer = &network->layers[k];
    const struct ocdm__node *node = layer->node;
    unsigned char *gradient = ocdm__piece(pass, layer->gradient, layer->image_bytes, image);
    bool conv = node->kind == OCDM__NODE_CONV;
    bool changes = layer->added != NULL || node->activation != OCDM__LINEAR_ACTIVATION;
    struct ocdm__fold work = {.gradient = changes ? gradient : NULL,
                              .first = gradient,
                              .extent = ocdm__extent_of(network, node),
                              .activation = node->activation};
    if (layer->added != NULL)
        work.second = ocdm__piece(pass, layer->added, layer->image_bytes, image);
    if (!conv || node->residual != 0)
        work.output = ocdm__piece(pass, &layer->output, layer->image_bytes, image);
    if (conv) {
        work.raw = ocdm__piece(pass, &layer->raw, layer->image_bytes, image);
        work.mean = layer->constants + (size_t)OCDM__MEAN * node->channels;
        work.scale = layer->constants + (size_t)OCDM__SCALE * node->channels;
        work.shift = layer->constants + (size_t)OCDM__SHIFT * node->channels;
        work.sum = layer->partial + 2 * image * node->channels;
        work.product = work.sum + node->channels;
    }
    if (conv || changes)
        network->kernels->fold(&work);
    if (node->residual != 0 && network->layers[node->residual - 1].first_reader == k)
        fold(pass, node->residual - 1, image);
}

static void pass_image_on(const struct back *back, size_t image, unsigned slot)
{
    const struct ocdm__pass *pass = back->pass;
    ocdm__network *network = pass->network;
    struct ocdm__layer *layer = &network->layers[back->position];
    const struct ocdm__node *node = layer->node;
    size_t channels = node->channels;
    bool conv = node->kind == OCDM__NODE_CONV;
    unsigned char *gradient = ocdm__piece(pass, layer->gradient, layer->image_bytes, image);
    const void *second = ocdm__piece(pass, &layer->workspace, layer->workspace.bytes, image);
    if (conv) {
        const float *const constants[4] = {layer->constants + OCDM__SCALE * channels, layer->constants + OCDM__MEAN * channels,
                                           layer->constants + OCDM__SLOPE * channels,
                                           layer->constants + OCDM__OFFSET * channels};
        unsigned char *raw = ocdm__piece(pass, &layer->raw, layer->image_bytes, image);
        struct ocdm__extent extent = ocdm__extent_of(network, node);
        network->kernels->unfold(raw, gradient, constants, &extent);
        gradient = raw;
        second = layer->data_weights != NULL ? layer->data_weights : network->parameters[layer->weight].value;
    }
    if (node->input == 0)
        return;
    unsigned char *target = ocdm__piece(pass, &layer->arriving, network->layers[node->input - 1].image_bytes, image);
    if (ocdm__op_run(layer->data, slot, gradient, second, target) != OCDM_OK)
        atomic_store(&network->failed, true);
    if (network->layers[node->input - 1].first_reader == back->position)
        fold(pass, node->input - 1, image);
}

static void take_image_back(void *context, size_t item, unsigned slot)
{
    const struct back *back = context;
    size_t image = back->pass->share.first + item;
    const ocdm__network *network = back->pass->network;
    if (back->position < network->image_layers) {
        pass_image_on(back, image, slot);
        return;
    }
    const struct ocdm__layer *last = &network->layers[network->image_layers - 1];
    const float *features = network->vectors + network->vector_slots * network->vector_rows * network->vector_width;
    struct ocdm__extent extent = ocdm__extent_of(network, last->node);
    network->kernels->spread(ocdm__piece(back->pass, last->gradient, last->image_bytes, image), &extent,
                             features + image * last->node->channels);
    fold(back->pass, network->image_layers - 1, image);
}

/* ---- norms ---------------------------------------------------------------------------------------------------------- */

/* The sums over the batch: the gradients of gain and bias, and the terms that every pixel's gradient loses to them. */
static void finish_norm(const struct back *back, struct ocdm__layer *layer)
{
    const struct ocdm__pass *pass = back->pass;
    const ocdm__network *network = pass->network;
    size_t channels = layer->node->channels;
    double count = (double)layer->node->height * layer->node->width * (double)pass->share.images;
    float *constants = layer->constants;
    ocdm__share_gather(&pass->share, layer->partial, OCDM__PARTIAL_UNITS * channels);
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, product = 0, inverse = (double)constants[OCDM__INVERSE * channels + c];
        for (size_t i = 0; i < pass->share.images; i++) {
            sum += layer->partial[2 * i * channels + c];
            product += layer->partial[(2 * i + 1) * channels + c];
        }
        constants[OCDM__SLOPE * channels + c] = pass->frozen ? 0 : (float)(product * inverse * inverse / count);
        constants[OCDM__OFFSET * channels + c] = pass->frozen ? 0 : (float)(sum / count);
        constants[OCDM__GAIN_GRADIENT * channels + c] = (float)(product * inverse);
        constants[OCDM__BIAS_GRADIENT * channels + c] = (float)sum;
    }
    deliver(back, &network->parameters[layer->gain], constants + OCDM__GAIN_GRADIENT * channels);
    deliver(back, &network->parameters[layer->bias], constants + OCDM__BIAS_GRADIENT * channels);
}

/* The norms of layer k and of the layers whose gradient was completed with it, in the order of fold. */
static void finish_norms(const struct back *back, uint32_t k)
{
    ocdm__network *network = back->pass->network;
    struct ocdm__layer *layer = &network->layers[k];
    if (layer->node->kind == OCDM__NODE_CONV)
        finish_norm(back, layer);
    if (layer->node->residual != 0 && network->layers[layer->node->residual - 1].first_reader == k)
        finish_norms(back, layer->node->residual - 1);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

struct stepping {
    const struct back *back;
    const struct ocdm__parameter *weight;
    const float *sum;
};

static void step_slice(void *context, size_t item, unsigned slot)
{
    (void)slot;
    const struct stepping *stepping = context;
    const struct ocdm__tree alone = {.parts = &stepping->sum, .merges = (const unsigned char[]){0}, .count = 1};
    size_t at = item * SLICE, left = stepping->weight->room - at;
    step_part(stepping->back, stepping->weight, &alone, at, left < SLICE ? left : SLICE);
}

/* Adam's steps of the layers whose gradients have arrived from all ranks; with `wait`, of all that are left. */
static void move_buckets(const struct back *back, bool wait)
{
    ocdm__network *network = back->pass->network;
    uint32_t first, last;
    if (back->adding != OCDM__NOTHING)
        ocdm__buckets_close(network, &back->pass->share, back->adding);
    ocdm__buckets_advance(network, &back->pass->share, wait);
    while (ocdm__buckets_next(network, &first, &last))
        for (uint32_t k = first + 1; k-- > last;) {
            if (network->layers[k].node->kind != OCDM__NODE_CONV)
                continue;
            struct stepping stepping = {back, &network->parameters[network->layers[k].weight], ocdm__buckets_sum(network, k)};
            const struct ocdm__work work = {step_slice, &stepping, (stepping.weight->room + SLICE - 1) / SLICE};
            ocdm__team_run(network->team, &work, 1);
        }
}

/* Runs one region; `with_images` is false in the last two, which only finish the weights. */
static void run_region(struct back *back, bool with_images)
{
    ocdm__network *network = back->pass->network;
    struct ocdm__work works[3];
    size_t count = 0;
    if (back->making != OCDM__NOTHING)
        works[count++] = (struct ocdm__work){make_chunk, back, back->chunks};
    if (back->adding != OCDM__NOTHING) {
        size_t room = network->parameters[network->layers[back->adding].weight].room;
        works[count++] = (struct ocdm__work){add_slice, back, (room + SLICE - 1) / SLICE};
    }
    if (with_images)
        works[count++] = (struct ocdm__work){take_image_back, back, back->pass->share.end - back->pass->share.first};
    ocdm__team_run(network->team, works, count);
    take_out(back);
    if (back->pass->share.ranks != NULL)
        move_buckets(back, false);
    back->adding = back->making;
    back->turn = 1 - back->turn;
}

static void run_images_back(struct back *back)
{
    ocdm__network *network = back->pass->network;
    back->position = network->image_layers;
    back->making = back->adding = OCDM__NOTHING;
    run_region(back, true);
    finish_norms(back, network->image_layers - 1);
    for (uint32_t k = network->image_layers; k-- > 0;) {
        const struct ocdm__node *node = network->layers[k].node;
        back->position = k;
        run_region(back, true);
        if (node->input != 0 && network->layers[node->input - 1].first_reader == k)
            finish_norms(back, node->input - 1);
        back->making = node->kind == OCDM__NODE_CONV ? k : OCDM__NOTHING;
    }
    run_region(back, false);
    back->making = OCDM__NOTHING;
    run_region(back, false);
    if (back->pass->share.ranks != NULL)
        move_buckets(back, true);
}

/* The linear layers, last first; the gradient of the first one's input stays in the slot that the images begin from. */
static ocdm_status run_vectors_back(const struct back *back)
{
    const struct ocdm__pass *pass = back->pass;
    ocdm__network *network = pass->network;
    uint32_t first = network->image_layers > 0 ? network->image_layers + 1 : 0;
    size_t slot_size = network->vector_rows * network->vector_width;
    ocdm_status status = OCDM_OK;
    for (uint32_t k = (uint32_t)network->model.count; k-- > first;) {
        struct ocdm__layer *layer = &network->layers[k];
        bool is_last = k + 1 == network->model.count, reads_input = network->image_layers == 0 && k == 0;
        size_t slot = k - first + (network->image_layers > 0 ? 1u : 0u); /* of its output */
        float *gradients = network->vectors + network->vector_slots * slot_size;
        struct ocdm__linear_back work = {.input = reads_input ? pass->input : network->vectors + (slot - 1) * slot_size,
                                         .output = is_last ? pass->logits : network->vectors + slot * slot_size,
                                         .gradient = is_last ? pass->logit_gradients : gradients + slot * slot_size,
                                         .input_gradient = reads_input ? NULL : gradients + (slot - 1) * slot_size,
                                         .weight_gradient = chunk_memory(back, 0, 0),
                                         .bias_gradient = chunk_memory(back, 1, 0),
                                         .rows = pass->share.images};
        status = ocdm__linear_backward(network, layer, &work);
        if (status != OCDM_OK)
            break;
        deliver(back, &network->parameters[layer->weight], work.weight_gradient);
        deliver(back, &network->parameters[layer->bias], work.bias_gradient);
    }
    return status;
}

/* The chunks of either layer, and the tree that adds them. */
static void plan_sums(const struct back *back)
{
    ocdm__network *network = back->pass->network;
    for (size_t i = 0; i < back->chunks; i++)
        for (unsigned half = 0; half < 2; half++)
            network->parts[half * back->chunks + i] = chunk_memory(back, half, i);
    (void)ocdm__share_chunks(&back->pass->share, network->chunk_sizes, network->merges);
}

ocdm_status ocdm__network_backward(struct ocdm__pass *pass, const struct ocdm__gradient_sink *sink, ocdm_error *error)
{
    ocdm__network *network = pass->network;
    struct back back = {.pass = pass,
                        .sink = sink,
                        .chunks = ocdm__share_chunks(&pass->share, NULL, NULL),
                        .half = ocdm__share_half(&pass->share)};
    plan_sums(&back);
    if (run_vectors_back(&back) != OCDM_OK)
        return ocdm__fail_memory(error, "a linear layer's gradient");
    if (network->image_layers > 0)
        run_images_back(&back);
    if (sink->flat == NULL)
        network->stale = network->image_layers > 0;
    return ocdm__network_check(network, error);
}
