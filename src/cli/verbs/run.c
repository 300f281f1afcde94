/* `ocdm run`: runs the online experiment and writes its files to a folder. */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "experiment/agent_learner.h"
#include "experiment/compare/execute.h"
#include "experiment/folder/run_folder.h"
#include "experiment/run_ranks.h"
#include "ranks/ranks.h"
#include "report/events/events.h"
#include "report/runs/log.h"
#include "stream/images/image.h"

extern char **environ;

/* ---- events for TensorBoard ---------------------------------------------------------------------------------------------- */

/* The event file, if one is asked for. The run goes on when it cannot be written, and says so at its end. */
struct events {
    bool wanted;
    const char *folder, *stream;
    ocdm__event_file *file;
    double next; /* seconds: TensorBoard looks every few of them */
    ocdm_status status;
    ocdm_error error;
};

#define EVENTS_EVERY 1.0

static void follow_events(struct events *events)
{
    if (!events->wanted || events->status != OCDM_OK || ocdm__seconds_now() < events->next)
        return;
    events->status = events->file == NULL ? ocdm__event_file_open(&events->file, events->folder, &events->error)
                                          : ocdm__event_file_follow(events->file, &events->error);
    events->next = ocdm__seconds_now() + EVENTS_EVERY;
}

static bool picture(void *state, const char *id, uint8_t *rgb)
{
    return ocdm__stream_picture(state, id, OCDM__EVENT_PICTURE, rgb);
}

/* ---- what a user sees meanwhile ------------------------------------------------------------------------------------------ */

struct display {
    ocdm__output *out;
    bool quiet, json, watching;
    struct events events;
    ocdm__status_line line;
    double started;      /* seconds; 0 before the first step */
    uint64_t first_step; /* that was seen */
    const char *watched; /* the folder to show by `ocdm watch`; NULL for none */
    pid_t watcher;       /* the process that shows it; 0 before it starts */
};

static void await_watcher(struct display *display)
{
    while (display->watcher > 0 && waitpid(display->watcher, NULL, 0) < 0 && errno == EINTR)
        continue;
    display->watcher = 0;
}

static void show_step(void *state, const ocdm__run *run)
{
    struct display *display = state;
    char text[256];
    if (display->watched != NULL) {
        /* The live view is a separate process: a plain fork is unsafe with the agent's threads, and closing the view must not
         * end the run. */
        char program[4096];
        char *words[] = {"ocdm", "watch", (char *)display->watched, NULL};
        fflush(stdout);
        ocdm__own_program("/proc/self/exe", program, sizeof program);
        if (posix_spawn(&display->watcher, program, NULL, NULL, words, environ) != 0)
            display->watcher = 0;
        display->watched = NULL;
    }
    follow_events(&display->events);
    if (display->started == 0) {
        display->started = ocdm__seconds_now();
        display->first_step = run->step;
        ocdm__status_line_begin(&display->line);
    }
    if (display->quiet || !ocdm__status_line_is_due(&display->line))
        return;
    /* The most important first: a narrow window shows the beginning. */
    char left[OCDM__DURATION];
    uint64_t steps = ocdm__schedule_steps(&run->schedule);
    double rate = (double)(run->step - display->first_step) / (ocdm__seconds_now() - display->started);
    ocdm__duration((double)(steps - run->step) / rate, left);
    snprintf(text, sizeof text, "step %llu of %llu, %s left, %.3g steps/s", (unsigned long long)run->step,
             (unsigned long long)steps, left, rate);
    if (!isnan(run->loss))
        ocdm__append(text, sizeof text, ", loss %.4f", run->loss);
    if (run->memory != NULL)
        ocdm__append(text, sizeof text, ", distance %.4f", ocdm_memory_distance(run->memory, OCDM_SEEN_EVER));
    ocdm__status_line_show(&display->line, text);
}

static void show_evaluation(void *state, const char *what, uint64_t done, uint64_t total)
{
    struct display *display = state;
    char text[256];
    if (display->quiet || display->started == 0 || !ocdm__status_line_is_due(&display->line))
        return;
    snprintf(text, sizeof text, "%.150s: %llu of %llu test samples", what, (unsigned long long)done, (unsigned long long)total);
    ocdm__status_line_show(&display->line, text);
}

static void show_note(void *state, const char *text)
{
    struct display *display = state;
    ocdm__status_line_erase(&display->line);
    ocdm__print_note(text);
}

static void show_result(void *state, const ocdm__run *run)
{
    struct display *display = state;
    const ocdm__evaluation *last = &run->evaluations[run->evaluation_count - 1];
    ocdm__run_times times = ocdm__run_times_now(run);
    double seconds = ocdm__step_seconds(&times);
    ocdm__status_line_erase(&display->line);
    if (display->json || (display->quiet && !display->watching))
        return;
    await_watcher(display);
    ocdm__output *out = display->out;
    if (run->learner != NULL && run->tests.count == 0)
        ocdm__output_text(out, "metrics   none: the stream has no test samples\n");
    else if (run->learner != NULL)
        ocdm__print_evaluation(out, last, run->settings->groups);
    if (run->memory != NULL)
        ocdm__put(out, "memory    %lu samples, distance %.4f, over all classes seen %.4f\n",
                  (unsigned long)ocdm_memory_size(run->memory), last->distance, last->distance_seen);
    ocdm__put(out, "time      %.2f s for 1000 steps, %.2f %% of it for the memory; %.1f s in all\n",
              1000 * seconds / (double)run->step, 100 * times.update / seconds, times.total);
    if (ocdm__run_skipped(run) > 0)
        ocdm__put(out, "skipped   %llu images that could not be decoded\n", (unsigned long long)ocdm__run_skipped(run));
    ocdm__output_flush(out);
}

