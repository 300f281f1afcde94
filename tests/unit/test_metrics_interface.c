/* ocdm/metrics.h: what it returns is what src/metrics computes, which is tested elsewhere; refusals; safe with NULL and empty
 * arguments. */
#include "../test.h"
#include "ocdm/metrics.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/metrics_test_sets.h"

#define MOST_CLASSES 64
#define METRICS 14

static void near(const char *where, double expected, double actual)
{
    if (!(isnan(expected) ? isnan(actual) : fabs(expected - actual) <= 1e-9))
        fail_msg("%s: %.17g, should be %.17g", where, actual, expected);
}

static ocdm_test_set set_of(const struct golden_case *golden)
{
    return (ocdm_test_set){.size = sizeof(ocdm_test_set),
                           .logits = golden->logits,
                           .samples = golden->samples,
                           .classes = golden->classes,
                           .label_starts = golden->starts,
                           .labels = golden->labels};
}

/* One column at a time, as flags instead of lists. */
static void check_column(const struct golden_case *golden, size_t column)
{
    float *scores = calloc(golden->samples + 1, sizeof *scores);
    uint8_t *positive = calloc(golden->samples + 1, 1);
    for (size_t i = 0; i < golden->samples; i++) {
        scores[i] = golden->logits[i * golden->classes + column];
        for (uint64_t j = golden->starts[i]; j < golden->starts[i + 1]; j++)
            if (golden->labels[j] == column)
                positive[i] = (uint8_t)(1 + j % 255);
    }
    double ap = 77;
    assert_int_equal(ocdm_average_precision(scores, positive, golden->samples, &ap, NULL), OCDM_OK);
    near(golden->name, golden->scores[column].ap, ap);
    free(scores);
    free(positive);
}

static bool is_of_rankings(int metric)
{
    return metric == OCDM_RANKING_LOSS || metric == OCDM_COVERAGE || metric == OCDM_ONE_ERROR;
}

TEST(metrics_equal_scikit_learn)
{
    for (size_t i = 0; i < sizeof golden_cases / sizeof *golden_cases; i++) {
        const struct golden_case *golden = &golden_cases[i];
        ocdm_class_score scores[MOST_CLASSES];
        ocdm_test_set set = set_of(golden);
        HOLDS(golden->name, ocdm_score_classes(&set, scores, NULL) == OCDM_OK);
        for (size_t c = 0; c < golden->classes; c++) {
            HOLDS(golden->name, scores[c].hits == golden->scores[c].hits);
            near(golden->name, golden->scores[c].ap, scores[c].ap);
            check_column(golden, c);
        }
        double values[METRICS + 1];
        HOLDS(golden->name, ocdm_measure(&set, NULL, 0, values, METRICS + 1, NULL) == OCDM_OK);
        assert_true(isnan(values[METRICS]));
        for (int metric = 0; metric < METRICS; metric++) {
            near(golden->name, golden->averages[0].value[metric], values[metric]);
            near(golden->name, is_of_rankings(metric) ? (double)NAN : golden->averages[0].value[metric],
                 ocdm_average((ocdm_metric)metric, scores, golden->classes));
        }
    }
}

TEST(a_group_is_averaged_as_if_it_were_alone)
{
    const ocdm_class_score scores[] = {
        {4, 5, 2, 9, 0.5, 0.6, 0.1}, {0, 3, 0, 9, NAN, NAN, NAN}, {2, 2, 2, 9, 1, 1, 0.2}, {6, 1, 1, 9, 0.25, 0.4, 0.3}};
    const ocdm_class_score alone[] = {{4, 5, 2, 9, 0.5, 0.6, 0.1}, {2, 2, 2, 9, 1, 1, 0.2}};
    const uint8_t group[] = {1, 1, 1, 2};
    for (int metric = 0; metric < METRICS; metric++)
        near("group", ocdm_average((ocdm_metric)metric, alone, 2),
             ocdm_average_group((ocdm_metric)metric, scores, 4, group, 1));
    near("no class", NAN, ocdm_average_group(OCDM_CF1, scores, 4, group, 9));
    near("CF1", 2 * 0.7 * 0.75 / 1.45, ocdm_average(OCDM_CF1, alone, 2));
    near("mAP", 0.75, ocdm_average(OCDM_MAP, alone, 2));
    near("AUC", 0.8, ocdm_average(OCDM_AUC, alone, 2));
    near("hamming", (5 + 0) / 18.0, ocdm_average(OCDM_HAMMING, alone, 2));
    near("ECE", 0.15, ocdm_average(OCDM_ECE, alone, 2));
}

TEST(names_are_those_of_the_tables)
{
    static const char *const names[] = {"CF1", "OF1", "mAP",          "CP",       "CR",      "CF1_macro", "OP",
                                        "OR",  "AUC", "ranking_loss", "coverage", "hamming", "one_error", "ECE"};
    for (int i = 0; i < METRICS; i++)
        assert_string_equal(ocdm_metric_name((ocdm_metric)i), names[i]);
    assert_null(ocdm_metric_name((ocdm_metric)METRICS));
    assert_null(ocdm_metric_name((ocdm_metric)-1));
}

