/*
 * A scene of the built-in world. A plan says what is where; it is made once, then painted or turned into a feature vector, so
 * that both describe the same scene. It is built of figures, the looks of the classes. The plan itself is all the memory
 * needed.
 */
#ifndef OCDM_STREAM_SCENES_PLAN_H
#define OCDM_STREAM_SCENES_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "ocdm/ocdm.h"
#include "stream/scenes/builtin.h"

/* ---- figures (figures.c) ---- */

/*
 * What the 44 classes of the built-in world look like, as tables: a figure is a few parts, painted one over the other, each a
 * plain form with an ink and a pattern. Lengths are in hundredths of the figure's half width, x to the right, y down, so that
 * a figure fills the square from -100 to 100.
 */

/* What at[] holds for each form. */
enum ocdm__scene_form {
    OCDM__ELLIPSE, /* centre x, y; radius x, y */
    OCDM__RING,    /* centre x, y; radius x, y; half the stroke's width */
    OCDM__LENS,    /* centre x, y; half width (the smaller), half height: pointed above and below */
    OCDM__BLOCK,   /* centre x, y; half width, half height; radius of the corners */
    OCDM__STROKE,  /* from x, y; to x, y; half the stroke's width */
    OCDM__POLYGON  /* four corners x, y, convex; a corner given twice makes a triangle */
};

/* The part of an ellipse or ring that stays: all, or what is above or below its centre. */
enum ocdm__scene_keep { OCDM__KEEP_ALL, OCDM__KEEP_ABOVE, OCDM__KEEP_BELOW };

/* MAIN and SECOND are drawn for each object, DARK and LIGHT follow MAIN, the others are materials. */
enum ocdm__scene_ink {
    OCDM__MAIN,
    OCDM__SECOND,
    OCDM__DARK,
    OCDM__LIGHT,
    OCDM__WOOD,
    OCDM__GREENERY,
    OCDM__METAL,
    OCDM__CREAMY,
    OCDM__GLOW,
    OCDM__GLASS,
    OCDM__SOOT,
    OCDM__SCENE_INKS
};

/* A pattern mixes the ink with a second one: SECOND for MAIN, otherwise a darker shade. */
enum ocdm__scene_pattern { OCDM__PLAIN, OCDM__STRIPES, OCDM__BANDS, OCDM__SLANTS, OCDM__CHECKS, OCDM__DOTS };

enum ocdm__scene_repeat { OCDM__ONCE, OCDM__ALONG, OCDM__AROUND };

typedef struct ocdm__scene_part {
    uint8_t form;
    uint8_t keep;
    uint8_t ink;
    uint8_t pattern;
    uint8_t repeat;
    uint8_t copies; /* at most 12; 0 and 1 are the same */
    int8_t step[2]; /* ALONG: from a copy to the next; AROUND: the point that they are turned about, a full circle */
    int8_t at[8];
} ocdm__scene_part;

enum { OCDM__SCENE_HUES = 3 };

typedef struct ocdm__scene_figure {
    const ocdm__scene_part *parts;
    uint8_t part_count;
    uint8_t kin;                   /* look-alikes share a number */
    uint8_t any_way_up;            /* turned by any angle; else tilted a little */
    uint8_t hue[OCDM__SCENE_HUES]; /* the usual colour of MAIN, as an index into the palette */
} ocdm__scene_figure;

/* One figure a class. */
extern const ocdm__scene_figure ocdm__scene_figures[OCDM__BUILTIN_CLASSES];

enum { OCDM__SCENE_KINS = 11 };

/* Figures that belong to no class; the last is the bar across other objects. */
enum { OCDM__SCENE_STRAYS = 8, OCDM__STRAY_BAR = OCDM__SCENE_STRAYS - 1 };
extern const ocdm__scene_figure ocdm__scene_strays[OCDM__SCENE_STRAYS];

/* Colours, red, green, blue. */
enum { OCDM__SCENE_COLOURS = 16 };
extern const uint8_t ocdm__scene_palette[OCDM__SCENE_COLOURS][3];

/* The colours of the inks that are materials, OCDM__WOOD and after; the others' are not set. */
extern const uint8_t ocdm__scene_materials[OCDM__SCENE_INKS][3];

/* ---- plans (plan.c) ---- */

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

/* Light and noise of a picture: a gain per channel, brighter towards one side; then grain of this many grey levels. */
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

/* ---- features (features.c) ---- */

/*
 * Feature vectors of the built-in world: what a fixed, pretrained network might make of a scene, without the network. Each
 * object adds its class's direction (look-alikes have directions in common), more of it the larger and the less hidden it is,
 * with variation by its view and colour; backdrop, strays and noise add unrelated components. A fixed random layer with a kink
 * mixes it all. docs/scenes.md has the formulas.
 */

/* Numbers in a feature vector. */
enum { OCDM__SCENE_FEATURES = 128 };

/* The directions and the mixing layer of a seed. */
typedef struct ocdm__scene_space ocdm__scene_space;

/* OCDM_OK or OCDM_NO_MEMORY; `space` is set on success, destroyed by the caller. `base` is the base of the world's random
 * numbers. */
ocdm_status ocdm__scene_space_create(uint64_t base, ocdm__scene_space **space, ocdm_error *error);

/* The vector of a planned scene before centring and the non-linearity: OCDM__SCENE_FEATURES numbers. */
void ocdm__scene_plan_mix(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out);

/* Centres and scales the space by `count` mixed vectors, count > 0: call it once, before the first feature vector. */
void ocdm__scene_space_centre(ocdm__scene_space *space, const float *mixed, size_t count);

/* Frees it. NULL is fine. */
void ocdm__scene_space_destroy(ocdm__scene_space *space);

/* The feature vector of a planned scene. `random` is a stream of its own for the sample, the same as for its mix. */
void ocdm__scene_plan_features(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out);

/* ---- painting (paint.c) ---- */

/* Paints the objects of a scene: figures at the places that the plan gives them. Antialiased by distance to the edge. */

/* Paints one object over an image of size x size bytes for each of red, green and blue, one plane after the other. */
void ocdm__scene_paint(const ocdm__scene_object *object, uint32_t size, uint8_t *rgb);

/* ---- backdrop and light (paint.c) ---- */

/* The first and the last step of a picture. */

/* Fills an image of size x size bytes a plane, red, green, blue: the first thing to do. */
void ocdm__scene_fill(const ocdm__scene_backdrop *backdrop, uint32_t size, uint8_t *rgb);

/* Lights it and adds grain: the last. */
void ocdm__scene_light_up(const ocdm__scene_light *light, uint32_t size, uint8_t *rgb);

#endif
