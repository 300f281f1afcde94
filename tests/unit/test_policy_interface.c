/* Policies of the caller's own: when each function is called and with what, and that a bad decision changes nothing. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <stdlib.h>

#define SIZED .size = sizeof(ocdm_policy)

/* ---- refused by create ------------------------------------------------------------------------------------------------ */

static ocdm_status first_slot(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)memory, (void)error;
    *slot = 0;
    return OCDM_OK;
}

static ocdm_status let_go(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)memory, (void)sample, (void)error;
    *slot = OCDM_NONE;
    return OCDM_OK;
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

TEST(policy_needs_replace_or_remove)
{
    assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = "none"}), OCDM_BAD_ARGUMENT);
    assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = "both", .replace = let_go, .remove = first_slot}), OCDM_OK);
    assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = "one", .replace = let_go}), OCDM_OK);
    assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = "other", .remove = first_slot}), OCDM_OK);
}

/* A caller that was compiled before `end`, `policy_data` and `tolerance` came has smaller structs; what is behind them is not
 * read. */
static void expect_known_sizes(size_t old_options)
{
    const size_t old_policy = offsetof(ocdm_policy, end);
    const size_t bad[] = {0, 1, 8, old_policy - 8, old_policy + 1, sizeof(ocdm_policy) + 8, (size_t)-1};
    ocdm_policy policy = {SIZED, .name = "old", .remove = first_slot};
    policy.size = old_policy;
    memset((char *)&policy + old_policy, 0x77, sizeof policy - old_policy);
    ocdm_options options = ocdm_options_default();
    options.size = old_options;
    options.capacity = 2;
    options.policy = &policy;
    memset((char *)&options + old_options, 0x77, sizeof options - old_options);
    ocdm_memory *memory = created(&options);
    assert_int_equal(ocdm_memory_options(memory)->size, sizeof options);
    if (old_options <= offsetof(ocdm_options, policy_data))
        assert_null(ocdm_memory_options(memory)->policy_data);
    assert_true(ocdm_memory_options(memory)->tolerance == 0);
    for (uint64_t id = 0; id < 5; id++)
        offered_one(memory, id, 1, 0, 0);
    ocdm_memory_destroy(memory);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        policy.size = bad[i];
        assert_int_equal(creation_status(&policy), OCDM_BAD_ARGUMENT);
        ocdm_options wrong = ocdm_options_default();
        wrong.size = bad[i] == old_policy - 8 ? offsetof(ocdm_options, policy_data) - 8 : bad[i];
        assert_int_equal(ocdm_memory_create(&wrong, &memory, NULL), OCDM_BAD_ARGUMENT);
    }
}

TEST(structs_of_a_known_size_are_taken_and_others_refused)
{
    expect_known_sizes(offsetof(ocdm_options, policy_data));
    expect_known_sizes(offsetof(ocdm_options, tolerance));
}

TEST(policy_needs_a_printable_name)
{
    char longest[65];
    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    const char *const bad[] = {NULL, "", "tab\t", "del\x7f", "\xc3\xa9", longest};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = bad[i], .remove = first_slot}), OCDM_BAD_ARGUMENT);
    longest[63] = '\0';
    const char *const good[] = {"a", "keep the newest!", "~", longest};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(creation_status(&(ocdm_policy){SIZED, .name = good[i], .remove = first_slot}), OCDM_OK);
}

/* ---- a policy that keeps a diary -------------------------------------------------------------------------------------- */

