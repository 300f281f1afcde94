/*
 * A run in a folder: the files of docs/run-files.md, a lock against a second run in the same folder, checkpoints, and resume.
 * Once a first checkpoint has been written, the folder has a complete one at any moment, even if the program is killed or the
 * disk is full.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_RUN_FOLDER_H
#define OCDM_EXPERIMENT_FOLDER_RUN_FOLDER_H

#include "base/base.h"
#include "base/progress.h"
#include "experiment/folder/summary.h"
#include "experiment/loop/settings.h"
#include "experiment/loop/run.h"
#include "stream/file.h"

/* Room for the path of a file in a folder, and the path: OCDM_OK, or OCDM_LIMIT when it is too long. */
#define OCDM__PATH_ROOM 4096
ocdm_status ocdm__folder_path(const char *folder, const char *name, char path[OCDM__PATH_ROOM], ocdm_error *error);

/* Makes a folder, and those above it, unless they are there. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__make_folder(const char *folder, ocdm_error *error);

typedef struct ocdm__run_job {
    const ocdm__run_settings *settings; /* resolved */
    const ocdm__stream *stream;
    const ocdm__learner_maker *learner; /* not used without a model */
    const char *folder;                 /* made if it is not there */
    bool resume;                        /* continue the run in the folder */
} ocdm__run_job;

/* Callbacks; all may be NULL. */
typedef struct ocdm__run_hooks {
    ocdm__progress progress; /* of evaluations; `stop` ends the run after the current step */
    /* Once, before the first step: with other ranks the run may have to be got ready. NULL: there is nothing to do. */
    ocdm_status (*opened)(void *state, ocdm__run *run, ocdm_error *error);
    void (*stepped)(void *state, const ocdm__run *run);  /* after each step */
    void (*finished)(void *state, const ocdm__run *run); /* once, before the run is closed */
    void (*note)(void *state, const char *text);         /* a message for the user, one line */
    void *state;
} ocdm__run_hooks;

/*
 * Makes the run, or the rest of it.
 *
 * OCDM_OK: the run is finished, or was before. OCDM_STOPPED: stopped and saved. OCDM_BAD_ARGUMENT: the folder has a run and
 * `resume` is not set, or the run has other settings or groups. OCDM_IO: the folder is in use by another run, or a file cannot
 * be written. OCDM_BAD_FILE: the stream has changed, or no checkpoint is whole. And what the run gives. A run whose settings or
 * files are refused makes no folder.
 */
ocdm_status ocdm__run_in_folder(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm_error *error);

/*
 * The same step by step, for a learner outside the loop. The caller makes the steps and evaluations of `run` itself
 * (ocdm__run_begin_update and so on), logs each with ocdm__folder_log and saves with ocdm__folder_save when it is due.
 */
enum { OCDM__RUN_FILES = 8 };
typedef struct ocdm__run_folder {
    const ocdm__run_job *job;
    ocdm__run_hooks hooks;
    ocdm__run *run;
    bool finished;     /* the run was when the folder was opened: it cannot be continued */
    bool resumed;      /* from a checkpoint */
    int lock;          /* -1: none */
    uint64_t log_size; /* up to where the log is kept */
    ocdm__run_log log;
    struct ocdm__saved_position {
        uint64_t step;
        size_t evaluations, probes;
    } saved;                                      /* of the last checkpoint */
    char paths[OCDM__RUN_FILES][OCDM__PATH_ROOM]; /* of its files, as run_folder.c numbers them */
} ocdm__run_folder;

/* Opens the folder and restores its run. Job, settings, stream and maker must outlive it. As above. */
ocdm_status ocdm__folder_open(const ocdm__run_job *job, const ocdm__run_hooks *hooks, ocdm__run_folder **folder,
                              ocdm_error *error);

/* Writes the line of a step or an evaluation to the log, if it has one. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__folder_log(ocdm__run_folder *folder, enum ocdm__run_event event, ocdm_error *error);

/* Whether a checkpoint is due after this many steps. There is always one after an evaluation. */
bool ocdm__folder_saves_after(const ocdm__run_folder *folder, uint64_t steps);

/* Writes a checkpoint. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY, and what saving the learner gives; the earlier one stays then. */
ocdm_status ocdm__folder_save(ocdm__run_folder *folder, ocdm_error *error);

/* After the last evaluation: writes the remaining files. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__folder_finish(ocdm__run_folder *folder, ocdm_error *error);

/* Closes run and files; what was not saved is lost. NULL is fine. */
void ocdm__folder_close(ocdm__run_folder *folder);

#endif
