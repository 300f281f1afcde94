/*
 * What must hold in distribution: reservoirs keep everyone equally often, the tie rule `key` leaves fair samples, draws are
 * uniform, and CBES on one label a sample is CBRS. Seeds are fixed; bounds are six standard deviations wide, so that a pass is
 * no luck and a failure no accident.
 */
#include "../test.h"
#include "compare.h"

#include <math.h>
#include <string.h>

enum { STREAM = 48, MEMORY = 12, RUNS = 3000 };

static const uint32_t class_a = 10, class_b = 20, class_c = 30, class_d = 40;

/* A chi-square value with `freedom` degrees of freedom, in standard deviations from its mean. */
static double excess(double chi_square, double freedom)
{
    return (chi_square - freedom) / sqrt(2 * freedom);
}

/*
 * How far the counts are from fair: counts[i] says in how many of `runs` item i was among `taken` of `items`. Each run takes
 * without replacement, so the counts vary less than independent ones: the factor makes the statistic chi-square again.
 */
static double unfairness(const uint32_t *counts, size_t items, double taken, double runs)
{
    double share = taken / (double)items;
    double sum = 0;
    for (size_t i = 0; i < items; i++)
        sum += pow(counts[i] - runs * share, 2) / (runs * share * (1 - share));
    return excess(sum * (double)(items - 1) / (double)items, (double)items - 1);
}

static ocdm_options options_for(const char *policy, uint32_t capacity, uint64_t seed)
{
    ocdm_options options = ocdm_options_default();
    options.policy = ocdm_policy_find(policy);
    options.capacity = capacity;
    options.seed = seed;
    return options;
}

static void offer_one(ocdm_memory *memory, uint64_t id, const uint32_t *label)
{
    ocdm_sample sample = {id, label, 1};
    offer(memory, &sample, 1, "one sample");
}

static void count_kept(const ocdm_memory *memory, uint32_t *counts, size_t items)
{
    for (uint64_t id = 0; id < items; id++)
        counts[id] += ocdm_memory_find(memory, id) != OCDM_NONE;
}

/* Samples of one class, 0..STREAM-1, through a memory of MEMORY: how often each is still there at the end. */
static void survivors_of_one_class(const char *policy, ocdm_tie tie, uint32_t *counts)
{
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = options_for(policy, MEMORY, seed);
        options.tie = tie;
        ocdm_memory *memory = make_memory(&options);
        for (uint64_t id = 0; id < STREAM; id++)
            offer_one(memory, id, &class_a);
        count_kept(memory, counts, STREAM);
        ocdm_memory_destroy(memory);
    }
}

TEST(rs_keeps_every_sample_with_probability_m_over_t)
{
    uint32_t counts[STREAM] = {0};
    survivors_of_one_class("rs", OCDM_TIE_KEY, counts);
    assert_true(fabs(unfairness(counts, STREAM, MEMORY, RUNS)) < 6);
}

TEST(cbrs_keeps_every_sample_of_a_class_equally_often)
{
    uint32_t counts[STREAM] = {0};
    survivors_of_one_class("cbrs", OCDM_TIE_KEY, counts);
    assert_true(fabs(unfairness(counts, STREAM, MEMORY, RUNS)) < 6);
}

TEST(tie_key_keeps_every_sample_of_a_set_equally_often)
{
    uint32_t counts[STREAM] = {0};
    survivors_of_one_class("ocdm", OCDM_TIE_KEY, counts);
    assert_true(fabs(unfairness(counts, STREAM, MEMORY, RUNS)) < 6);
}

/* The fault that `key` avoids: each newcomer meets fewer draws than those before it. */
TEST(tie_uniform_favours_recent_samples)
{
    uint32_t counts[STREAM] = {0};
    survivors_of_one_class("ocdm", OCDM_TIE_UNIFORM, counts);
    assert_true(unfairness(counts, STREAM, MEMORY, RUNS) > 100);
    assert_true(counts[STREAM - 1] > 5 * counts[0]);
}

/* Class a keeps arriving while b, then c, then d take room from it, six samples each: a is the largest class to the end, its
 * share only shrinks, and what is left of it stays a fair draw. */
