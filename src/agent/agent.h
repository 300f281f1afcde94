/*
 * The agent: a network that learns online from batches of samples with several labels. One step is forward, a loss
 * (binary cross entropy with logits by default, mean over batch and classes), backward and Adam; batch norms use the batch's
 * own statistics.
 *
 *     ocdm__agent_settings settings = ocdm__agent_settings_default();
 *     settings.model = "resnet18";
 *     settings.class_count = 70;
 *     settings.height = settings.width = 64;
 *     ocdm__agent *agent = NULL;
 *     status = ocdm__agent_create(&settings, NULL, &agent, &error);
 *     status = ocdm__agent_train(agent, &batch, &loss, &error);
 *     status = ocdm__agent_predict(agent, images, count, logits, &error);
 *
 * The same settings, weights and batches give bit-identical weights for any number of threads, on the same CPU with the same
 * oneDNN, unless `fast` is set. An agent must be used by one thread at a time; it starts its own threads.
 */
#ifndef OCDM_AGENT_AGENT_H
#define OCDM_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/kernels.h"
#include "base/safetensors.h"
#include "ocdm/ocdm.h"
#include "ranks/ranks.h"

typedef struct ocdm__agent ocdm__agent;

/* The losses: symbol, name. docs/methods.md has the formulas. */
#define OCDM__LOSSES(ROW) ROW(BCE, "bce") ROW(ASL, "asl") ROW(SOFTMARGIN, "softmargin")

#define OCDM__LOSS_KIND(symbol, name) OCDM__LOSS_##symbol,
enum ocdm__loss_kind { OCDM__LOSSES(OCDM__LOSS_KIND) };

/* How the learning rate changes from step to step: symbol, name. */
#define OCDM__LR_SCHEDULES(ROW) ROW(CONSTANT, "constant") ROW(COSINE, "cosine")

#define OCDM__LR_SCHEDULE_KIND(symbol, name) OCDM__LR_##symbol,
enum ocdm__lr_schedule { OCDM__LR_SCHEDULES(OCDM__LR_SCHEDULE_KIND) };

#define OCDM__MOST_FOCAL 8.0

/* How logits are judged. */
typedef struct ocdm__loss_rule {
    uint32_t kind;    /* an ocdm__loss_kind */
    double negatives; /* 0 to 1: the weight of classes that no sample of the stream in the batch has, for those samples */
    double focal;     /* 0 to OCDM__MOST_FOCAL: the gradient of a negative is sigmoid(x)^(1 + focal); not for asl */
    double dark;      /* weight of the squared distance to the logits that replayed samples once had */
} ocdm__loss_rule;

/* Rates of averages, each above 0 and below 1. */
#define OCDM__MOST_RATES 8
typedef struct ocdm__rates {
    double values[OCDM__MOST_RATES];
    uint32_t count;
} ocdm__rates;

typedef struct ocdm__agent_settings {
    const char *model;      /* one of ocdm__model_names (agent/model.h) */
    uint32_t class_count;   /* C, outputs of the head */
    uint32_t features;      /* width of a sample for linear and mlp */
    uint32_t height, width; /* of images, for the others; three channels */
    uint32_t blocks;        /* mobilenet1: the number of its 13 blocks; 0 for all, or as many as the weights have */
    bool bf16;              /* compute in bf16, with weights and sums in f32; only if the CPU supports it */
    bool fast;              /* let results depend on the number of threads */
    double learning_rate;   /* default 1e-4 */
    uint32_t optimiser;     /* an ocdm__optimiser; default adam */
    double weight_decay;    /* adamw: decoupled; sgd: added to the gradient */
    double momentum;        /* sgd */
    uint32_t lr_schedule;   /* an ocdm__lr_schedule; default constant */
    uint64_t horizon;       /* cosine: steps until the learning rate is 0 */
    uint64_t warmup;        /* steps until the learning rate is whole */
    double epsilon;         /* Adam's, outside the root; default 1e-4; above 0 */
    double clip;            /* cut each gradient to -clip..clip; default 0: do not */
    ocdm__loss_rule loss;   /* default: bce, nothing weighted */
    ocdm__rates averages;   /* of the exponential averages of the weights that are kept; default: none */
    uint64_t seed;          /* of the weights that no file gives */
    size_t batch;           /* samples of the largest batch of training: its memory is allocated at once; 0: when it comes */
    unsigned threads;       /* 1 to OCDM__MAX_THREADS; default 1. linear and mlp use one */
    bool everywhere;        /* on several ranks: all of them make this agent and call it alike, see ocdm__agent_deal */
} ocdm__agent_settings;

