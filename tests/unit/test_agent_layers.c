/* Each layer alone against PyTorch in f64: outputs and both gradients, within 1e-4. */
#include "../test.h"
#include "agent_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/layers.inc"
#include "agent/network.h"

enum { CASES = 7 };
#define WITHIN 1e-4
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static ocdm__device *device;

static int open_device(void **state)
{
    (void)state;
    (void)ocdm__single_thread();
    return ocdm__device_create(1, false, &device, NULL) == OCDM_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    ocdm__device_destroy(device);
    return 0;
}

/* ---- planes and groups of channels ------------------------------------------------------------------------------------ */

/* The same images the other way: `width` channels side by side, or 1 for planes. */
static float *turned(const float *from, size_t images, size_t channels, size_t pixels, size_t width, bool from_planes)
{
    float *to = malloc(images * channels * pixels * sizeof *to);
    assert_non_null(to);
    for (size_t n = 0; n < images; n++)
        for (size_t c = 0; c < channels; c++)
            for (size_t p = 0; p < pixels; p++) {
                size_t plane = (n * channels + c) * pixels + p;
                size_t grouped = (n * channels + c / width * width) * pixels + p * width + c % width;
                to[from_planes ? grouped : plane] = from[from_planes ? plane : grouped];
            }
    return to;
}

/* How wide oneDNN's groups are: all channels, or sixteen when images are blocked, but planes where that does not go up. */
static size_t width_of(size_t channels, bool blocked)
{
    if (!blocked)
        return channels;
    return channels % OCDM__CHANNEL_BLOCK == 0 ? OCDM__CHANNEL_BLOCK : 1;
}

/* A wave over planes, laid out in groups. */
static float *image_of_wave(size_t images, size_t channels, size_t pixels, double seed, bool blocked)
{
    float *planes = wave(images * channels * pixels, seed);
    float *result = turned(planes, images, channels, pixels, width_of(channels, blocked), true);
    free(planes);
    return result;
}

/* Compares images with every step-th of the golden planes, the step that make-golden took. */
static void planes_near(const char *where, const float *images, const size_t shape[3], bool blocked, size_t step,
                        const double *want, size_t count)
{
    float *planes = turned(images, shape[0], shape[1], shape[2], width_of(shape[1], blocked), false);
    HOLDS(where, count == (shape[0] * shape[1] * shape[2] + step - 1) / step);
    double away = apart(planes, step, want, count);
    if (!(away <= WITHIN))
        print_error("%s: apart by %g\n", where, away);
    assert_true(away <= WITHIN);
    free(planes);
}

static size_t step_of(size_t count, size_t kept)
{
    return count / kept > 1 ? count / kept : 1;
}

/* ---- convolution ------------------------------------------------------------------------------------------------------ */

