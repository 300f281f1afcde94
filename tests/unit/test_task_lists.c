/* Lists of classes by task: what is read, what is refused and where, their use with a source, and the built-in ones. */
#define _XOPEN_SOURCE 700

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../scratch_folder.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"

/* Every class of COCO and every concept of NUS-WIDE, between commas. */
static const char coco[] =
    ",person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking "
    "meter,bench,bird,"
    "cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports "
    "ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine "
    "glass,cup,fork,knife,spoon,bowl,banana,"
    "apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,potted plant,bed,dining table,toilet,tv,laptop,"
    "mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,"
    "toothbrush,";
static const char nus[] =
    ",airport,animal,beach,bear,birds,boats,book,bridge,buildings,cars,castle,cat,cityscape,clouds,computer,coral,cow,dancing,"
    "dog,"
    "earthquake,elk,fire,fish,flags,flowers,food,fox,frost,garden,glacier,grass,harbor,horses,house,lake,leaf,map,military,"
    "moon,"
    "mountain,nighttime,ocean,person,plane,plants,police,protest,railroad,rainbow,reflection,road,rocks,running,sand,sign,sky,"
    "snow,soccer,sports,statue,street,sun,sunset,surf,swimmers,tattoo,temple,tiger,tower,town,toy,train,tree,valley,vehicle,"
    "water,waterfall,wedding,whales,window,zebra,";

static const char *name_at(const ocdm__task_list *list, uint32_t number)
{
    static char name[64];
    size_t length;
    const char *text = ocdm__label_table_text(&list->classes, number, &length);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return name;
}

/* "name:task@line;" of every class, or the error's message. */
static void parse(const char *text, size_t size, char *out, size_t room)
{
    ocdm__task_list list = {0};
    ocdm_error error;
    ocdm_status status = ocdm__task_list_parse(&list, "in", text, size, &error);
    out[0] = '\0';
    if (status != OCDM_OK)
        snprintf(out, room, "%d %s", (int)status, error.message);
    for (uint32_t i = 0; status == OCDM_OK && i < list.classes.count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, room - used, "%s:%d@%d;", name_at(&list, i), (int)list.tasks[i], (int)list.lines[i]);
    }
    ocdm__task_list_clear(&list);
}

static void assert_parsed(const char *text, const char *expected)
{
    char out[1024];
    parse(text, strlen(text), out, sizeof out);
    assert_string_equal(out, expected);
}

TEST(list_is_one_task_a_line)
{
    assert_parsed("a", "a:0@1;");
    assert_parsed("# one\n\nb, a ,dining table\n  \n\t# two\r\nc\r\n", "b:0@3;a:0@3;dining table:0@3;c:1@6;");
    assert_parsed("\xEF\xBB\xBF"
                  "a\nb,c#\n",
                  "a:0@1;b:1@2;c#:1@2;");
    assert_parsed("a class with a name of over sixteen bytes,\xC3\xA9",
                  "a class with a name of over sixteen bytes:0@1;\xC3\xA9:0@1;");
}

TEST(list_says_where_it_is_wrong)
{
    char out[1024];
    assert_parsed("a,b\n\nc, a\n", "10 in:3: the class \"a\" is on line 1 already");
    assert_parsed("a,a", "10 in:1: the class \"a\" is on line 1 already");
    assert_parsed("a\nb,,c\n", "10 in:2: the name of a class is empty");
    assert_parsed("a\nb,\n", "10 in:2: the name of a class is empty");
    assert_parsed("a\n,", "10 in:2: the name of a class is empty");
    assert_parsed("a\nb,\xFF\n", "10 in:2: a name that is not UTF-8");
    assert_parsed("a\tb", "10 in:1: a name that is not UTF-8");
    assert_parsed("", "10 in: there is no class in it");
    assert_parsed("# nothing\n\n", "10 in: there is no class in it");
    parse("a\0b", 3, out, sizeof out);
    assert_string_equal(out, "10 in:1: a name that is not UTF-8");
}

/* Any bytes are read or refused; what is read has each class once, and tasks without gaps. */
TEST(list_holds_together_whatever_the_bytes)
{
    static const char alphabet[] = "ab,,\n\n #\r\t\xC3\xA9\0c";
    size_t read = 0, refused = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BENCH), 3);
        char text[24], where[32];
        size_t size = ocdm__random_below(&random, sizeof text);
        snprintf(where, sizeof where, "seed %d", (int)seed);
        for (size_t i = 0; i < size; i++)
            text[i] = alphabet[ocdm__random_below(&random, sizeof alphabet - 1)];
        ocdm__task_list list = {0};
        ocdm_status status = ocdm__task_list_parse(&list, "in", text, size, NULL);
        HOLDS(where, status == OCDM_OK || status == OCDM_BAD_RECORD);
        size_t tasks = 0;
        for (uint32_t i = 0; status == OCDM_OK && i < list.classes.count; i++) {
            HOLDS(where, list.tasks[i] == tasks || list.tasks[i] + 1 == tasks);
            tasks = list.tasks[i] + 1u;
        }
        HOLDS(where, status != OCDM_OK || (tasks == list.task_count));
        read += status == OCDM_OK;
        refused += status != OCDM_OK;
        ocdm__task_list_clear(&list);
    }
    assert_true(read > 100 && refused > 100);
}

