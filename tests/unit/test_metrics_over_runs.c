/* Metrics over several evaluations and several seeds: forgetting, means, deviations, intervals; and the texts of formulas.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../test.h"
#include "../golden/metrics_intervals.h"
#include "base/random.h"
#include "metrics/intervals.h"
#include "metrics/metrics.h"

/* Relative to the larger of 1 and the value. */
static void expect_near(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("expected %.17g, not %.17g", expected, actual);
}

/* ---- forgetting ----------------------------------------------------------------------------------------------------- */

/* Task 0 was best in the middle, task 1 ends better than it began, task 2 has nothing to forget yet. */
TEST(forgetting_is_the_best_earlier_value_minus_the_final_one)
{
    static const double map[] = {50, NAN, NAN, 60, 40, NAN, 35, 42, 70};
    double forgetting[3];
    expect_near((25.0 - 2.0) / 2, ocdm__forgetting(map, 3, 3, forgetting));
    expect_near(25, forgetting[0]);
    expect_near(-2, forgetting[1]);
    assert_true(isnan(forgetting[2]));
}

TEST(forgetting_is_nan_when_there_was_no_earlier_evaluation)
{
    static const double map[] = {50, 60};
    double forgetting[2] = {9, 9};
    assert_true(isnan(ocdm__forgetting(map, 1, 2, forgetting)));
    assert_true(isnan(forgetting[0]) && isnan(forgetting[1]));
    assert_true(isnan(ocdm__forgetting(map, 0, 2, forgetting)));
    assert_true(isnan(ocdm__forgetting(map, 2, 0, forgetting)));
}

/* A task whose classes have no positive at the end has no final value; the other task's forgetting stands. */
TEST(forgetting_leaves_out_a_task_without_a_final_value)
{
    static const double map[] = {50, 20, NAN, 30, NAN, 15};
    double forgetting[2];
    expect_near(15, ocdm__forgetting(map, 3, 2, forgetting));
    assert_true(isnan(forgetting[0]));
    expect_near(15, forgetting[1]);
}

TEST(mean_of_known_leaves_out_what_is_not_a_number)
{
    static const double values[] = {NAN, 10, 40, NAN, 25};
    expect_near(25, ocdm__mean_of_known(values, 5));
    assert_true(isnan(ocdm__mean_of_known(values, 1)));
    assert_true(isnan(ocdm__mean_of_known(values, 0)));
}

/* ---- intervals ------------------------------------------------------------------------------------------------------ */

TEST(t_quantile_equals_scipy)
{
    for (size_t i = 0; i < sizeof golden_quantiles / sizeof *golden_quantiles; i++)
        expect_near(golden_quantiles[i].value, ocdm__t_of_95_percent(golden_quantiles[i].degrees));
    assert_true(isnan(ocdm__t_of_95_percent(0)));
}

/* tan(0.475 pi) and 2 a sqrt(2 / (1 - (2 a)^2)), a = 0.475: one and two degrees have closed forms. */
TEST(t_quantile_equals_the_closed_forms_to_twelve_digits)
{
    double one = tan(0.475 * 3.14159265358979323846), two = 0.95 * sqrt(2 / (1 - 0.95 * 0.95));
    assert_true(fabs(ocdm__t_of_95_percent(1) / one - 1) < 1e-12);
    assert_true(fabs(ocdm__t_of_95_percent(2) / two - 1) < 1e-12);
}

/* Also across the place where the series hands over to the expansion. */
TEST(t_quantile_falls_towards_the_normal_one)
{
    for (size_t degrees = 2; degrees < 1200; degrees++)
        assert_true(ocdm__t_of_95_percent(degrees) < ocdm__t_of_95_percent(degrees - 1));
    expect_near(1.959963984540054, ocdm__t_of_95_percent((size_t)1 << 40));
}

/* The expansion beyond 1000 degrees continues the series below: a cubic through the last four of those meets the first of
 * these. */
