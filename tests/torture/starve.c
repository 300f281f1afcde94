/*
 * Starves a program of memory: starve COUNTER AT WHEN COMMAND...
 *
 * Counts the calls with which all threads of COMMAND ask the system for memory (mmap without a file, mremap, brk, mprotect),
 * and refuses number AT, from 1; WHEN is `once`, or `on`: all that follow too. AT 0 refuses none. The number of calls goes into
 * the file COUNTER. Exits as COMMAND does, or with 128 plus its signal.
 *
 * LD_PRELOAD cannot do this: malloc's own calls do not pass through a symbol. A seccomp filter sends each call to this process,
 * which answers it. Calls that do not come from libc are answered with yes: those of the loader, and of a sanitizer's runtime.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TROUBLE = 125 };

static uint64_t calls, refused;
static bool for_good;

static void die(const char *what)
{
    fprintf(stderr, "starve: %s: %s\n", what, strerror(errno));
    exit(TROUBLE);
}

/* ---- the command -------------------------------------------------------------------------------------------------------- */

#define ASK(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

/* Returns the descriptor that the questions come from. */
static int install_filter(void)
{
    struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  ASK(mmap),
                                  ASK(mremap),
                                  ASK(brk),
                                  ASK(mprotect),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Tells the parent its descriptor, and waits until the parent has its own copy: exec closes this one. */
static void begin_command(char **command, int tell, int wait)
{
    int listener = install_filter();
    char go;
    if (write(tell, &listener, sizeof listener) != sizeof listener || read(wait, &go, 1) != 1 || listener < 0)
        _exit(TROUBLE);
    execvp(command[0], command);
    die(command[0]);
}

/* ---- the answers -------------------------------------------------------------------------------------------------------- */

static bool comes_from_libc(pid_t thread, uint64_t address)
{
    char path[64], line[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)thread);
    FILE *maps = fopen(path, "r");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        uint64_t from, to;
        found = sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && address >= from && address < to &&
                strstr(line, "/libc.so") != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

static bool asks_for_memory(const struct seccomp_data *call)
{
    if (call->nr == SYS_mmap)
        return (call->args[3] & MAP_ANONYMOUS) != 0;
    if (call->nr == SYS_mprotect)
        return (call->args[2] & PROT_WRITE) != 0;
    return call->nr != SYS_brk || call->args[0] != 0;
}

/* brk reports failure by its value, an end that is below the requested one: 0. */
static void answer(int listener)
{
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
        return;
    struct seccomp_notif_resp reply = {.id = question.id};
    bool counts = asks_for_memory(&question.data) && comes_from_libc((pid_t)question.pid, question.data.instruction_pointer);
    calls += counts;
    if (!counts || refused == 0 || calls < refused || (calls > refused && !for_good))
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    else if (question.data.nr != SYS_brk)
        reply.error = -ENOMEM;
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* fails if the thread was killed meanwhile */
}

static int supervise(pid_t child, int listener)
{
    struct pollfd watched = {.fd = listener, .events = POLLIN};
    int status = 0;
    while ((poll(&watched, 1, -1) > 0 && (watched.revents & POLLHUP) == 0) || errno == EINTR)
        answer(listener);
    if (waitpid(child, &status, 0) < 0)
        die("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int tell[2], go[2], theirs = -1;
    if (argc < 5 || pipe(tell) != 0 || pipe(go) != 0)
        return TROUBLE;
    refused = strtoull(argv[2], NULL, 10);
    for_good = strcmp(argv[3], "on") == 0;
    pid_t child = fork();
    if (child == 0)
        begin_command(argv + 4, tell[1], go[0]);
    if (child < 0 || read(tell[0], &theirs, sizeof theirs) != sizeof theirs)
        die("fork");
    int listener = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, child, 0), theirs, 0);
    if (listener < 0 || write(go[1], "", 1) != 1)
        die("seccomp"); /* the child ends: nobody answers it */
    int code = supervise(child, listener);
    FILE *counter = fopen(argv[1], "w");
    if (counter == NULL || fprintf(counter, "%" PRIu64 "\n", calls) < 0 || fclose(counter) != 0)
        die(argv[1]);
    return code;
}
