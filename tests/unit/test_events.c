/* Event files of logs with numbers that no run writes. */
#define _POSIX_C_SOURCE 200809L

#include "../test.h"
#include "../nested_files.h"
#include "report/events/events.h"

static const char good[] = "{\"type\":\"step\",\"step\":3,\"loss\":0.5,\"counts\":[2,0,1]}\n";

/* The size of the event file that this log gives. */
static size_t events_of(const char *log)
{
    size_t size;
    ocdm__event_file *file = NULL;
    assert_int_equal(put_text("r/run.jsonl", log), 0);
    assert_int_equal(ocdm__event_file_open(&file, "r", NULL), OCDM_OK);
    ocdm__event_file_close(file);
    free(read_whole("r/" OCDM__EVENTS_FILE, &size));
    assert_true(size > 0);
    return size;
}

static size_t events_after(const char *line)
{
    char log[512];
    snprintf(log, sizeof log, "%s%s", line, good);
    return events_of(log);
}

TEST(events_without_a_step_that_can_be_are_left_out)
{
    size_t expected = events_of(good);
    assert_true(expected > events_of(""));
    assert_int_equal(events_after("{\"type\":\"step\",\"loss\":1}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":-1,\"loss\":1}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":1e300,\"loss\":1}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"evaluation\",\"step\":\"x\",\"total\":{\"mAP\":1}}\n"), expected);
}

/* The largest of these would be in a bucket behind the last one. */
TEST(counts_that_cannot_be_have_no_histogram)
{
    size_t expected = events_after("{\"type\":\"step\",\"step\":3,\"loss\":1}\n");
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":3,\"loss\":1,\"counts\":[3e17,1]}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":3,\"loss\":1,\"counts\":[1e308,1]}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":3,\"loss\":1,\"counts\":[-1,1]}\n"), expected);
    assert_int_equal(events_after("{\"type\":\"step\",\"step\":3,\"loss\":1,\"counts\":[null,1]}\n"), expected);
    assert_true(events_after("{\"type\":\"step\",\"step\":3,\"loss\":1,\"counts\":[4294967295,1]}\n") > expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(events_without_a_step_that_can_be_are_left_out, clear_tree),
        cmocka_unit_test_teardown(counts_that_cannot_be_have_no_histogram, clear_tree),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
