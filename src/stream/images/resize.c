/* Resizes images: weights per column and per row, then two passes over the bytes in simple loops that compilers vectorise. */
#include "stream/images/image.h"

/* 8 bits of pixel and 22 of weight leave a sign bit and one spare bit in 32. */
#define WEIGHT_BITS 22
#define HALF (INT32_C(1) << (WEIGHT_BITS - 1))

/* Bytes that the pass over rows sums at a time: a fixed number, so that the compiler can use vectors. */
#define BLOCK 32

/* What one column or row of the result is made of: source positions from `first` on, and their weights. */
struct stretch {
    uint32_t first, count;
    const int32_t *weights;
};

/* One direction: where the source is, how large it becomes, which part is wanted. */
struct direction {
    uint32_t source;
    uint64_t target;
    uint64_t from;
    uint32_t count;
    size_t most; /* weights that one position of the target can have */
};

static struct direction direction_of(uint32_t source, uint64_t target, uint64_t from, uint32_t count)
{
    double scale = (double)source / (double)target;
    double support = scale < 1 ? 1 : scale;
    double most = 2 * ceil(support) + 1;
    return (struct direction){source, target, from, count, most < source ? (size_t)most : source};
}

ocdm__image_size ocdm__image_resized_size(uint32_t width, uint32_t height, uint32_t resize)
{
    if (resize == 0 || width == 0 || height == 0)
        return (ocdm__image_size){width, height};
    if (width <= height)
        return (ocdm__image_size){resize, (uint64_t)resize * height / width};
    return (ocdm__image_size){(uint64_t)resize * width / height, resize};
}

void ocdm__image_resizer_clear(ocdm__image_resizer *resizer)
{
    ocdm__image_buffer_clear(&resizer->rows);
    ocdm__image_buffer_clear(&resizer->weights);
    ocdm__image_buffer_clear(&resizer->stretches);
}

static double triangle(double x)
{
    double height = 1 - fabs(x);
    return height > 0 ? height : 0;
}

/* The weights of one position. The order of operations is Pillow's: its roundings are part of the result. */
static void weigh(const struct direction *direction, uint64_t position, struct stretch *stretch, int32_t *weights)
{
    double scale = (double)direction->source / (double)direction->target;
    double support = scale < 1 ? 1 : scale;
    double center = ((double)position + 0.5) * scale;
    double begin = center - support + 0.5, end = center + support + 0.5;
    uint32_t first = begin > 0 ? (uint32_t)begin : 0;
    uint32_t last = end < direction->source ? (uint32_t)end : direction->source;
    double narrow = 1 / support, sum = 0;
    for (uint32_t i = first; i < last; i++)
        sum += triangle(((double)i - center + 0.5) * narrow);
    for (uint32_t i = first; i < last; i++) {
        double weight = triangle(((double)i - center + 0.5) * narrow);
        if (sum != 0)
            weight /= sum;
        weights[i - first] = (int32_t)(0.5 + weight * (1 << WEIGHT_BITS));
    }
    *stretch = (struct stretch){first, last - first, weights};
}

static void weigh_all(const struct direction *direction, struct stretch *stretches, int32_t *weights)
{
    for (uint32_t i = 0; i < direction->count; i++)
        weigh(direction, direction->from + i, &stretches[i], weights + i * direction->most);
}

/* Weights are positive and add up to about 1, so no result is below 0, and only rounding can exceed 255. */
static inline uint8_t pixel_of(int32_t sum)
{
    int32_t pixel = sum >> WEIGHT_BITS;
    return (uint8_t)(pixel > 255 ? 255 : pixel);
}

static void resize_columns(uint8_t *to, const uint8_t *row, const struct stretch *stretches, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++, to += 3) {
        const struct stretch *stretch = &stretches[x];
        const uint8_t *from = row + (size_t)stretch->first * 3;
        int32_t red = HALF, green = HALF, blue = HALF;
        for (uint32_t i = 0; i < stretch->count; i++, from += 3) {
            int32_t weight = stretch->weights[i];
            red += weight * from[0];
            green += weight * from[1];
            blue += weight * from[2];
        }
        to[0] = pixel_of(red);
        to[1] = pixel_of(green);
        to[2] = pixel_of(blue);
    }
}

