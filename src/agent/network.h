/*
 * A network: the parameters of a model, the primitives of its layers, and the memory of a step; and the agent around it.
 * Internal to src/agent and its tests.
 *
 * The result does not depend on the number of threads. An item of work is one image in one layer; sums over the batch (batch
 * norm, forward and backward) are computed per image and added in the order of the images. The gradient of a layer's weights is
 * computed in lanes, each a fixed share of the batch, and the lanes are added as a balanced tree. Large weights are computed in
 * slices, so that the gradients of several lanes are added while they are in a core's cache.
 */
#ifndef OCDM_AGENT_NETWORK_H
#define OCDM_AGENT_NETWORK_H

#include <stdatomic.h>

#include "agent/agent.h"
#include "agent/kernels.h"
#include "agent/model.h"
#include "agent/primitives.h"
#include "base/safetensors.h"
#include "ranks/ranks.h"

/* ---- threads --------------------------------------------------------------------------------------------------------- */

/*
 * Threads that wait for work: a region is a few lists of items, distributed over the threads as they become free; it ends when
 * all items are done. An item may run on any thread, so its result must depend on its number only.
 */
typedef struct ocdm__team ocdm__team;

/* Items 0..count-1; each thread has its own `slot`. */
struct ocdm__work {
    void (*run)(void *context, size_t item, unsigned slot);
    void *context;
    size_t count;
};

/* `threads` includes the caller, which works too: 1 starts no thread. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__team_create(unsigned threads, ocdm__team **team, ocdm_error *error);
void ocdm__team_destroy(ocdm__team *team);

/* Runs all items, the lists in order: put large items first. At most OCDM__TEAM_LISTS lists. One caller at a time. */
#define OCDM__TEAM_LISTS 4
void ocdm__team_run(ocdm__team *team, const struct ocdm__work *works, size_t work_count);

/* ---- the network ----------------------------------------------------------------------------------------------------- */

enum {
    OCDM__LANES = 16,      /* shares of a batch, unless they would be too large or empty */
    OCDM__LANE_IMAGES = 4, /* the maximum number of images in a lane, which bounds the number of primitives */
    OCDM__CHUNK = 4, /* the maximum number of lanes in an item of work if the weights are not in slices, which bounds memory */
    OCDM__FAN = 4,   /* the number of lanes, or of sums of as many lanes each, that are added at a time */
    OCDM__PRODUCTS = 4, /* the number of batch sizes for which a linear layer keeps primitives; the oldest is replaced */
    OCDM__LINEAR_OPS = 3,
    OCDM__PARAMETER_NAME = 56,
    OCDM__PARTIAL_UNITS = 4, /* of four bytes: two sums in double for each image and channel */
};

/* A tensor that is saved: weights, or running statistics, which no gradient reaches. */
struct ocdm__parameter {
    char name[OCDM__PARAMETER_NAME];
    uint32_t rank;
    uint64_t shape[4];
    size_t size;  /* elements, in plain order */
    size_t first; /* position of its first element among all that are trained */
    size_t room;  /* elements in memory, including the padding of oneDNN's layouts */
    bool pooled;  /* weights of a convolution: value, mean and square are parts of the pool, from `place` on */
    size_t place;
    bool trained;
    double deviation; /* of the normal distribution it starts from; 0: it starts as `start` */
    float start;
    float *value;
    float *mean, *square;              /* Adam's; NULL before the first step, and when not trained */
    float *averages[OCDM__MOST_RATES]; /* of the value; NULL before the first step */
    ocdm__layout *plain, *home;        /* NULL when the two are the same */
    ocdm__op *to_home, *from_home;
};

/* A piece of memory for one image that is in use from one moment to another. */
struct ocdm__span {
    size_t bytes; /* 0: not needed */
    uint32_t from, until;
    size_t at; /* in bytes per image; see plan.c */
};

/* The weights of all convolutions and Adam's averages, each in one piece in the order of the backward pass, so that ranks can
 * exchange ranges of them that have several layers. */
struct ocdm__pool {
    float *value, *mean, *square;
    size_t size;
};

struct ocdm__buckets;

/* No such parameter, no such layer. */
#define OCDM__NOTHING UINT32_MAX

