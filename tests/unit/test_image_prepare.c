/* Preparing images: which square is used, what depends on which key, and the resulting floats. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "../test.h"
#include "stream/images/prepare.h"

static ocdm__image_plan plan_of(uint32_t resize, uint32_t crop, uint64_t seed)
{
    ocdm__image_settings settings = ocdm__image_settings_default();
    settings.resize = resize;
    settings.crop = crop;
    settings.scaling = OCDM__IMAGE_SYMMETRIC;
    settings.seed = seed;
    ocdm__image_plan plan;
    assert_int_equal(ocdm__image_plan_make(&settings, &plan, NULL), OCDM_OK);
    return plan;
}

/* Planes in which no two bytes that could be confused are equal. */
static uint8_t *make_planes(uint32_t channels, uint32_t width, uint32_t height)
{
    uint8_t *planes = malloc((size_t)channels * width * height);
    assert_non_null(planes);
    for (size_t i = 0; i < (size_t)channels * width * height; i++)
        planes[i] = (uint8_t)(i * 151 + (i >> 8));
    return planes;
}

static ocdm__image_request request_of(const uint8_t *planes, uint32_t channels, uint32_t width, uint32_t height)
{
    return (ocdm__image_request){.planes = planes, .channels = channels, .width = width, .height = height};
}

static float symmetric(uint8_t byte)
{
    return (float)byte / 127.5f - 1.0f;
}

static ocdm_status prepare(const ocdm__image_plan *plan, const ocdm__image_request *request, float *out, ocdm_error *error)
{
    ocdm__image_scratch scratch = {0};
    ocdm_status status = ocdm__image_prepare(plan, request, &scratch, out, error);
    ocdm__image_scratch_clear(&scratch);
    return status;
}

/* What torchvision's CenterCrop gives: int(round(spare / 2)) in Python, which rounds halves to even. */
TEST(image_prepare_takes_the_middle_as_torchvision_does)
{
    static const uint64_t middle[] = {0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6};
    ocdm__image_plan plan = plan_of(0, 10, 0);
    ocdm__image_request request = {.training = false};
    for (uint64_t spare = 0; spare < sizeof middle / sizeof *middle; spare++) {
        ocdm__image_view view = ocdm__image_choose_view(&plan, &request, (ocdm__image_size){10 + spare, 22 - spare});
        assert_int_equal(view.region.left, middle[spare]);
        assert_int_equal(view.region.top, middle[12 - spare]);
        assert_true(view.region.width == 10 && view.region.height == 10 && !view.mirrored);
    }
}

TEST(image_prepare_scales_bytes_as_networks_want_them)
{
    static const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};
    ocdm__image_settings settings = ocdm__image_settings_default();
    ocdm__image_plan plan;
    assert_int_equal(ocdm__image_plan_make(&settings, &plan, NULL), OCDM_OK);
    for (int channel = 0; channel < 3; channel++)
        for (int byte = 0; byte < 256; byte++)
            assert_true(plan.value[channel][byte] == ((float)byte / 255.0f - mean[channel]) / deviation[channel]);
    settings.scaling = OCDM__IMAGE_SYMMETRIC;
    assert_int_equal(ocdm__image_plan_make(&settings, &plan, NULL), OCDM_OK);
    for (int channel = 0; channel < 3; channel++) {
        assert_true(plan.value[channel][0] == -1.0f && plan.value[channel][255] == 1.0f);
        assert_true(plan.value[channel][51] == symmetric(51));
    }
}

