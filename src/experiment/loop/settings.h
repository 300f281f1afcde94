/*
 * The settings of a run. OCDM__SETTINGS has one row for each of them. Flags and their help, default values, range checks, the
 * JSON object in the files of a run and the comparison that --resume makes are derived from the rows. To add a setting, add a
 * member to ocdm__run_settings, a row, and the code that uses it.
 *
 * Everything that a result depends on is here or in the stream. Settings without a key do not change results.
 */
#ifndef OCDM_EXPERIMENT_LOOP_SETTINGS_H
#define OCDM_EXPERIMENT_LOOP_SETTINGS_H

#include "base/base.h"
#include "agent/agent.h"
#include "base/output.h"
#include "base/sha256.h"
#include "stream/file.h"

/* How the samples that are replayed are drawn: symbol, name. */
#define OCDM__REPLAY_POLICIES(ROW) ROW(UNIFORM, "uniform") ROW(BALANCED, "balanced") ROW(LOSS, "loss")

#define OCDM__REPLAY_POLICY(symbol, name) OCDM__REPLAY_##symbol,
enum ocdm__replay_policy { OCDM__REPLAY_POLICIES(OCDM__REPLAY_POLICY) };

/* How the payloads of samples in memory are stored: symbol, name. */
#define OCDM__STORES(ROW) ROW(NONE, "none") ROW(F32, "f32") ROW(F16, "f16") ROW(U8, "u8") ROW(JPEG, "jpeg")

#define OCDM__STORE_MOST_PIXELS 4096

#define OCDM__STORE_KIND(symbol, name) OCDM__STORE_##symbol,
enum ocdm__store_kind { OCDM__STORES(OCDM__STORE_KIND) };

/* How samples leave their task. All 0: they do not. */
typedef struct ocdm__blur {
    double share;     /* of each task's samples that is spread evenly over the other tasks; of those of blurry classes */
    double deviation; /* of the arrival times, in tasks */
    bool anew;        /* Si-Blurry: classes are dealt to the tasks anew, */
    double disjoint;  /* a share of them so that all their samples come in one task */
} ocdm__blur;

/* What a batch of the stream may cost until the next one comes. Both 0: any amount. */
typedef struct ocdm__budget {
    double seconds;
    double operations; /* of floating-point numbers */
} ocdm__budget;

/* When the averages of a class's own weights begin: symbol, name. */
#define OCDM__AVERAGE_STARTS(ROW) ROW(STREAM, "stream") ROW(CLASS, "class")

#define OCDM__AVERAGE_START(symbol, name) OCDM__AVERAGE_SINCE_##symbol,
enum ocdm__average_start { OCDM__AVERAGE_STARTS(OCDM__AVERAGE_START) };

/* Above which score a class is predicted: symbol, name. */
#define OCDM__THRESHOLDS(ROW) ROW(FIXED, "fixed") ROW(VALIDATION, "validation")

#define OCDM__THRESHOLD(symbol, name) OCDM__THRESHOLD_##symbol,
enum ocdm__threshold { OCDM__THRESHOLDS(OCDM__THRESHOLD) };

