/* From a labelled set to the tables of a stream: the order of classes, what is chosen, tasks by class, features. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/bytes.h"
#include "experiment/loop/schedule.h"
#include "stream/build.h"
#include "stream/features.h"
#include "stream/recipes/recipes.h"
#include "stream/selection.h"

/* ---- a set in one line: "id:label,label id:label ..." ----------------------------------------------------------------- */

static uint32_t number_of(ocdm__labelled_set *set, const char *text, size_t length)
{
    char padded[64] = "";
    uint32_t number;
    ocdm_error error;
    memcpy(padded, text, length);
    assert_int_equal(ocdm__label_table_add(&set->classes, padded, length, &number, &error), OCDM_OK);
    return number;
}

static void add_sample(ocdm__labelled_set *set, const char *text, size_t length, uint32_t task, enum ocdm__part part)
{
    uint32_t labels[16];
    char id[64] = "";
    ocdm_error error;
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    size_t at = strcspn(text, ":");
    memcpy(id, text, at);
    sample.id = id, sample.id_length = at++, sample.labels = labels, sample.task = task, sample.part = part;
    while (at < length) {
        size_t end = at + strcspn(text + at, ", ");
        labels[sample.label_count++] = number_of(set, text + at, end - at);
        at = end + 1;
    }
    assert_int_equal(ocdm__labelled_set_add(set, &sample, &error), OCDM_OK);
}

static void make_set(ocdm__labelled_set *set, const char *text)
{
    *set = (ocdm__labelled_set){.count = 0};
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        add_sample(set, text, length, OCDM__NO_TASK, OCDM__NO_PART);
        text += length + (text[length] == ' ');
    }
}

/* ---- the set itself --------------------------------------------------------------------------------------------------- */

TEST(labelled_set_sorts_labels_and_drops_repeats)
{
    ocdm__labelled_set set;
    make_set(&set, "a:x,y,z b:z,x,z,x c:");
    assert_int_equal(set.count, 3);
    assert_int_equal(set.label_starts[3], 5);
    assert_int_equal(set.labels[3], 0);
    assert_int_equal(set.labels[4], 2);
    ocdm__labelled_set_clear(&set);
}

TEST(labelled_set_refuses_an_id_twice_and_stays_as_it_was)
{
    ocdm__labelled_set set;
    ocdm_error error;
    char id[64] = "a";
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id, sample.id_length = 1;
    make_set(&set, "a:x b:y");
    assert_int_equal(ocdm__labelled_set_add(&set, &sample, &error), OCDM_DUPLICATE_ID);
    assert_int_equal(set.count, 2);
    ocdm__labelled_set_clear(&set);
}

TEST(reading_counts_what_is_left_out_by_reason)
{
    ocdm__reading reading = {.skip_count = 0};
    ocdm__reading_skip(&reading, "this", "f:1");
    ocdm__reading_skip(&reading, "that", NULL);
    ocdm__reading_skip(&reading, "this", "f:9");
    assert_int_equal(reading.skip_count, 2);
    assert_int_equal(reading.skips[0].count, 2);
    assert_string_equal(reading.skips[0].first, "f:1");
    assert_int_equal(reading.skips[1].count, 1);
}

/* ---- classes ---------------------------------------------------------------------------------------------------------- */

TEST(columns_are_sorted_bytewise_without_a_file)
{
    ocdm__labelled_set set;
    ocdm__class_columns columns = {.count = 0};
    ocdm_error error;
    make_set(&set, "1:b,Zoo 2:a,b,10 3:9");
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, NULL, NULL, &error), OCDM_OK);
    assert_int_equal(columns.count, 5);
    assert_memory_equal(columns.names.bytes, "109Zooab", 8);
    assert_int_equal(columns.of[0], 4);
    assert_int_equal(columns.of[1], 2);
    ocdm__class_columns_clear(&columns);
    ocdm__labelled_set_clear(&set);
}

