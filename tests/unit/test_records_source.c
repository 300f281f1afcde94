/* Records as a labelled set: what each member does, tasks by another member, and every message with its place. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"

#include "stream/records/source.h"

#define JSONL OCDM__FORMAT_JSONL
#define CSV OCDM__FORMAT_CSV
#define TSV OCDM__FORMAT_TSV
#define SVM OCDM__FORMAT_SVM

static size_t put_text(char *out, size_t used, const ocdm__label_table *table, uint32_t number, const char *after)
{
    size_t length;
    const char *text = ocdm__label_table_text(table, number, &length);
    memcpy(out + used, text, length);
    return used + length + (size_t)sprintf(out + used + length, "%s", after);
}

/* A sample as "id[label,label]task part row path;", - for what is not there. */
static size_t describe(const ocdm__labelled_set *set, uint32_t i, char *out, size_t used)
{
    used = put_text(out, used, &set->ids, i, "[");
    for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
        used = put_text(out, used, &set->classes, set->labels[j], j + 1 < set->label_starts[i + 1] ? "," : "");
    used += (size_t)(set->tasks[i] == OCDM__NO_TASK ? sprintf(out + used, "]- ") : sprintf(out + used, "]%u ", set->tasks[i]));
    used += (size_t)sprintf(out + used, "%c ", "rt-"[set->parts[i]]);
    used += (size_t)(set->rows[i] == OCDM__NO_ROW ? sprintf(out + used, "- ")
                                                  : sprintf(out + used, "%llu ", (unsigned long long)set->rows[i]));
    if (set->path_numbers[i] == UINT32_MAX)
        return used + (size_t)sprintf(out + used, "-;");
    return put_text(out, used, &set->paths, set->path_numbers[i], ";");
}

/* The rows of the samples that were read last. */
static uint64_t numbers[64];
static size_t number_count;

/* What is read of a text, or the message. */
static const char *read_as(ocdm__records_source *source, enum ocdm__record_format format, const char *text,
                           ocdm__reading *reading)
{
    static char out[8192];
    ocdm__labelled_set set = {.count = 0};
    ocdm_error error;
    size_t used = 0;
    source->options.format = format;
    assert_int_equal(write_whole("r", (const unsigned char *)text, strlen(text)), 0);
    out[0] = '\0';
    ocdm_status status = ocdm__records_source_read(&set, "r", source, reading, &error);
    if (status != OCDM_OK) {
        assert_int_equal(error.status, status);
        strcpy(out, error.message);
    }
    for (uint32_t i = 0; status == OCDM_OK && i < set.count; i++)
        used = describe(&set, i, out, used);
    number_count = set.count;
    for (size_t i = 0; i < set.count && i < 64; i++)
        numbers[i] = set.numbers[i];
    ocdm__labelled_set_clear(&set);
    return out;
}

static const char *strictly(enum ocdm__record_format format, const char *text)
{
    ocdm__records_source source = {.tasks_by = NULL};
    ocdm__reading reading = {.skip_bad = false};
    const char *out = read_as(&source, format, text, &reading);
    ocdm__records_source_clear(&source);
    return out;
}

/* With tasks by the member or column "by"; the names of the tasks go before the samples. */
static const char *by_member(enum ocdm__record_format format, const char *text)
{
    static char out[8192];
    ocdm__records_source source = {.tasks_by = "by"};
    ocdm__reading reading = {.skip_bad = false};
    const char *samples = read_as(&source, format, text, &reading);
    size_t used = 0;
    for (uint32_t i = 0; i < source.task_names.count; i++)
        used = put_text(out, used, &source.task_names, i, "|");
    strcpy(out + used, samples);
    ocdm__records_source_clear(&source);
    return out;
}

TEST(source_reads_all_members_of_json)
{
    assert_string_equal(
        strictly(JSONL, "{\"id\":7,\"labels\":[\"b\",\"a\"],\"task\":3,\"split\":\"train\",\"image\":\"x/1.jpg\",\"row\":12}\n"
                        "{\"labels\":[\"a\",2,\"a\"],\"split\":\"test\",\"meta\":{\"task\":\"x\",\"row\":-1}}\n\n"
                        "{\"id\":\"q\",\"labels\":[],\"image\":\"\\u0061\\/..b/...\",\"task\":4294967294}\n"),
        "7[b,a]3 r 12 x/1.jpg;1[a,2]- t - -;q[]4294967294 - - a/..b/...;");
    assert_string_equal(strictly(JSONL, ""), "");
}

