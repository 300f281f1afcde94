/* The online step against a plain loop in double precision, and what agent and memory may not see: tasks. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../agent_state.h"
#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../small_run.h"
#include "experiment/loop/run.h"
#include "memory/internal.h"

static const struct small_plan plan = {.tasks = 3, .train = 40, .test = 10, .seed = 5};

/* An open run on a stream; both are closed together. */
struct trial {
    ocdm__stream stream;
    ocdm__run_settings settings;
    ocdm__run *run;
};

static void open_trial(struct trial *trial, const char *path, ocdm__run_settings settings)
{
    ocdm_error error;
    *trial = (struct trial){.settings = settings};
    ocdm_status status = ocdm__stream_open(&trial->stream, path, &error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_resolve(&trial->settings, &trial->stream, path, &error);
    if (status == OCDM_OK)
        status = ocdm__run_open(&trial->settings, &trial->stream, &ocdm__agent_maker, &trial->run, &error);
    if (status == OCDM_OK)
        status = ocdm__run_begin(trial->run, &error);
    if (status != OCDM_OK)
        fail_msg("%s", error.message);
}

static enum ocdm__run_event advanced(struct trial *trial)
{
    ocdm_error error;
    enum ocdm__run_event event;
    if (ocdm__run_advance(trial->run, NULL, &event, &error) != OCDM_OK)
        fail_msg("%s", error.message);
    return event;
}

static void close_trial(struct trial *trial)
{
    ocdm__run_close(trial->run);
    ocdm__stream_close(&trial->stream);
}

/* ---- the judge --------------------------------------------------------------------------------------------------------- */

#define PARAMETERS (SMALL_CLASSES * (SMALL_WIDTH + 1))

/* A linear model with Adam, everything in double precision: row c is the weights of class c, then its bias. */
struct judge {
    double weight[PARAMETERS], mean[PARAMETERS], square[PARAMETERS];
    unsigned step;
};

static void take_weights(struct judge *judge, ocdm__agent *agent)
{
    ocdm__tensor_list state;
    assert_int_equal(agent_save(agent, false, &state, NULL), OCDM_OK);
    for (size_t i = 0; i < state.count; i++) {
        const struct ocdm__tensor *tensor = &state.tensors[i];
        const float *values = (const float *)(const void *)tensor->data;
        for (size_t c = 0; c < SMALL_CLASSES; c++) {
            if (tensor->rank == 1)
                judge->weight[c * (SMALL_WIDTH + 1) + SMALL_WIDTH] = (double)values[c];
            for (size_t k = 0; tensor->rank == 2 && k < SMALL_WIDTH; k++)
                judge->weight[c * (SMALL_WIDTH + 1) + k] = (double)values[c * SMALL_WIDTH + k];
        }
    }
    ocdm__tensor_list_clear(&state);
}

static double logit(const struct judge *judge, const float *features, size_t c)
{
    const double *row = judge->weight + c * (SMALL_WIDTH + 1);
    double sum = row[SMALL_WIDTH];
    for (size_t k = 0; k < SMALL_WIDTH; k++)
        sum += row[k] * (double)features[k];
    return sum;
}

static bool carries(const ocdm__stream_table *table, uint32_t sample, size_t c)
{
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++)
        if (table->labels[k] == c)
            return true;
    return false;
}

/* Binary cross entropy, mean over batch and classes, and one step of Adam with eps outside the root. */
static double judge_step(struct judge *judge, const ocdm__stream *stream, const uint32_t *samples, size_t count, double rate,
                         double epsilon)
{
    double gradient[PARAMETERS] = {0}, loss = 0, scale = 1 / (double)(count * SMALL_CLASSES);
    for (size_t i = 0; i < count; i++) {
        float features[SMALL_WIDTH];
        ocdm__stream_features(stream, samples[i], features);
        for (size_t c = 0; c < SMALL_CLASSES; c++) {
            double z = logit(judge, features, c), y = carries(&stream->table, samples[i], c);
            loss += scale * (fmax(z, 0) - z * y + log1p(exp(-fabs(z))));
            double d = scale * (1 / (1 + exp(-z)) - y);
            for (size_t k = 0; k < SMALL_WIDTH; k++)
                gradient[c * (SMALL_WIDTH + 1) + k] += d * (double)features[k];
            gradient[c * (SMALL_WIDTH + 1) + SMALL_WIDTH] += d;
        }
    }
    judge->step++;
    for (size_t p = 0; p < PARAMETERS; p++) {
        judge->mean[p] = 0.9 * judge->mean[p] + 0.1 * gradient[p];
        judge->square[p] = 0.999 * judge->square[p] + 0.001 * gradient[p] * gradient[p];
        double m = judge->mean[p] / (1 - pow(0.9, judge->step)), v = judge->square[p] / (1 - pow(0.999, judge->step));
        judge->weight[p] -= rate * m / (sqrt(v) + epsilon);
    }
    return loss;
}

