/*
 * Plans memory: every array of a step is in use for a span of moments, and arrays whose spans do not overlap may share memory.
 * Sizes are per image, so one plan serves batches of any size.
 *
 * The moments of a training step with a image layers: layer k runs forward at k, the average at a, the gradient of the average
 * is distributed at a + 1, layer k runs backward at 2a + 1 - k, and the gradient of its weights is computed one moment later.
 */
#include "agent/network.h"

/* ---- places --------------------------------------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b)
{
    const struct ocdm__span *x = *(struct ocdm__span *const *)a, *y = *(struct ocdm__span *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Places spans so that no two in use at the same moment overlap, each at the lowest position that the ones before it leave
 * free: after each collision the search continues behind the obstacle. Returns the bytes needed. */
static size_t place_spans(struct ocdm__span **spans, size_t count)
{
    size_t needed = 0;
    qsort(spans, count, sizeof(struct ocdm__span *), larger_first);
    for (size_t placed = 0; placed < count; placed++) {
        struct ocdm__span *span = spans[placed];
        span->at = 0;
        for (size_t i = 0; i < placed; i++) {
            const struct ocdm__span *other = spans[i];
            if (span->from <= other->until && other->from <= span->until && span->at < other->at + other->bytes &&
                other->at < span->at + span->bytes) {
                span->at = other->at + other->bytes;
                i = (size_t)-1; /* from the first one again */
            }
        }
        needed = span->at + span->bytes > needed ? span->at + span->bytes : needed;
    }
    return needed;
}

/* ---- who reads whom ------------------------------------------------------------------------------------------------- */

/* The readers of a node (its position + 1; 0: the network's input): two as input at most, one as residual. */
struct readers {
    uint32_t input[2], residual;
};

