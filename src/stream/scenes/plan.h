/*
 * What is where in one scene of the built-in world: decided once, then painted (paint.h) or turned into a feature vector
 * (features.h), so that both tell of the same scene. Needs no memory but the plan itself.
 */
#ifndef OCDM_STREAM_SCENES_PLAN_H
#define OCDM_STREAM_SCENES_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "stream/scenes/figures.h"

enum { OCDM__SCENE_BEHIND = 5, OCDM__SCENE_IN_FRONT = 2 }; /* the most strays */
enum { OCDM__SCENE_OBJECTS = OCDM__BUILTIN_CLASSES + OCDM__SCENE_BEHIND + OCDM__SCENE_IN_FRONT };

/* A stray's class number. */
#define OCDM__NO_CLASS UINT32_MAX

/* Lengths are in image widths, x to the right, y down. */
typedef struct ocdm__scene_object {
    const ocdm__scene_figure *figure;
    uint32_t class_number;
    double x, y;    /* the centre */
    double half;    /* half the figure's width */
    double stretch; /* wider by this, lower by this */
    double cosine;  /* how it is turned, and whether it is mirrored: -1 or 1 */
    double sine;
    double mirror;
    double beat;    /* how fine its patterns are */
    double visible; /* the share of it that is in the image and not behind later objects, estimated on a grid; 0..1 */
    uint8_t ink[OCDM__SCENE_INKS][3];
} ocdm__scene_object;

enum ocdm__scene_texture {
    OCDM__TEXTURE_NONE,
    OCDM__TEXTURE_STRIPES,
    OCDM__TEXTURE_TILES,
    OCDM__TEXTURE_MOTTLE,
    OCDM__SCENE_TEXTURES
};

/* What is behind everything: two colours, one passing into the other along a slope, with a texture between them. */
typedef struct ocdm__scene_backdrop {
    enum ocdm__scene_texture texture;
    uint8_t colour[2][3];
    double slope_x, slope_y;
    double scale;    /* how many times the texture repeats across the image */
    double strength; /* of the texture, 0..1 */
    double cosine, sine;
    uint64_t noise;
} ocdm__scene_backdrop;

/* Light falls on everything: a gain a channel, brighter towards one side; then grain of so many grey levels. */
typedef struct ocdm__scene_light {
    double gain[3];
    double slope_x, slope_y;
    uint32_t grain;
    uint64_t noise;
} ocdm__scene_light;

/* Objects are in the order of painting: strays behind, the classes' objects, bars in front. */
typedef struct ocdm__scene_plan {
    ocdm__scene_backdrop backdrop;
    ocdm__scene_light light;
    size_t object_count;
    ocdm__scene_object object[OCDM__SCENE_OBJECTS];
} ocdm__scene_plan;

/* Plans a scene with one object of each class in `label` (distinct, any order, none is fine). The plan follows from
 * `random`, a stream of its own for the sample, and the labels. */
void ocdm__scene_plan_make(ocdm__random random, const uint32_t *label, size_t label_count, ocdm__scene_plan *plan);

#endif
