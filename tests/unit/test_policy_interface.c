/* Policies of the caller's own: when each function is called and with what, and that a bad decision leaves no trace. */
#include "../twins.h"

#include <stdlib.h>

/* ---- refused by create ------------------------------------------------------------------------------------------------ */

static uint32_t first_slot(void *state, const ocdm_memory *memory)
{
    (void)state;
    (void)memory;
    return 0;
}

static uint32_t let_go(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)memory;
    (void)sample;
    return OCDM_NONE;
}

static ocdm_status creation_status(const ocdm_policy *policy)
{
    ocdm_options options = ocdm_options_default();
    options.policy = policy;
    ocdm_memory *memory = NULL;
    ocdm_status status = ocdm_memory_create(&options, &memory, NULL);
    assert_true((status == OCDM_OK) == (memory != NULL));
    ocdm_memory_destroy(memory);
    return status;
}

static void policy_needs_exactly_one_of_replace_and_remove(void **state)
{
    (void)state;
    assert_int_equal(creation_status(&(ocdm_policy){.name = "none"}), OCDM_BAD_ARGUMENT);
    assert_int_equal(creation_status(&(ocdm_policy){.name = "both", .replace = let_go, .remove = first_slot}),
                     OCDM_BAD_ARGUMENT);
    assert_int_equal(creation_status(&(ocdm_policy){.name = "one", .replace = let_go}), OCDM_OK);
    assert_int_equal(creation_status(&(ocdm_policy){.name = "other", .remove = first_slot}), OCDM_OK);
}

static void policy_needs_a_printable_name(void **state)
{
    (void)state;
    char longest[65];
    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    const char *const bad[] = {NULL, "", "tab\t", "del\x7f", "\xc3\xa9", longest};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(creation_status(&(ocdm_policy){.name = bad[i], .remove = first_slot}), OCDM_BAD_ARGUMENT);
    longest[63] = '\0';
    const char *const good[] = {"a", "keep the newest!", "~", longest};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(creation_status(&(ocdm_policy){.name = good[i], .remove = first_slot}), OCDM_OK);
}

/* ---- a policy that keeps a diary -------------------------------------------------------------------------------------- */

/* What a policy was asked, in order, and how it is to answer. */
struct diary {
    char called[256];
    size_t length;
    ocdm_status create_status;
    ocdm_status begin_status;
    uint32_t answer;
    uint32_t size;      /* ocdm_memory_size, the last time it was asked for a decision */
    uint64_t arrived;   /* ocdm_memory_arrived then */
    uint64_t seen_of_7; /* ocdm_memory_seen of class 7 then */
    uint64_t last_id;   /* of the sample at hand then */
    uint64_t random[3]; /* draws 0, 1 and 0 again, below 2^40 */
};

static struct diary diary;

static void note(char what)
{
    assert_true(diary.length < sizeof diary.called - 1);
    diary.called[diary.length++] = what;
    diary.called[diary.length] = '\0';
}

static void new_diary(uint32_t answer)
{
    diary = (struct diary){.answer = answer};
}

static void look_around(const ocdm_memory *memory)
{
    diary.size = ocdm_memory_size(memory);
    diary.arrived = ocdm_memory_arrived(memory);
    diary.seen_of_7 = ocdm_memory_seen(memory, 7);
    diary.random[0] = ocdm_memory_random(memory, 0, (uint64_t)1 << 40);
    diary.random[1] = ocdm_memory_random(memory, 1, (uint64_t)1 << 40);
    diary.random[2] = ocdm_memory_random(memory, 0, (uint64_t)1 << 40);
    assert_int_equal(ocdm_memory_random(memory, 0, 0), 0);
    assert_int_equal(ocdm_memory_random(memory, 0, 1), 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_true(ocdm_memory_random(memory, i, 3) < 3);
}

static ocdm_status diary_create(const ocdm_memory *memory, void **state, ocdm_error *error)
{
    note('c');
    assert_int_equal(ocdm_memory_size(memory), 0);
    assert_int_equal(ocdm_memory_options(memory)->capacity, 2);
    if (diary.create_status == OCDM_OK)
        *state = malloc(8);
    else if (error)
        error->status = diary.create_status;
    return diary.create_status;
}

static void diary_destroy(void *state)
{
    note('d');
    free(state);
}

static ocdm_status diary_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                               ocdm_error *error)
{
    (void)memory;
    (void)error;
    assert_non_null(state);
    assert_true(count == 0 || batch != NULL);
    note('b');
    return diary.begin_status;
}

