/* ONNX files: a network's nodes as operators, and the tensors after them. */
#include "agent/onnx.h"

#include "agent/network.h"
#include "base/protobuf.h"

/* ---- the format ------------------------------------------------------------------------------------------------------ */

/* Numbers of fields and constants of onnx.proto. */
enum {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_METADATA = 14,
    OPSET_VERSION = 2,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_OPERATOR = 4,
    NODE_ATTRIBUTE = 5,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_FLOAT = 2,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_TYPE = 20,
    IS_FLOAT = 1,
    IS_INT = 2,
    IS_INTS = 7,
    TENSOR_DIMENSION = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    VALUE_TEXT = 3,
    TYPE_TENSOR = 1,
    TENSOR_TYPE_ELEMENT = 1,
    TENSOR_TYPE_SHAPE = 2,
    SHAPE_DIMENSION = 1,
    DIMENSION_VALUE = 1,
    DIMENSION_NAME = 2,
    ELEMENT_FLOAT = 1,
    IR_VERSION = 4,
    OPERATOR_SET = 9,
};

/* What a protobuf message may have. */
#define MOST_BYTES ((uint64_t)INT32_MAX)

/* ---- what is written ------------------------------------------------------------------------------------------------- */

enum { NAME = OCDM__NODE_NAME + 16, MOST_CONSTANTS = 2 };

struct writing {
    const struct ocdm__onnx_network *asked;
    ocdm__network *outline;
    char (*names)[NAME];                              /* of each node's output */
    char input[NAME];                                 /* what the first nodes read */
    struct ocdm__parameter constants[MOST_CONSTANTS]; /* tensors that are not in the weights file, */
    const float *values[MOST_CONSTANTS];              /* and their numbers */
    size_t constant_count;
    ocdm__output graph, node, inner; /* messages under construction, each inside the one before it */
};

/* ---- operators ------------------------------------------------------------------------------------------------------- */

/* A value that an operator reads, or with `parameter` a tensor of a layer: conv1.weight. */
struct input {
    const char *name, *parameter;
};

struct attribute {
    const char *name;
    uint64_t type;
    float real;        /* of IS_FLOAT */
    uint32_t whole[4]; /* of the others */
    size_t count;
};

/* Both lists end with a name of NULL; NULL: no attributes. */
static void put_node(struct writing *writing, const char *kind, const char *output, const struct input *input,
                     const struct attribute *attribute)
{
    ocdm__output *node = &writing->node, *inner = &writing->inner;
    ocdm__proto_text(node, NODE_OUTPUT, output);
    ocdm__proto_text(node, NODE_OPERATOR, kind);
    for (; input->name != NULL; input++) {
        char name[NAME + 16];
        bool whole = input->parameter == NULL;
        snprintf(name, sizeof name, "%s%s%s", input->name, whole ? "" : ".", whole ? "" : input->parameter);
        ocdm__proto_text(node, NODE_INPUT, name);
    }
    for (; attribute != NULL && attribute->name != NULL; attribute++) {
        ocdm__proto_text(inner, ATTRIBUTE_NAME, attribute->name);
        if (attribute->type == IS_FLOAT)
            ocdm__proto_float(inner, ATTRIBUTE_FLOAT, attribute->real);
        for (size_t i = 0; i < attribute->count; i++)
            ocdm__proto_whole(inner, attribute->type == IS_INT ? ATTRIBUTE_INT : ATTRIBUTE_INTS, attribute->whole[i]);
        ocdm__proto_whole(inner, ATTRIBUTE_TYPE, attribute->type);
        ocdm__proto_message(node, NODE_ATTRIBUTE, inner);
    }
    ocdm__proto_message(&writing->graph, GRAPH_NODE, node);
}

/* An operator without attributes, of one or two values. */
static void put_plain(struct writing *writing, const char *kind, const char *first, const char *second, const char *output)
{
    put_node(writing, kind, output, (const struct input[]){{first, NULL}, {second, NULL}, {NULL, NULL}}, NULL);
}

/* ---- nodes ----------------------------------------------------------------------------------------------------------- */

static const char *source(const struct writing *writing, uint32_t number)
{
    return number > 0 ? writing->names[number - 1] : writing->input;
}

