/*
 * The bytes of a whole file, read-only and mapped, so that a file larger than the memory can be looked at. What cannot be
 * mapped (a pipe, an empty file) is refused or empty. A file that someone shortens meanwhile ends the program, as it does with
 * every program that maps: the writers here replace files, they never shorten them.
 */
#ifndef OCDM_BASE_MAPPED_FILE_H
#define OCDM_BASE_MAPPED_FILE_H

#include <stddef.h>

#include "ocdm/ocdm.h"

/* All zero is a file that is not open. */
typedef struct ocdm__mapped_file {
    const unsigned char *bytes; /* never NULL once open */
    size_t size;
    const char *name; /* for messages: the path that was given */
    size_t mapped;    /* bytes to unmap */
} ocdm__mapped_file;

/* OCDM_OK, OCDM_IO (not there, not readable, no regular file). `path` must live as long as the file. */
ocdm_status ocdm__map_file(ocdm__mapped_file *file, const char *path, ocdm_error *error);

/* Says that the bytes before `offset` will not be looked at soon, so that a long pass over the file keeps little of it in
 * memory. They can still be read. */
void ocdm__mapped_file_passed(ocdm__mapped_file *file, size_t offset);

/* Gives it back. A file that is not open is fine. */
void ocdm__unmap_file(ocdm__mapped_file *file);

#endif
