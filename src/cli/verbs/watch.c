/* `ocdm watch`: shows a running experiment in the terminal, or as plain lines. */
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "experiment/compare/execute.h"
#include "report/runs/log.h"
#include "report/runs/read.h"
#include "report/watch/watch.h"

/* Milliseconds between reads of the file, and the number of reads without news after which the lock is checked. */
enum { PAUSE = 300, QUIET_LOOKS = 10 };

/* A run that is followed. */
struct followed {
    ocdm__log log;
    ocdm__watch *watch;
    bool ended;
    bool news;
    double next; /* the next step that plain text reports */
    bool plain;
};

/* ---- the log ------------------------------------------------------------------------------------------------------------ */

static void take_line(struct followed *run, ocdm__output *out, const char *line, size_t length)
{
    enum ocdm__watch_event event = ocdm__watch_line(run->watch, line, length);
    run->news = true;
    run->ended = event == OCDM__WATCH_END || (run->ended && event != OCDM__WATCH_START);
    if (!run->plain || event == OCDM__WATCH_OTHER || (event == OCDM__WATCH_STEP && ocdm__watch_step(run->watch) < run->next))
        return;
    if (event == OCDM__WATCH_STEP) /* lines at doubling intervals: a long run has few */
        run->next = 2 * ocdm__watch_step(run->watch);
    ocdm__watch_tell(run->watch, event, out);
}

/* Reads new lines. */
static ocdm_status read_news(struct followed *run, ocdm__output *out, ocdm_error *error)
{
    const char *line;
    size_t length;
    if (ocdm__log_restarts(&run->log)) {
        run->next = 0;
        ocdm__watch_forget(run->watch);
    }
    for (;;) {
        OCDM_TRY(ocdm__log_next(&run->log, &line, &length, error));
        if (line == NULL)
            return OCDM_OK;
        take_line(run, out, line, length);
    }
}

/* ---- the terminal ------------------------------------------------------------------------------------------------------- */

/* Turns unbuffered input without echo on, or restores the terminal. */
static void listen_for_keys(bool on)
{
    static struct termios before;
    static bool changed;
    if (!ocdm__is_terminal(STDIN_FILENO))
        return;
    if (on && tcgetattr(STDIN_FILENO, &before) == 0) {
        struct termios now = before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        changed = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
    } else if (!on && changed) {
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        changed = false;
    }
}

/* Waits briefly; true if q was pressed. A closed standard input, or one that is not a terminal, counts as no key. */
static bool wait_for_quit(bool keys)
{
    struct pollfd input = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
    char key = 0;
    if (poll(&input, 1, PAUSE) > 0 && (input.revents & POLLIN) != 0)
        return read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q');
    return false;
}

enum { MOST_LINES = 64 };

/* What is on the screen, and what is drawn there. */
struct screen {
    size_t columns[MOST_LINES], lines; /* of the earlier view: the width of each line */
    unsigned width;
    const ocdm__watch *watch;
    const ocdm__watched_runs *runs; /* instead of it */
};

/* Rows of the earlier view in a window of this width: a terminal that becomes narrower breaks lines. */
static size_t rows_of(const struct screen *screen, unsigned width)
{
    size_t rows = 0;
    for (size_t i = 0; i < screen->lines; i++)
        rows += screen->columns[i] > width ? (screen->columns[i] + width - 1) / width : 1;
    return rows;
}

static void measure(struct screen *screen, const char *text, size_t size)
{
    screen->lines = 0;
    screen->columns[0] = 0;
    for (size_t i = 0; i < size && screen->lines < MOST_LINES; i++) {
        if (text[i] != '\n')
            screen->columns[screen->lines] += !ocdm__utf8_continues((unsigned char)text[i]);
        else if (++screen->lines < MOST_LINES)
            screen->columns[screen->lines] = 0;
    }
}

/* Overwrites the previous view: moves up by its rows, then clears to the end of the screen. */
static ocdm_status draw(struct screen *screen, ocdm_error *error)
{
    ocdm__output out;
    OCDM_TRY(ocdm__output_open_fd(&out, STDOUT_FILENO, "standard output", error));
    ocdm__watch_look look = {.width = ocdm__terminal_width(STDOUT_FILENO), .utf8 = ocdm__speaks_utf8()};
    char up[32];
    snprintf(up, sizeof up, "\033[%zuA\r\033[J", rows_of(screen, look.width));
    ocdm__output_text(&out, screen->lines > 0 ? up : "");
    size_t start = out.used;
    if (screen->runs != NULL)
        ocdm__watched_runs_draw(screen->runs, &out, &look);
    else
        ocdm__watch_draw(screen->watch, &out, &look);
    measure(screen, out.buffer + start, out.used - start);
    screen->width = look.width;
    return ocdm__output_commit(&out, error);
}

/* ---- one run ------------------------------------------------------------------------------------------------------------ */

