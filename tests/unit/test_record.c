/*
 * The record readers: what each format gives, what is refused and where. Every text is read in pieces of several sizes, which
 * must not make a difference.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "record_text.h"

static void reads_with(const ocdm__record_options *options, const char *text, size_t size, const char *expected)
{
    static const size_t read_sizes[] = {1, 2, 3, 7, 13, 64, 1 << 20};
    char found[4096];
    for (size_t i = 0; i < sizeof read_sizes / sizeof *read_sizes; i++) {
        read_all(pipe_of(text, size, read_sizes[i]), options, found, sizeof found, NULL);
        if (strcmp(found, expected) != 0)
            fail_msg("reads of %zu:\n  found    %s\n  expected %s", read_sizes[i], found, expected);
    }
}

static void reads(enum ocdm__record_format format, const char *text, const char *expected)
{
    reads_with(&(ocdm__record_options){.format = format}, text, strlen(text), expected);
}

/* The error's message after its place, which is checked too. */
static void refuses_bytes(enum ocdm__record_format format, const char *text, size_t size, const char *place)
{
    char expected[64], found[1024];
    ocdm__record_options options = {.format = format};
    read_all(pipe_of(text, size, 5), &options, found, sizeof found, NULL);
    snprintf(expected, sizeof expected, "%d in:%s: ", OCDM_BAD_RECORD, place);
    if (strncmp(found, expected, strlen(expected)) != 0)
        fail_msg("found    %s\nexpected %s...", found, expected);
}

static void refuses(enum ocdm__record_format format, const char *text, const char *place)
{
    refuses_bytes(format, text, strlen(text), place);
}

/* ---- JSON Lines ------------------------------------------------------------------------------------------------------ */

TEST(jsonl_reads_labels_and_ids)
{
    reads(JSONL, "{\"id\":7,\"labels\":[\"a\",\"b\"]}\n{\"labels\":[],\"id\":\"x y\"}\n",
          "{\"id\":7,\"labels\":[\"a\",\"b\"]}|7|a,b;{\"labels\":[],\"id\":\"x y\"}|x y|;");
    reads(JSONL, "{\"labels\":[\"a\"]}", "{\"labels\":[\"a\"]}||a;");
    reads(JSONL, "", "");
    reads(JSONL, "\n \t\r\n\n", "");
}

TEST(jsonl_takes_numbers_as_labels_by_their_text)
{
    reads(JSONL, "{\"labels\":[1,\"1\",-5,-0,0,\"-0\"]}\n", "{\"labels\":[1,\"1\",-5,-0,0,\"-0\"]}||1,1,-5,0,0,-0;");
    refuses(JSONL, "{\"labels\":[1.0]}", "1:12");
    refuses(JSONL, "{\"labels\":[1e2]}", "1:12");
    refuses(JSONL, "{\"labels\":[01]}", "1:12");
}

TEST(jsonl_compares_labels_and_ids_by_what_escapes_mean)
{
    reads(JSONL, "{\"id\":\"\\u0041\",\"labels\":[\"a\\nb\",\"\\u00e9\",\"\xC3\xA9\"]}\n",
          "{\"id\":\"\\u0041\",\"labels\":[\"a\\nb\",\"\\u00e9\",\"\xC3\xA9\"]}|A|a~b,\xC3\xA9,\xC3\xA9;");
    reads(JSONL, "{\"l\\u0061bels\":[\"\\u0000\"]}\n", "{\"l\\u0061bels\":[\"\\u0000\"]}||0;");
}

TEST(jsonl_passes_over_other_members_of_any_shape)
{
    reads(JSONL, "{\"a\":{\"labels\":[\"no\"]},\"b\":[[{\"id\":1}],2.5e3,true],\"labels\":[\"yes\"],\"c\":null}\n",
          "{\"a\":{\"labels\":[\"no\"]},\"b\":[[{\"id\":1}],2.5e3,true],\"labels\":[\"yes\"],\"c\":null}||yes;");
    reads(JSONL, " { \"labels\" : [ \"a\" , 2 ] , \"id\" : 3 } \r\n", " { \"labels\" : [ \"a\" , 2 ] , \"id\" : 3 } \r|3|a,2;");
    reads(JSONL, "{\"id\": 1, \"labels\": [\"a\", \"b\"]}\r\n", "{\"id\": 1, \"labels\": [\"a\", \"b\"]}\r|1|a,b;");
}

