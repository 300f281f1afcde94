/*
 * Resizing as Pillow's Image.resize does it with BILINEAR: a triangle as wide as the shrinking asks for (so without aliasing),
 * columns first, then rows, 8-bit pixels in between, weights as integers of 22 bits. Every pixel comes out equal to Pillow's.
 * Only the part of the result that is asked for is computed.
 */
#ifndef OCDM_STREAM_IMAGES_RESIZE_H
#define OCDM_STREAM_IMAGES_RESIZE_H

#include "stream/images/image.h"

/* A side that resizing may aim at. */
#define OCDM__IMAGE_LARGEST_SIDE 16384u

/* Of an image that is never whole: the longer side of a strip of 2^26 pixels, say, can grow beyond 32 bits. */
typedef struct ocdm__image_size {
    uint64_t width, height;
} ocdm__image_size;

/* The size when the shorter side becomes `resize` and the longer one follows, rounded down, as torchvision's Resize does. The
 * size as it is when `resize` is 0. */
ocdm__image_size ocdm__image_resized_size(uint32_t width, uint32_t height, uint32_t resize);

typedef struct ocdm__image_region {
    uint64_t left, top;
    uint32_t width, height; /* 1 to OCDM__IMAGE_LARGEST_SIDE */
} ocdm__image_region;

/* Room that is used again from call to call. Start with all bytes zero. */
typedef struct ocdm__image_resizer {
    ocdm__image_buffer rows;    /* source rows of which the columns are resized */
    ocdm__image_buffer weights; /* both directions, one after the other */
    ocdm__image_buffer stretches;
} ocdm__image_resizer;

void ocdm__image_resizer_clear(ocdm__image_resizer *resizer);

/*
 * Writes a region of the image at another size.
 *
 * region  inside `size`
 * rgb     room for width * height * 3 bytes of the region, rows from the top, no gaps
 *
 * A direction whose size stays is not resampled. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__image_resize(ocdm__image_resizer *resizer, const ocdm__image *image, ocdm__image_size size,
                               const ocdm__image_region *region, uint8_t *rgb, ocdm_error *error);

#endif