TEST(columns_follow_a_file_and_leave_other_labels_out)
{
    ocdm__labelled_set set;
    ocdm__class_columns columns = {.count = 0};
    ocdm_error error;
    make_set(&set, "1:b,c 2:a");
    write_whole("classes", (const unsigned char *)"unseen\r\nb\n\na", 12);
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, "classes", NULL, &error), OCDM_OK);
    assert_int_equal(columns.count, 3);
    assert_memory_equal(columns.names.bytes, "unseenba", 8);
    assert_int_equal(columns.of[0], 1);
    assert_int_equal(columns.of[1], UINT32_MAX);
    assert_int_equal(columns.of[2], 2);
    ocdm__class_columns_clear(&columns);
    ocdm__labelled_set_clear(&set);
}

TEST(columns_refuse_a_class_twice_an_empty_file_and_no_file)
{
    ocdm__labelled_set set;
    ocdm__class_columns columns = {.count = 0};
    ocdm_error error;
    make_set(&set, "1:b");
    write_whole("twice", (const unsigned char *)"b\nc\nb\n", 6);
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, "twice", NULL, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "twice:3: the class \"b\" occurs twice");
    write_whole("none", (const unsigned char *)"\n\n", 2);
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, "none", NULL, &error), OCDM_BAD_RECORD);
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, "nowhere", NULL, &error), OCDM_IO);
    ocdm__class_columns_clear(&columns);
    ocdm__labelled_set_clear(&set);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

TEST(table_has_columns_instead_of_labels)
{
    ocdm__labelled_set set;
    ocdm__selection selection = {.count = 0};
    ocdm__class_columns columns = {.count = 0};
    ocdm__stream_table table;
    ocdm_error error;
    make_set(&set, "10:z,a 11: 12:m,z");
    assert_int_equal(ocdm__select_all(&selection, &set, &error), OCDM_OK);
    assert_int_equal(ocdm__class_columns_make(&columns, &set.classes, NULL, NULL, &error), OCDM_OK);
    assert_int_equal(ocdm__stream_table_make(&table, &set, &selection, &columns, &error), OCDM_OK);
    const uint64_t starts[] = {0, 2, 2, 4};
    const uint32_t labels[] = {0, 2, 1, 2};
    assert_memory_equal(table.label_starts, starts, sizeof starts);
    assert_memory_equal(table.labels, labels, sizeof labels);
    assert_memory_equal(table.ids.bytes, "101112", 6);
    assert_int_equal(table.tasks[2], 0);
    assert_int_equal(table.parts[2], OCDM__TRAIN);
    ocdm__stream_table_clear(&table);
    ocdm__class_columns_clear(&columns);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
}

TEST(selection_refuses_a_task_on_some_samples_only)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__selection selection = {.count = 0};
    ocdm_error error;
    add_sample(&set, "1:a", 3, 0, OCDM__TRAIN);
    add_sample(&set, "2:a", 3, OCDM__NO_TASK, OCDM__TRAIN);
    assert_int_equal(ocdm__select_all(&selection, &set, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "sample 1 (id 2) has no task, unlike the first sample");
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
}

/* ---- split ------------------------------------------------------------------------------------------------------------ */

TEST(split_takes_the_task_with_most_labels)
{
    ocdm__labelled_set set;
    ocdm__selection selection = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    make_set(&set, "1:a,b,c 2:c 3:a,c 4:d 5:b,c,e");
    const uint32_t tasks[] = {0, 0, 1, OCDM__NO_TASK, 1}; /* a b c d e */
    ocdm__build_settings settings = {.drop_mixed = false};
    const struct ocdm__recipe_job job = {.selection = &selection, .set = &set, .settings = &settings, .reading = &reading};
    assert_int_equal(ocdm__select_split(&job, tasks), OCDM_OK);
    assert_int_equal(selection.count, 4);
    assert_int_equal(selection.chosen[0].task, 0);
    assert_int_equal(selection.chosen[1].task, 1);
    assert_int_equal(selection.chosen[2].task, 0); /* one each: the lower number */
    assert_int_equal(selection.chosen[3].task, 1);
    assert_int_equal(reading.skip_count, 2);
    assert_string_equal(reading.skips[0].reason, "samples without a label of any task");
    assert_int_equal(reading.skips[0].count, 1);
    assert_string_equal(reading.skips[1].reason, "samples' labels of other tasks");
    assert_int_equal(reading.skips[1].count, 3);
    assert_int_equal(selection.kept_classes[3], 0);
    ocdm__selection_clear(&selection);
    settings.drop_mixed = true;
    assert_int_equal(ocdm__select_split(&job, tasks), OCDM_OK);
    assert_int_equal(selection.count, 1);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
}