/* Labels 13 are not let in. */
static int diary_admit(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)memory;
    assert_non_null(state);
    note('a');
    return !sample->label_count || sample->labels[0] != 13;
}

static uint32_t diary_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    assert_non_null(state);
    note('r');
    look_around(memory);
    diary.last_id = sample->id;
    return diary.answer;
}

static uint32_t diary_remove(void *state, const ocdm_memory *memory)
{
    assert_non_null(state);
    note('x');
    look_around(memory);
    return diary.answer;
}

static void diary_seen(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    assert_non_null(state);
    note('s');
    assert_int_equal(ocdm_memory_seen(memory, 7), sample->id - 100 + 1);
}

static const ocdm_policy one_by_one = {
    .name = "one by one",
    .create = diary_create,
    .destroy = diary_destroy,
    .begin = diary_begin,
    .admit = diary_admit,
    .replace = diary_replace,
    .seen = diary_seen,
};

static const ocdm_policy as_a_pool = {
    .name = "as a pool",
    .create = diary_create,
    .destroy = diary_destroy,
    .begin = diary_begin,
    .admit = diary_admit,
    .remove = diary_remove,
};

static ocdm_memory *memory_of_two(const ocdm_policy *policy)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 2;
    options.policy = policy;
    return created(&options);
}

/* Ids 100, 101, 102: two are stored without a question, the third is asked about, with the memory as it was before it. */
static void replace_is_asked_once_the_memory_is_full(void **state)
{
    (void)state;
    const uint32_t seven = 7;
    new_diary(1);
    ocdm_memory *memory = memory_of_two(&one_by_one);
    ocdm_sample batch[] = {{100, &seven, 1}, {101, &seven, 1}, {102, &seven, 1}};
    ocdm_change change = offered(memory, batch, 3);
    assert_string_equal(diary.called, "cbasasars");
    assert_int_equal(diary.size, 2);
    assert_int_equal(diary.arrived, 2);
    assert_int_equal(diary.seen_of_7, 2);
    assert_int_equal(diary.last_id, 102);
    assert_int_equal(change.stored, 2);
    assert_int_equal(change.left_count, 1);
    assert_int_equal(change.left[0].id, 101);
    assert_int_equal(change.left[0].item, 1);
    assert_int_equal(ocdm_memory_id(memory, 0), 100);
    assert_int_equal(ocdm_memory_id(memory, 1), 102);
    diary.answer = OCDM_NONE;
    ocdm_sample late = {103, &seven, 1};
    change = offered(memory, &late, 1);
    assert_int_equal(change.stored, 0);
    assert_int_equal(change.left[0].id, 103);
    ocdm_memory_destroy(memory);
    assert_string_equal(diary.called, "cbasasarsbarsd");
}

/* The whole batch has joined and is counted when the first decision is asked for. */
static void remove_sees_memory_and_batch_as_one_pool(void **state)
{
    (void)state;
    const uint32_t seven = 7;
    new_diary(0);
    ocdm_memory *memory = memory_of_two(&as_a_pool);
    ocdm_sample batch[] = {{100, &seven, 1}, {101, &seven, 1}, {102, &seven, 1}, {103, &seven, 1}};
    ocdm_change change = offered(memory, batch, 4);
    assert_string_equal(diary.called, "cbaaaaxx");
    assert_int_equal(diary.size, 3);
    assert_int_equal(diary.arrived, 4);
    assert_int_equal(diary.seen_of_7, 4);
    assert_int_equal(change.stored, 2);
    assert_int_equal(change.left_count, 2);
    assert_int_equal(change.left[0].id, 100);
    assert_int_equal(change.left[1].id, 103);
    ocdm_memory_destroy(memory);
    assert_string_equal(diary.called, "cbaaaaxxd");
}

