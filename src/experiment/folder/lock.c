/* The lock of a folder. flock rather than fcntl: it belongs to the open file, so that two runs of one process exclude each
 * other too. */
#define _DEFAULT_SOURCE

#include "experiment/folder/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"

ocdm_status ocdm__run_lock(const char *path, const char *folder, int *lock, ocdm_error *error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return ocdm__fail(error, OCDM_IO, "", "cannot write %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *lock = fd;
        return OCDM_OK;
    }
    int reason = errno;
    close(fd);
    if (reason == EWOULDBLOCK)
        return ocdm__fail(error, OCDM_IO, "wait for it to end, or name another folder", "%s: another run is writing here",
                          folder);
    return ocdm__fail(error, OCDM_IO, "", "cannot lock %s: %s", path, strerror(reason));
}

void ocdm__run_unlock(int lock)
{
    close(lock);
}
