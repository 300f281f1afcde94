/* Counts and multi-label ratios of streams small enough to work out by hand. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "stream/statistics.h"

#define NO_TASK UINT64_MAX

/* Adds a training sample whose labels are the digits of `labels`. */
static void add(ocdm__statistics *statistics, uint64_t task, const char *labels)
{
    uint32_t numbers[32];
    ocdm__counted_sample sample = {.labels = numbers, .has_task = task != NO_TASK, .task = task};
    for (; labels[sample.label_count] != '\0'; sample.label_count++)
        numbers[sample.label_count] = (uint32_t)(labels[sample.label_count] - '0');
    assert_int_equal(ocdm__statistics_add(statistics, &sample, NULL), OCDM_OK);
}

static void assert_near(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 1e-9))
        fail_msg("expected %.12g, not %.12g", expected, actual);
}

TEST(amlr_is_the_mean_over_classes_that_occur)
{
    ocdm__statistics statistics = {0};
    add(&statistics, 0, "0");
    add(&statistics, 0, "01");
    add(&statistics, 0, "01");
    add(&statistics, 0, "0");
    add(&statistics, 0, "5"); /* 2, 3 and 4 never occur */
    assert_int_equal(ocdm__tally_class_count(&statistics.total), 3);
    assert_near(50, ocdm__tally_mlr(&statistics.total, 0));
    assert_near(100, ocdm__tally_mlr(&statistics.total, 1));
    assert_near(0, ocdm__tally_mlr(&statistics.total, 5));
    assert_true(isnan(ocdm__tally_mlr(&statistics.total, 3)));
    assert_true(isnan(ocdm__tally_mlr(&statistics.total, 1000000)));
    assert_near(50, ocdm__tally_amlr(&statistics.total));
    ocdm__statistics_clear(&statistics);
}

/* Class 0 is in both tasks: its total ratio is that of all its samples, not the mean of the tasks'. */
TEST(amlr_in_total_takes_a_class_over_all_tasks)
{
    ocdm__statistics statistics = {0};
    add(&statistics, 7, "01");
    add(&statistics, 7, "0");
    add(&statistics, 2, "0");
    add(&statistics, 2, "0");
    assert_int_equal(statistics.task_count, 2);
    assert_int_equal(statistics.tasks[0].task, 2);
    assert_int_equal(statistics.tasks[1].task, 7);
    assert_near(0, ocdm__tally_amlr(&statistics.tasks[0]));
    assert_near(75, ocdm__tally_amlr(&statistics.tasks[1]));
    assert_near(62.5, ocdm__tally_amlr(&statistics.total));
    assert_int_equal(ocdm__tally_class_count(&statistics.tasks[0]), 1);
    assert_int_equal(ocdm__tally_class_count(&statistics.tasks[1]), 2);
    ocdm__statistics_clear(&statistics);
}

TEST(repeated_labels_count_once)
{
    ocdm__statistics statistics = {0};
    add(&statistics, NO_TASK, "333");
    add(&statistics, NO_TASK, "3131");
    add(&statistics, NO_TASK, "3");
    assert_int_equal(ocdm__tally_class(&statistics.total, 3).count, 3);
    assert_int_equal(ocdm__tally_class(&statistics.total, 3).shared, 1);
    assert_int_equal(ocdm__tally_class(&statistics.total, 1).count, 1);
    assert_int_equal(statistics.label_count, 4);
    assert_int_equal(statistics.samples[1], 2);
    assert_int_equal(statistics.samples[2], 1);
    ocdm__statistics_clear(&statistics);
}

TEST(test_and_unlabelled_samples_count_as_samples_only)
{
    ocdm__statistics statistics = {0};
    static const uint32_t labels[2] = {0, 1};
    ocdm__counted_sample test = {.labels = labels, .label_count = 2, .test = true, .has_task = true, .task = 4};
    assert_int_equal(ocdm__statistics_add(&statistics, &test, NULL), OCDM_OK);
    add(&statistics, 4, "");
    assert_int_equal(statistics.total.train, 1);
    assert_int_equal(statistics.total.test, 1);
    assert_int_equal(statistics.tasks[0].train, 1);
    assert_int_equal(statistics.tasks[0].test, 1);
    assert_int_equal(statistics.samples[0], 1);
    assert_int_equal(statistics.label_count, 0);
    assert_int_equal(ocdm__tally_class_count(&statistics.total), 0);
    assert_true(isnan(ocdm__tally_amlr(&statistics.total)));
    ocdm__statistics_clear(&statistics);
}

TEST(samples_without_a_task_count_in_total_only)
{
    ocdm__statistics statistics = {0};
    add(&statistics, NO_TASK, "12");
    add(&statistics, 0, "1");
    assert_int_equal(statistics.without_task, 1);
    assert_int_equal(statistics.task_count, 1);
    assert_int_equal(statistics.tasks[0].train, 1);
    assert_int_equal(statistics.total.train, 2);
    assert_near(0, ocdm__tally_amlr(&statistics.tasks[0]));
    assert_near(75, ocdm__tally_amlr(&statistics.total));
    ocdm__statistics_clear(&statistics);
}