/* The constants of a batch norm that differ from step to step, per channel. */
enum {
    OCDM__MEAN,
    OCDM__INVERSE, /* of the deviation */
    OCDM__SCALE,   /* what a value is multiplied with, */
    OCDM__SHIFT,   /* and what is added then */
    OCDM__SLOPE,   /* backward: the factor of the distance from the mean that is subtracted from a gradient, */
    OCDM__OFFSET,  /* and in any case */
    OCDM__GAIN_GRADIENT,
    OCDM__BIAS_GRADIENT,
    OCDM__CONSTANTS
};

/* The primitives of a linear layer for one number of rows. Backward passes are primitives in bf16 only; in f32 they are
 * plain calls, which start faster. */
struct ocdm__products {
    size_t rows;
    ocdm__op *ops[OCDM__LINEAR_OPS]; /* the output, the gradients of weights and of input */
};

/* A node at work. */
struct ocdm__layer {
    const struct ocdm__node *node;
    uint32_t weight, gain, bias, mean, variance; /* parameters */
    uint32_t first_reader;                       /* the first node that reads this one, as input or residual */
    /* primitives */
    ocdm__op *forward, *data;
    ocdm__op *forward_pair;                   /* two images at once, where that pays; NULL elsewhere */
    ocdm__op *weights[OCDM__LANE_IMAGES + 1]; /* of a slice, by images */
    size_t slices;                            /* of the weights: ranges of output channels, one after the other in memory */
    ocdm__op *to_forward, *to_data; /* copies of the weights in the primitives' layouts; NULL if that is the home layout */
    void *forward_weights, *data_weights;
    /* memory of a training step, of one image each */
    struct ocdm__span raw, output, workspace, arriving; /* arriving: the gradient that goes on to the input */
    const struct ocdm__span *gradient;                  /* the gradient that arrives at this node; folded at the end */
    const struct ocdm__span *added;                     /* a second part of it, or NULL */
    /* and of an evaluation */
    struct ocdm__span passing, pool_room;
    size_t image_bytes; /* of its output */
    /* of a linear layer */
    struct ocdm__products products[OCDM__PRODUCTS]; /* the last ones made first */
    void *narrow; /* in bf16: weights, then input, then gradients of `narrow_rows` rows, as elements */
    size_t narrow_rows;
    /* of a batch norm */
    float *constants;              /* OCDM__CONSTANTS times channels */
    double *partial;               /* per image two sums for each channel; while training */
    ocdm__ranks_request gathering; /* of the sums of all ranks */
};

typedef struct ocdm__network {
    struct ocdm__model model;
    struct ocdm__parameter *parameters;
    size_t parameter_count;
    size_t trained_count; /* elements */
    struct ocdm__pool pool;
    struct ocdm__layer *layers;
    uint32_t image_layers; /* how many come before the average; 0 without images */
    struct ocdm__span input, eval_input;
    size_t input_bytes; /* of an image as the first layer reads it */
    bool blocked; /* images are in blocks of channels and the first layer reads the caller's planes; otherwise channels last */
    const struct ocdm__kernels *kernels;
    ocdm__device *device;
    ocdm__team *team;
    unsigned threads;
    bool bf16;
    bool stale;     /* parameters have changed since the copies were made */
    bool can_train; /* the memory that only training needs is allocated */
    uint32_t average_count;
    uint32_t version; /* 0, or the average that has changed places with the values, plus 1 */
    /* memory */
    unsigned char *arena; /* of a step */
    size_t arena_images, arena_image;
    unsigned char *eval_arena; /* one image for each thread */
    size_t eval_image;
    float *lane_memory;          /* gradients of two layers' weights, chunk by chunk, then the lanes of the chunks at work */
    size_t lane_half, lane_room; /* floats of one layer's chunks; floats that are allocated */
    const float **parts;         /* the chunks of two layers, and how they are added */
    unsigned char *merges;
    size_t *chunk_sizes;           /* lanes */
    size_t part_room;              /* chunks of one layer */
    struct ocdm__buckets *buckets; /* NULL: one process */
    double *partials;
    size_t partial_images;
    float *vectors; /* outputs of average and linear nodes, and their gradients, whole batches */
    size_t vector_rows, vector_width,
        vector_slots;   /* rows of a slot, floats of a row, slots for outputs: as many follow for gradients */
    atomic_bool failed; /* a primitive failed in some thread */
} ocdm__network;