TEST(forgetting_is_the_best_earlier_value_minus_the_last)
{
    const double map[] = {50, NAN, NAN, 60, 70, NAN, 40, 80, 30};
    double forgetting[3], mean;
    assert_int_equal(ocdm_forgetting(map, 3, 3, forgetting, &mean, NULL), OCDM_OK);
    near("first", 20, forgetting[0]);
    near("second", -10, forgetting[1]);
    near("last", NAN, forgetting[2]);
    near("mean", 5, mean);
    mean = 0;
    assert_int_equal(ocdm_forgetting(map, 3, 3, NULL, &mean, NULL), OCDM_OK);
    near("mean alone", 5, mean);
    assert_int_equal(ocdm_forgetting(NULL, 3, 3, NULL, &mean, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_forgetting(map, 3, 3, forgetting, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_forgetting(NULL, 0, 0, NULL, &mean, NULL), OCDM_OK);
    near("nothing", NAN, mean);
}

/* Task 1 is tested from the first evaluation on, as where tasks are blurred. */
TEST(transfer_is_what_other_tasks_add)
{
    const double map[] = {50, 20, NAN, 60, 70, NAN, 40, 80, 30};
    const double ahead[] = {NAN, 15, 25}, fresh[] = {9, 10, 30};
    double backward = 0, forward = 0;
    assert_int_equal(ocdm_transfer(map, 3, 3, ahead, fresh, &backward, &forward, NULL), OCDM_OK);
    near("backward", ((40 - 50) + (80 - 20)) / 2.0, backward);
    near("forward", ((15 - 10) + (25 - 30)) / 2.0, forward);
    assert_int_equal(ocdm_transfer(map, 3, 3, NULL, NULL, &backward, &forward, NULL), OCDM_OK);
    near("no forward", NAN, forward);
    assert_int_equal(ocdm_transfer(map, 1, 1, NULL, NULL, &backward, &forward, NULL), OCDM_OK);
    near("one task", NAN, backward);
    assert_int_equal(ocdm_transfer(map, 3, 3, ahead, NULL, &backward, &forward, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_transfer(map, 3, 3, NULL, NULL, NULL, &forward, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_transfer(NULL, 3, 3, NULL, NULL, &backward, &forward, NULL), OCDM_BAD_ARGUMENT);
}

/* Two classes of four samples, of which two carry class 0: over 0.25 both are found, with one false alarm. */
TEST(threshold_decides_what_is_predicted)
{
    const float logits[] = {3, -1, 1, -2, 0.5f, -3, 0, -4};
    const uint64_t starts[] = {0, 1, 1, 2, 2};
    const uint32_t labels[] = {0, 0};
    ocdm_test_set set = {sizeof set, logits, 4, 2, starts, labels, 0};
    ocdm_class_score scores[2];
    float threshold = 77;
    assert_int_equal(ocdm_best_threshold(&set, &threshold, NULL), OCDM_OK);
    assert_true(threshold == 0.25f);
    set.threshold = 2;
    assert_int_equal(ocdm_score_classes(&set, scores, NULL), OCDM_OK);
    assert_int_equal(scores[0].predicted, 1);
    set.size = offsetof(ocdm_test_set, threshold); /* a program that was built with the first version of the struct */
    assert_int_equal(ocdm_score_classes(&set, scores, NULL), OCDM_OK);
    assert_int_equal(scores[0].predicted, 3);
    assert_int_equal(ocdm_best_threshold(&set, NULL, NULL), OCDM_BAD_ARGUMENT);
}

TEST(nonsense_is_refused)
{
    const float logits[] = {1, -1}, bad[] = {1, NAN};
    const uint64_t starts[] = {0, 1}, falling[] = {1, 0};
    const uint32_t labels[] = {1}, beyond[] = {2};
    const ocdm_test_set good = {sizeof good, logits, 1, 2, starts, labels, 0};
    ocdm_class_score scores[2] = {{.positives = 77}, {.positives = 77}};
    ocdm_test_set wrong[] = {good, good, good, good, good, good, good};
    wrong[0].size = 8;
    wrong[1].logits = NULL;
    wrong[2].label_starts = NULL;
    wrong[3].labels = NULL;
    wrong[4].logits = bad;
    wrong[5].label_starts = falling;
    wrong[6].labels = beyond;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ocdm_error error = {.status = OCDM_OK};
        assert_int_equal(ocdm_score_classes(&wrong[i], scores, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
        assert_int_equal(scores[0].positives, 77);
    }
    assert_int_equal(ocdm_score_classes(NULL, scores, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_score_classes(&good, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_score_classes(&good, scores, NULL), OCDM_OK);
    double ap = 7;
    const uint8_t positive[] = {1, 0};
    assert_int_equal(ocdm_average_precision(NULL, positive, 2, &ap, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_average_precision(logits, NULL, 2, &ap, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_average_precision(logits, positive, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_average_precision(bad, positive, 2, &ap, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_average_precision(logits, positive, SIZE_MAX, &ap, NULL), OCDM_LIMIT);
    assert_true(ap == 7);
    assert_int_equal(ocdm_average_precision(NULL, NULL, 0, &ap, NULL), OCDM_OK);
    near("no samples", NAN, ap);
    near("no scores", NAN, ocdm_average(OCDM_CF1, NULL, 2));
    near("no metric", NAN, ocdm_average((ocdm_metric)METRICS, scores, 2));
    double value = 7;
    assert_int_equal(ocdm_measure(&wrong[0], NULL, 0, &value, 1, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_measure(&wrong[4], NULL, 0, &value, 1, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_measure(&good, NULL, 0, NULL, 1, NULL), OCDM_BAD_ARGUMENT);
    assert_true(value == 7);
    near("no group", NAN, ocdm_average_group(OCDM_CF1, scores, 2, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_equal_scikit_learn),
        cmocka_unit_test(a_group_is_averaged_as_if_it_were_alone),
        cmocka_unit_test(names_are_those_of_the_tables),
        cmocka_unit_test(forgetting_is_the_best_earlier_value_minus_the_last),
        cmocka_unit_test(transfer_is_what_other_tasks_add),
        cmocka_unit_test(threshold_decides_what_is_predicted),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
