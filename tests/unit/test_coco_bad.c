/* Invalid COCO files: each mistake is reported in one line with its place, or is left out and counted. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "coco_text.h"
#include "base/error.h"

static coco_answer answer;

struct mistake {
    const char *text;
    ocdm_status status;
    const char *message;
};

static void is_refused(const struct mistake *mistake, bool skip_bad)
{
    read_coco(&mistake->text, 1, skip_bad, &answer);
    assert_string_equal(answer.error.message, mistake->message);
    assert_int_equal(answer.status, mistake->status);
    assert_int_equal(answer.error.status, mistake->status);
    assert_true(answer.error.hint[0] != '\0');
}

#define EMPTY_IMAGES "\"images\":[]"
#define EMPTY_ANNOTATIONS "\"annotations\":[]"
#define EMPTY_CATEGORIES "\"categories\":[]"
#define EMPTY "{" EMPTY_IMAGES "," EMPTY_ANNOTATIONS "," EMPTY_CATEGORIES "}"

/* skip_bad must not make a file that is not COCO acceptable. */
TEST(coco_refuses_a_file_that_is_not_one)
{
    static const struct mistake mistakes[] = {
        {"", OCDM_BAD_FILE, "a.json:1:1: the file is empty"},
        {" \n ", OCDM_BAD_FILE, "a.json:2:2: the text ends too early"},
        {"[1,2]", OCDM_BAD_FILE, "a.json:1:1: the file is not a JSON object"},
        {"\n \"images\"", OCDM_BAD_FILE, "a.json:2:2: the file is not a JSON object"},
        {"{}", OCDM_BAD_FILE, "a.json:1:2: the file ends without \"images\""},
        {"{" EMPTY_IMAGES "," EMPTY_CATEGORIES "}", OCDM_BAD_FILE, "a.json:1:29: the file ends without \"annotations\""},
        {"{" EMPTY_IMAGES ",\n" EMPTY_ANNOTATIONS "\n}\n", OCDM_BAD_FILE, "a.json:3:1: the file ends without \"categories\""},
        {"{" EMPTY_ANNOTATIONS "," EMPTY_CATEGORIES "}", OCDM_BAD_FILE, "a.json:1:34: the file ends without \"images\""},
        {"{" EMPTY_IMAGES "," EMPTY_IMAGES "}", OCDM_BAD_FILE, "a.json:1:14: \"images\" occurs twice"},
        {"{" EMPTY_IMAGES "," EMPTY_ANNOTATIONS "," EMPTY_ANNOTATIONS "}", OCDM_BAD_FILE,
         "a.json:1:31: \"annotations\" occurs twice"},
        {"{" EMPTY_CATEGORIES "," EMPTY_CATEGORIES "}", OCDM_BAD_FILE, "a.json:1:18: \"categories\" occurs twice"},
        {"{\"images\":{}}", OCDM_BAD_FILE, "a.json:1:11: \"images\" is not an array"},
        {"{\"annotations\": null}", OCDM_BAD_FILE, "a.json:1:17: \"annotations\" is not an array"},
        {"{\"categories\": \"x\"}", OCDM_BAD_FILE, "a.json:1:16: \"categories\" is not an array"},
        {EMPTY "{}", OCDM_BAD_FILE, "a.json:1:47: something follows the value"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        is_refused(&mistakes[i], false);
        is_refused(&mistakes[i], true);
    }
}

TEST(coco_refuses_text_that_is_not_json)
{
    static const struct mistake mistakes[] = {
        {"{\"images\":[{\"id\":1}", OCDM_BAD_FILE, "a.json:1:20: the text ends too early"},
        {"{\"images\":[{\"id\":01}]}", OCDM_BAD_FILE, "a.json:1:18: a number with a leading zero"},
        {"{\"images\":[{\"id\":1},]}", OCDM_BAD_FILE, "a.json:1:21: a value is missing"},
        {"{\"info\":{\"a\":nul}}", OCDM_BAD_FILE, "a.json:1:14: neither true, false nor null"},
        {"{\"images\":[{\"file_name\":\"a", OCDM_BAD_FILE, "a.json:1:25: a string without an end"},
        {"{\"images\":[{\"file_name\":\"\xFF\"", OCDM_BAD_FILE, "a.json:1:26: invalid UTF-8"},
        {"{\"annotations\":[{\"segmentation\":[[1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,0.5,1.5,2.5,3.5,4.5,5.5,6.5,7..5,8.5,9.5,"
         "0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,0.5,1.5,2.5]]}]}",
         OCDM_BAD_FILE, "a.json:1:101: a decimal point without digits after it"},
        {"{\"x\":[\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,\n28,29,30,31,,33,34,35,36,37,38,"
         "39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60]}",
         OCDM_BAD_FILE, "a.json:3:13: a value is missing"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        is_refused(&mistakes[i], false);
        is_refused(&mistakes[i], true);
    }
}

TEST(coco_refuses_images_that_are_not_as_they_should_be)
{
    static const struct mistake mistakes[] = {
        {"{\"images\":[{\"id\":1},7]}", OCDM_BAD_RECORD, "a.json:1:21: image 2 is not an object"},
        {"{\"images\":[{\"file_name\":\"a\"}]}", OCDM_BAD_RECORD, "a.json:1:12: image 1 has no \"id\""},
        {"{\"images\":[{\"id\":\"1\"}]}", OCDM_BAD_RECORD,
         "a.json:1:18: image 1: \"id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"images\":[{\"id\":-1}]}", OCDM_BAD_RECORD,
         "a.json:1:18: image 1: \"id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"images\":[{\"id\":1.0}]}", OCDM_BAD_RECORD,
         "a.json:1:18: image 1: \"id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"images\":[{\"id\":18446744073709551616}]}", OCDM_BAD_RECORD,
         "a.json:1:18: image 1: \"id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"images\":[{\"id\":1,\"id\":1}]}", OCDM_BAD_RECORD, "a.json:1:25: image 1: \"id\" occurs twice"},
        {"{\"images\":[{\"file_name\":[]}]}", OCDM_BAD_RECORD, "a.json:1:25: image 1: \"file_name\" is not a string"},
        {"{\"images\":[{\"file_name\":\"\"}]}", OCDM_BAD_RECORD, "a.json:1:25: image 1: \"file_name\" is empty"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        is_refused(&mistakes[i], false);
}

/* A label file from elsewhere must not make anyone open files outside the folder of the images. */
TEST(coco_refuses_paths_that_leave_the_folder)
{
    static const struct mistake mistakes[] = {
        {"{\"images\":[{\"id\":1,\"file_name\":\"/etc/passwd\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"/etc/passwd\" is an absolute path"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"\\u002fetc\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"/etc\" is an absolute path"},
        {"{\"images\":[{\"id\":1},\n{\"id\":2,\"file_name\":\"..\"}]}", OCDM_BAD_RECORD,
         "a.json:2:21: image 2: \"file_name\" \"..\" leaves the folder of the images"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"../a.jpg\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"../a.jpg\" leaves the folder of the images"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"a/.\\u002e/b\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"a/../b\" leaves the folder of the images"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"a/..\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"a/..\" leaves the folder of the images"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"a\\u0000b\"}]}", OCDM_BAD_RECORD,
         "a.json:1:32: image 1: \"file_name\" \"a\\x00b\" holds a NUL character"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        is_refused(&mistakes[i], false);
        is_refused(&mistakes[i], true);
    }
}

TEST(coco_refuses_annotations_that_are_not_as_they_should_be)
{
    static const struct mistake mistakes[] = {
        {"{\"annotations\":[[]]}", OCDM_BAD_RECORD, "a.json:1:17: annotation 1 is not an object"},
        {"{\"annotations\":[{\"id\":1,\"category_id\":2}]}", OCDM_BAD_RECORD, "a.json:1:17: annotation 1 has no \"image_id\""},
        {"{\"annotations\":[{\"id\":1,\"image_id\":2}]}", OCDM_BAD_RECORD, "a.json:1:17: annotation 1 has no \"category_id\""},
        {"{\"annotations\":[{\"image_id\":\"x\"}]}", OCDM_BAD_RECORD,
         "a.json:1:29: annotation 1: \"image_id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"annotations\":[{\"image_id\":1,\"category_id\":null}]}", OCDM_BAD_RECORD,
         "a.json:1:45: annotation 1: \"category_id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"annotations\":[{\"image_id\":1,\"category_id\":1e1}]}", OCDM_BAD_RECORD,
         "a.json:1:45: annotation 1: \"category_id\" is not a whole number from 0 to 2^64 - 1"},
        {"{\"annotations\":[{\"image_id\":1,\"image_id\":1}]}", OCDM_BAD_RECORD,
         "a.json:1:42: annotation 1: \"image_id\" occurs twice"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        is_refused(&mistakes[i], false);
}

TEST(coco_refuses_categories_that_are_not_as_they_should_be)
{
    static const struct mistake mistakes[] = {
        {"{\"categories\":[true]}", OCDM_BAD_RECORD, "a.json:1:16: category 1 is not an object"},
        {"{\"categories\":[{\"name\":\"a\"}]}", OCDM_BAD_RECORD, "a.json:1:16: category 1 has no \"id\""},
        {"{\"categories\":[{\"id\":1}]}", OCDM_BAD_RECORD, "a.json:1:16: category 1 has no \"name\""},
        {"{\"categories\":[{\"id\":1,\"name\":5}]}", OCDM_BAD_RECORD, "a.json:1:31: category 1: \"name\" is not a string"},
        {"{\"categories\":[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"},{\"id\":1,\"name\":\"c\"}]}", OCDM_BAD_RECORD,
         "a.json:1:56: category 3 has id 1, which a category before it has too"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        is_refused(&mistakes[i], false);
        is_refused(&mistakes[i], true);
    }
}

TEST(coco_refuses_names_over_the_limit)
{
    char text[5000];
    for (int length = 4096; length <= 4097; length++) {
        snprintf(text, sizeof text, "{\"images\":[],\"annotations\":[],\"categories\":[{\"id\":1,\"name\":\"%0*d\"}]}", length,
                 0);
        const char *one = text;
        read_coco(&one, 1, false, &answer);
        assert_int_equal(answer.status, length == 4096 ? OCDM_OK : OCDM_BAD_RECORD);
    }
    assert_string_equal(answer.error.message, "a.json:1:60: category 1: \"name\" is longer than 4096 bytes");
}

TEST(coco_refuses_text_nested_a_million_deep)
{
    const size_t depth = 1000000;
    char *text = malloc(depth + 1);
    assert_non_null(text);
    memset(text, '[', depth);
    memcpy(text, "{\"x\":", 5);
    text[depth] = '\0';
    const struct mistake mistake = {text, OCDM_BAD_FILE, "a.json:1:1029: nested too deeply"};
    is_refused(&mistake, false);
    free(text);
}

TEST(coco_refuses_a_file_cut_anywhere)
{
    static const char text[] =
        "{\"images\":[{\"id\":1,\"file_name\":\"\\u00e4.jpg\"}],\"annotations\":[{\"segmentation\":[[1.5,2,-3]],"
        "\"image_id\":1,\"category_id\":2}],\"categories\":[{\"id\":2,\"name\":\"a\"}]}";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        const char *one = text;
        answer.reading = (ocdm__reading){.skip_bad = size % 2 == 1};
        read_coco_bytes(&one, &size, 1, &answer);
        assert_int_equal(answer.status, OCDM_BAD_FILE);
        assert_memory_equal(answer.error.message, "a.json:1:", 9);
    }
}

TEST(coco_refuses_what_is_not_a_file)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    ocdm_error error;
    const char *paths[] = {"not-there.json", "."};
    assert_int_equal(ocdm__coco_read(&set, paths, NULL, 1, &reading, &error), OCDM_IO);
    assert_string_equal(error.message, "not-there.json: No such file or directory");
    assert_int_equal(ocdm__coco_read(&set, paths + 1, NULL, 1, &reading, &error), OCDM_IO);
    assert_string_equal(error.message, ".: is a folder");
    assert_int_equal(ocdm__coco_read(&set, paths, NULL, 1, &reading, NULL), OCDM_IO);
}

/* ---- what can be left out --------------------------------------------------------------------------------------------- */

#define TWO_CATEGORIES "\"categories\":[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"}]"

static void was_left_out(size_t which, const char *reason, uint64_t count, const char *first)
{
    assert_true(which < answer.reading.skip_count);
    assert_string_equal(answer.reading.skips[which].reason, reason);
    assert_int_equal(answer.reading.skips[which].count, count);
    assert_string_equal(answer.reading.skips[which].first, first);
}

TEST(coco_refuses_or_leaves_out_annotations_of_unknown_categories)
{
    static const struct mistake mistake = {
        "{\"images\":[{\"id\":1}],\"annotations\":[{\"image_id\":1,\"category_id\":1},\n"
        "{\"image_id\":1,\"category_id\":91},{\"image_id\":8,\"category_id\":92}]," TWO_CATEGORIES "}",
        OCDM_BAD_RECORD, "a.json:2:1: annotation 2 names category 91, which \"categories\" does not list"};
    is_refused(&mistake, false);
    assert_string_equal(answer.error.hint, "annotations and categories must come from the same file; `ocdm stream build "
                                           "--skip-bad` leaves such annotations out");
    read_coco(&mistake.text, 1, true, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "1 - a\n");
    assert_int_equal(answer.reading.skip_count, 1);
    was_left_out(0, "annotations of unknown categories", 2, "a.json:2:1");
}

TEST(coco_refuses_or_leaves_out_annotations_of_unknown_images)
{
    static const struct mistake mistake = {
        "{\"images\":[{\"id\":1}],\"annotations\":[{\"image_id\":2,\"category_id\":1},"
        "{\"image_id\":1,\"category_id\":2},{\"image_id\":3,\"category_id\":1}]," TWO_CATEGORIES "}",
        OCDM_BAD_RECORD, "a.json:1:37: annotation 1 names image 2, which \"images\" does not list"};
    is_refused(&mistake, false);
    read_coco(&mistake.text, 1, true, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "1 - b\n");
    assert_int_equal(answer.reading.skip_count, 1);
    was_left_out(0, "annotations of unknown images", 2, "a.json:1:37");
}

TEST(coco_refuses_or_leaves_out_duplicate_images)
{
    static const struct mistake mistake = {
        "{\"images\":[{\"id\":1,\"file_name\":\"x\"},{\"id\":2},{\"id\":1,\"file_name\":\"y\"}],"
        "\"annotations\":[{\"image_id\":1,\"category_id\":2}]," TWO_CATEGORIES "}",
        OCDM_BAD_RECORD, "a.json:1:46: image 3 has id 1, which an image of this file has too"};
    is_refused(&mistake, false);
    read_coco(&mistake.text, 1, true, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "1 x b\n2 - \n");
    assert_int_equal(answer.reading.skip_count, 1);
    was_left_out(0, "duplicate images", 1, "a.json:1:46");
}

/* An image that came with the first file keeps the labels that it has there. */
TEST(coco_refuses_or_leaves_out_images_of_an_earlier_file)
{
    static const char *const texts[] = {
        "{\"images\":[{\"id\":1}],\"annotations\":[{\"image_id\":1,\"category_id\":1}]," TWO_CATEGORIES "}",
        "{\"images\":[{\"id\":2},{\"id\":1}],\"annotations\":[{\"image_id\":1,\"category_id\":2},{\"image_id\":2,"
        "\"category_id\":2}]," TWO_CATEGORIES "}"};
    read_coco(texts, 2, false, &answer);
    assert_int_equal(answer.status, OCDM_BAD_RECORD);
    assert_string_equal(answer.error.message, "b.json:1:21: image 2 has id 1, which an image of an earlier file has too");
    read_coco(texts, 2, true, &answer);
    assert_int_equal(answer.status, OCDM_OK);
    assert_string_equal(answer.shown, "1 - a\n2 - b\n");
    assert_int_equal(answer.reading.skip_count, 2);
    was_left_out(0, "duplicate images", 1, "b.json:1:21");
    was_left_out(1, "annotations of unknown images", 1, "b.json:1:46");
}

TEST(coco_refuses_annotations_of_another_files_images)
{
    static const char *const texts[] = {
        "{\"images\":[{\"id\":1}],\"annotations\":[]," TWO_CATEGORIES "}",
        "{\"images\":[{\"id\":2}],\"annotations\":[{\"image_id\":1,\"category_id\":1}]," TWO_CATEGORIES "}"};
    read_coco(texts, 2, false, &answer);
    assert_int_equal(answer.status, OCDM_BAD_RECORD);
    assert_string_equal(answer.error.message, "b.json:1:37: annotation 1 names image 1, which \"images\" does not list");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coco_refuses_a_file_that_is_not_one),
        cmocka_unit_test(coco_refuses_text_that_is_not_json),
        cmocka_unit_test(coco_refuses_images_that_are_not_as_they_should_be),
        cmocka_unit_test(coco_refuses_paths_that_leave_the_folder),
        cmocka_unit_test(coco_refuses_annotations_that_are_not_as_they_should_be),
        cmocka_unit_test(coco_refuses_categories_that_are_not_as_they_should_be),
        cmocka_unit_test(coco_refuses_names_over_the_limit),
        cmocka_unit_test(coco_refuses_text_nested_a_million_deep),
        cmocka_unit_test(coco_refuses_a_file_cut_anywhere),
        cmocka_unit_test(coco_refuses_what_is_not_a_file),
        cmocka_unit_test(coco_refuses_or_leaves_out_annotations_of_unknown_categories),
        cmocka_unit_test(coco_refuses_or_leaves_out_annotations_of_unknown_images),
        cmocka_unit_test(coco_refuses_or_leaves_out_duplicate_images),
        cmocka_unit_test(coco_refuses_or_leaves_out_images_of_an_earlier_file),
        cmocka_unit_test(coco_refuses_annotations_of_another_files_images),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
