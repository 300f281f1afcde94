/* The loader: the same tensors and errors for any number of threads, destruction at any time, and misuse is detected. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../scratch_folder.h"
#include "stream/images/prepare.h"

#define GOLDEN_COUNT (sizeof golden_files / sizeof *golden_files)
#define CROP 6
#define FLOATS (3 * CROP * CROP)
#define BATCH 40
#define BATCHES 12

static char paths[GOLDEN_COUNT][32];
static uint8_t scene[3 * 8 * 8];

/* Golden images as files, some of them cut; and a picture in memory. */
static int make_images(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size;
        unsigned char *bytes = from_hex(golden_files[i].file, &size);
        snprintf(paths[i], sizeof paths[i], "image-%zu", i);
        int failed = write_whole(paths[i], bytes, i % 5 == 4 ? size / 2 : size);
        free(bytes);
        if (failed)
            return -1;
    }
    for (size_t i = 0; i < sizeof scene; i++)
        scene[i] = (uint8_t)(i * 37);
    return 0;
}

static ocdm__image_settings small_settings(void)
{
    ocdm__image_settings settings = ocdm__image_settings_default();
    settings.resize = 7;
    settings.crop = CROP;
    settings.seed = 12;
    return settings;
}

static void fill_batch(ocdm__image_request *requests, size_t batch)
{
    for (size_t i = 0; i < BATCH; i++) {
        size_t kind = (i * 7 + batch) % (GOLDEN_COUNT + 2);
        requests[i] = (ocdm__image_request){.sample = i, .step = batch, .training = batch % 4 != 3};
        if (kind < GOLDEN_COUNT)
            requests[i].path = paths[kind];
        else if (kind == GOLDEN_COUNT)
            requests[i].path = "nowhere";
        else {
            requests[i].planes = scene;
            requests[i].channels = 3;
            requests[i].width = requests[i].height = 8;
        }
    }
}

/* What a loader does, without threads. */
static size_t prepare_batch(size_t batch, float *tensor, ocdm_error *errors)
{
    ocdm__image_settings settings = small_settings();
    ocdm__image_plan plan;
    ocdm__image_scratch scratch = {0};
    ocdm__image_request requests[BATCH];
    size_t failed = 0;
    assert_int_equal(ocdm__image_plan_make(&settings, &plan, NULL), OCDM_OK);
    fill_batch(requests, batch);
    for (size_t i = 0; i < BATCH; i++) {
        errors[i].status = OCDM_OK;
        memset(tensor + i * FLOATS, 0, FLOATS * sizeof *tensor);
        failed += ocdm__image_prepare(&plan, &requests[i], &scratch, tensor + i * FLOATS, &errors[i]) != OCDM_OK;
    }
    ocdm__image_scratch_clear(&scratch);
    return failed;
}

static void check_batch(size_t batch, const float *tensor, const ocdm__image_outcome *outcome)
{
    static float expected[BATCH * FLOATS];
    static ocdm_error errors[BATCH];
    char where[64];
    snprintf(where, sizeof where, "batch %zu", batch);
    size_t failed = prepare_batch(batch, expected, errors);
    HOLDS(where, failed > 0 && failed < BATCH);
    HOLDS(where, outcome->count == BATCH && outcome->failed == failed);
    HOLDS(where, memcmp(tensor, expected, sizeof expected) == 0);
    for (size_t i = 0; i < BATCH; i++) {
        HOLDS(where, outcome->errors[i].status == errors[i].status);
        HOLDS(where, errors[i].status == OCDM_OK || strcmp(outcome->errors[i].message, errors[i].message) == 0);
    }
}

static void submit(ocdm__image_loader *loader, size_t slot, size_t batch, float *tensor)
{
    ocdm__image_request requests[BATCH];
    fill_batch(requests, batch);
    memset(tensor, 0xFF, BATCH * FLOATS * sizeof *tensor);
    assert_int_equal(ocdm__image_loader_submit(loader, slot, requests, BATCH, tensor, NULL), OCDM_OK);
    memset(requests, 0, sizeof requests); /* they were copied */
}

TEST(image_loader_gives_the_same_for_any_number_of_threads)
{
    static const size_t threads[] = {1, 2, 5};
    static float tensor[3][BATCH * FLOATS];
    ocdm__image_settings settings = small_settings();
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        ocdm__image_loader *loader = NULL;
        assert_int_equal(ocdm__image_loader_create(&settings, threads[t], 3, &loader, NULL), OCDM_OK);
        for (size_t batch = 0; batch < BATCHES + 2; batch++) {
            if (batch < BATCHES)
                submit(loader, batch % 3, batch, tensor[batch % 3]);
            if (batch < 2)
                continue;
            ocdm__image_outcome outcome;
            assert_int_equal(ocdm__image_loader_wait(loader, (batch - 2) % 3, &outcome, NULL), OCDM_OK);
            check_batch(batch - 2, tensor[(batch - 2) % 3], &outcome);
        }
        ocdm__image_loader_destroy(loader);
    }
}

TEST(image_loader_lets_batches_be_fetched_in_any_order)
{
    static float tensor[3][BATCH * FLOATS];
    ocdm__image_settings settings = small_settings();
    ocdm__image_loader *loader = NULL;
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 3, &loader, NULL), OCDM_OK);
    for (size_t round = 0; round < 6; round++) {
        for (size_t i = 0; i < 3; i++)
            submit(loader, (i + round) % 3, 3 * round + i, tensor[(i + round) % 3]);
        for (size_t i = 3; i-- > 0;) {
            ocdm__image_outcome outcome;
            assert_int_equal(ocdm__image_loader_wait(loader, (i + round) % 3, &outcome, NULL), OCDM_OK);
            check_batch(3 * round + i, tensor[(i + round) % 3], &outcome);
        }
    }
    ocdm__image_loader_destroy(loader);
}

