/* Prepares images: chooses the square, mirrors it or not, and converts bytes to floats by a table. Knows nothing about
 * threads. */
#include "stream/images/prepare.h"

#include "base/bytes.h"

/* Larger blocks are released after use, so that one huge image does not stay in every thread forever. */
#define ROOM_TO_KEEP ((size_t)16 << 20)

ocdm__image_settings ocdm__image_settings_default(void)
{
    return (ocdm__image_settings){
        .resize = 256, .crop = 224, .scaling = OCDM__IMAGE_IMAGENET, .limits = ocdm__image_limits_default()};
}

ocdm_status ocdm__image_plan_make(const ocdm__image_settings *settings, ocdm__image_plan *plan, ocdm_error *error)
{
    uint32_t largest = settings->resize ? settings->resize : OCDM__IMAGE_LARGEST_SIDE;
    if (settings->resize > OCDM__IMAGE_LARGEST_SIDE)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "images cannot be resized to %" PRIu32 " pixels: at most %u",
                          settings->resize, OCDM__IMAGE_LARGEST_SIDE);
    if (settings->crop < 1 || settings->crop > largest)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "the crop is taken out of the resized image",
                          "a crop of %" PRIu32 " pixels is not between 1 and %" PRIu32, settings->crop, largest);
    if (settings->pad >= settings->crop)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "a border of %" PRIu32 " pixels is as wide as the crop, %" PRIu32,
                          settings->pad, settings->crop);
    if (settings->scaling != OCDM__IMAGE_IMAGENET && settings->scaling != OCDM__IMAGE_SYMMETRIC)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "no scaling of pixels has the number %d", (int)settings->scaling);
    static const float mean[3] = OCDM__IMAGENET_MEAN, deviation[3] = OCDM__IMAGENET_DEVIATION;
    plan->settings = *settings;
    plan->random_base = ocdm__random_base(settings->seed, OCDM__FOR_AUGMENTATION);
    for (size_t channel = 0; channel < 3; channel++)
        for (size_t byte = 0; byte < 256; byte++)
            plan->value[channel][byte] = settings->scaling == OCDM__IMAGE_SYMMETRIC
                                             ? (float)byte / 127.5f - 1.0f
                                             : ((float)byte / 255.0f - mean[channel]) / deviation[channel];
    return OCDM_OK;
}

size_t ocdm__image_floats(const ocdm__image_settings *settings)
{
    return (size_t)3 * settings->crop * settings->crop;
}

void ocdm__image_scratch_clear(ocdm__image_scratch *scratch)
{
    ocdm__image_buffer_clear(&scratch->file);
    ocdm__image_buffer_clear(&scratch->image.rgb);
    ocdm__image_buffer_clear(&scratch->cropped);
    ocdm__image_buffer_clear(&scratch->small);
    ocdm__image_buffer_clear(&scratch->encoded);
    ocdm__image_resizer_clear(&scratch->resizer);
}

/* Where the middle square begins. Half a pixel is rounded to even, as in torchvision's CenterCrop. */
static uint64_t middle(uint64_t spare)
{
    uint64_t half = spare / 2;
    return half + (spare & half & 1);
}

/* One direction of a square that begins at `start` of the padded image: what it has of the image, and where in it that begins.
 */
struct extent {
    uint64_t first;
    uint32_t length, offset;
};

static struct extent cut_border(uint64_t start, uint32_t pad, uint64_t side, uint32_t crop)
{
    uint64_t end = start + crop < pad + side ? start + crop : pad + side;
    uint64_t inside = start > pad ? start : pad;
    return (struct extent){.first = inside - pad, .length = (uint32_t)(end - inside), .offset = (uint32_t)(inside - start)};
}

