/*
 * The record readers: what each format gives, what is refused and where. Every text is read in pieces of several sizes, which
 * must not make a difference.
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/record_state.h"

#define JSONL OCDM__FORMAT_JSONL
#define CSV OCDM__FORMAT_CSV
#define TSV OCDM__FORMAT_TSV
#define SVM OCDM__FORMAT_SVM

/* A pipe that one read takes in bits of `read_size`. */
static ocdm__input pipe_of(const char *text, size_t size, size_t read_size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    int fd = dup(fileno(file));
    assert_true(fd >= 0);
    fclose(file);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    ocdm__input input;
    assert_int_equal(ocdm__input_open_fd(&input, fd, "in", NULL, NULL), OCDM_OK);
    input.owns_fd = true;
    input.read_size = read_size;
    return input;
}

static size_t append(char *out, size_t used, size_t room, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && used + 1 < room; i++)
        out[used++] = bytes[i] == '\n' ? '~' : bytes[i] ? bytes[i] : '0';
    return used;
}

/* One record as "bytes|id|label,label;"; a newline shows as ~, a NUL as 0. */
static size_t describe(const ocdm__records *records, const ocdm__record *record, char *out, size_t used, size_t room)
{
    used = append(out, used, room, ocdm__records_bytes(records, record->at), record->length);
    used = append(out, used, room, "|", 1);
    if (record->has_id)
        used = append(out, used, room, ocdm__records_id(records, record), record->id_length);
    used = append(out, used, room, "|", 1);
    for (size_t i = 0; i < record->label_count; i++) {
        size_t length;
        const char *label = ocdm__label_table_text(ocdm__records_label_table(records),
                                                   ocdm__records_labels(records)[record->label_at + i], &length);
        used = append(out, used, room, ",", i > 0);
        used = append(out, used, room, label, length);
    }
    return append(out, used, room, ";", 1);
}

/* Reads all records, releasing after every third, and describes them; at an error, the error's message. */
static void read_all(ocdm__input input, const ocdm__record_options *options, char *out, size_t room, uint64_t *skipped)
{
    ocdm__records *records = NULL;
    ocdm_error error;
    ocdm__record batch[3], record;
    size_t used = 0, count = 0;
    bool found = true;
    ocdm_status status = ocdm__records_begin(&records, &input, NULL, options, &error);
    while (status == OCDM_OK && found) {
        status = ocdm__records_next(records, &record, &found, &error);
        if (status == OCDM_OK && found)
            batch[count++] = record;
        if (count == 3 || !found) {
            for (size_t i = 0; i < count; i++)
                used = describe(records, &batch[i], out, used, room);
            count = 0;
            ocdm__records_release(records);
        }
    }
    out[used] = '\0';
    if (status != OCDM_OK)
        snprintf(out, room, "%d %s", (int)status, error.message);
    if (skipped)
        *skipped = records ? ocdm__records_skipped(records) : 0;
    ocdm__records_close(records);
}

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

static void jsonl_reads_labels_and_ids(void **state)
{
    (void)state;
    reads(JSONL, "{\"id\":7,\"labels\":[\"a\",\"b\"]}\n{\"labels\":[],\"id\":\"x y\"}\n",
          "{\"id\":7,\"labels\":[\"a\",\"b\"]}|7|a,b;{\"labels\":[],\"id\":\"x y\"}|x y|;");
    reads(JSONL, "{\"labels\":[\"a\"]}", "{\"labels\":[\"a\"]}||a;");
    reads(JSONL, "", "");
    reads(JSONL, "\n \t\r\n\n", "");
}

static void jsonl_takes_numbers_as_labels_by_their_text(void **state)
{
    (void)state;
    reads(JSONL, "{\"labels\":[1,\"1\",-5,-0,0,\"-0\"]}\n", "{\"labels\":[1,\"1\",-5,-0,0,\"-0\"]}||1,1,-5,0,0,-0;");
    refuses(JSONL, "{\"labels\":[1.0]}", "1:12");
    refuses(JSONL, "{\"labels\":[1e2]}", "1:12");
    refuses(JSONL, "{\"labels\":[01]}", "1:12");
}

