/* Adam, averages and sums of trees, compiled once for each kind of CPU: define TARGET, WIDE_ROOT(to, from), ADAM, AVERAGE and
 * SUM_TREE before including it. The order of operations is PyTorch's, so that the two stay close for many steps. */
#include <string.h>

#include "agent/wide.h"

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

TARGET void AVERAGE(float *average, const float *value, float keep, float rest, size_t count)
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

TARGET void SUM_TREE(float *sum, const struct ocdm__tree *tree, size_t at, size_t count)
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

TARGET void ADAM(const struct ocdm__adam *adam)
{
    float sums[PIECE];
    if (adam->gradient.count == 1) {
        adam_piece(adam, adam->gradient.parts[0] + adam->at, 0, adam->count);
        return;
    }
    for (size_t at = 0; at < adam->count; at += PIECE) {
        size_t end = adam->count - at < PIECE ? adam->count : at + PIECE;
        SUM_TREE(sums, &adam->gradient, adam->at + at, end - at);
        adam_piece(adam, sums, at, end);
    }
}
