/* Stream files of a dozen made-up samples with features, stored images, or the paths of image files. */
#ifndef OCDM_TESTS_SMALL_STREAM_H
#define OCDM_TESTS_SMALL_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

enum { SMALL_SAMPLES = 12, SMALL_CLASSES = 3, SMALL_FEATURES = 5, SMALL_SIDE = 32 };

/* Feature k of a sample: an eighth of a small whole number, so that 16 bits hold it too. */
static inline float small_feature(size_t sample, size_t k)
{
    return (float)((int)((sample * 7 + k * 5) % 23) - 11) / 8.0F;
}

/* Byte k of a sample's image. */
static inline uint8_t small_pixel(size_t sample, size_t k)
{
    return (uint8_t)((sample * 101 + 31) * (k + 17) >> 3);
}

/* Every third sample is of the test part. */
static inline uint8_t small_part(size_t sample)
{
    return sample % 3 == 2 ? OCDM__TEST : OCDM__TRAIN;
}

static inline ocdm_status fill_small(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__payload_shape *shape = state;
    size_t each = ocdm__payload_size(shape);
    (void)error;
    for (size_t i = 0; i < count; i++, bytes += each)
        for (size_t k = 0; k < each; k++) {
            float value = small_feature(first + i, shape->dtype == OCDM__F32 ? k / 4 : k / 2);
            uint32_t bits = ocdm__float_to_half(value);
            if (shape->dtype == OCDM__F32)
                memcpy(&bits, &value, sizeof bits);
            bytes[k] = (unsigned char)(bits >> 8 * (k % (shape->dtype == OCDM__F32 ? 4 : 2)));
            if (shape->kind == OCDM__IMAGES)
                bytes[k] = small_pixel(first + i, k);
        }
    return OCDM_OK;
}

/* Texts made with a format that takes a number. */
struct small_texts {
    uint64_t starts[SMALL_SAMPLES + 1];
    char bytes[SMALL_SAMPLES * 32];
};

static inline ocdm__text_list make_texts(struct small_texts *texts, const char *before, size_t count)
{
    texts->starts[0] = 0;
    for (size_t i = 0; i < count; i++)
        texts->starts[i + 1] = texts->starts[i] + (uint64_t)snprintf(texts->bytes + texts->starts[i], 32, "%s%zu", before, i);
    return (ocdm__text_list){texts->starts, texts->bytes};
}

/*
 * Writes one. `kind` and `dtype` say what samples are made of; with OCDM__NO_PAYLOAD their images are image-0, image-1, ...
 * below `root`, unless that is NULL and there are none; sample `pathless` has no path (SMALL_SAMPLES: all have one).
 */
static inline void write_small_stream(const char *path, enum ocdm__payload_kind kind, enum ocdm__dtype dtype, const char *root,
                                      size_t pathless)
{
    static struct small_texts ids, classes, paths;
    uint64_t starts[SMALL_SAMPLES + 1];
    uint32_t labels[SMALL_SAMPLES], tasks[SMALL_SAMPLES];
    uint8_t parts[SMALL_SAMPLES], groups[SMALL_CLASSES] = {0, 2, 1};
    ocdm__payload_shape shape = {.kind = kind, .dtype = dtype, .width = SMALL_FEATURES};
    if (kind == OCDM__IMAGES)
        shape.width = shape.height = SMALL_SIDE, shape.channels = 3;
    for (size_t i = 0; i < SMALL_SAMPLES; i++) {
        starts[i] = i;
        labels[i] = (uint32_t)(i % SMALL_CLASSES);
        tasks[i] = i < 6 ? 0 : 1;
        parts[i] = small_part(i);
    }
    starts[SMALL_SAMPLES] = SMALL_SAMPLES;
    ocdm__stream_table table = {SMALL_SAMPLES, SMALL_CLASSES, starts, labels, tasks, parts, groups, {0}, {0}, {0}, NULL};
    table.ids = make_texts(&ids, "id", SMALL_SAMPLES);
    table.classes = make_texts(&classes, "class", SMALL_CLASSES);
    if (kind == OCDM__NO_PAYLOAD && root != NULL) {
        table.paths = make_texts(&paths, "image-", SMALL_SAMPLES);
        if (pathless < SMALL_SAMPLES)
            paths.starts[pathless + 1] = paths.starts[pathless];
    }
    struct ocdm__note notes[] = {
        {.key = "format", .value = "ocdm-stream"}, {.key = "version", .value = "1"}, {.key = "image_root", .value = root}};
    ocdm__payload_source source = {.shape = shape, .fill = fill_small, .state = &shape};
    ocdm_status status = ocdm__stream_write(path, &table, kind != OCDM__NO_PAYLOAD ? &source : NULL, notes,
                                            root != NULL && root[0] != '\0' ? 3 : 2, NULL, NULL);
    assert_int_equal(status, OCDM_OK);
}

#endif