static void jsonl_compares_labels_and_ids_by_what_escapes_mean(void **state)
{
    (void)state;
    reads(JSONL, "{\"id\":\"\\u0041\",\"labels\":[\"a\\nb\",\"\\u00e9\",\"\xC3\xA9\"]}\n",
          "{\"id\":\"\\u0041\",\"labels\":[\"a\\nb\",\"\\u00e9\",\"\xC3\xA9\"]}|A|a~b,\xC3\xA9,\xC3\xA9;");
    reads(JSONL, "{\"l\\u0061bels\":[\"\\u0000\"]}\n", "{\"l\\u0061bels\":[\"\\u0000\"]}||0;");
}

static void jsonl_passes_over_other_members_of_any_shape(void **state)
{
    (void)state;
    reads(JSONL, "{\"a\":{\"labels\":[\"no\"]},\"b\":[[{\"id\":1}],2.5e3,true],\"labels\":[\"yes\"],\"c\":null}\n",
          "{\"a\":{\"labels\":[\"no\"]},\"b\":[[{\"id\":1}],2.5e3,true],\"labels\":[\"yes\"],\"c\":null}||yes;");
    reads(JSONL, " { \"labels\" : [ \"a\" , 2 ] , \"id\" : 3 } \r\n", " { \"labels\" : [ \"a\" , 2 ] , \"id\" : 3 } \r|3|a,2;");
    reads(JSONL, "{\"id\": 1, \"labels\": [\"a\", \"b\"]}\r\n", "{\"id\": 1, \"labels\": [\"a\", \"b\"]}\r|1|a,b;");
}

