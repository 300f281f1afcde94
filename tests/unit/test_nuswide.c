/* The NUS-WIDE reader: both variants, every place where a copy may have its files, and each way in which they can be wrong. */
#define _POSIX_C_SOURCE 200809L

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../nested_files.h"
#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/readers.h"

#define LIST "d/ImageList/Imagelist.txt"
#define TRAIN_LIST "d/ImageList/TrainImagelist.txt"
#define TEST_LIST "d/ImageList/TestImagelist.txt"
#define ALL "d/Groundtruth/AllLabels/Labels_"
#define SPLIT "d/Groundtruth/TrainTestLabels/Labels_"

static void put(const char *path, const char *text)
{
    assert_int_equal(put_text(path, text), 0);
}

/* Everything of a set as text, a line per sample: id path part row labels. */
static const char *written(const ocdm__labelled_set *set)
{
    static char text[4096];
    size_t used = 0, length;
    for (uint32_t i = 0; i < set->count; i++) {
        const char *id = ocdm__label_table_text(&set->ids, i, &length);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s ", (int)length, id);
        const char *path = ocdm__label_table_text(&set->paths, set->path_numbers[i], &length);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s %c %lld", (int)length, path, "rt-"[set->parts[i]],
                                 (long long)set -> rows[i]);
        for (uint64_t k = set->label_starts[i]; k < set->label_starts[i + 1]; k++) {
            const char *name = ocdm__label_table_text(&set->classes, set->labels[k], &length);
            used += (size_t)snprintf(text + used, sizeof text - used, " %.*s", (int)length, name);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    text[used] = '\0';
    return text;
}

static void assert_reads_as(const char *folder, const char *expected)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = ocdm__nuswide_read(&set, folder, &reading, &error);
    HOLDS(error.message, status == OCDM_OK);
    assert_string_equal(written(&set), expected);
    assert_int_equal(reading.skip_count, 0);
    ocdm__labelled_set_clear(&set);
}

static void assert_fails(ocdm_status expected, const char *message)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error = {.status = OCDM_OK};
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, &error), expected);
    assert_string_equal(error.message, message);
    ocdm__labelled_set_clear(&set);
}

static void assert_skips(const char *expected, const char *reason, uint64_t count, const char *first)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = ocdm__nuswide_read(&set, "d", &reading, &error);
    HOLDS(error.message, status == OCDM_OK);
    assert_string_equal(written(&set), expected);
    assert_int_equal(reading.skip_count, 1);
    assert_string_equal(reading.skips[0].reason, reason);
    assert_int_equal(reading.skips[0].count, count);
    assert_string_equal(reading.skips[0].first, first);
    ocdm__labelled_set_clear(&set);
}

/* Four images, two concepts, lists of both parts. */
static void put_all_variant(void)
{
    put(LIST, "actor\\0001_11.jpg\nactor\\0002_22.jpg\nsky\\0001_33.jpg\nsky\\0002_44.JPG\n");
    put(ALL "water.txt", "1\n0\n0\n1\n");
    put(ALL "sky.txt", "0\n0\n1\n1\n");
}

static void put_part_lists(void)
{
    put(TRAIN_LIST, "sky\\0002_44.JPG\nactor\\0001_11.jpg\n");
    put(TEST_LIST, "sky\\0001_33.jpg\nactor\\0002_22.jpg\n");
}

static void put_split_variant(void)
{
    put_part_lists();
    put(SPLIT "water_Train.txt", "1\n1\n");
    put(SPLIT "water_Test.txt", "0\n0\n");
    put(SPLIT "sky_Train.txt", "1\n0\n");
    put(SPLIT "sky_Test.txt", "1\n0\n");
}

/* Without the lists of the parts, rows are unknown: they must not become 0. */
TEST(nuswide_gives_labels_in_list_order_when_there_are_all_labels)
{
    put_all_variant();
    assert_reads_as("d", "11 actor/0001_11.jpg - -1 water\n"
                         "22 actor/0002_22.jpg - -1\n"
                         "33 sky/0001_33.jpg - -1 sky\n"
                         "44 sky/0002_44.JPG - -1 sky water\n");
}

TEST(nuswide_joins_parts_by_path_when_there_are_part_lists)
{
    put_all_variant();
    put_part_lists();
    assert_reads_as("d", "11 actor/0001_11.jpg r 1 water\n"
                         "22 actor/0002_22.jpg t 1\n"
                         "33 sky/0001_33.jpg t 0 sky\n"
                         "44 sky/0002_44.JPG r 0 sky water\n");
}

