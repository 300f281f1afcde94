/* The memory alone on many settings at once: the same results as one after another, for any number of threads. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "base/error.h"
#include "base/random.h"
#include "experiment/compare/memory_only.h"
#include "experiment/loop/schedule.h"

enum { SAMPLES = 1003, CLASSES = 9, TASKS = 3 };

/* A stream in three tasks of sizes that no batch divides; class 8 has test samples alone. */
struct made {
    uint64_t starts[SAMPLES + 1];
    uint32_t labels[3 * SAMPLES], tasks[SAMPLES];
    uint8_t parts[SAMPLES];
    ocdm__stream_table table;
};

static void make(struct made *made, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 1);
    uint64_t used = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t task = i % TASKS, first = 2 * task + (uint32_t)ocdm__random_below(&random, 3) / 2;
        made->starts[i] = used;
        made->tasks[i] = task;
        made->parts[i] = ocdm__random_below(&random, 10) == 0 ? OCDM__TEST : OCDM__TRAIN;
        made->labels[used++] = first;
        if (ocdm__random_below(&random, 3) == 0)
            made->labels[used++] = 7;
        if (made->parts[i] == OCDM__TEST)
            made->labels[used++] = 8;
    }
    made->starts[SAMPLES] = used;
    made->table = (ocdm__stream_table){.sample_count = SAMPLES,
                                       .class_count = CLASSES,
                                       .label_starts = made->starts,
                                       .labels = made->labels,
                                       .tasks = made->tasks,
                                       .parts = made->parts};
}

/* The plain way: one memory, task by task, batches that end with a task. */
static void expect_plain(const struct made *made, const ocdm__compare_point *point, const ocdm_options *options,
                         const ocdm__memory_result *result)
{
    ocdm__stream_order order;
    ocdm_memory *memory = NULL;
    ocdm_sample batch[64];
    size_t at = 0;
    assert_int_equal(OCDM_OK, ocdm__stream_order_make(&order, &made->table, OCDM__TRAIN, point->order, point->order_count,
                                                      options->seed, NULL));
    assert_int_equal(OCDM_OK, ocdm_memory_create(options, &memory, NULL));
    for (size_t task = 0; task < order.task_count; task++)
        while (at < order.ends[task]) {
            size_t count = 0;
            for (; count < options->batch && at < order.ends[task]; count++, at++) {
                uint32_t sample = order.samples[at];
                batch[count] = (ocdm_sample){.id = sample,
                                             .labels = made->labels + made->starts[sample],
                                             .label_count = (size_t)(made->starts[sample + 1] - made->starts[sample])};
            }
            assert_int_equal(OCDM_OK, ocdm_memory_update(memory, batch, count, NULL, NULL));
        }
    for (uint32_t c = 0; c < CLASSES; c++)
        assert_int_equal(ocdm_memory_kept(memory, c), result->kept[c]);
    assert_int_equal(ocdm_memory_size(memory), result->size);
    assert_true(ocdm_memory_distance(memory, OCDM_IN_PLAY) == result->distance);
    assert_true(ocdm_memory_distance(memory, OCDM_SEEN_EVER) == result->distance_seen);
    ocdm_memory_destroy(memory);
    ocdm__stream_order_clear(&order);
}

static const char *const methods[] = {"ocdm", "onlyone", "rs", "prs", "cbes", "max", "random"};
enum { METHODS = sizeof methods / sizeof *methods };
static const uint32_t all_tasks[TASKS] = {0, 1, 2};

static ocdm__compare_plan make_plan(uint64_t seeds)
{
    ocdm__compare_plan plan = {.methods = methods, .method_count = METHODS, .seed_count = seeds};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "20,50", "0,0.5", "all", all_tasks, TASKS, NULL));
    return plan;
}

