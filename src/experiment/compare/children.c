/*
 * Runs a list of commands as child processes, on this rank and on others, collects their exit codes and error lines, and passes
 * signals on to them.
 *
 * Every rank is a host of children. The leader hosts some itself, and tells the other ranks what to start; they tell how it
 * ended. Where there are fewer children than ranks, a child is no process but a command that all ranks run together.
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

/* How often children are looked after: often enough that a signal is passed on at once, seldom enough to cost nothing. */
#define LOOK_NS 20000000

static const char stopped_hint[] = "the same command goes on where it stopped", stopped[] = "stopped by a signal";

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

/* ---- one child ----------------------------------------------------------------------------------------------------------- */

/* The words of a command, after the path of its log, in an array to release, ended by NULL; NULL: no memory. */
static char **words_of(char *command, size_t size, size_t *count)
{
    char **words = ocdm__allocate(size + 1, sizeof *words);
    *count = 0;
    for (char *at = command + strlen(command) + 1; words != NULL && at < command + size; at += strlen(at) + 1)
        words[(*count)++] = at;
    return words;
}

/* Standard input and output are /dev/null, stderr is the log. The child has its own process group: Ctrl-C on a terminal reaches
 * only this process, which passes it on. A child that received it twice would be killed. Returns 0 or the reason. */
