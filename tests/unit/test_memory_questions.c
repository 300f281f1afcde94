/* What ocdm.h promises of labels, counts, targets, distances and draws. */
#include "../test.h"
#include "../twins.h"

#include <math.h>
#include <stdlib.h>

static const char *const policies[] = {"ocdm", "onlyone", "rs",     "prs", "prs-released", "cbes",
                                       "cbrs", "max",     "random", "gss", "gss-released"};

#define POLICIES (sizeof policies / sizeof *policies)

/* ---- labels ----------------------------------------------------------------------------------------------------------- */

TEST(labels_repeated_on_a_sample_count_once)
{
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 3);
        ocdm_memory *memory = created(&options);
        const uint32_t repeated[] = {9, 9, 9, 9};
        ocdm_sample sample = {1, repeated, 4};
        assert_int_equal(offered(memory, &sample, 1).stored, 1);
        assert_int_equal(ocdm_memory_labels(memory, 0, NULL, 0), 1);
        assert_int_equal(ocdm_memory_kept(memory, 9), 1);
        assert_int_equal(ocdm_memory_seen(memory, 9), 1);
        ocdm_memory_destroy(memory);
    }
}

TEST(labels_may_be_any_numbers_in_any_order)
{
    ocdm_options options = options_for("ocdm", 3);
    ocdm_memory *memory = created(&options);
    const uint32_t labels[] = {UINT32_MAX, 0, 1u << 31, UINT32_MAX, 7, 0};
    const uint32_t sorted[] = {0, 7, 1u << 31, UINT32_MAX};
    ocdm_sample sample = {UINT64_MAX, labels, 6};
    offered(memory, &sample, 1);
    for (size_t room = 0; room <= 6; room++) {
        uint32_t found[6] = {1, 1, 1, 1, 1, 1};
        assert_int_equal(ocdm_memory_labels(memory, 0, found, room), 4);
        size_t written = room < 4 ? room : 4;
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(found[i], i < written ? sorted[i] : 1);
    }
    assert_int_equal(ocdm_memory_find(memory, UINT64_MAX), 0);
    assert_int_equal(ocdm_memory_kept(memory, UINT32_MAX), 1);
    ocdm_memory_destroy(memory);
}

/* As many labels as are allowed, on a sample that stays and on one that is evicted. */
TEST(labels_may_be_as_many_as_the_limit)
{
    uint32_t *labels = calloc(OCDM_MAX_LABELS, sizeof *labels);
    uint32_t *found = calloc(OCDM_MAX_LABELS, sizeof *found);
    assert_non_null(labels);
    assert_non_null(found);
    for (uint32_t i = 0; i < OCDM_MAX_LABELS; i++)
        labels[i] = OCDM_MAX_LABELS - i;
    ocdm_options options = options_for("ocdm", 2);
    ocdm_memory *memory = created(&options);
    ocdm_sample batch[] = {{1, labels, OCDM_MAX_LABELS}, {2, labels, 1}, {3, labels, OCDM_MAX_LABELS}};
    offered(memory, batch, 3);
    uint32_t slot = ocdm_memory_find(memory, 1) != OCDM_NONE ? ocdm_memory_find(memory, 1) : ocdm_memory_find(memory, 3);
    assert_int_equal(ocdm_memory_labels(memory, slot, found, OCDM_MAX_LABELS), OCDM_MAX_LABELS);
    for (uint32_t i = 0; i < OCDM_MAX_LABELS; i++)
        assert_int_equal(found[i], i + 1);
    ocdm_memory_destroy(memory);
    free(labels);
    free(found);
}

TEST(samples_without_labels_have_no_distribution)
{
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 2);
        ocdm_memory *memory = created(&options);
        ocdm_sample batch[] = {{1, NULL, 0}, {2, NULL, 0}, {3, NULL, 0}};
        ocdm_change change = offered(memory, batch, 3);
        bool stores_none = !strcmp(policies[p], "onlyone");
        assert_int_equal(change.stored, stores_none ? 0 : 2);
        assert_int_equal(change.left_count, stores_none ? 3 : 1);
        assert_true(isnan(ocdm_memory_distance(memory, OCDM_IN_PLAY)));
        assert_true(isnan(ocdm_memory_distance(memory, OCDM_SEEN_EVER)));
        assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
        ocdm_memory_destroy(memory);
    }
}

