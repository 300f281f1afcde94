/* Id lists: what a folder of them holds, which samples of a source they choose and in which order, and every mistake. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "../nested_files.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"

#define MAP "d/multihot_map.json"
#define TRAIN "d/ids/train_task"
#define TEST_LISTS "d/ids/test_task"

static void put(const char *path, const char *text)
{
    assert_int_equal(put_text(path, text), 0);
}

/* Two classes, two tasks. */
static void put_folder(void)
{
    put(MAP, "{\"cat\": 1, \"a dog with a name of over sixteen bytes\": 0}");
    put(TRAIN "0_id_x.json", "[30, 10]");
    put(TRAIN "1_id_x.json", "[20]");
    put(TEST_LISTS "0_id_x.json", "[50]");
    put(TEST_LISTS "1_id_x.json", "[40, \"a string\"]");
}

static void add_sample(ocdm__labelled_set *set, const char *id, enum ocdm__part part, uint64_t row, uint32_t label)
{
    char padded[64] = {0};
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    snprintf(padded, sizeof padded - OCDM__LABEL_PADDING, "%s", id);
    sample.id = padded, sample.id_length = strlen(padded);
    sample.part = part, sample.row = row;
    sample.labels = &label, sample.label_count = 1;
    assert_int_equal(ocdm__labelled_set_add(set, &sample, NULL), OCDM_OK);
}

/* A source with the classes of the folder and one more, and no sample yet. */
static ocdm__labelled_set source_of_classes(void)
{
    static const char classes[3][64] = {"bird", "cat", "a dog with a name of over sixteen bytes"};
    ocdm__labelled_set set = {.count = 0};
    for (uint32_t i = 0, number; i < 3; i++)
        assert_int_equal(ocdm__label_table_add(&set.classes, classes[i], strlen(classes[i]), &number, NULL), OCDM_OK);
    return set;
}

static ocdm__labelled_set source_by_id(void)
{
    static const char *const ids[] = {"10", "20", "30", "40", "50", "60", "a string"};
    ocdm__labelled_set set = source_of_classes();
    for (size_t i = 0; i < 7; i++)
        add_sample(&set, ids[i], OCDM__NO_PART, OCDM__NO_ROW, (uint32_t)i % 3);
    return set;
}

/* What was chosen, as `sample:task part` with r and t for the parts. */
static const char *written(const ocdm__selection *chosen)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < chosen->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%u:%u%c ", chosen->chosen[i].sample, chosen->chosen[i].task,
                                 "rt-"[chosen->chosen[i].part]);
    return text;
}

static void assert_read_fails(ocdm_status expected, const char *message)
{
    ocdm__id_lists lists;
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, &error), expected);
    assert_string_equal(error.message, message);
}

/* Reads the folder and chooses; without skip_bad it must fail with `message`, with it choose `expected` and skip for `reason`.
 */
static void assert_choosing_fails(const ocdm__labelled_set *set, const char *message, const char *expected, const char *reason,
                                  uint64_t count)
{
    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading strict = {.skip_bad = false}, lenient = {.skip_bad = true};
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, &error), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, set, &strict, &chosen, NULL, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, message);
    assert_int_equal(ocdm__id_lists_choose(&lists, set, &lenient, &chosen, NULL, &error), OCDM_OK);
    assert_string_equal(written(&chosen), expected);
    assert_int_equal(lenient.skip_count, 1);
    assert_string_equal(lenient.skips[0].reason, reason);
    assert_int_equal(lenient.skips[0].count, count);
    ocdm__selection_clear(&chosen);
    ocdm__id_lists_clear(&lists);
}

static void assert_class(const ocdm__id_lists *lists, uint32_t number, const char *name)
{
    size_t length;
    const char *text = ocdm__label_table_text(&lists->classes, number, &length);
    assert_int_equal(length, strlen(name));
    assert_memory_equal(text, name, length);
}

