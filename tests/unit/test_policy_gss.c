/* The policies gss and gss-released with a caller that gives fixed answers: what they request and when, how they use the
 * answers, and that a bad answer changes nothing. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include "memory/memory.h"

/* The number of samples of the memory that GSS-Greedy compares with; the size of a group in its published code. */
#define COMPARED 10u
#define GROUPED (COMPARED * 10u)

/* ---- a caller that answers by rote ------------------------------------------------------------------------------------ */

/* What was last requested of the caller, and what it will answer. */
struct caller {
    uint32_t asked; /* how often */
    uint32_t slot[GROUPED];
    size_t slot_count;
    size_t group_size;
    size_t count;
    uint64_t first_id;
    bool batch_asked;
    bool batch_first;
    double batch_cosine;
    double item_cosine; /* the same for all */
    size_t unanswered;  /* the item that is left out, if there is one of that number */
    ocdm_status status;
    const char *message; /* NULL: says nothing */
};

static ocdm_status answer(void *state, const ocdm_memory *memory, const ocdm_comparison *asked, ocdm_error *error)
{
    struct caller *caller = state;
    assert_true(asked->slot_count >= 1 && asked->slot_count <= GROUPED && asked->count >= 1);
    assert_non_null(error);
    caller->asked++;
    caller->slot_count = asked->slot_count;
    for (size_t i = 0; i < asked->slot_count; i++) {
        caller->slot[i] = asked->slot[i];
        assert_true(asked->slot[i] < ocdm_memory_size(memory));
        assert_true(i % asked->group_size == 0 || asked->slot[i - 1] < asked->slot[i]);
    }
    caller->group_size = asked->group_size;
    caller->count = asked->count;
    caller->first_id = asked->batch[0].id;
    caller->batch_asked = asked->batch_cosine != NULL;
    caller->batch_first = asked->batch_first != 0;
    if (caller->batch_asked)
        *asked->batch_cosine = caller->batch_cosine;
    for (size_t i = 0; i < asked->count; i++)
        if (i != caller->unanswered)
            asked->item_cosine[i] = caller->item_cosine;
    if (caller->status != OCDM_OK && caller->message) {
        error->status = caller->status;
        snprintf(error->message, sizeof error->message, "%s", caller->message);
        snprintf(error->hint, sizeof error->hint, "use a smaller network");
    }
    return caller->status;
}

static ocdm_memory *memory_of(const char *policy, struct caller *caller, uint32_t capacity, uint64_t seed)
{
    *caller = (struct caller){.unanswered = SIZE_MAX};
    ocdm_options options = options_for(policy, capacity);
    options.seed = seed;
    ocdm_memory *memory = created(&options);
    ocdm_memory_set_similarity(memory, answer, caller);
    return memory;
}

static ocdm_memory *memory_asking(struct caller *caller, uint32_t capacity, uint64_t seed)
{
    return memory_of("gss", caller, capacity, seed);
}

/* Offers `count` samples whose ids are their arrival numbers. */
static ocdm_change offered_next(ocdm_memory *memory, size_t count)
{
    static const uint32_t label = 7;
    static ocdm_sample batch[TOY_BATCH];
    assert_true(count <= TOY_BATCH);
    for (size_t i = 0; i < count; i++)
        batch[i] = (ocdm_sample){ocdm_memory_arrived(memory) + i, &label, i % 2};
    return offered(memory, batch, count);
}

static ocdm_status status_of_next(ocdm_memory *memory, size_t count, ocdm_error *error)
{
    static const uint32_t labels[] = {7, 8, 9};
    ocdm_sample batch[3];
    assert_true(count <= 3);
    for (size_t i = 0; i < count; i++)
        batch[i] = (ocdm_sample){ocdm_memory_arrived(memory) + i, labels, i};
    ocdm_change change = {.stored = 77};
    ocdm_status status = ocdm_memory_update(memory, batch, count, &change, error);
    assert_true((status == OCDM_OK) == (change.stored != 77));
    return status;
}

