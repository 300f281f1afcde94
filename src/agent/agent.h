/*
 * The agent: a network that learns online from batches of samples with several labels. One step is forward, a loss
 * (binary cross entropy with logits by default, mean over batch and classes), backward and Adam; batch norms use the batch's
 * own statistics.
 *
 *     ocdm__agent_settings settings = {.size = {.name = "resnet18", .class_count = 70, .height = 64, .width = 64},
 *                                      .network = ocdm__network_settings_default()};
 *     ocdm__agent *agent = NULL;
 *     status = ocdm__agent_create(&settings, NULL, &agent, &error);
 *     status = ocdm__agent_train(agent, &batch, &loss, &error);
 *     status = ocdm__agent_predict(agent, images, count, logits, &error);
 *
 * The same settings, weights and batches give bit-identical weights for any number of threads, on the same CPU with the same
 * oneDNN. An agent must be used by one thread at a time; it starts its own threads.
 */
#ifndef OCDM_AGENT_AGENT_H
#define OCDM_AGENT_AGENT_H

#include "base/base.h"
#include "agent/batch.h"
#include "agent/kernels.h"
#include "agent/model.h"
#include "base/safetensors.h"
#include "ranks/ranks.h"

typedef struct ocdm__agent ocdm__agent;

/* The losses by name, ended by NULL; docs/methods.md has the formulas. */
extern const char *const ocdm__loss_names[];

/* How the learning rate changes from step to step: symbol, name. */
#define OCDM__LR_SCHEDULES(ROW) ROW(CONSTANT, "constant") ROW(COSINE, "cosine")

#define OCDM__LR_SCHEDULE_KIND(symbol, name) OCDM__LR_##symbol,
enum ocdm__lr_schedule { OCDM__LR_SCHEDULES(OCDM__LR_SCHEDULE_KIND) };

#define OCDM__MOST_FOCAL 8.0

/* How logits are judged. */
typedef struct ocdm__loss_rule {
    uint32_t kind;    /* the index of a name */
    double negatives; /* 0 to 1: the weight of classes that no sample of the stream in the batch has, for those samples */
    double focal;     /* 0 to OCDM__MOST_FOCAL: the gradient of a negative is sigmoid(x)^(1 + focal); not for asl */
    double dark;      /* weight of the squared distance to the logits that replayed samples once had */
} ocdm__loss_rule;

/* Rates of averages, each above 0 and below 1. */
#define OCDM__MOST_RATES 8
typedef struct ocdm__rates {
    size_t count; /* of the type that leaves no gap before the values: rates are compared as bytes */
    double values[OCDM__MOST_RATES];
} ocdm__rates;

enum ocdm__precision { OCDM__PRECISION_F32, OCDM__PRECISION_BF16 };

/* How a network computes and learns: the part of a run's settings that is the network's own. The rows of the run's settings
 * (experiment/loop/settings.h) point into it, with the range of each number. */
typedef struct ocdm__network_settings {
    uint32_t precision;   /* an ocdm__precision: bf16 computes in bf16, with weights and sums in f32, if the CPU supports it */
    double learning_rate; /* default 1e-4 */
    double epsilon;       /* Adam's, outside the root; default 1e-4; above 0 */
    double clip;          /* cut each gradient to -clip..clip; default 0: do not */
    ocdm__loss_rule loss; /* default: bce, nothing weighted */
    ocdm__rates averages; /* of the exponential averages of the weights that are kept; default: none */
    uint32_t average_delay; /* the first steps, which averages leave out; default 0 */
    uint32_t optimiser;     /* an ocdm__optimiser; default adam */
    double weight_decay;    /* adamw: decoupled; sgd: added to the gradient */
    double momentum;        /* sgd */
    uint32_t lr_schedule;   /* an ocdm__lr_schedule; default constant */
    uint64_t horizon;       /* cosine: steps until the learning rate is 0 */
    uint64_t warmup;        /* steps until the learning rate is whole */
    uint64_t seed;          /* of the weights that no file gives */
    uint32_t threads;       /* 1 to OCDM__MAX_THREADS; default 1. linear and mlp use one */
} ocdm__network_settings;

/* A network to make. */
typedef struct ocdm__agent_settings {
    struct ocdm__model_size size;
    ocdm__network_settings network;
    size_t batch; /* samples of the largest batch of training: its memory is allocated at once; 0: when it comes */
} ocdm__agent_settings;

#define OCDM__MAX_THREADS 64

ocdm__network_settings ocdm__network_settings_default(void);

/* What two settings together must be; each alone is in the range of its row. OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__network_settings_check(const ocdm__network_settings *settings, ocdm_error *error);

/*
 * Makes an agent, with the weights of a file unless `weights` is NULL: see ocdm__agent_load; for mobilenet1 the file also says
 * how many blocks there are. OCDM_OK, OCDM_UNKNOWN_NAME, OCDM_BAD_ARGUMENT, OCDM_BAD_FILE, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_create(const ocdm__agent_settings *settings, const struct ocdm__weights *weights, ocdm__agent **agent,
                               ocdm_error *error);

/* NULL is fine. */
void ocdm__agent_destroy(void *agent);

