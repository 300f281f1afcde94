/*
 * The built-in world: a made-up label stream with the published statistics of the paper's MSCOCO stream, a test part, and
 * behind every label set a scene in which its classes occur as objects, as a picture or as a feature vector. Deterministic by
 * seed, the same bytes on every machine, so that demo, benches and tests need no download. docs/builtin-stream.md compares the
 * labels with the paper's; docs/scenes.md says what varies in the scenes and how hard they are.
 */
#ifndef OCDM_STREAM_SCENES_SCENES_H
#define OCDM_STREAM_SCENES_SCENES_H

#include "base/random.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

/* ---- labels (builtin.c) ---- */

/* The counts of every class are the same for every seed; the seed decides which classes meet on a sample and in what order a
 * task's samples come. */
enum { OCDM__BUILTIN_CLASSES = 44, OCDM__BUILTIN_TASKS = 4 };

/* Sample i has the id i and carries label[label_start[i]] .. label[label_start[i + 1] - 1], ascending class numbers. The 26,617
 * training samples come first, task after task; then the test samples, class by class, each with its class alone. */
typedef struct ocdm__builtin {
    size_t train_count, sample_count; /* of the training part; of both */
    size_t class_count, task_count;
    uint32_t *task;      /* of each sample */
    size_t *label_start; /* sample_count + 1 of them */
    uint32_t *label;
    ocdm_sample *samples; /* the same for a memory; they point into the labels */
} ocdm__builtin;

/* Makes the stream of a seed, with `tests` test samples of each class. OCDM_OK or OCDM_NO_MEMORY; `builtin` is set on success,
 * destroyed by the caller; NULL is fine there. */
ocdm_status ocdm__builtin_create(uint64_t seed, size_t tests, ocdm__builtin **builtin, ocdm_error *error);
void ocdm__builtin_destroy(ocdm__builtin *builtin);

/* The name of a class, a word in lower-case ASCII, and its task. `class_number` is below class_count. */
const char *ocdm__builtin_class_name(uint32_t class_number);
uint32_t ocdm__builtin_class_task(uint32_t class_number);

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
    uint8_t form, keep, ink, pattern, repeat; /* of the enums above */
    uint8_t copies;                           /* at most 12; 0 and 1 are the same */
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

/* A plan says what is where in a scene; it is made once, then painted or turned into a feature vector, so that both describe
 * the same scene. The plan itself is all the memory needed. */

enum { OCDM__SCENE_BEHIND = 5, OCDM__SCENE_IN_FRONT = 2 }; /* the most strays */
enum { OCDM__SCENE_OBJECTS = OCDM__BUILTIN_CLASSES + OCDM__SCENE_BEHIND + OCDM__SCENE_IN_FRONT };

/* A stray's class number. */
#define OCDM__NO_CLASS UINT32_MAX

/* Lengths are in image widths, x to the right, y down. */
typedef struct ocdm__scene_object {
    const ocdm__scene_figure *figure;
    uint32_t class_number;
    double x, y;         /* the centre */
    double half;         /* half the figure's width */
    double stretch;      /* wider by this, lower by this */
    double cosine, sine; /* how it is turned */
    double mirror;       /* -1 or 1 */
    double beat;         /* how fine its patterns are */
    double visible;      /* the share of it that is in the image and not behind later objects, estimated on a grid; 0..1 */
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

/* Paints a planned scene: 3 x size x size bytes, a plane each of red, green, blue, rows from the top. Needs no memory of its
 * own; may be called from several threads (paint.c). */
void ocdm__scene_draw(const ocdm__scene_plan *plan, uint32_t size, uint8_t *rgb_chw);

/* ---- the world (scenes.c) ---- */

/* The sizes that a picture may have, in pixels a side, and the usual one; test samples of each class; numbers in a feature
 * vector. */
enum { OCDM__SCENE_LEAST_SIZE = 16, OCDM__SCENE_USUAL_SIZE = 64, OCDM__SCENE_MOST_SIZE = 256 };
enum { OCDM__SCENE_TESTS_A_CLASS = 50, OCDM__SCENE_FEATURES = 128 };

typedef struct ocdm__scenes {
    ocdm__builtin *labels;
    uint64_t base;                   /* of all random numbers behind the pictures and features */
    struct ocdm__scene_space *space; /* what features are made with */
    uint32_t size;                   /* of the images of a stream file; 0: features */
} ocdm__scenes;

/* Makes the world of a seed. OCDM_OK or OCDM_NO_MEMORY; `scenes` is set on success, destroyed by the caller; NULL is fine
 * there.
 */
ocdm_status ocdm__scenes_create(uint64_t seed, ocdm__scenes **scenes, ocdm_error *error);
void ocdm__scenes_destroy(ocdm__scenes *scenes);

/* The plan of a sample's scene, which depends only on seed, sample and label set; its picture, as by ocdm__scene_draw; its
 * feature vector, OCDM__SCENE_FEATURES numbers. */
void ocdm__scene_plan_sample(const ocdm__scenes *scenes, size_t sample, ocdm__scene_plan *plan);
void ocdm__scene_render(const ocdm__scenes *scenes, size_t sample, uint32_t size, uint8_t *rgb_chw);
void ocdm__scene_features(const ocdm__scenes *scenes, size_t sample, float *out);

/* ---- as the source of a stream file ---- */

/* Adds classes and samples to an empty set. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__scenes_label(const ocdm__scenes *scenes, ocdm__labelled_set *set, ocdm_error *error);

/* The samples' images of `size` pixels a side, or their features when it is 0: for ocdm__stream_write. */
ocdm__payload_source ocdm__scenes_payload(ocdm__scenes *scenes, uint32_t size);

#endif
