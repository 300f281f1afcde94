/* Text files in memory, as a whole: their lines one after another, and positions for messages. For readers that go through a
 * file several times and keep nothing of it. */
#ifndef OCDM_STREAM_LINES_H
#define OCDM_STREAM_LINES_H

#include "base/files.h"

/* A position from which the lines can be read again. */
typedef struct ocdm__line_place {
    size_t at;     /* the byte at which the next line starts */
    uint64_t line; /* its number, from 1 */
} ocdm__line_place;

/* All bytes zero means not open. */
typedef struct ocdm__lines {
    ocdm__mapped_file file;
    char *path;             /* the file's name, a copy; NULL for a text in memory */
    ocdm__line_place place; /* of the line after the current one */

    /* The current line, without its end of line; a carriage return is a part of it. */
    const char *start, *end;
    uint64_t line;
} ocdm__lines;

/* Opens a file at its first line; a byte order mark is passed. OCDM_OK, OCDM_IO, OCDM_BAD_FILE (gzip or zstd data),
 * OCDM_NO_MEMORY. Close it in either case. */
ocdm_status ocdm__lines_open(ocdm__lines *lines, const char *path, ocdm_error *error);

/* The same of a text in memory, which must outlive the lines, and its name for messages. Nothing has to be closed. */
ocdm__lines ocdm__lines_of(const char *name, const void *text, size_t size);

/* Advances to the next line; false at the end. An end of line at the end of the file starts no further line. */
bool ocdm__lines_next(ocdm__lines *lines);

/* Goes back to a place where the lines were before. */
void ocdm__lines_go(ocdm__lines *lines, ocdm__line_place place);

/* Releases everything. One that is not open is fine. */
void ocdm__lines_close(ocdm__lines *lines);

/* Drops the blanks around what is from *start to *end: spaces, tabs and carriage returns. */
void ocdm__trim(const char **start, const char **end);

/* Where a byte of the current line is. */
ocdm__place ocdm__lines_place(const ocdm__lines *lines, const char *at);

/* OCDM_BAD_RECORD about a byte of the current line, with file:line:column; hint, format and arguments follow. */
#define OCDM__FAIL_LINE(lines, at, error, ...)                                                                                 \
    ocdm__fail_at((lines)->file.name, ocdm__lines_place(lines, at), OCDM_BAD_RECORD, error, __VA_ARGS__)

/* Where the byte at an offset is: for messages, since all lines before it are counted. */
ocdm__place ocdm__place_of(const ocdm__mapped_file *file, size_t offset);

#endif
