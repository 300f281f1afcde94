/*
 * Converts an image to the input of a network: shorter side to `resize`, a square of `crop` pixels out of it, floats in the
 * order channel, row, column. Training takes a random square and mirrors half of them; evaluation takes the middle one. Images
 * that are no larger than the square can be surrounded by a black border first, so that squares differ.
 *
 * Random choices depend on (seed, sample, step) only: not on threads, not on what else is in the batch.
 */
#ifndef OCDM_STREAM_IMAGES_PREPARE_H
#define OCDM_STREAM_IMAGES_PREPARE_H

#include <stdatomic.h>

#include "base/random.h"
#include "stream/images/image.h"

/* Mean and deviation of ImageNet's channels, of bytes divided by 255. */
#define OCDM__IMAGENET_MEAN                                                                                                    \
    {                                                                                                                          \
        0.485f, 0.456f, 0.406f                                                                                                 \
    }
#define OCDM__IMAGENET_DEVIATION                                                                                               \
    {                                                                                                                          \
        0.229f, 0.224f, 0.225f                                                                                                 \
    }

/* How a byte becomes a float. */
typedef enum ocdm__image_scaling {
    OCDM__IMAGE_IMAGENET = 0, /* (x / 255 - mean) / deviation of ImageNet's channels, as torchvision's networks want it */
    OCDM__IMAGE_SYMMETRIC = 1 /* x / 127.5 - 1, as mobilenet1 wants it */
} ocdm__image_scaling;

/* How images are stored in between, by those requests that ask for it. */
typedef struct ocdm__image_storing {
    uint32_t quality; /* of the JPEG, 1 to 100; 0: nothing is stored */
    uint32_t pixels;  /* the shorter side; images are not enlarged */
    size_t bytes;     /* the most that an image may take */
} ocdm__image_storing;

typedef struct ocdm__image_settings {
    uint32_t resize; /* the shorter side, up to OCDM__IMAGE_LARGEST_SIDE; 0: images stay as large as they are */
    uint32_t crop;   /* the side of what comes out: at least 1, at most `resize` unless that is 0 */
    uint32_t pad;    /* how wide a black border training puts around the resized image; less than `crop` */
    ocdm__image_scaling scaling;
    uint64_t seed;
    ocdm__image_limits limits;
    ocdm__image_storing storing;
} ocdm__image_settings;

/* 256, 224, ImageNet, seed 0, the default limits. */
ocdm__image_settings ocdm__image_settings_default(void);

/* One image to prepare. */
typedef struct ocdm__image_request {
    const char *path;      /* a file; NULL: pixels in memory */
    const uint8_t *planes; /* channels * height * width bytes, channel by channel */
    uint32_t channels;     /* 3, or 1 for grey, of which all three channels of the output are made */
    uint32_t width, height;
    uint64_t sample;       /* what the random choices depend on: the sample's id, */
    uint64_t step;         /* and when it is used */
    bool training;         /* a random square, perhaps mirrored; else the middle */
    bool stored;           /* as it is after it was stored */
    _Atomic uint32_t *sum; /* receives a checksum of the file, never 0; NULL: nobody compares it */
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
    ocdm__image_region region; /* what it has of the image */
    uint32_t left, top;        /* where that begins in the square; the rest is border */
    bool mirrored;
} ocdm__image_view;

/* The view of a request in an image of that size, whose sides are at least `crop`. Cannot fail. */
ocdm__image_view ocdm__image_choose_view(const ocdm__image_plan *plan, const ocdm__image_request *request,
                                         ocdm__image_size size);