static const struct conv_case {
    const char *name;
    uint32_t inputs, outputs, size, kernel, stride, groups, before, after, out;
    const double *output, *source, *weights;
    size_t output_count, source_count, weights_count;
} cases[CASES] = {
#define CASE(name, ...)                                                                                                        \
    {                                                                                                                          \
#name, __VA_ARGS__, name##_size, name##_output, name##_source, name##_weights, COUNT(name##_output),                   \
            COUNT(name##_source), COUNT(name##_weights)                                                                        \
    }
    CASE(plain, 16, 32, 9, 3, 1, 1, 1, 1),         CASE(strided, 16, 32, 9, 3, 2, 1, 1, 1),
    CASE(seven, 3, 16, 16, 7, 2, 1, 3, 3),         CASE(depthwise, 16, 16, 8, 3, 1, 16, 1, 1),
    CASE(same, 16, 16, 8, 3, 2, 16, 0, 1),         CASE(point, 16, 32, 6, 1, 1, 1, 0, 0),
    CASE(point_strided, 16, 32, 7, 1, 2, 1, 0, 0),
};

static struct ocdm__conv_shape shape_of(const struct conv_case *c, bool blocked)
{
    return (struct ocdm__conv_shape){.images = 2,
                                     .node = {.in_channels = c->inputs,
                                              .in_height = c->size,
                                              .in_width = c->size,
                                              .channels = c->outputs,
                                              .height = c->out,
                                              .width = c->out,
                                              .kernel = c->kernel,
                                              .stride = c->stride,
                                              .pad_before = c->before,
                                              .pad_after_height = c->after,
                                              .pad_after_width = c->after,
                                              .depthwise = c->groups > 1},
                                     .blocked = blocked};
}

/* Weights in the layout that the primitive chose. */
static void *weights_for(const ocdm__op *op, const struct ocdm__conv_shape *shape, const float *plain)
{
    ocdm__layout *layout = NULL;
    ocdm__op *reorder = NULL;
    assert_int_equal(ocdm__layout_plain(shape, &layout, NULL), OCDM_OK);
    assert_int_equal(ocdm__reorder_create(device, layout, ocdm__op_weights(op), &reorder, NULL), OCDM_OK);
    void *weights = malloc(ocdm__layout_bytes(ocdm__op_weights(op)));
    assert_int_equal(ocdm__op_run(reorder, 0, plain, NULL, weights), OCDM_OK);
    ocdm__op_destroy(reorder);
    ocdm__layout_destroy(layout);
    return weights;
}

static float *weights_in_plain_order(const ocdm__op *op, const struct ocdm__conv_shape *shape, const void *weights)
{
    ocdm__layout *layout = NULL;
    ocdm__op *reorder = NULL;
    assert_int_equal(ocdm__layout_plain(shape, &layout, NULL), OCDM_OK);
    assert_int_equal(ocdm__reorder_create(device, ocdm__op_weights(op), layout, &reorder, NULL), OCDM_OK);
    float *plain = malloc(ocdm__layout_bytes(layout));
    assert_int_equal(ocdm__op_run(reorder, 0, weights, NULL, plain), OCDM_OK);
    ocdm__op_destroy(reorder);
    ocdm__layout_destroy(layout);
    return plain;
}

/* Runs forward or data with weights of a wave, and compares. */
static void conv_with_weights(const struct conv_case *c, enum ocdm__op_kind kind, const float *first, bool blocked)
{
    struct ocdm__conv_shape shape = shape_of(c, blocked);
    bool forward = kind == OCDM__CONV_FORWARD;
    ocdm__op *op = NULL;
    HOLDS(c->name, ocdm__conv_create(device, kind, &shape, NULL, &op, NULL) == OCDM_OK);
    float *plain = wave((size_t)(c->outputs * c->inputs / c->groups * c->kernel * c->kernel), 2);
    void *weights = weights_for(op, &shape, plain);
    size_t side = (size_t)(forward ? c->out : c->size), channels = (size_t)(forward ? c->outputs : c->inputs);
    float *result = malloc(2 * channels * side * side * sizeof *result);
    HOLDS(c->name, ocdm__op_run(op, 0, first, weights, result) == OCDM_OK);
    const size_t extent[3] = {2, channels, side * side};
    planes_near(c->name, result, extent, blocked, step_of(2 * channels * side * side, 150), forward ? c->output : c->source,
                forward ? c->output_count : c->source_count);
    free(result);
    free(weights);
    free(plain);
    ocdm__op_destroy(op);
}

static void weights_near(const struct conv_case *c, const float *plain)
{
    size_t count = (size_t)(c->outputs * c->inputs / c->groups * c->kernel * c->kernel);
    size_t step = step_of(count, 150);
    HOLDS(c->name, c->weights_count == (count + step - 1) / step);
    HOLDS(c->name, apart(plain, step, c->weights, c->weights_count) <= WITHIN);
}

static void conv_in_every_direction(const struct conv_case *c, bool blocked)
{
    struct ocdm__conv_shape shape = shape_of(c, blocked);
    float *source = image_of_wave(2, (size_t)c->inputs, (size_t)(c->size * c->size), 1, blocked);
    float *gradient = image_of_wave(2, (size_t)c->outputs, (size_t)(c->out * c->out), 3, blocked);
    conv_with_weights(c, OCDM__CONV_FORWARD, source, blocked);
    conv_with_weights(c, OCDM__CONV_DATA, gradient, blocked);
    ocdm__op *op = NULL;
    HOLDS(c->name, ocdm__conv_create(device, OCDM__CONV_WEIGHTS, &shape, NULL, &op, NULL) == OCDM_OK);
    void *weights = malloc(ocdm__layout_bytes(ocdm__op_weights(op)));
    HOLDS(c->name, ocdm__op_run(op, 0, source, gradient, weights) == OCDM_OK);
    float *plain = weights_in_plain_order(op, &shape, weights);
    weights_near(c, plain);
    free(plain);
    free(weights);
    ocdm__op_destroy(op);
    free(source);
    free(gradient);
}

TEST(conv_gives_what_pytorch_gives_in_every_direction)
{
    for (size_t i = 0; i < CASES; i++)
        conv_in_every_direction(&cases[i], false);
}

/* oneDNN does blocks on any CPU, if slowly on some: so the layout is tested on every machine. */
TEST(conv_of_blocked_images_gives_what_pytorch_gives)
{
    for (size_t i = 0; i < CASES; i++)
        conv_in_every_direction(&cases[i], true);
}

TEST(product_gives_the_gradient_of_a_point_convolution)
{
    const struct conv_case *c = &cases[5];
    float *source = image_of_wave(2, 16, 36, 1, false), *gradient = image_of_wave(2, 32, 36, 3, false);
    float result[32 * 16];
    ocdm__op *op = NULL;
    const struct ocdm__product_shape shape = {.rows = 32, .columns = 16, .depth = 72, .a_turned = true};
    assert_int_equal(ocdm__product_create(device, &shape, &op, NULL), OCDM_OK);
    assert_int_equal(ocdm__op_run(op, 0, gradient, source, result), OCDM_OK);
    weights_near(c, result);
    ocdm__op_destroy(op);
    free(source);
    free(gradient);
}

TEST(pool_gives_what_pytorch_gives)
{
    struct ocdm__conv_shape shape = {.images = 2,
                                     .node = {.in_channels = 16,
                                              .in_height = 9,
                                              .in_width = 9,
                                              .channels = 16,
                                              .height = 5,
                                              .width = 5,
                                              .kernel = 3,
                                              .stride = 2,
                                              .pad_before = 1,
                                              .pad_after_height = 1,
                                              .pad_after_width = 1}};
    ocdm__op *forward = NULL, *backward = NULL;
    assert_int_equal(ocdm__conv_create(device, OCDM__POOL_FORWARD, &shape, NULL, &forward, NULL), OCDM_OK);
    assert_int_equal(ocdm__conv_create(device, OCDM__POOL_BACKWARD, &shape, NULL, &backward, NULL), OCDM_OK);
    float *source = image_of_wave(2, 16, 81, 1, false), *gradient = image_of_wave(2, 16, 25, 3, false);
    float output[2 * 16 * 25], back[2 * 16 * 81];
    void *workspace = malloc(ocdm__op_workspace(forward) + 1);
    assert_int_equal(ocdm__op_run(forward, 0, source, workspace, output), OCDM_OK);
    assert_int_equal(ocdm__op_run(backward, 0, gradient, workspace, back), OCDM_OK);
    planes_near("pool", output, (const size_t[3]){2, 16, 25}, false, 5, pool_output, COUNT(pool_output));
    planes_near("pool's gradient", back, (const size_t[3]){2, 16, 81}, false, 13, pool_source, COUNT(pool_source));
    free(workspace);
    free(source);
    free(gradient);
    ocdm__op_destroy(forward);
    ocdm__op_destroy(backward);
}

/* ---- batch norm ------------------------------------------------------------------------------------------------------- */

enum { IMAGES = 3, CHANNELS = 16, PIXELS = 25, ALL = IMAGES * CHANNELS * PIXELS };

static const struct norm_case {
    const char *name;
    enum ocdm__activation activation;
    bool residual;
    float factor;
    const double *output, *source, *gain, *bias, *mean, *variance;
} norms[] = {
#define NORM(name, activation, residual, factor)                                                                               \
    {                                                                                                                          \
#name, activation, residual, factor, name##_output, name##_source, name##_gain, name##_bias, name##_mean,              \
            name##_variance                                                                                                    \
    }
    NORM(norm, OCDM__LINEAR_ACTIVATION, false, 2),
    NORM(norm_relu, OCDM__RELU, false, 2),
    NORM(norm_relu6, OCDM__RELU6, false, 8),
    NORM(norm_residual, OCDM__RELU, true, 2),
};

/* A network of one convolution's norm, enough for the functions that turn sums into constants: they are checked by way of the
 * whole networks; here the kernels are, with the constants made plainly. */
static const struct ocdm__extent all_pixels = {1, IMAGES *PIXELS, CHANNELS};

struct plain_norm {
    float mean[CHANNELS], scale[CHANNELS], shift[CHANNELS], slope[CHANNELS], offset[CHANNELS];
    double inverse[CHANNELS], variance[CHANNELS];
};

static void plain_statistics(const struct ocdm__kernels *kernels, const float *raw, const float *gain, const float *bias,
                             struct plain_norm *norm)
{
    double mean[CHANNELS], square[CHANNELS];
    kernels->moments(raw, &all_pixels, mean, square);
    for (size_t c = 0; c < CHANNELS; c++) {
        norm->variance[c] = square[c] / (IMAGES * PIXELS);
        norm->inverse[c] = 1 / sqrt(norm->variance[c] + 1e-5);
        norm->mean[c] = (float)mean[c];
        norm->scale[c] = (float)(norm->inverse[c] * (double)gain[c]);
        norm->shift[c] = (float)((double)bias[c] - mean[c] * norm->inverse[c] * (double)gain[c]);
    }
}

static void check_norm(const struct ocdm__kernels *kernels, const struct norm_case *n)
{
    float *raw = image_of_wave(IMAGES, CHANNELS, PIXELS, 4, false);
    float *residual = image_of_wave(IMAGES, CHANNELS, PIXELS, 5, false);
    float *gradient = image_of_wave(IMAGES, CHANNELS, PIXELS, 8, false), *gain = wave(CHANNELS, 6), *bias = wave(CHANNELS, 7);
    float output[ALL], found_gain[CHANNELS], found_bias[CHANNELS], running[CHANNELS];
    double sum[CHANNELS], product[CHANNELS];
    struct plain_norm norm;
    for (size_t i = 0; i < ALL; i++)
        raw[i] = 3 * raw[i] + 1;
    for (size_t c = 0; c < CHANNELS; c++)
        gain[c] *= n->factor;
    plain_statistics(kernels, raw, gain, bias, &norm);
    const float *const scale_shift[2] = {norm.scale, norm.shift};
    kernels->normalise(output, raw, n->residual ? residual : NULL, scale_shift, &all_pixels, n->activation);
    const size_t extent[3] = {IMAGES, CHANNELS, PIXELS};
    planes_near(n->name, output, extent, false, ALL / 100, n->output, COUNT(norm_output));
    struct ocdm__fold fold = {.gradient = gradient,
                              .first = gradient,
                              .output = n->residual ? output : NULL,
                              .raw = raw,
                              .mean = norm.mean,
                              .scale = norm.scale,
                              .shift = norm.shift,
                              .sum = sum,
                              .product = product,
                              .extent = all_pixels,
                              .activation = n->activation};
    kernels->fold(&fold);
    for (size_t c = 0; c < CHANNELS; c++) {
        found_gain[c] = (float)(product[c] * norm.inverse[c]);
        found_bias[c] = (float)sum[c];
        norm.slope[c] = (float)(product[c] * norm.inverse[c] * norm.inverse[c] / (IMAGES * PIXELS));
        norm.offset[c] = (float)(sum[c] / (IMAGES * PIXELS));
        running[c] = (float)(0.9 + 0.1 * norm.variance[c] * (IMAGES * PIXELS) / (IMAGES * PIXELS - 1));
    }
    const float *const constants[4] = {norm.scale, norm.mean, norm.slope, norm.offset};
    kernels->unfold(raw, gradient, constants, &all_pixels);
    planes_near(n->name, raw, extent, false, ALL / 100, n->source, COUNT(norm_source));
    HOLDS(n->name, apart(found_gain, 1, n->gain, CHANNELS) <= WITHIN);
    HOLDS(n->name, apart(found_bias, 1, n->bias, CHANNELS) <= WITHIN);
    HOLDS(n->name, apart(running, 1, n->variance, CHANNELS) <= WITHIN);
    free(raw);
    free(residual);
    free(gradient);
    free(gain);
    free(bias);
}

TEST(norm_gives_what_pytorch_gives)
{
    for (size_t i = 0; i < COUNT(norms); i++)
        check_norm(ocdm__kernels_for(false), &norms[i]);
}

/* The versions for wider instructions differ in nothing, not even in the last bit. */
TEST(kernels_are_the_same_for_every_width)
{
    for (size_t i = 0; i < COUNT(norms); i++)
        check_norm(&ocdm__kernels_plain, &norms[i]);
    const struct ocdm__extent extent = {1, 77, 48};
    float *raw = wave(77 * 48, 3);
    double mean[2][48], square[2][48];
    ocdm__kernels_plain.moments(raw, &extent, mean[0], square[0]);
    ocdm__kernels_for(false)->moments(raw, &extent, mean[1], square[1]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(square[0], square[1], sizeof square[0]);
    free(raw);
}

/* ---- groups ----------------------------------------------------------------------------------------------------------- */

enum { WIDE_CHANNELS = 48, ROWS = 77, WHOLE = WIDE_CHANNELS * ROWS };

/* The result of every kernel for one image whose channels are stored in groups of `width`. */
struct made {
    float output[WHOLE], gradient[WHOLE], raw[WHOLE], spread[WHOLE], average[WIDE_CHANNELS];
    double mean[WIDE_CHANNELS], square[WIDE_CHANNELS], sum[WIDE_CHANNELS], product[WIDE_CHANNELS];
};

static void copy_wave(float *to, double seed, size_t width)
{
    float *planes = wave(WHOLE, seed), *grouped = turned(planes, 1, WIDE_CHANNELS, ROWS, width, true);
    memcpy(to, grouped, WHOLE * sizeof *to);
    free(planes);
    free(grouped);
}

static void run_kernels(size_t width, struct made *made)
{
    const struct ocdm__kernels *kernels = ocdm__kernels_for(false);
    const struct ocdm__extent extent = {WIDE_CHANNELS / width, ROWS, width};
    float residual[WHOLE], *a = wave(WIDE_CHANNELS, 11), *b = wave(WIDE_CHANNELS, 12), *c = wave(WIDE_CHANNELS, 13);
    copy_wave(made->raw, 14, width);
    copy_wave(made->gradient, 15, width);
    copy_wave(residual, 16, width);
    kernels->moments(made->raw, &extent, made->mean, made->square);
    kernels->normalise(made->output, made->raw, residual, (const float *const[]){a, b}, &extent, OCDM__RELU);
    kernels->average(made->output, &extent, made->average);
    kernels->spread(made->spread, &extent, made->average);
    struct ocdm__fold fold = {.gradient = made->gradient,
                              .first = made->gradient,
                              .second = residual,
                              .raw = made->raw,
                              .mean = c,
                              .scale = a,
                              .shift = b,
                              .sum = made->sum,
                              .product = made->product,
                              .extent = extent,
                              .activation = OCDM__RELU6};
    kernels->fold(&fold);
    kernels->unfold(made->raw, made->gradient, (const float *const[]){a, c, b, a}, &extent);
    free(a);
    free(b);
    free(c);
}

static void same_planes(const float *one, const float *grouped, size_t width)
{
    float *a = turned(one, 1, WIDE_CHANNELS, ROWS, WIDE_CHANNELS, false);
    float *b = turned(grouped, 1, WIDE_CHANNELS, ROWS, width, false);
    assert_memory_equal(a, b, WHOLE * sizeof *a);
    free(a);
    free(b);
}

TEST(kernels_are_the_same_for_every_group)
{
    static struct made one, grouped;
    run_kernels(WIDE_CHANNELS, &one);
    run_kernels(OCDM__CHANNEL_BLOCK, &grouped);
    same_planes(one.output, grouped.output, OCDM__CHANNEL_BLOCK);
    same_planes(one.gradient, grouped.gradient, OCDM__CHANNEL_BLOCK);
    same_planes(one.raw, grouped.raw, OCDM__CHANNEL_BLOCK);
    same_planes(one.spread, grouped.spread, OCDM__CHANNEL_BLOCK);
    assert_memory_equal(one.average, grouped.average, sizeof one.average);
    assert_memory_equal(one.mean, grouped.mean, sizeof one.mean);
    assert_memory_equal(one.square, grouped.square, sizeof one.square);
    assert_memory_equal(one.sum, grouped.sum, sizeof one.sum);
    assert_memory_equal(one.product, grouped.product, sizeof one.product);
}

/* ---- loss and Adam ---------------------------------------------------------------------------------------------------- */

static const ocdm__loss_rule plain_rule = {.negatives = 1};

/* Five rows of eleven logits, every seventh of which is a label; and what their loss is found to be. */
struct judged_rows {
    ocdm__batch batch;
    size_t classes;
    float *logits;
    size_t starts[6];
    uint32_t labels[55];
    float gradients[55], fresh_weights[11];
    double losses[5];
    size_t bad;
};

static void judged_rows(struct judged_rows *rows)
{
    size_t used = 0;
    *rows = (struct judged_rows){.classes = 11, .logits = wave(55, 9)};
    for (size_t row = 0; row < 5; row++) {
        for (uint32_t i = 0; i < 11; i++)
            if ((row * 11 + i) % 7 == 0)
                rows->labels[used++] = i;
        rows->starts[row + 1] = used;
    }
    for (size_t i = 0; i < 55; i++)
        rows->logits[i] *= 8;
    rows->batch = (ocdm__batch){.starts = rows->starts, .labels = rows->labels, .count = 5};
}

static double loss_of(struct judged_rows *rows, const ocdm__loss_rule *rule)
{
    const struct ocdm__pass_room room = {.logits = rows->logits,
                                         .logit_gradients = rows->gradients,
                                         .row_losses = rows->losses,
                                         .fresh_weights = rows->fresh_weights};
    return ocdm__loss(rule, &rows->batch, rows->classes, &room, &rows->bad);
}

static uint32_t loss_named(const char *name)
{
    uint32_t i = 0;
    while (strcmp(ocdm__loss_names[i], name) != 0)
        i++;
    return i;
}

TEST(loss_is_binary_cross_entropy)
{
    struct judged_rows rows;
    judged_rows(&rows);
    float loss = (float)loss_of(&rows, &plain_rule);
    assert_int_equal(rows.bad, 5);
    assert_true(apart(&loss, 1, bce_loss, 1) <= 1e-5);
    assert_true(apart(rows.gradients, 1, bce_gradient, 55) <= 1e-5);
    rows.logits[30] = NAN;
    (void)loss_of(&rows, &plain_rule);
    assert_int_equal(rows.bad, 2);
    free(rows.logits);
}

/* Three rows are of the stream; classes that none of these has weigh 0.25, and every class has a weight besides. */
TEST(weighted_losses_are_those_of_pytorch)
{
    const struct {
        ocdm__loss_rule rule;
        const double *loss, *gradient;
    } judged[] = {
        {{loss_named("bce"), 0.25, 0, 0}, weighted_bce_loss, weighted_bce_gradient},
        {{loss_named("bce"), 0.25, 1, 0}, weighted_focal_loss, weighted_focal_gradient},
        {{loss_named("asl"), 0.25, 0, 0}, weighted_asl_loss, weighted_asl_gradient},
    };
    struct judged_rows rows;
    float class_weights[11];
    judged_rows(&rows);
    for (size_t i = 0; i < 11; i++)
        class_weights[i] = 0.5f + (float)(i % 3);
    rows.batch.fresh = 3;
    rows.batch.class_weights = class_weights;
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        float loss = (float)loss_of(&rows, &judged[i].rule);
        assert_true(apart(&loss, 1, judged[i].loss, 1) <= 1e-5);
        assert_true(apart(rows.gradients, 1, judged[i].gradient, 55) <= 1e-5);
    }
    rows.logits[30] = INFINITY;
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        (void)loss_of(&rows, &judged[i].rule);
        assert_int_equal(rows.bad, 2);
    }
    free(rows.logits);
}

