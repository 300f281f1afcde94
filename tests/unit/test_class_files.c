/* Files of class groups and of class weights: both forms, and the message for each mistake in them. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../nested_files.h"
#include "stream/recipes/class_files.h"

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

/* ---- weights ---------------------------------------------------------------------------------------------------------- */

/* A stream of labels with the classes "cat", "a: b" and "dog". */
static ocdm_status read_weights(const char *text, double *weights, ocdm_error *error)
{
    static char names[] = "cata: bdog";
    static uint64_t starts[] = {0, 3, 7, 10};
    const ocdm__stream_table table = {.class_count = 3, .classes = {.starts = starts, .bytes = names}};
    assert_int_equal(put_text("w", text), 0);
    return ocdm__class_weights_file_read("w", &table, weights, error);
}

static void assert_weights(const char *text, double cat, double ab, double dog)
{
    double weights[3] = {0};
    ocdm_error error = {.message = ""};
    ocdm_status status = read_weights(text, weights, &error);
    HOLDS(error.message, status == OCDM_OK);
    assert_true(weights[0] == cat && weights[1] == ab && weights[2] == dog);
}

static void assert_no_weights(const char *text, const char *message)
{
    double weights[3];
    ocdm_error error = {.message = ""};
    assert_int_equal(read_weights(text, weights, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
}

TEST(class_weights_come_from_json_or_text)
{
    assert_weights("{\"dog\": 0.5, \"cat\": 3e0}", 3, 1, 0.5);
    assert_weights("cat: 3\n\n  a: b : 2.5\t\r\n", 3, 2.5, 1);
    assert_weights("{}", 1, 1, 1);
    assert_weights("", 1, 1, 1);
    assert_weights("dog:1e-6\ncat:1e6", 1e6, 1, 1e-6);
}

TEST(class_weights_refuse_unknown_classes_and_bad_numbers)
{
    assert_no_weights("{\"cat\": 3,\n \"cow\": 2}", "w:2:2: the stream has no class \"cow\"");
    assert_no_weights("cat: 3\ncow: 2", "w:2:1: the stream has no class \"cow\"");
    assert_no_weights("cat: 3\ncat: 3", "w:2:1: class \"cat\" is named a second time");
    assert_no_weights("{\"cat\": \"3\"}", "w:1:9: expected a weight, a number");
    assert_no_weights("cat: three", "w:1:6: \"three\" is not a number");
    assert_no_weights("cat:", "w:1:5: \"\" is not a number");
    assert_no_weights("cat 3", "w:1:1: expected a class, a colon and a number");
    assert_no_weights("cat: 0", "w:1:6: the weight 0 is out of range: 1e-06 to 1e+06");
    assert_no_weights("cat: -1", "w:1:6: the weight -1 is out of range: 1e-06 to 1e+06");
    assert_no_weights("{\"cat\": 1e7}", "w:1:9: the weight 1e+07 is out of range: 1e-06 to 1e+06");
    assert_no_weights("[1]", "w:1:1: expected a class, a colon and a number");
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
        cmocka_unit_test(class_weights_come_from_json_or_text),
        cmocka_unit_test(class_weights_refuse_unknown_classes_and_bad_numbers),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