typedef struct ocdm__run_settings {
    const char *method; /* a policy of the library, "finetune" or "multitask" */
    uint32_t memory;    /* M; ignored without a memory */
    uint32_t batch;     /* samples of the stream in a step */
    uint32_t replay;    /* samples of the memory in a step; multitask trains on batch + replay samples at once */
    double rho;
    const char *class_weights;              /* a file of weights in the target; NULL: 1 for every class */
    uint32_t distance;                      /* an ocdm_distance */
    uint32_t tie;                           /* an ocdm_tie */
    double tolerance;                       /* of ocdm_options */
    const char *model;                      /* of agent/model.h, or "none": the memory alone */
    bool own_learner;                       /* the model is a learner of the caller's, of features, under a name of its own */
    bool own_inputs;                        /* that learner reads the samples itself, of whatever kind they are */
    const char *weights;                    /* a file to start from; NULL for none */
    char weights_sha256[OCDM__SHA256_TEXT]; /* of that file; "" while it is not known */
    ocdm__network_settings network;         /* seed and threads are those of the whole run; of averages, one is evaluated */
    const uint64_t *order;                  /* the tasks; NULL for ascending */
    size_t order_count;
    uint32_t epochs;           /* multitask: passes over all data so far at each task */
    uint32_t resize, crop;     /* images: pixels of the shorter side, then of the crop; OCDM_NONE: depends on the stream */
    uint32_t image_size;       /* of the crop, with the usual share around it for `resize`; OCDM_NONE: those two say */
    const char *image_root;    /* instead of the stream's; NULL */
    bool strict;               /* an image that cannot be decoded ends the run; so does a checkpoint of other instructions */
    const char *groups;        /* see experiment/loop/evaluation.h; NULL: the stream's own, else usual ones */
    uint32_t log_every;        /* steps between two logged steps */
    double validation;         /* share of the training samples that is held out and evaluated at the end; 0: none */
    bool resample_tests;       /* the test samples are resampled by the seed */
    uint64_t checkpoint_every; /* steps; 0: only after each task */
    double loss_balance;       /* power of the weights of classes in the loss */
    uint32_t average_start;    /* an ocdm__average_start */
    double lambda;             /* of the model ridge, */
    uint32_t project;          /* its random features; 0: those of the stream */
    bool class_balance;        /* and whether its samples weigh more if their classes are rare */
    uint32_t replay_policy;    /* an ocdm__replay_policy */
    const char *preset;        /* what other settings start from, by ocdm__run_preset_apply; NULL: their own defaults */
    uint64_t memory_bytes;     /* from which `memory` follows (experiment/loop/store.h); 0: it is given */
    uint32_t store;            /* an ocdm__store_kind */
    uint32_t store_quality, store_pixels; /* of jpeg: 1 to 100, and the shorter side; else 0 */
    ocdm__blur blur;
    uint64_t eval_every;      /* steps between two evaluations at any time; 0: there are none */
    uint32_t eval_samples;    /* tests of such an evaluation */
    uint32_t steps_per_batch; /* updates of the network for a batch of the stream */
    ocdm__budget budget;
    double pseudo;      /* a probability: unknown classes above it are pseudo-labels; 0: there are none */
    uint32_t threshold; /* an ocdm__threshold */
    bool transfer;      /* tasks are evaluated before they are learnt, too */
} ocdm__run_settings;

/* ---- the table --------------------------------------------------------------------------------------------------------- */

/* Type of the member, and how it is read and written. */
enum ocdm__setting_kind {
    OCDM__SETTING_WHOLE,          /* uint32_t */
    OCDM__SETTING_OPTIONAL_WHOLE, /* uint32_t; OCDM_NONE is null */
    OCDM__SETTING_LONG,           /* uint64_t */
    OCDM__SETTING_REAL,           /* double */
    OCDM__SETTING_OPTIONAL_REAL,  /* double; 0 is null */
    OCDM__SETTING_WORD,           /* const char *, one of the choices */
    OCDM__SETTING_CHOICE,         /* uint32_t, the index of a choice */
    OCDM__SETTING_FILE,           /* const char *, a path or NULL; written without its folder, so that a run has the same bytes
                                     on every machine */
    OCDM__SETTING_WEIGHTS_FILE,   /* a path or NULL; weights_sha256 follows it where there is a file; compared by that */
    OCDM__SETTING_CLASS_FILE,     /* a path or NULL; the file is about classes by name and is compared by content */
    OCDM__SETTING_GROUPS,         /* as OCDM__SETTING_CLASS_FILE, but never null; may be bounds or "stream" instead of a path */
    OCDM__SETTING_TASKS,          /* the order of the tasks */
    OCDM__SETTING_SWITCH,         /* bool */
    OCDM__SETTING_RATES,          /* ocdm__rates; none is null */
    OCDM__SETTING_BYTES,          /* uint64_t, with K, M or G for powers of 1024; 0 is null */
    OCDM__SETTING_STORE,          /* store, store_quality and store_pixels: a name, of jpeg with its two numbers */
    OCDM__SETTING_BUDGET,         /* ocdm__budget: a number and its unit; none is null */
    OCDM__SETTING_BLUR,           /* ocdm__blur: a share, "gaussian:" and a deviation, or "si:" and two shares; none is null */
};