static size_t tests_of_share(double share, uint64_t seed)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__selection selection = {.count = 0};
    ocdm__reading reading = {.skip_bad = false};
    size_t tests = 0;
    for (int i = 0; i < 2000; i++) {
        char text[32];
        add_sample(&set, text, (size_t)snprintf(text, sizeof text, "%d:a", i), 0, OCDM__NO_PART);
    }
    ocdm__build_settings settings = {.test_share = share, .seed = seed};
    const struct ocdm__recipe_job job = {.selection = &selection, .set = &set, .settings = &settings, .reading = &reading};
    assert_int_equal(ocdm__select_split(&job, NULL), OCDM_OK);
    for (size_t i = 0; i < selection.count; i++)
        tests += selection.chosen[i].part == OCDM__TEST;
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
    return tests;
}

/* Class b is of task 1, which has no sample; task 3 has no class either and is nothing that could leave. */
TEST(selection_closes_the_gap_of_a_task_without_samples)
{
    ocdm__chosen chosen[] = {{0, 4, OCDM__TRAIN}, {1, 0, OCDM__TRAIN}, {2, 2, OCDM__TEST}};
    uint32_t class_tasks[] = {0, 1, 2, 4, OCDM__NO_TASK};
    uint8_t kept[] = {1, 1, 0, 1, 0};
    ocdm__selection selection = {.count = 3, .chosen = chosen, .class_tasks = class_tasks, .kept_classes = kept};
    size_t left = 9;
    ocdm_error error;
    assert_int_equal(ocdm__selection_close_gaps(&selection, 5, &left, &error), OCDM_OK);
    assert_int_equal(left, 1);
    assert_true(chosen[0].task == 2 && chosen[1].task == 0 && chosen[2].task == 1);
    assert_memory_equal(class_tasks, ((uint32_t[]){0, OCDM__NO_TASK, 1, 2, OCDM__NO_TASK}), sizeof class_tasks);
    assert_memory_equal(kept, ((uint8_t[]){1, 0, 0, 1, 0}), sizeof kept);
    assert_int_equal(ocdm__selection_close_gaps(&selection, 5, &left, &error), OCDM_OK);
    assert_int_equal(left, 0);
}

TEST(split_draws_a_test_part_by_its_share)
{
    assert_int_equal(tests_of_share(0, 1), 0);
    assert_int_equal(tests_of_share(1, 1), 2000);
    assert_in_range(tests_of_share(0.1, 1), 140, 260); /* 200, more than four deviations either way */
    assert_int_equal(tests_of_share(0.1, 7), tests_of_share(0.1, 7));
}

/* ---- order ------------------------------------------------------------------------------------------------------------ */

static ocdm__stream_table table_of_tasks(uint32_t *tasks, uint8_t *parts, size_t count)
{
    return (ocdm__stream_table){.sample_count = count, .tasks = tasks, .parts = parts};
}