TEST(source_reads_all_columns_of_csv_and_tsv)
{
    assert_string_equal(strictly(CSV, "row,\"im\"\"age\",image,id,split,labels,task\r\n"
                                      "5,x,\"a \"\"b\"\", c.jpg\",i,train,b;a,2\r\n,,\"\",j,,a,\n"),
                        "i[b,a]2 r 5 a \"b\", c.jpg;j[a]- - - -;");
    assert_string_equal(strictly(TSV, "labels\ttask\tsplit\timage\na;b\t1\ttest\t\"x\"\n\t0\t\t\n"),
                        "0[a,b]1 t - \"x\";1[]0 - - -;");
    assert_string_equal(strictly(CSV, "labels\na\nb;a\n"), "0[a]- - - -;1[a,b]- - - -;");
}

TEST(source_reads_labels_of_svm)
{
    assert_string_equal(strictly(SVM, "2 9 9\n1,5 0:1\n\n5 2:1\n"), "0[1,5]- - - -;1[5]- - - -;");
}

/* ---- tasks by a member ---------------------------------------------------------------------------------------------- */

TEST(source_sorts_tasks_numerically_when_all_are_numbers)
{
    assert_string_equal(by_member(JSONL, "{\"labels\":[],\"by\":10,\"task\":\"x\"}\n{\"labels\":[],\"by\":9}\n"
                                         "{\"labels\":[],\"by\":\"-2.5\"}\n{\"labels\":[],\"by\":\"9\"}\n"),
                        "-2.5|9|10|0[]2 - - -;1[]1 - - -;2[]0 - - -;3[]1 - - -;");
    assert_string_equal(by_member(CSV, "labels,by\na,2001\nb,1999\n"), "1999|2001|0[a]1 - - -;1[b]0 - - -;");
}

TEST(source_sorts_tasks_bytewise_when_one_is_no_number)
{
    assert_string_equal(by_member(JSONL,
                                  "{\"labels\":[],\"by\":10}\n{\"labels\":[],\"by\":9}\n{\"labels\":[],\"by\":\"\\u00e9\"}\n"
                                  "{\"labels\":[],\"by\":\"\"}\n"),
                        "|10|9|\xC3\xA9|0[]1 - - -;1[]2 - - -;2[]3 - - -;3[]0 - - -;");
    assert_string_equal(by_member(TSV, "labels\tby\na\tz\nb\ta b\n"), "a b|z|0[a]1 - - -;1[b]0 - - -;");
}

TEST(source_refuses_records_without_a_task_to_sort_by)
{
    assert_string_equal(by_member(JSONL, "{\"labels\":[]}"), "r:1:1: the record has no value of \"by\"");
    assert_string_equal(by_member(CSV, "labels,by\na,\n"), "r:2:1: the record has no value of \"by\"");
    assert_string_equal(by_member(CSV, "labels,task\na,1\n"), "r:1:1: no column named \"by\"");
    assert_string_equal(by_member(JSONL, "{\"labels\":[],\"by\":null}"), "r:1:19: \"by\" must be a string or a number");
    assert_string_equal(by_member(JSONL, "{\"labels\":[],\"by\":[1]}"), "r:1:19: \"by\" must be a string or a number");
    assert_string_equal(by_member(SVM, "1 1:1\n"), "`--tasks-by` does not apply to the format svm");
}

TEST(source_takes_at_most_65536_tasks)
{
    size_t room = 65537 * 12 + 100, used = 0;
    char *text = malloc(room);
    assert_non_null(text);
    used = (size_t)sprintf(text, "labels,by\n");
    for (int i = 0; i < 65537; i++)
        used += (size_t)sprintf(text + used, "a,%d\n", i);
    ocdm__records_source source = {.tasks_by = "by", .options = {.format = CSV}};
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_error error;
    assert_int_equal(write_whole("r", (const unsigned char *)text, used), 0);
    assert_int_equal(ocdm__records_source_read(&set, "r", &source, &reading, &error), OCDM_LIMIT);
    assert_string_equal(error.message, "r: \"by\" has more than 65536 values");
    ocdm__records_source_clear(&source);
    ocdm__labelled_set_clear(&set);
    free(text);
}

/* ---- bad records ---------------------------------------------------------------------------------------------------- */

