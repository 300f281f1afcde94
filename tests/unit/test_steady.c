/* How much work an update takes once the memory is full and balanced, in counted steps: no clock, the same on every machine. */
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "memory/memory.h"
#include "memory/scores_parts.h"

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

/* The work of 500 updates after the fill and `warm` times M further samples. */
static struct ocdm__search_work steady_work(uint32_t capacity, draw_labels *draw, uint32_t warm, double rho, uint32_t *sets)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = capacity;
    options.rho = rho;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    uint64_t start = (uint64_t)capacity * (warm + 1);
    offer(memory, draw, 0, start);
    struct ocdm__search_work before = memory->scores->work;
    offer(memory, draw, start, start + 500 * BATCH);
    struct ocdm__search_work work = memory->scores->work;
    work.deletions -= before.deletions;
    work.lanes -= before.lanes;
    work.listed -= before.listed;
    work.heights -= before.heights;
    work.scored -= before.scored;
    work.rankings -= before.rankings;
    work.searches -= before.searches;
    work.sweeps -= before.sweeps;
    work.woken -= before.woken;
    work.guests -= before.guests;
    *sets = memory->scores->awake_count + memory->scores->sleepers.count;
    ocdm_memory_destroy(memory);
    return work;
}

/* A deletion compares each distinct label set about once at most, changes the scores of a fifth of them, and scores next to
 * none from its labels: snapshots of all scores, taken at nearly every deletion, are what this would notice. */
static void expect_little_work(uint32_t capacity, draw_labels *draw, uint32_t warm, double rho)
{
    uint32_t sets;
    struct ocdm__search_work work = steady_work(capacity, draw, warm, rho, &sets);
    assert_int_equal(work.deletions, 500 * BATCH);
    assert_true(work.scored + work.rankings <= 6 * work.deletions);
    assert_true(work.lanes + work.heights <= work.deletions * (sets + sets / 4));
    assert_true(work.listed <= work.deletions * (50 + sets / 5));
    assert_true(work.searches <= 2 * work.deletions);
}

TEST(deletions_take_little_work_when_a_memory_of_3000_is_balanced)
{
    expect_little_work(3000, skewed, 20, 0);
    expect_little_work(3000, uniform, 20, 0);
    expect_little_work(3000, single, 20, 0);
}

TEST(deletions_take_little_work_when_a_memory_of_10000_is_balanced)
{
    expect_little_work(10000, skewed, 8, 0);
    expect_little_work(10000, single, 8, 0);
}

/* With 1,000 classes nearly every victim is a sample of the batch. A sweep or two per batch prove that no old set is better:
 * the few that come close are guests, and next to none is woken, put to sleep, or compared for nothing. */
TEST(old_sets_sleep_through_deletions_when_a_memory_of_25000_with_many_classes_is_balanced)
{
    uint32_t sets;
    struct ocdm__search_work work = steady_work(25000, uniform, 5, 0, &sets);
    assert_int_equal(work.deletions, 500 * BATCH);
    assert_true(work.sweeps > 0);
    assert_true(work.sweeps * 4 <= work.deletions);
    assert_true(work.searches * 4 <= work.deletions * 5);
    assert_true(work.lanes + work.heights <= work.deletions * (sets / 7));
    assert_true(work.listed <= work.deletions * (sets / 32));
    assert_true(work.scored + work.rankings <= 2 * work.deletions);
    assert_true(work.guests <= 2 * work.deletions);
    assert_true(work.woken * 100 <= work.deletions);
}

TEST(deletions_take_little_work_when_the_target_is_uneven)
{
    expect_little_work(3000, skewed, 8, 0.5);
    expect_little_work(3000, skewed, 8, -1);
    expect_little_work(3000, uniform, 8, -1);
}

/* ---- no update takes long -------------------------------------------------------------------------------------------------
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

/* 10 deletions compare each of 26,000 label sets about once each, while all are awake. The 115,000 scores that the fill put out
 * of date are brought up to date before the first of them, a few at a time, and sets fall asleep a few at a time. */
TEST(no_update_takes_many_times_the_steps_of_others_while_a_memory_fills_and_its_sets_fall_asleep)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 30000;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_true(most_steps(memory, uniform, 30000) <= 45000);
    assert_true(most_steps(memory, uniform, 30010) <= 200000);
    memory->scores->sleep_trial.resting = 1;
    assert_true(most_steps(memory, uniform, 50000) <= 240000);
    assert_true(memory->scores->work.rankings > 20000);
    ocdm_memory_destroy(memory);
}