TEST(order_moves_whole_tasks_and_nothing_inside_them)
{
    uint32_t tasks[90];
    uint8_t parts[90];
    for (uint32_t i = 0; i < 90; i++)
        tasks[i] = i % 3, parts[i] = i >= 75;
    ocdm__stream_table table = table_of_tasks(tasks, parts, 90);
    ocdm__stream_order plain, moved, other;
    const uint64_t wanted[] = {2, 0, 1};
    ocdm_error error;
    assert_int_equal(ocdm__stream_order_make(&plain, &table, OCDM__TRAIN, NULL, 0, 5, &error), OCDM_OK);
    assert_int_equal(ocdm__stream_order_make(&moved, &table, OCDM__TRAIN, wanted, 3, 5, &error), OCDM_OK);
    assert_int_equal(ocdm__stream_order_make(&other, &table, OCDM__TRAIN, NULL, 0, 6, &error), OCDM_OK);
    assert_int_equal(plain.count, 75);
    assert_int_equal(plain.ends[0], 25);
    assert_memory_equal(moved.samples, plain.samples + 50, 25 * sizeof *plain.samples);
    assert_memory_equal(moved.samples + 25, plain.samples, 50 * sizeof *plain.samples);
    assert_memory_not_equal(other.samples, plain.samples, 75 * sizeof *plain.samples);
    bool met[90] = {false};
    for (size_t i = 0; i < 75; i++) {
        assert_int_equal(tasks[plain.samples[i]], i / 25);
        assert_false(met[plain.samples[i]]);
        met[plain.samples[i]] = true;
    }
    ocdm__stream_order_clear(&plain);
    ocdm__stream_order_clear(&moved);
    ocdm__stream_order_clear(&other);
}

