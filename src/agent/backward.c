/*
 * The backward pass of a training step, one region per layer. An item propagates one image's gradient through the batch norm
 * and the primitive of the layer, then folds it into the layer before (activation, residual, sums for its batch norm). In the
 * same region, chunks of lanes compute the weight gradient of the layer after it, and the chunks of the layer after that are
 * summed and applied by Adam. So weight gradients of at most two layers are in memory. Weights that do not fit into a core's
 * cache are computed in slices; where an item has all lanes of its slice, Adam takes the sum at once.
 */
#include "agent/network.h"

/* Weights that Adam takes in one item. */
enum { SLICE = 1 << 16 };

/* The state of a backward pass. A layer with nothing to do is OCDM__NOTHING. */
struct back {
    const struct ocdm__pass *pass;
    const struct ocdm__gradient_sink *sink;
    uint32_t position;               /* the layer of the region; the number of image layers means the average */
    uint32_t making;                 /* the layer whose weights' gradient is made in chunks of lanes */
    uint32_t adding;                 /* the layer whose chunks are added */
    unsigned turn;                   /* which half of the chunks' memory is being written */
    struct ocdm__lane_plan plans[2]; /* of the layers in either half */
};

/* ---- gradients to their place --------------------------------------------------------------------------------------- */

/* The chunks' sums of either layer, one after the other. */
static float *half_memory(const struct back *back, unsigned half)
{
    const ocdm__network *network = back->pass->network;
    return network->lane_memory + half * network->lane_half;
}

/* Weights from `at` on, in memory order. The gradient is that of these weights or, with `whole`, of all. */
static void step_part(const struct back *back, const struct ocdm__parameter *parameter, const struct ocdm__tree *gradient,
                      bool whole, size_t at, size_t count)
{
    struct ocdm__adam adam = back->sink->adam;
    adam.value = parameter->value + at;
    adam.mean = parameter->mean + at;
    adam.square = parameter->square + at;
    adam.gradient = *gradient;
    adam.at = whole ? at : 0;
    adam.count = count;
    ocdm__kernels_for(false)->step(&adam);
}

/* The same where the sum of a part is there already, from `gradient` on. */
static void step_summed(const struct back *back, const struct ocdm__parameter *parameter, const float *gradient, size_t at,
                        size_t count)
{
    const struct ocdm__tree alone = {.parts = &gradient, .merges = (const unsigned char[]){0}, .count = 1};
    step_part(back, parameter, &alone, false, at, count);
}

/* Small gradients, of norms and biases, are complete when they get here. */
static void deliver(const struct back *back, const struct ocdm__parameter *parameter, const float *gradient)
{
    if (back->sink->flat == NULL)
        step_summed(back, parameter, gradient, 0, parameter->size);
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
    size_t half = 1 - back->turn, first = half * network->part_room;
    const struct ocdm__tree chunks = {
        .parts = network->parts + first, .merges = network->merges + first, .count = back->plans[half].chunks};
    size_t at = item * SLICE, count = weight->room - at < SLICE ? weight->room - at : SLICE;
    if (back->pass->share.ranks != NULL)
        ocdm__buckets_add(network, &back->pass->share, back->adding, &chunks, at, count);
    else if (back->sink->flat == NULL)
        step_part(back, weight, &chunks, true, at, count);
    else
        ocdm__kernels_for(false)->sum_tree(half_memory(back, 1 - back->turn) + at, &chunks, at, count);
}

/* Takes the added-up gradient out, in plain order. */
static void take_out(const struct back *back)
{
    ocdm__network *network = back->pass->network;
    const struct ocdm__parameter *weight = &network->parameters[network->layers[back->adding].weight];
    const float *sum = half_memory(back, 1 - back->turn);
    if (weight->from_home == NULL)
        memcpy(back->sink->flat + weight->first, sum, weight->size * sizeof *sum);
    else if (ocdm__op_run(weight->from_home, 0, sum, NULL, back->sink->flat + weight->first) != OCDM_OK)
        atomic_store(&network->failed, true);
}

/* ---- lanes ---------------------------------------------------------------------------------------------------------- */

/* A slice of a chunk: its images' gradients, where it begins in the weights, and memory of its own. */
struct item {
    const struct back *back;
    const struct ocdm__lane_plan *plan;
    size_t slice;
    float *room;
    unsigned slot;
};