TEST(tie_key_leaves_a_fair_sample_when_a_share_shrinks)
{
    uint32_t counts[STREAM] = {0};
    uint32_t left = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = options_for("ocdm", 2 * MEMORY, seed);
        ocdm_memory *memory = make_memory(&options);
        for (uint64_t id = 0; id < STREAM; id++) {
            offer_one(memory, id, &class_a);
            if (id >= 30)
                offer_one(memory, 1000 + id, id < 36 ? &class_b : id < 42 ? &class_c : &class_d);
        }
        left = ocdm_memory_kept(memory, class_a);
        count_kept(memory, counts, STREAM);
        ocdm_memory_destroy(memory);
    }
    assert_int_equal(left, 6);
    assert_true(fabs(unfairness(counts, STREAM, left, RUNS)) < 6);
}

/* ---- draws ------------------------------------------------------------------------------------------------------------ */

TEST(draw_gives_distinct_slots_of_the_memory)
{
    ocdm_options options = options_for("rs", 20, 3);
    ocdm_memory *memory = make_memory(&options);
    uint32_t slot[64];
    assert_int_equal(ocdm_memory_draw(memory, 10, slot), 0);
    for (uint64_t id = 0; id < 40; id++) {
        offer_one(memory, id, &class_a);
        for (size_t count = 0; count <= 64; count += 1 + count / 4) {
            uint32_t size = ocdm_memory_size(memory);
            size_t drawn = ocdm_memory_draw(memory, count, slot);
            bool taken[20] = {false};
            assert_int_equal(drawn, count < size ? count : size);
            for (size_t i = 0; i < drawn; i++) {
                assert_true(slot[i] < size && !taken[slot[i]]);
                taken[slot[i]] = true;
            }
        }
    }
    ocdm_memory_destroy(memory);
}

/* All ordered triples of seven slots come equally often, in successive draws of one memory. */
TEST(draw_gives_every_order_equally_often)
{
    enum { SLOTS = 7, DRAWS = 60000, TRIPLES = SLOTS * (SLOTS - 1) * (SLOTS - 2) };
    ocdm_options options = options_for("rs", SLOTS, 4);
    ocdm_memory *memory = make_memory(&options);
    for (uint64_t id = 0; id < SLOTS; id++)
        offer_one(memory, id, &class_a);
    uint32_t counts[SLOTS][SLOTS][SLOTS] = {{{0}}};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t slot[3];
        assert_int_equal(ocdm_memory_draw(memory, 3, slot), 3);
        counts[slot[0]][slot[1]][slot[2]]++;
    }
    double expected = (double)DRAWS / TRIPLES;
    double sum = 0;
    for (int a = 0; a < SLOTS; a++)
        for (int b = 0; b < SLOTS; b++)
            for (int c = 0; c < SLOTS; c++)
                if (a != b && b != c && a != c)
                    sum += pow(counts[a][b][c] - expected, 2) / expected;
    assert_true(fabs(excess(sum, TRIPLES - 1)) < 6);
    ocdm_memory_destroy(memory);
}

/* First draws of memories that differ in the seed alone: neighbouring seeds share nothing. */
TEST(draw_is_uniform_over_seeds)
{
    uint32_t counts[MEMORY] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = options_for("ocdm", MEMORY, seed);
        ocdm_memory *memory = make_memory(&options);
        for (uint64_t id = 0; id < MEMORY; id++)
            offer_one(memory, id, &class_a);
        uint32_t slot[4];
        assert_int_equal(ocdm_memory_draw(memory, 4, slot), 4);
        for (size_t i = 0; i < 4; i++)
            counts[slot[i]]++;
        ocdm_memory_destroy(memory);
    }
    assert_true(fabs(unfairness(counts, MEMORY, 4, RUNS)) < 6);
}

/* Two memories, same seed; one is drawn from. What they keep must not differ, nor may what is drawn depend on what is kept. */
TEST(draw_never_shifts_what_is_kept)
{
    static const char *const policies[] = {"ocdm", "rs", "prs", "cbes", "cbrs", "onlyone", "max", "random"};
    for (size_t p = 0; p < 8; p++) {
        ocdm_options options = options_for(policies[p], MEMORY, p);
        ocdm_memory *drawn = make_memory(&options);
        ocdm_memory *left_alone = make_memory(&options);
        ocdm_memory *other_labels = make_memory(&options);
        for (uint64_t id = 0; id < 100; id++) {
            const uint32_t *label = id % 3 == 0 ? &class_a : id % 7 == 0 ? &class_b : &class_c;
            uint32_t slot[5];
            uint32_t other[5];
            size_t count = ocdm_memory_draw(drawn, 5, slot);
            assert_int_equal(ocdm_memory_draw(other_labels, 5, other), count);
            assert_memory_equal(slot, other, count * sizeof *slot);
            offer_one(drawn, id, label);
            offer_one(left_alone, id, label);
            offer_one(other_labels, id, &class_d);
            for (uint32_t v = 0; v < ocdm_memory_size(drawn); v++)
                assert_int_equal(ocdm_memory_id(drawn, v), ocdm_memory_id(left_alone, v));
        }
        ocdm_memory_destroy(drawn);
        ocdm_memory_destroy(left_alone);
        ocdm_memory_destroy(other_labels);
    }
}

