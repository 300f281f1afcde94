/* Whether two names lead to one file: by device and inode, or, for a file that is not there yet, by its folder and name. */
#ifndef OCDM_BASE_FILE_IDENTITY_H
#define OCDM_BASE_FILE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/* `name` is NULL for a file that exists. Nothing but regular files, there or to be made, is known: two results may well go to
 * one terminal or to /dev/null. */
typedef struct ocdm__file_identity {
    bool known;
    dev_t device;
    ino_t inode;
    const char *name;
} ocdm__file_identity;

/* What a path leads to; unknown for NULL, and for /dev/stdout and its like, which say what they are. The result points into
 * `path`. */
ocdm__file_identity ocdm__identify_path(const char *path);

/* The same for an open descriptor, and for an input as commands take it: NULL or "-" is standard input. */
ocdm__file_identity ocdm__identify_descriptor(int fd);
ocdm__file_identity ocdm__identify_input(const char *path);

bool ocdm__is_same_file(const ocdm__file_identity *a, const ocdm__file_identity *b);

#endif
