/* What ocdm.h promises beyond update, draw and files: forgetting, other capacities, weights, flat arrays, bytes, and that
 * NULL and empty arguments are safe. Decisions are judged in tests/property/test_memory_changes.c. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include <math.h>
#include <stdlib.h>

/* ---- names ------------------------------------------------------------------------------------------------------------ */

TEST(distances_and_tie_rules_are_found_by_name)
{
    for (int i = 0; ocdm_distance_name((ocdm_distance)i) != NULL; i++) {
        ocdm_distance found = (ocdm_distance)77;
        assert_int_equal(ocdm_distance_find(ocdm_distance_name((ocdm_distance)i), &found), OCDM_OK);
        assert_int_equal(found, i);
    }
    for (int i = 0; ocdm_tie_name((ocdm_tie)i) != NULL; i++) {
        ocdm_tie found = (ocdm_tie)77;
        assert_int_equal(ocdm_tie_find(ocdm_tie_name((ocdm_tie)i), &found), OCDM_OK);
        assert_int_equal(found, i);
    }
    static const char *const unknown[] = {"", "k", "KL", "kl ", "oldest!", "ocdm"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        ocdm_distance distance = OCDM_L2;
        ocdm_tie tie = OCDM_TIE_NEWEST;
        assert_int_equal(ocdm_distance_find(unknown[i], &distance), OCDM_UNKNOWN_NAME);
        assert_int_equal(ocdm_tie_find(unknown[i], &tie), OCDM_UNKNOWN_NAME);
        assert_true(distance == OCDM_L2 && tie == OCDM_TIE_NEWEST);
    }
    assert_int_equal(ocdm_distance_find(NULL, &(ocdm_distance){OCDM_KL}), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_distance_find("kl", NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_tie_find(NULL, &(ocdm_tie){OCDM_TIE_KEY}), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_tie_find("key", NULL), OCDM_BAD_ARGUMENT);
}

TEST(traits_say_what_a_policy_needs)
{
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        const ocdm_policy *policy = ocdm_policy_at(p);
        ocdm_options options = options_for(policy->name, 4);
        ocdm_memory *memory = NULL;
        assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
        const uint32_t labels[] = {1, 2};
        ocdm_sample one = {1, labels, 1}, two = {2, labels, 2};
        ocdm_status without = ocdm_memory_update(memory, &one, 1, NULL, NULL);
        assert_int_equal(without, policy->traits & OCDM_NEEDS_GRADIENTS ? OCDM_BAD_ARGUMENT : OCDM_OK);
        with_gradients(memory);
        ocdm_status several = ocdm_memory_update(memory, &two, 1, NULL, NULL);
        assert_int_equal(several, policy->traits & OCDM_SINGLE_LABEL ? OCDM_NOT_SINGLE_LABEL : OCDM_OK);
        ocdm_memory_destroy(memory);
    }
}

/* ---- nothing ---------------------------------------------------------------------------------------------------------- */

