/* Featurizing small streams, against each sample alone and plain sums; notes; files are unchanged on error. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "base/error.h"
#include "experiment/predict.h"
#include "small_weights.h"
#include "request_samples.h"

static ocdm__featurize_settings featurize_settings(const char *stream, const char *model, const char *weights)
{
    ocdm__featurize_settings settings = {.command = "ocdm stream featurize x", .output = "featurized", .type = OCDM__F32};
    settings.network = (ocdm__predictor_settings){
        .stream = stream, .model = model, .weights = weights, .features = true, .threads = 1, .batch = 5};
    return settings;
}

static void featurize(const ocdm__featurize_settings *settings, ocdm__featurize_report *report)
{
    ocdm_error error = {.message = ""};
    ocdm_status status = ocdm__featurize(settings, NULL, report, &error);
    HOLDS(error.message, status == OCDM_OK);
}

static void check_same_texts(const ocdm__text_list *a, const ocdm__text_list *b, size_t count)
{
    assert_memory_equal(a->starts, b->starts, (count + 1) * sizeof *a->starts);
    assert_memory_equal(a->bytes, b->bytes, a->starts[count]);
}

static void check_same_tables(const ocdm__stream_table *a, const ocdm__stream_table *b)
{
    assert_true(a->sample_count == b->sample_count && a->class_count == b->class_count);
    assert_memory_equal(a->label_starts, b->label_starts, (SMALL_SAMPLES + 1) * sizeof *a->label_starts);
    assert_memory_equal(a->labels, b->labels, SMALL_SAMPLES * sizeof *a->labels);
    assert_memory_equal(a->tasks, b->tasks, SMALL_SAMPLES * sizeof *a->tasks);
    assert_memory_equal(a->parts, b->parts, SMALL_SAMPLES);
    assert_memory_equal(a->groups, b->groups, SMALL_CLASSES);
    check_same_texts(&a->ids, &b->ids, SMALL_SAMPLES);
    check_same_texts(&a->classes, &b->classes, SMALL_CLASSES);
    assert_null(b->paths.starts);
}

/* The features of each sample alone; mean and deviation of the training part by two plain passes. */
static void expected_features(const ocdm__featurize_settings *settings, size_t width, double *out)
{
    ocdm__predictor predictor = {.agent = NULL};
    float row[512];
    assert_int_equal(ocdm__predictor_open(&predictor, &settings->network, NULL), OCDM_OK);
    for (uint32_t i = 0; i < SMALL_SAMPLES; i++) {
        ocdm__batch ready;
        assert_int_equal(request_samples(predictor.inputs, 0, &i, 1, 0, false, NULL), OCDM_OK);
        assert_int_equal(ocdm__model_inputs_wait(predictor.inputs, 0, &ready, NULL), OCDM_OK);
        assert_int_equal(ocdm__agent_features(predictor.agent, ready.input, 1, row, NULL), OCDM_OK);
        for (size_t k = 0; k < width; k++)
            out[i * width + k] = (double)row[k];
    }
    ocdm__predictor_close(&predictor);
}

static void standardize(double *rows, size_t width)
{
    for (size_t k = 0; k < width; k++) {
        double sum = 0, squares = 0, n = 0;
        for (size_t i = 0; i < SMALL_SAMPLES; i++)
            if (small_part(i) == OCDM__TRAIN)
                sum += rows[i * width + k], n++;
        double mean = sum / n;
        for (size_t i = 0; i < SMALL_SAMPLES; i++)
            if (small_part(i) == OCDM__TRAIN)
                squares += (rows[i * width + k] - mean) * (rows[i * width + k] - mean);
        double deviation = sqrt(squares / n);
        for (size_t i = 0; i < SMALL_SAMPLES; i++)
            rows[i * width + k] = squares > 0 ? (rows[i * width + k] - mean) / deviation : 0;
    }
}