/* ---- counts, targets, distances --------------------------------------------------------------------------------------- */

TEST(counts_come_in_order_of_first_appearance)
{
    ocdm_options options = options_for("ocdm", 10);
    options.rho = 1;
    ocdm_memory *memory = created(&options);
    offered_one(memory, 1, 30, 0, 0);
    offered_one(memory, 2, 30, 10, 0);
    offered_one(memory, 3, 20, 30, 0);
    const ocdm_class expected[] = {{30, 3, 3, 0.6}, {10, 1, 1, 0.2}, {20, 1, 1, 0.2}};
    for (size_t room = 0; room <= 4; room++) {
        ocdm_class found[4] = {{.id = 99}, {.id = 99}, {.id = 99}, {.id = 99}};
        assert_int_equal(ocdm_memory_counts(memory, found, room), 3);
        for (size_t i = 0; i < room && i < 3; i++) {
            assert_int_equal(found[i].id, expected[i].id);
            assert_int_equal(found[i].kept, expected[i].kept);
            assert_int_equal(found[i].seen, expected[i].seen);
            assert_true(fabs(found[i].target - expected[i].target) < 1e-12);
        }
        for (size_t i = room; i < 4; i++)
            assert_int_equal(found[i].id, 99);
    }
    ocdm_memory_destroy(memory);
}

/* n^16 overflows a float and n^-16 vanishes beside others: shares must not. */
TEST(targets_sum_to_one_when_rho_is_extreme)
{
    const double rhos[] = {-16, -1, 0, 0.3, 1, 16};
    for (size_t r = 0; r < 6; r++) {
        ocdm_options options = options_for("rs", 5);
        options.rho = rhos[r];
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 300; id++)
            offered_one(memory, id, id % 128 == 5 ? 3 : id % 16 == 3 ? 2 : 1, 0, 0);
        ocdm_class classes[3];
        assert_int_equal(ocdm_memory_counts(memory, classes, 3), 3);
        assert_true(fabs(classes[0].target + classes[1].target + classes[2].target - 1) < 1e-12);
        double ratio = pow((double)classes[0].seen / (double)classes[1].seen, rhos[r]);
        assert_true(fabs(classes[0].target / classes[1].target / ratio - 1) < 1e-9);
        ocdm_memory_destroy(memory);
    }
}

/* Two of class 1, one of class 2; 3 was seen but is gone. Against equal shares of two, or of three classes. */
static double distance_of_two_to_one(ocdm_distance distance, ocdm_scope scope)
{
    ocdm_options options = options_for("onlyone", 3);
    options.distance = distance;
    ocdm_memory *memory = created(&options);
    const uint32_t labels[] = {1, 2, 3};
    ocdm_sample both = {1, labels + 1, 2};
    offered(memory, &both, 1);
    offered_one(memory, 2, 1, 0, 0);
    offered_one(memory, 3, 1, 0, 0);
    offered_one(memory, 4, 2, 0, 0);
    double result = ocdm_memory_distance(memory, scope);
    ocdm_memory_destroy(memory);
    return result;
}

TEST(distances_are_those_of_their_definitions)
{
    const double q1 = 2.0 / 3, q2 = 1.0 / 3, third = 1.0 / 3;
    const struct {
        ocdm_distance distance;
        double in_play, seen_ever;
    } expected[] = {
        {OCDM_KL, q1 * log(q1 / 0.5) + q2 * log(q2 / 0.5), q1 * log(q1 / third) + q2 * log(q2 / third)},
        {OCDM_REVERSE_KL, 0.5 * log(0.5 / q1) + 0.5 * log(0.5 / q2),
         third * (log(third / q1) + log(third / q2) + log(third / (0.5 / 3)))},
        {OCDM_L2, 2 * (q1 - 0.5) * (q1 - 0.5), (q1 - third) * (q1 - third) + third * third},
        {OCDM_TV, q1 - 0.5, (q1 - third + third) / 2},
    };
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabs(distance_of_two_to_one(expected[i].distance, OCDM_IN_PLAY) - expected[i].in_play) < 1e-12);
        assert_true(fabs(distance_of_two_to_one(expected[i].distance, OCDM_SEEN_EVER) - expected[i].seen_ever) < 1e-12);
    }
}