/* Not admitted: counted as seen, among the departures, never stored, and no question asked about it. */
static void admit_keeps_a_sample_out_when_it_says_no(void **state)
{
    (void)state;
    const uint32_t thirteen = 13;
    const ocdm_policy *const both[] = {&one_by_one, &as_a_pool};
    for (size_t i = 0; i < 2; i++) {
        new_diary(0);
        ocdm_policy policy = *both[i];
        policy.seen = NULL;
        ocdm_memory *memory = memory_of_two(&policy);
        ocdm_sample batch[] = {{1, &thirteen, 1}, {2, NULL, 0}, {3, &thirteen, 1}, {4, &thirteen, 1}};
        ocdm_change change = offered(memory, batch, 4);
        assert_string_equal(diary.called, "cbaaaa");
        assert_int_equal(change.stored, 1);
        assert_int_equal(change.item[0], 1);
        assert_int_equal(change.left_count, 3);
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(change.left[j].slot, OCDM_NONE);
        assert_int_equal(ocdm_memory_seen(memory, 13), 3);
        assert_int_equal(ocdm_memory_kept(memory, 13), 0);
        ocdm_memory_destroy(memory);
    }
}

static void create_passes_on_what_the_policy_says(void **state)
{
    (void)state;
    new_diary(0);
    diary.create_status = OCDM_LIMIT;
    ocdm_options options = ocdm_options_default();
    options.capacity = 2;
    options.policy = &one_by_one;
    ocdm_memory *memory = NULL;
    ocdm_error error;
    assert_int_equal(ocdm_memory_create(&options, &memory, &error), OCDM_LIMIT);
    assert_int_equal(error.status, OCDM_LIMIT);
    assert_null(memory);
    assert_string_equal(diary.called, "c");
}

static void begin_refuses_a_batch_before_anything_is_touched(void **state)
{
    (void)state;
    const uint32_t labels[] = {7, 8};
    const ocdm_policy *const both[] = {&one_by_one, &as_a_pool};
    for (size_t i = 0; i < 2; i++) {
        new_diary(0);
        ocdm_memory *memory = memory_of_two(both[i]), *twin = memory_of_two(both[i]);
        ocdm_sample first = {100, labels, 1}, second = {101, labels, 2};
        offered(memory, &first, 1);
        offered(twin, &first, 1);
        diary.begin_status = OCDM_LIMIT;
        assert_int_equal(ocdm_memory_update(memory, &second, 1, NULL, NULL), OCDM_LIMIT);
        same_memory(memory, twin, both[i]->name);
        diary.begin_status = OCDM_OK;
        struct toy_batch batch = {.sample = {second}, .count = 1};
        offered_to_both(memory, twin, &batch, both[i]->name);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(twin);
    }
}

static void random_numbers_follow_from_seed_decision_and_draw(void **state)
{
    (void)state;
    const uint32_t seven = 7;
    const ocdm_policy *const both[] = {&one_by_one, &as_a_pool};
    for (size_t i = 0; i < 2; i++) {
        uint64_t found[2][3][3];
        for (size_t run = 0; run < 2; run++) {
            new_diary(0);
            ocdm_memory *memory = memory_of_two(both[i]);
            for (uint64_t id = 100; id < 105; id++) {
                ocdm_sample sample = {id, &seven, 1};
                offered(memory, &sample, 1);
                if (id >= 102)
                    memcpy(found[run][id - 102], diary.random, sizeof diary.random);
            }
            ocdm_memory_destroy(memory);
        }
        assert_memory_equal(found[0], found[1], sizeof found[0]);
        for (size_t d = 0; d < 3; d++) {
            assert_int_equal(found[0][d][0], found[0][d][2]);
            assert_int_not_equal(found[0][d][0], found[0][d][1]);
            assert_int_not_equal(found[0][d][0], found[0][(d + 1) % 3][0]);
        }
    }
}

/* ---- bad decisions ---------------------------------------------------------------------------------------------------- */

/* Decides by chance, and errs at the decision that `sound` counts down to. */
static uint64_t sound;
static uint32_t error_answer;

