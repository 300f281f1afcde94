/* `bench memory --steady`: what is timed, on which samples, and how times are summarised. No result depends on the time taken.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "bench/steady.h"

/* ---- quantiles ---------------------------------------------------------------------------------------------------------- */

/* By definition: the least of the values such that at least per_mille / 1000 of them are not larger. */
static double naive_quantile(const double *values, size_t count, unsigned per_mille)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t not_larger = 0;
        for (size_t j = 0; j < count; j++)
            not_larger += values[j] <= values[i];
        if (1000 * not_larger >= count * per_mille && values[i] < least)
            least = values[i];
    }
    return least;
}

/* Few different values give many ties. */
static void fill_random(double *values, size_t count, uint64_t different, ocdm__random *random)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (double)ocdm__random_below(random, different) / 8;
}

TEST(quantiles_are_those_of_the_definition)
{
    static const size_t counts[] = {1, 2, 3, 7, 10, 99, 100, 101, 499, 999, 1000, 1001, 1500, 2000};
    static const uint64_t different[] = {1, 5, 1000000};
    double values[2000], sorted[2000];
    ocdm__random random = ocdm__random_stream(1, 2);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t d = 0; d < 3; d++) {
            size_t count = counts[c];
            fill_random(values, count, different[d], &random);
            memcpy(sorted, values, count * sizeof *sorted);
            ocdm__quantiles found = ocdm__quantiles_of(sorted, count);
            assert_true(found.p50 == naive_quantile(values, count, 500));
            assert_true(found.p99 == naive_quantile(values, count, 990));
            assert_true(found.p999 == naive_quantile(values, count, 999));
            assert_true(found.max == naive_quantile(values, count, 1000));
            assert_true(ocdm__quantile(sorted, count, 1) == naive_quantile(values, count, 1));
            assert_true(ocdm__quantile(sorted, count, 0) == sorted[0]);
            double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += values[i];
            assert_true(fabs(found.mean - sum / (double)count) < 1e-6);
        }
}

TEST(quantiles_of_one_to_a_thousand_are_known)
{
    double values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = (double)(1000 - i);
    ocdm__quantiles found = ocdm__quantiles_of(values, 1000);
    assert_true(found.mean == 500.5 && found.p50 == 500 && found.p99 == 990 && found.p999 == 999 && found.max == 1000);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------ */

static ocdm__label_stream *records_of(void)
{
    ocdm__label_stream *records = NULL;
    assert_int_equal(ocdm__label_stream_open(NULL, 3, &records, NULL), OCDM_OK);
    return records;
}

static ocdm__steady_stream open_stream(enum ocdm__steady_kind kind, const ocdm__label_stream *records, uint64_t seed,
                                       uint32_t batch)
{
    ocdm__steady_stream stream;
    assert_int_equal(ocdm__steady_stream_open(&stream, kind, records, seed, batch, NULL), OCDM_OK);
    return stream;
}

static bool same_labels(const ocdm_sample *a, const ocdm_sample *b)
{
    return a->label_count == b->label_count && memcmp(a->labels, b->labels, a->label_count * sizeof *a->labels) == 0;
}

/* A policy that is warmed up with other batches, or from the middle, must see the same stream. */
TEST(samples_depend_on_the_seed_and_their_number_only)
{
    ocdm__label_stream *records = records_of();
    for (size_t k = 0; k < OCDM__STEADY_KINDS; k++) {
        enum ocdm__steady_kind kind = (enum ocdm__steady_kind)k;
        ocdm__steady_stream long_ones = open_stream(kind, records, 7, 100), short_ones = open_stream(kind, records, 7, 3),
                            others = open_stream(kind, records, 8, 100);
        const ocdm_sample *whole = ocdm__steady_stream_batch(&long_ones, 1000);
        const ocdm_sample *part = ocdm__steady_stream_batch(&short_ones, 1042);
        const ocdm_sample *other = ocdm__steady_stream_batch(&others, 1000);
        size_t equal = 0;
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(part[i].id, 1042 + i);
            assert_true(same_labels(&part[i], &whole[42 + i]));
        }
        for (size_t i = 0; i < 100; i++)
            equal += same_labels(&whole[i], &other[i]);
        assert_in_range(equal, 0, 50);
        ocdm__steady_stream_close(&long_ones);
        ocdm__steady_stream_close(&short_ones);
        ocdm__steady_stream_close(&others);
    }
    ocdm__label_stream_destroy(records);
}

/* Checks labels for range and repeats; counts samples by number of labels (9: more than 8) and labels of class 0. */
static size_t count_labels(const ocdm_sample *samples, size_t count, size_t class_count, size_t by_labels[10])
{
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++) {
        by_labels[samples[i].label_count < 9 ? samples[i].label_count : 9]++;
        for (size_t j = 0; j < samples[i].label_count; j++) {
            assert_true(samples[i].labels[j] < class_count);
            zeros += samples[i].labels[j] == 0;
            for (size_t l = 0; l < j; l++)
                assert_true(samples[i].labels[l] != samples[i].labels[j]);
        }
    }
    return zeros;
}

