/*
 * The online experiment around a learner of your own: a stream file, a replay memory, evaluations after each task, a log,
 * checkpoints and resume. It leaves the same files as `ocdm run` (docs/run-files.md), so `ocdm report` and `ocdm watch` show
 * its runs beside those of the built-in networks.
 *
 *     cc learner.c $(pkg-config --cflags --libs ocdm_experiment)
 *
 * THIS HEADER MAY CHANGE BEFORE 1.0, unlike ocdm.h. Only streams of features can be used so far.
 */
#ifndef OCDM_EXPERIMENT_H
#define OCDM_EXPERIMENT_H

#include <ocdm/ocdm.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Samples with their labels: those of the stream first, then those that are replayed. The arrays are valid during the call. */
typedef struct ocdm_learner_batch {
    size_t count;
    const float *features;  /* count x width */
    const size_t *starts;   /* count + 1: sample i has labels[starts[i]] up to, not including, labels[starts[i + 1]] */
    const uint32_t *labels; /* numbers of classes */
} ocdm_learner_batch;

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

    /* Takes back what save returned. Refuse bytes that make no sense with OCDM_BAD_FILE. */
    ocdm_status (*load)(void *state, const void *bytes, size_t size, ocdm_error *error);
} ocdm_learner;

/* What is run. Texts must be valid during the run. */
typedef struct ocdm_experiment {
    size_t size;        /* sizeof(ocdm_experiment) */
    const char *stream; /* a file of `ocdm stream build` with features */
    const char *folder; /* for the files of the run; made if it does not exist */
    const char *method; /* as `ocdm run --method` */
    uint32_t memory, batch, replay;
    double rho;
    uint64_t seed;
    bool resume;                       /* go on with the run in the folder */
    const volatile sig_atomic_t *stop; /* when it is not 0, the run saves and ends with OCDM_STOPPED; NULL */
} ocdm_experiment;

/* The defaults of `ocdm run`; set stream and folder. */
ocdm_experiment ocdm_experiment_default(void);

/*
 * Makes the run, or the rest of it. OCDM_OK: it is finished, or was already. OCDM_STOPPED: stopped and saved.
 * OCDM_BAD_ARGUMENT, OCDM_UNKNOWN_NAME: settings that make no sense, or a folder with another run. OCDM_BAD_FILE: stream or
 * checkpoint are damaged. OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY, and what the learner returns.
 */
ocdm_status ocdm_experiment_run(const ocdm_experiment *experiment, const ocdm_learner *learner, ocdm_error *error);

#ifdef __cplusplus
}
#endif

#endif
