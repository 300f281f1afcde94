/* The lines of a text table in a mapped file, and error positions in them. For readers that read a file several times and keep
 * nothing of it in memory. */
#ifndef OCDM_STREAM_READERS_TABLE_LINES_H
#define OCDM_STREAM_READERS_TABLE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files.h"
#include "ocdm/ocdm.h"

/* A position from which the lines can be read again. */
typedef struct ocdm__line_place {
    size_t at;     /* the byte at which the next line starts */
    uint64_t line; /* its number, from 1 */
} ocdm__line_place;

/* All bytes zero means not open. */
typedef struct ocdm__table_lines {
    ocdm__mapped_file file;
    char *path;             /* the file's name, a copy */
    ocdm__line_place place; /* of the line after the current one */
    size_t passed;          /* how far the mapped file knows it was passed */

    /* The current line, without its end of line, a carriage return included. */
    const char *start, *end;
    uint64_t line;
} ocdm__table_lines;

/* Opens a file at its first line; a byte order mark is passed. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__table_lines_open(ocdm__table_lines *lines, const char *path, ocdm_error *error);

/* Advances to the next line; false at the end. An end of line at the end of the file starts no further line. */
bool ocdm__table_lines_next(ocdm__table_lines *lines);

/* Goes back to a place where the lines were before. */
void ocdm__table_lines_go(ocdm__table_lines *lines, ocdm__line_place place);

/* Releases everything. One that is not open is fine. */
void ocdm__table_lines_close(ocdm__table_lines *lines);

/* OCDM_BAD_RECORD with file:line:column of `at`, in the current line, and the reason, formatted as by printf. Columns are bytes
 * from 1. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ocdm_status
ocdm__table_fail(const ocdm__table_lines *lines, const char *at, ocdm_error *error, const char *hint, const char *format, ...);

#endif
