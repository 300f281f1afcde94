/* Adam and sums of lanes, compiled once for each kind of CPU: define TARGET, WIDE_ROOT(to, from), ADAM and SUM_LANES before
 * including it. The order of operations is PyTorch's, so that the two stay close for many steps. */
#include <string.h>

#include "agent/wide.h"

enum { WIDTH = 16 };

/* Sixteen weights at once: their gradient is the sum of the lanes. */
TARGET static inline void adam_step(const struct ocdm__adam *adam, const wide *gradient, float *value, float *mean,
                                    float *square)
{
    /* 1 - beta is rounded once, from double: 1 - 0.999f would be off by five parts in 100,000. */
    const float beta1 = 0.9f, beta2 = 0.999f, rest1 = 0.1f, rest2 = 0.001f;
    wide g = *gradient;
    if (adam->clip > 0) {
        wide high = WIDE_OF(adam->clip), low = WIDE_OF(-adam->clip);
        g = WIDE_EITHER(g > high, high, g);
        g = WIDE_EITHER(g < low, low, g);
    }
    wide m = LOAD_WIDE(mean) * beta1 + g * rest1;
    wide v = LOAD_WIDE(square) * beta2 + g * g * rest2;
    wide root = {0};
    WIDE_ROOT(root, v);
    STORE_WIDE(mean, m);
    STORE_WIDE(square, v);
    STORE_WIDE(value, LOAD_WIDE(value) - m / (root * adam->root_scale + adam->epsilon) * adam->step_size);
}

/* The last few, in room of their own. */
TARGET static void adam_rest(const struct ocdm__adam *adam, size_t at)
{
    float g[WIDTH] = {0}, m[WIDTH] = {0}, v[WIDTH] = {0}, w[WIDTH] = {0};
    size_t count = adam->count - at;
    for (size_t i = 0; i < count; i++) {
        g[i] = adam->gradient[at + i];
        for (size_t lane = 1; lane < adam->lanes; lane++)
            g[i] += adam->gradient[lane * adam->lane_stride + at + i];
    }
    memcpy(m, adam->mean + at, count * sizeof *m);
    memcpy(v, adam->square + at, count * sizeof *v);
    memcpy(w, adam->value + at, count * sizeof *w);
    wide gradient = LOAD_WIDE(g);
    adam_step(adam, &gradient, w, m, v);
    memcpy(adam->mean + at, m, count * sizeof *m);
    memcpy(adam->square + at, v, count * sizeof *v);
    memcpy(adam->value + at, w, count * sizeof *w);
}

TARGET void ADAM(const struct ocdm__adam *adam)
{
    size_t at = 0;
    for (; at + WIDTH <= adam->count; at += WIDTH) {
        wide g = LOAD_WIDE(adam->gradient + at);
        for (size_t lane = 1; lane < adam->lanes; lane++)
            g += LOAD_WIDE(adam->gradient + lane * adam->lane_stride + at);
        adam_step(adam, &g, adam->value + at, adam->mean + at, adam->square + at);
    }
    if (at < adam->count)
        adam_rest(adam, at);
}

TARGET void SUM_LANES(float *sum, const float *lanes, size_t lane_count, size_t lane_stride, size_t count)
{
    size_t at = 0;
    for (; at + WIDTH <= count; at += WIDTH) {
        wide total = LOAD_WIDE(lanes + at);
        for (size_t lane = 1; lane < lane_count; lane++)
            total += LOAD_WIDE(lanes + lane * lane_stride + at);
        STORE_WIDE(sum + at, total);
    }
    for (; at < count; at++) {
        float total = lanes[at];
        for (size_t lane = 1; lane < lane_count; lane++)
            total += lanes[lane * lane_stride + at];
        sum[at] = total;
    }
}
