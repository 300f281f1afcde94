/*
 * Weights, forgetting and other capacities between the updates of random streams, for every policy, against the judge: who
 * left in which order, who sits where, counts, targets, distances; and payloads that follow the changes are where they belong.
 */
#include "../test.h"
#include "made_stream.h"
#include "pair.h"

#include "base/allocate.h"
#include "memory/internal.h"

#include <math.h>
#include <stdio.h>

/* Both memories, the stream that they are offered, and what decides about the rest. */
struct changing {
    struct pair pair;
    struct made_stream *stream;
    ocdm__random random;
};

static void open_changing(struct changing *changing, const ocdm_options *options, const struct made_shape *shape, uint64_t seed)
{
    char name[40];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    pair_open(&changing->pair, options, name);
    changing->stream = ocdm__allocate(1, sizeof *changing->stream);
    assert_non_null(changing->stream);
    made_stream_start(changing->stream, seed, shape);
    changing->random = ocdm__random_stream(seed, 99);
}

static void close_changing(struct changing *changing)
{
    pair_close(&changing->pair);
    ocdm__release(changing->stream);
}

static void update(struct changing *changing)
{
    size_t count = made_stream_next(changing->stream, changing->pair.naive);
    pair_update(&changing->pair, changing->stream->batch, count);
}

/* A weight for a class of the stream, seen or not yet; the extremes and 1 now and then. */
static void weigh(struct changing *changing)
{
    static const double special[] = {1, OCDM_MIN_WEIGHT, OCDM_MAX_WEIGHT, 2};
    const struct naive *naive = changing->pair.naive;
    uint32_t id = (uint32_t)ocdm__random_below(&changing->random, 40);
    if (naive->class_count > 0 && ocdm__random_below(&changing->random, 4) > 0)
        id = naive->classes[ocdm__random_below(&changing->random, naive->class_count)].id;
    uint64_t kind = ocdm__random_below(&changing->random, 8);
    pair_weigh(&changing->pair, id, kind < 4 ? special[kind] : 0.05 + 5 * ocdm__random_unit(&changing->random));
}

static void forget(struct changing *changing)
{
    const struct naive *naive = changing->pair.naive;
    if (naive->size > 0)
        pair_forget(&changing->pair, naive->pool[ocdm__random_below(&changing->random, naive->size)].id);
}

static void resize(struct changing *changing)
{
    uint32_t twice = changing->pair.naive->options.capacity * 2;
    uint32_t most = twice < PAIR_LARGEST_MEMORY ? twice : PAIR_LARGEST_MEMORY;
    pair_resize(&changing->pair, 1 + (uint32_t)ocdm__random_below(&changing->random, most));
}

static void run_pair(const ocdm_options *options, const struct made_shape *shape, uint64_t seed)
{
    struct changing changing;
    open_changing(&changing, options, shape, seed);
    for (int step = 0; step < 60; step++) {
        uint64_t what = ocdm__random_below(&changing.random, 12);
        if (what < 2)
            weigh(&changing);
        else if (what < 4)
            forget(&changing);
        else if (what < 5)
            resize(&changing);
        else if (what < 6)
            pair_reload(&changing.pair);
        update(&changing);
    }
    close_changing(&changing);
}

TEST(policies_equal_the_judge_when_weights_samples_and_capacity_change)
{
    static const double rhos[] = {0, 0.5, 1, -0.3, 16};
    for (size_t p = 0; is_judged(p); p++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            ocdm_options options = ocdm_options_default();
            options.policy = ocdm_policy_at(p);
            options.seed = seed * 7919;
            options.tie = (ocdm_tie)(seed % 4);
            options.rho = rhos[seed / 4 % 5];
            bool single = (options.policy->traits & OCDM_SINGLE_LABEL) != 0;
            struct made_shape shape = made_shape_from(seed + 8000, single, &options);
            options.capacity = options.capacity < PAIR_LARGEST_MEMORY ? options.capacity : PAIR_LARGEST_MEMORY;
            run_pair(&options, &shape, seed + 8000 + p * 1000);
        }
}

/* The weights alone, all classes weighted from the start, and a memory large enough that label sets recur. */
TEST(ocdm_equals_the_judge_when_all_classes_have_weights)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct changing changing;
        ocdm_options options = ocdm_options_default();
        options.capacity = 20 + (uint32_t)seed * 3;
        options.seed = seed;
        options.rho = (double)(seed % 3) * 0.5;
        options.policy = ocdm_policy_find(seed % 5 == 4 ? "onlyone" : "ocdm");
        const struct made_shape shape = {.classes = 12, .window = 8, .period = 3, .most_labels = 4, .batch = 10};
        open_changing(&changing, &options, &shape, seed + 9000);
        for (uint32_t id = 0; id < 12; id++)
            pair_weigh(&changing.pair, id, exp(4 * ocdm__random_unit(&changing.random) - 2));
        for (int step = 0; step < 60; step++)
            update(&changing);
        close_changing(&changing);
    }
}

/* Classes that were seen up to 2^62 times before the stream begins; ocdm.h states 2^63. */
TEST(policies_equal_the_judge_when_classes_were_seen_very_often)
{
    static const double rhos[] = {16, -16, 1, -0.03, 0.5};
    for (size_t p = 0; is_judged(p); p++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct changing changing;
            ocdm_options options = ocdm_options_default();
            options.policy = ocdm_policy_at(p);
            options.seed = seed;
            options.rho = rhos[seed % 5];
            bool single = (options.policy->traits & OCDM_SINGLE_LABEL) != 0;
            struct made_shape shape = made_shape_from(seed + 7000, single, &options);
            options.rho = rhos[seed % 5];
            options.capacity = options.capacity < PAIR_LARGEST_MEMORY ? options.capacity : PAIR_LARGEST_MEMORY;
            open_changing(&changing, &options, &shape, seed + 7000);
            for (uint32_t id = 0; id < 40; id++) {
                uint64_t seen = ((uint64_t)1 << 62) >> ocdm__random_below(&changing.random, 1 + 5 * (seed / 5));
                const ocdm_class class = {.id = id, .seen = seen};
                const struct ocdm__shard_counts elsewhere = {.classes = &class, .class_count = 1};
                assert_int_equal(ocdm__memory_expect_shards(changing.pair.memory, &elsewhere, 1, NULL, NULL), OCDM_OK);
                naive_add_seen(changing.pair.naive, id, seen);
            }
            for (int step = 0; step < 40; step++)
                update(&changing);
            close_changing(&changing);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_equal_the_judge_when_weights_samples_and_capacity_change),
        cmocka_unit_test(ocdm_equals_the_judge_when_all_classes_have_weights),
        cmocka_unit_test(policies_equal_the_judge_when_classes_were_seen_very_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
