/*
 * Runs what is missing of a comparison: each method, seed and point as `ocdm run` in a process and a folder of its own, so that
 * a run that fails or is stopped does not affect the others. Finished runs are left alone, interrupted ones are resumed, runs
 * with other settings are refused.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_EXECUTE_H
#define OCDM_EXPERIMENT_COMPARE_EXECUTE_H

#include <signal.h>
#include "base/base.h"

#include "experiment/compare/plan.h"
#include "experiment/folder/saved_run.h"
#include "experiment/loop/schedule.h"
#include "experiment/loop/settings.h"
#include "ranks/ranks.h"
#include "stream/file.h"

/* ---- processes ----------------------------------------------------------------------------------------------------------- */

/* How a process ended. */
struct ocdm__child_result {
    int exit_code; /* 128 + the signal if one killed it; -1: it was never started */
    double seconds;
    char error[512], hint[256]; /* what the last `error: ` and `hint: ` lines of the log say; "" for none */
};

/* One process. */
typedef struct ocdm__child {
    const char *name; /* for the caller */
    char *command; /* texts, each with its NUL: the path of its log, then its words, the program's name first. The log has its
                      stderr; it is there while the process runs, and stays when it fails */
    size_t size;   /* bytes of them */
    struct ocdm__child_result result;
} ocdm__child;

typedef struct ocdm__children {
    const char *program;   /* the path to execute */
    ocdm__child *children; /* filled in by the caller, except the results */
    size_t count, jobs;    /* how many in all, and at a time */
    const volatile sig_atomic_t
        *stop;                   /* number of a signal that arrived: it is sent to all children, and no more are started */
    void (*waited)(void *state); /* many times a second; may be NULL */
    void (*ended)(void *state, const ocdm__child *child);
    void *state;
    /* Ranks that start children too, `jobs` each. With fewer children than ranks, a child
     * is no process: all ranks run its command with `together`, one child at a time. */
    const ocdm__ranks *ranks;
    int (*together)(size_t argc, char **argv);
} ocdm__children;

/* Runs them all in their order. A child that fails, or cannot be started, does not stop the others: see its exit_code. OCDM_OK,
 * OCDM_STOPPED (after all have ended), OCDM_IO (a log of all ranks cannot be written), OCDM_NO_MEMORY. */
ocdm_status ocdm__children_run(ocdm__children *children, ocdm_error *error);

/* What the other ranks do meanwhile. */
typedef struct ocdm__child_server {
    const ocdm__ranks *ranks;
    const char *program; /* the path to execute */
    const volatile sig_atomic_t *stop;
    void (*follow)(size_t argc, char **argv); /* a command that the leader runs with `together` */
} ocdm__child_server;

/* Starts what the leader says, until it dismisses the ranks. */
void ocdm__children_serve(const ocdm__child_server *server);
void ocdm__rank_children_dismiss(const ocdm__ranks *ranks);

/* The path of the program that is running, in `path`; or `fallback` where the system does not provide it. */
void ocdm__own_program(const char *fallback, char *path, size_t room);

/* Call it first in a process: if ocdm__children_run started the process, it receives SIGTERM when its parent ends, even by
 * SIGKILL (Linux). Returns whether it did. */
bool ocdm__end_with_parent(void);

/* ---- comparison ---------------------------------------------------------------------------------------------------------- */

/* The settings of the runs of a plan, besides those that the plan gives for each run. Start with all bytes zero. */
typedef struct ocdm__run_setup {
    ocdm__run_settings settings; /* resolved; method, memory, rho, seed and order are the plan's */
    const ocdm__stream *stream;
    uint8_t *groups;              /* of each class */
    double *class_weights;        /* of each class; NULL: 1 */
    ocdm__stream_order ascending; /* whose tasks come where the plan has no order */
    ocdm__run_settings planned;   /* of the run that was asked about last, and its order */
    uint32_t *order;
} ocdm__run_setup;

/*
 * Fills in what depends on the stream, which `path` names in messages; the settings' texts and the stream must outlive it.
 * OCDM_OK, OCDM_BAD_ARGUMENT (the model does not fit the stream, ...), what a file of groups or weights gives, OCDM_NO_MEMORY.
 * Clear it even after an error.
 */
ocdm_status ocdm__run_setup_make(ocdm__run_setup *setup, const ocdm__run_settings *settings, const ocdm__stream *stream,
                                 const char *path, ocdm_error *error);
void ocdm__run_setup_clear(ocdm__run_setup *setup);

/* A run of the plan with the settings that it should have; valid until the next call. */
ocdm__asked_run ocdm__run_setup_of(ocdm__run_setup *setup, const ocdm__compare_plan *plan, size_t point, size_t method,
                                   uint64_t seed);

/* The settings that all runs of a plan have in common, for people: "memory 1000, batch 10, ..."; those that are null, false or
 * differ are left out. Cut if it is longer than `room`. */
ocdm_status ocdm__run_setup_text(ocdm__run_setup *setup, const ocdm__compare_plan *plan, char *text, size_t room,
                                 ocdm_error *error);

enum ocdm__folder_state { OCDM__FOLDER_NEW, OCDM__FOLDER_HALF, OCDM__FOLDER_DONE };

/*
 * Looks into a run's folder: done when there is a summary.json, half done when there is a log or a checkpoint and no summary.
 * OCDM_OK; OCDM_BAD_ARGUMENT (a finished run with a setting that is not the one asked for: it is named with both values);
 * OCDM_BAD_FILE (a finished run on another stream, or a damaged summary), OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked_run *asked, enum ocdm__folder_state *state,
                                   ocdm_error *error);

/* The file in a comparison's folder that lists its runs. */
#define OCDM__RUNS_FILE "runs.json"

typedef struct ocdm__compare_execution {
    const ocdm__compare_plan *plan;
    const char *stream, *folder;
    const char *const *flags; /* passed to every run: "--lr", "0.006", ... */
    size_t flag_count;
    ocdm__run_setup *setup; /* what they mean, and the defaults of the others */
    ocdm__children how;     /* without the children, whose names are those of their folders */
    void (*begun)(void *state, size_t runs, size_t done, size_t half); /* of these runs so many are done already, or begun */
} ocdm__compare_execution;

/*
 * Makes the folder, writes runs.json (the names and steps of all runs), runs what is missing. `failed` is set to the exit code
 * of the first run, in the order of the plan, that failed; -1 if it could not be started, 0 for none. OCDM_OK, OCDM_STOPPED,
 * and what ocdm__look_into_folder and ocdm__children_run give.
 */
ocdm_status ocdm__compare_execute(const ocdm__compare_execution *execution, int *failed, ocdm_error *error);

#endif