/* Models are small, so every question is a walk over the nodes. */
static struct readers readers_of(const ocdm__network *network, uint32_t number)
{
    struct readers readers = {{OCDM__NOTHING, OCDM__NOTHING}, OCDM__NOTHING};
    for (uint32_t k = 0; k < network->model.count; k++) {
        const struct ocdm__node *node = &network->model.nodes[k];
        if (node->input == number)
            readers.input[readers.input[0] == OCDM__NOTHING ? 0 : 1] = k;
        if (number != 0 && node->residual == number)
            readers.residual = k;
    }
    return readers;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The moment when layer k runs backward. */
static uint32_t backward(const ocdm__network *network, uint32_t k)
{
    return 2 * network->image_layers + 1 - k;
}

static size_t span_bytes(const ocdm__network *network, uint32_t height, uint32_t width, uint32_t channels)
{
    return ocdm__rounded((size_t)height * width * channels * network->kernels->element);
}

/* The source of layer k's gradient, and until when it is read once it is folded: by the layer itself, or by the one whose
 * residual it is. Only a node without activation may use a residual's gradient unchanged. */
static void join_gradients(ocdm__network *network, uint32_t k)
{
    struct ocdm__layer *layer = &network->layers[k];
    struct readers readers = readers_of(network, k + 1);
    uint32_t added = network->model.nodes[k].residual;
    layer->first_reader = readers.input[0] < readers.residual ? readers.input[0] : readers.residual;
    layer->added = NULL;
    const struct ocdm__span *residual = readers.residual != OCDM__NOTHING ? network->layers[readers.residual].gradient : NULL;
    if (readers.input[0] == OCDM__NOTHING) {
        layer->gradient = residual;
        return;
    }
    struct ocdm__span *first = &network->layers[readers.input[0]].arriving;
    layer->gradient = first;
    first->until = backward(network, k);
    if (added != 0) {
        uint32_t reader = readers_of(network, added).input[0];
        first->until = later(first->until, backward(network, reader != OCDM__NOTHING ? reader : added - 1));
    }
    layer->added = residual;
    if (readers.input[1] != OCDM__NOTHING) {
        struct ocdm__span *second = &network->layers[readers.input[1]].arriving;
        second->until = backward(network, readers.input[0]);
        layer->added = second;
    }
}

/* From when until when each array of a layer is needed, see the moments at the top. */
static void size_layer(ocdm__network *network, uint32_t k)
{
    struct ocdm__layer *layer = &network->layers[k];
    const struct ocdm__node *node = layer->node;
    struct readers readers = readers_of(network, k + 1);
    size_t bytes = span_bytes(network, node->height, node->width, node->channels);
    uint32_t back = backward(network, k);
    uint32_t reader = readers.input[0];
    bool read_on = reader != OCDM__NOTHING && reader < network->image_layers;
    if (node->kind == OCDM__NODE_CONV)
        layer->raw = (struct ocdm__span){.bytes = bytes, .from = k, .until = back + 1};
    layer->output = (struct ocdm__span){.bytes = bytes, .from = node->kind == OCDM__NODE_CONV ? k + 1 : k};
    layer->output.until = read_on                   ? backward(network, reader) + 1
                          : reader != OCDM__NOTHING ? network->image_layers + 1
                                                    : readers.residual + 1;
    if (node->kind == OCDM__NODE_MAX_POOL)
        layer->workspace =
            (struct ocdm__span){.bytes = ocdm__rounded(ocdm__op_workspace(layer->forward)), .from = k, .until = back};
    if (node->input != 0)
        layer->arriving =
            (struct ocdm__span){.bytes = span_bytes(network, node->in_height, node->in_width, node->in_channels), .from = back};
}

/* The spans of all layers first, then their places. */
ocdm_status ocdm__plan_training(ocdm__network *network, ocdm_error *error)
{
    uint32_t count = network->image_layers;
    if (count == 0)
        return OCDM_OK;
    struct ocdm__span **spans;
    OCDM_TRY(ocdm__new(&spans, 4 * (size_t)count + 2, sizeof *spans, "a plan of the network's memory", error));
    for (uint32_t k = 0; k < count; k++)
        size_layer(network, k);
    const struct ocdm__node *last = network->layers[count - 1].node;
    network->layers[count].arriving =
        (struct ocdm__span){.bytes = span_bytes(network, last->height, last->width, last->channels), .from = count + 1};
    for (uint32_t k = count; k-- > 0;)
        join_gradients(network, k);
    uint32_t first = readers_of(network, 0).input[0];
    network->input = (struct ocdm__span){.bytes = ocdm__rounded(network->input_bytes), .until = backward(network, first) + 1};
    size_t used = 0;
    if (!network->blocked)
        spans[used++] = &network->input;
    for (uint32_t k = 0; k <= count; k++) {
        struct ocdm__layer *layer = &network->layers[k];
        struct ocdm__span *own[] = {&layer->raw, &layer->output, &layer->workspace, &layer->arriving};
        for (size_t i = 0; i < 4; i++)
            if (own[i]->bytes != 0)
                spans[used++] = own[i];
    }
    network->arena_image = place_spans(spans, used);
    ocdm__release(spans);
    return OCDM_OK;
}

/* In evaluation one thread takes an image through all layers and batch norm works in place, so moments are layers. */
ocdm_status ocdm__plan_evaluation(ocdm__network *network, ocdm_error *error)
{
    uint32_t count = network->image_layers;
    struct ocdm__span **spans;
    OCDM_TRY(ocdm__new(&spans, 2 * (size_t)count + 1, sizeof *spans, "a plan of the network's memory", error));
    size_t used = 0;
    if (count > 0 && !network->blocked) {
        network->eval_input =
            (struct ocdm__span){.bytes = ocdm__rounded(network->input_bytes), .until = readers_of(network, 0).input[0]};
        spans[used++] = &network->eval_input;
    }
    for (uint32_t k = 0; k < count; k++) {
        struct ocdm__layer *layer = &network->layers[k];
        struct readers readers = readers_of(network, k + 1);
        uint32_t until = k;
        const uint32_t all[] = {readers.input[0], readers.input[1], readers.residual};
        for (size_t i = 0; i < 3; i++)
            until = all[i] != OCDM__NOTHING ? later(until, all[i]) : until;
        layer->passing = (struct ocdm__span){.bytes = ocdm__rounded(layer->image_bytes), .from = k, .until = until};
        spans[used++] = &layer->passing;
        if (layer->node->kind != OCDM__NODE_MAX_POOL)
            continue;
        layer->pool_room =
            (struct ocdm__span){.bytes = ocdm__rounded(ocdm__op_workspace(layer->forward)), .from = k, .until = k};
        spans[used++] = &layer->pool_room;
    }
    network->eval_image = place_spans(spans, used);
    ocdm__release(spans);
    return OCDM_OK;
}
