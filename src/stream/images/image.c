/* Reads image files, detects their format, and checks the limits that both decoders share. */
#include "stream/images/image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

ocdm__image_limits ocdm__image_limits_default(void)
{
    return (ocdm__image_limits){.pixels = UINT64_C(1) << 26, .scans = 100, .memory = (size_t)512 << 20};
}

bool ocdm__image_buffer_fit(ocdm__image_buffer *buffer, size_t size)
{
    if (buffer->bytes && size <= buffer->room)
        return true;
    ocdm__image_buffer_clear(buffer);
    buffer->bytes = ocdm__allocate(size, 1);
    buffer->room = buffer->bytes ? size : 0;
    return buffer->bytes;
}

void ocdm__image_buffer_clear(ocdm__image_buffer *buffer)
{
    ocdm__release(buffer->bytes);
    *buffer = (ocdm__image_buffer){0};
}

bool ocdm__image_take_planes(ocdm__image *image, const uint8_t *planes, uint32_t channels, uint32_t width, uint32_t height)
{
    size_t pixels = (size_t)width * height;
    if (pixels > SIZE_MAX / 3 || !ocdm__image_buffer_fit(&image->rgb, pixels * 3))
        return false;
    image->width = width;
    image->height = height;
    for (size_t channel = 0; channel < 3; channel++) {
        const uint8_t *plane = planes + (channels == 3 ? channel * pixels : 0);
        uint8_t *rgb = image->rgb.bytes + channel;
        for (size_t i = 0; i < pixels; i++)
            rgb[3 * i] = plane[i];
    }
    return true;
}

static ocdm_status fail_over_memory(const char *name, const ocdm__image_limits *limits, uint64_t needed, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_LIMIT, "shrink the image, or leave it out",
                      "%s: reading it takes %" PRIu64 " bytes, more than the limit of %zu for an image", name, needed,
                      limits->memory);
}

ocdm_status ocdm__image_check_pixels(const struct ocdm__image_job *job, uint32_t width, uint32_t height)
{
    if ((uint64_t)width * height <= job->limits->pixels)
        return OCDM_OK;
    return ocdm__fail(job->error, OCDM_LIMIT, "shrink the image, or leave it out",
                      "%s: %" PRIu32 " x %" PRIu32 " pixels are more than the limit of %" PRIu64, job->file->name, width,
                      height, job->limits->pixels);
}

ocdm_status ocdm__image_make_room(const struct ocdm__image_job *job, uint32_t width, uint32_t height, uint64_t decoder)
{
    uint64_t pixel_bytes = (uint64_t)width * height * 3; /* below 2^64: the formats' widths and heights have 31 bits */
    uint64_t others = job->file->size + decoder;
    size_t limit = job->limits->memory;
    if (pixel_bytes > limit || others > limit - pixel_bytes)
        return fail_over_memory(job->file->name, job->limits, pixel_bytes + others, job->error);
    if (!ocdm__image_buffer_fit(&job->image->rgb, (size_t)pixel_bytes))
        return ocdm__fail_memory(job->error, "the pixels of an image");
    job->image->width = width;
    job->image->height = height;
    return OCDM_OK;
}

ocdm_status ocdm__image_decode(const ocdm__image_file *file, const ocdm__image_limits *limits, uint32_t resize,
                               ocdm__image *image, ocdm_error *error)
{
    struct ocdm__image_job job = {.file = file, .limits = limits, .resize = resize, .image = image, .error = error};
    if (ocdm__is_jpeg(file->bytes, file->size))
        return ocdm__image_decode_jpeg(&job);
    if (ocdm__is_png(file->bytes, file->size))
        return ocdm__image_decode_png(&job);
    return ocdm__fail(error, OCDM_BAD_FILE, "images are JPEG or PNG files", "%s: %s", file->name,
                      file->size ? "neither a JPEG nor a PNG image" : "the file is empty");
}

ocdm_status ocdm__image_read(const char *path, const ocdm__image_limits *limits, uint32_t resize,
                             ocdm__image_buffer *file_bytes, size_t *size, ocdm__image *image, ocdm_error *error)
{
    struct stat found;
    ssize_t count = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ocdm__fail(error, OCDM_IO, "", "cannot open %s: %s", path, strerror(errno));
    ocdm_status status = OCDM_OK;
    /* A regular file within the limit: a pipe or a device could keep a worker waiting forever. */
    if (fstat(fd, &found) != 0)
        status = ocdm__fail(error, OCDM_IO, "", "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(found.st_mode))
        status = ocdm__fail(error, OCDM_IO, "", "cannot read %s: not a regular file", path);
    else if ((uint64_t)found.st_size > limits->memory)
        status = fail_over_memory(path, limits, (uint64_t)found.st_size, error);
    else if (!ocdm__image_buffer_fit(file_bytes, (size_t)found.st_size))
        status = ocdm__fail_memory(error, "an image file");
    /* Fewer bytes when the file became shorter meanwhile, which the decoder then finds. */
    for (*size = 0; status == OCDM_OK && count != 0 && *size < (size_t)found.st_size; *size += (size_t)count) {
        do
            count = read(fd, file_bytes->bytes + *size, (size_t)found.st_size - *size);
        while (count < 0 && errno == EINTR);
        if (count < 0) {
            status = ocdm__fail(error, OCDM_IO, "", "cannot read %s: %s", path, strerror(errno));
            count = 0;
        }
    }
    close(fd);
    OCDM_TRY(status);
    const ocdm__image_file file = {path, file_bytes->bytes, *size};
    return ocdm__image_decode(&file, limits, resize, image, error);
}
