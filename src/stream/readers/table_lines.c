/* Lines are found by memchr. The mapped file is informed of the position from time to time, so that it can release pages. */
#include "stream/readers/table_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

/* Bytes between two calls of ocdm__mapped_file_passed, which is a system call. */
#define PASSED_STEP ((size_t)8 * 1024 * 1024)

ocdm_status ocdm__table_lines_open(ocdm__table_lines *lines, const char *path, ocdm_error *error)
{
    size_t length = strlen(path) + 1;
    *lines = (ocdm__table_lines){.path = ocdm__allocate(length, 1)};
    if (lines->path == NULL)
        return ocdm__fail_memory(error, "a path");
    memcpy(lines->path, path, length);
    ocdm_status status = ocdm__map_file(&lines->file, lines->path, error);
    OCDM_THEN(status, ocdm__refuse_packed(&lines->file, error));
    if (status != OCDM_OK) {
        ocdm__table_lines_close(lines);
        return status;
    }
    bool mark = lines->file.size >= 3 && memcmp(lines->file.bytes, "\xEF\xBB\xBF", 3) == 0;
    ocdm__table_lines_go(lines, (ocdm__line_place){.at = mark ? 3 : 0, .line = 1});
    return OCDM_OK;
}

bool ocdm__table_lines_next(ocdm__table_lines *lines)
{
    size_t left = lines->file.size - lines->place.at;
    if (left == 0)
        return false;
    if (lines->place.at - lines->passed >= PASSED_STEP) {
        ocdm__mapped_file_passed(&lines->file, lines->place.at);
        lines->passed = lines->place.at;
    }
    lines->start = (const char *)lines->file.bytes + lines->place.at;
    const char *newline = memchr(lines->start, '\n', left);
    lines->end = newline != NULL ? newline : lines->start + left;
    lines->line = lines->place.line++;
    lines->place.at += (size_t)(lines->end - lines->start) + (newline != NULL);
    return true;
}

void ocdm__table_lines_go(ocdm__table_lines *lines, ocdm__line_place place)
{
    lines->place = place;
    lines->passed = place.at;
    lines->start = lines->end = (const char *)lines->file.bytes + place.at;
    lines->line = place.line;
}

void ocdm__table_lines_close(ocdm__table_lines *lines)
{
    ocdm__unmap_file(&lines->file);
    ocdm__release(lines->path);
    *lines = (ocdm__table_lines){.path = NULL};
}

ocdm_status ocdm__table_fail(const ocdm__table_lines *lines, const char *at, ocdm_error *error, const char *hint,
                             const char *format, ...)
{
    /* The first line's columns count a byte order mark, as those of an editor that shows bytes do. */
    const char *start = lines->line == 1 ? (const char *)lines->file.bytes : lines->start;
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_RECORD, hint, "%s:%" PRIu64 ":%zu: %s", lines->path, lines->line,
                      (size_t)(at - start) + 1, reason);
}
