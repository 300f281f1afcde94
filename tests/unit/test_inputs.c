/* The inputs of a network: the numbers of the stream for any number of threads, and nothing for bad images. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../scratch_folder.h"
#include "experiment/loop/inputs.h"
#include "small_stream.h"
#include "stream/images/prepare.h"
#include "request_samples.h"

#define CROP 6
#define FLOATS (3 * CROP * CROP)

static const uint32_t all[SMALL_SAMPLES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void write_golden(size_t number, size_t divisor)
{
    char path[32];
    size_t size;
    unsigned char *bytes = from_hex(golden_files[number % (sizeof golden_files / sizeof *golden_files)].file, &size);
    snprintf(path, sizeof path, "image-%zu", number);
    assert_int_equal(write_whole(path, bytes, size / divisor), 0);
    free(bytes);
}

/* Streams of every kind, and image files of which number 4 and 9 are cut. */
static int make_streams(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        write_golden(i, i == 4 || i == 9 ? 2 : 1);
    write_small_stream("features", OCDM__FEATURES, OCDM__F32, NULL, SMALL_SAMPLES);
    write_small_stream("halves", OCDM__FEATURES, OCDM__F16, NULL, SMALL_SAMPLES);
    write_small_stream("images", OCDM__IMAGES, OCDM__U8, NULL, SMALL_SAMPLES);
    write_small_stream("files", OCDM__NO_PAYLOAD, OCDM__U8, scratch_folder, SMALL_SAMPLES);
    write_small_stream("elsewhere", OCDM__NO_PAYLOAD, OCDM__U8, "/nowhere/at/all", SMALL_SAMPLES);
    write_small_stream("rootless", OCDM__NO_PAYLOAD, OCDM__U8, "", SMALL_SAMPLES);
    write_small_stream("pathless", OCDM__NO_PAYLOAD, OCDM__U8, ".", 7);
    write_small_stream("nothing", OCDM__NO_PAYLOAD, OCDM__U8, NULL, SMALL_SAMPLES);
    return 0;
}

static ocdm__model_input_settings small_settings(unsigned threads)
{
    return (ocdm__model_input_settings){
        .resize = 7, .crop = CROP, .seed = 3, .threads = threads, .images = &ocdm__image_loading};
}

static ocdm__model_inputs *open_inputs(ocdm__stream *stream, const char *path, const ocdm__model_input_settings *settings)
{
    ocdm__model_inputs *inputs = NULL;
    ocdm_error error = {.message = ""};
    assert_int_equal(ocdm__stream_open(stream, path, NULL), OCDM_OK);
    ocdm_status status = ocdm__model_inputs_open(stream, settings, &inputs, &error);
    HOLDS(error.message, status == OCDM_OK);
    return inputs;
}

static void close_inputs(ocdm__stream *stream, ocdm__model_inputs *inputs)
{
    ocdm__model_inputs_close(inputs);
    ocdm__stream_close(stream);
}

TEST(inputs_give_features_as_they_are)
{
    static const char *const paths[] = {"features", "halves"};
    static const uint32_t samples[] = {11, 0, 5, 5};
    ocdm__model_input_settings settings = {.crop = 1000}; /* not looked at, and no threads are needed */
    for (size_t p = 0; p < 2; p++) {
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = open_inputs(&stream, paths[p], &settings);
        ocdm__batch ready;
        assert_int_equal(inputs->size, SMALL_FEATURES);
        assert_int_equal(inputs->side + inputs->side, 0);
        assert_int_equal(request_samples(inputs, 2, samples, 4, 9, true, NULL), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 2, &ready, NULL), OCDM_OK);
        assert_int_equal(ready.count, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(ready.usable[i], i);
            for (size_t k = 0; k < SMALL_FEATURES; k++)
                assert_true(ready.input[i * SMALL_FEATURES + k] == small_feature(samples[i], k));
        }
        assert_int_equal(inputs->skipped, 0);
        assert_null((inputs->skipped > 0 ? &inputs->first_skipped : NULL));
        close_inputs(&stream, inputs);
    }
}