static uint32_t erring_remove(void *state, const ocdm_memory *memory)
{
    (void)state;
    if (sound-- == 0)
        return error_answer < 2 ? ocdm_memory_size(memory) + error_answer : error_answer;
    return (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
}

/* One newcomer in three is let go. */
static uint32_t erring_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)sample;
    uint32_t slot = erring_remove(state, memory);
    return slot < ocdm_memory_size(memory) && slot % 3 == 0 ? OCDM_NONE : slot;
}

/* Half of the samples with a certain class stay out. */
static int picky_admit(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)memory;
    return !sample->label_count || sample->labels[0] != 2654435761u || sample->id % 2;
}

static const ocdm_policy erring_policies[] = {
    {.name = "erring replace", .replace = erring_replace},
    {.name = "erring remove", .remove = erring_remove},
    {.name = "erring picky replace", .replace = erring_replace, .admit = picky_admit},
    {.name = "erring picky remove", .remove = erring_remove, .admit = picky_admit},
};

/* The batch fails at its n-th decision, for every n until it does not; the twin never hears of it. Returns how often it
 * failed. */
static size_t fail_at_every_decision(ocdm_memory *memory, ocdm_memory *twin, const struct toy_batch *batch, const char *where)
{
    for (size_t n = 0;; n++) {
        ocdm_change change = {.stored = 77};
        ocdm_error error = {0};
        sound = n;
        ocdm_status status = ocdm_memory_update(memory, batch->sample, batch->count, &change, &error);
        if (status == OCDM_OK) {
            sound = UINT64_MAX;
            ocdm_change expected = offered(twin, batch->sample, batch->count);
            same_change(&change, &expected, where);
            same_memory(memory, twin, where);
            same_draw(memory, twin, 7, where);
            return n;
        }
        HOLDS(where, status == OCDM_BAD_DECISION && error.status == OCDM_BAD_DECISION);
        HOLDS(where, change.stored == 77);
        same_memory(memory, twin, where);
    }
}

/* Streams whose classes move on, so that failed batches introduce new classes and empty old ones; batches larger than the
 * memory, so that old and new samples leave in turns. */
static void run_erring_stream(const ocdm_policy *policy, uint64_t seed)
{
    static struct toy_batch batch;
    char where[80];
    snprintf(where, sizeof where, "%s, seed %llu", policy->name, (unsigned long long)seed);
    ocdm__random random = ocdm__random_stream(seed, 7);
    ocdm_options options = {.capacity = 1 + toy_below(&random, 12), .batch = 1 + toy_below(&random, 12), .seed = seed};
    options.policy = policy;
    options.rho = toy_below(&random, 2) ? 0.7 : 0;
    ocdm_memory *memory = created(&options), *twin = created(&options);
    size_t failures = 0;
    uint64_t id = 0;
    for (uint32_t step = 0; step < 25; step++) {
        struct toy_shape shape = {step / 2, 1 + toy_below(&random, 5), 4};
        toy_draw(&batch, &random, shape, toy_below(&random, 30), id);
        id += batch.count;
        failures += fail_at_every_decision(memory, twin, &batch, where);
    }
    HOLDS(where, failures > 20);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

static void bad_decision_leaves_the_memory_as_it_was(void **state)
{
    (void)state;
    const uint32_t answers[] = {0, 1, UINT32_MAX - 1};
    for (uint64_t seed = 0; seed < 40; seed++) {
        error_answer = answers[seed / 4 % 3];
        run_erring_stream(&erring_policies[seed % 4], seed);
    }
}

/* For `remove` OCDM_NONE is no answer either. */
static void remove_errs_when_it_names_no_slot(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 110; seed++) {
        error_answer = OCDM_NONE;
        run_erring_stream(&erring_policies[1 + seed % 2 * 2], seed);
    }
}

