/* Paints the objects of a scene: figures from figures.h, placed by plan.h. Antialiased by distance to the edge. */
#ifndef OCDM_STREAM_SCENES_PAINT_H
#define OCDM_STREAM_SCENES_PAINT_H

#include "stream/scenes/plan.h"

/* Paints one object over an image of size x size bytes for each of red, green and blue, one plane after the other. */
void ocdm__scene_paint(const ocdm__scene_object *object, uint32_t size, uint8_t *rgb);

#endif