TEST(nuswide_leaves_parts_open_when_only_one_list_is_there)
{
    put_all_variant();
    put(TEST_LIST, "sky\\0002_44.JPG\n");
    assert_reads_as("d", "11 actor/0001_11.jpg - -1 water\n"
                         "22 actor/0002_22.jpg - -1\n"
                         "33 sky/0001_33.jpg - -1 sky\n"
                         "44 sky/0002_44.JPG t 0 sky water\n");
}

#define SPLIT_SAMPLES                                                                                                          \
    "44 sky/0002_44.JPG r 0 sky water\n"                                                                                       \
    "11 actor/0001_11.jpg r 1 water\n"                                                                                         \
    "33 sky/0001_33.jpg t 0 sky\n"                                                                                             \
    "22 actor/0002_22.jpg t 1\n"

TEST(nuswide_gives_training_then_test_when_labels_are_split)
{
    put_split_variant();
    assert_reads_as("d", SPLIT_SAMPLES);
}

/* AllLabels without its list is not complete, so the other variant is what the folder has. */
TEST(nuswide_takes_the_variant_that_is_complete)
{
    put_split_variant();
    put(ALL "water.txt", "1\n0\n0\n1\n");
    assert_reads_as("d", SPLIT_SAMPLES);
    put(LIST, "sky\\0002_44.JPG\nsky\\0001_33.jpg\nactor\\0002_22.jpg\nactor\\0001_11.jpg\n");
    assert_reads_as("d", "44 sky/0002_44.JPG r 0 water\n"
                         "33 sky/0001_33.jpg t 0\n"
                         "22 actor/0002_22.jpg t 1\n"
                         "11 actor/0001_11.jpg r 1 water\n");
}

/* Every partial copy of the tree gives the same set. */
TEST(nuswide_finds_its_files_wherever_they_lie)
{
    static const char *const lists[] = {"a/Imagelist.txt", "b/ImageList/Imagelist.txt", "c/Imagelist.txt",
                                        "e/ImageList/Imagelist.txt"};
    static const char *const labels[] = {"a/Labels_sun.txt", "b/AllLabels/Labels_sun.txt",
                                         "c/Groundtruth/AllLabels/Labels_sun.txt", "e/Groundtruth/AllLabels/Labels_sun.txt"};
    static const char *const given[] = {"a", "b/", "c", "e/Groundtruth"};
    for (size_t i = 0; i < 4; i++) {
        put(lists[i], "x\\1_7.jpg\n");
        put(labels[i], "1\n");
        assert_reads_as(given[i], "7 x/1_7.jpg - -1 sun\n");
    }
}

TEST(nuswide_does_not_mind_line_ends_blanks_and_a_byte_order_mark)
{
    put(LIST, "\xEF\xBB\xBFx/1_7.jpg\r\nx\\2_8.jpg  \r\n\r\n\n");
    put(ALL "sun.txt", "0\r\n1 \r\n\r\n");
    put(ALL "moon.txt", "\xEF\xBB\xBF"
                        "1\n0");
    put("d/Groundtruth/AllLabels/README.txt", "no labels");
    put(ALL ".txt", "no concept");
    assert_reads_as("d", "7 x/1_7.jpg - -1 moon\n8 x/2_8.jpg - -1 sun\n");
}

/* As six photos of the official list. */
TEST(nuswide_names_an_image_by_its_path_when_its_photo_was_there_before)
{
    put(LIST, "x\\1_7.jpg\ny\\1_7.jpg\nz\\1_7.jpg\n");
    put(ALL "sun.txt", "0\n1\n1\n");
    assert_reads_as("d", "7 x/1_7.jpg - -1\ny/1_7.jpg y/1_7.jpg - -1 sun\nz/1_7.jpg z/1_7.jpg - -1 sun\n");
}

TEST(nuswide_adds_to_a_set_that_has_samples)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error = {.status = OCDM_OK};
    put("a/Imagelist.txt", "x\\1_7.jpg\n");
    put("a/Labels_sun.txt", "1\n");
    put_all_variant();
    put_part_lists();
    assert_int_equal(ocdm__nuswide_read(&set, "a", &reading, &error), OCDM_OK);
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, &error), OCDM_OK);
    assert_string_equal(written(&set), "7 x/1_7.jpg - -1 sun\n"
                                       "11 actor/0001_11.jpg r 1 water\n"
                                       "22 actor/0002_22.jpg t 1\n"
                                       "33 sky/0001_33.jpg t 0 sky\n"
                                       "44 sky/0002_44.JPG r 0 sky water\n");
    assert_int_equal(ocdm__nuswide_read(&set, "a", &reading, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "a/Imagelist.txt:1: image \"x\\1_7.jpg\" is listed already");
    ocdm__labelled_set_clear(&set);
}

