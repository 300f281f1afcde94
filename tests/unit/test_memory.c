/* Making a memory and offering it samples: what ocdm.h promises, and every error it names. */
#include "../test.h"
#include "../twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory/internal.h"

static const char *const policies[] = {"ocdm", "onlyone", "rs",     "prs", "prs-released", "cbes",
                                       "cbrs", "max",     "random", "gss", "gss-released", "bat-ocdm"};

#define POLICIES (sizeof policies / sizeof *policies)

/* ---- names and numbers ------------------------------------------------------------------------------------------------ */

TEST(version_is_that_of_the_header)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", OCDM_VERSION_MAJOR, OCDM_VERSION_MINOR, OCDM_VERSION_PATCH);
    assert_string_equal(ocdm_version(), text);
}

TEST(status_text_tells_every_status_apart)
{
    assert_string_equal(ocdm_status_text(OCDM_OK), "ok");
    static const ocdm_status all[] = {
#define STATUS(name, number, text) OCDM_##name,
        OCDM_STATUS_MAP(STATUS)
#undef STATUS
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ocdm_status_text(all[i]), ocdm_status_text(all[j]));
    assert_non_null(ocdm_status_text((ocdm_status)1000));
    assert_non_null(ocdm_status_text((ocdm_status)-1));
}

TEST(names_are_those_of_the_header)
{
    assert_string_equal(ocdm_distance_name(OCDM_KL), "kl");
    assert_string_equal(ocdm_distance_name(OCDM_REVERSE_KL), "reverse-kl");
    assert_string_equal(ocdm_distance_name(OCDM_L2), "l2");
    assert_string_equal(ocdm_distance_name(OCDM_TV), "tv");
    assert_string_equal(ocdm_tie_name(OCDM_TIE_KEY), "key");
    assert_string_equal(ocdm_tie_name(OCDM_TIE_OLDEST), "oldest");
    assert_string_equal(ocdm_tie_name(OCDM_TIE_NEWEST), "newest");
    assert_string_equal(ocdm_tie_name(OCDM_TIE_UNIFORM), "uniform");
    assert_null(ocdm_distance_name((ocdm_distance)4));
    assert_null(ocdm_distance_name((ocdm_distance)-1));
    assert_null(ocdm_tie_name((ocdm_tie)4));
    assert_null(ocdm_tie_name((ocdm_tie)-1));
}

TEST(policies_are_found_by_name_and_listed)
{
    size_t count = 0;
    for (; ocdm_policy_at(count); count++)
        assert_ptr_equal(ocdm_policy_find(ocdm_policy_at(count)->name), ocdm_policy_at(count));
    assert_int_equal(count, POLICIES);
    for (size_t i = 0; i < POLICIES; i++)
        assert_string_equal(ocdm_policy_find(policies[i])->name, policies[i]);
    assert_null(ocdm_policy_at(SIZE_MAX));
    assert_null(ocdm_policy_find("ocd"));
    assert_null(ocdm_policy_find(""));
    assert_null(ocdm_policy_find(NULL));
}

/* ---- creation --------------------------------------------------------------------------------------------------------- */

TEST(options_default_are_those_of_the_header)
{
    ocdm_options options = ocdm_options_default();
    assert_int_equal(options.capacity, 1000);
    assert_int_equal(options.batch, 10);
    assert_ptr_equal(options.policy, ocdm_policy_find("ocdm"));
    assert_int_equal(options.distance, OCDM_KL);
    assert_int_equal(options.tie, OCDM_TIE_KEY);
    assert_true(options.rho == 0);
    assert_int_equal(options.seed, 0);
}

/* Refused with a message that names the field; the out-parameter is not written; without an error to fill all the same. */
static void refused(ocdm_options options, const char *named)
{
    ocdm_memory *const untouched = (ocdm_memory *)&options;
    ocdm_memory *memory = untouched;
    ocdm_error error = {0};
    assert_int_equal(ocdm_memory_create(&options, &memory, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, named));
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_BAD_ARGUMENT);
    assert_ptr_equal(memory, untouched);
}

