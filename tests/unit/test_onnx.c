/* ONNX files, read by a decoder and computed by an interpreter that share no code with the writer: every network gives the
 * logits that the agent gives. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../agent_state.h"
#include "../scratch_folder.h"
#include "agent_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/onnx.h"

enum { MOST = 512, CLASSES = 5 };

/* ---- protobuf ----------------------------------------------------------------------------------------------------------- */

struct bytes {
    const unsigned char *at, *end;
};

struct field {
    uint64_t number, value; /* the value of a varint or of 32 bits */
    struct bytes bytes;
};

static uint64_t next_varint(struct bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(bytes->at < bytes->end && shift < 64);
        value |= (uint64_t)(*bytes->at & 0x7F) << shift;
        if ((*bytes->at++ & 0x80) == 0)
            return value;
    }
}

static bool next_field(struct bytes *bytes, struct field *field)
{
    if (bytes->at == bytes->end)
        return false;
    uint64_t tag = next_varint(bytes), wire = tag & 7;
    *field = (struct field){.number = tag >> 3};
    assert_true(wire == 0 || wire == 2 || wire == 5);
    if (wire == 0) {
        field->value = next_varint(bytes);
        return true;
    }
    uint64_t size = wire == 2 ? next_varint(bytes) : 4;
    assert_true(size <= (uint64_t)(bytes->end - bytes->at));
    field->bytes = (struct bytes){bytes->at, bytes->at + size};
    bytes->at += size;
    for (unsigned i = 0; wire == 5 && i < 4; i++)
        field->value |= (uint64_t)field->bytes.at[i] << 8 * i;
    return true;
}

static void copy_text(const struct field *field, char *text, size_t room)
{
    size_t size = (size_t)(field->bytes.end - field->bytes.at);
    assert_true(size < room);
    memcpy(text, field->bytes.at, size);
    text[size] = '\0';
}

/* ---- ONNX --------------------------------------------------------------------------------------------------------------- */

/* A value of the graph: of one sample, so without the batch axis. */
struct value {
    char name[80];
    size_t shape[4], rank, size;
    float *data;
    bool used;
};

struct attribute {
    char name[24];
    uint64_t ints[4], count, value;
};

struct node {
    char kind[24], inputs[5][80], output[80];
    size_t input_count, attribute_count;
    struct attribute attributes[5];
};

struct graph {
    unsigned char *file;
    uint64_t ir, opset;
    char keys[8][16], texts[8][200];
    size_t property_count;
    struct node nodes[MOST];
    struct value values[MOST];
    size_t node_count, value_count, tensor_count;
    char inputs[2][80], outputs[4][80];
    size_t input_count, output_count;
};

static struct value *find_value(struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->value_count; i++)
        if (strcmp(graph->values[i].name, name) == 0)
            return &graph->values[i];
    return NULL;
}

static struct value *new_value(struct graph *graph, const char *name, size_t rank, const size_t *shape)
{
    HOLDS(name, find_value(graph, name) == NULL && graph->value_count < MOST);
    struct value *value = &graph->values[graph->value_count++];
    snprintf(value->name, sizeof value->name, "%s", name);
    value->size = 1;
    value->rank = rank;
    for (size_t i = 0; i < rank; i++)
        value->size *= value->shape[i] = shape[i];
    value->data = calloc(value->size, sizeof *value->data);
    assert_non_null(value->data);
    return value;
}

static void read_tensor(struct graph *graph, struct bytes bytes)
{
    struct field field, raw = {0};
    size_t shape[4], rank = 0;
    char name[80] = "";
    uint64_t type = 0;
    while (next_field(&bytes, &field)) {
        if (field.number == 1)
            shape[rank++] = (size_t)field.value;
        type = field.number == 2 ? field.value : type;
        if (field.number == 8)
            copy_text(&field, name, sizeof name);
        raw = field.number == 9 ? field : raw;
    }
    struct value *value = new_value(graph, name, rank, shape);
    graph->tensor_count++;
    HOLDS(name, type == 1 && (size_t)(raw.bytes.end - raw.bytes.at) == 4 * value->size);
    memcpy(value->data, raw.bytes.at, 4 * value->size);
}

static void read_attribute(struct node *node, struct bytes bytes)
{
    struct field field;
    struct attribute *attribute = &node->attributes[node->attribute_count++];
    uint64_t type = 0;
    while (next_field(&bytes, &field)) {
        if (field.number == 1)
            copy_text(&field, attribute->name, sizeof attribute->name);
        if (field.number == 2 || field.number == 3)
            attribute->value = field.value;
        if (field.number == 8)
            attribute->ints[attribute->count++] = field.value;
        type = field.number == 20 ? field.value : type;
    }
    HOLDS(attribute->name, type == 1 || type == 2 || (type == 7 && attribute->count > 0));
}

