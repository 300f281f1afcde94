/* Maps files by mmap, compares files by device and inode, and reads the clock. */
#define _DEFAULT_SOURCE

#include "base/files.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"

/* ---- mapped files --------------------------------------------------------------------------------------------------- */

/* Bytes behind the current position that stay mapped in memory. */
#define KEPT_BEHIND ((size_t)32 * 1024 * 1024)
/* Bytes between two system calls about what was passed. */
#define PASSED_STEP ((size_t)8 * 1024 * 1024)

static ocdm_status refuse(int fd, const char *path, const char *why, ocdm_error *error)
{
    if (fd >= 0)
        close(fd);
    return ocdm__fail(error, OCDM_IO, "give a regular file that you may read", "%s: %s", path, why);
}

/* The mappings that ocdm__mapped_file_at finds, which a signal handler calls: a slot is taken and given back by its atomic
 * pointer, and read without a lock. A mapping that finds no slot is not found. */
#define WATCHED 64
static struct watched {
    _Atomic(const unsigned char *) bytes;
    size_t size;
    char name[256];
} watched[WATCHED];

static const unsigned char taken[1];

/* Mapped files are remembered, so that a fault while one is read can be told with its name. */
static void watch(const ocdm__mapped_file *file)
{
    for (size_t i = 0; file->mapped > 0 && i < WATCHED; i++) {
        const unsigned char *none = NULL;
        if (!atomic_compare_exchange_strong(&watched[i].bytes, &none, taken))
            continue;
        watched[i].size = file->mapped;
        snprintf(watched[i].name, sizeof watched[i].name, "%s", file->name);
        atomic_store(&watched[i].bytes, file->bytes);
        return;
    }
}

/* For the handler of that fault: it may call nothing that allocates. */
const char *ocdm__mapped_file_at(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; i < WATCHED; i++) {
        uintptr_t bytes = (uintptr_t)atomic_load(&watched[i].bytes);
        if (bytes != 0 && bytes != (uintptr_t)taken && at >= bytes && at - bytes < watched[i].size)
            return watched[i].name;
    }
    return NULL;
}

/* Regular files only: a pipe would block, and a folder cannot be mapped. */
ocdm_status ocdm__map_file(ocdm__mapped_file *file, const char *path, ocdm_error *error)
{
    static const unsigned char nothing[1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without it, opening a FIFO waits for a writer */
    struct stat facts;
    if (fd < 0 || fstat(fd, &facts) != 0)
        return refuse(fd, path, strerror(errno), error);
    if (!S_ISREG(facts.st_mode))
        return refuse(fd, path, S_ISDIR(facts.st_mode) ? "is a folder" : "is not a regular file", error);
    size_t size = (size_t)facts.st_size;
    void *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (bytes == MAP_FAILED)
        return refuse(fd, path, strerror(errno), error);
    close(fd);
    *file = (ocdm__mapped_file){.bytes = size > 0 ? bytes : nothing, .size = size, .name = path, .mapped = size};
    watch(file);
    return OCDM_OK;
}

/* By the first bytes, since a name may say anything. */
ocdm_status ocdm__refuse_packed(const ocdm__mapped_file *file, ocdm_error *error)
{
    bool gzip = file->size > 2 && memcmp(file->bytes, "\x1f\x8b", 2) == 0;
    if (!gzip && !(file->size > 4 && memcmp(file->bytes, "\x28\xb5\x2f\xfd", 4) == 0))
        return OCDM_OK;
    char hint[200];
    snprintf(hint, sizeof hint, "unpack it first: %s %.150s", gzip ? "gunzip -k" : "unzstd", file->name);
    return ocdm__fail(error, OCDM_BAD_FILE, hint, "%s: %s data, which is unpacked for records only", file->name,
                      gzip ? "gzip" : "zstd");
}

/* A hint to the system that these pages are not needed again, so that a large file does not fill memory. */
void ocdm__mapped_file_passed(ocdm__mapped_file *file, size_t offset)
{
    if (offset < file->passed)
        file->passed = offset;
    if (offset - file->passed < PASSED_STEP || offset < KEPT_BEHIND || offset > file->mapped)
        return;
    file->passed = offset;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), behind = (offset - KEPT_BEHIND / 2) / page * page;
    madvise((void *)file->bytes, behind, MADV_DONTNEED);
}

