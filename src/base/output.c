/* Buffered output that remembers the first failure, and files that appear atomically. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "base/output.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"

#define BUFFER ((size_t)64 * 1024)
#define NAME_ATTEMPTS 1000u

static ocdm_status fail_call(const ocdm__output *output, ocdm_error *error, const char *verb, int reason)
{
    const char *hint = reason == ENOSPC || reason == EDQUOT ? "free some space, or write to another place" : "";
    return ocdm__fail(error, OCDM_IO, hint, "cannot %s %s: %s", verb, output->path, strerror(reason));
}

/* NULL when out of memory. */
static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ocdm__allocate(size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The parts that need memory, before anything is opened: a failure leaves nothing behind. */
static ocdm_status start(ocdm__output *output, const char *name, ocdm_error *error)
{
    *output = (ocdm__output){.fd = -1, .capacity = BUFFER};
    output->buffer = ocdm__allocate(BUFFER, 1);
    output->path = copy_text(name);
    if (output->buffer && output->path)
        return OCDM_OK;
    ocdm__output_abandon(output);
    return ocdm__fail_memory(error, "an output buffer");
}

ocdm_status ocdm__output_open_fd(ocdm__output *output, int fd, const char *name, ocdm_error *error)
{
    OCDM_TRY(start(output, name, error));
    output->fd = fd;
    return OCDM_OK;
}

ocdm_status ocdm__output_open_memory(ocdm__output *output, const char *name, ocdm_error *error)
{
    OCDM_TRY(start(output, name, error));
    output->grows = true;
    return OCDM_OK;
}

/* ---- opening a path ------------------------------------------------------------------------------------------------- */

/* The descriptor that a name such as /dev/stdout or /dev/fd/3 refers to, or -1. It may be a regular file, which must not be
 * replaced: the process that opened it would still write to the old one. */
static int descriptor_of(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0 && path[length] >= '0' && path[length] <= '9')
            return (int)strtol(path + length, NULL, 10);
    }
    return -1;
}

/* How much of `path` is its folder, the slash included; 0 when it has none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The folder of `path` as text; false if it is too long. */
static bool name_folder(const char *path, char folder[PATH_MAX])
{
    size_t length = folder_length(path);
    if (length >= PATH_MAX)
        return false;
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    folder[length > 0 ? length : 1] = '\0';
    return true;
}

/* A temporary file is locked while it is written. On a file system without locks it is safe too: no process can lock it, so
 * none removes it. */
static bool lock(int fd)
{
    int status;
    do
        status = flock(fd, LOCK_EX | LOCK_NB);
    while (status != 0 && errno == EINTR);
    return status == 0;
}

/* Whether a name is .ocdm-PID-N.tmp of another process. What this one writes is no leftover even if it could not be locked. */
static bool is_anothers(const char *name)
{
    if (strncmp(name, ".ocdm-", 6) != 0 || !isdigit((unsigned char)name[6]) || strtol(name + 6, NULL, 10) == (long)getpid())
        return false;
    size_t length = 6 + strspn(name + 6, "0123456789");
    size_t digits = name[length] == '-' ? strspn(name + length + 1, "0123456789") : 0;
    return digits > 0 && strcmp(name + length + 1 + digits, ".tmp") == 0;
}

/* Removes temporary files whose writer was killed: those that are not locked. A process that is alive, on another machine too,
 * keeps its own. */
static void remove_leftovers(const char *path)
{
    char name[PATH_MAX];
    DIR *folder = name_folder(path, name) ? opendir(name) : NULL;
    if (folder == NULL)
        return;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!is_anothers(entry->d_name))
            continue;
        int fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && lock(fd))
            unlinkat(dirfd(folder), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    closedir(folder);
}

/* In the folder of the result, so that putting it in place is a rename. Another process may have taken the file for a leftover
 * between its creation and its lock. */
