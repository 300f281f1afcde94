/*
 * The online experiment around a learner of your own: a stream file, a replay memory, evaluations after each task, a log,
 * checkpoints and resume. It leaves the same files as `ocdm run` (docs/run-files.md), so `ocdm report` and `ocdm watch` show
 * its runs beside those of the built-in networks.
 *
 * There are two ways. Either the experiment calls the learner, a table of functions (ocdm_experiment_run), or the caller
 * requests one step after another (ocdm_loop_open), for programs that have their own training loop.
 *
 *     cc learner.c $(pkg-config --cflags --libs ocdm_experiment)
 *
 * As stable as ocdm.h: nothing in this header goes or changes its meaning before 2.0.
 */
#ifndef OCDM_EXPERIMENT_H
#define OCDM_EXPERIMENT_H

#include <ocdm/ocdm.h>
#include <ocdm/stream.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run that was stopped and saved, besides the statuses of ocdm.h. */
#define OCDM_STOPPED ((ocdm_status)12)

/* ---- what is run ---------------------------------------------------------------------------------------------------- */

/* What is run. Texts must be valid during the run. */
typedef struct ocdm_experiment {
    size_t size;        /* sizeof(ocdm_experiment) */
    const char *stream; /* a file of `ocdm stream build` with features; not used by ocdm_loop_open */
    const char *folder; /* for the files of the run; made if it does not exist */

    /* Settings other than the defaults of `ocdm run`: flag names and values alternately, terminated by NULL, for example
     * {"method", "prs", "memory", "500", "order", "0,3,1,2", NULL}. NULL: none. All flags but --model are settings; those of
     * the built-in networks, such as lr, are only written into the files of the run. */
    const char *const *settings;

    bool resume;                       /* continue the run in the folder, if there is one */
    const volatile sig_atomic_t *stop; /* when it is not 0, ocdm_experiment_run saves and ends with OCDM_STOPPED; NULL */
    void (*note)(void *state, const char *text); /* a message for the user, one line; may be NULL */
    void *note_state;
} ocdm_experiment;

/* An experiment with the defaults of `ocdm run`; set stream and folder. */
ocdm_experiment ocdm_experiment_default(void);

/* Samples with their labels: those of the stream first, then those that are replayed. The arrays are valid during the call.
 * Later versions may append members. */
typedef struct ocdm_learner_batch {
    size_t count;
    const float *features;   /* count x width; NULL in a loop, where the caller reads the samples */
    const size_t *starts;    /* count + 1: sample i has labels[starts[i]] up to, not including, labels[starts[i + 1]] */
    const uint32_t *labels;  /* numbers of classes */
    const uint32_t *samples; /* numbers in the stream */
    const uint8_t *known; /* which classes of each sample are annotated, as in ocdm_stream_tables, in the order of the batch: a
                             loss should leave the others out, for they may be there or not. NULL: all are */
} ocdm_learner_batch;

/* ---- a learner that is called --------------------------------------------------------------------------------------- */

/*
 * A learner. Set `size` to sizeof(ocdm_learner) and members that you do not use to NULL. The functions are called by one
 * thread. They return OCDM_OK or the status that ends the run, with a message in `error` if they have one.
 *
 * For a run that can be resumed to the same bytes, train and predict may depend only on the saved state and on their arguments.
 */
typedef struct ocdm_learner {
    size_t size;
    const char *name; /* "model" in the files of the run; none of the models of `ocdm run` */
    void *state;      /* passed to every function */

    /* Once, before anything else: features of a sample, and classes of the stream. */
    ocdm_status (*begin)(void *state, size_t width, size_t classes, ocdm_error *error);

    /* One step. Sets `loss` for the log; NaN for none. */
    ocdm_status (*train)(void *state, const ocdm_learner_batch *batch, double *loss, ocdm_error *error);

    /* A finite score for each sample and class, count x classes; positive where the class is predicted. */
    ocdm_status (*predict)(void *state, const float *features, size_t count, float *scores, ocdm_error *error);

    /* Optional: the gradient of the mean loss of a batch, gradient_size floats; nothing changes. gss needs it. */
    ocdm_status (*gradient)(void *state, const ocdm_learner_batch *batch, float *gradient, ocdm_error *error);
    size_t gradient_size;

    /* The state as bytes, which belong to the learner and stay valid until its next call; NULL if there is no memory. */
    const void *(*save)(void *state, size_t *size);

    /* Restores what save returned. Return OCDM_BAD_FILE for bytes that are not valid. */
    ocdm_status (*load)(void *state, const void *bytes, size_t size, ocdm_error *error);
} ocdm_learner;

/*
 * Makes the run, or the rest of it. OCDM_OK: it is finished, or was already. OCDM_STOPPED: stopped and saved.
 * OCDM_BAD_ARGUMENT, OCDM_UNKNOWN_NAME: invalid settings, or a folder with another run. OCDM_BAD_FILE: stream or checkpoint
 * are damaged. OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY, and what the learner returns.
 */
