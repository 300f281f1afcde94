/* Lines are found by memchr. The mapped file is informed of the position from time to time, so that it can release pages. */
#include "stream/lines.h"

#include "base/text.h"

/* The first line starts after a byte order mark. */
static ocdm__line_place start_of(const ocdm__mapped_file *file)
{
    bool mark = file->size >= 3 && memcmp(file->bytes, "\xEF\xBB\xBF", 3) == 0;
    return (ocdm__line_place){.at = mark ? 3 : 0, .line = 1};
}

ocdm__lines ocdm__lines_of(const char *name, const void *text, size_t size)
{
    ocdm__lines lines = {.file = {.bytes = text, .size = size, .name = name}};
    ocdm__lines_go(&lines, start_of(&lines.file));
    return lines;
}

ocdm_status ocdm__lines_open(ocdm__lines *lines, const char *path, ocdm_error *error)
{
    *lines = (ocdm__lines){.path = NULL};
    OCDM_TRY(ocdm__format(&lines->path, error, "%s", path));
    OCDM_TRY(ocdm__map_file(&lines->file, lines->path, error));
    ocdm__lines_go(lines, start_of(&lines->file));
    return ocdm__refuse_packed(&lines->file, error);
}

bool ocdm__lines_next(ocdm__lines *lines)
{
    size_t left = lines->file.size - lines->place.at;
    if (left == 0)
        return false;
    ocdm__mapped_file_passed(&lines->file, lines->place.at);
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

ocdm__place ocdm__place_of(const ocdm__mapped_file *file, size_t offset)
{
    const unsigned char *start = file->bytes, *end = file->bytes + offset, *newline;
    ocdm__place place = {.line = 1};
    for (; (newline = memchr(start, '\n', (size_t)(end - start))) != NULL; start = newline + 1)
        place.line++;
    place.column = (uint64_t)(end - start) + 1;
    return place;
}