/* Rows 3 and 4 are replayed, and had other logits once; the losses of rows leave that out. */
TEST(dark_replay_adds_squared_distances_to_former_logits)
{
    const ocdm__loss_rule rule = {.negatives = 1, .dark = 0.5};
    struct judged_rows rows;
    float without[55], *once = wave(22, 4);
    double sum = 0, mean = 0;
    judged_rows(&rows);
    double plain = loss_of(&rows, &rule);
    memcpy(without, rows.gradients, sizeof without);
    rows.batch.fresh = 3;
    rows.batch.dark = once;
    double dark = loss_of(&rows, &rule);
    assert_memory_equal(without, rows.gradients, 33 * sizeof *without);
    for (size_t i = 33; i < 55; i++) {
        double apart_by = (double)rows.logits[i] - (double)once[i - 33];
        sum += 0.5 * apart_by * apart_by;
        assert_true(fabs((double)rows.gradients[i] - (double)without[i] - apart_by / 55) < 1e-6);
    }
    for (size_t row = 0; row < 5; row++)
        mean += rows.losses[row] / 5;
    assert_true(fabs(dark - plain - sum / 55) < 1e-9 && fabs(mean - plain) < 1e-9);
    free(once);
    free(rows.logits);
}

/* ---- unknown labels --------------------------------------------------------------------------------------------------- */

