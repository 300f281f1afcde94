/* Valid COCO files: how images, annotations and categories are read, from one file and from several. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "coco_text.h"
#include "base/error.h"

#define IMAGES                                                                                                                 \
    "\"images\": [{\"license\": 1,\"file_name\": \"9.jpg\",\"id\": 9},{\"id\": 4,\"file_name\": \"in/4.jpg\"},"                \
    "{\"file_name\": \"7.jpg\",\"id\": 7}]"
#define ANNOTATIONS                                                                                                            \
    "\"annotations\": [{\"segmentation\": [[1.5,2.25,3]],\"image_id\": 4,\"bbox\": [1,2,3,4],\"category_id\": 20,\"id\": 1},"  \
    "{\"image_id\": 9,\"category_id\": 10},{\"category_id\": 10,\"image_id\": 4},{\"image_id\": 9,\"category_id\": 10}]"
#define CATEGORIES "\"categories\": [{\"id\": 20,\"name\": \"dog\"},{\"name\": \"cat\",\"id\": 10}]"
#define EXPECTED "9 9.jpg cat\n4 in/4.jpg dog,cat\n7 7.jpg \n"

static coco_answer answer;

static void gives(const char *text, const char *classes, const char *expected)
{
    read_coco(&text, 1, false, &answer);
    assert_string_equal(answer.error.message, "");
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.classes, classes);
    assert_string_equal(answer.shown, expected);
    assert_int_equal(answer.reading.skip_count, 0);
}

TEST(coco_gives_images_in_their_order_with_each_label_once)
{
    gives("{\"info\": {\"year\": 2017}," IMAGES "," ANNOTATIONS "," CATEGORIES "}", "dog,cat", EXPECTED);
}

/* Nothing in JSON orders members: what the annotations name may come after them. */
TEST(coco_gives_the_same_in_any_order_of_members)
{
    static const char *const members[] = {IMAGES, ANNOTATIONS, CATEGORIES};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < 6; i++) {
        char text[2048];
        snprintf(text, sizeof text, "{%s,\"licenses\": [],%s,\"more\": {\"images\": [{}]},%s}\n", members[orders[i][0]],
                 members[orders[i][1]], members[orders[i][2]]);
        gives(text, "dog,cat", EXPECTED);
    }
}

TEST(coco_reads_keys_and_names_with_escapes)
{
    gives("{\"\\u0069mages\":[{\"id\":1,\"file\\u005fname\":\"a\\/\\u00e4\\\\b.jpg\"}],\"annotations\":[{\"image_id\":1,"
          "\"category_id\":3}],\"categories\":[{\"id\":3,\"name\":\"t\\u0065ddy bear\"}]}",
          "teddy bear", "1 a/\xC3\xA4\\b.jpg teddy bear\n");
}

/* A crowd of people shows people: presence is what a label says. */
TEST(coco_passes_over_a_byte_order_mark)
{
    gives("\xEF\xBB\xBF{" IMAGES "," ANNOTATIONS "," CATEGORIES "}", "dog,cat", EXPECTED);
}

TEST(coco_gives_each_file_its_part)
{
    static const char *const texts[] = {"{" IMAGES "," ANNOTATIONS "," CATEGORIES "}",
                                        "{\"images\":[{\"id\":1}],\"annotations\":[],\"categories\":[]}"};
    static const enum ocdm__part parts[] = {OCDM__TRAIN, OCDM__TEST};
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(write_whole(coco_names[i], (const unsigned char *)texts[i], strlen(texts[i])), 0);
    assert_int_equal(ocdm__coco_read(&set, coco_names, parts, 2, &reading, &error), OCDM_OK);
    assert_int_equal(set.count, 4);
    assert_memory_equal(set.parts, ((uint8_t[]){OCDM__TRAIN, OCDM__TRAIN, OCDM__TRAIN, OCDM__TEST}), 4);
    ocdm__labelled_set_clear(&set);
}

TEST(coco_counts_crowds_as_labels)
{
    gives("{\"images\":[{\"id\":1}],\"annotations\":[{\"segmentation\":{\"counts\":[272,2,4,4],\"size\":[240,320]},"
          "\"iscrowd\":1,\"image_id\":1,\"category_id\":1}],\"categories\":[{\"id\":1,\"name\":\"person\"}]}",
          "person", "1 - person\n");
}

TEST(coco_takes_ids_up_to_64_bits)
{
    gives("{\"images\":[{\"id\":18446744073709551615},{\"id\":0}],\"annotations\":[{\"image_id\":18446744073709551615,"
          "\"category_id\":18446744073709551615}],\"categories\":[{\"id\":18446744073709551615,\"name\":\"a\"}]}",
          "a", "18446744073709551615 - a\n0 - \n");
}

TEST(coco_takes_empty_lists)
{
    gives("{\"images\":[],\"annotations\":[],\"categories\":[]}", "", "");
    gives(" {\"categories\" : [ ] , \"images\" : [ {\"id\" : 3 } ] ,\r\n\t\"annotations\" : [ ] } ", "", "3 - \n");
}

TEST(coco_makes_one_class_of_categories_with_one_name)
{
    gives("{\"images\":[{\"id\":1}],\"annotations\":[{\"image_id\":1,\"category_id\":5},{\"image_id\":1,\"category_id\":6}],"
          "\"categories\":[{\"id\":5,\"name\":\"a\"},{\"id\":6,\"name\":\"a\"}]}",
          "a", "1 - a\n");
}