/* `name` is that of the value so far, and becomes that of the result. */
static void put_activation(struct writing *writing, const struct ocdm__node *node, char name[NAME])
{
    /* As inputs, which the bounds are from operator set 11 on, OpenCV 4.6 would not take them. */
    static const struct attribute bounds[] = {{"min", IS_FLOAT, .real = 0}, {"max", IS_FLOAT, .real = 6}, {.name = NULL}};
    char before[NAME];
    bool clipped = node->activation == OCDM__RELU6;
    if (node->activation == OCDM__LINEAR_ACTIVATION)
        return;
    snprintf(before, sizeof before, "%s", name);
    snprintf(name, NAME, "%.*s.%s", OCDM__NODE_NAME, node->name, clipped ? "relu6" : "relu");
    put_node(writing, clipped ? "Clip" : "Relu", name, (const struct input[]){{before, NULL}, {NULL, NULL}},
             clipped ? bounds : NULL);
}

/* Of a convolution or a pooling; `groups` is 0 for none. */
static void put_window(struct writing *writing, const char *kind, const struct ocdm__node *node, const struct input *input,
                       const char *output, uint32_t groups)
{
    const struct attribute attributes[] = {
        {"kernel_shape", IS_INTS, 0, {node->kernel, node->kernel}, 2},
        {"strides", IS_INTS, 0, {node->stride, node->stride}, 2},
        {"pads", IS_INTS, 0, {node->pad_before, node->pad_before, node->pad_after_height, node->pad_after_width}, 4},
        {groups > 0 ? "group" : NULL, IS_INT, 0, {groups}, 1},
        {.name = NULL}};
    put_node(writing, kind, output, input, attributes);
}

/* Convolution, norm, residual and activation are operators of their own; runtimes fuse them again. */
static void put_conv(struct writing *writing, const struct ocdm__node *node, char name[NAME])
{
    const struct input values[] = {{source(writing, node->input), NULL}, {node->name, "weight"}, {NULL, NULL}};
    const struct input normed[] = {{node->name, NULL},           {node->norm, "weight"},      {node->norm, "bias"},
                                   {node->norm, "running_mean"}, {node->norm, "running_var"}, {NULL, NULL}};
    const struct attribute epsilon[] = {{"epsilon", IS_FLOAT, .real = writing->outline->model.norm_epsilon}, {.name = NULL}};
    put_window(writing, "Conv", node, values, node->name, node->depthwise ? node->channels : 1);
    put_node(writing, "BatchNormalization", node->norm, normed, epsilon);
    snprintf(name, NAME, "%s", node->norm);
    if (node->residual > 0) {
        snprintf(name, NAME, "%s.sum", node->name);
        put_plain(writing, "Add", node->norm, source(writing, node->residual), name);
    }
    put_activation(writing, node, name);
}

/* The output of the head is named: it is the output of the graph. */
static void put_linear(struct writing *writing, const struct ocdm__node *node, bool head, char name[NAME])
{
    static const struct attribute turned[] = {{"transB", IS_INT, 0, {1}, 1}, {.name = NULL}};
    const struct input values[] = {
        {source(writing, node->input), NULL}, {node->name, "weight"}, {node->name, "bias"}, {NULL, NULL}};
    snprintf(name, NAME, "%s", head ? "logits" : node->name);
    put_node(writing, "Gemm", name, values, turned);
    put_activation(writing, node, name);
}

/* ---- before and around the network ----------------------------------------------------------------------------------- */

/* A tensor that the weights file does not have: what the stream's normalisation subtracts and multiplies by. It has no batch
 * axis: OpenCV 4.6 could not extend one of size 1. */
static void add_constant(struct writing *writing, const char *name, const float *values, size_t size)
{
    uint32_t rank = size == 1 ? 0 : writing->outline->model.images ? 3 : 1;
    struct ocdm__parameter *constant = &writing->constants[writing->constant_count];
    *constant = (struct ocdm__parameter){.rank = rank, .shape = {size, 1, 1}, .size = size};
    snprintf(constant->name, sizeof constant->name, "%s", name);
    writing->values[writing->constant_count++] = values;
}

/* So that the graph takes pixels or features as a user has them. */
static void put_normalisation(struct writing *writing)
{
    const struct ocdm__onnx_network *asked = writing->asked;
    const char *input = writing->outline->model.images ? "image" : "features";
    size_t size = writing->outline->model.images ? 3 : asked->size.features;
    snprintf(writing->input, sizeof writing->input, "%s", input);
    if (asked->offset == NULL)
        return;
    add_constant(writing, "offset", asked->offset, size);
    add_constant(writing, "scale", asked->scale, size);
    put_plain(writing, "Sub", input, "offset", "centred");
    put_plain(writing, "Mul", "centred", "scale", "normalised");
    snprintf(writing->input, sizeof writing->input, "normalised");
}