/* A label is known, and of the other classes two of three are. */
static bool is_label(size_t i)
{
    return i % 7 == 0;
}

static bool is_known(size_t i)
{
    return is_label(i) || i % 3 != 1;
}

/* The loss and the slope of one term, word by word: weight x -ln p for a label, weight x integral of p^(1 + focal), focal 0 or
 * 1, for another class. */
static double naive_term(double x, bool label, double focal, double weight, double *slope)
{
    double p = 1 / (1 + exp(-x));
    *slope = weight * (label ? p - 1 : focal > 0 ? p * p : p);
    return weight * (label ? -log(p) : focal > 0 ? -log(1 - p) - p : -log(1 - p));
}

/* In the three rows of the stream a class that is no label of theirs weighs `negatives`. */
static double judged_weight(const struct judged_rows *rows, const ocdm__loss_rule *rule, size_t row, size_t class_number)
{
    double weight = rows->batch.class_weights != NULL ? (double)rows->batch.class_weights[class_number] : 1;
    bool present = false;
    for (size_t i = 0; i < rows->batch.fresh; i++)
        present = present || is_label(i * 11 + class_number);
    return row < rows->batch.fresh && !present ? rule->negatives * weight : weight;
}

/* All terms of unknown classes are 0, those of former logits too; the mean is over all terms. */
static void expect_naive_loss(struct judged_rows *rows, const ocdm__loss_rule *rule)
{
    double sum = 0, loss = loss_of(rows, rule);
    assert_int_equal(rows->bad, 5);
    for (size_t i = 0; i < 55; i++) {
        double slope = 0, x = (double)rows->logits[i];
        if (is_known(i))
            sum += naive_term(x, is_label(i), rule->focal, judged_weight(rows, rule, i / 11, i % 11), &slope);
        if (is_known(i) && rows->batch.dark != NULL && i >= 11 * rows->batch.fresh) {
            double apart_by = x - (double)rows->batch.dark[i - 11 * rows->batch.fresh];
            sum += rule->dark * apart_by * apart_by;
            slope += 2 * rule->dark * apart_by;
        }
        assert_true(fabs((double)rows->gradients[i] - slope / 55) <= 1e-6);
        assert_true(is_known(i) || rows->gradients[i] == 0);
    }
    assert_true(fabs(loss - sum / 55) <= 1e-6 * (1 + fabs(loss)));
}

