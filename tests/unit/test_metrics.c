/* Scores of test sets: equal to scikit-learn's on its golden values, by hand where a case is small, and refusals. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "../golden/metrics_test_sets.h"
#include "metrics/metrics.h"

#define MOST_CLASSES 64

static bool near(double expected, double actual)
{
    return isnan(expected) ? isnan(actual) : fabs(expected - actual) <= 1e-9;
}

static void expect_near(const char *where, const char *what, double expected, double actual)
{
    if (!near(expected, actual))
        fail_msg("%s: %s is %.17g, should be %.17g", where, what, actual, expected);
}

static void same_averages(const char *where, const ocdm__averages *expected, const ocdm__averages *actual)
{
    HOLDS(where, expected->classes == actual->classes);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        expect_near(where, ocdm__metric_name((ocdm_metric)i), expected->value[i], actual->value[i]);
}

static ocdm__test_set set_of(const struct golden_case *golden)
{
    return (ocdm__test_set){golden->logits, golden->samples, golden->classes, golden->starts, golden->labels, NULL, 0};
}

TEST(class_scores_equal_scikit_learn)
{
    for (size_t i = 0; i < sizeof golden_cases / sizeof *golden_cases; i++) {
        const struct golden_case *golden = &golden_cases[i];
        ocdm__class_score scores[MOST_CLASSES];
        ocdm__test_set set = set_of(golden);
        HOLDS(golden->name, ocdm__score_classes(&set, scores, NULL) == OCDM_OK);
        for (size_t c = 0; c < golden->classes; c++) {
            HOLDS(golden->name, scores[c].positives == golden->scores[c].positives);
            HOLDS(golden->name, scores[c].predicted == golden->scores[c].predicted);
            HOLDS(golden->name, scores[c].hits == golden->scores[c].hits);
            HOLDS(golden->name, scores[c].samples == golden->scores[c].samples);
            expect_near(golden->name, "AP", golden->scores[c].ap, scores[c].ap);
            expect_near(golden->name, "AUC", golden->scores[c].auc, scores[c].auc);
            expect_near(golden->name, "ECE", golden->scores[c].ece, scores[c].ece);
        }
    }
}

TEST(averages_equal_scikit_learn_in_total_and_by_group)
{
    uint8_t group[MOST_CLASSES];
    for (size_t c = 0; c < MOST_CLASSES; c++)
        group[c] = (uint8_t)(c % GOLDEN_GROUPS);
    for (size_t i = 0; i < sizeof golden_cases / sizeof *golden_cases; i++) {
        const struct golden_case *golden = &golden_cases[i];
        ocdm__class_score scores[MOST_CLASSES];
        ocdm__test_set set = set_of(golden);
        HOLDS(golden->name, ocdm__score_classes(&set, scores, NULL) == OCDM_OK);
        ocdm__averages averages;
        HOLDS(golden->name, ocdm__measure(&set, scores, NULL, 0, &averages, NULL) == OCDM_OK);
        same_averages(golden->name, &golden->averages[0], &averages);
        for (uint8_t g = 0; g < GOLDEN_GROUPS; g++) {
            HOLDS(golden->name, ocdm__measure(&set, scores, group, g, &averages, NULL) == OCDM_OK);
            same_averages(golden->name, &golden->averages[1 + g], &averages);
        }
    }
}

/* Scores 3, 2, 2, 1; the carriers are the first, one of the tied two, and the last: thresholds at 1, 3 and 4 samples. */
TEST(average_precision_takes_tied_scores_as_one_threshold)
{
    static const float logits[] = {2, 3, 1, 2};
    static const uint64_t starts[] = {0, 0, 1, 2, 3};
    static const uint32_t labels[] = {0, 0, 0};
    ocdm__test_set set = {logits, 4, 1, starts, labels, NULL, 0};
    ocdm__class_score score;
    assert_int_equal(ocdm__score_classes(&set, &score, NULL), OCDM_OK);
    expect_near("by hand", "AP", (1.0 + 2.0 / 3 + 3.0 / 4) / 3, score.ap);
}

TEST(infinite_logits_rank_first_and_last)
{
    static const float logits[] = {-INFINITY, 3.4e38f, INFINITY, -3.4e38f};
    static const uint64_t starts[] = {0, 1, 1, 2, 2};
    static const uint32_t labels[] = {0, 0};
    ocdm__test_set set = {logits, 4, 1, starts, labels, NULL, 0};
    ocdm__class_score score;
    assert_int_equal(ocdm__score_classes(&set, &score, NULL), OCDM_OK);
    expect_near("by hand", "AP", (1.0 + 2.0 / 4) / 2, score.ap);
    assert_int_equal(score.predicted, 2);
    assert_int_equal(score.hits, 1);
}

