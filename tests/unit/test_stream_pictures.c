/* Small pictures of a stream's samples, from the stream and from files. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stddef.h>
#include <stdint.h>

#include <png.h>

#include "stream/file.h"
#include "stream/images/image.h"
#include "stream/labelled_set.h"

enum { SIDE = 4 };

/* Two samples, "a" and "BB", of one class. */
static uint64_t label_starts[] = {0, 1, 2}, id_starts[] = {0, 1, 3}, class_starts[] = {0, 3}, path_starts[] = {0, 5, 9};
static uint32_t labels[] = {0, 0}, tasks[] = {0, 0};
static uint8_t parts[] = {OCDM__TRAIN, OCDM__TRAIN};
static char ids[] = "aBB", classes[] = "cat", paths[] = "a.pngnone";

/* Sample number i is red 10 + i, green 20 + i, blue 30 + i all over. */
static ocdm_status fill_colours(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    size_t pixels = *(const size_t *)state;
    (void)error;
    for (size_t i = 0; i < count * 3 * pixels; i++)
        bytes[i] = (unsigned char)(10 * (1 + i / pixels % 3) + first + i / (3 * pixels));
    return OCDM_OK;
}

static void write_stream(const ocdm__payload_shape *shape, bool with_files)
{
    struct ocdm__note notes[] = {{.key = "format", .value = "ocdm-stream"},
                                 {.key = "version", .value = "1"},
                                 {.key = "image_root", .value = scratch_folder}};
    ocdm__stream_table table = {.sample_count = 2,
                                .class_count = 1,
                                .label_starts = label_starts,
                                .labels = labels,
                                .tasks = tasks,
                                .parts = parts,
                                .ids = {id_starts, ids},
                                .classes = {class_starts, classes}};
    if (with_files)
        table.paths = (ocdm__text_list){path_starts, paths};
    size_t pixels = shape != NULL ? shape->width * shape->height : 0;
    ocdm__payload_source source = {.fill = fill_colours, .state = &pixels};
    if (shape != NULL)
        source.shape = *shape;
    assert_int_equal(ocdm__stream_write("s", &table, shape != NULL ? &source : NULL, notes, 3, NULL, NULL), OCDM_OK);
}

static void assert_colour(const uint8_t *rgb, uint8_t red, uint8_t green, uint8_t blue)
{
    for (size_t p = 0; p < (size_t)SIDE * SIDE; p++) {
        assert_int_equal(rgb[3 * p], red);
        assert_int_equal(rgb[3 * p + 1], green);
        assert_int_equal(rgb[3 * p + 2], blue);
    }
}

TEST(pictures_come_from_the_stream_when_it_has_images)
{
    ocdm__payload_shape shape = {.kind = OCDM__IMAGES, .dtype = OCDM__U8, .width = 6, .height = 2, .channels = 3};
    ocdm__stream_pictures *pictures = NULL;
    uint8_t rgb[SIDE * SIDE * 3];
    write_stream(&shape, false);
    assert_int_equal(ocdm__stream_pictures_open(&pictures, "s", NULL), OCDM_OK);
    assert_true(ocdm__stream_picture(pictures, "a", SIDE, rgb));
    assert_colour(rgb, 10, 20, 30);
    assert_true(ocdm__stream_picture(pictures, "BB", SIDE, rgb));
    assert_colour(rgb, 11, 21, 31);
    assert_false(ocdm__stream_picture(pictures, "B", SIDE, rgb));
    ocdm__stream_pictures_close(pictures);
}

TEST(pictures_come_from_files_when_the_stream_names_them)
{
    uint8_t rgb[SIDE * SIDE * 3], red[5 * 9 * 3];
    ocdm__stream_pictures *pictures = NULL;
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 5, .height = 9, .format = PNG_FORMAT_RGB};
    for (size_t i = 0; i < sizeof red; i++)
        red[i] = i % 3 == 0 ? 200 : 0;
    assert_true(png_image_write_to_file(&image, "a.png", 0, red, 0, NULL) != 0);
    write_stream(NULL, true);
    assert_int_equal(ocdm__stream_pictures_open(&pictures, "s", NULL), OCDM_OK);
    assert_true(ocdm__stream_picture(pictures, "a", SIDE, rgb));
    assert_colour(rgb, 200, 0, 0);
    assert_false(ocdm__stream_picture(pictures, "BB", SIDE, rgb)); /* its file is not there */
    ocdm__stream_pictures_close(pictures);
}

TEST(pictures_are_refused_when_a_stream_has_none)
{
    ocdm__stream_pictures *pictures = NULL;
    write_stream(NULL, false);
    assert_int_equal(ocdm__stream_pictures_open(&pictures, "s", NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__stream_pictures_open(&pictures, "nowhere", NULL), OCDM_IO);
    assert_null(pictures);
    ocdm__stream_pictures_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_come_from_the_stream_when_it_has_images),
        cmocka_unit_test(pictures_come_from_files_when_the_stream_names_them),
        cmocka_unit_test(pictures_are_refused_when_a_stream_has_none),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
