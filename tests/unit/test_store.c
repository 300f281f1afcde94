/* What the memory keeps: encodings against plain ones, the bytes of a sample by hand, and what a run replays. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "base/random.h"
#include "experiment/loop/run.h"

static const struct small_plan plan = {.tasks = 2, .train = 40, .test = 6, .seed = 9};

/* ---- the judges -------------------------------------------------------------------------------------------------------- */

/* Lowest and highest value of each feature of some rows. */
struct ranges {
    float low[SMALL_WIDTH], high[SMALL_WIDTH];
};

static struct ranges ranges_of(const ocdm__stream *stream, const uint32_t *samples, size_t count)
{
    struct ranges ranges;
    for (size_t k = 0; k < SMALL_WIDTH; k++) {
        ranges.low[k] = INFINITY;
        ranges.high[k] = -INFINITY;
    }
    for (size_t i = 0; i < count; i++) {
        float row[SMALL_WIDTH];
        ocdm__stream_features(stream, samples[i], row);
        for (size_t k = 0; k < SMALL_WIDTH; k++) {
            ranges.low[k] = row[k] < ranges.low[k] ? row[k] : ranges.low[k];
            ranges.high[k] = row[k] > ranges.high[k] ? row[k] : ranges.high[k];
        }
    }
    return ranges;
}

/* Of all 256 values of a byte, the nearest. */
static double nearest_byte(double value, double low, double high)
{
    double best = low;
    for (int byte = 1; byte <= 255; byte++) {
        double candidate = low + byte * (high - low) / 255;
        if (fabs(candidate - value) <= fabs(best - value))
            best = candidate;
    }
    return best;
}

/* Of all 65,536 halves, the nearest finite one, by what their bits mean; of two, the one whose last bit is 0. */
static double nearest_half(double value)
{
    double best = 0;
    int best_bits = 0;
    for (int bits = 0; bits < 0x7C00; bits++) {
        int exponent = bits >> 10, fraction = bits & 0x3FF;
        double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
        double off = fabs(magnitude - fabs(value)), least = fabs(best - fabs(value));
        if (off < least || (off == least && (best_bits & 1) != 0)) {
            best = magnitude;
            best_bits = bits;
        }
    }
    return value < 0 ? -best : best;
}

/* ---- encodings --------------------------------------------------------------------------------------------------------- */

/* A store of `width` features, without a run. */
static ocdm__store store_of(uint32_t kind, size_t width)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    const ocdm__stream stream = {.shape = {.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = width}};
    ocdm__store store;
    settings.store = kind;
    assert_int_equal(ocdm__store_open(&store, &settings, &stream, NULL), OCDM_OK);
    return store;
}

TEST(bytes_are_the_nearest_of_256_values_between_the_ends_of_the_range)
{
    enum { WIDTH = 5 };
    ocdm__random random = ocdm__random_stream(3, 3);
    ocdm__store store = store_of(OCDM__STORE_U8, WIDTH);
    float low[WIDTH], high[WIDTH], row[WIDTH];
    for (size_t i = 0; i < OCDM__STORE_LEARNING; i++) {
        for (size_t k = 0; k < WIDTH; k++) {
            row[k] = (float)(ldexp(1, 8 * (int)k - 12) * (ocdm__random_unit(&random) - 0.3));
            low[k] = i == 0 || row[k] < low[k] ? row[k] : low[k];
            high[k] = i == 0 || row[k] > high[k] ? row[k] : high[k];
        }
        ocdm__store_learn(&store, row);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < WIDTH; k++) {
            double range = (double)high[k] - (double)low[k];
            double value = (double)low[k] + range * (1.4 * ocdm__random_unit(&random) - 0.2); /* some are outside */
            row[k] = (float)value;
            float passed[WIDTH] = {0};
            passed[k] = row[k];
            ocdm__store_pass(&store, passed);
            double expected = nearest_byte((double)row[k], (double)low[k], (double)high[k]);
            if (!(fabs(expected - (double)passed[k]) <= 1e-6 * range))
                fail_msg("%.9g became %.9g, not %.9g", (double)row[k], (double)passed[k], expected);
            float again[WIDTH] = {0};
            again[k] = passed[k];
            ocdm__store_pass(&store, again);
            assert_true(again[k] == passed[k]); /* what was decoded is encoded to the same byte */
        }
    ocdm__store_clear(&store);
}

