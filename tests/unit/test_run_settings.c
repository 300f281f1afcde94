/* Settings: contradictions, also with the stream, are reported in one line, and differences are named. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "experiment/folder/saved_run.h"

static const struct small_plan plan = {.tasks = 2, .train = 10, .test = 4, .seed = 1};

static ocdm_status resolved(ocdm__run_settings *settings, ocdm__stream *stream, ocdm_error *error)
{
    return ocdm__run_settings_resolve(settings, stream, "S", error);
}

/* Each case changes good settings in one way. */
struct contradiction {
    const char *message; /* a part of it */
    ocdm_status status;
    ocdm__run_settings settings;
};

#define CHANGED(...)                                                                                                           \
    {                                                                                                                          \
        .method = "ocdm", .memory = 30, .batch = 5, .replay = 4, .model = "linear", .network.learning_rate = 0.1,              \
        .network.epsilon = 1e-4, .epochs = 1, .resize = OCDM_NONE, .crop = OCDM_NONE, .image_size = OCDM_NONE, .log_every = 1, \
        .network.threads = 1, .network.loss.negatives = 1, .network.momentum = 0.9, .lambda = 1000, .eval_samples = 500,       \
        .steps_per_batch = 1, __VA_ARGS__                                                                                      \
    }
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

static const struct contradiction contradictions[] = {
    {"a memory of 3 samples is smaller than the 4 that are replayed", OCDM_BAD_ARGUMENT, CHANGED(.memory = 3)},
    {"there is no method \"mir\"", OCDM_UNKNOWN_NAME, CHANGED(.method = "mir")},
    {"there is no model \"vgg\"", OCDM_UNKNOWN_NAME, CHANGED(.model = "vgg")},
    {"the method finetune needs a model", OCDM_BAD_ARGUMENT, CHANGED(.method = "finetune", .model = "none")},
    {"the method gss needs a model", OCDM_BAD_ARGUMENT, CHANGED(.method = "gss", .model = "none")},
    {"--weights has no effect with --method ocdm, --model none", OCDM_BAD_ARGUMENT, CHANGED(.model = "none", .weights = "w")},
    {"--epochs has no effect with --method ocdm, --model linear: the method sees the stream once", OCDM_BAD_ARGUMENT,
     CHANGED(.epochs = 2)},
    {"the stream has features, the model resnet18 takes images", OCDM_BAD_ARGUMENT, CHANGED(.model = "resnet18")},
    {"--precision has no effect with --method ocdm, --model none: the model computes", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "none", .network.precision = OCDM__PRECISION_BF16)},
    {"--crop has no effect with --method ocdm, --model linear: the model takes no images", OCDM_BAD_ARGUMENT,
     CHANGED(.crop = 32)},
    {"the model takes no images", OCDM_BAD_ARGUMENT, CHANGED(.image_size = 32)},
    {"the model takes no images", OCDM_BAD_ARGUMENT, CHANGED(.model = "none", .resize = 0)},
    {"takes samples with one label, sample", OCDM_NOT_SINGLE_LABEL, CHANGED(.method = "cbrs")},
    {"--focal has no effect with --method ocdm, --model none", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "none", .network.loss.focal = 1)},
    {"the loss asl has a focal power of its own", OCDM_BAD_ARGUMENT, CHANGED(.network.loss.kind = 1, .network.loss.focal = 1)},
    {"adam has no weight decay", OCDM_BAD_ARGUMENT, CHANGED(.network.weight_decay = 0.1)},
    {"adamw without weight decay is adam", OCDM_BAD_ARGUMENT, CHANGED(.network.optimiser = OCDM__OPTIMISER_ADAMW)},
    {"the cosine schedule needs a horizon", OCDM_BAD_ARGUMENT, CHANGED(.network.lr_schedule = OCDM__LR_COSINE)},
    {"a horizon without the cosine schedule", OCDM_BAD_ARGUMENT, CHANGED(.network.horizon = 100)},
    {"--warmup has no effect with --method ocdm, --model ridge: ridge is solved", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "ridge", .network.learning_rate = 1e-4, .network.warmup = 5)},
    {"the optimiser has no momentum", OCDM_BAD_ARGUMENT, CHANGED(.network.momentum = 0.5)},
    {"sgd has no epsilon", OCDM_BAD_ARGUMENT, CHANGED(.network.optimiser = OCDM__OPTIMISER_SGD, .network.epsilon = 1e-8)},
    {"there are no averages", OCDM_BAD_ARGUMENT, CHANGED(.average_start = OCDM__AVERAGE_SINCE_CLASS)},
    {"--ema-delay has no effect", OCDM_BAD_ARGUMENT, CHANGED(.network.average_delay = 5)},
    {"there are no averages", OCDM_BAD_ARGUMENT, CHANGED(.pseudo = 0.7)},
    {"every label of the stream is known", OCDM_BAD_ARGUMENT,
     CHANGED(.pseudo = 0.7, .network.averages = {.values = {0.9}, .count = 1})},
    {"no samples are held out", OCDM_BAD_ARGUMENT, CHANGED(.threshold = OCDM__THRESHOLD_VALIDATION)},
    {"--transfer has no effect", OCDM_BAD_ARGUMENT, CHANGED(.model = "none", .transfer = true)},
    {"--lambda has no effect with --method ocdm, --model linear: it is a setting of ridge", OCDM_BAD_ARGUMENT,
     CHANGED(.lambda = 10)},
    {"--project has no effect", OCDM_BAD_ARGUMENT, CHANGED(.project = 10)},
    {"--class-balance has no effect", OCDM_BAD_ARGUMENT, CHANGED(.class_balance = true)},
    {"--lr has no effect with --method ocdm, --model ridge: ridge is solved", OCDM_BAD_ARGUMENT, CHANGED(.model = "ridge")},
    {"ridge counts each sample once", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "ridge", .network.learning_rate = 1e-4, .method = "multitask")},
    {"--replay-policy has no effect with --method ocdm, --model ridge: nothing is replayed", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "ridge", .network.learning_rate = 1e-4, .replay_policy = OCDM__REPLAY_BALANCED)},
    {"--precision has no effect", OCDM_BAD_ARGUMENT, CHANGED(.model = "ridge", .network.precision = OCDM__PRECISION_BF16)},
    {"nothing is replayed", OCDM_BAD_ARGUMENT, CHANGED(.method = "finetune", .replay_policy = OCDM__REPLAY_BALANCED)},
    {"negatives 2 is out of range: 0 to 1", OCDM_BAD_ARGUMENT, CHANGED(.network.loss.negatives = 2)},
    {"--steps-per-batch has no effect with --method ocdm, --model none", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "none", .steps_per_batch = 2)},
    {"--steps-per-batch has no effect with --method ocdm, --model ridge", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "ridge", .network.learning_rate = 1e-4, .steps_per_batch = 2)},
    {"--budget has no effect with --method ocdm, --model none", OCDM_BAD_ARGUMENT,
     CHANGED(.model = "none", .budget = {.seconds = 1})},
    {"no stream passes", OCDM_BAD_ARGUMENT, CHANGED(.method = "multitask", .budget = {.operations = 1})},
    {"--eval-every has no effect", OCDM_BAD_ARGUMENT, CHANGED(.model = "none", .eval_every = 5)},
    {"--eval-samples has no effect", OCDM_BAD_ARGUMENT, CHANGED(.eval_samples = 7)},
    {"rho 17 is out of range: -16 to 16", OCDM_BAD_ARGUMENT, CHANGED(.rho = 17)},
};