/* ---- draws ------------------------------------------------------------------------------------------------------------ */

TEST(draw_takes_all_when_asked_for_more)
{
    ocdm_options options = options_for("rs", 5);
    ocdm_memory *memory = created(&options);
    for (uint64_t id = 0; id < 4; id++)
        offered_one(memory, id, 1, 0, 0);
    uint32_t slot[9], times[4] = {0};
    assert_int_equal(ocdm_memory_draw(memory, 0, NULL), 0);
    assert_int_equal(ocdm_memory_draw(memory, 9, slot), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(slot[i] < 4);
        times[slot[i]]++;
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(times[i], 1);
    ocdm_memory_destroy(memory);
}

/* The n-th draw depends on seed, n and size only: not on how many were asked for before. */
TEST(draw_depends_on_its_number_not_on_earlier_counts)
{
    ocdm_options options = options_for("rs", 50);
    ocdm_memory *first = created(&options), *second = created(&options);
    for (uint64_t id = 0; id < 50; id++) {
        offered_one(first, id, 1, 0, 0);
        offered_one(second, id + 1000, 2, 3, 0);
    }
    uint32_t a[50], b[50];
    for (size_t n = 0; n < 20; n++) {
        ocdm_memory_draw(first, n, a);
        ocdm_memory_draw(second, 50 - n, b);
        ocdm_memory_draw(first, 10, a);
        ocdm_memory_draw(second, 10, b);
        assert_memory_equal(a, b, 10 * sizeof *a);
    }
    ocdm_memory_destroy(first);
    ocdm_memory_destroy(second);
}

/* ---- work ------------------------------------------------------------------------------------------------------------- */

TEST(work_counts_the_deletions_of_policies_that_search)
{
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 10);
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 60; id++)
            offered_one(memory, id, 1 + (uint32_t)id % 5, 0, 0);
        ocdm_work work = ocdm_memory_work(memory);
        bool searches = strcmp(policies[p], "ocdm") == 0 || strcmp(policies[p], "onlyone") == 0;
        assert_int_equal(work.deletions, searches ? 50 : 0);
        assert_in_range(work.searches, searches, work.deletions);
        assert_true(work.steps >= work.searches);
        ocdm_memory_destroy(memory);
    }
    assert_int_equal(ocdm_memory_work(NULL).deletions, 0);
}

/* ---- errors ----------------------------------------------------------------------------------------------------------- */

TEST(messages_stay_on_one_line_when_names_are_odd)
{
    ocdm_memory *memory = NULL;
    ocdm_error error;
    char path[2000];
    memset(path, '\n', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(ocdm_memory_load(path, NULL, NULL, &memory, &error), OCDM_IO);
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_null(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_repeated_on_a_sample_count_once),
        cmocka_unit_test(labels_may_be_any_numbers_in_any_order),
        cmocka_unit_test(labels_may_be_as_many_as_the_limit),
        cmocka_unit_test(samples_without_labels_have_no_distribution),
        cmocka_unit_test(counts_come_in_order_of_first_appearance),
        cmocka_unit_test(targets_sum_to_one_when_rho_is_extreme),
        cmocka_unit_test(distances_are_those_of_their_definitions),
        cmocka_unit_test(draw_takes_all_when_asked_for_more),
        cmocka_unit_test(draw_depends_on_its_number_not_on_earlier_counts),
        cmocka_unit_test(work_counts_the_deletions_of_policies_that_search),
        cmocka_unit_test(messages_stay_on_one_line_when_names_are_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
