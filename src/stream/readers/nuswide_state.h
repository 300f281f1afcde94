/* What the parts of the NUS-WIDE reader share: lines of a file, and the images on their way into the set. */
#ifndef OCDM_STREAM_READERS_NUSWIDE_STATE_H
#define OCDM_STREAM_READERS_NUSWIDE_STATE_H

#include <stdint.h>
#include <string.h>

#include "base/mapped_file.h"
#include "stream/readers/nuswide.h"

#define OCDM__NUSWIDE_PATH 1024   /* the most bytes of an image's path */
#define OCDM__LEFT_OUT UINT32_MAX /* the path of an image that is left out */

/* A file's lines, one after another. */
struct ocdm__lines {
    const char *name;
    const unsigned char *at, *end;
    uint64_t line; /* of the one last read, from 1 */
};

static inline bool ocdm__is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Space at the end, empty lines among it, and a byte order mark are no lines. */
static inline struct ocdm__lines ocdm__lines_of(const ocdm__mapped_file *file)
{
    struct ocdm__lines lines = {.name = file->name, .at = file->bytes, .end = file->bytes + file->size};
    if (file->size >= 3 && memcmp(lines.at, "\xEF\xBB\xBF", 3) == 0)
        lines.at += 3;
    while (lines.end > lines.at && ocdm__is_blank(lines.end[-1]))
        lines.end--;
    return lines;
}

/* The next line without the blanks at its end; false when there is none. */
static inline bool ocdm__lines_next(struct ocdm__lines *lines, const char **text, size_t *length)
{
    if (lines->at >= lines->end)
        return false;
    const unsigned char *start = lines->at, *end = memchr(start, '\n', (size_t)(lines->end - start));
    lines->at = end != NULL ? end + 1 : lines->end;
    end = end != NULL ? end : lines->end;
    while (end > start && ocdm__is_blank(end[-1]))
        end--;
    *text = (const char *)start;
    *length = (size_t)(end - start);
    lines->line++;
    return true;
}

struct ocdm__nuswide_image {
    uint32_t path; /* in the set's paths, or OCDM__LEFT_OUT */
    uint32_t row;  /* in the list of its part */
    uint8_t part;  /* enum ocdm__part */
};

struct ocdm__nuswide {
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    struct ocdm__nuswide_image
        *images; /* by line of the list; of the split variant the test list's after the training list's */
    size_t image_count, image_room;
    uint32_t first_path;   /* how many paths the set had before */
    uint32_t path_count;   /* of these images; they are numbered from first_path on */
    uint32_t *image_of;    /* by path, from first_path on */
    size_t part_counts[2]; /* images of the training and the test list */
    char path[OCDM__NUSWIDE_PATH + OCDM__LABEL_PADDING];
};

/* Reads the lists: `images`, and the set's paths. */
ocdm_status ocdm__nuswide_read_lists(struct ocdm__nuswide *state, const ocdm__nuswide_files *files, ocdm_error *error);

/* Where the photo's id is in a path: digits between the last "_" and ".jpg". False when there is none. */
bool ocdm__nuswide_photo_id(const char *path, size_t length, size_t *at, size_t *id_length);

/* Something is wrong with the line last read: OCDM_BAD_FILE with file, line and message; or, with skip_bad, OCDM_OK after
 * counting it under `reason`. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ocdm_status
ocdm__nuswide_bad_line(struct ocdm__nuswide *state, const struct ocdm__lines *lines, const char *reason, ocdm_error *error,
                       const char *format, ...);

#endif
