/* The record readers: recognising formats, limits, and skipping bad records in little memory. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "record_text.h"

static enum ocdm__record_format told(const char *path, const char *text)
{
    ocdm__input input = pipe_of(text, strlen(text), 3);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = OCDM__FORMAT_AUTO};
    assert_int_equal(ocdm__records_begin(&records, &input, path, &options, NULL), OCDM_OK);
    enum ocdm__record_format format = records->format;
    ocdm__records_close(records);
    return format;
}

TEST(records_format_is_told_by_extension_then_by_the_first_line)
{
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

TEST(records_refuse_options_that_make_no_sense)
{
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

TEST(records_skip_and_count_bad_ones_when_asked)
{
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
        assert_int_equal(skipped, 5); /* after a broken record, the line after its first is the next */
    }
}

TEST(records_leave_no_label_behind_when_bad)
{
    static const char text[] = "{\"labels\":[\"ghost\",0.5]}\n{\"labels\":[\"a\"]}\n{\"labels\":[\"phantom\"],\"id\":{}}\n";
    ocdm__input input = pipe_of(text, sizeof text - 1, 1000);
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = JSONL, .skip_bad = true};
    ocdm__record record;
    bool found = true;
    assert_int_equal(ocdm__records_begin(&records, &input, NULL, &options, NULL), OCDM_OK);
    while (found)
        assert_int_equal(ocdm__records_next(records, &record, &found, NULL), OCDM_OK);
    assert_int_equal(records->table.count, 1);
    assert_string_equal(records->first_skipped.message, "in:1:20: a label is a string or a whole number");
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

TEST(records_have_at_most_65535_labels)
{
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

TEST(records_are_read_up_to_64_mib_and_bad_beyond)
{
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
TEST(records_are_passed_over_in_little_memory_when_too_long)
{
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
                assert_int_equal(record.line, 4);
        }
        /* Over a stray quote that makes one record of the rest of a file, only its first line is lost. */
        assert_int_equal(count, quoted ? 132 - 2 : 2);
        assert_int_equal(records->skipped, 1);
        assert_true(quoted || widest <= 2 << 20);
        assert_memory_equal(ocdm__records_bytes(records, record.at), "b", 1);
        ocdm__records_close(records);
        free(text);
    }
}

/* A batch that waits for one good record among millions of bad ones and blank lines. */
TEST(records_do_not_pile_up_in_the_window_when_skipped)
{
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

TEST(records_are_forgotten_or_end_the_stream_when_refused)
{
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
        ocdm_status status = ocdm__records_refuse(records, &record[1], "not this one", NULL, false, &error);
        assert_int_equal(status, skip ? OCDM_OK : OCDM_BAD_RECORD);
        if (!skip)
            assert_string_equal(error.message, "in:2:22: not this one");
        assert_int_equal(records->skipped, skip);
        assert_int_equal(ocdm__records_next(records, &record[2], &found, NULL), OCDM_OK);
        assert_memory_equal(ocdm__records_id(records, &record[0]), "1", 1);
        assert_memory_equal(ocdm__records_id(records, &record[2]), "3", 1);
        assert_int_equal(records->numbers[record[0].label_at], 0);
        assert_int_equal(records->numbers[record[2].label_at], 2);
        ocdm__records_close(records);
    }
}

/* The id as in the JSON text, for output. */
TEST(records_show_ids_as_the_text_has_them)
{
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
        cmocka_unit_test(records_format_is_told_by_extension_then_by_the_first_line),
        cmocka_unit_test(records_refuse_options_that_make_no_sense),
        cmocka_unit_test(records_skip_and_count_bad_ones_when_asked),
        cmocka_unit_test(records_leave_no_label_behind_when_bad),
        cmocka_unit_test(records_have_at_most_65535_labels),
        cmocka_unit_test(records_are_read_up_to_64_mib_and_bad_beyond),
        cmocka_unit_test(records_are_passed_over_in_little_memory_when_too_long),
        cmocka_unit_test(records_do_not_pile_up_in_the_window_when_skipped),
        cmocka_unit_test(records_are_forgotten_or_end_the_stream_when_refused),
        cmocka_unit_test(records_show_ids_as_the_text_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