TEST(jsonl_follows_dotted_paths)
{
    ocdm__record_options options = {.format = JSONL, .labels = "m.tags", .id = "m.k.id"};
    static const char good[] = "{\"tags\":1,\"m\":{\"k\":{\"id\":\"i\",\"tags\":0},\"tags\":[\"a\"]},\"id\":5}";
    reads_with(&options, good, sizeof good - 1,
               "{\"tags\":1,\"m\":{\"k\":{\"id\":\"i\",\"tags\":0},\"tags\":[\"a\"]},\"id\":5}|i|a;");
    static const char *const bad[] = {
        "{\"m\":{\"tags\":[\"a\"]}}",                                        /* no id, and it was asked for */
        "{\"m\":{\"k\":{\"id\":1}},\"tags\":[]}",                            /* the labels are outside */
        "{\"m\":[{\"tags\":[],\"k\":{\"id\":1}}]}",                          /* an array on the way */
        "{\"m\":{\"k\":{\"id\":1},\"tags\":[]},\"m\":{}}",                   /* a part of the path twice */
        "{\"m\":{\"k\":{\"id\":1},\"tags\":[],\"t\\u0061gs\":[]}}",          /* the labels twice */
        "{\"x\":{\"tags\":[],\"k\":{\"id\":1}},\"m\":{\"y\":{\"tags\":[]}}}" /* right names at the wrong depth */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char found[512];
        read_all(pipe_of(bad[i], strlen(bad[i]), 100), &options, found, sizeof found, NULL);
        if (strncmp(found, "10 in:1:", 8) != 0)
            fail_msg("%s gave %s", bad[i], found);
    }
}

TEST(jsonl_takes_long_names)
{
    ocdm__record_options options = {.format = JSONL, .labels = "the labels of this record"};
    static const char text[] = "{\"the labels of this recorD\":[\"no\"],\"the labels of this record\":[\"a\"]}";
    reads_with(&options, text, sizeof text - 1,
               "{\"the labels of this recorD\":[\"no\"],\"the labels of this record\":[\"a\"]}||a;");
}

TEST(jsonl_refuses_records_that_are_not_what_they_should_be)
{
    refuses(JSONL, "{\"labels\":[]}\n\n{\"label\":[\"a\"]}\n", "3:1");
    refuses(JSONL, "{\"labels\":true}", "1:11");
    refuses(JSONL, "{\"labels\":null}", "1:11");
    refuses(JSONL, "{\"labels\":[\"a\",null]}", "1:16");
    refuses(JSONL, "{\"labels\":[\"a\",[\"b\"]]}", "1:16");
    refuses(JSONL, "{\"labels\":[true]}", "1:12");
    refuses(JSONL, "{\"labels\":[],\"id\":null}", "1:19");
    refuses(JSONL, "{\"labels\":[],\"id\":[1]}", "1:19");
    refuses(JSONL, "{\"labels\":[],\"labels\":[]}", "1:15");
    refuses(JSONL, "{\"id\":1,\"labels\":[],\"id\":1}", "1:22");
    refuses(JSONL, "[\"a\"]", "1:1");
    refuses(JSONL, "3", "1:1");
    refuses(JSONL, "{\"labels\":[]}\n{\"labels\":[}\n", "2:12");
    refuses(JSONL, "{\"labels\":[\"a\"]} x", "1:18");
    refuses(JSONL, "{\"labels\":[\"a\"]", "1:16");
    refuses(JSONL, "{\"labels\":[\"a]}\n{\"labels\":[\"b\"]}\n", "1:12");
    refuses(JSONL, "{\"labels\":[\"a\tb\"]}", "1:14");
    refuses(JSONL, "{\"labels\":[\"\xFF\"]}", "1:13");
    refuses(JSONL, "{\"labels\":[\"\\ud800\"]}", "1:13");
    refuses_bytes(JSONL, "{\"labels\":[\"\0\"]}", 16, "1:13");
    refuses_bytes(JSONL, "{\"labels\":[]}\0", 14, "1:14");
}

TEST(records_pass_over_a_byte_order_mark_but_count_its_columns)
{
    reads(JSONL, "\xEF\xBB\xBF{\"labels\":[\"a\"]}\n", "{\"labels\":[\"a\"]}||a;");
    reads(CSV, "\xEF\xBB\xBF\"labels\",x\na,b\n", "a,b||a;");
    refuses(JSONL, "\xEF\xBB\xBF[]", "1:4");
    refuses(JSONL, "{\"labels\":[]}\n\xEF\xBB\xBF{\"labels\":[]}\n", "2:1");
}

/* ---- CSV and TSV ------------------------------------------------------------------------------------------------------ */

TEST(csv_reads_columns_by_name)
{
    reads(CSV, "id,text,labels\n1,hello,a;b\n2,, a ; ;;c c\t\n\n3,x,\n", "1,hello,a;b|1|a,b;2,, a ; ;;c c\t|2|a,c c;3,x,|3|;");
    reads(CSV, "labels\r\na\r\n\r\nb;c", "a\r||a;b;c||b,c;");
    ocdm__record_options options = {.format = CSV, .labels = "my tags", .id = "key", .separator = "\xC2\xB7"};
    static const char text[] = "key,my tags\nk1,a;b\xC2\xB7 c\xC2\xB0\n";
    reads_with(&options, text, sizeof text - 1, "k1,a;b\xC2\xB7 c\xC2\xB0|k1|a;b,c\xC2\xB0;");
}