static ocdm_memory *judges_memory(const ocdm__run_settings *settings)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    options.capacity = settings->memory;
    options.batch = settings->batch;
    options.policy = ocdm_policy_find(settings->method);
    options.seed = settings->network.seed;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    return memory;
}

/* The batch and what is replayed, drawn before the memory sees the batch. */
static size_t judges_batch(ocdm_memory *memory, const ocdm__stream *stream, const ocdm__run_settings *settings,
                           const uint32_t *batch, size_t count, uint32_t *samples)
{
    uint32_t slots[16];
    ocdm_sample offered[16];
    memcpy(samples, batch, count * sizeof *samples);
    size_t drawn = ocdm_memory_draw(memory, settings->replay, slots);
    for (size_t i = 0; i < drawn; i++)
        samples[count + i] = (uint32_t)ocdm_memory_id(memory, slots[i]);
    for (size_t i = 0; i < count; i++) {
        uint64_t start = stream->table.label_starts[batch[i]], end = stream->table.label_starts[batch[i] + 1];
        offered[i] = (ocdm_sample){batch[i], stream->table.labels + start, (size_t)(end - start)};
    }
    assert_int_equal(ocdm_memory_update(memory, offered, count, NULL, NULL), OCDM_OK);
    return count + drawn;
}

static void same_weights(const struct judge *expected, ocdm__agent *agent)
{
    struct judge actual;
    take_weights(&actual, agent);
    for (size_t p = 0; p < PARAMETERS; p++)
        if (!(fabs(expected->weight[p] - actual.weight[p]) <= 1e-4))
            fail_msg("parameter %zu: %.9g, not %.9g", p, actual.weight[p], expected->weight[p]);
}

/* Task by task, each shuffled: the order that `ocdm stream export` writes. */
TEST(online_learns_as_the_plain_loop_does)
{
    static const char *const methods[] = {"ocdm", "rs", "prs", "max", "onlyone", "random", NULL};
    for (size_t m = 0; methods[m] != NULL; m++) {
        struct trial trial;
        struct judge judge = {.step = 0};
        open_trial(&trial, "stream", small_settings(methods[m]));
        take_weights(&judge, trial.run->learner->state);
        ocdm_memory *memory = judges_memory(&trial.settings);
        const ocdm__stream_order *order = &trial.run->schedule.order;
        for (size_t at = 0; at < order->count;) {
            uint32_t samples[32];
            size_t count = trial.settings.batch; /* 40 samples a task: no batch is shorter */
            enum ocdm__run_event event = advanced(&trial);
            if (event == OCDM__RUN_EVALUATED)
                continue;
            size_t all = judges_batch(memory, &trial.stream, &trial.settings, order->samples + at, count, samples);
            double loss = judge_step(&judge, &trial.stream, samples, all, trial.settings.network.learning_rate,
                                     trial.settings.network.epsilon);
            assert_true(fabs(loss - trial.run->loss) < 1e-5);
            at += count;
        }
        assert_int_equal(judge.step, 24);
        same_weights(&judge, trial.run->learner->state);
        for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
            assert_int_equal(ocdm_memory_id(memory, slot), ocdm_memory_id(trial.run->memory, slot));
        ocdm_memory_destroy(memory);
        close_trial(&trial);
    }
}

TEST(finetune_learns_from_the_stream_alone)
{
    struct trial trial;
    struct judge judge = {.step = 0};
    open_trial(&trial, "stream", small_settings("finetune"));
    take_weights(&judge, trial.run->learner->state);
    assert_null(trial.run->memory);
    for (size_t at = 0; at < trial.run->schedule.order.count; at += 5) {
        if (advanced(&trial) == OCDM__RUN_EVALUATED)
            advanced(&trial);
        judge_step(&judge, &trial.stream, trial.run->schedule.order.samples + at, 5, trial.settings.network.learning_rate,
                   trial.settings.network.epsilon);
    }
    same_weights(&judge, trial.run->learner->state);
    close_trial(&trial);
}

/* ---- tasks reach the evaluation only ---------------------------------------------------------------------------------- */