ocdm_status ocdm_experiment_run(const ocdm_experiment *experiment, const ocdm_learner *learner, ocdm_error *error);

/* ---- a learner that asks -------------------------------------------------------------------------------------------- */

/*
 * The same run, one step at a time:
 *
 *     ocdm_loop *loop = NULL;
 *     const ocdm_loop_step *step;
 *     ocdm_status status = ocdm_loop_open(&experiment, stream, &learner, &loop, &error);
 *     if (status == OCDM_OK && (bytes = ocdm_loop_saved(loop, &size)) != NULL)
 *         ... the run goes on: take the state of the learner from the bytes
 *     while (status == OCDM_OK && (status = ocdm_loop_next(loop, &step, &error)) == OCDM_OK && step != NULL) {
 *         ... train on step->batch
 *         status = ocdm_loop_done(loop, loss, &error);
 *         if (status == OCDM_OK && step->evaluate)
 *             status = ocdm_loop_evaluate(loop, scores of the samples of ocdm_loop_tests, &error);
 *         if (status == OCDM_OK && step->checkpoint)
 *             status = ocdm_loop_checkpoint(loop, state of the learner, size of it, &error);
 *     }
 *     ocdm_loop_close(loop);
 *
 * A loop that is closed early, or whose program is killed, continues from its last checkpoint when it is opened again.
 */
typedef struct ocdm_loop ocdm_loop;

/*
 * Starts a run in its folder, or continues the existing one if experiment->resume is set.
 *
 * stream    any stream: the caller reads the samples, by their numbers; it must outlive the loop
 * learner   only name, state, gradient and gradient_size are used; copied
 *
 * As ocdm_experiment_run. The folder is locked until the loop is closed.
 */
ocdm_status ocdm_loop_open(const ocdm_experiment *experiment, const ocdm_stream *stream, const ocdm_learner *learner,
                           ocdm_loop **loop, ocdm_error *error);

/* Closes it; what was done since the last checkpoint is lost, unless the run is finished. NULL is fine. */
void ocdm_loop_close(ocdm_loop *loop);

/* The bytes of the checkpoint that the run continues from; NULL for a new run. They belong to the loop. */
const void *ocdm_loop_saved(const ocdm_loop *loop, size_t *size);

/* A step. It belongs to the loop and is valid until the next one. Later versions may append members. */
typedef struct ocdm_loop_step {
    uint64_t number;                 /* from 1 */
    uint32_t task;                   /* of the samples of the stream, for messages; a method should not use it */
    const ocdm_learner_batch *batch; /* to train on. Empty if only an evaluation is due: a task without training samples */
    size_t new_count;                /* how many samples of the batch are of the stream: the first ones */
    bool evaluate;                   /* an evaluation is due after the step */
    bool checkpoint;                 /* a checkpoint is due after the step and its evaluation */
    uint32_t update; /* from 1 to the setting steps-per-batch: steps of one number have the same samples of the stream */
} ocdm_loop_step;

/*
 * The next step. After the last one `*step` is NULL, and the files of the run are complete.
 *
 * OCDM_OK; OCDM_BAD_ARGUMENT if the step before is not done, or its evaluation is missing; OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm_loop_next(ocdm_loop *loop, const ocdm_loop_step **step, ocdm_error *error);

/* After training: updates the memory, after the last update of a step, and writes the log. `loss` is for the log, NaN for none.
 * OCDM_OK; OCDM_BAD_ARGUMENT if there is no step to end; OCDM_IO, and what the memory returns. After another error the loop can
 * only be closed. */
ocdm_status ocdm_loop_done(ocdm_loop *loop, double loss, ocdm_error *error);

/* The samples of the stream that an evaluation needs now: the tests of all tasks so far, or, for one that the setting
 * eval-every asks for, a part of them. Valid until the next step. */
const uint32_t *ocdm_loop_tests(const ocdm_loop *loop, size_t *count);

/* Evaluates, when it is due: a finite score for each of these tests and each class, count x classes, positive where the class
 * is predicted. OCDM_OK, OCDM_BAD_ARGUMENT (no evaluation is due, or a score is not finite), OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm_loop_evaluate(ocdm_loop *loop, const float *scores, ocdm_error *error);

/* Saves the run with the state of the learner, any bytes. Allowed whenever a step is done with all its updates, its evaluation
 * too. OCDM_OK, OCDM_BAD_ARGUMENT (a step is not done), OCDM_IO, OCDM_NO_MEMORY; on error the checkpoint before it stays. */
ocdm_status ocdm_loop_checkpoint(ocdm_loop *loop, const void *bytes, size_t size, ocdm_error *error);

#ifdef __cplusplus
}
#endif

#endif
