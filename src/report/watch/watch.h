/*
 * Follows a running experiment through its log, line by line. The view is a few lines of text: progress, sparklines of loss
 * and distance, bars of the classes in memory if the log has counts, and the mAP after each task.
 *
 *     ocdm__watch watch;
 *     ocdm__watch_forget(&watch);
 *     while (a line of run.jsonl comes)
 *         ocdm__watch_line(&watch, line, length);
 *     ocdm__watch_draw(&watch, &output, &(ocdm__watch_look){.width = 80, .utf8 = true});
 *
 * The caller handles the log, terminals and time. A comparison is followed through the folders of its runs.
 */
#ifndef OCDM_REPORT_WATCH_WATCH_H
#define OCDM_REPORT_WATCH_WATCH_H

#include "base/output.h"

/* Moments of history; when they are full, every second step is dropped. */
enum { OCDM__WATCHED_STEPS = 1024, OCDM__WATCHED_CLASSES = 4096, OCDM__WATCHED_EVALUATIONS = 256 };

/* A logged step, whose value is the loss, or an evaluation, whose value is the mAP. */
struct ocdm__moment {
    double step, task, value, distance;
};

/* What is known of a run: of a fixed size, however long it is. Too large for the stack of some systems. */
typedef struct ocdm__watch {
    char method[40], stream[80];
    double seed, memory, train, batch, kept, seconds;
    struct ocdm__moment last; /* step; its number is 0 before the first */
    struct ocdm__moment steps[OCDM__WATCHED_STEPS];
    size_t step_count;
    size_t every, passed; /* one of `every` logged steps is remembered */
    double counts[OCDM__WATCHED_CLASSES];
    size_t count_count; /* classes; 0 while none were logged */
    struct ocdm__moment evaluations[OCDM__WATCHED_EVALUATIONS];
    size_t evaluation_count;
    bool started, ended;
} ocdm__watch;

/* What a line was. */
enum ocdm__watch_event {
    OCDM__WATCH_OTHER, /* unknown or not JSON: ignored */
    OCDM__WATCH_START,
    OCDM__WATCH_STEP,
    OCDM__WATCH_EVALUATION,
    OCDM__WATCH_END
};

/* Processes a line, without its newline. After a resume, entries beyond the resumed step are dropped. */
enum ocdm__watch_event ocdm__watch_line(ocdm__watch *watch, const char *line, size_t length);

/* Nothing is known yet, or the log starts again. */
void ocdm__watch_forget(ocdm__watch *watch);

typedef struct ocdm__watch_look {
    unsigned width; /* columns */
    bool utf8;      /* bars of block characters, otherwise ASCII */
} ocdm__watch_look;

/* Draws the view as lines no wider than the width. Returns their number. */
size_t ocdm__watch_draw(const ocdm__watch *watch, ocdm__output *out, const ocdm__watch_look *look);

/* A line of at most `width` characters. */
void ocdm__watch_put_line(ocdm__output *out, const char *text, unsigned width);

/* The last event as one line of plain text. */
void ocdm__watch_tell(const ocdm__watch *watch, enum ocdm__watch_event event, ocdm__output *out);

/* ---- the runs of a comparison -------------------------------------------------------------------------------------------- */

typedef struct ocdm__watched_runs ocdm__watched_runs;

/* Reads the folder's runs.json. OCDM_OK, OCDM_BAD_FILE, OCDM_IO (there is none), OCDM_NO_MEMORY. */
ocdm_status ocdm__watched_runs_open(ocdm__watched_runs **runs, const char *folder, ocdm_error *error);
void ocdm__watched_runs_close(ocdm__watched_runs *runs);

/* Looks into the folders of the runs anew. */
void ocdm__watched_runs_look(ocdm__watched_runs *runs);

/* The time left is that of the steps that are missing, as fast as those so far, as many runs at a time as are running now. */
typedef struct ocdm__runs_progress {
    size_t count, done, running, failed;
    double seconds_left; /* NaN before the first logged step */
} ocdm__runs_progress;
ocdm__runs_progress ocdm__watched_runs_progress(const ocdm__watched_runs *runs);

/* All of it in one line, without its end: how many are done, the time left, and the step of each run that is running. */
#define OCDM__RUNS_LINE 512
void ocdm__watched_runs_line(const ocdm__watched_runs *runs, char text[OCDM__RUNS_LINE]);

/* As a view, a line for each run that is running or has failed. Returns the number of lines. */
size_t ocdm__watched_runs_draw(const ocdm__watched_runs *runs, ocdm__output *out, const ocdm__watch_look *look);

#endif
