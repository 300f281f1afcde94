/* Predicting small streams, against plain sums; weights that do not fit; files are unchanged on error. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "agent/agent.h"
#include "base/error.h"
#include "experiment/predict.h"
#include "small_weights.h"
#include "request_samples.h"

#define HEADER 128

/* ---- running --------------------------------------------------------------------------------------------------------- */

static ocdm__predict_settings predict_settings(const char *stream, const char *model, const char *weights)
{
    ocdm__predict_settings settings = {.part = OCDM__PREDICT_ALL, .output = "scores.npy"};
    settings.network = (ocdm__predictor_settings){
        .stream = stream, .model = model, .weights = weights, .threads = 1, .batch = 5, .resize = 0, .crop = 0};
    return settings;
}

static ocdm_status predict(const ocdm__predict_settings *settings, ocdm__predict_report *report)
{
    ocdm_error error = {.message = ""};
    ocdm_status status = ocdm__predict(settings, NULL, report, &error);
    HOLDS(error.message, status == OCDM_OK);
    return status;
}

/* The floats of an NPY file that we wrote, to be freed; its header must say rows and columns. */
static float *read_scores(const char *path, size_t rows, size_t columns)
{
    size_t size;
    char start[HEADER + 1];
    unsigned char *bytes = read_whole(path, &size);
    int used = snprintf(start, sizeof start, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    assert_non_null(bytes);
    assert_int_equal(size, HEADER + 4 * rows * columns);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(bytes + 10, start, (size_t)used);
    assert_int_equal(strspn((char *)bytes + 10 + used, " "), HEADER - 11 - used);
    assert_int_equal(bytes[HEADER - 1], '\n');
    float *scores = malloc(4 * rows * columns + 1);
    for (size_t i = 0; i < rows * columns; i++) {
        uint32_t bits = ocdm__get_u32(bytes + HEADER + 4 * i);
        memcpy(&scores[i], &bits, sizeof bits);
    }
    free(bytes);
    return scores;
}

static double expected_logit(size_t sample, size_t class_number)
{
    double sum = (double)linear_bias[class_number];
    for (size_t k = 0; k < SMALL_FEATURES; k++)
        sum += (double)linear_weight[class_number][k] * (double)small_feature(sample, k);
    return sum;
}

/* ---- predicting ------------------------------------------------------------------------------------------------------ */

TEST(predict_writes_the_logits_of_a_part_in_file_order)
{
    for (int part = OCDM__PREDICT_TEST; part <= OCDM__PREDICT_ALL; part++)
        for (size_t batch = 1; batch < 20; batch += 3) {
            ocdm__predict_settings settings = predict_settings("features", "linear", "linear");
            ocdm__predict_report report;
            size_t row = 0, rows = part == OCDM__PREDICT_TEST ? 4 : part == OCDM__PREDICT_TRAIN ? 8 : 12;
            settings.part = (enum ocdm__predict_part)part;
            settings.network.batch = batch;
            predict(&settings, &report);
            assert_true(report.samples == rows && report.classes == SMALL_CLASSES && report.skipped == 0);
            float *scores = read_scores("scores.npy", rows, SMALL_CLASSES);
            for (size_t i = 0; i < SMALL_SAMPLES; i++) {
                if (part != OCDM__PREDICT_ALL && (small_part(i) == OCDM__TEST) != (part == OCDM__PREDICT_TEST))
                    continue;
                for (size_t c = 0; c < SMALL_CLASSES; c++)
                    assert_true(fabs((double)scores[row * SMALL_CLASSES + c] - expected_logit(i, c)) < 1e-5);
                row++;
            }
            free(scores);
        }
}

/* A network on stored images: each sample alone, through the same functions, gives the same result except for rounding. */
TEST(predict_gives_each_image_what_it_gets_alone)
{
    for (unsigned variant = 0; variant < 3; variant++) {
        ocdm__predict_settings settings = predict_settings("images", "cnn", "cnn");
        ocdm__predict_report report;
        ocdm__predictor predictor = {.agent = NULL};
        settings.network.threads = 1 + variant;
        settings.network.batch = 4 + variant;
        predict(&settings, &report);
        float *scores = read_scores("scores.npy", SMALL_SAMPLES, SMALL_CLASSES);
        assert_int_equal(ocdm__predictor_open(&predictor, &settings.network, NULL), OCDM_OK);
        for (uint32_t i = 0; i < SMALL_SAMPLES; i++) {
            float alone[SMALL_CLASSES];
            ocdm__batch ready;
            assert_int_equal(request_samples(predictor.inputs, 0, &i, 1, 9, false, NULL), OCDM_OK);
            assert_int_equal(ocdm__model_inputs_wait(predictor.inputs, 0, &ready, NULL), OCDM_OK);
            assert_int_equal(ocdm__agent_predict(predictor.agent, ready.input, 1, alone, NULL), OCDM_OK);
            for (size_t c = 0; c < SMALL_CLASSES; c++)
                assert_true(fabsf(alone[c] - scores[i * SMALL_CLASSES + c]) < 1e-6F);
            assert_true(i == 0 || fabsf(alone[0] - scores[0]) > 1e-5F);
        }
        ocdm__predictor_close(&predictor);
        free(scores);
    }
}

TEST(predict_gives_the_same_bytes_for_any_number_of_threads)
{
    ocdm__predict_settings settings = predict_settings("images", "cnn", "cnn");
    ocdm__predict_report report;
    size_t size, other_size;
    predict(&settings, &report);
    unsigned char *bytes = read_whole("scores.npy", &size);
    for (unsigned threads = 2; threads < 6; threads++) {
        settings.network.threads = threads;
        predict(&settings, &report);
        unsigned char *other = read_whole("scores.npy", &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(bytes, other, size);
        free(other);
    }
    free(bytes);
}

TEST(predict_writes_rows_of_nan_when_bad_images_are_skipped)
{
    ocdm__predict_settings settings = predict_settings("files", "cnn", "cnn");
    ocdm__predict_report report;
    settings.network.resize = settings.network.crop = 16;
    settings.network.skip_bad = true;
    for (size_t batch = 1; batch < 9; batch++) {
        settings.network.batch = batch;
        predict(&settings, &report);
        assert_true(report.samples == SMALL_SAMPLES && report.skipped == 2);
        assert_non_null(strstr(report.first_skipped.message, "./image-5: "));
        float *scores = read_scores("scores.npy", SMALL_SAMPLES, SMALL_CLASSES);
        for (size_t i = 0; i < (size_t)SMALL_SAMPLES * SMALL_CLASSES; i++) {
            size_t sample = i / SMALL_CLASSES;
            assert_int_equal(isnan(scores[i]) != 0, sample == 5 || sample == 6);
            if (sample != 5 && sample != 6) /* all files but those two are one picture */
                assert_true(fabsf(scores[i] - scores[i % SMALL_CLASSES]) < 1e-6F);
        }
        free(scores);
    }
}

TEST(predict_refuses_what_does_not_fit_and_leaves_the_file_alone)
{
    static const struct {
        const char *stream, *model, *weights;
        ocdm_status status;
        const char *says, *hint;
    } cases[] = {
        {"images", "cnn", "cnn-of-4", OCDM_BAD_FILE, "cnn-of-4: the head of the weights has 4 classes, the stream has 3", ""},
        {"features", "linear", "linear-of-6", OCDM_BAD_FILE, "the weights are for 6 features, the stream has 5", ""},
        {"features", "mlp", "linear", OCDM_BAD_FILE, "linear: the weights are for linear, not for mlp", "weights info"},
        {"features", "linear", "unknown", OCDM_BAD_FILE,
         "unknown: the file has tensors that the model does not know: other.weight", "weights info"},
        {"images", "cnn", "headless", OCDM_BAD_FILE, "headless: the weights have no head", "featurize"},
        {"features", "cnn", "cnn", OCDM_BAD_FILE, "features: cnn takes images, and the stream has features", "--model"},
        {"images", "linear", "linear", OCDM_BAD_FILE, "images: linear takes features, and the stream has none", "--model"},
        {"nothing", "cnn", "cnn", OCDM_BAD_FILE, "neither features nor images", "stream build"},
        {"features", "linear", "huge", OCDM_BAD_RECORD, "is not a finite number", ""},
        {"features", "linear", "nan", OCDM_BAD_FILE, "nan: ", ""},
        {"features", "linear", "cut", OCDM_BAD_FILE, "cut: byte ", "damaged"},
        {"features", "linear", "zip", OCDM_BAD_FILE, "zip: a pickled file", "safetensors.torch.save_file"},
        {"features", "linear", "pickle", OCDM_BAD_FILE, "pickle: a pickled file", "safetensors.torch.save_file"},
        {"features", "linear", "missing", OCDM_IO, "missing: ", ""},
        {"missing", "linear", "linear", OCDM_IO, "missing: ", ""},
        {"linear", "linear", "linear", OCDM_BAD_FILE, "linear: ", ""},
        {"files", "cnn", "cnn", OCDM_BAD_FILE, "./image-5: damaged JPEG", "--skip-bad"},
        {"features", "transformer", "linear", OCDM_BAD_FILE, "not for transformer", ""},
    };
    assert_int_equal(write_whole("scores.npy", (const unsigned char *)"before", 6), 0);
    int files = count_files(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__predict_settings settings = predict_settings(cases[i].stream, cases[i].model, cases[i].weights);
        ocdm__predict_report report;
        ocdm_error error = {.message = ""};
        if (strcmp(cases[i].stream, "files") == 0)
            settings.network.resize = 16;
        ocdm_status status = ocdm__predict(&settings, NULL, &report, &error);
        HOLDS(error.message, status == cases[i].status && error.status == status);
        HOLDS(error.message, strstr(error.message, cases[i].says) != NULL);
        HOLDS(error.hint, strstr(error.hint, cases[i].hint) != NULL);
        size_t size;
        unsigned char *bytes = read_whole("scores.npy", &size);
        assert_int_equal(size, 6);
        assert_memory_equal(bytes, "before", 6);
        free(bytes);
        assert_int_equal(count_files(0), files);
    }
}

TEST(predict_refuses_a_part_without_samples)
{
    ocdm__predict_settings settings = predict_settings("features", "linear", "linear");
    ocdm__predict_report report;
    ocdm_error error;
    ocdm__stream stream = {.task_count = 0};
    ocdm__payload_shape shape = {.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = SMALL_FEATURES};
    ocdm__payload_source source = {.shape = shape, .fill = fill_small, .state = &shape};
    struct ocdm__note notes[] = {{.key = "format", .value = "ocdm-stream"}, {.key = "version", .value = "1"}};
    assert_int_equal(ocdm__stream_open(&stream, "features", NULL), OCDM_OK);
    memset(stream.table.parts, OCDM__TRAIN, SMALL_SAMPLES);
    assert_int_equal(ocdm__stream_write("training", &stream.table, &source, notes, 2, NULL, NULL), OCDM_OK);
    ocdm__stream_close(&stream);
    settings.network.stream = "training";
    settings.part = OCDM__PREDICT_TEST;
    assert_int_equal(ocdm__predict(&settings, NULL, &report, &error), OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "training: the stream has no test samples"));
    assert_non_null(strstr(error.hint, "--split"));
    remove("training");
}

TEST(predict_stops_when_told)
{
    volatile sig_atomic_t stop = 1;
    ocdm__progress progress = {.stop = &stop};
    ocdm__predict_settings settings = predict_settings("features", "linear", "linear");
    ocdm__predict_report report;
    settings.output = "out";
    int files = count_files(0);
    assert_int_equal(ocdm__predict(&settings, &progress, &report, NULL), OCDM_STOPPED);
    assert_int_equal(count_files(0), files);
}

/* ---- weights --------------------------------------------------------------------------------------------------------- */

/* A header of 0x280 bytes makes a file start as a pickle does. */
TEST(weights_are_not_taken_for_a_pickle_by_their_length)
{
    static unsigned char bytes[8 + 0x280 + 4];
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    ocdm__weights_file file = {.map = {.bytes = NULL}};
    ocdm__put_u64(bytes, 0x280);
    memset(bytes + 8, ' ', 0x280);
    memcpy(bytes + 8, header, sizeof header - 1);
    assert_int_equal(write_whole("long", bytes, sizeof bytes), 0);
    assert_int_equal(ocdm__weights_open(&file, "long", NULL), OCDM_OK);
    assert_int_equal(ocdm__weights_parameters(&file.tensors), 1);
    ocdm__weights_close(&file);
    remove("long");
}

/* Of a batch norm, weight and bias are learned; the rest is not, nor is what Adam keeps. */
TEST(weights_count_learned_numbers_alone)
{
    static const float numbers[8];
    struct ocdm__tensor tensors[] = {
        ocdm__tensor_of("adam.step", OCDM__U64, numbers, 1),
        ocdm__tensor_of("bn.num_batches_tracked", OCDM__I64, numbers, 1),
        ocdm__tensor_of("bn.weight", OCDM__F32, numbers, 5),
        ocdm__tensor_of("bn.bias", OCDM__F32, numbers, 3),
        ocdm__tensor_of("bn.running_mean", OCDM__F32, numbers, 5),
        ocdm__tensor_of("bn.running_var", OCDM__F32, numbers, 5),
        ocdm__tensor_of("adam.m.bn.weight", OCDM__F32, numbers, 5),
    };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        tensors[i].name_length = strlen(tensors[i].name);
    struct ocdm__safetensors file = {.tensors = tensors, .tensor_count = sizeof tensors / sizeof *tensors};
    assert_int_equal(ocdm__weights_parameters(&file), 8);
}

/* What a file of a run says about itself; entry `changed` has another value. */
static ocdm_status read_about(const char *changed, const char *value, ocdm__weights_about *about, ocdm_error *error)
{
    struct ocdm__note notes[] = {{.key = "ocdm", .value = "0.1.0"},
                                 {.key = "model", .value = "cnn"},
                                 {.key = "run", .value = "0123456789abcdef"},
                                 {.key = "input", .value = "images"},
                                 {.key = "resize", .value = "36"},
                                 {.key = "crop", .value = "32"},
                                 {.key = "mean", .value = "[0.485,0.456,0.406]"},
                                 {.key = "std", .value = "[0.229,0.224,0.225]"},
                                 {.key = "classes", .value = "[\"a\",\"b \\\"c\\\"\"]"}};
    size_t size;
    ocdm__output output;
    struct ocdm__safetensors file;
    struct ocdm__tensor tensor = ocdm__tensor_of("fc.bias", OCDM__F32, linear_bias, SMALL_CLASSES);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strcmp(notes[i].key, changed) == 0)
            notes[i].value = value;
    assert_int_equal(ocdm__output_open(&output, "about", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, sizeof notes / sizeof *notes, &tensor, 1, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    unsigned char *bytes = read_whole("about", &size);
    assert_int_equal(ocdm__safetensors_read(&file, "about", bytes, size, NULL), OCDM_OK);
    ocdm_status status = ocdm__weights_about_read(about, "about", &file, error);
    ocdm__safetensors_close(&file);
    free(bytes);
    remove("about");
    return status;
}

TEST(weights_about_is_read_or_refused)
{
    static const char *const bad[][2] = {{"crop", "0"},       {"crop", "40"},         {"crop", "32.5"},
                                         {"resize", "-1"},    {"resize", "99999"},    {"input", "sounds"},
                                         {"mean", "[0,0,0]"}, {"std", "[1,1,1]"},     {"classes", "[\"a\",1]"},
                                         {"classes", "{}"},   {"classes", "[\"a"},    {"run", "0123456789abcdefg"},
                                         {"run", "a\tb"},     {"model", "mobilenet1"}};
    ocdm__weights_about about = {.class_count = 0};
    size_t length;
    assert_int_equal(read_about("", "", &about, NULL), OCDM_OK);
    assert_true(ocdm__weights_about_known(&about) && about.images && about.resize == 36 && about.crop == 32);
    assert_int_equal(about.class_count, 2);
    assert_memory_equal(ocdm__text_at(&about.classes, 1, &length), "b \"c\"", 5);
    ocdm__weights_about_clear(&about);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ocdm_error error = {.message = ""};
        HOLDS(bad[i][1], read_about(bad[i][0], bad[i][1], &about, &error) == OCDM_BAD_FILE);
        HOLDS(error.message, strstr(error.message, "of the metadata makes no sense") != NULL);
        ocdm__weights_about_clear(&about);
    }
}

TEST(sizes_are_those_of_training_unless_they_are_given)
{
    static const uint32_t cases[][4] = {/* given, used */
                                        {0, 0, 36, 32},  {36, 32, 36, 32}, {0, 24, 36, 24},
                                        {20, 0, 20, 20}, {0, 64, 64, 64},  {48, 0, 48, 32}};
    const ocdm__weights_about about = {.images = true, .resize = 36, .crop = 32}, unknown = {.images = false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t resize = cases[i][0], crop = cases[i][1];
        ocdm__weights_choose_size(&about, &resize, &crop, NULL);
        assert_true(resize == cases[i][2] && crop == cases[i][3]);
    }
    uint32_t resize = 0, crop = 0;
    ocdm__weights_choose_size(&unknown, &resize, &crop, NULL);
    assert_true(resize == 0 && crop == 0);
    ocdm__weights_usual_size(&unknown, &resize, &crop);
    assert_true(resize == 256 && crop == 224);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predict_writes_the_logits_of_a_part_in_file_order),
        cmocka_unit_test(predict_gives_each_image_what_it_gets_alone),
        cmocka_unit_test(predict_gives_the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(predict_writes_rows_of_nan_when_bad_images_are_skipped),
        cmocka_unit_test(predict_refuses_what_does_not_fit_and_leaves_the_file_alone),
        cmocka_unit_test(predict_refuses_a_part_without_samples),
        cmocka_unit_test(predict_stops_when_told),
        cmocka_unit_test(weights_are_not_taken_for_a_pickle_by_their_length),
        cmocka_unit_test(weights_count_learned_numbers_alone),
        cmocka_unit_test(weights_about_is_read_or_refused),
        cmocka_unit_test(sizes_are_those_of_training_unless_they_are_given),
    };
    return cmocka_run_group_tests(tests, enter_small_folder, leave_folder);
}
