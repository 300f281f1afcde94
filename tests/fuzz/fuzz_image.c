/*
 * Any bytes as an image file. The first byte picks the sizes; the rest is the file. It is refused, or becomes a picture within
 * the limits, of which every byte is touched and which is resized and cropped; a second decoding must give the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_bytes.h"
#include "stream/image_prepare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, so that a run is short whatever the file promises. */
static const ocdm__image_limits limits = {.pixels = 1 << 16, .scans = 12, .memory = 1 << 21};

static uint64_t hash_of(const ocdm__image *image)
{
    return ocdm__hash_bytes((const char *)image->rgb.bytes, (size_t)image->width * image->height * 3);
}

static void check_error(ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_BAD_FILE && status != OCDM_LIMIT)
        abort();
    if (error->status != status || strncmp(error->message, "fuzz: ", 6) != 0)
        abort();
}

static void crop(const ocdm__image *image, uint32_t resize, uint8_t choice)
{
    static uint8_t rgb[32 * 32 * 3];
    ocdm__image_size size = ocdm__image_resized_size(image->width, image->height, resize);
    uint32_t side = resize ? 1 + choice % resize : 1;
    ocdm__image_region region = {(size.width - side) / 2, size.height - side, side, side};
    ocdm__image_resizer resizer = {0};
    if (ocdm__image_resize(&resizer, image, size, &region, rgb, NULL) != OCDM_OK)
        abort();
    ocdm__image_resizer_clear(&resizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint32_t resize = data[0] % 33;
    ocdm__image_file file = {.name = "fuzz", .bytes = data + 1, .size = size - 1};
    ocdm__image image = {0}, again = {0};
    ocdm_error error;
    ocdm_status status = ocdm__image_decode(&file, &limits, resize, &image, &error);
    if (status != OCDM_OK)
        check_error(status, &error);
    else {
        if (image.width == 0 || image.height == 0 || (uint64_t)image.width * image.height > limits.pixels)
            abort();
        if (ocdm__image_decode(&file, &limits, resize, &again, &error) != OCDM_OK || hash_of(&image) != hash_of(&again))
            abort();
        crop(&image, resize, data[0] / 33);
    }
    ocdm__image_buffer_clear(&image.rgb);
    ocdm__image_buffer_clear(&again.rgb);
    return 0;
}