TEST(csv_follows_the_rules_of_quotes)
{
    reads(CSV, "\"id\",\"labels\"\n\"a\"\"b\",\"x,y;z\"\n", "\"a\"\"b\",\"x,y;z\"|a\"b|x,y,z;");
    reads(CSV, "labels,text\n\"a\n;b\",\"one\ntwo \"\"\n\"\" three\"\nc,5\" disk\n",
          "\"a~;b\",\"one~two \"\"~\"\" three\"||a~,b;c,5\" disk||c;");
    reads(CSV, "labels,x\n\"\"\"a\"\"\",\"\"\n\"\",\n", "\"\"\"a\"\"\",\"\"||\"a\";\"\",||;");
    reads(CSV, "labels\n\"a\r\n;b\"\r\nc\r\n", "\"a\r~;b\"\r||a\r~,b;c\r||c;");
}

TEST(csv_refuses_broken_records)
{
    refuses(CSV, "labels,x\na\n", "2:1");
    refuses(CSV, "labels,x\na,b\na,b,c\n", "3:1");
    refuses(CSV, "labels,x\na,\"b\nc\n", "2:3");
    refuses(CSV, "labels,x\n\"a\nb\"c,d\n", "3:3");
    refuses(CSV, "labels,x\n\"a\nb\",\xFF\n", "3:4");
    refuses_bytes(CSV, "labels,x\na,\0\n", 13, "2:3");
    refuses(CSV, "id,label\n1,2\n", "1:1");
    refuses(CSV, "labels,labels\n1,2\n", "1:1");
    refuses(CSV, "", "1:1");
    refuses(CSV, "\n\n", "1:1");
}

TEST(csv_lists_the_columns_when_one_is_missing)
{
    char found[512];
    ocdm__record_options options = {.format = CSV, .labels = "tags"};
    read_all(pipe_of("id,label\n1,2\n", 13, 100), &options, found, sizeof found, NULL);
    assert_string_equal(found, "10 in:1:1: no column named \"tags\"; the columns are: id,label");
}

TEST(csv_gives_its_header_to_be_printed_again)
{
    ocdm__input input = pipe_of("\xEF\xBB\xBFid,\"la\nbels\",labels\r\n", 24, 2);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = CSV};
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    size_t length;
    const char *header = records->header;
    length = records->header_length;
    assert_int_equal(length, 20);
    assert_memory_equal(header, "id,\"la\nbels\",labels\r", 20);
    ocdm__records_close(records);
}

TEST(tsv_has_no_quotes)
{
    reads(TSV, "id\tlabels\n\"1\t\"a;b\n2\tc\"\n", "\"1\t\"a;b|\"1|\"a,b;2\tc\"|2|c\";");
    refuses(TSV, "id\tlabels\n1\ta\tb\n", "2:1");
}

/* ---- LIBSVM and XMC ---------------------------------------------------------------------------------------------------- */

TEST(svm_reads_labels_before_features)
{
    reads(SVM, "1,2 0:0.5 3:1\n+1 qid:3 a:b\n7\n", "1,2 0:0.5 3:1||1,2;+1 qid:3 a:b||+1;7||7;");
    reads(SVM, " 0:1 1:2\n0:1\n\t5:1\r\n", " 0:1 1:2||;0:1||;\t5:1\r||;");
    reads(SVM, "# a comment\n\n1 2:3 # more: of it\n  # and more\n", "1 2:3 # more: of it||1;");
    reads(SVM, "2 5 3\n1,0 2:1\n\n", "1,0 2:1||1,0;");
    reads(SVM, "\n# c\n2 5 3\r\n1 2:1", "1 2:1||1;");
}

TEST(svm_refuses_what_is_no_feature)
{
    refuses(SVM, "1 2:3 4\n", "1:7");
    refuses(SVM, "1 :3\n", "1:3");
    refuses(SVM, "1 3:\n", "1:3");
    refuses(SVM, "1,,2 3:4\n", "1:3");
    refuses(SVM, "1, 3:4\n", "1:3");
    refuses(SVM, "1 2:3\n2 5 3\n", "2:3"); /* an XMC header is the first line */
    refuses(SVM, "1 2:\xFF\n", "1:5");
    refuses_bytes(SVM, "1 2:\0\n", 6, "1:5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl_reads_labels_and_ids),
        cmocka_unit_test(jsonl_takes_numbers_as_labels_by_their_text),
        cmocka_unit_test(jsonl_compares_labels_and_ids_by_what_escapes_mean),
        cmocka_unit_test(jsonl_passes_over_other_members_of_any_shape),
        cmocka_unit_test(jsonl_follows_dotted_paths),
        cmocka_unit_test(jsonl_takes_long_names),
        cmocka_unit_test(jsonl_refuses_records_that_are_not_what_they_should_be),
        cmocka_unit_test(records_pass_over_a_byte_order_mark_but_count_its_columns),
        cmocka_unit_test(csv_reads_columns_by_name),
        cmocka_unit_test(csv_follows_the_rules_of_quotes),
        cmocka_unit_test(csv_refuses_broken_records),
        cmocka_unit_test(csv_lists_the_columns_when_one_is_missing),
        cmocka_unit_test(csv_gives_its_header_to_be_printed_again),
        cmocka_unit_test(tsv_has_no_quotes),
        cmocka_unit_test(svm_reads_labels_before_features),
        cmocka_unit_test(svm_refuses_what_is_no_feature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