/* OCDM_OK, OCDM_UNKNOWN_NAME, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. The weights are drawn. */
ocdm_status ocdm__network_create(const ocdm__agent_settings *settings, ocdm__network **network, ocdm_error *error);
void ocdm__network_destroy(ocdm__network *network);

/* The list of parameters only, without their memory: nothing can be computed with it. */
ocdm_status ocdm__network_outline(const struct ocdm__model_size *size, ocdm__network **network, ocdm_error *error);

/* parameters.c: lists the parameters of a model; allocates and initialises them. */
ocdm_status ocdm__parameters_list(ocdm__network *network, ocdm_error *error);
ocdm_status ocdm__parameters_allocate(ocdm__network *network, ocdm_error *error);
void ocdm__parameters_draw(ocdm__network *network, uint64_t seed);
ocdm_status ocdm__parameters_add_adam(ocdm__network *network, ocdm_error *error); /* and averages of the weights */
/* After step number `step`: see ocdm__agent_use. */
void ocdm__parameters_average(ocdm__network *network, const ocdm__network_settings *settings, uint64_t step, const float *ages);
void ocdm__parameters_use(ocdm__network *network, uint32_t version);
void ocdm__parameters_release(ocdm__network *network);

/* plan.c: when each piece of memory is in use and where it is; which node reads which. */
ocdm_status ocdm__plan_training(ocdm__network *network, ocdm_error *error);
ocdm_status ocdm__plan_evaluation(ocdm__network *network, ocdm_error *error);

/*
 * How a batch is divided: into lanes, a power of two. One process has all of them; several have a range each.
 */
struct ocdm__share {
    size_t images, lanes;
    size_t first_lane, end_lane; /* of this process */
    size_t first, end;           /* images of this process */
    size_t base, room;           /* the memory of a step is of the images base to base + room - 1 */
    size_t given;                /* the first image of the input */
    const ocdm__ranks *ranks;    /* NULL: one process */
    size_t *starts;              /* room for one number more than there are ranks */
};

/*
 * How the gradient of a layer's weights is computed. An item of work is a slice of the weights and an aligned chunk of lanes.
 * It adds the lanes in groups of OCDM__FAN, and these again; only the sum leaves the cache. The plan does not change any
 * result.
 */
struct ocdm__lane_plan {
    size_t chunk, chunks; /* the most lanes of a chunk; chunks of this process */
    size_t stride;        /* floats of a chunk's sum */
    size_t slice, place;  /* floats of a slice; of the memory for one */
    size_t image;         /* bytes of a slice of the output of one image */
    size_t levels;        /* groups in groups */
    bool at_once;         /* an item has the whole sum of its slice: Adam's step follows while it is in the cache */
    bool in_bucket;       /* on several ranks: chunks are the blocks that travel, and are made where they are sent from */
    size_t room;          /* floats for the lanes of an item, apart from the sum */
};

/* network.c */
struct ocdm__lane_plan ocdm__plan_lanes(const ocdm__network *network, const struct ocdm__share *share,
                                        const struct ocdm__layer *layer);

/* layers.c: primitives. */
ocdm_status ocdm__layers_create(ocdm__network *network, ocdm_error *error);
ocdm_status ocdm__layers_prepare_training(ocdm__network *network, ocdm_error *error);
ocdm_status ocdm__layers_prepare_lanes(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error);
void ocdm__layers_release(ocdm__network *network);
void ocdm__products_destroy(struct ocdm__products *products);
/* Updates the copies of the weights if the weights have changed. */
ocdm_status ocdm__layers_refresh(ocdm__network *network, ocdm_error *error);
/* Only the copies that layer k needs to run forward and the layer before it to run backward. */
void ocdm__layers_refresh_for(ocdm__network *network, uint32_t k);

/* Whether it is a matrix product: a 1x1 convolution of stride 1, channels last. The gradient of its weights is computed as
 * one, which is much faster. */
bool ocdm__layer_is_product(const ocdm__network *network, const struct ocdm__node *node);

/* layers.c: the division of a batch. */
struct ocdm__share ocdm__share_of(const ocdm__network *network, size_t images);
/* The first image of a lane. */
size_t ocdm__lane_start(const struct ocdm__share *share, size_t lane);

/* buckets.c: the part of this rank. `share->starts` is there already. */
void ocdm__share_deal(struct ocdm__share *share, const ocdm__ranks *ranks);
/* The chunks of this process, of at most `chunk` lanes: unless NULL, their lanes, and the merges that add those of each aligned
 * block of lanes that this process has. Returns the number. */