/* A value that goes in or comes out: batch x sizes. */
static void put_value(struct writing *writing, unsigned field, const char *name, const uint32_t *sizes, size_t rank,
                      const char *text)
{
    static const char batch[] = "batch";
    ocdm__output *shape = &writing->inner, *value = &writing->node;
    ocdm__proto_begin(shape, SHAPE_DIMENSION, 2 + strlen(batch));
    ocdm__proto_text(shape, DIMENSION_NAME, batch);
    for (size_t i = 0; i < rank; i++) {
        ocdm__proto_begin(shape, SHAPE_DIMENSION, 1 + ocdm__proto_number_size(sizes[i]));
        ocdm__proto_whole(shape, DIMENSION_VALUE, sizes[i]);
    }
    uint64_t tensor = 2 + 1 + ocdm__proto_number_size(shape->used) + shape->used;
    ocdm__proto_text(value, VALUE_NAME, name);
    ocdm__proto_begin(value, VALUE_TYPE, 1 + ocdm__proto_number_size(tensor) + tensor);
    ocdm__proto_begin(value, TYPE_TENSOR, tensor);
    ocdm__proto_whole(value, TENSOR_TYPE_ELEMENT, ELEMENT_FLOAT);
    ocdm__proto_message(value, TENSOR_TYPE_SHAPE, shape);
    ocdm__proto_text(value, VALUE_TEXT, text);
    ocdm__proto_message(&writing->graph, field, value);
}

/* ---- tensors --------------------------------------------------------------------------------------------------------- */

/* Everything of a tensor but its data, in writing->node. Returns the bytes of the whole message. */
static uint64_t build_tensor(struct writing *writing, const struct ocdm__parameter *parameter)
{
    ocdm__output *tensor = &writing->node;
    tensor->used = 0;
    for (uint32_t i = 0; i < parameter->rank; i++)
        ocdm__proto_whole(tensor, TENSOR_DIMENSION, parameter->shape[i]);
    ocdm__proto_whole(tensor, TENSOR_TYPE, ELEMENT_FLOAT);
    ocdm__proto_text(tensor, TENSOR_NAME, parameter->name);
    ocdm__proto_begin(tensor, TENSOR_RAW, (uint64_t)parameter->size * 4);
    return tensor->used + (uint64_t)parameter->size * 4;
}

/* Goes through all tensors; with an output it writes them, in pieces where they need a conversion to 32 bits. Returns their
 * bytes in the graph. */
static uint64_t put_tensors(struct writing *writing, ocdm__output *output)
{
    uint64_t total = 0;
    size_t constants = writing->constant_count;
    float piece[1024];
    for (size_t i = 0; i < constants + writing->outline->parameter_count; i++) {
        bool constant = i < constants;
        const struct ocdm__parameter *parameter =
            constant ? &writing->constants[i] : &writing->outline->parameters[i - constants];
        uint64_t size = build_tensor(writing, parameter);
        total += 1 + ocdm__proto_number_size(size) + size;
        if (output == NULL)
            continue;
        ocdm__proto_begin(output, GRAPH_INITIALIZER, size);
        ocdm__output_write(output, writing->node.buffer, writing->node.used);
        if (constant) {
            ocdm__npy_write_floats(output, writing->values[i], parameter->size);
            continue;
        }
        const struct ocdm__tensor *tensor = ocdm__weights_find(writing->asked->weights.file, "", parameter->name);
        if (tensor->dtype == OCDM__F32)
            ocdm__output_write(output, tensor->data, tensor->size);
        for (size_t at = 0; tensor->dtype != OCDM__F32 && at < parameter->size; at += 1024) {
            size_t count = parameter->size - at < 1024 ? parameter->size - at : 1024;
            for (size_t k = 0; k < count; k++)
                piece[k] = ocdm__tensor_float(tensor, at + k);
            ocdm__npy_write_floats(output, piece, count);
        }
    }
    return total;
}

/* ---- file ------------------------------------------------------------------------------------------------------------ */

/* Everything before the graph. */
static void put_head(struct writing *writing, ocdm__output *output)
{
    ocdm__proto_whole(output, MODEL_IR_VERSION, IR_VERSION);
    ocdm__proto_text(output, MODEL_PRODUCER, "ocdm");
    ocdm__proto_text(output, MODEL_PRODUCER_VERSION, ocdm_version());
    writing->inner.used = 0;
    ocdm__proto_whole(&writing->inner, OPSET_VERSION, OPERATOR_SET);
    ocdm__proto_message(output, MODEL_OPSET, &writing->inner);
    for (size_t i = 0; i < writing->asked->property_count; i++) {
        ocdm__proto_text(&writing->inner, ENTRY_KEY, writing->asked->properties[i].key);
        ocdm__proto_text(&writing->inner, ENTRY_VALUE, writing->asked->properties[i].value);
        ocdm__proto_message(output, MODEL_METADATA, &writing->inner);
    }
}

