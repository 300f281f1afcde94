/*
 * The recipe of class-incremental streams with partial labels, against a judge that asks for every image and every task whether
 * the image has a class of the task, and for every class whether it is the task's.
 */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/build.h"
#include "stream/file.h"

#define ROUNDS 60
#define MOST_IMAGES 30
#define MOST_CLASSES 20

/* Images with classes of the first `used`; class c is called by one letter, names[c]. */
struct drawn {
    size_t images, classes;
    bool has[MOST_IMAGES][MOST_CLASSES], test[MOST_IMAGES];
    bool given;                   /* a file gives the order of the classes */
    size_t listed;                /* how many classes that file has */
    char order[MOST_CLASSES + 1]; /* the classes in their order */
    size_t base, step;
};

/* ---- drawing ---------------------------------------------------------------------------------------------------------- */

static void draw_order(struct drawn *drawn, ocdm__random *random)
{
    drawn->given = ocdm__random_below(random, 2) == 1;
    drawn->listed = drawn->classes;
    for (size_t c = 0; c < drawn->classes; c++)
        drawn->order[c] = (char)('a' + c);
    if (!drawn->given)
        return;
    for (size_t c = drawn->classes - 1; c > 0; c--) {
        size_t other = (size_t)ocdm__random_below(random, c + 1);
        char moved = drawn->order[c];
        drawn->order[c] = drawn->order[other];
        drawn->order[other] = moved;
    }
    drawn->listed -= (size_t)ocdm__random_below(random, 2); /* the last one may be missing in the file */
}

static void draw(struct drawn *drawn, ocdm__random *random)
{
    *drawn = (struct drawn){.images = 5 + (size_t)ocdm__random_below(random, MOST_IMAGES - 5),
                            .classes = 2 + (size_t)ocdm__random_below(random, MOST_CLASSES - 2)};
    for (size_t i = 0; i < drawn->images; i++) {
        drawn->test[i] = ocdm__random_below(random, 3) == 0;
        for (uint64_t labels = ocdm__random_below(random, 5); labels > 0; labels--)
            drawn->has[i][ocdm__random_below(random, drawn->classes)] = true;
    }
    for (size_t c = 0; c < drawn->classes; c++) /* every class and every task has a training image */
        drawn->has[0][c] = true;
    drawn->test[0] = false;
    draw_order(drawn, random);
    drawn->base = (size_t)ocdm__random_below(random, drawn->listed + 1);
    drawn->step = 1 + (size_t)ocdm__random_below(random, 6);
}

static void write_source(const struct drawn *drawn)
{
    FILE *records = fopen("records.jsonl", "w"), *classes = fopen("classes", "w");
    assert_true(records != NULL && classes != NULL);
    for (size_t i = 0; i < drawn->images; i++) {
        const char *before = "";
        fprintf(records, "{\"id\":\"i%zu\",\"labels\":[", i);
        for (size_t c = 0; c < drawn->classes; c++)
            if (drawn->has[i][c]) {
                fprintf(records, "%s\"%c\"", before, (char)('a' + c));
                before = ",";
            }
        fprintf(records, "],\"split\":\"%s\"}\n", drawn->test[i] ? "test" : "train");
    }
    for (size_t c = 0; c < drawn->listed; c++)
        fprintf(classes, "%c\n", drawn->order[c]);
    assert_int_equal(fclose(records) | fclose(classes), 0);
}

/* ---- the judge -------------------------------------------------------------------------------------------------------- */

static size_t task_of_column(const struct drawn *drawn, size_t column)
{
    size_t task = 0, end = drawn->base > 0 ? drawn->base : drawn->step;
    for (; column >= end; task++)
        end += drawn->step;
    return task;
}

static bool has_column(const struct drawn *drawn, size_t image, size_t column)
{
    return drawn->has[image][drawn->order[column] - 'a'];
}

static bool is_in_task(const struct drawn *drawn, size_t image, size_t task)
{
    for (size_t c = 0; c < drawn->listed; c++)
        if (has_column(drawn, image, c) && task_of_column(drawn, c) == task)
            return true;
    return false;
}