static void read_node(struct graph *graph, struct bytes bytes)
{
    struct field field;
    struct node *node = &graph->nodes[graph->node_count++];
    assert_true(graph->node_count < MOST);
    while (next_field(&bytes, &field)) {
        if (field.number == 1)
            copy_text(&field, node->inputs[node->input_count++], sizeof node->inputs[0]);
        if (field.number == 2)
            copy_text(&field, node->output, sizeof node->output);
        if (field.number == 4)
            copy_text(&field, node->kind, sizeof node->kind);
        if (field.number == 5)
            read_attribute(node, field.bytes);
    }
}

static void read_graph(struct graph *graph, struct bytes bytes)
{
    struct field field, name;
    while (next_field(&bytes, &field)) {
        if (field.number == 1)
            read_node(graph, field.bytes);
        if (field.number == 5)
            read_tensor(graph, field.bytes);
        if (field.number != 11 && field.number != 12)
            continue;
        struct bytes value = field.bytes;
        assert_true(next_field(&value, &name) && name.number == 1);
        char *text = field.number == 11 ? graph->inputs[graph->input_count++] : graph->outputs[graph->output_count++];
        copy_text(&name, text, 80);
    }
}

static void read_property(struct graph *graph, struct bytes bytes)
{
    struct field key, value;
    assert_true(next_field(&bytes, &key) && next_field(&bytes, &value) && key.number == 1 && value.number == 2);
    copy_text(&key, graph->keys[graph->property_count], sizeof graph->keys[0]);
    copy_text(&value, graph->texts[graph->property_count++], sizeof graph->texts[0]);
}

static struct graph *read_onnx(const char *path)
{
    size_t size;
    struct field field, version;
    struct graph *graph = calloc(1, sizeof *graph);
    assert_non_null(graph);
    graph->file = read_whole(path, &size);
    assert_non_null(graph->file);
    struct bytes bytes = {graph->file, graph->file + size};
    while (next_field(&bytes, &field)) {
        graph->ir = field.number == 1 ? field.value : graph->ir;
        if (field.number == 7)
            read_graph(graph, field.bytes);
        if (field.number == 8) {
            assert_true(next_field(&field.bytes, &version) && version.number == 2);
            graph->opset = version.value;
        }
        if (field.number == 14)
            read_property(graph, field.bytes);
    }
    return graph;
}

static void graph_free(struct graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++)
        free(graph->values[i].data);
    free(graph->file);
    free(graph);
}

/* ---- computing ---------------------------------------------------------------------------------------------------------- */

/* What a node reads; it must be there already. */
static struct value *input(struct graph *graph, const struct node *node, size_t i)
{
    HOLDS(node->output, i < node->input_count);
    struct value *value = find_value(graph, node->inputs[i]);
    HOLDS(node->inputs[i], value != NULL);
    value->used = true;
    return value;
}

static const struct attribute *attribute(const struct node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    HOLDS(name, false);
    return NULL;
}

static float real(const struct node *node, const char *name)
{
    uint32_t bits = (uint32_t)attribute(node, name)->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value under a window at a place of the output, or `outside`. */
static float at(const struct node *node, const struct value *x, size_t channel, const size_t place[2], const size_t inside[2],
                float outside)
{
    size_t where[2];
    for (size_t i = 0; i < 2; i++) {
        where[i] = place[i] * attribute(node, "strides")->ints[i] + inside[i] - attribute(node, "pads")->ints[i];
        if (where[i] >= x->shape[i + 1]) /* also below 0 */
            return outside;
    }
    return x->data[(channel * x->shape[1] + where[0]) * x->shape[2] + where[1]];
}

static struct value *windowed(struct graph *graph, const struct node *node, const struct value *x, size_t channels)
{
    size_t shape[3] = {channels};
    for (size_t i = 0; i < 2; i++)
        shape[i + 1] = (x->shape[i + 1] + attribute(node, "pads")->ints[i] + attribute(node, "pads")->ints[i + 2] -
                        attribute(node, "kernel_shape")->ints[i]) /
                           attribute(node, "strides")->ints[i] +
                       1;
    return new_value(graph, node->output, 3, shape);
}

static void conv(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0), *w = input(graph, node, 1);
    struct value *y = windowed(graph, node, x, w->shape[0]);
    size_t group = w->shape[0] / (size_t)attribute(node, "group")->value, k = w->shape[2], place[2], inside[2];
    HOLDS(node->output, attribute(node, "kernel_shape")->ints[0] == k && k == w->shape[3]);
    for (size_t o = 0; o < w->shape[0]; o++)
        for (place[0] = 0; place[0] < y->shape[1]; place[0]++)
            for (place[1] = 0; place[1] < y->shape[2]; place[1]++) {
                double sum = 0;
                for (size_t c = 0; c < w->shape[1]; c++)
                    for (inside[0] = 0; inside[0] < k; inside[0]++)
                        for (inside[1] = 0; inside[1] < k; inside[1]++)
                            sum += (double)w->data[((o * w->shape[1] + c) * k + inside[0]) * k + inside[1]] *
                                   (double)at(node, x, o / group * w->shape[1] + c, place, inside, 0);
                y->data[(o * y->shape[1] + place[0]) * y->shape[2] + place[1]] = (float)sum;
            }
}

