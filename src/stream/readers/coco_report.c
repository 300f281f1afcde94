/* COCO files: where something is, as people and editors count, and how far the reading is. */
#include "stream/readers/coco_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Lines are looked for in pieces of this size, and each let go after, so that a late error in a large file takes little memory.
 */
#define PIECE ((size_t)4 * 1024 * 1024)

struct place {
    size_t line, column; /* from 1; columns are bytes */
};

/* Only made when there is something to say: the files are one line mostly, and nobody else counts lines. */
static struct place place_of(ocdm__mapped_file *file, size_t offset)
{
    size_t line = 1, line_start = 0;
    for (size_t from = 0; from < offset; from += PIECE) {
        size_t to = offset - from > PIECE ? from + PIECE : offset;
        for (const unsigned char *at = file->bytes + from, *end = file->bytes + to;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL;) {
            at++;
            line++;
            line_start = (size_t)(at - file->bytes);
        }
        ocdm__mapped_file_passed(file, to);
    }
    return (struct place){.line = line, .column = offset - line_start + 1};
}

ocdm_status ocdm__coco_fail(struct ocdm__coco *coco, ocdm_status status, size_t offset, const char *hint, const char *format,
                            ...)
{
    char message[sizeof coco->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct place place = place_of(&coco->file, offset);
    return ocdm__fail(coco->error, status, hint, "%s:%zu:%zu: %s", coco->file.name, place.line, place.column, message);
}

void ocdm__coco_skip(struct ocdm__coco *coco, const char *reason, size_t offset)
{
    char where[sizeof coco->reading->skips->first] = "";
    bool counted = false;
    for (size_t i = 0; i < coco->reading->skip_count; i++)
        counted = counted || strcmp(coco->reading->skips[i].reason, reason) == 0;
    if (!counted) {
        struct place place = place_of(&coco->file, offset);
        snprintf(where, sizeof where, "%s:%zu:%zu", coco->file.name, place.line, place.column);
    }
    ocdm__reading_skip(coco->reading, reason, where);
}

ocdm_status ocdm__coco_goes_on(struct ocdm__coco *coco, size_t passed, size_t done)
{
    ocdm__mapped_file_passed(&coco->file, passed);
    return ocdm__reading_goes_on(coco->reading, coco->what, done, coco->file.size, coco->error);
}
