/*
 * The files that a run writes besides checkpoints: summary.json and memory.jsonl at the end, run.jsonl while it runs.
 * docs/run-files.md describes them.
 */
#ifndef OCDM_EXPERIMENT_FOLDER_SUMMARY_H
#define OCDM_EXPERIMENT_FOLDER_SUMMARY_H

#include "base/base.h"
#include "base/output.h"
#include "experiment/loop/run.h"

/* ---- summary.json and memory.jsonl --------------------------------------------------------------------------------------- */

/* The whole summary, one object and a newline. The run is finished. The paths of its files are written as they lead there from
 * `folder`. OCDM_OK, OCDM_NO_MEMORY; write errors stay in `output`. */
ocdm_status ocdm__summary_write(ocdm__output *output, const ocdm__run *run, const char *folder, ocdm_error *error);

/* What the memory holds, a line each; nothing without a memory. */
void ocdm__kept_samples_write(ocdm__output *output, const ocdm__run *run);

/* The members `program`, `settings` and `stream`, without braces: what identifies a run. */
void ocdm__summary_head_write(ocdm__output *output, const ocdm__run *run);

/* The machine as the member `environment`, whose brace the caller closes: CPU, cores, threads that were asked for, system. */
void ocdm__environment_write(ocdm__output *output, unsigned threads);

/* ---- run.jsonl ----------------------------------------------------------------------------------------------------------- */

/* Start with all bytes zero. */
typedef struct ocdm__run_log {
    ocdm__output output;
    int fd;
    bool open;
} ocdm__run_log;

/* Opens the file, made if it is not there, cut back to its first `size` bytes. OCDM_OK, OCDM_IO, OCDM_BAD_FILE (it is shorter
 * than that), OCDM_NO_MEMORY. */
ocdm_status ocdm__run_log_open(ocdm__run_log *log, const char *path, uint64_t size, ocdm_error *error);

/* Closes it; lines that are not written yet are lost. Does nothing if it is not open. */
void ocdm__run_log_close(ocdm__run_log *log);

/* Each writes its line at once: before the first step, and after each event. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__run_log_start(ocdm__run_log *log, const ocdm__run *run, bool resumed, ocdm_error *error);
ocdm_status ocdm__run_log_event(ocdm__run_log *log, const ocdm__run *run, enum ocdm__run_event event, ocdm_error *error);

/* Syncs the file to the disk and returns its length in `size`. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__run_log_sync(ocdm__run_log *log, uint64_t *size, ocdm_error *error);

#endif
