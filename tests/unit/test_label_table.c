/* The label table: one number per distinct string, in order of first appearance, for any length and bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "stream/label_table.h"

/* Adds a copy that is surrounded by bytes which must not matter. */
static uint32_t add(ocdm__label_table *table, const char *text, size_t length)
{
    static char noise = 'A';
    char padded[64 + OCDM__LABEL_PADDING];
    uint32_t number = 0;
    assert_true(length <= 64);
    memset(padded, ++noise, sizeof padded);
    memcpy(padded, text, length);
    uint32_t before = table->count, again;
    assert_int_equal(ocdm__label_table_add_padded(table, padded, length, &number, NULL), OCDM_OK);
    uint32_t found = ocdm__label_table_find(table, padded, length);
    assert_int_equal(found, length <= OCDM__SHORT_LABEL ? number : UINT32_MAX);
    /* The same without padding: a sanitizer watches what is read. */
    char *exact = malloc(length > 0 ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    assert_int_equal(ocdm__label_table_number(table, exact, length), number);
    assert_int_equal(ocdm__label_table_add(table, exact, length, &again, NULL), OCDM_OK);
    assert_int_equal(again, number);
    assert_in_range(table->count, before, before + 1);
    free(exact);
    return number;
}

TEST(label_table_numbers_labels_in_order_of_appearance)
{
    ocdm__label_table table = {0};
    static const char lion[OCDM__LABEL_PADDING] = "lion";
    assert_int_equal(ocdm__label_table_find(&table, lion, 4), UINT32_MAX);
    assert_int_equal(add(&table, "dog", 3), 0);
    assert_int_equal(add(&table, "cat", 3), 1);
    assert_int_equal(ocdm__label_table_find(&table, lion, 4), UINT32_MAX);
    assert_int_equal(add(&table, "dog", 3), 0);
    assert_int_equal(add(&table, "", 0), 2);
    assert_int_equal(add(&table, "", 0), 2);
    assert_int_equal(table.count, 3);
    ocdm__label_table_clear(&table);
    assert_int_equal(add(&table, "cat", 3), 0);
    ocdm__label_table_clear(&table);
}

/* Every length around the words that are compared at once; strings that differ in one byte, at each place, and in length. */
TEST(label_table_tells_labels_apart_at_every_length)
{
    ocdm__label_table table = {0};
    char text[64];
    uint32_t expected = 0;
    for (size_t length = 0; length <= 40; length++) {
        memset(text, 0, sizeof text); /* NULs: a shorter label is no prefix match of a longer one */
        assert_int_equal(add(&table, text, length), expected++);
        for (size_t i = 0; i < length; i++) {
            text[i] = 1;
            assert_int_equal(add(&table, text, length), expected++);
            text[i] = 0;
        }
    }
    assert_int_equal(table.count, expected);
    ocdm__label_table_clear(&table);
}

TEST(label_table_has_a_text_when_its_only_label_is_empty)
{
    ocdm__label_table table = {0};
    size_t length = 5;
    assert_int_equal(add(&table, "", 0), 0);
    assert_non_null(ocdm__label_table_text(&table, 0, &length));
    assert_int_equal(length, 0);
    ocdm__label_table_clear(&table);
}

TEST(label_table_keeps_numbers_and_texts_when_it_grows)
{
    ocdm__label_table table = {0};
    char text[64];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            int length = snprintf(text, sizeof text, i % 3 ? "%u" : "a label that is longer than most, number %u", i);
            assert_int_equal(add(&table, text, (size_t)length), i);
        }
    for (uint32_t i = 0; i < 20000; i++) {
        size_t length;
        const char *found = ocdm__label_table_text(&table, i, &length);
        int expected = snprintf(text, sizeof text, i % 3 ? "%u" : "a label that is longer than most, number %u", i);
        assert_int_equal(length, expected);
        assert_memory_equal(found, text, length);
    }
    ocdm__label_table_clear(&table);
}

static uint64_t inverse_of(uint64_t factor)
{
    uint64_t inverse = 1;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    return inverse;
}

/* The 8 bytes of a label with a given hash, of the kind that labels once had: without a key, so that it can be undone. */
static uint64_t label_with_plain_hash(uint64_t hash)
{
    uint64_t unmixed = hash ^ (hash >> 29) ^ (hash >> 58);
    uint64_t half = unmixed * inverse_of(0xE7037ED1A0B428DBu);
    half ^= half >> 32;
    return half * inverse_of(0xA0761D6478BD642Fu) ^ 8 * OCDM__GOLDEN_STEP;
}

static uint64_t plain_hash(uint64_t word)
{
    uint64_t hash = (word ^ 8 * OCDM__GOLDEN_STEP) * 0xA0761D6478BD642Fu;
    hash = (hash ^ (hash >> 32)) * 0xE7037ED1A0B428DBu;
    return hash ^ (hash >> 29);
}

/* How far the entries are from where their walks begin, in all. */
static uint64_t distances(const ocdm__label_table *table)
{
    uint64_t sum = 0;
    const struct ocdm__hash_table *numbers = &table->numbers;
    for (uint32_t i = 0; i <= numbers->mask; i++)
        if (numbers->places[i].entry != OCDM_NONE)
            sum += (i - numbers->places[i].tag) & numbers->mask;
    return sum;
}

TEST(label_table_stays_fast_when_labels_are_crafted_to_collide)
{
    enum { CRAFTED = 20000 };
    for (uint64_t key = 1; key <= 5; key++) {
        ocdm__label_table table = {0};
        ocdm__hash_key_replace(key);
        for (uint64_t i = 0; i < CRAFTED; i++) {
            uint64_t word = label_with_plain_hash(i << 32 | 77);
            assert_int_equal(plain_hash(word) & UINT32_MAX, 77);
            assert_int_equal(add(&table, (const char *)&word, sizeof word), i);
        }
        assert_true(distances(&table) < 2 * CRAFTED);
        ocdm__label_table_clear(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_table_numbers_labels_in_order_of_appearance),
        cmocka_unit_test(label_table_tells_labels_apart_at_every_length),
        cmocka_unit_test(label_table_has_a_text_when_its_only_label_is_empty),
        cmocka_unit_test(label_table_keeps_numbers_and_texts_when_it_grows),
        cmocka_unit_test(label_table_stays_fast_when_labels_are_crafted_to_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