static int spawn(const char *program, char *command, size_t size, pid_t *pid)
{
    static const int log_flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char parent[24];
    size_t count;
    char **words = words_of(command, size, &count);
    snprintf(parent, sizeof parent, "%lld", (long long)getpid());
    int failure = words == NULL ? ENOMEM : setenv(PARENT_VARIABLE, parent, 1) != 0 ? errno : 0;
    if (failure == 0 && (failure = posix_spawn_file_actions_init(&actions)) == 0) {
        if ((failure = posix_spawnattr_init(&attributes)) == 0) {
            failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
            if (failure == 0)
                failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
            if (failure == 0)
                failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, command, log_flags, 0666);
            if (failure == 0)
                failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
            if (failure == 0)
                failure = posix_spawn(pid, program, &actions, &attributes, words, environ);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    ocdm__release(words);
    return failure;
}

/* Keeps what comes after `start` on a line that begins so. */
static void keep_line(const char *line, size_t length, const char *start, char *kept, size_t room)
{
    size_t skipped = strlen(start);
    if (length >= skipped && memcmp(line, start, skipped) == 0)
        snprintf(kept, room, "%.*s", (int)(length - skipped), line + skipped);
}

/* What the log of a child says if it failed; else the log is removed. One that cannot be read is not an error. */
static void read_log(const char *path, struct ocdm__child_result *result)
{
    ocdm__input log;
    if (result->exit_code == 0)
        unlink(path);
    if (result->exit_code == 0 || ocdm__input_open(&log, path, NULL, NULL) != OCDM_OK)
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

/* ---- the children of a rank ---------------------------------------------------------------------------------------------- */

/* How a child ended. */
struct outcome {
    uint32_t number;
    struct ocdm__child_result result;
};

struct host {
    const char *program;
    struct hosted {
        pid_t pid; /* 0: the place is free */
        uint32_t number;
        double started;
        const char *log;
        char *owned; /* what its command is in, if that is the host's; else NULL */
    } * hosted;
    size_t room;
    int sent; /* the signal that the children got; 0: none */
};

/* Starts a child, and takes `owned` over, which its command is in. False: it could not be started, which is its outcome. */
static bool start(struct host *host, uint32_t number, char *command, size_t size, char *owned, struct outcome *outcome)
{
    size_t place = 0;
    int failure = 0;
    while (place < host->room && host->hosted[place].pid != 0)
        place++;
    if (place == host->room && !ocdm__reserve_zeroed(&host->hosted, &host->room, place + 1, sizeof *host->hosted))
        failure = ENOMEM;
    pid_t pid = 0;
    double started = ocdm__seconds_now();
    failure = failure == 0 ? spawn(host->program, command, size, &pid) : failure;
    if (failure == 0) {
        host->hosted[place] = (struct hosted){pid, number, started, command, owned};
        if (host->sent != 0) /* the leader had not heard of the signal when it asked for this child */
            kill(pid, host->sent);
        return true;
    }
    *outcome = (struct outcome){.number = number, .result = {.exit_code = -1}};
    snprintf(outcome->result.error, sizeof outcome->result.error, "cannot run %s (log %s): %s", host->program, command,
             strerror(failure));
    snprintf(outcome->result.hint, sizeof outcome->result.hint,
             "is the folder writable, and are there not too many processes?");
    ocdm__release(owned);
    return false;
}

/* Once: a child that gets a second signal ends without saving. */
static void pass_signal(struct host *host, int signal)
{
    if (host->sent != 0 || signal == 0)
        return;
    host->sent = signal;
    for (size_t i = 0; i < host->room; i++)
        if (host->hosted[i].pid > 0)
            kill(host->hosted[i].pid, signal);
}

/* A child that has ended; false: there is none. Its place is free again. */
static bool take_ended(struct host *host, struct outcome *outcome)
{
    for (size_t i = 0; i < host->room; i++) {
        struct hosted *hosted = &host->hosted[i];
        int status;
        if (hosted->pid <= 0 || waitpid(hosted->pid, &status, WNOHANG) != hosted->pid)
            continue;
        *outcome = (struct outcome){.number = hosted->number, .result = {.seconds = ocdm__seconds_now() - hosted->started}};
        outcome->result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        read_log(hosted->log, &outcome->result);
        ocdm__release(hosted->owned);
        *hosted = (struct hosted){.pid = 0};
        return true;
    }
    return false;
}

/* ---- the leader ---------------------------------------------------------------------------------------------------------- */

/* What the leader says to other ranks. After START and TOGETHER comes the child's command. */
enum word { START, TOGETHER, SIGNAL, LEAVE };

struct said {
    uint32_t word, number; /* of the child, or of the signal */
};

/* To all other ranks. */
static void say(const ocdm__ranks *ranks, enum word word, uint32_t number)
{
    const struct said said = {word, number};
    for (size_t r = 1; r < ranks->size; r++)
        ranks->post(r, &said, sizeof said);
}

void ocdm__rank_children_dismiss(const ocdm__ranks *ranks)
{
    say(ranks, LEAVE, 0);
}

/* To the ranks from `first` to before `end`: to all of them or, without memory, to none. */
static ocdm_status say_child(const ocdm__ranks *ranks, size_t first, size_t end, struct said said, const ocdm__child *child,
                             ocdm_error *error)
{
    char *bytes;
    OCDM_TRY(ocdm__new(&bytes, sizeof said + child->size, 1, "a command line", error));
    memcpy(bytes, &said, sizeof said);
    memcpy(bytes + sizeof said, child->command, child->size);
    for (size_t r = first; r < end; r++)
        ranks->post(r, bytes, sizeof said + child->size);
    ocdm__release(bytes);
    return OCDM_OK;
}

/* The children that run. */
struct watch {
    ocdm__children *children;
    struct host host; /* of those here */
    size_t *loads;    /* of each rank: how many run there; this process is the first */
    size_t next, running;
};

/* A rank has room for another child once one of its children has ended. */
static void note_end(struct watch *watch, size_t rank, const struct outcome *outcome)
{
    ocdm__child *child = &watch->children->children[outcome->number];
    child->result = outcome->result;
    watch->loads[rank]--;
    watch->running--;
    if (watch->children->ended != NULL)
        watch->children->ended(watch->children->state, child);
}

/* Starts children where there is room for them: here first, then on the other ranks. */
static ocdm_status start_next(struct watch *watch, ocdm_error *error)
{
    const ocdm__children *children = watch->children;
    struct outcome outcome;
    for (size_t rank = 0; rank < children->ranks->size; rank++)
        while (watch->loads[rank] < children->jobs && watch->next < children->count) {
            uint32_t number = (uint32_t)watch->next;
            const ocdm__child *child = &children->children[number];
            if (rank > 0)
                OCDM_TRY(say_child(children->ranks, rank, rank + 1, (struct said){START, number}, child, error));
            watch->loads[rank]++;
            watch->next++;
            watch->running++;
            if (rank == 0 && !start(&watch->host, number, child->command, child->size, NULL, &outcome))
                note_end(watch, 0, &outcome);
        }
    return OCDM_OK;
}

/* Starts, looks after and ends all children. After a signal or an error no more are started, and those that run are waited
 * for, so that none is left behind. */
static ocdm_status watch_all(struct watch *watch, ocdm_error *error)
{
    const ocdm__children *children = watch->children;
    struct host *host = &watch->host;
    ocdm_status status = OCDM_OK;
    ocdm__ranks_message message;
    struct outcome outcome;
    while (watch->running > 0 || (status == OCDM_OK && host->sent == 0 && watch->next < children->count)) {
        if (children->stop != NULL && *children->stop != 0 && host->sent == 0) {
            pass_signal(host, (int)*children->stop);
            say(children->ranks, SIGNAL, (uint32_t)host->sent);
        }
        if (host->sent == 0)
            OCDM_THEN(status, start_next(watch, error));
        while (take_ended(host, &outcome))
            note_end(watch, 0, &outcome);
        while (children->ranks->size > 1 && children->ranks->poll(&message)) {
            memcpy(&outcome, message.bytes, sizeof outcome);
            ocdm__release(message.bytes);
            note_end(watch, message.from, &outcome);
        }
        if (children->waited != NULL && watch->running > 0)
            children->waited(children->state);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return status == OCDM_OK && host->sent != 0 ? ocdm__fail(error, OCDM_STOPPED, stopped_hint, stopped) : status;
}

/* ---- all ranks together -------------------------------------------------------------------------------------------------- */

/* The command of a child, in this process and on all ranks. */
static ocdm_status run_together(const ocdm__children *children, size_t number, ocdm_error *error)
{
    ocdm__child *child = &children->children[number];
    const struct said said = {TOGETHER, (uint32_t)number};
    double begun = ocdm__seconds_now();
    size_t count;
    char **words = words_of(child->command, child->size, &count);
    if (words == NULL)
        return ocdm__fail_memory(error, "a command line");
    /* Standard error goes to the log; `before` is where it went, -1 after an error. */
    int file = open(child->command, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), before = -1;
    fflush(stderr);
    if (file >= 0)
        before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (before >= 0)
        (void)dup2(file, STDERR_FILENO);
    if (file >= 0)
        close(file);
    ocdm_status status = before >= 0 ? say_child(children->ranks, 1, children->ranks->size, said, child, error)
                                     : ocdm__fail(error, OCDM_IO, "is the folder writable?", "cannot write %s", child->command);
    if (status == OCDM_OK)
        child->result.exit_code = children->together(count - 1, words + 1);
    if (before >= 0) {
        fflush(stderr);
        (void)dup2(before, STDERR_FILENO);
        close(before);
    }
    ocdm__release(words);
    child->result.seconds = ocdm__seconds_now() - begun;
    if (status == OCDM_OK)
        read_log(child->command, &child->result);
    return status;
}

ocdm_status ocdm__children_run(ocdm__children *children, ocdm_error *error)
{
    struct watch watch = {.children = children, .host = {.program = children->program}};
    for (size_t i = 0; i < children->count; i++)
        children->children[i].result.exit_code = -1;
    for (size_t i = 0; children->count < children->ranks->size && i < children->count; i++) {
        OCDM_TRY(run_together(children, i, error));
        if (children->ended != NULL)
            children->ended(children->state, &children->children[i]);
        if (children->stop != NULL && *children->stop != 0)
            return ocdm__fail(error, OCDM_STOPPED, stopped_hint, stopped);
    }
    if (children->count < children->ranks->size)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(&watch.loads, children->ranks->size, sizeof *watch.loads, "the list of processes", error));
    ocdm_status status = watch_all(&watch, error);
    OCDM_RELEASE(watch.loads, watch.host.hosted);
    return status;
}

/* ---- the others ---------------------------------------------------------------------------------------------------------- */

/* Does what a message of the leader says, and takes its bytes over. False: to leave. */
static bool obey(const ocdm__child_server *server, struct host *host, ocdm__ranks_message *message)
{
    struct said said;
    struct outcome outcome;
    memcpy(&said, message->bytes, sizeof said);
    char *command = message->bytes + sizeof said, **words = NULL;
    size_t size = message->size - sizeof said, count;
    if (said.word == START) {
        if (!start(host, said.number, command, size, message->bytes, &outcome))
            server->ranks->post(0, &outcome, sizeof outcome);
        return true;
    }
    if (said.word == TOGETHER && (words = words_of(command, size, &count)) == NULL) {
        ocdm_error error;
        (void)ocdm__fail_memory(&error, "a command line");
        server->ranks->fail(&error); /* the others cannot go on without this rank */
    }
    if (words != NULL)
        server->follow(count - 1, words + 1);
    if (said.word == SIGNAL)
        pass_signal(host, (int)said.number);
    OCDM_RELEASE(words, message->bytes);
    return said.word != LEAVE;
}

void ocdm__children_serve(const ocdm__child_server *server)
{
    struct host host = {.program = server->program};
    ocdm__ranks_message message;
    struct outcome outcome;
    for (bool goes_on = true; goes_on;) {
        while (goes_on && server->ranks->poll(&message))
            goes_on = obey(server, &host, &message);
        pass_signal(&host, (int)*server->stop);
        while (take_ended(&host, &outcome))
            server->ranks->post(0, &outcome, sizeof outcome);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    ocdm__release(host.hosted);
}
