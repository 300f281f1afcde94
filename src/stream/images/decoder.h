/* Between image.c and the decoders of the two formats: what they are asked, and the limits that they share. */
#ifndef OCDM_STREAM_IMAGES_DECODER_H
#define OCDM_STREAM_IMAGES_DECODER_H

#include "stream/images/image.h"

struct ocdm__image_job {
    const ocdm__image_file *file;
    const ocdm__image_limits *limits;
    uint32_t resize;
    ocdm__image *image;
    ocdm_error *error;
};

bool ocdm__is_jpeg(const uint8_t *bytes, size_t size);
bool ocdm__is_png(const uint8_t *bytes, size_t size);

ocdm_status ocdm__image_decode_jpeg(const struct ocdm__image_job *job);
ocdm_status ocdm__image_decode_png(const struct ocdm__image_job *job);

/* Is a picture of that size within the limit of pixels? */
ocdm_status ocdm__image_check_pixels(const struct ocdm__image_job *job, uint32_t width, uint32_t height);

/* Makes room for the pixels of an image of that size, whose decoder itself needs `decoder` bytes more. */
ocdm_status ocdm__image_make_room(const struct ocdm__image_job *job, uint32_t width, uint32_t height, uint64_t decoder);

#endif