/* Feature 0 is 2 in all rows that are learned from; it can still be told from 0 and 7 later. */
TEST(constant_features_take_the_range_of_all)
{
    ocdm__store store = store_of(OCDM__STORE_U8, 2);
    for (size_t i = 0; i < OCDM__STORE_LEARNING; i++)
        ocdm__store_learn(&store, (float[]){2, (float)(i % 256) / 25.5F});
    float row[] = {7, 7}, before[] = {-3, 99};
    ocdm__store_pass(&store, row);
    assert_true(fabs((double)row[0] - 7) < 0.02 && row[0] == row[1]);
    ocdm__store_pass(&store, before);
    assert_true(before[0] == 0 && fabs((double)before[1] - 10) < 1e-5);
    ocdm__store_clear(&store);
    store = store_of(OCDM__STORE_U8, 1);
    for (size_t i = 0; i < OCDM__STORE_LEARNING; i++)
        ocdm__store_learn(&store, (float[]){4});
    float only[] = {5};
    ocdm__store_pass(&store, only);
    assert_true(only[0] == 4);
    ocdm__store_clear(&store);
}

TEST(halves_are_the_nearest_and_finite)
{
    ocdm__random random = ocdm__random_stream(4, 4);
    ocdm__store store = store_of(OCDM__STORE_F16, 1);
    for (int i = 0; i < 400; i++) {
        float value = (float)ldexp(ocdm__random_unit(&random) - 0.5, (int)ocdm__random_below(&random, 50) - 30);
        float row[] = {i == 0 ? 70000.0F : i == 1 ? -3e5F : i == 2 ? 65520.0F : value};
        double expected = nearest_half((double)row[0]);
        ocdm__store_pass(&store, row);
        if ((double)row[0] != expected)
            fail_msg("draw %d became %.9g, not %.9g", i, (double)row[0], expected);
    }
    ocdm__store_clear(&store);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

static uint32_t memory_of(ocdm__run_settings settings, uint64_t bytes, const ocdm__stream *stream)
{
    ocdm_error error;
    settings.memory_bytes = bytes;
    if (ocdm__run_settings_resolve(&settings, stream, "S", &error) != OCDM_OK)
        fail_msg("%s", error.message);
    return settings.memory;
}

/* Seven features and six classes: labels take a byte, the logits of all classes 24, a loss four. */
TEST(memory_follows_from_bytes)
{
    ocdm__stream stream = {.task_count = 0};
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    ocdm__run_settings settings = small_settings("ocdm");
    assert_int_equal(memory_of(settings, 29 * 40, &stream), 40);
    assert_int_equal(memory_of(settings, 29 * 40 - 1, &stream), 39);
    settings.store = OCDM__STORE_F32;
    assert_int_equal(memory_of(settings, 29 * 40, &stream), 40);
    settings.store = OCDM__STORE_F16;
    assert_int_equal(memory_of(settings, 15 * 40, &stream), 40);
    settings.store = OCDM__STORE_U8;
    assert_int_equal(memory_of(settings, 56 + 8 * 40, &stream), 40);
    assert_int_equal(memory_of(settings, 56 + 8 * 40 - 1, &stream), 39);
    settings.network.loss.dark = 1;
    settings.replay_policy = OCDM__REPLAY_LOSS;
    assert_int_equal(memory_of(settings, 56 + 36 * 40, &stream), 40);
    assert_int_equal(ocdm__store_bytes_of(&settings, &stream).sample, 36);
    ocdm__stream_close(&stream);
}

static void expect_refusal(ocdm__run_settings settings, const ocdm__stream *stream, const char *words)
{
    ocdm_error error = {.message = ""};
    assert_int_equal(ocdm__run_settings_resolve(&settings, stream, "S", &error), OCDM_BAD_ARGUMENT);
    HOLDS(error.message, strstr(error.message, words) != NULL);
    assert_true(error.hint[0] != '\0');
}

TEST(bytes_that_make_no_memory_are_refused)
{
    ocdm__stream stream = {.task_count = 0};
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    ocdm__run_settings settings = small_settings("ocdm");
    settings.memory_bytes = 28;
    expect_refusal(settings, &stream, "a sample takes 29 bytes");
    settings.memory_bytes = 29 * 3;
    expect_refusal(settings, &stream, "a memory of 3 samples is smaller than the 4");
    settings.store = OCDM__STORE_U8;
    settings.memory_bytes = 57;
    expect_refusal(settings, &stream, "57 bytes do not hold two");
    settings.memory_bytes = 0;
    settings.own_learner = settings.own_inputs = true;
    expect_refusal(settings, &stream, "the learner reads its samples itself");
    ocdm__stream_close(&stream);
    assert_int_equal(ocdm__stream_open(&stream, "images", NULL), OCDM_OK);
    settings = small_settings("ocdm");
    settings.model = "cnn";
    settings.store = OCDM__STORE_F16;
    expect_refusal(settings, &stream, "--store f16 is for features");
    settings.store = OCDM__STORE_NONE;
    assert_int_equal(memory_of(settings, (3 * 16 * 16 + 1) * 20, &stream), 20);
    ocdm__stream_close(&stream);
    assert_int_equal(ocdm__stream_open(&stream, "files", NULL), OCDM_OK);
    settings.memory_bytes = 10000;
    expect_refusal(settings, &stream, "samples of the stream have no fixed size");
    settings.store = OCDM__STORE_JPEG;
    settings.store_quality = 50;
    settings.store_pixels = 100;
    assert_int_equal(memory_of(settings, (640 + 1500 + 1) * 20, &stream), 20); /* 0.15 bytes for a pixel */
    settings.store_quality = 98;
    assert_int_equal(memory_of(settings, (640 + 7500 + 1) * 20 - 1, &stream), 19); /* quantised 25 times finer */
    ocdm__stream_close(&stream);
}

TEST(stores_are_read_with_their_numbers)
{
    static const char *const bad[] = {"",         "u16",       "u8:",         "u8:5:5",    "jpeg",        "jpeg:75",
                                      "jpeg:75:", "jpeg:0:64", "jpeg:101:64", "jpeg:75:0", "jpeg:75:64:", "jpeg::64",
                                      "JPEG:1:1", "jpeg:x:64", "jpeg:75:5000"};
    static const char *const good[] = {"none", "f32", "f16", "u8", "jpeg:75:128"};
    ocdm__run_settings settings = ocdm__run_settings_default();
    const ocdm__setting *setting = ocdm__setting_of_flag("store");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char expected[32];
        ocdm__output output;
        assert_int_equal(ocdm__setting_read(setting, good[i], &settings, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm__output_open_memory(&output, "a setting", NULL), OCDM_OK);
        ocdm__setting_write(&output, setting, &settings, NULL, 0);
        snprintf(expected, sizeof expected, "\"%s\"", good[i]);
        assert_memory_equal(expected, output.buffer, strlen(expected));
        ocdm__output_abandon(&output);
    }
    assert_true(settings.store_quality == 75 && settings.store_pixels == 128);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ocdm_error error = {.message = ""};
        HOLDS(bad[i], ocdm__setting_read(setting, bad[i], &settings, NULL, &error) == OCDM_BAD_ARGUMENT);
        HOLDS(error.message, strstr(error.message, "such as jpeg:75:128") != NULL);
    }
    assert_int_equal(settings.store, OCDM__STORE_JPEG);
}