#define OCDM__MAX_THREADS 64

ocdm__agent_settings ocdm__agent_settings_default(void);

/* A weights file that has been read, and its name in messages. */
struct ocdm__weights {
    const char *name;
    const struct ocdm__safetensors *file;
};

/*
 * Makes an agent, with the weights of a file unless `weights` is NULL: see ocdm__agent_load; for mobilenet1 the file also says
 * how many blocks there are. OCDM_OK, OCDM_UNKNOWN_NAME, OCDM_BAD_ARGUMENT, OCDM_BAD_FILE, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_create(const ocdm__agent_settings *settings, const struct ocdm__weights *weights, ocdm__agent **agent,
                               ocdm_error *error);

/* NULL is fine. */
void ocdm__agent_destroy(ocdm__agent *agent);

/*
 * Samples with their labels. Input: `count` rows of features, or images as planes (channel, row, column), normalised already.
 * The labels of sample i are labels[starts[i]] to labels[starts[i + 1] - 1], numbers of classes below class_count; repeats
 * count once.
 */
struct ocdm__labelled_batch {
    const float *input;
    const size_t *starts;
    const uint32_t *labels;
    size_t count;
    size_t fresh;               /* how many of them are of the stream: the first ones; the others are replayed */
    const float *class_weights; /* of the loss, one for each class; NULL: 1 */
    const float *dark;          /* logits that the replayed samples once had, a row for each; NULL: not known */
    const uint8_t *known; /* a row of bits (base/bytes.h) for each sample: the classes that are annotated, its labels among
                             them; the others are left out of the loss. NULL: all are */
    const float *ages;    /* of each class, in steps, for averages that begin with it; 0: not known; NULL: of none */
};

/*
 * One step. `loss` may be NULL. OCDM_OK; OCDM_BAD_ARGUMENT (an empty batch, a label out of range, one sample whose image is
 * down to one pixel at some batch norm); OCDM_BAD_RECORD when a sample's loss is not a finite number: ocdm__agent_bad_sample
 * is its index in the batch, the weights are as before the step (running statistics are not); OCDM_NO_MEMORY: the agent is as
 * it was. Only if oneDNN itself runs out of memory in the middle of the step does the agent become unusable: every later call
 * fails with OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_train(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, double *loss, ocdm_error *error);
size_t ocdm__agent_bad_sample(const ocdm__agent *agent);

/* What the last step computed, a row for each sample of its batch: logits before the step, and losses, means over the classes
 * without the part of dark replay. */
const float *ocdm__agent_logits(const ocdm__agent *agent);
const double *ocdm__agent_losses(const ocdm__agent *agent);

/* Logits (count x class_count) in evaluation mode, for any number of samples. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__agent_predict(ocdm__agent *agent, const float *input, size_t count, float *logits, ocdm_error *error);

/* The input of the head (count x feature width) in evaluation mode: for images the spatial mean of the last layer. */
ocdm_status ocdm__agent_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error);
uint32_t ocdm__agent_feature_width(const ocdm__agent *agent);

/*
 * The gradient of the batch's mean loss with respect to all trained parameters, in evaluation mode; the agent is unchanged.
 * `gradient` has room for ocdm__agent_gradient_size floats. Returns OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_BAD_RECORD or
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_gradient(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, float *gradient,
                                 ocdm_error *error);
size_t ocdm__agent_gradient_size(const ocdm__agent *agent);

/* For tests: the same with batch norm over the batch as in a training step, which updates the running statistics; also the
 * loss unless it is NULL. */
ocdm_status ocdm__agent_batch_gradient(ocdm__agent *agent, const struct ocdm__labelled_batch *batch, float *gradient,
                                       double *loss, ocdm_error *error);

