/* Evaluations at any time, several updates per batch, budgets and what a step costs, each against a naive version; blurred
 * streams and all of these resume to the same bytes. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/model.h"
#include "ocdm/experiment.h"
#include "run_in_folder.h"

static const struct small_plan several = {.tasks = 3, .train = 47, .test = 20, .seed = 1};
static const struct small_plan images = {.tasks = 2, .train = 22, .test = 6, .seed = 1, .kind = SMALL_IMAGES};

/* ---- resume ------------------------------------------------------------------------------------------------------------ */

static void add_blur(ocdm__run_settings *settings)
{
    settings->blur.share = 0.3;
    settings->loss_balance = 0.5;
}

static void add_jitter(ocdm__run_settings *settings)
{
    settings->blur.deviation = 0.4;
    settings->validation = 0.1;
}

static void add_si_blurry(ocdm__run_settings *settings)
{
    settings->blur = (ocdm__blur){.anew = true, .disjoint = 0.5, .share = 0.2};
}

static void add_probes(ocdm__run_settings *settings)
{
    settings->eval_every = 4;
    settings->eval_samples = 9;
    settings->network.averages = (ocdm__rates){.values = {0.5, 0.9}, .count = 2};
}

static void add_updates(ocdm__run_settings *settings)
{
    settings->steps_per_batch = 3;
    settings->network.loss.dark = 0.5;
    settings->replay_policy = OCDM__REPLAY_LOSS;
    settings->network.lr_schedule = OCDM__LR_COSINE;
    settings->network.horizon = 40;
    settings->network.averages = (ocdm__rates){.values = {0.9}, .count = 1};
}

static void add_operations(ocdm__run_settings *settings)
{
    settings->budget.operations = 1000;
    settings->loss_balance = 0.5;
}

/* No step takes so little time: all but the first are missed. */
static void add_seconds(ocdm__run_settings *settings)
{
    settings->budget.seconds = 1e-15;
}

static void add_all(ocdm__run_settings *settings)
{
    add_blur(settings);
    add_probes(settings);
    add_updates(settings);
    add_operations(settings);
}

static void stop_and_resume(ocdm__run_settings settings, const char *stream, const uint64_t *stop_after, size_t count)
{
    finishes("whole", settings, stream, false);
    for (size_t i = 0; i < count; i++) {
        stops("parts", settings, stream, stop_after[i]);
        finishes("parts", settings, stream, true);
        same_results("whole", "parts", true);
        remove_folder("parts");
    }
    remove_folder("whole");
}

TEST(every_protocol_resumes_as_if_never_stopped)
{
    static void (*const protocols[])(ocdm__run_settings *) = {add_blur,    add_si_blurry,  add_jitter,  add_probes,
                                                              add_updates, add_operations, add_seconds, add_all};
    static const char *const methods[] = {"ocdm", "prs", "gss"};
    ocdm__random random = ocdm__random_stream(5, 0);
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        ocdm__run_settings settings = settings_of(methods[i % 3]);
        const uint64_t stop_after[] = {4, 18, 1 + ocdm__random_below(&random, 20), 1 + ocdm__random_below(&random, 20)};
        protocols[i](&settings);
        stop_and_resume(settings, "several", stop_after, 4);
    }
}

TEST(protocols_resume_as_if_never_stopped_when_samples_are_images)
{
    static const uint64_t stop_after[] = {3, 6};
    ocdm__run_settings settings = settings_of("ocdm");
    settings.model = "cnn";
    settings.memory = 12;
    settings.crop = SMALL_SIDE - 2;
    add_all(&settings);
    settings.budget.operations = 6e8;
    stop_and_resume(settings, "images", stop_after, 2);
    settings = settings_of("multitask");
    add_blur(&settings);
    add_probes(&settings);
    stop_and_resume(settings, "several", stop_after, 2);
}

/* ---- runs without files ------------------------------------------------------------------------------------------------ */

