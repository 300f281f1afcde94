/*
 * oneDNN behind a small door: primitives.c alone includes dnnl.h. Images lie channels last (image, row, column, channel) or
 * with their channels in blocks of sixteen (image, block, row, column, channel of the block), see ocdm__device_blocks; weights
 * lie as oneDNN likes them.
 *
 * A primitive here is single-threaded: parallel work is many primitives on many threads, so that a result never depends on
 * how many threads there are. Each thread has a slot, a number below the device's `slots`; two threads never use one slot.
 */
#ifndef OCDM_AGENT_PRIMITIVES_H
#define OCDM_AGENT_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* oneDNN's engine, with a stream and scratch memory for every slot. */
typedef struct ocdm__device ocdm__device;

/* One primitive of one shape, usable by every slot at once. */
typedef struct ocdm__op ocdm__op;

/* How a tensor of weights lies in memory. */
typedef struct ocdm__layout ocdm__layout;

enum ocdm__op_kind {
    OCDM__CONV_FORWARD,  /* source, weights, target */
    OCDM__CONV_DATA,     /* target's gradient, weights, source's gradient */
    OCDM__CONV_WEIGHTS,  /* source, target's gradient, weights' gradient (f32 always) */
    OCDM__POOL_FORWARD,  /* source, workspace (written), target */
    OCDM__POOL_BACKWARD, /* target's gradient, workspace, source's gradient */
};

/* A convolution or a max pooling over `images` images. Pads may differ before and after, as TensorFlow's "same" has it. */
struct ocdm__conv_shape {
    int64_t images;
    int64_t in_channels, in_height, in_width;
    int64_t out_channels, out_height, out_width;
    int64_t kernel, stride, pad_before, pad_after_height, pad_after_width;
    int64_t groups;
    bool bf16;
    bool blocked; /* channels in blocks of sixteen; a source whose channels are no such multiple is planes then */
};

/*
 * Makes a device. With `bf16` the CPU must have instructions for it: OCDM_BAD_ARGUMENT and which it lacks otherwise. OCDM_OK,
 * OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__device_create(unsigned slots, bool bf16, ocdm__device **device, ocdm_error *error);
void ocdm__device_destroy(ocdm__device *device);

/*
 * Whether images had better lie with their channels in blocks. With AVX-512 in f32 they do: it is as fast as channels last, and
 * oneDNN's kernels for it add up a convolution block by block, which leaves a third to a fifth of the rounding error in a 3x3
 * layer. Everything else has its best kernels for channels last, AMX no other.
 */
bool ocdm__device_blocks(bool bf16);

/* The oneDNN name of the instructions in use, for reports; never NULL. */
const char *ocdm__device_instructions(void);

/* Makes oneDNN run in the calling thread alone whenever that thread calls it; returns what held before (0: nothing did). */
int ocdm__single_thread(void);

/* Undoes ocdm__single_thread. */
void ocdm__restore_threads(int before);

/*
 * Makes a primitive. `weights` is the layout that its weights must have, NULL for whatever is fastest; pools have none.
 * OCDM_OK, OCDM_BAD_ARGUMENT (oneDNN cannot do it), OCDM_NO_MEMORY. Not while other threads run primitives of the device.
 */
ocdm_status ocdm__conv_create(ocdm__device *device, enum ocdm__op_kind kind, const struct ocdm__conv_shape *shape,
                              const ocdm__layout *weights, ocdm__op **op, ocdm_error *error);

/* target (rows x columns, f32) = a b, all in plain order; a lies as depth x rows when turned, b as columns x depth. Run with a,
 * b, target. */
struct ocdm__product_shape {
    int64_t rows, columns, depth;
    bool a_turned, b_turned;
    bool bf16; /* a and b */
};
ocdm_status ocdm__product_create(ocdm__device *device, const struct ocdm__product_shape *shape, ocdm__op **op,
                                 ocdm_error *error);

/* Copies from one layout to another: run with source, NULL, target. */
ocdm_status ocdm__reorder_create(ocdm__device *device, const ocdm__layout *from, const ocdm__layout *to, ocdm__op **op,
                                 ocdm_error *error);

/* Runs a primitive on the three arrays of its kind. Any thread, one slot each. OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__op_run(ocdm__op *op, unsigned slot, const void *first, const void *second, void *third);

/* The layout of a convolution's weights: the op's own. */
const ocdm__layout *ocdm__op_weights(const ocdm__op *op);

/* Bytes of workspace that a pool needs between forward and backward. */
size_t ocdm__op_workspace(const ocdm__op *op);

void ocdm__op_destroy(ocdm__op *op);

/* A layout in plain order, f32: of a convolution's weights (out, in / groups, kernel, kernel; with groups, groups first). */
ocdm_status ocdm__layout_plain(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error);
/* A 1x1 convolution's weights in plain order, seen as those of the convolution that goes the other way, whose `shape` is given.
 */
ocdm_status ocdm__layout_turned(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error);
ocdm_status ocdm__layout_copy(const ocdm__layout *from, ocdm__layout **layout, ocdm_error *error);
bool ocdm__layout_equal(const ocdm__layout *a, const ocdm__layout *b);
size_t ocdm__layout_bytes(const ocdm__layout *layout);
void ocdm__layout_destroy(ocdm__layout *layout);

/* c (rows x columns) = a b, row-major with leading dimensions; a is transposed when `a_turned`, likewise b. */
struct ocdm__gemm {
    bool a_turned, b_turned;
    size_t rows, columns, depth;
    const float *a, *b;
    size_t a_stride, b_stride;
    float *c;
    size_t c_stride;
};
ocdm_status ocdm__gemm(const struct ocdm__gemm *gemm);

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* Blocks start at a multiple of 64 bytes, so that a vector of the widest kind never crosses two cache lines. */

/* As ocdm__allocate, zeroed; give it back with ocdm__release_aligned. Large blocks are put on large pages where the system has
 * them: networks walk through hundreds of megabytes, and looking up small pages takes a few per cent of a step. */
void *ocdm__allocate_aligned(size_t count, size_t size);
void ocdm__release_aligned(void *start);

#endif
