/* Run folders found, read and sorted into groups. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../test.h"
#include "experiment/loop/settings.h"
#include "made_summary.h"
#include "report/charts/canvas.h"
#include "report/runs/groups.h"

static ocdm__run_list runs;
static ocdm__study_list studies;

static void read_runs(char *path)
{
    ocdm_error error;
    assert_int_equal(ocdm__runs_read(&runs, &path, 1, &error), OCDM_OK);
    assert_int_equal(ocdm__studies_make(&studies, &runs, &error), OCDM_OK);
}

static int clear_runs(void **state)
{
    ocdm__studies_clear(&studies);
    ocdm__runs_clear(&runs);
    return clear_tree(state);
}

static const ocdm__run_record *run_named(const char *name)
{
    for (size_t i = 0; i < runs.count; i++)
        if (strcmp(runs.runs[i].name, name) == 0)
            return &runs.runs[i];
    return NULL;
}

TEST(runs_tell_what_is_wrong_when_not_whole)
{
    assert_int_equal(put_run("r/whole", &MADE_RUN), 0);
    put_text("r/whole/memory.jsonl", "{\"id\":\"1\",\"labels\":[\"a\"],\"arrival\":3}\n{\"id\":\"2\"}\n{\"id\":");
    put_text("r/half/run.jsonl",
             "{\"type\":\"start\",\"settings\":{\"method\":\"rs\",\"seed\":4}}\n{\"type\":\"step\",\"step\":30}\n{\"ty");
    put_text("r/cut/summary.json", "{\"format\":\"ocdm-run\",\"vers");
    put_text("r/other/summary.json", "{\"format\":\"ocdm-run\",\"version\":2}");
    mkdir("r/empty-s7", 0777);
    mkdir("r/figures", 0777);
    read_runs("r");
    assert_int_equal(runs.count, 5); /* figures is no run */
    assert_int_equal(run_named("whole")->state, OCDM__RUN_WHOLE);
    assert_int_equal(run_named("whole")->kept.root->count, 2); /* the last line has no end */
    assert_int_equal(run_named("half")->state, OCDM__RUN_HALF);
    assert_string_equal(run_named("half")->method, "rs");
    assert_string_equal(run_named("half")->why.message, "no summary.json; the log ends at step 30");
    assert_int_equal(run_named("cut")->state, OCDM__RUN_BROKEN);
    assert_string_equal(run_named("cut")->why.message, "r/cut/summary.json:1:22: a string without an end");
    assert_int_equal(run_named("other")->state, OCDM__RUN_BROKEN);
    assert_int_equal(run_named("empty-s7")->state, OCDM__RUN_MISSING);
    assert_int_equal(studies.count, 1);
}

TEST(runs_of_a_folder_that_is_one_is_that_run)
{
    put_run("one", &MADE_RUN);
    put_run("one/inner-s0", &MADE_RUN);
    read_runs("one/");
    assert_int_equal(runs.count, 1);
    assert_string_equal(runs.runs[0].folder, "one");
}

TEST(runs_missing_folder_is_a_missing_run)
{
    read_runs("nowhere");
    assert_int_equal(runs.count, 1);
    assert_string_equal(runs.runs[0].why.message, "there is no such folder");
    assert_int_equal(studies.count, 0);
}

/* Three seeds of two methods: means and sample deviations by hand, pairs matched by seed in any order. */
TEST(groups_hold_runs_that_differ_in_the_seed_alone)
{
    static const char *const maps[2][3] = {{"40", "42", "44"}, {"41", "40", "48"}};
    for (unsigned m = 0; m < 2; m++)
        for (unsigned s = 0; s < 3; s++) {
            char folder[32];
            struct made_run run = MADE_RUN;
            run.method = m == 0 ? "ocdm" : "rs";
            run.seed = 10 - s;
            run.map = maps[m][s];
            snprintf(folder, sizeof folder, "r/%s-s%u", run.method, run.seed);
            assert_int_equal(put_run(folder, &run), 0);
        }
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_int_equal(study->group_count, 2);
    assert_int_equal(study->base_count, 2);
    assert_string_equal(study->groups[0].label, "rs"); /* 43 is better than 42 */
    assert_int_equal(study->groups[0].runs[0]->seed, 8);
    ocdm__summary summary = ocdm__group_summary(&study->groups[1], "final.total.mAP");
    assert_float_equal(summary.mean, 42, 1e-12);
    assert_float_equal(summary.deviation, 2, 1e-12);
    ocdm__summary difference = ocdm__group_evaluation_difference(&study->groups[0], &study->groups[1], 1, "total.mAP");
    assert_int_equal(difference.count, 3);
    assert_float_equal(difference.mean, 1, 1e-12);
    assert_float_equal(difference.deviation, 3, 1e-9); /* 1, -2, 4 */
}

