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

/* Sums stay in float for so many rows, then go to double: fast, and the error does not grow with the image. */
enum { ROWS_AT_ONCE = 32, BLOCK = OCDM__CHANNEL_BLOCK };

/* ---- forward -------------------------------------------------------------------------------------------------------- */

/* Rows go in groups that stay in the cache while their channels are summed block by block. */
TARGET static size_t group_end(size_t row, size_t rows)
{
    return rows - row < ROWS_AT_ONCE ? rows : row + ROWS_AT_ONCE;
}

TARGET static void add_to(double *total, const wide *part)
{
    wide_double sum = LOAD_DOUBLE(total) + __builtin_convertvector(*part, wide_double);
    STORE_DOUBLE(total, sum);
}

/* Sums of distances from the first row, and of their squares: with a value from the middle of things taken off first, the
 * difference of large numbers that a plain sum of squares would end with does not arise. */
TARGET static void shifted_sums(const ELEMENT *raw, size_t rows, size_t channels, double *sum, double *square)
{
    memset(sum, 0, channels * sizeof *sum);
    memset(square, 0, channels * sizeof *square);
    for (size_t start = 0; start < rows; start += ROWS_AT_ONCE)
        for (size_t c = 0; c < channels; c += BLOCK) {
            wide part = {0}, part_square = {0};
            const wide first = LOAD(raw + c);
            for (size_t row = start; row < group_end(start, rows); row++) {
                wide x = LOAD(raw + row * channels + c) - first;
                part += x;
                part_square += x * x;
            }
            add_to(sum + c, &part);
            add_to(square + c, &part_square);
        }
}

TARGET static void moments(const void *data, size_t rows, size_t channels, double *mean, double *square)
{
    const ELEMENT *raw = data;
    double count = (double)rows;
    shifted_sums(raw, rows, channels, mean, square);
    for (size_t i = 0; i < channels; i++) {
        double shifted = mean[i] / count;
        double spread = square[i] - mean[i] * shifted;
        square[i] = spread < 0 ? 0 : spread;
        mean[i] = shifted + (double)LOAD_ONE(raw + i);
    }
}

TARGET static void normalise(void *to, const void *from, const void *added, const float *const scale_shift[2], size_t rows,
                             size_t channels, enum ocdm__activation activation)
{
    const float *scale = scale_shift[0], *shift = scale_shift[1];
    const ELEMENT *raw = from, *residual = added;
    ELEMENT *output = to;
    const wide six = WIDE_OF(6.0f);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < channels; c += BLOCK) {
            size_t at = row * channels + c;
            wide y = LOAD(raw + at) * LOAD_WIDE(scale + c) + LOAD_WIDE(shift + c);
            if (residual != NULL)
                y += LOAD(residual + at);
            /* Written so that what is not a number stays so, and shows in the loss. */
            if (activation != OCDM__LINEAR_ACTIVATION)
                y = WIDE_UNLESS(y < 0.0f, y);
            if (activation == OCDM__RELU6)
                y = WIDE_EITHER(y > six, six, y);
            STORE(output + at, y);
        }
}

TARGET static void average(const void *data, size_t rows, size_t channels, float *mean)
{
    const ELEMENT *image = data;
    for (size_t c = 0; c < channels; c += BLOCK) {
        wide sum = {0};
        for (size_t row = 0; row < rows; row++)
            sum += LOAD(image + row * channels + c);
        STORE_WIDE(mean + c, sum / (float)rows);
    }
}

TARGET static void interleave(void *to, const float *planes, size_t rows, size_t channels)
{
    ELEMENT *image = to;
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < channels; c++)
            STORE_ONE(image + row * channels + c, planes[c * rows + row]);
}

/* ---- backward ------------------------------------------------------------------------------------------------------- */

/* Sixteen channels of a group of rows. */
TARGET static void fold_block(const struct ocdm__fold *fold, size_t start, size_t end, size_t c)
{
    const ELEMENT *first = fold->first, *second = fold->second, *output = fold->output, *raw = fold->raw;
    ELEMENT *gradient = fold->gradient;
    const wide six = WIDE_OF(6.0f);
    const wide mean = raw != NULL ? LOAD_WIDE(fold->mean + c) : (wide){0};
    wide part = {0}, part_product = {0};
    for (size_t row = start; row < end; row++) {
        size_t at = row * fold->channels + c;
        wide g = LOAD(first + at);
        if (second != NULL)
            g += LOAD(second + at);
        if (fold->activation != OCDM__LINEAR_ACTIVATION)
            g = WIDE_WHERE(LOAD(output + at) > 0.0f, g);
        if (fold->activation == OCDM__RELU6)
            g = WIDE_WHERE(LOAD(output + at) < six, g);
        if (gradient != NULL)
            STORE(gradient + at, g);
        if (raw == NULL)
            continue;
        part += g;
        part_product += g * (LOAD(raw + at) - mean);
    }
    if (raw == NULL)
        return;
    add_to(fold->sum + c, &part);
    add_to(fold->product + c, &part_product);
}

TARGET static void fold_image(const struct ocdm__fold *fold)
{
    if (fold->raw != NULL) {
        memset(fold->sum, 0, fold->channels * sizeof *fold->sum);
        memset(fold->product, 0, fold->channels * sizeof *fold->product);
    }
    for (size_t start = 0; start < fold->rows; start += ROWS_AT_ONCE)
        for (size_t c = 0; c < fold->channels; c += BLOCK)
            fold_block(fold, start, group_end(start, fold->rows), c);
}

TARGET static void unfold(void *in_place, const void *from, const float *const constants[4], size_t rows, size_t channels)
{
    const float *scale = constants[0], *mean = constants[1], *slope = constants[2], *offset = constants[3];
    const ELEMENT *gradient = from;
    ELEMENT *raw = in_place;
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < channels; c += BLOCK) {
            size_t at = row * channels + c;
            wide leaning = (LOAD(raw + at) - LOAD_WIDE(mean + c)) * LOAD_WIDE(slope + c);
            wide g = LOAD(gradient + at) - leaning - LOAD_WIDE(offset + c);
            STORE(raw + at, g * LOAD_WIDE(scale + c));
        }
}

TARGET static void spread(void *to, size_t rows, size_t channels, const float *mean)
{
    ELEMENT *image = to;
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < channels; c += BLOCK)
            STORE(image + row * channels + c, LOAD_WIDE(mean + c) / (float)rows);
}

const struct ocdm__kernels TABLE = {
    .element = sizeof(ELEMENT),
    .moments = moments,
    .normalise = normalise,
    .fold = fold_image,
    .unfold = unfold,
    .average = average,
    .spread = spread,
    .interleave = interleave,
};