/* Dots and backslashes are characters like others unless a whole part of the path is "..". */
TEST(coco_takes_paths_that_only_look_as_if_they_climbed)
{
    gives("{\"images\":[{\"id\":1,\"file_name\":\"..a/b..\"},{\"id\":2,\"file_name\":\"...\"},{\"id\":3,\"file_name\":"
          "\"./a//b/.\"},{\"id\":4,\"file_name\":\"..\\\\x\"}],\"annotations\":[],\"categories\":[]}",
          "", "1 ..a/b.. \n2 ... \n3 ./a//b/. \n4 ..\\x \n");
}

/* ---- several files ---------------------------------------------------------------------------------------------------- */

TEST(coco_merges_categories_by_name_when_there_are_several_files)
{
    static const char *const texts[] = {
        "{\"images\":[{\"id\":1}],\"annotations\":[{\"image_id\":1,\"category_id\":1}],"
        "\"categories\":[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]}",
        "{\"annotations\":[{\"image_id\":3,\"category_id\":1},{\"image_id\":2,\"category_id\":7},{\"image_id\":2,"
        "\"category_id\":1}],\"images\":[{\"id\":3},{\"id\":2}],\"categories\":[{\"id\":1,\"name\":\"b\"},{\"id\":7,\"name\":"
        "\"c\"}]}",
        "{\"images\":[{\"id\":5}],\"annotations\":[],\"categories\":[]}"};
    read_coco(texts, 3, false, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.classes, "a,b,c");
    assert_string_equal(answer.shown, "1 - a\n3 - b\n2 - b,c\n5 - \n");
}

TEST(coco_gives_an_empty_set_when_there_is_no_file)
{
    read_coco(NULL, 0, false, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "");
}

/* ---- progress --------------------------------------------------------------------------------------------------------- */

struct listener {
    uint64_t calls, last, total;
    char what[64];
    volatile sig_atomic_t stop;
    uint64_t stop_after; /* bytes */
};

static void listen(void *state, const char *what, uint64_t done, uint64_t total)
{
    struct listener *listener = state;
    assert_true(done >= listener->last && done <= total);
    listener->calls++;
    listener->last = done;
    listener->total = total;
    snprintf(listener->what, sizeof listener->what, "%s", what);
    listener->stop = done >= listener->stop_after;
}

/* 40 MB of numbers in one array that is not used: reading it reports progress and can be stopped. */
static char *long_text(size_t *size)
{
    static const char head[] = "{\"x\":[0", tail[] = "],\"images\":[{\"id\":1}],\"annotations\":[],\"categories\":[]}";
    const size_t numbers = 5000000;
    char *text = malloc(sizeof head + sizeof tail + 8 * numbers);
    assert_non_null(text);
    char *at = text + sprintf(text, "%s", head);
    for (size_t i = 0; i < numbers; i++, at += 8)
        memcpy(at, ",-123.45", 8);
    at += sprintf(at, "%s", tail);
    *size = (size_t)(at - text);
    return text;
}

TEST(coco_tells_how_far_it_is_when_a_file_is_long)
{
    size_t size;
    char *text = long_text(&size);
    struct listener listener = {.stop_after = UINT64_MAX};
    ocdm__progress progress = {.tell = listen, .state = &listener, .stop = &listener.stop};
    answer.reading = (ocdm__reading){.progress = &progress};
    read_coco_bytes((const char *const *)&text, &size, 1, &answer);
    free(text);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "1 - \n");
    assert_string_equal(listener.what, "reading a.json");
    assert_true(listener.calls >= 5 && listener.last == size && listener.total == size);
}

TEST(coco_stops_when_it_is_told_to)
{
    size_t size;
    char *text = long_text(&size);
    struct listener listener = {.stop_after = size / 2};
    ocdm__progress progress = {.tell = listen, .state = &listener, .stop = &listener.stop};
    answer.reading = (ocdm__reading){.progress = &progress};
    read_coco_bytes((const char *const *)&text, &size, 1, &answer);
    free(text);
    assert_int_equal(answer.status, OCDM_STOPPED);
    assert_string_equal(answer.error.message, "stopped while reading a.json");
    assert_true(listener.last < size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coco_gives_images_in_their_order_with_each_label_once),
        cmocka_unit_test(coco_gives_the_same_in_any_order_of_members),
        cmocka_unit_test(coco_reads_keys_and_names_with_escapes),
        cmocka_unit_test(coco_passes_over_a_byte_order_mark),
        cmocka_unit_test(coco_gives_each_file_its_part),
        cmocka_unit_test(coco_counts_crowds_as_labels),
        cmocka_unit_test(coco_takes_ids_up_to_64_bits),
        cmocka_unit_test(coco_takes_empty_lists),
        cmocka_unit_test(coco_makes_one_class_of_categories_with_one_name),
        cmocka_unit_test(coco_takes_paths_that_only_look_as_if_they_climbed),
        cmocka_unit_test(coco_merges_categories_by_name_when_there_are_several_files),
        cmocka_unit_test(coco_gives_an_empty_set_when_there_is_no_file),
        cmocka_unit_test(coco_tells_how_far_it_is_when_a_file_is_long),
        cmocka_unit_test(coco_stops_when_it_is_told_to),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