/* The calls of a policy, in order, and what it will answer. */
struct diary {
    char called[256];
    size_t length;
    ocdm_status create_status;
    ocdm_status begin_status;
    uint32_t answer;
    uint32_t size;      /* ocdm_memory_size, the last time it was asked for a decision */
    uint64_t arrived;   /* ocdm_memory_arrived then */
    uint64_t seen_of_7; /* ocdm_memory_seen of class 7 then */
    uint64_t last_id;   /* of the sample in that call */
    void *data;         /* what create was given */
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

static ocdm_status diary_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    note('c');
    diary.data = data;
    assert_int_equal(ocdm_memory_size(memory), 0);
    assert_int_equal(ocdm_memory_options(memory)->capacity, 2);
    if (diary.create_status == OCDM_OK)
        *state = malloc(8);
    else
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

static ocdm_status diary_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                 ocdm_error *error)
{
    (void)error;
    assert_non_null(state);
    note('r');
    look_around(memory);
    diary.last_id = sample->id;
    *slot = diary.answer;
    return OCDM_OK;
}

static ocdm_status diary_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)error;
    assert_non_null(state);
    note('x');
    look_around(memory);
    *slot = diary.answer;
    return OCDM_OK;
}

static void diary_seen(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    assert_non_null(state);
    note('s');
    assert_int_equal(ocdm_memory_seen(memory, 7), sample->id - 100 + 1);
}

static const ocdm_policy one_by_one = {
    SIZED,
    .name = "one by one",
    .create = diary_create,
    .destroy = diary_destroy,
    .begin = diary_begin,
    .admit = diary_admit,
    .replace = diary_replace,
    .seen = diary_seen,
};