/*
 * One step. `loss` may be NULL. OCDM_OK; OCDM_BAD_ARGUMENT (an empty batch, a label out of range, one sample whose image is
 * down to one pixel at some batch norm); OCDM_BAD_RECORD when a sample's loss is not a finite number: ocdm__agent_bad_sample
 * is its index in the batch, the weights are as before the step (running statistics are not); OCDM_NO_MEMORY: the agent is as
 * it was. Only if oneDNN itself runs out of memory in the middle of the step does the agent become unusable: every later call
 * fails with OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_train(void *agent, const ocdm__batch *batch, double *loss, size_t *bad, ocdm_error *error);

/* What the last step computed: logits before the step; losses are means over the classes without the part of dark replay. */
ocdm__outputs ocdm__agent_outputs(const void *agent);

/* Logits (count x class_count) in evaluation mode, for any number of samples. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__agent_predict(void *agent, const float *input, size_t count, float *logits, ocdm_error *error);

/* The input of the head (count x feature width) in evaluation mode: for images the spatial mean of the last layer. */
ocdm_status ocdm__agent_features(ocdm__agent *agent, const float *input, size_t count, float *features, ocdm_error *error);
uint32_t ocdm__agent_feature_width(const ocdm__agent *agent);

/*
 * The gradient of the batch's mean loss with respect to all trained parameters, in evaluation mode; the agent is unchanged.
 * `gradient` has room for ocdm__agent_gradient_size floats. Returns OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_BAD_RECORD or
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_gradient(void *agent, const ocdm__batch *batch, float *gradient, ocdm_error *error);
size_t ocdm__agent_gradient_size(const void *agent);

/* For tests: the same with batch norm over the batch as in a training step, which updates the running statistics; also the
 * loss unless it is NULL. */
ocdm_status ocdm__agent_batch_gradient(ocdm__agent *agent, const ocdm__batch *batch, float *gradient, double *loss,
                                       ocdm_error *error);

/*
 * Besides the trained weights an agent may have exponential averages of them and of the norms' statistics: after step t,
 * average = r average + (1 - r) weights with r = min(rate, 1 - 1/a); a is t or, for a row of the head, the age of its class if
 * that came with the batch, and at most t - average_delay; 0 in place of r until then. Predictions, features, lists and fetches
 * use version 0, the trained weights, unless another is chosen: version i is the average of rate i - 1. Before the first step
 * all versions are the trained weights. A step returns to version 0. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_use(void *agent, size_t version, ocdm_error *error);

/* ---- several ranks --------------------------------------------------------------------------------------------------- */

/*
 * Where there are several ranks (ranks/ranks.h), all of them make a network that takes images and call it alike, each with its
 * own images in `input`, while counts and labels are those of all: of a batch of `count`, rank r has the images starts[r] to
 * starts[r + 1] - 1. The array is the agent's until its next call. NULL: this process has all images.
 */
const ocdm__ranks *ocdm__agent_deal(void *agent, size_t count, bool training, const size_t **starts);

/* All ranks take over the leader's weights, averages and steps. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__agent_share(void *agent, ocdm_error *error);

/* Each rank has its part of Adam's averages. All call this before the leader lists them with ocdm__agent_list. */
void ocdm__agent_collect(void *agent);

/* Floating-point operations of a training step on `count` samples: three times those of agent/model.h, for forward, the
 * gradients of the outputs, and those of the weights. */
double ocdm__agent_operations(const void *agent, size_t count, size_t fresh);

/* ---- weights -------------------------------------------------------------------------------------------------------- */

/*
 * Lists parameters and running statistics; with `optimiser` Adam's averages too (adam.m.NAME, adam.v.NAME), the number of its
 * steps (adam.step), and averages of the weights (ema.1.NAME, ...). OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__agent_list(void *agent, bool optimiser, ocdm__tensor_list *listed, ocdm_error *error);

/*
 * The bytes of tensor number i of a list, valid until the next fetch: a copy of all tensors would take three times the memory
 * of the network. The agent must not be trained between list and fetch. OCDM_OK, OCDM_NO_MEMORY, OCDM_BAD_RECORD (a value that
 * is not finite).
 */
ocdm_status ocdm__agent_fetch(void *agent, const ocdm__tensor_list *listed, size_t i, const unsigned char **data,
                              ocdm_error *error);

/*
 * Loads weights from a file, with Adam's averages if the file has them; training then continues bit-identically. If the file's
 * head has another number of classes, the agent keeps its own.
 * num_batches_tracked is ignored.
 *
 * Returns OCDM_OK; OCDM_BAD_FILE for missing or unknown names (which are listed), wrong shapes, types that are not numbers,
 * values that are not finite, negative variances or averages of squares, or more than 2^53 steps; OCDM_NO_MEMORY. On error the
 * agent is unchanged, but see ocdm__agent_train about allocations of oneDNN.
 */
ocdm_status ocdm__agent_load(void *agent, const struct ocdm__weights *weights, ocdm_error *error);

/* Which model the tensors of a file fit. */
struct ocdm__weights_fit {
    const char *model;    /* NULL: none */
    uint32_t class_count; /* of the head; 0: the file has none */
    uint32_t features;    /* for linear and mlp */
    uint32_t hidden;      /* for mlp */
    uint32_t blocks;      /* for mobilenet1 */
    bool optimiser;       /* Adam's averages are there */
    char reason[400];     /* why no model fits: "the tensors are ..." */
};
ocdm_status ocdm__weights_fit(const struct ocdm__safetensors *file, struct ocdm__weights_fit *fit, ocdm_error *error);

#endif