static inline void add_rows(uint8_t *restrict to, const uint8_t *restrict from, size_t row_bytes, const struct stretch *stretch,
                            size_t count)
{
    int32_t sums[BLOCK];
    for (size_t i = 0; i < count; i++)
        sums[i] = HALF;
    for (uint32_t y = 0; y < stretch->count; y++, from += row_bytes) {
        int32_t weight = stretch->weights[y];
        for (size_t i = 0; i < count; i++)
            sums[i] += weight * from[i];
    }
    for (size_t i = 0; i < count; i++)
        to[i] = pixel_of(sums[i]);
}

/* Rows `top` to `bottom` of the source, from the region's first column on: the source's own, or with resized columns. */
struct rows {
    const uint8_t *bytes;
    size_t row_bytes;
    uint32_t top, bottom;
};

static void resize_rows(uint8_t *rgb, const struct rows *rows, const struct stretch *stretches,
                        const ocdm__image_region *region)
{
    size_t count = (size_t)region->width * 3;
    for (uint32_t y = 0; y < region->height; y++) {
        const struct stretch *stretch = &stretches[y];
        /* One row of the result out of the rows from `from` on, which are `row_bytes` apart. */
        uint8_t *to = rgb + y * count;
        const uint8_t *from = rows->bytes + (stretch->first - rows->top) * rows->row_bytes;
        size_t i = 0;
        for (; i + BLOCK <= count; i += BLOCK)
            add_rows(to + i, from + i, rows->row_bytes, stretch, BLOCK);
        add_rows(to + i, from + i, rows->row_bytes, stretch, count - i);
    }
}

ocdm_status ocdm__image_resize(ocdm__image_resizer *resizer, const ocdm__image *image, ocdm__image_size size,
                               const ocdm__image_region *region, uint8_t *rgb, ocdm_error *error)
{
    struct direction across = direction_of(image->width, size.width, region->left, region->width);
    struct direction down = direction_of(image->height, size.height, region->top, region->height);
    /* Room for the tables of both directions, one after the other. */
    size_t stretches = (size_t)across.count + down.count, weight_count = across.count * across.most + down.count * down.most;
    if (!ocdm__image_buffer_fit(&resizer->stretches, stretches * sizeof(struct stretch)) ||
        !ocdm__image_buffer_fit(&resizer->weights, weight_count * sizeof(int32_t)))
        return ocdm__fail_memory(error, "resizing an image");
    struct stretch *columns = (struct stretch *)(void *)resizer->stretches.bytes, *lines = columns + across.count;
    int32_t *weights = (int32_t *)(void *)resizer->weights.bytes;
    weigh_all(&across, columns, weights);
    weigh_all(&down, lines, weights + across.count * across.most);

    bool same_height = size.height == image->height;
    const struct stretch *last = &lines[down.count - 1];
    struct rows rows = {.top = lines[0].first, .bottom = last->first + last->count};
    if (same_height) {
        rows.top = (uint32_t)region->top;
        rows.bottom = rows.top + region->height;
    }
    if (size.width == image->width) {
        rows.row_bytes = (size_t)image->width * 3;
        rows.bytes = image->rgb.bytes + rows.top * rows.row_bytes + region->left * 3;
    } else {
        rows.row_bytes = (size_t)region->width * 3;
        if (!ocdm__image_buffer_fit(&resizer->rows, (size_t)(rows.bottom - rows.top) * rows.row_bytes))
            return ocdm__fail_memory(error, "resizing an image");
        rows.bytes = resizer->rows.bytes;
        for (uint32_t y = rows.top; y < rows.bottom; y++)
            resize_columns(resizer->rows.bytes + (y - rows.top) * rows.row_bytes,
                           image->rgb.bytes + y * (size_t)image->width * 3, columns, region->width);
    }
    if (same_height) {
        size_t count = (size_t)region->width * 3;
        for (uint32_t y = 0; y < region->height; y++)
            memcpy(rgb + y * count, rows.bytes + y * rows.row_bytes, count);
    } else
        resize_rows(rgb, &rows, lines, region);
    return OCDM_OK;
}