/* A file that was never mapped is fine. */
void ocdm__unmap_file(ocdm__mapped_file *file)
{
    if (file->mapped > 0) {
        for (size_t i = 0; i < WATCHED; i++)
            if (atomic_load(&watched[i].bytes) == file->bytes)
                atomic_store(&watched[i].bytes, NULL);
        munmap((void *)file->bytes, file->mapped);
    }
    *file = (ocdm__mapped_file){.size = 0};
}

/* ---- identity ------------------------------------------------------------------------------------------------------- */

static ocdm__file_identity identity_of(const struct stat *status)
{
    return (ocdm__file_identity){.known = S_ISREG(status->st_mode), .device = status->st_dev, .inode = status->st_ino};
}

/* Identifies a file that does not exist yet: by its folder, and the name in it. */
static ocdm__file_identity identify_new(const char *path)
{
    ocdm__file_identity identity = {.known = false};
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = ocdm__allocate(length + 2, 1);
    if (!folder)
        return identity;
    memcpy(folder, slash ? path : ".", slash ? length : 1);
    struct stat status;
    if (stat(folder, &status) == 0)
        identity = (ocdm__file_identity){true, status.st_dev, status.st_ino, slash ? slash + 1 : path};
    ocdm__release(folder);
    return identity;
}

/* Two paths of one file have the same identity. */
ocdm__file_identity ocdm__identify_path(const char *path)
{
    struct stat status;
    if (!path || strncmp(path, "/dev/", 5) == 0)
        return (ocdm__file_identity){.known = false};
    if (stat(path, &status) == 0)
        return identity_of(&status);
    return errno == ENOENT ? identify_new(path) : (ocdm__file_identity){.known = false};
}

ocdm__file_identity ocdm__identify_descriptor(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? identity_of(&status) : (ocdm__file_identity){.known = false};
}

ocdm__file_identity ocdm__identify_input(const char *path)
{
    bool standard = !path || strcmp(path, "-") == 0;
    return standard ? ocdm__identify_descriptor(STDIN_FILENO) : ocdm__identify_path(path);
}

bool ocdm__is_same_file(const ocdm__file_identity *a, const ocdm__file_identity *b)
{
    if (!a->known || !b->known || a->device != b->device || a->inode != b->inode)
        return false;
    return a->name && b->name ? strcmp(a->name, b->name) == 0 : !a->name && !b->name;
}

double ocdm__seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- relative paths ------------------------------------------------------------------------------------------------- */

/* From and to are absolute, without links. */
static char *climb(const char *from, const char *to)
{
    size_t common = 0, climbs = 0; /* the bytes that both have, up to a slash or the end of a part */
    for (size_t i = 0;; i++) {
        bool ends = (from[i] == '/' || from[i] == '\0') && (to[i] == '/' || to[i] == '\0');
        common = ends ? i : common;
        if (from[i] != to[i] || from[i] == '\0')
            break;
    }
    for (const char *at = from + common; *at != '\0'; at++)
        climbs += at[0] == '/' && at[1] != '\0';
    const char *rest = to + common;
    rest += *rest == '/';
    char *path = ocdm__allocate(3 * climbs + strlen(rest) + 2, 1);
    if (path == NULL)
        return NULL;
    for (size_t i = 0; i < climbs; i++)
        memcpy(path + 3 * i, "../", 3);
    memcpy(path + 3 * climbs, rest, strlen(rest) + 1);
    size_t length = strlen(path);
    if (length == 0)
        memcpy(path, ".", 2);
    else if (path[length - 1] == '/')
        path[length - 1] = '\0';
    return path;
}

/* So that a folder of results can be moved together with what it refers to. */
ocdm_status ocdm__path_from(const char *folder, const char *path, char **relative, ocdm_error *error)
{
    char *from = realpath(folder, NULL), *to = realpath(path, NULL);
    ocdm_status status = OCDM_OK;
    *relative = NULL;
    if (from != NULL && to != NULL) {
        *relative = climb(strcmp(from, "/") == 0 ? "" : from, strcmp(to, "/") == 0 ? "" : to);
        status = *relative != NULL ? OCDM_OK : ocdm__fail_memory(error, path);
    }
    free(from);
    free(to);
    return status;
}