TEST(unknown_labels_are_left_out_of_every_loss)
{
    static const ocdm__loss_rule rules[] = {
        {.negatives = 1}, {.negatives = 0.25, .dark = 0.5}, {.negatives = 0.25, .focal = 1}};
    struct judged_rows rows;
    float class_weights[11], *once = wave(22, 4);
    uint8_t known[10] = {0};
    judged_rows(&rows);
    for (size_t i = 0; i < 55; i++)
        if (is_known(i))
            known[i / 11 * 2 + i % 11 / 8] |= (uint8_t)(1 << i % 11 % 8);
    for (size_t i = 0; i < 11; i++)
        class_weights[i] = 0.5f + (float)(i % 3);
    rows.batch.known = known;
    expect_naive_loss(&rows, &rules[0]);
    expect_naive_loss(&rows, &rules[2]);
    rows.batch.fresh = 3;
    rows.batch.class_weights = class_weights;
    rows.batch.dark = once;
    for (size_t i = 0; i < 3; i++)
        expect_naive_loss(&rows, &rules[i]);
    rows.logits[34] = NAN; /* of an unknown class: a network that diverged is found nevertheless */
    rows.batch = (ocdm__batch){.starts = rows.starts, .labels = rows.labels, .count = 5, .known = known};
    assert_false(is_known(34));
    for (size_t i = 0; i < 3; i++) {
        (void)loss_of(&rows, &rules[i]);
        assert_int_equal(rows.bad, 3);
    }
    free(once);
    free(rows.logits);
}

