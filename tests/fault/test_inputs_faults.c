/* Every allocation behind a network's inputs fails once: they tell that memory is out, leak nothing, and work the next time. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"
#include "../unit/small_stream.h"

#include <errno.h>

#include "experiment/loop/inputs.h"
#include "faults.h"

/* Opens, asks for two batches of which the second is larger, and fetches them. */
static ocdm_status read_batches(const ocdm__stream *stream, ocdm_error *error)
{
    static const uint32_t samples[] = {3, 1, 4, 1, 5};
    const ocdm__model_input_settings settings = {
        .resize = 20, .crop = 16, .threads = 2, .images = &ocdm__image_loading, .storing = {75, 8, 4000}};
    ocdm__model_inputs *inputs = NULL;
    ocdm__batch ready = {.count = 0};
    ocdm_status status = ocdm__model_inputs_open(stream, &settings, &inputs, error);
    for (size_t count = 2; count <= 5 && status == OCDM_OK; count += 3) {
        const ocdm__batch batch = {.samples = samples, .count = count, .fresh = 1};
        status = ocdm__model_inputs_request(inputs, 0, &batch, true, error);
        if (status == OCDM_OK)
            status = ocdm__model_inputs_wait(inputs, 0, &ready, error);
        assert_true(status != OCDM_OK || ready.count == count);
    }
    ocdm__model_inputs_close(inputs);
    return status;
}

TEST(inputs_fail_cleanly_at_every_allocation)
{
    static const char *const paths[] = {"features", "images"};
    for (size_t p = 0; p < 2; p++) {
        ocdm__stream stream = {.task_count = 0};
        ocdm_error error = {.message = ""};
        assert_int_equal(ocdm__stream_open(&stream, paths[p], NULL), OCDM_OK);
        fault_off();
        assert_int_equal(read_batches(&stream, &error), OCDM_OK);
        unsigned long calls = fault_calls(FAULT_ALLOCATE);
        assert_true(calls > 4);
        for (unsigned long n = 1; n <= calls; n++) {
            fault_at(FAULT_ALLOCATE, n, ENOMEM, false);
            ocdm_status status = read_batches(&stream, &error);
            bool reached = fault_calls(FAULT_ALLOCATE) >= n; /* which thread prepares what decides how many there are */
            fault_off();
            HOLDS(error.message, status == (reached ? OCDM_NO_MEMORY : OCDM_OK));
        }
        assert_int_equal(read_batches(&stream, &error), OCDM_OK);
        ocdm__stream_close(&stream);
    }
}

static int make_streams(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    write_small_stream("features", OCDM__FEATURES, OCDM__F32, NULL, SMALL_SAMPLES);
    write_small_stream("images", OCDM__IMAGES, OCDM__U8, NULL, SMALL_SAMPLES);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_fail_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, make_streams, leave_folder);
}