/*
 * What a setting may need to have an effect: symbol, why it has none without it, and what follows "leave the flag out" in the
 * hint. A setting that would have no effect is refused: the files of a run name all its settings, and none may mislead.
 */
#define OCDM__NEEDS(ROW)                                                                                                       \
    ROW(MODEL, "the model computes and predicts nothing", ", or name a model")                                                 \
    ROW(STEPS, "ridge is solved, from the stream alone and in double precision, and takes no steps", "")                       \
    ROW(INSIDE, "the model is outside of ocdm", "")                                                                            \
    ROW(IMAGES, "the model takes no images", "")                                                                               \
    ROW(RIDGE, "it is a setting of ridge", ", or take --model ridge")                                                          \
    ROW(ADAM, "sgd has no epsilon", "")                                                                                        \
    ROW(SGD, "the optimiser has no momentum", ", or take --optimiser sgd")                                                     \
    ROW(AVERAGES, "there are no averages of the weights", ", or ask for some, such as --ema 0.999")                            \
    ROW(REPLAY, "nothing is replayed", "")                                                                                     \
    ROW(STREAM, "all samples so far are trained on, and no stream passes", ", or take another method")                         \
    ROW(MULTITASK, "the method sees the stream once", ", or take --method multitask")                                          \
    ROW(UNKNOWN, "every label of the stream is known", "; `ocdm stream build --recipe incremental` makes streams of others")   \
    ROW(HELD_OUT, "no samples are held out", ", or hold some out, such as --validation 0.1")                                   \
    ROW(PROBES, "there are no such evaluations", ", or ask for some, such as --eval-every 100")

#define OCDM__NEED_NUMBER(symbol, reason, instead) OCDM__NEED_##symbol,
enum ocdm__need { OCDM__NEEDS(OCDM__NEED_NUMBER) };

/* As a column of the rows: one; the three of a network that is trained by gradients. */
#define OCDM__NEED(symbol) (1u << OCDM__NEED_##symbol)
#define OCDM__NETWORK (OCDM__NEED(MODEL) | OCDM__NEED(STEPS) | OCDM__NEED(INSIDE))

/* For every verb with this flag. */
#define OCDM__GROUPS_HELP                                                                                                      \
    "majority over H training samples, minority under L; or terciles of the classes; or as a file says; the stream's own "     \
    "by default, else 600,100, or terciles where no class has more than 600"

/*
 * The columns: key in JSON (NULL: results do not depend on the setting, files do not have it); member of ocdm__run_settings;
 * kind; letter of the flag or 0; flag; its value in the help; default as a user would type it, NULL for none or for one that
 * depends on stream or machine; choices; range; what it needs, as bits; help.
 *
 * GRID rows are those that `ocdm compare` takes several values of, with flags of its own. Rows are in the order of the JSON
 * object, which must not change: two equal runs have equal bytes.
 */