TEST(bytes_are_read_with_powers_of_1024)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"1", 1}, {"4000000", 4000000}, {"3K", 3072}, {"4M", 4194304}, {"2G", 2147483648}};
    static const char *const bad[] = {"", "K", "0", "-4M", "4MB", "4m", "1.5M", "99999999999999999G", "9007199254740993"};
    ocdm__run_settings settings = ocdm__run_settings_default();
    const ocdm__setting *setting = ocdm__setting_of_flag("memory-bytes");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(ocdm__setting_read(setting, good[i].text, &settings, NULL, NULL), OCDM_OK);
        assert_int_equal(settings.memory_bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ocdm_error error = {.message = ""};
        HOLDS(bad[i], ocdm__setting_read(setting, bad[i], &settings, NULL, &error) == OCDM_BAD_ARGUMENT);
        HOLDS(error.message, strstr(error.message, "not a number of bytes") != NULL);
    }
    assert_int_equal(settings.memory_bytes, 2147483648);
}

/* ---- a run ------------------------------------------------------------------------------------------------------------- */

/* The rows of the last step: those of the stream as they are, those of the memory as they were stored. */
static void check_step(const ocdm__run *run, const struct ranges *ranges)
{
    const ocdm__online *online = &run->online;
    assert_ptr_equal(online->batch.input, online->input);
    for (size_t i = 0; i < online->batch.count; i++) {
        float row[SMALL_WIDTH];
        ocdm__stream_features(run->stream, online->batch.samples[i], row);
        for (size_t k = 0; k < SMALL_WIDTH; k++) {
            float actual = online->input[i * SMALL_WIDTH + k];
            double expected = (double)row[k];
            if (i >= online->batch.fresh && ranges != NULL)
                expected = nearest_byte(expected, (double)ranges->low[k], (double)ranges->high[k]);
            if (!(fabs(expected - (double)actual) <= (ranges != NULL ? 1e-6 : 0)))
                fail_msg("step %d, row %zu, feature %zu: %.9g, not %.9g", (int)run->step, i, k, (double)actual, expected);
        }
    }
}

