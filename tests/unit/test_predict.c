/* Predicting and featurizing small streams, against plain sums; weights that do not fit; files that are as they were on error.
 */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../holds.h"
#include "../scratch_folder.h"
#include "agent/agent.h"
#include "base/output.h"
#include "run/featurize.h"
#include "run/predict.h"
#include "small_stream.h"

#define HEADER 128

/* ---- weights --------------------------------------------------------------------------------------------------------- */

static void write_tensors(const char *path, const struct ocdm__tensor *tensors, size_t count)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, tensors, count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
}

/* Weights of a model that was never trained. */
static void write_weights(const char *path, const char *model, uint32_t classes, uint32_t features)
{
    ocdm__agent_settings settings = ocdm__agent_settings_default();
    ocdm__agent *agent = NULL;
    struct ocdm__agent_state saved = {.count = 0};
    settings.model = model;
    settings.class_count = classes;
    settings.features = features;
    settings.height = settings.width = SMALL_SIDE;
    settings.seed = 5;
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, NULL), OCDM_OK);
    assert_int_equal(ocdm__agent_save(agent, false, &saved, NULL), OCDM_OK);
    write_tensors(path, saved.tensors, saved.count);
    ocdm__agent_state_release(&saved);
    ocdm__agent_destroy(agent);
}

static float linear_weight[SMALL_CLASSES][SMALL_FEATURES], linear_bias[SMALL_CLASSES];

/* A linear layer with numbers that the test knows; `scale` may make them too large. */
static void write_linear(const char *path, float scale)
{
    struct ocdm__tensor tensors[2] = {
        ocdm__tensor_of("fc.weight", OCDM__F32, linear_weight, (uint64_t)SMALL_CLASSES * SMALL_FEATURES),
        ocdm__tensor_of("fc.bias", OCDM__F32, linear_bias, SMALL_CLASSES)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = SMALL_CLASSES;
    tensors[0].shape[1] = SMALL_FEATURES;
    for (size_t c = 0; c < SMALL_CLASSES; c++) {
        linear_bias[c] = scale * (0.25F * (float)c - 0.5F);
        for (size_t k = 0; k < SMALL_FEATURES; k++)
            linear_weight[c][k] = scale * (((float)((c * 11 + k * 3) % 17) - 8) / 8);
    }
    write_tensors(path, tensors, 2);
}

static int make_files(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    for (size_t i = 0; i < SMALL_SAMPLES; i++) {
        char path[32];
        size_t size;
        unsigned char *bytes = from_hex(golden_files[0].file, &size);
        snprintf(path, sizeof path, "image-%zu", i);
        int failed = write_whole(path, bytes, i == 5 || i == 6 ? size / 2 : size);
        free(bytes);
        if (failed)
            return -1;
    }
    write_small_stream("features", OCDM__FEATURES, OCDM__F32, NULL, SMALL_SAMPLES);
    write_small_stream("images", OCDM__IMAGES, OCDM__U8, NULL, SMALL_SAMPLES);
    write_small_stream("files", OCDM__NO_PAYLOAD, OCDM__U8, ".", SMALL_SAMPLES);
    write_small_stream("nothing", OCDM__NO_PAYLOAD, OCDM__U8, NULL, SMALL_SAMPLES);
    write_linear("huge", 3e38F);
    write_linear("linear", 1);
    write_weights("cnn", "cnn", SMALL_CLASSES, 0);
    write_weights("cnn-of-4", "cnn", 4, 0);
    write_weights("mlp", "mlp", SMALL_CLASSES, SMALL_FEATURES);
    write_weights("linear-of-6", "linear", SMALL_CLASSES, 6);
    return 0;
}

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

static void predict_writes_the_logits_of_a_part_in_file_order(void **state)
{
    (void)state;
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

/* A network on stored images: each sample by itself, through the same doors, gives the same but for rounding. */
static void predict_gives_each_image_what_it_gets_alone(void **state)
{
    (void)state;
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
            ocdm__ready ready;
            assert_int_equal(ocdm__inputs_request(predictor.inputs, 0, &i, 1, 9, false, NULL), OCDM_OK);
            assert_int_equal(ocdm__inputs_wait(predictor.inputs, 0, &ready, NULL), OCDM_OK);
            assert_int_equal(ocdm__agent_predict(predictor.agent, ready.tensor, 1, alone, NULL), OCDM_OK);
            for (size_t c = 0; c < SMALL_CLASSES; c++)
                assert_true(fabsf(alone[c] - scores[i * SMALL_CLASSES + c]) < 1e-6F);
            assert_true(i == 0 || fabsf(alone[0] - scores[0]) > 1e-5F);
        }
        ocdm__predictor_close(&predictor);
        free(scores);
    }
}

