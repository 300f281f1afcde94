/* How the program ends and what it says on stderr: exit codes, errors, signals, the progress line. */
#define _GNU_SOURCE

#include "cli/console.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/files.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/text.h"
#include "ranks/ranks.h"

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

int ocdm__exit_code(ocdm_status status)
{
    switch (status) {
    case OCDM_OK:
        return OCDM__EXIT_OK;
    case OCDM_BAD_ARGUMENT:
    case OCDM_UNKNOWN_NAME:
        return OCDM__EXIT_USAGE;
    case OCDM_DUPLICATE_ID:
    case OCDM_NOT_SINGLE_LABEL:
    case OCDM_BAD_DECISION:
    case OCDM_BAD_FILE:
    case OCDM_UNKNOWN_ID:
        return OCDM__EXIT_BAD_DATA;
    case OCDM_IO:
        return OCDM__EXIT_IO;
    case OCDM_NO_MEMORY:
    case OCDM_TOO_MANY_LABELS:
    case OCDM_LIMIT:
        return OCDM__EXIT_RESOURCES;
    }
    return status == OCDM_STOPPED ? OCDM__EXIT_INTERRUPTED : OCDM__EXIT_BAD_DATA;
}

/* The two lines, with their first words in colour if wanted. */
static void print_error(const char *message, const char *hint)
{
    bool colour = ocdm__wants_colour(STDERR_FILENO);
    const char *end = colour ? "\033[0m" : "";
    fprintf(stderr, "%serror:%s %s\n", colour ? "\033[1;31m" : "", end, message);
    if (hint[0] != '\0')
        fprintf(stderr, "%shint:%s %s\n", colour ? "\033[36m" : "", end, hint);
}

int ocdm__report(const ocdm_error *error)
{
    print_error(error->message, error->hint);
    return ocdm__exit_code(error->status);
}

void ocdm__print_note(const char *text)
{
    fprintf(stderr, "note: %s\n", text);
}

ocdm__shown_path ocdm__show_path(const char *path)
{
    ocdm__shown_path shown;
    snprintf(shown.text, sizeof shown.text, "%s", path);
    ocdm__make_printable(shown.text);
    return shown;
}

int ocdm__finish_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return OCDM__EXIT_OK;
    char message[256];
    snprintf(message, sizeof message, "standard output: %s", errno != 0 ? strerror(errno) : "a write failed");
    print_error(message, "the output is not complete; make room or keep the reader open, then run it again");
    clearerr(stdout); /* reported once: the program checks again at its end */
    return OCDM__EXIT_IO;
}

/* ---- signals ------------------------------------------------------------------------------------------------------------ */

volatile sig_atomic_t ocdm__stop_signal;

static void note_signal(int number)
{
    ocdm__stop_signal = number != SIGUSR1 ? number : SIGTERM;
}

void ocdm__catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* as under nohup, or in a background job of a script */
            sigaction(numbers[i], &action, NULL);
    }
    if (ocdm__ranks_over_mpi()) /* mpirun passes it on, and waits as long as saving takes */
        sigaction(SIGUSR1, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is a failed write, like any other */
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* the program ends in any case */
}

static void end_after_lost_page(int number, siginfo_t *facts, void *context)
{
    (void)context;
    const char *name = ocdm__mapped_file_at(facts->si_addr);
    if (name == NULL) { /* not one of our files: as if it had not been caught */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    say("error: ");
    say(name);
    say(": the file became shorter, or its disk failed, while it was being read\nhint: put it back as it was and run the "
        "command again\n");
    _exit(OCDM__EXIT_IO);
}

void ocdm__catch_lost_pages(void)
{
    struct sigaction action = {.sa_sigaction = end_after_lost_page, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- oneDNN without memory ---------------------------------------------------------------------------------------------- */

/* Several threads may come here; the first one speaks. */
static void end_without_memory(const char *task)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&taken))
        pause();
    say("error: out of memory: oneDNN could not make ");
    say(task);
    say("\nhint: take smaller batches or images, or free some of the machine's memory; a run that has begun continues with "
        "--resume\n");
    _exit(OCDM__EXIT_RESOURCES);
}

static ocdm__task_at_work *task_at_work;
static struct sigaction before_fault;