/* Every float against the byte that it comes from, for squares anywhere in pictures of any shape. */
TEST(image_prepare_writes_the_chosen_square)
{
    size_t mirrored = 0;
    for (uint64_t sample = 0; sample < 200; sample++) {
        char where[64];
        snprintf(where, sizeof where, "sample %d", (int)sample);
        uint32_t channels = sample % 5 == 0 ? 1 : 3, crop = 1 + (uint32_t)(sample % 9);
        uint32_t width = crop + (uint32_t)(sample * 7 % 4), height = crop + (uint32_t)(sample * 3 % 5);
        uint8_t *planes = make_planes(channels, width, height);
        ocdm__image_request request = request_of(planes, channels, width, height);
        request.sample = sample;
        request.training = sample % 3 != 0;
        ocdm__image_plan plan = plan_of(0, crop, 77);
        ocdm__image_view view = ocdm__image_choose_view(&plan, &request, (ocdm__image_size){width, height});
        mirrored += view.mirrored;
        float out[3 * 9 * 9];
        assert_int_equal(prepare(&plan, &request, out, NULL), OCDM_OK);
        for (size_t c = 0, i = 0; c < 3; c++)
            for (size_t y = 0; y < crop; y++)
                for (size_t x = 0; x < crop; x++, i++) {
                    size_t column = view.region.left + (view.mirrored ? crop - 1 - x : x), row = view.region.top + y;
                    size_t plane = channels == 3 ? c : 0;
                    HOLDS(where, out[i] == symmetric(planes[(plane * height + row) * width + column]));
                }
        free(planes);
    }
    assert_true(mirrored > 20);
}

/* The same with a border: what a padded copy of the picture has there. Squares reach into the border on every side. */
TEST(image_prepare_surrounds_small_pictures_with_black)
{
    enum { SIDE = 9, PAD = 2, PADDED = SIDE + 2 * PAD };
    uint8_t *planes = make_planes(3, SIDE, SIDE);
    bool reached[PADDED - SIDE + 1][PADDED - SIDE + 1] = {{false}};
    ocdm__image_plan plan = plan_of(0, SIDE, 77);
    plan.settings.pad = PAD;
    for (uint64_t sample = 0; sample < 300; sample++) {
        ocdm__image_request request = request_of(planes, 3, SIDE, SIDE);
        request.sample = sample;
        request.training = sample % 7 != 0;
        ocdm__image_view view = ocdm__image_choose_view(&plan, &request, (ocdm__image_size){SIDE, SIDE});
        size_t top = PAD + view.region.top - view.top, left = PAD + view.region.left - view.left;
        assert_true(top <= 2 * PAD && left <= 2 * PAD && (request.training || (top == PAD && left == PAD)));
        reached[top][left] = true;
        float out[3 * SIDE * SIDE];
        assert_int_equal(prepare(&plan, &request, out, NULL), OCDM_OK);
        for (size_t i = 0; i < 3 * SIDE * SIDE; i++) {
            size_t x = i % SIDE, y = i / SIDE % SIDE;
            size_t row = top + y, column = left + (view.mirrored ? SIDE - 1 - x : x);
            bool inside = row >= PAD && row < PAD + SIDE && column >= PAD && column < PAD + SIDE;
            size_t pixel = inside ? (i / (SIDE * SIDE) * SIDE + row - PAD) * SIDE + column - PAD : 0;
            assert_true(out[i] == symmetric(inside ? planes[pixel] : 0));
        }
    }
    for (size_t i = 0; i < 25; i++)
        assert_true(reached[i / 5][i % 5]);
    free(planes);
}

static bool same_view(const ocdm__image_view *a, const ocdm__image_view *b)
{
    return a->region.left == b->region.left && a->region.top == b->region.top && a->mirrored == b->mirrored;
}

/* Seed, sample and step each change the choice, and nothing else does: in a million places two choices rarely agree. */
TEST(image_prepare_hangs_on_seed_sample_and_step)
{
    ocdm__image_size size = {1010, 1020};
    ocdm__image_plan plan = plan_of(0, 10, 5), other_seed = plan_of(0, 10, 6);
    ocdm__image_request request = {.sample = 40, .step = 9, .training = true}, next_sample = request, next_step = request;
    ocdm__image_request swapped = {.sample = 9, .step = 40, .training = true}, with_path = request;
    next_sample.sample++;
    next_step.step++;
    with_path.path = "elsewhere";
    ocdm__image_view view = ocdm__image_choose_view(&plan, &request, size);
    ocdm__image_view again = ocdm__image_choose_view(&plan, &with_path, size);
    assert_true(same_view(&view, &again));
    const ocdm__image_request *others[] = {&next_sample, &next_step, &swapped};
    for (size_t i = 0; i < 3; i++) {
        ocdm__image_view other = ocdm__image_choose_view(&plan, others[i], size);
        assert_false(same_view(&view, &other));
    }
    ocdm__image_view other = ocdm__image_choose_view(&other_seed, &request, size);
    assert_false(same_view(&view, &other));
}

