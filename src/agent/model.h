/*
 * The networks as data: a list of nodes, each a convolution with its batch norm, activation and residual addition, a pooling
 * or a linear layer. The list describes a model completely; no other code is specific to a model.
 *
 * Names of parameters are torchvision's for resnet*, those of the weights file in Keras's order for mobilenet1.
 */
#ifndef OCDM_AGENT_MODEL_H
#define OCDM_AGENT_MODEL_H

#include "agent/kernels.h"

enum ocdm__node_kind {
    OCDM__NODE_CONV,     /* convolution without bias, batch norm, residual, activation */
    OCDM__NODE_MAX_POOL, /* 3x3 or 2x2, stride 2 */
    OCDM__NODE_AVERAGE,  /* over the whole image: from here on there is one vector for each sample */
    OCDM__NODE_LINEAR,   /* with bias, activation */
};

#define OCDM__NODE_NAME 40

/* A node reads the output of node `input` - 1, or the network's input if `input` is 0. `residual` is numbered in the same way;
 * 0 means none. */
struct ocdm__node {
    enum ocdm__node_kind kind;
    enum ocdm__activation activation;
    uint32_t input, residual;
    uint32_t channels; /* of its output */
    uint32_t kernel, stride;
    bool depthwise;             /* each channel by itself */
    bool pad_after;             /* as TensorFlow's "same": padded right and below */
    char name[OCDM__NODE_NAME]; /* of its weights, before ".weight" */
    char norm[OCDM__NODE_NAME]; /* of its batch norm */
    /* What follows from the input's size: */
    uint32_t in_channels, in_height, in_width;
    uint32_t height, width;
    uint32_t pad_before, pad_after_height, pad_after_width;
};

struct ocdm__model {
    struct ocdm__node *nodes; /* every node comes after those that it reads; the last is the head */
    size_t count;
    bool images;        /* the input is images, not features */
    float norm_epsilon; /* of its batch norms */
};

/* What decides a model's nodes. */
struct ocdm__model_size {
    const char *name;       /* one of ocdm__model_names */
    uint32_t class_count;   /* outputs of the head */
    uint32_t features;      /* inputs of linear and mlp */
    uint32_t hidden;        /* of mlp: the width of its hidden layer; 0 for 512 */
    uint32_t height, width; /* of images */
    uint32_t blocks;        /* of mobilenet1: how many of its 13 blocks; 0 for all */
};

/*
 * One row for each model: name; whether the input is images, else features; whether images have values from -1 to 1, else they
 * are normalised by ImageNet's mean and deviation; epsilon of the batch norms; the function of model.c that lists the nodes;
 * for residual networks the blocks of the four layers, and whether they are bottlenecks; for the first two the hidden layers.
 */
/* clang-format off */
#define OCDM__MODELS(ROW)                                                                                                      \
    ROW("linear",     false, false, 1e-5f, list_vectors,   0, 0,  0, 0, false)                                                 \
    ROW("mlp",        false, false, 1e-5f, list_vectors,   1, 0,  0, 0, false)                                                 \
    ROW("cnn",        true,  false, 1e-5f, list_cnn,       0, 0,  0, 0, false)                                                 \
    ROW("resnet18",   true,  false, 1e-5f, list_resnet,    2, 2,  2, 2, false)                                                 \
    ROW("resnet34",   true,  false, 1e-5f, list_resnet,    3, 4,  6, 3, false)                                                 \
    ROW("resnet50",   true,  false, 1e-5f, list_resnet,    3, 4,  6, 3, true)                                                  \
    ROW("resnet101",  true,  false, 1e-5f, list_resnet,    3, 4, 23, 3, true)                                                  \
    ROW("resnet152",  true,  false, 1e-5f, list_resnet,    3, 8, 36, 3, true)                                                  \
    ROW("mobilenet1", true,  true,  1e-3f, list_mobilenet, 0, 0,  0, 0, false)
/* clang-format on */

/* The names as elements of an array. */
#define OCDM__MODEL_NAME(name, ...) name,

/* The models by name, ended by NULL. */
extern const char *const ocdm__model_names[];

/* Whether the input is images, and whether these have values from -1 to 1. False for a name that is not of a model. */
bool ocdm__model_takes_images(const char *name);
bool ocdm__model_is_symmetric(const char *name);

/* OCDM_OK, OCDM_UNKNOWN_NAME, OCDM_BAD_ARGUMENT (an image too small for the network, ...), OCDM_NO_MEMORY. */
ocdm_status ocdm__model_create(const struct ocdm__model_size *size, struct ocdm__model *model, ocdm_error *error);
void ocdm__model_destroy(struct ocdm__model *model);

/* Floating-point operations of one sample forward: two for each multiply-add of convolutions and linear layers. Norms,
 * activations and pooling are not counted. */
double ocdm__model_operations(const struct ocdm__model *model);

#endif
