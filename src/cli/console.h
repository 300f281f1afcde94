/*
 * How the program ends and what it says on stderr. A failure prints two lines and leaves an exit code. The first SIGINT or
 * SIGTERM requests an orderly end, a second one kills the program. Long work shows its progress: on a terminal one line that is
 * overwritten, elsewhere plain lines at doubling intervals.
 */
#ifndef OCDM_CLI_CONSOLE_H
#define OCDM_CLI_CONSOLE_H

#include "base/base.h"
#include <signal.h>

#include "base/progress.h"

/* The program's exit codes; scripts rely on them. */
enum ocdm__exit {
    OCDM__EXIT_OK = 0,
    OCDM__EXIT_NEGATIVE = 1, /* the question was answered, and the answer is no */
    OCDM__EXIT_USAGE = 2,
    OCDM__EXIT_BAD_DATA = 3,
    OCDM__EXIT_IO = 4,
    OCDM__EXIT_RESOURCES = 5,     /* out of memory, or over a limit */
    OCDM__EXIT_INTERRUPTED = 130, /* SIGINT, after saving what there is */
    OCDM__EXIT_TERMINATED = 143   /* SIGTERM, likewise */
};

/* The exit code for a status. */
int ocdm__exit_code(ocdm_status status);

/* Prints `error: message` and, if there is one, `hint: hint` to stderr; returns the exit code: `return ocdm__report(&error);`.
 */
int ocdm__report(const ocdm_error *error);

/* Prints `note: text` to stderr. */
void ocdm__print_note(const char *text);

/* A file's name as shown on a terminal: bytes that are not printable UTF-8 become '?'. Longer names cannot be opened. */
typedef struct ocdm__shown_path {
    char text[4096];
} ocdm__shown_path;
ocdm__shown_path ocdm__show_path(const char *path);

/* Flushes stdout. Returns 0, or prints an error and returns OCDM__EXIT_IO if something could not be written. */
int ocdm__finish_output(void);

/* ---- signals ------------------------------------------------------------------------------------------------------------ */

/* The signal that came, or 0. */
extern volatile sig_atomic_t ocdm__stop_signal;

/* From now on the first SIGINT, SIGTERM or SIGHUP only sets ocdm__stop_signal. What the caller had set to be ignored stays
 * ignored. */
void ocdm__catch_signals(void);

/* From now on a mapped file that becomes shorter while it is read ends the program with an error that names it, exit code 4. */
void ocdm__catch_lost_pages(void);

/* What oneDNN is making for the calling thread; NULL when it is not at work. */
typedef const char *ocdm__task_at_work(void);

/* From now on oneDNN's ways to end the program when the system refuses it memory (a fault, a C++ exception, a call of exit) end
 * it with an error line and exit code 5. */
void ocdm__catch_lost_memory(ocdm__task_at_work *at_work);

/* The exit code after the signal that came: 130 or 143. */
int ocdm__exit_after_signal(void);

/* ---- the line that is overwritten --------------------------------------------------------------------------------------- */

/* One line on stderr that says how far work is. On a terminal it is overwritten and never wider than the window, even if
 * that changes its size; elsewhere, and on a terminal without cursor movements, lines follow each other at doubling
 * intervals. */
typedef struct ocdm__status_line {
    bool terminal;
    unsigned shown;     /* columns of it on the screen; 0: none */
    double next, pause; /* seconds */
} ocdm__status_line;

void ocdm__status_line_begin(ocdm__status_line *line);

/* Whether it is time for the line; the next time is then put off. */
bool ocdm__status_line_is_due(ocdm__status_line *line);

/* Shows a text of ASCII characters instead of the earlier one. */
void ocdm__status_line_show(ocdm__status_line *line, const char *text);

/* So that other output can follow. */
void ocdm__status_line_erase(ocdm__status_line *line);

/* ---- progress ----------------------------------------------------------------------------------------------------------- */

typedef struct ocdm__progress_line {
    ocdm__progress progress; /* passed to the work */
    ocdm__status_line line;
    double started;   /* seconds */
    const char *what; /* the work that `started` belongs to */
} ocdm__progress_line;

/* Starts the line, which is erased when the work is done; with `quiet` it prints nothing. ocdm__stop_signal requests the end of
 * the work. The struct must not move. */
void ocdm__progress_line_begin(ocdm__progress_line *line, bool quiet);

#endif
