/*
 * COCO's instances_*.json: which categories were annotated in which image.
 *
 * What is taken: of "images" id and, where there is one, file_name; of "categories" id and name; of "annotations" image_id and
 * category_id. These three members may come in any order; everything else is checked to be JSON and passed over. An image is a
 * sample with the decimal text of its id as id; its labels are the names of the categories that were annotated in it, crowds
 * (iscrowd 1) included, as a crowd of a category shows the category. Images without annotations are samples without labels.
 *
 * Left out: boxes, outlines, areas, supercategories, captions, panoptic files.
 */
#ifndef OCDM_STREAM_READERS_COCO_H
#define OCDM_STREAM_READERS_COCO_H

#include <stddef.h>

#include "ocdm/ocdm.h"
#include "stream/labelled_set.h"

/* The reasons that a reading may count. */
#define OCDM__COCO_DUPLICATE_IMAGES "duplicate images"
#define OCDM__COCO_UNKNOWN_CATEGORIES "annotations of unknown categories"
#define OCDM__COCO_UNKNOWN_IMAGES "annotations of unknown images" /* or of images of this file that were left out */

/*
 * Reads one file or several, such as those of training and validation. Categories are one when their names are; their ids need
 * to be unique in a file only. Image ids must be unique in all files, and annotations stay within their file. Samples come in
 * the order of "images", file after file, with no part and no task.
 *
 * set      empty; on error it is empty again
 * reading  with skip_bad, what the three reasons above name is left out and counted; everything else ends the reading
 *
 * OCDM_OK, OCDM_BAD_FILE (no JSON, nested too deeply, or not COCO's), OCDM_BAD_RECORD (an image, annotation or category is
 * wrong), both with file:line:column, columns counted in bytes; OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT, OCDM_STOPPED,
 * OCDM_TOO_MANY_LABELS. O(bytes); memory for 24 bytes an annotation and the set, not for the files.
 */
ocdm_status ocdm__coco_read(ocdm__labelled_set *set, const char *const *paths, size_t path_count, ocdm__reading *reading,
                            ocdm_error *error);

/* The same, all samples of file i in the part parts[i]. */
ocdm_status ocdm__coco_read_parts(ocdm__labelled_set *set, const char *const *paths, const enum ocdm__part *parts,
                                  size_t path_count, ocdm__reading *reading, ocdm_error *error);

#endif
