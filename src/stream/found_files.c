/* A growing list of paths. */
#include "stream/found_files.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

static bool make_room(ocdm__found_files *files)
{
    if (files->count < files->room)
        return true;
    size_t room = files->room > 0 ? 2 * files->room : 16;
    char **paths = ocdm__resize(files->paths, room, sizeof *paths);
    if (paths == NULL)
        return false;
    files->paths = paths;
    files->room = room;
    return true;
}

ocdm_status ocdm__found_files_add(ocdm__found_files *files, const char *path, ocdm_error *error)
{
    if (files == NULL)
        return OCDM_OK;
    size_t size = strlen(path) + 1;
    char *copy = make_room(files) ? ocdm__allocate(size, 1) : NULL;
    if (copy == NULL)
        return ocdm__fail_memory(error, "the name of a file");
    memcpy(copy, path, size);
    files->paths[files->count++] = copy;
    return OCDM_OK;
}

void ocdm__found_files_clear(ocdm__found_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        ocdm__release(files->paths[i]);
    ocdm__release(files->paths);
    *files = (ocdm__found_files){.count = 0};
}