static int create_temporary(const char *path)
{
    struct stat facts;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fd;
    lock(fd);
    if (fstat(fd, &facts) != 0 || facts.st_nlink > 0)
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* Opens a new file beside the path. Not mkstemp: its files are private, and the result should have the usual permissions. */
static ocdm_status open_temporary(ocdm__output *output, ocdm_error *error)
{
    size_t folder = folder_length(output->path), size = folder + 48;
    OCDM_TRY(ocdm__new(&output->temporary, size, 1, "a file name", error));
    remove_leftovers(output->path);
    memcpy(output->temporary, output->path, folder);
    for (unsigned attempt = 0; output->fd < 0 && attempt < NAME_ATTEMPTS; attempt++) {
        snprintf(output->temporary + folder, size - folder, ".ocdm-%ld-%u.tmp", (long)getpid(), attempt);
        output->fd = create_temporary(output->temporary);
        if (output->fd < 0 && errno != EEXIST)
            break;
    }
    if (output->fd >= 0) {
        output->owns_fd = true;
        return OCDM_OK;
    }
    int reason = errno;
    ocdm__release(output->temporary);
    output->temporary = NULL;
    return fail_call(output, error, "write", reason);
}

/* A device, a pipe or a borrowed descriptor is written to; a file, or none, gets its contents at the end. */
static ocdm_status open_path(ocdm__output *output, ocdm_error *error)
{
    struct stat there;
    int borrowed = descriptor_of(output->path);
    bool exists = stat(output->path, &there) == 0;
    if (borrowed >= 0 || (exists && !S_ISREG(there.st_mode))) {
        output->fd = borrowed >= 0 ? fcntl(borrowed, F_DUPFD_CLOEXEC, 0) : open(output->path, O_WRONLY | O_CLOEXEC);
        if (output->fd < 0)
            return fail_call(output, error, "open", errno);
        output->owns_fd = true;
        return OCDM_OK;
    }
    if (exists) {
        /* A symbolic link is kept; the file that it leads to is replaced. */
        char resolved[PATH_MAX];
        if (!realpath(output->path, resolved))
            return fail_call(output, error, "open", errno);
        char *path = copy_text(resolved);
        if (!path)
            return ocdm__fail_memory(error, "a file name");
        ocdm__release(output->path);
        output->path = path;
    }
    OCDM_TRY(open_temporary(output, error));
    if (exists)
        (void)fchmod(output->fd, there.st_mode & 0777); /* permissions of the old file; without them, those of a new one */
    return OCDM_OK;
}

/* A failure to open leaves nothing behind. */
ocdm_status ocdm__output_open(ocdm__output *output, const char *path, ocdm_error *error)
{
    OCDM_TRY(start(output, path, error));
    ocdm_status status = open_path(output, error);
    if (status != OCDM_OK)
        ocdm__output_abandon(output);
    return status;
}

ocdm_status ocdm__output_open_own(ocdm__output *output, const char *path, ocdm_error *error)
{
    OCDM_TRY(start(output, path, error));
    ocdm_status status = open_temporary(output, error);
    if (status != OCDM_OK)
        ocdm__output_abandon(output);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

/* The first failure is kept; later writes do nothing. */
static void write_all(ocdm__output *output, const char *bytes, size_t size)
{
    while (size > 0 && !output->failure) {
        ssize_t written = write(output->fd, bytes, size);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0) {
            output->failure = EIO;
        } else if (errno == EAGAIN) {
            int fd = output->fd;
            struct pollfd wanted = {.fd = fd, .events = POLLOUT};
            poll(&wanted, 1, -1);
        } else if (errno != EINTR) {
            output->failure = errno;
        }
    }
}

/* Small writes are gathered in the buffer until here. */
void ocdm__output_flush(ocdm__output *output)
{
    if (output->grows)
        return;
    write_all(output, output->buffer, output->used);
    if (output->used > 0)
        output->last = output->buffer[output->used - 1];
    output->used = 0;
}

/* What is larger than the buffer does not go through it; of an output in memory the buffer is the result. */
void ocdm__output_write_through(ocdm__output *output, const void *bytes, size_t size)
{
    if (output->grows) {
        if (size > SIZE_MAX / 4 || output->used > SIZE_MAX / 4 || output->failure ||
            !ocdm__reserve(&output->buffer, &output->capacity, output->used + size, 1)) {
            output->failure = ENOMEM;
            return;
        }
        memcpy(output->buffer + output->used, bytes, size);
        output->used += size;
        return;
    }
    ocdm__output_flush(output);
    if (size >= output->capacity) {
        write_all(output, bytes, size);
        output->last = ((const char *)bytes)[size - 1];
        return;
    }
    memcpy(output->buffer, bytes, size);
    output->used = size;
}

/* Up to 1,000 bytes; what is longer is cut off. */
void ocdm__put(ocdm__output *output, const char *format, ...)
{
    char text[1001];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0)
        ocdm__output_write(output, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Digits from the last to the first. */
void ocdm__output_uint64(ocdm__output *output, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    ocdm__output_write(output, digits + at, sizeof digits - at);
}

void ocdm__output_double(ocdm__output *output, double value)
{
    char text[OCDM__JSON_DOUBLE];
    size_t length = ocdm__json_double(value, text);
    ocdm__output_write(output, text, length);
}

/* Bytes that are not UTF-8 become U+FFFD, so that the result is JSON whatever came in. */
void ocdm__output_json_string(ocdm__output *output, const char *text, size_t length)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const unsigned char *at = (const unsigned char *)text, *end = at + length, *plain = at;
    char escape[8];
    ocdm__output_write(output, "\"", 1);
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        bool escaped = size == 1 && (*at < 0x20 || *at == 0x7F || *at == '"' || *at == '\\');
        if (size > 0 && !escaped) {
            at += size;
            continue;
        }
        const char *letter = escaped && *at != 0 ? strchr(from, *at) : NULL;
        if (letter != NULL)
            snprintf(escape, sizeof escape, "\\%c", to[letter - from]);
        else if (escaped)
            snprintf(escape, sizeof escape, "\\u%04x", *at);
        else
            snprintf(escape, sizeof escape, "\xEF\xBF\xBD");
        ocdm__output_write(output, plain, (size_t)(at - plain));
        ocdm__output_text(output, escape);
        plain = ++at;
    }
    ocdm__output_write(output, plain, (size_t)(end - plain));
    ocdm__output_write(output, "\"", 1);
}

