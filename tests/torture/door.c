/*
 * The door to the kernel: an LD_PRELOAD library that counts the calls with which a program changes files, and does something
 * evil at one of them. Only paths in the working directory are watched, so that the program's libraries and /proc stay out of
 * it.
 *
 *     OCDM_DOOR_COUNTER  a file of eight bytes: how many calls there were, shared by all processes of a job
 *     OCDM_DOOR_AT       the call, from 1, at which it happens; 0: never
 *     OCDM_DOOR          what happens then:
 *         kill           SIGKILL before the call
 *         torn           a write does half its work, then SIGKILL; other calls as kill
 *         short          a write does half its work and says so; other calls are not touched
 *         power          as kill, and what was written but not synced is lost: files are cut to their synced length
 *         entries        as power, and names that were not synced are lost too: renames are undone, new files vanish
 *         EIO ENOSPC EINTR EMFILE ENOMEM   the call fails with that error
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 256, NAMES = 256, PATH = 256 };

/* A file that was opened for writing; it stays in the list when it is closed. */
struct file {
    int fd; /* -1: closed */
    char path[PATH];
    off_t synced; /* its length when it was last synced, or opened */
    bool dirty;   /* written since */
};

/* A name that came to be since its folder was synced. */
struct name {
    char from[PATH]; /* "": a new file; else what was renamed */
    char to[PATH];
    char old[PATH]; /* a link to what was there before; "": nothing */
};

static struct file files[FILES];
static struct name names[NAMES];
static size_t file_count, name_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t *counter;
static uint64_t evil_call;
static const char *evil = "";
static char here[PATH]; /* the working directory when the program began */

#define REAL(type, name, ...)                                                                                                  \
    static type (*real)(__VA_ARGS__);                                                                                          \
    if (real == NULL)                                                                                                          \
    *(void **)&real = dlsym(RTLD_NEXT, name)

static int real_open(const char *path, int flags, mode_t mode)
{
    REAL(int, "open", const char *, int, ...);
    return real(path, flags, mode);
}

static int real_rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    return real(from, to);
}

__attribute__((constructor)) static void open_door(void)
{
    const char *path = getenv("OCDM_DOOR_COUNTER"), *at = getenv("OCDM_DOOR_AT"), *what = getenv("OCDM_DOOR");
    int fd = path != NULL ? real_open(path, O_RDWR | O_CLOEXEC, 0) : -1;
    void *room = fd >= 0 ? mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (room == MAP_FAILED)
        return;
    close(fd);
    if (getcwd(here, sizeof here) == NULL)
        abort();
    evil_call = at != NULL ? strtoull(at, NULL, 10) : 0;
    evil = what != NULL ? what : "";
    counter = room;
}

static bool is(const char *what)
{
    return strcmp(evil, what) == 0;
}

/* ---- loss of power ------------------------------------------------------------------------------------------------------ */

static void lose_names(void)
{
    for (size_t i = name_count; i-- > 0;) {
        struct name *name = &names[i];
        if (name->from[0] != '\0')
            (void)real_rename(name->to, name->from);
        else
            (void)unlink(name->to);
        for (size_t k = 0; name->from[0] != '\0' && k < file_count; k++)
            if (strcmp(files[k].path, name->to) == 0)
                memcpy(files[k].path, name->from, PATH);
        if (name->old[0] != '\0')
            (void)real_rename(name->old, name->to);
    }
}

static void lose_power(void)
{
    counter = NULL;
    if (is("entries"))
        lose_names();
    for (size_t i = 0; i < file_count; i++)
        if (files[i].dirty)
            (void)truncate(files[i].path, files[i].synced);
    for (size_t i = 0; i < name_count; i++)
        if (names[i].old[0] != '\0')
            (void)unlink(names[i].old);
}

/* ---- what happens ------------------------------------------------------------------------------------------------------- */

/* Counts a call; whether it is the one. */
static bool is_due(void)
{
    return counter != NULL && __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST) == evil_call;
}