/* The judge: the image pipeline, one image after another. False where it fails. */
static bool prepare(const ocdm__model_input_settings *settings, ocdm__image_request *request, float *out, ocdm_error *error)
{
    ocdm__image_settings images = ocdm__image_settings_default();
    ocdm__image_plan plan;
    ocdm__image_scratch scratch = {0};
    images.resize = settings->resize;
    images.crop = settings->crop > 0 ? settings->crop : SMALL_SIDE;
    images.pad = settings->crop == 0 ? SMALL_SIDE / 8 : settings->crop == settings->resize ? settings->crop / 8 : 0;
    images.seed = settings->seed;
    images.scaling = settings->symmetric ? OCDM__IMAGE_SYMMETRIC : OCDM__IMAGE_IMAGENET;
    assert_int_equal(ocdm__image_plan_make(&images, &plan, NULL), OCDM_OK);
    ocdm_status status = ocdm__image_prepare(&plan, request, &scratch, out, error);
    ocdm__image_scratch_clear(&scratch);
    return status == OCDM_OK;
}

/* Stored images as they are: a random square of the picture with a border of an eighth; the picture itself in evaluation. */
TEST(inputs_crop_stored_images_at_random_when_training)
{
    static uint8_t planes[3 * SMALL_SIDE * SMALL_SIDE];
    static float expected[3 * SMALL_SIDE * SMALL_SIDE];
    ocdm__model_input_settings settings = {.seed = 3, .threads = 2, .images = &ocdm__image_loading};
    ocdm__stream stream = {.task_count = 0};
    ocdm__batch ready;
    ocdm__model_inputs *inputs = open_inputs(&stream, "images", &settings);
    bool differs = false;
    for (uint64_t step = 0; step < 8; step++) {
        bool training = step % 4 != 3;
        assert_int_equal(request_samples(inputs, 0, all, 5, step, training, NULL), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, NULL), OCDM_OK);
        for (size_t i = 0; i < 5; i++) {
            for (size_t k = 0; k < sizeof planes; k++)
                planes[k] = small_pixel(i, k);
            ocdm__image_request request = {NULL, planes, 3, SMALL_SIDE, SMALL_SIDE, i, step, training, false, NULL};
            assert_true(prepare(&settings, &request, expected, NULL));
            const float *found = ready.input + i * 3 * SMALL_SIDE * SMALL_SIDE;
            assert_memory_equal(found, expected, sizeof expected);
            request.training = false;
            assert_true(prepare(&settings, &request, expected, NULL));
            differs = differs || memcmp(found, expected, sizeof expected) != 0;
        }
    }
    assert_true(differs);
    close_inputs(&stream, inputs);
}

/* The random part depends on the sample's number in the stream and on the step. */
TEST(inputs_prepare_stored_images_by_sample_and_step)
{
    static uint8_t planes[3 * SMALL_SIDE * SMALL_SIDE];
    for (int variant = 0; variant < 8; variant++) {
        ocdm__model_input_settings settings = small_settings(2);
        ocdm__stream stream = {.task_count = 0};
        ocdm__batch ready;
        bool training = variant & 1;
        uint64_t step = variant & 4 ? 77 : 0;
        settings.symmetric = variant & 2;
        ocdm__model_inputs *inputs = open_inputs(&stream, "images", &settings);
        assert_int_equal(request_samples(inputs, 0, all + 3, 9, step, training, NULL), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, NULL), OCDM_OK);
        assert_int_equal(ready.count, 9);
        for (size_t i = 0; i < 9; i++) {
            float expected[FLOATS];
            for (size_t k = 0; k < sizeof planes; k++)
                planes[k] = small_pixel(i + 3, k);
            ocdm__image_request request = {NULL, planes, 3, SMALL_SIDE, SMALL_SIDE, i + 3, step, training, false, NULL};
            assert_true(prepare(&settings, &request, expected, NULL));
            assert_memory_equal(ready.input + i * FLOATS, expected, sizeof expected);
        }
        close_inputs(&stream, inputs);
    }
}