TEST(id_lists_have_classes_by_column_and_lists_by_part_and_task)
{
    ocdm__id_lists lists;
    put_folder();
    put("d/ids/teorg_task0_id_x.json", "[1]");
    put("d/ids/notes.txt", "not a list");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_int_equal(lists.classes.count, 2);
    assert_class(&lists, 0, "a dog with a name of over sixteen bytes");
    assert_class(&lists, 1, "cat");
    assert_null(lists.groups);
    assert_int_equal(lists.task_count, 2);
    assert_int_equal(lists.list_count, 4);
    static const char *const files[] = {MAP, TRAIN "0_id_x.json", TRAIN "1_id_x.json", TEST_LISTS "0_id_x.json",
                                        TEST_LISTS "1_id_x.json"};
    assert_int_equal(lists.files.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(lists.files.paths[i], files[i]);
    assert_int_equal(lists.id_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(lists.ids[i].list == 3, i >= 4);
    ocdm__id_lists_clear(&lists);
}

/* Training before test, task by task, ids as the lists have them: this order is what makes two builds the same stream. */
TEST(id_lists_choose_samples_in_the_order_of_the_lists)
{
    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__labelled_set set = source_by_id();
    put_folder();
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, NULL), OCDM_OK);
    assert_string_equal(written(&chosen), "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ");
    assert_memory_equal(chosen.kept_classes, "\0\1\1", 3);
    ocdm__selection_clear(&chosen);
    ocdm__id_lists_clear(&lists);
    ocdm__labelled_set_clear(&set);
}

TEST(id_lists_take_the_unbalanced_test_when_asked)
{
    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__labelled_set set = source_by_id();
    put_folder();
    put("d/ids/teorg_task1_id_x.json", "[]");
    put("d/ids/teorg_task0_id_x.json", "[60, 50]");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", true, NULL), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, NULL), OCDM_OK);
    assert_string_equal(written(&chosen), "2:0r 0:0r 1:1r 5:0t 4:0t ");
    ocdm__selection_clear(&chosen);
    ocdm__id_lists_clear(&lists);
    ocdm__labelled_set_clear(&set);
}

/* Training and test rows are different things: row 0 is in both lists. */
static ocdm__labelled_set source_by_row(void)
{
    ocdm__labelled_set set = source_of_classes();
    add_sample(&set, "10", OCDM__TEST, 0, 0);
    add_sample(&set, "30", OCDM__TRAIN, 1, 0);
    add_sample(&set, "0", OCDM__TRAIN, 0, 0);
    add_sample(&set, "1", OCDM__TEST, 1, 0);
    add_sample(&set, "2", OCDM__NO_PART, OCDM__NO_ROW, 0);
    return set;
}

TEST(id_lists_mean_rows_when_the_samples_have_them)
{
    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__labelled_set set = source_by_row();
    put_folder();
    put(TRAIN "0_id_x.json", "[0]");
    put(TRAIN "1_id_x.json", "[\"1\"]");
    put(TEST_LISTS "0_id_x.json", "[1, 0]");
    put(TEST_LISTS "1_id_x.json", "[]");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, NULL), OCDM_OK);
    assert_string_equal(written(&chosen), "2:0r 1:1r 3:0t 0:0t ");
    ocdm__selection_clear(&chosen);
    ocdm__id_lists_clear(&lists);
    ocdm__labelled_set_clear(&set);
}

TEST(id_lists_tell_rows_that_the_source_lacks_or_has_twice)
{
    ocdm__labelled_set set = source_by_row();
    put_folder();
    put(TRAIN "0_id_x.json", "[0]");
    put(TRAIN "1_id_x.json", "[1, 2]");
    put(TEST_LISTS "0_id_x.json", "[2, 18446744073709551615]");
    put(TEST_LISTS "1_id_x.json", "[]");
    assert_choosing_fails(&set,
                          TRAIN "1_id_x.json:1:5: the source has no training sample with the row 2, "
                                "nor has it 2 others of the lists",
                          "2:0r 1:1r ", "ids of the lists that the source lacks", 3);
    put(TRAIN "1_id_x.json", "[1]");
    put(TEST_LISTS "0_id_x.json", "[\n7]");
    assert_choosing_fails(&set, TEST_LISTS "0_id_x.json:2:1: the source has no test sample with the row 7", "2:0r 1:1r ",
                          "ids of the lists that the source lacks", 1);
    put(TEST_LISTS "0_id_x.json", "[0, \"00\"]");
    assert_choosing_fails(&set, TEST_LISTS "0_id_x.json:1:5: id 00 is listed already, in " TEST_LISTS "0_id_x.json:1:2",
                          "2:0r 1:1r 0:0t ", "ids listed twice", 1);

    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_error error = {.status = OCDM_OK};
    put(TEST_LISTS "0_id_x.json", "[1]");
    add_sample(&set, "another", OCDM__TEST, 1, 0);
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "row 1 of the test list is that of two samples of the source, \"1\" and \"another\"");
    ocdm__id_lists_clear(&lists);
    put(TEST_LISTS "0_id_x.json", "[\"x\"]");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_int_equal(ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, TEST_LISTS "0_id_x.json:1:2: \"x\" is not the number of a row");
    ocdm__id_lists_clear(&lists);
    ocdm__labelled_set_clear(&set);
}

