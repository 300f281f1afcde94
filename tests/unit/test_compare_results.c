/* Results of runs with known numbers: what folders say, means, paired intervals, and who is as good as the best. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../test.h"
#include "experiment/compare/execute.h"
#include "experiment/compare/results.h"
#include "experiment/paper/paper.h"
#include "report/tables/tables.h"
#include "stream/statistics.h"

enum { MULTITASK, BEST, NEAR, FAR, METHODS };
static const char *const methods[METHODS] = {"multitask", "ocdm", "prs", "rs"};

/* Total mAP by seed. Differences of ocdm to prs: 2, -1, 2: mean 1, deviation sqrt(3), t 4.302652729911275; to rs:
 * 10, 10.5, 9.5.
 */
static const double map[METHODS][3] = {{90, 91, 92}, {40, 42, 44}, {38, 43, 42}, {30, 31.5, 34.5}};

static ocdm__compare_plan make_plan(ocdm__compare_results *results)
{
    ocdm__compare_plan plan = {.methods = methods, .method_count = METHODS, .seed_count = 3};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    assert_int_equal(OCDM_OK, ocdm__compare_results_create(results, &plan, NULL));
    for (size_t method = 0; method < METHODS; method++)
        for (uint64_t seed = 0; seed < 3; seed++)
            ocdm__compare_values(results, 0, method, seed)[OCDM__COMPARE_TOTAL_MAP] = map[method][seed];
    return plan;
}

static void expect_near(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 1e-9))
        fail_msg("expected %.17g, not %.17g", expected, actual);
}

