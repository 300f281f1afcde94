/* The stream file: what is written is read back, every damaged byte is found, and every table is checked. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/bytes.h"
#include "stream/file.h"
#include "stream/labelled_set.h"

/* Three samples of two classes in two tasks. */
struct small {
    uint64_t label_starts[4], id_starts[4], class_starts[3], path_starts[4];
    uint32_t labels[3], tasks[3];
    uint8_t parts[3], groups[2];
    char ids[8], classes[8], paths[16];
    ocdm__stream_table table;
};

static void make_small(struct small *small)
{
    *small = (struct small){.label_starts = {0, 1, 1, 3},
                            .id_starts = {0, 1, 3, 4},
                            .class_starts = {0, 3, 6},
                            .path_starts = {0, 3, 3, 8},
                            .labels = {1, 0, 1},
                            .tasks = {0, 0, 1},
                            .parts = {OCDM__TRAIN, OCDM__TRAIN, OCDM__TEST},
                            .groups = {OCDM__MINORITY, OCDM__MAJORITY},
                            .ids = "aBBc",
                            .classes = "catdog",
                            .paths = "a/bx/..y"};
    small->table = (ocdm__stream_table){.sample_count = 3,
                                        .class_count = 2,
                                        .label_starts = small->label_starts,
                                        .labels = small->labels,
                                        .tasks = small->tasks,
                                        .parts = small->parts,
                                        .groups = small->groups,
                                        .ids = {small->id_starts, small->ids},
                                        .classes = {small->class_starts, small->classes}};
}

static const struct ocdm__note kind[] = {{.key = "format", .value = "ocdm-stream"},
                                         {.key = "version", .value = "1"},
                                         {.key = "image_root", .value = "/some \"place\""}};

/* Features 0.5, 1.5, 2.5, ... as floats, or bytes 0, 1, 2, ... for images. */
static ocdm_status fill_counting(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__payload_shape *shape = state;
    size_t elements = ocdm__payload_size(shape) / ocdm__dtype_size(shape->dtype);
    (void)error;
    for (size_t i = 0; i < count * elements; i++) {
        float value = (float)(first * elements + i) + 0.5F;
        uint16_t half = ocdm__float_to_half(value);
        if (shape->dtype == OCDM__F32)
            memcpy(bytes + 4 * i, &value, 4);
        else if (shape->dtype == OCDM__F16)
            memcpy(bytes + 2 * i, &half, 2);
        else
            bytes[i] = (unsigned char)(first * elements + i);
    }
    return OCDM_OK;
}

static void write_small(const struct small *small, ocdm__payload_shape *shape)
{
    ocdm_error error;
    ocdm__payload_source source = {.fill = fill_counting, .state = shape};
    if (shape != NULL)
        source.shape = *shape;
    assert_int_equal(ocdm__stream_write("s", &small->table, shape != NULL ? &source : NULL, kind, 3, NULL, &error), OCDM_OK);
}

TEST(stream_comes_back_as_it_was_written)
{
    struct small small;
    ocdm__stream stream;
    ocdm_error error;
    make_small(&small);
    small.table.paths = (ocdm__text_list){small.path_starts, small.paths};
    small.path_starts[3] = 4;
    write_small(&small, NULL);
    assert_true(ocdm__is_stream_file("s"));
    assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
    assert_int_equal(stream.table.sample_count, 3);
    assert_int_equal(stream.task_count, 2);
    assert_memory_equal(stream.table.label_starts, small.label_starts, sizeof small.label_starts);
    assert_memory_equal(stream.table.labels, small.labels, sizeof small.labels);
    assert_memory_equal(stream.table.tasks, small.tasks, sizeof small.tasks);
    assert_memory_equal(stream.table.parts, small.parts, 3);
    assert_memory_equal(stream.table.groups, small.groups, 2);
    assert_memory_equal(stream.table.ids.bytes, "aBBc", 4);
    assert_memory_equal(stream.table.classes.bytes, "catdog", 6);
    assert_memory_equal(stream.table.paths.bytes, "a/bx", 4);
    assert_string_equal(stream.image_root, "/some \"place\"");
    assert_int_equal(stream.shape.kind, OCDM__NO_PAYLOAD);
    assert_int_equal(ocdm__stream_verify(&stream, NULL, &error), OCDM_OK);
    ocdm__stream_close(&stream);
}

