/* Linear layers, on whole batches of vectors in one thread: they are small where a network has images, and where it has none
 * they are so short that threads would only cost. */
#include "agent/network.h"

#include <string.h>

#include "agent/wide.h"

enum { WIDTH = 16 };

/* The product for so many rows: batches are nearly all of one size. */
static ocdm_status product_for(ocdm__network *network, struct ocdm__layer *layer, size_t rows, ocdm__op **op, ocdm_error *error)
{
    for (size_t i = 0; i < OCDM__PRODUCTS; i++)
        if (layer->products[i].rows == rows) {
            *op = layer->products[i].op;
            return OCDM_OK;
        }
    const struct ocdm__product_shape shape = {
        .rows = (int64_t)rows, .columns = layer->node->channels, .depth = layer->node->in_channels, .b_turned = true};
    ocdm_status status = ocdm__product_create(network->device, &shape, op, error);
    if (status != OCDM_OK)
        return status;
    ocdm__op_destroy(layer->products[OCDM__PRODUCTS - 1].op);
    memmove(layer->products + 1, layer->products, (OCDM__PRODUCTS - 1) * sizeof layer->products[0]);
    layer->products[0].rows = rows;
    layer->products[0].op = *op;
    return OCDM_OK;
}

ocdm_status ocdm__linear_prepare(ocdm__network *network, struct ocdm__layer *layer, size_t rows, ocdm_error *error)
{
    ocdm__op *product = NULL;
    return product_for(network, layer, rows, &product, error);
}

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

ocdm_status ocdm__linear_forward(ocdm__network *network, struct ocdm__layer *layer, const float *input, size_t rows,
                                 float *output)
{
    size_t channels = layer->node->channels;
    ocdm__op *product = NULL;
    ocdm_status status = product_for(network, layer, rows, &product, NULL);
    if (status == OCDM_OK)
        status = ocdm__op_run(product, 0, input, network->parameters[layer->weight].value, output);
    for (size_t row = 0; row < rows && status == OCDM_OK; row++)
        finish_row(output + row * channels, network->parameters[layer->bias].value, channels,
                   layer->node->activation == OCDM__RELU);
    return status;
}

static void undo_activation(const struct ocdm__node *node, const struct ocdm__linear_back *back)
{
    size_t count = node->activation == OCDM__RELU ? back->rows * node->channels : 0, i = 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(back->gradient + i, WIDE_WHERE(LOAD_WIDE(back->output + i) > 0.0f, LOAD_WIDE(back->gradient + i)));
    for (; i < count; i++)
        back->gradient[i] = back->output[i] > 0 ? back->gradient[i] : 0;
}

static void sum_rows(const struct ocdm__node *node, const struct ocdm__linear_back *back)
{
    ocdm__sum_lanes(back->bias_gradient, back->gradient, back->rows, node->channels, node->channels);
}

ocdm_status ocdm__linear_backward(const ocdm__network *network, const struct ocdm__layer *layer,
                                  const struct ocdm__linear_back *back)
{
    const struct ocdm__node *node = layer->node;
    undo_activation(node, back);
    sum_rows(node, back);
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