TEST(softmargin_has_the_gradient_of_pytorch)
{
    const ocdm__loss_rule rule = {.kind = loss_named("softmargin"), .negatives = 1};
    struct judged_rows rows;
    judged_rows(&rows);
    (void)loss_of(&rows, &rule);
    assert_true(apart(rows.gradients, 1, softmargin_gradient, 55) <= 1e-5);
    free(rows.logits);
}

/* Against numerical integrals, for powers that are whole and that are not. */
TEST(focal_loss_is_the_integral_of_its_gradient)
{
    static float places[] = {-30, -3, -0.5f, 0, 0.5f, 3, 30};
    static const double powers[] = {0.3, 1, 2.5};
    const size_t none[2] = {0}, count = sizeof places / sizeof *places;
    for (size_t i = 0; i < 3 * count; i++) {
        const ocdm__loss_rule rule = {.negatives = 1, .focal = powers[i / count]};
        struct judged_rows rows = {.batch = {.starts = none, .count = 1}, .classes = 1, .logits = &places[i % count]};
        float loss = (float)loss_of(&rows, &rule);
        assert_true(fabs((double)loss - focal_losses[i]) <= 1e-5 * (1 + focal_losses[i]));
        assert_true(fabs((double)rows.gradients[0] - pow(1 / (1 + exp(-(double)places[i % count])), 1 + rule.focal)) <= 1e-6);
    }
}

