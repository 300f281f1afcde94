/* Files of class groups: both forms, and what is said about each mistake in them. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../nested_files.h"
#include "stream/recipes/class_groups_file.h"

#define LONG_NAME "a class with a name of over sixteen bytes"

/* The classes of a stream: names with a `|` after each. */
static ocdm__label_table table_of(const char *names)
{
    ocdm__label_table table = {.count = 0};
    for (const char *bar; (bar = strchr(names, '|')) != NULL; names = bar + 1) {
        char padded[128] = {0};
        uint32_t number;
        memcpy(padded, names, (size_t)(bar - names));
        assert_int_equal(ocdm__label_table_add(&table, padded, (size_t)(bar - names), &number, NULL), OCDM_OK);
    }
    return table;
}

static ocdm_status read_text(const char *text, const char *names, uint8_t *groups, size_t *unused, ocdm_error *error)
{
    ocdm__label_table classes = table_of(names);
    assert_int_equal(put_text("g", text), 0);
    ocdm_status status = ocdm__class_groups_file_read("g", &classes, groups, unused, error);
    ocdm__label_table_clear(&classes);
    return status;
}

/* `expected` has a digit per class: 0 majority, 1 moderate, 2 minority. */
static void assert_groups(const char *text, const char *names, const char *expected, size_t expected_unused)
{
    uint8_t groups[16];
    size_t unused = 99;
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = read_text(text, names, groups, &unused, &error);
    HOLDS(error.message, status == OCDM_OK);
    for (size_t i = 0; i < strlen(expected); i++)
        assert_int_equal(groups[i], expected[i] - '0');
    assert_int_equal(unused, expected_unused);
    assert_int_equal(read_text(text, names, groups, NULL, NULL), OCDM_OK);
}

static void assert_fails(const char *text, const char *names, const char *message)
{
    uint8_t groups[16];
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(read_text(text, names, groups, NULL, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
}

TEST(class_groups_come_from_json)
{
    assert_groups("{\"majority\":[\"cat\",\"" LONG_NAME "\"],\"moderate\":[\"a \\u00e9\"],\"minority\":[\"dog\"]}",
                  "dog|a \xC3\xA9|" LONG_NAME "|cat|", "2100", 0);
    assert_groups(" \r\n\t{\"minority\":[\"x\"], \"minority\":[\"y\", \"z\"]}", "y|x|", "22", 1);
}

TEST(class_groups_come_from_text)
{
    assert_groups("majority: cat, " LONG_NAME "\nmoderate:a: \xC3\xA9\nminority: dog\n", "dog|a: \xC3\xA9|" LONG_NAME "|cat|",
                  "2100", 0);
    assert_groups("\n minority :  x x \t,y\r\n\r\nmajority:\r\n  \nminority:z", "y|x x|", "22", 1);
}

/* A file may serve several streams. */
TEST(class_groups_count_names_that_the_stream_lacks)
{
    assert_groups("majority: a, b, c\nminority: d", "d|", "2", 3);
    assert_groups("majority: a", "", "", 1);
    assert_groups("", "", "", 0);
}

TEST(class_groups_name_the_classes_without_a_group)
{
    assert_fails("majority: a", "a|b|", "g: no group for the class \"b\"");
    assert_fails("{\"majority\":[\"a\"]}", "b|a|c\x01|", "g: no group for the classes \"b\", \"c\\x01\"");
    assert_fails("", "a|b|c|d|e|f|g|", "g: no group for the classes \"a\", \"b\", \"c\", \"d\", \"e\" and 2 more");
}

TEST(class_groups_refuse_bad_json)
{
    assert_fails("{\"majority\":[\"a\"],\n \"major\":[\"b\"]}", "a|", "g:2:2: no group is called \"major\"");
    assert_fails("{\"majority\":[\"a\",\n\"b\"],\"minority\":[\"c\", \"a\"]}", "a|",
                 "g:2:23: class \"a\" is named a second time, the first was as majority");
    assert_fails("{\"majority\":[\"\"]}", "a|", "g:1:14: a class without a name");
    assert_fails("{\"majority\":\"a\"}", "a|", "g:1:13: expected an array of class names");
    assert_fails("{\"majority\":[[\"a\"]]}", "a|", "g:1:14: expected the name of a class, a string");
    assert_fails("{\"majority\":[\"a\"]", "a|", "g:1:18: the text ends too early");
    assert_fails("{\"majority\":[\"a\"]}\n{}", "a|", "g:2:1: something follows the value");
}

TEST(class_groups_refuse_bad_text)
{
    assert_fails("majority: a\n Major: b", "a|", "g:2:2: no group is called \"Major\"");
    assert_fails("majority: a\n  b, c\n", "a|", "g:2:3: expected a group and a colon");
    assert_fails("majority: a\nminority: b,  a", "a|", "g:2:15: class \"a\" is named a second time, the first was as majority");
    assert_fails("majority: a, , b", "a|", "g:1:14: a class without a name");
    assert_fails("majority: a,\n", "a|", "g:1:13: a class without a name");
    assert_fails("majority: ,a\n", "a|", "g:1:11: a class without a name");
    assert_fails(": a\n", "a|", "g:1:1: no group is called \"\"");
    assert_fails("[\"a\"]", "a|", "g:1:1: expected a group and a colon");
}

TEST(class_groups_tell_when_there_is_no_file)
{
    ocdm__label_table classes = {.count = 0};
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(ocdm__class_groups_file_read("none", &classes, NULL, NULL, &error), OCDM_IO);
    assert_string_equal(error.message, "none: No such file or directory");
}

TEST(class_groups_have_names)
{
    assert_string_equal(ocdm__class_group_name(OCDM__MAJORITY), "majority");
    assert_string_equal(ocdm__class_group_name(OCDM__MODERATE), "moderate");
    assert_string_equal(ocdm__class_group_name(OCDM__MINORITY), "minority");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_groups_come_from_json),
        cmocka_unit_test(class_groups_come_from_text),
        cmocka_unit_test(class_groups_count_names_that_the_stream_lacks),
        cmocka_unit_test(class_groups_name_the_classes_without_a_group),
        cmocka_unit_test(class_groups_refuse_bad_json),
        cmocka_unit_test(class_groups_refuse_bad_text),
        cmocka_unit_test_teardown(class_groups_tell_when_there_is_no_file, clear_tree),
        cmocka_unit_test(class_groups_have_names),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
