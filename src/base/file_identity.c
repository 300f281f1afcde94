/* Comparing files by what the system says of them. */
#define _POSIX_C_SOURCE 200809L

#include "base/file_identity.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"

static ocdm__file_identity identity_of(const struct stat *status)
{
    return (ocdm__file_identity){.known = S_ISREG(status->st_mode), .device = status->st_dev, .inode = status->st_ino};
}

/* The folder that a path to be made is in, and the name that it will have there. */
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