struct made {
    ocdm__run_settings settings;
    ocdm__stream stream;
    ocdm__run *run;
};

static void makes(struct made *made)
{
    ocdm_error error;
    made->stream = (ocdm__stream){.task_count = 0};
    made->run = NULL;
    ocdm_status status = ocdm__stream_open(&made->stream, "several", &error);
    if (status == OCDM_OK)
        status = ocdm__run_settings_resolve(&made->settings, &made->stream, "several", &error);
    if (status == OCDM_OK)
        status = ocdm__run_open(&made->settings, &made->stream, &ocdm__agent_maker, &made->run, &error);
    if (status == OCDM_OK)
        status = ocdm__run_begin(made->run, &error);
    if (status != OCDM_OK)
        fail_msg("%s", error.message);
}

static void goes_to_its_end(ocdm__run *run)
{
    enum ocdm__run_event event = OCDM__RUN_STEPPED;
    while (event != OCDM__RUN_FINISHED)
        assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
}

static void clear(struct made *made)
{
    ocdm__run_close(made->run);
    ocdm__stream_close(&made->stream);
}

/* ---- evaluations at any time ------------------------------------------------------------------------------------------- */

static bool carries(const ocdm__stream_table *table, uint32_t sample, uint32_t class)
{
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + (size_t)1]; k++)
        if (table->labels[k] == class)
            return true;
    return false;
}

/* One at a time: of the poorest class that has a test left, the one with the smallest random number. */
static void draw_naively(const ocdm__run *run, size_t wanted, bool *taken)
{
    const ocdm__stream_table *table = &run->stream->table;
    uint64_t base = ocdm__random_base(run->settings->network.seed, OCDM__FOR_PROBES);
    while (wanted-- > 0) {
        size_t best = SIZE_MAX, fewest = SIZE_MAX;
        for (uint32_t c = 0; c < SMALL_CLASSES; c++) {
            size_t count = 0, first = SIZE_MAX;
            for (size_t i = 0; i < run->tests.count; i++) {
                bool has = carries(table, run->tests.samples[i], c);
                count += has && taken[i];
                if (has && !taken[i] && (first == SIZE_MAX || ocdm__random_at(base, i) < ocdm__random_at(base, first)))
                    first = i;
            }
            if (first == SIZE_MAX || count >= fewest)
                continue;
            fewest = count;
            best = first;
        }
        taken[best] = true;
    }
}

TEST(tests_at_any_time_are_balanced_over_the_classes)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct made made = {.settings = small_settings("ocdm")};
        bool taken[128] = {false};
        made.settings.eval_every = 5;
        made.settings.eval_samples = 6 + 5 * (uint32_t)seed;
        made.settings.network.seed = seed;
        makes(&made);
        draw_naively(made.run, made.settings.eval_samples, taken);
        const ocdm__probes *probes = &made.run->probes;
        assert_int_equal(probes->part.count, made.settings.eval_samples);
        for (size_t i = 0, at = 0; i < made.run->tests.count; i++)
            if (taken[i]) {
                assert_int_equal(probes->places[at], i);
                assert_int_equal(probes->part.samples[at++], made.run->tests.samples[i]);
            }
        for (size_t k = 0, at = 0; k < 3; k++)
            for (; at < probes->part.ends[k]; at++)
                assert_int_equal(made.stream.table.tasks[probes->part.samples[at]], made.run->tests.tasks[k]);
        clear(&made);
    }
}

