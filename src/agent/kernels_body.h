/*
 * The kernels of images, once for each kind of element and CPU. Before including it, define
 *     TARGET      what goes before a function, such as an attribute that allows wider instructions
 *     ELEMENT     the type of an element in memory
 *     LOAD(p)     sixteen elements at p as a `wide`
 *     STORE(p, v) the other way
 *     LOAD_ONE, STORE_ONE  the same for one
 *     TABLE       the name of the struct ocdm__kernels to define; INSTRUCTIONS: its member of that name
 *     WIDE_ROOT(to, from)  the square roots of a `wide`; with it the functions of weights are defined, too
 * Without ELEMENT, elements are floats.
 * A `wide` is sixteen floats; where the CPU's vectors are shorter the compiler takes several.
 */
#include <string.h>

#include "agent/wide.h"

#ifndef ELEMENT
#define ELEMENT float
#define LOAD(p) LOAD_WIDE(p)
#define STORE(p, v) STORE_WIDE(p, v)
#define LOAD_ONE(p) (*(p))
#define STORE_ONE(p, v) (*(p) = (v))
#endif

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

/* ---- weights -------------------------------------------------------------------------------------------------------- */

/* Adam, averages and sums of trees. The order of operations is PyTorch's, so that the two stay close for many steps. */
#ifdef WIDE_ROOT

/* Elements of a sum that are there at a time for Adam's step: they stay in the nearest cache. */
enum { WIDTH = 16, TREE_DEPTH = 8 * sizeof(size_t), PIECE = 1024 };

/* Sixteen elements from `at` on. */
TARGET static inline void tree_sum(const struct ocdm__tree *tree, size_t at, wide *sum)
{
    wide sums[TREE_DEPTH];
    size_t height = 0;
    for (size_t i = 0; i < tree->count; i++) {
        wide joined = LOAD_WIDE(tree->parts[i] + at);
        for (unsigned merge = tree->merges[i]; merge > 0; merge--)
            joined = sums[--height] + joined;
        sums[height++] = joined;
    }
    *sum = sums[0]; /* cppcheck-suppress uninitvar; a tree has at least one part */
}

/* The same of one element. */
static inline float tree_sum_one(const struct ocdm__tree *tree, size_t at)
{
    float sums[TREE_DEPTH] = {0};
    size_t height = 0;
    for (size_t i = 0; i < tree->count; i++) {
        float joined = tree->parts[i][at];
        for (unsigned merge = tree->merges[i]; merge > 0; merge--)
            joined = sums[--height] + joined;
        sums[height++] = joined;
    }
    return sums[0];
}

TARGET static inline void clip(const struct ocdm__adam *adam, wide *gradient)
{
    wide high = WIDE_OF(adam->clip), low = WIDE_OF(-adam->clip), g = *gradient;
    if (adam->clip == 0)
        return;
    g = WIDE_EITHER(g > high, high, g);
    *gradient = WIDE_EITHER(g < low, low, g);
}

TARGET static inline void sgd_step(const struct ocdm__adam *adam, const wide *gradient, float *value, float *mean)
{
    wide w = LOAD_WIDE(value), g = *gradient;
    clip(adam, &g);
    wide m = LOAD_WIDE(mean) * adam->momentum + (g + w * adam->penalty);
    STORE_WIDE(mean, m);
    STORE_WIDE(value, w - m * adam->step_size);
}

/* Sixteen weights at once. */
TARGET static inline void adam_step(const struct ocdm__adam *adam, const wide *gradient, float *value, float *mean,
                                    float *square)
{
    /* 1 - beta is rounded once, from double: 1 - 0.999f would be off by five parts in 100,000. */
    const float beta1 = 0.9f, beta2 = 0.999f, rest1 = 0.1f, rest2 = 0.001f;
    wide g = *gradient;
    clip(adam, &g);
    wide m = LOAD_WIDE(mean) * beta1 + g * rest1;
    wide v = LOAD_WIDE(square) * beta2 + g * g * rest2;
    wide root = {0};
    WIDE_ROOT(root, v);
    STORE_WIDE(mean, m);
    STORE_WIDE(square, v);
    STORE_WIDE(value, LOAD_WIDE(value) * (1 - adam->decay) - m / (root * adam->root_scale + adam->epsilon) * adam->step_size);
}

TARGET static inline void step_wide(const struct ocdm__adam *adam, const wide *gradient, float *value, float *mean,
                                    float *square)
{
    if (adam->sgd)
        sgd_step(adam, gradient, value, mean);
    else
        adam_step(adam, gradient, value, mean, square);
}

