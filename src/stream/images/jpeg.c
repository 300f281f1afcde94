/*
 * JPEG files, read and written, through libjpeg-turbo, with its default arithmetic (accurate DCT, smooth upsampling), which is
 * also Pillow's. libjpeg reports errors by a call that must not return: everything that calls it runs below one setjmp, in a
 * function that has no variables of its own, and what has to be given back afterwards is in a struct that outlives the jump.
 */
#include "stream/images/image.h"

#include <setjmp.h>

#include <jpeglib.h> /* needs stdio.h */

#include <jerror.h> /* after jpeglib.h, whose settings decide the numbers of the messages */

struct jpeg_reader {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr messages;
    struct jpeg_progress_mgr progress;
    const struct ocdm__image_job *job;
    ocdm_status status;
    jmp_buf escape;
};

bool ocdm__is_jpeg(const uint8_t *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0;
}

_Noreturn static void leave(struct jpeg_reader *reader, ocdm_status status)
{
    reader->status = status;
    longjmp(reader->escape, 1);
}

_Noreturn static void refuse(j_common_ptr info)
{
    struct jpeg_reader *reader = info->client_data;
    const struct ocdm__image_job *job = reader->job;
    char reason[JMSG_LENGTH_MAX];
    info->err->format_message(info, reason);
    if (info->err->msg_code == JERR_OUT_OF_MEMORY)
        leave(reader, ocdm__fail_memory(job->error, "decoding a JPEG image"));
    leave(reader, ocdm__fail(job->error, OCDM_BAD_FILE, "replace the file, or leave it out", "%s: damaged JPEG: %s",
                             job->file->name, reason));
}

/* Refuses what leaves pixels that are guesses. Other warnings are about data between markers and do not matter. */
static void take_message(j_common_ptr info, int level)
{
    static const int damage[] = {JWRN_JPEG_EOF,       JWRN_HIT_MARKER,  JWRN_HUFF_BAD_CODE,
                                 JWRN_ARITH_BAD_CODE, JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION};
    for (size_t i = 0; level < 0 && i < sizeof damage / sizeof *damage; i++)
        if (info->err->msg_code == damage[i])
            refuse(info);
}

static void say_nothing(j_common_ptr info)
{
    (void)info;
}

/* libjpeg calls it for every row of blocks, also while it only collects the scans of a progressive file. */
static void count_scans(j_common_ptr info)
{
    struct jpeg_reader *reader = info->client_data;
    const struct ocdm__image_job *job = reader->job;
    if (reader->info.input_scan_number > 0 && (uint32_t)reader->info.input_scan_number > job->limits->scans)
        leave(reader, ocdm__fail(job->error, OCDM_LIMIT, "store it as a JPEG that is not progressive, or leave it out",
                                 "%s: more than %u scans in one JPEG", job->file->name, job->limits->scans));
}

/* What libjpeg keeps of a whole picture that comes in several scans: all its coefficients, 64 of two bytes in a block. */
static uint64_t kept_bytes(struct jpeg_decompress_struct *info)
{
    uint64_t blocks = 0;
    for (int i = 0; jpeg_has_multiple_scans(info) && i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        uint64_t across = (uint64_t)component->width_in_blocks + (unsigned)component->h_samp_factor - 1;
        uint64_t down = (uint64_t)component->height_in_blocks + (unsigned)component->v_samp_factor - 1;
        blocks += across * down;
    }
    return blocks * sizeof(JBLOCK);
}

static void read_rows(struct jpeg_reader *reader)
{
    struct jpeg_decompress_struct *info = &reader->info;
    size_t width = info->output_width;
    JSAMPARRAY cmyk = NULL;
    if (info->out_color_space == JCS_CMYK)
        cmyk = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, info->output_width * 4, 1);
    while (info->output_scanline < info->output_height) {
        uint8_t *rgb = reader->job->image->rgb.bytes + 3 * width * info->output_scanline;
        JSAMPROW row = cmyk ? cmyk[0] : rgb;
        if (jpeg_read_scanlines(info, &row, 1) != 1)
            ERREXIT(info, JERR_CANT_SUSPEND);
        if (cmyk) {
            /* CMYK is stored inverted, as Adobe's programs do and every reader assumes: the bytes are 255 - C and so on. The
             * product is rounded as Pillow does it. */
            for (size_t x = 0; x < width; x++) {
                unsigned key = cmyk[0][4 * x + 3];
                for (size_t c = 0; c < 3; c++) {
                    unsigned product = (255u - cmyk[0][4 * x + c]) * key + 128;
                    rgb[3 * x + c] = (uint8_t)(key - (((product >> 8) + product) >> 8));
                }
            }
        }
    }
}

