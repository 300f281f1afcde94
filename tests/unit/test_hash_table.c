/* The table against a plain array, with hashes that collide on purpose; and the keyed hashes, which an attacker cannot make
 * collide. */
#include "../test.h"
#include "../twins.h"

#include "base/hash_table.h"

#define ENTRIES 40u

/* Which entries are in, and under which hash. */
struct model {
    uint64_t hash[ENTRIES];
    bool in[ENTRIES];
};

static bool is_entry(const void *records, uint32_t entry, const void *wanted)
{
    (void)records;
    return entry == *(const uint32_t *)wanted;
}

static bool finds(const struct ocdm__hash_table *table, uint64_t hash, uint32_t wanted)
{
    return ocdm__hash_table_find(table, hash, is_entry, NULL, &wanted) == wanted;
}

/* Which entries a search met, and how often; it goes on to the end. */
struct meeting {
    uint32_t met[ENTRIES];
};

static bool note_entry(const void *records, uint32_t entry, const void *unused)
{
    (void)unused;
    assert_true(entry < ENTRIES);
    ((struct meeting *)(uintptr_t)records)->met[entry]++;
    return false;
}

/* A search meets every entry of its tag once, and no entry of another tag. */
static void check_searches(const struct ocdm__hash_table *table, const struct model *model)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct meeting meeting = {{0}};
        assert_int_equal(finds(table, model->hash[i], i), model->in[i]);
        assert_int_equal(ocdm__hash_table_find(table, model->hash[i], note_entry, &meeting, NULL), OCDM_NONE);
        for (uint32_t j = 0; j < ENTRIES; j++)
            assert_int_equal(meeting.met[j], model->in[j] && model->hash[j] >> 32 == model->hash[i] >> 32);
    }
}

static void run_model(uint64_t seed, uint32_t tags)
{
    struct ocdm__hash_table table = {0};
    struct model model = {0};
    assert_true(ocdm__hash_table_reserve(&table, ENTRIES));
    assert_true(table.mask + 1 >= ENTRIES * 3);
    ocdm__random random = ocdm__random_stream(seed, tags);
    for (uint32_t i = 0; i < ENTRIES; i++) /* near the end of the table, so that runs go round it */
        model.hash[i] = (uint64_t)(table.mask - toy_below(&random, tags)) << 32 | i;
    for (int step = 0; step < 400; step++) {
        uint32_t entry = toy_below(&random, ENTRIES);
        if (model.in[entry])
            ocdm__hash_table_remove(&table, model.hash[entry], entry);
        else
            ocdm__hash_table_add(&table, model.hash[entry], entry);
        model.in[entry] = !model.in[entry];
        check_searches(&table, &model);
    }
    ocdm__hash_table_destroy(&table);
}

TEST(table_finds_what_is_in_when_tags_collide)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        run_model(seed, 1);
        run_model(seed, 3);
        run_model(seed, 30);
        run_model(seed, 128);
    }
}

/* Tags that are equal in their low bits start at the same slot, but a search distinguishes them. */
TEST(table_tells_tags_apart_when_they_start_at_one_place)
{
    struct ocdm__hash_table table = {0};
    assert_true(ocdm__hash_table_reserve(&table, 4));
    uint64_t step = (uint64_t)(table.mask + 1) << 32;
    for (uint32_t i = 0; i < 4; i++)
        ocdm__hash_table_add(&table, step * i, i);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(finds(&table, step * i, j), i == j);
    ocdm__hash_table_remove(&table, 0, 0);
    for (uint32_t i = 1; i < 4; i++)
        assert_true(finds(&table, step * i, i));
    ocdm__hash_table_destroy(&table);
}

/* A table that grows keeps every entry, and an empty one finds nothing. */
TEST(table_finds_what_is_in_after_it_has_grown)
{
    struct ocdm__hash_table table = {0};
    struct model model = {0};
    assert_false(finds(&table, 7, 0));
    for (uint32_t i = 0; i < ENTRIES; i++) {
        assert_true(ocdm__hash_table_reserve(&table, i + 1));
        model.hash[i] = (uint64_t)(i % 7 == 0 ? 5 : ~i) << 32;
        model.in[i] = true;
        ocdm__hash_table_add(&table, model.hash[i], i);
        check_searches(&table, &model);
    }
    assert_true(table.mask + 1 >= ENTRIES * 3);
    ocdm__hash_table_destroy(&table);
}

TEST(table_refuses_more_entries_than_places_can_be)
{
    struct ocdm__hash_table table = {0};
    assert_false(ocdm__hash_table_reserve(&table, UINT32_MAX));
    assert_null(table.places);
    ocdm__hash_table_destroy(&table);
}

/* ---- the hashes ----------------------------------------------------------------------------------------------------- */

/* The expected values are CPython's: PYTHONHASHSEED=0 python3 -c 'print(hex(hash(b"a") % 2**64))'. */
TEST(siphash_is_that_of_cpython_under_the_key_of_zeros)
{
    static const uint64_t zeros[2] = {0, 0};
    assert_int_equal(ocdm__siphash(zeros, "a", 1), 0x407448d2b89b1813u);
    assert_int_equal(ocdm__siphash(zeros, "photogra", 8), 0xd6012d4b24acce2cu);
    assert_int_equal(ocdm__siphash(zeros, "photographs/of/many/things.jpg", 30), 0xefc5a6b04a966983u);
}

