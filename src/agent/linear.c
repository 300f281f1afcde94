/* Linear layers, on whole batches of vectors in one thread. They are too small to gain from threads. */
#include "agent/network.h"

#include "agent/wide.h"

enum { WIDTH = 16 };

/* The products of a layer. */
enum { FORWARD, WEIGHTS, INPUT };

/* ---- primitives ------------------------------------------------------------------------------------------------------- */

void ocdm__products_destroy(struct ocdm__products *products)
{
    for (size_t i = 0; i < OCDM__LINEAR_OPS; i++)
        ocdm__op_destroy(products->ops[i]);
    *products = (struct ocdm__products){0};
}

/* The output, and the gradients of weights and input, for this many rows. */
static struct ocdm__product_shape shape_of(const ocdm__network *network, const struct ocdm__layer *layer, size_t rows,
                                           size_t which)
{
    int64_t count = (int64_t)rows, outputs = layer->node->channels, inputs = layer->node->in_channels;
    const struct ocdm__product_shape shapes[OCDM__LINEAR_OPS] = {
        [FORWARD] = {count, outputs, inputs, .b_turned = true, .bf16 = network->bf16},
        [WEIGHTS] = {outputs, inputs, count, .a_turned = true, .bf16 = network->bf16},
        [INPUT] = {count, inputs, outputs, .bf16 = network->bf16}};
    return shapes[which];
}

/* The primitives for this number of rows; nearly all batches have the same size. The gradients are primitives in bf16 only; in
 * f32 sgemm computes them, which needs none for each number of rows. */
static ocdm_status products_for(ocdm__network *network, struct ocdm__layer *layer, size_t rows,
                                const struct ocdm__products **products, ocdm_error *error)
{
    for (size_t i = 0; i < OCDM__PRODUCTS; i++)
        if (layer->products[i].rows == rows) {
            *products = &layer->products[i];
            return OCDM_OK;
        }
    struct ocdm__products made = {.rows = rows};
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < (network->bf16 ? OCDM__LINEAR_OPS : 1); i++) {
        const struct ocdm__product_shape shape = shape_of(network, layer, rows, i);
        OCDM_THEN(status, ocdm__product_create(network->device, &shape, &made.ops[i], error));
    }
    if (status != OCDM_OK) {
        ocdm__products_destroy(&made);
        return status;
    }
    ocdm__products_destroy(&layer->products[OCDM__PRODUCTS - 1]);
    memmove(layer->products + 1, layer->products, (OCDM__PRODUCTS - 1) * sizeof layer->products[0]);
    layer->products[0] = made;
    *products = &layer->products[0];
    return OCDM_OK;
}

/* ---- bf16 ------------------------------------------------------------------------------------------------------------- */

/* The three parts of a layer's narrow memory. */
static size_t weights_bytes(const ocdm__network *network, const struct ocdm__node *node)
{
    return ocdm__rounded((size_t)node->channels * node->in_channels * network->kernels->element);
}

static size_t input_bytes(const ocdm__network *network, const struct ocdm__node *node, size_t rows)
{
    return ocdm__rounded(rows * node->in_channels * network->kernels->element);
}

/* bf16 copies of weights, input and gradient, one after the other. */
static ocdm_status reserve_narrow(const ocdm__network *network, struct ocdm__layer *layer, size_t rows, ocdm_error *error)
{
    const struct ocdm__node *node = layer->node;
    if (!network->bf16 || rows <= layer->narrow_rows)
        return OCDM_OK;
    size_t bytes =
        weights_bytes(network, node) + input_bytes(network, node, rows) + rows * node->channels * network->kernels->element;
    ocdm__release_aligned(layer->narrow);
    layer->narrow_rows = 0;
    layer->narrow = ocdm__allocate_aligned(bytes, 1);
    if (layer->narrow == NULL)
        return ocdm__fail_memory(error, "a linear layer in bf16");
    layer->narrow_rows = rows;
    return OCDM_OK;
}

static unsigned char *narrow_input(const ocdm__network *network, const struct ocdm__layer *layer)
{
    return (unsigned char *)layer->narrow + weights_bytes(network, layer->node);
}