/* 4 x 3 places, mirrored or not: 24 choices, each about 500 times in 12,000. Seven deviations are allowed. */
TEST(image_prepare_chooses_every_square_equally_often)
{
    size_t seen[3][4][2] = {{{0}}};
    ocdm__image_plan plan = plan_of(0, 5, 3);
    for (uint64_t step = 0; step < 12000; step++) {
        ocdm__image_request request = {.sample = 11, .step = step, .training = true};
        ocdm__image_view view = ocdm__image_choose_view(&plan, &request, (ocdm__image_size){8, 7});
        assert_true(view.region.top < 3 && view.region.left < 4);
        seen[view.region.top][view.region.left][view.mirrored]++;
    }
    for (size_t i = 0; i < 24; i++) {
        size_t count = seen[i / 8][i / 2 % 4][i % 2];
        assert_true(count > 350 && count < 650);
    }
}

/* A square of the resized picture is what resizing everything and cutting afterwards gives. */
TEST(image_prepare_resizes_before_it_crops)
{
    enum { WIDTH = 41, HEIGHT = 30, RESIZE = 17, CROP = 12, WIDE = 23 };
    uint8_t *planes = make_planes(3, WIDTH, HEIGHT);
    ocdm__image image = {.width = WIDTH, .height = HEIGHT};
    assert_true(ocdm__image_buffer_fit(&image.rgb, WIDTH * HEIGHT * 3));
    for (size_t i = 0; i < WIDTH * HEIGHT * 3; i++)
        image.rgb.bytes[i] = planes[i % 3 * WIDTH * HEIGHT + i / 3];
    ocdm__image_resizer resizer = {0};
    uint8_t whole[WIDE * RESIZE * 3];
    ocdm__image_region everything = {0, 0, WIDE, RESIZE};
    ocdm__image_size size = {WIDE, RESIZE};
    assert_int_equal(ocdm__image_resize(&resizer, &image, size, &everything, whole, NULL), OCDM_OK);
    ocdm__image_plan plan = plan_of(RESIZE, CROP, 1);
    for (uint64_t step = 0; step < 30; step++) {
        ocdm__image_request request = request_of(planes, 3, WIDTH, HEIGHT);
        request.step = step;
        request.training = step != 7;
        ocdm__image_view view = ocdm__image_choose_view(&plan, &request, size);
        float out[3 * CROP * CROP];
        assert_int_equal(prepare(&plan, &request, out, NULL), OCDM_OK);
        for (size_t i = 0; i < 3 * CROP * CROP; i++) {
            size_t x = i % CROP, y = i / CROP % CROP, channel = i / (CROP * CROP);
            size_t column = view.region.left + (view.mirrored ? CROP - 1 - x : x);
            assert_true(out[i] == symmetric(whole[((view.region.top + y) * WIDE + column) * 3 + channel]));
        }
    }
    ocdm__image_resizer_clear(&resizer);
    ocdm__image_buffer_clear(&image.rgb);
    free(planes);
}

