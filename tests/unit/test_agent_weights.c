/* Weights are saved and loaded exactly, training continues from them, and nothing is read from a file that does not fit. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../agent_state.h"
#include "agent_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch_folder.h"
#include "agent/network.h"
#include "base/bytes.h"

/* A file in memory. */
struct read_file {
    unsigned char *bytes;
    struct ocdm__safetensors file;
    struct ocdm__weights weights;
};

static void written_and_read(const struct ocdm__tensor *tensors, size_t count, struct read_file *read)
{
    ocdm__output output;
    size_t size;
    assert_int_equal(ocdm__output_open(&output, "weights", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, tensors, count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    read->bytes = read_whole("weights", &size);
    assert_int_equal(ocdm__safetensors_read(&read->file, "weights", read->bytes, size, NULL), OCDM_OK);
    read->weights = (struct ocdm__weights){"weights", &read->file};
}

static void file_closed(struct read_file *read)
{
    ocdm__safetensors_close(&read->file);
    free(read->bytes);
}

static void saved(ocdm__agent *agent, bool optimiser, struct read_file *read)
{
    ocdm__tensor_list state;
    assert_int_equal(agent_save(agent, optimiser, &state, NULL), OCDM_OK);
    written_and_read(state.tensors, state.count, read);
    ocdm__tensor_list_clear(&state);
}

/* ---- round trips ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *model;
    uint32_t size;
} models[] = {{"linear", 20}, {"mlp", 20}, {"cnn", 32}, {"mobilenet1", 32}, {"resnet18", 32}, {"resnet50", 32}};

TEST(agent_goes_on_as_the_saved_one_would_have)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        ocdm__agent_settings settings = rich_settings_for(models[i].model, models[i].size, 5, 2);
        ocdm__agent *agent = agent_with(&settings), *resumed = NULL;
        train_steps(agent, &settings, 3, 1);
        struct read_file read;
        saved(agent, true, &read);
        settings.network.seed = 99;
        settings.network.threads = 1;
        HOLDS(models[i].model, ocdm__agent_create(&settings, &read.weights, &resumed, NULL) == OCDM_OK);
        same_agents(agent, resumed, models[i].model);
        train_steps(agent, &settings, 3, 4);
        train_steps(resumed, &settings, 3, 4);
        same_agents(agent, resumed, models[i].model);
        HOLDS(models[i].model, resumed->steps == 6);
        file_closed(&read);
        ocdm__agent_destroy(agent);
        ocdm__agent_destroy(resumed);
    }
}

TEST(fit_names_the_model_that_a_file_is_of)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        ocdm__agent_settings settings = rich_settings_for(models[i].model, models[i].size, 5, 1);
        ocdm__agent *agent = agent_with(&settings);
        struct read_file read;
        struct ocdm__weights_fit fit;
        saved(agent, i % 2, &read);
        HOLDS(models[i].model, ocdm__weights_fit(&read.file, &fit, NULL) == OCDM_OK);
        HOLDS(models[i].model, fit.model != NULL && strcmp(fit.model, models[i].model) == 0);
        HOLDS(models[i].model, fit.class_count == 5 && fit.optimiser == (i % 2 == 1));
        HOLDS(models[i].model, fit.features == (i < 2 ? 20 : 0) && fit.blocks == (i == 3 ? 13 : 0));
        file_closed(&read);
        ocdm__agent_destroy(agent);
    }
    const float some[4] = {0};
    struct ocdm__tensor other = ocdm__tensor_of("something", OCDM__F32, some, 4);
    struct read_file read;
    struct ocdm__weights_fit fit;
    written_and_read(&other, 1, &read);
    assert_int_equal(ocdm__weights_fit(&read.file, &fit, NULL), OCDM_OK);
    assert_null(fit.model);
    file_closed(&read);
}

/* ---- files that differ ------------------------------------------------------------------------------------------------ */

TEST(head_of_another_class_count_is_left_alone)
{
    ocdm__agent_settings settings = settings_for("cnn", 32, 5, 1);
    ocdm__agent *agent = agent_with(&settings), *other = NULL, *fresh = NULL;
    train_steps(agent, &settings, 2, 1);
    struct read_file read;
    saved(agent, false, &read);
    settings.size.class_count = 9;
    settings.network.seed = 3;
    fresh = agent_with(&settings);
    other = agent_with(&settings);
    assert_int_equal(ocdm__agent_load(other, &read.weights, NULL), OCDM_OK);
    const ocdm__network *a = agent->network, *b = other->network, *c = fresh->network;
    for (size_t i = 0; i < a->parameter_count; i++) {
        bool head = ocdm__is_head(b, &b->parameters[i]);
        const struct ocdm__parameter *same = head ? &c->parameters[i] : &a->parameters[i];
        assert_memory_equal(b->parameters[i].value, same->value, same->room * sizeof(float));
    }
    file_closed(&read);
    ocdm__agent_destroy(agent);
    ocdm__agent_destroy(other);
    ocdm__agent_destroy(fresh);
}

/* A published network that ends early and has no head: the layers in the file are the network. */
TEST(mobilenet_ends_where_its_weights_end)
{
    ocdm__agent_settings settings = settings_for("mobilenet1", 32, 5, 1);
    settings.size.blocks = 4;
    ocdm__agent *agent = agent_with(&settings), *loaded = NULL;
    ocdm__tensor_list kept;
    assert_int_equal(agent_save(agent, false, &kept, NULL), OCDM_OK);
    struct read_file read;
    written_and_read(kept.tensors, kept.count - 2, &read);
    settings.size.blocks = 0;
    assert_int_equal(ocdm__agent_create(&settings, &read.weights, &loaded, NULL), OCDM_OK);
    assert_int_equal(ocdm__agent_feature_width(loaded), 256);
    same_agents(agent, loaded, "mobilenet1");
    ocdm__tensor_list_clear(&kept);
    file_closed(&read);
    ocdm__agent_destroy(agent);
    ocdm__agent_destroy(loaded);
}

/* What one change to a good file does: the message, and an agent that is as it was. */
static void refused(void (*change)(ocdm__tensor_list *), const char *message)
{
    ocdm__agent_settings settings = settings_for("cnn", 32, 5, 1);
    ocdm__agent *agent = agent_with(&settings), *untouched = agent_with(&settings);
    settings.network.seed = 8;
    ocdm__agent *source = agent_with(&settings);
    ocdm__tensor_list kept;
    assert_int_equal(agent_save(source, true, &kept, NULL), OCDM_OK);
    change(&kept);
    struct read_file read;
    written_and_read(kept.tensors, kept.count, &read);
    ocdm_error error = {0};
    assert_int_equal(ocdm__agent_load(agent, &read.weights, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
    same_agents(agent, untouched, message);
    ocdm__tensor_list_clear(&kept);
    file_closed(&read);
    ocdm__agent_destroy(agent);
    ocdm__agent_destroy(untouched);
    ocdm__agent_destroy(source);
}

static struct ocdm__tensor *tensor_named(ocdm__tensor_list *kept, const char *name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->tensors[i].name, name) == 0)
            return &kept->tensors[i];
    return NULL;
}

static void drop_two(ocdm__tensor_list *kept)
{
    *tensor_named(kept, "conv2.weight") = kept->tensors[--kept->count];
    *tensor_named(kept, "bn3.running_var") = kept->tensors[--kept->count];
}

static void rename_one(ocdm__tensor_list *kept)
{
    kept->tensors = realloc(kept->tensors, (kept->count + 1) * sizeof *kept->tensors);
    assert_non_null(kept->tensors);
    kept->tensors[kept->count] = *tensor_named(kept, "bn3.bias");
    kept->tensors[kept->count++].name = "bn7.bias";
}

static void misname_two(ocdm__tensor_list *kept)
{
    rename_one(kept);
    tensor_named(kept, "bn3.bias")->name = "bn8.bias";
}

static void reshape_one(ocdm__tensor_list *kept)
{
    struct ocdm__tensor *tensor = tensor_named(kept, "conv1.weight");
    tensor->shape[2] = 1;
    tensor->shape[3] = 9;
}

/* Puts a number at element 3 of one of the tensors of 64 elements. */
static void spoil(ocdm__tensor_list *kept, const char *name, float value)
{
    static float values[64];
    values[3] = value;
    tensor_named(kept, name)->data = (const unsigned char *)values;
}

static void spoil_average(ocdm__tensor_list *kept)
{
    spoil(kept, "adam.v.bn2.bias", NAN);
}

static void spoil_weight(ocdm__tensor_list *kept)
{
    spoil(kept, "bn2.weight", -INFINITY);
}

static void spoil_variance(ocdm__tensor_list *kept)
{
    spoil(kept, "bn2.running_var", -1e-30F);
}

static void spoil_square(ocdm__tensor_list *kept)
{
    spoil(kept, "adam.v.bn2.bias", -1);
}

/* A number that is finite in the file and would not be in the network. */
static void widen_one(ocdm__tensor_list *kept)
{
    static unsigned char values[8 * 64];
    struct ocdm__tensor *tensor = tensor_named(kept, "bn2.bias");
    ocdm__put_double(values + 8 * 2, -1e39);
    tensor->dtype = OCDM__F64;
    tensor->data = values;
    tensor->size = sizeof values;
}

static void make_integers(ocdm__tensor_list *kept)
{
    tensor_named(kept, "adam.m.bn2.bias")->dtype = OCDM__I32;
}

static void drop_steps(ocdm__tensor_list *kept)
{
    *tensor_named(kept, "adam.step") = kept->tensors[--kept->count];
}

/* After this count the steps would wrap to 0, and Adam would divide by it. */
static void count_too_far(ocdm__tensor_list *kept)
{
    static const unsigned char most[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    tensor_named(kept, "adam.step")->data = most;
}

/* More names than a message has room for, and names that are long by themselves. */
static void add_many(ocdm__tensor_list *kept)
{
    static char names[13][320];
    static const unsigned char number[8];
    kept->tensors = realloc(kept->tensors, (kept->count + 13) * sizeof *kept->tensors);
    assert_non_null(kept->tensors);
    for (size_t i = 0; i < 13; i++) {
        memset(names[i], i % 2 ? 'z' : 'y', sizeof names[i] - 1);
        if (i > 2)
            names[i][30] = '\0';
        names[i][0] = (char)('a' + i);
        kept->tensors[kept->count++] = ocdm__tensor_of(names[i], OCDM__F32, number, 1);
    }
}

TEST(load_says_what_does_not_fit_and_changes_nothing)
{
    refused(drop_two, "weights: the file lacks conv2.weight, bn3.running_var");
    refused(rename_one, "weights: the file has tensors that the model does not know: bn7.bias");
    refused(misname_two, "weights: the file lacks bn3.bias, and has tensors that the model does not know: bn8.bias and others");
    refused(reshape_one, "weights: the file has tensors of another shape: conv1.weight");
    refused(make_integers, "weights: tensor adam.m.bn2.bias is not of floating-point numbers");
    refused(drop_steps, "weights: the file lacks adam.step");
    refused(count_too_far, "weights: tensor adam.step is not one U64 of at most 2^53");
}

TEST(load_refuses_numbers_that_cannot_be_used)
{
    refused(spoil_average, "weights: tensor adam.v.bn2.bias: element 3 is not a finite number");
    refused(spoil_weight, "weights: tensor bn2.weight: element 3 is not a finite number");
    refused(widen_one, "weights: tensor bn2.bias: element 2 is not a finite number");
    refused(spoil_variance, "weights: tensor bn2.running_var: element 3, a mean of squares, is below 0");
    refused(spoil_square, "weights: tensor adam.v.bn2.bias: element 3, a mean of squares, is below 0");
}

TEST(load_cuts_names_and_lists_that_are_too_long)
{
    char long_y[110] = "", long_z[110] = "", message[512];
    memset(long_y, 'y', 99);
    memset(long_z, 'z', 99);
    snprintf(message, sizeof message, "weights: the file has tensors that the model does not know: a%s..., b%s... and 11 more",
             long_y, long_z);
    refused(add_many, message);
}

TEST(other_types_and_unread_counters_are_taken)
{
    ocdm__agent_settings settings = settings_for("linear", 2, 2, 1);
    ocdm__agent *agent = agent_with(&settings);
    unsigned char doubles[8 * 4], halves[2 * 2] = {0x00, 0x3C, 0x00, 0xC1}; /* 1 and -2.5 */
    const double values[4] = {0.5, -1, 2, 0.25};
    for (size_t i = 0; i < 4; i++)
        ocdm__put_double(doubles + 8 * i, values[i]);
    const unsigned char counter[8] = {7};
    struct ocdm__tensor tensors[] = {
        ocdm__tensor_of("fc.weight", OCDM__F64, doubles, 4),
        ocdm__tensor_of("bn.num_batches_tracked", OCDM__I64, counter, 1),
        ocdm__tensor_of("fc.bias", OCDM__F16, halves, 2),
    };
    tensors[0].rank = 2;
    tensors[0].shape[0] = tensors[0].shape[1] = 2;
    struct read_file read;
    written_and_read(tensors, 3, &read);
    assert_int_equal(ocdm__agent_load(agent, &read.weights, NULL), OCDM_OK);
    float logits[2];
    const float input[2] = {1, 2};
    assert_int_equal(ocdm__agent_predict(agent, input, 1, logits, NULL), OCDM_OK);
    assert_true(logits[0] == 0.5f - 2 + 1 && logits[1] == 2 + 0.5f - 2.5f);
    file_closed(&read);
    ocdm__agent_destroy(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agent_goes_on_as_the_saved_one_would_have),
        cmocka_unit_test(fit_names_the_model_that_a_file_is_of),
        cmocka_unit_test(head_of_another_class_count_is_left_alone),
        cmocka_unit_test(mobilenet_ends_where_its_weights_end),
        cmocka_unit_test(load_says_what_does_not_fit_and_changes_nothing),
        cmocka_unit_test(load_refuses_numbers_that_cannot_be_used),
        cmocka_unit_test(load_cuts_names_and_lists_that_are_too_long),
        cmocka_unit_test(other_types_and_unread_counters_are_taken),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