ocdm__image_view ocdm__image_choose_view(const ocdm__image_plan *plan, const ocdm__image_request *request,
                                         ocdm__image_size size)
{
    uint32_t crop = plan->settings.crop, pad = plan->settings.pad;
    uint64_t spare_width = size.width - crop, spare_height = size.height - crop;
    ocdm__image_view view = {.region = {middle(spare_width), middle(spare_height), crop, crop}};
    if (!request->training)
        return view;
    ocdm__random random = ocdm__random_stream(ocdm__random_at(plan->random_base, request->sample), request->step);
    uint64_t top = ocdm__random_below(&random, spare_height + 2 * (uint64_t)pad + 1);
    uint64_t left = ocdm__random_below(&random, spare_width + 2 * (uint64_t)pad + 1);
    struct extent rows = cut_border(top, pad, size.height, crop), columns = cut_border(left, pad, size.width, crop);
    view.region = (ocdm__image_region){columns.first, rows.first, columns.length, rows.length};
    view.left = columns.offset;
    view.top = rows.offset;
    view.mirrored = ocdm__random_next(&random) >> 63;
    return view;
}

static const char *name_of(const ocdm__image_request *request)
{
    return request->path ? request->path : "an image in memory";
}

static bool is_stored(const ocdm__image_plan *plan, const ocdm__image_request *request)
{
    return request->stored && plan->settings.storing.quality > 0;
}

static ocdm_status load(const ocdm__image_plan *plan, const ocdm__image_request *request, ocdm__image_scratch *scratch,
                        ocdm_error *error)
{
    const ocdm__image_settings *settings = &plan->settings;
    const uint32_t channels = request->planes != NULL ? request->channels : 0;
    if (request->path == NULL && channels != 1 && channels != 3)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "an image in memory has %" PRIu32 " channels, not 1 or 3", channels);
    if (request->path == NULL)
        return ocdm__image_take_planes(&scratch->image, request->planes, channels, request->width, request->height)
                   ? OCDM_OK
                   : ocdm__fail_memory(error, "the pixels of an image");
    uint32_t resize = is_stored(plan, request) ? settings->storing.pixels : settings->resize;
    size_t size;
    OCDM_TRY(ocdm__image_read(request->path, &settings->limits, resize, &scratch->file, &size, &scratch->image, error));
    if (request->sum != NULL) {
        uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, scratch->file.bytes, size);
        atomic_store_explicit(request->sum, (uint32_t)(sum ^ sum >> 32) | 1, memory_order_relaxed);
    }
    return OCDM_OK;
}

/* ---- storing ------------------------------------------------------------------------------------------------------------ */

/* Encodes the image with a shorter side of `pixels` at the first quality that fits. `used` becomes 0 when none does. */
static ocdm_status encode_at(const ocdm__image_plan *plan, ocdm__image_scratch *scratch, uint32_t pixels, size_t *used,
                             ocdm_error *error)
{
    const ocdm__image *image = &scratch->image;
    const ocdm__image_storing *storing = &plan->settings.storing;
    uint32_t shorter = image->width < image->height ? image->width : image->height;
    ocdm__image_size size = ocdm__image_resized_size(image->width, image->height, shorter > pixels ? pixels : 0);
    if (size.width > OCDM__IMAGE_LARGEST_SIDE || size.height > OCDM__IMAGE_LARGEST_SIDE)
        return ocdm__fail(error, OCDM_LIMIT, "leave it out", "an image of %" PRIu32 " x %" PRIu32 " pixels cannot be stored",
                          image->width, image->height);
    const ocdm__image_region all = {.width = (uint32_t)size.width, .height = (uint32_t)size.height};
    if (!ocdm__image_buffer_fit(&scratch->small, (size_t)all.width * all.height * 3) ||
        !ocdm__image_buffer_fit(&scratch->encoded, storing->bytes))
        return ocdm__fail_memory(error, "an image that is stored");
    ocdm_status status = ocdm__image_resize(&scratch->resizer, image, size, &all, scratch->small.bytes, error);
    struct ocdm__image_pixels small = {scratch->small.bytes, all.width, all.height};
    *used = 0;
    for (uint32_t quality = storing->quality; status == OCDM_OK && quality > 0 && *used == 0;) {
        *used = storing->bytes;
        status = ocdm__image_encode_jpeg(&small, quality, scratch->encoded.bytes, used, error);
        quality = quality > 6 ? quality - 5 : quality > 1 ? 1 : 0; /* five less, at last 1 */
    }
    return status;
}