/* ---- files and sources ----------------------------------------------------------------------------------------------- */

TEST(list_comes_from_a_file_or_by_name)
{
    ocdm__task_list list = {0};
    ocdm_error error;
    assert_int_equal(write_whole("coco44", (const unsigned char *)"a\nb\n", 4), 0);
    assert_int_equal(ocdm__task_list_open(&list, "./coco44", NULL), OCDM_OK);
    assert_int_equal(list.classes.count, 2);
    ocdm__task_list_clear(&list);
    assert_int_equal(ocdm__task_list_open(&list, "coco44", NULL), OCDM_OK);
    assert_true(list.classes.count > 44);
    ocdm__task_list_clear(&list);
    assert_int_equal(ocdm__task_list_open(&list, "coco45", &error), OCDM_IO);
    assert_non_null(strstr(error.message, "coco45"));
    ocdm__task_list_clear(&list);
    assert_int_equal(write_whole("empty", (const unsigned char *)"", 0), 0);
    assert_int_equal(ocdm__task_list_open(&list, "empty", &error), OCDM_BAD_RECORD);
    ocdm__task_list_clear(&list);
}

static void add_names(ocdm__label_table *classes, const char *letters)
{
    uint32_t number;
    for (; *letters != '\0'; letters++) {
        char name[32] = {*letters};
        assert_int_equal(ocdm__label_table_add(classes, name, 1, &number, NULL), OCDM_OK);
    }
}

TEST(list_gives_each_class_of_a_source_its_task)
{
    ocdm__task_list list = {0};
    ocdm__label_table classes = {0}, fewer = {0};
    ocdm_error error;
    uint32_t tasks[5] = {9, 9, 9, 9, 9};
    add_names(&classes, "xcbya");
    add_names(&fewer, "xca");
    assert_int_equal(ocdm__task_list_parse(&list, "in", "a,b\nc", 5, NULL), OCDM_OK);
    assert_int_equal(ocdm__task_list_apply(&list, &fewer, tasks, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "in:1: no sample of the source has the class \"b\"");
    assert_int_equal(tasks[0], 9);
    /* That x and y are known by now makes them no classes of the list. */
    for (int again = 0; again < 2; again++) {
        assert_int_equal(ocdm__task_list_apply(&list, &classes, tasks, NULL), OCDM_OK);
        const uint32_t expected[5] = {UINT32_MAX, 1, 0, UINT32_MAX, 0};
        assert_memory_equal(tasks, expected, sizeof expected);
    }
    ocdm__label_table_clear(&classes);
    ocdm__label_table_clear(&fewer);
    ocdm__task_list_clear(&list);
}

/* ---- the built-in ones ----------------------------------------------------------------------------------------------- */

static void check_shipped(const char *name, size_t tasks, const char *known)
{
    ocdm__task_list list = {0};
    assert_int_equal(ocdm__task_list_open(&list, name, NULL), OCDM_OK);
    assert_int_equal(list.task_count, tasks);
    assert_true(list.classes.count >= 44);
    for (uint32_t i = 0; i < list.classes.count; i++) {
        char between[80];
        snprintf(between, sizeof between, ",%s,", name_at(&list, i));
        HOLDS(between, strstr(known, between) != NULL);
    }
    ocdm__task_list_clear(&list);
}

/* Parsing refuses a class that occurs twice, so this checks that too. */
TEST(shipped_lists_have_classes_of_their_sources)
{
    static const char *const names[] = {"coco44", "coco44-2", "coco44-3", "coco44-4", "coco44-5",
                                        "nus44",  "nus44-2",  "nus44-3",  "nus44-4",  "nus44-5"};
    for (size_t i = 0; i < 10; i++) {
        assert_string_equal(ocdm__shipped_lists[i].name, names[i]);
        check_shipped(names[i], i < 5 ? 4 : 5, i < 5 ? coco : nus);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ocdm__shipped_lists[i].text, ocdm__shipped_lists[k].text);
    }
    assert_null(ocdm__shipped_lists[10].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_is_one_task_a_line),
        cmocka_unit_test(list_says_where_it_is_wrong),
        cmocka_unit_test(list_holds_together_whatever_the_bytes),
        cmocka_unit_test_setup_teardown(list_comes_from_a_file_or_by_name, enter_folder, leave_folder),
        cmocka_unit_test(list_gives_each_class_of_a_source_its_task),
        cmocka_unit_test(shipped_lists_have_classes_of_their_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
