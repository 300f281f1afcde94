/* The index of label sets: how much work an update takes, in counted steps: no clock, the same on every machine; and scores
 * that differ by less than what they leave. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "memory/memory.h"

#define BATCH 10u
#define MOST_LABELS 8u

/* Fills `label` with the labels of sample number n and returns how many there are; a label may be repeated. */
typedef size_t draw_labels(uint64_t n, uint32_t *label);

static size_t skewed(uint64_t n, uint32_t *label)
{
    ocdm__random random = ocdm__random_stream(1, n);
    size_t count = 1 + (size_t)ocdm__random_below(&random, 4);
    for (size_t i = 0; i < count; i++) {
        double x = ocdm__random_unit(&random);
        label[i] = (uint32_t)(80 * x * x);
    }
    return count;
}

static size_t uniform(uint64_t n, uint32_t *label)
{
    ocdm__random random = ocdm__random_stream(2, n);
    size_t count = 1 + (size_t)ocdm__random_below(&random, MOST_LABELS);
    for (size_t i = 0; i < count; i++)
        label[i] = (uint32_t)ocdm__random_below(&random, 1000);
    return count;
}

static size_t single(uint64_t n, uint32_t *label)
{
    label[0] = (uint32_t)(ocdm__mix(n) % 1000);
    return 1;
}

static void offer(ocdm_memory *memory, draw_labels *draw, uint64_t first, uint64_t end)
{
    for (uint64_t n = first; n < end; n += BATCH) {
        uint32_t label[BATCH][MOST_LABELS];
        ocdm_sample batch[BATCH];
        for (uint32_t i = 0; i < BATCH; i++)
            batch[i] = (ocdm_sample){.id = n + i, .labels = label[i], .label_count = draw(n + i, label[i])};
        assert_int_equal(ocdm_memory_update(memory, batch, BATCH, NULL, NULL), OCDM_OK);
    }
}

static ocdm_memory *memory_of(uint32_t capacity, double rho)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = capacity;
    options.rho = rho;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    return memory;
}

/* Places in the blocks of the label sets in memory. */
static uint64_t places_of(const struct index *index)
{
    uint64_t places = 0;
    for (uint32_t i = 0; i < index->present_count; i++)
        places += (index->buckets[index->present[i]].sets + OCDM__BLOCK - 1) / OCDM__BLOCK * OCDM__BLOCK;
    return places;
}

/* Entries of the longest lists that 20 samples of `most_labels` labels can carry, `batch` of them joining, as many leaving. */
static uint64_t entries_of(const ocdm_memory *memory, uint32_t most_labels)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < memory->pool.class_count; i++)
        longest = memory->pool.classes[i].list.count > longest ? memory->pool.classes[i].list.count : longest;
    return 2 * (uint64_t)BATCH * most_labels * longest;
}

/* ---- the steady state ------------------------------------------------------------------------------------------------------
 */

/*
 * An update reads every place once, after the joins, and changes the scores on the lists of the classes that join and leave.
 * Its ten searches and ten choices among ties would read all places twenty times more without tops. With them they read at most
 * a quarter of the places each on average, even where sets tie in crowds.
 */
static void expect_little_work(uint32_t capacity, draw_labels *draw, uint32_t most_labels, double rho)
{
    ocdm_memory *memory = memory_of(capacity, rho);
    uint64_t start = (uint64_t)capacity * 5;
    offer(memory, draw, 0, start);
    ocdm_work before = ocdm_memory_work(memory);
    offer(memory, draw, start, start + 500 * BATCH);
    ocdm_work after = ocdm_memory_work(memory);
    uint64_t places = places_of(memory->index), read = places + 2 * BATCH * places / 4;
    assert_int_equal(after.deletions - before.deletions, 500 * BATCH);
    assert_int_equal(after.searches - before.searches, 500);
    if (after.steps - before.steps > 500 * (read + entries_of(memory, most_labels)))
        fail_msg("M %u: %llu steps per update, %llu places, lists of %llu", capacity,
                 (unsigned long long)(after.steps - before.steps) / 500, (unsigned long long)places,
                 (unsigned long long)entries_of(memory, most_labels));
    ocdm_memory_destroy(memory);
}

TEST(deletions_take_little_work_when_a_memory_is_balanced)
{
    static const uint32_t capacities[] = {3000, 10000, 30000};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        expect_little_work(capacities[i], skewed, 4, 0);
        expect_little_work(capacities[i], uniform, 8, 0);
        expect_little_work(capacities[i], single, 1, 0);
    }
}