static void jsonl_follows_dotted_paths(void **state)
{
    (void)state;
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

static void jsonl_takes_long_names(void **state)
{
    (void)state;
    ocdm__record_options options = {.format = JSONL, .labels = "the labels of this record"};
    static const char text[] = "{\"the labels of this recorD\":[\"no\"],\"the labels of this record\":[\"a\"]}";
    reads_with(&options, text, sizeof text - 1,
               "{\"the labels of this recorD\":[\"no\"],\"the labels of this record\":[\"a\"]}||a;");
}

static void jsonl_refuses_records_that_are_not_what_they_should_be(void **state)
{
    (void)state;
    refuses(JSONL, "{\"labels\":[]}\n\n{\"label\":[\"a\"]}\n", "3:1");
    refuses(JSONL, "{\"labels\":\"a\"}", "1:12");
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

static void a_byte_order_mark_is_passed_over_but_counts_in_columns(void **state)
{
    (void)state;
    reads(JSONL, "\xEF\xBB\xBF{\"labels\":[\"a\"]}\n", "{\"labels\":[\"a\"]}||a;");
    reads(CSV, "\xEF\xBB\xBF\"labels\",x\na,b\n", "a,b||a;");
    refuses(JSONL, "\xEF\xBB\xBF[]", "1:4");
    refuses(JSONL, "{\"labels\":[]}\n\xEF\xBB\xBF{\"labels\":[]}\n", "2:1");
}

/* ---- CSV and TSV ------------------------------------------------------------------------------------------------------ */

static void csv_reads_columns_by_name(void **state)
{
    (void)state;
    reads(CSV, "id,text,labels\n1,hello,a;b\n2,, a ; ;;c c\t\n\n3,x,\n", "1,hello,a;b|1|a,b;2,, a ; ;;c c\t|2|a,c c;3,x,|3|;");
    reads(CSV, "labels\r\na\r\n\r\nb;c", "a\r||a;b;c||b,c;");
    ocdm__record_options options = {.format = CSV, .labels = "my tags", .id = "key", .separator = "\xC2\xB7"};
    static const char text[] = "key,my tags\nk1,a;b\xC2\xB7 c\xC2\xB0\n";
    reads_with(&options, text, sizeof text - 1, "k1,a;b\xC2\xB7 c\xC2\xB0|k1|a;b,c\xC2\xB0;");
}

static void csv_follows_the_rules_of_quotes(void **state)
{
    (void)state;
    reads(CSV, "\"id\",\"labels\"\n\"a\"\"b\",\"x,y;z\"\n", "\"a\"\"b\",\"x,y;z\"|a\"b|x,y,z;");
    reads(CSV, "labels,text\n\"a\n;b\",\"one\ntwo \"\"\n\"\" three\"\nc,5\" disk\n",
          "\"a~;b\",\"one~two \"\"~\"\" three\"||a~,b;c,5\" disk||c;");
    reads(CSV, "labels,x\n\"\"\"a\"\"\",\"\"\n\"\",\n", "\"\"\"a\"\"\",\"\"||\"a\";\"\",||;");
    reads(CSV, "labels\n\"a\r\n;b\"\r\nc\r\n", "\"a\r~;b\"\r||a\r~,b;c\r||c;");
}

static void csv_refuses_broken_records(void **state)
{
    (void)state;
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

static void csv_lists_the_columns_when_one_is_missing(void **state)
{
    (void)state;
    char found[512];
    ocdm__record_options options = {.format = CSV, .labels = "tags"};
    read_all(pipe_of("id,label\n1,2\n", 13, 100), &options, found, sizeof found, NULL);
    assert_string_equal(found, "10 in:1:1: no column named \"tags\"; the columns are: id,label");
}

static void csv_gives_its_header_to_be_printed_again(void **state)
{
    (void)state;
    ocdm__input input = pipe_of("\xEF\xBB\xBFid,\"la\nbels\",labels\r\n", 24, 2);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = CSV};
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    size_t length;
    const char *header = ocdm__records_header(records, &length);
    assert_int_equal(length, 20);
    assert_memory_equal(header, "id,\"la\nbels\",labels\r", 20);
    ocdm__records_close(records);
}

static void tsv_has_no_quotes(void **state)
{
    (void)state;
    reads(TSV, "id\tlabels\n\"1\t\"a;b\n2\tc\"\n", "\"1\t\"a;b|\"1|\"a,b;2\tc\"|2|c\";");
    refuses(TSV, "id\tlabels\n1\ta\tb\n", "2:1");
}

/* ---- LIBSVM and XMC ---------------------------------------------------------------------------------------------------- */

static void svm_reads_labels_before_features(void **state)
{
    (void)state;
    reads(SVM, "1,2 0:0.5 3:1\n+1 qid:3 a:b\n7\n", "1,2 0:0.5 3:1||1,2;+1 qid:3 a:b||+1;7||7;");
    reads(SVM, " 0:1 1:2\n0:1\n\t5:1\r\n", " 0:1 1:2||;0:1||;\t5:1\r||;");
    reads(SVM, "# a comment\n\n1 2:3 # more: of it\n  # and more\n", "1 2:3 # more: of it||1;");
    reads(SVM, "2 5 3\n1,0 2:1\n\n", "1,0 2:1||1,0;");
    reads(SVM, "\n# c\n2 5 3\r\n1 2:1", "1 2:1||1;");
}

static void svm_refuses_what_is_no_feature(void **state)
{
    (void)state;
    refuses(SVM, "1 2:3 4\n", "1:7");
    refuses(SVM, "1 :3\n", "1:3");
    refuses(SVM, "1 3:\n", "1:3");
    refuses(SVM, "1,,2 3:4\n", "1:3");
    refuses(SVM, "1, 3:4\n", "1:3");
    refuses(SVM, "1 2:3\n2 5 3\n", "2:3"); /* an XMC header is the first line */
    refuses(SVM, "1 2:\xFF\n", "1:5");
    refuses_bytes(SVM, "1 2:\0\n", 6, "1:5");
}

/* ---- formats, limits, skipping ----------------------------------------------------------------------------------------- */

static enum ocdm__record_format told(const char *path, const char *text)
{
    ocdm__input input = pipe_of(text, strlen(text), 3);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = OCDM__FORMAT_AUTO};
    assert_int_equal(ocdm__records_begin(&records, &input, path, &options, NULL), OCDM_OK);
    enum ocdm__record_format format = ocdm__records_format(records);
    ocdm__records_close(records);
    return format;
}

static void the_format_is_told_by_extension_then_by_the_first_line(void **state)
{
    (void)state;
    assert_int_equal(told("a.jsonl", "labels"), JSONL);
    assert_int_equal(told("b/c.NDJSON", "x"), JSONL);
    assert_int_equal(told("x.csv", "labels"), CSV);
    assert_int_equal(told("x.tsv", "labels"), TSV);
    assert_int_equal(told("x.Tab", "labels"), TSV);
    assert_int_equal(told("x.svm", "labels"), SVM);
    assert_int_equal(told("x.libsvm", "labels"), SVM);
    assert_int_equal(told(".csv", "{"), JSONL);
    assert_int_equal(told("x.txt", "\n  {\"labels\":[]}"), JSONL);
    assert_int_equal(told(NULL, "id\tlabels\n"), TSV);
    assert_int_equal(told(NULL, "1,2 3:4.5\n"), SVM);
    assert_int_equal(told(NULL, " 3:4.5"), SVM);
    assert_int_equal(told(NULL, "10 20 30\r\n"), SVM);
    assert_int_equal(told(NULL, "labels,x:1\n"), CSV);
    assert_int_equal(told(NULL, "labels\n{\n"), CSV);
    assert_int_equal(told(NULL, ""), OCDM__FORMAT_AUTO);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const ocdm__record_options bad[] = {
        {.format = CSV, .separator = ""},
        {.format = CSV, .separator = ";;"},
        {.format = CSV, .separator = "\xC3"},
        {.format = CSV, .separator = "\""},
        {.format = CSV, .separator = "\n"},
        {.format = SVM, .labels = "x"},
        {.format = SVM, .id = "x"},
        {.format = JSONL, .labels = "a..b"},
        {.format = JSONL, .id = ""},
        {.format = JSONL, .labels = ".a"},
        {.format = CSV, .labels = "labels", .id = "labels"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char found[512];
        read_all(pipe_of("labels\n", 7, 100), &bad[i], found, sizeof found, NULL);
        if (strncmp(found, "1 ", 2) != 0)
            fail_msg("options %zu gave %s", i, found);
    }
}

static void bad_records_are_counted_and_passed_over_when_asked(void **state)
{
    (void)state;
    ocdm__record_options options = {.format = JSONL, .skip_bad = true};
    static const char json[] = "{\"labels\":[\"a\"]}\n{\n{\"labels\":[\"new\",0.5]}\n\n[]\n{\"labels\":[\"b\"]}\nx";
    uint64_t skipped;
    char found[512];
    for (size_t size = 1; size < 20; size++) {
        read_all(pipe_of(json, sizeof json - 1, size), &options, found, sizeof found, &skipped);
        assert_string_equal(found, "{\"labels\":[\"a\"]}||a;{\"labels\":[\"b\"]}||b;");
        assert_int_equal(skipped, 4);
    }
    options.format = CSV;
    static const char csv[] = "labels,x\na,1\n\"b\n\"oops,2\nc\nd,\"4\n5\"\ne,\"6\n7";
    for (size_t size = 1; size < 20; size++) {
        read_all(pipe_of(csv, sizeof csv - 1, size), &options, found, sizeof found, &skipped);
        assert_string_equal(found, "a,1||a;d,\"4~5\"||d;");
        assert_int_equal(skipped, 3);
    }
}

static void a_bad_record_leaves_no_label_behind(void **state)
{
    (void)state;
    static const char text[] = "{\"labels\":[\"ghost\",0.5]}\n{\"labels\":[\"a\"]}\n{\"labels\":[\"phantom\"],\"id\":{}}\n";
    ocdm__input input = pipe_of(text, sizeof text - 1, 1000);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = JSONL, .skip_bad = true};
    ocdm__record record;
    bool found = true;
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    while (found)
        assert_int_equal(ocdm__records_next(records, &record, &found, NULL), OCDM_OK);
    assert_int_equal(ocdm__records_label_table(records)->count, 1);
    assert_string_equal(ocdm__records_first_skipped(records), "in:1:20: a label is a string or a whole number");
    ocdm__records_close(records);
}

static char *labels_text(size_t count, size_t *size)
{
    char *text = malloc(16 + 2 * count);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "{\"labels\":[");
    for (size_t i = 0; i < count; i++) {
        text[used++] = '1';
        text[used++] = ',';
    }
    memcpy(text + used - 1, "]}\n", 4);
    *size = used + 2;
    return text;
}

