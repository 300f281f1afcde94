/*
 * Image files as pixels: JPEG through libjpeg-turbo, PNG through libpng, distinguished by their first bytes, never by the
 * name. Whatever the file holds (grey, palette, CMYK, 16 bits, alpha), what comes out is RGB with 8 bits, the same that
 * Pillow's convert("RGB") gives: alpha is dropped, 16 bits keep the upper 8. One difference: of 16-bit grey too the upper 8
 * bits are kept, where Pillow cuts at 255 and leaves a white picture. Orientation tags and colour profiles are ignored, as
 * there.
 *
 * A damaged file is an error, not a partly grey picture: a JPEG that ends early or has invalid codes is refused, although
 * libjpeg would continue with a warning. What hostile files may cost is bounded by ocdm__image_limits.
 */
#ifndef OCDM_STREAM_IMAGES_IMAGE_H
#define OCDM_STREAM_IMAGES_IMAGE_H

#include "base/base.h"

/* What one image may cost. Beyond it reading ends with OCDM_LIMIT. */
typedef struct ocdm__image_limits {
    uint64_t pixels; /* width times height, before any shrinking */
    uint32_t scans;  /* of a JPEG: each costs a pass over the whole picture, whatever it holds */
    size_t memory;   /* bytes: the file, its pixels, and what the decoder keeps of the whole picture */
} ocdm__image_limits;

/* 2^26 pixels, 100 scans (progressive files of cameras and tools have about ten), 512 MiB. */
ocdm__image_limits ocdm__image_limits_default(void);

/* A block that grows on demand without keeping its contents. Start with all bytes zero. */
typedef struct ocdm__image_buffer {
    uint8_t *bytes;
    size_t room;
} ocdm__image_buffer;

/* Makes the buffer at least `size` bytes large; contents are undefined. False when out of memory; the buffer is empty then. */
bool ocdm__image_buffer_fit(ocdm__image_buffer *buffer, size_t size);

/* Releases the block. A buffer whose bytes are all zero is fine. */
void ocdm__image_buffer_clear(ocdm__image_buffer *buffer);

/* Pixels: rows from the top, no gaps, three bytes each. Start with all bytes zero, release with ocdm__image_buffer_clear. */
typedef struct ocdm__image {
    uint32_t width, height;
    ocdm__image_buffer rgb;
} ocdm__image;

/* Takes `channels` planes of width * height bytes, 3, or 1 for grey, as pixels. False when out of memory. */
bool ocdm__image_take_planes(ocdm__image *image, const uint8_t *planes, uint32_t channels, uint32_t width, uint32_t height);

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
 * OCDM_OK, OCDM_BAD_FILE, OCDM_LIMIT, OCDM_NO_MEMORY; on error the contents of the image are undefined, but it may be used
 * again.
 */
ocdm_status ocdm__image_decode(const ocdm__image_file *file, const ocdm__image_limits *limits, uint32_t resize,
                               ocdm__image *image, ocdm_error *error);

/*
 * The same from a path, which must be a regular file.
 *
 * file_bytes  room for the file, used again from call to call
 * size        set to the file's bytes
 *
 * OCDM_IO when it cannot be read, and as above.
 */
ocdm_status ocdm__image_read(const char *path, const ocdm__image_limits *limits, uint32_t resize,
                             ocdm__image_buffer *file_bytes, size_t *size, ocdm__image *image, ocdm_error *error);

/* ---- resizing (resize.c) ---- */

/*
 * Resizing equal to Pillow's Image.resize with BILINEAR, pixel by pixel: a triangle filter as wide as the reduction needs (so
 * without aliasing), columns first, then rows, 8-bit pixels in between, integer weights of 22 bits. Only the requested part of
 * the result is computed.
 */

/* The largest side that resizing may produce. */
#define OCDM__IMAGE_LARGEST_SIDE 16384u

/* The size of an image that is never computed in full: the longer side of a strip of 2^26 pixels, for example, can exceed 32
 * bits. */
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

/* Buffers that are reused from call to call. Start with all bytes zero. */
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

/* ---- decoders (jpeg.c, png.c) ---- */

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

/* Pixels of a caller: rows from the top, no gaps, three bytes each. */
struct ocdm__image_pixels {
    const uint8_t *rgb;
    uint32_t width, height;
};

/*
 * Encodes pixels as a JPEG: baseline, 4:2:0, Huffman tables of its own.
 *
 * size   in: the room at `bytes`; out: what was used, 0 when the room is too small
 *
 * OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT (a side over 65,500 pixels).
 */
ocdm_status ocdm__image_encode_jpeg(const struct ocdm__image_pixels *pixels, uint32_t quality, uint8_t *bytes, size_t *size,
                                    ocdm_error *error);

/* Checks that a picture of that size is within the limit of pixels. */
ocdm_status ocdm__image_check_pixels(const struct ocdm__image_job *job, uint32_t width, uint32_t height);

/* Makes room for the pixels of an image of that size, whose decoder itself needs `decoder` bytes more. */
ocdm_status ocdm__image_make_room(const struct ocdm__image_job *job, uint32_t width, uint32_t height, uint64_t decoder);

/* ---- pictures of samples (pictures.c) ---- */

/*
 * Small square pictures of the samples of a stream file, found by their ids, for display: the stream's images, or the files
 * that it names. The shorter side is resized to fit and the middle is kept.
 */

typedef struct ocdm__stream_pictures ocdm__stream_pictures;

/* Opens a stream file. OCDM_OK; OCDM_BAD_ARGUMENT when its samples have no images; as ocdm__stream_open. */
ocdm_status ocdm__stream_pictures_open(ocdm__stream_pictures **pictures, const char *path, ocdm_error *error);

/* The picture of the sample with this id, side * side * 3 bytes, rows from the top. false: no such sample, or its image cannot
 * be read. O(samples). */
bool ocdm__stream_picture(ocdm__stream_pictures *pictures, const char *id, uint32_t side, uint8_t *rgb);

/* Releases everything. NULL is fine. */
void ocdm__stream_pictures_close(ocdm__stream_pictures *pictures);

#endif