TEST(stream_gives_features_of_either_width)
{
    static const enum ocdm__dtype types[] = {OCDM__F32, OCDM__F16};
    const float mean[3] = {1, 2, 3}, deviation[3] = {4, 5, 6};
    for (size_t k = 0; k < 2; k++) {
        struct small small;
        ocdm__stream stream;
        ocdm_error error;
        float row[3];
        ocdm__payload_shape shape = {
            .kind = OCDM__FEATURES, .dtype = types[k], .width = 3, .mean = mean, .deviation = deviation};
        make_small(&small);
        write_small(&small, &shape);
        assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
        assert_int_equal(stream.shape.width, 3);
        assert_int_equal((stream.payload - stream.file.bytes) % 8, 0);
        ocdm__stream_features(&stream, 2, row);
        for (size_t i = 0; i < 3; i++)
            assert_true(row[i] == 6.5F + (float)i);
        const struct ocdm__tensor *stored = ocdm__safetensors_find(&stream.tensors, "feature_deviation");
        assert_non_null(stored);
        assert_memory_equal(stored->data, deviation, sizeof deviation);
        ocdm__stream_close(&stream);
    }
}

TEST(stream_gives_images)
{
    struct small small;
    ocdm__stream stream;
    ocdm_error error;
    ocdm__payload_shape shape = {.kind = OCDM__IMAGES, .dtype = OCDM__U8, .width = 2, .height = 3, .channels = 3};
    make_small(&small);
    write_small(&small, &shape);
    assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
    assert_int_equal(stream.shape.height, 3);
    assert_int_equal(ocdm__stream_image(&stream, 1)[0], 18);
    ocdm__stream_close(&stream);
}

/* A flipped bit anywhere is found when the file is opened, or, in the features, when they are verified. */
TEST(stream_refuses_a_file_with_any_bit_flipped)
{
    struct small small;
    ocdm_error error;
    ocdm__payload_shape shape = {.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = 2};
    make_small(&small);
    write_small(&small, &shape);
    size_t size;
    unsigned char *bytes = read_whole("s", &size);
    for (size_t i = 0; i < 8 * size; i++) {
        ocdm__stream stream;
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        write_whole("t", bytes, size);
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        ocdm_status status = ocdm__stream_open(&stream, "t", &error);
        if (status == OCDM_OK) {
            status = ocdm__stream_verify(&stream, NULL, &error);
            ocdm__stream_close(&stream);
        }
        if (status != OCDM_BAD_FILE)
            fail_msg("bit %zu of byte %zu", i % 8, i / 8);
    }
    free(bytes);
}

/* A flipped bit in a row of features or in its checksum is found when the row is read, and other rows can be read. */
TEST(stream_names_the_row_that_is_damaged)
{
    static const enum ocdm__dtype types[] = {OCDM__F32, OCDM__F16};
    for (size_t k = 0; k < 2; k++) {
        struct small small;
        ocdm_error error;
        ocdm__payload_shape shape = {.kind = OCDM__FEATURES, .dtype = types[k], .width = 21};
        size_t size, row = ocdm__payload_size(&shape);
        make_small(&small);
        write_small(&small, &shape);
        unsigned char *bytes = read_whole("s", &size);
        size_t first = size - 16 - 3 * 8 - 3 * row;
        for (size_t i = 0; i < 8 * (3 * row + 3 * 8); i++) {
            size_t at = i / 8, bad = at < 3 * row ? at / row : (at - 3 * row) / 8;
            ocdm__stream stream;
            char expected[100];
            bytes[first + at] ^= (unsigned char)(1 << i % 8);
            write_whole("t", bytes, size);
            bytes[first + at] ^= (unsigned char)(1 << i % 8);
            assert_int_equal(ocdm__stream_open(&stream, "t", &error), OCDM_OK);
            for (size_t sample = 0; sample < 3; sample++)
                assert_int_equal(ocdm__stream_check(&stream, sample, &error), sample == bad ? OCDM_BAD_FILE : OCDM_OK);
            assert_int_equal(ocdm__stream_check(&stream, bad, &error), OCDM_BAD_FILE);
            snprintf(expected, sizeof expected, "t: \"features\": row %zu, of the sample %.*s, is damaged", bad,
                     bad == 1 ? 2 : 1, &"aBBc"[bad == 0 ? 0 : 2 * bad - 1]);
            assert_memory_equal(error.message, expected, strlen(expected));
            ocdm__stream_close(&stream);
        }
        free(bytes);
    }
}

