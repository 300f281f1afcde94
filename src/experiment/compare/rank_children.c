/*
 * Children of `ocdm__children_run` on several ranks. The leader tells a rank which child to start, and the rank tells how it
 * ended. Where there are fewer children than ranks, a child is a command that all ranks run together.
 */
#define _POSIX_C_SOURCE 200809L

#include "experiment/compare/execute.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/progress.h"

/* Exit codes for what went wrong before a child could start: input or output; out of memory. */
enum { CANNOT_START = 4 };

/* What the leader says. After START and TOGETHER come the name of the log and the words, each with its NUL. */
enum word { START, TOGETHER, SIGNAL, LEAVE };

struct said {
    uint32_t word, number; /* of the child, or of the signal */
};

/* How a child ended. */
struct outcome {
    uint32_t number;
    int32_t exit_code;
    double seconds;
    char error[512], hint[256];
};

/* ---- the leader --------------------------------------------------------------------------------------------------------- */

static void say(const ocdm__ranks *ranks, size_t rank, enum word word, uint32_t number)
{
    const struct said said = {word, number};
    ranks->post(rank, &said, sizeof said);
}

static char *append_text(char *at, const char *text)
{
    size_t size = strlen(text) + 1;
    memcpy(at, text, size);
    return at + size;
}

/* To the ranks from `first` to before `end`: to all of them or, without memory, to none. */
static ocdm_status say_child(const ocdm__ranks *ranks, size_t first, size_t end, struct said said, const ocdm__child *child,
                             ocdm_error *error)
{
    size_t size = sizeof said + strlen(child->log) + 1;
    for (size_t i = 0; child->arguments[i] != NULL; i++)
        size += strlen(child->arguments[i]) + 1;
    char *bytes = ocdm__allocate(size, 1);
    if (bytes == NULL)
        return ocdm__fail_memory(error, "a command line");
    memcpy(bytes, &said, sizeof said);
    char *at = append_text(bytes + sizeof said, child->log);
    for (size_t i = 0; child->arguments[i] != NULL; i++)
        at = append_text(at, child->arguments[i]);
    for (size_t r = first; r < end; r++)
        ranks->post(r, bytes, size);
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
    for (size_t r = 1; r < ranks->size; r++)
        say(ranks, r, SIGNAL, (uint32_t)signal);
}

bool ocdm__rank_child_ended(const ocdm__children *children, size_t *rank, size_t *number)
{
    ocdm__ranks_message message;
    struct outcome outcome;
    if (!children->ranks->poll(&message))
        return false;
    memcpy(&outcome, message.bytes, sizeof outcome);
    ocdm__release(message.bytes);
    ocdm__child *child = &children->children[outcome.number];
    child->exit_code = outcome.exit_code;
    child->seconds = outcome.seconds;
    memcpy(child->error, outcome.error, sizeof child->error);
    memcpy(child->hint, outcome.hint, sizeof child->hint);
    *rank = message.from;
    *number = outcome.number;
    return true;
}

