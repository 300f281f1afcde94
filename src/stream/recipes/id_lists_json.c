/* JSON files with places: the scanner over a mapped file, lines counted as far as they are asked for. */
#include "stream/recipes/id_lists_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/label_table.h"

ocdm_status ocdm__json_file_open(ocdm__json_file *file, const char *path, ocdm_error *error)
{
    *file = (ocdm__json_file){.line = 1};
    ocdm_status status = ocdm__map_file(&file->file, path, error);
    if (status == OCDM_OK)
        ocdm__json_begin(&file->json, file->file.bytes, file->file.size);
    return status;
}

ocdm__place ocdm__json_file_place(ocdm__json_file *file, size_t offset)
{
    if (offset < file->counted)
        file->counted = 0, file->line_start = 0, file->line = 1;
    for (; file->counted < offset; file->counted++)
        if (file->file.bytes[file->counted] == '\n') {
            file->line++;
            file->line_start = file->counted + 1;
        }
    return (ocdm__place){.line = file->line, .column = offset - file->line_start + 1};
}

ocdm__place ocdm__json_file_here(ocdm__json_file *file)
{
    size_t offset = (size_t)((const unsigned char *)file->json.text - file->json.start);
    return ocdm__json_file_place(file, offset - (file->event == OCDM__JSON_STRING || file->event == OCDM__JSON_KEY));
}

ocdm_status ocdm__json_file_fail(const ocdm__json_file *file, ocdm__place place, ocdm_error *error, const char *hint,
                                 const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_FILE, hint, "%s:%llu:%llu: %s", file->file.name, (unsigned long long)place.line,
                      (unsigned long long)place.column, text);
}

ocdm_status ocdm__json_file_next(ocdm__json_file *file, ocdm_error *error)
{
    file->event = ocdm__json_next(&file->json);
    if (file->event != OCDM__JSON_ERROR)
        return OCDM_OK;
    return ocdm__json_file_fail(file, ocdm__json_file_place(file, file->json.error_at), error, "", "%s", file->json.reason);
}

ocdm_status ocdm__json_file_expect(ocdm__json_file *file, enum ocdm__json_event event, const char *what, ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_next(file, error);
    if (status == OCDM_OK && file->event != event)
        status = ocdm__json_file_fail(file, ocdm__json_file_here(file), error, "", "expected %s", what);
    return status;
}

static bool make_room(ocdm__json_file *file, size_t length)
{
    if (file->text != NULL && length <= file->room)
        return true;
    size_t room = length > 112 ? 2 * length : 112;
    char *text = length <= SIZE_MAX / 4 ? ocdm__resize(file->text, room + OCDM__LABEL_PADDING, 1) : NULL;
    if (text == NULL)
        return false;
    memset(text + file->room, 0, room + OCDM__LABEL_PADDING - file->room);
    file->text = text;
    file->room = room;
    return true;
}

ocdm_status ocdm__json_file_copy(ocdm__json_file *file, const char *bytes, size_t length, ocdm_error *error)
{
    if (!make_room(file, length))
        return ocdm__fail_memory(error, "a text");
    if (length > 0)
        memcpy(file->text, bytes, length);
    file->length = length;
    return OCDM_OK;
}

ocdm_status ocdm__json_file_text(ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_copy(file, file->json.text, file->json.length, error);
    bool quoted = file->event == OCDM__JSON_STRING || file->event == OCDM__JSON_KEY;
    if (status == OCDM_OK && quoted && file->json.escaped)
        file->length = ocdm__json_unescape(file->json.text, file->json.length, file->text);
    return status;
}

void ocdm__json_file_close(ocdm__json_file *file)
{
    ocdm__release(file->text);
    ocdm__unmap_file(&file->file);
    *file = (ocdm__json_file){.line = 1};
}
