/* The files that a reader finds by itself in a folder that it is given: a stream file names them as its sources. */
#ifndef OCDM_STREAM_FOUND_FILES_H
#define OCDM_STREAM_FOUND_FILES_H

#include <stddef.h>

#include "ocdm/ocdm.h"

/* Start with all bytes zero. */
typedef struct ocdm__found_files {
    char **paths;
    size_t count, room;
} ocdm__found_files;

/* Notes a file; the path is copied. Without a list, NULL, nothing happens. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__found_files_add(ocdm__found_files *files, const char *path, ocdm_error *error);

/* Gives everything back; the list is empty again. */
void ocdm__found_files_clear(ocdm__found_files *files);

#endif