TEST(expansion_of_the_t_quantile_continues_the_series_to_twelve_digits)
{
    double next = 4 * ocdm__t_of_95_percent(1000) - 6 * ocdm__t_of_95_percent(999) + 4 * ocdm__t_of_95_percent(998) -
                  ocdm__t_of_95_percent(997);
    assert_true(fabs(ocdm__t_of_95_percent(1001) - next) < 3e-13);
}

TEST(range_quantile_equals_scipy)
{
    for (size_t i = 0; i < sizeof golden_ranges / sizeof *golden_ranges; i++) {
        const struct golden_range *golden = &golden_ranges[i];
        assert_true(fabs(ocdm__range_of_95_percent(golden->count, golden->degrees) / golden->value - 1) < 1e-7);
    }
    assert_true(isnan(ocdm__range_of_95_percent(1, 5)) && isnan(ocdm__range_of_95_percent(3, 0)));
}

TEST(least_difference_of_two_methods_is_the_paired_interval)
{
    for (size_t i = 0; i < sizeof golden_pairs / sizeof *golden_pairs; i++) {
        const struct golden_pairs *golden = &golden_pairs[i];
        double values[64];
        memcpy(values, golden->a, golden->count * sizeof *values);
        memcpy(values + golden->count, golden->b, golden->count * sizeof *values);
        double least = ocdm__least_significant_difference(values, 2, golden->count);
        assert_true(fabs(least / ((golden->high - golden->low) / 2) - 1) < 1e-7);
    }
}

/* A standard normal number, by Box and Muller. */
static double normal(ocdm__random *random)
{
    double u = ((double)(ocdm__random_next(random) >> 11) + 0.5) * 0x1p-53;
    double v = (double)(ocdm__random_next(random) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* The effect of the seed is larger than the difference between methods, as in real runs. */
static void draw_equal_methods(double *values, size_t methods, size_t seeds, ocdm__random *random)
{
    for (size_t seed = 0; seed < seeds; seed++) {
        double of_all = 3 * normal(random);
        for (size_t method = 0; method < methods; method++)
            values[method * seeds + seed] = 40 + of_all + normal(random);
    }
}

/* The share of trials in which the range of the means exceeds the least significant difference: in which some of the equal
 * methods would be called worse than the best. The quantile is taken once: it does not depend on the values. */
static double false_alarms(size_t methods, size_t seeds, size_t trials)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_base(methods, OCDM__FOR_BENCH), seeds);
    double values[7 * 10], alarms = 0, range = ocdm__range_of_95_percent(methods, (methods - 1) * (seeds - 1));
    for (size_t trial = 0; trial < trials; trial++) {
        double low = INFINITY, high = -INFINITY;
        draw_equal_methods(values, methods, seeds, &random);
        for (size_t method = 0; method < methods; method++) {
            double mean = ocdm__summarise(values + method * seeds, seeds).mean;
            low = fmin(low, mean);
            high = fmax(high, mean);
        }
        alarms += high - low > range * ocdm__paired_error(values, methods, seeds);
    }
    return alarms / (double)trials;
}