TEST(id_lists_tell_ids_that_the_source_lacks)
{
    ocdm__labelled_set set = source_by_id();
    put_folder();
    put(TEST_LISTS "0_id_x.json", "[50,\n 51]");
    assert_choosing_fails(&set, TEST_LISTS "0_id_x.json:2:2: the source has no sample with the id 51",
                          "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ", "ids of the lists that the source lacks", 1);
    put(TRAIN "1_id_x.json", "[21, 20, 22]");
    put(TEST_LISTS "0_id_x.json", "[50]");
    assert_choosing_fails(&set,
                          TRAIN "1_id_x.json:1:2: the source has no sample with the id 21, nor has it 1 other of the lists",
                          "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ", "ids of the lists that the source lacks", 2);
    ocdm__labelled_set_clear(&set);
}

/* In a list, in two tasks, in training and test: each would put a sample into the stream twice. */
TEST(id_lists_refuse_an_id_that_is_listed_twice)
{
    ocdm__labelled_set set = source_by_id();
    put_folder();
    put(TRAIN "0_id_x.json", "[30,\n10, 30]");
    assert_choosing_fails(&set, TRAIN "0_id_x.json:2:5: id 30 is listed already, in " TRAIN "0_id_x.json:1:2",
                          "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ", "ids listed twice", 1);
    put(TRAIN "0_id_x.json", "[30, 10]");
    put(TRAIN "1_id_x.json", "[20, 10, \"10\"]");
    assert_choosing_fails(&set, TRAIN "1_id_x.json:1:6: id 10 is listed already, in " TRAIN "0_id_x.json:1:6",
                          "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ", "ids listed twice", 2);
    put(TRAIN "1_id_x.json", "[20]");
    put(TEST_LISTS "1_id_x.json", "[40, 20, \"a string\"]");
    assert_choosing_fails(&set, TEST_LISTS "1_id_x.json:1:6: id 20 is listed already, in " TRAIN "1_id_x.json:1:2",
                          "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ", "ids listed twice", 1);
    ocdm__labelled_set_clear(&set);
}

TEST(id_lists_tell_a_class_that_the_source_lacks)
{
    ocdm__labelled_set set = source_by_id();
    put_folder();
    put(MAP, "{\"cat\": 0, \"cow\": 1}");
    assert_choosing_fails(&set, MAP ": the source has no class \"cow\"", "2:0r 0:0r 1:1r 4:0t 3:1t 6:1t ",
                          "classes of the map that the source lacks", 1);
    ocdm__labelled_set_clear(&set);
}

/* Lengths are drawn, on both sides of what a label table keeps in an entry. */
TEST(id_lists_find_ids_of_every_length)
{
    enum { SAMPLES = 300, WANTED = 120 };
    const uint64_t seed = 20260;
    print_message("seed %llu\n", (unsigned long long)seed);
    char ids[SAMPLES][48], text[WANTED * 56 + 2] = "[";
    uint32_t wanted[WANTED];
    ocdm__labelled_set set = source_of_classes();
    for (uint32_t i = 0; i < SAMPLES; i++) {
        int width = (int)(ocdm__mix(seed + i) % 30);
        snprintf(ids[i], sizeof ids[i], "%0*u", width, i);
        add_sample(&set, ids[i], OCDM__NO_PART, OCDM__NO_ROW, 1);
    }
    for (uint32_t i = 0; i < WANTED; i++) {
        wanted[i] = (i * 7 + 3) % SAMPLES;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\"", i > 0 ? "," : "", ids[wanted[i]]);
    }
    strcat(text, "]");
    put_folder();
    put(TRAIN "0_id_x.json", text);
    put(TRAIN "1_id_x.json", "[]");
    put(TEST_LISTS "0_id_x.json", "[]");
    put(TEST_LISTS "1_id_x.json", "[]");
    ocdm__id_lists lists;
    ocdm__selection chosen = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    ocdm_status status = ocdm__id_lists_choose(&lists, &set, &reading, &chosen, NULL, &error);
    HOLDS(error.message, status == OCDM_OK);
    assert_int_equal(chosen.count, WANTED);
    for (uint32_t i = 0; i < WANTED; i++)
        assert_int_equal(chosen.chosen[i].sample, wanted[i]);
    ocdm__selection_clear(&chosen);
    ocdm__id_lists_clear(&lists);
    ocdm__labelled_set_clear(&set);
}

