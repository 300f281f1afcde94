/* Results of runs with known numbers: what is read from folders, means, paired intervals, and which methods are as good as the
 * best. */
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

/* Total mAP by seed. Differences of ocdm to prs: 2, -1, 2; to rs: 10, 10.5, 9.5. SciPy's studentised range of three methods
 * with four degrees of freedom, times the root of the residuals' mean square over three, is LEAST. */
#define LEAST 3.3601608366554676
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

/* The columns of metrics are those of the table of metrics, in its order, for each group. */
TEST(columns_have_the_names_and_directions_of_the_metrics)
{
    for (size_t i = 0; i < OCDM__COMPARE_COLUMNS; i++) {
        const ocdm__compare_column *column = &ocdm__compare_columns[i];
        size_t group = ocdm__compare_group(i);
        if (group == OCDM__COMPARE_GROUPS)
            continue;
        size_t metric = i < OCDM__COMPARE_OF_GROUPS
                            ? i % OCDM__COMPARE_METRICS
                            : OCDM__OTHER_METRICS + (i - OCDM__COMPARE_OTHERS) % OCDM__COMPARE_OTHER_METRICS;
        assert_string_equal(ocdm__paper_groups[group], column->group);
        assert_string_equal(ocdm__metric_name((ocdm_metric)metric), column->metric);
        assert_int_equal(ocdm__metrics[metric].low, column->low);
        assert_int_equal(ocdm__metrics[metric].decimals, column->decimals);
    }
    assert_int_equal(OCDM__COMPARE_GROUPS, ocdm__compare_group(OCDM__COMPARE_MEAN_MAP));
    assert_int_equal(OCDM__COMPARE_GROUPS, ocdm__compare_group(OCDM__COMPARE_VALIDATION));
    assert_int_equal(3, ocdm__compare_group(OCDM__COMPARE_COLUMNS - 1));
}

static void expect_near(double expected, double actual)
{
    if (!(fabs(expected - actual) <= 1e-7))
        fail_msg("expected %.17g, not %.17g", expected, actual);
}

