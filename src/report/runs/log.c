/* Reads logs that other processes write. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE

#include "report/runs/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 65536 };

/* A FIFO would wait for a writer. */
static int open_in(const char *folder, const char *name)
{
    return open(ocdm__path_in(folder, name).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

const char *ocdm__log_open(ocdm__log *log, const char *folder)
{
    struct stat there;
    *log = (ocdm__log){.fd = open_in(folder, "run.jsonl")};
    if (log->fd < 0 || fstat(log->fd, &there) != 0)
        return strerror(errno);
    return S_ISREG(there.st_mode) ? NULL : "run.jsonl is not a regular file";
}

ocdm_status ocdm__log_next(ocdm__log *log, const char **line, size_t *length, ocdm_error *error)
{
    *line = NULL;
    for (;;) {
        size_t left = log->length - log->taken;
        const char *end = left > 0 ? memchr(log->bytes + log->taken, '\n', left) : NULL;
        if (end != NULL) {
            *line = log->bytes + log->taken;
            *length = (size_t)(end - *line);
            log->taken += *length + 1;
            return OCDM_OK;
        }
        if (log->taken > 0)
            memmove(log->bytes, log->bytes + log->taken, left);
        log->length = left;
        log->taken = 0;
        if (!ocdm__reserve(&log->bytes, &log->room, log->length + READ_SIZE, 1))
            return ocdm__fail_memory(error, "a line of the log");
        ssize_t size = pread(log->fd, log->bytes + log->length, READ_SIZE, log->position);
        if (size < 0 && errno != EINTR)
            return ocdm__fail(error, OCDM_IO, "", "run.jsonl: %s", strerror(errno));
        if (size <= 0)
            return OCDM_OK;
        log->position += size;
        log->length += (size_t)size;
    }
}

bool ocdm__log_restarts(ocdm__log *log)
{
    struct stat there;
    if (fstat(log->fd, &there) != 0 || there.st_size >= log->position)
        return false;
    log->position = 0;
    log->taken = log->length = 0;
    return true;
}

void ocdm__log_tail(const ocdm__log *log, char tail[OCDM__LOG_TAIL + 1])
{
    struct stat there;
    ssize_t size = 0;
    if (fstat(log->fd, &there) == 0)
        size = pread(log->fd, tail, OCDM__LOG_TAIL, there.st_size > OCDM__LOG_TAIL ? there.st_size - OCDM__LOG_TAIL : 0);
    tail[size > 0 ? size : 0] = '\0';
}

void ocdm__log_close(ocdm__log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    ocdm__release(log->bytes);
    *log = (ocdm__log){.fd = -1};
}

bool ocdm__run_is_locked(const char *folder)
{
    int fd = open_in(folder, "lock");
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0)
        close(fd);
    return locked;
}

ocdm__path ocdm__path_in(const char *folder, const char *name)
{
    ocdm__path path;
    size_t length = strlen(folder);
    const char *between = length > 0 && folder[length - 1] == '/' ? "" : "/";
    if ((size_t)snprintf(path.text, sizeof path.text, "%s%s%s", folder, between, name) >= sizeof path.text)
        path.text[0] = '\0';
    return path;
}

bool ocdm__has_file(const char *folder, const char *name)
{
    return access(ocdm__path_in(folder, name).text, F_OK) == 0;
}
