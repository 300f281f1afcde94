/* Reading COCO files, between its parts: coco.c goes from file to file, coco_parse.c over one file's text, coco_join.c gives
 * the images their labels, coco_report.c says what is wrong and where. */
#ifndef OCDM_STREAM_READERS_COCO_STATE_H
#define OCDM_STREAM_READERS_COCO_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/mapped_file.h"
#include "stream/labelled_set.h"
#include "stream/readers/coco_ids.h"

/* The longest name of a category or file, in bytes as written: what a path may have. */
#define OCDM__COCO_LONGEST_NAME 4096

/* Text stays where it is, in the file: at this offset. */
struct ocdm__coco_name {
    uint64_t at;
    uint32_t length;
    bool given, escaped;
};

struct ocdm__coco_image {
    uint64_t id;
    struct ocdm__coco_name path;
};

/* Ids only, as images and categories may be listed after the annotations. */
struct ocdm__coco_annotation {
    uint64_t image, category;
    uint64_t at; /* offset of the object, for messages */
};

struct ocdm__coco {
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    ocdm__id_map images_seen; /* of all files so far, by id: the how manyth image */
    uint64_t images_before;   /* images of the files before this one */

    /* The file at hand. */
    enum ocdm__part part; /* of all its samples */
    ocdm__mapped_file file;
    ocdm__json json;
    char what[160];                  /* "reading FILE" */
    const unsigned char *next_check; /* from this byte on, it is time to look up */
    ocdm_status stopped;             /* why the scan ended, when it was not the text */
    ocdm__id_map categories;         /* by id: the number of the class */
    struct ocdm__coco_image *images;
    size_t image_count, image_room;
    struct ocdm__coco_annotation *annotations;
    size_t annotation_count, annotation_room;
    char text[OCDM__COCO_LONGEST_NAME + OCDM__LABEL_PADDING]; /* the name at hand */
};

/* Reads the mapped file's text into images, annotations and categories. */
ocdm_status ocdm__coco_parse(struct ocdm__coco *coco);

/* Adds the file's images to the set. */
ocdm_status ocdm__coco_join(struct ocdm__coco *coco);

/* Copies a name to coco->text, its escapes undone; returns the length. */
size_t ocdm__coco_copy_name(struct ocdm__coco *coco, const struct ocdm__coco_name *name);

/* Tells how far the work is and lets go of the bytes before `passed`. OCDM_OK or OCDM_STOPPED. */
ocdm_status ocdm__coco_goes_on(struct ocdm__coco *coco, size_t passed, size_t done);

/* Fills the error: "file:line:column: " and the message. Returns the status. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ocdm_status
ocdm__coco_fail(struct ocdm__coco *coco, ocdm_status status, size_t offset, const char *hint, const char *format, ...);

/* Counts what was left out at `offset`. */
void ocdm__coco_skip(struct ocdm__coco *coco, const char *reason, size_t offset);

#endif