/* Row `row` of the file is the image in the task, labelled as it should be. */
static void check_row(const struct drawn *drawn, const ocdm__stream_table *table, size_t row, size_t image, size_t task,
                      bool repeated)
{
    char id[32];
    size_t length, labels = 0;
    const char *found = ocdm__text_at(&table->ids, row, &length);
    int expected = repeated ? snprintf(id, sizeof id, "i%zu@%zu", image, task) : snprintf(id, sizeof id, "i%zu", image);
    assert_int_equal(length, expected);
    assert_memory_equal(found, id, length);
    assert_int_equal(table->tasks[row], task);
    assert_int_equal(table->parts[row], drawn->test[image] ? OCDM__TEST : OCDM__TRAIN);
    for (size_t c = 0; c < drawn->listed; c++) {
        bool known = drawn->test[image] || task_of_column(drawn, c) == task;
        uint64_t at = table->label_starts[row] + labels;
        bool carries = at < table->label_starts[row + 1] && table->labels[at] == c;
        assert_int_equal(ocdm__bits_have(ocdm__known_labels(table, row), c), known);
        assert_int_equal(carries, known && has_column(drawn, image, c));
        labels += carries;
    }
    assert_int_equal(labels, table->label_starts[row + 1] - table->label_starts[row]);
}

static void check_stream(const struct drawn *drawn, const ocdm__stream_table *table)
{
    size_t row = 0;
    assert_int_equal(table->class_count, drawn->listed);
    for (size_t i = 0; i < drawn->images; i++) {
        bool repeated = false;
        for (size_t task = 0; task < MOST_CLASSES; task++) {
            if (!is_in_task(drawn, i, task) || (repeated && drawn->test[i]))
                continue;
            assert_true(row < table->sample_count);
            check_row(drawn, table, row++, i, task, repeated);
            repeated = true;
        }
    }
    assert_int_equal(row, table->sample_count);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------ */

static ocdm_status build(const struct drawn *drawn, ocdm_error *error)
{
    const char *const sources[] = {"records.jsonl"};
    ocdm__reading reading = {.skip_bad = true}; /* images without labels, which some are, are no records */
    ocdm__build_report report;
    const ocdm__build_settings settings = {.kind = OCDM__FROM_RECORDS,
                                           .sources = sources,
                                           .source_count = 1,
                                           .recipe = OCDM__RECIPE_INCREMENTAL,
                                           .base = (uint32_t)drawn->base,
                                           .step = (uint32_t)drawn->step,
                                           .classes = drawn->given ? "classes" : NULL,
                                           .command = "",
                                           .output = "s"};
    write_source(drawn);
    return ocdm__stream_build(&settings, &reading, &report, error);
}

TEST(images_are_in_every_task_that_has_one_of_their_classes)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct drawn drawn;
        ocdm__stream stream;
        ocdm_error error;
        ocdm__random random = ocdm__random_stream(17, round);
        draw(&drawn, &random);
        HOLDS("build", build(&drawn, &error) == OCDM_OK);
        assert_int_equal(ocdm__stream_open(&stream, "s", &error), OCDM_OK);
        check_stream(&drawn, &stream.table);
        ocdm__stream_close(&stream);
    }
}

TEST(ids_that_would_repeat_and_bases_that_are_too_large_are_refused)
{
    const char *const sources[] = {"records.jsonl"};
    ocdm__reading reading = {.skip_bad = false};
    ocdm__build_report report;
    ocdm_error error;
    ocdm__build_settings settings = {.kind = OCDM__FROM_RECORDS,
                                     .sources = sources,
                                     .source_count = 1,
                                     .recipe = OCDM__RECIPE_INCREMENTAL,
                                     .step = 1,
                                     .command = "",
                                     .output = "t"};
    static const char text[] = "{\"id\":\"5\",\"labels\":[\"a\",\"b\"],\"split\":\"train\"}\n"
                               "{\"id\":\"5@1\",\"labels\":[\"a\"],\"split\":\"test\"}\n";
    write_whole("records.jsonl", (const unsigned char *)text, sizeof text - 1);
    assert_int_equal(ocdm__stream_build(&settings, &reading, &report, &error), OCDM_BAD_RECORD);
    assert_string_equal(error.message, "the id 5@1 of a sample is also that of another sample in task 1");
    settings.base = 3;
    assert_int_equal(ocdm__stream_build(&settings, &reading, &report, &error), OCDM_BAD_ARGUMENT);
    assert_string_equal(error.message, "--base 3, but there are 2 classes");
    settings.base = 2;
    assert_int_equal(ocdm__stream_build(&settings, &reading, &report, &error), OCDM_OK);
    assert_int_equal(report.tasks, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_in_every_task_that_has_one_of_their_classes),
        cmocka_unit_test(ids_that_would_repeat_and_bases_that_are_too_large_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