static void a_record_has_at_most_65535_labels(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t size;
        char *text = labels_text(65535 + extra, &size), found[512];
        ocdm__record_options options = {.format = JSONL};
        read_all(pipe_of(text, size, 1 << 20), &options, found, sizeof found, NULL);
        if (extra)
            assert_string_equal(found, "10 in:1:131082: more than 65535 labels on one record");
        else
            assert_int_equal(strncmp(found, "{\"labels\":[1,1,", 15), 0);
        free(text);
    }
}

/* A line of `length` bytes between two short ones. */
static char *long_line(size_t length, bool quoted, size_t *size)
{
    static const char first[] = "labels\na\n", last[] = "\nb\n";
    *size = sizeof first + sizeof last - 2 + length;
    char *text = malloc(*size);
    assert_non_null(text);
    memset(text, 'x', *size);
    memcpy(text, first, sizeof first - 1);
    memcpy(text + *size - (sizeof last - 1), last, sizeof last - 1);
    if (quoted)
        text[sizeof first - 1] = text[sizeof first - 2 + length] = '"';
    for (size_t i = 100; quoted && i + 100 < length; i += 1 << 20)
        text[sizeof first - 1 + i] = '\n';
    return text;
}

static void a_record_of_64_mib_is_read_and_a_longer_one_is_bad(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t size;
        char *text = long_line(OCDM__MAX_RECORD + extra, false, &size), found[512];
        ocdm__record_options options = {.format = CSV};
        read_all(pipe_of(text, size, 1 << 20), &options, found, sizeof found, NULL);
        if (extra)
            assert_string_equal(found, "10 in:3:67108865: a record of over 64 MiB");
        else
            assert_int_equal(strncmp(found, "a||a;xxxx", 9), 0);
        free(text);
    }
}