/* ---- CBES on single-label streams ------------------------------------------------------------------------------------- */

/*
 * The two rules take the same draws in the same order, with one exception: when the newcomer's class is not full and several
 * classes are largest, CBES draws one of them first and CBRS pools them. Tied classes are equally large, so the evicted sample
 * is uniform over all of them either way. Hence: the same decisions up to the first such tie; the same distribution after it.
 */
static bool next_is_a_tie(const struct naive *naive, uint32_t label)
{
    uint32_t kept[NAIVE_CLASSES];
    naive_count(naive, kept);
    uint32_t most = 0;
    size_t tied = 0;
    for (size_t c = 0; c < naive->class_count; c++) {
        if (naive->classes[c].id == label && naive->classes[c].full)
            return false;
        if (kept[c] > most) {
            most = kept[c];
            tied = 0;
        }
        tied += kept[c] == most;
    }
    return naive->size == naive->options.capacity && tied > 1;
}

/* Runs both until they may part; returns how many samples they agreed on with the memory full. */
static size_t agree_until_a_tie(uint64_t seed)
{
    ocdm_options cbrs = options_for("cbrs", MEMORY + (uint32_t)(seed % 5), seed);
    ocdm_options cbes = options_for("cbes", cbrs.capacity, seed);
    ocdm_memory *parent = make_memory(&cbrs);
    ocdm_memory *child = make_memory(&cbes);
    struct naive *naive = naive_create(&cbrs, 1);
    ocdm__random random = ocdm__random_stream(seed, 6);
    size_t agreed = 0;
    for (uint64_t id = 0; id < 80; id++) {
        double u = ocdm__random_unit(&random);
        uint32_t label = (uint32_t)(u * u * u * 6);
        ocdm_sample sample = {id, &label, 1};
        if (next_is_a_tie(naive, label))
            break;
        agreed += naive->size == cbrs.capacity;
        offer(parent, &sample, 1, "cbrs");
        offer(child, &sample, 1, "cbes");
        naive_update(naive, &sample, 1, NULL, NULL);
        for (uint32_t v = 0; v < naive->size; v++)
            assert_int_equal(ocdm_memory_id(parent, v), ocdm_memory_id(child, v));
    }
    ocdm_memory_destroy(parent);
    ocdm_memory_destroy(child);
    naive_destroy(naive);
    return agreed;
}

TEST(cbes_decides_as_cbrs_until_largest_classes_tie)
{
    size_t agreed = 0;
    for (uint64_t seed = 0; seed < 200; seed++)
        agreed += agree_until_a_tie(seed);
    assert_true(agreed > 1000);
}

/* Three classes of four fill the memory, a fourth one comes: which slot makes room? */
static void evictions_at_a_tie(const char *policy, uint32_t *counts)
{
    static const uint32_t *const classes[] = {&class_a, &class_b, &class_c};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = options_for(policy, MEMORY, seed);
        ocdm_memory *memory = make_memory(&options);
        for (uint64_t id = 0; id < MEMORY; id++)
            offer_one(memory, id, classes[id % 3]);
        offer_one(memory, 99, &class_d);
        assert_true(ocdm_memory_find(memory, 99) < MEMORY);
        counts[ocdm_memory_find(memory, 99)]++;
        ocdm_memory_destroy(memory);
    }
}

TEST(cbes_evicts_as_uniformly_as_cbrs_when_largest_classes_tie)
{
    uint32_t cbrs[MEMORY] = {0};
    uint32_t cbes[MEMORY] = {0};
    evictions_at_a_tie("cbrs", cbrs);
    evictions_at_a_tie("cbes", cbes);
    assert_true(fabs(unfairness(cbrs, MEMORY, 1, RUNS)) < 6);
    assert_true(fabs(unfairness(cbes, MEMORY, 1, RUNS)) < 6);
}