/* With all tests, an evaluation at the end of a task is the task's own; the area is a plain sum. */
TEST(evaluations_at_any_time_are_those_of_tasks_and_their_area_a_sum)
{
    static const char *const methods[] = {"ocdm", "multitask"};
    for (size_t m = 0; m < 2; m++) {
        struct made made = {.settings = settings_of(methods[m])};
        made.settings.eval_every = 5; /* tasks of ocdm end after 10, 20 and 30 steps */
        made.settings.eval_samples = 1000;
        made.settings.network.averages = (ocdm__rates){.values = {0.5}, .count = 1};
        makes(&made);
        goes_to_its_end(made.run);
        const ocdm__run *run = made.run;
        uint64_t steps = ocdm__schedule_steps(&run->schedule);
        assert_int_equal(run->probes.count, (steps + 4) / 5);
        for (size_t v = 0; v < 2; v++) {
            double sum = 0, seen = 0;
            for (size_t i = 0; i < run->probes.count; i++) {
                uint64_t step = 5 * (i + 1) < steps ? 5 * (i + 1) : steps, task = 0, before = 0;
                while (step > run->schedule.task_ends[task])
                    before = run->schedule.task_ends[task++];
                double map = run->probes.map[2 * i + v], here = 47 * (double)task;
                here += m == 0 ? fmin(5 * (double)(step - before), 47)
                               : floor(47 * (double)(step - before) / (double)(run->schedule.task_ends[task] - before));
                if (step == run->schedule.task_ends[task])
                    assert_true(map == run->versions[v].evaluations[task].total.value[OCDM_MAP]);
                sum += map * (here - seen);
                seen = here;
            }
            assert_true(seen == 141 && fabs(ocdm__run_probe_area(run, v) - sum / 141) < 1e-12);
        }
        clear(&made);
    }
}

/* ---- several updates per batch ----------------------------------------------------------------------------------------- */

enum { MOST_CALLS = 200, BATCH = 5, REPLAY = 4 };

static struct {
    uint32_t samples[MOST_CALLS][BATCH + REPLAY];
    size_t counts[MOST_CALLS];
    size_t calls;
} heard;

static ocdm_status begin(void *state, size_t width, size_t classes, ocdm_error *error)
{
    (void)state, (void)width, (void)classes, (void)error;
    heard.calls = 0;
    return OCDM_OK;
}

static ocdm_status hear(void *state, const ocdm_learner_batch *batch, double *loss, ocdm_error *error)
{
    (void)state, (void)error;
    memcpy(heard.samples[heard.calls], batch->samples, batch->count * sizeof *batch->samples);
    heard.counts[heard.calls++] = batch->count;
    *loss = (double)heard.calls;
    return OCDM_OK;
}

static ocdm_status guess(void *state, const float *features, size_t count, float *scores, ocdm_error *error)
{
    (void)state, (void)error;
    for (size_t i = 0; i < count * SMALL_CLASSES; i++)
        scores[i] = features[i % SMALL_WIDTH];
    return OCDM_OK;
}

static const void *save(void *state, size_t *size)
{
    (void)state;
    *size = 1;
    return "s";
}

static ocdm_status load(void *state, const void *bytes, size_t size, ocdm_error *error)
{
    (void)state, (void)bytes, (void)size, (void)error;
    return OCDM_OK;
}

static void listens(const char *folder, const char *updates)
{
    ocdm_error error;
    const char *const settings[] = {"memory", "30", "batch", "5", "replay", "4", "steps-per-batch", updates, NULL};
    const ocdm_learner learner = {.size = sizeof learner,
                                  .name = "listener",
                                  .begin = begin,
                                  .train = hear,
                                  .predict = guess,
                                  .save = save,
                                  .load = load};
    ocdm_experiment experiment = ocdm_experiment_default();
    experiment.stream = "several";
    experiment.folder = folder;
    experiment.settings = settings;
    if (ocdm_experiment_run(&experiment, &learner, &error) != OCDM_OK)
        fail_msg("%s", error.message);
}

