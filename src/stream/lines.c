/* Lines are found by memchr. The mapped file is informed of the position from time to time, so that it can release pages. */
#include "stream/lines.h"

/* Bytes between two calls of ocdm__mapped_file_passed, which is a system call. */
#define PASSED_STEP ((size_t)8 * 1024 * 1024)

ocdm__lines ocdm__lines_of(const char *name, const void *text, size_t size)
{
    ocdm__lines lines = {.file = {.bytes = text, .size = size, .name = name}};
    bool mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    ocdm__lines_go(&lines, (ocdm__line_place){.at = mark ? 3 : 0, .line = 1});
    return lines;
}

ocdm_status ocdm__lines_open(ocdm__lines *lines, const char *path, ocdm_error *error)
{
    size_t length = strlen(path) + 1;
    ocdm__mapped_file file = {.size = 0};
    char *copy = ocdm__allocate(length, 1);
    *lines = (ocdm__lines){.path = copy};
    if (copy == NULL)
        return ocdm__fail_memory(error, "a path");
    memcpy(copy, path, length);
    OCDM_TRY(ocdm__map_file(&file, copy, error));
    *lines = ocdm__lines_of(copy, file.bytes, file.size);
    lines->file = file;
    lines->path = copy;
    return ocdm__refuse_packed(&lines->file, error);
}

bool ocdm__lines_next(ocdm__lines *lines)
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

void ocdm__lines_go(ocdm__lines *lines, ocdm__line_place place)
{
    lines->place = place;
    lines->passed = place.at;
    lines->start = lines->end = (const char *)lines->file.bytes + place.at;
    lines->line = place.line;
}

void ocdm__lines_close(ocdm__lines *lines)
{
    ocdm__unmap_file(&lines->file);
    ocdm__release(lines->path);
    *lines = (ocdm__lines){.path = NULL};
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

void ocdm__trim(const char **start, const char **end)
{
    while (*start < *end && is_blank(**start))
        ++*start;
    while (*end > *start && is_blank((*end)[-1]))
        --*end;
}

ocdm__place ocdm__lines_place(const ocdm__lines *lines, const char *at)
{
    /* The first line's columns count a byte order mark, as those of an editor that shows bytes do. */
    const char *start = lines->line == 1 ? (const char *)lines->file.bytes : lines->start;
    return (ocdm__place){lines->line, (uint64_t)(at - start) + 1};
}

ocdm__place ocdm__place_of(ocdm__mapped_file *file, ocdm__line_count *count, size_t offset)
{
    if (offset < count->at)
        *count = (ocdm__line_count){0};
    while (count->at < offset) {
        size_t from = count->at, to = offset - from > PASSED_STEP ? from + PASSED_STEP : offset;
        for (const unsigned char *at = file->bytes + from, *end = file->bytes + to;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL;) {
            at++;
            count->lines++;
            count->line_start = (size_t)(at - file->bytes);
        }
        count->at = to;
        if (to - from == PASSED_STEP)
            ocdm__mapped_file_passed(file, to);
    }
    return (ocdm__place){count->lines + 1, offset - count->line_start + 1};
}