/* Sample 0 carries class 1 only, sample 1 both, in any order and with repetitions. */
TEST(repeated_labels_count_once_in_scores)
{
    static const float logits[] = {-1, 2, 1, 1, 3, -2};
    static const uint64_t starts[] = {0, 3, 7, 7};
    static const uint32_t labels[] = {1, 1, 1, 1, 0, 1, 0};
    ocdm__test_set set = {logits, 3, 2, starts, labels, NULL, 0};
    ocdm__class_score scores[2];
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
    assert_int_equal(scores[0].positives, 1);
    assert_int_equal(scores[0].hits, 1);
    assert_int_equal(scores[0].predicted, 2);
    expect_near("class 0", "AP", 0.5, scores[0].ap);
    assert_int_equal(scores[1].positives, 2);
    assert_int_equal(scores[1].hits, 2);
    expect_near("class 1", "AP", 1, scores[1].ap);
}

/* The wrong predictions of a class that no sample has would halve OP. */
TEST(absent_classes_are_left_out_of_overall_averages_too)
{
    static const ocdm__class_score scores[] = {{2, 2, 2, 4, 1, 1, 0}, {0, 2, 0, 4, NAN, NAN, NAN}};
    ocdm__averages averages = ocdm__average_all(scores, 2);
    assert_int_equal(averages.classes, 1);
    for (size_t i = 0; i <= OCDM_AUC; i++)
        expect_near("one class", ocdm__metric_name((ocdm_metric)i), 1, averages.value[i]);
    expect_near("one class", "hamming", 0, averages.value[OCDM_HAMMING]);
    expect_near("one class", "ECE", 0, averages.value[OCDM_ECE]);
}

/* Three classes, of which no sample carries the last, whose scores are the highest: it is in no ranking. Sample 0 has its one
 * pair right; in sample 1 the two are tied, which is wrong; sample 2 carries both, sample 3 neither. */
TEST(rankings_count_ties_as_wrong_and_leave_absent_classes_out)
{
    static const float logits[] = {2, 1, 9, 1, 1, 9, 5, 6, 9, 3, 4, 9};
    static const uint64_t starts[] = {0, 1, 2, 4, 4};
    static const uint32_t labels[] = {0, 1, 1, 0};
    ocdm__test_set set = {logits, 4, 3, starts, labels, NULL, 0};
    ocdm__class_score scores[3];
    ocdm__averages averages;
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
    assert_int_equal(ocdm__measure(&set, scores, NULL, 0, &averages, NULL), OCDM_OK);
    expect_near("by hand", "ranking_loss", 1.0 / 4, averages.value[OCDM_RANKING_LOSS]);
    expect_near("by hand", "coverage", (1 + 2 + 2 + 0) / 4.0, averages.value[OCDM_COVERAGE]);
    expect_near("by hand", "one_error", 1.0 / 3, averages.value[OCDM_ONE_ERROR]);
    expect_near("by hand", "hamming", 4.0 / 8, averages.value[OCDM_HAMMING]);
    ocdm__averages alone = ocdm__average_all(scores, 3);
    assert_true(isnan(alone.value[OCDM_RANKING_LOSS]) && isnan(alone.value[OCDM_COVERAGE]));
    assert_true(isnan(alone.value[OCDM_ONE_ERROR]));
    expect_near("from scores", "hamming", 4.0 / 8, alone.value[OCDM_HAMMING]);
}

/* Every sample carries class 0, so that it has no ROC curve; the mean is over class 1 alone. */
TEST(auc_is_over_the_classes_that_have_positives_and_negatives)
{
    static const float logits[] = {1, 3, 2, 2, 3, 1};
    static const uint64_t starts[] = {0, 2, 3, 4};
    static const uint32_t labels[] = {0, 1, 0, 0};
    ocdm__test_set set = {logits, 3, 2, starts, labels, NULL, 0};
    ocdm__class_score scores[2];
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
    assert_true(isnan(scores[0].auc) && scores[1].auc == 1);
    assert_true(ocdm__average_all(scores, 2).value[OCDM_AUC] == 1);
    assert_true(isnan(ocdm__average_all(scores, 1).value[OCDM_AUC]));
}

/* Logits of certainty: p is 0 or 1, and the error is the share of wrong ones. Logit 0: p = 1/2 against a share of 1/4. */
TEST(calibration_error_is_the_gap_between_probabilities_and_shares)
{
    static const float logits[] = {INFINITY, 0, -INFINITY, 0, 800, 0, -800, 0};
    static const uint64_t starts[] = {0, 1, 2, 3, 3};
    static const uint32_t labels[] = {0, 0, 1};
    ocdm__test_set set = {logits, 4, 2, starts, labels, NULL, 0};
    ocdm__class_score scores[2];
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
    expect_near("certain", "ECE", 2.0 / 4, scores[0].ece);
    expect_near("undecided", "ECE", 1.0 / 4, scores[1].ece);
}

