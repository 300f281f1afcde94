/* The searches of `bench gap` find what plain enumeration finds, and leave the pool as it was. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <math.h>

#include "../test.h"
#include "base/random.h"
#include "bench/gap.h"
#include "bench/gap_search.h"

enum { SAMPLES = 11, CLASSES = 5 };

struct lists {
    size_t start[SAMPLES + 1];
    uint32_t label[SAMPLES * CLASSES];
    double target[CLASSES];
    ocdm__reference_pool pool;
};

static void random_lists(struct lists *lists, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 7);
    size_t at = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        lists->start[i] = at;
        for (uint32_t c = 0; c < CLASSES; c++)
            if (c == i % CLASSES || ocdm__random_below(&random, 3 + c) == 0)
                lists->label[at++] = c;
    }
    lists->start[SAMPLES] = at;
    for (size_t c = 0; c < CLASSES; c++)
        lists->target[c] = 1.0 / CLASSES;
    lists->pool = (ocdm__reference_pool){SAMPLES, CLASSES, lists->start, lists->label, lists->target};
}

/* KL of the samples whose bit is set, straight from the definition. */
static double distance_of(const struct lists *lists, unsigned kept)
{
    double count[CLASSES] = {0}, total = 0, sum = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t j = lists->start[i]; (kept >> i & 1) && j < lists->start[i + 1]; j++) {
            count[lists->label[j]]++;
            total++;
        }
    for (size_t c = 0; c < CLASSES; c++)
        if (count[c] > 0)
            sum += count[c] / total * log(count[c] / total * CLASSES);
    return sum;
}

static int bits(unsigned word)
{
    int count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count;
}

static double optimum(const struct lists *lists, int deletions)
{
    double least = INFINITY;
    for (unsigned kept = 0; kept < 1u << SAMPLES; kept++)
        if (bits(kept) == SAMPLES - deletions && distance_of(lists, kept) < least)
            least = distance_of(lists, kept);
    return least;
}

static ocdm__gap_pool *make(const struct lists *lists)
{
    ocdm__gap_pool *pool = NULL;
    assert_int_equal(ocdm__gap_pool_create(&lists->pool, &pool, NULL), OCDM_OK);
    return pool;
}

static void expect_near(double found, double expected, uint64_t seed)
{
    if (!(fabs(found - expected) < 1e-9))
        fail_msg("seed %llu: %.12f found, %.12f expected", (unsigned long long)seed, found, expected);
}

TEST(gap_groups_samples_when_their_label_sets_are_equal_in_any_order)
{
    static const size_t start[] = {0, 2, 4, 5, 5, 5};
    static const uint32_t label[] = {3, 1, 1, 3, 1};
    ocdm__reference_pool lists = {5, 4, start, label, NULL};
    ocdm__gap_pool *pool = NULL;
    assert_int_equal(ocdm__gap_pool_create(&lists, &pool, NULL), OCDM_OK);
    assert_int_equal(pool->set_count, 3);
    assert_int_equal(pool->set_of[0], pool->set_of[1]);
    assert_int_equal(pool->set_of[3], pool->set_of[4]);
    assert_true(pool->set_of[2] != pool->set_of[0]);
    ocdm__gap_pool_destroy(pool);
}

TEST(gap_best_is_the_optimum_when_pools_are_small)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct lists lists;
        random_lists(&lists, seed);
        ocdm__gap_pool *pool = make(&lists);
        double before = ocdm__gap_distance(pool);
        expect_near(before, distance_of(&lists, (1u << SAMPLES) - 1), seed);
        for (int deletions = 1; deletions <= 4; deletions++) {
            uint32_t sets[OCDM__GAP_DELETIONS];
            double best = ocdm__gap_best(pool, (size_t)deletions, sets);
            expect_near(best, optimum(&lists, deletions), seed);
            assert_true(ocdm__gap_distance(pool) == before);
            for (int k = 0; k < deletions; k++)
                ocdm__gap_delete(pool, sets[k]);
            expect_near(ocdm__gap_distance(pool), best, seed);
            for (int k = 0; k < deletions; k++)
                ocdm__gap_restore(pool, sets[k]);
        }
        ocdm__gap_pool_destroy(pool);
    }
}

/* From the first samples, a poor choice: exchanges must end at or above the optimum, and where no pair could do better. */
TEST(gap_exchange_stops_where_no_pair_helps_when_started_anywhere)
{
    enum { DELETIONS = 4 };
    size_t improved = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct lists lists;
        random_lists(&lists, seed);
        ocdm__gap_pool *pool = make(&lists);
        uint32_t sets[OCDM__GAP_DELETIONS], pair[OCDM__GAP_DELETIONS];
        for (size_t k = 0; k < DELETIONS; k++) {
            sets[k] = pool->set_of[k];
            ocdm__gap_delete(pool, sets[k]);
        }
        double start = ocdm__gap_distance(pool);
        double found = ocdm__gap_exchange(pool, DELETIONS, sets);
        improved += found < start - 1e-9;
        assert_true(found <= start && found == ocdm__gap_distance(pool));
        assert_true(found >= optimum(&lists, DELETIONS) - 1e-9);
        for (size_t a = 0; a < DELETIONS; a++)
            for (size_t b = a + 1; b < DELETIONS; b++) {
                ocdm__gap_restore(pool, sets[a]);
                ocdm__gap_restore(pool, sets[b]);
                assert_true(ocdm__gap_best(pool, 2, pair) > found - 1e-9);
                ocdm__gap_delete(pool, sets[a]);
                ocdm__gap_delete(pool, sets[b]);
            }
        ocdm__gap_pool_destroy(pool);
    }
    assert_true(improved > 50);
}

