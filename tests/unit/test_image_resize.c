/* Resizing: Pillow's pixels, a plain judge for every other size, and regions that equal the same part of the whole. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "../golden/image_hex.h"
#include "../golden/image_resized.h"
#include "base/random.h"
#include "stream/images/image.h"

/* The same numbers as noise() in tests/make-golden-images. */
static ocdm__image noise(uint32_t width, uint32_t height)
{
    ocdm__image image = {.width = width, .height = height};
    assert_true(ocdm__image_buffer_fit(&image.rgb, (size_t)width * height * 3));
    uint32_t state = 12345;
    for (size_t i = 0; i < (size_t)width * height * 3; i++) {
        state = state * 1103515245u + 12345u;
        image.rgb.bytes[i] = (uint8_t)(state >> 24);
    }
    return image;
}

static uint8_t *resize(const ocdm__image *image, ocdm__image_size size, ocdm__image_region region)
{
    ocdm__image_resizer resizer = {0};
    uint8_t *rgb = malloc((size_t)region.width * region.height * 3);
    assert_non_null(rgb);
    assert_int_equal(ocdm__image_resize(&resizer, image, size, &region, rgb, NULL), OCDM_OK);
    ocdm__image_resizer_clear(&resizer);
    return rgb;
}

static uint8_t *resize_whole(const ocdm__image *image, uint32_t width, uint32_t height)
{
    return resize(image, (ocdm__image_size){width, height}, (ocdm__image_region){0, 0, width, height});
}

TEST(image_resize_gives_the_pixels_of_pillow)
{
    for (size_t i = 0; i < sizeof golden_resized / sizeof *golden_resized; i++) {
        char where[64];
        snprintf(where, sizeof where, "case %zu", i);
        size_t size;
        unsigned char *expected = from_hex(golden_resized[i].pixels, &size);
        ocdm__image image = noise(golden_resized[i].width, golden_resized[i].height);
        uint8_t *rgb = resize_whole(&image, golden_resized[i].new_width, golden_resized[i].new_height);
        HOLDS(where, size == (size_t)golden_resized[i].new_width * golden_resized[i].new_height * 3);
        HOLDS(where, memcmp(rgb, expected, size) == 0);
        ocdm__image_buffer_clear(&image.rgb);
        free(rgb);
        free(expected);
    }
}

/* The judge: one line of `count` values to one value of a line of `target`, by the definition:
 * the mean under a triangle around the position, as wide as the shrinking, at least one pixel to each side. */
static double judge_line(const double *line, uint32_t count, uint32_t target, uint32_t position)
{
    double scale = (double)count / target, width = fmax(scale, 1), center = (position + 0.5) * scale;
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < count; i++) {
        double weight = fmax(0, 1 - fabs(i + 0.5 - center) / width);
        sum += weight * line[i];
        weights += weight;
    }
    return sum / weights;
}

static double judge_pixel(const ocdm__image *image, ocdm__image_size size, uint32_t x, uint32_t y, size_t channel)
{
    double *columns = malloc(image->height * sizeof *columns), *row = malloc(image->width * sizeof *row);
    assert_true(columns && row);
    for (uint32_t j = 0; j < image->height; j++) {
        for (uint32_t i = 0; i < image->width; i++)
            row[i] = image->rgb.bytes[((size_t)j * image->width + i) * 3 + channel];
        columns[j] = judge_line(row, image->width, (uint32_t)size.width, x);
    }
    double pixel = judge_line(columns, image->height, (uint32_t)size.height, y);
    free(columns);
    free(row);
    return pixel;
}

static uint32_t draw(ocdm__random *random, uint32_t from, uint32_t to)
{
    return from + (uint32_t)ocdm__random_below(random, to - from + 1);
}

/* Two roundings to whole levels, of which the first is averaged: never a level away from the exact value and a half more. */
TEST(image_resize_is_within_a_level_of_the_judge)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(seed, 0);
        ocdm__image image = noise(draw(&random, 1, 60), draw(&random, 1, 60));
        uint32_t width = draw(&random, 1, 80), height = draw(&random, 1, 80);
        uint8_t *rgb = resize_whole(&image, width, height);
        for (int i = 0; i < 20; i++) {
            uint32_t x = draw(&random, 0, width - 1), y = draw(&random, 0, height - 1), channel = draw(&random, 0, 2);
            double exact = judge_pixel(&image, (ocdm__image_size){width, height}, x, y, channel);
            HOLDS(where, fabs(rgb[((size_t)y * width + x) * 3 + channel] - exact) <= 1.01);
        }
        ocdm__image_buffer_clear(&image.rgb);
        free(rgb);
    }
}

