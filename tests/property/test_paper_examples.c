/* What the paper itself says about its method and the strategies it is compared with, as tests. */
#include "../test.h"
#include "compare.h"

#include "base/allocate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t c1 = 1, c2 = 2, c3 = 3;
static const uint32_t both[] = {2, 1};

/* Puts `count` samples in random order. */
static void shuffle(ocdm_sample *samples, size_t count, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 3);
    for (size_t i = count; i > 1; i--) {
        size_t j = ocdm__random_below(&random, i);
        ocdm_sample other = samples[j];
        samples[j] = samples[i - 1];
        samples[i - 1] = other;
    }
}

/* 300 samples of c1, 500 of c2, 300 of c3; ids say which: 0-299, 300-799, 800-1099. */
static void fill_300_500_300(ocdm_sample *samples)
{
    for (uint64_t i = 0; i < 1100; i++)
        samples[i] = (ocdm_sample){i, i < 300 ? &c1 : i < 800 ? &c2 : &c3, 1};
}

static void offer_in_batches(ocdm_memory *memory, const ocdm_sample *samples, size_t count, size_t batch)
{
    for (size_t i = 0; i < count; i += batch)
        offer(memory, samples + i, count - i < batch ? count - i : batch, "batches");
}

/* "c1 has 300 samples, c2 has 500 samples and c3 has 300 samples. ... the optimal solution ... removing 100 samples from c2".
 */
TEST(ocdm_removes_100_of_c2_when_classes_have_300_500_300)
{
    static ocdm_sample samples[1100];
    for (uint64_t seed = 0; seed < 3; seed++) {
        fill_300_500_300(samples);
        shuffle(samples, 1100, seed);
        ocdm_options options = ocdm_options_default();
        options.seed = seed;
        ocdm_memory *memory = make_memory(&options);
        offer(memory, samples, 1000, "the first thousand");
        ocdm_change change = offer(memory, samples + 1000, 100, "the last hundred");
        assert_int_equal(change.left_count, 100);
        for (size_t i = 0; i < change.left_count; i++)
            assert_true(change.left[i].id >= 300 && change.left[i].id < 800);
        assert_int_equal(ocdm_memory_kept(memory, c1), 300);
        assert_int_equal(ocdm_memory_kept(memory, c2), 400);
        assert_int_equal(ocdm_memory_kept(memory, c3), 300);
        ocdm_memory_destroy(memory);
    }
}

/* The same in class order by tens, with the default tie rule: of c2 the hundred with the smallest keys have gone. */
TEST(ocdm_keeps_the_largest_keys_of_c2_when_it_shrinks)
{
    static ocdm_sample samples[1100];
    fill_300_500_300(samples);
    ocdm_options options = ocdm_options_default();
    options.seed = 5;
    ocdm_memory *memory = make_memory(&options);
    offer_in_batches(memory, samples, 1100, 10);
    uint64_t base = ocdm__random_base(options.seed, OCDM__FOR_KEYS);
    uint64_t largest_gone = 0;
    uint64_t smallest_kept = UINT64_MAX;
    for (uint64_t id = 300; id < 800; id++) {
        uint64_t key = ocdm__random_at(base, id);
        if (ocdm_memory_find(memory, id) == OCDM_NONE)
            largest_gone = key > largest_gone ? key : largest_gone;
        else
            smallest_kept = key < smallest_kept ? key : smallest_kept;
    }
    assert_int_equal(ocdm_memory_kept(memory, c2), 400);
    assert_true(largest_gone < smallest_kept);
    ocdm_memory_destroy(memory);
}

/* The least distance over all ways to keep `left` samples of classes c, c + 1, ...: eq. (3) by brute force over class counts.
 */
static long double least_distance(const struct naive *naive, const uint32_t *have, uint32_t *kept, size_t c, uint32_t left)
{
    if (c == naive->class_count)
        return left == 0 ? naive_distance_of(naive, OCDM_IN_PLAY, kept) : INFINITY;
    long double best = INFINITY;
    for (uint32_t m = 0; m <= have[c] && m <= left; m++) {
        kept[c] = m;
        long double distance = least_distance(naive, have, kept, c + 1, left - m);
        if (distance < best)
            best = distance;
    }
    return best;
}