TEST(featurize_stores_what_the_head_sees)
{
    static const struct {
        const char *stream, *model, *weights;
        size_t width;
    } cases[] = {{"images", "cnn", "cnn", 256},
                 {"images", "cnn", "cnn-of-4", 256},
                 {"images", "cnn", "headless", 256},
                 {"features", "mlp", "mlp", 512},
                 {"features", "linear", "linear", SMALL_FEATURES}};
    static double expected[SMALL_SAMPLES * 512];
    for (size_t i = 0; i < 4 * (sizeof cases / sizeof *cases); i++) {
        size_t c = i / 4, width = cases[c].width;
        ocdm__featurize_settings settings = featurize_settings(cases[c].stream, cases[c].model, cases[c].weights);
        ocdm__featurize_report report;
        ocdm__stream before = {.task_count = 0}, after = {.task_count = 0};
        float row[512];
        settings.standardize = i & 1 ? OCDM__BY_ALL : OCDM__AS_THEY_ARE;
        settings.type = i & 2 ? OCDM__F16 : OCDM__F32;
        featurize(&settings, &report);
        assert_true(report.samples == SMALL_SAMPLES && report.features == width && report.classes == SMALL_CLASSES);
        assert_int_equal(ocdm__stream_open(&before, cases[c].stream, NULL), OCDM_OK);
        assert_int_equal(ocdm__stream_open(&after, "featurized", NULL), OCDM_OK);
        assert_int_equal(ocdm__stream_verify(&after, NULL, NULL), OCDM_OK);
        check_same_tables(&before.table, &after.table);
        assert_true(after.shape.kind == OCDM__FEATURES && after.shape.dtype == settings.type && after.shape.width == width);
        assert_int_equal(ocdm__safetensors_find(&after.tensors, "feature_mean") != NULL,
                         settings.standardize != OCDM__AS_THEY_ARE);
        expected_features(&settings, width, expected);
        if (settings.standardize)
            standardize(expected, width);
        for (size_t s = 0; s < SMALL_SAMPLES; s++) {
            ocdm__stream_features(&after, s, row);
            for (size_t k = 0; k < width; k++)
                HOLDS(cases[c].weights, fabs((double)row[k] - expected[s * width + k]) <
                                            (i & 2 ? 2e-3 : 1e-4) * (1 + fabs(expected[s * width + k])));
        }
        ocdm__stream_close(&before);
        ocdm__stream_close(&after);
    }
    remove("featurized");
}

/* The bytes do not depend on threads or batches, and the notes say where they come from. */
TEST(featurize_gives_the_same_bytes_for_any_threads_and_batch)
{
    ocdm__featurize_settings settings = featurize_settings("images", "cnn", "cnn");
    ocdm__featurize_report report;
    size_t size, other_size;
    settings.standardize = OCDM__BY_ALL;
    featurize(&settings, &report);
    unsigned char *bytes = read_whole("featurized", &size);
    for (unsigned threads = 1; threads < 4; threads++)
        for (size_t batch = 1; batch < 15; batch += 6) {
            settings.network.threads = threads;
            settings.network.batch = batch;
            featurize(&settings, &report);
            unsigned char *other = read_whole("featurized", &other_size);
            assert_int_equal(other_size, size);
            assert_memory_equal(bytes, other, size);
            free(other);
        }
    ocdm__stream stream = {.task_count = 0};
    char digest[2][OCDM__SHA256_TEXT], sources[512];
    assert_int_equal(ocdm__stream_open(&stream, "featurized", NULL), OCDM_OK);
    assert_true(ocdm__note_is(ocdm__safetensors_note(&stream.tensors, "command"), "ocdm stream featurize x"));
    assert_true(ocdm__note_is(ocdm__safetensors_note(&stream.tensors, "ids_sha256"), report.ids));
    assert_int_equal(ocdm__sha256_of_file("images", NULL, digest[0], NULL), OCDM_OK);
    assert_int_equal(ocdm__sha256_of_file("cnn", NULL, digest[1], NULL), OCDM_OK);
    const struct ocdm__note *note = ocdm__safetensors_note(&stream.tensors, "sources");
    snprintf(sources, sizeof sources, "%.*s", (int)note->value_length, note->value);
    assert_true(strstr(sources, digest[0]) != NULL && strstr(sources, digest[1]) != NULL);
    ocdm__stream_close(&stream);
    free(bytes);
    remove("featurized");
}