/*
 * Besides the trained weights an agent may have exponential averages of them and of the norms' statistics: after step t,
 * average = r average + (1 - r) weights with r = min(rate, 1 - 1/t); for a row of the head t is the age of its class, if that
 * came with the batch. Predictions, features, lists and fetches use version 0,
 * the trained weights, unless another is chosen: version i is the average of rate i - 1. Before the first step all versions are
 * the trained weights. A step returns to version 0. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_use(ocdm__agent *agent, size_t version, ocdm_error *error);
size_t ocdm__agent_average_count(const ocdm__agent *agent);

/* ---- several ranks --------------------------------------------------------------------------------------------------- */

/* Agents of networks that take images work on all ranks of src/ranks. All ranks except the leader, rank 0, call the first
 * function, which returns when the leader calls the second. */
void ocdm__together_follow(void);
void ocdm__together_end(void);

/*
 * An agent that all ranks call alike, each with its own images in `input`, while counts and labels are those of all: of a batch
 * of `count`, rank r has the images starts[r] to starts[r + 1] - 1. The array is the agent's until its next call. NULL: this
 * process has all images.
 */
const ocdm__ranks *ocdm__agent_deal(ocdm__agent *agent, size_t count, bool training, const size_t **starts);

/* All ranks take over the leader's weights, averages and steps. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__agent_share(ocdm__agent *agent, ocdm_error *error);

/* Each rank has its part of Adam's averages. All call this before the leader lists them with ocdm__agent_list. */
void ocdm__agent_collect(ocdm__agent *agent);

/* Floating-point operations of one sample forward, as in agent/model.h. A training step has three times as many: forward, the
 * gradients of the outputs, and those of the weights. */
double ocdm__agent_operations(const ocdm__agent *agent);

/* Steps so far. */
uint64_t ocdm__agent_steps(const ocdm__agent *agent);

/* ---- weights -------------------------------------------------------------------------------------------------------- */

/* The tensors of an agent in plain order, as ocdm__safetensors_write takes them. */
struct ocdm__agent_state {
    struct ocdm__tensor *tensors; /* `data` is NULL where it has to be fetched */
    size_t count;
    void *memory; /* names, and room for the largest tensor */
};

/*
 * Lists parameters and running statistics; with `optimiser` Adam's averages too (adam.m.NAME, adam.v.NAME), the number of its
 * steps (adam.step), and averages of the weights (ema.1.NAME, ...). OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_list(ocdm__agent *agent, bool optimiser, struct ocdm__agent_state *state, ocdm_error *error);
void ocdm__agent_state_release(struct ocdm__agent_state *state);

/*
 * The bytes of tensor number i of a list, valid until the next fetch: a copy of all tensors would take three times the memory
 * of the network. The agent must not be trained between list and fetch. OCDM_OK, OCDM_NO_MEMORY, OCDM_BAD_RECORD (a value that
 * is not finite).
 */
ocdm_status ocdm__agent_fetch(ocdm__agent *agent, const struct ocdm__agent_state *state, size_t i, const unsigned char **data,
                              ocdm_error *error);

/*
 * Loads weights from a file, with Adam's averages if the file has them; training then continues bit-identically. If the file's
 * head has another number of classes, the agent keeps its own head and `*replaced_head` (may be NULL) is set.
 * num_batches_tracked is ignored.
 *
 * Returns OCDM_OK; OCDM_BAD_FILE for missing or unknown names (which are listed), wrong shapes, types that are not numbers,
 * values that are not finite, negative variances or averages of squares, or more than 2^53 steps; OCDM_NO_MEMORY. On error the
 * agent is unchanged, but see ocdm__agent_train about allocations of oneDNN.
 */
ocdm_status ocdm__agent_load(ocdm__agent *agent, const struct ocdm__weights *weights, bool *replaced_head, ocdm_error *error);

/* Which model the tensors of a file fit. */
struct ocdm__weights_fit {
    const char *model;    /* NULL: none */
    uint32_t class_count; /* of the head; 0: the file has none */
    uint32_t features;    /* for linear and mlp */
    uint32_t blocks;      /* for mobilenet1 */
    bool optimiser;       /* Adam's averages are there */
    char reason[400];     /* why no model fits: "the tensors are ..." */
};
ocdm_status ocdm__weights_fit(const struct ocdm__safetensors *file, struct ocdm__weights_fit *fit, ocdm_error *error);

#endif