TEST(create_refuses_numbers_out_of_range)
{
    ocdm_options good = ocdm_options_default(), bad = good;
    bad.capacity = 0;
    refused(bad, "capacity 0");
    bad.capacity = OCDM_MAX_CAPACITY + 1;
    refused(bad, "capacity 2147483648");
    bad = good;
    bad.batch = 0;
    refused(bad, "batch");
    const double rhos[] = {NAN, INFINITY, -INFINITY, nextafter(16, 17), nextafter(-16, -17)};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        bad = good;
        bad.rho = rhos[i];
        refused(bad, "rho");
    }
    bad = good;
    bad.distance = (ocdm_distance)4;
    refused(bad, "distance");
    bad = good;
    bad.tie = (ocdm_tie)4;
    refused(bad, "tie");
    bad = good;
    bad.policy = NULL;
    refused(bad, "policy");
}

TEST(create_refuses_null)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    ocdm_error error;
    assert_int_equal(ocdm_memory_create(NULL, &memory, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_create(&options, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_null(memory);
}

TEST(create_takes_the_limits)
{
    ocdm_options options = ocdm_options_default();
    options.capacity = 1;
    options.batch = 1;
    for (int sign = -1; sign <= 1; sign += 2) {
        options.rho = sign * OCDM_MAX_RHO;
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 50; id++)
            offered_one(memory, id, 1 + (uint32_t)id % 3, 0, 0);
        assert_int_equal(ocdm_memory_size(memory), 1);
        assert_true(isfinite(ocdm_memory_distance(memory, OCDM_SEEN_EVER)));
        ocdm_memory_destroy(memory);
    }
}

TEST(create_copies_its_options)
{
    ocdm_options options = options_for("prs", 7);
    options.seed = 99;
    options.rho = -0.5;
    ocdm_memory *memory = created(&options);
    ocdm_options copy = options;
    options.capacity = 1;
    options.rho = 3;
    same_options(ocdm_memory_options(memory), &copy, "options of the memory");
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(NULL);
}

TEST(memory_is_empty_when_created)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = created(&options);
    uint32_t slot[1];
    assert_int_equal(ocdm_memory_size(memory), 0);
    assert_int_equal(ocdm_memory_arrived(memory), 0);
    assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
    assert_int_equal(ocdm_memory_find(memory, 0), OCDM_NONE);
    assert_int_equal(ocdm_memory_kept(memory, 0), 0);
    assert_int_equal(ocdm_memory_seen(memory, 0), 0);
    assert_int_equal(ocdm_memory_draw(memory, 1, slot), 0);
    assert_true(isnan(ocdm_memory_distance(memory, OCDM_IN_PLAY)));
    assert_true(isnan(ocdm_memory_distance(memory, OCDM_SEEN_EVER)));
    ocdm_memory_destroy(memory);
}

/* A capacity far beyond the machine's memory costs what the samples cost. */
TEST(capacity_may_be_the_largest_when_samples_are_few)
{
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], OCDM_MAX_CAPACITY);
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 30; id++)
            offered_one(memory, id, 1 + (uint32_t)id % 4, 0, 0);
        assert_int_equal(ocdm_memory_size(memory), 30);
        assert_int_equal(ocdm_memory_find(memory, 29), 29);
        ocdm_memory_destroy(memory);
    }
}

/* Beyond a million samples a large memory grows as it fills, and no sample is lost when it grows. */
TEST(memory_grows_when_it_outgrows_its_first_room)
{
    enum { SAMPLES = 1060000, BATCH = 1000 };
    ocdm_options options = options_for("rs", OCDM_MAX_CAPACITY);
    ocdm_memory *memory = created(&options);
    ocdm_sample *batch = calloc(BATCH, sizeof *batch);
    assert_non_null(batch);
    const uint32_t labels[3] = {5, 6, 7};
    for (uint64_t id = 0; id < SAMPLES; id += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            batch[i] = (ocdm_sample){id + i, labels + (id + i) % 3, 1};
        offered(memory, batch, BATCH);
    }
    assert_int_equal(ocdm_memory_size(memory), SAMPLES);
    for (uint64_t id = 0; id < SAMPLES; id += 997)
        assert_int_equal(ocdm_memory_find(memory, id), id);
    assert_int_equal(ocdm_memory_kept(memory, 5), (SAMPLES + 2) / 3);
    uint32_t slot[2];
    assert_int_equal(ocdm_memory_draw(memory, 2, slot), 2);
    assert_true(slot[0] < SAMPLES && slot[1] < SAMPLES && slot[0] != slot[1]);
    free(batch);
    ocdm_memory_destroy(memory);
}

