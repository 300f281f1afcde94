/*
 * The kernels of images, once for each kind of element and CPU. Before including it, define
 *     TARGET      what goes before a function, such as an attribute that allows wider instructions
 *     ELEMENT     the type of an element in memory
 *     LOAD(p)     sixteen elements at p as a `wide`
 *     STORE(p, v) the other way
 *     LOAD_ONE, STORE_ONE  the same for one
 *     TABLE       the name of the struct ocdm__kernels to define
 * A `wide` is sixteen floats; where the CPU's vectors are shorter the compiler takes several.
 */
#include <string.h>

#include "agent/wide.h"

/* Sums are in float for this many rows, then added to a double: fast, and the error does not grow with the image. */
enum { ROWS_AT_ONCE = 32, BLOCK = OCDM__CHANNEL_BLOCK };

/* ---- forward -------------------------------------------------------------------------------------------------------- */

/* Rows are processed in groups that stay in the cache while their channels are summed block by block. */
TARGET static size_t group_end(size_t row, size_t rows)
{
    return rows - row < ROWS_AT_ONCE ? rows : row + ROWS_AT_ONCE;
}

TARGET static void add_to(double *total, const wide *part)
{
    wide_double sum = LOAD_DOUBLE(total) + __builtin_convertvector(*part, wide_double);
    STORE_DOUBLE(total, sum);
}

/* Sums of the differences from the first row and of their squares. Subtracting a typical value first avoids the
 * cancellation of a plain sum of squares. */
TARGET static void shifted_sums(const ELEMENT *raw, size_t rows, size_t width, double *sum, double *square)
{
    memset(sum, 0, width * sizeof *sum);
    memset(square, 0, width * sizeof *square);
    for (size_t start = 0; start < rows; start += ROWS_AT_ONCE)
        for (size_t c = 0; c < width; c += BLOCK) {
            wide part = {0}, part_square = {0};
            const wide first = LOAD(raw + c);
            for (size_t row = start; row < group_end(start, rows); row++) {
                wide x = LOAD(raw + row * width + c) - first;
                part += x;
                part_square += x * x;
            }
            add_to(sum + c, &part);
            add_to(square + c, &part_square);
        }
}

TARGET static void moments(const void *data, const struct ocdm__extent *extent, double *mean, double *square)
{
    const ELEMENT *raw = data;
    double count = (double)extent->rows;
    for (size_t g = 0; g < extent->groups; g++) {
        shifted_sums(raw, extent->rows, extent->width, mean, square);
        for (size_t i = 0; i < extent->width; i++) {
            double shifted = mean[i] / count;
            double spread = square[i] - mean[i] * shifted;
            square[i] = spread < 0 ? 0 : spread;
            mean[i] = shifted + (double)LOAD_ONE(raw + i);
        }
        raw += extent->rows * extent->width;
        mean += extent->width;
        square += extent->width;
    }
}

TARGET static void normalise_group(ELEMENT *output, const ELEMENT *raw, const ELEMENT *residual, const float *scale,
                                   const float *shift, const struct ocdm__extent *extent, enum ocdm__activation activation)
{
    const wide six = WIDE_OF(6.0f);
    for (size_t row = 0; row < extent->rows; row++)
        for (size_t c = 0; c < extent->width; c += BLOCK) {
            size_t at = row * extent->width + c;
            wide y = LOAD(raw + at) * LOAD_WIDE(scale + c) + LOAD_WIDE(shift + c);
            if (residual != NULL)
                y += LOAD(residual + at);
            /* Written so that NaN is propagated and shows in the loss. */
            if (activation != OCDM__LINEAR_ACTIVATION)
                y = WIDE_UNLESS(y < 0.0f, y);
            if (activation == OCDM__RELU6)
                y = WIDE_EITHER(y > six, six, y);
            STORE(output + at, y);
        }
}

TARGET static void normalise(void *to, const void *from, const void *added, const float *const scale_shift[2],
                             const struct ocdm__extent *extent, enum ocdm__activation activation)
{
    const ELEMENT *raw = from, *residual = added;
    ELEMENT *output = to;
    for (size_t g = 0; g < extent->groups; g++) {
        size_t first = g * extent->width, at = first * extent->rows;
        normalise_group(output + at, raw + at, residual != NULL ? residual + at : NULL, scale_shift[0] + first,
                        scale_shift[1] + first, extent, activation);
    }
}

TARGET static void average(const void *data, const struct ocdm__extent *extent, float *mean)
{
    const ELEMENT *image = data;
    for (size_t g = 0; g < extent->groups; g++, image += extent->rows * extent->width, mean += extent->width)
        for (size_t c = 0; c < extent->width; c += BLOCK) {
            wide_double sum = {0};
            for (size_t row = 0; row < extent->rows; row++)
                sum += __builtin_convertvector(LOAD(image + row * extent->width + c), wide_double);
            STORE_WIDE(mean + c, __builtin_convertvector(sum / (double)extent->rows, wide));
        }
}

