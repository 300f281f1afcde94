/*
 * Every policy on random streams against the judge, bit by bit after every update: who left in which order, who sits where,
 * counts, targets and distances.
 */
#include "../test.h"
#include "compare.h"
#include "made_stream.h"
#include "pair.h"

#include "base/allocate.h"

#include <stdio.h>
#include <string.h>

#define STREAMS_PER_CASE 50

static const double rhos[] = {0, 0.5, 1, -0.3, 16};
static const double tolerances[] = {0, 0.1, 0, 2, OCDM_MAX_TOLERANCE};

struct judged_case {
    ocdm_options options;
    struct made_shape shape;
    uint64_t seed;
    uint64_t samples; /* the stream ends after this many */
    bool refusals;    /* offer batches that must be refused between the others */
};

static void describe(const struct judged_case *c, char *text, size_t room)
{
    snprintf(
        text, room,
        "seed %llu: %s, tie %s, rho %g, tolerance %g, M %u; b %u, C %u, window %u, period %u, labels %u, %u%% unlabelled, %u%% repeated, "
        "%u%% recurring%s",
        (unsigned long long)c->seed, c->options.policy->name, ocdm_tie_name(c->options.tie), c->options.rho,
        c->options.tolerance, c->options.capacity, c->shape.batch, c->shape.classes, c->shape.window, c->shape.period,
        c->shape.most_labels, c->shape.unlabelled, c->shape.repeated, c->shape.recurring, c->shape.sparse ? ", sparse" : "");
}

/* Batches that must be refused: an id twice, an id that the memory holds, a sample with several labels for cbrs. Each brings a
 * class never seen, so that a half-done update would show in the counts. */
static void offer_what_is_refused(ocdm_memory *memory, const struct naive *naive, const char *where)
{
    static const uint32_t labels[] = {777777, 888888};
    ocdm_change change = {.stored = 77};
    ocdm_sample batch[] = {{1, labels, 1}, {2, labels, 1}, {1, labels, 1}};
    HOLDS(where, ocdm_memory_update(memory, batch, 3, &change, NULL) == OCDM_DUPLICATE_ID);
    batch[2] = (ocdm_sample){naive->pool[naive->size / 2].id, labels, 1};
    HOLDS(where, ocdm_memory_update(memory, batch, 3, &change, NULL) == OCDM_DUPLICATE_ID);
    batch[2] = (ocdm_sample){3, labels, 2};
    if (strcmp(naive->options.policy->name, "cbrs") == 0)
        HOLDS(where, ocdm_memory_update(memory, batch, 3, &change, NULL) == OCDM_NOT_SINGLE_LABEL);
    HOLDS(where, change.stored == 77);
    compare_memory(memory, naive, where);
}

static void compare_on(const struct judged_case *c)
{
    char where[400];
    describe(c, where, sizeof where);
    struct made_stream *stream = ocdm__allocate(1, sizeof *stream);
    assert_non_null(stream);
    made_stream_start(stream, c->seed, &c->shape);
    struct naive *naive = naive_create(&c->options, MADE_LARGEST_BATCH);
    ocdm_memory *memory = make_memory(&c->options);
    compare_memory(memory, naive, where);
    while (naive->arrived < c->samples) {
        size_t count = made_stream_next(stream, naive);
        ocdm_change change = offer(memory, stream->batch, count, where);
        naive_update(naive, stream->batch, count, NULL, NULL);
        compare_change(&change, naive, where);
        compare_memory(memory, naive, where);
        if (c->refusals && naive->size > 0)
            offer_what_is_refused(memory, naive, where);
    }
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
    ocdm__release(stream);
}

/* A refused batch leaves no trace: the memory is the judge's, who never saw it, then and ever after. */
TEST(refused_batches_leave_no_trace)
{
    for (size_t p = 0; is_judged(p); p++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct judged_case c = {.options = ocdm_options_default(), .seed = 3000 + seed};
            c.options.policy = ocdm_policy_at(p);
            c.options.seed = seed;
            c.shape = made_shape_from(c.seed, strcmp(c.options.policy->name, "cbrs") == 0, &c.options);
            c.samples = 40 + 2 * c.options.capacity;
            c.refusals = true;
            compare_on(&c);
        }
}

