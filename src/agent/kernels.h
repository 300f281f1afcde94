/*
 * Kernels that oneDNN does not provide: batch norm over a batch that is distributed over tasks, fused with ReLU and the
 * residual addition, and Adam. `extent` describes how an image is stored; constants and sums are in the order of the channels.
 *
 * Results do not depend on the vector width: the operations per element are the same, and columns are summed in row order.
 */
#ifndef OCDM_AGENT_KERNELS_H
#define OCDM_AGENT_KERNELS_H

#include "base/base.h"

#define OCDM__CHANNEL_BLOCK 16

enum ocdm__activation { OCDM__LINEAR_ACTIVATION, OCDM__RELU, OCDM__RELU6 };

/*
 * An image in memory: its channels in groups, one group after the other; in a group row by row, where a row is one pixel's
 * `width` channels of that group. One group of all channels is oneDNN's nhwc; groups of OCDM__CHANNEL_BLOCK are its nChw16c.
 * The width is a multiple of OCDM__CHANNEL_BLOCK.
 */
struct ocdm__extent {
    size_t groups, rows, width;
};

/* An image on its way back through activation and norm. */
struct ocdm__fold {
    void *gradient;                    /* out: the gradient before the activation; may be `first`; NULL: not written */
    const void *first;                 /* the gradient that arrives */
    const void *second;                /* another one, added; NULL for none */
    const void *output;                /* the output of the activation; NULL: computed again from raw, which saves reading it */
    const void *raw;                   /* what the norm got; NULL: no sums */
    const float *mean, *scale, *shift; /* of the norm, per channel */
    double *sum, *product;             /* out, per channel: of the gradient, and of the gradient times (raw - mean) */
    struct ocdm__extent extent;
    enum ocdm__activation activation;
};

/*
 * Arrays that are added as a tree: once the i-th array has been read, the last two sums are joined merges[i] times. One sum
 * remains. Equal arrays, 2^n of them, make a balanced tree with merges 0 1 0 2 0 1 0 3 ..., see ocdm__tree_merges.
 */
struct ocdm__tree {
    const float *const *parts;
    const unsigned char *merges;
    size_t count;
};

/* The optimisers: symbol, name. */
#define OCDM__OPTIMISERS(ROW) ROW(ADAM, "adam") ROW(ADAMW, "adamw") ROW(SGD, "sgd")

#define OCDM__OPTIMISER_KIND(symbol, name) OCDM__OPTIMISER_##symbol,
enum ocdm__optimiser { OCDM__OPTIMISERS(OCDM__OPTIMISER_KIND) };

/* What an optimiser does to `count` weights: Adam unless `sgd` is set. Their gradient is the sum of the tree's arrays, each
 * from its element `at` on. */
struct ocdm__adam {
    float *value, *mean, *square; /* the weights and their two running averages */
    struct ocdm__tree gradient;
    size_t at, count;
    float step_size;  /* learning rate / (1 - beta1^t) */
    float root_scale; /* 1 / sqrt(1 - beta2^t) */
    float epsilon;    /* outside the root */
    float clip;       /* gradients are cut to -clip..clip; 0: they are not */
    float decay;      /* weights are first multiplied by 1 - decay; 0 for Adam */
    bool sgd;         /* mean = momentum * mean + gradient + penalty * value; value -= step_size * mean */
    float momentum, penalty;
};

/* The functions for one type of element, float or bf16. */
struct ocdm__kernels {
    size_t element;           /* bytes */
    const char *instructions; /* the name of those that the functions are compiled for */

    /* Per channel the mean over rows and the sum of squares about it. */
    void (*moments)(const void *raw, const struct ocdm__extent *extent, double *mean, double *square);

    /* output = activation(raw * scale + shift + residual); residual may be NULL, output may be raw. */
    void (*normalise)(void *output, const void *raw, const void *residual, const float *const scale_shift[2],
                      const struct ocdm__extent *extent, enum ocdm__activation activation);

    void (*fold)(const struct ocdm__fold *fold);

    /* raw = scale * (gradient - offset - (raw - mean) * slope), in place; constants are scale, mean, slope, offset. */
    void (*unfold)(void *raw, const void *gradient, const float *const constants[4], const struct ocdm__extent *extent);

    /* The mean over rows, and its gradient spread over them. */
    void (*average)(const void *image, const struct ocdm__extent *extent, float *mean);
    void (*spread)(void *image, const struct ocdm__extent *extent, const float *mean);

    /* Floats as elements; any number. */
    void (*narrow)(void *to, const float *from, size_t count);

    /* An image of planes (channel, row, column; any number of channels) as one group. */
    void (*interleave)(void *image, const float *planes, size_t rows, size_t channels);

    /* Of weights, which are floats always; the table of bf16 does not have them. */

    /* Applies the optimiser to any number of weights. */
    void (*step)(const struct ocdm__adam *adam);

    /* average = average * keep + value * rest */
    void (*blend)(float *average, const float *value, float keep, float rest, size_t count);

    /* sum[i] = the sum of element at + i of all arrays; `sum` may be that place of one of them. */
    void (*sum_tree)(float *sum, const struct ocdm__tree *tree, size_t at, size_t count);
};

/* The functions that suit the CPU. bf16 only where ocdm__device_create grants it. */
const struct ocdm__kernels *ocdm__kernels_for(bool bf16);

/* Merges for arrays that are sums of aligned blocks of a row of lanes, in order: two blocks of one size are joined as soon as
 * they are the halves of an aligned block. `sizes` are the blocks' numbers of lanes, powers of two; NULL: all are 1. */
void ocdm__tree_merges(const size_t *sizes, size_t count, unsigned char *merges);

/* For kernels.c: the versions. */
extern const struct ocdm__kernels ocdm__kernels_plain;
#if defined(__x86_64__) && defined(__GNUC__)
extern const struct ocdm__kernels ocdm__kernels_avx2;
extern const struct ocdm__kernels ocdm__kernels_avx512;
extern const struct ocdm__kernels ocdm__kernels_bf16;
#endif

#endif
