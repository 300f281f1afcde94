/* The lists of nodes: written for each family of models, then given their sizes. */
#include "agent/model.h"

enum { MLP_WIDTH = 512, MOBILENET_BLOCKS = 13, MOST_PIXELS = 4096 };

/* ---- the list grows ------------------------------------------------------------------------------------------------- */

/* A list under construction. A failed allocation is recorded and checked once, at the end. */
struct list {
    struct ocdm__node *nodes;
    size_t count, room;
    bool failed;
};

/* A model of OCDM__MODELS. `list` writes its nodes. */
struct row {
    const char *name;
    void (*list)(struct list *list, const struct row *row, const struct ocdm__model_size *size);
    float norm_epsilon;
    uint32_t blocks[4];
    bool images, symmetric, bottleneck;
};

/* Appends a node and returns its number for `input`: one more than its position. */
static uint32_t append(struct list *list, struct ocdm__node node)
{
    if (list->count == list->room) {
        size_t room = ocdm__larger_room(list->room, list->count + 1);
        list->nodes = ocdm__grown(list->nodes, room, sizeof *list->nodes, &list->failed);
        if (list->failed)
            return 0;
        list->room = room;
    }
    list->nodes[list->count++] = node;
    return (uint32_t)list->count;
}

/* A convolution with norm and ReLU, as nearly all are. */
static struct ocdm__node conv(uint32_t input, uint32_t channels, uint32_t kernel, uint32_t stride)
{
    return (struct ocdm__node){.kind = OCDM__NODE_CONV,
                               .activation = OCDM__RELU,
                               .input = input,
                               .channels = channels,
                               .kernel = kernel,
                               .stride = stride};
}

/* What all models end with: the mean over the image, if there is one, and a linear layer. */
static void head(struct list *list, uint32_t input, bool images, uint32_t class_count)
{
    if (images)
        input = append(list, (struct ocdm__node){.kind = OCDM__NODE_AVERAGE, .input = input});
    append(list, (struct ocdm__node){.kind = OCDM__NODE_LINEAR, .input = input, .channels = class_count, .name = "fc"});
}

static uint32_t max_pool(struct list *list, uint32_t input, uint32_t kernel)
{
    return append(list, (struct ocdm__node){.kind = OCDM__NODE_MAX_POOL, .input = input, .kernel = kernel, .stride = 2});
}

/* ---- residual networks ---------------------------------------------------------------------------------------------- */

/* The position of a block in the network. */
struct place {
    uint32_t layer, block;
    uint32_t input, width, stride;
    bool widened; /* input and output differ in shape: the residual goes through a 1x1 convolution */
};

static struct ocdm__node block_conv(const struct place *place, uint32_t number, struct ocdm__node node)
{
    snprintf(node.name, sizeof node.name, "layer%u.%u.conv%u", place->layer, place->block, number);
    snprintf(node.norm, sizeof node.norm, "layer%u.%u.bn%u", place->layer, place->block, number);
    return node;
}

/* Two convolutions of 3x3, or a bottleneck of 1x1, 3x3, 1x1 with four times as many channels at its end. The residual goes
 * through a convolution where the block's output has another shape. */
static uint32_t resnet_block(struct list *list, const struct place *place, bool bottleneck)
{
    uint32_t channels = bottleneck ? 4 * place->width : place->width;
    uint32_t at = place->input;
    struct ocdm__node last, down = conv(at, channels, 1, place->stride);
    if (bottleneck) {
        at = append(list, block_conv(place, 1, conv(at, place->width, 1, 1)));
        at = append(list, block_conv(place, 2, conv(at, place->width, 3, place->stride)));
        last = block_conv(place, 3, conv(at, channels, 1, 1));
    } else {
        at = append(list, block_conv(place, 1, conv(at, place->width, 3, place->stride)));
        last = block_conv(place, 2, conv(at, channels, 3, 1));
    }
    down.activation = OCDM__LINEAR_ACTIVATION;
    snprintf(down.name, sizeof down.name, "layer%u.%u.downsample.0", place->layer, place->block);
    snprintf(down.norm, sizeof down.norm, "layer%u.%u.downsample.1", place->layer, place->block);
    last.residual = place->widened ? append(list, down) : place->input;
    return append(list, last);
}