/* ---- the network's input ------------------------------------------------------------------------------------------------ */

static void write_floats(const ocdm__image_plan *plan, const uint8_t *rgb, const ocdm__image_view *view, float *out)
{
    size_t crop = plan->settings.crop, width = view->region.width, height = view->region.height;
    size_t left = view->mirrored ? crop - view->left - width : view->left;
    bool bordered = width < crop || height < crop;
    for (size_t channel = 0; channel < 3; channel++, out += crop * crop) {
        const float *value = plan->value[channel];
        for (size_t i = 0; bordered && i < crop * crop; i++)
            out[i] = value[0];
        for (size_t y = 0; y < height; y++) {
            const uint8_t *row = rgb + y * width * 3 + channel;
            float *to = out + (view->top + y) * crop + left;
            for (size_t x = 0; !view->mirrored && x < width; x++)
                to[x] = value[row[3 * x]];
            for (size_t x = 0; view->mirrored && x < width; x++)
                to[width - 1 - x] = value[row[3 * x]];
        }
    }
}

static ocdm_status crop_and_write(const ocdm__image_plan *plan, const ocdm__image_request *request, ocdm__image_size size,
                                  ocdm__image_scratch *scratch, float *out, ocdm_error *error)
{
    const ocdm__image *image = &scratch->image;
    uint32_t crop = plan->settings.crop;
    if (size.width < crop || size.height < crop)
        return ocdm__fail(error, OCDM_BAD_FILE, "resize the images, or take a smaller crop",
                          "%s: %" PRIu32 " x %" PRIu32 " pixels are less than the crop of %" PRIu32, name_of(request),
                          image->width, image->height, crop);
    ocdm__image_view view = ocdm__image_choose_view(plan, request, size);
    if (!ocdm__image_buffer_fit(&scratch->cropped, ocdm__image_floats(&plan->settings)))
        return ocdm__fail_memory(error, "the crop of an image");
    OCDM_TRY(ocdm__image_resize(&scratch->resizer, image, size, &view.region, scratch->cropped.bytes, error));
    write_floats(plan, scratch->cropped.bytes, &view, out);
    return OCDM_OK;
}

static void give_back_if_large(ocdm__image_buffer *buffer)
{
    if (buffer->room > ROOM_TO_KEEP)
        ocdm__image_buffer_clear(buffer);
}

ocdm_status ocdm__image_prepare(const ocdm__image_plan *plan, const ocdm__image_request *request, ocdm__image_scratch *scratch,
                                float *out, ocdm_error *error)
{
    ocdm_status status = load(plan, request, scratch, error);
    ocdm__image_size size = {0};
    if (status == OCDM_OK) /* before it is stored: it is as large afterwards */
        size = ocdm__image_resized_size(scratch->image.width, scratch->image.height, plan->settings.resize);
    /* The image becomes what is left of it after it was stored. One that does not fit at any quality is stored at half the
     * side, and so on. */
    size_t used = 0;
    uint32_t pixels = plan->settings.storing.pixels;
    bool stored = is_stored(plan, request);
    for (; stored && status == OCDM_OK && used == 0; pixels /= 2)
        status = pixels > 0 ? encode_at(plan, scratch, pixels, &used, error)
                            : ocdm__fail(error, OCDM_LIMIT, "leave it out", "%s: the image cannot be stored in %zu bytes",
                                         name_of(request), plan->settings.storing.bytes);
    const ocdm__image_file file = {name_of(request), scratch->encoded.bytes, used};
    if (stored)
        OCDM_THEN(status, ocdm__image_decode(&file, &plan->settings.limits, 0, &scratch->image, error));
    OCDM_THEN(status, crop_and_write(plan, request, size, scratch, out, error));
    give_back_if_large(&scratch->file);
    give_back_if_large(&scratch->image.rgb);
    give_back_if_large(&scratch->resizer.rows);
    return status;
}