static size_t check_files(const ocdm__model_input_settings *settings, const ocdm__batch *ready, const uint32_t *samples,
                          size_t count, uint64_t step)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        char path[32];
        float expected[FLOATS];
        snprintf(path, sizeof path, "image-%u", samples[i]);
        ocdm__image_request request = {.path = path, .sample = samples[i], .step = step, .training = true};
        if (!prepare(settings, &request, expected, NULL))
            continue;
        HOLDS(path, used < ready->count && ready->usable[used] == i);
        HOLDS(path, memcmp(ready->input + used * FLOATS, expected, sizeof expected) == 0);
        used++;
    }
    assert_int_equal(used, ready->count);
    return count - used;
}

/* Three batches under way; what cannot be decoded is closed up and counted, with the first reason. */
TEST(inputs_read_image_files_for_any_number_of_threads)
{
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        ocdm__model_input_settings settings = small_settings(threads);
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = open_inputs(&stream, "files", &settings);
        size_t skipped = 0;
        uint32_t batches[3][SMALL_SAMPLES];
        for (unsigned round = 0; round < 4; round++) {
            for (unsigned slot = 0; slot < 3; slot++) {
                for (size_t i = 0; i < SMALL_SAMPLES; i++)
                    batches[slot][i] = (uint32_t)((i * 5 + slot + round) % SMALL_SAMPLES);
                assert_int_equal(request_samples(inputs, slot, batches[slot], SMALL_SAMPLES - round, round, true, NULL),
                                 OCDM_OK);
            }
            for (unsigned slot = 3; slot-- > 0;) {
                ocdm__batch ready;
                assert_int_equal(ocdm__model_inputs_wait(inputs, slot, &ready, NULL), OCDM_OK);
                skipped += check_files(&settings, &ready, batches[slot], SMALL_SAMPLES - round, round);
            }
        }
        assert_true(skipped > 12);
        assert_int_equal(inputs->skipped, skipped);
        const ocdm_error *first = (inputs->skipped > 0 ? &inputs->first_skipped : NULL);
        assert_true(first != NULL && first->status == OCDM_BAD_FILE && strstr(first->message, "/image-") != NULL);
        close_inputs(&stream, inputs);
    }
}

TEST(inputs_take_another_root_when_one_is_given)
{
    static const char *const streams[] = {"elsewhere", "rootless"};
    for (size_t s = 0; s < 2; s++) {
        ocdm__model_input_settings settings = small_settings(1);
        ocdm__stream stream = {.task_count = 0};
        ocdm__batch ready;
        settings.image_root = scratch_folder;
        ocdm__model_inputs *inputs = open_inputs(&stream, streams[s], &settings);
        assert_int_equal(request_samples(inputs, 0, all, 4, 1, true, NULL), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, NULL), OCDM_OK);
        check_files(&settings, &ready, all, 4, 1);
        close_inputs(&stream, inputs);
    }
}

TEST(inputs_stop_at_the_first_bad_image_when_strict)
{
    static const uint32_t samples[] = {0, 9, 4, 1};
    ocdm__model_input_settings settings = small_settings(4);
    ocdm__stream stream = {.task_count = 0};
    ocdm__batch ready = {.count = 99};
    ocdm_error error;
    settings.strict = true;
    ocdm__model_inputs *inputs = open_inputs(&stream, "files", &settings);
    assert_int_equal(request_samples(inputs, 1, samples, 4, 0, false, NULL), OCDM_OK);
    assert_int_equal(ocdm__model_inputs_wait(inputs, 1, &ready, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "/image-9: "));
    assert_int_equal(ready.count, 99);
    assert_int_equal(request_samples(inputs, 1, samples, 1, 0, false, NULL), OCDM_OK); /* the slot is free */
    assert_int_equal(ocdm__model_inputs_wait(inputs, 1, &ready, &error), OCDM_OK);
    assert_int_equal(ready.count, 1);
    assert_int_equal(inputs->skipped, 0);
    close_inputs(&stream, inputs);
}