/* The same samples in other tasks: 120 in one instead of 40 in each of three, numbers turned round. */
static void write_relabelled(const char *path)
{
    struct small_stream *small = small_made(&plan);
    for (size_t i = 0; i < small->table.sample_count; i++)
        small->table.tasks[i] = small->table.tasks[i] == 0 ? 9 : 4;
    small_write(small, path);
    small_release(small);
}

/* Two memories are the same, to the last byte of their files. */
static void same_memories(const ocdm_memory *a, const ocdm_memory *b)
{
    static unsigned char left[1 << 16], right[1 << 16];
    size_t left_size, right_size;
    assert_int_equal(ocdm_memory_save_bytes(a, left, sizeof left, &left_size, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_save_bytes(b, right, sizeof right, &right_size, NULL), OCDM_OK);
    assert_in_range(left_size, 1, sizeof left);
    assert_int_equal(left_size, right_size);
    assert_memory_equal(left, right, left_size);
}

static void same_agents(ocdm__agent *a, ocdm__agent *b)
{
    ocdm__tensor_list left, right;
    assert_int_equal(agent_save(a, true, &left, NULL), OCDM_OK);
    assert_int_equal(agent_save(b, true, &right, NULL), OCDM_OK);
    assert_int_equal(left.count, right.count);
    for (size_t i = 0; i < left.count; i++)
        assert_memory_equal(left.tensors[i].data, right.tensors[i].data, left.tensors[i].size);
    ocdm__tensor_list_clear(&left);
    ocdm__tensor_list_clear(&right);
}

/* With the samples in the same order, other numbers and other boundaries of tasks leave the same bits in agent and memory, for
 * every method that may not know them. */
TEST(agent_and_memory_never_see_tasks)
{
    write_relabelled("relabelled");
    for (size_t m = 0; strcmp(ocdm__run_methods[m], "multitask") != 0; m++) {
        if (strcmp(ocdm__run_methods[m], "cbrs") == 0)
            continue; /* takes single labels; nothing about tasks is different in it */
        if (strcmp(ocdm__run_methods[m], "bat-ocdm") == 0)
            continue; /* is told where tasks begin */
        struct trial one, other;
        open_trial(&one, "stream", small_settings(ocdm__run_methods[m]));
        open_trial(&other, "relabelled", small_settings(ocdm__run_methods[m]));
        assert_int_equal(one.run->schedule.order.count, other.run->schedule.order.count);
        assert_int_equal(other.run->schedule.order.task_count, 2);
        memcpy(other.run->schedule.order.samples, one.run->schedule.order.samples,
               one.run->schedule.order.count * sizeof(uint32_t));
        while (advanced(&one) != OCDM__RUN_FINISHED)
            continue;
        while (advanced(&other) != OCDM__RUN_FINISHED)
            continue;
        same_agents(one.run->learner->state, other.run->learner->state);
        if (one.run->memory != NULL)
            same_memories(one.run->memory, other.run->memory);
        close_trial(&one);
        close_trial(&other);
    }
}

/* ---- seeds pair ------------------------------------------------------------------------------------------------------- */

/* Methods with one seed start from the same weights and see the same samples; another seed changes both. */
TEST(seeds_pair_methods)
{
    struct trial one, other, third;
    ocdm__run_settings settings = small_settings("rs");
    settings.network.seed = 12;
    open_trial(&one, "stream", small_settings("ocdm"));
    open_trial(&other, "stream", small_settings("rs"));
    open_trial(&third, "stream", settings);
    size_t bytes = one.run->schedule.order.count * sizeof(uint32_t);
    same_agents(one.run->learner->state, other.run->learner->state);
    assert_memory_equal(one.run->schedule.order.samples, other.run->schedule.order.samples, bytes);
    assert_memory_not_equal(one.run->schedule.order.samples, third.run->schedule.order.samples, bytes);
    struct judge first, last;
    take_weights(&first, one.run->learner->state);
    take_weights(&last, third.run->learner->state);
    assert_memory_not_equal(first.weight, last.weight, sizeof first.weight);
    close_trial(&one);
    close_trial(&other);
    close_trial(&third);
}

/* ---- images that cannot be decoded ------------------------------------------------------------------------------------ */

static void write_images(void)
{
    size_t size;
    unsigned char *bytes = from_hex(golden_files[0].file, &size);
    assert_int_equal(write_whole("good.png", bytes, size), 0);
    assert_int_equal(write_whole("evil.png", bytes, size / 2), 0);
    free(bytes);
}

/* They are counted once, train nothing and never enter the memory; tests among them are left out. */
TEST(online_leaves_out_what_cannot_be_decoded)
{
    static const struct small_plan files = {.tasks = 2, .train = 30, .test = 6, .seed = 5, .kind = SMALL_FILES};
    struct trial trial;
    ocdm__run_settings settings = small_settings("rs");
    ocdm_error error;
    settings.model = "cnn";
    settings.memory = 60;
    settings.image_root = ".";
    settings.resize = settings.crop = SMALL_SIDE;
    write_images();
    small_file(&files, "files");
    open_trial(&trial, "files", settings);
    uint64_t evil = 0, train = 0;
    for (size_t i = 3; i < 72; i += 7) {
        evil++;
        train += trial.stream.table.parts[i] == OCDM__TRAIN;
    }
    while (advanced(&trial) != OCDM__RUN_FINISHED)
        assert_true(trial.run->loss >= 0);
    assert_int_equal(ocdm__run_skipped(trial.run), evil);
    assert_int_equal(trial.run->evaluations[1].skipped, evil - train);
    assert_int_equal(ocdm_memory_size(trial.run->memory), 60 - train);
    for (uint32_t slot = 0; slot < ocdm_memory_size(trial.run->memory); slot++)
        assert_int_not_equal(ocdm_memory_id(trial.run->memory, slot) % 7, 3);
    close_trial(&trial);
    settings.strict = true;
    open_trial(&trial, "files", settings);
    enum ocdm__run_event event;
    ocdm_status status = OCDM_OK;
    for (int i = 0; i < 14 && status == OCDM_OK; i++)
        status = ocdm__run_advance(trial.run, NULL, &event, &error);
    assert_int_equal(status, OCDM_BAD_FILE);
    assert_non_null(strstr(error.message, "evil.png"));
    close_trial(&trial);
}

/* A run in which nothing was learnt ends before its last evaluation; one image that can be decoded is enough for results. */
TEST(online_fails_when_no_image_can_be_decoded)
{
    static const struct small_plan files = {.tasks = 2, .train = 30, .test = 6, .seed = 5, .kind = SMALL_FILES};
    static const char *const methods[] = {"rs", "finetune", "multitask"};
    size_t good;
    write_images();
    unsigned char *bytes = read_whole("good.png", &good);
    small_file(&files, "files");
    for (size_t i = 0; i < 2 * sizeof methods / sizeof *methods; i++) {
        bool none = i % 2 == 0;
        struct trial trial;
        enum ocdm__run_event event = OCDM__RUN_STEPPED;
        ocdm_status status = OCDM_OK;
        ocdm_error error;
        ocdm__run_settings settings = small_settings(methods[i / 2]);
        settings.model = "cnn";
        settings.image_root = ".";
        settings.resize = settings.crop = SMALL_SIDE;
        settings.epochs = i / 2 == 2 ? 2 : 1;
        assert_int_equal(write_whole("good.png", bytes, good / 2), 0);
        assert_int_equal(write_whole("evil.png", bytes, none ? good / 2 : good), 0);
        open_trial(&trial, "files", settings);
        while (status == OCDM_OK && event != OCDM__RUN_FINISHED)
            status = ocdm__run_advance(trial.run, NULL, &event, &error);
        assert_int_equal(status, none ? OCDM_BAD_FILE : OCDM_OK);
        assert_int_equal(trial.run->evaluation_count, none ? 1 : 2);
        if (none)
            assert_non_null(
                strstr(error.message, "files: none of the 60 training images can be decoded, the first because of ./"));
        close_trial(&trial);
    }
    free(bytes);
}

static int make_stream(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&plan, "stream");
    return 0;
}