TEST(order_refuses_tasks_that_are_missing_twice_or_unknown)
{
    uint32_t tasks[] = {0, 1, 2};
    uint8_t parts[] = {0, 0, 0};
    ocdm__stream_table table = table_of_tasks(tasks, parts, 3);
    static const uint64_t wrong[][3] = {{0, 1, 3}, {0, 1, 1}, {0, 1, UINT64_MAX}};
    ocdm__stream_order order;
    ocdm_error error;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ocdm__stream_order_make(&order, &table, OCDM__TRAIN, wrong[i], 3, 0, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__stream_order_make(&order, &table, OCDM__TRAIN, wrong[0], 2, 0, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "the order names 2 tasks, the stream has 3");
}

/* ---- features --------------------------------------------------------------------------------------------------------- */

static const float made_rows[4][3] = {{1, 5, 2}, {3, 5, 4}, {100, 5, 100}, {5, 6, 0}};

static ocdm_status read_made(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    (void)rows, (void)error;
    memcpy(out, made_rows[row], sizeof made_rows[row]);
    return OCDM_OK;
}

static ocdm_status read_first(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    (void)rows, (void)error;
    out[0] = made_rows[row][0];
    return OCDM_OK;
}

static ocdm_status read_large(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    (void)rows, (void)row, (void)error;
    out[0] = 70000;
    return OCDM_OK;
}

static void keep_made(ocdm__feature_rows *rows)
{
    (void)rows;
}

/* Rows 0, 1 and 3 are training samples but the third of them, 2, is a test sample: its 100 must not count. */
TEST(features_are_standardized_by_the_training_part)
{
    ocdm__feature_rows rows = {.count = 4, .width = 3, .read = read_made, .close = keep_made};
    ocdm__chosen chosen[] = {{0, 0, OCDM__TRAIN}, {1, 0, OCDM__TRAIN}, {2, 0, OCDM__TEST}};
    ocdm__selection selection = {.count = 3, .chosen = chosen};
    ocdm__feature_payload payload;
    ocdm_error error;
    float out[9];
    assert_int_equal(ocdm__feature_payload_open(&payload, &rows, &selection, OCDM__F32, OCDM__BY_ALL, NULL, &error), OCDM_OK);
    assert_int_equal(payload.source.fill(payload.source.state, 0, 3, (unsigned char *)out, &error), OCDM_OK);
    const float expected[9] = {-1, 0, -1, 1, 0, 1, 98, 0, 97};
    for (size_t i = 0; i < 9; i++)
        assert_true(out[i] == expected[i]);
    ocdm__feature_payload_close(&payload);
}

/* Task 3 is the first that has a training sample; what comes later, and its own test sample, must not count. */
TEST(features_are_standardized_by_the_first_task)
{
    ocdm__feature_rows rows = {.count = 4, .width = 3, .read = read_made, .close = keep_made};
    ocdm__chosen chosen[] = {
        {2, 5, OCDM__TRAIN}, {2, 0, OCDM__TEST}, {0, 3, OCDM__TRAIN}, {1, 3, OCDM__TRAIN}, {2, 3, OCDM__TEST}};
    ocdm__selection selection = {.count = 5, .chosen = chosen};
    ocdm__feature_payload payload;
    ocdm_error error;
    float out[15];
    assert_int_equal(ocdm__feature_payload_open(&payload, &rows, &selection, OCDM__F32, OCDM__BY_FIRST_TASK, NULL, &error),
                     OCDM_OK);
    assert_int_equal(payload.source.fill(payload.source.state, 0, 5, (unsigned char *)out, &error), OCDM_OK);
    const float expected[15] = {98, 0, 97, 98, 0, 97, -1, 0, -1, 1, 0, 1, 98, 0, 97};
    for (size_t i = 0; i < 15; i++)
        assert_true(out[i] == expected[i]);
    ocdm__feature_payload_close(&payload);
}

TEST(features_that_f16_cannot_hold_are_refused)
{
    ocdm__feature_rows rows = {.count = 1, .width = 1, .read = read_first, .close = keep_made};
    ocdm__chosen chosen[] = {{0, 0, OCDM__TRAIN}};
    ocdm__selection selection = {.count = 1, .chosen = chosen};
    ocdm__feature_payload payload;
    ocdm_error error;
    unsigned char out[2];
    assert_int_equal(ocdm__feature_payload_open(&payload, &rows, &selection, OCDM__F16, OCDM__AS_THEY_ARE, NULL, &error),
                     OCDM_OK);
    assert_int_equal(payload.source.fill(payload.source.state, 0, 1, out, &error), OCDM_OK);
    assert_true(ocdm__half_to_float((uint16_t)(out[0] | out[1] << 8)) == 1.0F);
    rows.read = read_large;
    assert_int_equal(payload.source.fill(payload.source.state, 0, 1, out, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "features: feature 0 of sample 0 is 70000, which f16 cannot hold");
    ocdm__feature_payload_close(&payload);
}

/* Training values 0 and a little; what is far from both divides into nothing that a float can hold. */
static ocdm_status read_far(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    (void)rows, (void)error;
    out[0] = row == 2 ? 3e38F : (float)row * 1e-30F;
    return OCDM_OK;
}

TEST(features_that_standardizing_makes_infinite_are_refused)
{
    ocdm__feature_rows rows = {.count = 3, .width = 1, .read = read_far, .close = keep_made};
    ocdm__chosen chosen[] = {{0, 0, OCDM__TRAIN}, {1, 0, OCDM__TRAIN}, {2, 0, OCDM__TEST}};
    ocdm__selection selection = {.count = 3, .chosen = chosen};
    ocdm__feature_payload payload;
    ocdm_error error;
    float out[3];
    assert_int_equal(ocdm__feature_payload_open(&payload, &rows, &selection, OCDM__F32, OCDM__BY_ALL, NULL, &error), OCDM_OK);
    payload.file = "f.npy";
    assert_int_equal(payload.source.fill(payload.source.state, 0, 2, (unsigned char *)out, &error), OCDM_OK);
    assert_int_equal(payload.source.fill(payload.source.state, 2, 1, (unsigned char *)out, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "f.npy: feature 0 of sample 2 is too large for 32 bits when it is standardized");
    ocdm__feature_payload_close(&payload);
}

TEST(features_need_a_row_for_every_sample)
{
    ocdm__feature_rows rows = {.count = 2, .width = 3, .read = read_made, .close = keep_made};
    ocdm__chosen chosen[] = {{0, 0, OCDM__TRAIN}, {2, 0, OCDM__TRAIN}};
    ocdm__selection selection = {.count = 2, .chosen = chosen};
    ocdm__feature_payload payload;
    ocdm_error error;
    assert_int_equal(ocdm__feature_payload_open(&payload, &rows, &selection, OCDM__F32, OCDM__AS_THEY_ARE, NULL, &error),
                     OCDM_BAD_FILE);
    assert_string_equal(error.message, "the features have 2 rows, but sample 2 needs one");
    ocdm__feature_payload_close(&payload);
}

static void put_file(const char *name, const char *text)
{
    assert_int_equal(write_whole(name, (const unsigned char *)text, strlen(text)), 0);
}

/* The rows of the file of tests follow those of the others. */
TEST(rows_of_files_follow_one_another)
{
    static const char *const files[] = {"a.svm", "b.svm"};
    ocdm__build_settings settings = {.sources = files,
                                     .source_count = 2,
                                     .test_source = "c.svm",
                                     .source_features = true,
                                     .records = {.format = OCDM__FORMAT_SVM}};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__labelled_set source = {.count = 0};
    ocdm__feature_rows *rows;
    ocdm_error error;
    float out[2];
    put_file("a.svm", "x 1:1 2:2\n");
    put_file("b.svm", "x 1:3 2:4\ny 2:5\n");
    put_file("c.svm", "y 1:6 2:7\n");
    assert_int_equal(ocdm__source_read(&source, &settings, &reading, &error), OCDM_OK);
    assert_int_equal(ocdm__source_open_rows(&source, &settings, &rows, &error), OCDM_OK);
    assert_int_equal(rows->count, 4);
    static const float expected[4][2] = {{1, 2}, {3, 4}, {0, 5}, {6, 7}};
    for (size_t i = 4; i-- > 0;) {
        assert_int_equal(rows->read(rows, i, out, &error), OCDM_OK);
        assert_memory_equal(out, expected[i], sizeof out);
    }
    ocdm__feature_rows_close(rows);
    put_file("c.svm", "y 1:6 2:7 3:8\n");
    assert_int_equal(ocdm__source_open_rows(&source, &settings, &rows, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "c.svm: 3 features a sample, the first file has 2");
    assert_null(rows);
    ocdm__labelled_set_clear(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labelled_set_sorts_labels_and_drops_repeats),
        cmocka_unit_test(labelled_set_refuses_an_id_twice_and_stays_as_it_was),
        cmocka_unit_test(reading_counts_what_is_left_out_by_reason),
        cmocka_unit_test(columns_are_sorted_bytewise_without_a_file),
        cmocka_unit_test(columns_follow_a_file_and_leave_other_labels_out),
        cmocka_unit_test(columns_refuse_a_class_twice_an_empty_file_and_no_file),
        cmocka_unit_test(table_has_columns_instead_of_labels),
        cmocka_unit_test(selection_refuses_a_task_on_some_samples_only),
        cmocka_unit_test(selection_closes_the_gap_of_a_task_without_samples),
        cmocka_unit_test(split_takes_the_task_with_most_labels),
        cmocka_unit_test(split_draws_a_test_part_by_its_share),
        cmocka_unit_test(order_moves_whole_tasks_and_nothing_inside_them),
        cmocka_unit_test(order_refuses_tasks_that_are_missing_twice_or_unknown),
        cmocka_unit_test(features_are_standardized_by_the_training_part),
        cmocka_unit_test(features_are_standardized_by_the_first_task),
        cmocka_unit_test(features_that_f16_cannot_hold_are_refused),
        cmocka_unit_test(features_that_standardizing_makes_infinite_are_refused),
        cmocka_unit_test(features_need_a_row_for_every_sample),
        cmocka_unit_test(rows_of_files_follow_one_another),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