/* As fill_counting, but one number of the second sample is not finite. */
static const uint32_t not_finite[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001};
static size_t which_not_finite, where_not_finite;

static ocdm_status fill_not_finite(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__payload_shape *shape = state;
    fill_counting(state, first, count, bytes, error);
    uint32_t bits = not_finite[which_not_finite];
    size_t at = (shape->width + where_not_finite) * ocdm__dtype_size(shape->dtype);
    if (shape->dtype == OCDM__F32)
        memcpy(bytes + at, &bits, 4);
    else
        memcpy(bytes + at, &(uint16_t){(uint16_t)(bits >> 16 & 0x8000) | 0x7C00 | (uint16_t)(bits & 1)}, 2);
    return OCDM_OK;
}

TEST(stream_names_the_row_that_is_not_finite)
{
    static const enum ocdm__dtype types[] = {OCDM__F32, OCDM__F16};
    for (size_t k = 0; k < 2 * 4 * 7; k++) {
        struct small small;
        ocdm__stream stream;
        ocdm_error error;
        ocdm__payload_shape shape = {.kind = OCDM__FEATURES, .dtype = types[k % 2], .width = 7};
        ocdm__payload_source source = {.shape = shape, .fill = fill_not_finite, .state = &shape};
        which_not_finite = k / 2 % 4;
        where_not_finite = k / 8;
        make_small(&small);
        assert_int_equal(ocdm__stream_write("s", &small.table, &source, kind, 3, NULL, &error), OCDM_OK);
        assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
        assert_int_equal(ocdm__stream_check(&stream, 0, &error), OCDM_OK);
        assert_int_equal(ocdm__stream_check(&stream, 2, &error), OCDM_OK);
        assert_int_equal(ocdm__stream_check(&stream, 1, &error), OCDM_BAD_FILE);
        assert_string_equal(error.message, "s: \"features\": row 1, of the sample BB, has a number that is not finite");
        ocdm__stream_close(&stream);
    }
}

TEST(stream_refuses_a_file_cut_anywhere)
{
    struct small small;
    ocdm_error error;
    make_small(&small);
    write_small(&small, NULL);
    size_t size;
    unsigned char *bytes = read_whole("s", &size);
    for (size_t length = 0; length < size; length++) {
        ocdm__stream stream;
        write_whole("t", bytes, length);
        assert_int_equal(ocdm__stream_open(&stream, "t", &error), OCDM_BAD_FILE);
    }
    free(bytes);
}

/* Writes a table that is wrong and expects the message when it is opened. */
static void expect_refusal(const struct small *small, const char *message)
{
    ocdm__stream stream;
    ocdm_error error;
    write_small(small, NULL);
    assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
}

TEST(stream_believes_no_table)
{
    struct small small;
    make_small(&small), small.labels[0] = 2;
    expect_refusal(&small, "s: \"labels\" refers to a class that does not exist");
    make_small(&small), small.labels[1] = 1;
    expect_refusal(&small, "s: \"labels\" is not ascending within a sample");
    make_small(&small), small.label_starts[1] = 2;
    expect_refusal(&small, "s: \"label_starts\" is not ascending from 0");
    make_small(&small), small.tasks[2] = 65536;
    expect_refusal(&small, "s: \"tasks\" has a number that is too large");
    make_small(&small), small.parts[0] = 2;
    expect_refusal(&small, "s: \"parts\" has a value out of range");
    make_small(&small), small.groups[1] = 3;
    expect_refusal(&small, "s: \"class_groups\" has a value out of range");
    make_small(&small), memcpy(small.classes, "dogdog", 6);
    expect_refusal(&small, "s: \"class_text\" has a name twice");
    make_small(&small), small.table.paths = (ocdm__text_list){small.path_starts, small.paths};
    small.path_starts[2] = 3, small.path_starts[3] = 7;
    expect_refusal(&small, "s: \"path_text\" has a path that leads out of its root folder");
}

/* ---- known labels ----------------------------------------------------------------------------------------------------- */

/* Writes the small stream with a row of bits for each sample. */
static void write_known(struct small *small, uint8_t known[3], const char *version)
{
    const struct ocdm__note notes[] = {{.key = "format", .value = "ocdm-stream"}, {.key = "version", .value = version}};
    ocdm_error error;
    small->table.known = known;
    assert_int_equal(ocdm__stream_write("s", &small->table, NULL, notes, 2, NULL, &error), OCDM_OK);
}