static void compare_policy(const char *name)
{
    bool single = strcmp(name, "cbrs") == 0;
    for (uint64_t seed = 0; seed < (uint64_t)STREAMS_PER_CASE * 20; seed++) {
        struct judged_case c = {.options = ocdm_options_default(), .seed = seed};
        c.options.policy = ocdm_policy_find(name);
        assert_non_null(c.options.policy);
        c.options.seed = seed * 0x9E3779B97F4A7C15u;
        c.options.tie = (ocdm_tie)(seed % 4);
        c.options.rho = rhos[seed / 4 % 5];
        c.options.tolerance = tolerances[seed / 20 % 5];
        c.shape = made_shape_from(seed, single, &c.options);
        c.options.batch = 1 + (uint32_t)(seed % 3) * 4;
        c.samples = 60 + 4 * c.options.capacity;
        compare_on(&c);
    }
}

TEST(ocdm_equals_the_judge_on_random_streams)
{
    compare_policy("ocdm");
}

TEST(onlyone_equals_the_judge_on_random_streams)
{
    compare_policy("onlyone");
}

TEST(rs_equals_the_judge_on_random_streams)
{
    compare_policy("rs");
}

TEST(prs_equals_the_judge_on_random_streams)
{
    compare_policy("prs");
}

TEST(prs_released_equals_the_judge_on_random_streams)
{
    compare_policy("prs-released");
}

TEST(cbes_equals_the_judge_on_random_streams)
{
    compare_policy("cbes");
}

TEST(cbrs_equals_the_judge_on_single_label_streams)
{
    compare_policy("cbrs");
}

TEST(max_equals_the_judge_on_random_streams)
{
    compare_policy("max");
}

TEST(random_equals_the_judge_on_random_streams)
{
    compare_policy("random");
}

TEST(gss_equals_the_judge_on_random_streams)
{
    compare_policy("gss");
}

TEST(gss_released_equals_the_judge_on_random_streams)
{
    compare_policy("gss-released");
}

static void compare_many_sets(uint64_t seed, uint32_t capacity, const struct made_shape *shape)
{
    struct judged_case c = {.options = ocdm_options_default(), .seed = 1000 + seed, .shape = *shape};
    c.options.capacity = capacity;
    c.options.seed = seed;
    c.options.tie = (ocdm_tie)(seed % 4);
    c.options.rho = rhos[seed % 5];
    c.options.tolerance = seed % 3 == 2 ? 0.1 : 0;
    c.samples = capacity + 600;
    compare_on(&c);
}

/* Hundreds of distinct label sets with many neighbours in score: whatever the library prunes, it may not prune the best. */
TEST(ocdm_equals_the_judge_when_label_sets_are_many)
{
    const struct made_shape shape = {.classes = 70, .window = 30, .period = 4, .most_labels = 8, .batch = 20, .unlabelled = 2};
    for (uint64_t seed = 0; seed < 10; seed++)
        compare_many_sets(seed, 300, &shape);
}

/* Thousands of them: more than the library keeps up to date one by one. */
TEST(ocdm_equals_the_judge_when_label_sets_are_thousands)
{
    const struct made_shape wide = {.classes = 90, .window = 90, .most_labels = 9, .batch = 30, .unlabelled = 1};
    const struct made_shape moving = {.classes = 200, .window = 60, .period = 2, .most_labels = 7, .batch = 60};
    const struct made_shape dense = {.classes = 18, .window = 18, .most_labels = 20, .batch = 10};
    for (uint64_t seed = 0; seed < 2; seed++) {
        compare_many_sets(seed, 2500, &wide);
        compare_many_sets(seed + 4, 2500, &moving);
        compare_many_sets(seed + 8, 2500, &dense);
    }
}

/* Few label sets, each many times: counts m_i grow well beyond what the small streams reach, and classes hold more samples than
 * a policy walks over. Cbrs gets one label a sample. */