static void max_pool(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0);
    struct value *y = windowed(graph, node, x, x->shape[0]);
    size_t k = (size_t)attribute(node, "kernel_shape")->ints[0], place[2], inside[2];
    for (size_t c = 0; c < x->shape[0]; c++)
        for (place[0] = 0; place[0] < y->shape[1]; place[0]++)
            for (place[1] = 0; place[1] < y->shape[2]; place[1]++) {
                float most = -INFINITY;
                for (inside[0] = 0; inside[0] < k; inside[0]++)
                    for (inside[1] = 0; inside[1] < k; inside[1]++)
                        most = fmaxf(most, at(node, x, c, place, inside, -INFINITY));
                y->data[(c * y->shape[1] + place[0]) * y->shape[2] + place[1]] = most;
            }
}

static void norm(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0), *part[4];
    struct value *y = new_value(graph, node->output, x->rank, x->shape);
    float epsilon = real(node, "epsilon");
    for (size_t i = 0; i < 4; i++)
        part[i] = input(graph, node, i + 1);
    for (size_t i = 0; i < x->size; i++) {
        size_t c = i / (x->shape[1] * x->shape[2]);
        double deviation = sqrt((double)part[3]->data[c] + (double)epsilon);
        y->data[i] = (float)(((double)x->data[i] - (double)part[2]->data[c]) / deviation * (double)part[0]->data[c] +
                             (double)part[1]->data[c]);
    }
}

static void gemm(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0), *w = input(graph, node, 1), *b = input(graph, node, 2);
    struct value *y = new_value(graph, node->output, 1, w->shape);
    HOLDS(node->output, attribute(node, "transB")->value == 1 && w->shape[1] == x->size && b->size == w->shape[0]);
    for (size_t o = 0; o < w->shape[0]; o++) {
        double sum = (double)b->data[o];
        for (size_t i = 0; i < x->size; i++)
            sum += (double)w->data[o * x->size + i] * (double)x->data[i];
        y->data[o] = (float)sum;
    }
}

static void average(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0);
    struct value *y = new_value(graph, node->output, 3, (const size_t[3]){x->shape[0], 1, 1});
    size_t pixels = x->shape[1] * x->shape[2];
    for (size_t c = 0; c < x->shape[0]; c++) {
        double sum = 0;
        for (size_t i = 0; i < pixels; i++)
            sum += (double)x->data[c * pixels + i];
        y->data[c] = (float)(sum / (double)pixels);
    }
}

/* Operators that work on each element. The second operand may have one element a channel. */
static void elementwise(struct graph *graph, const struct node *node)
{
    const struct value *x = input(graph, node, 0);
    const struct value *b = node->input_count > 1 ? input(graph, node, 1) : NULL;
    bool flat = strcmp(node->kind, "Flatten") == 0;
    struct value *y = new_value(graph, node->output, flat ? 1 : x->rank, flat ? &x->size : x->shape);
    for (size_t i = 0; i < x->size; i++) {
        float a = x->data[i], other = b != NULL ? b->data[i / (x->size / b->size)] : 0;
        if (strcmp(node->kind, "Sub") == 0)
            a -= other;
        else if (strcmp(node->kind, "Mul") == 0)
            a *= other;
        else if (strcmp(node->kind, "Add") == 0)
            a += other;
        else if (strcmp(node->kind, "Relu") == 0)
            a = fmaxf(a, 0);
        else if (strcmp(node->kind, "Clip") == 0)
            a = fminf(fmaxf(a, real(node, "min")), real(node, "max"));
        else if (strcmp(node->kind, "Sigmoid") == 0)
            a = (float)(1 / (1 + exp(-(double)a)));
        else
            HOLDS(node->kind, flat);
        y->data[i] = a;
    }
}

