/* The wrappers behind faults.h. */
#define _POSIX_C_SOURCE 200809L

#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

static atomic_ulong calls[FAULT_KINDS];
static enum fault_kind failing;
static unsigned long failing_call;
static int failing_reason;
static bool failing_for_good;

void fault_at(enum fault_kind kind, unsigned long n, int reason, bool for_good)
{
    for (int i = 0; i < FAULT_KINDS; i++)
        atomic_store(&calls[i], 0);
    failing = kind;
    failing_call = n;
    failing_reason = reason;
    failing_for_good = for_good;
}

void fault_off(void)
{
    fault_at(FAULT_ALLOCATE, 0, 0, false);
}

unsigned long fault_calls(enum fault_kind kind)
{
    return atomic_load(&calls[kind]);
}

bool fault_now(enum fault_kind kind)
{
    unsigned long call = atomic_fetch_add(&calls[kind], 1) + 1;
    if (kind != failing || !failing_call || call < failing_call)
        return false;
    if (call > failing_call && !failing_for_good)
        return false;
    errno = failing_reason;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
int __real_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);
int __real_close(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __wrap_close(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);

void *__wrap_malloc(size_t size)
{
    return fault_now(FAULT_ALLOCATE) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fault_now(FAULT_ALLOCATE) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fault_now(FAULT_ALLOCATE) ? NULL : __real_realloc(block, size);
}

void __wrap_free(void *block)
{
    __real_free(block);
}

int __wrap_open(const char *path, int flags, ...)
{
    unsigned mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, unsigned);
        va_end(arguments);
    }
    return fault_now(FAULT_OPEN) ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return fault_now(FAULT_READ) ? -1 : __real_read(fd, bytes, size);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    return fault_now(FAULT_WRITE) ? -1 : __real_write(fd, bytes, size);
}

int __wrap_close(int fd)
{
    int result = __real_close(fd);
    return fault_now(FAULT_CLOSE) ? -1 : result;
}

int __wrap_fsync(int fd)
{
    return fault_now(FAULT_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fault_now(FAULT_RENAME) ? -1 : __real_rename(from, to);
}
