/* Small weights and streams with known numbers, for tests of predicting and featurizing. */
#ifndef OCDM_TESTS_SMALL_WEIGHTS_H
#define OCDM_TESTS_SMALL_WEIGHTS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../agent_state.h"
#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../scratch_folder.h"
#include "agent/agent.h"
#include "base/output.h"
#include "experiment/predict.h"
#include "small_stream.h"

static inline void write_tensors(const char *path, const struct ocdm__tensor *tensors, size_t count)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, tensors, count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
}

/* Weights of a model that was never trained. */
static inline void write_weights(const char *path, const char *model, uint32_t classes, uint32_t features)
{
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    ocdm__agent *agent = NULL;
    ocdm__tensor_list saved = {.count = 0};
    settings.size.name = model;
    settings.size.class_count = classes;
    settings.size.features = features;
    settings.size.height = settings.size.width = SMALL_SIDE;
    settings.network.seed = 5;
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, NULL), OCDM_OK);
    assert_int_equal(agent_save(agent, false, &saved, NULL), OCDM_OK);
    write_tensors(path, saved.tensors, saved.count);
    ocdm__tensor_list_clear(&saved);
    ocdm__agent_destroy(agent);
}

static float linear_weight[SMALL_CLASSES][SMALL_FEATURES], linear_bias[SMALL_CLASSES];

/* A linear layer with known numbers; `scale` may make them too large. */
static inline void write_linear(const char *path, float scale)
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

static inline int make_files(void **state)
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

/* Weights that no writer of ours would write, or not for these streams. */
static inline int make_bad_weights(void **state)
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

static inline int enter_small_folder(void **state)
{
    return make_files(state) != 0 || make_bad_weights(state) != 0 ? -1 : 0;
}

#endif