static void compute(struct graph *graph)
{
    static const struct {
        const char *kind;
        void (*run)(struct graph *graph, const struct node *node);
    } kinds[] = {{"Conv", conv}, {"MaxPool", max_pool},          {"BatchNormalization", norm},
                 {"Gemm", gemm}, {"GlobalAveragePool", average}, {"", elementwise}};
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t k = 0;
        while (kinds[k].kind[0] != '\0' && strcmp(kinds[k].kind, graph->nodes[i].kind) != 0)
            k++;
        kinds[k].run(graph, &graph->nodes[i]);
    }
    for (size_t i = 0; i < graph->tensor_count; i++)
        HOLDS(graph->values[i].name, graph->values[i].used);
}

/* ---- tests -------------------------------------------------------------------------------------------------------------- */

struct read_file {
    unsigned char *bytes;
    struct ocdm__safetensors file;
};

static void saved(ocdm__agent *agent, struct read_file *read)
{
    ocdm__output output;
    size_t size;
    ocdm__tensor_list state;
    assert_int_equal(agent_save(agent, false, &state, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_open(&output, "weights", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, state.tensors, state.count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    ocdm__tensor_list_clear(&state);
    read->bytes = read_whole("weights", &size);
    assert_int_equal(ocdm__safetensors_read(&read->file, "weights", read->bytes, size, NULL), OCDM_OK);
}

static ocdm_status exported(const struct ocdm__onnx_network *network, ocdm_error *error)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "net.onnx", NULL), OCDM_OK);
    ocdm_status status = ocdm__onnx_write(&output, network, error);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    return status;
}

static struct ocdm__onnx_network network_of(const ocdm__agent_settings *settings, const struct read_file *read)
{
    static const struct ocdm__onnx_property properties[] = {{"classes", "[\"a\",\"\303\244\"]"}, {"model", "some"}};
    return (struct ocdm__onnx_network){.size = {.name = settings->size.name,
                                                .class_count = settings->size.class_count,
                                                .features = settings->size.features,
                                                .height = settings->size.height,
                                                .width = settings->size.width,
                                                .blocks = settings->size.blocks},
                                       .weights = {"weights", &read->file},
                                       .input_text = "what goes in",
                                       .properties = properties,
                                       .property_count = 2};
}

static const float offset[20] = {120, 110, 100, 1, 2, 3, 4}, scale[20] = {0.02F, 0.03F, 0.01F, 0, 1, 0.5F, 2, 1, 1, 1, 1};

/* The graph's logits for one sample against the agent's. */
static void compare(struct graph *graph, const ocdm__agent_settings *settings, ocdm__agent *agent, bool normalised)
{
    bool images = ocdm__model_takes_images(settings->size.name);
    size_t plane = images ? (size_t)settings->size.height * settings->size.width : 1,
           channels = images ? 3 : settings->size.features;
    float *raw = wave(channels * plane, 3), *seen = wave(channels * plane, 3), logits[CLASSES];
    for (size_t i = 0; i < channels * plane; i++) {
        raw[i] = normalised ? 128 + 100 * raw[i] : raw[i];
        seen[i] = normalised ? (raw[i] - offset[i / plane]) * scale[i / plane] : raw[i];
    }
    const size_t shape[3] = {channels, settings->size.height, settings->size.width};
    struct value *x = new_value(graph, images ? "image" : "features", images ? 3 : 1, shape);
    memcpy(x->data, raw, channels * plane * sizeof *raw);
    compute(graph);
    assert_int_equal(ocdm__agent_predict(agent, seen, 1, logits, NULL), OCDM_OK);
    const struct value *found = find_value(graph, "logits"), *shares = find_value(graph, "probabilities");
    assert_true(found != NULL && shares != NULL && found->size == CLASSES);
    for (size_t c = 0; c < CLASSES; c++) {
        HOLDS(settings->size.name, fabsf(found->data[c] - logits[c]) <= 1e-4F * (1 + fabsf(logits[c])));
        HOLDS(settings->size.name, fabs((double)shares->data[c] - 1 / (1 + exp(-(double)logits[c]))) < 1e-4);
    }
    HOLDS(settings->size.name, fabsf(logits[0] - logits[1]) > 1e-5F);
    free(raw);
    free(seen);
}