TEST(id_lists_refuse_a_bad_map)
{
    static const char *const maps[][2] = {
        {"[\"cat\"]", ":1:1: expected an object of class names and columns"},
        {"{}", ":1:1: no classes"},
        {"{\"a\":0,\n\"a\":1}", ":2:1: class \"a\" is here a second time"},
        {"{\"\":0}", ":1:2: a class without a name"},
        {"{\"a\":\"0\"}", ":1:6: expected the column of the class, a number"},
        {"{\"a\":-1}", ":1:6: a column must be a whole number from 0"},
        {"{\"a\":0.5}", ":1:6: a column must be a whole number from 0"},
        {"{\"a\":0, \"b\":2}", ":1:13: column 2, but there are only 2 classes"},
        {"{\"a\":0,\n \"b\":0}", ":2:6: column 0 a second time"},
        {"{\"a\":18446744073709551615}", ":1:6: column 18446744073709551615, but there is only 1 class"},
        {"{\"a\":0", ":1:7: the text ends too early"},
        {"", ":1:1: the text ends too early"},
        {"{\"a\":0} {}", ":1:9: something follows the value"},
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        char message[128];
        put_folder();
        put(MAP, maps[i][0]);
        snprintf(message, sizeof message, MAP "%s", maps[i][1]);
        assert_read_fails(OCDM_BAD_FILE, message);
    }
    remove(MAP);
    assert_read_fails(OCDM_IO, MAP ": No such file or directory");
}

