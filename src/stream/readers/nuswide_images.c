/* The image lists of NUS-WIDE: names as paths, and which part each image belongs to. */
#include "stream/readers/nuswide_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/relative_path.h"
#include "base/shown_label.h"
#include "base/utf8.h"

#define LINES_BETWEEN_LOOKS 65536 /* at whether to stop */

ocdm_status ocdm__nuswide_bad_line(struct ocdm__nuswide *state, const struct ocdm__lines *lines, const char *reason,
                                   ocdm_error *error, const char *format, ...)
{
    char text[320], where[160];
    if (state->reading->skip_bad) {
        snprintf(where, sizeof where, "%s:%llu", lines->name, (unsigned long long)lines->line);
        ocdm__reading_skip(state->reading, reason, where);
        return OCDM_OK;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ocdm__fail(error, OCDM_BAD_FILE, "`--skip-bad` leaves such images out", "%s:%llu: %s", lines->name,
                      (unsigned long long)lines->line, text);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool ocdm__nuswide_photo_id(const char *path, size_t length, size_t *at, size_t *id_length)
{
    if (length < 5 || path[length - 4] != '.' || (path[length - 3] | 32) != 'j' || (path[length - 2] | 32) != 'p' ||
        (path[length - 1] | 32) != 'g')
        return false;
    size_t end = length - 4, start = end;
    while (start > 0 && is_digit(path[start - 1]))
        start--;
    *at = start;
    *id_length = end - start;
    return start < end && start > 0 && path[start - 1] == '_';
}

static bool is_clean(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    for (size_t size; at < end; at += size) {
        size = ocdm__utf8_sequence(at, end);
        if (size == 0 || *at < 0x20 || *at == 0x7F)
            return false;
    }
    return true;
}

/* What is wrong with the path, or NULL. */
static const char *path_fault(const char *path, size_t length)
{
    size_t at, id_length;
    if (!is_clean(path, length))
        return "is not UTF-8 or has control characters";
    if (!ocdm__is_relative_path(path, length) || (length >= 2 && path[1] == ':'))
        return "leads out of the folder of the images";
    if (!ocdm__nuswide_photo_id(path, length, &at, &id_length))
        return "has no photo id: digits between the last \"_\" and \".jpg\"";
    return NULL;
}

/* The number of a line's path in the set; OCDM__LEFT_OUT when it is bad and left out. */
static ocdm_status number_path(struct ocdm__nuswide *state, const struct ocdm__lines *lines, const char *text, size_t length,
                               uint32_t *number, ocdm_error *error)
{
    static const char reason[] = "images with a bad name";
    *number = OCDM__LEFT_OUT;
    if (length == 0)
        return ocdm__nuswide_bad_line(state, lines, reason, error, "an empty line, where the name of an image should be");
    if (length > OCDM__NUSWIDE_PATH)
        return ocdm__nuswide_bad_line(state, lines, reason, error, "the name of an image has %zu bytes, the most is %d", length,
                                      OCDM__NUSWIDE_PATH);
    for (size_t i = 0; i < length; i++)
        state->path[i] = text[i] == '\\' ? '/' : text[i];
    const char *fault = path_fault(state->path, length);
    if (fault != NULL)
        return ocdm__nuswide_bad_line(state, lines, reason, error, "\"%s\" %s", ocdm__show_label(text, length).text, fault);
    return ocdm__label_table_add(&state->set->paths, state->path, length, number, error);
}

static ocdm_status add_image(struct ocdm__nuswide *state, struct ocdm__nuswide_image image, ocdm_error *error)
{
    if (state->image_count == UINT32_MAX - 1)
        return ocdm__fail(error, OCDM_LIMIT, "", "more than %u images", UINT32_MAX - 1);
    bool failed = false;
    if (state->image_count == state->image_room) {
        size_t room = state->image_room > 0 ? 2 * state->image_room : 4096;
        state->images = ocdm__grown(state->images, room, sizeof *state->images, &failed);
        state->image_of = ocdm__grown(state->image_of, room, sizeof *state->image_of, &failed);
        if (failed)
            return ocdm__fail_memory(error, "the images of a list");
        state->image_room = room;
    }
    if (image.path != OCDM__LEFT_OUT)
        state->image_of[state->path_count++] = (uint32_t)state->image_count;
    state->images[state->image_count++] = image;
    return OCDM_OK;
}

static ocdm_status fail_duplicate(struct ocdm__nuswide *state, const struct ocdm__lines *lines, const char *text, size_t length,
                                  ocdm_error *error)
{
    return ocdm__nuswide_bad_line(state, lines, "images listed already", error, "image \"%s\" is listed already",
                                  ocdm__show_label(text, length).text);
}

/* A line that is an image of its own. Paths are numbered in the order of the images, so a number that is not new tells that the
 * image is not. */
static ocdm_status take_line(struct ocdm__nuswide *state, const struct ocdm__lines *lines, enum ocdm__part part,
                             const char *text, size_t length, ocdm_error *error)
{
    uint32_t next = state->set->paths.count;
    struct ocdm__nuswide_image image = {.part = (uint8_t)part, .row = (uint32_t)(lines->line - 1)};
    ocdm_status status = number_path(state, lines, text, length, &image.path, error);
    if (status == OCDM_OK && image.path < next) {
        image.path = OCDM__LEFT_OUT;
        status = fail_duplicate(state, lines, text, length, error);
    }
    return status == OCDM_OK ? add_image(state, image, error) : status;
}

/* A line of the training or test list about an image of Imagelist.txt. */
static ocdm_status join_line(struct ocdm__nuswide *state, const struct ocdm__lines *lines, enum ocdm__part part,
                             const char *text, size_t length, ocdm_error *error)
{
    uint32_t number;
    ocdm_status status = number_path(state, lines, text, length, &number, error);
    if (status != OCDM_OK || number == OCDM__LEFT_OUT)
        return status;
    if (number < state->first_path || number - state->first_path >= state->path_count)
        return ocdm__nuswide_bad_line(state, lines, "images that Imagelist.txt lacks", error,
                                      "image \"%s\" is not in Imagelist.txt", ocdm__show_label(text, length).text);
    struct ocdm__nuswide_image *image = &state->images[state->image_of[number - state->first_path]];
    if (image->part != OCDM__NO_PART)
        return fail_duplicate(state, lines, text, length, error);
    image->part = (uint8_t)part;
    image->row = (uint32_t)(lines->line - 1);
    return OCDM_OK;
}

typedef ocdm_status (*line_reader)(struct ocdm__nuswide *, const struct ocdm__lines *, enum ocdm__part, const char *, size_t,
                                   ocdm_error *);

/* Calls `read_line` for each line of a list. */
static ocdm_status read_list(struct ocdm__nuswide *state, const char *path, enum ocdm__part part, line_reader read_line,
                             ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    ocdm_status status = ocdm__map_file(&file, path, error);
    if (status == OCDM_OK)
        status = ocdm__found_files_add(state->reading->files, path, error);
    struct ocdm__lines lines = ocdm__lines_of(&file);
    const char *text;
    size_t length;
    while (status == OCDM_OK && ocdm__lines_next(&lines, &text, &length)) {
        if (lines.line % LINES_BETWEEN_LOOKS == 1)
            status = ocdm__reading_goes_on(state->reading, "reading an image list", (size_t)(lines.at - file.bytes), file.size,
                                           error);
        if (status == OCDM_OK)
            status = read_line(state, &lines, part, text, length, error);
    }
    if (status == OCDM_OK && lines.line == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s:1: no images", path);
    if (part != OCDM__NO_PART)
        state->part_counts[part] = lines.line;
    ocdm__unmap_file(&file);
    return status;
}

ocdm_status ocdm__nuswide_read_lists(struct ocdm__nuswide *state, const ocdm__nuswide_files *files, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    state->first_path = state->set->paths.count;
    if (files->list != NULL)
        status = read_list(state, files->list, OCDM__NO_PART, take_line, error);
    for (int part = OCDM__TRAIN; status == OCDM_OK && part <= OCDM__TEST; part++)
        if (files->part_lists[part] != NULL)
            status = read_list(state, files->part_lists[part], (enum ocdm__part)part,
                               files->list != NULL ? join_line : take_line, error);
    return status;
}
