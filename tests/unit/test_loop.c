/* The loop that is driven step by step gives the same results as the one that calls a learner; stream files through the public
 * interface. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "ocdm/experiment.h"

static const struct small_plan plan = {.tasks = 3, .train = 47, .test = 20, .seed = 1};

/* ---- a learner, in both forms ------------------------------------------------------------------------------------------ */

#define PARAMETERS (SMALL_CLASSES * SMALL_WIDTH)

/* A perceptron: the weights of a class move along the features of samples that it gets wrong. */
struct perceptron {
    float weight[PARAMETERS];
};

static float score(const struct perceptron *learner, const float *features, size_t c)
{
    float sum = 0;
    for (size_t k = 0; k < SMALL_WIDTH; k++)
        sum += learner->weight[c * SMALL_WIDTH + k] * (features[k] - 0.25F);
    return sum;
}

static bool carries(const ocdm_learner_batch *batch, size_t i, size_t c)
{
    for (size_t k = batch->starts[i]; k < batch->starts[i + 1]; k++)
        if (batch->labels[k] == c)
            return true;
    return false;
}

/* The direction of a batch; returns how many predictions are wrong. */
static double direction(const struct perceptron *learner, const ocdm_learner_batch *batch, float *sum)
{
    double wrong = 0;
    memset(sum, 0, PARAMETERS * sizeof *sum);
    for (size_t i = 0; i < batch->count; i++)
        for (size_t c = 0; c < SMALL_CLASSES; c++) {
            const float *features = batch->features + i * SMALL_WIDTH;
            bool has = carries(batch, i, c);
            if ((score(learner, features, c) > 0) == has)
                continue;
            wrong++;
            for (size_t k = 0; k < SMALL_WIDTH; k++)
                sum[c * SMALL_WIDTH + k] += (has ? 1.0F : -1.0F) * (features[k] - 0.25F);
        }
    return wrong;
}

static ocdm_status begin(void *state, size_t width, size_t classes, ocdm_error *error)
{
    (void)error;
    assert_int_equal(width, SMALL_WIDTH);
    assert_int_equal(classes, SMALL_CLASSES);
    memset(state, 0, sizeof(struct perceptron));
    return OCDM_OK;
}

static ocdm_status train(void *state, const ocdm_learner_batch *batch, double *loss, ocdm_error *error)
{
    struct perceptron *learner = state;
    float sum[PARAMETERS];
    (void)error;
    *loss = direction(learner, batch, sum);
    for (size_t i = 0; i < PARAMETERS; i++)
        learner->weight[i] += 0.1F * sum[i];
    return OCDM_OK;
}

static ocdm_status predict(void *state, const float *features, size_t count, float *scores, ocdm_error *error)
{
    (void)error;
    for (size_t i = 0; i < count * SMALL_CLASSES; i++)
        scores[i] = score(state, features + i / SMALL_CLASSES * SMALL_WIDTH, i % SMALL_CLASSES);
    return OCDM_OK;
}

static ocdm_status gradient(void *state, const ocdm_learner_batch *batch, float *room, ocdm_error *error)
{
    (void)error;
    direction(state, batch, room);
    return OCDM_OK;
}

static const void *save(void *state, size_t *size)
{
    *size = sizeof(struct perceptron);
    return state;
}

static ocdm_status load(void *state, const void *bytes, size_t size, ocdm_error *error)
{
    (void)error;
    assert_int_equal(size, sizeof(struct perceptron));
    memcpy(state, bytes, size);
    return OCDM_OK;
}

/* Called by the experiment. */
static void run_called(const char *stream, const char *folder, const char *const *settings)
{
    ocdm_error error;
    struct perceptron state;
    const ocdm_learner learner = {sizeof learner, "perceptron", &state,     begin, train,
                                  predict,        gradient,     PARAMETERS, save,  load};
    ocdm_experiment experiment = ocdm_experiment_default();
    experiment.stream = stream;
    experiment.folder = folder;
    experiment.settings = settings;
    if (ocdm_experiment_run(&experiment, &learner, &error) != OCDM_OK)
        fail_msg("%s", error.message);
}

/* ---- asking ------------------------------------------------------------------------------------------------------------ */

struct asking {
    ocdm_stream *stream;
    ocdm_loop *loop;
    struct perceptron state;
    char notes[256];
};

