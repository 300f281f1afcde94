/* Starts child processes, collects their exit codes and error lines, and passes signals on to them. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/input.h"
#include "base/progress.h"

extern char **environ;

/* The processes that run. */
struct watch {
    ocdm__children *children;
    pid_t *pids; /* of each child; 0: not running here */
    double *started;
    size_t *loads; /* of each rank: how many run there; this process is the first */
    size_t rank_count, next, running;
    int sent; /* the signal that was passed on; 0: none */
};

void ocdm__own_program(const char *fallback, char *path, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length > 0)
        path[length] = '\0';
    else
        snprintf(path, room, "%s", fallback);
}

/* ---- ending with the parent --------------------------------------------------------------------------------------------- */

/* Tells a child which process started it. */
#define PARENT_VARIABLE "OCDM_PARENT"

static int name_parent(void)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)getpid());
    return setenv(PARENT_VARIABLE, number, 1) == 0 ? 0 : errno;
}

bool ocdm__end_with_parent(void)
{
    const char *parent = getenv(PARENT_VARIABLE);
    if (parent == NULL)
        return false;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (strtoll(parent, NULL, 10) != (long long)getppid()) /* the parent was killed before the request took effect */
        raise(SIGTERM);
    unsetenv(PARENT_VARIABLE);
    return true;
}

/* ---- starting --------------------------------------------------------------------------------------------------------- */