TEST(loss_counts_a_repeated_label_once)
{
    const ocdm__loss_rule rules[] = {plain_rule, {.negatives = 1, .focal = 1}};
    float logits[3] = {1, -2, 3};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct judged_rows a = {.batch = {.starts = (const size_t[]){0, 2}, .labels = (const uint32_t[]){0, 2}, .count = 1},
                                .classes = 3,
                                .logits = logits};
        struct judged_rows b = {
            .batch = {.starts = (const size_t[]){0, 4}, .labels = (const uint32_t[]){2, 0, 0, 2}, .count = 1},
            .classes = 3,
            .logits = logits};
        assert_true(loss_of(&a, &rules[i]) == loss_of(&b, &rules[i]));
        assert_memory_equal(a.gradients, b.gradients, sizeof a.gradients);
    }
}

static void three_steps(void (*step)(const struct ocdm__adam *), const ocdm__network_settings *settings, float *weights)
{
    float mean[40] = {0}, square[40] = {0};
    for (unsigned t = 1; t <= 3; t++) {
        float *gradient = wave(40, 10 + t);
        for (size_t i = 0; i < 40; i++)
            gradient[i] *= 0.3f;
        struct ocdm__adam adam = ocdm__step_of(settings, t);
        adam.value = weights;
        adam.mean = mean;
        adam.square = square;
        adam.gradient = (struct ocdm__tree){(const float *const[]){gradient}, (const unsigned char[]){0}, 1};
        adam.count = 40;
        step(&adam);
        free(gradient);
    }
}

TEST(adam_takes_the_steps_that_pytorch_takes)
{
    float *weights = wave(40, 10), *again = wave(40, 10);
    const ocdm__network_settings settings = {.learning_rate = 0.01, .epsilon = 1e-4};
    three_steps(ocdm__kernels_for(false)->step, &settings, weights);
    assert_true(apart(weights, 1, adam_weights, 40) <= 1e-5);
    three_steps(ocdm__kernels_plain.step, &settings, again);
    assert_memory_equal(weights, again, 40 * sizeof *weights);
    free(weights);
    free(again);
}

/* With a cosine schedule over four steps. */
TEST(adamw_and_sgd_take_the_steps_that_pytorch_takes)
{
    for (int sgd = 0; sgd < 2; sgd++) {
        const ocdm__network_settings settings = {.learning_rate = 0.01,
                                                 .lr_schedule = OCDM__LR_COSINE,
                                                 .horizon = 4,
                                                 .epsilon = 1e-4,
                                                 .weight_decay = 0.1,
                                                 .momentum = 0.9,
                                                 .optimiser = sgd ? OCDM__OPTIMISER_SGD : OCDM__OPTIMISER_ADAMW};
        float *weights = wave(40, 10), *again = wave(40, 10);
        three_steps(ocdm__kernels_for(false)->step, &settings, weights);
        assert_true(apart(weights, 1, sgd ? sgd_weights : adamw_weights, 40) <= 1e-5);
        three_steps(ocdm__kernels_plain.step, &settings, again);
        assert_memory_equal(weights, again, 40 * sizeof *weights);
        free(weights);
        free(again);
    }
}

TEST(learning_rate_rises_then_follows_the_cosine)
{
    ocdm__network_settings settings = {.learning_rate = 2, .warmup = 4};
    static const double rising[] = {0.5, 1, 1.5, 2, 2};
    for (uint64_t step = 1; step <= 5; step++)
        assert_true(fabs(ocdm__learning_rate(&settings, step) - rising[step - 1]) < 1e-12);
    settings.lr_schedule = OCDM__LR_COSINE;
    settings.horizon = 10;
    assert_true(fabs(ocdm__learning_rate(&settings, 6) - 1) < 1e-12);
    assert_true(fabs(ocdm__learning_rate(&settings, 1) - 0.5) < 1e-12);
    assert_true(ocdm__learning_rate(&settings, 11) < 1e-12 && ocdm__learning_rate(&settings, 1000) < 1e-12);
}

TEST(adam_adds_lanes_and_clips)
{
    float gradient[2 * 20], value[20] = {0}, mean[20] = {0}, square[20] = {0};
    for (size_t i = 0; i < 20; i++) {
        gradient[i] = (float)i - 10;
        gradient[20 + i] = 1;
    }
    struct ocdm__adam adam = {.value = value,
                              .mean = mean,
                              .square = square,
                              .gradient = {(const float *const[]){gradient, gradient + 20}, (const unsigned char[]){0, 1}, 2},
                              .count = 20,
                              .step_size = 1,
                              .root_scale = 1,
                              .epsilon = 1,
                              .clip = 5};
    ocdm__kernels_for(false)->step(&adam);
    for (size_t i = 0; i < 20; i++) {
        float cut = fminf(fmaxf((float)i - 9, -5), 5);
        assert_true(fabsf(mean[i] - 0.1f * cut) < 1e-6f);
        assert_true(fabsf(square[i] - 0.001f * cut * cut) < 1e-6f);
    }
}