static ocdm__compare_memories run_plan(const struct made *made, const ocdm__compare_plan *plan, unsigned threads)
{
    ocdm__compare_memories memories = {.count = 0};
    const ocdm__run_settings settings = ocdm__run_settings_default();
    ocdm__compare_memory_options options = {.settings = &settings, .curve_every = 7, .threads = threads};
    assert_int_equal(OCDM_OK, ocdm__compare_memories_run(&memories, plan, &made->table, &options, NULL, NULL));
    return memories;
}

TEST(memory_only_is_the_same_as_one_run_after_another)
{
    static struct made made;
    make(&made, 11);
    ocdm__compare_plan plan = make_plan(2);
    ocdm__compare_memories memories = run_plan(&made, &plan, 3);
    assert_int_equal(4 * 6 * 2 * METHODS, memories.count);
    for (size_t point = 0; point < plan.point_count; point++)
        for (size_t method = 0; method < METHODS; method++)
            for (uint64_t seed = 0; seed < 2; seed++) {
                ocdm_options options = ocdm_options_default();
                options.capacity = plan.points[point].memory;
                options.rho = plan.points[point].rho;
                options.policy = ocdm_policy_find(methods[method]);
                options.seed = seed;
                expect_plain(&made, &plan.points[point], &options, ocdm__compare_memory(&memories, &plan, point, method, seed));
            }
    ocdm__compare_memories_clear(&memories);
    ocdm__compare_plan_clear(&plan);
}

TEST(memory_only_does_not_depend_on_the_number_of_threads)
{
    static struct made made;
    make(&made, 12);
    ocdm__compare_plan plan = make_plan(3);
    ocdm__compare_memories one = run_plan(&made, &plan, 1), four = run_plan(&made, &plan, 4);
    assert_int_equal(one.count, four.count);
    for (size_t i = 0; i < one.count; i++) {
        const ocdm__memory_result *a = &one.results[i], *b = &four.results[i];
        assert_memory_equal(a->kept, b->kept, CLASSES * sizeof *a->kept);
        assert_true(a->distance == b->distance && a->distance_seen == b->distance_seen);
        assert_int_equal(a->curve_count, b->curve_count);
        for (size_t k = 0; k < a->curve_count; k++)
            assert_true(a->curve[k].step == b->curve[k].step && a->curve[k].distance == b->curve[k].distance);
    }
    ocdm__compare_memories_clear(&one);
    ocdm__compare_memories_clear(&four);
    ocdm__compare_plan_clear(&plan);
}

/* Every seventh step and the last of each task; the last moment is the result. */
TEST(memory_only_notes_the_ends_of_tasks_in_a_curve)
{
    static struct made made;
    make(&made, 13);
    ocdm__compare_plan plan = make_plan(1);
    ocdm__compare_memories memories = run_plan(&made, &plan, 2);
    for (size_t i = 0; i < memories.count; i++) {
        const ocdm__memory_result *result = &memories.results[i];
        size_t changes = 0;
        for (size_t k = 0; k + 1 < result->curve_count; k++) {
            bool last_of_task = result->curve[k].task != result->curve[k + 1].task;
            assert_true(result->curve[k].step % 7 == 0 || last_of_task);
            assert_true(result->curve[k].step < result->curve[k + 1].step);
            changes += last_of_task;
        }
        assert_int_equal(TASKS - 1, changes);
        assert_true(result->curve[result->curve_count - 1].distance_seen == result->distance_seen);
    }
    ocdm__compare_memories_clear(&memories);
    ocdm__compare_plan_clear(&plan);
}

/* Class 8 is in the test part alone: no memory lost it. */
TEST(memory_only_counts_classes_of_the_training_part_alone)
{
    static struct made made;
    make(&made, 14);
    ocdm__compare_plan plan = make_plan(1);
    ocdm__compare_memories memories = run_plan(&made, &plan, 2);
    const ocdm__memory_result *ocdm = ocdm__compare_memory(&memories, &plan, 0, 0, 0);
    assert_int_equal(0, ocdm->kept[8]);
    assert_int_equal(0, ocdm->balance.lost);
    assert_true(ocdm->balance.fewest > 0);
    uint32_t most = 0;
    for (size_t c = 0; c < CLASSES; c++)
        most = ocdm->kept[c] > most ? ocdm->kept[c] : most;
    assert_int_equal(most, ocdm->balance.most);
    ocdm__compare_memories_clear(&memories);
    ocdm__compare_plan_clear(&plan);
}