/* A random pool with one label a sample goes through the library at once; what remains must be the optimum of eq. (3). */
static void expect_greedy_is_optimal(ocdm_distance distance, uint64_t seed)
{
    char where[100];
    snprintf(where, sizeof where, "seed %llu, %s", (unsigned long long)seed, ocdm_distance_name(distance));
    ocdm__random random = ocdm__random_stream(seed, 4);
    uint32_t label[24];
    ocdm_sample samples[24];
    size_t count = 2 + ocdm__random_below(&random, 23);
    for (size_t i = 0; i < count; i++) {
        label[i] = (uint32_t)(ocdm__random_unit(&random) * ocdm__random_unit(&random) * 5);
        samples[i] = (ocdm_sample){i, &label[i], 1};
    }
    ocdm_options options = ocdm_options_default();
    options.capacity = 1 + (uint32_t)ocdm__random_below(&random, count);
    options.distance = distance;
    ocdm_memory *memory = make_memory(&options);
    offer(memory, samples, count, where);
    options.capacity = (uint32_t)count;
    struct naive *naive = naive_create(&options, count);
    naive_update(naive, samples, count, NULL, NULL);
    uint32_t have[NAIVE_CLASSES];
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, have);
    long double best = least_distance(naive, have, kept, 0, ocdm_memory_options(memory)->capacity);
    HOLDS(where, fabsl(ocdm_memory_distance(memory, OCDM_IN_PLAY) - best) < 1e-9L);
    naive_destroy(naive);
    ocdm_memory_destroy(memory);
}

/* Deleting from the fullest class is optimal when every sample has one label and rho = 0 (the paper's selection strategy). */
TEST(ocdm_is_optimal_when_samples_have_one_label)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        expect_greedy_is_optimal(OCDM_KL, seed);
        expect_greedy_is_optimal(OCDM_REVERSE_KL, seed);
        expect_greedy_is_optimal(OCDM_L2, seed);
    }
}

/* "c1 has 10 samples and c2 has 5000 samples. Each sample belonging to c1 also belongs to c2." 5000 samples in random order. */
static ocdm_memory *keep_from_1_to_500(const char *policy, uint64_t seed)
{
    ocdm_sample *samples = ocdm__allocate(5000, sizeof *samples);
    assert_non_null(samples);
    for (uint64_t i = 0; i < 5000; i++)
        samples[i] = i < 10 ? (ocdm_sample){i, both, 2} : (ocdm_sample){i, &c2, 1};
    shuffle(samples, 5000, seed);
    ocdm_options options = ocdm_options_default();
    options.capacity = 500;
    options.policy = ocdm_policy_find(policy);
    options.seed = seed;
    ocdm_memory *memory = make_memory(&options);
    offer_in_batches(memory, samples, 5000, 100);
    ocdm__release(samples);
    return memory;
}

/* "... using max strategy will make the ratio ... always be 1:500": one of c1 expected in 500, within five standard errors. */
TEST(max_keeps_the_ratio_1_to_500_when_c1_lies_inside_c2)
{
    const int runs = 60;
    double total = 0;
    for (uint64_t seed = 0; seed < (uint64_t)runs; seed++) {
        ocdm_memory *memory = keep_from_1_to_500("max", seed);
        assert_int_equal(ocdm_memory_kept(memory, c2), 500);
        total += ocdm_memory_kept(memory, c1);
        ocdm_memory_destroy(memory);
    }
    assert_true(fabs(total / runs - 1) < 5 * sqrt(0.9 / runs));
}

/* On the same stream OCDM keeps all ten of c1. */
TEST(ocdm_keeps_all_of_c1_when_it_lies_inside_c2)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        ocdm_memory *memory = keep_from_1_to_500("ocdm", seed);
        assert_int_equal(ocdm_memory_kept(memory, c1), 10);
        assert_int_equal(ocdm_memory_kept(memory, c2), 500);
        ocdm_memory_destroy(memory);
    }
}