TEST(policies_equal_the_judge_when_classes_hold_hundreds)
{
    for (size_t p = 0; is_judged(p); p++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct judged_case c = {.options = ocdm_options_default(), .seed = 2000 + seed, .samples = 1400};
            c.options.policy = ocdm_policy_at(p);
            c.options.capacity = 700;
            c.options.seed = seed;
            c.options.rho = rhos[seed % 5];
            bool single = strcmp(c.options.policy->name, "cbrs") == 0;
            uint32_t classes = seed < 3 ? 5 : 2;
            c.shape = (struct made_shape){.classes = classes,
                                          .window = classes,
                                          .most_labels = single ? 1 : 3,
                                          .batch = 40,
                                          .recurring = single ? 0 : 50};
            compare_on(&c);
        }
}

/* Thousands of classes, most of them no longer in memory, and many that tie for the largest. */
TEST(policies_equal_the_judge_when_classes_are_thousands)
{
    static const char *const names[] = {"prs", "cbes", "cbrs", "max"};
    for (size_t p = 0; p < sizeof names / sizeof *names; p++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct judged_case c = {.options = ocdm_options_default(), .seed = 4000 + seed, .samples = 2500};
            c.options.policy = ocdm_policy_find(names[p]);
            c.options.capacity = seed < 2 ? 40 : 300;
            c.options.seed = seed;
            c.options.rho = rhos[seed % 2];
            uint32_t most_labels = strcmp(names[p], "cbrs") == 0 ? 1 : 5;
            c.shape = (struct made_shape){.classes = 2900, .window = 2900, .most_labels = most_labels, .batch = 60};
            compare_on(&c);
        }
}

/* Label sets of up to a thousand classes, cut from one long list, so that they overlap. */
TEST(ocdm_equals_the_judge_when_a_sample_has_hundreds_of_labels)
{
    static uint32_t list[1000];
    for (uint32_t i = 0; i < 1000; i++)
        list[i] = i * 4294967u;
    ocdm_options options = ocdm_options_default();
    options.capacity = 4;
    options.rho = 0.5;
    struct naive *naive = naive_create(&options, 3);
    ocdm_memory *memory = make_memory(&options);
    ocdm__random random = ocdm__random_stream(7, 7);
    for (uint64_t step = 0; step < 30; step++) {
        ocdm_sample batch[3];
        for (size_t i = 0; i < 3; i++) {
            size_t first = ocdm__random_below(&random, 1000);
            size_t most = step < 15 ? 1000 - first : 3;
            batch[i] = (ocdm_sample){step * 3 + i, list + first, ocdm__random_below(&random, most + 1)};
            if (first + batch[i].label_count > 1000)
                batch[i].label_count = 1000 - first;
        }
        ocdm_change change = offer(memory, batch, 3, "hundreds of labels");
        naive_update(naive, batch, 3, NULL, NULL);
        compare_change(&change, naive, "hundreds of labels");
        compare_memory(memory, naive, "hundreds of labels");
    }
    ocdm_memory_destroy(memory);
    naive_destroy(naive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ocdm_equals_the_judge_on_random_streams),
        cmocka_unit_test(onlyone_equals_the_judge_on_random_streams),
        cmocka_unit_test(rs_equals_the_judge_on_random_streams),
        cmocka_unit_test(prs_equals_the_judge_on_random_streams),
        cmocka_unit_test(prs_released_equals_the_judge_on_random_streams),
        cmocka_unit_test(cbes_equals_the_judge_on_random_streams),
        cmocka_unit_test(cbrs_equals_the_judge_on_single_label_streams),
        cmocka_unit_test(max_equals_the_judge_on_random_streams),
        cmocka_unit_test(random_equals_the_judge_on_random_streams),
        cmocka_unit_test(gss_equals_the_judge_on_random_streams),
        cmocka_unit_test(gss_released_equals_the_judge_on_random_streams),
        cmocka_unit_test(refused_batches_leave_no_trace),
        cmocka_unit_test(ocdm_equals_the_judge_when_label_sets_are_many),
        cmocka_unit_test(ocdm_equals_the_judge_when_label_sets_are_thousands),
        cmocka_unit_test(policies_equal_the_judge_when_classes_hold_hundreds),
        cmocka_unit_test(policies_equal_the_judge_when_classes_are_thousands),
        cmocka_unit_test(ocdm_equals_the_judge_when_a_sample_has_hundreds_of_labels),
    };
#ifdef JUDGED
    cmocka_set_test_filter(JUDGED);
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