/* The hash of ids without a key, as it once was; what an attacker would invert. */
static uint64_t plain_hash(uint64_t id)
{
    return (id ^ (id >> 32)) * OCDM__GOLDEN_STEP;
}

/* An id whose plain hash is given. */
static uint64_t id_with_plain_hash(uint64_t hash)
{
    uint64_t inverse = 1;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - OCDM__GOLDEN_STEP * inverse;
    uint64_t folded = hash * inverse;
    return folded ^ (folded >> 32);
}

#define CRAFTED 20000u

/* How many places all walks to the entries of a table touch. */
static uint64_t steps_to_all(const uint64_t *ids, uint64_t (*hash_of)(uint64_t))
{
    struct ocdm__hash_table table = {0};
    uint64_t steps = 0;
    assert_true(ocdm__hash_table_reserve(&table, CRAFTED));
    for (uint32_t i = 0; i < CRAFTED; i++)
        ocdm__hash_table_add(&table, hash_of(ids[i]), i);
    for (uint32_t i = 0; i < CRAFTED; i++) {
        uint32_t home = (uint32_t)(hash_of(ids[i]) >> 32) & table.mask, place = home;
        while (table.places[place].entry != i)
            place = (place + 1) & table.mask;
        steps += ((place - home) & table.mask) + 1;
    }
    ocdm__hash_table_destroy(&table);
    return steps;
}

static uint64_t keyed_hash(uint64_t id)
{
    return ocdm__hash_number(id);
}

/* Ids that all began at one place of the table, ids in a row, and ids that differ in their upper halves only. */
TEST(walks_stay_short_when_ids_are_crafted_to_collide)
{
    static uint64_t crafted[CRAFTED], in_a_row[CRAFTED], upper[CRAFTED];
    for (uint32_t i = 0; i < CRAFTED; i++) {
        crafted[i] = id_with_plain_hash((uint64_t)7 << 32 | i);
        in_a_row[i] = i;
        upper[i] = (uint64_t)i << 40;
        assert_int_equal(plain_hash(crafted[i]) >> 32, 7);
    }
    assert_true(steps_to_all(crafted, plain_hash) == (uint64_t)CRAFTED * (CRAFTED + 1) / 2);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ocdm__hash_key_replace(seed);
        assert_true(steps_to_all(crafted, keyed_hash) < 2 * CRAFTED);
        assert_true(steps_to_all(in_a_row, keyed_hash) < 2 * CRAFTED);
        assert_true(steps_to_all(upper, keyed_hash) < 2 * CRAFTED);
    }
}

/* ---- decisions ------------------------------------------------------------------------------------------------------ */

#define LONGEST_SAVED 65536

/* A memory after some hundred random batches, as bytes, under a key. */
static size_t decide(const char *policy, uint64_t key, unsigned char *bytes)
{
    ocdm__hash_key_replace(key);
    ocdm_options options = options_for(policy, 40);
    options.batch = 10;
    ocdm_memory *memory = created(&options);
    ocdm__random random = ocdm__random_stream(5, 0);
    static struct toy_batch batch;
    uint32_t labels = strcmp(policy, "cbrs") == 0 ? 1 : 4;
    for (uint64_t i = 0; i < 100; i++) {
        toy_draw(&batch, &random, (struct toy_shape){(uint32_t)i, 30, labels}, 10, 100 * i);
        assert_int_equal(ocdm_memory_set_weight(memory, (uint32_t)i * 2654435761u, 1 + (double)(i % 3), NULL), OCDM_OK);
        offered(memory, batch.sample, batch.count);
    }
    size_t size = 0;
    assert_int_equal(ocdm_memory_save_bytes(memory, bytes, LONGEST_SAVED, &size, NULL), OCDM_OK);
    assert_true(size > 0 && size <= LONGEST_SAVED);
    ocdm_memory_destroy(memory);
    return size;
}

/* Under key 0 all hashes are equal, so that every table is one long walk. */
TEST(decisions_do_not_depend_on_the_key)
{
    static unsigned char expected[LONGEST_SAVED], bytes[LONGEST_SAVED];
    for (size_t i = 0; ocdm_policy_at(i) != NULL; i++) {
        const char *policy = ocdm_policy_at(i)->name;
        size_t size = decide(policy, 1, expected);
        for (uint64_t key = 0; key < 6; key++) {
            HOLDS(policy, decide(policy, key, bytes) == size);
            HOLDS(policy, memcmp(bytes, expected, size) == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_finds_what_is_in_when_tags_collide),
        cmocka_unit_test(table_tells_tags_apart_when_they_start_at_one_place),
        cmocka_unit_test(table_finds_what_is_in_after_it_has_grown),
        cmocka_unit_test(table_refuses_more_entries_than_places_can_be),
        cmocka_unit_test(siphash_is_that_of_cpython_under_the_key_of_zeros),
        cmocka_unit_test(walks_stay_short_when_ids_are_crafted_to_collide),
        cmocka_unit_test(decisions_do_not_depend_on_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