/* ---- updates ---------------------------------------------------------------------------------------------------------- */

TEST(update_fills_slots_in_order)
{
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 5);
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 5; id++) {
            ocdm_change change = offered_one(memory, 100 + id, 1, 0, 0);
            assert_int_equal(change.stored, 1);
            assert_int_equal(change.slot[0], id);
            assert_int_equal(change.item[0], 0);
            assert_int_equal(change.left_count, 0);
            assert_int_equal(ocdm_memory_id(memory, (uint32_t)id), 100 + id);
            assert_int_equal(ocdm_memory_arrival(memory, (uint32_t)id), id);
        }
        assert_int_equal(ocdm_memory_size(memory), 5);
        ocdm_memory_destroy(memory);
    }
}

#define MIRROR_SLOTS (2 * POLICIES)

/* The caller's array of payloads; a payload is its sample's id. */
struct mirror {
    uint64_t payload[MIRROR_SLOTS];
    uint32_t used;
};

static bool is_in(const struct mirror *mirror, uint64_t id, uint32_t *slot)
{
    for (*slot = 0; *slot < mirror->used; ++*slot)
        if (mirror->payload[*slot] == id)
            return true;
    return false;
}

/* Everyone who left was there, each once, and the departure says where. */
static void check_departures(const struct mirror *mirror, const struct toy_batch *batch, const ocdm_change *change)
{
    for (size_t i = 0; i < change->left_count; i++) {
        uint32_t slot;
        const ocdm_departure *left = &change->left[i];
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(change->left[j].id, left->id);
        if (left->item == OCDM_NONE) {
            assert_true(is_in(mirror, left->id, &slot));
            assert_int_equal(left->slot, slot);
        } else {
            assert_int_equal(left->slot, OCDM_NONE);
            assert_int_equal(batch->sample[left->item].id, left->id);
        }
    }
}

/* Does what `change` says, as the header shows it; a shrinking memory (onlyone's pool) never happens. */
static void follow(struct mirror *mirror, const struct toy_batch *batch, const ocdm_change *change, const ocdm_memory *memory)
{
    uint32_t before = mirror->used;
    check_departures(mirror, batch, change);
    assert_int_equal(before + batch->count, ocdm_memory_size(memory) + change->left_count);
    mirror->used = ocdm_memory_size(memory);
    for (size_t i = 0; i < change->stored; i++) {
        assert_true(i == 0 || change->item[i - 1] < change->item[i]);
        mirror->payload[change->slot[i]] = batch->sample[change->item[i]].id;
    }
    for (uint32_t slot = 0; slot < mirror->used; slot++) {
        assert_int_equal(mirror->payload[slot], ocdm_memory_id(memory, slot));
        assert_int_equal(ocdm_memory_find(memory, mirror->payload[slot]), slot);
    }
    for (size_t i = 0; i < change->left_count; i++)
        assert_int_equal(ocdm_memory_find(memory, change->left[i].id), OCDM_NONE);
}

/* A caller who does what the change says has the right payload in every slot, whichever samples move: also for batches larger
 * than options.batch and larger than the memory. */
TEST(change_keeps_a_mirror_of_the_memory)
{
    static struct toy_batch batch;
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 1 + (uint32_t)p * 2);
        options.batch = 1 + (uint32_t)p;
        ocdm_memory *memory = created(&options);
        struct mirror mirror = {0};
        ocdm__random random = ocdm__random_stream(p, 0);
        struct toy_shape shape = {0, 6, strcmp(policies[p], "cbrs") ? 4 : 1};
        for (uint64_t id = 0; id < 600; id += batch.count) {
            toy_draw(&batch, &random, shape, toy_below(&random, 40), id);
            ocdm_change change = offered(memory, batch.sample, batch.count);
            follow(&mirror, &batch, &change, memory);
            assert_int_equal(ocdm_memory_arrived(memory), id + batch.count);
        }
        ocdm_memory_destroy(memory);
    }
}

