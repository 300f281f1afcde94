/*
 * Small square pictures of samples of a stream file, found by their ids: for showing, not for training. The stream's images, or
 * the files that it names; the shorter side is made to fit, the middle is kept.
 */
#ifndef OCDM_STREAM_IMAGES_PICTURES_H
#define OCDM_STREAM_IMAGES_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

typedef struct ocdm__stream_pictures ocdm__stream_pictures;

/* Opens a stream file. OCDM_OK; OCDM_BAD_ARGUMENT when its samples have no images; as ocdm__stream_open. */
ocdm_status ocdm__stream_pictures_open(ocdm__stream_pictures **pictures, const char *path, ocdm_error *error);

/* The picture of the sample with this id, side * side * 3 bytes, rows from the top. false: no such sample, or its image cannot
 * be read. O(samples). */
bool ocdm__stream_picture(ocdm__stream_pictures *pictures, const char *id, uint32_t side, uint8_t *rgb);

/* Gives everything back. NULL is fine. */
void ocdm__stream_pictures_close(ocdm__stream_pictures *pictures);

#endif
