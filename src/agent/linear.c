/* Linear layers, on whole batches of vectors in one thread. They are too small to gain from threads. */
#include "agent/network.h"

#include "agent/wide.h"

enum { WIDTH = 16 };

/* ---- primitives ------------------------------------------------------------------------------------------------------- */

void ocdm__products_destroy(struct ocdm__products *products)
{
    ocdm__op_destroy(products->forward);
    ocdm__op_destroy(products->weights);
    ocdm__op_destroy(products->input);
    *products = (struct ocdm__products){0};
}

/* The gradients are products in bf16 only; in f32 sgemm computes them, which needs no primitive for each number of rows. */
static ocdm_status create_products(ocdm__network *network, const struct ocdm__node *node, struct ocdm__products *made,
                                   ocdm_error *error)
{
    int64_t rows = (int64_t)made->rows, outputs = node->channels, inputs = node->in_channels;
    const struct ocdm__product_shape forward = {
        .rows = rows, .columns = outputs, .depth = inputs, .b_turned = true, .bf16 = network->bf16};
    const struct ocdm__product_shape weights = {
        .rows = outputs, .columns = inputs, .depth = rows, .a_turned = true, .bf16 = true};
    const struct ocdm__product_shape input = {.rows = rows, .columns = inputs, .depth = outputs, .bf16 = true};
    OCDM_TRY(ocdm__product_create(network->device, &forward, &made->forward, error));
    if (network->bf16)
        OCDM_TRY(ocdm__product_create(network->device, &weights, &made->weights, error));
    if (network->bf16)
        OCDM_TRY(ocdm__product_create(network->device, &input, &made->input, error));
    return OCDM_OK;
}

/* The primitives for this number of rows; nearly all batches have the same size. */
static ocdm_status products_for(ocdm__network *network, struct ocdm__layer *layer, size_t rows,
                                const struct ocdm__products **products, ocdm_error *error)
{
    for (size_t i = 0; i < OCDM__PRODUCTS; i++)
        if (layer->products[i].rows == rows) {
            *products = &layer->products[i];
            return OCDM_OK;
        }
    struct ocdm__products made = {.rows = rows};
    ocdm_status status = create_products(network, layer->node, &made, error);
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

/* row = activation(row + bias) */
static void finish_row(float *row, const float *bias, size_t count, bool relu)
{
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        wide y = LOAD_WIDE(row + i) + LOAD_WIDE(bias + i);
        STORE_WIDE(row + i, relu ? WIDE_UNLESS(y < 0.0f, y) : y);
    }
    for (; i < count; i++) {
        float y = row[i] + bias[i];
        row[i] = relu && y < 0 ? 0 : y;
    }
}

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
    OCDM_TRY(ocdm__op_run(products->forward, 0, source, weights, output));
    for (size_t row = 0; row < rows; row++)
        finish_row(output + row * channels, network->parameters[layer->bias].value, channels,
                   layer->node->activation == OCDM__RELU);
    return OCDM_OK;
}

/* ---- backward --------------------------------------------------------------------------------------------------------- */

/* The gradients of weights and input in f32. A first layer has no gradient of its input. */
static ocdm_status multiply(const ocdm__network *network, const struct ocdm__layer *layer, const struct ocdm__linear_back *back)
{
    const struct ocdm__node *node = layer->node;
    struct ocdm__gemm weights = {.a_turned = true,
                                 .rows = node->channels,
                                 .columns = node->in_channels,
                                 .depth = back->rows,
                                 .a = back->gradient,
                                 .a_stride = node->channels,
                                 .b = back->input,
                                 .b_stride = node->in_channels,
                                 .c = back->weight_gradient,
                                 .c_stride = node->in_channels};
    ocdm_status status = ocdm__gemm(&weights);
    if (status != OCDM_OK || back->input_gradient == NULL)
        return status;
    struct ocdm__gemm input = {.rows = back->rows,
                               .columns = node->in_channels,
                               .depth = node->channels,
                               .a = back->gradient,
                               .a_stride = node->channels,
                               .b = network->parameters[layer->weight].value,
                               .b_stride = node->in_channels,
                               .c = back->input_gradient,
                               .c_stride = node->in_channels};
    return ocdm__gemm(&input);
}

/* The same with the gradient and the input that the forward pass has converted to bf16. */
static ocdm_status multiply_narrow(ocdm__network *network, struct ocdm__layer *layer, const struct ocdm__linear_back *back)
{
    unsigned char *gradient = narrow_input(network, layer) + input_bytes(network, layer->node, layer->narrow_rows);
    const struct ocdm__products *products = NULL;
    OCDM_TRY(products_for(network, layer, back->rows, &products, NULL));
    network->kernels->narrow(gradient, back->gradient, back->rows * layer->node->channels);
    ocdm_status status = ocdm__op_run(products->weights, 0, gradient, narrow_input(network, layer), back->weight_gradient);
    if (status != OCDM_OK || back->input_gradient == NULL)
        return status;
    return ocdm__op_run(products->input, 0, gradient, layer->narrow, back->input_gradient);
}

/* Through the activation first, in place. */
ocdm_status ocdm__linear_backward(ocdm__network *network, struct ocdm__layer *layer, const struct ocdm__linear_back *back)
{
    size_t count = layer->node->activation == OCDM__RELU ? back->rows * layer->node->channels : 0, i = 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(back->gradient + i, WIDE_WHERE(LOAD_WIDE(back->output + i) > 0.0f, LOAD_WIDE(back->gradient + i)));
    for (; i < count; i++)
        back->gradient[i] = back->output[i] > 0 ? back->gradient[i] : 0;
    ocdm__sum_rows(back->bias_gradient, back->gradient, back->rows, layer->node->channels, layer->node->channels);
    return network->bf16 ? multiply_narrow(network, layer, back) : multiply(network, layer, back);
}