TEST(source_refuses_members_with_line_and_column)
{
    static const struct {
        const char *member, *message;
    } cases[] = {
        {"\"task\":\"1\"", "22: \"task\" must be a whole number from 0"},
        {"\"task\":-1", "21: \"task\" must be a whole number from 0"},
        {"\"task\":1.0", "21: \"task\" must be a whole number from 0"},
        {"\"task\":4294967295", "1: \"task\" must be below 4294967295"},
        {"\"task\":1,\"task\":1", "24: \"task\" occurs twice"},
        {"\"split\":\"val\"", "23: \"split\" must be \"train\" or \"test\""},
        {"\"split\":1", "22: \"split\" must be \"train\" or \"test\""},
        {"\"row\":-1", "20: \"row\" must be a whole number from 0"},
        {"\"row\":\"1\"", "21: \"row\" must be a whole number from 0"},
        {"\"row\":18446744073709551616", "20: \"row\" must be a whole number from 0"},
        {"\"row\":18446744073709551615", "1: \"row\" is too large"},
        {"\"image\":5", "22: \"image\" must be the path of a file"},
        {"\"image\":\"\"", "23: \"image\" must be the path of a file"},
        {"\"image\":\"/etc/passwd\"", "23: \"image\" must be a path relative to the folder of images"},
        {"\"image\":\"\\/etc\"", "23: \"image\" must be a path relative to the folder of images"},
        {"\"image\":\"..\"", "23: \"image\" must not lead out of its folder with .."},
        {"\"image\":\"a/../../b\"", "23: \"image\" must not lead out of its folder with .."},
        {"\"image\":\"a/\\u002e.\"", "23: \"image\" must not lead out of its folder with .."},
        {"\"image\":\"a\\u0000b\"", "23: \"image\" is too long a path, or has control characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], wanted[200];
        snprintf(text, sizeof text, "{\"labels\":[]}\n{\"labels\":[],%s}\n", cases[i].member);
        snprintf(wanted, sizeof wanted, "r:2:%s", cases[i].message);
        assert_string_equal(strictly(JSONL, text), wanted);
    }
}

TEST(source_refuses_columns_with_line_and_column)
{
    assert_string_equal(strictly(CSV, "labels,task\na,1\n\"b\nc\",x\n"), "r:4:4: \"task\" must be a whole number from 0");
    assert_string_equal(strictly(CSV, "labels,split\na,Train\n"), "r:2:3: \"split\" must be \"train\" or \"test\"");
    assert_string_equal(strictly(TSV, "image\tlabels\n../x\ta\n"), "r:2:1: \"image\" must not lead out of its folder with ..");
    assert_string_equal(strictly(CSV, "labels,row,row\na,1,2\n"), "r:1:1: two columns named \"row\"");
    assert_string_equal(strictly(CSV, "labels\na,b\n"), "r:2:1: 2 fields where the header has 1");
}

TEST(source_refuses_paths_that_are_too_long)
{
    for (int escaped = 0; escaped < 2; escaped++)
        for (size_t length = 4095; length <= 4096; length++) {
            static char text[30000];
            size_t used = (size_t)sprintf(text, "{\"labels\":[],\"image\":\"");
            for (size_t i = 0; i < length; i++)
                used += (size_t)sprintf(text + used, "%s", escaped ? "\\u0061" : "a");
            sprintf(text + used, "\"}");
            const char *found = strictly(JSONL, text);
            if (length == 4095)
                assert_int_equal(strncmp(found, "0[]- - - aaaa", 13), 0);
            else
                assert_string_equal(found, "r:1:23: \"image\" is too long a path, or has control characters");
        }
}

TEST(source_refuses_an_id_that_is_there_already)
{
    assert_string_equal(strictly(JSONL, "{\"labels\":[],\"id\":5}\n{\"labels\":[],\"id\":\"5\"}\n"),
                        "r:2:19: the id \"5\" was used before");
    assert_string_equal(strictly(JSONL, "{\"labels\":[],\"id\":1}\n{\"labels\":[]}\n"), "r:2:1: the id \"1\" was used before");
    assert_string_equal(strictly(CSV, "id,labels\nx,a\nx,b\n"), "r:3:1: the id \"x\" was used before");
}

TEST(source_tells_equal_ids_apart_when_records_have_rows)
{
    assert_string_equal(strictly(JSONL, "{\"labels\":[\"a\"],\"id\":5,\"row\":0}\n{\"labels\":[\"b\"],\"id\":5,\"row\":1}\n"),
                        "5[a]- - 0 -;5#1[b]- - 1 -;");
}

/* What is skipped leaves no class behind, has its number all the same, and is counted by reason. */
TEST(source_skips_and_counts_bad_records_when_asked)
{
    ocdm__records_source source = {.tasks_by = "by"};
    ocdm__reading reading = {.skip_bad = true};
    static const char text[] = "{\"labels\":[\"ghost\"],\"by\":\"zero\"\n"
                               "{\"labels\":[\"a\"],\"id\":1,\"by\":\"y\"}\n"
                               "{\"labels\":[\"b\"],\"id\":1,\"by\":\"w\"}\n"
                               "{\"labels\":[\"c\"],\"image\":\"..\",\"by\":\"v\"}\n"
                               "{\n"
                               "{\"labels\":[\"d\",\"a\"],\"by\":\"x\"}\n"
                               "{\"labels\":[\"e\"]}\n";
    assert_string_equal(read_as(&source, JSONL, text, &reading), "1[a]1 - - -;5[a,d]0 - - -;");
    assert_int_equal(source.task_names.count, 2);
    assert_int_equal(number_count, 2);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[1], 5);
    assert_int_equal(reading.skip_count, 3);
    assert_string_equal(reading.skips[0].reason, "records that cannot be read");
    assert_int_equal(reading.skips[0].count, 2);
    assert_string_equal(reading.skips[0].first, "r:1:32: broken JSON: the text ends too early");
    assert_string_equal(reading.skips[1].reason, "records whose id was used before");
    assert_string_equal(reading.skips[1].first, "r:3:22");
    assert_int_equal(reading.skips[1].count, 1);
    assert_string_equal(reading.skips[2].reason, "records with a bad task, split, image or row");
    assert_string_equal(reading.skips[2].first, "r:4:26");
    assert_int_equal(reading.skips[2].count, 2);
    ocdm__records_source_clear(&source);
}