/* The memory is that of one update per batch: it sees each batch once. */
TEST(updates_of_a_step_share_the_stream_and_replay_anew)
{
    size_t differ = 0;
    listens("whole", "1");
    assert_int_equal(heard.calls, 30);
    listens("parts", "3");
    assert_int_equal(heard.calls, 90);
    same_file("whole/memory.jsonl", "parts/memory.jsonl");
    for (size_t i = 0; i < 90; i++) {
        size_t first = i / 3 * 3, new = i / 3 % 10 == 9 ? 2 : BATCH;
        assert_int_equal(heard.counts[i], heard.counts[first]);
        assert_memory_equal(heard.samples[i], heard.samples[first], new * sizeof(uint32_t));
        differ += memcmp(heard.samples[i] + new, heard.samples[first] + new, REPLAY * sizeof(uint32_t)) != 0;
    }
    assert_true(differ > 50);
}

/* ---- cost -------------------------------------------------------------------------------------------------------------- */

/* Forward, and twice as much backward, with two operations for each product; a step of the stream and the replay. */
static double naive_cost(size_t step, size_t kept)
{
    size_t fresh = step % 10 == 9 ? 2 : BATCH, replayed = kept < REPLAY ? kept : REPLAY;
    return 3.0 * 2 * SMALL_WIDTH * SMALL_CLASSES * (double)(fresh + replayed);
}

/* What the memory has seen of each class: batches that were missed do not reach it. */
static void offers_what_is_trained_on(ocdm__run *run)
{
    uint64_t seen[SMALL_CLASSES] = {0};
    for (uint64_t step = 0; step < 30; step++) {
        uint32_t samples[BATCH];
        size_t count = ocdm__run_missed(run, step) ? 0 : ocdm__schedule_batch(&run->schedule, step, samples);
        for (size_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < SMALL_CLASSES; c++)
                seen[c] += carries(&run->stream->table, samples[i], c);
    }
    for (uint32_t c = 0; c < SMALL_CLASSES; c++)
        assert_int_equal(ocdm_memory_seen(run->memory, c), seen[c]);
}

/* The real-time rule by the clock: batch i is the newest one from i to i + 1 times the budget. */
TEST(a_budget_lets_batches_pass_that_come_while_the_learner_is_busy)
{
    static const double budgets[] = {252, 756, 1134, 1701, 2268, 5000};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct made made = {.settings = small_settings("rs")};
        double budget = budgets[b], free_at = 0, operations = 0, missed = 0;
        size_t kept = 0;
        made.settings.budget.operations = budget;
        makes(&made);
        goes_to_its_end(made.run);
        for (size_t i = 0; i < 30; i++) {
            double came = (double)i * budget, cost = naive_cost(i, kept);
            bool passes = free_at >= came + budget;
            assert_int_equal(ocdm__run_missed(made.run, i), passes);
            missed += passes;
            if (passes)
                continue;
            free_at = (free_at > came ? free_at : came) + cost;
            operations += cost;
            kept += kept < 30 ? (i % 10 == 9 ? 2 : BATCH) : 0;
            kept = kept > 30 ? 30 : kept;
        }
        assert_true(made.run->cost.missed == missed && made.run->cost.operations == operations);
        assert_true(made.run->cost.updates == 30 - missed);
        assert_true(b > 0 || missed > 20);
        assert_true(budget < 2268 || missed == 0);
        offers_what_is_trained_on(made.run);
        clear(&made);
    }
}

/* Gradients that the memory compares are work, too. */
TEST(operations_of_a_run_are_those_counted_by_hand)
{
    static const struct {
        const char *model, *method;
        double factor; /* of what a linear layer costs */
    } cases[] = {{"linear", "ocdm", 1},
                 {"linear", "finetune", 5.0 / 9},
                 {"mlp", "ocdm", (512.0 * SMALL_WIDTH + 512.0 * SMALL_CLASSES) / (SMALL_WIDTH * SMALL_CLASSES)}};
    double full = 0, fresh = 0;
    for (size_t i = 0, kept = 0; i < 30; i++) {
        full += naive_cost(i, kept);
        fresh += naive_cost(i, 0);
        kept = 30;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made made = {.settings = small_settings(cases[i].method)};
        made.settings.model = cases[i].model;
        makes(&made);
        goes_to_its_end(made.run);
        double expected = i == 1 ? fresh : full * cases[i].factor;
        assert_true(fabs(made.run->cost.operations - expected) < 1e-6 * expected);
        clear(&made);
    }
    struct made made = {.settings = small_settings("gss")};
    makes(&made);
    goes_to_its_end(made.run);
    assert_true(made.run->cost.operations > full);
    clear(&made);
}