static double score_in(const ocdm_memory *memory, uint32_t slot)
{
    unsigned char bytes[TOY_BATCH * 8];
    size_t size;
    ocdm_error error;
    assert_int_equal(memory->policy.save(memory->state, memory, bytes, sizeof bytes, &size, &error), OCDM_OK);
    assert_int_equal(size, ocdm_memory_size(memory) * 8);
    double score;
    memcpy(&score, bytes + (size_t)slot * 8, sizeof score);
    return score;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 0x1p-32))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* ---- what it asks ----------------------------------------------------------------------------------------------------- */

TEST(gss_is_refused_without_gradients)
{
    ocdm_options options = options_for("gss", 2);
    ocdm_memory *memory = NULL;
    ocdm_error error = {0};
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (size_t count = 0; count < 3; count++) {
        assert_int_equal(status_of_next(memory, count, &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "gss needs the gradients"));
        assert_non_null(strstr(error.hint, "ocdm_memory_set_similarity"));
        assert_int_equal(ocdm_memory_arrived(memory), 0);
        assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
    }
    assert_int_equal(status_of_next(with_gradients(memory), 2, NULL), OCDM_OK);
    ocdm_memory_set_similarity(memory, NULL, NULL);
    assert_int_equal(status_of_next(memory, 2, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_arrived(memory), 2);
    ocdm_memory_destroy(memory);
}

/* Files hold no functions. */
TEST(gss_is_refused_after_load_until_gradients_are_given)
{
    struct caller caller;
    ocdm_memory *memory = memory_asking(&caller, 3, 0), *loaded = NULL;
    offered_next(memory, 2);
    assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_load("memory", NULL, NULL, &loaded, NULL), OCDM_OK);
    assert_int_equal(status_of_next(loaded, 1, NULL), OCDM_BAD_ARGUMENT);
    same_memory(memory, loaded, "refused after load");
    ocdm_memory_set_similarity(loaded, answer, &caller);
    assert_int_equal(status_of_next(loaded, 1, NULL), OCDM_OK);
    ocdm_memory_destroy(loaded);
    ocdm_memory_destroy(memory);
}

TEST(other_policies_never_ask)
{
    for (size_t p = 0; ocdm_policy_at(p); p++) {
        struct caller caller = {.unanswered = SIZE_MAX};
        ocdm_memory *memory = small_memory(ocdm_policy_at(p)->name);
        ocdm_memory_set_similarity(memory, answer, &caller);
        offered_one(memory, 20, 1, 0, 0);
        offered_one(memory, 21, 2, 0, 0);
        assert_int_equal(caller.asked, ocdm_policy_at(p)->traits & OCDM_NEEDS_GRADIENTS ? 2 : 0);
        ocdm_memory_destroy(memory);
    }
}

/* Without samples to compare with, no comparison is requested; all samples and the batch have the cosine 0.1, so nothing is
 * replaced. */
TEST(gss_starts_with_a_cosine_of_a_tenth)
{
    static const char *const policies[] = {"gss", "gss-released"};
    for (size_t p = 0; p < 2; p++) {
        struct caller caller;
        ocdm_memory *memory = memory_of(policies[p], &caller, 4, 0);
        offered_next(memory, 0);
        ocdm_change change = offered_next(memory, 90);
        assert_int_equal(caller.asked, 0);
        assert_int_equal(change.stored, 4);
        for (uint32_t slot = 0; slot < 4; slot++) {
            assert_near(score_in(memory, slot), 1.1);
            assert_int_equal(ocdm_memory_id(memory, slot), slot);
        }
        ocdm_memory_destroy(memory);
    }
}

