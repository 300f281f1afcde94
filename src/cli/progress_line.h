/* How far long work is, on stderr: one line that is written over on a terminal, plain lines at doubling intervals elsewhere. */
#ifndef OCDM_CLI_PROGRESS_LINE_H
#define OCDM_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "base/progress.h"

typedef struct ocdm__progress_line {
    ocdm__progress progress; /* for whoever works */
    bool terminal, shown;
    double started, next, pause; /* seconds */
    const char *what;            /* the work that `started` belongs to */
} ocdm__progress_line;

/* Starts; `quiet` says nothing at all. The work is told to stop by ocdm__stop_signal. The line must stay where it is. */
void ocdm__progress_line_begin(ocdm__progress_line *line, bool quiet);

/* Takes the line away, so that others can write. */
void ocdm__progress_line_end(ocdm__progress_line *line);

#endif
