/*
 * From an image to the numbers that a network sees: shorter side to `resize`, a square of `crop` pixels out of it, floats in
 * the order channel, row, column. Training takes a random square and mirrors half of them; evaluation takes the middle one.
 *
 * What is random hangs on (seed, sample, step) alone: not on threads, not on what else is in the batch.
 */
#ifndef OCDM_STREAM_IMAGES_PREPARE_H
#define OCDM_STREAM_IMAGES_PREPARE_H

#include "base/random.h"
#include "stream/images/image.h"
#include "stream/images/resize.h"

/* How a byte becomes a float. */
typedef enum ocdm__image_scaling {
    OCDM__IMAGE_IMAGENET = 0, /* (x / 255 - mean) / deviation of ImageNet's channels, as torchvision's networks want it */
    OCDM__IMAGE_SYMMETRIC = 1 /* x / 127.5 - 1, as mobilenet1 wants it */
} ocdm__image_scaling;

typedef struct ocdm__image_settings {
    uint32_t resize; /* the shorter side, up to OCDM__IMAGE_LARGEST_SIDE; 0: images stay as large as they are */
    uint32_t crop;   /* the side of what comes out: at least 1, at most `resize` unless that is 0 */
    ocdm__image_scaling scaling;
    uint64_t seed;
    ocdm__image_limits limits;
} ocdm__image_settings;

/* 256, 224, ImageNet, seed 0, the default limits. */
ocdm__image_settings ocdm__image_settings_default(void);

/* One image to prepare. */
typedef struct ocdm__image_request {
    const char *path;      /* a file; NULL: pixels in memory */
    const uint8_t *planes; /* channels * height * width bytes, channel by channel */
    uint32_t channels;     /* 3, or 1 for grey, of which all three channels of the output are made */
    uint32_t width, height;
    uint64_t sample; /* what the random choices hang on: the sample's id, */
    uint64_t step;   /* and when it is used */
    bool training;   /* a random square, perhaps mirrored; else the middle */
} ocdm__image_request;

/* Settings that were checked, with what follows from them. Not changed by use: threads may share it. */
typedef struct ocdm__image_plan {
    ocdm__image_settings settings;
    uint64_t random_base;
    float value[3][256]; /* by channel and byte */
} ocdm__image_plan;

/* OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__image_plan_make(const ocdm__image_settings *settings, ocdm__image_plan *plan, ocdm_error *error);

/* How many floats come out of one image: 3 * crop * crop. */
size_t ocdm__image_floats(const ocdm__image_settings *settings);

/* Which square is taken, and whether it is mirrored. */
typedef struct ocdm__image_view {
    ocdm__image_region region;
    bool mirrored;
} ocdm__image_view;

/* The view of a request in an image of that size, whose sides are at least `crop`. Cannot fail. */
ocdm__image_view ocdm__image_choose_view(const ocdm__image_plan *plan, const ocdm__image_request *request,
                                         ocdm__image_size size);

/* Room that is used again from image to image; one for each thread. Start with all bytes zero. */
typedef struct ocdm__image_scratch {
    ocdm__image_buffer file;
    ocdm__image image;
    ocdm__image_resizer resizer;
    ocdm__image_buffer cropped;
} ocdm__image_scratch;

void ocdm__image_scratch_clear(ocdm__image_scratch *scratch);

/*
 * Prepares one image: ocdm__image_floats of them into `out`.
 *
 * OCDM_OK; OCDM_BAD_FILE (damaged, or smaller than the square), OCDM_LIMIT, OCDM_IO, OCDM_NO_MEMORY, OCDM_BAD_ARGUMENT.
 * On error `out` is as it was.
 */
ocdm_status ocdm__image_prepare(const ocdm__image_plan *plan, const ocdm__image_request *request, ocdm__image_scratch *scratch,
                                float *out, ocdm_error *error);

/* Is a failure about this one image, so that a run may leave it out and go on? A file that is not there is not of that kind:
 * it speaks of the whole folder. */
static inline bool ocdm__image_may_be_skipped(ocdm_status status)
{
    return status == OCDM_BAD_FILE || status == OCDM_LIMIT;
}

#endif