/* Precisions 1 and 1/2, recalls 1/4 and 1: the F1 of the means, 15/22, is not the mean of the F1s, 8/15. */
TEST(cf1_is_the_f1_of_mean_precision_and_mean_recall)
{
    static const ocdm__class_score scores[] = {{4, 1, 1, 8, 0.5, 0.5, 0}, {2, 4, 2, 8, 0.25, 0.5, 0}};
    ocdm__averages averages = ocdm__average_all(scores, 2);
    expect_near("by hand", "CP", 0.75, averages.value[OCDM_CP]);
    expect_near("by hand", "CR", 0.625, averages.value[OCDM_CR]);
    expect_near("by hand", "CF1", 2 * 0.75 * 0.625 / 1.375, averages.value[OCDM_CF1]);
    expect_near("by hand", "CF1_macro", (2.0 / 5 + 4.0 / 6) / 2, averages.value[OCDM_CF1_MACRO]);
    expect_near("by hand", "OP", 0.6, averages.value[OCDM_OP]);
    expect_near("by hand", "OR", 0.5, averages.value[OCDM_OR]);
    expect_near("by hand", "OF1", 6.0 / 11, averages.value[OCDM_OF1]);
    expect_near("by hand", "mAP", 0.375, averages.value[OCDM_MAP]);
}

TEST(averages_are_nan_when_a_group_is_empty)
{
    static const ocdm__class_score scores[] = {{2, 2, 2, 2, 1, NAN, 0}};
    static const uint8_t group[] = {7};
    ocdm__averages averages = ocdm__average_group(scores, 1, group, 6);
    assert_int_equal(averages.classes, 0);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        assert_true(isnan(averages.value[i]));
    assert_int_equal(ocdm__average_group(scores, 1, group, 7).classes, 1);
    assert_int_equal(ocdm__average_all(scores, 0).classes, 0);
}

/* The second half of a test set, looked at in place, scores as a copy of it would. */
/* With the classes of a group alone known, all metrics are those of scikit-learn on these columns. */
TEST(unknown_classes_are_left_out_of_every_metric)
{
    for (size_t i = 0; i < sizeof golden_cases / sizeof *golden_cases; i++)
        for (size_t wanted = 0; wanted < GOLDEN_GROUPS; wanted++) {
            const struct golden_case *golden = &golden_cases[i];
            ocdm__test_set set = set_of(golden);
            size_t size = ocdm__bits_size(golden->classes);
            uint8_t *known = calloc(golden->samples, size);
            ocdm__class_score *scores = calloc(golden->classes, sizeof *scores);
            ocdm__averages averages;
            assert_true(known != NULL && scores != NULL);
            for (size_t row = 0; row < golden->samples; row++)
                for (size_t c = wanted; c < golden->classes; c += GOLDEN_GROUPS)
                    ocdm__bits_add(known + row * size, c);
            set.known = known;
            assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
            assert_int_equal(ocdm__measure(&set, scores, NULL, 0, &averages, NULL), OCDM_OK);
            same_averages(golden->name, &golden->averages[1 + wanted], &averages);
            for (size_t c = 0; c < golden->classes; c++)
                HOLDS(golden->name, c % GOLDEN_GROUPS == wanted || (scores[c].positives == 0 && scores[c].predicted == 0));
            free(known);
            free(scores);
        }
}

TEST(part_of_a_test_set_can_be_scored_in_place)
{
    const struct golden_case *golden = &golden_cases[0];
    size_t half = golden->samples / 2;
    uint64_t starts[65];
    for (size_t i = 0; i <= golden->samples - half; i++)
        starts[i] = golden->starts[half + i] - golden->starts[half];
    const float *logits = golden->logits + half * golden->classes;
    ocdm__test_set window = {logits, golden->samples - half, golden->classes, golden->starts + half, golden->labels, NULL, 0};
    ocdm__test_set copy = {logits, golden->samples - half, golden->classes, starts, golden->labels + golden->starts[half], NULL,
                           0};
    ocdm__class_score of_window[MOST_CLASSES] = {{0}}, of_copy[MOST_CLASSES] = {{0}};
    assert_true(golden->starts[half] > 0);
    assert_int_equal(ocdm__score_classes(&window, of_window, NULL), OCDM_OK);
    assert_int_equal(ocdm__score_classes(&copy, of_copy, NULL), OCDM_OK);
    for (size_t c = 0; c < golden->classes; c++) {
        assert_int_equal(of_window[c].positives, of_copy[c].positives);
        assert_int_equal(of_window[c].hits, of_copy[c].hits);
        assert_true(of_window[c].ap == of_copy[c].ap);
    }
}