TEST(judge_bolds_what_is_not_significantly_worse)
{
    ocdm__compare_results results;
    ocdm__compare_plan plan = make_plan(&results);
    const ocdm__judgement *judged = ocdm__compare_judge(&results, 0, OCDM__COMPARE_TOTAL_MAP);
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
    ocdm__compare_plan plan = make_plan(&results);
    const ocdm__judgement *judged = ocdm__compare_judge(&results, 0, OCDM__COMPARE_TOTAL_MAP);
    assert_int_equal(NEAR, judged[BEST].other);
    expect_near(1, judged[BEST].difference.mean);
    expect_near(1 - LEAST, judged[BEST].difference.low);
    expect_near(1 + LEAST, judged[BEST].difference.high);
    assert_int_equal(BEST, judged[NEAR].other);
    expect_near(-1, judged[NEAR].difference.mean);
    assert_int_equal(BEST, judged[FAR].other);
    expect_near(-10, judged[FAR].difference.mean);
    expect_near(-10 - LEAST, judged[FAR].difference.low);
    assert_int_equal(BEST, judged[MULTITASK].other);
    expect_near(49, judged[MULTITASK].difference.mean);
    assert_true(isnan(judged[MULTITASK].difference.low));
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

static void set_column(ocdm__compare_results *results, size_t column, const double values[METHODS][3])
{
    for (size_t method = 0; method < METHODS; method++)
        for (uint64_t seed = 0; seed < 3; seed++)
            ocdm__compare_values(results, 0, method, seed)[column] = values[method][seed];
}

/* Less is better for forgetting. Seed 2 is missing once, so that differences are of the other two: 3 and 2, 20 and 21. */
TEST(judge_takes_the_seeds_that_all_have)
{
    static const double forgetting[METHODS][3] = {{NAN, NAN, NAN}, {1, 2, NAN}, {4, 4, 100}, {21, 23, 3}};
    ocdm__compare_results results;
    ocdm__compare_plan plan = make_plan(&results);
    set_column(&results, OCDM__COMPARE_FORGETTING, forgetting);
    const ocdm__judgement *judged = ocdm__compare_judge(&results, 0, OCDM__COMPARE_FORGETTING);
    assert_int_equal(2, judged[BEST].summary.count);
    expect_near(1.5, judged[BEST].summary.mean);
    assert_true(judged[BEST].bold && judged[NEAR].bold);
    assert_false(judged[FAR].bold);
    assert_int_equal(2, judged[NEAR].difference.count);
    assert_int_equal(BEST, judged[NEAR].other);
    expect_near(2.5, judged[NEAR].difference.mean);
    expect_near(20.5, judged[FAR].difference.mean);
    assert_int_equal(0, judged[MULTITASK].summary.count);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

/* Equal values; values that do not differ significantly, where the worst would be bold too; any times. */
TEST(judge_marks_nothing_that_tells_no_methods_apart)
{
    static const struct {
        size_t column;
        double values[METHODS][3];
    } cases[] = {
        {0, {{9, 9, 9}, {5, 5, 5}, {5, 5, 5}, {5, 5, 5}}},
        {OCDM__COMPARE_FORGETTING, {{9, 9, 9}, {5, 6, 7}, {6, 5, 7}, {7, 7, 5}}},
        {OCDM__COMPARE_TIME, {{9, 9, 9}, {1, 1.1, 1}, {6, 6.1, 6}, {7, 7, 7.1}}},
        {OCDM__COMPARE_DISTANCE, {{9, 9, 9}, {1, 1.1, 1}, {6, 6.1, 6}, {7, 7, 7.1}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ocdm__compare_results results;
        ocdm__compare_plan plan = make_plan(&results);
        set_column(&results, cases[i].column, cases[i].values);
        const ocdm__judgement *judged = ocdm__compare_judge(&results, 0, cases[i].column);
        for (size_t method = 0; method < METHODS; method++)
            HOLDS(methods[method], !judged[method].bold);
        ocdm__compare_results_clear(&results);
        ocdm__compare_plan_clear(&plan);
    }
}

TEST(judge_bolds_the_best_alone_when_there_is_one_seed)
{
    ocdm__compare_results results;
    ocdm__compare_plan plan = {.methods = methods, .method_count = METHODS, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    assert_int_equal(OCDM_OK, ocdm__compare_results_create(&results, &plan, NULL));
    for (size_t method = 0; method < METHODS; method++)
        ocdm__compare_values(&results, 0, method, 0)[0] = method == NEAR ? 51 : 50;
    const ocdm__judgement *judged = ocdm__compare_judge(&results, 0, 0);
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
    write_file("ocdm-s1", "summary.json",
               "{\"format\":\"ocdm-run\",\"version\":1,\"final\":{\"distance\":0.5,\"total\":{\"classes\":44,\"mAP\":12.5,"
               "\"CF1\":null},\"minority\":"
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

TEST(heads_of_groups_have_their_classes_or_the_range_of_them)
{
    const ocdm__compare_results first = {.classes = {12, 27, 5, 44}}, second = {.classes = {12, 25, 7, 44}},
                                none = {.classes = {0}};
    const ocdm__compare_results *const both[] = {&first, &second}, *const unknown = &none;
    char head[OCDM__GROUP_HEAD];
    ocdm__compare_group_head(both, 1, "moderate", head);
    assert_string_equal("moderate (27)", head);
    ocdm__compare_group_head(both, 2, "moderate", head);
    assert_string_equal("moderate (25-27)", head);
    ocdm__compare_group_head(both, 2, "total", head);
    assert_string_equal("total (44)", head);
    ocdm__compare_group_head(&unknown, 1, "total", head);
    assert_string_equal("total", head);
    ocdm__compare_group_head(both, 2, "run", head);
    assert_string_equal("run", head);
}

/* A stream of two classes and four tasks, and the settings of its runs. */
struct asked {
    ocdm__stream stream;
    ocdm__run_setup setup;
    uint8_t groups[2];
    uint32_t tasks[3], order[OCDM__COMPARE_TASKS];
};

static void make_asked(struct asked *asked)
{
    *asked = (struct asked){.stream = {.checksum = {10, 255}, .file = {.name = "b"}, .table = {.class_count = 2}},
                            .groups = {OCDM__MAJORITY, OCDM__MINORITY},
                            .tasks = {0, 3, 1}};
    asked->setup = (ocdm__run_setup){.settings = ocdm__run_settings_default(),
                                     .stream = &asked->stream,
                                     .groups = asked->groups,
                                     .ascending = {.tasks = asked->tasks, .task_count = 3},
                                     .order = asked->order};
    asked->setup.settings.groups = "600,100";
}

#define STREAM_A "\"stream\":{\"file\":\"a\",\"checksum\":\"000000000000000a00000000000000ff\"}"
#define HEAD "{\"format\":\"ocdm-run\",\"version\":1," STREAM_A ",\"settings\":"

/* Of three runs, one is missing, and one is of another stream: a difference in either half counts. */
TEST(runs_are_refused_when_they_are_of_another_stream)
{
    static const char *const of_paper[] = {"max", "rs", "ocdm"};
    ocdm_error error = {.message = ""};
    struct asked asked;
    make_asked(&asked);
    ocdm__compare_plan plan = {.methods = of_paper, .method_count = 3, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    write_file("rs-s0", "summary.json", HEAD "{\"method\":\"rs\",\"order\":[0,3,1],\"groups\":\"600,100\"}}");
    write_file("ocdm-s0", "summary.json", HEAD "{\"method\":\"ocdm\",\"order\":[0,3,1],\"groups\":\"600,100\"}}");
    assert_false(ocdm__paper_has_runs(&plan, place));
    assert_int_equal(OCDM_OK, ocdm__paper_check_runs(&plan, place, &asked.setup, &error));
    for (size_t half = 0; half < 2; half++) {
        asked.stream.checksum[half]++;
        assert_int_equal(OCDM_BAD_FILE, ocdm__paper_check_runs(&plan, place, &asked.setup, &error));
        assert_non_null(
            strstr(error.message, "rs-s0/summary.json: the run was made on the stream a (checksum 000000000000000a00"));
        assert_non_null(strstr(error.message, half == 0 ? "not on b (000000000000000b00000000000000ff)"
                                                        : "not on b (000000000000000a0000000000000100)"));
        asked.stream.checksum[half]--;
    }
    write_file("max-s0", "summary.json", HEAD "{\"method\":\"rs\",\"order\":[0,3,1],\"groups\":\"600,100\"}}");
    assert_true(ocdm__paper_has_runs(&plan, place));
    assert_int_equal(OCDM_BAD_FILE, ocdm__paper_check_runs(&plan, place, &asked.setup, &error));
    assert_int_equal(OCDM_BAD_FILE, error.status);
    assert_non_null(strstr(error.message, "max-s0/summary.json: the run began with method \"rs\", not \"max\""));
    write_file("max-s0", "summary.json", "{");
    assert_int_equal(OCDM_BAD_FILE, ocdm__paper_check_runs(&plan, place, &asked.setup, &error));
    ocdm__compare_plan_clear(&plan);
}

static ocdm_status look(const char *folder, const ocdm__asked_run *asked, enum ocdm__folder_state *found, ocdm_error *error)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", place, folder);
    return ocdm__look_into_folder(path, asked, found, error);
}

/* Writes a value of another choice, number or text than the default of a row. */
static void write_other(const ocdm__setting *setting, char text[64])
{
    switch (setting->kind) {
    case OCDM__SETTING_WORD:
    case OCDM__SETTING_CHOICE:
        snprintf(text, 64, "\"%s\"", setting->choices[strcmp(setting->choices[0], setting->fallback) == 0]);
        break;
    case OCDM__SETTING_FILE:
    case OCDM__SETTING_WEIGHTS_FILE:
    case OCDM__SETTING_GROUPS:
        snprintf(text, 64, "\"other\"");
        break;
    case OCDM__SETTING_TASKS:
        snprintf(text, 64, "[1,3,0]");
        break;
    case OCDM__SETTING_SWITCH:
        snprintf(text, 64, "true");
        break;
    default:
        snprintf(text, 64, "%g", setting->fallback != NULL ? strtod(setting->fallback, NULL) + 7 : 7);
        break;
    }
}

/* Every setting that results depend on is compared, also rows that are added later. */
TEST(folder_is_refused_when_any_setting_is_another)
{
    struct asked asked;
    const ocdm__setting *setting;
    make_asked(&asked);
    ocdm__compare_plan plan = {.methods = methods + 1, .method_count = 1, .seed_count = 1};
    assert_int_equal(OCDM_OK, ocdm__compare_points_make(&plan, "1000", "0", NULL, NULL, 0, NULL));
    size_t compared = 0;
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++) {
        const ocdm__asked_run run = ocdm__run_setup_of(&asked.setup, &plan, 0, 0, 0);
        enum ocdm__folder_state found;
        ocdm_error error;
        char text[512], other[64];
        if (setting->key == NULL)
            continue;
        write_other(setting, other);
        bool order = setting->kind == OCDM__SETTING_TASKS, groups = setting->kind == OCDM__SETTING_GROUPS;
        snprintf(text, sizeof text, HEAD "{%s%s\"%s\":%s}}", order ? "" : "\"order\":[0,3,1],",
                 groups ? "" : "\"groups\":\"600,100\",", setting->key, other);
        write_file("other", "summary.json", text);
        HOLDS(text, look("other", &run, &found, &error) == OCDM_BAD_ARGUMENT);
        HOLDS(error.message, strstr(error.message, setting->key) != NULL && strstr(error.message, other) != NULL);
        compared++;
    }
    assert_true(compared > 15);
    ocdm__compare_plan_clear(&plan);
}

TEST(folder_is_new_or_half_done_without_a_summary)
{
    struct asked asked;
    enum ocdm__folder_state found;
    make_asked(&asked);
    const ocdm__asked_run run = {.settings = &asked.setup.settings, .stream = &asked.stream};
    assert_int_equal(OCDM_OK, look("nothing", &run, &found, NULL));
    assert_int_equal(OCDM__FOLDER_NEW, found);
    static const char *const left[] = {"run.jsonl", "checkpoint.safetensors", "checkpoint.previous.safetensors"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        write_file(left[i], left[i], "x");
        assert_int_equal(OCDM_OK, look(left[i], &run, &found, NULL));
        assert_int_equal(OCDM__FOLDER_HALF, found);
    }
    write_file("half", "summary.json", "{\"format\":\"another\"}");
    assert_int_equal(OCDM_BAD_FILE, look("half", &run, &found, NULL));
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
    assert_string_equal("+1.0 [-2.4, 4.4] prs", ocdm__table_at(&table, BEST, table.column_count - 1)->text);
    assert_string_equal("-10.0 [-13.4, -6.6] ocdm", ocdm__table_at(&table, FAR, table.column_count - 1)->text);
    assert_int_equal(OCDM__CELL_EMPTY, ocdm__table_at(&table, BEST, 1)->kind);
    assert_false(ocdm__table_at(&table, BEST, 1)->bold);
    assert_int_equal(OCDM_OK, ocdm__table_of_comparison_data(&data, &plan, &results, NULL));
    assert_int_equal(METHODS * (OCDM__COMPARE_COLUMNS - 2),
                     data.row_count); /* no run has the area under a curve, nor forward transfer */
    assert_string_equal("method", data.columns[0].key);
    assert_string_equal("n", data.columns[6].key);
    assert_int_equal(15 + 3, data.column_count);
    const size_t row = OCDM__COMPARE_TOTAL_MAP * METHODS + NEAR;
    static const double numbers[] = {41, -1, -1 - LEAST, -1 + LEAST, 38, 43, 42};
    static const char *const keys[] = {"mean", "difference", "difference_low", "difference_high", "seed_0", "seed_1", "seed_2"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t column = 0;
        while (strcmp(data.columns[column].key, keys[i]) != 0)
            column++;
        expect_near(numbers[i], ocdm__table_at(&data, row, column)->value);
    }
    assert_string_equal("ocdm", ocdm__table_at(&data, row, 10)->text);
    ocdm__table_clear(&table);
    ocdm__table_clear(&data);
    ocdm__compare_results_clear(&results);
    ocdm__compare_plan_clear(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_the_names_and_directions_of_the_metrics),
        cmocka_unit_test(judge_bolds_what_is_not_significantly_worse),
        cmocka_unit_test(judge_pairs_seeds_with_the_best_other_method),
        cmocka_unit_test(judge_takes_the_seeds_that_all_have),
        cmocka_unit_test(judge_marks_nothing_that_tells_no_methods_apart),
        cmocka_unit_test(judge_bolds_the_best_alone_when_there_is_one_seed),
        cmocka_unit_test(results_are_what_summaries_say),
        cmocka_unit_test(heads_of_groups_have_their_classes_or_the_range_of_them),
        cmocka_unit_test(runs_are_refused_when_they_are_of_another_stream),
        cmocka_unit_test(folder_is_refused_when_any_setting_is_another),
        cmocka_unit_test(folder_is_new_or_half_done_without_a_summary),
        cmocka_unit_test(table_shows_means_deviations_and_the_paired_interval),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
