/*
 * How far the runs of a comparison are, read from their folders: a summary says that a run is done, a lock that it is running,
 * the last lines of its log at which step it is.
 */
#include <unistd.h>

#include "base/json_tree.h"
#include "base/terminal.h"
#include "base/text.h"
#include "experiment/compare/execute.h"
#include "report/runs/log.h"
#include "report/runs/read.h"
#include "report/text.h"
#include "report/watch/watch.h"

enum { BAR = 20, MOST_SHOWN = 20 };

enum state { WAITING, RUNNING, DONE, FAILED };

struct run {
    const char *name;
    const char *folder;
    enum state state;
    double steps, step, seconds; /* of the whole run; so far */
};

struct ocdm__watched_runs {
    ocdm__json_tree tree; /* what the names are in */
    struct run *runs;
    size_t count;
    ocdm__arena arena;
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : NAN;
}

/* Takes step and seconds of the last line about a step. */
static void take_tail(struct run *run, const char *tail)
{
    static const char begins[] = "\n{\"type\":\"step\",";
    const char *last = NULL;
    for (const char *at = tail; (at = strstr(at, begins)) != NULL; at++)
        if (strchr(at + 1, '\n') != NULL)
            last = at;
    if (last == NULL)
        return;
    double step = number_after(last, "\"step\":"), seconds = number_after(last, "\"seconds\":");
    if (step >= 0 && seconds >= 0) {
        run->step = step;
        run->seconds = seconds;
    }
}

void ocdm__watched_runs_look(ocdm__watched_runs *runs)
{
    static char tail[OCDM__LOG_TAIL + 1];
    for (struct run *run = runs->runs; run < runs->runs + runs->count; run++) {
        if (run->state == DONE)
            continue;
        char said[sizeof(ocdm__path)]; /* what a run says is in a log beside its folder, which goes away when it succeeds */
        bool locked = ocdm__run_is_locked(run->folder); /* before the summary, which comes while it is */
        snprintf(said, sizeof said, "%.4080s.log", run->folder);
        run->state = ocdm__has_file(run->folder, "summary.json") ? DONE
                     : locked                                    ? RUNNING
                     : access(said, F_OK) == 0                   ? FAILED
                                                                 : WAITING;
        ocdm__log log = {.fd = -1};
        if (run->state != WAITING && ocdm__log_open(&log, run->folder) == NULL) {
            ocdm__log_tail(&log, tail);
            take_tail(run, tail);
        }
        ocdm__log_close(&log);
    }
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static ocdm_status take_list(ocdm__watched_runs *runs, const char *folder, const char *path, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_tree_read(&runs->tree, path, error));
    const ocdm__json_node *list = ocdm__json_find(runs->tree.root, "runs");
    if (list == NULL || list->kind != OCDM__JSON_ARRAY)
        return ocdm__fail(error, OCDM_BAD_FILE, "the next `ocdm compare` into the folder writes it anew",
                          "%s: there is no list of runs in it", path);
    runs->runs = ocdm__arena_new(&runs->arena, list->count, sizeof *runs->runs);
    for (const ocdm__json_node *node = list->first; !runs->arena.failed && node != NULL; node = node->next) {
        const char *name = ocdm__json_text(ocdm__json_find(node, "name"), "?");
        runs->runs[runs->count++] = (struct run){.name = name,
                                                 .folder = ocdm__arena_text(&runs->arena, ocdm__path_in(folder, name).text),
                                                 .steps = ocdm__json_number(ocdm__json_find(node, "steps"))};
    }
    return ocdm__arena_check(&runs->arena, "the runs of a comparison", error);
}

ocdm_status ocdm__watched_runs_open(ocdm__watched_runs **runs, const char *folder, ocdm_error *error)
{
    ocdm__watched_runs *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the runs of a comparison", error));
    ocdm_status status = take_list(made, folder, ocdm__path_in(folder, OCDM__RUNS_FILE).text, error);
    if (status == OCDM_OK)
        *runs = made;
    else
        ocdm__watched_runs_close(made);
    return status;
}

void ocdm__watched_runs_close(ocdm__watched_runs *runs)
{
    if (runs == NULL)
        return;
    ocdm__arena_clear(&runs->arena);
    ocdm__json_tree_clear(&runs->tree);
    ocdm__release(runs);
}

/* ---- what is to be said -------------------------------------------------------------------------------------------------- */

ocdm__runs_progress ocdm__watched_runs_progress(const ocdm__watched_runs *runs)
{
    ocdm__runs_progress progress = {.count = runs->count};
    double made = 0, seconds = 0, left = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->runs[i];
        progress.done += run->state == DONE;
        progress.running += run->state == RUNNING;
        progress.failed += run->state == FAILED;
        made += run->step;
        seconds += run->seconds;
        if ((run->state == RUNNING || run->state == WAITING) && run->steps > run->step)
            left += run->steps - run->step;
    }
    progress.seconds_left = made > 0 ? seconds / made * left / (double)(progress.running > 0 ? progress.running : 1) : NAN;
    return progress;
}

static void describe_all(const ocdm__watched_runs *runs, char *text, size_t room)
{
    ocdm__runs_progress progress = ocdm__watched_runs_progress(runs);
    char left[OCDM__DURATION];
    snprintf(text, room, "%zu of %zu runs done", progress.done, progress.count);
    ocdm__duration(progress.seconds_left, left);
    if (progress.failed > 0)
        ocdm__append(text, room, ", %zu failed", progress.failed);
    if (progress.seconds_left >= 0 && progress.done + progress.failed < progress.count)
        ocdm__append(text, room, ", about %s left", left);
}

void ocdm__watched_runs_line(const ocdm__watched_runs *runs, char text[OCDM__RUNS_LINE])
{
    describe_all(runs, text, OCDM__RUNS_LINE);
    const char *before = ": ";
    for (const struct run *run = runs->runs; run < runs->runs + runs->count; run++)
        if (run->state == RUNNING) {
            ocdm__append(text, OCDM__RUNS_LINE, "%s%.60s step %.0f of %.0f", before, run->name, run->step, run->steps);
            before = ", ";
        }
}

size_t ocdm__watched_runs_draw(const ocdm__watched_runs *runs, ocdm__output *out, const ocdm__watch_look *look)
{
    char text[256], bar[BAR + 1];
    size_t lines = 1;
    describe_all(runs, text, sizeof text);
    ocdm__watch_put_line(out, text, look->width);
    for (const struct run *run = runs->runs; run < runs->runs + runs->count && lines <= MOST_SHOWN; run++) {
        double share = run->steps > 0 && run->step < run->steps ? run->step / run->steps : 1;
        ocdm__shown_label name = ocdm__show_label(run->name, strlen(run->name));
        if (run->state != RUNNING && run->state != FAILED)
            continue;
        ocdm__bar_fill(bar, share * BAR);
        snprintf(text, sizeof text, "%-16.40s ", name.text);
        if (run->state == FAILED)
            ocdm__append(text, sizeof text, "failed; its .log has what it said");
        else
            ocdm__append(text, sizeof text, "[%-*s] step %.0f of %.0f (%.0f %%)", BAR, bar, run->step, run->steps, 100 * share);
        ocdm__watch_put_line(out, text, look->width);
        lines++;
    }
    return lines;
}