TEST(inputs_stop_when_an_image_file_is_not_there)
{
    ocdm__model_input_settings settings = small_settings(2);
    ocdm__stream stream = {.task_count = 0};
    ocdm__batch ready;
    ocdm_error error;
    ocdm__model_inputs *inputs = open_inputs(&stream, "elsewhere", &settings);
    assert_int_equal(request_samples(inputs, 0, all, 3, 0, false, NULL), OCDM_OK);
    assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, &error), OCDM_IO);
    assert_non_null(strstr(error.message, "/nowhere/at/all/image-0"));
    close_inputs(&stream, inputs);
}

TEST(inputs_know_the_sizes_when_none_are_given)
{
    static const struct {
        const char *stream;
        uint32_t resize, crop;
        bool keep_size;
        uint32_t side, resized;
    } cases[] = {{"images", 0, 0, false, SMALL_SIDE, SMALL_SIDE},
                 {"images", 0, 20, true, 20, SMALL_SIDE},
                 {"images", 48, 0, false, 48, 48},
                 {"images", 40, 36, true, 36, 40},
                 {"files", 0, 0, false, 224, 256},
                 {"files", 300, 0, true, 224, 300},
                 {"files", 128, 0, false, 128, 128},
                 {"files", 0, 200, false, 200, 256},
                 {"files", 0, 300, true, 300, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__model_input_settings settings = {.resize = cases[i].resize,
                                               .crop = cases[i].crop,
                                               .keep_size = cases[i].keep_size,
                                               .threads = 1,
                                               .images = &ocdm__image_loading};
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = open_inputs(&stream, cases[i].stream, &settings);
        assert_int_equal(inputs->side, cases[i].side);
        assert_int_equal(inputs->resize, cases[i].resized);
        assert_int_equal(inputs->size, 3 * cases[i].side * cases[i].side);
        close_inputs(&stream, inputs);
    }
}

/* A program without image decoders can still open a stream of features. */
TEST(inputs_without_decoders_take_features_only)
{
    const ocdm__model_input_settings settings = {.threads = 1};
    static const char *const streams[] = {"features", "images", "files"};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = NULL;
        ocdm_error error = {.message = ""};
        assert_int_equal(ocdm__stream_open(&stream, streams[i], NULL), OCDM_OK);
        ocdm_status status = ocdm__model_inputs_open(&stream, &settings, &inputs, &error);
        HOLDS(streams[i], status == (i == 0 ? OCDM_OK : OCDM_BAD_ARGUMENT));
        HOLDS(error.message, i == 0 || strstr(error.message, "images are not decoded here") != NULL);
        ocdm__model_inputs_close(inputs);
        ocdm__stream_close(&stream);
    }
}

