/*
 * A whole run, without files: a stream, a learner, a memory, the steps in their order and the evaluations between them.
 *
 *     ocdm__run *run = NULL;
 *     enum ocdm__run_event event = OCDM__RUN_STEPPED;
 *     ocdm_status status = ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, error);
 *     if (status == OCDM_OK)
 *         status = ocdm__run_begin(run, error);
 *     while (status == OCDM_OK && event != OCDM__RUN_FINISHED)
 *         status = ocdm__run_advance(run, NULL, &event, error);
 *     ... run->evaluations, run->memory, run->curve ...
 *     ocdm__run_close(run);
 *
 * Everything but `times` depends only on settings and stream; a run that was restored from a checkpoint
 * (experiment/folder/checkpoint.h) ends as one that was never stopped.
 *
 * The step draws samples to replay, trains on them together with the batch of the stream, then updates the memory with the
 * batch. Learner and memory see samples and labels in their order and nothing else; only the schedule knows tasks.
 */
#ifndef OCDM_EXPERIMENT_LOOP_RUN_H
#define OCDM_EXPERIMENT_LOOP_RUN_H

#include "base/base.h"
#include "agent/batch.h"
#include "base/output.h"
#include "base/progress.h"
#include "experiment/loop/settings.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/inputs.h"
#include "experiment/loop/learner.h"
#include "experiment/loop/schedule.h"
#include "experiment/loop/store.h"
#include "stream/file.h"

/* ---- curve --------------------------------------------------------------------------------------------------------------- */

/* Loss and distances over a run, thinned as it grows: a run of any length keeps at most this many points. */
#define OCDM__CURVE_ROOM 1000

/* The state after a step. */
typedef struct ocdm__curve_point {
    double step, task, loss, distance, distance_seen;
} ocdm__curve_point;

/* Start with all bytes zero. */
typedef struct ocdm__curve {
    uint64_t offered; /* points so far */
    uint64_t stride;  /* one of this many is kept; 0 means 1 */
    size_t count;
    ocdm__curve_point points[OCDM__CURVE_ROOM];
    ocdm__curve_point last; /* the newest, kept or not */
} ocdm__curve;

/* Adds a point; once there is no room left, every second one is dropped. */
void ocdm__curve_add(ocdm__curve *curve, const ocdm__curve_point *point);

/* Writes an object of lists of equal length; the newest point is always there. */
void ocdm__curve_write(ocdm__output *output, const ocdm__curve *curve);

/* ---- evaluations at any time ------------------------------------------------------------------------------------------ */

/* Start with all bytes zero. */
typedef struct ocdm__probes {
    ocdm__stream_order part; /* of the tests */
    size_t *places;          /* of its samples among the tests */
    size_t versions;         /* of the learner's weights */
    double *map;             /* of each evaluation so far and each version: mAP as a fraction */
    size_t count, room;      /* evaluations */
} ocdm__probes;

/*
 * Draws the part of the tests by the seed, if the settings ask for one: one test after another for the class that has the
 * fewest so far (the first of several), the next one of its tests in a random order; all tests if there are not more. The tests
 * must outlive it.
 * OCDM_OK, OCDM_NO_MEMORY; ocdm__run_close releases it.
 */
ocdm_status ocdm__probes_make(ocdm__probes *probes, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                              const ocdm__stream_order *tests, ocdm_error *error);

/* Room for so many evaluations. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__probes_reserve(ocdm__probes *probes, size_t count, ocdm_error *error);

/* ---- the step under way ------------------------------------------------------------------------------------------ */

/* Room for the labels of a batch. Start with all bytes zero. */
typedef struct ocdm__label_room {
    size_t *starts;
    uint32_t *labels;
    uint8_t *known;
    size_t start_room, label_room, known_room;
} ocdm__label_room;

/* Fills in starts, labels and known of a batch by its samples. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__batch_label(ocdm__batch *batch, const ocdm__stream_table *table, ocdm__label_room *room, ocdm_error *error);
void ocdm__label_room_clear(ocdm__label_room *room);

/* What is kept beside the samples of the memory for the rules that draw them: the last loss of each, the logits that it had
 * when it came. */