static void decode(struct jpeg_reader *reader)
{
    struct jpeg_decompress_struct *info = &reader->info;
    const struct ocdm__image_job *job = reader->job;
    jpeg_create_decompress(info);
    info->progress = &reader->progress;
    jpeg_mem_src(info, job->file->bytes, (unsigned long)job->file->size);
    jpeg_read_header(info, TRUE);
    ocdm_status status = ocdm__image_check_pixels(job, info->image_width, info->image_height);
    if (status != OCDM_OK)
        leave(reader, status);
    int components = info->num_components;
    if (components != 1 && components != 3 && components != 4)
        leave(reader, ocdm__fail(job->error, OCDM_BAD_FILE, "store it as grey, RGB or CMYK",
                                 "%s: a JPEG with %d colour components", job->file->name, components));
    info->out_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
    /* libjpeg shrinks the picture when that gives exactly the wanted size. */
    ocdm__image_size wanted = ocdm__image_resized_size(info->image_width, info->image_height, job->resize);
    info->scale_num = info->scale_denom = 1;
    jpeg_calc_output_dimensions(info);
    while (info->scale_denom < 8 && (info->output_width != wanted.width || info->output_height != wanted.height)) {
        info->scale_denom *= 2;
        jpeg_calc_output_dimensions(info);
    }
    if (info->output_width != wanted.width || info->output_height != wanted.height)
        info->scale_denom = 1;
    jpeg_calc_output_dimensions(info);
    status = ocdm__image_make_room(job, info->output_width, info->output_height, kept_bytes(info));
    if (status != OCDM_OK)
        leave(reader, status);
    jpeg_start_decompress(info);
    read_rows(reader);
    jpeg_finish_decompress(info);
}

ocdm_status ocdm__image_decode_jpeg(const struct ocdm__image_job *job)
{
    struct jpeg_reader reader = {.job = job, .status = OCDM_OK};
    reader.info.err = jpeg_std_error(&reader.messages);
    reader.info.client_data = &reader;
    reader.messages.error_exit = refuse;
    reader.messages.emit_message = take_message;
    reader.messages.output_message = say_nothing;
    reader.progress.progress_monitor = count_scans;
    if (setjmp(reader.escape) == 0)
        decode(&reader);
    jpeg_destroy_decompress(&reader.info);
    return reader.status;
}

/* ---- encoding ----------------------------------------------------------------------------------------------------------- */

struct jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr messages;
    struct jpeg_destination_mgr target;
    const struct ocdm__image_pixels *pixels;
    uint32_t quality;
    uint8_t *bytes;
    size_t room;
    bool full;
    ocdm_status status;
    ocdm_error *error;
    jmp_buf escape;
};

_Noreturn static void give_up(j_common_ptr info)
{
    struct jpeg_writer *writer = info->client_data;
    char reason[JMSG_LENGTH_MAX];
    info->err->format_message(info, reason);
    writer->status = info->err->msg_code == JERR_OUT_OF_MEMORY
                         ? ocdm__fail_memory(writer->error, "encoding a JPEG image")
                         : ocdm__fail(writer->error, OCDM_LIMIT, "", "an image cannot be stored as JPEG: %s", reason);
    longjmp(writer->escape, 1);
}

static void begin_target(j_compress_ptr info)
{
    struct jpeg_writer *writer = info->client_data;
    writer->target.next_output_byte = writer->bytes;
    writer->target.free_in_buffer = writer->room;
}

/* There is no more room. */
static boolean leave_full(j_compress_ptr info)
{
    struct jpeg_writer *writer = info->client_data;
    writer->full = true;
    longjmp(writer->escape, 1);
}

static void end_target(j_compress_ptr info)
{
    (void)info;
}

static void encode(struct jpeg_writer *writer)
{
    struct jpeg_compress_struct *info = &writer->info;
    jpeg_create_compress(info);
    info->dest = &writer->target;
    info->image_width = writer->pixels->width;
    info->image_height = writer->pixels->height;
    info->input_components = 3;
    info->in_color_space = JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, (int)writer->quality, TRUE);
    info->optimize_coding = TRUE;
    jpeg_start_compress(info, TRUE);
    while (info->next_scanline < info->image_height) {
        const uint8_t *row = writer->pixels->rgb + (size_t)3 * writer->pixels->width * info->next_scanline;
        JSAMPROW rows[1];
        memcpy(rows, &row, sizeof row); /* libjpeg does not write to it */
        jpeg_write_scanlines(info, rows, 1);
    }
    jpeg_finish_compress(info);
}

ocdm_status ocdm__image_encode_jpeg(const struct ocdm__image_pixels *pixels, uint32_t quality, uint8_t *bytes, size_t *size,
                                    ocdm_error *error)
{
    struct jpeg_writer writer = {
        .pixels = pixels, .quality = quality, .bytes = bytes, .room = *size, .status = OCDM_OK, .error = error};
    writer.info.err = jpeg_std_error(&writer.messages);
    writer.info.client_data = &writer;
    writer.messages.error_exit = give_up;
    writer.messages.output_message = say_nothing;
    writer.target.init_destination = begin_target;
    writer.target.empty_output_buffer = leave_full;
    writer.target.term_destination = end_target;
    if (setjmp(writer.escape) == 0)
        encode(&writer);
    *size = writer.status == OCDM_OK && !writer.full ? *size - writer.target.free_in_buffer : 0;
    jpeg_destroy_compress(&writer.info);
    return writer.status;
}