static ocdm_status check_messages(const struct writing *writing, ocdm_error *error)
{
    OCDM_TRY(ocdm__output_check(&writing->graph, error));
    OCDM_TRY(ocdm__output_check(&writing->node, error));
    return ocdm__output_check(&writing->inner, error);
}

/* Nodes are built in memory; tensors are written from the file, as they are most of the bytes. */
static ocdm_status write_model(struct writing *writing, ocdm__output *output, ocdm_error *error)
{
    static const struct attribute axis[] = {{"axis", IS_INT, 0, {1}, 1}, {.name = NULL}};
    const struct ocdm__model *model = &writing->outline->model;
    const struct ocdm__model_size *size = &writing->asked->size;
    const uint32_t image[] = {3, size->height, size->width};
    ocdm__proto_text(&writing->graph, GRAPH_NAME, size->name);
    put_normalisation(writing);
    for (size_t i = 0; i < model->count; i++) {
        const struct ocdm__node *node = &model->nodes[i];
        char *name = writing->names[i];
        switch (node->kind) {
        case OCDM__NODE_CONV:
            put_conv(writing, node, name);
            break;
        case OCDM__NODE_MAX_POOL:
            snprintf(name, NAME, "pool_of_%.*s", OCDM__NODE_NAME, source(writing, node->input));
            put_window(writing, "MaxPool", node, (const struct input[]){{source(writing, node->input), NULL}, {NULL, NULL}},
                       name, 0);
            break;
        case OCDM__NODE_AVERAGE:
            put_plain(writing, "GlobalAveragePool", source(writing, node->input), NULL, "average");
            snprintf(name, NAME, "flat");
            put_node(writing, "Flatten", name, (const struct input[]){{"average", NULL}, {NULL, NULL}}, axis);
            break;
        case OCDM__NODE_LINEAR:
            put_linear(writing, node, i + 1 == model->count, name);
            break;
        }
    }
    put_plain(writing, "Sigmoid", "logits", NULL, "probabilities");
    if (model->images)
        put_value(writing, GRAPH_INPUT, "image", image, 3, writing->asked->input_text);
    else
        put_value(writing, GRAPH_INPUT, "features", &size->features, 1, writing->asked->input_text);
    put_value(writing, GRAPH_OUTPUT, "logits", &size->class_count, 1, "a class is predicted if its logit is above 0");
    put_value(writing, GRAPH_OUTPUT, "probabilities", &size->class_count, 1, "of each class by itself");
    uint64_t graph = writing->graph.used + put_tensors(writing, NULL);
    OCDM_TRY(check_messages(writing, error));
    if (graph > MOST_BYTES - 65536)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: the network has %" PRIu64 " bytes, and an ONNX file has at most 2 GiB",
                          writing->asked->weights.name, graph);
    put_head(writing, output);
    ocdm__proto_begin(output, MODEL_GRAPH, graph);
    ocdm__output_write(output, writing->graph.buffer, writing->graph.used);
    put_tensors(writing, output);
    return check_messages(writing, error);
}

/* The outline says which tensors there are, and the file must have just these. The three messages are each inside the one
 * before it. */
ocdm_status ocdm__onnx_write(ocdm__output *output, const struct ocdm__onnx_network *network, ocdm_error *error)
{
    struct writing writing = {.asked = network};
    ocdm_status status = ocdm__network_outline(&network->size, &writing.outline, error);
    OCDM_THEN(status, ocdm__weights_check(writing.outline, &network->weights, error));
    OCDM_THEN(status,
              ocdm__new(&writing.names, writing.outline->model.count, sizeof *writing.names, "the names of layers", error));
    OCDM_THEN(status, ocdm__output_open_memory(&writing.graph, "a graph", error));
    OCDM_THEN(status, ocdm__output_open_memory(&writing.node, "a node", error));
    OCDM_THEN(status, ocdm__output_open_memory(&writing.inner, "a part of a node", error));
    OCDM_THEN(status, write_model(&writing, output, error));
    ocdm__output_abandon(&writing.graph);
    ocdm__output_abandon(&writing.node);
    ocdm__output_abandon(&writing.inner);
    ocdm__release(writing.names);
    ocdm__network_destroy(writing.outline);
    return status;
}