/* Right after the fill the heaviest of 80 skewed classes has twenty times the samples of the rarest one, and what the best
 * deletion scores moves further than heights can follow: a sweep would score nearly all sleepers. */
TEST(no_set_falls_asleep_while_class_counts_are_uneven)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 10000;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    offer(memory, skewed, 0, 10010);
    memory->scores->sleep_trial.resting /= 16;
    for (uint64_t n = 10010; n < 14000; n += BATCH) {
        offer(memory, skewed, n, n + BATCH);
        assert_int_equal(memory->scores->sleepers.count, 0);
    }
    assert_true(memory->scores->awake_count > 4000);
    ocdm_memory_destroy(memory);
}

/* ---- heights that follow a goal far away ------------------------------------------------------------------------------ */

enum { FAR = 10000, COST_OF_MOVING = 8 }; /* in units, and for each sleeper */

static ocdm_memory *memory_with_sleepers(void)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 10000;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    offer(memory, uniform, 0, 30000);
    for (uint64_t n = 30000; memory->scores->sleepers.count < 1000; n += BATCH) {
        assert_true(n < 50000);
        memory->scores->sleep_trial.resting = 0;
        offer(memory, uniform, n, n + BATCH);
    }
    return memory;
}

/* Sets par of every cardinality lower, as if the best had moved up since. */
static void lower_par(struct scores *scores, int64_t units)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        scores->buckets[scores->present[i]].par -= units * ((int64_t)1 << scores->unit);
        ocdm__sleepers_move_cardinality(&scores->sleepers, scores->present[i], units);
    }
}

/* What a sweep is charged that looks for sleepers that leave `best`. */
static uint64_t charge_of_sweep(ocdm_memory *memory, int64_t best)
{
    struct filter filter = ocdm__scores_filter(memory->scores, &memory->pool);
    const uint64_t before = memory->scores->sleep_trial.spent;
    memory->scores->swept = 0;
    ocdm__scores_sweep(memory->scores, &memory->pool, &filter, best);
    return memory->scores->sleep_trial.spent - before;
}

TEST(a_sweep_sets_par_again_and_is_charged_for_it_when_the_goal_is_far_away)
{
    ocdm_memory *memory = memory_with_sleepers();
    struct scores *scores = memory->scores;
    uint32_t most = scores->present[0];
    for (uint32_t i = 0; i < scores->present_count; i++)
        most = scores->buckets[scores->present[i]].asleep > scores->buckets[most].asleep ? scores->present[i] : most;
    const int64_t best = ocdm__scores_objective(scores, &memory->pool, most, scores->buckets[most].par);
    charge_of_sweep(memory, best);
    const uint64_t usual = charge_of_sweep(memory, best);
    const int64_t goal = scores->buckets[most].goal, par = scores->buckets[most].par;
    assert_in_range(goal, OCDM__PAR - 100, OCDM__PAR + 100);
    lower_par(scores, FAR);
    const uint64_t charge = charge_of_sweep(memory, best), moving = (uint64_t)scores->sleepers.count * COST_OF_MOVING;
    assert_int_equal(scores->buckets[most].goal, OCDM__PAR);
    assert_int_equal(scores->buckets[most].par, par + (goal - OCDM__PAR) * ((int64_t)1 << scores->unit));
    assert_in_range(charge - usual, moving / 4 * 3, moving / 4 * 5);
    ocdm_memory_destroy(memory);
}

/* ---- room ---------------------------------------------------------------------------------------------------------------- */

TEST(entries_of_pairs_are_aligned_to_lines_of_the_cache_in_their_block)
{
    ocdm_memory *memory = memory_with_sleepers();
    const struct pairs *pairs = memory->scores->sleepers.pairs;
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++) {
        assert_int_equal((uintptr_t)pairs[kind].lines % sizeof *pairs[kind].lines, 0);
        assert_in_range((uintptr_t)pairs[kind].lines - (uintptr_t)pairs[kind].block, 0, sizeof *pairs[kind].lines - 1);
    }
    ocdm_memory_destroy(memory);
}

