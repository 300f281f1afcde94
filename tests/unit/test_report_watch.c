/* A log, line by line, as a view. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "../scratch_folder.h"
#include "base/text.h"
#include "report/watch/watch.h"

static ocdm__watch followed, *watch = &followed;

static int begin(void **state)
{
    (void)state;
    ocdm__watch_forget(watch);
    return 0;
}

static enum ocdm__watch_event take(const char *line)
{
    return ocdm__watch_line(watch, line, strlen(line));
}

static void take_step(unsigned step)
{
    char line[200];
    snprintf(line, sizeof line,
             "{\"type\":\"step\",\"step\":%u,\"task\":0,\"loss\":%u.5,\"distance_seen\":0.25,\"kept\":5,\"seconds\":2}", step,
             step);
    assert_int_equal(take(line), OCDM__WATCH_STEP);
}

static const char start[] = "{\"type\":\"start\",\"settings\":{\"method\":\"ocdm\",\"seed\":3,\"memory\":100,\"batch\":10},"
                            "\"stream\":{\"file\":\"s\",\"train\":1000}}";

static char view[1 << 16];

/* The view; the lines that it says it has are there. */
static const char *draw(unsigned width, bool utf8)
{
    ocdm__output out;
    size_t size;
    assert_int_equal(ocdm__output_open(&out, "view", NULL), OCDM_OK);
    size_t lines = ocdm__watch_draw(watch, &out, &(ocdm__watch_look){.width = width, .utf8 = utf8});
    assert_int_equal(ocdm__output_commit(&out, NULL), OCDM_OK);
    unsigned char *bytes = read_whole("view", &size);
    assert_non_null(bytes);
    assert_true(size < sizeof view);
    memcpy(view, bytes, size);
    view[size] = '\0';
    free(bytes);
    for (const char *at = view; (at = strchr(at, '\n')) != NULL; at++)
        lines--;
    assert_int_equal(lines, 0);
    return view;
}

TEST(watch_shows_how_far_a_run_is)
{
    assert_int_equal(take(start), OCDM__WATCH_START);
    take_step(10);
    take_step(20);
    draw(100, true);
    assert_non_null(strstr(view, "ocdm on s, seed 3, memory 5 of 100 samples\n"));
    assert_non_null(strstr(view, "step 20 of about 100 (20 %), 8 s left, 10 steps/s, task 0\n"));
    assert_non_null(strstr(view, "loss        20.5000   ▁█\n"));
    assert_int_equal(take("{\"type\":\"evaluation\",\"task\":0,\"step\":20,\"total\":{\"mAP\":33.25}}"),
                     OCDM__WATCH_EVALUATION);
    assert_int_equal(take("{\"type\":\"end\",\"step\":20}"), OCDM__WATCH_END);
    draw(100, false);
    assert_non_null(strstr(view, ", ended, 10 steps/s, task 0\n"));
    assert_non_null(strstr(view, "mAP  task 0: 33.2 %\n"));
    assert_non_null(strstr(view, "loss        20.5000   .#\n"));
}

TEST(watch_draws_the_classes_when_the_log_has_counts)
{
    take(start);
    take("{\"type\":\"step\",\"step\":10,\"counts\":[8,0,4]}");
    draw(60, true);
    assert_non_null(strstr(view, "classes  8 samples    █  \n"));
    assert_non_null(strstr(view, "                      █ █\n"));
}

/* A resume goes back to the checkpoint: the steps after it are repeated. */
TEST(watch_forgets_what_came_after_a_resumed_step)
{
    take(start);
    for (unsigned step = 10; step <= 50; step += 10)
        take_step(step);
    assert_int_equal(take("{\"type\":\"start\",\"resumed\":30,\"settings\":{\"method\":\"ocdm\"},\"stream\":{}}"),
                     OCDM__WATCH_START);
    assert_float_equal(watch->last.step, 30, 0);
    take_step(40);
    draw(100, false);
    assert_non_null(strstr(view, "loss        40.5000   "));
    const char *bars = strstr(view, "loss        40.5000   ") + strlen("loss        40.5000   ");
    assert_int_equal(strcspn(bars, "\n"), 4);
}

TEST(watch_passes_over_what_is_no_line_of_a_log)
{
    static const char *const lines[] = {"", "{", "7", "[]", "{\"type\":7}", "{\"type\":\"other\"}", "\xff"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(take(lines[i]), OCDM__WATCH_OTHER);
    assert_int_equal(take("{\"type\":\"start\",\"settings\":7}"), OCDM__WATCH_START);
    assert_int_equal(take("{\"type\":\"step\"}"), OCDM__WATCH_STEP);
    assert_int_equal(take("{\"type\":\"evaluation\"}"), OCDM__WATCH_EVALUATION);
    draw(80, true);
}

/* However long the run, however narrow the terminal: no line is wider, and control characters in names do not pass. */
TEST(watch_keeps_to_the_width)
{
    take("{\"type\":\"start\",\"settings\":{\"method\":\"\\u001b[31mred\",\"seed\":3},\"stream\":{\"file\":\"\\u0007bell\"}}");
    for (unsigned step = 1; step <= 5000; step++)
        take_step(step);
    take("{\"type\":\"step\",\"step\":5001,\"loss\":1,\"counts\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
         "24,25,26,27,28,29,30]}");
    for (unsigned i = 0; i < 300; i++)
        take("{\"type\":\"evaluation\",\"task\":1,\"total\":{\"mAP\":1}}");
    static const unsigned widths[] = {40, 80, 1000};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        draw(widths[w], true);
        size_t columns = 0;
        for (const char *at = view; *at != '\0'; at++) {
            assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
            columns = *at == '\n' ? 0 : columns + !ocdm__utf8_continues((unsigned char)*at);
            assert_true(columns <= widths[w]);
        }
    }
}

/* The time left and the newest evaluations are what a user looks for. */
TEST(watch_fits_eighty_columns_in_a_long_run)
{
    take("{\"type\":\"start\",\"settings\":{\"method\":\"ocdm\",\"seed\":3,\"memory\":20000,\"batch\":10},"
         "\"stream\":{\"file\":\"posters-of-movies.safetensors\",\"train\":2000000}}");
    take("{\"type\":\"step\",\"step\":123450,\"task\":11,\"loss\":1,\"distance_seen\":0.5,\"kept\":20000,\"seconds\":12345}");
    for (unsigned task = 0; task < 12; task++) {
        char line[100];
        snprintf(line, sizeof line, "{\"type\":\"evaluation\",\"task\":%u,\"total\":{\"mAP\":43.21}}", task);
        take(line);
    }
    draw(80, false);
    assert_non_null(strstr(view, "ocdm on posters-of-movies.safetensors, seed 3, memory 20000 of 20000 samples\n"));
    assert_non_null(strstr(view, "step 123450 of about 200000 (62 %), 2 h 08 min left, 10 steps/s, task 11\n"));
    assert_non_null(strstr(view, "  task 11: 43.2 %\n"));
}

int main(void)
{
#define WITH_WATCH(test) cmocka_unit_test_setup(test, begin)
    const struct CMUnitTest tests[] = {
        WITH_WATCH(watch_shows_how_far_a_run_is),
        WITH_WATCH(watch_draws_the_classes_when_the_log_has_counts),
        WITH_WATCH(watch_forgets_what_came_after_a_resumed_step),
        WITH_WATCH(watch_passes_over_what_is_no_line_of_a_log),
        WITH_WATCH(watch_keeps_to_the_width),
        WITH_WATCH(watch_fits_eighty_columns_in_a_long_run),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