/* Seed 2 of rs is missing: the means are over the seeds that each has, the difference is over seeds 0 and 1 of both. */
TEST(judge_of_a_study_takes_the_seeds_that_all_have)
{
    static const char *const maps[2][3] = {{"40", "42", "62"}, {"30", "32", NULL}};
    for (unsigned m = 0; m < 2; m++)
        for (unsigned s = 0; s < 3 && maps[m][s] != NULL; s++) {
            char folder[32];
            struct made_run run = MADE_RUN;
            run.method = m == 0 ? "ocdm" : "rs";
            run.seed = s;
            run.map = maps[m][s];
            snprintf(folder, sizeof folder, "r/%s-s%u", run.method, run.seed);
            assert_int_equal(put_run(folder, &run), 0);
        }
    read_runs("r");
    const ocdm__judgement *judged = ocdm__study_judge(&studies.studies[0], 1, "final.total.mAP", 1);
    assert_float_equal(judged[0].summary.mean, 48, 1e-12);
    assert_int_equal(judged[0].other, 1);
    assert_int_equal(judged[0].difference.count, 2);
    assert_float_equal(judged[0].difference.mean, 10, 1e-12);
    assert_true(judged[0].bold && !judged[1].bold);
    judged = ocdm__study_judge(&studies.studies[0], 2, "count.lost", -1); /* b is lost by both: nothing is bold */
    assert_float_equal(judged[1].summary.mean, 1, 0);
    assert_false(judged[0].bold || judged[1].bold);
}

/* A sweep of the memory and one of the order: the default values are the base, and only the base has the method's name. */
TEST(groups_of_a_sweep_are_not_in_the_base)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.method = "rs";
    put_run("r/b", &run);
    run.memory = "3";
    put_run("r/c", &run);
    run.memory = "6";
    run.order = "[0,1]";
    put_run("r/d", &run);
    run.method = "prs"; /* never run with the usual order: it stays all the same */
    put_run("r/e", &run);
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_int_equal(study->group_count, 5);
    assert_int_equal(study->base_count, 3);
    const char *labels[5] = {study->groups[0].label, study->groups[1].label, study->groups[2].label, study->groups[3].label,
                             study->groups[4].label};
    assert_string_equal(labels[0], "ocdm");
    assert_string_equal(labels[1], "rs");
    assert_string_equal(labels[2], "prs");
    assert_string_equal(labels[3], "rs, memory 3");
    assert_string_equal(labels[4], "rs, order 0,1");
    assert_true(ocdm__study_sweeps(study, "memory"));
    assert_false(ocdm__study_sweeps(study, "rho"));
}

/* A model of one's own beside a built-in one: both are compared, and the figures of sweeps are not theirs. */
TEST(groups_of_two_models_are_compared)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.seed = 1;
    put_run("r/b", &run);
    run.model = "\"torch\"";
    run.map = "45";
    put_run("r/c", &run);
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_int_equal(study->base_count, 2);
    assert_string_equal(study->groups[0].label, "ocdm, model torch");
    assert_string_equal(study->groups[1].label, "ocdm, model linear");
    assert_false(ocdm__study_sweeps(study, "model"));
    assert_int_equal(study->groups[0].colour % OCDM__COLOURS, study->groups[1].colour % OCDM__COLOURS);
    assert_int_not_equal(study->groups[0].colour, study->groups[1].colour); /* another dash */
}

/* The order of the methods follows the results; their colours do not. */
TEST(groups_have_the_colours_of_their_methods)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.method = "rs";
    run.map = "60";
    put_run("r/b", &run);
    run.method = "ocdm";
    run.memory = "3";
    put_run("r/c", &run);
    run.memory = "6";
    run.method = "mine";
    put_run("r/d", &run);
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_string_equal(study->groups[2].label, "ocdm");
    for (size_t i = 0; i < study->group_count; i++)
        assert_int_equal(study->groups[i].colour, ocdm__method_colour(study->groups[i].method));
    assert_string_equal(study->groups[3].label, "ocdm, memory 3");
    assert_ptr_equal(study->groups[3].mark, study->groups[2].label);
}

/* Two names of one's own whose colours are the same by chance, and one that has that of a method of the program. */
TEST(groups_of_own_methods_differ_in_colour)
{
    struct made_run run = MADE_RUN;
    char first[24] = "", second[24] = "", third[24] = "";
    for (unsigned i = 0; second[0] == '\0' || third[0] == '\0'; i++) {
        char name[24];
        snprintf(name, sizeof name, "own%u", i);
        if (first[0] == '\0')
            memcpy(first, name, sizeof first);
        else if (second[0] == '\0' && ocdm__method_colour(name) == ocdm__method_colour(first))
            memcpy(second, name, sizeof second);
        else if (third[0] == '\0' && ocdm__method_colour(name) == ocdm__method_colour("prs-released"))
            memcpy(third, name, sizeof third);
    }
    const char *const methods[] = {first, second, third, "prs-released"};
    char path[8] = "r/a";
    for (size_t i = 0; i < 4; i++, path[2]++) {
        run.method = methods[i];
        put_run(path, &run);
    }
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_int_equal(study->base_count, 4);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(study->groups[i].colour, study->groups[j].colour);
        if (strcmp(study->groups[i].method, "prs-released") == 0)
            assert_int_equal(study->groups[i].colour, ocdm__method_colour("prs-released"));
        assert_true(study->groups[i].colour >= OCDM__COLOURS && study->groups[i].colour < OCDM__COLOURS * OCDM__DASHES);
    }
}