TEST(questions_about_nothing_are_answered_with_nothing)
{
    uint32_t slots[4] = {9, 9, 9, 9};
    ocdm_class classes[4];
    assert_int_equal(ocdm_memory_size(NULL), 0);
    assert_null(ocdm_memory_options(NULL));
    assert_int_equal(ocdm_memory_arrived(NULL), 0);
    assert_int_equal(ocdm_memory_id(NULL, 0), 0);
    assert_int_equal(ocdm_memory_arrival(NULL, 0), 0);
    assert_int_equal(ocdm_memory_find(NULL, 0), OCDM_NONE);
    assert_int_equal(ocdm_memory_labels(NULL, 0, slots, 4), 0);
    assert_int_equal(ocdm_memory_all_labels(NULL, NULL, slots, 4), 0);
    assert_int_equal(ocdm_memory_counts(NULL, classes, 4), 0);
    assert_int_equal(ocdm_memory_kept(NULL, 0), 0);
    assert_int_equal(ocdm_memory_seen(NULL, 0), 0);
    assert_true(ocdm_memory_weight(NULL, 0) == 0);
    assert_true(isnan(ocdm_memory_distance(NULL, OCDM_IN_PLAY)));
    assert_int_equal(ocdm_memory_random(NULL, 0, 10), 0);
    assert_int_equal(ocdm_memory_draw(NULL, 4, slots), 0);
    assert_int_equal(slots[0], 9);
    ocdm_memory_set_similarity(NULL, toy_similarity, NULL);
    assert_int_equal(ocdm_memory_update(NULL, NULL, 0, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_update_flat(NULL, NULL, NULL, NULL, 0, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_forget(NULL, 1, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_resize(NULL, 1, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_set_weight(NULL, 1, 1, NULL), OCDM_BAD_ARGUMENT);
}

/* Slots beyond the last, and arrays that are not there. The draw without an array is no draw: the next is as if it had not
 * been. */
TEST(questions_about_missing_slots_and_arrays_are_safe)
{
    ocdm_memory *memory = small_memory("ocdm"), *twin = small_memory("ocdm");
    const uint32_t beyond[] = {3, 4, 1000, OCDM_NONE};
    for (size_t i = 0; i < 4; i++) {
        uint32_t label = 77;
        assert_int_equal(ocdm_memory_id(memory, beyond[i]), 0);
        assert_int_equal(ocdm_memory_arrival(memory, beyond[i]), 0);
        assert_int_equal(ocdm_memory_labels(memory, beyond[i], &label, 1), 0);
        assert_int_equal(label, 77);
    }
    assert_int_equal(ocdm_memory_labels(memory, 1, NULL, 5), 2);
    assert_int_equal(ocdm_memory_counts(memory, NULL, 5), 2);
    assert_int_equal(ocdm_memory_draw(memory, 3, NULL), 0);
    same_draw(memory, twin, 3, "after a draw without an array");
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

/* ---- forgetting ------------------------------------------------------------------------------------------------------- */

TEST(forget_deletes_a_sample_and_moves_the_last_one)
{
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        const char *name = ocdm_policy_at(p)->name;
        ocdm_options options = options_for(name, 4);
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 10; id < 13; id++)
            offered_one(memory, id, (uint32_t)id, 0, 0);
        ocdm_change change;
        ocdm_error error = {.status = OCDM_OK};
        if (ocdm_policy_at(p)->traits & OCDM_NEEDS_TASKS) {
            HOLDS(name, ocdm_memory_forget(memory, 10, &change, NULL) == OCDM_BAD_ARGUMENT && ocdm_memory_size(memory) == 3);
            ocdm_memory_destroy(memory);
            continue;
        }
        assert_int_equal(ocdm_memory_forget(memory, 9, &change, &error), OCDM_UNKNOWN_ID);
        assert_non_null(strstr(error.message, "9"));
        assert_int_equal(ocdm_memory_forget(memory, 10, &change, NULL), OCDM_OK);
        HOLDS(name, change.stored == 0 && change.left_count == 1 && change.moved_count == 1);
        HOLDS(name, change.left[0].id == 10 && change.left[0].slot == 0 && change.left[0].item == OCDM_NONE);
        HOLDS(name, change.moved[0].from == 2 && change.moved[0].to == 0);
        HOLDS(name, ocdm_memory_id(memory, 0) == 12 && ocdm_memory_id(memory, 1) == 11);
        HOLDS(name, ocdm_memory_kept(memory, 10) == 0 && ocdm_memory_seen(memory, 10) == 1);
        assert_int_equal(ocdm_memory_forget(memory, 11, &change, NULL), OCDM_OK);
        HOLDS(name, change.moved_count == 0 && change.left[0].slot == 1);
        assert_int_equal(ocdm_memory_forget(memory, 12, NULL, NULL), OCDM_OK);
        HOLDS(name, ocdm_memory_size(memory) == 0 && isnan(ocdm_memory_distance(memory, OCDM_SEEN_EVER)));
        offered_one(memory, 10, 10, 0, 0);
        HOLDS(name, ocdm_memory_size(memory) == 1 && ocdm_memory_seen(memory, 10) == 2);
        ocdm_memory_destroy(memory);
    }
}

/* A class of cbrs that was full and lost all its samples would be admitted with probability 0 / n: it starts again. */
TEST(forgotten_classes_may_come_back)
{
    static const char *const names[] = {"cbrs", "cbes"};
    for (size_t p = 0; p < 2; p++) {
        ocdm_options options = options_for(names[p], 4);
        ocdm_memory *memory = created(&options);
        for (uint64_t id = 0; id < 40; id++)
            offered_one(memory, id, 1, 0, 0);
        while (ocdm_memory_kept(memory, 1) > 0)
            assert_int_equal(ocdm_memory_forget(memory, ocdm_memory_id(memory, 0), NULL, NULL), OCDM_OK);
        for (uint64_t id = 100; id < 104; id++)
            offered_one(memory, id, 2, 0, 0);
        ocdm_change change = offered_one(memory, 200, 1, 0, 0);
        assert_int_equal(change.stored, 1);
        ocdm_memory_destroy(memory);
    }
}

/* ---- capacity --------------------------------------------------------------------------------------------------------- */

TEST(resize_keeps_slots_below_the_new_capacity)
{
    static struct toy_batch batch;
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        const char *name = ocdm_policy_at(p)->name;
        ocdm_options options = options_for(name, 30);
        ocdm_memory *memory = created(&options);
        ocdm__random random = ocdm__random_stream(p, 3);
        struct toy_shape shape = {0, 6, ocdm_policy_at(p)->traits & OCDM_SINGLE_LABEL ? 1 : 3};
        for (uint64_t id = 0; id < 200; id += 10) {
            toy_draw(&batch, &random, shape, 10, id);
            offered(memory, batch.sample, 10);
        }
        uint64_t before[30];
        for (uint32_t slot = 0; slot < 30; slot++)
            before[slot] = ocdm_memory_id(memory, slot);
        bool full = ocdm_memory_size(memory) == 30;
        ocdm_change change;
        if (ocdm_policy_at(p)->traits & OCDM_NEEDS_TASKS) {
            HOLDS(name, ocdm_memory_resize(memory, 12, &change, NULL) == OCDM_BAD_ARGUMENT && ocdm_memory_size(memory) == 30);
            ocdm_memory_destroy(memory);
            continue;
        }
        assert_int_equal(ocdm_memory_resize(memory, 12, &change, NULL), OCDM_OK);
        HOLDS(name, ocdm_memory_size(memory) <= 12 && ocdm_memory_options(memory)->capacity == 12);
        HOLDS(name, !full || change.left_count == 18);
        for (size_t i = 0; i < change.left_count; i++)
            HOLDS(name, change.left[i].id == before[change.left[i].slot]);
        for (size_t i = 0; i < change.moved_count; i++) {
            HOLDS(name, change.moved[i].from >= 12 && change.moved[i].to < 12);
            before[change.moved[i].to] = before[change.moved[i].from];
        }
        for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
            HOLDS(name, before[slot] == ocdm_memory_id(memory, slot));
        assert_int_equal(ocdm_memory_resize(memory, 50, &change, NULL), OCDM_OK);
        HOLDS(name, change.left_count == 0 && change.moved_count == 0 && ocdm_memory_size(memory) <= 12);
        for (uint64_t id = 1000; id < 1100; id += 10) {
            toy_draw(&batch, &random, shape, 10, id);
            offered(memory, batch.sample, 10);
        }
        HOLDS(name, ocdm_memory_size(memory) > 12 && ocdm_memory_size(memory) <= 50);
        ocdm_memory_destroy(memory);
    }
}

TEST(resize_refuses_an_impossible_capacity)
{
    ocdm_memory *memory = small_memory("ocdm"), *twin = small_memory("ocdm");
    assert_int_equal(ocdm_memory_resize(memory, 0, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_resize(memory, OCDM_MAX_CAPACITY + 1, NULL, NULL), OCDM_BAD_ARGUMENT);
    same_memory(memory, twin, "an impossible capacity");
    assert_int_equal(ocdm_memory_resize(memory, OCDM_MAX_CAPACITY, NULL, NULL), OCDM_OK);
    offered_one(memory, 50, 1, 0, 0);
    assert_int_equal(ocdm_memory_size(memory), 4);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

/* A policy of the caller's that fails while the memory shrinks: everything is as it was, slots, counts and capacity. */
static uint64_t removals_left;
static size_t ends, failed_ends;

static ocdm_status failing_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    (void)state, (void)error;
    *slot = (uint32_t)ocdm_memory_random(memory, 0, ocdm_memory_size(memory));
    return removals_left-- > 0 ? OCDM_OK : OCDM_IO;
}

static ocdm_status first_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                                 ocdm_error *error)
{
    (void)state, (void)memory, (void)sample, (void)error;
    *slot = 0;
    return OCDM_OK;
}

static void count_end(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    (void)state, (void)memory;
    assert_int_equal(change == NULL, status != OCDM_OK);
    ends++;
    failed_ends += status != OCDM_OK;
}

TEST(resize_is_taken_back_when_the_policy_fails)
{
    const ocdm_policy policies[] = {
        {.size = sizeof(ocdm_policy), .name = "pool", .remove = failing_remove, .end = count_end},
        {.size = sizeof(ocdm_policy), .name = "one", .replace = first_replace, .remove = failing_remove, .end = count_end},
        {.size = sizeof(ocdm_policy), .name = "plain", .replace = first_replace, .end = count_end},
    };
    for (size_t p = 0; p < 3; p++) {
        ocdm_options options = options_for("ocdm", 20);
        options.policy = &policies[p];
        ocdm_memory *memory = created(&options), *twin = created(&options);
        removals_left = UINT64_MAX;
        for (uint64_t id = 0; id < 20; id++) {
            offered_one(memory, id, 1 + (uint32_t)id % 4, 10 + (uint32_t)id % 3, 0);
            offered_one(twin, id, 1 + (uint32_t)id % 4, 10 + (uint32_t)id % 3, 0);
        }
        for (uint64_t n = 0; n < 15 && p < 2; n++) {
            removals_left = n;
            ends = failed_ends = 0;
            assert_int_equal(ocdm_memory_resize(memory, 5, NULL, NULL), OCDM_IO);
            assert_true(ends == 1 && failed_ends == 1);
            same_memory(memory, twin, policies[p].name);
        }
        removals_left = UINT64_MAX;
        ends = failed_ends = 0;
        assert_int_equal(ocdm_memory_resize(memory, 5, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_forget(memory, ocdm_memory_id(memory, 2), NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_forget(memory, 999, NULL, NULL), OCDM_UNKNOWN_ID);
        assert_true(ends == 2 && failed_ends == 0);
        assert_int_equal(ocdm_memory_size(memory), 4);
        ocdm_memory_destroy(memory);
        ocdm_memory_destroy(twin);
    }
}

/* ---- weights ---------------------------------------------------------------------------------------------------------- */

TEST(weights_shape_the_target_and_the_memory)
{
    for (int distance = 0; distance < 4; distance++) {
        ocdm_options options = options_for("ocdm", 60);
        options.distance = (ocdm_distance)distance;
        ocdm_memory *memory = created(&options);
        assert_int_equal(ocdm_memory_set_weight(memory, 1, 3, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_set_weight(memory, 9, 5, NULL), OCDM_OK);
        for (uint64_t id = 0; id < 600; id++)
            offered_one(memory, id, 1 + (uint32_t)id % 3, 0, 0);
        ocdm_class classes[3];
        assert_int_equal(ocdm_memory_counts(memory, classes, 3), 3);
        assert_true(fabs(classes[0].target - 0.6) < 1e-12 && fabs(classes[1].target - 0.2) < 1e-12);
        assert_int_equal(ocdm_memory_kept(memory, 1), 36);
        assert_int_equal(ocdm_memory_kept(memory, 2), 12);
        assert_true(fabs(ocdm_memory_distance(memory, OCDM_IN_PLAY)) < 1e-9);
        assert_int_equal(ocdm_memory_set_weight(memory, 1, 1, NULL), OCDM_OK);
        for (uint64_t id = 1000; id < 1600; id++)
            offered_one(memory, id, 1 + (uint32_t)id % 3, 0, 0);
        assert_int_equal(ocdm_memory_kept(memory, 1), 20);
        ocdm_memory_destroy(memory);
    }
}

TEST(weights_out_of_range_are_refused)
{
    const double bad[] = {0, -1, 0.9e-6, 1.1e6, NAN, INFINITY, -INFINITY};
    ocdm_memory *memory = small_memory("ocdm"), *twin = small_memory("ocdm");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ocdm_error error = {.status = OCDM_OK};
        assert_int_equal(ocdm_memory_set_weight(memory, 1, bad[i], &error), OCDM_BAD_ARGUMENT);
        assert_int_equal(error.status, OCDM_BAD_ARGUMENT);
    }
    assert_true(ocdm_memory_weight(memory, 1) == 1);
    same_memory(memory, twin, "no weight");
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

/* Weights of 1 leave the file as it was before there were weights; others are in it, those of classes never seen too. */
TEST(weights_are_saved_when_they_are_not_1)
{
    static unsigned char plain[4096], ones[4096], weighted[4096];
    size_t plain_size, ones_size, weighted_size;
    ocdm_memory *memory = small_memory("ocdm"), *loaded = NULL;
    assert_int_equal(ocdm_memory_save_bytes(memory, plain, sizeof plain, &plain_size, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 1, 1, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 2, 4, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 2, 1, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_save_bytes(memory, ones, sizeof ones, &ones_size, NULL), OCDM_OK);
    assert_int_equal(plain_size, ones_size);
    assert_memory_equal(plain, ones, plain_size);
    assert_int_equal(ocdm_memory_set_weight(memory, 2, 0.25, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_weight(memory, 4000000000u, 7, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_save_bytes(memory, weighted, sizeof weighted, &weighted_size, NULL), OCDM_OK);
    assert_true(weighted_size > plain_size && weighted_size <= sizeof weighted);
    assert_int_equal(ocdm_memory_load_bytes(weighted, weighted_size, NULL, NULL, &loaded, NULL), OCDM_OK);
    assert_true(ocdm_memory_weight(loaded, 1) == 1 && ocdm_memory_weight(loaded, 2) == 0.25);
    assert_true(ocdm_memory_weight(loaded, 4000000000u) == 7);
    same_memory(memory, loaded, "weighted");
    for (uint64_t id = 100; id < 150; id++) {
        static struct toy_batch batch;
        ocdm__random random = ocdm__random_stream(id, 1);
        toy_draw(&batch, &random, (struct toy_shape){0, 4, 3}, 3, id * 10);
        offered_to_both(memory, loaded, &batch, "weighted");
    }
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(loaded);
}

/* Every byte of a file with weights, changed: refused or, where the checksum is not looked at, never. */
TEST(weights_in_a_damaged_file_are_refused)
{
    static unsigned char bytes[4096];
    size_t size;
    ocdm_memory *memory = small_memory("ocdm"), *loaded = NULL;
    assert_int_equal(ocdm_memory_set_weight(memory, 2, 0.25, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_save_bytes(memory, bytes, sizeof bytes, &size, NULL), OCDM_OK);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 1;
        assert_int_not_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, NULL), OCDM_OK);
        bytes[i] ^= 1;
    }
    assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(loaded);
}

/* ---- bytes and flat arrays -------------------------------------------------------------------------------------------- */

TEST(bytes_are_those_of_the_file)
{
    for (size_t p = 0; ocdm_policy_at(p) != NULL; p++) {
        unsigned char bytes[4096], file[4096];
        size_t size = 0, again = 0;
        ocdm_memory *memory = small_memory(ocdm_policy_at(p)->name), *loaded = NULL;
        assert_int_equal(ocdm_memory_save_bytes(memory, NULL, 0, &size, NULL), OCDM_OK);
        memset(bytes, 0x55, sizeof bytes);
        assert_int_equal(ocdm_memory_save_bytes(memory, bytes, size - 1, &again, NULL), OCDM_OK);
        assert_int_equal(again, size);
        assert_int_equal(bytes[0], 0x55);
        assert_int_equal(ocdm_memory_save_bytes(memory, bytes, size, &again, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_save(memory, "memory", NULL), OCDM_OK);
        FILE *opened = fopen("memory", "rb");
        assert_int_equal(fread(file, 1, sizeof file, opened), size);
        fclose(opened);
        assert_memory_equal(bytes, file, size);
        assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &loaded, NULL), OCDM_OK);
        same_memory(memory, loaded, ocdm_policy_at(p)->name);
        ocdm_memory_destroy(loaded);
        ocdm_memory *none = NULL;
        for (size_t cut = 0; cut < size; cut += 7)
            assert_int_equal(ocdm_memory_load_bytes(bytes, cut, NULL, NULL, &none, NULL), OCDM_BAD_FILE);
        assert_null(none);
        ocdm_memory_destroy(memory);
    }
    size_t size;
    unsigned char byte;
    ocdm_memory *memory = small_memory("ocdm"), *none = NULL;
    assert_int_equal(ocdm_memory_save_bytes(NULL, &byte, 1, &size, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_save_bytes(memory, NULL, 1, &size, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_save_bytes(memory, &byte, 1, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_load_bytes(NULL, 1, NULL, NULL, &none, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_load_bytes(&byte, 1, NULL, NULL, NULL, NULL), OCDM_BAD_ARGUMENT);
    ocdm_memory_destroy(memory);
}

TEST(all_labels_are_those_of_the_slots)
{
    static struct toy_batch batch;
    ocdm_options options = options_for("rs", 40);
    ocdm_memory *memory = created(&options);
    assert_int_equal(ocdm_memory_all_labels(memory, &(uint64_t){7}, NULL, 0), 0);
    ocdm__random random = ocdm__random_stream(1, 2);
    for (uint64_t id = 0; id < 100; id += 10) {
        toy_draw(&batch, &random, (struct toy_shape){0, 9, 4}, 10, id);
        offered(memory, batch.sample, 10);
        uint64_t offset[41];
        uint32_t label[200], one[8];
        size_t total = ocdm_memory_all_labels(memory, NULL, NULL, 0), slots = ocdm_memory_size(memory);
        label[0] = 12345;
        assert_int_equal(ocdm_memory_all_labels(memory, offset, label, total - 1), total);
        assert_int_equal(label[0], 12345);
        assert_int_equal(ocdm_memory_all_labels(memory, offset, label, total), total);
        assert_true(offset[0] == 0 && offset[slots] == total);
        for (uint32_t slot = 0; slot < slots; slot++) {
            size_t count = ocdm_memory_labels(memory, slot, one, 8);
            assert_int_equal(offset[slot + 1] - offset[slot], count);
            assert_memory_equal(label + offset[slot], one, count * sizeof *one);
        }
    }
    ocdm_memory_destroy(memory);
}

TEST(flat_update_is_an_update)
{
    static struct toy_batch batch;
    ocdm_options options = options_for("ocdm", 15);
    ocdm_memory *memory = created(&options), *twin = created(&options);
    ocdm__random random = ocdm__random_stream(1, 2);
    for (uint64_t id = 0; id < 300; id += 30) {
        uint64_t ids[40], offsets[41] = {3};
        uint32_t labels[400];
        toy_draw(&batch, &random, (struct toy_shape){0, 9, 5}, toy_below(&random, 30), id);
        for (size_t i = 0; i < batch.count; i++) {
            ids[i] = batch.sample[i].id;
            offsets[i + 1] = offsets[i] + batch.sample[i].label_count;
            for (size_t j = 0; j < batch.sample[i].label_count; j++)
                labels[offsets[i] + j] = batch.sample[i].labels[j];
        }
        ocdm_change change = {0}, expected = offered(twin, batch.sample, batch.count);
        assert_int_equal(ocdm_memory_update_flat(memory, ids, offsets, labels, batch.count, &change, NULL), OCDM_OK);
        same_change(&change, &expected, "flat");
        same_memory(memory, twin, "flat");
    }
    const uint64_t ids[] = {1000, 1001}, falling[] = {0, 2, 1}, huge[] = {0, 0, UINT64_MAX}, fine[] = {0, 0, 0},
                   two[] = {0, 2, 2};
    const uint32_t labels[] = {1, 2};
    assert_int_equal(ocdm_memory_update_flat(memory, ids, falling, labels, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_update_flat(memory, ids, huge, labels, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_update_flat(memory, ids, two, NULL, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_update_flat(memory, NULL, fine, labels, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_update_flat(memory, ids, NULL, labels, 2, NULL, NULL), OCDM_BAD_ARGUMENT);
    same_memory(memory, twin, "refused");
    assert_int_equal(ocdm_memory_update_flat(memory, ids, fine, NULL, 2, NULL, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_update_flat(memory, NULL, NULL, NULL, 0, NULL, NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(twin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_and_tie_rules_are_found_by_name),
        cmocka_unit_test(traits_say_what_a_policy_needs),
        cmocka_unit_test(questions_about_nothing_are_answered_with_nothing),
        cmocka_unit_test(questions_about_missing_slots_and_arrays_are_safe),
        cmocka_unit_test(forget_deletes_a_sample_and_moves_the_last_one),
        cmocka_unit_test(forgotten_classes_may_come_back),
        cmocka_unit_test(resize_keeps_slots_below_the_new_capacity),
        cmocka_unit_test(resize_refuses_an_impossible_capacity),
        cmocka_unit_test(resize_is_taken_back_when_the_policy_fails),
        cmocka_unit_test(weights_shape_the_target_and_the_memory),
        cmocka_unit_test(weights_out_of_range_are_refused),
        cmocka_unit_test(weights_are_saved_when_they_are_not_1),
        cmocka_unit_test(weights_in_a_damaged_file_are_refused),
        cmocka_unit_test(bytes_are_those_of_the_file),
        cmocka_unit_test(all_labels_are_those_of_the_slots),
        cmocka_unit_test(flat_update_is_an_update),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