TEST(there_is_room_for_label_sets_of_every_size)
{
    enum { LARGEST = 200 };
    ocdm_options options = ocdm_options_default();
    options.capacity = LARGEST;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_true(memory->scores->set_room >= memory->pool.reserved);
    uint32_t labels[LARGEST];
    for (uint32_t i = 0; i < LARGEST; i++) {
        labels[i] = i;
        const ocdm_sample sample = {.id = i, .labels = labels, .label_count = i + 1};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
        assert_true(memory->scores->cardinality_room > i + 1);
    }
    ocdm_memory_destroy(memory);
}

/* ---- scores that differ by less than what they leave -------------------------------------------------------------------- */

/* Half of the sets near the best have one label; as many classes take part here, and two more. */
enum { LOWERED = OCDM__NEAR / 2 - 1, SAMPLES_OF_EACH = 200, RARE_CLASSES = 1100 };

static const uint32_t raised_class = 0, other_class = 1, first_lowered = 2, first_rare = 2 + LOWERED;

static void give(ocdm_memory *memory, const uint32_t *labels, size_t count, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        const ocdm_sample sample = {.id = ocdm_memory_arrived(memory), .labels = labels, .label_count = count};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
    }
}

/* In order of arrival: a sample with many labels; single labels of its classes, of which the first has one more than the
 * others; of another class with as many; and of more than 1,024 rare ones, so that sets near the best are kept. The scores of
 * the lowered classes and of the other one are a step of the grid higher than their counts would make them. */
static ocdm_memory *memory_with_close_scores(void)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 20000;
    options.tie = OCDM_TIE_OLDEST;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint32_t i = other_class; i < first_rare; i++)
        assert_int_equal(ocdm_memory_set_weight(memory, i, 1 - 0x1p-32, NULL), OCDM_OK);
    uint32_t many[1 + LOWERED] = {raised_class};
    for (uint32_t i = 0; i < LOWERED; i++)
        many[1 + i] = first_lowered + i;
    give(memory, many, 1 + LOWERED, 1);
    give(memory, &raised_class, 1, SAMPLES_OF_EACH);
    for (uint32_t i = 0; i < LOWERED; i++)
        give(memory, &many[1 + i], 1, SAMPLES_OF_EACH - 1);
    give(memory, &other_class, 1, SAMPLES_OF_EACH);
    for (uint32_t i = first_rare; i < first_rare + RARE_CLASSES; i++)
        give(memory, &i, 1, 1);
    memory->scores->near_margin[0] = (int64_t)1 << 40;
    memory->scores->near_trial.plain = (uint64_t)1 << 30;
    return memory;
}

/* First the sample with many labels goes, and with it the lead of its classes. The raised class is near the best and the other
 * one is not; their scores differ by one step of 2^-32, which the grid of 2^-40 does not show in what a deletion leaves. */
TEST(a_set_that_is_not_near_goes_first_when_its_score_is_higher_by_a_step_of_the_grid)
{
    ocdm_memory *memory = memory_with_close_scores();
    const uint32_t size = (uint32_t)ocdm_memory_arrived(memory);
    const uint64_t first_of_other = 1 + SAMPLES_OF_EACH + LOWERED * (SAMPLES_OF_EACH - 1);
    ocdm_change change;
    assert_int_equal(ocdm_memory_resize(memory, size - 2, &change, NULL), OCDM_OK);
    assert_int_equal(change.left_count, 2);
    assert_int_equal(change.left[0].id, 0);
    assert_int_equal(change.left[1].id, first_of_other);
    const uint32_t after = memory->pool.classes[raised_class].kept;
    assert_int_equal(after, memory->pool.classes[other_class].kept + 1);
    ocdm_memory_destroy(memory);
}

/* ---- as many sets near the best as are looked at ------------------------------------------------------------------------ */

enum { MOST_CANDIDATES = 4096, PAIRS_OF_CLASSES = 96 };