TEST(nuswide_tells_both_counts_when_lengths_differ)
{
    put_all_variant();
    put(ALL "water.txt", "1\n0\n0\n");
    assert_fails(OCDM_BAD_FILE, ALL "water.txt:3: the file has 3 labels, but " LIST " lists 4 images");
    put(ALL "water.txt", "1\n0\n0\n1\n0\n7\n");
    assert_fails(OCDM_BAD_FILE, ALL "water.txt:6: the file has 6 labels, but " LIST " lists 4 images");
    put(ALL "water.txt", "");
    assert_fails(OCDM_BAD_FILE, ALL "water.txt:1: the file has 0 labels, but " LIST " lists 4 images");
}

TEST(nuswide_tells_the_part_when_a_split_file_is_short)
{
    put_split_variant();
    put(SPLIT "sky_Test.txt", "1\n");
    assert_fails(OCDM_BAD_FILE, SPLIT "sky_Test.txt:1: the file has 1 label, but " TEST_LIST " lists 2 images");
}

TEST(nuswide_refuses_a_label_that_is_neither_0_nor_1)
{
    static const char *const labels[] = {"2", "01", "", "x\x01"};
    static const char *const shown[] = {"2", "01", "", "x\\x01"};
    for (size_t i = 0; i < 4; i++) {
        char text[64], message[128];
        put_all_variant();
        snprintf(text, sizeof text, "1\n0\n%s\n1\n", labels[i]);
        snprintf(message, sizeof message, ALL "water.txt:3: \"%s\" is neither 0 nor 1", shown[i]);
        put(ALL "water.txt", text);
        assert_fails(OCDM_BAD_FILE, message);
    }
}

/* The image that is removed had a label before its bad one; the others keep their rows. */
TEST(nuswide_leaves_an_image_out_when_a_label_is_bad)
{
    put_all_variant();
    put_part_lists();
    put(ALL "water.txt", "1\n0\n0\nyes\n");
    put(ALL "zebra.txt", "0\n0\n0\nno\n");
    assert_skips("11 actor/0001_11.jpg r 1 water\n22 actor/0002_22.jpg t 1\n33 sky/0001_33.jpg t 0 sky\n",
                 "images with a label that is neither 0 nor 1", 1, ALL "water.txt:4");
}

TEST(nuswide_refuses_names_that_are_no_images)
{
    static const char *const names[][2] = {
        {"actor\\0001.jpg", "\"actor\\0001.jpg\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {"a_1.png", "\"a_1.png\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {"a_.jpg", "\"a_.jpg\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {"a_1x2.jpg", "\"a_1x2.jpg\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {"12.jpg", "\"12.jpg\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {".jpg", "\".jpg\" has no photo id: digits between the last \"_\" and \".jpg\""},
        {"..\\a_1.jpg", "\"..\\a_1.jpg\" leads out of the folder of the images"},
        {"a/../../b_1.jpg", "\"a/../../b_1.jpg\" leads out of the folder of the images"},
        {"/etc/a_1.jpg", "\"/etc/a_1.jpg\" leads out of the folder of the images"},
        {"C:\\a_1.jpg", "\"C:\\a_1.jpg\" leads out of the folder of the images"},
        {"\xFF_1.jpg", "\"\\xFF_1.jpg\" is not UTF-8 or has control characters"},
        {"a\x01_1.jpg", "\"a\\x01_1.jpg\" is not UTF-8 or has control characters"},
        {"", "an empty line, where the name of an image should be"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128], message[256];
        put_all_variant();
        snprintf(text, sizeof text, "x\\1_7.jpg\n%s\nx\\3_9.jpg\n", names[i][0]);
        snprintf(message, sizeof message, LIST ":2: %s", names[i][1]);
        put(LIST, text);
        put(ALL "water.txt", "1\n0\n0\n");
        put(ALL "sky.txt", "0\n1\n1\n");
        assert_fails(OCDM_BAD_FILE, message);
        assert_skips("7 x/1_7.jpg - -1 water\n9 x/3_9.jpg - -1 sky\n", "images with a bad name", 1, LIST ":2");
    }
}