/* Every method of the program has a row: no two have the same, and a name of one's own never has one of theirs. */
TEST(colours_of_all_methods_differ)
{
    unsigned taken[64], count = 0;
    for (size_t i = 0; ocdm__run_methods[i] != NULL; i++) {
        unsigned colour = ocdm__method_colour(ocdm__run_methods[i]);
        assert_true(colour < 2 * OCDM__COLOURS); /* those of the table: solid, or the first dash */
        for (unsigned k = 0; k < count; k++)
            assert_int_not_equal(taken[k], colour);
        taken[count++] = colour;
    }
    assert_true(count >= 13);
    assert_int_equal(ocdm__method_colour("my policy"), ocdm__method_colour("my policy"));
    assert_int_not_equal(ocdm__method_colour("my policy"), ocdm__method_colour("my other policy"));
    assert_true(ocdm__method_colour("my policy") >= OCDM__COLOURS);
}

/* Runs with the same seed are compared, in each evaluation. */
TEST(groups_differ_by_evaluation)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.method = "rs";
    run.map = "30";
    put_run("r/b", &run);
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    const ocdm__run_group *best = ocdm__study_best(study);
    assert_string_equal(best->label, "ocdm");
    assert_float_equal(ocdm__group_evaluation_difference(&study->groups[1], best, 0, "total.mAP").mean, 0, 0);
    assert_float_equal(ocdm__group_evaluation_difference(&study->groups[1], best, 1, "total.mAP").mean, -10, 1e-12);
    assert_float_equal(ocdm__group_evaluation_difference(best, best, 1, "total.mAP").mean, 0, 0);
}

TEST(studies_are_one_for_each_stream)
{
    struct made_run run = MADE_RUN;
    put_run("r/a", &run);
    run.stream = "\"2\"";
    put_run("r/b", &run);
    read_runs("r");
    assert_int_equal(studies.count, 2);
}

/* The order 1, 0 brings class c first; counts are found by their index in the files. */
TEST(classes_stand_in_the_order_of_the_stream)
{
    put_run("r/a", &MADE_RUN);
    read_runs("r");
    const ocdm__study *study = &studies.studies[0];
    assert_int_equal(study->class_count, 3);
    assert_string_equal(study->classes[0].name, "c");
    assert_string_equal(study->classes[1].name, "a");
    assert_string_equal(study->classes[2].name, "b");
    assert_float_equal(ocdm__group_entry(&study->groups[0], "counts", study->classes[0].column), 9, 0);
    assert_true(isnan(ocdm__group_entry(&study->groups[0], "counts", 3)));
}

/* Without a network the distance decides, and less is better. */
TEST(study_without_a_network_goes_by_the_distance)
{
    struct made_run run = MADE_RUN;
    run.map = "null";
    put_run("r/a", &run);
    run.method = "rs";
    run.distance = "0.125";
    put_run("r/b", &run);
    read_runs("r");
    assert_false(studies.studies[0].trained);
    assert_string_equal(studies.studies[0].groups[0].label, "rs");
}

/* A summary of the right format with nothing, or nonsense, in it. */
TEST(study_of_empty_summaries_stands)
{
    put_text("r/a/summary.json", "{\"format\":\"ocdm-run\",\"version\":1}");
    put_text("r/b/summary.json",
             "{\"format\":\"ocdm-run\",\"version\":1,\"settings\":[],\"classes\":7,\"memory\":{\"counts\":{}},\"final\":null}");
    read_runs("r");
    assert_true(studies.count >= 1);
    for (size_t i = 0; i < studies.count; i++)
        assert_int_equal(studies.studies[i].class_count, 0);
}

int main(void)
{
#define WITH_TREE(test) cmocka_unit_test_teardown(test, clear_runs)
    const struct CMUnitTest tests[] = {
        WITH_TREE(runs_tell_what_is_wrong_when_not_whole),
        WITH_TREE(runs_of_a_folder_that_is_one_is_that_run),
        WITH_TREE(runs_missing_folder_is_a_missing_run),
        WITH_TREE(groups_hold_runs_that_differ_in_the_seed_alone),
        WITH_TREE(judge_of_a_study_takes_the_seeds_that_all_have),
        WITH_TREE(groups_of_a_sweep_are_not_in_the_base),
        WITH_TREE(studies_are_one_for_each_stream),
        WITH_TREE(classes_stand_in_the_order_of_the_stream),
        WITH_TREE(study_without_a_network_goes_by_the_distance),
        WITH_TREE(study_of_empty_summaries_stands),
        WITH_TREE(groups_of_two_models_are_compared),
        WITH_TREE(groups_have_the_colours_of_their_methods),
        WITH_TREE(groups_of_own_methods_differ_in_colour),
        WITH_TREE(colours_of_all_methods_differ),
        WITH_TREE(groups_differ_by_evaluation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