/* clang-format off */
#define OCDM__SETTINGS(GRID, ROW)                                                                                              \
    GRID("method", method, WORD, 0, "method", "NAME", "ocdm", ocdm__run_methods, 0, 0, 0,                                      \
         "how the memory selects samples")                                                                                     \
    GRID("memory", memory, WHOLE, 'm', "memory", "M", "1000", NULL, 1, OCDM_MAX_CAPACITY, 0,                                   \
         "samples that the memory holds")                                                                                      \
    ROW("batch", batch, WHOLE, 'b', "batch", "B", "10", NULL, 1, 1000000, 0,                                                   \
        "samples of the stream in a step")                                                                                     \
    ROW("replay", replay, WHOLE, 0, "replay", "R", "10", NULL, 0, 1000000, 0,                                                  \
        "samples of the memory in a step")                                                                                     \
    GRID("rho", rho, REAL, 0, "rho", "R", "0", NULL, -OCDM_MAX_RHO, OCDM_MAX_RHO, 0,                                           \
         "power of the target: class i gets n_i^R of the labels in memory, whatever occurs together; -16 to 16")               \
    ROW("class_weights", class_weights, CLASS_FILE, 0, "class-weights", "FILE", NULL, NULL, 0, 0, 0,                           \
        "weights in the target, which becomes w_i n_i^R: lines `cat: 3` or JSON; 1 for classes that are not named")            \
    ROW("distance", distance, CHOICE, 0, "distance", "D", "kl", ocdm__run_distances, 0, 0, 0,                                  \
        "distance between memory and target that ocdm and onlyone minimise")                                                   \
    ROW("tie", tie, CHOICE, 0, "tie", "T", "key", ocdm__run_ties, 0, 0, 0,                                                     \
        "which sample ocdm and onlyone evict when several are equally good")                                                   \
    ROW("model", model, WORD, 0, "model", "NAME", "linear", ocdm__run_models, 0, 0, 0,                                         \
        "the network: linear, mlp and ridge learn from features, the others from images; none runs the memory alone")          \
    ROW("weights", weights, WEIGHTS_FILE, 0, "weights", "FILE", NULL, NULL, 0, 0, OCDM__NEED(MODEL) | OCDM__NEED(STEPS),       \
        "start from these weights (safetensors)")                                                                              \
    ROW("precision", network.precision, CHOICE, 0, "precision", "P", "f32", ocdm__run_precisions, 0, 0,                        \
        OCDM__NEED(MODEL) | OCDM__NEED(STEPS),                                                                                 \
        "bf16 needs a CPU that supports it; with AMX it makes models of images faster")                                        \
    ROW("lr", network.learning_rate, REAL, 0, "lr", "X", "1e-4", NULL, 0, 1e6, OCDM__NEED(STEPS),                              \
        "learning rate")                                                                                                       \
    ROW("adam_eps", network.epsilon, REAL, 0, "adam-eps", "X", "1e-4", NULL, 1e-30, 1e6, OCDM__NEED(STEPS) | OCDM__NEED(ADAM), \
        "epsilon of Adam, added outside the root")                                                                             \
    ROW("clip", network.clip, OPTIONAL_REAL, 0, "clip", "X", NULL, NULL, 1e-30, 1e30, OCDM__NEED(STEPS),                       \
        "clip each gradient to -X..X")                                                                                         \
    GRID("seed", network.seed, LONG, 0, "seed", "S", "0", NULL, 0, 0x1p64, 0,                                                  \
         "seed of all random numbers")                                                                                         \
    GRID("order", order, TASKS, 0, "order", "K,K,...", NULL, NULL, 0, UINT32_MAX, 0,                                           \
         "order of the tasks; ascending by default")                                                                           \
    ROW("epochs", epochs, WHOLE, 0, "epochs", "N", "1", NULL, 1, 1000000, OCDM__NEED(MULTITASK),                               \
        "multitask: passes over all data so far at each task")                                                                 \
    ROW("resize", resize, OPTIONAL_WHOLE, 0, "resize", "PIXELS", NULL, NULL, 0, 8192, OCDM__NEED(IMAGES),                      \
        "resize images to this shorter side; 0: do not; 256 for image files by default")                                       \
    ROW("crop", crop, OPTIONAL_WHOLE, 0, "crop", "PIXELS", NULL, NULL, 1, 8192, OCDM__NEED(IMAGES),                            \
        "then crop a square of this size; 224 for image files by default")                                                     \
    ROW(NULL, image_size, OPTIONAL_WHOLE, 0, "image-size", "PIXELS", NULL, NULL, 1, 7168, OCDM__NEED(IMAGES),                  \
        "train on images of this size: --crop PIXELS, and --resize with the usual eighth around it")                           \
    ROW(NULL, image_root, FILE, 0, "images", "FOLDER", NULL, NULL, 0, 0, 0,                                                    \
        "folder of the image files, instead of the one in the stream")                                                         \
    ROW(NULL, strict, SWITCH, 0, "strict", NULL, NULL, NULL, 0, 0, 0,                                                          \
        "end the run at an image that cannot be decoded instead of skipping it; resume only with the same CPU instructions")   \
    ROW("groups", groups, GROUPS, 0, "groups", "H,L|terciles|FILE", NULL, NULL, 0, 0, 0,                                       \
        OCDM__GROUPS_HELP)                                                                                                     \
    ROW("log_every", log_every, WHOLE, 0, "log-every", "N", "10", NULL, 1, UINT32_MAX, 0,                                      \
        "log every N-th step")                                                                                                 \
    ROW("validation", validation, REAL, 0, "validation", "SHARE", "0", NULL, 0, 0.5, OCDM__NEED(MODEL),                        \
        "hold out this share of the training samples, drawn by seed, and evaluate on them at the end; 0 to 0.5")               \
    ROW("resample_tests", resample_tests, SWITCH, 0, "resample-tests", NULL, NULL, NULL, 0, 0, OCDM__NEED(MODEL),              \
        "resample the test samples by seed, with replacement, as many of each task and rarest class")                          \
    ROW(NULL, network.threads, WHOLE, 0, "threads", "N", NULL, NULL, 1, OCDM__MAX_THREADS, 0,                                  \
        "threads for models of images and decoding; all cores by default; does not change results")                            \
    ROW(NULL, checkpoint_every, LONG, 0, "checkpoint-every", "STEPS", "1000", NULL, 0, 0x1p64, 0,                              \
        "save every STEPS steps; 0: only after each task")                                                                     \
    ROW("loss", network.loss.kind, CHOICE, 0, "loss", "NAME", "bce", ocdm__loss_names, 0, 0, OCDM__NETWORK,                    \
        "loss of a logit; asl is the asymmetric loss, softmargin PyTorch's name for the same numbers as bce")                  \
    ROW("negatives", network.loss.negatives, REAL, 0, "negatives", "A", "1", NULL, 0, 1, OCDM__NETWORK,                        \
        "weight of classes that the batch of the stream does not have, in the loss of its samples; 0 to 1")                    \
    ROW("focal", network.loss.focal, REAL, 0, "focal", "G", "0", NULL, 0, OCDM__MOST_FOCAL, OCDM__NETWORK,                     \
        "the gradient of a negative is the sigmoid to the power of 1 + G: easy negatives weigh less; 0 to 8")                  \
    ROW("loss_balance", loss_balance, REAL, 0, "loss-balance", "P", "0", NULL, 0, 1, OCDM__NETWORK,                            \
        "the loss of class i is weighted by (mean n / n_i)^P, n_i the stream's counts so far; 0 to 1")                         \
    ROW("ema", network.averages, RATES, 0, "ema", "RATE,...", NULL, NULL, 0, 1, OCDM__NETWORK,                                 \
        "evaluate an exponential average of the weights; of several rates, each below 1, validation chooses the one reported") \
    ROW("ema_start", average_start, CHOICE, 0, "ema-start", "WHEN", "stream", ocdm__run_average_starts, 0, 0,                  \
        OCDM__NEED(AVERAGES),                                                                                                  \
        "when the averages of a class's own weights, its row of the last layer, begin: with the stream, or with its "          \
        "first sample")                                                                                                        \
    ROW("optimiser", network.optimiser, CHOICE, 0, "optimiser", "NAME", "adam", ocdm__run_optimisers, 0, 0, OCDM__NETWORK,     \
        "how weights follow gradients")                                                                                        \
    ROW("weight_decay", network.weight_decay, REAL, 0, "weight-decay", "X", "0", NULL, 0, 1, OCDM__NETWORK,                    \
        "weight decay of adamw (decoupled) and sgd (in the gradient)")                                                         \
    ROW("momentum", network.momentum, REAL, 0, "momentum", "X", "0.9", NULL, 0, 0.9999, OCDM__NEED(SGD),                       \
        "momentum of sgd")                                                                                                     \
    ROW("schedule", network.lr_schedule, CHOICE, 0, "schedule", "NAME", "constant", ocdm__run_lr_schedules, 0, 0,              \
        OCDM__NETWORK,                                                                                                         \
        "learning rate over the steps: constant, or cosine from --lr to 0 over --horizon steps")                               \
    ROW("horizon", network.horizon, LONG, 0, "horizon", "STEPS", "0", NULL, 0, 0x1p53, OCDM__NETWORK,                          \
        "steps of the cosine schedule; afterwards nothing is learnt")                                                          \
    ROW("warmup", network.warmup, LONG, 0, "warmup", "STEPS", "0", NULL, 0, 0x1p53, OCDM__NETWORK,                             \
        "steps over which the learning rate rises from 0")                                                                     \
    ROW("lambda", lambda, REAL, 0, "lambda", "X", "1000", NULL, 1e-12, 1e12, OCDM__NEED(RIDGE),                                \
        "penalty of the model ridge on squared weights")                                                                       \
    ROW("project", project, WHOLE, 0, "project", "P", "0", NULL, 0, 65536, OCDM__NEED(RIDGE),                                  \
        "ridge: fit P random features max(0, R x) instead of the features, R drawn by the seed; 0: the features")              \
    ROW("class_balance", class_balance, SWITCH, 0, "class-balance", NULL, NULL, NULL, 0, 0, OCDM__NEED(RIDGE),                 \
        "ridge: samples of rare classes weigh more, by one over the root of how many there were")                              \
    ROW("replay_policy", replay_policy, CHOICE, 0, "replay-policy", "NAME", "uniform", ocdm__run_replay_policies, 0, 0,        \
        OCDM__NEED(REPLAY),                                                                                                    \
        "how samples to replay are drawn: each alike, each class alike, or by their last loss")                                \
    ROW("dark", network.loss.dark, REAL, 0, "dark", "A", "0", NULL, 0, 1e6, OCDM__NETWORK | OCDM__NEED(REPLAY),                \
        "dark replay (DER++): keep the logits of samples in memory, and weigh the squared distance to them by A")              \
    ROW("memory_bytes", memory_bytes, BYTES, 0, "memory-bytes", "BYTES", NULL, NULL, 1, 0x1p53, 0,                             \
        "the memory holds as many samples as these bytes do, such as 4M; instead of --memory")                                 \
    ROW("store", store, STORE, 0, "store", "NAME", "none", NULL, 1, OCDM__STORE_MOST_PIXELS, 0,                                \
        "how samples in memory are stored and replayed: none, f32, f16 or u8 features; jpeg:QUALITY:PIXELS images")            \
    ROW("blur", blur, BLUR, 0, "blur", "SHARE|gaussian:SD|si:N:M", NULL, NULL, 0, 1, 0,                                        \
        "spread this share of every task's samples over the other tasks; jitter arrival times by SD tasks; or deal classes to the tasks anew, a share N of them disjoint, and blur a share M of the others' samples")                 \
    ROW("eval_every", eval_every, LONG, 0, "eval-every", "STEPS", "0", NULL, 0, 0x1p53, OCDM__NEED(MODEL),                     \
        "also evaluate every STEPS steps, on --eval-samples tests: the curve of mAP over samples seen, and its area")          \
    ROW("eval_samples", eval_samples, WHOLE, 0, "eval-samples", "N", "500", NULL, 1, 1000000, OCDM__NEED(PROBES),              \
        "tests of these evaluations: a part that is balanced over the classes, drawn once by the seed")                        \
    ROW("steps_per_batch", steps_per_batch, WHOLE, 0, "steps-per-batch", "K", "1", NULL, 1, 10000,                             \
        OCDM__NEED(MODEL) | OCDM__NEED(STEPS),                                                                                 \
        "updates of the network for a batch of the stream, each with samples to replay of its own")                            \
    ROW("budget", budget, BUDGET, 0, "budget", "20ms|0.5gflop", NULL, NULL, 0, 0, OCDM__NEED(MODEL) | OCDM__NEED(STREAM),      \
        "what a batch of the stream may cost: batches that come while the network is busy are missed")                         \
    ROW("tolerance", tolerance, REAL, 0, "tolerance", "T", "0", NULL, 0, OCDM_MAX_TOLERANCE, 0,                                \
        "ocdm and onlyone: deletions that leave at most T / S more than the best tie with it, S the labels in memory and batch")\
    ROW("ema_delay", network.average_delay, WHOLE, 0, "ema-delay", "STEPS", "0", NULL, 0, 1000000000, OCDM__NEED(AVERAGES),    \
        "averages leave out the first STEPS steps of the stream, in which weights change most")                                \
    ROW("pseudo", pseudo, OPTIONAL_REAL, 0, "pseudo", "P", NULL, NULL, 0.5, 0.9999,                                            \
        OCDM__NETWORK | OCDM__NEED(AVERAGES) | OCDM__NEED(UNKNOWN),                                                            \
        "streams of partial labels: an unknown class counts as present in the loss where the averaged model gives it more "    \
        "than P")                                                                                                              \
    ROW("threshold", threshold, CHOICE, 0, "threshold", "RULE", "fixed", ocdm__run_thresholds, 0, 0,                           \
        OCDM__NEED(HELD_OUT) | OCDM__NEED(INSIDE),                                                                             \
        "a class is predicted above a score of 1/2, or above the threshold that is best for CF1 on the validation part")       \
    ROW("transfer", transfer, SWITCH, 0, "transfer", NULL, NULL, NULL, 0, 0, OCDM__NEED(MODEL) | OCDM__NEED(INSIDE),           \
        "measure forward transfer too: evaluate each task before it is learnt, and the network before its first step")         \
    ROW(NULL, preset, WORD, 0, "preset", "NAME", NULL, ocdm__run_presets, 0, 0, 0,                                             \
        "start from the settings of the paper, or from the strong ones of docs/beyond.md; other flags override them")