TEST(memory_only_refuses_what_needs_more)
{
    static struct made made;
    static const char *const names[] = {"gss", "cbrs", "finetune"};
    static const ocdm_status expected[] = {OCDM_UNKNOWN_NAME, OCDM_NOT_SINGLE_LABEL, OCDM_UNKNOWN_NAME};
    make(&made, 15);
    for (size_t i = 0; i < 3; i++) {
        ocdm__compare_plan plan = {.methods = names + i, .method_count = 1, .seed_count = 2};
        ocdm__compare_memories memories = {.count = 0};
        const ocdm__run_settings settings = ocdm__run_settings_default();
        ocdm__compare_memory_options options = {.settings = &settings, .threads = 2};
        assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "20", "0", NULL, NULL, 0, NULL));
        assert_int_equal(expected[i], ocdm__compare_memories_run(&memories, &plan, &made.table, &options, NULL, NULL));
        ocdm__compare_memories_clear(&memories);
        ocdm__compare_plan_clear(&plan);
    }
}

TEST(memory_only_stops_when_it_is_told_to)
{
    static struct made made;
    volatile sig_atomic_t stop = 15;
    ocdm__progress progress = {.stop = &stop};
    make(&made, 16);
    ocdm__compare_plan plan = make_plan(1);
    ocdm__compare_memories memories = {.count = 0};
    const ocdm__run_settings settings = ocdm__run_settings_default();
    ocdm__compare_memory_options options = {.settings = &settings, .threads = 2};
    assert_int_equal(OCDM_STOPPED, ocdm__compare_memories_run(&memories, &plan, &made.table, &options, &progress, NULL));
    ocdm__compare_memories_clear(&memories);
    ocdm__compare_plan_clear(&plan);
}

/* Quantiles between neighbours as NumPy's default has them. */
TEST(spread_interpolates_and_leaves_out_what_is_not_a_number)
{
    double values[] = {5, NAN, 1, 3, 2, 4}, none[] = {NAN, NAN};
    ocdm__spread spread = ocdm__spread_of(values, 6);
    assert_true(fabs(spread.low - 1.2) < 1e-12 && spread.median == 3 && fabs(spread.high - 4.8) < 1e-12);
    assert_true(isnan(ocdm__spread_of(none, 2).median));
    assert_true(isnan(ocdm__spread_of(none, 0).low));
}

/* A class that only test samples have was never there. */
TEST(class_that_was_never_seen_is_not_lost)
{
    ocdm__balance balance = {.classes = 0};
    ocdm__balance_add(&balance, 0, 0);
    assert_int_equal(balance.classes + balance.lost + balance.under, 0);
    ocdm__balance_add(&balance, 45, 60);
    ocdm__balance_add(&balance, 0, 3);
    ocdm__balance_add(&balance, 20, 20);
    assert_int_equal(balance.classes, 3);
    assert_int_equal(balance.lost, 1);
    assert_int_equal(balance.under, 1);
    assert_int_equal(balance.over, 1);
    assert_true(balance.fewest == 0 && balance.most == 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_only_is_the_same_as_one_run_after_another),
        cmocka_unit_test(memory_only_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(memory_only_notes_the_ends_of_tasks_in_a_curve),
        cmocka_unit_test(memory_only_counts_classes_of_the_training_part_alone),
        cmocka_unit_test(memory_only_refuses_what_needs_more),
        cmocka_unit_test(memory_only_stops_when_it_is_told_to),
        cmocka_unit_test(spread_interpolates_and_leaves_out_what_is_not_a_number),
        cmocka_unit_test(class_that_was_never_seen_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
