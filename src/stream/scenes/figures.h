/*
 * What the 44 classes of the built-in world look like, as tables: a figure is a few parts, painted one over the other, each a
 * plain form with an ink and a pattern. Lengths are in hundredths of the figure's half width, x to the right, y down, so that
 * a figure fills the square from -100 to 100.
 */
#ifndef OCDM_STREAM_SCENES_FIGURES_H
#define OCDM_STREAM_SCENES_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "stream/scenes/builtin_recipe.h"

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

/* MAIN and SECOND are drawn anew for each object, DARK and LIGHT follow MAIN, the others are materials. */
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

/* A pattern mixes the ink with the one that stands against it: SECOND for MAIN, else a darker shade. */
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
    uint8_t hue[OCDM__SCENE_HUES]; /* what MAIN tends to be, as a place in the palette */
} ocdm__scene_figure;

/* One figure a class. */
extern const ocdm__scene_figure ocdm__scene_figures[OCDM__BUILTIN_CLASSES];

enum { OCDM__SCENE_KINS = 11 };

/* Figures that are no class; the last is the bar that lies across others. */
enum { OCDM__SCENE_STRAYS = 8, OCDM__STRAY_BAR = OCDM__SCENE_STRAYS - 1 };
extern const ocdm__scene_figure ocdm__scene_strays[OCDM__SCENE_STRAYS];

/* Colours, red, green, blue. */
enum { OCDM__SCENE_COLOURS = 16 };
extern const uint8_t ocdm__scene_palette[OCDM__SCENE_COLOURS][3];

/* The colours of the inks that are materials, OCDM__WOOD and after; the others' are not set. */
extern const uint8_t ocdm__scene_materials[OCDM__SCENE_INKS][3];

#endif