/* The gradient of samples that the learner reads itself. */
static ocdm_status asked_gradient(void *state, const ocdm_learner_batch *batch, float *room, ocdm_error *error)
{
    struct asking *asking = state;
    float features[64 * SMALL_WIDTH];
    ocdm_learner_batch full = *batch;
    assert_null(batch->features);
    assert_true(batch->count <= 64);
    for (size_t i = 0; i < batch->count; i++)
        assert_int_equal(ocdm_stream_features(asking->stream, batch->samples[i], features + i * SMALL_WIDTH, error), OCDM_OK);
    full.features = features;
    direction(&asking->state, &full, room);
    return OCDM_OK;
}

static void noted(void *state, const char *text)
{
    snprintf(((struct asking *)state)->notes, sizeof((struct asking *)state)->notes, "%s", text);
}

static ocdm_status open_asking(struct asking *asking, const char *stream, const char *folder, const char *const *settings,
                               ocdm_error *error)
{
    size_t size;
    const ocdm_learner learner = {
        .size = sizeof learner, .name = "perceptron", .state = asking, .gradient = asked_gradient, .gradient_size = PARAMETERS};
    ocdm_experiment experiment = ocdm_experiment_default();
    experiment.folder = folder;
    experiment.settings = settings;
    experiment.resume = true;
    experiment.note = noted;
    experiment.note_state = asking;
    *asking = (struct asking){.loop = NULL};
    ocdm_status status = ocdm_stream_open(stream, &asking->stream, error);
    if (status == OCDM_OK)
        status = ocdm_loop_open(&experiment, asking->stream, &learner, &asking->loop, error);
    const void *saved = status == OCDM_OK ? ocdm_loop_saved(asking->loop, &size) : NULL;
    if (saved != NULL) {
        assert_int_equal(size, sizeof asking->state);
        memcpy(&asking->state, saved, size);
    }
    return status;
}

static void close_asking(struct asking *asking)
{
    ocdm_loop_close(asking->loop);
    ocdm_stream_close(asking->stream);
}

static void opens(struct asking *asking, const char *stream, const char *folder, const char *const *settings)
{
    ocdm_error error;
    if (open_asking(asking, stream, folder, settings, &error) != OCDM_OK)
        fail_msg("%s", error.message);
}

static void works(ocdm_status status, const ocdm_error *error)
{
    if (status != OCDM_OK)
        fail_msg("%s", error->message);
}

static void evaluate(struct asking *asking)
{
    size_t count;
    ocdm_error error;
    const uint32_t *tests = ocdm_loop_tests(asking->loop, &count);
    float *scores = calloc(count * SMALL_CLASSES + 1, sizeof *scores), features[SMALL_WIDTH];
    for (size_t i = 0; i < count; i++) {
        works(ocdm_stream_features(asking->stream, tests[i], features, &error), &error);
        predict(&asking->state, features, 1, scores + i * SMALL_CLASSES, &error);
    }
    works(ocdm_loop_evaluate(asking->loop, scores, &error), &error);
    free(scores);
}

static double train_on(struct asking *asking, const ocdm_learner_batch *batch)
{
    float features[64 * SMALL_WIDTH];
    ocdm_learner_batch full = *batch;
    double loss = NAN;
    assert_true(batch->count <= 64);
    for (size_t i = 0; i < batch->count; i++)
        assert_int_equal(ocdm_stream_features(asking->stream, batch->samples[i], features + i * SMALL_WIDTH, NULL), OCDM_OK);
    full.features = features;
    if (batch->count > 0)
        train(&asking->state, &full, &loss, NULL);
    return loss;
}

/* One step with all that belongs to it; false after the last one. */
static bool steps(struct asking *asking)
{
    const ocdm_loop_step *step;
    ocdm_error error;
    works(ocdm_loop_next(asking->loop, &step, &error), &error);
    if (step == NULL)
        return false;
    works(ocdm_loop_done(asking->loop, train_on(asking, step->batch), &error), &error);
    if (step->evaluate)
        evaluate(asking);
    if (step->checkpoint)
        works(ocdm_loop_checkpoint(asking->loop, &asking->state, sizeof asking->state, &error), &error);
    return true;
}

static void run_asked(const char *stream, const char *folder, const char *const *settings)
{
    struct asking asking;
    opens(&asking, stream, folder, settings);
    while (steps(&asking))
        continue;
    close_asking(&asking);
}