/* The journal is per update: a batch far beyond options.batch, of samples with many labels, fails at its last decision. */
static void bad_decision_is_taken_back_when_the_batch_is_large(void **state)
{
    (void)state;
    enum { BATCH = 500, LABELS = 40 };
    static ocdm_sample batch[BATCH];
    static uint32_t label[BATCH][LABELS];
    for (size_t i = 0; i < BATCH; i++) {
        for (uint32_t j = 0; j < LABELS; j++)
            label[i][j] = (uint32_t)(i * j % 101);
        batch[i] = (ocdm_sample){i, label[i], i % (LABELS + 1)};
    }
    for (size_t p = 0; p < 4; p++) {
        ocdm_options options = {.capacity = 5, .batch = 1, .policy = &erring_policies[p]};
        ocdm_memory *memory = created(&options), *twin = created(&options);
        error_answer = 0;
        sound = 300;
        assert_int_equal(ocdm_memory_update(memory, batch, BATCH, NULL, NULL), OCDM_BAD_DECISION);
        assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
        same_memory(memory, twin, options.policy->name);
        sound = UINT64_MAX;
        ocdm_change first = offered(memory, batch, BATCH), second = offered(twin, batch, BATCH);
        same_change(&first, &second, options.policy->name);
        same_memory(memory, twin, options.policy->name);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(twin);
    }
}

/* ---- what a policy may ask -------------------------------------------------------------------------------------------- */

static bool sums_hold;

static void sum_targets(const ocdm_memory *memory, bool all_counted)
{
    ocdm_class classes[8];
    size_t count = ocdm_memory_counts(memory, classes, 8);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += classes[i].target;
        sums_hold &= (classes[i].seen > 0) == (classes[i].target > 0);
        sums_hold &= classes[i].seen > 0 || !all_counted;
    }
    sums_hold &= sum == 0 ? !all_counted : sum > 1 - 1e-12 && sum < 1 + 1e-12;
}

static ocdm_status sum_in_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                                ocdm_error *error)
{
    (void)state, (void)batch, (void)count, (void)error;
    sum_targets(memory, false);
    return OCDM_OK;
}

static uint32_t sum_in_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state, (void)sample;
    sum_targets(memory, false);
    return 0;
}

static uint32_t sum_in_remove(void *state, const ocdm_memory *memory)
{
    (void)state;
    sum_targets(memory, true);
    return 0;
}

/* Classes of the batch are listed before they are counted: they have no target then, and the others' still sum to 1. */
static void targets_sum_to_1_when_a_policy_asks(void **state)
{
    (void)state;
    const ocdm_policy policies[] = {{.name = "replacing", .begin = sum_in_begin, .replace = sum_in_replace},
                                    {.name = "removing", .begin = sum_in_begin, .remove = sum_in_remove}};
    static const uint32_t labels[] = {1, 2, 3, 4, 5, 6};
    for (size_t p = 0; p < 2; p++)
        for (int power = 0; power < 2; power++) {
            ocdm_options options = ocdm_options_default();
            options.capacity = 2;
            options.policy = &policies[p];
            options.rho = power;
            ocdm_memory *memory = NULL;
            assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
            sums_hold = true;
            for (uint64_t i = 0; i < 5; i++) {
                ocdm_sample batch[] = {{2 * i, labels + i, 1}, {2 * i + 1, labels + i, 2}};
                assert_int_equal(ocdm_memory_update(memory, batch, 2, NULL, NULL), OCDM_OK);
            }
            assert_true(sums_hold);
            ocdm_memory_destroy(memory);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_needs_exactly_one_of_replace_and_remove),
        cmocka_unit_test(policy_needs_a_printable_name),
        cmocka_unit_test(replace_is_asked_once_the_memory_is_full),
        cmocka_unit_test(remove_sees_memory_and_batch_as_one_pool),
        cmocka_unit_test(admit_keeps_a_sample_out_when_it_says_no),
        cmocka_unit_test(create_passes_on_what_the_policy_says),
        cmocka_unit_test(begin_refuses_a_batch_before_anything_is_touched),
        cmocka_unit_test(random_numbers_follow_from_seed_decision_and_draw),
        cmocka_unit_test(targets_sum_to_1_when_a_policy_asks),
        cmocka_unit_test(bad_decision_leaves_the_memory_as_it_was),
        cmocka_unit_test(remove_errs_when_it_names_no_slot),
        cmocka_unit_test(bad_decision_is_taken_back_when_the_batch_is_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