TEST(inputs_refuse_what_cannot_be_opened)
{
    static const struct {
        const char *stream;
        ocdm__model_input_settings settings;
        ocdm_status status;
        const char *says;
    } cases[] = {
        {"nothing", {.threads = 1}, OCDM_BAD_FILE, "nothing: the stream has neither features nor images"},
        {"rootless", {.threads = 1}, OCDM_BAD_ARGUMENT, "does not say in which folder"},
        {"pathless", {.threads = 1}, OCDM_BAD_FILE, "sample 7 has no image"},
        {"images", {.threads = 1, .crop = 33}, OCDM_BAD_ARGUMENT, "images of 32 x 32 pixels have no square of 33"},
        {"images", {.threads = 1, .resize = 30, .crop = 31}, OCDM_BAD_ARGUMENT, "a crop of 31 pixels"},
        {"files", {.threads = 1, .crop = 257}, OCDM_BAD_ARGUMENT, "a crop of 257 pixels is not between 1 and 256"},
        {"files", {.threads = 1, .resize = 100000}, OCDM_BAD_ARGUMENT, "100000 pixels"},
        {"files", {.threads = 0}, OCDM_BAD_ARGUMENT, "0 threads"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = NULL;
        ocdm_error error = {.message = ""};
        assert_int_equal(ocdm__stream_open(&stream, cases[i].stream, NULL), OCDM_OK);
        ocdm__model_input_settings settings = cases[i].settings;
        settings.images = &ocdm__image_loading;
        ocdm_status status = ocdm__model_inputs_open(&stream, &settings, &inputs, &error);
        HOLDS(cases[i].says, status == cases[i].status && inputs == NULL);
        HOLDS(error.message, strstr(error.message, cases[i].says) != NULL);
        ocdm__stream_close(&stream);
    }
}

TEST(inputs_refuse_misuse_and_go_on)
{
    static const char *const streams[] = {"features", "images"};
    for (size_t s = 0; s < 2; s++) {
        ocdm__model_input_settings settings = small_settings(2);
        ocdm__stream stream = {.task_count = 0};
        ocdm__batch ready;
        ocdm_error error;
        uint32_t beyond = SMALL_SAMPLES;
        ocdm__model_inputs *inputs = open_inputs(&stream, streams[s], &settings);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 3, &ready, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(request_samples(inputs, 3, all, 1, 0, true, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(request_samples(inputs, 0, &beyond, 1, 0, true, &error), OCDM_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "no sample 12"));
        assert_int_equal(request_samples(inputs, 0, all, 2, 0, true, &error), OCDM_OK);
        assert_int_equal(request_samples(inputs, 0, all, 2, 0, true, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, &error), OCDM_OK);
        assert_int_equal(ready.count, 2);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(request_samples(inputs, 0, NULL, 0, 0, true, &error), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(inputs, 0, &ready, &error), OCDM_OK);
        assert_int_equal(ready.count, 0);
        close_inputs(&stream, inputs);
    }
    ocdm__model_inputs_close(NULL);
}

/* Closing with batches under way: the sanitizers watch who still writes. */
TEST(inputs_end_at_any_moment)
{
    for (unsigned round = 0; round < 40; round++) {
        ocdm__model_input_settings settings = small_settings(1 + round % 4);
        ocdm__stream stream = {.task_count = 0};
        ocdm__model_inputs *inputs = open_inputs(&stream, round % 2 ? "files" : "images", &settings);
        for (unsigned slot = 0; slot < round % 4; slot++)
            assert_int_equal(request_samples(inputs, slot, all, SMALL_SAMPLES, round, true, NULL), OCDM_OK);
        close_inputs(&stream, inputs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_give_features_as_they_are),
        cmocka_unit_test(inputs_prepare_stored_images_by_sample_and_step),
        cmocka_unit_test(inputs_crop_stored_images_at_random_when_training),
        cmocka_unit_test(inputs_read_image_files_for_any_number_of_threads),
        cmocka_unit_test(inputs_take_another_root_when_one_is_given),
        cmocka_unit_test(inputs_stop_at_the_first_bad_image_when_strict),
        cmocka_unit_test(inputs_stop_when_an_image_file_is_not_there),
        cmocka_unit_test(inputs_know_the_sizes_when_none_are_given),
        cmocka_unit_test(inputs_without_decoders_take_features_only),
        cmocka_unit_test(inputs_refuse_what_cannot_be_opened),
        cmocka_unit_test(inputs_refuse_misuse_and_go_on),
        cmocka_unit_test(inputs_end_at_any_moment),
    };
    return cmocka_run_group_tests(tests, make_streams, leave_folder);
}