/* The bytes hold 20 samples as f32: ranges are those of the first 20 samples, four steps. */
TEST(runs_replay_what_was_stored)
{
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_settings settings = small_settings("ocdm");
    ocdm__run *run = NULL;
    enum ocdm__run_event event = OCDM__RUN_STEPPED;
    settings.memory_bytes = 29 * 20;
    settings.store = OCDM__STORE_U8;
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
    assert_int_equal(settings.memory, 65);
    assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
    assert_int_equal(ocdm__run_begin(run, NULL), OCDM_OK);
    const struct ranges ranges = ranges_of(&stream, run->schedule.order.samples, 20);
    size_t replayed = 0;
    while (event != OCDM__RUN_FINISHED) {
        assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
        if (event != OCDM__RUN_STEPPED)
            continue;
        check_step(run, run->step > 4 ? &ranges : NULL);
        replayed += run->step > 4 ? run->online.batch.count - run->online.batch.fresh : 0;
    }
    assert_int_equal(replayed, 12 * 4);
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

static int make_streams(void **state)
{
    static const struct small_plan images = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_IMAGES};
    static const struct small_plan files = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_FILES};
    if (enter_folder(state) != 0)
        return -1;
    small_file(&plan, "stream");
    small_file(&images, "images");
    small_file(&files, "files");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_nearest_of_256_values_between_the_ends_of_the_range),
        cmocka_unit_test(constant_features_take_the_range_of_all),
        cmocka_unit_test(halves_are_the_nearest_and_finite),
        cmocka_unit_test(memory_follows_from_bytes),
        cmocka_unit_test(bytes_that_make_no_memory_are_refused),
        cmocka_unit_test(stores_are_read_with_their_numbers),
        cmocka_unit_test(bytes_are_read_with_powers_of_1024),
        cmocka_unit_test(runs_replay_what_was_stored),
    };
    return cmocka_run_group_tests(tests, make_streams, leave_folder);
}