/* The last few, in room of their own. */
TARGET static void adam_rest(const struct ocdm__adam *adam, const float *gradients, size_t at)
{
    float g[WIDTH] = {0}, m[WIDTH] = {0}, v[WIDTH] = {0}, w[WIDTH] = {0};
    size_t count = adam->count - at;
    memcpy(g, gradients, count * sizeof *g);
    memcpy(m, adam->mean + at, count * sizeof *m);
    memcpy(v, adam->square + at, count * sizeof *v);
    memcpy(w, adam->value + at, count * sizeof *w);
    wide gradient = LOAD_WIDE(g);
    step_wide(adam, &gradient, w, m, v);
    memcpy(adam->mean + at, m, count * sizeof *m);
    memcpy(adam->square + at, v, count * sizeof *v);
    memcpy(adam->value + at, w, count * sizeof *w);
}

TARGET static void blend(float *average, const float *value, float keep, float rest, size_t count)
{
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(average + i, LOAD_WIDE(average + i) * keep + LOAD_WIDE(value + i) * rest);
    for (; i < count; i++)
        average[i] = average[i] * keep + value[i] * rest;
}

/* The usual trees are added without a walk for every vector: a pair, and two pairs. Both return the number of elements, a
 * multiple of the width. */
TARGET static size_t sum_pair(float *sum, const float *const *parts, size_t at, size_t count)
{
    const float *a = parts[0] + at, *b = parts[1] + at;
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(sum + i, LOAD_WIDE(a + i) + LOAD_WIDE(b + i));
    return i;
}

TARGET static size_t sum_pairs(float *sum, const float *const *parts, size_t at, size_t count)
{
    const float *a = parts[0] + at, *b = parts[1] + at, *c = parts[2] + at, *d = parts[3] + at;
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH)
        STORE_WIDE(sum + i, (LOAD_WIDE(a + i) + LOAD_WIDE(b + i)) + (LOAD_WIDE(c + i) + LOAD_WIDE(d + i)));
    return i;
}

TARGET static size_t sum_usual(float *sum, const struct ocdm__tree *tree, size_t at, size_t count)
{
    if (tree->count == 2)
        return sum_pair(sum, tree->parts, at, count);
    bool pairs = tree->count == 4 && tree->merges[1] == 1 && tree->merges[3] == 2;
    return pairs ? sum_pairs(sum, tree->parts, at, count) : 0;
}

TARGET static void sum_tree(float *sum, const struct ocdm__tree *tree, size_t at, size_t count)
{
    if (tree->count == 1) {
        memmove(sum, tree->parts[0] + at, count * sizeof *sum);
        return;
    }
    size_t i = sum_usual(sum, tree, at, count);
    for (; i + WIDTH <= count; i += WIDTH) {
        wide total;
        tree_sum(tree, at + i, &total);
        STORE_WIDE(sum + i, total);
    }
    for (; i < count; i++)
        sum[i] = tree_sum_one(tree, at + i);
}

/* Weights from `begin` to `end`; `gradients` is that of the first. */
TARGET static void adam_piece(const struct ocdm__adam *adam, const float *gradients, size_t begin, size_t end)
{
    size_t at = begin;
    for (; at + WIDTH <= end; at += WIDTH) {
        wide g = LOAD_WIDE(gradients + (at - begin));
        step_wide(adam, &g, adam->value + at, adam->mean + at, adam->square + at);
    }
    if (at < end)
        adam_rest(adam, gradients + (at - begin), at);
}

TARGET static void take_step(const struct ocdm__adam *adam)
{
    float sums[PIECE];
    if (adam->gradient.count == 1) {
        adam_piece(adam, adam->gradient.parts[0] + adam->at, 0, adam->count);
        return;
    }
    for (size_t at = 0; at < adam->count; at += PIECE) {
        size_t end = adam->count - at < PIECE ? adam->count : at + PIECE;
        sum_tree(sums, &adam->gradient, adam->at + at, end - at);
        adam_piece(adam, sums, at, end);
    }
}

#endif

const struct ocdm__kernels TABLE = {
    .element = sizeof(ELEMENT),
    .instructions = INSTRUCTIONS,
    .moments = moments,
    .normalise = normalise,
    .fold = fold_image,
    .unfold = unfold,
    .average = average,
    .spread = spread,
    .narrow = narrow,
    .interleave = interleave,
#ifdef WIDE_ROOT
    .step = take_step,
    .blend = blend,
    .sum_tree = sum_tree,
#endif
};