static const ocdm_policy as_a_pool = {
    SIZED,
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
TEST(replace_is_asked_once_the_memory_is_full)
{
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
TEST(remove_sees_memory_and_batch_as_one_pool)
{
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

/* Not admitted: counted as seen, among the departures, never stored, and the policy is not called for it. */
TEST(admit_keeps_a_sample_out_when_it_says_no)
{
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

TEST(create_passes_on_what_the_policy_says)
{
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

TEST(create_gets_the_data_of_the_options_and_of_load)
{
    int mine = 0;
    new_diary(0);
    ocdm_options options = ocdm_options_default();
    options.capacity = 2;
    options.policy = &one_by_one;
    options.policy_data = &mine;
    ocdm_memory *memory = created(&options), *loaded = NULL;
    assert_ptr_equal(diary.data, &mine);
    assert_ptr_equal(ocdm_memory_options(memory)->policy_data, &mine);
    assert_int_equal(ocdm_memory_save(memory, "with data", NULL), OCDM_OK);
    diary.data = NULL;
    assert_int_equal(ocdm_memory_load("with data", &one_by_one, &mine, &loaded, NULL), OCDM_OK);
    assert_ptr_equal(diary.data, &mine);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(loaded);
}

/* ---- failures, and the end of an update ------------------------------------------------------------------------------- */

/* Keeps an id per slot by what `end` says, and a count of the samples that `seen` told of, taken back when an update fails. */
struct ledger {
    uint64_t id[16];
    size_t samples, samples_before;
    size_t ends, failures;
    ocdm_status last;
    uint64_t fails_in; /* decisions until one fails */
    bool has_words;
};

static struct ledger ledger;

static ocdm_status ledger_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                                ocdm_error *error)
{
    (void)state, (void)memory, (void)error;
    ledger.samples_before = ledger.samples;
    return count == 2 && batch[0].id == batch[1].id + 1 ? OCDM_LIMIT : OCDM_OK;
}

static ocdm_status ledger_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state;
    ledger.samples++;
    *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    if (ledger.fails_in-- > 0)
        return OCDM_OK;
    if (ledger.has_words) {
        snprintf(error->message, sizeof error->message, "the disk is full");
        snprintf(error->hint, sizeof error->hint, "buy another");
    }
    return OCDM_IO;
}

static ocdm_status ledger_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                  ocdm_error *error)
{
    (void)sample;
    return ledger_remove(state, memory, slot, error);
}

static void ledger_end(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    (void)state;
    assert_int_equal(change != NULL, status == OCDM_OK);
    ledger.ends++;
    ledger.last = status;
    if (status != OCDM_OK) {
        ledger.failures++;
        ledger.samples = ledger.samples_before;
        return;
    }
    for (size_t i = 0; i < change->stored; i++)
        ledger.id[change->slot[i]] = ocdm_memory_id(memory, change->slot[i]);
}

static const ocdm_policy ledgers[] = {
    {SIZED, .name = "remove ledger", .begin = ledger_begin, .remove = ledger_remove, .end = ledger_end},
    {SIZED, .name = "replace ledger", .begin = ledger_begin, .replace = ledger_replace, .end = ledger_end},
};

static void ledger_is_right(const ocdm_memory *memory)
{
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        assert_int_equal(ledger.id[slot], ocdm_memory_id(memory, slot));
}

TEST(policy_that_fails_leaves_the_memory_as_it_was_and_hears_the_end)
{
    static struct toy_batch batch;
    for (size_t p = 0; p < 2; p++) {
        ocdm_options options = options_for("ocdm", 8);
        options.policy = &ledgers[p];
        ledger = (struct ledger){.fails_in = UINT64_MAX};
        ocdm_memory *memory = created(&options), *twin = created(&options);
        ocdm__random random = ocdm__random_stream(p, 1);
        size_t updates = 0;
        for (uint64_t step = 0; step < 60; step++) {
            toy_draw(&batch, &random, (struct toy_shape){0, 6, 3}, 1 + toy_below(&random, 5), step * 10);
            struct ledger before = ledger;
            for (ledger.fails_in = 0;; before = ledger, ledger.fails_in = before.failures % 7) {
                ocdm_error error;
                ledger.has_words = ledger.failures % 2;
                ocdm_status status = ocdm_memory_update(memory, batch.sample, batch.count, NULL, &error);
                updates++;
                assert_int_equal(ledger.last, status);
                ledger_is_right(memory);
                if (status == OCDM_OK)
                    break;
                assert_int_equal(status, OCDM_IO);
                assert_int_equal(ledger.samples, before.samples);
                assert_non_null(strstr(error.message, before.failures % 2 ? "the disk is full" : "could not decide"));
                assert_string_equal(error.hint, before.failures % 2 ? "buy another" : "");
                same_memory(memory, twin, ledgers[p].name);
            }
            struct ledger own = ledger;
            ledger.fails_in = UINT64_MAX;
            offered(twin, batch.sample, batch.count);
            ledger = own;
            same_memory(memory, twin, ledgers[p].name);
        }
        assert_int_equal(ledger.ends, updates);
        assert_true(ledger.failures > 50);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(twin);
    }
}

/* What `begin` refused has no end, nor has a batch that the memory refused before it. */
TEST(end_is_not_told_of_batches_that_never_began)
{
    ocdm_options options = options_for("ocdm", 8);
    options.policy = &ledgers[0];
    ledger = (struct ledger){.fails_in = UINT64_MAX};
    ocdm_memory *memory = created(&options);
    ocdm_sample refused[] = {{2, NULL, 0}, {1, NULL, 0}}, twice[] = {{2, NULL, 0}, {2, NULL, 0}};
    assert_int_equal(ocdm_memory_update(memory, refused, 2, NULL, NULL), OCDM_LIMIT);
    assert_int_equal(ocdm_memory_update(memory, twice, 2, NULL, NULL), OCDM_DUPLICATE_ID);
    assert_int_equal(ledger.ends, 0);
    offered(memory, NULL, 0);
    assert_int_equal(ledger.ends, 1);
    ocdm_memory_destroy(memory);
}

/* A library's policy under another name, with an `end` of the caller's where it has none: it decides the same. */
TEST(copy_of_a_policy_decides_as_the_policy_does)
{
    static struct toy_batch batch;
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        ocdm_policy copy = *ocdm_policy_at(p);
        copy.name = "copy";
        copy.end = copy.end != NULL ? copy.end : ledger_end;
        ocdm_options options = options_for(ocdm_policy_at(p)->name, 9);
        ocdm_memory *original = created(&options);
        options.policy = &copy;
        ocdm_memory *memory = created(&options);
        ocdm__random random = ocdm__random_stream(p, 1);
        for (uint64_t step = 0; step < 40; step++) {
            struct toy_shape shape = {0, 6, copy.traits & OCDM_SINGLE_LABEL ? 1 : 3};
            toy_draw(&batch, &random, shape, 1 + toy_below(&random, 8), step * 10);
            ocdm_change change = offered(memory, batch.sample, batch.count);
            ocdm_change expected = offered(original, batch.sample, batch.count);
            same_change(&change, &expected, ocdm_policy_at(p)->name);
            same_slots(memory, original, ocdm_policy_at(p)->name);
        }
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(original);
    }
}

/* ---- traits ------------------------------------------------------------------------------------------------------------ */

/* Asks for a comparison with whatever the test put here, in `begin` or in `remove`. */
static ocdm_comparison question;
static bool ask_in_remove;
static double cosines[8];

static ocdm_status asking_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count,
                                ocdm_error *error)
{
    (void)state;
    if (ocdm_memory_size(memory) == 0 || ask_in_remove)
        return OCDM_OK;
    question.batch = question.batch == NULL ? batch : question.batch;
    question.count = count;
    ocdm_status status = ocdm_memory_compare(memory, &question, error);
    question.batch = NULL;
    return status;
}