size_t ocdm__share_chunks(const struct ocdm__share *share, size_t chunk, size_t *sizes, unsigned char *merges);
/* Fills `share->starts`: where each rank's images begin, in arrays of `units` for each image. */
void ocdm__share_starts(const struct ocdm__share *share, size_t units);
/* The sums of a layer's batch norm, of which every rank has those of its images: begins to gather them; waits until all are
 * there. Work that does not need them fits in between. Nothing to do for one process, and for layers without a norm. */
void ocdm__norm_start(const struct ocdm__share *share, struct ocdm__layer *layer);
void ocdm__norm_wait(const struct ocdm__share *share, const struct ocdm__layer *layer);

/* buckets.c: the exchange of weight gradients between all ranks. */
void ocdm__buckets_destroy(struct ocdm__buckets *buckets);
ocdm_status ocdm__buckets_reserve(struct ocdm__network *network, const struct ocdm__share *share, ocdm_error *error);
/* Part of a layer's gradient, of this rank's chunks; any thread. When all parts are there: the end of the layer, which may fill
 * its bucket. */
void ocdm__buckets_add(const struct ocdm__network *network, const struct ocdm__share *share, uint32_t layer,
                       const struct ocdm__tree *chunks, size_t at, size_t count);
void ocdm__buckets_close(struct ocdm__network *network, const struct ocdm__share *share, uint32_t layer);
/* Where the sum of a block of this rank's lanes is made. */
float *ocdm__buckets_place(const struct ocdm__network *network, uint32_t layer, size_t block);
/* Moves them on, with Adam's steps of those that have arrived; with `wait` until all weights are up to date. */
void ocdm__buckets_advance(struct ocdm__network *network, const struct ocdm__share *share, const struct ocdm__adam *adam,
                           bool wait);
/* Brings the leader's averages of Adam up to date, of which every rank has its slices. All ranks call it. */
void ocdm__buckets_collect(struct ocdm__network *network, const ocdm__ranks *ranks);

/* A batch that passes through the network. Vectors are rows of floats. */
struct ocdm__pass {
    ocdm__network *network;
    const float *input; /* images as planes, or features */
    struct ocdm__share share;
    bool frozen;                     /* batch norms use their running statistics and leave them as they are */
    float *logits, *logit_gradients; /* images x classes */
};

/* Allocates the memory of a training pass. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__network_reserve(ocdm__network *network, const struct ocdm__share *share, ocdm_error *error);

/* forward.c: computes all outputs and keeps them for the backward pass. Logits are in pass->logits. */
ocdm_status ocdm__network_forward(struct ocdm__pass *pass, ocdm_error *error);

/* Where gradients go: into Adam's step, or out. */
struct ocdm__gradient_sink {
    struct ocdm__adam adam; /* step size, root scale, epsilon, clip; the rest is filled in */
    float *flat;            /* not NULL: all gradients in plain order, and nothing is changed */
};

/* backward.c: from pass->logit_gradients. */
ocdm_status ocdm__network_backward(struct ocdm__pass *pass, const struct ocdm__gradient_sink *sink, ocdm_error *error);

/* forward.c: features before the head (images x feature width), and logits unless NULL; any number of images. If `input` is
 * NULL, the features of images are there already. */
ocdm_status ocdm__network_evaluate(ocdm__network *network, const float *input, size_t images, float *features, float *logits,
                                   ocdm_error *error);

/* linear.c: vectors. `output` and gradients are rows of the node's channels. Preparing allocates what a forward pass of
 * this many rows needs, so that it cannot fail in the middle of a step. */
ocdm_status ocdm__linear_prepare(ocdm__network *network, struct ocdm__layer *layer, size_t rows, ocdm_error *error);
ocdm_status ocdm__linear_forward(ocdm__network *network, struct ocdm__layer *layer, const float *input, size_t rows,
                                 float *output);
struct ocdm__linear_back {
    const float *input, *output;
    float *gradient;       /* of the output; changed where an activation is undone */
    float *input_gradient; /* NULL: not needed */
    float *weight_gradient, *bias_gradient;
    size_t rows;
};
/* After the forward pass of the same rows. */
ocdm_status ocdm__linear_backward(ocdm__network *network, struct ocdm__layer *layer, const struct ocdm__linear_back *back);