/* The batch's cosine is asked for when the memory may get full; it comes first when the memory is. */
TEST(gss_asks_for_what_it_needs)
{
    struct caller caller;
    ocdm_memory *memory = memory_asking(&caller, 6, 0);
    caller.item_cosine = 0.25;
    caller.batch_cosine = 0.5;
    offered_next(memory, 2);
    offered_next(memory, 0);
    assert_int_equal(caller.asked, 0);
    offered_next(memory, 3);
    assert_int_equal(caller.asked, 1);
    assert_int_equal(caller.slot_count, 2);
    assert_int_equal(caller.count, 3);
    assert_int_equal(caller.first_id, 2);
    assert_false(caller.batch_asked || caller.batch_first);
    offered_next(memory, 1);
    assert_int_equal(caller.slot_count, 5);
    assert_false(caller.batch_asked || caller.batch_first);
    offered_next(memory, 3);
    assert_true(caller.batch_asked && caller.batch_first);
    assert_int_equal(caller.asked, 3);
    for (uint32_t slot = 0; slot < 6; slot++)
        assert_near(score_in(memory, slot), slot < 2 ? 1.1 : 1.25);
    ocdm_memory_destroy(memory);
}

/* The batch fills the memory and goes on: those that fit are stored whatever the batch scores, the others as it scores. */
TEST(gss_stores_what_fits_when_a_batch_overflows)
{
    static const double batch_cosines[] = {0, -1};
    for (size_t i = 0; i < 2; i++) {
        struct caller caller;
        ocdm_memory *memory = memory_asking(&caller, 8, 1);
        caller.item_cosine = -0.75;
        caller.batch_cosine = batch_cosines[i];
        offered_next(memory, 2);
        ocdm_change change = offered_next(memory, 60);
        assert_true(caller.batch_asked && !caller.batch_first);
        size_t replaced = 0;
        for (size_t j = 0; j < change.stored; j++)
            replaced += change.item[j] >= 6;
        assert_true((replaced > 0) == (i == 1));
        ocdm_memory_destroy(memory);
    }
}

/* Ten of thirty, each as often as any other. The seeds are fixed; the bound is six standard deviations. */
TEST(gss_draws_uniformly_without_replacement)
{
    enum { HELD = 30, RUNS = 3000 };
    uint32_t times[HELD] = {0};
    struct caller caller;
    ocdm_memory *memory = memory_asking(&caller, HELD, 5);
    offered_next(memory, HELD);
    for (uint32_t run = 0; run < RUNS; run++) {
        offered_next(memory, 1);
        assert_int_equal(caller.slot_count, COMPARED);
        for (size_t i = 0; i < caller.slot_count; i++)
            times[caller.slot[i]]++;
    }
    assert_int_equal(caller.asked, RUNS);
    double share = (double)COMPARED / HELD, deviation = sqrt(RUNS * share * (1 - share));
    for (uint32_t slot = 0; slot < HELD; slot++)
        assert_true(fabs(times[slot] - RUNS * share) < 6 * deviation);
    ocdm_memory_destroy(memory);
}

/* ---- how the answers are used ----------------------------------------------------------------------------------------- */

/* The first sample scores 1.1, the others 1 + the cosine given. */
static ocdm_memory *full_memory_of(const char *policy, struct caller *caller, const double *cosine, uint32_t others,
                                   uint64_t seed)
{
    ocdm_memory *memory = memory_of(policy, caller, 1 + others, seed);
    offered_next(memory, 1);
    for (uint32_t i = 0; i < others; i++) {
        caller->item_cosine = cosine[i];
        offered_next(memory, 1);
        assert_near(score_in(memory, i + 1), 1 + cosine[i]);
    }
    return memory;
}

static ocdm_memory *full_memory(struct caller *caller, const double *cosine, uint32_t others, uint64_t seed)
{
    return full_memory_of("gss", caller, cosine, others, seed);
}

/* A mean gradient that is orthogonal or closer adds nothing: not asked about single samples, none of which is answered. */
TEST(gss_lets_a_batch_pass_when_its_cosine_is_not_negative)
{
    static const double cosines[] = {0, 0x1p-60, 0.5, 1, 1.0005}, others[] = {0.5, -0.5};
    for (size_t i = 0; i < 5; i++) {
        struct caller caller;
        ocdm_memory *memory = full_memory(&caller, others, 2, i);
        caller.batch_cosine = cosines[i];
        caller.item_cosine = NAN;
        ocdm_change change = offered_next(memory, 90);
        assert_int_equal(change.stored, 0);
        assert_int_equal(change.left_count, 90);
        caller.batch_cosine = -0x1p-60;
        caller.item_cosine = -0.9;
        change = offered_next(memory, 90);
        assert_true(change.stored > 0);
        ocdm_memory_destroy(memory);
    }
}