typedef struct ocdm__replay {
    size_t losses;   /* 1: the last loss of each sample is kept */
    size_t width;    /* floats that are kept of a sample: its loss, its logits */
    size_t capacity; /* samples of the memory */
    float *kept;     /* by slot; NULL: nothing */
    double *weights; /* by slot, for the draw under way; NULL with uniform draws */
} ocdm__replay;

/* The batch of an update, and room for what it is made of. Start with all bytes zero. */
typedef struct ocdm__online {
    ocdm__batch batch; /* what it points to is below */
    unsigned turn;     /* updates so far: which slot of the inputs the stream's samples are in */
    double operations; /* of the last step: updates, and gradients that the policy compared; NaN: not known */
    size_t asked;      /* samples whose gradients were computed for the policy in this step */

    uint32_t *samples; /* of the batch */
    uint32_t *slots;   /* of the memory, whose samples are replayed */
    ocdm_sample *offered;
    ocdm__label_room labels;
    float *input;         /* of the samples that this process has */
    uint64_t *seen;       /* samples of the stream so far that carried each class; NULL: the loss has no weights of classes */
    float *class_weights; /* of the step */
    float *ages;          /* steps since each class first came, this one included; 0: not yet; NULL: not counted */
    double *keys;         /* room to draw */
    float *dark;          /* logits that the replayed samples once had; NULL: not kept */
    float *guesses;       /* of the averaged model, a row for each sample of the batch; NULL: there are no pseudo-labels */
} ocdm__online;

/* ---- run ----------------------------------------------------------------------------------------------------------------- */

/* Seconds: of the parts of all steps, of evaluations, and all together. */
typedef struct ocdm__run_times {
    double draw;   /* choosing the samples to replay */
    double decode; /* waiting for samples and joining them */
    double train;
    double update; /* of the memory */
    double evaluate, total;
} ocdm__run_times;

/* What one version of the learner's weights was evaluated to. */
typedef struct ocdm__run_version {
    ocdm__evaluation *evaluations; /* one for each task */
    ocdm__class_score *scores;     /* of the last one */
    ocdm__evaluation validation;   /* on what is held out, at the end; without tasks before, or when nothing is */
} ocdm__run_version;

/* What the steps cost so far. */
typedef struct ocdm__run_cost {
    double operations;             /* of floating-point numbers, in training and in gradients for the memory; NaN: not known */
    double updates;                /* of the learner; NaN: not known */
    double missed, missed_samples; /* steps, and their samples, that passed while the learner was busy */
    double behind; /* with a budget: how long the learner is still busy when the next batch comes, in its unit */
} ocdm__run_cost;

struct ocdm__similarity; /* similarity.c: compares gradients for a policy */

typedef struct ocdm__run {
    const ocdm__run_settings *settings; /* resolved */
    const ocdm__stream *stream;
    ocdm__schedule schedule;
    ocdm__stream_order tests;
    uint64_t *train_counts, *test_counts; /* samples with each class */
    uint32_t *task_counts;                /* training samples with each class in each task, as ocdm__count_classes_by_task */
    uint8_t *groups;                      /* of each class */
    double *class_weights;                /* in the target; NULL: 1 for every class */

    ocdm__learner *learner;     /* NULL: none */
    ocdm__learner made;         /* what it points to */
    const ocdm__ranks *ranks;   /* that make the same steps with parts of the same learner */
    ocdm__model_inputs *inputs; /* NULL: none */
    ocdm_memory *memory;        /* NULL: none */
    ocdm__replay replays;
    ocdm__store store;
    ocdm__online online;
    struct ocdm__similarity *similarity; /* for a policy that compares gradients; else NULL */

    uint64_t step; /* made so far */
    double loss;   /* of the last one; NaN for none */
    ocdm__curve *curve;
    ocdm__run_version *versions;    /* of the learner's weights: the trained ones, then their averages */
    size_t version_count, reported; /* the version reported is the first average, if there is one, until validation decides */
    ocdm__evaluation *evaluations;  /* of the version reported: one for each task, the first evaluation_count of them made */
    size_t evaluation_count;
    ocdm__class_score *scores;    /* and of its last evaluation */
    ocdm__class_score *room;      /* for scores that nobody keeps */
    ocdm__evaluation *validation; /* and on what is held out */
    ocdm__operation operation;    /* and what thresholds give there */
    double *untrained;            /* with --transfer: mAP of each task, as a fraction, before the first step; else NULL */

    ocdm__probes probes;
    ocdm__run_cost cost;
    uint8_t *misses;   /* with a budget: a bit for each step, 1 if it was missed; a multiple of four bytes */
    double step_begun; /* when the step began */

    ocdm__run_times times; /* `total` without this process, which has `started` then */
    double started;
    uint64_t skipped; /* samples of the stream whose image could not be decoded: they neither train nor enter the memory */
    uint32_t *samples, *next; /* of the stream: those of the step, and of the one after it */
    ocdm__arena arena;        /* of all that is made once */
} ocdm__run;