TEST(image_prepare_refuses_an_image_smaller_than_the_crop)
{
    uint8_t *planes = make_planes(3, 9, 20);
    ocdm__image_plan plan = plan_of(0, 10, 0);
    ocdm__image_request request = request_of(planes, 3, 9, 20);
    float out[300];
    memset(out, 0, sizeof out);
    ocdm_error error;
    assert_int_equal(prepare(&plan, &request, out, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "an image in memory: 9 x 20 pixels are less than the crop of 10");
    for (size_t i = 0; i < 300; i++)
        assert_true(out[i] == 0);
    plan = plan_of(12, 10, 0); /* resized it is large enough */
    assert_int_equal(prepare(&plan, &request, out, NULL), OCDM_OK);
    request.width = 0;
    assert_int_equal(prepare(&plan, &request, out, &error), OCDM_BAD_FILE);
    request = request_of(planes, 4, 3, 15);
    assert_int_equal(prepare(&plan, &request, out, &error), OCDM_BAD_ARGUMENT);
    free(planes);
}

TEST(image_prepare_refuses_settings_that_cannot_be)
{
    static const struct {
        uint32_t resize, crop;
        int scaling;
    } cases[] = {{256, 0, 0}, {256, 257, 0}, {0, 0, 0}, {0, 16385, 0}, {16385, 10, 0}, {256, 224, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__image_settings settings = ocdm__image_settings_default();
        settings.resize = cases[i].resize;
        settings.crop = cases[i].crop;
        settings.scaling = (ocdm__image_scaling)cases[i].scaling;
        ocdm__image_plan plan;
        ocdm_error error;
        assert_int_equal(ocdm__image_plan_make(&settings, &plan, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
    }
}

/* ---- storing ------------------------------------------------------------------------------------------------------------ */

/* libjpeg's own way to memory and back: the bytes that a JPEG of these pixels takes, which are replaced by what it holds. */
static size_t through_libjpeg(uint8_t *rgb, uint32_t width, uint32_t height, int quality)
{
    struct jpeg_error_mgr messages;
    struct jpeg_compress_struct to = {.err = jpeg_std_error(&messages)};
    struct jpeg_decompress_struct from = {.err = &messages};
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg_create_compress(&to);
    jpeg_mem_dest(&to, &bytes, &size);
    to.image_width = width;
    to.image_height = height;
    to.input_components = 3;
    to.in_color_space = JCS_RGB;
    jpeg_set_defaults(&to);
    jpeg_set_quality(&to, quality, TRUE);
    to.optimize_coding = TRUE;
    jpeg_start_compress(&to, TRUE);
    for (JSAMPROW row = rgb; to.next_scanline < height; row += 3 * width)
        jpeg_write_scanlines(&to, &row, 1);
    jpeg_finish_compress(&to);
    jpeg_destroy_compress(&to);
    jpeg_create_decompress(&from);
    jpeg_mem_src(&from, bytes, size);
    jpeg_read_header(&from, TRUE);
    jpeg_start_decompress(&from);
    for (JSAMPROW row = rgb; from.output_scanline < height; row += 3 * width)
        jpeg_read_scanlines(&from, &row, 1);
    jpeg_finish_decompress(&from);
    jpeg_destroy_decompress(&from);
    free(bytes);
    return size;
}

static void resized(const uint8_t *from, uint32_t width, uint32_t height, uint8_t *to, uint32_t to_width, uint32_t to_height)
{
    ocdm__image_resizer resizer = {.rows = {.room = 0}};
    const ocdm__image image = {width, height, {.bytes = (uint8_t *)(uintptr_t)from}};
    const ocdm__image_region all = {.width = to_width, .height = to_height};
    assert_int_equal(ocdm__image_resize(&resizer, &image, (ocdm__image_size){to_width, to_height}, &all, to, NULL), OCDM_OK);
    ocdm__image_resizer_clear(&resizer);
}

enum { WIDE = 60, HIGH = 45 };

/* A picture with edges and shades, as planes and as pixels. */
static void draw_picture(uint8_t *planes, uint8_t *rgb)
{
    for (size_t i = 0; i < WIDE * HIGH; i++)
        for (size_t c = 0; c < 3; c++) {
            size_t x = i % WIDE, y = i / WIDE;
            uint8_t byte = (uint8_t)(x * (2 + c) + y * 3 + (x / 7 + y / 5) % 2 * 60 + (x * y * (c + 1)) % 23);
            planes[c * WIDE * HIGH + i] = rgb[3 * i + c] = byte;
        }
}

/* The picture with this shorter side through libjpeg at the first of the qualities Q, Q - 5, ..., 1 that fits `bytes`, at its
 * own size again; returns that quality, 0 for none. */
static int judge_picture(const uint8_t *rgb, uint32_t pixels, int quality, size_t bytes, uint8_t *judged)
{
    uint32_t width = pixels * WIDE / HIGH;
    uint8_t small[3 * WIDE * HIGH];
    for (int next; quality > 0; quality = next) {
        next = quality == 1 ? 0 : quality - 5 > 1 ? quality - 5 : 1;
        resized(rgb, WIDE, HIGH, small, width, pixels);
        if (through_libjpeg(small, width, pixels, quality) <= bytes)
            break;
    }
    resized(small, width, pixels, judged, WIDE, HIGH);
    return quality;
}

/* Prepares the whole picture without resizing it, stored in `bytes` in between, and compares it with the judge's. */
static void check_stored(ocdm__image_storing storing, uint32_t pixels, int quality)
{
    uint8_t planes[3 * WIDE * HIGH], rgb[3 * WIDE * HIGH], judged[3 * WIDE * HIGH];
    static float out[3 * HIGH * HIGH];
    ocdm__image_plan plan = plan_of(0, HIGH, 0);
    draw_picture(planes, rgb);
    assert_int_equal(judge_picture(rgb, pixels, (int)storing.quality, storing.bytes, judged), quality);
    plan.settings.storing = storing;
    ocdm__image_request request = request_of(planes, 3, WIDE, HIGH);
    request.stored = true;
    assert_int_equal(prepare(&plan, &request, out, NULL), OCDM_OK);
    size_t left = (WIDE - HIGH) / 2 + 1; /* of the middle; 7.5 is rounded to 8 */
    for (size_t c = 0; c < 3; c++)
        for (size_t y = 0; y < HIGH; y++)
            for (size_t x = 0; x < HIGH; x++)
                assert_true(out[(c * HIGH + y) * HIGH + x] == symmetric(judged[3 * (y * WIDE + left + x) + c]));
}

TEST(image_prepare_stores_as_libjpeg_does)
{
    check_stored((ocdm__image_storing){80, 24, 100000}, 24, 80);
    check_stored((ocdm__image_storing){100, 45, 100000}, 45, 100);
    check_stored((ocdm__image_storing){75, 400, 100000}, 45, 75); /* not enlarged */
}

TEST(image_prepare_stores_at_the_first_quality_that_fits)
{
    uint8_t planes[3 * WIDE * HIGH], rgb[3 * WIDE * HIGH], judged[3 * WIDE * HIGH];
    int lower = 0, half = 0;
    draw_picture(planes, rgb);
    for (size_t bytes = 250; bytes < 1300; bytes += bytes < 500 ? 10 : 100) {
        int quality = judge_picture(rgb, 40, 30, bytes, judged);
        uint32_t pixels = quality > 0 ? 40 : 20;
        quality = quality > 0 ? quality : judge_picture(rgb, pixels, 30, bytes, judged);
        if (quality > 0)
            check_stored((ocdm__image_storing){30, 40, bytes}, pixels, quality);
        lower += pixels == 40 && quality < 30;
        half += pixels == 20 && quality > 0;
    }
    assert_true(lower > 5 && half > 0);
}

TEST(image_prepare_refuses_to_store_what_no_quality_makes_fit)
{
    uint8_t planes[3 * WIDE * HIGH], rgb[3 * WIDE * HIGH];
    static float out[3 * HIGH * HIGH];
    ocdm_error error = {.message = ""};
    ocdm__image_plan plan = plan_of(0, HIGH, 0);
    draw_picture(planes, rgb);
    plan.settings.storing = (ocdm__image_storing){90, 40, 100};
    ocdm__image_request request = request_of(planes, 3, WIDE, HIGH);
    request.stored = true;
    assert_int_equal(prepare(&plan, &request, out, &error), OCDM_LIMIT);
    assert_non_null(strstr(error.message, "cannot be stored in 100 bytes"));
    request.stored = false;
    assert_int_equal(prepare(&plan, &request, out, &error), OCDM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_prepare_stores_as_libjpeg_does),
        cmocka_unit_test(image_prepare_stores_at_the_first_quality_that_fits),
        cmocka_unit_test(image_prepare_refuses_to_store_what_no_quality_makes_fit),
        cmocka_unit_test(image_prepare_takes_the_middle_as_torchvision_does),
        cmocka_unit_test(image_prepare_scales_bytes_as_networks_want_them),
        cmocka_unit_test(image_prepare_writes_the_chosen_square),
        cmocka_unit_test(image_prepare_surrounds_small_pictures_with_black),
        cmocka_unit_test(image_prepare_hangs_on_seed_sample_and_step),
        cmocka_unit_test(image_prepare_chooses_every_square_equally_often),
        cmocka_unit_test(image_prepare_resizes_before_it_crops),
        cmocka_unit_test(image_prepare_refuses_an_image_smaller_than_the_crop),
        cmocka_unit_test(image_prepare_refuses_settings_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