TEST(skewed_samples_have_one_to_four_labels_mostly_low_ones)
{
    size_t by_labels[10] = {0};
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_SKEWED, NULL, 0, 40000);
    assert_int_equal(stream.class_count, 80);
    assert_false(stream.single_label);
    size_t zeros = count_labels(ocdm__steady_stream_batch(&stream, 0), 40000, 80, by_labels);
    assert_int_equal(by_labels[1] + by_labels[2] + by_labels[3] + by_labels[4], 40000);
    assert_in_range(by_labels[1], 10000, 11000); /* a quarter, and those whose draws are all the same */
    assert_in_range(by_labels[4], 7500, 9900);
    assert_in_range(zeros, 9500, 11500); /* a draw is 0 with probability sqrt(1 / 80) */
    ocdm__steady_stream_close(&stream);
}

TEST(uniform_samples_have_one_to_eight_labels_of_a_thousand)
{
    size_t by_labels[10] = {0};
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_UNIFORM, NULL, 0, 40000);
    assert_int_equal(stream.class_count, 1000);
    assert_false(stream.single_label);
    size_t zeros = count_labels(ocdm__steady_stream_batch(&stream, 0), 40000, 1000, by_labels);
    for (size_t k = 1; k <= 8; k++)
        assert_in_range(by_labels[k], 4700, 5300);
    assert_in_range(zeros, 130, 230); /* 40,000 samples of 4.5 labels */
    ocdm__steady_stream_close(&stream);
}

TEST(single_samples_have_one_label_of_a_thousand)
{
    size_t by_labels[10] = {0};
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_SINGLE, NULL, 0, 40000);
    assert_true(stream.single_label);
    count_labels(ocdm__steady_stream_batch(&stream, 0), 40000, 1000, by_labels);
    assert_int_equal(by_labels[1], 40000);
    ocdm__steady_stream_close(&stream);
}

TEST(records_are_drawn_with_replacement)
{
    ocdm__label_stream *records = records_of();
    size_t all = records->sample_count, drawn = 0;
    records->sample_count = 50;
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_RECORDS, records, 0, 1000);
    assert_int_equal(stream.class_count, records->class_count);
    const ocdm_sample *samples = ocdm__steady_stream_batch(&stream, 500);
    for (size_t r = 0; r < 50; r++) {
        size_t times = 0, equal = 0, before = 0; /* records may have the same labels */
        for (size_t other = 0; other < 50; other++) {
            equal += same_labels(&records->samples[other], &records->samples[r]);
            before += other < r && same_labels(&records->samples[other], &records->samples[r]);
        }
        for (size_t i = 0; i < 1000; i++)
            times += same_labels(&samples[i], &records->samples[r]);
        assert_in_range(times, 1, 60 * equal);
        drawn += before == 0 ? times : 0;
    }
    assert_int_equal(drawn, 1000);
    assert_int_equal(samples[999].id, 1499);
    ocdm__steady_stream_close(&stream);
    records->sample_count = all;
    ocdm__label_stream_destroy(records);
}

/* ---- timing ------------------------------------------------------------------------------------------------------------- */

static ocdm__steady_plan plan_of(ocdm__steady_stream *stream)
{
    ocdm__steady_plan plan = {
        .stream = stream, .options = ocdm_options_default(), .warmup = 4, .updates = 30, .seconds = 1e6, .cpu_time = false};
    plan.options.capacity = 105;
    plan.options.seed = 5;
    return plan;
}

static void assert_ordered(const ocdm__quantiles *us)
{
    assert_true(us->p50 >= 0 && us->p50 <= us->p99 && us->p99 <= us->p999 && us->p999 <= us->max);
}

/* A memory that is offered the same batches without a clock. */
static ocdm_memory *memory_without_clock(const ocdm__steady_plan *plan, uint64_t samples)
{
    ocdm_memory *memory = NULL;
    ocdm_options options = plan->options;
    options.policy = ocdm_policy_find("ocdm");
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint64_t at = 0; at < samples; at += plan->stream->batch)
        assert_int_equal(
            ocdm_memory_update(memory, ocdm__steady_stream_batch(plan->stream, at), plan->stream->batch, NULL, NULL), OCDM_OK);
    return memory;
}

TEST(updates_are_timed_after_fill_and_warm_up)
{
    for (int cpu_time = 0; cpu_time < 2; cpu_time++) {
        ocdm__steady_stream stream = open_stream(OCDM__STEADY_SKEWED, NULL, 5, 10);
        ocdm__steady_plan plan = plan_of(&stream);
        plan.cpu_time = cpu_time;
        ocdm__steady_result result;
        ocdm_memory *memory = NULL;
        assert_int_equal(ocdm__steady_policy(&plan, ocdm_policy_find("ocdm"), &result, &memory, NULL), OCDM_OK);
        assert_int_equal(result.updates, 30);
        assert_int_equal(result.deletions, 0);
        assert_ordered(&result.us);
        assert_true(result.searches > 0 && result.steps > 0);
        assert_int_equal(ocdm_memory_arrived(memory), 530 + 300); /* 5 x 105 samples are 53 batches */
        ocdm_memory *wanted = memory_without_clock(&plan, 830);
        for (uint32_t slot = 0; slot < 105; slot++)
            assert_int_equal(ocdm_memory_id(memory, slot), ocdm_memory_id(wanted, slot));
        ocdm_memory_destroy(wanted);
        ocdm_memory_destroy(memory);
        ocdm__steady_stream_close(&stream);
    }
}