TEST(featurize_refuses_what_cannot_be_stored_and_leaves_nothing)
{
    static const struct {
        const char *stream, *model, *weights, *output;
        ocdm_status status;
        const char *says;
    } cases[] = {
        {"files", "cnn", "cnn", "out", OCDM_BAD_FILE, "./image-5: damaged JPEG"},
        {"images", "cnn", "zip", "out", OCDM_BAD_FILE, "zip: a pickled file"},
        {"images", "cnn", "mlp", "out", OCDM_BAD_FILE, "the weights are for mlp, not for cnn"},
        {"features", "mlp", "huge-mlp", "out", OCDM_BAD_RECORD, "features: sample 0: feature "},
        {"images", "cnn", "cnn", "no-folder/out", OCDM_IO, "no-folder/out"},
    };
    static float weight[512 * SMALL_FEATURES], bias[512], head[SMALL_CLASSES * 512];
    struct ocdm__tensor tensors[4] = {ocdm__tensor_of("hidden.weight", OCDM__F32, weight, sizeof weight / sizeof *weight),
                                      ocdm__tensor_of("hidden.bias", OCDM__F32, bias, 512),
                                      ocdm__tensor_of("fc.weight", OCDM__F32, head, sizeof head / sizeof *head),
                                      ocdm__tensor_of("fc.bias", OCDM__F32, linear_bias, SMALL_CLASSES)};
    tensors[0].rank = tensors[2].rank = 2;
    tensors[0].shape[0] = tensors[2].shape[1] = 512;
    tensors[0].shape[1] = SMALL_FEATURES;
    tensors[2].shape[0] = SMALL_CLASSES;
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
        weight[i] = small_feature(0, i % SMALL_FEATURES) > 0 ? 3e38F : -3e38F;
    write_tensors("huge-mlp", tensors, 4);
    int files = count_files(0);
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        ocdm__featurize_settings settings = featurize_settings(cases[i / 2].stream, cases[i / 2].model, cases[i / 2].weights);
        ocdm__featurize_report report;
        ocdm_error error = {.message = ""};
        settings.output = cases[i / 2].output;
        settings.standardize = i & 1 ? OCDM__BY_ALL : OCDM__AS_THEY_ARE;
        if (strcmp(cases[i / 2].stream, "files") == 0)
            settings.network.resize = 16;
        ocdm_status status = ocdm__featurize(&settings, NULL, &report, &error);
        HOLDS(error.message, status == cases[i / 2].status && strstr(error.message, cases[i / 2].says) != NULL);
        assert_int_equal(count_files(0), files);
    }
}

TEST(featurize_stops_when_told)
{
    volatile sig_atomic_t stop = 1;
    ocdm__progress progress = {.stop = &stop};
    ocdm__featurize_settings settings = featurize_settings("features", "linear", "linear");
    ocdm__featurize_report report;
    int files = count_files(0);
    for (int standardized = 0; standardized < 2; standardized++) {
        settings.standardize = standardized ? OCDM__BY_ALL : OCDM__AS_THEY_ARE;
        assert_int_equal(ocdm__featurize(&settings, &progress, &report, NULL), OCDM_STOPPED);
    }
    assert_int_equal(count_files(0), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(featurize_stores_what_the_head_sees),
        cmocka_unit_test(featurize_gives_the_same_bytes_for_any_threads_and_batch),
        cmocka_unit_test(featurize_refuses_what_cannot_be_stored_and_leaves_nothing),
        cmocka_unit_test(featurize_stops_when_told),
    };
    return cmocka_run_group_tests(tests, enter_small_folder, leave_folder);
}
