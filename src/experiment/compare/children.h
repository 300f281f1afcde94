/*
 * Runs of a comparison as processes of their own, so that one that fails, or is stopped, takes no other with it. A few at a
 * time; signals are passed on, once, and everyone is waited for.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_CHILDREN_H
#define OCDM_EXPERIMENT_COMPARE_CHILDREN_H

#include <signal.h>
#include <stddef.h>

#include "ocdm/ocdm.h"

/* One process: what it is called with and where what it says on stderr goes. */
typedef struct ocdm__child {
    const char *const *arguments; /* the program's name first, NULL at the end */
    const char *log;              /* a file that is there while it runs, and stays when it fails */
    int exit_code;                /* after it ended; 128 + the signal if one killed it; -1: never started */
    double seconds;
    char error[512], hint[256]; /* what the last `error: ` and `hint: ` lines of the log say; "" for none */
} ocdm__child;

typedef struct ocdm__children {
    const char *program;               /* the path to execute */
    ocdm__child *children;             /* to be filled in but for the results */
    size_t count, jobs;                /* how many in all, and at a time */
    const volatile sig_atomic_t *stop; /* a signal's number when it comes: sent to all who run, and no more are started */
    void (*ended)(void *state, size_t child);
    void *state;
} ocdm__children;

/* Runs them all in their order. A child that fails does not stop the others: see its exit_code. OCDM_OK, OCDM_STOPPED (after
 * all have ended), OCDM_IO (a process cannot be made: those that run are waited for), OCDM_NO_MEMORY. */
ocdm_status ocdm__children_run(ocdm__children *children, ocdm_error *error);

/* The path of the program that is running, in `path`; or `fallback` where the system does not tell. */
void ocdm__own_program(const char *fallback, char *path, size_t room);

#endif
