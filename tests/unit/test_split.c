/* ocdm/split.h: sizes, groups, what is minimised, against a naive version of it, and bad input. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "ocdm/split.h"

#define MOST_SAMPLES 4000
#define MOST_PARTS 10
#define LABELS 12

/* Random label sets; label c is about as frequent as 1 / (c + 1). */
struct data {
    uint64_t offsets[MOST_SAMPLES + 1];
    uint32_t labels[MOST_SAMPLES * LABELS];
    uint32_t groups[MOST_SAMPLES];
    ocdm_label_sets sets;
};

static void make_data(struct data *data, size_t count, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_TEST_DRAWS), 0);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        data->offsets[i] = end;
        for (uint32_t c = 0; c < LABELS; c++)
            if (ocdm__random_below(&random, 2 * (c + 1)) == 0)
                data->labels[end++] = 7 * c;
    }
    data->offsets[count] = end;
    data->sets = (ocdm_label_sets){.size = sizeof data->sets, .count = count, .offsets = data->offsets, .labels = data->labels};
}

static void split(const struct data *data, const uint64_t *sizes, size_t parts, ocdm_split_options options, uint32_t *part)
{
    ocdm_error error = {0};
    if (ocdm_split(&data->sets, sizes, parts, &options, part, NULL, &error) != OCDM_OK)
        fail_msg("%s", error.message);
}

static ocdm_split_options seeded(uint64_t seed)
{
    ocdm_split_options options = ocdm_split_options_default();
    options.seed = seed;
    return options;
}

/* ---- the judge ------------------------------------------------------------------------------------------------------------
 */

static bool has_label(const struct data *data, size_t sample, uint32_t label)
{
    for (uint64_t at = data->offsets[sample]; at < data->offsets[sample + 1]; at++)
        if (data->labels[at] == label)
            return true;
    return false;
}

/* A feature as the manual defines it: labels a < b is a pair, a = b a label; a = LABELS: samples with b labels. */
static bool has_feature(const struct data *data, size_t sample, uint32_t a, uint32_t b)
{
    if (a == LABELS)
        return data->offsets[sample + 1] - data->offsets[sample] == b;
    return has_label(data, sample, 7 * a) && has_label(data, sample, 7 * b);
}

/* One term of the sum. */
static double feature_cost(const struct data *data, const uint64_t *sizes, size_t parts, const uint32_t *part, uint32_t a,
                           uint32_t b)
{
    double counts[MOST_PARTS] = {0}, total = 0, sum = 0, smallest = (double)data->sets.count;
    for (size_t i = 0; i < data->sets.count; i++) {
        counts[part[i]] += has_feature(data, i, a, b);
        total += has_feature(data, i, a, b);
    }
    for (size_t p = 0; p < parts; p++) {
        double share = (double)sizes[p] / (double)data->sets.count;
        sum += (counts[p] - share * total) * (counts[p] - share * total);
        smallest = fmin(smallest, (double)sizes[p]);
    }
    bool is_label = a == b, is_pair = a < b && a < LABELS;
    if (total == 0 || (is_pair && (total < 2 || total * smallest / (double)data->sets.count < 0.5)))
        return 0;
    return sum * (is_label ? 8 / sqrt(total) + 16 / total : 1 / sqrt(total));
}

static double cost(const struct data *data, const uint64_t *sizes, size_t parts, const uint32_t *part, double label_factor)
{
    double sum = 0;
    for (uint32_t a = 0; a <= LABELS; a++)
        for (uint32_t b = a == LABELS ? 0 : a; b < LABELS + (a == LABELS); b++)
            sum += feature_cost(data, sizes, parts, part, a, b) * (a == b && a < LABELS ? label_factor : 1);
    return sum;
}

/* ---- sizes ----------------------------------------------------------------------------------------------------------------
 */

static void expect_sizes(const uint32_t *part, size_t count, const uint64_t *sizes, size_t parts)
{
    uint64_t found[MOST_PARTS] = {0};
    for (size_t i = 0; i < count; i++) {
        assert_in_range(part[i], 0, parts - 1);
        found[part[i]]++;
    }
    for (size_t p = 0; p < parts; p++)
        assert_int_equal(found[p], sizes[p]);
}

