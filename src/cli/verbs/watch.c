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

/* Milliseconds between looks; the number of looks without news after which locks are checked; lines of a view. */
enum { PAUSE = 300, QUIET_LOOKS = 10, MOST_LINES = 64 };

/* What is followed, a run by its log or the runs of a comparison, and what is on the screen. */
struct view {
    const char *folder;
    ocdm__output *out;
    bool plain; /* lines of text; else the view is overwritten */
    ocdm__log log;
    ocdm__watch *watch;
    ocdm__watched_runs *runs;          /* NULL: a run */
    double next;                       /* the next step that plain text reports */
    size_t ended;                      /* runs that have, at the look before; SIZE_MAX at first */
    size_t quiet;                      /* looks without news */
    bool changed, finished, stopped;   /* by the last look; stopped before the end */
    size_t columns[MOST_LINES], lines; /* of the view on the screen: the width of each line */
    unsigned width;
};

/* ---- looking ------------------------------------------------------------------------------------------------------------ */

/* Reads what is new in the log of a run. Plain text has its lines at doubling intervals: a long run has few. A log that nobody
 * has locked gets no more. */
static ocdm_status look_at_run(struct view *view, ocdm_error *error)
{
    ocdm__watch *watch = view->watch;
    const char *line;
    size_t length;
    if (ocdm__log_restarts(&view->log)) {
        view->next = 0;
        ocdm__watch_forget(watch);
    }
    for (;;) {
        OCDM_TRY(ocdm__log_next(&view->log, &line, &length, error));
        if (line == NULL)
            break;
        enum ocdm__watch_event event = ocdm__watch_line(watch, line, length);
        bool is_step = event == OCDM__WATCH_STEP, told = view->plain && (!is_step || watch->last.step >= view->next);
        view->changed = true;
        view->finished = event == OCDM__WATCH_END || (view->finished && event != OCDM__WATCH_START);
        if (told && is_step)
            view->next = 2 * watch->last.step;
        if (told && event != OCDM__WATCH_OTHER)
            ocdm__watch_tell(watch, event, view->out);
    }
    view->quiet = view->changed ? 0 : view->quiet + 1;
    bool asks = view->quiet == 1 || (view->quiet > 0 && view->quiet % QUIET_LOOKS == 0);
    view->stopped = asks && !view->finished && !ocdm__run_is_locked(view->folder);
    return OCDM_OK;
}

/* Looks at all runs of a comparison. As plain text there is a line at first, and one for each change in how many are done.
 * Between two runs nothing is locked for a moment: only a longer silence is an end. */
static void look_at_runs(struct view *view)
{
    char text[OCDM__RUNS_LINE];
    ocdm__watched_runs_look(view->runs);
    ocdm__runs_progress progress = ocdm__watched_runs_progress(view->runs);
    view->changed = !view->plain || progress.done + progress.failed != view->ended;
    view->ended = progress.done + progress.failed;
    view->quiet = progress.running > 0 ? 0 : view->quiet + 1;
    ocdm__watched_runs_line(view->runs, text);
    if (view->plain && view->changed)
        ocdm__put(view->out, "%s\n", text);
    view->finished = progress.done == progress.count;
    view->stopped = !view->finished && view->quiet == QUIET_LOOKS;
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

/* Overwrites the previous view: moves up by its rows, of which a window that became narrower has more, then clears to the end
 * of the screen. */
static void draw(struct view *view)
{
    ocdm__output *out = view->out;
    const ocdm__watch_look look = {.width = ocdm__terminal_width(STDOUT_FILENO), .utf8 = ocdm__speaks_utf8()};
    size_t rows = 0;
    for (size_t i = 0; i < view->lines; i++)
        rows += view->columns[i] > look.width ? (view->columns[i] + look.width - 1) / look.width : 1;
    if (view->lines > 0)
        ocdm__put(out, "\033[%zuA\r\033[J", rows);
    size_t start = out->used;
    if (view->runs != NULL)
        ocdm__watched_runs_draw(view->runs, out, &look);
    else
        ocdm__watch_draw(view->watch, out, &look);
    view->width = look.width;
    view->lines = view->columns[0] = 0;
    for (size_t i = start; i < out->used && view->lines < MOST_LINES; i++) {
        if (out->buffer[i] != '\n')
            view->columns[view->lines] += !ocdm__utf8_continues((unsigned char)out->buffer[i]);
        else if (++view->lines < MOST_LINES)
            view->columns[view->lines] = 0;
    }
}

/* ---- following ---------------------------------------------------------------------------------------------------------- */

static ocdm_status follow(struct view *view, ocdm_error *error)
{
    bool keys = !view->plain && ocdm__is_terminal(STDIN_FILENO);
    while (ocdm__stop_signal == 0 && !view->finished && !view->stopped) {
        view->changed = false;
        if (view->runs != NULL)
            look_at_runs(view);
        else
            OCDM_TRY(look_at_run(view, error));
        bool resized = view->lines > 0 && ocdm__terminal_width(STDOUT_FILENO) != view->width;
        if (!view->plain && (view->changed || resized))
            draw(view);
        if (view->stopped && view->runs != NULL) {
            ocdm__runs_progress progress = ocdm__watched_runs_progress(view->runs);
            ocdm__put(view->out, "the comparison stopped with %zu of %zu runs done and is not going on\n", progress.done,
                      progress.count);
        } else if (view->stopped) {
            ocdm__put(view->out, "the run stopped at step %.0f and is not going on\n", view->watch->last.step);
        }
        ocdm__output_flush(view->out);
        OCDM_TRY(ocdm__output_check(view->out, error));
        if (!view->finished && !view->stopped && wait_for_quit(keys))
            break;
    }
    return OCDM_OK;
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
    if (await_folder(folder) && ocdm__stop_signal == 0) {
        struct view view = {.folder = folder,
                            .out = arguments->out,
                            .plain = !ocdm__moves_cursor(STDOUT_FILENO),
                            .log = {.fd = -1},
                            .ended = SIZE_MAX};
        bool several = ocdm__has_file(folder, OCDM__RUNS_FILE);
        const char *why = NULL;
        if (several) {
            OCDM_TRY(ocdm__watched_runs_open(&view.runs, folder, error));
        } else {
            static ocdm__watch watch;
            view.watch = &watch;
            ocdm__watch_forget(&watch);
            why = ocdm__log_open(&view.log, folder);
        }
        listen_for_keys(!view.plain && why == NULL);
        ocdm_status status = why != NULL ? ocdm__refuse_folder(folder, why, error) : follow(&view, error);
        listen_for_keys(false);
        ocdm__watched_runs_close(view.runs);
        ocdm__log_close(&view.log);
        OCDM_TRY(status);
    }
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