static void check_share(const char *what, uint32_t found, double runs, double chance)
{
    double deviation = sqrt(runs * chance * (1 - chance));
    if (!(fabs(found - runs * chance) <= 6 * deviation))
        fail_msg("%s: %u of %.0f, not near %g", what, found, runs, chance);
}

/* Slot i is taken with probability C_i / sum C times C_i / (C_i + c), and C_i becomes c then. */
TEST(gss_replaces_in_proportion_to_the_scores)
{
    enum { RUNS = 6000 };
    static const double others[] = {-0.5, 0.5, 1, -1};
    static const double scores[] = {1.1, 0.5, 1.5, 2, 0};
    const double c = 0.4;
    uint32_t taken[5] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct caller caller;
        ocdm_memory *memory = full_memory(&caller, others, 4, seed);
        caller.batch_cosine = -1;
        caller.item_cosine = c - 1;
        ocdm_change change = offered_next(memory, 1);
        for (uint32_t slot = 0; slot < 5; slot++) {
            bool is_taken = change.stored && change.slot[0] == slot;
            taken[slot] += is_taken;
            assert_near(score_in(memory, slot), is_taken ? c : scores[slot]);
        }
        ocdm_memory_destroy(memory);
    }
    double total = 1.1 + 0.5 + 1.5 + 2;
    for (uint32_t slot = 0; slot < 4; slot++)
        check_share("taken", taken[slot], RUNS, scores[slot] / total * scores[slot] / (scores[slot] + c));
    assert_int_equal(taken[4], 0);
}

/* The smallest scores that there are, 0, 1 and 3 times 2^-32, in whatever slots: a newcomer with 0 takes none of the first, and
 * one of the others in proportion. */
TEST(gss_draws_exactly_when_scores_are_tiny)
{
    enum { RUNS = 3000 };
    uint32_t taken[4] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct caller caller;
        ocdm_memory *memory = memory_asking(&caller, 3, seed);
        offered_next(memory, 3);
        caller.batch_cosine = -1;
        static const uint32_t units[] = {0, 1, 3};
        for (size_t i = 0; i < 3; i++) {
            caller.item_cosine = -1 + units[i] * 0x1p-32;
            assert_int_equal(offered_next(memory, 1).stored, 1);
        }
        double before[3];
        for (uint32_t slot = 0; slot < 3; slot++)
            before[slot] = score_in(memory, slot);
        caller.item_cosine = -1;
        ocdm_change change = offered_next(memory, 1);
        assert_int_equal(change.stored, 1);
        taken[(uint32_t)(before[change.slot[0]] * 0x1p32)]++;
        ocdm_memory_destroy(memory);
    }
    assert_int_equal(taken[0], 0);
    check_share("one unit", taken[1], RUNS, 0.25);
    check_share("three units", taken[3], RUNS, 0.75);
}

/* All gradients opposite, all scores 0: any slot is as good; a newcomer with a score above 0 is worse, one with 0 even. */
TEST(gss_decides_by_an_even_draw_when_all_scores_are_nothing)
{
    enum { RUNS = 2000 };
    uint32_t taken[2] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct caller caller;
        ocdm_memory *memory = memory_asking(&caller, 2, seed);
        caller.item_cosine = caller.batch_cosine = -1;
        offered_next(memory, 2);
        while (score_in(memory, 0) + score_in(memory, 1) > 0)
            offered_next(memory, 1);
        caller.item_cosine = -0.999;
        assert_int_equal(offered_next(memory, 1).stored, 0);
        caller.item_cosine = -1.0005;
        ocdm_change change = offered_next(memory, 1);
        if (change.stored)
            taken[change.slot[0]]++;
        assert_true(score_in(memory, 0) + score_in(memory, 1) == 0);
        ocdm_memory_destroy(memory);
    }
    check_share("first", taken[0], RUNS, 0.25);
    check_share("second", taken[1], RUNS, 0.25);
}