TEST(sizes_are_exact_for_every_order)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {700, 1, 99, 200};
    make_data(&data, 1000, 1);
    for (uint32_t order = 0; order <= OCDM_MAX_SPLIT_ORDER; order++) {
        ocdm_split_options options = seeded(order);
        options.order = order;
        split(&data, sizes, 4, options, part);
        expect_sizes(part, 1000, sizes, 4);
    }
}

TEST(shares_become_sizes_that_sum_up)
{
    const double thirds[] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, tenths[] = {0.8, 0.1, 0.1};
    uint64_t sizes[3];
    assert_int_equal(ocdm_split_sizes(thirds, 3, 10, sizes, NULL), OCDM_OK);
    assert_int_equal(sizes[0] + sizes[1] + sizes[2], 10);
    for (int p = 0; p < 3; p++)
        assert_in_range(sizes[p], 3, 4);
    assert_int_equal(ocdm_split_sizes(tenths, 3, 1000, sizes, NULL), OCDM_OK);
    assert_int_equal(sizes[0], 800);
    assert_int_equal(sizes[1], 100);
    assert_int_equal(sizes[2], 100);
}

/* ---- what is minimised ------------------------------------------------------------------------------------------------------
 */

/* The last eighth of a search has other weights, and the library rounds numbers: hence the tolerance. */
TEST(the_sum_does_not_rise_with_more_proposals)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {200, 200, 400};
    make_data(&data, 800, 2);
    double before = HUGE_VAL, first = 0;
    for (uint64_t proposals = 1; proposals < 300000; proposals = 3 * proposals) {
        ocdm_split_options options = seeded(5);
        options.proposals = proposals;
        split(&data, sizes, 3, options, part);
        double now = cost(&data, sizes, 3, part, 1);
        assert_true(now <= before * 1.05);
        first = proposals == 1 ? now : first;
        before = now;
    }
    assert_true(before < 0.9 * first);
}

TEST(no_exchange_is_left_that_would_help)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {20, 20, 20};
    make_data(&data, 60, 3);
    split(&data, sizes, 3, seeded(0), part);
    double least = cost(&data, sizes, 3, part, 16);
    for (size_t i = 0; i < 60; i++)
        for (size_t j = 0; j < i; j++) {
            uint32_t own = part[i];
            part[i] = part[j];
            part[j] = own;
            assert_true(cost(&data, sizes, 3, part, 16) >= least * 0.999);
            part[j] = part[i];
            part[i] = own;
        }
}

TEST(a_split_is_much_nearer_than_a_random_one)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {800, 800, 800, 800, 800};
    make_data(&data, 4000, 4);
    ocdm_split_options random = seeded(0);
    random.order = 0;
    split(&data, sizes, 5, random, part);
    double by_chance = cost(&data, sizes, 5, part, 1);
    split(&data, sizes, 5, seeded(0), part);
    assert_true(cost(&data, sizes, 5, part, 1) < by_chance / 20);
}

/* Order 1 leaves pairs to chance, order 3 balances triples: the share of samples with labels 0, 1 and 2 is nearer. */
TEST(orders_balance_what_they_say)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {2000, 2000};
    double error[4] = {0};
    make_data(&data, 4000, 5);
    for (uint64_t seed = 0; seed < 10; seed++)
        for (uint32_t order = 1; order <= 3; order++) {
            ocdm_split_options options = seeded(seed);
            options.order = order;
            split(&data, sizes, 2, options, part);
            int difference = 0;
            for (size_t i = 0; i < 4000; i++)
                if (has_label(&data, i, 0) && has_label(&data, i, 7) && has_label(&data, i, 14))
                    difference += part[i] == 0 ? 1 : -1;
            error[order] += abs(difference);
        }
    assert_true(error[3] < error[2] / 2 && error[2] < error[1]);
}