TEST(deletions_take_little_work_when_the_target_is_uneven)
{
    expect_little_work(3000, skewed, 4, 0.5);
    expect_little_work(3000, skewed, 4, -1);
    expect_little_work(3000, uniform, 8, -1);
}

/* ---- no update takes long --------------------------------------------------------------------------------------------------
 */

/* Offers samples up to `end` and returns the most steps that one update took. */
static uint64_t most_steps(ocdm_memory *memory, draw_labels *draw, uint64_t end)
{
    uint64_t most = 0;
    for (uint64_t n = ocdm_memory_arrived(memory); n < end; n += BATCH) {
        uint64_t before = ocdm_memory_work(memory).steps;
        offer(memory, draw, n, n + BATCH);
        uint64_t steps = ocdm_memory_work(memory).steps - before;
        most = steps > most ? steps : most;
    }
    return most;
}

/* 2 ms are 666,666 steps of 3 ns, what a step takes that misses the cache of a core. The scores that the fill put out of date
 * are brought up to date before the memory is full, some of them in each update: all at once they would be 450,000. */
TEST(no_update_takes_long_while_a_memory_of_100000_fills)
{
    static draw_labels *const draws[] = {skewed, uniform, single};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        ocdm_memory *memory = memory_of(100000, 0);
        uint64_t before_full = most_steps(memory, draws[i], 100000), most = most_steps(memory, draws[i], 103000);
        if (before_full > 200000 || most > 666666)
            fail_msg("stream %zu: %llu steps while the memory fills, %llu after", i, (unsigned long long)before_full,
                     (unsigned long long)most);
        ocdm_memory_destroy(memory);
    }
}

/* The first update after loading, or after the memory was made smaller or larger, takes no more than others. */
TEST(no_update_takes_long_after_load_and_resize)
{
    static unsigned char bytes[4 << 20];
    size_t size = 0;
    ocdm_memory *memory = memory_of(20000, 0), *loaded = NULL;
    offer(memory, uniform, 0, 30000);
    uint64_t usual = most_steps(memory, uniform, 32000);
    assert_int_equal(ocdm_memory_save_bytes(memory, bytes, sizeof bytes, &size, NULL), OCDM_OK);
    assert_in_range(size, 1, sizeof bytes);
    assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, NULL), OCDM_OK);
    assert_true(most_steps(loaded, uniform, 32100) <= usual + usual / 4);
    assert_int_equal(ocdm_memory_resize(loaded, 15000, NULL, NULL), OCDM_OK);
    assert_true(most_steps(loaded, uniform, 32200) <= usual + usual / 4);
    assert_int_equal(ocdm_memory_resize(loaded, 25000, NULL, NULL), OCDM_OK);
    assert_true(most_steps(loaded, uniform, 43000) <= 2 * usual);
    ocdm_memory_destroy(loaded);
    ocdm_memory_destroy(memory);
}

/* ---- room ------------------------------------------------------------------------------------------------------------------
 */

TEST(there_is_room_for_label_sets_of_every_size)
{
    enum { LARGEST = 200 };
    ocdm_options options = ocdm_options_default();
    options.capacity = LARGEST;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    uint32_t labels[LARGEST];
    for (uint32_t i = 0; i < LARGEST; i++) {
        labels[i] = i;
        const ocdm_sample sample = {.id = i, .labels = labels, .label_count = i + 1};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
        assert_true(memory->index->bucket_room > i + 1);
    }
    ocdm_memory_destroy(memory);
}

/* The blocks of buckets and those on the free list are all blocks, so that the list ends where it should. */
TEST(every_block_is_in_a_bucket_or_free)
{
    ocdm_memory *memory = memory_of(300, 0);
    for (uint64_t end = 100; end <= 2000; end += 100) {
        offer(memory, skewed, end - 100, end);
        const struct index *index = memory->index;
        uint32_t blocks = 0;
        for (uint32_t i = 0; i < index->present_count; i++)
            blocks += (index->buckets[index->present[i]].sets + OCDM__BLOCK - 1) / OCDM__BLOCK;
        for (uint32_t block = index->free_block; block != OCDM_NONE; block = index->rank[block]) {
            assert_true(block < index->block_room);
            blocks++;
        }
        assert_int_equal(blocks, index->block_room);
    }
    ocdm_memory_destroy(memory);
}

/* ---- scores that differ by less than what they leave -----------------------------------------------------------------------
 */

static void give(ocdm_memory *memory, const uint32_t *labels, size_t count, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        const ocdm_sample sample = {.id = ocdm_memory_arrived(memory), .labels = labels, .label_count = count};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
    }
}

