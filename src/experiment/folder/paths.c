/* Folders and the paths of files in them. */
#define _POSIX_C_SOURCE 200809L

#include "experiment/folder/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

ocdm_status ocdm__folder_path(const char *folder, const char *name, char path[OCDM__PATH_ROOM], ocdm_error *error)
{
    int length = snprintf(path, OCDM__PATH_ROOM, "%s/%s", folder, name);
    if (folder[0] == '\0')
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name one; . is the one that you are in", "the folder's name is empty");
    if (length > 0 && length < OCDM__PATH_ROOM)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_LIMIT, "name a shorter one", "the path of the folder is too long");
}

static ocdm_status make_one(const char *folder, ocdm_error *error)
{
    struct stat there;
    if (mkdir(folder, 0777) == 0)
        return OCDM_OK;
    int reason = errno;
    if (stat(folder, &there) == 0 && S_ISDIR(there.st_mode))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_IO, reason == EEXIST ? "name a folder" : "", "cannot make the folder %s: %s", folder,
                      reason == EEXIST ? "a file is there" : strerror(reason));
}

ocdm_status ocdm__make_folder(const char *folder, ocdm_error *error)
{
    char path[OCDM__PATH_ROOM];
    ocdm_status status = ocdm__folder_path(folder, "", path, error);
    for (char *slash = strchr(path + 1, '/'); status == OCDM_OK && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_one(path, error);
        *slash = '/';
    }
    return status;
}