/* clang-format on */

/* A row; the columns are described above. */
typedef struct ocdm__setting {
    const char *key, *flag, *fallback;
    enum ocdm__setting_kind kind;
    size_t offset, size; /* of the member */
    const char *const *choices;
    double low, high;
    uint32_t needs;
    bool grid;
} ocdm__setting;

/* Row number i; NULL after the last one. By flag: NULL for a flag that is not of a setting. */
const ocdm__setting *ocdm__setting_at(size_t i);
const ocdm__setting *ocdm__setting_of_flag(const char *flag);

/* The member of a row. */
void *ocdm__setting_member(ocdm__run_settings *settings, const ocdm__setting *setting);

/* Writes one setting as JSON; `tasks` are all tasks in their order. */
void ocdm__setting_write(ocdm__output *output, const ocdm__setting *setting, const ocdm__run_settings *settings,
                         const uint32_t *tasks, size_t task_count);

/* The most tasks that an order may name. */
#define OCDM__MOST_TASKS 1024

/*
 * Sets one setting to a value as a user would type it; a switch takes true or false. Texts are not copied. `order` has room for
 * OCDM__MOST_TASKS tasks, if the setting is an order. OCDM_OK, OCDM_BAD_ARGUMENT: the message begins with the setting's flag.
 */