/* Two classes with equally many samples; the weight of the second is less by so little that its score is higher by one step of
 * 2^-32, which the grid of 2^-40 does not show in what a deletion leaves. */
TEST(the_higher_score_goes_first_when_it_is_higher_by_a_step_of_the_grid)
{
    enum { EACH = 200, RARE = 1100 };
    ocdm_options options = ocdm_options_default();
    options.capacity = 20000;
    options.tie = OCDM_TIE_OLDEST;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 1, 1 - 0x1p-32, NULL), OCDM_OK);
    for (uint32_t i = 0; i < 2; i++)
        give(memory, &i, 1, EACH);
    for (uint32_t i = 2; i < 2 + RARE; i++)
        give(memory, &i, 1, 1);
    ocdm_change change;
    assert_int_equal(ocdm_memory_resize(memory, 2 * EACH + RARE - 1, &change, NULL), OCDM_OK);
    assert_int_equal(change.left_count, 1);
    assert_int_equal(change.left[0].id, EACH);
    ocdm_memory_destroy(memory);
}

/* A = 2^66 beyond 64 bits, S = 2^35 + 1: what is left is A / 2^32 / 2^35 - ln 2^35 = 0.5 - 35 ln 2. */
TEST(sums_beyond_64_bits_are_taken_whole)
{
    struct index *index = NULL;
    assert_int_equal(ocdm__index_create(&index, 0, true, 10, NULL), OCDM_OK);
    const struct pool pool = {.label_total = ((uint64_t)1 << 35) + 1};
    index->sum = (struct wide){.low = 0, .high = 4};
    struct kl_objective kl = {index, &pool};
    double expected = (0.5 - 35 * 0.693147180559945309417) * 0x1p40;
    assert_true(fabs((double)ocdm__index_kl(&kl, 1, 0) - expected) < 1000);
    ocdm__index_destroy(index);
}

/* A score leaves as much less as it is higher: what is tied is known to the step. */
static int64_t falling(void *context, uint32_t labels, int64_t score)
{
    (void)context, (void)labels;
    return 1000 - score;
}

/* S is 1: the tolerance is the slack, in multiples of 2^-40. */
TEST(threshold_is_the_least_score_within_the_tolerance)
{
    struct index *index = NULL;
    assert_int_equal(ocdm__index_create(&index, 0, true, 10, NULL), OCDM_OK);
    const struct pool pool = {.label_total = 1};
    struct bucket bucket = {.best = 100, .value = 900};
    uint32_t contender = 0, *none = index->contenders;
    index->buckets = &bucket;
    index->contenders = &contender;
    index->contender_count = 1;
    for (int64_t slack = 0; slack < 300; slack++) {
        ocdm__index_tie(index, &pool, (double)slack * 0x1p-40, falling, NULL);
        assert_int_equal(bucket.threshold, 100 - slack);
    }
    index->buckets = NULL;
    index->contenders = none;
    ocdm__index_destroy(index);
}

/* With a tolerance both tie, and the tie rule decides. */
TEST(the_tie_rule_decides_when_scores_are_within_the_tolerance)
{
    enum { EACH = 200 };
    ocdm_options options = ocdm_options_default();
    options.capacity = 20000;
    options.tie = OCDM_TIE_OLDEST;
    options.tolerance = 0.001;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 1, 1 - 0x1p-32, NULL), OCDM_OK);
    for (uint32_t i = 0; i < 2; i++)
        give(memory, &i, 1, EACH);
    ocdm_change change;
    assert_int_equal(ocdm_memory_resize(memory, 2 * EACH - 1, &change, NULL), OCDM_OK);
    assert_int_equal(change.left_count, 1);
    assert_int_equal(change.left[0].id, 0);
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletions_take_little_work_when_a_memory_is_balanced),
        cmocka_unit_test(deletions_take_little_work_when_the_target_is_uneven),
        cmocka_unit_test(no_update_takes_long_while_a_memory_of_100000_fills),
        cmocka_unit_test(no_update_takes_long_after_load_and_resize),
        cmocka_unit_test(there_is_room_for_label_sets_of_every_size),
        cmocka_unit_test(every_block_is_in_a_bucket_or_free),
        cmocka_unit_test(sums_beyond_64_bits_are_taken_whole),
        cmocka_unit_test(threshold_is_the_least_score_within_the_tolerance),
        cmocka_unit_test(the_higher_score_goes_first_when_it_is_higher_by_a_step_of_the_grid),
        cmocka_unit_test(the_tie_rule_decides_when_scores_are_within_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
