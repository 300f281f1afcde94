/*
 * A run in a folder: the files of docs/run-files.md, a lock against a second run in the same folder, checkpoints, and resume.
 * Once a first checkpoint has been written, the folder has a complete one at any moment, even if the program is killed or the
 * disk is full.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_RUN_FOLDER_H
#define OCDM_EXPERIMENT_FOLDER_RUN_FOLDER_H

#include <stdbool.h>

#include "base/progress.h"
#include "experiment/folder/settings.h"
#include "experiment/loop/run.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

typedef struct ocdm__run_job {
    const ocdm__run_settings *settings; /* resolved */
    const ocdm__stream *stream;
    const ocdm__learner_maker *learner; /* not used without a model */
    const char *folder;                 /* made if it is not there */
    bool resume;                        /* go on with the run in the folder */
} ocdm__run_job;

/* Callbacks; all may be NULL. */
typedef struct ocdm__run_hooks {
    ocdm__progress progress;                             /* of evaluations; `stop` ends the run after the current step */
    void (*stepped)(void *state, const ocdm__run *run);  /* after each step */
    void (*finished)(void *state, const ocdm__run *run); /* once, before the run is closed */
    void (*note)(void *state, const char *text);         /* something that a user should know, one line */
    void *state;
} ocdm__run_hooks;

/*
 * Makes the run, or the rest of it.
 *
 * OCDM_OK: it is finished, or was already. OCDM_STOPPED: stopped, and saved. OCDM_BAD_ARGUMENT: a run is there and `resume` is
 * not set, or it has other settings or groups. OCDM_IO: the folder is in use by another run, or a file cannot be written.
 * OCDM_BAD_FILE: the stream has changed, or no checkpoint is whole. And what the run gives.
 */
ocdm_status ocdm__run_in_folder(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm_error *error);

/* Room for the path of a file in a folder, and the path: OCDM_OK, or OCDM_LIMIT when it is too long. */
#define OCDM__PATH_ROOM 4096
ocdm_status ocdm__folder_path(const char *folder, const char *name, char path[OCDM__PATH_ROOM], ocdm_error *error);

/* Makes a folder, and those above it, unless they are there. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__make_folder(const char *folder, ocdm_error *error);

#endif