/* A stream of unequal classes, ties and all: how often is each sample kept at the end? */
static void survivors_of_unequal_classes(const char *policy, uint32_t *counts)
{
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        ocdm_options options = options_for(policy, MEMORY, seed + (strcmp(policy, "cbes") == 0 ? RUNS : 0));
        ocdm_memory *memory = make_memory(&options);
        for (uint64_t id = 0; id < STREAM; id++)
            offer_one(memory, id, id % 13 == 7 ? &class_d : id % 5 == 2 ? &class_c : id % 3 == 1 ? &class_b : &class_a);
        count_kept(memory, counts, STREAM);
        ocdm_memory_destroy(memory);
    }
}

/* Two samples of binomials with the same, unknown share: each difference in its own standard deviations. */
TEST(cbes_keeps_each_sample_as_often_as_cbrs)
{
    uint32_t cbrs[STREAM] = {0};
    uint32_t cbes[STREAM] = {0};
    survivors_of_unequal_classes("cbrs", cbrs);
    survivors_of_unequal_classes("cbes", cbes);
    for (size_t id = 0; id < STREAM; id++) {
        double share = ((double)cbrs[id] + cbes[id] + 1) / (2.0 * RUNS + 2);
        double deviation = sqrt(2 * RUNS * share * (1 - share)) + 1;
        assert_true(fabs((double)cbrs[id] - (double)cbes[id]) < 6 * deviation);
    }
}

/* ---- where in the stream the kept samples come from ------------------------------------------------------------------------
 */

enum { TENTHS = 10, DECILE_STREAM = 8000, DECILE_MEMORY = 200 };

/* Label sets drawn alike all along the stream: 1 to 3 of 30 classes, low ones more often. */
static void kept_per_tenth(double rho, double tolerance, uint32_t tenths[TENTHS])
{
    ocdm_options options = options_for("ocdm", DECILE_MEMORY, 3);
    options.rho = rho;
    options.tolerance = tolerance;
    ocdm_memory *memory = make_memory(&options);
    ocdm__random random = ocdm__random_stream(11, 0);
    for (uint64_t id = 0; id < DECILE_STREAM; id += 10) {
        ocdm_sample batch[10];
        uint32_t label[10][3];
        for (size_t i = 0; i < 10; i++) {
            size_t count = 1 + (size_t)ocdm__random_below(&random, 3);
            for (size_t j = 0; j < count; j++) {
                double x = ocdm__random_unit(&random);
                label[i][j] = (uint32_t)(30 * x * x);
            }
            batch[i] = (ocdm_sample){id + i, label[i], count};
        }
        offer(memory, batch, 10, "deciles");
    }
    for (size_t i = 0; i < TENTHS; i++)
        tenths[i] = 0;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        tenths[ocdm_memory_arrival(memory, slot) / (DECILE_STREAM / TENTHS)]++;
    ocdm_memory_destroy(memory);
}

/* A new sample replaces an old one whenever it fits better by the last bit, so with rho 1 the memory forgets the past. With a
 * tolerance the key decides among all that fit about as well, and the kept samples are spread over the stream: each tenth has
 * 20 of them, six standard deviations of 4.2 more or less. */
TEST(a_tolerance_spreads_the_kept_samples_over_the_stream)
{
    uint32_t plain[TENTHS], tolerant[TENTHS];
    kept_per_tenth(1, 0, plain);
    kept_per_tenth(1, 1, tolerant);
    assert_true(plain[TENTHS - 1] > DECILE_MEMORY / 2);
    for (size_t i = 0; i < TENTHS; i++) {
        if (tolerant[i] > 20 + 25)
            fail_msg("%u of tenth %zu", tolerant[i], i);
        assert_true(tolerant[i] >= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tolerance_spreads_the_kept_samples_over_the_stream),
        cmocka_unit_test(rs_keeps_every_sample_with_probability_m_over_t),
        cmocka_unit_test(cbrs_keeps_every_sample_of_a_class_equally_often),
        cmocka_unit_test(tie_key_keeps_every_sample_of_a_set_equally_often),
        cmocka_unit_test(tie_uniform_favours_recent_samples),
        cmocka_unit_test(tie_key_leaves_a_fair_sample_when_a_share_shrinks),
        cmocka_unit_test(draw_gives_distinct_slots_of_the_memory),
        cmocka_unit_test(draw_gives_every_order_equally_often),
        cmocka_unit_test(draw_is_uniform_over_seeds),
        cmocka_unit_test(draw_never_shifts_what_is_kept),
        cmocka_unit_test(cbes_decides_as_cbrs_until_largest_classes_tie),
        cmocka_unit_test(cbes_evicts_as_uniformly_as_cbrs_when_largest_classes_tie),
        cmocka_unit_test(cbes_keeps_each_sample_as_often_as_cbrs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