void ocdm__rank_children_dismiss(const ocdm__ranks *ranks)
{
    for (size_t r = 1; r < ranks->size; r++)
        say(ranks, r, LEAVE, 0);
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

static void restore_errors(int before)
{
    fflush(stderr);
    (void)dup2(before, STDERR_FILENO);
    close(before);
}

/* The words of a child without the program's name; the verbs change their order. */
static size_t copy_words(const ocdm__child *child, char ***words)
{
    size_t count = 0;
    while (child->arguments[count] != NULL)
        count++;
    *words = ocdm__allocate(count + 1, sizeof **words);
    for (size_t i = 1; *words != NULL && i < count; i++)
        (*words)[i - 1] = (char *)child->arguments[i];
    return count - 1;
}

static ocdm_status run_together(const ocdm__children *children, size_t number, ocdm_error *error)
{
    ocdm__child *child = &children->children[number];
    double begun = ocdm__seconds_now();
    char **words = NULL;
    ocdm_status status = OCDM_OK;
    size_t count = copy_words(child, &words);
    if (words == NULL)
        return ocdm__fail_memory(error, "a command line");
    int before = redirect_errors(child->log);
    if (before < 0)
        status = ocdm__fail(error, OCDM_IO, "is the folder writable?", "cannot write %s", child->log);
    const struct said said = {TOGETHER, (uint32_t)number};
    if (status == OCDM_OK)
        status = say_child(children->ranks, 1, children->ranks->size, said, child, error);
    if (status == OCDM_OK)
        child->exit_code = children->together(count, words);
    if (before >= 0)
        restore_errors(before);
    ocdm__release(words);
    child->seconds = ocdm__seconds_now() - begun;
    if (status == OCDM_OK)
        ocdm__child_read_log(child);
    return status;
}

ocdm_status ocdm__children_run_together(ocdm__children *children, ocdm_error *error)
{
    for (size_t i = 0; i < children->count; i++) {
        OCDM_TRY(run_together(children, i, error));
        if (children->ended != NULL)
            children->ended(children->state, i);
        if (children->stop != NULL && *children->stop != 0)
            return ocdm__fail(error, OCDM_STOPPED, "the same command goes on where it stopped", "stopped by a signal");
    }
    return OCDM_OK;
}

/* ---- the others --------------------------------------------------------------------------------------------------------- */

/* A child on this rank. */
struct hosted {
    ocdm__child child;
    char *bytes; /* of its log's name and its words */
    char **words;
    size_t word_count;
    uint32_t number;
    pid_t pid; /* 0: none */
    double started;
};

struct host {
    const ocdm__child_server *server;
    struct hosted *hosted;
    size_t count;
    int sent; /* the signal that the children got; 0: none */
    bool leaving;
};

static void fail_for_memory(const ocdm__ranks *ranks, const char *what)
{
    ocdm_error error;
    (void)ocdm__fail_memory(&error, what);
    ranks->fail(&error);
}

/* Words are texts after the log's name. */
static void read_hosted(const ocdm__ranks *ranks, const ocdm__ranks_message *message, struct hosted *hosted)
{
    const char *end = message->bytes + message->size;
    struct said said;
    memcpy(&said, message->bytes, sizeof said);
    char *at = message->bytes + sizeof said;
    *hosted = (struct hosted){.bytes = message->bytes, .number = said.number, .started = ocdm__seconds_now()};
    hosted->child.log = at;
    hosted->words = ocdm__allocate(message->size, sizeof *hosted->words);
    if (hosted->words == NULL)
        fail_for_memory(ranks, "a command line");
    for (at += strlen(at) + 1; at < end; at += strlen(at) + 1)
        hosted->words[hosted->word_count++] = at;
    hosted->child.arguments = (const char *const *)hosted->words;
}

static void tell_outcome(const struct host *host, struct hosted *hosted)
{
    struct outcome outcome = {
        .number = hosted->number, .exit_code = hosted->child.exit_code, .seconds = ocdm__seconds_now() - hosted->started};
    memcpy(outcome.error, hosted->child.error, sizeof outcome.error);
    memcpy(outcome.hint, hosted->child.hint, sizeof outcome.hint);
    host->server->ranks->post(0, &outcome, sizeof outcome);
    ocdm__release(hosted->bytes);
    ocdm__release(hosted->words);
    *hosted = (struct hosted){.pid = 0};
}

static void start_hosted(struct host *host, const ocdm__ranks_message *message)
{
    size_t place = 0;
    bool failed = false;
    while (place < host->count && host->hosted[place].bytes != NULL)
        place++;
    if (place == host->count)
        host->hosted = ocdm__grown(host->hosted, ++host->count, sizeof *host->hosted, &failed);
    if (failed)
        fail_for_memory(host->server->ranks, "a run");
    struct hosted *hosted = &host->hosted[place];
    read_hosted(host->server->ranks, message, hosted);
    int failure = ocdm__child_spawn(host->server->program, &hosted->child, &hosted->pid);
    if (failure == 0 && host->sent != 0) /* the leader had not heard of the signal when it asked for this child */
        kill(hosted->pid, host->sent);
    if (failure == 0)
        return;
    hosted->child.exit_code = CANNOT_START;
    snprintf(hosted->child.error, sizeof hosted->child.error, "rank %zu cannot run %s (log %s): %s", host->server->ranks->rank,
             host->server->program, hosted->child.log, strerror(failure));
    tell_outcome(host, hosted);
}

static void follow_together(const struct host *host, const ocdm__ranks_message *message)
{
    struct hosted hosted;
    read_hosted(host->server->ranks, message, &hosted);
    host->server->follow(hosted.word_count - 1, hosted.words + 1);
    ocdm__release(hosted.words);
}

static void signal_hosted(struct host *host, int signal)
{
    if (host->sent != 0)
        return;
    host->sent = signal;
    for (size_t i = 0; i < host->count; i++)
        if (host->hosted[i].pid > 0)
            kill(host->hosted[i].pid, signal);
}

static void obey(struct host *host, ocdm__ranks_message *message)
{
    struct said said;
    memcpy(&said, message->bytes, sizeof said);
    if (said.word == START) {
        start_hosted(host, message); /* keeps the bytes */
        return;
    }
    if (said.word == TOGETHER)
        follow_together(host, message);
    else if (said.word == SIGNAL)
        signal_hosted(host, (int)said.number);
    else
        host->leaving = true;
    ocdm__release(message->bytes);
}

static void look_after(const struct host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        int status;
        struct hosted *hosted = &host->hosted[i];
        if (hosted->pid <= 0 || waitpid(hosted->pid, &status, WNOHANG) != hosted->pid)
            continue;
        ocdm__child_note_end(&hosted->child, status);
        tell_outcome(host, hosted);
    }
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
        look_after(&host);
        nanosleep(&(struct timespec){.tv_nsec = OCDM__CHILDREN_LOOK_NS}, NULL);
    }
    ocdm__release(host.hosted);
}
