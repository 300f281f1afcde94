/* Paths that come from files of others must stay below the folder that they are relative to. */
#ifndef OCDM_BASE_RELATIVE_PATH_H
#define OCDM_BASE_RELATIVE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether one of the parts between slashes is "..". */
static inline bool ocdm__path_climbs(const char *path, size_t length)
{
    for (size_t start = 0, end; start < length; start = end + 1) {
        const char *slash = memchr(path + start, '/', length - start);
        end = slash != NULL ? (size_t)(slash - path) : length;
        if (end - start == 2 && memcmp(path + start, "..", 2) == 0)
            return true;
    }
    return false;
}

/* Whether `length` bytes are a path that leads nowhere else: not empty, not absolute, no part "..", no NUL. */
static inline bool ocdm__is_relative_path(const char *path, size_t length)
{
    return length > 0 && path[0] != '/' && memchr(path, '\0', length) == NULL && !ocdm__path_climbs(path, length);
}

#endif