/* Sums are made piece by piece: the step is that of the whole sum, for any tree and a number that no piece divides. */
TEST(adam_takes_a_tree_as_it_takes_its_sum)
{
    enum { COUNT = 2500, PARTS = 5, AT = 3 };
    static const unsigned char merges[PARTS] = {0, 1, 1, 1, 1}; /* a chain: one sum remains after each part */
    float *gradients = wave(PARTS * (AT + COUNT), 5), *start = wave(3 * COUNT, 7);
    const float *parts[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = gradients + i * (AT + COUNT);
    for (size_t count = 1; count <= PARTS; count++) {
        static float sum[COUNT], once[3 * COUNT], pieces[3 * COUNT];
        for (size_t i = 0; i < 3 * COUNT; i++)
            once[i] = pieces[i] = fabsf(start[i]);
        struct ocdm__adam adam = {.value = pieces,
                                  .mean = pieces + COUNT,
                                  .square = pieces + 2 * COUNT,
                                  .gradient = {parts, merges, count},
                                  .at = AT,
                                  .count = COUNT,
                                  .step_size = 0.1f,
                                  .root_scale = 1,
                                  .epsilon = 1e-4f};
        ocdm__kernels_for(false)->step(&adam);
        ocdm__kernels_plain.sum_tree(sum, &adam.gradient, AT, COUNT);
        const float *whole = sum;
        adam.gradient = (struct ocdm__tree){&whole, (const unsigned char[]){0}, 1};
        adam.at = 0;
        adam.value = once;
        adam.mean = once + COUNT;
        adam.square = once + 2 * COUNT;
        ocdm__kernels_for(false)->step(&adam);
        assert_memory_equal(once, pieces, sizeof once);
    }
    free(gradients);
    free(start);
}

/* Sums of lanes first to end - 1 as the halves' sums, down to single lanes. */
static float halved_sum(const float *const *lanes, size_t first, size_t end, size_t at)
{
    size_t middle = (first + end) / 2;
    return end - first == 1 ? lanes[first][at] : halved_sum(lanes, first, middle, at) + halved_sum(lanes, middle, end, at);
}

/* Sixteen lanes in blocks as on ranks: for any blocks, the sum is that of the balanced tree. */
TEST(lanes_add_up_to_the_same_bits_whoever_adds_which_block)
{
    enum { LANES = 16, COUNT = 37 };
    static const size_t divisions[][LANES] = {{16}, {8, 8}, {4, 1, 1, 2, 2, 2, 4}, {1, 1, 2, 4, 8}, {8, 4, 2, 1, 1}};
    float *lanes = wave(LANES * COUNT, 3);
    const float *parts[LANES];
    for (size_t i = 0; i < LANES; i++)
        parts[i] = lanes + i * COUNT;
    for (size_t d = 0; d < sizeof divisions / sizeof *divisions; d++) {
        float sums[LANES][COUNT], total[COUNT], plain[COUNT];
        const float *blocks[LANES];
        unsigned char merges[LANES];
        size_t first = 0, count = 0;
        for (; first < LANES; first += divisions[d][count++]) {
            ocdm__tree_merges(NULL, divisions[d][count], merges);
            const struct ocdm__tree block = {parts + first, merges, divisions[d][count]};
            ocdm__kernels_for(false)->sum_tree(sums[count], &block, 0, COUNT);
            blocks[count] = sums[count];
        }
        ocdm__tree_merges(divisions[d], count, merges);
        const struct ocdm__tree tree = {blocks, merges, count};
        ocdm__kernels_for(false)->sum_tree(total, &tree, 0, COUNT);
        ocdm__kernels_plain.sum_tree(plain, &tree, 0, COUNT);
        assert_memory_equal(total, plain, sizeof total);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(total[i] == halved_sum(parts, 0, LANES, i));
    }
    free(lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_gives_what_pytorch_gives_in_every_direction),
        cmocka_unit_test(conv_of_blocked_images_gives_what_pytorch_gives),
        cmocka_unit_test(product_gives_the_gradient_of_a_point_convolution),
        cmocka_unit_test(pool_gives_what_pytorch_gives),
        cmocka_unit_test(norm_gives_what_pytorch_gives),
        cmocka_unit_test(kernels_are_the_same_for_every_width),
        cmocka_unit_test(kernels_are_the_same_for_every_group),
        cmocka_unit_test(loss_is_binary_cross_entropy),
        cmocka_unit_test(weighted_losses_are_those_of_pytorch),
        cmocka_unit_test(dark_replay_adds_squared_distances_to_former_logits),
        cmocka_unit_test(softmargin_has_the_gradient_of_pytorch),
        cmocka_unit_test(unknown_labels_are_left_out_of_every_loss),
        cmocka_unit_test(focal_loss_is_the_integral_of_its_gradient),
        cmocka_unit_test(loss_counts_a_repeated_label_once),
        cmocka_unit_test(adam_takes_the_steps_that_pytorch_takes),
        cmocka_unit_test(adamw_and_sgd_take_the_steps_that_pytorch_takes),
        cmocka_unit_test(learning_rate_rises_then_follows_the_cosine),
        cmocka_unit_test(adam_adds_lanes_and_clips),
        cmocka_unit_test(adam_takes_a_tree_as_it_takes_its_sum),
        cmocka_unit_test(lanes_add_up_to_the_same_bits_whoever_adds_which_block),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