/* ---- several files, progress ---------------------------------------------------------------------------------------- */

TEST(source_adds_to_a_set_that_has_samples)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    char out[200];
    static const char *const texts[] = {"{\"id\":\"x\",\"labels\":[\"a\",\"b\"],\"by\":1}\n",
                                        "{\"id\":\"y\",\"labels\":[\"c\",\"b\",\"a\"],\"by\":7}\n"};
    for (size_t i = 0; i < 2; i++) {
        ocdm__records_source source = {.options = {.format = JSONL}, .tasks_by = "by"};
        assert_int_equal(write_whole("r", (const unsigned char *)texts[i], strlen(texts[i])), 0);
        assert_int_equal(ocdm__records_source_read(&set, "r", &source, &reading, NULL), OCDM_OK);
        assert_int_equal(set.numbers[i], i);
        ocdm__records_source_clear(&source);
    }
    describe(&set, 1, out, describe(&set, 0, out, 0));
    assert_string_equal(out, "x[a,b]0 - - -;y[a,b,c]0 - - -;");
    ocdm__labelled_set_clear(&set);
}

static void note_total(void *last, const char *what, uint64_t done, uint64_t total)
{
    assert_string_equal(what, "reading records");
    assert_true(done <= total);
    *(uint64_t *)last = done;
}

TEST(source_tells_progress_and_stops_when_a_signal_came)
{
    uint64_t last = 0;
    volatile sig_atomic_t stop = 0;
    ocdm__progress progress = {.tell = note_total, .state = &last, .stop = &stop};
    ocdm__reading reading = {.progress = &progress};
    ocdm__records_source source = {.tasks_by = NULL};
    assert_string_equal(read_as(&source, CSV, "labels\na\n", &reading), "0[a]- - - -;");
    assert_int_equal(last, 9);
    stop = 1;
    assert_string_equal(read_as(&source, JSONL, "{\"labels\":[]}\n", &reading), "stopped while reading records");
    ocdm__records_source_clear(&source);
}

TEST(source_tells_when_the_file_is_not_there)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__records_source source = {.tasks_by = NULL};
    ocdm__reading reading = {.skip_bad = true};
    ocdm_error error;
    assert_int_equal(ocdm__records_source_read(&set, "none.jsonl", &source, &reading, &error), OCDM_IO);
    assert_string_equal(error.message, "cannot open none.jsonl: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_reads_all_members_of_json),
        cmocka_unit_test(source_reads_all_columns_of_csv_and_tsv),
        cmocka_unit_test(source_reads_labels_of_svm),
        cmocka_unit_test(source_sorts_tasks_numerically_when_all_are_numbers),
        cmocka_unit_test(source_sorts_tasks_bytewise_when_one_is_no_number),
        cmocka_unit_test(source_refuses_records_without_a_task_to_sort_by),
        cmocka_unit_test(source_takes_at_most_65536_tasks),
        cmocka_unit_test(source_refuses_members_with_line_and_column),
        cmocka_unit_test(source_refuses_columns_with_line_and_column),
        cmocka_unit_test(source_refuses_paths_that_are_too_long),
        cmocka_unit_test(source_refuses_an_id_that_is_there_already),
        cmocka_unit_test(source_tells_equal_ids_apart_when_records_have_rows),
        cmocka_unit_test(source_skips_and_counts_bad_records_when_asked),
        cmocka_unit_test(source_adds_to_a_set_that_has_samples),
        cmocka_unit_test(source_tells_progress_and_stops_when_a_signal_came),
        cmocka_unit_test(source_tells_when_the_file_is_not_there),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
