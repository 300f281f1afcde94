/* The built-in world as a stream file's tables and features or images. */
#ifndef OCDM_STREAM_SCENES_STREAM_H
#define OCDM_STREAM_SCENES_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"
#include "stream/scenes/scenes.h"

/* Start with all bytes zero. */
typedef struct ocdm__scene_stream {
    ocdm__stream_table table;
    ocdm__payload_source source; /* for ocdm__stream_write */
    ocdm__scenes *scenes;
    uint32_t size; /* of an image, pixels a side; 0 for features */
} ocdm__scene_stream;

/* The world of a seed: images of `size` pixels a side, or features when it is 0. Classes are in the order of their names.
 * OCDM_OK, OCDM_NO_MEMORY. To be closed in either case; must stay where it is. */
ocdm_status ocdm__scene_stream_open(ocdm__scene_stream *stream, uint64_t seed, uint32_t size, ocdm_error *error);

/* Gives everything back. */
void ocdm__scene_stream_close(ocdm__scene_stream *stream);

#endif