/* The weight gradient of one lane: a convolution's, or the product of gradient and input where the layer is one. Of several
 * images a slice of the gradient is copied into one piece, as the primitive reads it. */
static void make_lane(const struct item *item, size_t lane, float *target)
{
    const struct ocdm__pass *pass = item->back->pass;
    ocdm__network *network = pass->network;
    const struct ocdm__layer *layer = &network->layers[item->back->making];
    const struct ocdm__node *node = layer->node;
    size_t start = ocdm__lane_start(&pass->share, lane), images = ocdm__lane_start(&pass->share, lane + 1) - start;
    size_t bytes = item->plan->image, shift = item->slice * bytes;
    const struct ocdm__layer *before = node->input ? &network->layers[node->input - 1] : NULL;
    const unsigned char *source =
        before != NULL ? ocdm__piece(pass, &before->output, before->image_bytes, start) : ocdm__input_piece(pass, start);
    const unsigned char *gradient = ocdm__piece(pass, &layer->raw, layer->image_bytes, start) + shift;
    unsigned char *copy = (unsigned char *)(item->room + item->plan->levels * (OCDM__FAN - 1) * item->plan->place);
    bool copies = images > 1 && layer->slices > 1, product = ocdm__layer_is_product(network, node);
    for (size_t i = 0; copies && i < images; i++)
        memcpy(copy + i * bytes, gradient + i * layer->image_bytes, bytes);
    gradient = copies ? copy : gradient;
    if (ocdm__op_run(layer->weights[images], item->slot, product ? gradient : source, product ? source : gradient, target) !=
        OCDM_OK)
        atomic_store(&network->failed, true);
}

/* Adds lanes, a power of two, in groups. The first of a group is made where their sum will be, the others in the room. */
static void make_lanes(const struct item *item, size_t first, size_t lanes, float *sum, float *room)
{
    static const unsigned char merges[OCDM__FAN] = {0, 1, 0, 2};
    size_t count = lanes < OCDM__FAN ? lanes : OCDM__FAN, each = lanes / count;
    const float *parts[OCDM__FAN] = {sum};
    if (lanes == 1) {
        make_lane(item, first, sum);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float *part = i == 0 ? sum : room + (i - 1) * item->plan->place;
        make_lanes(item, first + i * each, each, part, room + (OCDM__FAN - 1) * item->plan->place);
        parts[i] = part;
    }
    const struct ocdm__tree tree = {.parts = parts, .merges = merges, .count = count};
    ocdm__kernels_for(false)->sum_tree(sum, &tree, 0, item->plan->slice);
}

/* The weights of the layer that is made are not read any more in this step. */
static bool steps_at_once(const struct back *back)
{
    return back->plans[back->turn].at_once && back->sink->flat == NULL;
}