/* Which images failed, and of which kind; the tensor is zero there and nowhere else. */
TEST(image_loader_tells_which_images_failed)
{
    ocdm__image_settings settings = small_settings();
    ocdm__image_loader *loader = NULL;
    ocdm__image_request requests[] = {{.path = paths[0]}, {.path = paths[4]}, {.path = "nowhere"}, {.path = paths[1]}};
    float tensor[4 * FLOATS];
    memset(tensor, 0xFF, sizeof tensor);
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 1, &loader, NULL), OCDM_OK);
    assert_int_equal(ocdm__image_loader_submit(loader, 0, requests, 4, tensor, NULL), OCDM_OK);
    ocdm__image_outcome outcome;
    assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, NULL), OCDM_OK);
    assert_int_equal(outcome.failed, 2);
    assert_int_equal(outcome.errors[0].status, OCDM_OK);
    assert_int_equal(outcome.errors[1].status, OCDM_BAD_FILE);
    assert_non_null(strstr(outcome.errors[1].message, "image-4: damaged JPEG: "));
    assert_int_equal(outcome.errors[2].status, OCDM_IO);
    assert_int_equal(outcome.errors[3].status, OCDM_OK);
    for (size_t i = 0; i < 4; i++) {
        bool zero = true;
        for (size_t j = 0; j < FLOATS; j++)
            zero = zero && tensor[i * FLOATS + j] == 0;
        assert_int_equal(zero, outcome.errors[i].status != OCDM_OK);
    }
    assert_true(ocdm__image_may_be_skipped(OCDM_BAD_FILE) && ocdm__image_may_be_skipped(OCDM_LIMIT));
    assert_false(ocdm__image_may_be_skipped(OCDM_IO) || ocdm__image_may_be_skipped(OCDM_NO_MEMORY));
    ocdm__image_loader_destroy(loader);
}

/* Nothing, something or everything is under way; the tensors may be freed at once afterwards. */
TEST(image_loader_ends_at_any_moment)
{
    ocdm__image_settings settings = small_settings();
    for (size_t round = 0; round < 60; round++) {
        ocdm__image_loader *loader = NULL;
        float *tensor = malloc(3 * BATCH * FLOATS * sizeof *tensor);
        assert_non_null(tensor);
        assert_int_equal(ocdm__image_loader_create(&settings, 1 + round % 5, 3, &loader, NULL), OCDM_OK);
        for (size_t slot = 0; slot < round % 4; slot++)
            submit(loader, slot, round, tensor + slot * BATCH * FLOATS);
        ocdm__image_outcome outcome;
        if (round % 4 == 3)
            assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, NULL), OCDM_OK);
        ocdm__image_loader_destroy(loader);
        free(tensor);
    }
    ocdm__image_loader_destroy(NULL);
}

TEST(image_loader_refuses_misuse)
{
    ocdm__image_settings settings = small_settings();
    ocdm__image_loader *loader = NULL;
    ocdm__image_outcome outcome;
    ocdm_error error;
    static float tensor[BATCH * FLOATS];
    assert_int_equal(ocdm__image_loader_create(&settings, 0, 3, &loader, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 0, &loader, &error), OCDM_BAD_ARGUMENT);
    settings.crop = 8;
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 2, &loader, &error), OCDM_BAD_ARGUMENT);
    assert_null(loader);
    settings.crop = CROP;
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 2, &loader, &error), OCDM_OK);
    assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__image_loader_wait(loader, 2, &outcome, &error), OCDM_BAD_ARGUMENT);
    submit(loader, 0, 1, tensor);
    ocdm__image_request request = {.path = paths[0]};
    assert_int_equal(ocdm__image_loader_submit(loader, 0, &request, 1, tensor, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__image_loader_submit(loader, 2, &request, 1, tensor, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, NULL), OCDM_OK);
    check_batch(1, tensor, &outcome);
    assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, &error), OCDM_BAD_ARGUMENT);
    ocdm__image_loader_destroy(loader);
}

TEST(image_loader_takes_an_empty_batch)
{
    ocdm__image_settings settings = small_settings();
    ocdm__image_loader *loader = NULL;
    ocdm__image_outcome outcome = {.count = 1, .failed = 1};
    assert_int_equal(ocdm__image_loader_create(&settings, 2, 2, &loader, NULL), OCDM_OK);
    assert_int_equal(ocdm__image_loader_submit(loader, 0, NULL, 0, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm__image_loader_wait(loader, 0, &outcome, NULL), OCDM_OK);
    assert_true(outcome.count == 0 && outcome.failed == 0);
    ocdm__image_loader_destroy(loader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_loader_gives_the_same_for_any_number_of_threads),
        cmocka_unit_test(image_loader_lets_batches_be_fetched_in_any_order),
        cmocka_unit_test(image_loader_tells_which_images_failed),
        cmocka_unit_test(image_loader_ends_at_any_moment),
        cmocka_unit_test(image_loader_refuses_misuse),
        cmocka_unit_test(image_loader_takes_an_empty_batch),
    };
    return cmocka_run_group_tests(tests, make_images, leave_folder);
}
