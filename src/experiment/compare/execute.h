/*
 * Runs what is missing of a comparison: each method, seed and point as `ocdm run` in a process and a folder of its own. What is
 * done is left alone, what is half done goes on, what does not fit is refused.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_EXECUTE_H
#define OCDM_EXPERIMENT_COMPARE_EXECUTE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/compare/children.h"
#include "experiment/compare/plan.h"
#include "ocdm/ocdm.h"

/* What a finished run must have been made with to count as done: a member of its settings, or of its summary when there is a
 * point in its name ("stream.checksum"), and the value as a flag takes it; NULL: null is saved. */
typedef struct ocdm__asked {
    char member[32];
    const char *value;
    const uint8_t *groups; /* where the value is a file of groups, what it says of each class; else NULL */
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
    const ocdm__asked *asked; /* what these and the defaults come to; method, seed, memory, rho and order are added */
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
