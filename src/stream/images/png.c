/*
 * PNG files through libpng, converted to RGB with 8 bits. Chunks that say nothing about the pixels are skipped unread, so that
 * what they would unfold to costs nothing. As with libjpeg, everything runs below one setjmp, in a function with no variables.
 */
#include <png.h>

#include "stream/images/image.h"

#include <setjmp.h>

struct png_reader {
    png_structp png;
    png_infop info;
    const struct ocdm__image_job *job;
    size_t at; /* how much of the file was read */
    ocdm_status status;
    jmp_buf escape;
};

bool ocdm__is_png(const uint8_t *bytes, size_t size)
{
    return size >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
}

_Noreturn static void leave(struct png_reader *reader, ocdm_status status)
{
    reader->status = status;
    longjmp(reader->escape, 1);
}

_Noreturn static void refuse(png_structp png, png_const_charp reason)
{
    struct png_reader *reader = png_get_error_ptr(png);
    const struct ocdm__image_job *job = reader->job;
    if (reader->status == OCDM_NO_MEMORY)
        leave(reader, ocdm__fail_memory(job->error, "decoding a PNG image"));
    leave(reader, ocdm__fail(job->error, OCDM_BAD_FILE, "replace the file, or leave it out", "%s: damaged PNG: %s",
                             job->file->name, reason));
}

static void say_nothing(png_structp png, png_const_charp warning)
{
    (void)png;
    (void)warning;
}

/* libpng reports a lack of memory only as a message of its own; the status remembers it. */
static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    struct png_reader *reader = png_get_mem_ptr(png);
    void *block = ocdm__allocate(size, 1);
    if (!block)
        reader->status = OCDM_NO_MEMORY;
    return block;
}

static void release(png_structp png, png_voidp block)
{
    (void)png;
    ocdm__release(block);
}

static void take_bytes(png_structp png, png_bytep bytes, size_t size)
{
    struct png_reader *reader = png_get_io_ptr(png);
    const ocdm__image_file *file = reader->job->file;
    if (size > file->size - reader->at)
        png_error(png, "the file ends too early");
    memcpy(bytes, file->bytes + reader->at, size);
    reader->at += size;
}

static void decode(struct png_reader *reader)
{
    const struct ocdm__image_job *job = reader->job;
    png_structp png = reader->png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reader, refuse, say_nothing, reader, allocate, release);
    reader->info = png != NULL ? png_create_info_struct(png) : NULL;
    if (reader->info == NULL)
        leave(reader, ocdm__fail_memory(job->error, "decoding a PNG image"));
    png_set_read_fn(png, reader, take_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* the limits of the job come right after the header */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, reader->info);
    png_uint_32 width = png_get_image_width(png, reader->info), height = png_get_image_height(png, reader->info);
    ocdm_status status = ocdm__image_check_pixels(job, width, height);
    /* libpng keeps a few rows, in the file's form and in ours: at most 8 bytes a pixel. */
    OCDM_THEN(status, ocdm__image_make_room(job, width, height, (uint64_t)width * 8 * 4));
    if (status != OCDM_OK)
        leave(reader, status);
    int colour_type = png_get_color_type(png, reader->info);
    if (colour_type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    else if (!(colour_type & PNG_COLOR_MASK_COLOR)) {
        png_set_expand_gray_1_2_4_to_8(png);
        png_set_gray_to_rgb(png);
    }
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    size_t row_bytes = (size_t)width * 3;
    if (png_get_rowbytes(png, reader->info) != row_bytes)
        png_error(png, "unknown kind of pixels");
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < height; y++)
            png_read_row(png, job->image->rgb.bytes + y * row_bytes, NULL);
    png_read_end(png, NULL);
    reader->status = OCDM_OK;
}

ocdm_status ocdm__image_decode_png(const struct ocdm__image_job *job)
{
    struct png_reader reader = {.job = job, .status = OCDM_OK};
    if (setjmp(reader.escape) == 0)
        decode(&reader);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    return reader.status;
}