/* Buffers that are reused from image to image; one per thread. Start with all bytes zero. */
typedef struct ocdm__image_scratch {
    ocdm__image_buffer file;
    ocdm__image image;
    ocdm__image_resizer resizer;
    ocdm__image_buffer cropped;
    ocdm__image_buffer small, encoded; /* an image that is stored */
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

/* Whether a failure concerns this image only, so that a run may skip it and continue. A missing file does not: usually the
 * whole folder is wrong. */
static inline bool ocdm__image_may_be_skipped(ocdm_status status)
{
    return status == OCDM_BAD_FILE || status == OCDM_LIMIT;
}

/* ---- preparing by threads (loader.c) ---- */

/*
 * Images prepared by threads, ahead of the network. The caller submits batches and fetches them in any order:
 *
 *     submit(loader, 0, first, 20, tensor[0]);  submit(loader, 1, second, 20, tensor[1]);
 *     wait(loader, 0, &result);  train on tensor[0];  submit(loader, 0, third, 20, tensor[0]);
 *     wait(loader, 1, &result);  ...
 *
 * A batch occupies a slot, and the number of slots bounds the work in progress. The contents of the tensors do not depend on
 * the number of threads or on their timing. Call submit, wait and destroy from one thread only.
 */

#define OCDM__IMAGE_MAX_THREADS 256u
#define OCDM__IMAGE_MAX_SLOTS 64u

typedef struct ocdm__image_loader ocdm__image_loader;

/*
 * Starts `threads` threads (1 to OCDM__IMAGE_MAX_THREADS) for `slots` batches (1 to OCDM__IMAGE_MAX_SLOTS; two or three keep a
 * network busy). The threads take no signals.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY, OCDM_LIMIT when the system gives no more threads.
 */
ocdm_status ocdm__image_loader_create(const ocdm__image_settings *settings, size_t threads, size_t slots,
                                      ocdm__image_loader **loader, ocdm_error *error);

/* Ends the threads, each after its current image, and releases everything. Tensors of batches that were not waited for are
 * partly written; nothing touches them afterwards. NULL is fine. */
void ocdm__image_loader_destroy(ocdm__image_loader *loader);

/*
 * Hands in a batch. Image i goes to tensor + i * ocdm__image_floats.
 *
 * slot      free: never used, or waited for
 * requests  `count` of them, copied; the paths and planes they point to must live until the batch is waited for
 * tensor    the caller's, not to be touched until then
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. Does not wait.
 */
ocdm_status ocdm__image_loader_submit(ocdm__image_loader *loader, size_t slot, const ocdm__image_request *requests,
                                      size_t count, float *tensor, ocdm_error *error);

/* The result of a batch. */
typedef struct ocdm__image_outcome {
    size_t count;  /* images of the batch */
    size_t failed; /* how many could not be prepared; their part of the tensor is all zero */
    const ocdm_error
        *errors; /* one for each image, its status OCDM_OK where all went well; lives until the slot's next submit */
} ocdm__image_outcome;

/* Waits until a batch that was submitted is ready; its slot is free then. OCDM_OK whatever happened to its images;
 * OCDM_BAD_ARGUMENT when the slot holds no batch. */
ocdm_status ocdm__image_loader_wait(ocdm__image_loader *loader, size_t slot, ocdm__image_outcome *outcome, ocdm_error *error);

/* The functions above as a table, for code that must not depend on libjpeg and libpng: a caller that wants images passes it. */
typedef struct ocdm__image_functions {
    ocdm__image_settings (*settings_default)(void);
    size_t (*floats)(const ocdm__image_settings *settings);
    ocdm_status (*create)(const ocdm__image_settings *settings, size_t threads, size_t slots, ocdm__image_loader **loader,
                          ocdm_error *error);
    void (*destroy)(ocdm__image_loader *loader);
    ocdm_status (*submit)(ocdm__image_loader *loader, size_t slot, const ocdm__image_request *requests, size_t count,
                          float *tensor, ocdm_error *error);
    ocdm_status (*wait)(ocdm__image_loader *loader, size_t slot, ocdm__image_outcome *outcome, ocdm_error *error);
} ocdm__image_functions;

extern const ocdm__image_functions ocdm__image_loading;

#endif