ocdm_status ocdm__setting_read(const ocdm__setting *setting, const char *text, ocdm__run_settings *settings, uint64_t *order,
                               ocdm_error *error);

/* The choices of rows, each ended by NULL. Distances, tie rules and precisions are in the order of their enums. */
extern const char *const ocdm__run_methods[];
extern const char *const ocdm__run_distances[];
extern const char *const ocdm__run_ties[];
extern const char *const ocdm__run_models[]; /* "none" too */
extern const char *const ocdm__run_precisions[];
extern const char *const ocdm__run_average_starts[];
extern const char *const ocdm__run_optimisers[];
extern const char *const ocdm__run_lr_schedules[];
extern const char *const ocdm__run_replay_policies[];
extern const char *const ocdm__run_stores[];
extern const char *const ocdm__run_thresholds[];
extern const char *const ocdm__run_presets[];

/*
 * Settings to start from: name, then flags with their values, separated by semicolons. `paper` are the settings of the
 * paper's experiments, `strong` what the tables of docs/beyond.md support.
 */
#define OCDM__PRESETS(ROW)                                                                                                     \
    ROW("paper", "batch 10;replay 10;rho 0;lr 1e-4;adam-eps 1e-4")                                                             \
    ROW("strong", "focal 1;ema 0.9998;ema-start class;ema-delay 100")