/* ---- the published code ------------------------------------------------------------------------------------------------ */

/* Ten groups of ten; as many as are whole; of a memory with less than ten samples, all of them. No slot is in two groups. */
TEST(gss_released_compares_with_groups_of_ten)
{
    static const struct {
        uint32_t held, group, groups;
    } cases[] = {{1, 1, 1}, {9, 9, 1}, {10, 10, 1}, {19, 10, 1}, {20, 10, 2}, {99, 10, 9}, {100, 10, 10}, {230, 10, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct caller caller;
        uint32_t times[230] = {0};
        ocdm_memory *memory = memory_of("gss-released", &caller, 300, i);
        for (uint32_t left = cases[i].held; left > 0;) {
            uint32_t some = left < 60 ? left : 60;
            offered_next(memory, some);
            left -= some;
        }
        offered_next(memory, 1);
        assert_int_equal(caller.group_size, cases[i].group);
        assert_int_equal(caller.slot_count, cases[i].group * cases[i].groups);
        assert_false(caller.batch_asked);
        for (size_t k = 0; k < caller.slot_count; k++)
            assert_int_equal(++times[caller.slot[k]], 1);
        ocdm_memory_destroy(memory);
    }
}

/* What a memory that is not full has no room for is dropped, whatever the batch is like. */
TEST(gss_released_drops_what_has_no_room_while_it_fills)
{
    struct caller caller;
    ocdm_memory *memory = memory_of("gss-released", &caller, 8, 1);
    caller.item_cosine = caller.batch_cosine = -1;
    offered_next(memory, 2);
    ocdm_change change = offered_next(memory, 60);
    assert_int_equal(change.stored, 6);
    for (uint32_t slot = 0; slot < 8; slot++)
        assert_int_equal(ocdm_memory_id(memory, slot), slot);
    ocdm_memory_destroy(memory);
}

/* One sample: slot i is drawn with probability (C_i - min C) / their sum and replaced with probability C_i / (C_i + c). */
TEST(gss_released_replaces_by_what_exceeds_the_smallest_score)
{
    enum { RUNS = 6000 };
    static const double others[] = {-0.5, 0.5, 1, -0.75}, scores[] = {1.1, 0.5, 1.5, 2, 0.25};
    const double c = 0.4, total = 0.85 + 0.25 + 1.25 + 1.75;
    uint32_t taken[5] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct caller caller;
        ocdm_memory *memory = full_memory_of("gss-released", &caller, others, 4, seed);
        caller.batch_cosine = -1;
        caller.item_cosine = c - 1;
        ocdm_change change = offered_next(memory, 1);
        if (change.stored)
            taken[change.slot[0]]++;
        if (change.stored)
            assert_near(score_in(memory, change.slot[0]), c);
        ocdm_memory_destroy(memory);
    }
    for (uint32_t slot = 0; slot < 4; slot++)
        check_share("taken", taken[slot], RUNS, (scores[slot] - 0.25) / total * scores[slot] / (scores[slot] + c));
    assert_int_equal(taken[4], 0);
}

/* A batch as large as the memory, whose samples are as unlike as can be: each takes a slot of its own, the smallest score's
 * last; what comes after has no slot to take. */
TEST(gss_released_offers_each_sample_a_slot_of_its_own)
{
    static const double others[] = {-0.5, 0.5, 1, -0.75};
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct caller caller;
        ocdm_memory *memory = full_memory_of("gss-released", &caller, others, 4, seed);
        caller.batch_cosine = caller.item_cosine = -1;
        ocdm_change change = offered_next(memory, 8);
        assert_int_equal(change.stored, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(change.item[i], i);
            assert_int_equal(change.slot[i] == 4, i == 4);
        }
        ocdm_memory_destroy(memory);
    }
}

/* ---- bad answers ------------------------------------------------------------------------------------------------------ */

