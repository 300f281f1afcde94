/*
 * Image files as pixels: JPEG through libjpeg-turbo, PNG through libpng, told apart by their first bytes, never by the name.
 * Whatever the file holds (grey, palette, CMYK, 16 bits, alpha), what comes out is RGB with 8 bits, the same that Pillow's
 * convert("RGB") gives: alpha is dropped, 16 bits keep the upper 8. One difference: of 16-bit grey too the upper 8 bits are
 * kept, where Pillow cuts at 255 and leaves a white picture. Orientation tags and colour profiles are not looked at, as there.
 *
 * A damaged file is an error, not a picture with a grey rest: a JPEG that ends early or whose codes make no sense is refused
 * even though libjpeg would go on with a warning. What hostile files may cost is bounded by ocdm__image_limits.
 */
#ifndef OCDM_STREAM_IMAGES_IMAGE_H
#define OCDM_STREAM_IMAGES_IMAGE_H

#include "ocdm/ocdm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one image may cost. Beyond it reading ends with OCDM_LIMIT. */
typedef struct ocdm__image_limits {
    uint64_t pixels; /* width times height, before any shrinking */
    uint32_t scans;  /* of a JPEG: each costs a pass over the whole picture, whatever it holds */
    size_t memory;   /* bytes: the file, its pixels, and what the decoder keeps of the whole picture */
} ocdm__image_limits;

/* 2^26 pixels, 100 scans (progressive files of cameras and tools have about ten), 512 MiB. */
ocdm__image_limits ocdm__image_limits_default(void);

/* A block that grows when more is wanted and does not keep its contents then. Start with all bytes zero. */
typedef struct ocdm__image_buffer {
    uint8_t *bytes;
    size_t room;
} ocdm__image_buffer;

/* Room for `size` bytes, of any contents. false when there is none; the buffer is empty then. */
bool ocdm__image_buffer_fit(ocdm__image_buffer *buffer, size_t size);

/* Gives the block back; one that is all zero is fine. */
void ocdm__image_buffer_clear(ocdm__image_buffer *buffer);

/* Pixels: rows from the top, no gaps, three bytes each. Start with all bytes zero, give back with ocdm__image_buffer_clear. */
typedef struct ocdm__image {
    uint32_t width, height;
    ocdm__image_buffer rgb;
} ocdm__image;

/* An image file in memory; `name` is for messages. */
typedef struct ocdm__image_file {
    const char *name;
    const uint8_t *bytes;
    size_t size;
} ocdm__image_file;

/*
 * Reads the pixels out of a file in memory.
 *
 * resize  when a half, a quarter or an eighth of a JPEG is what ocdm__image_resized_size asks for, libjpeg decodes at that
 *         size (cheaper, and as Pillow's draft mode); else the picture comes at full size. 0: always at full size
 * image   may hold an earlier image, whose room is used again
 *
 * OCDM_OK, OCDM_BAD_FILE, OCDM_LIMIT, OCDM_NO_MEMORY; on error the image has no meaning, but may be used again.
 */
ocdm_status ocdm__image_decode(const ocdm__image_file *file, const ocdm__image_limits *limits, uint32_t resize,
                               ocdm__image *image, ocdm_error *error);

/*
 * The same from a path, which must be a regular file.
 *
 * file_bytes  room for the file, used again from call to call
 *
 * OCDM_IO when it cannot be read, and as above.
 */
ocdm_status ocdm__image_read(const char *path, const ocdm__image_limits *limits, uint32_t resize,
                             ocdm__image_buffer *file_bytes, ocdm__image *image, ocdm_error *error);

#endif
