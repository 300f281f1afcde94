/*
 * Starts child processes, collects their exit codes and error lines, and passes signals on to them.
 *
 * A child ends with its parent: it learns from its environment who started it, and asks the system for a signal when that
 * process is gone. Its stderr is a log, from which the last error and hint are read when it has failed.
 */

#include "experiment/compare/execute.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/progress.h"

extern char **environ;

/* The processes that run. */
struct watch {
    ocdm__children *children;
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

char **ocdm__child_words(const ocdm__child *child, size_t *count)
{
    char **words = ocdm__allocate(child->size + 1, sizeof *words), *end = child->command + child->size;
    *count = 0;
    for (char *at = child->command + strlen(child->command) + 1; words != NULL && at < end; at += strlen(at) + 1)
        words[(*count)++] = at;
    return words;
}

/* Standard input and output are /dev/null, stderr is the log. The child has its own process group: Ctrl-C on a terminal reaches
 * only this process, which passes it on. A child that received it twice would be killed. */
int ocdm__child_spawn(const char *program, ocdm__child *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char parent[24];
    size_t count;
    char **words = ocdm__child_words(child, &count);
    snprintf(parent, sizeof parent, "%lld", (long long)getpid());
    child->started = ocdm__seconds_now();
    int failure = words == NULL ? ENOMEM : posix_spawn_file_actions_init(&actions);
    if (failure == 0) {
        failure = posix_spawnattr_init(&attributes);
        if (failure == 0) {
            failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
            if (failure == 0)
                failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
            if (failure == 0)
                failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, child->command,
                                                           O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
            if (failure == 0)
                failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
            if (failure == 0 && setenv(PARENT_VARIABLE, parent, 1) != 0)
                failure = errno;
            if (failure == 0)
                failure = posix_spawn(&child->pid, program, &actions, &attributes, words, environ);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    child->pid = failure == 0 ? child->pid : 0;
    ocdm__release(words);
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

/* Starts the next child where there is room for it: here first, then on the other ranks. */
static ocdm_status start_next(struct watch *watch, ocdm_error *error)
{
    size_t rank = free_rank(watch);
    ocdm__child *child = &watch->children->children[watch->next];
    int failure = rank == 0 ? ocdm__child_spawn(watch->children->program, child) : 0;
    if (failure != 0)
        return ocdm__fail(error, failure == ENOMEM || failure == EAGAIN ? OCDM_LIMIT : OCDM_IO,
                          "is the folder writable, and are there not too many processes?", "cannot run %s (log %s): %s",
                          watch->children->program, child->command, strerror(failure));
    if (rank > 0)
        OCDM_TRY(ocdm__rank_child_start(watch->children, rank, watch->next, error));
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
    struct ocdm__child_result *result = &child->result;
    ocdm__input log;
    if (result->exit_code == 0)
        unlink(child->command);
    if (result->exit_code == 0 || ocdm__input_open(&log, child->command, NULL, NULL) != OCDM_OK)
        return;
    while (!log.ended && ocdm__input_fill(&log, NULL) == OCDM_OK)
        ;
    for (size_t at = 0; at < log.size;) {
        const char *end = memchr(log.data + at, '\n', log.size - at);
        size_t length = end != NULL ? (size_t)(end - (log.data + at)) : log.size - at;
        keep_line(log.data + at, length, "error: ", result->error, sizeof result->error);
        keep_line(log.data + at, length, "hint: ", result->hint, sizeof result->hint);
        at += length + 1;
    }
    ocdm__input_close(&log);
}

bool ocdm__child_has_ended(ocdm__child *child)
{
    int status;
    if (child->pid <= 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return false;
    child->pid = 0;
    child->result.seconds = ocdm__seconds_now() - child->started;
    child->result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    ocdm__child_read_log(child);
    return true;
}

/* A rank has room for another child once one of its children has ended. */
static void note_end(struct watch *watch, size_t number, size_t rank)
{
    watch->loads[rank]--;
    watch->running--;
    if (watch->children->ended != NULL)
        watch->children->ended(watch->children->state, &watch->children->children[number]);
}

/* Starts, looks after and ends all children. After a signal or an error no more are started, and those that run are waited
 * for, so that none is left behind. */
static ocdm_status watch_all(struct watch *watch, ocdm_error *error)
{
    const ocdm__children *children = watch->children;
    ocdm_status status = OCDM_OK;
    size_t rank, number;
    while (watch->running > 0 || (status == OCDM_OK && watch->sent == 0 && watch->next < children->count)) {
        int signal = children->stop != NULL ? (int)*children->stop : 0;
        if (signal != 0 && watch->sent == 0) {
            watch->sent = signal;
            for (size_t i = 0; i < watch->next; i++)
                if (watch->children->children[i].pid > 0)
                    kill(watch->children->children[i].pid, signal);
            if (watch->rank_count > 1)
                ocdm__rank_children_signal(watch->children->ranks, signal);
        }
        while (status == OCDM_OK && watch->sent == 0 && free_rank(watch) < watch->rank_count && watch->next < children->count)
            status = start_next(watch, error);
        for (size_t i = 0; i < watch->next; i++)
            if (ocdm__child_has_ended(&children->children[i]))
                note_end(watch, i, 0);
        while (watch->rank_count > 1 && ocdm__rank_child_ended(children, &rank, &number))
            note_end(watch, number, rank);
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
    for (size_t i = 0; i < children->count; i++)
        children->children[i].result.exit_code = -1;
    if (children->count < watch.rank_count)
        return ocdm__children_run_together(children, error);
    watch.loads = ocdm__allocate(watch.rank_count, sizeof *watch.loads);
    ocdm_status status = watch.loads != NULL ? watch_all(&watch, error) : ocdm__fail_memory(error, "the list of processes");
    ocdm__release(watch.loads);
    return status;
}