static void predict_gives_the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
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

static void predict_writes_rows_of_nan_when_bad_images_are_skipped(void **state)
{
    (void)state;
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

static void predict_refuses_what_does_not_fit_and_leaves_the_file_alone(void **state)
{
    (void)state;
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

/* The files of the cases above that no writer would write. */
static int make_bad_weights(void **state)
{
    static const unsigned char zip[] = "PK\x03\x04 and so on", pickle[] = "\x80\x02}q\x00.";
    (void)state;
    size_t size;
    struct ocdm__tensor other = ocdm__tensor_of("other.weight", OCDM__F32, linear_bias, SMALL_CLASSES);
    write_tensors("unknown", &other, 1);
    float keep = linear_bias[1];
    linear_bias[1] = NAN;
    struct ocdm__tensor tensors[2] = {ocdm__tensor_of("fc.weight", OCDM__F32, linear_weight, SMALL_CLASSES * SMALL_FEATURES),
                                      ocdm__tensor_of("fc.bias", OCDM__F32, linear_bias, SMALL_CLASSES)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = SMALL_CLASSES;
    tensors[0].shape[1] = SMALL_FEATURES;
    write_tensors("nan", tensors, 2);
    linear_bias[1] = keep;
    unsigned char *bytes = read_whole("linear", &size);
    int failed = bytes == NULL || write_whole("cut", bytes, size - 1) || write_whole("zip", zip, sizeof zip) ||
                 write_whole("pickle", pickle, sizeof pickle);
    free(bytes);
    ocdm__weights_file file = {.map = {.bytes = NULL}};
    assert_int_equal(ocdm__weights_open(&file, "cnn", NULL), OCDM_OK);
    size_t kept = 0;
    struct ocdm__tensor backbone[64];
    for (size_t i = 0; i < file.tensors.tensor_count; i++) {
        static char names[64][64];
        const struct ocdm__tensor *tensor = &file.tensors.tensors[i];
        if (tensor->name_length > 3 && memcmp(tensor->name, "fc.", 3) == 0)
            continue;
        backbone[kept] = *tensor;
        snprintf(names[kept], sizeof names[kept], "%.*s", (int)tensor->name_length, tensor->name);
        backbone[kept].name = names[kept];
        kept++;
    }
    write_tensors("headless", backbone, kept);
    ocdm__weights_close(&file);
    return failed;
}

static void predict_refuses_a_part_without_samples(void **state)
{
    (void)state;
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

static void predict_and_featurize_stop_when_told(void **state)
{
    (void)state;
    volatile sig_atomic_t stop = 1;
    ocdm__progress progress = {.stop = &stop};
    ocdm__predict_settings settings = predict_settings("features", "linear", "linear");
    ocdm__featurize_settings featurize = {.network = settings.network, .command = "x", .output = "out", .type = OCDM__F32};
    ocdm__predict_report report;
    ocdm__featurize_report featurized;
    settings.output = "out";
    int files = count_files(0);
    assert_int_equal(ocdm__predict(&settings, &progress, &report, NULL), OCDM_STOPPED);
    for (int standardize = 0; standardize < 2; standardize++) {
        featurize.standardize = standardize;
        assert_int_equal(ocdm__featurize(&featurize, &progress, &featurized, NULL), OCDM_STOPPED);
    }
    assert_int_equal(count_files(0), files);
}

/* ---- weights --------------------------------------------------------------------------------------------------------- */

/* A header of 0x280 bytes makes a file start as a pickle does. */
static void weights_are_not_taken_for_a_pickle_by_their_length(void **state)
{
    (void)state;
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
static void weights_count_learned_numbers_alone(void **state)
{
    (void)state;
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

/* ---- featurizing ----------------------------------------------------------------------------------------------------- */

static ocdm__featurize_settings featurize_settings(const char *stream, const char *model, const char *weights)
{
    ocdm__featurize_settings settings = {.command = "ocdm stream featurize x", .output = "featurized", .type = OCDM__F32};
    settings.network = predict_settings(stream, model, weights).network;
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
        ocdm__ready ready;
        assert_int_equal(ocdm__inputs_request(predictor.inputs, 0, &i, 1, 0, false, NULL), OCDM_OK);
        assert_int_equal(ocdm__inputs_wait(predictor.inputs, 0, &ready, NULL), OCDM_OK);
        assert_int_equal(ocdm__agent_features(predictor.agent, ready.tensor, 1, row, NULL), OCDM_OK);
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

static void featurize_stores_what_the_head_sees(void **state)
{
    (void)state;
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
        settings.standardize = i & 1;
        settings.type = i & 2 ? OCDM__F16 : OCDM__F32;
        featurize(&settings, &report);
        assert_true(report.samples == SMALL_SAMPLES && report.features == width && report.classes == SMALL_CLASSES);
        assert_int_equal(ocdm__stream_open(&before, cases[c].stream, NULL), OCDM_OK);
        assert_int_equal(ocdm__stream_open(&after, "featurized", NULL), OCDM_OK);
        assert_int_equal(ocdm__stream_verify(&after, NULL, NULL), OCDM_OK);
        check_same_tables(&before.table, &after.table);
        assert_true(after.shape.kind == OCDM__FEATURES && after.shape.dtype == settings.type && after.shape.width == width);
        assert_int_equal(ocdm__safetensors_find(&after.tensors, "feature_mean") != NULL, settings.standardize);
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

/* Bytes do not hang on threads or batches, and the notes tell where they come from. */
static void featurize_gives_the_same_bytes_for_any_threads_and_batch(void **state)
{
    (void)state;
    ocdm__featurize_settings settings = featurize_settings("images", "cnn", "cnn");
    ocdm__featurize_report report;
    size_t size, other_size;
    settings.standardize = true;
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

static void featurize_refuses_what_cannot_be_stored_and_leaves_nothing(void **state)
{
    (void)state;
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
        settings.standardize = i & 1;
        if (strcmp(cases[i / 2].stream, "files") == 0)
            settings.network.resize = 16;
        ocdm_status status = ocdm__featurize(&settings, NULL, &report, &error);
        HOLDS(error.message, status == cases[i / 2].status && strstr(error.message, cases[i / 2].says) != NULL);
        assert_int_equal(count_files(0), files);
    }
}

static int make_all(void **state)
{
    return make_files(state) != 0 || make_bad_weights(state) != 0 ? -1 : 0;
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
        cmocka_unit_test(predict_and_featurize_stop_when_told),
        cmocka_unit_test(weights_are_not_taken_for_a_pickle_by_their_length),
        cmocka_unit_test(weights_count_learned_numbers_alone),
        cmocka_unit_test(featurize_stores_what_the_head_sees),
        cmocka_unit_test(featurize_gives_the_same_bytes_for_any_threads_and_batch),
        cmocka_unit_test(featurize_refuses_what_cannot_be_stored_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_all, leave_folder);
}