/* Floats of a sample. */
size_t ocdm__network_input_size(const ocdm__network *network);

/* OCDM_OK unless a primitive has failed. */
ocdm_status ocdm__network_check(ocdm__network *network, ocdm_error *error);

/* The memory of one image's part of a training step. */
static inline unsigned char *ocdm__piece(const struct ocdm__pass *pass, const struct ocdm__span *span, size_t bytes,
                                         size_t image)
{
    return pass->network->arena + span->at * pass->share.room + bytes * (image - pass->share.base);
}

/* An image of the network's input as the first layer reads it. */
static inline const unsigned char *ocdm__input_piece(const struct ocdm__pass *pass, size_t image)
{
    const ocdm__network *network = pass->network;
    if (network->blocked)
        return (const unsigned char *)(const void *)pass->input + network->input_bytes * (image - pass->share.given);
    return ocdm__piece(pass, &network->input, network->input_bytes, image);
}

/* The memory layout of the output of a node. */
static inline struct ocdm__extent ocdm__extent_of(const ocdm__network *network, const struct ocdm__node *node)
{
    size_t width = network->blocked ? OCDM__CHANNEL_BLOCK : node->channels;
    return (struct ocdm__extent){node->channels / width, (size_t)node->height * node->width, width};
}

/* Bytes, rounded up so that every piece is aligned for vectors; and floats. */
static inline size_t ocdm__rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static inline size_t ocdm__rounded_floats(size_t floats)
{
    return ocdm__rounded(floats * sizeof(float)) / sizeof(float);
}

/* ---- the agent ------------------------------------------------------------------------------------------------------ */

/* Room for what a pass computes of a batch. */
struct ocdm__pass_room {
    float *logits, *logit_gradients;
    double *row_losses;   /* without the part of dark replay */
    float *fresh_weights; /* of the classes, for samples of the stream */
    size_t rows;
};

struct ocdm__agent {
    ocdm__network *network;
    ocdm__network_settings settings;
    size_t class_count;
    uint64_t steps;
    struct ocdm__pass_room step;  /* what the last step computed */
    struct ocdm__pass_room asked; /* of gradients between steps, which must not change that */
    bool broken;                  /* a change of the weights was interrupted */
    size_t bad_sample;            /* of the last batch whose loss was not a number */
    const ocdm__ranks *ranks;     /* that work on it with this one; NULL: none */
    size_t *starts;               /* one more than there are ranks */
};

/* Returns OCDM_OK, or OCDM_NO_MEMORY for an agent that must not be used any more. */
static inline ocdm_status ocdm__agent_check(const ocdm__agent *agent, ocdm_error *error)
{
    if (!agent->broken)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_NO_MEMORY, "start again from the last checkpoint",
                      "memory ran out while the agent's weights were being changed: it cannot go on");
}

/* The learning rate of step number `step`, from 1. */
double ocdm__learning_rate(const ocdm__network_settings *settings, uint64_t step);

/* The constants of that step; the arrays are not filled in. */
struct ocdm__adam ocdm__step_of(const ocdm__network_settings *settings, uint64_t step);

/* ---- learning.c ----------------------------------------------------------------------------------------------- */

/* The mean loss of room->logits over all samples and classes; its gradient and the losses of samples go into the room. Stops at
 * a sample whose loss is not finite: `*bad` is its index, otherwise the batch's count. */
double ocdm__loss(const ocdm__loss_rule *rule, const ocdm__batch *batch, size_t classes, const struct ocdm__pass_room *room,
                  size_t *bad);

/* ---- weights files --------------------------------------------------------------------------------------------------- */

/* The tensor of a parameter: its value for "", Adam's averages for "adam.m." and "adam.v.". NULL when there is none. */
const struct ocdm__tensor *ocdm__weights_find(const struct ocdm__safetensors *file, const char *prefix, const char *name);

/* Whether a file has all parameters of a network, the head too, in finite numbers. OCDM_OK, OCDM_BAD_FILE. */
ocdm_status ocdm__weights_check(const ocdm__network *network, const struct ocdm__weights *weights, ocdm_error *error);

/* Element number i of a tensor as a float; NaN for types that are not floating point. */
float ocdm__tensor_float(const struct ocdm__tensor *tensor, size_t i);

/* Whether the parameter belongs to the head. */
bool ocdm__is_head(const ocdm__network *network, const struct ocdm__parameter *parameter);

#endif