TEST(policies_without_an_index_have_no_counted_work)
{
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_SINGLE, NULL, 5, 10);
    ocdm__steady_plan plan = plan_of(&stream);
    static const char *const names[] = {"rs", "prs", "cbes", "cbrs", "max", "random"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ocdm__steady_result result;
        assert_int_equal(ocdm__steady_policy(&plan, ocdm_policy_find(names[i]), &result, NULL, NULL), OCDM_OK);
        assert_int_equal(result.updates, 30);
        assert_ordered(&result.us);
        assert_true(isnan(result.searches) && isnan(result.steps));
    }
    ocdm__steady_stream_close(&stream);
}

TEST(one_update_is_timed_when_there_is_no_time)
{
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_UNIFORM, NULL, 5, 10);
    ocdm__steady_plan plan = plan_of(&stream);
    plan.seconds = -1;
    ocdm__steady_result result;
    assert_int_equal(ocdm__steady_policy(&plan, ocdm_policy_find("ocdm"), &result, NULL, NULL), OCDM_OK);
    assert_int_equal(result.updates, 1);
    assert_true(result.us.p50 == result.us.max && result.us.mean == result.us.max);
    ocdm__steady_stream_close(&stream);
}

TEST(label_sets_are_refused_by_cbrs)
{
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_UNIFORM, NULL, 5, 10);
    ocdm__steady_plan plan = plan_of(&stream);
    ocdm__steady_result result;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm__steady_policy(&plan, ocdm_policy_find("cbrs"), &result, &memory, NULL), OCDM_NOT_SINGLE_LABEL);
    assert_null(memory);
    ocdm__steady_stream_close(&stream);
}

TEST(reference_is_timed_on_the_next_updates_of_the_memory)
{
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_SKEWED, NULL, 5, 10);
    ocdm__steady_plan plan = plan_of(&stream);
    plan.updates = 3;
    ocdm__steady_result result;
    ocdm_memory *memory = memory_without_clock(&plan, 530);
    assert_int_equal(ocdm__steady_reference(&plan, memory, &result, NULL), OCDM_OK);
    assert_int_equal(result.updates, 3);
    assert_int_equal(result.deletions, 0);
    assert_int_equal(ocdm_memory_arrived(memory), 560);
    assert_ordered(&result.us);
    assert_true(isnan(result.searches) && isnan(result.steps));
    ocdm_memory_destroy(memory);
    ocdm__steady_stream_close(&stream);
}

TEST(reference_is_timed_on_one_deletion_when_there_is_no_time)
{
    ocdm__steady_stream stream = open_stream(OCDM__STEADY_SKEWED, NULL, 5, 10);
    ocdm__steady_plan plan = plan_of(&stream);
    plan.seconds = -1;
    ocdm__steady_result result;
    ocdm_memory *memory = memory_without_clock(&plan, 530);
    assert_int_equal(ocdm__steady_reference(&plan, memory, &result, NULL), OCDM_OK);
    assert_int_equal(result.updates, 0);
    assert_int_equal(result.deletions, 1);
    assert_int_equal(ocdm_memory_arrived(memory), 530);
    assert_true(result.us.mean >= 0 && isnan(result.us.p50) && isnan(result.us.max));
    ocdm_memory_destroy(memory);
    ocdm__steady_stream_close(&stream);
}

TEST(clocks_can_be_read)
{
    assert_true(ocdm__steady_clock_us(false) >= 0);
    assert_true(ocdm__steady_clock_us(true) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_definition),
        cmocka_unit_test(quantiles_of_one_to_a_thousand_are_known),
        cmocka_unit_test(samples_depend_on_the_seed_and_their_number_only),
        cmocka_unit_test(skewed_samples_have_one_to_four_labels_mostly_low_ones),
        cmocka_unit_test(uniform_samples_have_one_to_eight_labels_of_a_thousand),
        cmocka_unit_test(single_samples_have_one_label_of_a_thousand),
        cmocka_unit_test(records_are_drawn_with_replacement),
        cmocka_unit_test(updates_are_timed_after_fill_and_warm_up),
        cmocka_unit_test(policies_without_an_index_have_no_counted_work),
        cmocka_unit_test(one_update_is_timed_when_there_is_no_time),
        cmocka_unit_test(label_sets_are_refused_by_cbrs),
        cmocka_unit_test(reference_is_timed_on_the_next_updates_of_the_memory),
        cmocka_unit_test(reference_is_timed_on_one_deletion_when_there_is_no_time),
        cmocka_unit_test(clocks_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
