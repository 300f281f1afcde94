/* The paper's loop does what the paper says: its own examples, and brute force on tiny pools. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <math.h>

#include "../test.h"
#include "base/random.h"
#include "bench/memory.h"
#include "bench/reference.h"

enum { ROOM = 2000 };

struct lists {
    size_t start[ROOM + 1];
    uint32_t label[4 * ROOM];
    size_t samples;
    double target[8];
};

static void add(struct lists *lists, const uint32_t *label, size_t count)
{
    for (size_t j = 0; j < count; j++)
        lists->label[lists->start[lists->samples] + j] = label[j];
    lists->start[lists->samples + 1] = lists->start[lists->samples] + count;
    lists->samples++;
}

static ocdm__reference_pool equal_target(struct lists *lists, size_t classes)
{
    for (size_t c = 0; c < classes; c++)
        lists->target[c] = 1.0 / (double)classes;
    return (ocdm__reference_pool){lists->samples, classes, lists->start, lists->label, lists->target};
}

/* The paper's example: 300, 500 and 300 samples of one label each, 100 to delete: all of them from the second class. */
TEST(reference_deletes_from_the_largest_class_when_samples_have_one_label)
{
    static struct lists lists;
    static const size_t sizes[3] = {300, 500, 300};
    for (uint32_t c = 0; c < 3; c++)
        for (size_t n = 0; n < sizes[c]; n++)
            add(&lists, &c, 1);
    ocdm__reference_pool pool = equal_target(&lists, 3);
    uint32_t deleted[100];
    double distance;
    assert_int_equal(ocdm__reference_delete(&pool, 100, deleted, &distance, NULL), OCDM_OK);
    for (size_t k = 0; k < 100; k++)
        assert_int_equal(deleted[k], 300 + k);
    double expected = 0.3 * log(0.9) * 2 + 0.4 * log(1.2);
    assert_true(fabs(distance - expected) < 1e-12);
}

/* Two samples of {0, 1}, one of {0}: deleting {0} leaves both classes equal; deleting a pair would leave 2:1. */
TEST(reference_looks_at_all_labels_when_a_sample_has_several)
{
    static struct lists lists;
    static const uint32_t both[2] = {0, 1};
    add(&lists, both, 2);
    add(&lists, both, 2);
    add(&lists, both, 1);
    ocdm__reference_pool pool = equal_target(&lists, 2);
    uint32_t deleted[1];
    double distance;
    assert_int_equal(ocdm__reference_delete(&pool, 1, deleted, &distance, NULL), OCDM_OK);
    assert_int_equal(deleted[0], 2);
    assert_true(fabs(distance) < 1e-15);
}

TEST(reference_prefers_the_target_when_it_is_not_equal)
{
    static struct lists lists;
    for (uint32_t n = 0; n < 6; n++)
        add(&lists, &(uint32_t){n % 2}, 1);
    ocdm__reference_pool pool = equal_target(&lists, 2);
    lists.target[0] = 0.75;
    lists.target[1] = 0.25;
    uint32_t deleted[2];
    double distance;
    assert_int_equal(ocdm__reference_delete(&pool, 2, deleted, &distance, NULL), OCDM_OK);
    assert_int_equal(deleted[0], 1);
    assert_int_equal(deleted[1], 3);
    assert_true(fabs(distance) < 1e-15);
}

TEST(reference_keeps_the_last_label_when_there_is_a_sample_without)
{
    static struct lists lists;
    add(&lists, &(uint32_t){0}, 1);
    add(&lists, NULL, 0);
    ocdm__reference_pool pool = equal_target(&lists, 1);
    uint32_t deleted[2];
    double distance;
    assert_int_equal(ocdm__reference_delete(&pool, 2, deleted, &distance, NULL), OCDM_OK);
    assert_int_equal(deleted[0], 1);
    assert_int_equal(deleted[1], 0);
    assert_true(isinf(distance));
}

TEST(reference_refuses_when_there_is_too_little_to_delete)
{
    static struct lists lists;
    add(&lists, &(uint32_t){0}, 1);
    ocdm__reference_pool pool = equal_target(&lists, 1);
    uint32_t deleted[2];
    assert_int_equal(ocdm__reference_delete(&pool, 2, deleted, NULL, NULL), OCDM_BAD_ARGUMENT);
}

static double distance_without(const ocdm__reference_pool *pool, size_t left_out)
{
    double count[8] = {0}, total = 0, sum = 0;
    for (size_t i = 0; i < pool->sample_count; i++)
        for (size_t j = pool->label_start[i]; i != left_out && j < pool->label_start[i + 1]; j++) {
            count[pool->label[j]]++;
            total++;
        }
    for (size_t c = 0; c < pool->class_count; c++)
        if (count[c] > 0)
            sum += count[c] / total * log(count[c] / total / pool->target[c]);
    return total > 0 ? sum : (double)INFINITY;
}