TARGET static void narrow(void *to, const float *from, size_t count)
{
    ELEMENT *elements = to;
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        STORE(elements + i, LOAD_WIDE(from + i));
    for (; i < count; i++)
        STORE_ONE(elements + i, from[i]);
}

TARGET static void interleave(void *to, const float *planes, size_t rows, size_t channels)
{
    ELEMENT *image = to;
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < channels; c++)
            STORE_ONE(image + row * channels + c, planes[c * rows + row]);
}

/* ---- backward ------------------------------------------------------------------------------------------------------- */

/* Propagates a gradient back through the activation whose output is y. */
TARGET static inline void undo_activation(wide *gradient, const wide *y, enum ocdm__activation activation)
{
    wide g = WIDE_WHERE(*y > 0.0f, *gradient);
    *gradient = activation == OCDM__RELU6 ? WIDE_WHERE(*y < WIDE_OF(6.0f), g) : g;
}

/* Rows `start` to `end` of sixteen channels. */
TARGET static void fold_block(const struct ocdm__fold *fold, size_t start, size_t end, size_t channel)
{
    const ELEMENT *first = fold->first, *second = fold->second, *output = fold->output, *raw = fold->raw;
    ELEMENT *gradient = fold->gradient;
    size_t width = fold->extent.width, c = channel % width, group = (channel - c) * fold->extent.rows;
    const wide none = {0}, mean = raw != NULL ? LOAD_WIDE(fold->mean + channel) : none;
    const wide scale = output == NULL ? LOAD_WIDE(fold->scale + channel) : none;
    const wide shift = output == NULL ? LOAD_WIDE(fold->shift + channel) : none;
    wide part = none, part_product = none;
    for (size_t row = start; row < end; row++) {
        size_t at = group + row * width + c;
        wide g = LOAD(first + at);
        if (second != NULL)
            g += LOAD(second + at);
        if (fold->activation != OCDM__LINEAR_ACTIVATION) {
            wide y = output != NULL ? LOAD(output + at) : LOAD(raw + at) * scale + shift;
            undo_activation(&g, &y, fold->activation);
        }
        if (gradient != NULL)
            STORE(gradient + at, g);
        if (raw == NULL)
            continue;
        part += g;
        part_product += g * (LOAD(raw + at) - mean);
    }
    if (raw == NULL)
        return;
    add_to(fold->sum + channel, &part);
    add_to(fold->product + channel, &part_product);
}

TARGET static void fold_image(const struct ocdm__fold *fold)
{
    size_t rows = fold->extent.rows, width = fold->extent.width, channels = fold->extent.groups * width;
    if (fold->raw != NULL) {
        memset(fold->sum, 0, channels * sizeof *fold->sum);
        memset(fold->product, 0, channels * sizeof *fold->product);
    }
    for (size_t first = 0; first < channels; first += width)
        for (size_t start = 0; start < rows; start += ROWS_AT_ONCE)
            for (size_t c = first; c < first + width; c += BLOCK)
                fold_block(fold, start, group_end(start, rows), c);
}

TARGET static void unfold_group(ELEMENT *raw, const ELEMENT *gradient, const float *const constants[4], size_t first,
                                const struct ocdm__extent *extent)
{
    const float *scale = constants[0] + first, *mean = constants[1] + first, *slope = constants[2] + first;
    const float *offset = constants[3] + first;
    for (size_t row = 0; row < extent->rows; row++)
        for (size_t c = 0; c < extent->width; c += BLOCK) {
            size_t at = row * extent->width + c;
            wide leaning = (LOAD(raw + at) - LOAD_WIDE(mean + c)) * LOAD_WIDE(slope + c);
            /* The offset is subtracted first: below an average over the image it nearly equals the gradient, so the
             * difference is exact. */
            wide g = LOAD(gradient + at) - LOAD_WIDE(offset + c) - leaning;
            STORE(raw + at, g * LOAD_WIDE(scale + c));
        }
}

TARGET static void unfold(void *in_place, const void *from, const float *const constants[4], const struct ocdm__extent *extent)
{
    const ELEMENT *gradient = from;
    ELEMENT *raw = in_place;
    for (size_t g = 0; g < extent->groups; g++) {
        size_t first = g * extent->width, at = first * extent->rows;
        unfold_group(raw + at, gradient + at, constants, first, extent);
    }
}

TARGET static void spread(void *to, const struct ocdm__extent *extent, const float *mean)
{
    ELEMENT *image = to;
    for (size_t g = 0; g < extent->groups; g++, mean += extent->width)
        for (size_t row = 0; row < extent->rows; row++, image += extent->width)
            for (size_t c = 0; c < extent->width; c += BLOCK)
                STORE(image + c, LOAD_WIDE(mean + c) / (float)extent->rows);
}

const struct ocdm__kernels TABLE = {
    .element = sizeof(ELEMENT),
    .moments = moments,
    .normalise = normalise,
    .fold = fold_image,
    .unfold = unfold,
    .average = average,
    .spread = spread,
    .narrow = narrow,
    .interleave = interleave,
};