TEST(every_part_has_a_label_that_has_as_many_samples_as_there_are_parts)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {100, 100, 100, 100, 100};
    make_data(&data, 500, 6);
    for (uint64_t i = 0; i < data.offsets[500]; i++) /* labels 1000.. have five samples each */
        if (i % 20 == 0)
            data.labels[i] = 1000 + (uint32_t)(i / 100);
    for (uint64_t seed = 0; seed < 5; seed++) {
        ocdm_split_balance balance[5];
        split(&data, sizes, 5, seeded(seed), part);
        assert_int_equal(ocdm_split_measure(&data.sets, part, 5, 2, balance, NULL), OCDM_OK);
        for (int p = 0; p < 5; p++)
            assert_int_equal(balance[p].missing, 0);
    }
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------------
 */

TEST(a_seed_repeats_a_split_and_another_changes_it)
{
    static struct data data;
    static uint32_t one[MOST_SAMPLES], two[MOST_SAMPLES];
    const uint64_t sizes[] = {800, 200};
    make_data(&data, 1000, 7);
    split(&data, sizes, 2, seeded(1), one);
    split(&data, sizes, 2, seeded(1), two);
    assert_memory_equal(one, two, 1000 * sizeof *one);
    split(&data, sizes, 2, seeded(2), two);
    size_t same = 0;
    for (size_t i = 0; i < 1000; i++)
        same += one[i] == 1 && two[i] == 1;
    assert_true(same < 100); /* of 200; by chance 40 */
}

/* The place in the file does not matter: in a file that begins with samples of one label and ends with those of others, each
 * decile gives its tenth to the smaller part. 20 % of 100 x 100 draws: a deviation of 40. */
TEST(deciles_of_the_file_are_uniform)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {800, 200};
    for (uint32_t order = 0; order <= 2; order++) {
        int tenths[10] = {0};
        make_data(&data, 1000, 8);
        for (uint64_t seed = 0; seed < 100; seed++) {
            ocdm_split_options options = seeded(seed);
            options.order = order;
            options.proposals = 20000;
            split(&data, sizes, 2, options, part);
            for (size_t i = 0; i < 1000; i++)
                tenths[i / 100] += part[i] == 1;
        }
        for (int i = 0; i < 10; i++)
            assert_in_range(tenths[i], 2000 - 5 * 40, 2000 + 5 * 40);
    }
}

TEST(labels_may_come_in_any_order_and_repeat)
{
    const uint64_t offsets[] = {3, 5, 5, 8, 9}, plain_offsets[] = {0, 2, 2, 4, 5};
    const uint32_t labels[] = {9, 9, 9, 2, 1, 4, 2, 4, 1}, plain[] = {1, 2, 2, 4, 1};
    const ocdm_label_sets odd = {.size = sizeof odd, .count = 4, .offsets = offsets, .labels = labels};
    const ocdm_label_sets sets = {.size = sizeof sets, .count = 4, .offsets = plain_offsets, .labels = plain};
    const uint64_t sizes[] = {2, 2};
    ocdm_split_options options = seeded(3);
    uint32_t one[4], two[4];
    assert_int_equal(ocdm_split(&odd, sizes, 2, &options, one, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, two, NULL, NULL), OCDM_OK);
    assert_memory_equal(one, two, sizeof one);
}

/* ---- groups -----------------------------------------------------------------------------------------------------------------
 */

TEST(groups_stay_together_and_sizes_are_met_where_they_can_be)
{
    static struct data data;
    static uint32_t part[MOST_SAMPLES];
    const uint64_t sizes[] = {700, 200, 100};
    make_data(&data, 1000, 9);
    for (uint32_t i = 0; i < 1000; i++)
        data.groups[i] = 1000000 - i % 300; /* of three or four samples, far apart */
    data.sets.groups = data.groups;
    for (uint32_t order = 0; order <= 2; order++) {
        ocdm_split_options options = seeded(order);
        options.order = order;
        split(&data, sizes, 3, options, part);
        for (size_t i = 300; i < 1000; i++)
            assert_int_equal(part[i], part[i % 300]);
        expect_sizes(part, 1000, sizes, 3);
    }
}

/* ---- subsets ----------------------------------------------------------------------------------------------------------------
 */