TEST(reference_deletes_the_arg_min_when_pools_are_random)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 0);
        struct lists *lists = test_calloc(1, sizeof *lists);
        for (int n = 0; n < 12; n++) {
            uint32_t label[8], count = 0;
            for (uint32_t c = 0; c < 5; c++)
                if (ocdm__random_below(&random, 2 + c) == 0)
                    label[count++] = c;
            add(lists, label, count);
        }
        ocdm__reference_pool pool = equal_target(lists, 5);
        uint32_t deleted[1];
        assert_int_equal(ocdm__reference_delete(&pool, 1, deleted, NULL, NULL), OCDM_OK);
        for (size_t i = 0; i < pool.sample_count; i++)
            if (distance_without(&pool, i) < distance_without(&pool, deleted[0]) - 1e-12)
                fail_msg("seed %llu: sample %zu is better than %u", (unsigned long long)seed, i, deleted[0]);
        test_free(lists);
    }
}

/* The loop and the policy ocdm break ties differently, so their results may differ after several deletions, but not after one.
 */
TEST(reference_leaves_what_the_memory_leaves_when_batches_have_one_sample)
{
    ocdm__label_stream *stream = NULL;
    assert_int_equal(ocdm__label_stream_open(NULL, 3, &stream, NULL), OCDM_OK);
    ocdm_options options = ocdm_options_default();
    options.capacity = 60;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    ocdm__snapshot snapshot = {0};
    for (size_t i = 0; i < 2000; i++) {
        const ocdm_sample *sample = stream->samples + i * 13;
        uint32_t deleted[1];
        double distance;
        assert_int_equal(ocdm__snapshot_take(&snapshot, memory, sample, 1, stream->class_count, NULL), OCDM_OK);
        size_t size = snapshot.pool.sample_count;
        assert_int_equal(ocdm__reference_delete(&snapshot.pool, size > 60, deleted, &distance, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(memory, sample, 1, NULL, NULL), OCDM_OK);
        if (fabs(ocdm_memory_distance(memory, OCDM_IN_PLAY) - distance) > 1e-9)
            fail_msg("step %zu: the loop leaves %.12f, the memory %.12f", i, distance,
                     ocdm_memory_distance(memory, OCDM_IN_PLAY));
    }
    ocdm__snapshot_release(&snapshot);
    ocdm_memory_destroy(memory);
    ocdm__label_stream_destroy(stream);
}

/* A bench may be wrong about time, but not about what it timed. */
TEST(bench_reports_every_step_and_the_last_distance_when_run)
{
    ocdm__label_stream *stream = NULL;
    assert_int_equal(ocdm__label_stream_open(NULL, 0, &stream, NULL), OCDM_OK);
    stream->sample_count = 1205;
    ocdm__bench_plan plan = {.stream = stream, .capacity = 100, .batch = 10, .passes = 3, .seed = 0};
    ocdm__bench_result result;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm__bench_policy(&plan, ocdm_policy_find("ocdm"), &result, &memory, NULL), OCDM_OK);
    assert_int_equal(result.steps, 121);
    assert_int_equal(result.passes, 3);
    assert_int_equal(ocdm_memory_arrived(memory), 1205);
    assert_true(result.distance == ocdm_memory_distance(memory, OCDM_IN_PLAY));
    ocdm__bench_result reference;
    assert_int_equal(ocdm__bench_reference(&plan, &reference, NULL), OCDM_OK);
    assert_in_range(reference.steps, 4, 121);
    assert_true(fabs(reference.distance - result.distance) < 0.01);
    assert_int_equal(ocdm__bench_policy(&plan, ocdm_policy_find("cbrs"), &result, NULL, NULL), OCDM_NOT_SINGLE_LABEL);
    ocdm_memory_destroy(memory);
    ocdm__label_stream_destroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_deletes_from_the_largest_class_when_samples_have_one_label),
        cmocka_unit_test(reference_looks_at_all_labels_when_a_sample_has_several),
        cmocka_unit_test(reference_prefers_the_target_when_it_is_not_equal),
        cmocka_unit_test(reference_keeps_the_last_label_when_there_is_a_sample_without),
        cmocka_unit_test(reference_refuses_when_there_is_too_little_to_delete),
        cmocka_unit_test(reference_deletes_the_arg_min_when_pools_are_random),
        cmocka_unit_test(reference_leaves_what_the_memory_leaves_when_batches_have_one_sample),
        cmocka_unit_test(bench_reports_every_step_and_the_last_distance_when_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