TEST(nuswide_refuses_a_name_of_over_a_thousand_bytes)
{
    char text[2048];
    put_all_variant();
    memset(text, 'a', sizeof text);
    snprintf(text + 1019, sizeof text - 1019, "_1234.jpg\n");
    put(LIST, text);
    assert_fails(OCDM_BAD_FILE, LIST ":1: the name of an image has 1028 bytes, the most is 1024");
    snprintf(text + 1015, sizeof text - 1015, "_1234.jpg\n");
    put(LIST, text);
    assert_fails(OCDM_BAD_FILE, ALL "sky.txt:4: the file has 4 labels, but " LIST " lists 1 image");
}

TEST(nuswide_refuses_an_image_that_is_listed_twice)
{
    put_all_variant();
    put(LIST, "x\\1_7.jpg\nx\\2_8.jpg\nx/1_7.jpg\nx\\4_9.jpg\n");
    assert_fails(OCDM_BAD_FILE, LIST ":3: image \"x/1_7.jpg\" is listed already");
    assert_skips("7 x/1_7.jpg - -1 water\n8 x/2_8.jpg - -1\n9 x/4_9.jpg - -1 sky water\n", "images listed already", 1,
                 LIST ":3");
}

TEST(nuswide_refuses_an_image_of_both_parts)
{
    put_all_variant();
    put_part_lists();
    put(TEST_LIST, "sky\\0001_33.jpg\nactor\\0001_11.jpg\n");
    assert_fails(OCDM_BAD_FILE, TEST_LIST ":2: image \"actor\\0001_11.jpg\" is listed already");
    put_split_variant();
    put(TEST_LIST, "sky\\0001_33.jpg\nactor\\0001_11.jpg\n");
    remove(LIST);
    assert_fails(OCDM_BAD_FILE, TEST_LIST ":2: image \"actor\\0001_11.jpg\" is listed already");
}

/* Twice, and after a line of the main list that was left out: the second must not be taken for an image. */
TEST(nuswide_refuses_a_part_of_an_image_that_the_list_lacks)
{
    put_all_variant();
    put(TRAIN_LIST, "sky\\0002_44.JPG\nsky\\0003_55.jpg\nsky\\0003_55.jpg\n");
    assert_fails(OCDM_BAD_FILE, TRAIN_LIST ":2: image \"sky\\0003_55.jpg\" is not in Imagelist.txt");
    assert_skips("11 actor/0001_11.jpg - -1 water\n22 actor/0002_22.jpg - -1\n33 sky/0001_33.jpg - -1 sky\n"
                 "44 sky/0002_44.JPG r 0 sky water\n",
                 "images that Imagelist.txt lacks", 2, TRAIN_LIST ":2");
    put(LIST, "actor\\0001_11.jpg\nbad\nbad\nsky\\0002_44.JPG\n");
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, NULL), OCDM_OK);
    assert_string_equal(written(&set), "11 actor/0001_11.jpg - -1 water\n44 sky/0002_44.JPG r 0 sky water\n");
    assert_int_equal(reading.skip_count, 2);
    ocdm__labelled_set_clear(&set);
}

TEST(nuswide_tells_what_is_missing)
{
    assert_fails(OCDM_IO, "d: No such file or directory");
    put(LIST, "x\\1_7.jpg\n");
    assert_fails(OCDM_BAD_FILE, "d: no label files Labels_<concept>.txt");
    put(ALL "sun.txt", "1\n");
    remove(LIST);
    assert_fails(OCDM_IO, "d: no image list Imagelist.txt, neither here nor in ImageList");
    remove(ALL "sun.txt");
    put(SPLIT "sun_Train.txt", "1\n");
    assert_fails(OCDM_IO, "d: no image list TrainImagelist.txt, neither here nor in ImageList");
    put(TRAIN_LIST, "x\\1_7.jpg\n");
    assert_fails(OCDM_IO, "d: no image list TestImagelist.txt, neither here nor in ImageList");
    put(TEST_LIST, "x\\1_8.jpg\n");
    assert_fails(OCDM_BAD_FILE, "d/Groundtruth/TrainTestLabels: Labels_sun_Train.txt has no Labels_sun_Test.txt beside it");
    put(SPLIT "sun_Test.txt", "1\n");
    put(SPLIT "moon_Test.txt", "1\n");
    assert_fails(OCDM_BAD_FILE, "d/Groundtruth/TrainTestLabels: Labels_moon_Test.txt has no Labels_moon_Train.txt beside it");
}

