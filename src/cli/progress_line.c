/* The progress line. */
#define _POSIX_C_SOURCE 200809L

#include "cli/progress_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/terminal.h"
#include "cli/signals.h"

/* Short work needs no line. */
#define FIRST_PAUSE 1.0
#define REDRAW 0.2

static void tell(void *state, const char *what, uint64_t done, uint64_t total)
{
    ocdm__progress_line *line = state;
    double now = ocdm__seconds_now();
    if (line->what == NULL || strcmp(line->what, what) != 0) {
        line->what = what;
        line->started = now;
    }
    if (now < line->next || total == 0)
        return;
    double share = (double)done / (double)total;
    fprintf(stderr, "%s%s: %.0f %%", line->terminal ? "\r" : "", what, 100 * share);
    if (done > 0)
        fprintf(stderr, ", %.0f s left", (now - line->started) * (1 - share) / share);
    fputs(line->terminal ? "      " : "\n", stderr);
    line->shown = true;
    line->pause = line->terminal ? REDRAW : 2 * line->pause;
    line->next = now + line->pause;
}

void ocdm__progress_line_begin(ocdm__progress_line *line, bool quiet)
{
    *line = (ocdm__progress_line){.terminal = ocdm__is_terminal(STDERR_FILENO), .pause = FIRST_PAUSE};
    line->progress = (ocdm__progress){.tell = quiet ? NULL : tell, .state = line, .stop = &ocdm__stop_signal};
    line->next = ocdm__seconds_now() + FIRST_PAUSE;
}

void ocdm__progress_line_end(ocdm__progress_line *line)
{
    if (line->shown && line->terminal)
        fprintf(stderr, "\r%78s\r", "");
    line->shown = false;
}