/* Gives the settings of a preset their values. OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__run_preset_apply(const char *name, ocdm__run_settings *settings, ocdm_error *error);

/* ---- all settings ------------------------------------------------------------------------------------------------------ */

/* The defaults of the rows; one thread. */
ocdm__run_settings ocdm__run_settings_default(void);

/* The methods that are not policies of the library. The lower bound has no memory; the upper bound has none either, and trains
 * again on all samples so far. */
#define OCDM__LOWER_BOUND "finetune"
#define OCDM__UPPER_BOUND "multitask"
bool ocdm__is_upper_bound(const char *method);

/* Whether the run has a memory; whether it has an agent. */
bool ocdm__run_has_memory(const ocdm__run_settings *settings);
bool ocdm__run_has_agent(const ocdm__run_settings *settings);
bool ocdm__run_is_ridge(const ocdm__run_settings *settings);

/* The kind of a stream's samples: "features", "images", "files" or "labels". */
const char *ocdm__stream_kind(const ocdm__stream *stream);

/* Fills in the two sides that --image-size stands for. `none` is the value of whatever is not given. OCDM_OK, OCDM_BAD_ARGUMENT
 * if another side is given too. */
ocdm_status ocdm__take_image_size(uint32_t size, uint32_t none, uint32_t *resize, uint32_t *crop, ocdm_error *error);

/*
 * Fills in what depends on the stream (resize, crop, groups) and refuses settings that are out of range, contradict each other
 * or do not fit the stream. `path` is the stream's, for messages. OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_UNKNOWN_NAME, OCDM_BAD_FILE
 * (a stream without training samples), OCDM_NOT_SINGLE_LABEL.
 */
ocdm_status ocdm__run_settings_resolve(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                       ocdm_error *error);

/* Fills in the digest of the weights, if the settings name any: ocdm__run_settings_resolve does so too. OCDM_OK, OCDM_IO,
 * OCDM_NO_MEMORY. */
#define OCDM__WEIGHTS_DIGEST_KEY "weights_sha256"
ocdm_status ocdm__run_settings_digest_weights(ocdm__run_settings *settings, ocdm_error *error);

/* The part of it that concerns the model, for callers that only evaluate one. */
ocdm_status ocdm__run_settings_resolve_model(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                             ocdm_error *error);

/* Writes the settings that have a key as a JSON object; `tasks` are all tasks in their order. */
void ocdm__run_settings_write(ocdm__output *output, const ocdm__run_settings *settings, const uint32_t *tasks,
                              size_t task_count);

#endif