/* "Repeating this process k times will make this ratio become (100/101)^k": old samples of 1000 left after k batches of 10. */
TEST(random_forgets_as_100_to_101_when_a_new_task_comes)
{
    enum { RUNS = 20, STEPS = 150, EVERY = 50 };
    double left[STEPS / EVERY] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = ocdm_options_default();
        options.policy = ocdm_policy_find("random");
        options.seed = seed;
        ocdm_memory *memory = make_memory(&options);
        ocdm_sample batch[10];
        for (uint64_t id = 0; id < 1000 + STEPS * 10; id += 10) {
            for (uint64_t i = 0; i < 10; i++)
                batch[i] = (ocdm_sample){id + i, id < 1000 ? &c1 : &c2, 1};
            offer(memory, batch, 10, "a step");
            if (id >= 1000 && (id / 10 - 99) % EVERY == 0)
                left[(id / 10 - 99) / EVERY - 1] += ocdm_memory_kept(memory, c1);
        }
        ocdm_memory_destroy(memory);
    }
    for (int i = 0; i < STEPS / EVERY; i++) {
        double share = pow(100.0 / 101, (i + 1) * EVERY);
        double deviation = sqrt(1000 * share * (1 - share) / RUNS);
        assert_true(fabs(left[i] / RUNS - 1000 * share) < 5 * deviation);
    }
}

/* The least distance over all subsets of `keep` samples: eq. (3) as it is written. */
static long double least_over_subsets(const struct naive *naive, uint32_t keep)
{
    long double best = INFINITY;
    for (uint32_t subset = 0; subset < 1u << naive->size; subset++) {
        uint32_t kept[NAIVE_CLASSES] = {0};
        uint32_t members = 0;
        for (size_t v = 0; v < naive->size; v++) {
            if (!(subset >> v & 1))
                continue;
            members++;
            for (size_t i = 0; i < naive->pool[v].label_count; i++)
                kept[naive->pool[v].label[i]]++;
        }
        if (members != keep)
            continue;
        long double distance = naive_distance_of(naive, OCDM_IN_PLAY, kept);
        if (distance < best)
            best = distance;
    }
    return best;
}

/* Eq. (1) by brute force over subsets on tiny pools: one deletion is optimal, several are never better than the optimum. */
TEST(ocdm_meets_the_optimum_when_one_sample_goes)
{
    for (uint64_t seed = 0; seed < 80; seed++) {
        char where[40];
        snprintf(where, sizeof where, "seed %llu", (unsigned long long)seed);
        ocdm__random random = ocdm__random_stream(seed, 5);
        static const uint32_t sets[][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3},
                                           {0, 1, 1}, {1, 2, 3}, {2, 3, 3}, {0, 2, 3}};
        ocdm_sample samples[9];
        size_t count = 3 + ocdm__random_below(&random, 7);
        for (size_t i = 0; i < count; i++)
            samples[i] = (ocdm_sample){i, sets[ocdm__random_below(&random, 8)], 3};
        ocdm_options options = ocdm_options_default();
        options.distance = (ocdm_distance)(seed % 4);
        options.rho = (double)(seed % 3) * 0.5;
        options.capacity = (uint32_t)count;
        struct naive *naive = naive_create(&options, count);
        naive_update(naive, samples, count, NULL, NULL);
        for (uint32_t gone = 1; gone < count; gone++) {
            options.capacity = (uint32_t)count - gone;
            ocdm_memory *memory = make_memory(&options);
            offer(memory, samples, count, where);
            long double excess = ocdm_memory_distance(memory, OCDM_IN_PLAY) - least_over_subsets(naive, options.capacity);
            HOLDS(where, excess > -1e-9L && (gone > 1 || excess < 1e-9L));
            ocdm_memory_destroy(memory);
        }
        naive_destroy(naive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ocdm_removes_100_of_c2_when_classes_have_300_500_300),
        cmocka_unit_test(ocdm_keeps_the_largest_keys_of_c2_when_it_shrinks),
        cmocka_unit_test(ocdm_is_optimal_when_samples_have_one_label),
        cmocka_unit_test(max_keeps_the_ratio_1_to_500_when_c1_lies_inside_c2),
        cmocka_unit_test(ocdm_keeps_all_of_c1_when_it_lies_inside_c2),
        cmocka_unit_test(random_forgets_as_100_to_101_when_a_new_task_comes),
        cmocka_unit_test(ocdm_meets_the_optimum_when_one_sample_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