static ocdm_status asking_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    first_slot(state, memory, slot, error);
    return ask_in_remove ? ocdm_memory_compare(memory, &question, error) : OCDM_OK;
}

static const ocdm_policy asking = {SIZED, .name = "asking", .traits = OCDM_NEEDS_GRADIENTS, .begin = asking_begin,
                                   .remove = asking_remove};

static ocdm_status status_with(ocdm_memory *memory, ocdm_comparison changed)
{
    static uint64_t id = 1000;
    ocdm_sample sample = {id++, NULL, 0};
    question = changed;
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = ocdm_memory_update(memory, &sample, 1, NULL, &error);
    assert_int_equal(error.status, status);
    return status;
}

TEST(any_policy_may_ask_for_gradients)
{
    static const uint32_t slots[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, descending[] = {1, 0}, beyond[] = {12};
    ocdm_options options = options_for("ocdm", 12);
    options.policy = &asking;
    ocdm_memory *memory = created(&options);
    ocdm_memory_set_similarity(memory, NULL, NULL);
    ask_in_remove = false;
    const ocdm_comparison good = {.size = sizeof good, .slot = slots, .slot_count = 12, .item_cosine = cosines};
    static const uint32_t groups[] = {2, 5, 0, 1};
    assert_int_equal(status_with(memory, good), OCDM_BAD_ARGUMENT);
    ocdm_memory_set_similarity(memory, toy_similarity, NULL);
    for (uint32_t i = 0; i < 12; i++) {
        ocdm_comparison some = good;
        some.slot_count = i;
        assert_int_equal(status_with(memory, some), OCDM_OK);
    }
    assert_int_equal(status_with(memory, good), OCDM_OK);
    assert_true(cosines[0] >= -1 && cosines[0] <= 1);
    ocdm_comparison grouped = good, older = good;
    grouped.slot = groups, grouped.slot_count = 4, grouped.group_size = 2;
    assert_int_equal(status_with(memory, grouped), OCDM_OK);
    older.size = offsetof(ocdm_comparison, group_size), older.group_size = 5;
    assert_int_equal(status_with(memory, older), OCDM_OK);
    static const ocdm_sample other = {0};
    double batch_cosine;
    ocdm_comparison bad[] = {good, good, good, good, good, good, good, grouped, grouped};
    bad[0].size = 8;
    bad[1].slot = descending, bad[1].slot_count = 2;
    bad[2].slot = beyond, bad[2].slot_count = 1;
    bad[3].slot_count = 0;
    bad[4].item_cosine = NULL;
    bad[5].batch_first = 1;
    bad[6].batch = &other;
    bad[7].group_size = 3;
    bad[8].group_size = 4;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(status_with(memory, bad[i]), OCDM_BAD_ARGUMENT);
    ocdm_comparison first = good;
    first.batch_cosine = &batch_cosine;
    first.batch_first = 1;
    assert_int_equal(status_with(memory, first), OCDM_OK);
    ask_in_remove = true;
    assert_int_equal(status_with(memory, good), OCDM_BAD_ARGUMENT);
    ask_in_remove = false;
    assert_int_equal(ocdm_memory_compare(memory, &good, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_compare(NULL, &good, NULL), OCDM_BAD_ARGUMENT);
    ocdm_memory_destroy(memory);
}

TEST(own_policy_takes_single_labels_when_its_traits_say_so)
{
    const ocdm_policy single = {SIZED, .name = "single", .traits = OCDM_SINGLE_LABEL, .remove = first_slot};
    ocdm_options options = options_for("ocdm", 4);
    options.policy = &single;
    ocdm_memory *memory = created(&options);
    const uint32_t labels[] = {1, 2, 1};
    ocdm_sample several = {1, labels, 2}, repeated = {2, labels + 2, 1}, none = {3, NULL, 0};
    ocdm_error error;
    assert_int_equal(ocdm_memory_update(memory, &several, 1, NULL, &error), OCDM_NOT_SINGLE_LABEL);
    assert_non_null(strstr(error.message, "single takes samples with one label"));
    assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
    offered(memory, &repeated, 1);
    offered(memory, &none, 1);
    ocdm_memory_destroy(memory);
}

TEST(begin_refuses_a_batch_before_anything_is_touched)
{
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

/* With an empty batch, before the first decision. */
TEST(begin_is_called_before_a_resize_and_may_refuse_it)
{
    const uint32_t seven = 7;
    new_diary(0);
    ocdm_memory *memory = memory_of_two(&as_a_pool), *twin = memory_of_two(&as_a_pool);
    const ocdm_sample two[] = {{100, &seven, 1}, {101, &seven, 1}};
    offered(memory, two, 2);
    offered(twin, two, 2);
    diary.begin_status = OCDM_LIMIT;
    assert_int_equal(ocdm_memory_resize(memory, 1, NULL, NULL), OCDM_LIMIT);
    same_memory(memory, twin, "a refused resize");
    diary.begin_status = OCDM_OK;
    diary.length = 0;
    assert_int_equal(ocdm_memory_resize(memory, 1, NULL, NULL), OCDM_OK);
    assert_string_equal(diary.called, "bx");
    assert_int_equal(ocdm_memory_size(memory), 1);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

TEST(random_numbers_follow_from_seed_decision_and_draw)
{
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

static ocdm_status erring_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)error;
    if (sound-- == 0)
        *slot = error_answer < 2 ? ocdm_memory_size(memory) + error_answer : error_answer;
    else
        *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    return OCDM_OK;
}

/* One newcomer in three is let go. */
static ocdm_status erring_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                  ocdm_error *error)
{
    (void)sample;
    erring_remove(state, memory, slot, error);
    *slot = *slot < ocdm_memory_size(memory) && *slot % 3 == 0 ? OCDM_NONE : *slot;
    return OCDM_OK;
}

/* Half of the samples with a certain class stay out. To admit a sample or not is a decision too, which may fail. */
static int picky_admit(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    (void)state;
    (void)memory;
    if (sound-- == 0)
        return -1;
    return !sample->label_count || sample->labels[0] != 2654435761u || sample->id % 2;
}

static const ocdm_policy erring_policies[] = {
    {SIZED, .name = "erring replace", .replace = erring_replace},
    {SIZED, .name = "erring remove", .remove = erring_remove},
    {SIZED, .name = "erring picky replace", .replace = erring_replace, .admit = picky_admit},
    {SIZED, .name = "erring picky remove", .remove = erring_remove, .admit = picky_admit},
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
    ocdm_options options = ocdm_options_default();
    options.capacity = 1 + toy_below(&random, 12);
    options.batch = 1 + toy_below(&random, 12);
    options.seed = seed;
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

TEST(bad_decision_leaves_the_memory_as_it_was)
{
    const uint32_t answers[] = {0, 1, UINT32_MAX - 1};
    for (uint64_t seed = 0; seed < 40; seed++) {
        error_answer = answers[seed / 4 % 3];
        run_erring_stream(&erring_policies[seed % 4], seed);
    }
}

/* For `remove` OCDM_NONE is no answer either. */
TEST(remove_errs_when_it_names_no_slot)
{
    for (uint64_t seed = 100; seed < 110; seed++) {
        error_answer = OCDM_NONE;
        run_erring_stream(&erring_policies[1 + seed % 2 * 2], seed);
    }
}

/* The journal is per update: a batch far beyond options.batch, of samples with many labels, fails at its last decision. */
TEST(bad_decision_is_taken_back_when_the_batch_is_large)
{
    enum { BATCH = 500, LABELS = 40 };
    static ocdm_sample batch[BATCH];
    static uint32_t label[BATCH][LABELS];
    for (size_t i = 0; i < BATCH; i++) {
        for (uint32_t j = 0; j < LABELS; j++)
            label[i][j] = (uint32_t)(i * j % 101);
        batch[i] = (ocdm_sample){i, label[i], i % (LABELS + 1)};
    }
    for (size_t p = 0; p < 4; p++) {
        ocdm_options options = ocdm_options_default();
        options.capacity = 5;
        options.batch = 1;
        options.policy = &erring_policies[p];
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

static ocdm_status sum_in_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                  ocdm_error *error)
{
    (void)sample;
    sum_targets(memory, false);
    return first_slot(state, memory, slot, error);
}

static ocdm_status sum_in_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    sum_targets(memory, true);
    return first_slot(state, memory, slot, error);
}

/* Classes of the batch are listed before they are counted: they have no target then, and the others' still sum to 1. */
TEST(targets_sum_to_1_when_a_policy_asks)
{
    const ocdm_policy policies[] = {{SIZED, .name = "replacing", .begin = sum_in_begin, .replace = sum_in_replace},
                                    {SIZED, .name = "removing", .begin = sum_in_begin, .remove = sum_in_remove}};
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
        cmocka_unit_test(policy_needs_replace_or_remove),
        cmocka_unit_test(structs_of_a_known_size_are_taken_and_others_refused),
        cmocka_unit_test(policy_needs_a_printable_name),
        cmocka_unit_test(replace_is_asked_once_the_memory_is_full),
        cmocka_unit_test(remove_sees_memory_and_batch_as_one_pool),
        cmocka_unit_test(admit_keeps_a_sample_out_when_it_says_no),
        cmocka_unit_test(create_passes_on_what_the_policy_says),
        cmocka_unit_test(create_gets_the_data_of_the_options_and_of_load),
        cmocka_unit_test(policy_that_fails_leaves_the_memory_as_it_was_and_hears_the_end),
        cmocka_unit_test(end_is_not_told_of_batches_that_never_began),
        cmocka_unit_test(copy_of_a_policy_decides_as_the_policy_does),
        cmocka_unit_test(any_policy_may_ask_for_gradients),
        cmocka_unit_test(own_policy_takes_single_labels_when_its_traits_say_so),
        cmocka_unit_test(begin_refuses_a_batch_before_anything_is_touched),
        cmocka_unit_test(begin_is_called_before_a_resize_and_may_refuse_it),
        cmocka_unit_test(random_numbers_follow_from_seed_decision_and_draw),
        cmocka_unit_test(targets_sum_to_1_when_a_policy_asks),
        cmocka_unit_test(bad_decision_leaves_the_memory_as_it_was),
        cmocka_unit_test(remove_errs_when_it_names_no_slot),
        cmocka_unit_test(bad_decision_is_taken_back_when_the_batch_is_large),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