/* A batch of more than options.batch samples in a small memory: the room grows, several times over. */
TEST(update_takes_batches_beyond_every_room)
{
    enum { MOST = 3000 };
    ocdm_sample *batch = calloc(MOST, sizeof *batch);
    assert_non_null(batch);
    const uint32_t labels[4] = {1, 2, 3, 4};
    for (size_t p = 0; p < POLICIES; p++) {
        ocdm_options options = options_for(policies[p], 10);
        options.batch = 1;
        ocdm_memory *memory = created(&options);
        uint64_t id = 0;
        for (size_t count = 1; count <= MOST; count *= 3) {
            for (size_t i = 0; i < count; i++, id++)
                batch[i] = (ocdm_sample){id, labels + id % 4, 1};
            ocdm_change change = offered(memory, batch, count);
            assert_true(change.stored <= 10);
        }
        assert_int_equal(ocdm_memory_size(memory), 10);
        assert_int_equal(ocdm_memory_arrived(memory), id);
        assert_int_equal(ocdm_memory_seen(memory, 1), (id + 3) / 4);
        ocdm_memory_destroy(memory);
    }
    free(batch);
}

/* An empty batch is an update: nothing moves, and a class that emptied in the one before is in play no more. */
TEST(update_takes_an_empty_batch)
{
    ocdm_options options = options_for("rs", 1);
    ocdm_memory *memory = created(&options);
    offered_one(memory, 1, 7, 0, 0);
    uint64_t id = 2;
    while (ocdm_memory_kept(memory, 8) == 0)
        offered_one(memory, id++, 8, 0, 0);
    assert_true(ocdm_memory_distance(memory, OCDM_IN_PLAY) > 0.5);
    ocdm_change change = {.stored = 5, .left_count = 5};
    assert_int_equal(ocdm_memory_update(memory, NULL, 0, &change, NULL), OCDM_OK);
    assert_int_equal(change.stored, 0);
    assert_int_equal(change.left_count, 0);
    assert_int_equal(ocdm_memory_size(memory), 1);
    assert_true(fabs(ocdm_memory_distance(memory, OCDM_IN_PLAY)) < 1e-12);
    assert_true(ocdm_memory_distance(memory, OCDM_SEEN_EVER) > 0.5);
    ocdm_memory_destroy(memory);
}

TEST(update_needs_neither_change_nor_error)
{
    ocdm_options options = options_for("ocdm", 3);
    ocdm_memory *memory = created(&options);
    ocdm_sample sample = {1, NULL, 0};
    assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_DUPLICATE_ID);
    assert_int_equal(ocdm_memory_size(memory), 1);
    ocdm_memory_destroy(memory);
}

/* ---- refused updates -------------------------------------------------------------------------------------------------- */

/* Two equal memories with some samples, ids 0..19, and the batch that one of them is to refuse. */
struct pair {
    ocdm_memory *memory;
    ocdm_memory *twin;
    const char *policy;
};

static struct pair make_pair(const char *policy)
{
    static struct toy_batch batch;
    ocdm_options options = options_for(policy, 12);
    options.rho = 0.5;
    struct pair pair = {created(&options), created(&options), policy};
    ocdm__random random = ocdm__random_stream(3, 0);
    for (uint64_t id = 0; id < 20; id += 5) {
        toy_draw(&batch, &random, (struct toy_shape){0, 5, strcmp(policy, "cbrs") ? 3 : 1}, 5, id);
        offered_to_both(pair.memory, pair.twin, &batch, policy);
    }
    return pair;
}

/* The batch is refused, nothing has changed, and the memory continues like one that never saw it. */
static void check_refusal(struct pair *pair, const ocdm_sample *batch, size_t count, ocdm_status expected)
{
    static struct toy_batch next;
    ocdm_change change = {.stored = 77};
    ocdm_error error = {0};
    assert_int_equal(ocdm_memory_update(pair->memory, batch, count, &change, &error), expected);
    assert_int_equal(error.status, expected);
    assert_true(error.message[0] != '\0');
    assert_int_equal(change.stored, 77);
    same_memory(pair->memory, pair->twin, pair->policy);
    ocdm__random random = ocdm__random_stream(4, ocdm_memory_arrived(pair->memory));
    struct toy_shape shape = {1, 7, strcmp(pair->policy, "cbrs") ? 3 : 1};
    for (int i = 0; i < 4; i++) {
        toy_draw(&next, &random, shape, 7, 1000 + ocdm_memory_arrived(pair->memory));
        offered_to_both(pair->memory, pair->twin, &next, pair->policy);
    }
}

