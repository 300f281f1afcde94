/*
 * Children of `ocdm__children_run` on several ranks. The leader tells a rank which child to start, and the rank tells how it
 * ended. Where there are fewer children than ranks, a child is a command that all ranks run together.
 */

#include "experiment/compare/execute.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"

/* What the leader says. After START and TOGETHER comes the child's command. */
enum word { START, TOGETHER, SIGNAL, LEAVE };

struct said {
    uint32_t word, number; /* of the child, or of the signal */
};

/* How a child ended, to the leader. */
struct outcome {
    uint32_t number;
    struct ocdm__child_result result;
};

/* ---- the leader --------------------------------------------------------------------------------------------------------- */

/* To all other ranks. */
static void say(const ocdm__ranks *ranks, enum word word, uint32_t number)
{
    const struct said said = {word, number};
    for (size_t r = 1; r < ranks->size; r++)
        ranks->post(r, &said, sizeof said);
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

ocdm_status ocdm__rank_child_start(const ocdm__children *children, size_t rank, size_t number, ocdm_error *error)
{
    const struct said said = {START, (uint32_t)number};
    return say_child(children->ranks, rank, rank + 1, said, &children->children[number], error);
}

void ocdm__rank_children_signal(const ocdm__ranks *ranks, int signal)
{
    say(ranks, SIGNAL, (uint32_t)signal);
}

void ocdm__rank_children_dismiss(const ocdm__ranks *ranks)
{
    say(ranks, LEAVE, 0);
}

bool ocdm__rank_child_ended(const ocdm__children *children, size_t *rank, size_t *number)
{
    ocdm__ranks_message message;
    struct outcome outcome;
    if (!children->ranks->poll(&message))
        return false;
    memcpy(&outcome, message.bytes, sizeof outcome);
    ocdm__release(message.bytes);
    children->children[outcome.number].result = outcome.result;
    *rank = message.from;
    *number = outcome.number;
    return true;
}

/* ---- all ranks together -------------------------------------------------------------------------------------------------- */

/* Sends standard error to a file. Returns where it went before, -1 for an error. */
static int redirect_errors(const char *log)
{
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), before = -1;
    fflush(stderr);
    if (file >= 0)
        before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (before >= 0)
        (void)dup2(file, STDERR_FILENO);
    if (file >= 0)
        close(file);
    return before;
}

/* The command of a child, in this process and on all ranks. */
static ocdm_status run_together(const ocdm__children *children, size_t number, ocdm_error *error)
{
    ocdm__child *child = &children->children[number];
    const struct said said = {TOGETHER, (uint32_t)number};
    double begun = ocdm__seconds_now();
    size_t count;
    char **words = ocdm__child_words(child, &count);
    if (words == NULL)
        return ocdm__fail_memory(error, "a command line");
    int before = redirect_errors(child->command);
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
        ocdm__child_read_log(child);
    return status;
}

ocdm_status ocdm__children_run_together(ocdm__children *children, ocdm_error *error)
{
    for (size_t i = 0; i < children->count; i++) {
        OCDM_TRY(run_together(children, i, error));
        if (children->ended != NULL)
            children->ended(children->state, &children->children[i]);
        if (children->stop != NULL && *children->stop != 0)
            return ocdm__fail(error, OCDM_STOPPED, "the same command goes on where it stopped", "stopped by a signal");
    }
    return OCDM_OK;
}

/* ---- the others --------------------------------------------------------------------------------------------------------- */

/* The children on this rank; those that have ended have no command. */
struct host {
    const ocdm__child_server *server;
    struct hosted {
        ocdm__child child; /* its command belongs to it */
        uint32_t number;
    } * hosted;
    size_t count;
    int sent; /* the signal that the children got; 0: none */
    bool leaving;
};

/* The others cannot go on without this rank. */
static void fail_for_memory(const ocdm__ranks *ranks)
{
    ocdm_error error;
    (void)ocdm__fail_memory(&error, "a command line");
    ranks->fail(&error);
}

/* Tells the leader how a child ended, and frees its place for another one. */
static void tell_outcome(const struct host *host, struct hosted *hosted)
{
    const struct outcome outcome = {hosted->number, hosted->child.result};
    host->server->ranks->post(0, &outcome, sizeof outcome);
    ocdm__release(hosted->child.command);
    *hosted = (struct hosted){.number = 0};
}

/* Starts a child on this rank. One that cannot be started has ended at once, with the reason as its error. */
static void start_hosted(struct host *host, uint32_t number, const char *command, size_t size)
{
    const ocdm__ranks *ranks = host->server->ranks;
    size_t place = 0;
    bool failed = false;
    while (place < host->count && host->hosted[place].child.command != NULL)
        place++;
    if (place == host->count)
        host->hosted = ocdm__grown(host->hosted, ++host->count, sizeof *host->hosted, &failed);
    char *copy = ocdm__allocate(size, 1);
    if (failed || copy == NULL) {
        fail_for_memory(ranks);
        return;
    }
    memcpy(copy, command, size);
    struct hosted *hosted = &host->hosted[place];
    *hosted = (struct hosted){.child = {.command = copy, .size = size}, .number = number};
    int failure = ocdm__child_spawn(host->server->program, &hosted->child);
    if (failure == 0 && host->sent != 0) /* the leader had not heard of the signal when it asked for this child */
        kill(hosted->child.pid, host->sent);
    if (failure == 0)
        return;
    hosted->child.result.exit_code = -1;
    snprintf(hosted->child.result.error, sizeof hosted->child.result.error, "rank %zu cannot run %s (log %s): %s", ranks->rank,
             host->server->program, copy, strerror(failure));
    tell_outcome(host, hosted);
}

/* Once: a child that gets a second signal ends without saving. */
static void signal_hosted(struct host *host, int signal)
{
    if (host->sent != 0)
        return;
    host->sent = signal;
    for (size_t i = 0; i < host->count; i++)
        if (host->hosted[i].child.pid > 0)
            kill(host->hosted[i].child.pid, signal);
}

/* Does what a message of the leader says. */
static void obey(struct host *host, const ocdm__ranks_message *message)
{
    struct said said;
    memcpy(&said, message->bytes, sizeof said);
    char *command = message->bytes + sizeof said;
    if (said.word == START)
        start_hosted(host, said.number, command, message->size - sizeof said);
    else if (said.word == TOGETHER) {
        size_t size = message->size - sizeof said;
        const ocdm__child child = {.command = command, .size = size};
        size_t count;
        char **words = ocdm__child_words(&child, &count);
        if (words == NULL)
            fail_for_memory(host->server->ranks);
        else
            host->server->follow(count - 1, words + 1);
        ocdm__release(words);
    } else if (said.word == SIGNAL)
        signal_hosted(host, (int)said.number);
    else
        host->leaving = true;
    ocdm__release(message->bytes);
}

void ocdm__children_serve(const ocdm__child_server *server)
{
    struct host host = {.server = server};
    ocdm__ranks_message message;
    while (!host.leaving) {
        while (!host.leaving && server->ranks->poll(&message))
            obey(&host, &message);
        if (*server->stop != 0)
            signal_hosted(&host, (int)*server->stop);
        for (size_t i = 0; i < host.count; i++)
            if (ocdm__child_has_ended(&host.hosted[i].child))
                tell_outcome(&host, &host.hosted[i]);
        nanosleep(&(struct timespec){.tv_nsec = OCDM__CHILDREN_LOOK_NS}, NULL);
    }
    ocdm__release(host.hosted);
}
