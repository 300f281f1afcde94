/* Files as a whole: mapped into memory, compared with each other, and named by relative paths. */
#ifndef OCDM_BASE_FILES_H
#define OCDM_BASE_FILES_H

#include "base/base.h"
#include <sys/types.h>

/* ---- mapped files ---- */

/*
 * The bytes of a whole file, mapped read-only, so that a file larger than memory can be read. What cannot be mapped (a pipe) is
 * refused; an empty file is empty. If another process truncates the file meanwhile, reading the lost part raises SIGBUS; the
 * program `ocdm` catches it and names the file. The writers of this project replace files and never truncate them.
 */

/* All zero is a file that is not open. */
typedef struct ocdm__mapped_file {
    const unsigned char *bytes; /* never NULL once open */
    size_t size;
    const char *name; /* for messages: the path that was given */
    size_t mapped;    /* bytes to unmap */
    size_t passed;    /* how far the system was told */
} ocdm__mapped_file;

/* OCDM_OK, OCDM_IO (missing, not readable, not a regular file). `path` must outlive the file. */
ocdm_status ocdm__map_file(ocdm__mapped_file *file, const char *path, ocdm_error *error);

/* OCDM_BAD_FILE if the file is gzip or zstd data: records are decompressed while they are read, mapped files are not. */
ocdm_status ocdm__refuse_packed(const ocdm__mapped_file *file, ocdm_error *error);

/* Declares that the bytes before `offset` will not be needed soon, so that a long pass over the file keeps little of it in
 * memory. They can still be read. Cheap: the system is told every few MB. */
void ocdm__mapped_file_passed(ocdm__mapped_file *file, size_t offset);

/* The name of the mapped file that has `address`, cut to 255 bytes; NULL if none has. For signal handlers: takes no lock and
 * allocates nothing. */
const char *ocdm__mapped_file_at(const void *address);

/* Releases it. A file that is not open is fine. */
void ocdm__unmap_file(ocdm__mapped_file *file);

/* ---- identity ---- */

/* Whether two names lead to the same file: by device and inode or, for a file that does not exist yet, by its folder and name.
 */

/* `name` is NULL for a file that exists. Only regular files, existing or new, have a known identity: two results may go to the
 * same terminal or to /dev/null. */
typedef struct ocdm__file_identity {
    bool known;
    dev_t device;
    ino_t inode;
    const char *name;
} ocdm__file_identity;

/* The identity of a path; unknown for NULL and for names such as /dev/stdout. The result points into `path`. */
ocdm__file_identity ocdm__identify_path(const char *path);

/* The same for an open descriptor, and for an input as commands take it: NULL or "-" is standard input. */
ocdm__file_identity ocdm__identify_descriptor(int fd);
ocdm__file_identity ocdm__identify_input(const char *path);

bool ocdm__is_same_file(const ocdm__file_identity *a, const ocdm__file_identity *b);

/* ---- relative paths ---- */

/* Paths in files of others must stay below the folder that they are relative to. */

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

/* Whether `length` bytes are a path that stays below its folder: not empty, not absolute, no part "..", no NUL. */
static inline bool ocdm__is_relative_path(const char *path, size_t length)
{
    return length > 0 && path[0] != '/' && memchr(path, '\0', length) == NULL && !ocdm__path_climbs(path, length);
}

/* The path that leads from a folder to a file or folder, links resolved: "../streams/a.safetensors". To be released; NULL if
 * one of the two is not there. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__path_from(const char *folder, const char *path, char **relative, ocdm_error *error);

#endif