/* Single labels: `counts` samples of labels 0, 1, ... */
static void make_single(struct data *data, const size_t *counts, uint32_t labels)
{
    size_t end = 0;
    for (uint32_t c = 0; c < labels; c++)
        for (size_t i = 0; i < counts[c]; i++)
            data->labels[end++] = c;
    for (size_t i = 0; i <= end; i++)
        data->offsets[i] = i;
    data->sets = (ocdm_label_sets){.size = sizeof data->sets, .count = end, .offsets = data->offsets, .labels = data->labels};
}

static void expect_chosen(const struct data *data, size_t wanted, const ocdm_select_options *options, const size_t *expected,
                          uint32_t labels)
{
    static uint8_t chosen[MOST_SAMPLES];
    ocdm_error error = {0};
    size_t counts[LABELS] = {0}, sum = 0;
    if (ocdm_select(&data->sets, wanted, options, chosen, NULL, &error) != OCDM_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < data->sets.count; i++)
        if (chosen[i]) {
            counts[data->labels[i]]++;
            sum++;
        }
    assert_int_equal(sum, wanted);
    for (uint32_t c = 0; c < labels; c++)
        assert_int_equal(counts[c], expected[c]);
}

/* With one label each sample, the targets can be met exactly. */
TEST(a_subset_is_balanced_or_representative)
{
    static struct data data;
    const size_t counts[] = {1000, 100, 40}, balanced[] = {50, 50, 40}, same[] = {250, 25, 10};
    make_single(&data, counts, 3);
    ocdm_select_options options = ocdm_select_options_default();
    expect_chosen(&data, 140, &options, balanced, 3); /* the last label has no 47 */
    options.rho = 1;
    expect_chosen(&data, 285, &options, same, 3);
}

TEST(weights_and_minimums_change_a_subset)
{
    static struct data data;
    const size_t counts[] = {1000, 900, 400}, weighted[] = {20, 20, 80}, at_least[] = {45, 45, 30},
                 proportional[] = {92, 83, 55};
    const ocdm_select_label third = {.label = 2, .weight = 4}, least = {.label = 2, .weight = 1, .minimum = 55};
    const ocdm_select_label absent = {.label = 77, .weight = 1, .minimum = 5};
    make_single(&data, counts, 3);
    ocdm_select_options options = ocdm_select_options_default();
    options.labels = &third;
    options.label_count = 1;
    expect_chosen(&data, 120, &options, weighted, 3);
    options.labels = &absent;
    options.minimum = 30;
    options.rho = 0;
    const ocdm_select_label few[] = {{.label = 2, .weight = 0.001, .minimum = 30}};
    options.labels = few;
    expect_chosen(&data, 120, &options, at_least, 3);
    options.minimum = 0;
    options.rho = 1;
    options.labels = &least;
    expect_chosen(&data, 230, &options, proportional, 3);
}

TEST(minimums_hold_where_labels_come_together)
{
    static struct data data;
    static uint8_t chosen[MOST_SAMPLES];
    make_data(&data, 2000, 10);
    ocdm_select_options options = ocdm_select_options_default();
    options.minimum = 40;
    for (int rho = 0; rho <= 1; rho++) {
        options.rho = rho;
        assert_int_equal(ocdm_select(&data.sets, 400, &options, chosen, NULL, NULL), OCDM_OK);
        for (uint32_t c = 0; c < LABELS; c++) {
            size_t count = 0;
            for (size_t i = 0; i < 2000; i++)
                count += chosen[i] && has_label(&data, i, 7 * c);
            assert_true(count >= 40);
        }
    }
}

/* ---- measures ---------------------------------------------------------------------------------------------------------------
 */

