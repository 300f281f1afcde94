/* The spool: rows at their places in a nameless file, in the machine's own byte order since nobody else sees it. */
#define _XOPEN_SOURCE 700

#include "experiment/featurize_spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"

static ocdm_status fail(const ocdm__spool *spool, const char *verb, int reason, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_IO, reason == ENOSPC ? "free some space, or write to another place" : "",
                      "cannot %s a temporary file beside %s: %s", verb, spool->beside, strerror(reason));
}

ocdm_status ocdm__spool_open(ocdm__spool *spool, const char *beside, size_t width, ocdm_error *error)
{
    static const char name[] = ".ocdm-features-XXXXXX";
    const char *slash = strrchr(beside, '/');
    size_t folder = slash != NULL ? (size_t)(slash - beside) + 1 : 0;
    char *path = ocdm__allocate(folder + sizeof name, 1);
    *spool = (ocdm__spool){.fd = -1, .width = width, .beside = beside};
    if (path == NULL)
        return ocdm__fail_memory(error, "a file name");
    memcpy(path, beside, folder);
    memcpy(path + folder, name, sizeof name);
    spool->fd = mkstemp(path);
    int reason = errno;
    if (spool->fd >= 0)
        unlink(path);
    ocdm__release(path);
    return spool->fd >= 0 ? OCDM_OK : fail(spool, "make", reason, error);
}

ocdm_status ocdm__spool_write(ocdm__spool *spool, uint64_t first, size_t count, const float *rows, ocdm_error *error)
{
    const char *bytes = (const char *)rows;
    size_t size = count * spool->width * sizeof *rows;
    off_t at = (off_t)(first * spool->width * sizeof *rows);
    while (size > 0) {
        ssize_t some = pwrite(spool->fd, bytes, size, at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return fail(spool, "write", errno, error);
        bytes += some;
        at += some;
        size -= (size_t)some;
    }
    return OCDM_OK;
}

ocdm_status ocdm__spool_read(ocdm__spool *spool, uint64_t first, size_t count, float *rows, ocdm_error *error)
{
    char *bytes = (char *)rows;
    size_t size = count * spool->width * sizeof *rows;
    off_t at = (off_t)(first * spool->width * sizeof *rows);
    while (size > 0) {
        ssize_t some = pread(spool->fd, bytes, size, at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0) /* the end comes too soon only when someone else wrote to our file */
            return fail(spool, "read", some < 0 ? errno : EIO, error);
        bytes += some;
        at += some;
        size -= (size_t)some;
    }
    return OCDM_OK;
}

void ocdm__spool_close(ocdm__spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}