TEST(scores_of_no_samples_are_empty)
{
    static const uint64_t starts[] = {0};
    ocdm__test_set set = {.classes = 2, .label_starts = starts};
    ocdm__class_score scores[2] = {{.positives = 9, .predicted = 9, .hits = 9}, {.positives = 9}};
    assert_int_equal(ocdm__score_classes(&set, scores, NULL), OCDM_OK);
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(scores[c].positives + scores[c].predicted + scores[c].hits, 0);
        assert_true(isnan(scores[c].ap) && isnan(scores[c].auc) && isnan(scores[c].ece));
    }
    ocdm__averages averages = {.classes = 9};
    assert_int_equal(ocdm__measure(&set, scores, NULL, 0, &averages, NULL), OCDM_OK);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        assert_true(isnan(averages.value[i]));
}

/* Refused, with the words in the message, and nothing written. */
static void expect_refusal(const ocdm__test_set *set, ocdm_status status, const char *words)
{
    ocdm__class_score scores[MOST_CLASSES] = {{.positives = 77}};
    ocdm_error error = {0};
    assert_int_equal(ocdm__score_classes(set, scores, &error), status);
    assert_int_equal(error.status, status);
    HOLDS(error.message, strstr(error.message, words) != NULL);
    assert_true(error.hint[0] != '\0');
    assert_int_equal(scores[0].positives, 77);
    assert_int_equal(ocdm__score_classes(set, scores, NULL), status);
}

TEST(scoring_refuses_a_logit_that_is_not_a_number)
{
    static const float logits[] = {1, 2, 3, 4, 5, NAN};
    static const uint64_t starts[] = {0, 1, 1, 1};
    static const uint32_t labels[] = {0};
    ocdm__test_set set = {logits, 3, 2, starts, labels, NULL, 0};
    expect_refusal(&set, OCDM_BAD_ARGUMENT, "test sample 2 for class 1 is not a number");
    static const float negative[] = {1, -(float)NAN, 3, 4, 5, 6};
    set.logits = negative;
    expect_refusal(&set, OCDM_BAD_ARGUMENT, "test sample 0 for class 1 is not a number");
}

TEST(scoring_refuses_labels_that_are_no_columns)
{
    static const float logits[] = {1, 2, 3, 4};
    static const uint64_t starts[] = {0, 1, 2}, falling[] = {0, 2, 1};
    static const uint32_t labels[] = {0, 2};
    ocdm__test_set set = {logits, 2, 2, starts, labels, NULL, 0};
    expect_refusal(&set, OCDM_BAD_ARGUMENT, "test sample 1 carries class 2, but the scores have 2 columns");
    static const uint32_t fine[] = {0, 1};
    set.labels = fine;
    set.label_starts = falling;
    expect_refusal(&set, OCDM_BAD_ARGUMENT, "test sample 1 end before they start");
}

TEST(scoring_refuses_more_samples_than_it_can_number)
{
    ocdm__test_set set = {.samples = (size_t)UINT32_MAX + 1, .classes = 1};
    expect_refusal(&set, OCDM_LIMIT, "4294967296 samples");
}

TEST(metric_names_end_where_the_metrics_do)
{
    assert_string_equal(ocdm__metric_name(OCDM_MAP), "mAP");
    assert_string_equal(ocdm__metric_name(OCDM_CF1_MACRO), "CF1_macro");
    assert_null(ocdm__metric_name(OCDM__METRIC_COUNT));
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ocdm__metric_name((ocdm_metric)i), ocdm__metric_name((ocdm_metric)j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_scores_equal_scikit_learn),
        cmocka_unit_test(averages_equal_scikit_learn_in_total_and_by_group),
        cmocka_unit_test(average_precision_takes_tied_scores_as_one_threshold),
        cmocka_unit_test(infinite_logits_rank_first_and_last),
        cmocka_unit_test(repeated_labels_count_once_in_scores),
        cmocka_unit_test(absent_classes_are_left_out_of_overall_averages_too),
        cmocka_unit_test(rankings_count_ties_as_wrong_and_leave_absent_classes_out),
        cmocka_unit_test(auc_is_over_the_classes_that_have_positives_and_negatives),
        cmocka_unit_test(calibration_error_is_the_gap_between_probabilities_and_shares),
        cmocka_unit_test(cf1_is_the_f1_of_mean_precision_and_mean_recall),
        cmocka_unit_test(averages_are_nan_when_a_group_is_empty),
        cmocka_unit_test(unknown_classes_are_left_out_of_every_metric),
        cmocka_unit_test(part_of_a_test_set_can_be_scored_in_place),
        cmocka_unit_test(scores_of_no_samples_are_empty),
        cmocka_unit_test(scoring_refuses_a_logit_that_is_not_a_number),
        cmocka_unit_test(scoring_refuses_labels_that_are_no_columns),
        cmocka_unit_test(scoring_refuses_more_samples_than_it_can_number),
        cmocka_unit_test(metric_names_end_where_the_metrics_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
