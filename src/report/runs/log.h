/*
 * A run's log while it grows: its whole lines, one after another, and whether somebody writes to it.
 *
 *     ocdm__log log;
 *     const char *why = ocdm__log_open(&log, "runs/ocdm-s0"), *line;
 *     size_t length;
 *     while (why == NULL && ocdm__log_next(&log, &line, &length, error) == OCDM_OK && line != NULL)
 *         ...
 *     ocdm__log_close(&log);
 */
#ifndef OCDM_REPORT_RUNS_LOG_H
#define OCDM_REPORT_RUNS_LOG_H

#include "base/base.h"

#include <sys/types.h>

typedef struct ocdm__log {
    int fd;
    off_t position; /* in the file, of what is not read yet */
    char *bytes;    /* read: lines up to `taken` are done with, the last one may lack its end */
    size_t taken, length, room;
} ocdm__log;

/* Opens the log of the run in a folder. Returns NULL, or why it cannot be read, in a few words. Close it in either case. */
const char *ocdm__log_open(ocdm__log *log, const char *folder);

/* The next line, without its newline, valid until the next call; NULL when none is whole yet. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__log_next(ocdm__log *log, const char **line, size_t *length, ocdm_error *error);

/* Whether the log became shorter, as a resumed run makes it. It is then read again from its start. */
bool ocdm__log_restarts(ocdm__log *log);

/* The text at the end of the log; a step with the counts of all classes is shorter. Empty when it cannot be read. */
#define OCDM__LOG_TAIL 65536
void ocdm__log_tail(const ocdm__log *log, char tail[OCDM__LOG_TAIL + 1]);

void ocdm__log_close(ocdm__log *log);

/* Whether a run is writing to the folder. */
bool ocdm__run_is_locked(const char *folder);

/* folder/name; empty, which names no file, where it is longer than any file's. */
typedef struct ocdm__path {
    char text[4096];
} ocdm__path;
ocdm__path ocdm__path_in(const char *folder, const char *name);

/* Whether a folder has a file. */
bool ocdm__has_file(const char *folder, const char *name);

#endif