/* ---- what is replayed ------------------------------------------------------------------------------------------------ */

enum { MEMBERS = 10, DRAWS = 4000 };

/* How often each of ten samples is drawn when three of them are: the last one alone has class 1, all others class 0. */
static void count_draws(uint32_t policy, size_t *counts)
{
    uint32_t labels[MEMBERS] = {[MEMBERS - 1] = 1}, slots[3];
    double keys[3];
    ocdm_sample samples[MEMBERS];
    ocdm__run_settings settings = ocdm__run_settings_default();
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    ocdm__stream stream = {.table = {.class_count = 2}};
    options.capacity = settings.memory = MEMBERS;
    settings.replay_policy = policy;
    settings.replay = policy == OCDM__REPLAY_LOSS ? 1 : 3;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint32_t i = 0; i < MEMBERS; i++)
        samples[i] = (ocdm_sample){.id = i, .labels = &labels[i], .label_count = 1};
    assert_int_equal(ocdm_memory_update(memory, samples, MEMBERS, NULL, NULL), OCDM_OK);
    ocdm__run run = {.settings = &settings, .stream = &stream, .memory = memory, .online = {.slots = slots, .keys = keys}};
    assert_int_equal(ocdm__replay_open(&run, NULL), OCDM_OK);
    for (size_t i = 0; run.replays.kept != NULL && i < MEMBERS; i++)
        run.replays.kept[i] = i == 0 ? 9 : i == 1 ? 0 : 1;
    for (uint64_t step = 0; step < DRAWS; step++) {
        size_t drawn = ocdm__replay_draw(&run, step);
        for (size_t k = 0; k < drawn; k++)
            counts[ocdm_memory_id(memory, slots[k])]++;
        HOLDS("without replacement", drawn < 3 || (slots[0] != slots[1] && slots[1] != slots[2] && slots[0] != slots[2]));
    }
    ocdm__arena_clear(&run.arena);
    ocdm_memory_destroy(memory);
}