static ocdm_status follow(struct followed *run, const char *folder, ocdm_error *error)
{
    struct screen screen = {.watch = run->watch};
    size_t quiet = 0;
    bool keys = !run->plain && ocdm__is_terminal(STDIN_FILENO);
    while (ocdm__stop_signal == 0) {
        ocdm__output out = {.buffer = NULL};
        run->news = false;
        OCDM_TRY(ocdm__output_open_fd(&out, STDOUT_FILENO, "standard output", error));
        ocdm_status status = read_news(run, &out, error);
        OCDM_THEN(status, ocdm__output_commit(&out, error));
        ocdm__output_abandon(&out);
        bool resized = screen.lines > 0 && ocdm__terminal_width(STDOUT_FILENO) != screen.width;
        if (status == OCDM_OK && !run->plain && (run->news || resized))
            status = draw(&screen, error);
        OCDM_TRY(status);
        quiet = run->news ? 0 : quiet + 1;
        if (run->ended)
            break;
        if ((quiet == 1 || quiet % QUIET_LOOKS == 0) && quiet > 0 && !ocdm__run_is_locked(folder)) {
            printf("the run stopped at step %.0f and is not going on\n", ocdm__watch_step(run->watch));
            break;
        }
        if (wait_for_quit(keys))
            break;
    }
    return OCDM_OK;
}

static ocdm_status watch_folder(const char *folder, ocdm_error *error)
{
    struct followed run = {.plain = !ocdm__moves_cursor(STDOUT_FILENO)};
    OCDM_TRY(ocdm__watch_create(&run.watch, error));
    const char *why = ocdm__log_open(&run.log, folder);
    ocdm_status status = why != NULL ? ocdm__refuse_folder(folder, why, error) : OCDM_OK;
    if (status == OCDM_OK) {
        listen_for_keys(!run.plain);
        status = follow(&run, folder, error);
        listen_for_keys(false);
    }
    ocdm__log_close(&run.log);
    ocdm__watch_destroy(run.watch);
    return status;
}

/* ---- a comparison -------------------------------------------------------------------------------------------------------- */

/* Elsewhere than on a terminal: a line when the first view is drawn, and one for each change in how many runs are done. */
static ocdm_status tell_runs(const ocdm__watched_runs *runs, bool changed, ocdm_error *error)
{
    char text[OCDM__RUNS_LINE];
    ocdm__watched_runs_line(runs, text);
    if (changed && (printf("%s\n", text) < 0 || fflush(stdout) != 0))
        return ocdm__fail(error, OCDM_IO, "", "standard output: %s", strerror(errno));
    return OCDM_OK;
}

/* Between two runs nothing is locked for a moment: only a longer silence is an end. */
static ocdm_status follow_runs(ocdm__watched_runs *runs, bool plain, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    struct screen screen = {.runs = runs};
    size_t silent = 0, ended = SIZE_MAX;
    while (status == OCDM_OK && ocdm__stop_signal == 0) {
        ocdm__watched_runs_look(runs);
        ocdm__runs_progress progress = ocdm__watched_runs_progress(runs);
        bool changed = progress.done + progress.failed != ended;
        ended = progress.done + progress.failed;
        status = plain ? tell_runs(runs, changed, error) : draw(&screen, error);
        silent = progress.running > 0 ? 0 : silent + 1;
        if (status != OCDM_OK || progress.done == progress.count)
            break;
        if (silent == QUIET_LOOKS) {
            printf("the comparison stopped with %zu of %zu runs done and is not going on\n", progress.done, progress.count);
            break;
        }
        if (wait_for_quit(!plain && ocdm__is_terminal(STDIN_FILENO)))
            break;
    }
    return status;
}

static ocdm_status watch_runs(const char *folder, ocdm_error *error)
{
    ocdm__watched_runs *runs = NULL;
    bool plain = !ocdm__moves_cursor(STDOUT_FILENO);
    OCDM_TRY(ocdm__watched_runs_open(&runs, folder, error));
    listen_for_keys(!plain);
    ocdm_status status = follow_runs(runs, plain, error);
    listen_for_keys(false);
    ocdm__watched_runs_close(runs);
    return status;
}

/* ---- the verb ----------------------------------------------------------------------------------------------------------- */

/* Waits for a folder that is not there yet, and then a moment for its first file. False when q was pressed. */
static bool await_folder(const char *folder)
{
    bool waits = access(folder, F_OK) != 0 && errno == ENOENT, quit = false;
    if (!waits)
        return true;
    fprintf(stderr, "waiting for %s, which is not there yet\n", ocdm__show_path(folder).text);
    listen_for_keys(true);
    for (size_t looks = 0; looks < QUIET_LOOKS && !quit && ocdm__stop_signal == 0; looks += access(folder, F_OK) == 0) {
        if (ocdm__has_file(folder, OCDM__RUNS_FILE) || ocdm__has_file(folder, "run.jsonl"))
            break;
        quit = wait_for_quit(ocdm__is_terminal(STDIN_FILENO));
    }
    listen_for_keys(false);
    return !quit;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    const char *folder = ocdm__first_operand(arguments);
    if (folder == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "for example: ocdm watch runs/ocdm-s0", "ocdm watch needs a run folder");
    ocdm__catch_signals();
    if (await_folder(folder) && ocdm__stop_signal == 0)
        OCDM_TRY(ocdm__has_file(folder, OCDM__RUNS_FILE) ? watch_runs(folder, error) : watch_folder(folder, error));
    arguments->code = ocdm__stop_signal != 0 ? ocdm__exit_after_signal() : OCDM__EXIT_OK;
    return OCDM_OK;
}

const ocdm__verb ocdm__verb_watch = {
    .name = "watch",
    .summary = "follow a run or a comparison while it runs",
    .operands = "DIR",
    .operand_limit = 1,
    .run = run,
};