/* Four groups of blocks; the first block of a group halves the image, but for the first group. Names are torchvision's. */
static void list_resnet(struct list *list, const struct row *row, const struct ocdm__model_size *size)
{
    struct ocdm__node first = conv(0, 64, 7, 2);
    snprintf(first.name, sizeof first.name, "conv1");
    snprintf(first.norm, sizeof first.norm, "bn1");
    uint32_t at = max_pool(list, append(list, first), 3);
    for (uint32_t layer = 0; layer < 4; layer++)
        for (uint32_t block = 0; block < row->blocks[layer]; block++) {
            struct place place = {.layer = layer + 1, .block = block, .input = at, .width = 64u << layer};
            place.stride = block == 0 && layer > 0 ? 2 : 1;
            place.widened = block == 0 && (layer > 0 || row->bottleneck);
            at = resnet_block(list, &place, row->bottleneck);
        }
    head(list, at, true, size->class_count);
}

/* ---- the others ----------------------------------------------------------------------------------------------------- */

/* Stride and width of each block of MobileNet 1.0. */
static const struct {
    uint32_t stride, channels;
} mobilenet[MOBILENET_BLOCKS] = {{1, 64},  {2, 128}, {1, 128}, {2, 256}, {1, 256},  {2, 512}, {1, 512},
                                 {1, 512}, {1, 512}, {1, 512}, {1, 512}, {2, 1024}, {1, 1024}};

/* Names are Keras's. */
static uint32_t mobilenet_conv(struct list *list, struct ocdm__node node, const char *name, uint32_t number)
{
    node.activation = OCDM__RELU6;
    node.pad_after = true;
    if (number == 0)
        snprintf(node.name, sizeof node.name, "%s", name);
    else
        snprintf(node.name, sizeof node.name, "%s_%u", name, number);
    snprintf(node.norm, sizeof node.norm, "%.30s_bn", node.name);
    return append(list, node);
}

/* Each block is a depthwise convolution and one of 1x1. */
static void list_mobilenet(struct list *list, const struct row *row, const struct ocdm__model_size *size)
{
    (void)row;
    uint32_t blocks = size->blocks > 0 ? size->blocks : MOBILENET_BLOCKS;
    uint32_t at = mobilenet_conv(list, conv(0, 32, 3, 2), "conv1", 0);
    uint32_t channels = 32;
    for (uint32_t i = 0; i < blocks; i++) {
        struct ocdm__node depthwise = conv(at, channels, 3, mobilenet[i].stride);
        depthwise.depthwise = true;
        at = mobilenet_conv(list, depthwise, "conv_dw", i + 1);
        channels = mobilenet[i].channels;
        at = mobilenet_conv(list, conv(at, channels, 1, 1), "conv_pw", i + 1);
    }
    head(list, at, true, size->class_count);
}

/* Four convolutions of 3x3, the image halved after each of the first three: for 32 to 64 pixels. */
static void list_cnn(struct list *list, const struct row *row, const struct ocdm__model_size *size)
{
    (void)row;
    uint32_t at = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct ocdm__node node = conv(at, 32u << i, 3, 1);
        snprintf(node.name, sizeof node.name, "conv%u", i + 1);
        snprintf(node.norm, sizeof node.norm, "bn%u", i + 1);
        at = append(list, node);
        if (i < 3)
            at = max_pool(list, at, 2);
    }
    head(list, at, true, size->class_count);
}

/* linear is a head alone; mlp has one hidden layer before it. */
static void list_vectors(struct list *list, const struct row *row, const struct ocdm__model_size *size)
{
    struct ocdm__node hidden = {.kind = OCDM__NODE_LINEAR,
                                .activation = OCDM__RELU,
                                .channels = size->hidden > 0 ? size->hidden : MLP_WIDTH,
                                .name = "hidden"};
    head(list, row->blocks[0] > 0 ? append(list, hidden) : 0, false, size->class_count);
}

/* ---- sizes ---------------------------------------------------------------------------------------------------------- */