/* What the caller is to answer next is refused with that, changes nothing, and a good answer then does what it would have. */
static void check_refusal(struct caller bad, ocdm_status expected, const char *message)
{
    static const double others[] = {0.5, -0.5};
    struct caller caller, twin_caller;
    ocdm_memory *memory = full_memory(&caller, others, 2, 3), *twin = full_memory(&twin_caller, others, 2, 3);
    caller = bad;
    ocdm_error error = {0};
    assert_int_equal(status_of_next(memory, 3, &error), expected);
    assert_int_equal(error.status, expected);
    HOLDS(error.message, strstr(error.message, message));
    assert_int_equal(status_of_next(memory, 3, NULL), expected);
    assert_int_equal(caller.asked, 2);
    same_memory(memory, twin, message);
    for (uint32_t slot = 0; slot < 3; slot++)
        HOLDS(message, score_in(memory, slot) == score_in(twin, slot));
    caller = twin_caller = (struct caller){.batch_cosine = -0.5, .item_cosine = -0.5, .unanswered = SIZE_MAX};
    for (size_t count = 1; count < 60; count++) {
        ocdm_change change = offered_next(memory, count), expected_change = offered_next(twin, count);
        same_change(&change, &expected_change, message);
    }
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

TEST(gss_refuses_what_is_no_cosine)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1.01, -1.01};
    for (size_t i = 0; i < 5; i++) {
        struct caller caller = {.batch_cosine = bad[i], .item_cosine = -0.5, .unanswered = SIZE_MAX};
        check_refusal(caller, OCDM_BAD_ARGUMENT, "for the batch");
        caller = (struct caller){.batch_cosine = -0.5, .item_cosine = bad[i], .unanswered = SIZE_MAX};
        check_refusal(caller, OCDM_BAD_ARGUMENT, "for item 0 (id 3)");
    }
}

/* A cosine that was forgotten is not taken for the one that the last batch had there. */
TEST(gss_refuses_a_missing_answer)
{
    check_refusal((struct caller){.batch_cosine = -0.5, .item_cosine = 0.5, .unanswered = 1}, OCDM_BAD_ARGUMENT,
                  "for item 1 (id 4)");
}

TEST(gss_passes_on_why_the_caller_cannot_answer)
{
    struct caller caller = {.status = OCDM_NO_MEMORY, .message = "no room for ten gradients", .unanswered = SIZE_MAX};
    check_refusal(caller, OCDM_NO_MEMORY, "no room for ten gradients");
    caller = (struct caller){.status = OCDM_LIMIT, .unanswered = SIZE_MAX};
    check_refusal(caller, OCDM_LIMIT, "gradients that the policy gss needs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gss_is_refused_without_gradients),
        cmocka_unit_test(gss_is_refused_after_load_until_gradients_are_given),
        cmocka_unit_test(other_policies_never_ask),
        cmocka_unit_test(gss_starts_with_a_cosine_of_a_tenth),
        cmocka_unit_test(gss_released_compares_with_groups_of_ten),
        cmocka_unit_test(gss_released_drops_what_has_no_room_while_it_fills),
        cmocka_unit_test(gss_released_replaces_by_what_exceeds_the_smallest_score),
        cmocka_unit_test(gss_released_offers_each_sample_a_slot_of_its_own),
        cmocka_unit_test(gss_asks_for_what_it_needs),
        cmocka_unit_test(gss_stores_what_fits_when_a_batch_overflows),
        cmocka_unit_test(gss_draws_uniformly_without_replacement),
        cmocka_unit_test(gss_lets_a_batch_pass_when_its_cosine_is_not_negative),
        cmocka_unit_test(gss_replaces_in_proportion_to_the_scores),
        cmocka_unit_test(gss_draws_exactly_when_scores_are_tiny),
        cmocka_unit_test(gss_decides_by_an_even_draw_when_all_scores_are_nothing),
        cmocka_unit_test(gss_refuses_what_is_no_cosine),
        cmocka_unit_test(gss_refuses_a_missing_answer),
        cmocka_unit_test(gss_passes_on_why_the_caller_cannot_answer),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
