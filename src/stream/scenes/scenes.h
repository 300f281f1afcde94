/*
 * The built-in world: the built-in label stream (builtin.h) with a test part, and behind every label set a scene in which its
 * classes occur as objects, as a picture or as a feature vector. Made up, deterministic by seed, the same bytes on every
 * machine; needs no download. docs/scenes.md says what varies and how hard it is.
 */
#ifndef OCDM_STREAM_SCENES_SCENES_H
#define OCDM_STREAM_SCENES_SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"
#include "stream/scenes/plan.h"

/* The sizes that a picture may have, in pixels a side, and the usual one. */
enum { OCDM__SCENE_LEAST_SIZE = 16, OCDM__SCENE_USUAL_SIZE = 64, OCDM__SCENE_MOST_SIZE = 256 };

/* Test samples of each class. */
enum { OCDM__SCENE_TESTS_A_CLASS = 50 };

/*
 * Samples 0..train_count-1 are the built-in stream's, in its order; the test part follows, class by class, each sample with
 * its class alone. Sample i, whose id is i, carries label[label_start[i]] .. label[label_start[i + 1] - 1], ascending.
 * Classes' names and tasks are builtin.h's.
 */
typedef struct ocdm__scenes {
    uint64_t base; /* of all random numbers behind the pictures and features */
    size_t train_count;
    size_t sample_count; /* both parts */
    size_t class_count;
    size_t task_count;
    uint32_t *task;
    size_t *label_start; /* sample_count + 1 of them */
    uint32_t *label;
    ocdm__scene_space *space;
} ocdm__scenes;

/* Makes the world of a seed. OCDM_OK or OCDM_NO_MEMORY; `scenes` is set on success, destroyed by the caller. */
ocdm_status ocdm__scenes_create(uint64_t seed, ocdm__scenes **scenes, ocdm_error *error);

/* Frees it. NULL is fine. */
void ocdm__scenes_destroy(ocdm__scenes *scenes);

/* The plan of a sample's scene. It depends only on seed, sample and label set. */
void ocdm__scene_plan_sample(const ocdm__scenes *scenes, size_t sample, ocdm__scene_plan *plan);

/* A planned scene as a picture: 3 x size x size bytes, a plane each of red, green, blue, rows from the top. `size` is one of
 * the above. Needs no memory of its own; may be called from several threads. */
void ocdm__scene_draw(const ocdm__scene_plan *plan, uint32_t size, uint8_t *rgb_chw);

/* Both in one: the picture of a sample. */
void ocdm__scene_render(const ocdm__scenes *scenes, size_t sample, uint32_t size, uint8_t *rgb_chw);

/* The feature vector of a sample: OCDM__SCENE_FEATURES numbers. */
void ocdm__scene_features(const ocdm__scenes *scenes, size_t sample, float *out);

/* ---- as a stream file ---- */

/* Start with all bytes zero. */
typedef struct ocdm__scene_stream {
    ocdm__stream_table table;
    ocdm__payload_source source; /* for ocdm__stream_write */
    ocdm__scenes *scenes;
    uint32_t size; /* of an image, pixels a side; 0 for features */
} ocdm__scene_stream;

/* The world of a seed: images of `size` pixels a side, or features when it is 0. Classes are in the order of their names.
 * OCDM_OK, OCDM_NO_MEMORY. Close it in either case; must stay where it is. */
ocdm_status ocdm__scene_stream_open(ocdm__scene_stream *stream, uint64_t seed, uint32_t size, ocdm_error *error);

/* Releases everything. */
void ocdm__scene_stream_close(ocdm__scene_stream *stream);

#endif