TEST(id_lists_refuse_a_bad_list)
{
    static const char *const texts[][2] = {
        {"{\"a\":1}", ":1:1: expected an array of ids"},
        {"[1,\n2.5]", ":2:1: expected an id: a whole number from 0, or a string"},
        {"[1, -2]", ":1:5: expected an id: a whole number from 0, or a string"},
        {"[1, [2]]", ":1:5: expected an id: a whole number from 0, or a string"},
        {"[1, null]", ":1:5: expected an id: a whole number from 0, or a string"},
        {"[99999999999999999999]", ":1:2: expected an id: a whole number from 0, or a string"},
        {"[1, 2", ":1:6: the text ends too early"},
        {"[1] 2", ":1:5: something follows the value"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char message[128];
        put_folder();
        put(TEST_LISTS "0_id_x.json", texts[i][0]);
        snprintf(message, sizeof message, TEST_LISTS "0_id_x.json%s", texts[i][1]);
        assert_read_fails(OCDM_BAD_FILE, message);
    }
}

TEST(id_lists_tell_which_list_is_missing)
{
    put_folder();
    remove(TEST_LISTS "1_id_x.json");
    assert_read_fails(OCDM_BAD_FILE, "d/ids: no test_task1_id_*.json");
    remove(TRAIN "0_id_x.json");
    assert_read_fails(OCDM_BAD_FILE, "d/ids: no train_task0_id_*.json");
    put_folder();
    put(TRAIN "999999_id_x.json", "[]");
    assert_read_fails(OCDM_BAD_FILE, "d/ids: no train_task2_id_*.json");
    remove(TRAIN "999999_id_x.json");
    put(TRAIN "01_id_y.json", "[]");
    assert_read_fails(OCDM_BAD_FILE, TRAIN "1_id_x.json: is of the same task and part as " TRAIN "01_id_y.json");
    ocdm__id_lists lists;
    ocdm_error error = {.status = OCDM_OK};
    remove(TRAIN "01_id_y.json");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", true, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "d/ids: no teorg_task0_id_*.json");
}

TEST(id_lists_tell_when_there_are_none)
{
    put(MAP, "{\"cat\": 0}");
    assert_read_fails(OCDM_IO, "d/ids: No such file or directory");
    put("d/ids/train_task_id_x.json", "[]");
    put("d/ids/train_task1234567_id_x.json", "[]");
    put("d/ids/train_task0_x.json", "[]");
    put("d/ids/train_task0_id_x.txt", "[]");
    assert_read_fails(OCDM_BAD_FILE, "d/ids: no lists of ids");
}

/* Each place, each name; the first that has a group for every class is meant. */
TEST(id_lists_find_the_groups_that_fit)
{
    static const char *const places[] = {"d/", "d/groups/", "groups/"};
    static const char *const endings[] = {"", "_nuswide"};
    for (size_t i = 0; i < 6; i++) {
        char path[64];
        put_folder();
        put(MAP, "{\"a\":0,\"b\":1,\"c\":2}");
        put("d/major_cats.json", "[\"a\", \"x\"]");
        put("d/moderate_cats.json", "[\"b\"]");
        put("d/minor_cats.json", "[]");
        snprintf(path, sizeof path, "%smajor_cats%s.json", places[i / 2], endings[i % 2]);
        put(path, "[\"c\"]");
        snprintf(path, sizeof path, "%smoderate_cats%s.json", places[i / 2], endings[i % 2]);
        put(path, "[\"b\", \"more\"]");
        snprintf(path, sizeof path, "%sminor_cats%s.json", places[i / 2], endings[i % 2]);
        put(path, "[\"a\"]");
        ocdm__id_lists lists;
        assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
        assert_non_null(lists.groups);
        assert_int_equal(lists.groups[0], 2);
        assert_int_equal(lists.groups[1], 1);
        assert_int_equal(lists.groups[2], 0);
        assert_int_equal(lists.files.count, 8);
        snprintf(path, sizeof path, "%sminor_cats%s.json", i / 2 == 2 ? "d/../groups/" : places[i / 2], endings[i % 2]);
        assert_string_equal(lists.files.paths[7], path);
        ocdm__id_lists_clear(&lists);
        clear_tree(NULL);
    }
}

TEST(id_lists_have_no_groups_when_none_fit)
{
    ocdm__id_lists lists;
    put_folder();
    put("d/major_cats.json", "[\"cat\"]");
    put("d/moderate_cats.json", "[\"b\"]");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_null(lists.groups);
    ocdm__id_lists_clear(&lists);
    put("d/minor_cats.json", "[]");
    assert_int_equal(ocdm__id_lists_read(&lists, "d", false, NULL), OCDM_OK);
    assert_null(lists.groups);
    assert_int_equal(lists.files.count, 5);
    ocdm__id_lists_clear(&lists);
}

TEST(id_lists_refuse_bad_group_files)
{
    put_folder();
    put("d/major_cats.json", "[\"cat\"]");
    put("d/moderate_cats.json", "[\"dog\",\n \"cat\"]");
    put("d/minor_cats.json", "[]");
    assert_read_fails(OCDM_BAD_FILE,
                      "d/moderate_cats.json:2:2: class \"cat\" is named a second time, the first was as majority");
    put("d/moderate_cats.json", "{}");
    assert_read_fails(OCDM_BAD_FILE, "d/moderate_cats.json:1:1: expected an array of class names");
    put("d/moderate_cats.json", "[] 1");
    assert_read_fails(OCDM_BAD_FILE, "d/moderate_cats.json:1:4: something follows the value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(id_lists_have_classes_by_column_and_lists_by_part_and_task, clear_tree),
        cmocka_unit_test_teardown(id_lists_choose_samples_in_the_order_of_the_lists, clear_tree),
        cmocka_unit_test_teardown(id_lists_take_the_unbalanced_test_when_asked, clear_tree),
        cmocka_unit_test_teardown(id_lists_mean_rows_when_the_samples_have_them, clear_tree),
        cmocka_unit_test_teardown(id_lists_tell_rows_that_the_source_lacks_or_has_twice, clear_tree),
        cmocka_unit_test_teardown(id_lists_tell_ids_that_the_source_lacks, clear_tree),
        cmocka_unit_test_teardown(id_lists_refuse_an_id_that_is_listed_twice, clear_tree),
        cmocka_unit_test_teardown(id_lists_tell_a_class_that_the_source_lacks, clear_tree),
        cmocka_unit_test_teardown(id_lists_find_ids_of_every_length, clear_tree),
        cmocka_unit_test_teardown(id_lists_refuse_a_bad_map, clear_tree),
        cmocka_unit_test_teardown(id_lists_refuse_a_bad_list, clear_tree),
        cmocka_unit_test_teardown(id_lists_tell_which_list_is_missing, clear_tree),
        cmocka_unit_test_teardown(id_lists_tell_when_there_are_none, clear_tree),
        cmocka_unit_test_teardown(id_lists_find_the_groups_that_fit, clear_tree),
        cmocka_unit_test_teardown(id_lists_have_no_groups_when_none_fit, clear_tree),
        cmocka_unit_test_teardown(id_lists_refuse_bad_group_files, clear_tree),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
