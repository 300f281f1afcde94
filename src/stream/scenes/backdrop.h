/* What is behind the objects of a scene, and the light that falls on all of it. */
#ifndef OCDM_STREAM_SCENES_BACKDROP_H
#define OCDM_STREAM_SCENES_BACKDROP_H

#include "stream/scenes/plan.h"

/* Fills an image of size x size bytes a plane, red, green, blue: the first thing to do. */
void ocdm__scene_fill(const ocdm__scene_backdrop *backdrop, uint32_t size, uint8_t *rgb);

/* Lights it and adds grain: the last. */
void ocdm__scene_light_up(const ocdm__scene_light *light, uint32_t size, uint8_t *rgb);

#endif