ocdm_status ocdm__output_check(const ocdm__output *output, ocdm_error *error)
{
    if (output->failure && output->grows)
        return ocdm__fail_memory(error, output->path);
    return output->failure ? fail_call(output, error, "write", output->failure) : OCDM_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

/* With the comma that belongs before it, which follows from the last byte that was written. */
void ocdm__json_key(ocdm__output *output, const char *key)
{
    char last = output->used > 0 ? output->buffer[output->used - 1] : output->last;
    if (last != '\0' && last != '{' && last != '[' && last != ':' && last != ',' && last != '\n')
        ocdm__output_write(output, ",", 1);
    if (key == NULL)
        return;
    ocdm__output_json_string(output, key, strlen(key));
    ocdm__output_write(output, ":", 1);
}

void ocdm__json_open(ocdm__output *output, const char *key, char bracket)
{
    ocdm__json_key(output, key);
    ocdm__output_write(output, &bracket, 1);
}

void ocdm__json_close(ocdm__output *output, char bracket)
{
    ocdm__output_write(output, &bracket, 1);
}

void ocdm__json_count(ocdm__output *output, const char *key, uint64_t value)
{
    ocdm__json_key(output, key);
    ocdm__output_uint64(output, value);
}

void ocdm__json_real(ocdm__output *output, const char *key, double value)
{
    ocdm__json_key(output, key);
    ocdm__output_double(output, value);
}

void ocdm__json_flag(ocdm__output *output, const char *key, bool value)
{
    ocdm__json_key(output, key);
    ocdm__output_text(output, value ? "true" : "false");
}

void ocdm__json_null(ocdm__output *output, const char *key)
{
    ocdm__json_key(output, key);
    ocdm__output_text(output, "null");
}

void ocdm__json_string(ocdm__output *output, const char *key, const char *text)
{
    if (text != NULL)
        ocdm__json_bytes(output, key, text, strlen(text));
    else
        ocdm__json_null(output, key);
}

void ocdm__json_bytes(ocdm__output *output, const char *key, const char *text, size_t length)
{
    ocdm__json_key(output, key);
    ocdm__output_json_string(output, text, length);
}

/* ---- the end -------------------------------------------------------------------------------------------------------- */

/* Makes the new name last through a power cut. Folders that cannot be opened or synced are no failure: the file itself is safe.
 */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    if (!name_folder(path, folder))
        return 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int reason = fsync(fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? errno : 0;
    close(fd);
    return reason;
}

static void close_descriptor(ocdm__output *output)
{
    if (output->owns_fd && close(output->fd) != 0 && errno != EINTR && !output->failure)
        output->failure = errno;
    output->owns_fd = false;
    output->fd = -1;
}

ocdm_status ocdm__output_sync(ocdm__output *output, ocdm_error *error)
{
    ocdm__output_flush(output);
    if (!output->failure && output->temporary && fsync(output->fd) != 0)
        output->failure = errno;
    return ocdm__output_check(output, error);
}

/* The end of an output: all errors of its writes come out here. */
ocdm_status ocdm__output_commit(ocdm__output *output, ocdm_error *error)
{
    (void)ocdm__output_sync(output, NULL);
    if (!output->failure && output->temporary) {
        /* The second descriptor keeps the lock while the first is closed, which may fail, and the file gets its name. */
        int guard = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
        if (guard < 0)
            output->failure = errno;
        close_descriptor(output);
        /* After a crash there is the old file or the new one: the data are on disk by now. */
        if (!output->failure && rename(output->temporary, output->path) != 0) {
            output->failure = errno;
        } else if (!output->failure) {
            ocdm__release(output->temporary);
            output->temporary = NULL;
            output->failure = sync_folder(output->path);
        }
        if (guard >= 0)
            close(guard);
    } else
        close_descriptor(output);
    ocdm_status status = ocdm__output_check(output, error);
    ocdm__output_abandon(output);
    return status;
}

/* What was at the path stays. */
void ocdm__output_abandon(ocdm__output *output)
{
    if (output->owns_fd)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    OCDM_RELEASE(output->temporary, output->path, output->buffer);
    *output = (ocdm__output){.fd = -1};
}

/* ---- NPY ------------------------------------------------------------------------------------------------------------ */

/* Magic, version, and the length of the text; all of it and the text end at a multiple of 64. */
enum { NPY_START = 10, NPY_HEADER = 128, NPY_PIECE = 1024 };

/* Padded so that the data begin at a multiple of 64 bytes. */
void ocdm__npy_write_header(ocdm__output *output, uint64_t rows, uint64_t columns)
{
    char header[NPY_HEADER + 1] = "\x93NUMPY\x01";
    header[8] = NPY_HEADER - NPY_START;
    int used = snprintf(header + NPY_START, sizeof header - NPY_START,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }", rows, columns);
    size_t end = NPY_START + (size_t)used; /* 93 characters with the longest numbers: there is room */
    memset(header + end, ' ', NPY_HEADER - end);
    header[NPY_HEADER - 1] = '\n';
    ocdm__output_write(output, header, NPY_HEADER);
}

/* Little-endian on every machine. */
void ocdm__npy_write_floats(ocdm__output *output, const float *values, size_t count)
{
    unsigned char piece[4 * NPY_PIECE];
    for (size_t first = 0; first < count; first += NPY_PIECE) {
        size_t some = count - first < NPY_PIECE ? count - first : NPY_PIECE;
        for (size_t i = 0; i < some; i++)
            ocdm__put_float(piece + 4 * i, values[first + i]);
        ocdm__output_write(output, piece, 4 * some);
    }
}