TEST(many_labels_share_the_last_step)
{
    ocdm__statistics statistics = {0};
    add(&statistics, 0, "0123456");
    add(&statistics, 0, "01234567");
    add(&statistics, 0, "0123456789");
    assert_int_equal(statistics.samples[OCDM__LABEL_STEPS - 2], 1);
    assert_int_equal(statistics.samples[OCDM__LABEL_STEPS - 1], 2);
    assert_int_equal(statistics.label_count, 25);
    ocdm__statistics_clear(&statistics);
}

/* Counts 1, 2, 3, 4, 5: both bounds themselves are moderate. */
TEST(groups_and_range_follow_the_counts)
{
    ocdm__statistics statistics = {0};
    uint64_t smallest = 9, largest = 9;
    ocdm__tally_range(&statistics.total, &smallest, &largest);
    assert_int_equal(smallest + largest, 0);
    static const char *const samples[] = {"12345", "2345", "345", "45", "5"};
    for (uint64_t i = 0; i < 5; i++)
        add(&statistics, i, samples[i]);
    ocdm__class_groups groups = ocdm__tally_groups(&statistics.total, 4, 2);
    assert_int_equal(groups.majority, 1);
    assert_int_equal(groups.moderate, 3);
    assert_int_equal(groups.minority, 1);
    groups = ocdm__tally_groups(&statistics.total, 0, 0);
    assert_int_equal(groups.majority, 5);
    assert_int_equal(groups.moderate + groups.minority, 0);
    ocdm__tally_range(&statistics.total, &smallest, &largest);
    assert_int_equal(smallest, 1);
    assert_int_equal(largest, 5);
    ocdm__statistics_clear(&statistics);
}

/* The first thousand tasks arrive in decreasing order, each to be inserted before the others; the rest would take a minute so.
 */
TEST(tasks_are_sorted_and_limited)
{
    ocdm__statistics statistics = {0};
    ocdm_error error;
    ocdm__counted_sample sample = {.test = true, .has_task = true};
    for (uint64_t i = 0; i < OCDM__MAX_TASKS; i++) {
        sample.task = 1 + 3 * (i < 1000 ? 999 - i : i);
        assert_int_equal(ocdm__statistics_add(&statistics, &sample, NULL), OCDM_OK);
    }
    for (size_t i = 1; i < OCDM__MAX_TASKS; i++)
        assert_true(statistics.tasks[i - 1].task < statistics.tasks[i].task);
    assert_int_equal(ocdm__statistics_add(&statistics, &sample, NULL), OCDM_OK);
    assert_int_equal(statistics.task_count, OCDM__MAX_TASKS);
    sample.task = 0;
    assert_int_equal(ocdm__statistics_add(&statistics, &sample, &error), OCDM_LIMIT);
    assert_non_null(strstr(error.message, "tasks"));
    ocdm__statistics_clear(&statistics);
    assert_int_equal(statistics.task_count, 0);
}

/* Against sorting: with k classes that occur, at most k/3 are above the one at place k/3, and at most k/3 below its mirror. */
TEST(terciles_divide_the_classes_that_occur)
{
    static const struct {
        uint64_t counts[8], high, low;
    } cases[] = {
        {{9, 5, 1}, 5, 5},          {{30, 20, 10, 0, 0}, 20, 20},
        {{7, 6, 5, 4, 3, 2}, 5, 4}, {{8, 7, 6, 5, 4, 3, 2, 1}, 6, 3},
        {{5, 5, 5, 5, 5, 5}, 5, 5}, {{600, 599, 1, 1, 1, 1}, 1, 1},
        {{UINT64_MAX, 3, 1}, 3, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bounds[2];
        ocdm__tercile_bounds(&(ocdm__class_counts){cases[i].counts, sizeof(uint64_t), 8}, bounds);
        assert_int_equal(bounds[0], cases[i].high);
        assert_int_equal(bounds[1], cases[i].low);
    }
}

/* The paper's streams all have a class with more than 600 samples. */
TEST(bounds_are_the_papers_unless_no_class_is_a_majority)
{
    static const struct {
        uint64_t counts[4];
        bool terciles;
    } cases[] = {{{601, 5, 3, 1}, false}, {{600, 5, 3, 1}, true}, {{9, 8, 0, 0}, false}, {{9, 8, 7, 0}, true}, {{0}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bounds[2];
        bool terciles = ocdm__usual_bounds(&(ocdm__class_counts){cases[i].counts, sizeof(uint64_t), 4}, bounds);
        assert_int_equal(terciles, cases[i].terciles);
        if (!terciles) {
            assert_int_equal(bounds[0], 600);
            assert_int_equal(bounds[1], 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amlr_is_the_mean_over_classes_that_occur),
        cmocka_unit_test(amlr_in_total_takes_a_class_over_all_tasks),
        cmocka_unit_test(repeated_labels_count_once),
        cmocka_unit_test(test_and_unlabelled_samples_count_as_samples_only),
        cmocka_unit_test(samples_without_a_task_count_in_total_only),
        cmocka_unit_test(many_labels_share_the_last_step),
        cmocka_unit_test(groups_and_range_follow_the_counts),
        cmocka_unit_test(tasks_are_sorted_and_limited),
        cmocka_unit_test(terciles_divide_the_classes_that_occur),
        cmocka_unit_test(bounds_are_the_papers_unless_no_class_is_a_majority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
