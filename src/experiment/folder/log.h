/* run.jsonl: what happened in a run, a line each, while it happens. docs/run-files.md tells the members. */
#ifndef OCDM_EXPERIMENT_FOLDER_LOG_H
#define OCDM_EXPERIMENT_FOLDER_LOG_H

#include <stdint.h>

#include "base/output.h"
#include "experiment/loop/run.h"
#include "ocdm/ocdm.h"

/* Start with all bytes zero. */
typedef struct ocdm__run_log {
    ocdm__output output;
    int fd;
    bool open;
} ocdm__run_log;

/* Opens the file, made if it is not there, cut back to its first `size` bytes. OCDM_OK, OCDM_IO, OCDM_BAD_FILE (it is shorter
 * than that), OCDM_NO_MEMORY. */
ocdm_status ocdm__run_log_open(ocdm__run_log *log, const char *path, uint64_t size, ocdm_error *error);

/* Closes it, lines that are not written yet lost. One that is not open is fine. */
void ocdm__run_log_close(ocdm__run_log *log);

/* Each writes its line at once. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__run_log_start(ocdm__run_log *log, const ocdm__run *run, bool resumed, ocdm_error *error);
ocdm_status ocdm__run_log_step(ocdm__run_log *log, const ocdm__run *run, ocdm_error *error);
ocdm_status ocdm__run_log_evaluation(ocdm__run_log *log, const ocdm__run *run, ocdm_error *error);
ocdm_status ocdm__run_log_end(ocdm__run_log *log, const ocdm__run *run, ocdm_error *error);

/* Puts everything on the disk and tells how long the file is. OCDM_OK, OCDM_IO. */
ocdm_status ocdm__run_log_sync(ocdm__run_log *log, uint64_t *size, ocdm_error *error);

#endif