/* By hand: 40 samples with label 3, 20 of them with label 5 too; the first part of 10 has 10 and 2 of them. */
TEST(a_split_is_measured)
{
    uint64_t offsets[61];
    uint32_t labels[120], part[60], end = 0;
    for (uint32_t i = 0; i < 60; i++) {
        offsets[i] = end;
        if (i < 40)
            labels[end++] = 3;
        if (i < 20)
            labels[end++] = 5;
        part[i] = !(i < 2 || (i >= 20 && i < 28));
    }
    offsets[60] = end;
    const ocdm_label_sets sets = {.size = sizeof sets, .count = 60, .offsets = offsets, .labels = labels};
    ocdm_split_balance balance[2];
    assert_int_equal(ocdm_split_measure(&sets, part, 2, 2, balance, NULL), OCDM_OK);
    assert_int_equal(balance[0].samples, 10);
    assert_int_equal(balance[1].samples, 50);
    /* Shares of a sixth: 40/6 and 20/6 of the labels, 20/6 of the pair, 20/6 each of samples with 0, 1 and 2 labels. */
    assert_true(fabs(balance[0].label_error - ((10 - 40 / 6.0) / (40 / 6.0) + (20 / 6.0 - 2) / (20 / 6.0)) / 2) < 1e-12);
    assert_true(fabs(balance[0].label_largest - (10 - 40 / 6.0)) < 1e-12);
    assert_true(fabs(balance[0].pair_error - (20 / 6.0 - 2) / (20 / 6.0)) < 1e-12);
    assert_true(fabs(balance[0].pair_largest - (20 / 6.0 - 2)) < 1e-12);
    assert_true(fabs(balance[0].sizes - (0.8 - 1 / 3.0)) < 1e-12);
    assert_int_equal(ocdm_split_measure(&sets, part, 2, 1, balance, NULL), OCDM_OK);
    assert_true(isnan(balance[0].pair_error));
}

TEST(missing_labels_are_counted)
{
    const uint64_t offsets[] = {0, 1, 2, 3, 4, 5};
    const uint32_t labels[] = {1, 1, 2, 3, 3}, part[] = {0, 0, 1, 1, 0};
    const ocdm_label_sets sets = {.size = sizeof sets, .count = 5, .offsets = offsets, .labels = labels};
    ocdm_split_balance balance[2];
    assert_int_equal(ocdm_split_measure(&sets, part, 2, 2, balance, NULL), OCDM_OK);
    assert_int_equal(balance[0].missing, 0); /* label 2 has one sample: it cannot be in both */
    assert_int_equal(balance[1].missing, 1);
}

/* ---- bad input --------------------------------------------------------------------------------------------------------------
 */

struct bad {
    uint64_t sizes[3];
    size_t parts;
    uint32_t order;
    bool grouped;
    const char *message;
};

TEST(bad_arguments_are_refused)
{
    const struct bad cases[] = {
        {{2, 2}, 2, 2, false, "the sizes of the parts do not sum to 6, the number of samples"},
        {{7, UINT64_MAX}, 2, 2, false, "the sizes of the parts do not sum to 6, the number of samples"},
        {{6, 0}, 2, 2, false, "part 2 is empty"},
        {{6}, 0, 2, false, "there are no parts"},
        {{6}, 7, 2, false, "there are more parts, 7, than samples, 6"},
        {{3, 3}, 2, 4, false, "the order is 4"},
        {{2, 2, 2}, 3, 2, true, "there are more parts, 3, than groups, 2"},
        {{3, 3}, 2, 2, true, "a group has 5 samples, and the largest part 3"},
    };
    const uint64_t offsets[7] = {0};
    const uint32_t groups[] = {1, 1, 1, 1, 1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct bad *bad = &cases[i];
        const ocdm_label_sets sets = {
            .size = sizeof sets, .count = 6, .offsets = offsets, .groups = bad->grouped ? groups : NULL};
        ocdm_split_options options = seeded(0);
        options.order = bad->order;
        uint32_t part[6];
        ocdm_error error = {0};
        assert_int_equal(ocdm_split(&sets, bad->sizes, bad->parts, &options, part, NULL, &error), OCDM_BAD_ARGUMENT);
        assert_string_equal(error.message, bad->message);
    }
}