TEST(image_resize_of_a_region_equals_that_part_of_the_whole)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        char where[64];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        ocdm__random random = ocdm__random_stream(seed, 1);
        ocdm__image image = noise(draw(&random, 1, 50), draw(&random, 1, 50));
        uint32_t width = seed % 3 == 0 ? image.width : draw(&random, 1, 70);
        uint32_t height = seed % 4 == 0 ? image.height : draw(&random, 1, 70);
        ocdm__image_region region = {draw(&random, 0, width - 1), draw(&random, 0, height - 1), 0, 0};
        region.width = draw(&random, 1, width - (uint32_t)region.left);
        region.height = draw(&random, 1, height - (uint32_t)region.top);
        uint8_t *whole = resize_whole(&image, width, height);
        uint8_t *part = resize(&image, (ocdm__image_size){width, height}, region);
        for (uint32_t y = 0; y < region.height; y++)
            HOLDS(where, memcmp(part + (size_t)y * region.width * 3, whole + ((region.top + y) * width + region.left) * 3,
                                (size_t)region.width * 3) == 0);
        ocdm__image_buffer_clear(&image.rgb);
        free(whole);
        free(part);
    }
}

TEST(image_resize_keeps_an_image_that_has_the_size)
{
    ocdm__image image = noise(31, 17);
    uint8_t *rgb = resize_whole(&image, 31, 17);
    assert_memory_equal(rgb, image.rgb.bytes, 31 * 17 * 3);
    free(rgb);
    ocdm__image_buffer_clear(&image.rgb);
}

/* White stays white and black stays black, whatever the weights round to. */
TEST(image_resize_keeps_an_even_colour)
{
    for (int level = 0; level <= 255; level += 51)
        for (uint32_t target = 1; target <= 60; target += 7) {
            ocdm__image image = noise(37, 23);
            memset(image.rgb.bytes, level, 37 * 23 * 3);
            uint8_t *rgb = resize_whole(&image, target, 61 - target);
            for (size_t i = 0; i < (size_t)target * (61 - target) * 3; i++)
                assert_int_equal(rgb[i], level);
            free(rgb);
            ocdm__image_buffer_clear(&image.rgb);
        }
}

TEST(image_resized_size_follows_torchvision)
{
    static const struct {
        uint32_t width, height, resize, new_width, new_height;
    } cases[] = {{640, 480, 256, 341, 256}, {480, 640, 256, 256, 341}, {500, 375, 188, 250, 188}, {427, 640, 224, 224, 335},
                 {256, 256, 64, 64, 64},    {1, 1, 5, 5, 5},           {3, 2, 7, 10, 7},          {640, 480, 0, 640, 480}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__image_size size = ocdm__image_resized_size(cases[i].width, cases[i].height, cases[i].resize);
        assert_int_equal(size.width, cases[i].new_width);
        assert_int_equal(size.height, cases[i].new_height);
    }
}

/* A strip of 2^20 x 1 pixels, its shorter side to 2^14: the longer one does not fit 32 bits, but one square is wanted. */
TEST(image_resize_takes_a_region_of_what_would_never_fit)
{
    ocdm__image image = noise(1u << 20, 1);
    memset(image.rgb.bytes + 3 * ((1u << 20) - 2), 200, 6);
    ocdm__image_size size = ocdm__image_resized_size(image.width, image.height, 16384);
    assert_true(size.width == (uint64_t)1 << 34 && size.height == 16384);
    uint8_t *rgb = resize(&image, size, (ocdm__image_region){size.width - 20, 16000, 20, 20});
    for (size_t i = 0; i < 20 * 20 * 3; i++)
        assert_int_equal(rgb[i], 200);
    free(rgb);
    ocdm__image_buffer_clear(&image.rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_resize_gives_the_pixels_of_pillow),
        cmocka_unit_test(image_resize_is_within_a_level_of_the_judge),
        cmocka_unit_test(image_resize_of_a_region_equals_that_part_of_the_whole),
        cmocka_unit_test(image_resize_keeps_an_image_that_has_the_size),
        cmocka_unit_test(image_resize_keeps_an_even_colour),
        cmocka_unit_test(image_resized_size_follows_torchvision),
        cmocka_unit_test(image_resize_takes_a_region_of_what_would_never_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
