/* What ocdm_memory_merge refuses, and that files keep what it needs: shards and minimums. What it keeps is judged in
 * tests/property/test_merge.c. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../twins.h"

enum { SAMPLES = 60, CAPACITY = 12 };

static ocdm_options shard_options(uint64_t shard)
{
    ocdm_options options = options_for("ocdm", CAPACITY);
    options.shard = shard;
    return options;
}

/* A memory that saw SAMPLES samples with ids from `first` on, most of them of class 0. */
static ocdm_memory *filled(ocdm_options options, uint64_t first)
{
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        const uint32_t label = i % 5 == 0 ? 1 + (uint32_t)(i / 5 % 3) : 0;
        const ocdm_sample sample = {.id = first + i, .labels = &label, .label_count = 1};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
    }
    return memory;
}

static ocdm_memory *loaded_copy(const ocdm_memory *memory)
{
    static unsigned char bytes[1 << 16];
    ocdm_memory *copy = NULL;
    size_t size = 0;
    assert_int_equal(ocdm_memory_save_bytes(memory, bytes, sizeof bytes, &size, NULL), OCDM_OK);
    assert_true(size <= sizeof bytes);
    assert_int_equal(ocdm_memory_load_bytes(bytes, size, NULL, NULL, &copy, NULL), OCDM_OK);
    return copy;
}

/* Merges two memories, which are destroyed, and expects to be refused. */
static void refused(ocdm_memory *a, ocdm_memory *b, ocdm_status expected, const char *reason)
{
    const ocdm_memory *const shards[] = {a, b};
    ocdm_memory *merged = NULL;
    ocdm_error error = {0};
    HOLDS(reason, ocdm_memory_merge(shards, 2, CAPACITY, &merged, &error) == expected && merged == NULL);
    HOLDS(error.message, strstr(error.message, reason) != NULL);
    ocdm_memory_destroy(a);
    ocdm_memory_destroy(b);
}

TEST(shards_that_do_not_go_together_are_refused)
{
    ocdm_options other = shard_options(1);
    other.rho = 0.5;
    refused(filled(shard_options(0), 0), filled(other, 100), OCDM_BAD_ARGUMENT, "different settings");
    refused(filled(shard_options(2), 0), filled(shard_options(2), 100), OCDM_BAD_ARGUMENT, "two memories are of shard 2");
    refused(filled(shard_options(0), 0), filled(shard_options(1), 0), OCDM_DUPLICATE_ID, "id");
    other = options_for("rs", CAPACITY);
    refused(filled(other, 0), filled(shard_options(1), 100), OCDM_BAD_ARGUMENT, "the policy rs cannot be merged");
    ocdm_memory *weighted = filled(shard_options(1), 100);
    assert_int_equal(ocdm_memory_set_weight(weighted, 77, 2, NULL), OCDM_OK);
    refused(filled(shard_options(0), 0), weighted, OCDM_BAD_ARGUMENT, "different settings");
    ocdm_memory *memory = filled(shard_options(0), 0), *merged = NULL;
    assert_int_equal(ocdm_memory_merge((const ocdm_memory *const *)&memory, 1, CAPACITY, &merged, NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
    refused(merged, filled(shard_options(1), 100), OCDM_BAD_ARGUMENT, "result of a merge");
    assert_int_equal(ocdm_memory_merge(NULL, 1, CAPACITY, &merged, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_merge((const ocdm_memory *const[]){NULL}, 1, CAPACITY, &merged, NULL), OCDM_BAD_ARGUMENT);
}

/* 2^32 - 1 shards are allowed, no more: their numbers are written into summaries. */
TEST(shards_have_numbers_of_32_bits)
{
    ocdm_memory *memory = NULL;
    ocdm_options options = shard_options(OCDM_MAX_SHARD + (uint64_t)1);
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_BAD_ARGUMENT);
    options.shard--;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    ocdm_memory_destroy(memory);
}

/* Otherwise a shard that was saved would go on with the keys of shard 0. */
TEST(loaded_shards_go_on_as_the_saved_ones)
{
    ocdm_memory *memory = filled(shard_options(7), 0), *copy = loaded_copy(memory);
    assert_int_equal(ocdm_memory_options(copy)->shard, 7);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        const uint32_t label = 0;
        const ocdm_sample sample = {.id = 1000 + i, .labels = &label, .label_count = 1};
        assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
        assert_int_equal(ocdm_memory_update(copy, &sample, 1, NULL, NULL), OCDM_OK);
    }
    for (uint32_t slot = 0; slot < CAPACITY; slot++)
        assert_int_equal(ocdm_memory_id(memory, slot), ocdm_memory_id(copy, slot));
    ocdm_memory_destroy(memory);
    ocdm_memory_destroy(copy);
}

/* Class 0 floods the memory; without minimums each of the four classes would keep three. */
TEST(minimums_hold_for_classes_by_default_and_by_name_also_after_loading)
{
    ocdm_options options = options_for("ocdm", CAPACITY);
    options.minimum = 1;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_minimum(memory, 0, 8, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_minimum(memory, 0), 8);
    assert_int_equal(ocdm_memory_minimum(memory, 5), 1);
    ocdm_memory *copy = loaded_copy(memory), *both[] = {memory, copy};
    for (int m = 0; m < 2; m++) {
        for (uint64_t i = 0; i < SAMPLES; i++) {
            const uint32_t label = i % 5 == 0 ? 1 + (uint32_t)(i / 5 % 3) : 0;
            const ocdm_sample sample = {.id = i, .labels = &label, .label_count = 1};
            assert_int_equal(ocdm_memory_update(both[m], &sample, 1, NULL, NULL), OCDM_OK);
        }
        assert_int_equal(ocdm_memory_kept(both[m], 0), 8);
        for (uint32_t class = 1; class < 4; class ++)
            assert_true(ocdm_memory_kept(both[m], class) >= 1);
        for (uint64_t i = 0; i < 4; i++) { /* four more classes with one sample each leave no room for 8 + 3 + 4 */
            const uint32_t label = 10 + (uint32_t)i;
            const ocdm_sample sample = {.id = 100 + i, .labels = &label, .label_count = 1};
            ocdm_status status = ocdm_memory_update(both[m], &sample, 1, NULL, NULL);
            assert_int_equal(status, i == 0 ? OCDM_OK : OCDM_LIMIT);
        }
        ocdm_memory_destroy(both[m]);
    }
}

TEST(minimums_need_a_policy_that_searches_under_kl)
{
    ocdm_memory *memory = NULL;
    ocdm_options options = options_for("rs", CAPACITY);
    options.minimum = 1;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_BAD_ARGUMENT);
    options.minimum = 0;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    assert_int_equal(ocdm_memory_set_minimum(memory, 0, 1, NULL), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm_memory_set_minimum(NULL, 0, 1, NULL), OCDM_BAD_ARGUMENT);
    ocdm_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_that_do_not_go_together_are_refused),
        cmocka_unit_test(shards_have_numbers_of_32_bits),
        cmocka_unit_test(loaded_shards_go_on_as_the_saved_ones),
        cmocka_unit_test(minimums_hold_for_classes_by_default_and_by_name_also_after_loading),
        cmocka_unit_test(minimums_need_a_policy_that_searches_under_kl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