static void die(void)
{
    if (is("power") || is("entries"))
        lose_power();
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static int reason(void)
{
    static const struct {
        const char *name;
        int number;
    } all[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (is(all[i].name))
            return all[i].number;
    return 0;
}

/* Whether a call fails, with errno set. */
static bool fails(void)
{
    if (!is_due() || is("short"))
        return false;
    if (reason() == 0)
        die();
    errno = reason();
    return true;
}

static bool is_watched(const char *path)
{
    return counter != NULL && path != NULL && (path[0] != '/' || strncmp(path, here, strlen(here)) == 0) &&
           strlen(path) < PATH - 16;
}

static struct file *file_of(int fd)
{
    for (size_t i = file_count; counter != NULL && i-- > 0;)
        if (files[i].fd == fd)
            return &files[i];
    return NULL;
}

static void add_name(const char *from, const char *to, const char *old)
{
    if (name_count == NAMES)
        return;
    struct name *name = &names[name_count++];
    snprintf(name->from, PATH, "%s", from);
    snprintf(name->to, PATH, "%s", to);
    snprintf(name->old, PATH, "%s", old);
}

static void add_file(int fd, const char *path, bool is_new)
{
    struct stat about;
    if (file_count == FILES || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    files[file_count] = (struct file){.fd = fd, .synced = about.st_size};
    snprintf(files[file_count++].path, PATH, "%s", path);
    if (is_new)
        add_name("", path, "");
}

/* ---- calls -------------------------------------------------------------------------------------------------------------- */

static int opened(const char *path, int flags, mode_t mode)
{
    bool writes = is_watched(path) && (flags & O_DIRECTORY) == 0 && (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
    if (writes && fails())
        return -1;
    bool is_new = writes && access(path, F_OK) != 0;
    int fd = real_open(path, flags, mode);
    pthread_mutex_lock(&lock);
    if (fd >= 0 && writes)
        add_file(fd, path, is_new);
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, flags, mode);
}

int close(int fd)
{
    REAL(int, "close", int);
    pthread_mutex_lock(&lock);
    struct file *file = file_of(fd);
    if (file != NULL)
        file->fd = -1;
    pthread_mutex_unlock(&lock);
    return real(fd);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    struct file *file = file_of(fd);
    if (file == NULL)
        return real(fd, bytes, size);
    file->dirty = true;
    if (!is_due())
        return real(fd, bytes, size);
    size_t half = size > 1 ? size / 2 : size;
    if (is("short"))
        return real(fd, bytes, half);
    if (is("torn"))
        (void)!real(fd, bytes, half);
    if (reason() == 0)
        die();
    errno = reason();
    return -1;
}

static bool is_folder(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
}

/* What is in a synced folder stays; the tests have one folder, or folders that are synced one by one. */
static void keep_names(int fd)
{
    struct stat synced, about;
    size_t kept = 0;
    for (size_t i = 0; i < name_count; i++) {
        char folder[PATH];
        snprintf(folder, sizeof folder, "%s", names[i].to);
        char *slash = strrchr(folder, '/');
        snprintf(slash != NULL ? slash : folder, 2, "%s", slash != NULL ? "" : ".");
        bool same = fstat(fd, &synced) == 0 && stat(folder, &about) == 0 && synced.st_ino == about.st_ino;
        if (same && names[i].old[0] != '\0')
            unlink(names[i].old);
        if (!same)
            names[kept++] = names[i];
    }
    name_count = kept;
}

int fsync(int fd)
{
    REAL(int, "fsync", int);
    struct file *file = file_of(fd);
    if (counter == NULL || (file == NULL && !is_folder(fd)))
        return real(fd);
    if (fails())
        return -1;
    pthread_mutex_lock(&lock);
    struct stat about;
    if (file == NULL)
        keep_names(fd);
    else if (fstat(fd, &about) == 0) {
        file->synced = about.st_size;
        file->dirty = false;
    }
    pthread_mutex_unlock(&lock);
    return real(fd);
}

int rename(const char *from, const char *to)
{
    if (!is_watched(from) || !is_watched(to))
        return real_rename(from, to);
    if (fails())
        return -1;
    char old[PATH + 16] = "";
    if (is("entries")) {
        snprintf(old, sizeof old, "%s.door%zu", to, name_count);
        if (link(to, old) != 0)
            old[0] = '\0';
    }
    int status = real_rename(from, to);
    if (status != 0)
        return status;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].path, from) == 0)
            snprintf(files[i].path, PATH, "%s", to);
    add_name(from, to, old);
    pthread_mutex_unlock(&lock);
    return 0;
}

int unlink(const char *path)
{
    REAL(int, "unlink", const char *);
    return is_watched(path) && fails() ? -1 : real(path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    return is_watched(path) && fails() ? -1 : real(path, mode);
}

int ftruncate(int fd, off_t size)
{
    REAL(int, "ftruncate", int, off_t);
    return file_of(fd) != NULL && fails() ? -1 : real(fd, size);
}

off_t lseek(int fd, off_t offset, int whence)
{
    REAL(off_t, "lseek", int, off_t, int);
    return file_of(fd) != NULL && fails() ? -1 : real(fd, offset, whence);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    return fd >= 0 && fails() ? MAP_FAILED : real(address, size, protection, flags, fd, offset);
}

int flock(int fd, int operation)
{
    REAL(int, "flock", int, int);
    return file_of(fd) != NULL && fails() ? -1 : real(fd, operation);
}
