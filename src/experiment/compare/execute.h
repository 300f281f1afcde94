/*
 * Runs what is missing of a comparison: each method, seed and point as `ocdm run` in a process and a folder of its own, so that
 * a run that fails or is stopped does not affect the others. Finished runs are left alone, interrupted ones are resumed, runs
 * with other settings are refused.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_EXECUTE_H
#define OCDM_EXPERIMENT_COMPARE_EXECUTE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/compare/plan.h"
#include "ocdm/ocdm.h"

/* ---- processes ----------------------------------------------------------------------------------------------------------- */

/* One process: its arguments, and the file for its stderr. */
typedef struct ocdm__child {
    const char *const *arguments; /* the program's name first, NULL at the end */
    const char *log;              /* a file that is there while it runs, and stays when it fails */
    int exit_code;                /* after it ended; 128 + the signal if one killed it; -1: never started */
    double seconds;
    char error[512], hint[256]; /* what the last `error: ` and `hint: ` lines of the log say; "" for none */
} ocdm__child;

typedef struct ocdm__children {
    const char *program;   /* the path to execute */
    ocdm__child *children; /* to be filled in but for the results */
    size_t count, jobs;    /* how many in all, and at a time */
    const volatile sig_atomic_t
        *stop; /* number of a signal that arrived: it is sent to all children, and no more are started */
    void (*ended)(void *state, size_t child);
    void *state;
} ocdm__children;

/* Runs them all in their order. A child that fails does not stop the others: see its exit_code. OCDM_OK, OCDM_STOPPED (after
 * all have ended), OCDM_IO (a process cannot be made: those that run are waited for), OCDM_NO_MEMORY. */
ocdm_status ocdm__children_run(ocdm__children *children, ocdm_error *error);

/* The path of the program that is running, in `path`; or `fallback` where the system does not provide it. */
void ocdm__own_program(const char *fallback, char *path, size_t room);

/* ---- comparison ---------------------------------------------------------------------------------------------------------- */

/* What a finished run must have been made with to count as done: a member of its settings, or of its summary when there is a
 * point in its name ("stream.checksum"), and the value as a flag takes it; NULL: null is saved. */
typedef struct ocdm__asked {
    char member[32];
    const char *value;
    const uint8_t *groups;       /* where the value is a file of groups, what it says of each class; else NULL */
    const double *class_weights; /* the same for a file of weights */
    size_t class_count;
} ocdm__asked;

enum ocdm__folder_state { OCDM__FOLDER_NEW, OCDM__FOLDER_HALF, OCDM__FOLDER_DONE };

/*
 * Looks into a run's folder: done when summary.json has all of `asked` among its settings, half done when there is a log or a
 * checkpoint and no summary. OCDM_OK, OCDM_BAD_ARGUMENT (a finished run with other settings: the first difference is named),
 * OCDM_BAD_FILE, OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked *asked, size_t asked_count,
                                   enum ocdm__folder_state *state, ocdm_error *error);

typedef struct ocdm__compare_execution {
    const ocdm__compare_plan *plan;
    const char *program; /* this very program */
    const char *stream, *folder;
    const char *const *flags; /* passed to every run: "--lr", "0.006", ... */
    size_t flag_count;
    const ocdm__asked *asked; /* their values and the defaults; method, seed, memory, rho and order are added */
    size_t asked_count;
    size_t jobs;
    const volatile sig_atomic_t *stop;
    /* Told, may be NULL: how many runs there are and how many of them are done already; and each one that ends. */
    void (*begun)(void *state, size_t runs, size_t done, size_t half);
    void (*ended)(void *state, const char *name, const ocdm__child *child);
    void *state;
} ocdm__compare_execution;

/*
 * Makes the folder, runs what is missing. `failed` is set to the exit code of the first run, in the order of the plan, that
 * failed; 0 for none. OCDM_OK, OCDM_STOPPED, and what ocdm__look_into_folder and ocdm__children_run give.
 */
ocdm_status ocdm__compare_execute(const ocdm__compare_execution *execution, int *failed, ocdm_error *error);

#endif