static void end_after_fault(int number, siginfo_t *facts, void *context)
{
    (void)facts;
    (void)context;
    const char *task = task_at_work();
    if (task != NULL && errno == ENOMEM)
        end_without_memory(task);
    sigaction(number, &before_fault, NULL); /* another fault: it happens once more, as if it had not been caught */
}

typedef void set_handler(void (*)(void));

static set_handler *set_new_handler;

static void end_if_at_work(void)
{
    const char *task = task_at_work();
    if (task != NULL)
        end_without_memory(task);
}

/* C++'s `new` calls its handler until it gets its memory; without a handler it throws. */
static void end_after_new(void)
{
    end_if_at_work();
    set_new_handler(NULL);
}

void ocdm__catch_lost_memory(ocdm__task_at_work *at_work)
{
    task_at_work = at_work;
    struct sigaction action = {.sa_sigaction = end_after_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_fault);
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    set_handler *function;
    memcpy(&function, &found, sizeof function);
    set_new_handler = function; /* std::set_new_handler */
    if (set_new_handler != NULL)
        set_new_handler(end_after_new);
    atexit(end_if_at_work); /* as the OpenMP runtime ends when a thread or a block of memory is refused */
}

int ocdm__exit_after_signal(void)
{
    return ocdm__stop_signal == SIGINT ? OCDM__EXIT_INTERRUPTED : OCDM__EXIT_TERMINATED;
}

/* ---- the line that is overwritten --------------------------------------------------------------------------------------- */

/* Short work shows no line. */
#define FIRST_PAUSE 1.0
#define REDRAW 0.2

void ocdm__status_line_begin(ocdm__status_line *line)
{
    *line = (ocdm__status_line){.terminal = ocdm__moves_cursor(STDERR_FILENO), .pause = FIRST_PAUSE};
    line->next = ocdm__seconds_now() + FIRST_PAUSE;
}

bool ocdm__status_line_is_due(ocdm__status_line *line)
{
    double now = ocdm__seconds_now();
    if (now < line->next)
        return false;
    line->pause = line->terminal ? REDRAW : 2 * line->pause;
    line->next = now + line->pause;
    return true;
}

void ocdm__status_line_erase(ocdm__status_line *line)
{
    unsigned width = ocdm__terminal_width(STDERR_FILENO);
    if (line->shown > width) /* the window became narrower, and the terminal broke the line into several */
        fprintf(stderr, "\033[%uA", (line->shown - 1) / width);
    if (line->shown > 0)
        fputs("\r\033[J", stderr);
    line->shown = 0;
}

/* The last column stays free: many terminals go to the next line when it is written. */
void ocdm__status_line_show(ocdm__status_line *line, const char *text)
{
    if (!line->terminal) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    size_t room = ocdm__terminal_width(STDERR_FILENO) - 1, length = strlen(text);
    ocdm__status_line_erase(line);
    line->shown = (unsigned)(length < room ? length : room);
    fprintf(stderr, "%.*s", (int)line->shown, text);
}

/* ---- progress ----------------------------------------------------------------------------------------------------------- */

static void tell(void *state, const char *what, uint64_t done, uint64_t total)
{
    ocdm__progress_line *line = state;
    double now = ocdm__seconds_now();
    if (line->what == NULL || strcmp(line->what, what) != 0) {
        line->what = what;
        line->started = now;
    }
    if (total == 0 || !ocdm__status_line_is_due(&line->line))
        return;
    char text[256], left[OCDM__DURATION];
    double share = (double)done / (double)total;
    snprintf(text, sizeof text, "%.150s: %.0f %%", what, 100 * share);
    ocdm__duration((now - line->started) * (1 - share) / share, left);
    if (done > 0)
        ocdm__append(text, sizeof text, ", %s left", left);
    ocdm__status_line_show(&line->line, text);
}

void ocdm__progress_line_begin(ocdm__progress_line *line, bool quiet)
{
    *line = (ocdm__progress_line){.what = NULL};
    ocdm__status_line_begin(&line->line);
    line->progress = (ocdm__progress){.tell = quiet ? NULL : tell, .state = line, .stop = &ocdm__stop_signal};
}