/* A convolution and what it leaves of the image. */
static double convolution(double *side, double from, double to, double kernel, double stride)
{
    *side = ceil(*side / stride);
    return 2 * from * to * kernel * kernel * *side * *side;
}

static double operations_of(const char *name, uint32_t side, uint32_t classes)
{
    const struct ocdm__model_size size = {.name = name, .class_count = classes, .height = side, .width = side};
    struct ocdm__model model;
    assert_int_equal(ocdm__model_create(&size, &model, NULL), OCDM_OK);
    double operations = ocdm__model_operations(&model);
    ocdm__model_destroy(&model);
    return operations;
}

/* torchvision's ResNet-18 has 1,814,073,344 multiply-adds at 224 pixels, MobileNet 568,740,352. */
TEST(operations_of_networks_are_those_of_their_layers)
{
    for (uint32_t pixels = 64; pixels <= 224; pixels += 32) {
        double side = pixels, sum = convolution(&side, 3, 64, 7, 2), channels = 64;
        side = ceil(side / 2);
        for (int block = 0; block < 8; block++) {
            double to = 64 * (1 << block / 2), stride = block > 0 && block % 2 == 0 ? 2 : 1, short_side = side;
            if (to != channels)
                sum += convolution(&short_side, channels, to, 1, 2);
            sum += convolution(&side, channels, to, 3, stride) + convolution(&side, to, to, 3, 1);
            channels = to;
        }
        assert_true(operations_of("resnet18", pixels, 70) == sum + 2 * 512 * 70.0);
    }
    assert_true(operations_of("resnet18", 224, 1000) == 2 * 1814073344.0);
    double side = 224, sum = convolution(&side, 3, 32, 3, 2);
    static const double widths[] = {32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024};
    for (size_t i = 1; i < sizeof widths / sizeof *widths; i++) {
        bool halves = i == 2 || i == 4 || i == 6 || i == 12;
        sum += convolution(&side, 1, widths[i - 1], 3, halves ? 2 : 1) + convolution(&side, widths[i - 1], widths[i], 1, 1);
    }
    assert_true(operations_of("mobilenet1", 224, 1000) == sum + 2 * 1024 * 1000.0);
    assert_true(sum + 2 * 1024 * 1000.0 == 2 * 568740352.0);
}

/* ---- main -------------------------------------------------------------------------------------------------------------- */

static int make_streams(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&several, "several");
    small_file(&images, "images");
    return 0;
}

static int leave_streams(void **state)
{
    clear_folders(state);
    return leave_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_protocol_resumes_as_if_never_stopped, clear_folders),
        cmocka_unit_test_setup(protocols_resume_as_if_never_stopped_when_samples_are_images, clear_folders),
        cmocka_unit_test(tests_at_any_time_are_balanced_over_the_classes),
        cmocka_unit_test(evaluations_at_any_time_are_those_of_tasks_and_their_area_a_sum),
        cmocka_unit_test_setup(updates_of_a_step_share_the_stream_and_replay_anew, clear_folders),
        cmocka_unit_test(a_budget_lets_batches_pass_that_come_while_the_learner_is_busy),
        cmocka_unit_test(operations_of_a_run_are_those_counted_by_hand),
        cmocka_unit_test(operations_of_networks_are_those_of_their_layers),
    };
    return cmocka_run_group_tests(tests, make_streams, leave_streams);
}