/* Nodes are in the order of their data, so the input of each has its size already. */
static ocdm_status size_nodes(const struct ocdm__model_size *size, struct ocdm__model *model, ocdm_error *error)
{
    for (size_t i = 0; i < model->count; i++) {
        struct ocdm__node *node = &model->nodes[i];
        const struct ocdm__node *before = node->input ? &model->nodes[node->input - 1] : NULL;
        node->in_channels = before ? before->channels : model->images ? 3 : size->features;
        node->in_height = before ? before->height : model->images ? size->height : 1;
        node->in_width = before ? before->width : model->images ? size->width : 1;
        node->height = node->width = 1;
        if (node->kind == OCDM__NODE_AVERAGE || node->kind == OCDM__NODE_MAX_POOL)
            node->channels = node->in_channels;
        if (node->kind != OCDM__NODE_CONV && node->kind != OCDM__NODE_MAX_POOL)
            continue;
        node->pad_before = node->kernel == 2 ? 0 : node->kernel / 2; /* PyTorch pads both sides alike */
        node->pad_after_height = node->pad_after_width = node->pad_before;
        if (node->pad_after) { /* TensorFlow's "same" with Keras's convention for strides: none before, one after */
            node->pad_before = node->stride == 1 ? node->kernel / 2 : 0;
            node->pad_after_height = node->pad_after_width = node->kernel / 2;
        }
        uint32_t height = node->in_height + node->pad_before + node->pad_after_height;
        uint32_t width = node->in_width + node->pad_before + node->pad_after_width;
        if (height < node->kernel || width < node->kernel)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give it larger images", "%s: images of %u x %u pixels are too small",
                              size->name, size->width, size->height);
        node->height = (height - node->kernel) / node->stride + 1;
        node->width = (width - node->kernel) / node->stride + 1;
    }
    return OCDM_OK;
}

/* ---- models --------------------------------------------------------------------------------------------------------- */

const char *const ocdm__model_names[] = {OCDM__MODELS(OCDM__MODEL_NAME) NULL};

#define ROW(name, images, symmetric, norm_epsilon, list, one, two, three, four, bottleneck)                                    \
    {name, list, norm_epsilon, {one, two, three, four}, images, symmetric, bottleneck},
static const struct row rows[] = {OCDM__MODELS(ROW)};
#undef ROW

/* NULL for a name that is not of a model. */
static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool ocdm__model_takes_images(const char *name)
{
    const struct row *row = find_row(name);
    return row != NULL && row->images;
}

bool ocdm__model_is_symmetric(const char *name)
{
    const struct row *row = find_row(name);
    return row != NULL && row->symmetric;
}

/* Checks what was asked for, lets the family list its nodes, then gives them their sizes. */
ocdm_status ocdm__model_create(const struct ocdm__model_size *size, struct ocdm__model *model, ocdm_error *error)
{
    struct list list = {0};
    bool images = ocdm__model_takes_images(size->name);
    if (size->class_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: a network needs at least one class", size->name);
    if (!images && size->features == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "give it a stream with features",
                          "%s: it works on features, and there are none", size->name);
    if (images && (size->height == 0 || size->width == 0 || size->height > MOST_PIXELS || size->width > MOST_PIXELS))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: images must have 1 to %d pixels a side, not %u x %u", size->name,
                          MOST_PIXELS, size->width, size->height);
    if (size->blocks > MOBILENET_BLOCKS)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "mobilenet1 has %d blocks, not %u", MOBILENET_BLOCKS, size->blocks);
    const struct row *row = find_row(size->name);
    if (row == NULL)
        return ocdm__fail(error, OCDM_UNKNOWN_NAME,
                          "linear, mlp, cnn, resnet18, resnet34, resnet50, resnet101, resnet152, mobilenet1",
                          "no model is called \"%s\"", size->name);
    row->list(&list, row, size);
    struct ocdm__model made = {
        .nodes = list.nodes, .count = list.count, .images = row->images, .norm_epsilon = row->norm_epsilon};
    ocdm_status status = list.failed ? ocdm__fail_memory(error, "the network's layers") : size_nodes(size, &made, error);
    if (status != OCDM_OK) {
        ocdm__release(list.nodes);
        return status;
    }
    *model = made;
    return OCDM_OK;
}

void ocdm__model_destroy(struct ocdm__model *model)
{
    ocdm__release(model->nodes);
    model->nodes = NULL;
    model->count = 0;
}

/* Norms, activations and poolings are not counted: they are far below one percent. */
double ocdm__model_operations(const struct ocdm__model *model)
{
    double sum = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct ocdm__node *node = &model->nodes[i];
        double adds = (double)node->channels * (node->depthwise ? 1 : (double)node->in_channels);
        if (node->kind == OCDM__NODE_LINEAR)
            sum += 2 * adds;
        if (node->kind == OCDM__NODE_CONV)
            sum += 2 * adds * node->kernel * node->kernel * node->height * node->width;
    }
    return sum;
}