TEST(bad_label_sets_are_refused)
{
    const uint64_t decreasing[] = {0, 2, 1}, plain[] = {0, 1, 2}, many[] = {0, 65536, 65536}, sizes[] = {1, 1};
    static const uint32_t labels[65536];
    uint32_t part[2];
    ocdm_split_options options = seeded(0);
    ocdm_label_sets sets = {.size = sizeof sets, .count = 2, .offsets = decreasing, .labels = labels};
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_BAD_ARGUMENT);
    sets.offsets = many;
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_TOO_MANY_LABELS);
    sets.offsets = plain;
    sets.labels = NULL;
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_BAD_ARGUMENT);
    sets.labels = labels;
    sets.size = 1;
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_BAD_ARGUMENT);
    sets.size = sizeof sets;
    options.size = 1;
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_BAD_ARGUMENT);
    sets.count = OCDM_MAX_SPLIT_SAMPLES + 1;
    assert_int_equal(ocdm_split(&sets, sizes, 2, &options, part, NULL, NULL), OCDM_LIMIT);
}

TEST(bad_shares_are_refused)
{
    const double short_of_one[] = {0.5, 0.4}, negative[] = {1.5, -0.5}, small[] = {0.999, 0.001}, nan_share[] = {NAN, 1};
    uint64_t sizes[2];
    assert_int_equal(ocdm_split_sizes(short_of_one, 2, 100, sizes, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_split_sizes(negative, 2, 100, sizes, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_split_sizes(small, 2, 100, sizes, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_split_sizes(nan_share, 2, 100, sizes, NULL), OCDM_BAD_ARGUMENT);
}

TEST(bad_wishes_for_a_subset_are_refused)
{
    static struct data data;
    static uint8_t chosen[MOST_SAMPLES];
    const size_t counts[] = {20, 20};
    const ocdm_select_label heavy = {.label = 1, .weight = NAN};
    ocdm_error error = {0};
    make_single(&data, counts, 2);
    ocdm_select_options options = ocdm_select_options_default();
    assert_int_equal(ocdm_select(&data.sets, 0, &options, chosen, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_select(&data.sets, 40, &options, chosen, NULL, NULL), OCDM_BAD_ARGUMENT);
    options.rho = 1.5;
    assert_int_equal(ocdm_select(&data.sets, 10, &options, chosen, NULL, NULL), OCDM_BAD_ARGUMENT);
    options.rho = 0;
    options.minimum = 6;
    assert_int_equal(ocdm_select(&data.sets, 10, &options, chosen, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "the minimums need 12 samples, and 10 are wanted");
    options.minimum = 0;
    options.labels = &heavy;
    options.label_count = 1;
    assert_int_equal(ocdm_select(&data.sets, 10, &options, chosen, NULL, NULL), OCDM_BAD_ARGUMENT);
    data.sets.groups = data.groups;
    assert_int_equal(ocdm_select(&data.sets, 10, &options, chosen, NULL, NULL), OCDM_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_exact_for_every_order),
        cmocka_unit_test(shares_become_sizes_that_sum_up),
        cmocka_unit_test(the_sum_does_not_rise_with_more_proposals),
        cmocka_unit_test(no_exchange_is_left_that_would_help),
        cmocka_unit_test(a_split_is_much_nearer_than_a_random_one),
        cmocka_unit_test(orders_balance_what_they_say),
        cmocka_unit_test(every_part_has_a_label_that_has_as_many_samples_as_there_are_parts),
        cmocka_unit_test(a_seed_repeats_a_split_and_another_changes_it),
        cmocka_unit_test(deciles_of_the_file_are_uniform),
        cmocka_unit_test(labels_may_come_in_any_order_and_repeat),
        cmocka_unit_test(groups_stay_together_and_sizes_are_met_where_they_can_be),
        cmocka_unit_test(a_subset_is_balanced_or_representative),
        cmocka_unit_test(weights_and_minimums_change_a_subset),
        cmocka_unit_test(minimums_hold_where_labels_come_together),
        cmocka_unit_test(a_split_is_measured),
        cmocka_unit_test(missing_labels_are_counted),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(bad_label_sets_are_refused),
        cmocka_unit_test(bad_shares_are_refused),
        cmocka_unit_test(bad_wishes_for_a_subset_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