TEST(update_refuses_ids_that_are_there_already)
{
    const uint32_t fresh[] = {50, 51, 52};
    for (size_t p = 0; p < POLICIES; p++) {
        struct pair pair = make_pair(policies[p]);
        uint64_t inside = ocdm_memory_id(pair.memory, 3);
        ocdm_sample twice[] = {{500, fresh, 1}, {501, fresh + 1, 1}, {500, fresh + 2, 1}};
        ocdm_sample known[] = {{500, fresh, 1}, {501, fresh + 1, 1}, {inside, fresh + 2, 1}};
        check_refusal(&pair, twice, 3, OCDM_DUPLICATE_ID);
        known[2].id = ocdm_memory_id(pair.memory, 3);
        check_refusal(&pair, known, 3, OCDM_DUPLICATE_ID);
        assert_int_equal(ocdm_memory_seen(pair.memory, 50), 0);
        ocdm_memory_destroy(pair.memory);
        ocdm_memory_destroy(pair.twin);
    }
}

TEST(update_refuses_a_sample_with_too_many_labels)
{
    uint32_t *labels = calloc(OCDM_MAX_LABELS + 1u, sizeof *labels);
    assert_non_null(labels);
    for (uint32_t i = 0; i <= OCDM_MAX_LABELS; i++)
        labels[i] = 1000 + i;
    for (size_t p = 0; p < POLICIES; p++) {
        struct pair pair = make_pair(policies[p]);
        ocdm_sample batch[] = {{500, labels, 1}, {501, labels, OCDM_MAX_LABELS + 1u}};
        check_refusal(&pair, batch, 2, OCDM_TOO_MANY_LABELS);
        batch[1].label_count = SIZE_MAX;
        check_refusal(&pair, batch, 2, OCDM_TOO_MANY_LABELS);
        ocdm_memory_destroy(pair.memory);
        ocdm_memory_destroy(pair.twin);
    }
    free(labels);
}

TEST(update_refuses_null_where_samples_should_be)
{
    for (size_t p = 0; p < POLICIES; p++) {
        struct pair pair = make_pair(policies[p]);
        const uint32_t fresh = 50;
        ocdm_sample batch[] = {{500, &fresh, 1}, {501, NULL, 1}};
        check_refusal(&pair, batch, 2, OCDM_BAD_ARGUMENT);
        check_refusal(&pair, NULL, 1, OCDM_BAD_ARGUMENT);
        check_refusal(&pair, batch, (size_t)OCDM_MAX_CAPACITY + 1, OCDM_BAD_ARGUMENT);
        ocdm_memory_destroy(pair.memory);
        ocdm_memory_destroy(pair.twin);
    }
}