/* All sets are within the margin. The best are those with two labels, which are looked at last. */
TEST(the_best_goes_first_when_as_many_sets_are_near_it_as_are_looked_at)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 20000;
    options.tie = OCDM_TIE_OLDEST;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint32_t i = 0; i < MOST_CANDIDATES - PAIRS_OF_CLASSES; i++)
        give(memory, &i, 1, 1);
    for (uint32_t i = 0; i < PAIRS_OF_CLASSES; i++)
        give(memory, (uint32_t[]){2 * i, 2 * i + 1}, 2, 1);
    memory->scores->near_margin[0] = (int64_t)1 << 40;
    memory->scores->near_trial.plain = (uint64_t)1 << 30;
    ocdm_change change;
    assert_int_equal(ocdm_memory_resize(memory, MOST_CANDIDATES - 1, &change, NULL), OCDM_OK);
    assert_int_equal(memory->scores->work.candidates, MOST_CANDIDATES);
    assert_int_equal(change.left_count, 1);
    assert_int_equal(change.left[0].id, MOST_CANDIDATES - PAIRS_OF_CLASSES);
    assert_true(memory->scores->near_count > 0);
    ocdm_memory_destroy(memory);
}

/* ---- trials ----------------------------------------------------------------------------------------------------------- */

TEST(a_trial_is_given_up_when_it_costs_more_and_comes_back_later_each_time)
{
    struct ocdm__trial trial = {0};
    uint64_t last = 0;
    for (int round = 0; round < 5; round++) {
        uint64_t spent = 0;
        while (!ocdm__trial_fails(&trial, 30, 10, 1000))
            spent += 20;
        assert_in_range(spent, 900, 1100);
        uint64_t rest = 0;
        while (ocdm__trial_rests(&trial, 10))
            rest += 10;
        assert_true(rest >= 2 * last);
        assert_true(rest >= 7000);
        last = rest;
    }
}

TEST(a_trial_goes_on_when_it_pays)
{
    struct ocdm__trial trial = {0};
    for (int i = 0; i < 100000; i++) {
        assert_false(ocdm__trial_fails(&trial, 10, 11, 1000));
        assert_false(ocdm__trial_rests(&trial, 0));
    }
}

/* The rest, in full, after what was spent more than the patience of 100. */
static uint64_t rest_after_failure(struct ocdm__trial *trial)
{
    assert_false(ocdm__trial_fails(trial, 100, 0, 100));
    assert_true(ocdm__trial_fails(trial, 1, 0, 100));
    uint64_t rest = 1;
    while (ocdm__trial_rests(trial, 1))
        rest++;
    return rest;
}

TEST(a_trial_that_has_paid_rests_half_as_long)
{
    struct ocdm__trial trial = {0};
    assert_int_equal(rest_after_failure(&trial), 800);
    assert_int_equal(rest_after_failure(&trial), 1600);
    assert_int_equal(rest_after_failure(&trial), 3200);
    assert_false(ocdm__trial_fails(&trial, 7, 807, 100));
    assert_int_equal(trial.plain, 807);
    assert_false(ocdm__trial_fails(&trial, 0, 1, 100));
    assert_int_equal(trial.plain, 0);
    assert_int_equal(rest_after_failure(&trial), 3200);
    assert_false(ocdm__trial_fails(&trial, 0, 801, 100));
    assert_false(ocdm__trial_fails(&trial, 0, 801, 100));
    assert_int_equal(rest_after_failure(&trial), 1600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletions_take_little_work_when_a_memory_of_3000_is_balanced),
        cmocka_unit_test(deletions_take_little_work_when_a_memory_of_10000_is_balanced),
        cmocka_unit_test(old_sets_sleep_through_deletions_when_a_memory_of_25000_with_many_classes_is_balanced),
        cmocka_unit_test(deletions_take_little_work_when_the_target_is_uneven),
        cmocka_unit_test(no_update_takes_many_times_the_steps_of_others_while_a_memory_fills_and_its_sets_fall_asleep),
        cmocka_unit_test(no_set_falls_asleep_while_class_counts_are_uneven),
        cmocka_unit_test(a_sweep_sets_par_again_and_is_charged_for_it_when_the_goal_is_far_away),
        cmocka_unit_test(entries_of_pairs_are_aligned_to_lines_of_the_cache_in_their_block),
        cmocka_unit_test(there_is_room_for_label_sets_of_every_size),
        cmocka_unit_test(a_set_that_is_not_near_goes_first_when_its_score_is_higher_by_a_step_of_the_grid),
        cmocka_unit_test(the_best_goes_first_when_as_many_sets_are_near_it_as_are_looked_at),
        cmocka_unit_test(a_trial_is_given_up_when_it_costs_more_and_comes_back_later_each_time),
        cmocka_unit_test(a_trial_goes_on_when_it_pays),
        cmocka_unit_test(a_trial_that_has_paid_rests_half_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
