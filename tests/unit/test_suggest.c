/* Did-you-mean: what is near, what is not, and which of several. */
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "base/text.h"

static const char *const policies[] = {"ocdm", "onlyone", "rs", "prs", "cbes", "cbrs", "max", "random"};
#define POLICIES (sizeof policies / sizeof policies[0])

TEST(edit_distance_counts_one_for_each_kind_of_edit)
{
    assert_int_equal(ocdm__edit_distance("memory", "memory"), 0);
    assert_int_equal(ocdm__edit_distance("memory", "memry"), 1);   /* a letter lost */
    assert_int_equal(ocdm__edit_distance("memory", "memoory"), 1); /* a letter too many */
    assert_int_equal(ocdm__edit_distance("memory", "memary"), 1);  /* a letter changed */
    assert_int_equal(ocdm__edit_distance("memory", "memroy"), 1);  /* two letters swapped */
    assert_int_equal(ocdm__edit_distance("Memory", "mEMORY"), 0);
    assert_int_equal(ocdm__edit_distance("kitten", "sitting"), 3);
    assert_int_equal(ocdm__edit_distance("", "abc"), 3);
    assert_int_equal(ocdm__edit_distance("abc", ""), 3);
}

TEST(edit_distance_is_symmetric)
{
    for (size_t i = 0; i < POLICIES; i++)
        for (size_t j = 0; j < POLICIES; j++)
            assert_int_equal(ocdm__edit_distance(policies[i], policies[j]), ocdm__edit_distance(policies[j], policies[i]));
}

TEST(edit_distance_is_64_when_a_word_is_longer_than_63)
{
    char word[65];
    for (size_t i = 0; i < 64; i++)
        word[i] = 'a';
    word[64] = '\0';
    assert_int_equal(ocdm__edit_distance(word, word), 64);
    assert_int_equal(ocdm__edit_distance(word, "a"), 64);
    word[63] = '\0';
    assert_int_equal(ocdm__edit_distance(word, word), 0);
    assert_int_equal(ocdm__edit_distance(word, "a"), 62);
}

TEST(suggest_finds_the_word_when_it_is_mistyped)
{
    assert_string_equal(ocdm__suggest("odcm", policies, POLICIES), "ocdm");
    assert_string_equal(ocdm__suggest("OCDM", policies, POLICIES), "ocdm");
    assert_string_equal(ocdm__suggest("ramdon", policies, POLICIES), "random");
    assert_string_equal(ocdm__suggest("only-one", policies, POLICIES), "onlyone");
}

TEST(suggest_takes_the_nearest_when_several_are_near)
{
    const char *const words[] = {"trace", "tracer", "traces"};
    assert_string_equal(ocdm__suggest("tracers", words, 3), "tracer");
    assert_string_equal(ocdm__suggest("cbe", policies, POLICIES), "cbes");
}

TEST(suggest_completes_when_one_word_alone_starts_so)
{
    assert_string_equal(ocdm__suggest("ran", policies, POLICIES), "random");
    assert_string_equal(ocdm__suggest("on", policies, POLICIES), "onlyone");
}

TEST(suggest_says_nothing_when_nothing_is_near)
{
    assert_null(ocdm__suggest("reservoir", policies, POLICIES));
    assert_null(ocdm__suggest("zz", policies, POLICIES));
    assert_null(ocdm__suggest("x", policies, POLICIES));
    assert_null(ocdm__suggest("", policies, POLICIES));
    assert_null(ocdm__suggest("ocdm", policies, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_distance_counts_one_for_each_kind_of_edit),
        cmocka_unit_test(edit_distance_is_symmetric),
        cmocka_unit_test(edit_distance_is_64_when_a_word_is_longer_than_63),
        cmocka_unit_test(suggest_finds_the_word_when_it_is_mistyped),
        cmocka_unit_test(suggest_takes_the_nearest_when_several_are_near),
        cmocka_unit_test(suggest_completes_when_one_word_alone_starts_so),
        cmocka_unit_test(suggest_says_nothing_when_nothing_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
