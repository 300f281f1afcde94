/* Files as memory, by mmap. */
#define _DEFAULT_SOURCE

#include "base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* How much of a file may lie behind before it is handed back. */
#define KEPT_BEHIND ((size_t)32 * 1024 * 1024)

static ocdm_status refuse(int fd, const char *path, const char *why, ocdm_error *error)
{
    if (fd >= 0)
        close(fd);
    return ocdm__fail(error, OCDM_IO, "give a regular file that you may read", "%s: %s", path, why);
}

ocdm_status ocdm__map_file(ocdm__mapped_file *file, const char *path, ocdm_error *error)
{
    static const unsigned char nothing[1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
    return OCDM_OK;
}

void ocdm__mapped_file_passed(ocdm__mapped_file *file, size_t offset)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (offset < KEPT_BEHIND || offset > file->mapped)
        return;
    size_t behind = (offset - KEPT_BEHIND / 2) / page * page;
    madvise((void *)file->bytes, behind, MADV_DONTNEED);
}

void ocdm__unmap_file(ocdm__mapped_file *file)
{
    if (file->mapped > 0)
        munmap((void *)file->bytes, file->mapped);
    *file = (ocdm__mapped_file){.size = 0};
}