/* A bound above the optimum would be wrong; one far below it would be of no use. */
TEST(gap_bound_is_below_the_optimum_and_near_it_when_pools_are_small)
{
    double optima = 0, bounds = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct lists lists;
        random_lists(&lists, seed);
        ocdm__gap_pool *pool = make(&lists);
        for (int deletions = 1; deletions <= 4; deletions++) {
            double bound, best = optimum(&lists, deletions);
            assert_int_equal(ocdm__gap_bound(pool, (size_t)deletions, &bound, NULL), OCDM_OK);
            if (bound > best + 1e-9)
                fail_msg("seed %llu: bound %.12f, optimum %.12f", (unsigned long long)seed, bound, best);
            optima += best;
            bounds += bound;
        }
        ocdm__gap_pool_destroy(pool);
    }
    assert_true(bounds > optima / 2);
}

/* The greedy sees one deletion ahead, so some pools have a better answer, and none has a worse optimum. */
TEST(gap_is_found_when_the_greedy_is_not_optimal)
{
    size_t worse = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct lists lists;
        random_lists(&lists, seed);
        ocdm__gap_pool *pool = make(&lists);
        uint32_t deleted[4], sets[OCDM__GAP_DELETIONS];
        double greedy;
        assert_int_equal(ocdm__reference_delete(&lists.pool, 4, deleted, &greedy, NULL), OCDM_OK);
        double best = ocdm__gap_best(pool, 4, sets);
        assert_true(greedy > best - 1e-9);
        worse += greedy > best + 1e-9;
        ocdm__gap_pool_destroy(pool);
    }
    assert_in_range(worse, 1, 199);
}

/* The built-in stream's first samples: enough to fill a memory of 1000 and to pass a few dozen batches by it. */
static ocdm__label_stream *short_stream(void)
{
    ocdm__label_stream *stream = NULL;
    assert_int_equal(ocdm__label_stream_open(NULL, 0, &stream, NULL), OCDM_OK);
    stream->sample_count = 1200;
    return stream;
}

TEST(gap_measures_the_same_when_the_seed_is_the_same)
{
    ocdm__label_stream *stream = short_stream();
    for (int kind = 0; kind < OCDM__GAP_KINDS; kind++) {
        ocdm__gap_result first, second;
        assert_int_equal(ocdm__bench_gap((enum ocdm__gap_kind)kind, stream, 5, &first, NULL), OCDM_OK);
        assert_int_equal(ocdm__bench_gap((enum ocdm__gap_kind)kind, stream, 5, &second, NULL), OCDM_OK);
        assert_int_equal(first.pools, second.pools);
        assert_int_equal(first.optimal, second.optimal);
        assert_true(first.mean_gap == second.mean_gap && first.worst_gap == second.worst_gap);
        assert_true(first.mean_limit == second.mean_limit && first.mean_distance == second.mean_distance);
    }
    ocdm__label_stream_destroy(stream);
}

TEST(gap_looks_at_full_pools_when_the_stream_is_long_enough)
{
    ocdm__label_stream *stream = short_stream();
    static const size_t pools[OCDM__GAP_KINDS] = {10000, 100, 20};
    for (int kind = 0; kind < OCDM__GAP_KINDS; kind++) {
        ocdm__gap_result result;
        assert_int_equal(ocdm__bench_gap((enum ocdm__gap_kind)kind, stream, 0, &result, NULL), OCDM_OK);
        assert_int_equal(result.pools, pools[kind]);
        assert_in_range(result.optimal, 1, result.pools);
        assert_true(result.mean_gap >= 0 && result.mean_gap <= result.worst_gap && result.worst_gap <= result.worst_limit);
        assert_true(result.mean_gap <= result.mean_limit && result.mean_limit <= result.mean_distance);
    }
    stream->sample_count = 1000;
    ocdm__gap_result none;
    assert_int_equal(ocdm__bench_gap(OCDM__GAP_PAIRS, stream, 0, &none, NULL), OCDM_OK);
    assert_int_equal(none.pools, 0);
    ocdm__label_stream_destroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gap_groups_samples_when_their_label_sets_are_equal_in_any_order),
        cmocka_unit_test(gap_best_is_the_optimum_when_pools_are_small),
        cmocka_unit_test(gap_exchange_stops_where_no_pair_helps_when_started_anywhere),
        cmocka_unit_test(gap_bound_is_below_the_optimum_and_near_it_when_pools_are_small),
        cmocka_unit_test(gap_is_found_when_the_greedy_is_not_optimal),
        cmocka_unit_test(gap_measures_the_same_when_the_seed_is_the_same),
        cmocka_unit_test(gap_looks_at_full_pools_when_the_stream_is_long_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