TEST(settings_that_contradict_are_refused)
{
    ocdm__stream stream = {.task_count = 0};
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    ocdm__run_settings good = CHANGED(.network.seed = 0);
    assert_int_equal(resolved(&good, &stream, NULL), OCDM_OK);
    assert_string_equal(good.groups, "terciles");
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        ocdm_error error = {.message = ""};
        ocdm__run_settings settings = contradictions[i].settings;
        HOLDS(contradictions[i].message, resolved(&settings, &stream, &error) == contradictions[i].status);
        HOLDS(error.message, strstr(error.message, contradictions[i].message) != NULL);
    }
    ocdm__stream_close(&stream);
}

/* A memory without an agent replays nothing. */
TEST(settings_allow_a_small_memory_when_nothing_is_replayed)
{
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_settings settings = CHANGED(.memory = 3, .model = "none");
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(resolved(&settings, &stream, NULL), OCDM_OK);
    ocdm__stream_close(&stream);
}

TEST(settings_refuse_streams_that_cannot_train)
{
    ocdm_error error;
    ocdm__stream stream = {.task_count = 0};
    ocdm__run_settings settings = CHANGED(.network.seed = 0);
    struct small_stream *small = small_made(&plan);
    memset(small->table.parts, OCDM__TEST, small->table.sample_count);
    small_write(small, "tests-only");
    small_release(small);
    assert_int_equal(ocdm__stream_open(&stream, "tests-only", NULL), OCDM_OK);
    assert_int_equal(resolved(&settings, &stream, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "S: the stream has no training sample");
    ocdm__stream_close(&stream);
    stream.shape.kind = OCDM__NO_PAYLOAD;
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    stream.shape.kind = OCDM__NO_PAYLOAD;
    assert_int_equal(resolved(&settings, &stream, &error), OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "labels and nothing that a model could learn from"));
    ocdm__stream_close(&stream);
}