TEST(onnx_gives_the_logits_of_every_network)
{
    static const struct {
        const char *model;
        uint32_t size, blocks;
        size_t convs, sums;
    } cases[] = {{"linear", 20, 0, 0, 0},
                 {"mlp", 20, 0, 0, 0},
                 {"cnn", 11, 0, 4, 0},
                 {"mobilenet1", 17, 3, 7, 0},
                 {"resnet18", 16, 0, 20, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__agent_settings settings = settings_for(cases[i].model, cases[i].size, CLASSES, 1);
        settings.size.blocks = cases[i].blocks;
        ocdm__agent *agent = agent_with(&settings);
        struct read_file read;
        train_steps(agent, &settings, 2, 1);
        saved(agent, &read);
        struct ocdm__onnx_network network = network_of(&settings, &read);
        bool normalised = i != 1;
        network.offset = normalised ? offset : NULL;
        network.scale = normalised ? scale : NULL;
        assert_int_equal(exported(&network, NULL), OCDM_OK);
        struct graph *graph = read_onnx("net.onnx");
        size_t convs = 0, sums = 0;
        for (size_t k = 0; k < graph->node_count; k++) {
            convs += strcmp(graph->nodes[k].kind, "Conv") == 0;
            sums += strcmp(graph->nodes[k].kind, "Add") == 0;
        }
        HOLDS(cases[i].model, convs == cases[i].convs && sums == cases[i].sums);
        HOLDS(cases[i].model, graph->ir == 4 && graph->opset == 9 && graph->input_count == 1 && graph->output_count == 2);
        assert_string_equal(graph->inputs[0], i < 2 ? "features" : "image");
        assert_string_equal(graph->outputs[0], "logits");
        assert_string_equal(graph->outputs[1], "probabilities");
        assert_true(graph->property_count == 2 && strcmp(graph->keys[0], "classes") == 0);
        assert_string_equal(graph->texts[0], "[\"a\",\"\303\244\"]");
        compare(graph, &settings, agent, normalised);
        graph_free(graph);
        ocdm__safetensors_close(&read.file);
        free(read.bytes);
        ocdm__agent_destroy(agent);
    }
}

/* Weights of 16 bits become 32, of 64 too. */
TEST(onnx_has_the_weights_of_other_types_as_floats)
{
    static const unsigned char halves[] = {0x00, 0x3C, 0x00, 0xC0, 0x00, 0x38, 0x00, 0x00}; /* 1, -2, 0.5, 0 */
    const double wide[] = {1.5, -0.25};
    struct ocdm__tensor tensors[] = {ocdm__tensor_of("fc.weight", OCDM__F16, halves, 4),
                                     ocdm__tensor_of("fc.bias", OCDM__F64, wide, 2)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = tensors[0].shape[1] = 2;
    const struct ocdm__safetensors file = {.tensors = tensors, .tensor_count = 2};
    const struct ocdm__onnx_network network = {
        .size = {.name = "linear", .class_count = 2, .features = 2}, .weights = {"weights", &file}, .input_text = ""};
    assert_int_equal(exported(&network, NULL), OCDM_OK);
    struct graph *graph = read_onnx("net.onnx");
    const float *weight = find_value(graph, "fc.weight")->data, *bias = find_value(graph, "fc.bias")->data;
    assert_true(weight[0] == 1 && weight[1] == -2 && weight[2] == 0.5F && weight[3] == 0);
    assert_true(bias[0] == 1.5F && bias[1] == -0.25F);
    graph_free(graph);
}

TEST(onnx_refuses_weights_that_do_not_fit)
{
    float weight[] = {1, 2, 3, 4}, bias[] = {0, NAN};
    struct ocdm__tensor tensors[] = {ocdm__tensor_of("fc.weight", OCDM__F32, weight, 4),
                                     ocdm__tensor_of("fc.bias", OCDM__F32, bias, 2)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = tensors[0].shape[1] = 2;
    struct ocdm__safetensors file = {.tensors = tensors, .tensor_count = 2};
    struct ocdm__onnx_network network = {
        .size = {.name = "linear", .class_count = 2, .features = 2}, .weights = {"w", &file}, .input_text = ""};
    ocdm_error error;
    assert_int_equal(exported(&network, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "w: tensor fc.bias: element 1 is not a finite number");
    file.tensor_count = 1;
    assert_int_equal(exported(&network, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "w: the file lacks fc.bias"));
    file.tensor_count = 2;
    bias[1] = 0;
    network.size.class_count = 3;
    assert_int_equal(exported(&network, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "w: the head is not one for these classes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onnx_gives_the_logits_of_every_network),
        cmocka_unit_test(onnx_has_the_weights_of_other_types_as_floats),
        cmocka_unit_test(onnx_refuses_weights_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