/* Also one that has newlines in quotes; what is thrown away never piles up in the window. */
static void too_long_a_record_is_passed_over_in_little_memory(void **state)
{
    (void)state;
    for (int quoted = 0; quoted < 2; quoted++) {
        size_t size, count = 0, widest = 0;
        char *text = long_line(2 * OCDM__MAX_RECORD, quoted, &size);
        ocdm__input input = pipe_of(text, size, 1 << 20);
        ocdm__records *records = NULL;
        ocdm__record_options options = {.format = CSV, .skip_bad = true};
        ocdm__record record = {0};
        bool found = true;
        assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
        for (; found; count += found) {
            assert_int_equal(ocdm__records_next(records, &record, &found, NULL), OCDM_OK);
            widest = records->input.size > widest ? records->input.size : widest;
            if (count == 1 && found)
                assert_int_equal(record.line, quoted ? 132 : 4);
        }
        assert_int_equal(count, 2);
        assert_int_equal(ocdm__records_skipped(records), 1);
        assert_true(widest <= 2 << 20);
        assert_memory_equal(ocdm__records_bytes(records, record.at), "b", 1);
        ocdm__records_close(records);
        free(text);
    }
}

/* A batch that waits for one good record among millions of bad ones and blank lines. */
static void skipped_records_do_not_pile_up_in_the_window(void **state)
{
    (void)state;
    size_t size = 8 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++)
        text[i] = "x\n\n"[i % 3];
    memcpy(text, "{\"labels\":[\"a\"]}\n", 17);
    memcpy(text + size - 17, "\n{\"labels\":[\"b\"]}", 17);
    ocdm__input input = pipe_of(text, size, 1 << 16);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = JSONL, .skip_bad = true};
    ocdm__record first, second;
    bool found;
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    assert_int_equal(ocdm__records_next(records, &first, &found, NULL), OCDM_OK);
    assert_int_equal(ocdm__records_next(records, &second, &found, NULL), OCDM_OK);
    assert_true(found);
    assert_memory_equal(ocdm__records_bytes(records, first.at), "{\"labels\":[\"a\"]}", first.length);
    assert_memory_equal(ocdm__records_bytes(records, second.at), "{\"labels\":[\"b\"]}", second.length);
    assert_true(records->input.capacity < 1 << 20);
    ocdm__records_close(records);
    free(text);
}