TEST(presets_are_settings_that_can_be_read)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    for (size_t i = 0; ocdm__run_presets[i] != NULL; i++)
        HOLDS(ocdm__run_presets[i], ocdm__run_preset_apply(ocdm__run_presets[i], &settings, NULL) == OCDM_OK);
    assert_true(settings.batch == 10 && settings.network.learning_rate == 1e-4 && settings.network.loss.focal > 0);
    assert_true(settings.network.averages.count == 1 && settings.average_start == OCDM__AVERAGE_SINCE_CLASS &&
                settings.network.average_delay == 100);
}

TEST(rates_of_averages_are_each_named_once)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    const ocdm__setting *ema = ocdm__setting_of_flag("ema");
    ocdm_error error;
    assert_int_equal(ocdm__setting_read(ema, "0.9,0.99", &settings, NULL, &error), OCDM_OK);
    assert_true(settings.network.averages.count == 2 && settings.network.averages.values[1] == 0.99);
    assert_int_equal(ocdm__setting_read(ema, "0.9,0.99,0.90", &settings, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "ema names 0.9 twice");
}

/* Each text, and the JSON that the setting becomes; NULL: it is refused. */
TEST(blur_and_budget_are_read_and_written)
{
    static const struct {
        const char *flag, *text, *json;
    } cases[] = {{"blur", "0.25", "0.25"},
                 {"blur", "0", "null"},
                 {"blur", "1.5", NULL},
                 {"blur", "gaussian:0.5", "\"gaussian:0.5\""},
                 {"blur", "gaussian:", NULL},
                 {"blur", "gaussian:-1", NULL},
                 {"blur", "gauss:1", NULL},
                 {"budget", "20ms", "\"0.02s\""},
                 {"budget", "1.5s", "\"1.5s\""},
                 {"budget", "0.5gflop", "\"0.5gflop\""},
                 {"budget", "250mflop", "\"0.25gflop\""},
                 {"budget", "2e-3tflop", "\"2gflop\""},
                 {"budget", "0s", NULL},
                 {"budget", "-1s", NULL},
                 {"budget", "5", NULL},
                 {"budget", "5m", NULL},
                 {"budget", "gflop", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__run_settings settings = ocdm__run_settings_default();
        const ocdm__setting *row = ocdm__setting_of_flag(cases[i].flag);
        ocdm_error error;
        ocdm__output output;
        ocdm_status status = ocdm__setting_read(row, cases[i].text, &settings, NULL, &error);
        HOLDS(cases[i].text, status == (cases[i].json != NULL ? OCDM_OK : OCDM_BAD_ARGUMENT));
        if (status != OCDM_OK)
            continue;
        assert_int_equal(ocdm__output_open_memory(&output, "a setting", NULL), OCDM_OK);
        ocdm__setting_write(&output, row, &settings, NULL, 0);
        HOLDS(cases[i].text, output.used == strlen(cases[i].json) && memcmp(output.buffer, cases[i].json, output.used) == 0);
        ocdm__output_abandon(&output);
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------------- */

TEST(settings_are_written_with_every_default)
{
    static const uint32_t tasks[] = {1, 0};
    static const char expected[] =
        "{\"method\":\"ocdm\",\"memory\":1000,\"batch\":10,\"replay\":10,\"rho\":0,\"class_weights\":null,\"distance\":\"kl\","
        "\"tie\":\"key\",\"model\":\"cnn\",\"weights\":\"w.safetensors\",\"precision\":\"f32\",\"lr\":0.0001,"
        "\"adam_eps\":0.0001,\"clip\":5,\"seed\":0,\"order\":[1,0],\"epochs\":1,\"resize\":0,\"crop\":32,\"groups\":\"600,"
        "100\",\"log_every\":10,\"validation\":0,\"resample_tests\":false,\"loss\":\"bce\","
        "\"negatives\":1,\"focal\":0,\"loss_balance\":0,\"ema\":null,\"ema_start\":\"stream\",\"optimiser\":\"adam\","
        "\"weight_decay\":0,\"momentum\":0.9,\"schedule\":\"constant\",\"horizon\":0,\"warmup\":0,\"lambda\":1000,\"project\":0,\"class_balance\":false,\"replay_policy\":\"uniform\",\"dark\":0,\"memory_bytes\":null,\"store\":\"none\",\"blur\":null,\"eval_every\":0,\"eval_samples\":500,\"steps_per_batch\":1,\"budget\":null,\"tolerance\":0,\"ema_delay\":0,\"pseudo\":null,\"threshold\":\"fixed\",\"transfer\":false}";
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.model = "cnn";
    settings.weights = "some/folder/w.safetensors";
    settings.resize = 0;
    settings.crop = 32;
    settings.network.clip = 5;
    settings.groups = "600,100";
    ocdm__output output;
    assert_int_equal(ocdm__output_open_memory(&output, "settings", NULL), OCDM_OK);
    ocdm__run_settings_write(&output, &settings, tasks, 2);
    assert_int_equal(output.used, strlen(expected));
    assert_memory_equal(output.buffer, expected, output.used);
    ocdm__output_abandon(&output);
}

static ocdm_status compared(const char *saved, const ocdm__run_settings *settings, ocdm_error *error)
{
    static const uint32_t tasks[] = {1, 0};
    const ocdm__saved_run run = {.name = "C", .settings = saved, .settings_length = strlen(saved)};
    const ocdm__asked_run asked = {.settings = settings, .tasks = tasks, .task_count = 2};
    return ocdm__saved_settings_compare(&run, &asked, error);
}

/* The order of the keys does not matter, nor how a number is written. */
TEST(changed_setting_is_named_with_both_values)
{
    ocdm_error error;
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.groups = "600,100";
    assert_int_equal(compared("{\"lr\":1e-4,\"groups\":\"600,100\",\"order\":[1,0],\"memory\":1000}", &settings, &error),
                     OCDM_OK);
    assert_int_equal(compared("{\"groups\":\"600,100\",\"order\":[0,1]}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with order [0,1], not [1,0]");
    assert_int_equal(compared("{\"groups\":\"600,100\",\"weights\":\"x\"}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with weights \"x\", not null");
    assert_int_equal(compared("{\"groups\":\"600,100\",\"lr\":0.25}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with lr 0.25, not 0.0001");
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The same name does not make the same weights, nor another name others. A run without a digest is of an earlier version. */
TEST(weights_are_compared_by_their_digest)
{
    ocdm_error error;
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.groups = "600,100";
    settings.weights = "folder/w";
    strcpy(settings.weights_sha256, DIGEST);
    assert_int_equal(
        compared("{\"groups\":\"600,100\",\"weights\":\"other\",\"weights_sha256\":\"" DIGEST "\"}", &settings, &error),
        OCDM_OK);
    assert_int_equal(compared("{\"groups\":\"600,100\",\"weights\":\"w\",\"weights_sha256\":\"012\"}", &settings, &error),
                     OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with other weights than folder/w has: SHA-256 012, not " DIGEST);
    assert_int_equal(compared("{\"groups\":\"600,100\",\"weights\":\"w\"}", &settings, &error), OCDM_OK);
    assert_int_equal(compared("{\"groups\":\"600,100\",\"weights\":\"other\"}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with weights \"other\", not \"w\"");
    settings.weights = NULL;
    settings.weights_sha256[0] = '\0';
    assert_int_equal(
        compared("{\"groups\":\"600,100\",\"weights\":\"w\",\"weights_sha256\":\"" DIGEST "\"}", &settings, &error),
        OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with weights \"w\", not null");
}

TEST(missing_key_stands_for_its_default)
{
    ocdm_error error;
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.groups = "600,100";
    assert_int_equal(compared("{\"groups\":\"600,100\"}", &settings, &error), OCDM_OK);
    settings.epochs = 3;
    assert_int_equal(compared("{\"groups\":\"600,100\"}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: the run began with epochs 1, not 3");
    assert_int_equal(compared("{\"groups\":\"600,100\",\"epochs\":3}", &settings, &error), OCDM_OK);
}

TEST(unknown_key_is_named)
{
    ocdm_error error;
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.groups = "600,100";
    assert_int_equal(compared("{\"groups\":\"600,100\",\"nesterov\":true}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: unknown setting \"nesterov\"");
    /* A flag that does not change results is not a key. */
    assert_int_equal(compared("{\"groups\":\"600,100\",\"threads\":2}", &settings, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "C: unknown setting \"threads\"");
}

/* Choices are indices: they must be in the order of the library's enums. */
TEST(choices_are_in_the_order_of_their_enums)
{
    unsigned i;
    for (i = 0; ocdm__run_distances[i] != NULL; i++)
        assert_string_equal(ocdm__run_distances[i], ocdm_distance_name((ocdm_distance)i));
    assert_null(ocdm_distance_name((ocdm_distance)i));
    for (i = 0; ocdm__run_ties[i] != NULL; i++)
        assert_string_equal(ocdm__run_ties[i], ocdm_tie_name((ocdm_tie)i));
    assert_null(ocdm_tie_name((ocdm_tie)i));
}

static int make_stream(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&plan, "stream");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_contradict_are_refused),
        cmocka_unit_test(settings_allow_a_small_memory_when_nothing_is_replayed),
        cmocka_unit_test(settings_refuse_streams_that_cannot_train),
        cmocka_unit_test(presets_are_settings_that_can_be_read),
        cmocka_unit_test(rates_of_averages_are_each_named_once),
        cmocka_unit_test(blur_and_budget_are_read_and_written),
        cmocka_unit_test(settings_are_written_with_every_default),
        cmocka_unit_test(changed_setting_is_named_with_both_values),
        cmocka_unit_test(weights_are_compared_by_their_digest),
        cmocka_unit_test(missing_key_stands_for_its_default),
        cmocka_unit_test(unknown_key_is_named),
        cmocka_unit_test(choices_are_in_the_order_of_their_enums),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_folder);
}