/* The weights of a stream's classes by a file (stream/recipes/class_files.h); NULL for no file. Release them. OCDM_OK, and what
 * the file gives. */
ocdm_status ocdm__class_weights_read(const char *path, const ocdm__stream_table *table, double **weights, ocdm_error *error);

/* Gives the classes 0 to count - 1 their weights; NULL: all stay 1. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__class_weights_set(ocdm_memory *memory, const double *weights, size_t count, ocdm_error *error);

/* Makes everything that a run needs, the learner with `maker` unless the model is "none"; nothing is learnt yet. Settings and
 * stream must outlive the run. OCDM_OK, and whatever inputs, learner, memory, order and groups return. */
ocdm_status ocdm__run_open(const ocdm__run_settings *settings, const ocdm__stream *stream, const ocdm__learner_maker *maker,
                           ocdm__run **run, ocdm_error *error);

/* What a memory is made with by the settings of a run. */
ocdm_options ocdm__run_memory_options(const ocdm__run_settings *settings);

/* The memory as bytes, none for a run without: release them. There is room for four bytes more. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__run_memory_bytes(const ocdm__run *run, unsigned char **bytes, size_t *size, ocdm_error *error);

/* Call it after opening, and after restoring if there is a checkpoint: prepares the first step. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__run_begin(ocdm__run *run, ocdm_error *error);

/* Does nothing for NULL. */
void ocdm__run_close(ocdm__run *run);

enum ocdm__run_event { OCDM__RUN_STEPPED, OCDM__RUN_PROBED, OCDM__RUN_EVALUATED, OCDM__RUN_FINISHED };

/* What comes next: a step, an evaluation at any time, one after a task, or nothing. */
enum ocdm__run_event ocdm__run_due(const ocdm__run *run);

/* Makes the next step or evaluation with the run's learner. OCDM_OK; OCDM_STOPPED when an evaluation was interrupted: the run
 * is as it was before it; what steps and evaluations give, and OCDM_BAD_FILE at the last evaluation if no image could be used
 * for training, after which the run can only be closed. */
ocdm_status ocdm__run_advance(ocdm__run *run, const ocdm__progress *progress, enum ocdm__run_event *event, ocdm_error *error);

/* On several ranks, before each step or evaluation: the leader says whether there is another one, and the others hear it. True
 * for a process that is alone. */
bool ocdm__run_goes_on(const ocdm__run *run, bool more);

/* On several ranks, before the leader saves the run: it gets those parts of the learner's state that others have, who wait in
 * ocdm__run_goes_on. */
void ocdm__run_collect(const ocdm__run *run);

/* The step in parts, for a learner outside the loop. A step has settings->steps_per_batch updates: the first function makes
 * run->online.batch, without the input, then the caller trains; afterwards the memory is updated. It returns what comes next,
 * with a count of 0 if that is not known yet. After an error the step cannot be made again. OCDM_OK, OCDM_NO_MEMORY, and what
 * the memory gives. */
ocdm__batch ocdm__run_begin_update(ocdm__run *run, uint32_t number);
ocdm_status ocdm__run_end_step(ocdm__run *run, double loss, ocdm_error *error);

