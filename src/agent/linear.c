/* Linear layers, on whole batches of vectors in one thread: they are small where a network has images, and where it has none
 * they are so short that threads would only cost. */
#include "agent/network.h"

ocdm_status ocdm__linear_forward(const ocdm__network *network, const struct ocdm__layer *layer, const float *input, size_t rows,
                                 float *output)
{
    const struct ocdm__node *node = layer->node;
    const float *bias = network->parameters[layer->bias].value;
    struct ocdm__gemm product = {.b_turned = true,
                                 .rows = rows,
                                 .columns = node->channels,
                                 .depth = node->in_channels,
                                 .a = input,
                                 .a_stride = node->in_channels,
                                 .b = network->parameters[layer->weight].value,
                                 .b_stride = node->in_channels,
                                 .c = output,
                                 .c_stride = node->channels};
    ocdm_status status = ocdm__gemm(&product);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < node->channels; i++) {
            float y = output[row * node->channels + i] + bias[i];
            output[row * node->channels + i] = node->activation == OCDM__RELU && y < 0 ? 0 : y;
        }
    return status;
}

static void undo_activation(const struct ocdm__node *node, const struct ocdm__linear_back *back)
{
    size_t count = back->rows * node->channels;
    for (size_t i = 0; node->activation == OCDM__RELU && i < count; i++)
        back->gradient[i] = back->output[i] > 0 ? back->gradient[i] : 0;
}

static void sum_rows(const struct ocdm__node *node, const struct ocdm__linear_back *back)
{
    for (size_t i = 0; i < node->channels; i++)
        back->bias_gradient[i] = 0;
    for (size_t row = 0; row < back->rows; row++)
        for (size_t i = 0; i < node->channels; i++)
            back->bias_gradient[i] += back->gradient[row * node->channels + i];
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