TEST(stream_says_which_labels_are_known)
{
    struct small small;
    ocdm__stream stream;
    ocdm_stream *public_stream;
    ocdm_error error;
    uint8_t known[] = {2, 1, 3};
    make_small(&small);
    write_known(&small, known, "2");
    assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
    assert_memory_equal(stream.table.known, known, sizeof known);
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&stream.tensors, "known_labels");
    assert_true(tensor->rank == 2 && tensor->shape[0] == 3 && tensor->shape[1] == 1);
    ocdm__stream_close(&stream);
    assert_int_equal(ocdm_stream_open("s", &public_stream, &error), OCDM_OK);
    assert_int_equal(ocdm_stream_look(public_stream)->known_bytes, 1);
    assert_memory_equal(ocdm_stream_look(public_stream)->known, known, sizeof known);
    ocdm_stream_close(public_stream);
}

static void expect_known_refusal(uint8_t known[3], const char *version, const char *message)
{
    struct small small;
    ocdm__stream stream;
    ocdm_error error;
    make_small(&small);
    write_known(&small, known, version);
    assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
}

/* Programs that do not know the tensor would ignore it, and refuse the version. */
TEST(stream_refuses_known_labels_that_cannot_be)
{
    expect_known_refusal((uint8_t[]){1, 1, 3}, "2", "s: \"known_labels\" lacks a class that the sample is labelled with");
    expect_known_refusal((uint8_t[]){2, 5, 3}, "2", "s: \"known_labels\" has a bit for a class that does not exist");
    expect_known_refusal((uint8_t[]){2, 1, 3}, "1", "s: \"known_labels\" is there, but the file is of the version without it");
    expect_known_refusal(NULL, "2", "s: \"known_labels\" is missing");
    expect_known_refusal(NULL, "3", "s: a stream file of a version that this program does not know");
}

TEST(stream_tells_weights_and_records_from_streams)
{
    ocdm__output output;
    ocdm__stream stream;
    ocdm_error error;
    assert_int_equal(ocdm__output_open(&output, "w", &error), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, NULL, 0, &error), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, &error), OCDM_OK);
    assert_int_equal(ocdm__stream_open(&stream, "w", &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "w: a safetensors file, but not a stream");
    assert_int_equal(ocdm__stream_open(&stream, "nowhere", &error), OCDM_IO);
    write_whole("text", (const unsigned char *)"{\"id\":1}", 8);
    assert_false(ocdm__is_stream_file("text"));
    assert_int_equal(ocdm__stream_open(&stream, "text", &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "text: this is a file of records, not a stream");
    write_whole("text", (const unsigned char *)"{\0\0\0\0\0\0\0", 8); /* the length of a header, and no header */
    assert_int_equal(ocdm__stream_open(&stream, "text", &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "the header is longer than the file"));
    assert_false(ocdm__is_stream_file("nowhere"));
}

static ocdm_status fill_and_fail(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    (void)state, (void)first, (void)count, (void)bytes, (void)error;
    return OCDM_BAD_RECORD;
}

TEST(stream_leaves_nothing_behind_when_features_fail)
{
    struct small small;
    ocdm_error error;
    make_small(&small);
    ocdm__payload_source source = {.shape = {.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = 2}, .fill = fill_and_fail};
    count_files(1);
    assert_int_equal(ocdm__stream_write("s", &small.table, &source, kind, 3, NULL, &error), OCDM_BAD_RECORD);
    assert_int_equal(count_files(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_comes_back_as_it_was_written),
        cmocka_unit_test(stream_gives_features_of_either_width),
        cmocka_unit_test(stream_gives_images),
        cmocka_unit_test(stream_refuses_a_file_with_any_bit_flipped),
        cmocka_unit_test(stream_names_the_row_that_is_damaged),
        cmocka_unit_test(stream_names_the_row_that_is_not_finite),
        cmocka_unit_test(stream_refuses_a_file_cut_anywhere),
        cmocka_unit_test(stream_believes_no_table),
        cmocka_unit_test(stream_says_which_labels_are_known),
        cmocka_unit_test(stream_refuses_known_labels_that_cannot_be),
        cmocka_unit_test(stream_tells_weights_and_records_from_streams),
        cmocka_unit_test(stream_leaves_nothing_behind_when_features_fail),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