/* Redirects standard input and output to /dev/null and stderr to the log. */
static int redirect(posix_spawn_file_actions_t *actions, const char *log)
{
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (failure == 0)
        failure =
            posix_spawn_file_actions_addopen(actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    return failure;
}

/* The child has its own process group: Ctrl-C on a terminal reaches only this process, which passes it on. A child that
 * received it twice would be killed. */
int ocdm__child_spawn(const char *program, const ocdm__child *child, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure == 0) {
        failure = redirect(&actions, child->log);
        if (failure == 0)
            failure = name_parent();
        if (failure == 0)
            failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        if (failure == 0)
            failure = posix_spawn(pid, program, &actions, &attributes, (char *const *)child->arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* The first rank that may start another child; rank_count: none. */
static size_t free_rank(const struct watch *watch)
{
    size_t rank = 0;
    while (rank < watch->rank_count && watch->loads[rank] >= watch->children->jobs)
        rank++;
    return rank;
}

static ocdm_status start_here(struct watch *watch, ocdm_error *error)
{
    ocdm__child *child = &watch->children->children[watch->next];
    int failure = ocdm__child_spawn(watch->children->program, child, &watch->pids[watch->next]);
    if (failure == 0)
        return OCDM_OK;
    watch->pids[watch->next] = 0;
    return ocdm__fail(error, failure == ENOMEM || failure == EAGAIN ? OCDM_LIMIT : OCDM_IO,
                      "is the folder writable, and are there not too many processes?", "cannot run %s (log %s): %s",
                      watch->children->program, child->log, strerror(failure));
}

static ocdm_status start_next(struct watch *watch, ocdm_error *error)
{
    size_t rank = free_rank(watch);
    OCDM_TRY(rank == 0 ? start_here(watch, error) : ocdm__rank_child_start(watch->children, rank, watch->next, error));
    watch->started[watch->next] = ocdm__seconds_now();
    watch->loads[rank]++;
    watch->next++;
    watch->running++;
    return OCDM_OK;
}

/* ---- ending ----------------------------------------------------------------------------------------------------------- */

/* Keeps what comes after `start` on a line that begins so. */
static void keep_line(const char *line, size_t length, const char *start, char *kept, size_t room)
{
    size_t skipped = strlen(start);
    if (length >= skipped && memcmp(line, start, skipped) == 0)
        snprintf(kept, room, "%.*s", (int)(length - skipped), line + skipped);
}

/* A log that cannot be read is not an error. */
void ocdm__child_read_log(ocdm__child *child)
{
    ocdm__input log;
    if (child->exit_code == 0)
        unlink(child->log);
    if (child->exit_code == 0 || ocdm__input_open(&log, child->log, NULL, NULL) != OCDM_OK)
        return;
    while (!log.ended && ocdm__input_fill(&log, NULL) == OCDM_OK)
        ;
    for (size_t at = 0; at < log.size;) {
        const char *end = memchr(log.data + at, '\n', log.size - at);
        size_t length = end != NULL ? (size_t)(end - (log.data + at)) : log.size - at;
        keep_line(log.data + at, length, "error: ", child->error, sizeof child->error);
        keep_line(log.data + at, length, "hint: ", child->hint, sizeof child->hint);
        at += length + 1;
    }
    ocdm__input_close(&log);
}

void ocdm__child_note_end(ocdm__child *child, int status)
{
    child->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    ocdm__child_read_log(child);
}

static void note_end(struct watch *watch, size_t index, size_t rank)
{
    watch->children->children[index].seconds = ocdm__seconds_now() - watch->started[index];
    watch->pids[index] = 0;
    watch->loads[rank]--;
    watch->running--;
    if (watch->children->ended != NULL)
        watch->children->ended(watch->children->state, index);
}

static void look_after(struct watch *watch)
{
    size_t rank, index;
    for (size_t i = 0; i < watch->next; i++) {
        int status;
        if (watch->pids[i] <= 0 || waitpid(watch->pids[i], &status, WNOHANG) != watch->pids[i])
            continue;
        ocdm__child_note_end(&watch->children->children[i], status);
        note_end(watch, i, 0);
    }
    while (watch->rank_count > 1 && ocdm__rank_child_ended(watch->children, &rank, &index))
        note_end(watch, index, rank);
}

static void pass_on(struct watch *watch, int signal)
{
    watch->sent = signal;
    for (size_t i = 0; i < watch->next; i++)
        if (watch->pids[i] > 0)
            kill(watch->pids[i], signal);
    if (watch->rank_count > 1)
        ocdm__rank_children_signal(watch->children->ranks, signal);
}

static ocdm_status watch_all(struct watch *watch, ocdm_error *error)
{
    const ocdm__children *children = watch->children;
    ocdm_status status = OCDM_OK;
    while (watch->running > 0 || (status == OCDM_OK && watch->sent == 0 && watch->next < children->count)) {
        int signal = children->stop != NULL ? (int)*children->stop : 0;
        if (signal != 0 && watch->sent == 0)
            pass_on(watch, signal);
        while (status == OCDM_OK && watch->sent == 0 && free_rank(watch) < watch->rank_count && watch->next < children->count)
            status = start_next(watch, error);
        look_after(watch);
        if (children->waited != NULL && watch->running > 0)
            children->waited(children->state);
        nanosleep(&(struct timespec){.tv_nsec = OCDM__CHILDREN_LOOK_NS}, NULL);
    }
    if (status == OCDM_OK && watch->sent != 0)
        status = ocdm__fail(error, OCDM_STOPPED, "the same command goes on where it stopped", "stopped by a signal");
    return status;
}

ocdm_status ocdm__children_run(ocdm__children *children, ocdm_error *error)
{
    struct watch watch = {.children = children, .rank_count = children->ranks->size};
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < children->count; i++)
        children->children[i].exit_code = -1;
    if (children->count < watch.rank_count)
        return ocdm__children_run_together(children, error);
    watch.pids = ocdm__allocate(children->count, sizeof *watch.pids);
    watch.started = ocdm__allocate(children->count, sizeof *watch.started);
    watch.loads = ocdm__allocate(watch.rank_count, sizeof *watch.loads);
    if (watch.pids == NULL || watch.started == NULL || watch.loads == NULL)
        status = ocdm__fail_memory(error, "the list of processes");
    else
        status = watch_all(&watch, error);
    ocdm__release(watch.pids);
    ocdm__release(watch.started);
    ocdm__release(watch.loads);
    return status;
}