/* Slices of one chunk follow each other. */
static void make_chunk(void *context, size_t number, unsigned slot)
{
    const struct back *back = context;
    const ocdm__network *network = back->pass->network;
    const struct ocdm__lane_plan *plan = &back->plans[back->turn];
    size_t slices = network->layers[back->making].slices, chunk = number / slices;
    const size_t *sizes = network->chunk_sizes + back->turn * network->part_room;
    size_t place = network->threads < plan->chunks * slices ? slot : number, first = back->pass->share.first_lane;
    for (size_t i = 0; i < chunk; i++)
        first += sizes[i];
    struct item item = {
        .back = back, .plan = plan, .slice = number % slices, .room = half_memory(back, 2) + place * plan->room, .slot = slot};
    const struct ocdm__parameter *weight = &network->parameters[network->layers[back->making].weight];
    float *sum = half_memory(back, back->turn) + chunk * plan->stride + item.slice * plan->slice;
    if (plan->in_bucket)
        sum = ocdm__buckets_place(network, back->making, chunk) + item.slice * plan->slice;
    else if (steps_at_once(back))
        sum = item.room + plan->room - plan->place;
    make_lanes(&item, first, sizes[chunk], sum, item.room);
    if (steps_at_once(back))
        step_summed(back, weight, sum, item.slice * plan->slice, plan->slice);
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

/* The first region, at position image_layers, spreads the gradient of the features over the pixels; others take it through
 * norm and primitive. `raw` holds the gradient afterwards: its values are not read again. */
static void take_image_back(void *context, size_t item, unsigned slot)
{
    const struct back *back = context;
    const struct ocdm__pass *pass = back->pass;
    ocdm__network *network = pass->network;
    size_t image = pass->share.first + item;
    if (back->position == network->image_layers) {
        const struct ocdm__layer *last = &network->layers[network->image_layers - 1];
        const float *features = network->vectors + network->vector_slots * network->vector_rows * network->vector_width;
        struct ocdm__extent extent = ocdm__extent_of(network, last->node);
        network->kernels->spread(ocdm__piece(pass, last->gradient, last->image_bytes, image), &extent,
                                 features + image * last->node->channels);
        fold(pass, network->image_layers - 1, image);
        return;
    }
    struct ocdm__layer *layer = &network->layers[back->position];
    const struct ocdm__node *node = layer->node;
    size_t channels = node->channels;
    unsigned char *gradient = ocdm__piece(pass, layer->gradient, layer->image_bytes, image);
    const void *second = ocdm__piece(pass, &layer->workspace, layer->workspace.bytes, image);
    if (node->kind == OCDM__NODE_CONV) {
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

/* ---- norms ---------------------------------------------------------------------------------------------------------- */

/* The sums over the batch: the gradients of gain and bias, and the terms that every pixel's gradient loses to them. */
static void finish_norm(const struct back *back, struct ocdm__layer *layer)
{
    const struct ocdm__pass *pass = back->pass;
    const ocdm__network *network = pass->network;
    size_t channels = layer->node->channels;
    double count = (double)layer->node->height * layer->node->width * (double)pass->share.images;
    float *constants = layer->constants;
    ocdm__norm_wait(&pass->share, layer);
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

/* The layer whose gradient the images of this region complete; OCDM__NOTHING: none. */
static uint32_t completed_layer(const struct back *back)
{
    const ocdm__network *network = back->pass->network;
    if (back->position == network->image_layers)
        return back->position - 1;
    uint32_t input = network->layers[back->position].node->input;
    return input != 0 && network->layers[input - 1].first_reader == back->position ? input - 1 : OCDM__NOTHING;
}

/* The layer whose gradient was completed with that of layer k, in the order of fold; OCDM__NOTHING: none. */
static uint32_t next_completed(const struct back *back, uint32_t k)
{
    const ocdm__network *network = back->pass->network;
    uint32_t residual = network->layers[k].node->residual;
    return residual != 0 && network->layers[residual - 1].first_reader == k ? residual - 1 : OCDM__NOTHING;
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

/* What has been added up goes on its way to the other ranks, and weights that have arrived are changed; with `wait`, all. */
static void move_buckets(const struct back *back, bool wait)
{
    ocdm__network *network = back->pass->network;
    const struct ocdm__share *share = &back->pass->share;
    if (back->adding != OCDM__NOTHING)
        ocdm__buckets_close(network, share, back->adding);
    if (back->making != OCDM__NOTHING && back->plans[back->turn].in_bucket)
        ocdm__buckets_close(network, share, back->making);
    ocdm__buckets_advance(network, share, &back->sink->adam, wait);
}

/* Runs one region; `with_images` is false in the last two, which only finish the weights. Several ranks take the images first:
 * while their sums are gathered, there are the weights to work on. */
static void run_region(struct back *back, bool with_images)
{
    ocdm__network *network = back->pass->network;
    const struct ocdm__share *share = &back->pass->share;
    const struct ocdm__work images = {take_image_back, back, share->end - share->first};
    struct ocdm__lane_plan *plan = &back->plans[back->turn];
    struct ocdm__work works[3];
    size_t count = 0;
    if (back->making != OCDM__NOTHING) {
        const struct ocdm__layer *layer = &network->layers[back->making];
        size_t first = back->turn * network->part_room;
        *plan = ocdm__plan_lanes(network, share, layer);
        (void)ocdm__share_chunks(share, plan->chunk, network->chunk_sizes + first, network->merges + first);
        for (size_t i = 0; i < plan->chunks; i++)
            network->parts[first + i] = half_memory(back, back->turn) + i * plan->stride;
        works[count++] = (struct ocdm__work){make_chunk, back, plan->chunks * layer->slices};
    }
    if (back->adding != OCDM__NOTHING) {
        size_t room = network->parameters[network->layers[back->adding].weight].room;
        works[count++] = (struct ocdm__work){add_slice, back, (room + SLICE - 1) / SLICE};
    }
    if (with_images && share->ranks == NULL)
        works[count++] = images;
    if (with_images && share->ranks != NULL) {
        ocdm__team_run(network->team, &images, 1);
        for (uint32_t k = completed_layer(back); k != OCDM__NOTHING; k = next_completed(back, k))
            ocdm__norm_start(share, &network->layers[k]);
    }
    ocdm__team_run(network->team, works, count);
    if (back->sink->flat != NULL && back->adding != OCDM__NOTHING)
        take_out(back);
    if (share->ranks != NULL)
        move_buckets(back, false);
    for (uint32_t k = with_images ? completed_layer(back) : OCDM__NOTHING; k != OCDM__NOTHING; k = next_completed(back, k))
        if (network->layers[k].node->kind == OCDM__NODE_CONV)
            finish_norm(back, &network->layers[k]);
    bool summed = back->making == OCDM__NOTHING || plan->in_bucket || steps_at_once(back);
    back->adding = summed ? OCDM__NOTHING : back->making;
    back->turn = 1 - back->turn;
}

/* The linear layers, last first; the gradient of the first one's input stays in the slot that the images begin from. */
static ocdm_status run_vectors_back(const struct back *back)
{
    const struct ocdm__pass *pass = back->pass;
    ocdm__network *network = pass->network;
    uint32_t first = network->image_layers > 0 ? network->image_layers + 1 : 0;
    size_t slot_size = network->vector_rows * network->vector_width;
    for (uint32_t k = (uint32_t)network->model.count; k-- > first;) {
        struct ocdm__layer *layer = &network->layers[k];
        bool is_last = k + 1 == network->model.count, reads_input = network->image_layers == 0 && k == 0;
        size_t slot = k - first + (network->image_layers > 0 ? 1u : 0u); /* of its output */
        float *gradients = network->vectors + network->vector_slots * slot_size;
        struct ocdm__linear_back work = {.input = reads_input ? pass->input : network->vectors + (slot - 1) * slot_size,
                                         .output = is_last ? pass->logits : network->vectors + slot * slot_size,
                                         .gradient = is_last ? pass->logit_gradients : gradients + slot * slot_size,
                                         .input_gradient = reads_input ? NULL : gradients + (slot - 1) * slot_size,
                                         .weight_gradient = half_memory(back, 0),
                                         .bias_gradient = half_memory(back, 1),
                                         .rows = pass->share.images};
        OCDM_TRY(ocdm__linear_backward(network, layer, &work));
        deliver(back, &network->parameters[layer->weight], work.weight_gradient);
        deliver(back, &network->parameters[layer->bias], work.bias_gradient);
    }
    return OCDM_OK;
}

/* Linear layers from the head down, then the image layers, in one more region than there are layers on either side: weights are
 * made one region later than gradients, and added two later. Biases and norms step as they come. */
ocdm_status ocdm__network_backward(struct ocdm__pass *pass, const struct ocdm__gradient_sink *sink, ocdm_error *error)
{
    ocdm__network *network = pass->network;
    struct back back = {
        .pass = pass, .sink = sink, .position = network->image_layers, .making = OCDM__NOTHING, .adding = OCDM__NOTHING};
    if (run_vectors_back(&back) != OCDM_OK)
        return ocdm__fail_memory(error, "a linear layer's gradient");
    if (network->image_layers > 0) {
        run_region(&back, true);
        for (uint32_t k = network->image_layers; k-- > 0;) {
            back.position = k;
            run_region(&back, true);
            back.making = network->layers[k].node->kind == OCDM__NODE_CONV ? k : OCDM__NOTHING;
        }
        run_region(&back, false);
        back.making = OCDM__NOTHING;
        run_region(&back, false);
        if (pass->share.ranks != NULL)
            move_buckets(&back, true);
    }
    if (sink->flat == NULL)
        network->stale = network->image_layers > 0;
    return ocdm__network_check(network, error);
}