static void a_refused_record_is_forgotten_or_ends_the_stream(void **state)
{
    (void)state;
    static const char text[] = "{\"labels\":[\"a\"],\"id\":1}\n{\"labels\":[\"b\"],\"id\":2}\n{\"labels\":[\"c\"],\"id\":3}\n";
    for (int skip = 0; skip < 2; skip++) {
        ocdm__input input = pipe_of(text, sizeof text - 1, 1000);
        ocdm__records *records = NULL;
        ocdm__record_options options = {.format = JSONL, .skip_bad = skip};
        ocdm__record record[3];
        ocdm_error error;
        bool found;
        assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
        assert_int_equal(ocdm__records_next(records, &record[0], &found, NULL), OCDM_OK);
        assert_int_equal(ocdm__records_next(records, &record[1], &found, NULL), OCDM_OK);
        ocdm_status status = ocdm__records_refuse(records, &record[1], "not this one", &error);
        assert_int_equal(status, skip ? OCDM_OK : OCDM_BAD_RECORD);
        if (!skip)
            assert_string_equal(error.message, "in:2:22: not this one");
        assert_int_equal(ocdm__records_skipped(records), skip);
        assert_int_equal(ocdm__records_next(records, &record[2], &found, NULL), OCDM_OK);
        assert_memory_equal(ocdm__records_id(records, &record[0]), "1", 1);
        assert_memory_equal(ocdm__records_id(records, &record[2]), "3", 1);
        assert_int_equal(ocdm__records_labels(records)[record[0].label_at], 0);
        assert_int_equal(ocdm__records_labels(records)[record[2].label_at], 2);
        ocdm__records_close(records);
    }
}

/* The id as JSON has it, to be shown again. */
static void the_shown_id_is_the_text_in_the_record(void **state)
{
    (void)state;
    static const char text[] =
        "{\"id\":\"a\\u0041\",\"labels\":[]}\n{\"labels\":[],\"id\": -7 }\n{\"id\":\"x\",\"labels\":[]}\n";
    static const char *const shown[] = {"\"a\\u0041\"", "-7", "\"x\""};
    ocdm__input input = pipe_of(text, sizeof text - 1, 1000);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = JSONL};
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    for (size_t i = 0; i < 3; i++) {
        ocdm__record record;
        bool found;
        assert_int_equal(ocdm__records_next(records, &record, &found, NULL), OCDM_OK);
        assert_int_equal(record.shown_length, strlen(shown[i]));
        assert_memory_equal(ocdm__records_bytes(records, record.at) + record.shown_at, shown[i], record.shown_length);
    }
    ocdm__records_close(records);
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
        cmocka_unit_test(a_byte_order_mark_is_passed_over_but_counts_in_columns),
        cmocka_unit_test(csv_reads_columns_by_name),
        cmocka_unit_test(csv_follows_the_rules_of_quotes),
        cmocka_unit_test(csv_refuses_broken_records),
        cmocka_unit_test(csv_lists_the_columns_when_one_is_missing),
        cmocka_unit_test(csv_gives_its_header_to_be_printed_again),
        cmocka_unit_test(tsv_has_no_quotes),
        cmocka_unit_test(svm_reads_labels_before_features),
        cmocka_unit_test(svm_refuses_what_is_no_feature),
        cmocka_unit_test(the_format_is_told_by_extension_then_by_the_first_line),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(bad_records_are_counted_and_passed_over_when_asked),
        cmocka_unit_test(a_bad_record_leaves_no_label_behind),
        cmocka_unit_test(a_record_has_at_most_65535_labels),
        cmocka_unit_test(a_record_of_64_mib_is_read_and_a_longer_one_is_bad),
        cmocka_unit_test(too_long_a_record_is_passed_over_in_little_memory),
        cmocka_unit_test(skipped_records_do_not_pile_up_in_the_window),
        cmocka_unit_test(a_refused_record_is_forgotten_or_ends_the_stream),
        cmocka_unit_test(the_shown_id_is_the_text_in_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