TEST(nuswide_refuses_an_empty_list_and_a_list_that_is_a_folder)
{
    put_all_variant();
    put(LIST, " \n\n");
    assert_fails(OCDM_BAD_FILE, LIST ":1: no images");
    remove(LIST);
    assert_int_equal(mkdir(LIST, 0777), 0);
    assert_fails(OCDM_IO, LIST ": is a folder");
}

TEST(nuswide_refuses_a_concept_that_is_not_utf8)
{
    put_all_variant();
    put(ALL "a\xFF.txt", "1\n0\n0\n1\n");
    assert_fails(OCDM_BAD_FILE, "d/Groundtruth/AllLabels: the name of the label file of \"a\\xFF\" is not UTF-8");
}

static void note_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    assert_true(done <= total);
    ++*(int *)state;
}

TEST(nuswide_tells_its_progress_and_stops_when_told)
{
    int told = 0;
    volatile sig_atomic_t stop = 0;
    const ocdm__progress progress = {.tell = note_progress, .state = &told, .stop = &stop};
    ocdm__reading reading = {.progress = &progress};
    ocdm__labelled_set set = {.count = 0};
    ocdm_error error = {.status = OCDM_OK};
    put_all_variant();
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, &error), OCDM_OK);
    assert_int_equal(told, 3);
    ocdm__labelled_set_clear(&set);
    stop = 1;
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, &error), OCDM_STOPPED);
    assert_string_equal(error.message, "stopped while reading an image list");
    ocdm__labelled_set_clear(&set);
}

/* For the provenance of a stream: every file that is read can be named. */
TEST(nuswide_tells_which_files_it_read)
{
    static const char *const expected[] = {LIST, ALL "sea.txt", ALL "sky.txt"};
    ocdm__labelled_set set = {.count = 0};
    ocdm__found_files found = {.count = 0};
    ocdm__reading reading = {.files = &found};
    ocdm_error error;
    put(LIST, "a\\1_11.jpg\n");
    put(ALL "sky.txt", "1\n");
    put(ALL "sea.txt", "0\n");
    assert_int_equal(ocdm__nuswide_read(&set, "d", &reading, &error), OCDM_OK);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(found.paths[i], expected[i]);
    ocdm__found_files_clear(&found);
    ocdm__labelled_set_clear(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nuswide_gives_labels_in_list_order_when_there_are_all_labels, clear_tree),
        cmocka_unit_test_teardown(nuswide_joins_parts_by_path_when_there_are_part_lists, clear_tree),
        cmocka_unit_test_teardown(nuswide_leaves_parts_open_when_only_one_list_is_there, clear_tree),
        cmocka_unit_test_teardown(nuswide_gives_training_then_test_when_labels_are_split, clear_tree),
        cmocka_unit_test_teardown(nuswide_takes_the_variant_that_is_complete, clear_tree),
        cmocka_unit_test_teardown(nuswide_finds_its_files_wherever_they_lie, clear_tree),
        cmocka_unit_test_teardown(nuswide_does_not_mind_line_ends_blanks_and_a_byte_order_mark, clear_tree),
        cmocka_unit_test_teardown(nuswide_names_an_image_by_its_path_when_its_photo_was_there_before, clear_tree),
        cmocka_unit_test_teardown(nuswide_adds_to_a_set_that_has_samples, clear_tree),
        cmocka_unit_test_teardown(nuswide_tells_both_counts_when_lengths_differ, clear_tree),
        cmocka_unit_test_teardown(nuswide_tells_the_part_when_a_split_file_is_short, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_a_label_that_is_neither_0_nor_1, clear_tree),
        cmocka_unit_test_teardown(nuswide_leaves_an_image_out_when_a_label_is_bad, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_names_that_are_no_images, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_a_name_of_over_a_thousand_bytes, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_an_image_that_is_listed_twice, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_an_image_of_both_parts, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_a_part_of_an_image_that_the_list_lacks, clear_tree),
        cmocka_unit_test_teardown(nuswide_tells_what_is_missing, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_an_empty_list_and_a_list_that_is_a_folder, clear_tree),
        cmocka_unit_test_teardown(nuswide_refuses_a_concept_that_is_not_utf8, clear_tree),
        cmocka_unit_test_teardown(nuswide_tells_its_progress_and_stops_when_told, clear_tree),
        cmocka_unit_test_teardown(nuswide_tells_which_files_it_read, clear_tree),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