ocdm_status ocdm__linear_prepare(ocdm__network *network, struct ocdm__layer *layer, size_t rows, ocdm_error *error)
{
    const struct ocdm__products *products = NULL;
    OCDM_TRY(reserve_narrow(network, layer, rows, error));
    return products_for(network, layer, rows, &products, error);
}

/* ---- forward ---------------------------------------------------------------------------------------------------------- */

/* The product of all rows, then bias and activation row by row. */
ocdm_status ocdm__linear_forward(ocdm__network *network, struct ocdm__layer *layer, const float *input, size_t rows,
                                 float *output)
{
    size_t channels = layer->node->channels, inputs = layer->node->in_channels;
    const void *weights = network->parameters[layer->weight].value, *source = input;
    const struct ocdm__products *products = NULL;
    OCDM_TRY(reserve_narrow(network, layer, rows, NULL));
    OCDM_TRY(products_for(network, layer, rows, &products, NULL));
    if (network->bf16) {
        network->kernels->narrow(layer->narrow, weights, channels * inputs);
        network->kernels->narrow(narrow_input(network, layer), input, rows * inputs);
        weights = layer->narrow;
        source = narrow_input(network, layer);
    }
    OCDM_TRY(ocdm__op_run(products->ops[FORWARD], 0, source, weights, output));
    const float *bias = network->parameters[layer->bias].value;
    bool relu = layer->node->activation == OCDM__RELU;
    for (size_t row = 0; row < rows; row++, output += channels) {
        size_t i = 0;
        for (; i + WIDTH <= channels; i += WIDTH) {
            wide y = LOAD_WIDE(output + i) + LOAD_WIDE(bias + i);
            STORE_WIDE(output + i, relu ? WIDE_UNLESS(y < 0.0f, y) : y);
        }
        for (; i < channels; i++) {
            float y = output[i] + bias[i];
            output[i] = relu && y < 0 ? 0 : y;
        }
    }
    return OCDM_OK;
}

/* ---- backward --------------------------------------------------------------------------------------------------------- */

/* Through the activation first, in place; then the gradients of bias, weights and input. In bf16 they are of the gradient and
 * of the input that the forward pass has converted. A first layer has no gradient of its input. */
ocdm_status ocdm__linear_backward(ocdm__network *network, struct ocdm__layer *layer, const struct ocdm__linear_back *back)
{
    size_t rows = back->rows, channels = layer->node->channels, i = 0;
    size_t count = layer->node->activation == OCDM__RELU ? rows * channels : 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(back->gradient + i, WIDE_WHERE(LOAD_WIDE(back->output + i) > 0.0f, LOAD_WIDE(back->gradient + i)));
    for (; i < count; i++)
        back->gradient[i] = back->output[i] > 0 ? back->gradient[i] : 0;
    /* Row after row, so that the result does not depend on the width of vectors. */
    memcpy(back->bias_gradient, back->gradient, channels * sizeof *back->gradient);
    for (size_t row = 1; row < rows; row++)
        for (size_t c = 0; c < channels; c++)
            back->bias_gradient[c] += back->gradient[row * channels + c];
    const float *weights = network->parameters[layer->weight].value;
    const struct ocdm__product_shape by_weights = shape_of(network, layer, rows, WEIGHTS);
    const struct ocdm__product_shape by_input = shape_of(network, layer, rows, INPUT);
    if (!network->bf16) {
        OCDM_TRY(ocdm__gemm(&by_weights, back->gradient, back->input, back->weight_gradient));
        return back->input_gradient != NULL ? ocdm__gemm(&by_input, back->gradient, weights, back->input_gradient) : OCDM_OK;
    }
    unsigned char *gradient = narrow_input(network, layer) + input_bytes(network, layer->node, layer->narrow_rows);
    const struct ocdm__products *products = NULL;
    OCDM_TRY(products_for(network, layer, rows, &products, NULL));
    network->kernels->narrow(gradient, back->gradient, rows * channels);
    OCDM_TRY(ocdm__op_run(products->ops[WEIGHTS], 0, gradient, narrow_input(network, layer), back->weight_gradient));
    return back->input_gradient != NULL ? ocdm__op_run(products->ops[INPUT], 0, gradient, layer->narrow, back->input_gradient)
                                        : OCDM_OK;
}