/* The whole step; see step.c. */
ocdm_status ocdm__run_step(ocdm__run *run, ocdm_error *error);

/* Whether the learner is still busy when the next batch comes: the step is then missed, which the second function notes. */
bool ocdm__run_is_busy(const ocdm__run *run);
void ocdm__run_miss_step(ocdm__run *run);
bool ocdm__run_missed(const ocdm__run *run, uint64_t step);

/* Whether an evaluation of either kind comes after so many steps; whether one at any time does. The steps before number
 * `number` of the latter. */
bool ocdm__run_evaluates_after(const ocdm__run *run, uint64_t steps);
bool ocdm__run_probes_after(const ocdm__run *run, uint64_t steps);
uint64_t ocdm__run_probe_step(const ocdm__run *run, size_t number);

/* The area under the curve of mAP, as a fraction, over the samples seen, divided by their number; NaN without such evaluations.
 * The curve as a member of the summary, if there is one. */
double ocdm__run_probe_area(const ocdm__run *run, size_t version);
void ocdm__run_probes_write(ocdm__output *output, const ocdm__run *run);

/*
 * The evaluation after a task, and one at any time: by the learner, or by scores that the caller has, class_count for each test
 * of the tasks so far, in the order of run->tests or of run->probes.part; NULL: the learner is asked.
 *
 * OCDM_OK, OCDM_STOPPED, OCDM_BAD_RECORD (a score is not finite), OCDM_NO_MEMORY, and what reading a sample gives; on error the
 * run is as it was.
 */
ocdm_status ocdm__run_evaluate(ocdm__run *run, const float *given, const ocdm__progress *progress, ocdm_error *error);
ocdm_status ocdm__run_probe(ocdm__run *run, const float *given, const ocdm__progress *progress, ocdm_error *error);

/* Whether the last step is to be logged: every `log_every`-th, and the last of a task. */
bool ocdm__run_logs_step(const ocdm__run *run);

/* The point of the curve after the last step; its distances are those of the memory as it is. */
ocdm__curve_point ocdm__run_point(const ocdm__run *run);

/* Times so far, those before a resume included; images that could not be decoded. */
ocdm__run_times ocdm__run_times_now(const ocdm__run *run);
double ocdm__step_seconds(const ocdm__run_times *times); /* without evaluations */
uint64_t ocdm__run_skipped(const ocdm__run *run);

/* ---- parts of the step, in files of their own -------------------------------------------------------------------------- */

/* replay.c. Room for what is kept beside the samples of the memory. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__replay_open(ocdm__run *run, ocdm_error *error);

/* After a step: keeps what the learner made of the samples in these slots, if anything is kept: their loss, and the logits of
 * new ones. Sample i is in row rows[i] of the outputs if it is new; else `rows` is NULL and it is in row first + i. */
void ocdm__replay_note(const ocdm__run *run, const uint32_t *slots, size_t count, const uint32_t *rows, size_t first);

/* What is kept of samples that moved to other slots moves with them. */
void ocdm__replay_move(const ocdm__replay *replay, const ocdm_move *moved, size_t count);

/* Draws the slots of an update, by the rule of the settings, without replacement: fewer while the memory holds fewer. Returns
 * how many. */
size_t ocdm__replay_draw(ocdm__run *run, uint64_t update);

/* pseudo.c. Adds pseudo-labels to those of the batch, if the settings ask for them. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__add_pseudo_labels(ocdm__run *run, ocdm_error *error);

/*
 * similarity.c. Makes the memory ask the run's learner how similar the gradients of a batch are to those of some samples in
 * memory, if its policy wants to know. Gradients are those of the loss with respect to all parameters in evaluation mode;
 * images are cropped in the middle and not augmented. `slot` of the inputs is free whenever the memory is updated.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (the learner has no gradients), OCDM_NO_MEMORY. Close it even after an error.
 */
ocdm_status ocdm__similarity_open(ocdm__run *run, unsigned slot, ocdm_error *error);
void ocdm__similarity_close(struct ocdm__similarity *similarity);

#endif