TEST(update_refuses_a_missing_memory)
{
    ocdm_sample sample = {1, NULL, 0};
    ocdm_error error;
    assert_int_equal(ocdm_memory_update(NULL, &sample, 1, NULL, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
}

TEST(cbrs_refuses_a_sample_with_several_labels)
{
    struct pair pair = make_pair("cbrs");
    const uint32_t labels[] = {50, 50, 51};
    ocdm_sample batch[] = {{500, labels, 2}, {501, labels, 3}};
    check_refusal(&pair, batch, 2, OCDM_NOT_SINGLE_LABEL);
    ocdm_change change = offered(pair.memory, batch, 1);
    assert_int_equal(change.stored, 1);
    assert_int_equal(ocdm_memory_seen(pair.memory, 50), 1);
    ocdm_memory_destroy(pair.memory);
    ocdm_memory_destroy(pair.twin);
}

/* Offers the same batches to both memories, with dense classes and unique ids, and compares what they do. */
static void compare_trusting(const char *policy, ocdm_memory *plain, ocdm_memory *trusting)
{
    uint64_t next_id = 0, state = 7;
    for (int step = 0; step < 300; step++) {
        uint32_t labels[12][2];
        ocdm_sample batch[12];
        ocdm_change a, b;
        for (int i = 0; i < 12; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t classes = 1 + (uint32_t)step / 4; /* new ones appear, not in the order of their ids */
            labels[i][0] = (uint32_t)(state >> 33) % classes;
            labels[i][1] = strcmp(policy, "cbrs") == 0 ? labels[i][0] : (uint32_t)(state >> 40) % classes;
            batch[i] = (ocdm_sample){.id = next_id++, .labels = labels[i], .label_count = 2};
        }
        assert_int_equal(ocdm_memory_update(plain, batch, 12, &a, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(trusting, batch, 12, &b, NULL), OCDM_OK);
        assert_int_equal(a.stored, b.stored);
        assert_int_equal(a.left_count, b.left_count);
        assert_memory_equal(a.item, b.item, a.stored * sizeof *a.item);
        for (size_t i = 0; i < a.left_count; i++)
            assert_int_equal(a.left[i].id, b.left[i].id);
    }
    for (uint32_t i = 0; i < 80; i++) {
        assert_int_equal(ocdm_memory_kept(plain, i), ocdm_memory_kept(trusting, i));
        assert_int_equal(ocdm_memory_seen(plain, i), ocdm_memory_seen(trusting, i));
    }
}

TEST(trusting_memory_decides_as_any_other)
{
    for (size_t i = 0; i < POLICIES; i++) {
        ocdm_options options = ocdm_options_default();
        options.capacity = 100;
        options.batch = 12;
        options.rho = 0.5;
        options.policy = ocdm_policy_find(policies[i]);
        if (options.policy->traits & OCDM_NEEDS_GRADIENTS)
            continue;
        ocdm_memory *plain, *trusting;
        assert_int_equal(ocdm_memory_create(&options, &plain, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_create(&options, &trusting, NULL), OCDM_OK);
        ocdm__memory_trust(trusting);
        compare_trusting(policies[i], plain, trusting);
        ocdm_memory_destroy(plain);
        ocdm_memory_destroy(trusting);
    }
}

/* A batch that fails takes its new classes back; they appear as new ones later. */
TEST(trusting_memory_takes_a_failed_batch_back)
{
    static const uint32_t labels[] = {0, 5};
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory;
    options.policy = ocdm_policy_find("cbrs");
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    ocdm__memory_trust(memory);
    ocdm_sample batch[] = {{.id = 0, .labels = labels, .label_count = 2}, {.id = 1, .labels = labels + 1, .label_count = 1}};
    assert_int_equal(ocdm_memory_update(memory, batch, 1, NULL, NULL), OCDM_NOT_SINGLE_LABEL);
    assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 0);
    assert_int_equal(ocdm_memory_update(memory, batch + 1, 1, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_counts(memory, NULL, 0), 1);
    assert_int_equal(ocdm_memory_kept(memory, 5), 1);
    assert_int_equal(ocdm_memory_kept(memory, 0), 0);
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_header),
        cmocka_unit_test(status_text_tells_every_status_apart),
        cmocka_unit_test(names_are_those_of_the_header),
        cmocka_unit_test(policies_are_found_by_name_and_listed),
        cmocka_unit_test(options_default_are_those_of_the_header),
        cmocka_unit_test(create_refuses_numbers_out_of_range),
        cmocka_unit_test(create_refuses_null),
        cmocka_unit_test(create_takes_the_limits),
        cmocka_unit_test(create_copies_its_options),
        cmocka_unit_test(memory_is_empty_when_created),
        cmocka_unit_test(capacity_may_be_the_largest_when_samples_are_few),
        cmocka_unit_test(memory_grows_when_it_outgrows_its_first_room),
        cmocka_unit_test(update_fills_slots_in_order),
        cmocka_unit_test(change_keeps_a_mirror_of_the_memory),
        cmocka_unit_test(update_takes_batches_beyond_every_room),
        cmocka_unit_test(update_takes_an_empty_batch),
        cmocka_unit_test(update_needs_neither_change_nor_error),
        cmocka_unit_test(update_refuses_ids_that_are_there_already),
        cmocka_unit_test(update_refuses_a_sample_with_too_many_labels),
        cmocka_unit_test(update_refuses_null_where_samples_should_be),
        cmocka_unit_test(cbrs_refuses_a_sample_with_several_labels),
        cmocka_unit_test(update_refuses_a_missing_memory),
        cmocka_unit_test(trusting_memory_decides_as_any_other),
        cmocka_unit_test(trusting_memory_takes_a_failed_batch_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