/* The first draw takes the lone sample of class 1 half of the time, the second 9/17 of the other half, the third 9/16 of what
 * is left then. */
TEST(balanced_replay_draws_classes_alike)
{
    size_t counts[MEMBERS] = {0};
    count_draws(OCDM__REPLAY_BALANCED, counts);
    double expected = 1 - 0.5 * (8.0 / 17) * (7.0 / 16);
    assert_true(fabs((double)counts[MEMBERS - 1] / DRAWS - expected) < 0.025);
    for (size_t i = 0; i + 1 < MEMBERS; i++)
        assert_true(fabs((double)counts[i] / DRAWS - (3 - expected) / 9) < 0.025);
}

/* Losses 9, 0 and eight times 1. */
TEST(loss_replay_draws_by_losses)
{
    size_t counts[MEMBERS] = {0};
    count_draws(OCDM__REPLAY_LOSS, counts);
    assert_true(fabs((double)counts[0] / DRAWS - 9.0 / 17) < 0.025);
    assert_true(counts[1] < 5);
    for (size_t i = 2; i < MEMBERS; i++)
        assert_true(fabs((double)counts[i] / DRAWS - 1.0 / 17) < 0.02);
}

/* Python's Replay.sample(by="loss") gives the library the same weights; tests/python/test_draws.py judges what is drawn by
 * them. */
TEST(loss_replay_makes_the_draws_of_the_library)
{
    float losses[MEMBERS] = {3, 0, 0.25F, 7, 1e-9F, 2, 2, 0.5F, 11, 1};
    double weights[MEMBERS], keys[4];
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    uint32_t drawn[4], expected[4];
    const ocdm__run_settings settings = {.replay_policy = OCDM__REPLAY_LOSS, .network.seed = 9, .replay = 4};
    ocdm__run run = {.settings = &settings,
                     .replays = {.losses = 1, .width = 1, .kept = losses, .weights = weights},
                     .online = {.slots = drawn, .keys = keys}};
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    run.memory = memory;
    for (uint64_t i = 0; i < MEMBERS; i++)
        assert_int_equal(ocdm_memory_update(memory, &(ocdm_sample){.id = i}, 1, NULL, NULL), OCDM_OK);
    for (uint64_t step = 0; step < 50; step++) {
        double own[MEMBERS];
        for (size_t i = 0; i < MEMBERS; i++)
            own[i] = fmax((double)losses[i], 1e-6);
        assert_int_equal(ocdm__replay_draw(&run, step), 4);
        assert_int_equal(ocdm__draw_apart(9, step, own, MEMBERS, expected, keys, 4), 4);
        assert_memory_equal(drawn, expected, sizeof drawn);
    }
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_replay_makes_the_draws_of_the_library),
        cmocka_unit_test(balanced_replay_draws_classes_alike),
        cmocka_unit_test(loss_replay_draws_by_losses),
        cmocka_unit_test(online_learns_as_the_plain_loop_does),
        cmocka_unit_test(finetune_learns_from_the_stream_alone),
        cmocka_unit_test(agent_and_memory_never_see_tasks),
        cmocka_unit_test(seeds_pair_methods),
        cmocka_unit_test(online_leaves_out_what_cannot_be_decoded),
        cmocka_unit_test(online_fails_when_no_image_can_be_decoded),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_folder);
}
