/* Paths that come from files of others must stay below the folder that they are relative to. */
#ifndef OCDM_BASE_RELATIVE_PATH_H
#define OCDM_BASE_RELATIVE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether `length` bytes are a path that leads nowhere else: not empty, not absolute, no component "..", no NUL. */
static inline bool ocdm__is_relative_path(const char *path, size_t length)
{
    if (length == 0 || path[0] == '/' || memchr(path, '\0', length) != NULL)
        return false;
    for (size_t start = 0, end; start <= length; start = end + 1) {
        const char *slash = memchr(path + start, '/', length - start);
        end = slash != NULL ? (size_t)(slash - path) : length;
        if (end - start == 2 && memcmp(path + start, "..", 2) == 0)
            return false;
    }
    return true;
}

#endif