TEST(judge_bolds_what_is_not_significantly_worse)
{
    ocdm__compare_results results;
    ocdm__compare_judgement judged[METHODS];
    ocdm__compare_plan plan = make_plan(&results);
    assert_int_equal(OCDM_OK, ocdm__compare_judge(&results, 0, OCDM__COMPARE_TOTAL_MAP, judged, NULL));
    expect_near(42, judged[BEST].summary.mean);
    expect_near(2, judged[BEST].summary.deviation);
    assert_int_equal(3, judged[BEST].summary.count);
    assert_true(judged[BEST].bold);
    assert_true(judged[NEAR].bold);
    assert_false(judged[FAR].bold);
    assert_false(judged[MULTITASK].bold);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

/* Each method against the best other one: ocdm against prs, the others against ocdm; multitask is no rival. */
TEST(judge_pairs_seeds_with_the_best_other_method)
{
    ocdm__compare_results results;
    ocdm__compare_judgement judged[METHODS];
    ocdm__compare_plan plan = make_plan(&results);
    assert_int_equal(OCDM_OK, ocdm__compare_judge(&results, 0, OCDM__COMPARE_TOTAL_MAP, judged, NULL));
    assert_int_equal(NEAR, judged[BEST].other);
    expect_near(1, judged[BEST].difference.mean);
    expect_near(1 - 4.302652729911275, judged[BEST].difference.low);
    expect_near(1 + 4.302652729911275, judged[BEST].difference.high);
    assert_int_equal(BEST, judged[NEAR].other);
    expect_near(-1, judged[NEAR].difference.mean);
    assert_int_equal(BEST, judged[FAR].other);
    expect_near(-10, judged[FAR].difference.mean);
    expect_near(-10 - 4.302652729911275 * 0.5 / sqrt(3), judged[FAR].difference.low);
    assert_int_equal(BEST, judged[MULTITASK].other);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

/* Less is better for distances; ocdm's seed 2 has none, so that pairs are of the other two. */
TEST(judge_takes_the_seeds_that_both_have)
{
    ocdm__compare_results results;
    ocdm__compare_judgement judged[METHODS];
    ocdm__compare_plan plan = make_plan(&results);
    static const double distance[METHODS][3] = {{NAN, NAN, NAN}, {1, 2, NAN}, {4, 6, 100}, {NAN, NAN, 3}};
    for (size_t method = 0; method < METHODS; method++)
        for (uint64_t seed = 0; seed < 3; seed++)
            ocdm__compare_values(&results, 0, method, seed)[OCDM__COMPARE_DISTANCE] = distance[method][seed];
    assert_int_equal(OCDM_OK, ocdm__compare_judge(&results, 0, OCDM__COMPARE_DISTANCE, judged, NULL));
    assert_int_equal(2, judged[BEST].summary.count);
    expect_near(1.5, judged[BEST].summary.mean);
    assert_true(judged[BEST].bold);
    assert_int_equal(FAR, judged[BEST].other);
    assert_int_equal(0, judged[BEST].difference.count);
    assert_int_equal(2, judged[NEAR].difference.count);
    expect_near(3.5, judged[NEAR].difference.mean);
    /* 3.5 -+ 12.7 * 0.5: two pairs say nothing against prs. */
    assert_true(judged[NEAR].bold);
    assert_false(judged[FAR].bold);
    assert_int_equal(0, judged[MULTITASK].summary.count);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

TEST(judge_bolds_the_best_alone_when_there_is_one_seed)
{
    ocdm__compare_results results;
    ocdm__compare_judgement judged[METHODS];
    ocdm__compare_plan plan = {.methods = methods, .method_count = METHODS, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    assert_int_equal(OCDM_OK, ocdm__compare_results_create(&results, &plan, NULL));
    for (size_t method = 0; method < METHODS; method++)
        ocdm__compare_values(&results, 0, method, 0)[0] = method == NEAR ? 51 : 50;
    assert_int_equal(OCDM_OK, ocdm__compare_judge(&results, 0, 0, judged, NULL));
    assert_true(judged[NEAR].bold);
    assert_false(judged[BEST].bold || judged[FAR].bold || judged[MULTITASK].bold);
    assert_true(isnan(judged[NEAR].summary.deviation));
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

/* ---- folders ---------------------------------------------------------------------------------------------------------- */

static char place[] = "/tmp/ocdm-compare-XXXXXX";

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", place, folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", place, folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_place(void **state)
{
    (void)state;
    return mkdtemp(place) == NULL;
}

static int remove_place(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -r %s", place);
    return system(command);
}

TEST(results_are_what_summaries_say)
{
    ocdm__compare_plan plan = {.methods = methods, .method_count = METHODS, .seed_count = 2};
    ocdm__compare_results results;
    write_file(
        "ocdm-s1", "summary.json",
        "{\"format\":\"ocdm-run\",\"version\":1,\"final\":{\"distance\":0.5,\"total\":{\"mAP\":12.5,\"CF1\":null},\"minority\":"
        "{\"OF1\":3}},\"times\":{\"per_1000_steps\":7}}");
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    assert_int_equal(OCDM_OK, ocdm__compare_results_create(&results, &plan, NULL));
    assert_int_equal(OCDM_OK, ocdm__compare_results_read(&results, &plan, place, NULL));
    const double *values = ocdm__compare_values(&results, 0, BEST, 1);
    expect_near(12.5, values[OCDM__COMPARE_TOTAL_MAP]);
    expect_near(3, values[7]);
    expect_near(7, values[OCDM__COMPARE_TIME]);
    expect_near(0.5, values[OCDM__COMPARE_DISTANCE]);
    assert_true(isnan(values[9]) && isnan(values[0]));
    assert_true(isnan(ocdm__compare_values(&results, 0, BEST, 0)[OCDM__COMPARE_TOTAL_MAP]));
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

/* Of three runs, one is missing, one does not tell its stream, and the last is of another: a difference in either half counts.
 */
TEST(runs_are_refused_when_they_are_of_another_stream)
{
    static const char *const of_paper[] = {"max", "rs", "ocdm"};
    static const char about[] =
        "{\"format\":\"ocdm-run\",\"version\":1,\"stream\":{\"file\":\"a\",\"checksum\":\"000000000000000a00000000000000ff\"}}";
    ocdm_error error = {.message = ""};
    ocdm__stream stream = {.checksum = {10, 255}, .file = {.name = "b"}};
    ocdm__compare_plan plan = {.methods = of_paper, .method_count = 3, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    write_file("rs-s0", "summary.json", "{\"format\":\"ocdm-run\",\"version\":1}");
    write_file("ocdm-s0", "summary.json", about);
    assert_false(ocdm__paper_has_runs(&plan, place));
    assert_int_equal(OCDM_OK, ocdm__paper_check_runs(&plan, place, &stream, &error));
    for (size_t half = 0; half < 2; half++) {
        stream.checksum[half]++;
        assert_int_equal(OCDM_BAD_FILE, ocdm__paper_check_runs(&plan, place, &stream, &error));
        assert_non_null(
            strstr(error.message, "ocdm-s0/summary.json: the run was made on the stream a (checksum 000000000000000a00"));
        assert_non_null(strstr(error.message, half == 0 ? "not on b (000000000000000b00000000000000ff)"
                                                        : "not on b (000000000000000a0000000000000100)"));
        stream.checksum[half]--;
    }
    write_file("max-s0", "summary.json", about);
    assert_true(ocdm__paper_has_runs(&plan, place));
    write_file("max-s0", "summary.json", "{");
    assert_int_equal(OCDM_BAD_FILE, ocdm__paper_check_runs(&plan, place, &stream, &error));
    ocdm__compare_plan_clear(&plan);
}

static ocdm_status look(const char *folder, const char *member, const char *value, enum ocdm__folder_state *found,
                        ocdm_error *error)
{
    char path[512];
    ocdm__asked asked = {.value = value};
    snprintf(asked.member, sizeof asked.member, "%s", member);
    snprintf(path, sizeof path, "%s/%s", place, folder);
    return ocdm__look_into_folder(path, &asked, 1, found, error);
}

TEST(folder_is_done_when_the_settings_are_those_asked_for)
{
    static const char *const same[][2] = {
        {"lr", "6e-3"},      {"lr", "0.006"},  {"order", "0,3,1"}, {"weights", "some/where/w.st"},
        {"model", "linear"}, {"unknown", "1"}, {"clip", NULL}};
    static const char *const other[][2] = {{"lr", "0.0061"},    {"order", "0,3"}, {"order", "0,3,1,2"}, {"order", "0,3,2"},
                                           {"weights", "v.st"}, {"model", "mlp"}, {"clip", "5"},        {"weights", NULL}};
    enum ocdm__folder_state found;
    ocdm_error error;
    write_file("done", "summary.json",
               "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":{\"lr\":0.006,\"order\":[0,3,1],\"weights\":\"w.st\","
               "\"model\":\"linear\","
               "\"clip\":null}}");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(OCDM_OK, look("done", same[i][0], same[i][1], &found, &error));
        assert_int_equal(OCDM__FOLDER_DONE, found);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        assert_int_equal(OCDM_BAD_ARGUMENT, look("done", other[i][0], other[i][1], &found, &error));
        assert_non_null(strstr(error.message, other[i][0]));
        assert_non_null(strstr(error.message, other[i][1] != NULL ? other[i][1] : "none"));
    }
}

/* A file of groups counts by what it says; by its name where the summary does not tell that, or was made without a file. */
TEST(folder_is_done_when_the_groups_are_those_asked_for)
{
    static const struct {
        const char *groups, *classes;
        ocdm_status status;
    } cases[] = {
        {"other.txt", "[{\"group\":\"majority\"},{\"group\":\"minority\"}]", OCDM_OK},
        {"g.txt", "[{\"group\":\"majority\"},{\"group\":\"minority\"}]", OCDM_OK},
        {"g.txt", "[{\"group\":\"majority\"},{\"group\":\"moderate\"}]", OCDM_BAD_ARGUMENT},
        {"40,20", "[{\"group\":\"majority\"},{\"group\":\"minority\"}]", OCDM_BAD_ARGUMENT},
        {"stream", "[{\"group\":\"majority\"},{\"group\":\"minority\"}]", OCDM_BAD_ARGUMENT},
        {"g.txt", "[{\"group\":\"minority\"}]", OCDM_OK},
        {"other.txt", "[{\"group\":\"majority\"},{\"group\":\"many\"}]", OCDM_BAD_ARGUMENT},
        {"other.txt", "null", OCDM_BAD_ARGUMENT},
    };
    static const uint8_t groups[] = {OCDM__MAJORITY, OCDM__MINORITY};
    const ocdm__asked asked = {.member = "groups", .value = "folder/g.txt", .groups = groups, .class_count = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], path[512];
        enum ocdm__folder_state found;
        snprintf(text, sizeof text, "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":{\"groups\":\"%s\"},\"classes\":%s}",
                 cases[i].groups, cases[i].classes);
        write_file("grouped", "summary.json", text);
        snprintf(path, sizeof path, "%s/grouped", place);
        HOLDS(text, ocdm__look_into_folder(path, &asked, 1, &found, NULL) == cases[i].status);
    }
}

TEST(folder_is_new_or_half_done_without_a_summary)
{
    enum ocdm__folder_state found;
    assert_int_equal(OCDM_OK, look("nothing", "lr", "1", &found, NULL));
    assert_int_equal(OCDM__FOLDER_NEW, found);
    static const char *const left[] = {"run.jsonl", "checkpoint.safetensors", "checkpoint.previous.safetensors"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        write_file(left[i], left[i], "x");
        assert_int_equal(OCDM_OK, look(left[i], "lr", "1", &found, NULL));
        assert_int_equal(OCDM__FOLDER_HALF, found);
    }
    write_file("half", "summary.json", "{\"format\":\"another\"}");
    assert_int_equal(OCDM_BAD_FILE, look("half", "lr", "1", &found, NULL));
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

TEST(table_shows_means_deviations_and_the_paired_interval)
{
    ocdm__compare_results results;
    ocdm__table table, data;
    ocdm__compare_plan plan = make_plan(&results);
    assert_int_equal(OCDM_OK, ocdm__table_of_comparison(&table, &plan, &results, 0, NULL));
    const ocdm__cell *total = ocdm__table_at(&table, BEST, 12);
    assert_string_equal("mAP", table.columns[12].head);
    assert_string_equal("total", table.columns[12].group);
    expect_near(42, total->value);
    expect_near(2, total->deviation);
    assert_true(total->bold);
    assert_string_equal("+1.0 [-3.3, 5.3] prs", ocdm__table_at(&table, BEST, table.column_count - 1)->text);
    assert_string_equal("-10.0 [-11.2, -8.8] ocdm", ocdm__table_at(&table, FAR, table.column_count - 1)->text);
    assert_int_equal(OCDM__CELL_EMPTY, ocdm__table_at(&table, BEST, 1)->kind);
    assert_false(ocdm__table_at(&table, BEST, 1)->bold);
    assert_int_equal(OCDM_OK, ocdm__table_of_comparison_data(&data, &plan, &results, NULL));
    assert_int_equal(METHODS * OCDM__COMPARE_COLUMNS, data.row_count);
    assert_string_equal("method", data.columns[0].key);
    assert_string_equal("n", data.columns[5].key);
    ocdm__table_clear(&table);
    ocdm__table_clear(&data);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_bolds_what_is_not_significantly_worse),
        cmocka_unit_test(judge_pairs_seeds_with_the_best_other_method),
        cmocka_unit_test(judge_takes_the_seeds_that_both_have),
        cmocka_unit_test(judge_bolds_the_best_alone_when_there_is_one_seed),
        cmocka_unit_test(results_are_what_summaries_say),
        cmocka_unit_test(runs_are_refused_when_they_are_of_another_stream),
        cmocka_unit_test(folder_is_done_when_the_settings_are_those_asked_for),
        cmocka_unit_test(folder_is_done_when_the_groups_are_those_asked_for),
        cmocka_unit_test(folder_is_new_or_half_done_without_a_summary),
        cmocka_unit_test(table_shows_means_deviations_and_the_paired_interval),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