/* ---- the same run ------------------------------------------------------------------------------------------------------ */

#define COMMON "memory", "30", "batch", "5", "replay", "4", "log-every", "3", "groups", "40,20", "seed", "11"

static void compare_ways(const char *stream, const char *const *settings)
{
    run_called(stream, "whole", settings);
    run_asked(stream, "parts", settings);
    same_results("whole", "parts", false);
    assert_int_not_equal(access("parts/weights.safetensors", F_OK), 0);
    remove_folder("whole");
    remove_folder("parts");
}

TEST(a_learner_that_asks_makes_the_run_of_one_that_is_called)
{
    for (size_t m = 0; ocdm__run_methods[m] != NULL; m++) {
        const char *const settings[] = {COMMON, "method", ocdm__run_methods[m], "order", "2,0,1", NULL};
        compare_ways(strcmp(ocdm__run_methods[m], "cbrs") == 0 ? "single" : "several", settings);
    }
}

/* Decisions of the memory do not depend on the model, unless they compare gradients. */
TEST(a_learner_that_asks_has_the_memory_of_the_built_in_networks)
{
    const char *const settings[] = {COMMON, "rho", "0.5", "tie", "oldest", "distance", "l2", NULL};
    ocdm__run_settings same = small_settings("ocdm");
    ocdm__stream stream = {.task_count = 0};
    const ocdm__run_hooks hooks = {.note = NULL};
    const ocdm__run_job job = {.settings = &same, .stream = &stream, .learner = &ocdm__agent_maker, .folder = "whole"};
    same.rho = 0.5;
    same.tie = OCDM_TIE_OLDEST;
    same.distance = OCDM_L2;
    assert_int_equal(ocdm__stream_open(&stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&same, &stream, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_in_folder(&job, &hooks, NULL), OCDM_OK);
    ocdm__stream_close(&stream);
    run_asked("several", "parts", settings);
    same_file("whole/memory.jsonl", "parts/memory.jsonl");
    remove_folder("whole");
    remove_folder("parts");
}

/* Steps that are given out, missed and repeated by the loop are those of the experiment. */
TEST(a_learner_that_asks_follows_every_protocol)
{
    static const char *const methods[] = {"ocdm", "multitask", "finetune"};
    for (size_t m = 0; m < 3; m++) {
        const char *const settings[] = {COMMON,         "method", methods[m],        "blur", "0.3", "eval-every", "4",
                                        "eval-samples", "9",      "steps-per-batch", "2",    NULL};
        compare_ways("several", settings);
    }
    const char *const jitter[] = {COMMON, "blur", "gaussian:0.4", "eval-every", "5", "eval-samples", "1000", NULL};
    compare_ways("several", jitter);
    const char *const dealt[] = {COMMON, "blur", "si:0.5:0.2", "eval-every", "5", NULL};
    compare_ways("several", dealt);
    const char *const hurried[] = {COMMON, "budget", "1e-12ms", "eval-every", "3", "checkpoint-every", "2", NULL};
    compare_ways("several", hurried);
}

/* A checkpoint in the middle of a step would lose the updates before it. */
TEST(a_loop_is_saved_after_the_last_update_of_a_step)
{
    const char *const settings[] = {COMMON, "steps-per-batch", "2", NULL};
    const ocdm_loop_step *step;
    struct asking asking;
    ocdm_error error = {.message = ""};
    opens(&asking, "several", "parts", settings);
    for (uint32_t update = 1; update <= 2; update++) {
        assert_int_equal(ocdm_loop_next(asking.loop, &step, NULL), OCDM_OK);
        assert_true(step->number == 1 && step->update == update);
        assert_int_equal(ocdm_loop_done(asking.loop, 1, NULL), OCDM_OK);
        assert_int_equal(ocdm_loop_checkpoint(asking.loop, "x", 1, &error), update == 2 ? OCDM_OK : OCDM_BAD_ARGUMENT);
    }
    assert_string_equal(error.message, "parts: update 1 of 2 of the step is done");
    close_asking(&asking);
    remove_folder("parts");
}

/* A checkpoint every step, and another process for each of them. */
TEST(a_loop_that_is_closed_at_any_step_goes_on)
{
    const char *const settings[] = {COMMON, "checkpoint-every", "1", NULL};
    run_called("several", "whole", settings);
    for (bool more = true; more;) {
        struct asking asking;
        opens(&asking, "several", "parts", settings);
        more = steps(&asking);
        close_asking(&asking);
    }
    same_results("whole", "parts", false);
    remove_folder("parts");
    remove_folder("whole");
}

/* Steps after the last checkpoint are made again, the same. */
TEST(a_loop_that_is_left_in_the_middle_of_a_step_goes_on)
{
    const char *const settings[] = {COMMON, "checkpoint-every", "7", NULL};
    run_called("several", "whole", settings);
    for (size_t stop = 3; stop < 30; stop += 4) {
        struct asking asking;
        const ocdm_loop_step *step;
        opens(&asking, "several", "parts", settings);
        for (size_t i = 0; i < stop && steps(&asking); i++)
            continue;
        assert_int_equal(ocdm_loop_next(asking.loop, &step, NULL), OCDM_OK);
        close_asking(&asking);
    }
    run_asked("several", "parts", settings);
    same_results("whole", "parts", false);
    struct asking again;
    opens(&again, "several", "parts", settings);
    assert_string_equal(again.notes, "the run is finished: nothing is left to do");
    assert_false(steps(&again));
    close_asking(&again);
    remove_folder("parts");
    remove_folder("whole");
}

/* Tasks that have tests only are evaluated where they come: before the first step, and several at once. */
TEST(tasks_without_training_samples_are_evaluated)
{
    static const char *const orders[] = {"0,1,2", "2,0,1", "0,2,1"};
    for (uint32_t bare = 0; bare < 2; bare++) {
        struct small_stream *small = small_made(&plan);
        for (size_t i = 0; i < small->table.sample_count; i++)
            if (small->table.tasks[i] == 2 || (bare == 1 && small->table.tasks[i] == 1))
                small->table.parts[i] = OCDM__TEST;
        small_write(small, "bare");
        small_release(small);
        for (size_t i = 0; i < 3; i++) {
            const char *const settings[] = {COMMON, "order", orders[i], NULL};
            compare_ways("bare", settings);
        }
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------------- */

TEST(a_loop_refuses_what_is_not_its_turn)
{
    const char *const settings[] = {COMMON, NULL};
    const ocdm_loop_step *step;
    struct asking asking;
    ocdm_error error = {.message = ""};
    opens(&asking, "several", "parts", settings);
    assert_int_equal(ocdm_loop_done(asking.loop, 1, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "parts: no step is under way");
    assert_int_equal(ocdm_loop_next(asking.loop, &step, NULL), OCDM_OK);
    assert_int_equal(ocdm_loop_next(asking.loop, &step, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "parts: the step is not done");
    assert_int_equal(ocdm_loop_checkpoint(asking.loop, "x", 1, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_loop_evaluate(asking.loop, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_loop_done(asking.loop, 1, NULL), OCDM_OK);
    for (bool last = false; !last;) {
        assert_int_equal(ocdm_loop_next(asking.loop, &step, NULL), OCDM_OK);
        last = step->evaluate;
        assert_int_equal(ocdm_loop_done(asking.loop, 1, NULL), OCDM_OK);
    }
    float scores[20 * SMALL_CLASSES] = {[7] = INFINITY};
    assert_int_equal(ocdm_loop_next(asking.loop, &step, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "parts: the evaluation after the step is missing");
    assert_int_equal(ocdm_loop_evaluate(asking.loop, scores, &error), OCDM_BAD_ARGUMENT);
    HOLDS(error.message, strstr(error.message, "is not a finite number") != NULL);
    scores[7] = 1;
    assert_int_equal(ocdm_loop_evaluate(asking.loop, scores, NULL), OCDM_OK);
    assert_int_equal(ocdm_loop_checkpoint(asking.loop, NULL, 0, NULL), OCDM_OK);
    close_asking(&asking);
    remove_folder("parts");
}

TEST(a_loop_names_the_setting_that_it_refuses)
{
    static const struct {
        const char *name, *value, *says;
    } cases[] = {
        {"memmory", "3", "there is no setting \"memmory\""},
        {"memory", "many", "memory \"many\": not a whole number from 1"},
        {"rho", "17", "rho \"17\": not a number from -16 to 16"},
        {"tie", "best", "tie \"best\": unknown tie"},
        {"order", "0,1", "the order names 2 tasks, the stream has 3"},
        {"order", "0,x,1", "order \"x\": not a whole number"},
        {"model", "linear", "the model is the name of the learner"},
        {"strict", "yes", "neither true nor false"},
        {"crop", "20", "takes no images"},
        {"log_every", NULL, "has no value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = {cases[i].name, cases[i].value, NULL};
        struct asking asking;
        ocdm_error error = {.message = ""};
        ocdm_status status = open_asking(&asking, "several", "parts", settings, &error);
        HOLDS(cases[i].name, status == OCDM_BAD_ARGUMENT || status == OCDM_UNKNOWN_NAME);
        HOLDS(error.message, strstr(error.message, cases[i].says) != NULL);
        close_asking(&asking);
        remove_folder("parts");
    }
}

/* The memory follows from one of them; and no store can know what the caller keeps. */
TEST(a_loop_refuses_a_memory_in_samples_and_in_bytes)
{
    const char *const both[] = {"memory_bytes", "4K", "memory", "30", NULL}, *const store[] = {"store", "u8", NULL};
    const char *const *const cases[] = {both, store};
    static const char *const says[] = {"the settings memory and memory-bytes are both given", "reads its samples itself"};
    for (size_t i = 0; i < 2; i++) {
        struct asking asking;
        ocdm_error error = {.message = ""};
        assert_int_equal(open_asking(&asking, "several", "parts", cases[i], &error), OCDM_BAD_ARGUMENT);
        HOLDS(error.message, strstr(error.message, says[i]) != NULL);
        close_asking(&asking);
        remove_folder("parts");
    }
}

TEST(a_loop_refuses_a_folder_with_other_settings)
{
    const char *const one[] = {COMMON, NULL}, *const other[] = {COMMON, "batch", "6", NULL};
    struct asking asking;
    ocdm_error error;
    opens(&asking, "several", "parts", one);
    struct asking second;
    assert_int_equal(open_asking(&second, "several", "parts", one, &error), OCDM_IO); /* locked */
    close_asking(&second);
    while (asking.state.weight[0] == 0 && steps(&asking))
        continue;
    assert_int_equal(ocdm_loop_checkpoint(asking.loop, &asking.state, sizeof asking.state, NULL), OCDM_OK);
    close_asking(&asking);
    assert_int_equal(open_asking(&asking, "several", "parts", other, &error), OCDM_BAD_ARGUMENT);
    HOLDS(error.message, strstr(error.message, "batch") != NULL);
    close_asking(&asking);
    remove_folder("parts");
}

/* ---- streams ----------------------------------------------------------------------------------------------------------- */

TEST(a_loop_takes_streams_of_images_and_of_files)
{
    static const char *const streams[] = {"images", "files"};
    for (size_t i = 0; i < 2; i++) {
        const char *const settings[] = {COMMON, NULL};
        struct asking asking;
        const ocdm_loop_step *step;
        opens(&asking, streams[i], "parts", settings);
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(ocdm_loop_next(asking.loop, &step, NULL), OCDM_OK);
            assert_int_equal(step->new_count, step->evaluate ? 2 : 5);
            assert_int_equal(step->batch->count, step->new_count + (k > 0 ? 4 : 0));
            assert_int_equal(ocdm_loop_done(asking.loop, NAN, NULL), OCDM_OK);
        }
        assert_true(step->evaluate && step->number == 5);
        close_asking(&asking);
        remove_folder("parts");
    }
}

TEST(the_public_stream_is_the_file)
{
    ocdm__stream inside = {.task_count = 0};
    ocdm_stream *stream = NULL;
    ocdm_error error;
    size_t length = 0;
    float features[2][SMALL_WIDTH];
    assert_int_equal(ocdm__stream_open(&inside, "several", NULL), OCDM_OK);
    assert_int_equal(ocdm_stream_open("several", &stream, NULL), OCDM_OK);
    const ocdm_stream_tables *tables = ocdm_stream_look(stream);
    assert_int_equal(tables->samples, 201);
    assert_int_equal(tables->classes, SMALL_CLASSES);
    assert_int_equal(tables->tasks, 3);
    assert_int_equal(tables->kind, OCDM_STREAM_FEATURES);
    assert_int_equal(tables->element_bytes, 4);
    assert_int_equal(tables->width, SMALL_WIDTH);
    assert_null(tables->group);
    assert_memory_equal(tables->label_starts, inside.table.label_starts, 202 * sizeof(uint64_t));
    assert_memory_equal(tables->labels, inside.table.labels, tables->label_starts[201] * sizeof(uint32_t));
    assert_memory_equal(tables->task, inside.table.tasks, 201 * sizeof(uint32_t));
    assert_memory_equal(tables->test, inside.table.parts, 201);
    for (size_t i = 0; i < 201; i++) {
        ocdm__stream_features(&inside, i, features[0]);
        assert_int_equal(ocdm_stream_features(stream, i, features[1], NULL), OCDM_OK);
        assert_memory_equal(features[0], features[1], sizeof features[0]);
        assert_memory_equal(features[0], (const float *)tables->data + i * SMALL_WIDTH, sizeof features[0]);
    }
    assert_memory_equal(ocdm_stream_id(stream, 3, &length), "1003", 4);
    assert_int_equal(length, 4);
    assert_memory_equal(ocdm_stream_class_name(stream, 2, &length), "c", 1);
    assert_null(ocdm_stream_id(stream, 201, &length));
    assert_null(ocdm_stream_class_name(stream, SMALL_CLASSES, &length));
    assert_null(ocdm_stream_image_path(stream, 0, &length));
    assert_int_equal(ocdm_stream_features(stream, 201, features[0], &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_stream_verify(stream, NULL), OCDM_OK);
    ocdm_stream_close(stream);
    ocdm__stream_close(&inside);
    assert_int_equal(ocdm_stream_open("nowhere", &stream, &error), OCDM_IO);
}

TEST(the_public_stream_has_images_and_paths)
{
    ocdm_stream *stream = NULL;
    size_t length = 0;
    assert_int_equal(ocdm_stream_open("images", &stream, NULL), OCDM_OK);
    const ocdm_stream_tables *tables = ocdm_stream_look(stream);
    assert_int_equal(tables->kind, OCDM_STREAM_IMAGES);
    assert_true(tables->element_bytes == 1 && tables->width == SMALL_SIDE && tables->height == SMALL_SIDE &&
                tables->channels == 3);
    ocdm_stream_close(stream);
    assert_int_equal(ocdm_stream_open("files", &stream, NULL), OCDM_OK);
    assert_int_equal(ocdm_stream_look(stream)->kind, OCDM_STREAM_FILES);
    assert_null(ocdm_stream_look(stream)->data);
    assert_memory_equal(ocdm_stream_image_path(stream, 3, &length), "evil.png", 8);
    assert_int_equal(length, 8);
    ocdm_stream_close(stream);
}

static int prepare(void **state)
{
    static const struct small_plan single = {.tasks = 3, .train = 47, .test = 20, .single = true, .seed = 2};
    static const struct small_plan images = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_IMAGES};
    static const struct small_plan files = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_FILES};
    int made = enter_folder(state);
    small_file(&plan, "several");
    small_file(&single, "single");
    small_file(&images, "images");
    small_file(&files, "files");
    return made;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_learner_that_asks_makes_the_run_of_one_that_is_called),
        cmocka_unit_test(a_learner_that_asks_has_the_memory_of_the_built_in_networks),
        cmocka_unit_test(a_learner_that_asks_follows_every_protocol),
        cmocka_unit_test(a_loop_is_saved_after_the_last_update_of_a_step),
        cmocka_unit_test(a_loop_that_is_closed_at_any_step_goes_on),
        cmocka_unit_test(a_loop_that_is_left_in_the_middle_of_a_step_goes_on),
        cmocka_unit_test(tasks_without_training_samples_are_evaluated),
        cmocka_unit_test(a_loop_refuses_what_is_not_its_turn),
        cmocka_unit_test(a_loop_names_the_setting_that_it_refuses),
        cmocka_unit_test(a_loop_refuses_a_memory_in_samples_and_in_bytes),
        cmocka_unit_test(a_loop_refuses_a_folder_with_other_settings),
        cmocka_unit_test(a_loop_takes_streams_of_images_and_of_files),
        cmocka_unit_test(the_public_stream_is_the_file),
        cmocka_unit_test(the_public_stream_has_images_and_paths),
    };
    return cmocka_run_group_tests(tests, prepare, leave_folder);
}
