/*
 * A thin layer over oneDNN: only primitives.c includes dnnl.h. Images are stored channels last (image, row, column, channel) or
 * with their channels in blocks of sixteen (image, block, row, column, channel of the block), see ocdm__device_blocks; weights
 * are stored in oneDNN's preferred layout.
 *
 * A primitive is single-threaded. Parallel work is many primitives on many threads, so a result does not depend on the number
 * of threads. Each thread has its own slot, a number below the device's `slots`.
 */
#ifndef OCDM_AGENT_PRIMITIVES_H
#define OCDM_AGENT_PRIMITIVES_H

#include "base/base.h"
#include "agent/model.h"

/* oneDNN's engine, with a stream and scratch memory for every slot. */
typedef struct ocdm__device ocdm__device;

/* One primitive of one shape, usable by every slot at once. */
typedef struct ocdm__op ocdm__op;

/* The memory layout of a tensor of weights. */
typedef struct ocdm__layout ocdm__layout;

enum ocdm__op_kind {
    OCDM__CONV_FORWARD,  /* source, weights, target */
    OCDM__CONV_DATA,     /* target's gradient, weights, source's gradient */
    OCDM__CONV_WEIGHTS,  /* source, target's gradient, weights' gradient (f32 always) */
    OCDM__POOL_FORWARD,  /* source, workspace (written), target */
    OCDM__POOL_BACKWARD, /* target's gradient, workspace, source's gradient */
};

/* A convolution or a max pooling over `images` images, as a node of a model has it. */
struct ocdm__conv_shape {
    struct ocdm__node node;
    size_t images;
    bool bf16;
    bool blocked; /* channels in blocks of sixteen; a source with another number of channels is stored as planes */
};

/*
 * Creates a device. With `bf16` the CPU must have instructions for it. Returns OCDM_OK, OCDM_BAD_ARGUMENT (with the missing
 * instructions) or OCDM_NO_MEMORY.
 */
ocdm_status ocdm__device_create(unsigned slots, bool bf16, ocdm__device **device, ocdm_error *error);
void ocdm__device_destroy(ocdm__device *device);

/*
 * Whether images should be stored with their channels in blocks. They are with AVX-512 in f32: it is as fast as channels
 * last, and oneDNN's kernels for it sum a convolution block by block, with a third to a fifth of the rounding error in a
 * 3x3 layer. All other cases are fastest with channels last, and AMX supports nothing else.
 */
bool ocdm__device_blocks(bool bf16);

/* The oneDNN name of the instructions in use, for reports; never NULL. */
const char *ocdm__device_instructions(void);

/*
 * What oneDNN is making for the calling thread ("a convolution"), for a signal handler; NULL when it is not at work.
 *
 * If the system refuses memory, oneDNN 2.6 does not always return an error: it writes its code through a null pointer, throws
 * std::bad_alloc, or its OpenMP runtime calls exit. errno is ENOMEM then, unless a later failure changed it.
 */
const char *ocdm__device_task(void);

/* Makes oneDNN use only the calling thread when that thread calls it. Returns the previous setting (0 for none). */
int ocdm__single_thread(void);

/* Undoes ocdm__single_thread. */
void ocdm__restore_threads(int before);

/*
 * Creates a primitive. `weights` is the required layout of its weights, NULL for the fastest; pools have none. Returns
 * OCDM_OK, OCDM_BAD_ARGUMENT (not supported by oneDNN) or OCDM_NO_MEMORY. No other thread may run primitives of the device
 * meanwhile.
 */
ocdm_status ocdm__conv_create(ocdm__device *device, enum ocdm__op_kind kind, const struct ocdm__conv_shape *shape,
                              const ocdm__layout *weights, ocdm__op **op, ocdm_error *error);

/* target (rows x columns, f32) = a b, all in plain order; a is stored as depth x rows if transposed, b as columns x depth. Run
 * with a, b, target. */
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

/* Runs a primitive on the three arrays of its kind. Each thread uses its own slot. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__op_run(ocdm__op *op, unsigned slot, const void *first, const void *second, void *third);

/* The layout of a convolution's weights: the op's own. */
const ocdm__layout *ocdm__op_weights(const ocdm__op *op);

/* Bytes of workspace that a pool needs between forward and backward. */
size_t ocdm__op_workspace(const ocdm__op *op);

void ocdm__op_destroy(ocdm__op *op);

/* A layout in plain order, f32: of a convolution's weights (out, in / groups, kernel, kernel; with groups, groups first). */
ocdm_status ocdm__layout_plain(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error);
/* The weights of a 1x1 convolution in plain order, as those of the transposed convolution, whose `shape` is given. */
ocdm_status ocdm__layout_turned(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error);
/* Weights of the first `channels` output channels of a convolution, where they are in the whole. */
ocdm_status ocdm__layout_slice(const ocdm__layout *whole, int64_t channels, ocdm__layout **layout, ocdm_error *error);
ocdm_status ocdm__layout_copy(const ocdm__layout *from, ocdm__layout **layout, ocdm_error *error);
bool ocdm__layout_equal(const ocdm__layout *a, const ocdm__layout *b);
size_t ocdm__layout_bytes(const ocdm__layout *layout);
void ocdm__layout_destroy(ocdm__layout *layout);

/* c = a b in f32 at once, without a primitive. */
ocdm_status ocdm__gemm(const struct ocdm__product_shape *shape, const float *a, const float *b, float *c);

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* Blocks start at a multiple of 64 bytes, so that a vector of the widest kind never crosses two cache lines. */

/* As ocdm__allocate, zeroed; release with ocdm__release_aligned. Large blocks use huge pages where available: networks read
 * hundreds of megabytes, and translating small pages takes a few per cent of a step. */
void *ocdm__allocate_aligned(size_t count, size_t size);
void ocdm__release_aligned(void *start);

/* Makes room for `needed` elements of `size` bytes, of which there is room for `*room`; `block` is the address of the pointer.
 * What was there is lost if it grows, and released first: memory might not hold both. False when out of memory. */
bool ocdm__reserve_aligned(void *block, size_t *room, size_t needed, size_t size);

#endif