TEST(equal_methods_are_told_apart_in_five_percent)
{
    static const size_t cases[][2] = {{2, 3}, {7, 3}, {7, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share = false_alarms(cases[i][0], cases[i][1], 20000);
        if (!(share > 0.04 && share < 0.06))
            fail_msg("%zu methods, %zu seeds: %g", cases[i][0], cases[i][1], share);
    }
}

TEST(summaries_of_pairs_equal_scipy)
{
    for (size_t i = 0; i < sizeof golden_pairs / sizeof *golden_pairs; i++) {
        const struct golden_pairs *golden = &golden_pairs[i];
        ocdm__summary single = ocdm__summarise(golden->a, golden->count);
        ocdm__summary pairs = ocdm__summarise_pairs(golden->a, golden->b, golden->count);
        assert_int_equal(single.count, golden->count);
        assert_int_equal(pairs.count, golden->count);
        expect_near(golden->a_mean, single.mean);
        expect_near(golden->a_deviation, single.deviation);
        expect_near(golden->mean, pairs.mean);
        expect_near(golden->deviation, pairs.deviation);
        expect_near(golden->low, pairs.low);
        expect_near(golden->high, pairs.high);
    }
}

TEST(summary_has_no_interval_when_there_is_one_number)
{
    static const double a[] = {30}, b[] = {28};
    ocdm__summary summary = ocdm__summarise_pairs(a, b, 1);
    assert_int_equal(summary.count, 1);
    expect_near(2, summary.mean);
    assert_true(isnan(summary.deviation) && isnan(summary.low) && isnan(summary.high));
    summary = ocdm__summarise(a, 0);
    assert_int_equal(summary.count, 0);
    assert_true(isnan(summary.mean) && isnan(summary.deviation) && isnan(summary.low) && isnan(summary.high));
}

TEST(summary_is_exact_when_all_numbers_are_equal)
{
    static const double values[] = {34.5, 34.5, 34.5};
    ocdm__summary summary = ocdm__summarise(values, 3);
    assert_true(summary.mean == 34.5 && summary.deviation == 0 && summary.low == 34.5 && summary.high == 34.5);
}

TEST(summary_is_nan_when_a_number_is)
{
    static const double values[] = {1, NAN, 3};
    ocdm__summary summary = ocdm__summarise(values, 3);
    assert_int_equal(summary.count, 3);
    assert_true(isnan(summary.mean) && isnan(summary.deviation) && isnan(summary.low) && isnan(summary.high));
}

/* ---- formulas ------------------------------------------------------------------------------------------------------- */

TEST(every_metric_has_an_explanation)
{
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++) {
        const char *name = ocdm__metric_name((ocdm_metric)i);
        HOLDS(name, ocdm__explain(name) != NULL);
    }
    assert_non_null(ocdm__explain("forgetting"));
    assert_null(ocdm__explain("map"));
    assert_null(ocdm__explain(""));
}

TEST(explanations_are_plain_lines_under_different_names)
{
    size_t count = 0;
    for (const ocdm__explanation *at; (at = ocdm__explanation_at(count)) != NULL; count++) {
        HOLDS(at->name, ocdm__explain(at->name) == at); /* the first of its name */
        HOLDS(at->name, strlen(at->formula) > 10);
        for (const char *c = at->formula; *c != '\0'; c++)
            HOLDS(at->name, *c >= ' ' && *c <= '~');
    }
    assert_true(count > OCDM__METRIC_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgetting_is_the_best_earlier_value_minus_the_final_one),
        cmocka_unit_test(forgetting_is_nan_when_there_was_no_earlier_evaluation),
        cmocka_unit_test(forgetting_leaves_out_a_task_without_a_final_value),
        cmocka_unit_test(mean_of_known_leaves_out_what_is_not_a_number),
        cmocka_unit_test(t_quantile_equals_scipy),
        cmocka_unit_test(t_quantile_equals_the_closed_forms_to_twelve_digits),
        cmocka_unit_test(t_quantile_falls_towards_the_normal_one),
        cmocka_unit_test(expansion_of_the_t_quantile_continues_the_series_to_twelve_digits),
        cmocka_unit_test(range_quantile_equals_scipy),
        cmocka_unit_test(least_difference_of_two_methods_is_the_paired_interval),
        cmocka_unit_test(equal_methods_are_told_apart_in_five_percent),
        cmocka_unit_test(summaries_of_pairs_equal_scipy),
        cmocka_unit_test(summary_has_no_interval_when_there_is_one_number),
        cmocka_unit_test(summary_is_exact_when_all_numbers_are_equal),
        cmocka_unit_test(summary_is_nan_when_a_number_is),
        cmocka_unit_test(every_metric_has_an_explanation),
        cmocka_unit_test(explanations_are_plain_lines_under_different_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