/* ---- the command line ---------------------------------------------------------------------------------------------------- */

struct request {
    ocdm__run_settings settings;
    uint64_t order[OCDM__MOST_TASKS];
    const char *stream, *folder;
};

static ocdm_status read_request(const ocdm__arguments *arguments, struct request *request, ocdm_error *error)
{
    request->settings = ocdm__run_settings_default();
    OCDM_TRY(ocdm__run_flags_read(arguments, &request->settings, error));
    OCDM_TRY(ocdm__run_flags_read_grid(arguments, &request->settings, request->order, error));
    OCDM_TRY(ocdm__need_stream(arguments, &request->stream, error));
    request->folder = ocdm__argument_text(arguments, "output");
    if (request->folder == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name a folder for the run's files with -o", "no folder is named");
    if (ocdm__argument_given(arguments, "watch") && ocdm__ranks_all()->size > 1)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm watch FOLDER` shows the run from another terminal",
                          "--watch works in one process, not under mpirun");
    return OCDM_OK;
}

/* With other ranks, they have to be ready too. */
static ocdm_status get_ready(void *state, ocdm__run *run, ocdm_error *error)
{
    (void)state;
    return ocdm__run_lead(run, error);
}

static ocdm_status run_request(struct request *request, bool resume, struct display *display, ocdm_error *error)
{
    const ocdm__run_hooks hooks = {.progress = {.tell = show_evaluation, .state = display, .stop = &ocdm__stop_signal},
                                   .opened = get_ready,
                                   .stepped = show_step,
                                   .finished = show_result,
                                   .note = show_note,
                                   .state = display};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_job job = {.settings = &request->settings,
                         .stream = &stream,
                         .learner = &ocdm__agent_maker,
                         .folder = request->folder,
                         .resume = resume};
    ocdm_status status = ocdm__stream_open(&stream, request->stream, error);
    OCDM_THEN(status, ocdm__run_settings_resolve(&request->settings, &stream, request->stream, error));
    if (status == OCDM_OK)
        status = ocdm__run_in_folder(&job, &hooks, error);
    else
        (void)ocdm__run_lead(NULL, NULL);
    const ocdm__path summary = ocdm__path_in(request->folder, "summary.json"); /* the file points to its name */
    ocdm__mapped_file file = {.bytes = NULL};
    if (display->json)
        OCDM_THEN(status, ocdm__map_file(&file, summary.text, error));
    if (file.bytes != NULL)
        ocdm__output_write(display->out, file.bytes, file.size);
    ocdm__unmap_file(&file);
    ocdm__stream_close(&stream);
    return status;
}

/* The other ranks are silent about a command line that is wrong: rank 0 reports it. */
static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    struct request request;
    if (read_request(arguments, &request, &error) == OCDM_OK)
        ocdm__run_follow(&request.settings, request.stream, &ocdm__agent_maker);
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct request request;
    OCDM_TRY(read_request(arguments, &request, error));
    bool watching = ocdm__argument_given(arguments, "watch");
    struct display display = {.out = arguments->out,
                              .quiet = watching || ocdm__argument_given(arguments, "quiet"),
                              .json = ocdm__argument_given(arguments, "json"),
                              .watching = watching,
                              .watched = watching ? request.folder : NULL,
                              .events = {.wanted = ocdm__argument_given(arguments, "tensorboard"),
                                         .folder = request.folder,
                                         .stream = request.stream}};
    ocdm__catch_signals();
    ocdm_status events = OCDM_OK, status = run_request(&request, ocdm__argument_given(arguments, "resume"), &display, error);
    if (status == OCDM_OK || status == OCDM_STOPPED) {
        /* After the run: what is missing, and pictures if the stream has images. */
        ocdm__stream_pictures *pictures = NULL;
        display.events.next = 0;
        follow_events(&display.events);
        if (status == OCDM_OK && display.events.file != NULL && display.events.status == OCDM_OK &&
            ocdm__stream_pictures_open(&pictures, display.events.stream, NULL) == OCDM_OK)
            display.events.status = ocdm__event_file_pictures(
                display.events.file, &(ocdm__event_pictures){.picture = picture, .state = pictures}, &display.events.error);
        ocdm__stream_pictures_close(pictures);
        ocdm__event_file_close(display.events.file);
        events = display.events.status;
    }
    ocdm__status_line_erase(&display.line);
    await_watcher(&display);
    if (status == OCDM_STOPPED) {
        show_note(&display, error->message);
        error->message[0] = '\0';
    } else if (status == OCDM_OK && events != OCDM_OK) {
        *error = display.events.error;
        status = events;
    }
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FOLDER", NULL, "folder for the files of the run; required"),
    /* clang-format off */
    OCDM__RUN_FLAGS
        /* clang-format on */
        OCDM__SWITCH(0, "resume", "continue the run in the folder"),
    OCDM__SWITCH(0, "watch", "show the run live, as `ocdm watch` does, instead of a progress line"),
    OCDM__SWITCH(0, "tensorboard",
                 "also write events for TensorBoard to the folder: `tensorboard --logdir FOLDER` "
                 "shows them"),
    OCDM__SWITCH(0, "json", "print the summary as JSON at the end"),
    OCDM__SWITCH('q', "quiet", "no progress line, no table at the end"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_run = {
    .name = "run",
    .summary = "train an agent on a stream with a replay memory",
    .operands = "STREAM",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};
