/* The table against a plain array, with hashes that collide on purpose. */
#include "../test.h"
#include "../twins.h"

#include "base/hash_table.h"

#define ENTRIES 40u

/* Which entries are in, and under which hash. */
struct model {
    uint64_t hash[ENTRIES];
    bool in[ENTRIES];
};

static bool walk_finds(const struct ocdm__hash_table *table, uint64_t hash, uint32_t wanted)
{
    uint32_t tag = ocdm__hash_table_tag(hash), place = tag, entry;
    while ((entry = ocdm__hash_table_next(table, tag, &place)) != OCDM_NONE)
        if (entry == wanted)
            return true;
    return false;
}

/* A walk meets every entry of its tag, none twice, and no entry of another tag. */
static void check_walks(const struct ocdm__hash_table *table, const struct model *model)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(walk_finds(table, model->hash[i], i), model->in[i]);
        uint32_t tag = ocdm__hash_table_tag(model->hash[i]), place = tag, entry, met = 0, expected = 0;
        while ((entry = ocdm__hash_table_next(table, tag, &place)) != OCDM_NONE) {
            assert_true(entry < ENTRIES && model->in[entry] && ocdm__hash_table_tag(model->hash[entry]) == tag);
            met++;
        }
        for (uint32_t j = 0; j < ENTRIES; j++)
            expected += model->in[j] && ocdm__hash_table_tag(model->hash[j]) == tag;
        assert_int_equal(met, expected);
    }
}

static void run_model(uint64_t seed, uint32_t tags)
{
    struct ocdm__hash_table table;
    struct model model = {0};
    assert_int_equal(ocdm__hash_table_create(&table, ENTRIES), OCDM_OK);
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
        check_walks(&table, &model);
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

/* Tags that are equal in their low bits start at one place, but a walk tells them apart. */
TEST(table_tells_tags_apart_when_they_start_at_one_place)
{
    struct ocdm__hash_table table;
    assert_int_equal(ocdm__hash_table_create(&table, 4), OCDM_OK);
    uint64_t step = (uint64_t)(table.mask + 1) << 32;
    for (uint32_t i = 0; i < 4; i++)
        ocdm__hash_table_add(&table, step * i, i);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(walk_finds(&table, step * i, j), i == j);
    ocdm__hash_table_remove(&table, 0, 0);
    for (uint32_t i = 1; i < 4; i++)
        assert_true(walk_finds(&table, step * i, i));
    ocdm__hash_table_destroy(&table);
}

TEST(table_refuses_more_entries_than_places_can_be)
{
    struct ocdm__hash_table table = {0};
    assert_int_equal(ocdm__hash_table_create(&table, UINT32_MAX), OCDM_NO_MEMORY);
    assert_null(table.places);
    ocdm__hash_table_destroy(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_finds_what_is_in_when_tags_collide),
        cmocka_unit_test(table_tells_tags_apart_when_they_start_at_one_place),
        cmocka_unit_test(table_refuses_more_entries_than_places_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
