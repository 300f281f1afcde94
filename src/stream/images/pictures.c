/* Small pictures of samples, from the images in a stream or from the files that it names. */
#include "stream/images/image.h"

#include "base/files.h"
#include "base/text.h"
#include "stream/file.h"

struct ocdm__stream_pictures {
    ocdm_stream *file;
    const ocdm__stream *stream; /* inside it */
    ocdm__image image;
    ocdm__image_buffer bytes;
    ocdm__image_resizer resizer;
};

void ocdm__stream_pictures_close(ocdm__stream_pictures *pictures)
{
    if (pictures == NULL)
        return;
    ocdm_stream_close(pictures->file);
    ocdm__image_buffer_clear(&pictures->image.rgb);
    ocdm__image_buffer_clear(&pictures->bytes);
    ocdm__image_resizer_clear(&pictures->resizer);
    ocdm__release(pictures);
}

ocdm_status ocdm__stream_pictures_open(ocdm__stream_pictures **pictures, const char *path, ocdm_error *error)
{
    ocdm_stream *file;
    OCDM_TRY(ocdm_stream_open(path, &file, error));
    const ocdm__stream *stream = ocdm__stream_inside(file);
    bool has_files = stream->table.paths.starts != NULL && stream->image_root != NULL;
    ocdm__stream_pictures *made = ocdm__allocate(1, sizeof *made);
    if (made != NULL && (has_files || stream->shape.kind == OCDM__IMAGES)) {
        *made = (ocdm__stream_pictures){.file = file, .stream = stream};
        *pictures = made;
        return OCDM_OK;
    }
    ocdm_status status = made == NULL ? ocdm__fail_memory(error, "pictures")
                                      : ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%s: its samples have no images", path);
    ocdm__release(made);
    ocdm_stream_close(file);
    return status;
}

/* The file that the stream names. A path that leads out of the images' folder is not followed. */
static bool read_file(ocdm__stream_pictures *pictures, size_t sample, uint32_t side)
{
    size_t length;
    const char *name = ocdm__text_at(&pictures->stream->table.paths, sample, &length);
    const char *root = pictures->stream->image_root;
    if (!ocdm__is_relative_path(name, length))
        return false;
    char *path;
    if (ocdm__format(&path, NULL, "%s/%.*s", root, (int)length, name) != OCDM_OK)
        return false;
    ocdm__image_limits limits = ocdm__image_limits_default();
    size_t size;
    ocdm_status status = ocdm__image_read(path, &limits, side, &pictures->bytes, &size, &pictures->image, NULL);
    ocdm__release(path);
    return status == OCDM_OK;
}

bool ocdm__stream_picture(ocdm__stream_pictures *pictures, const char *id, uint32_t side, uint8_t *rgb)
{
    const ocdm__stream *stream = pictures->stream;
    const ocdm__payload_shape *shape = &stream->shape;
    ocdm__image *image = &pictures->image;
    size_t sample = 0, count = stream->table.sample_count, length;
    for (; sample < count; sample++) {
        const char *text = ocdm__text_at(&stream->table.ids, sample, &length);
        if (ocdm__text_is(text, length, id))
            break;
    }
    /* The stream's own planes as pixels, or the file that it names. */
    if (sample == count)
        return false;
    if (shape->kind != OCDM__IMAGES
            ? !read_file(pictures, sample, side)
            : ocdm__stream_check(stream, sample, NULL) != OCDM_OK ||
                  !ocdm__image_take_planes(image, ocdm__stream_image(stream, sample), (uint32_t)shape->channels,
                                           (uint32_t)shape->width, (uint32_t)shape->height))
        return false;
    ocdm__image_size size = ocdm__image_resized_size(image->width, image->height, side);
    ocdm__image_region region = {(size.width - side) / 2, (size.height - side) / 2, side, side};
    return ocdm__image_resize(&pictures->resizer, image, size, &region, rgb, NULL) == OCDM_OK;
}
