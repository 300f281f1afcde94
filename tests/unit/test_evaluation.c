/* Evaluations: which tests they are on, that the metrics are those of the agent's predictions, groups, and the curve. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../small_run.h"
#include "base/error.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/run.h"

static const struct small_plan plan = {.tasks = 3, .train = 60, .test = 150, .seed = 3};

/* ---- against the answers themselves ----------------------------------------------------------------------------------- */

/* mAP, and CF1 by PRS's form, over the tests of some tasks, one sample at a time: a class counts if a test carries it. */
struct judged {
    double map, cf1;
    size_t classes;
};

/* AP by definition: the mean over the positives of the precision at their rank. No two scores are equal here. */
static double average_precision(const float *logits, const bool *carried, size_t count, size_t c)
{
    double sum = 0, positives = 0;
    for (size_t i = 0; i < count; i++) {
        if (!carried[i * SMALL_CLASSES + c])
            continue;
        double above = 0, right = 0;
        for (size_t j = 0; j < count; j++)
            if (logits[j * SMALL_CLASSES + c] >= logits[i * SMALL_CLASSES + c]) {
                above++;
                right += carried[j * SMALL_CLASSES + c];
            }
        sum += right / above;
        positives++;
    }
    return sum / positives;
}

static struct judged judge(const float *logits, const bool *carried, size_t count, const uint8_t *groups, int group)
{
    struct judged judged = {.classes = 0};
    double precision = 0, recall = 0;
    for (size_t c = 0; c < SMALL_CLASSES; c++) {
        double positives = 0, predicted = 0, hits = 0;
        for (size_t i = 0; i < count; i++) {
            bool said = logits[i * SMALL_CLASSES + c] > 0, is = carried[i * SMALL_CLASSES + c];
            positives += is;
            predicted += said;
            hits += said && is;
        }
        if (positives == 0 || (group >= 0 && groups[c] != group))
            continue;
        judged.classes++;
        judged.map += average_precision(logits, carried, count, c);
        precision += predicted > 0 ? hits / predicted : 0;
        recall += hits / positives;
    }
    double n = (double)judged.classes, sum = precision + recall;
    judged.map /= n;
    judged.cf1 = sum > 0 ? 2 * precision * recall / sum / n : 0;
    return judged;
}

static void same_numbers(struct judged expected, const ocdm__averages *averages)
{
    assert_int_equal(expected.classes, averages->classes);
    assert_true(expected.classes > 0);
    assert_true(fabs(expected.map - averages->value[OCDM_MAP]) < 1e-12);
    assert_true(fabs(expected.cf1 - averages->value[OCDM_CF1]) < 1e-12);
}

/* Asks the agent about every test in the stream's order, one at a time. */
static size_t ask(ocdm__run *run, const uint32_t *tasks, size_t task_count, float *logits, bool *carried)
{
    const ocdm__stream_table *table = &run->stream->table;
    size_t count = 0;
    for (size_t i = 0; i < table->sample_count; i++) {
        bool wanted = false;
        float features[SMALL_WIDTH];
        for (size_t k = 0; k < task_count; k++)
            wanted = wanted || table->tasks[i] == tasks[k];
        if (!wanted || table->parts[i] != OCDM__TEST)
            continue;
        ocdm__stream_features(run->stream, i, features);
        assert_int_equal(ocdm__agent_predict(run->learner->state, features, 1, logits + count * SMALL_CLASSES, NULL), OCDM_OK);
        for (uint64_t k = table->label_starts[i]; k < table->label_starts[i + 1]; k++)
            carried[count * SMALL_CLASSES + table->labels[k]] = true;
        count++;
    }
    return count;
}

/* After each task: the tests of all tasks so far in one heap, and each task's own. */
TEST(evaluation_is_on_the_tests_of_the_tasks_so_far)
{
    static const uint64_t order[] = {2, 0, 1};
    static const uint32_t tasks[] = {2, 0, 1};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run *run = NULL;
    ocdm__run_settings settings = small_settings("ocdm");
    settings.order = order;
    settings.order_count = 3;
    settings.groups = "70,35";
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
    assert_int_equal(ocdm__run_begin(run, NULL), OCDM_OK);
    for (size_t done = 0; done < 3;) {
        enum ocdm__run_event event;
        assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
        if (event != OCDM__RUN_EVALUATED)
            continue;
        const ocdm__evaluation *evaluation = &run->evaluations[done];
        float logits[450 * SMALL_CLASSES];
        bool carried[450 * SMALL_CLASSES] = {false}, own[150 * SMALL_CLASSES];
        size_t count = ask(run, tasks, done + 1, logits, carried);
        assert_int_equal(count, 150 * (done + 1));
        same_numbers(judge(logits, carried, count, run->groups, -1), &evaluation->total);
        for (int g = 0; g < OCDM__GROUPS; g++)
            same_numbers(judge(logits, carried, count, run->groups, g), &evaluation->groups[g]);
        for (size_t k = 0; k <= done; k++) {
            memset(own, 0, sizeof own);
            assert_int_equal(ask(run, tasks + k, 1, logits, own), 150);
            same_numbers(judge(logits, own, 150, run->groups, -1), &evaluation->tasks[k]);
        }
        assert_int_equal(evaluation->task, tasks[done]);
        assert_int_equal(evaluation->step, 12 * (done + 1));
        assert_int_equal(evaluation->samples, 60 * (done + 1));
        assert_true(evaluation->distance == ocdm_memory_distance(run->memory, OCDM_IN_PLAY));
        done++;
    }
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

/* With --transfer: each task before the first step, and the next one at each evaluation. */
TEST(tasks_are_evaluated_before_they_are_learnt)
{
    static const uint32_t tasks[] = {0, 1, 2};
    static float logits[150 * SMALL_CLASSES];
    ocdm__stream stream = {.task_count = 0};
    ocdm__run *run = NULL;
    ocdm__run_settings settings = small_settings("ocdm");
    double untrained[3];
    settings.transfer = true;
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
    assert_int_equal(ocdm__run_begin(run, NULL), OCDM_OK);
    for (size_t k = 0; k < 3; k++) {
        bool carried[150 * SMALL_CLASSES] = {false};
        assert_int_equal(ask(run, tasks + k, 1, logits, carried), 150);
        untrained[k] = judge(logits, carried, 150, run->groups, -1).map;
    }
    for (size_t done = 0; done < 3;) {
        enum ocdm__run_event event;
        bool carried[150 * SMALL_CLASSES] = {false};
        assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
        if (event != OCDM__RUN_EVALUATED)
            continue;
        double ahead = run->evaluations[done].ahead;
        if (done + 1 < 3) {
            ask(run, tasks + done + 1, 1, logits, carried);
            assert_true(fabs(ahead - judge(logits, carried, 150, run->groups, -1).map) < 1e-12);
        } else {
            assert_true(isnan(ahead));
        }
        done++;
    }
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(untrained[k] - run->untrained[k]) < 1e-12);
    assert_true(untrained[1] != run->evaluations[0].ahead);
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

/* The threshold is that of what is held out of the tasks so far; the metrics of the tests follow it, mAP does not. */
TEST(threshold_is_chosen_on_what_is_held_out)
{
    ocdm__stream stream = {.task_count = 0};
    ocdm__averages total[2];
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    for (uint32_t rule = OCDM__THRESHOLD_FIXED; rule <= OCDM__THRESHOLD_VALIDATION; rule++) {
        ocdm__run *run = NULL;
        enum ocdm__run_event event = OCDM__RUN_STEPPED;
        ocdm__run_settings settings = small_settings("ocdm");
        settings.validation = 0.2;
        settings.threshold = rule;
        assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
        assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
        assert_int_equal(ocdm__run_begin(run, NULL), OCDM_OK);
        while (event != OCDM__RUN_FINISHED)
            assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
        const ocdm__evaluation *last = &run->evaluations[2];
        total[rule] = last->total;
        assert_true(isnan(last->threshold) == (rule == OCDM__THRESHOLD_FIXED));
        if (rule == OCDM__THRESHOLD_VALIDATION) {
            float logits[450 * SMALL_CLASSES];
            bool carried[450 * SMALL_CLASSES] = {false};
            size_t count = ask(run, (const uint32_t[]){0, 1, 2}, 3, logits, carried);
            for (size_t i = 0; i < count * SMALL_CLASSES; i++)
                logits[i] -= (float)last->threshold;
            same_numbers(judge(logits, carried, count, run->groups, -1), &last->total);
            assert_true(run->operation.best.threshold == (float)last->threshold && run->operation.count > 0);
            assert_true(fabs(run->validation->total.value[OCDM_CF1] - run->operation.best.cf1) < 1e-12);
        }
        ocdm__run_close(run);
    }
    assert_true(total[0].value[OCDM_MAP] == total[1].value[OCDM_MAP] && total[0].value[OCDM_CF1] != total[1].value[OCDM_CF1]);
    ocdm__stream_close(&stream);
}

TEST(evaluation_without_an_agent_has_distances_alone)
{
    ocdm__stream stream = {.task_count = 0};
    ocdm__run *run = NULL;
    enum ocdm__run_event event = OCDM__RUN_STEPPED;
    ocdm__run_settings settings = small_settings("rs");
    settings.model = "none";
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
    assert_int_equal(ocdm__run_begin(run, NULL), OCDM_OK);
    while (event != OCDM__RUN_FINISHED)
        assert_int_equal(ocdm__run_advance(run, NULL, &event, NULL), OCDM_OK);
    assert_true(isnan(run->evaluations[2].total.value[OCDM_MAP]) && isnan(run->loss));
    assert_true(run->evaluations[2].distance_seen > 0);
    assert_int_equal(ocdm_memory_size(run->memory), 30);
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

/* Infinity has a rank, so only a check of the logits finds it. */
TEST(evaluation_names_the_sample_when_a_logit_is_not_finite)
{
    static float weight[SMALL_CLASSES * SMALL_WIDTH], bias[SMALL_CLASSES];
    struct ocdm__tensor tensors[2] = {ocdm__tensor_of("fc.weight", OCDM__F32, weight, SMALL_CLASSES * SMALL_WIDTH),
                                      ocdm__tensor_of("fc.bias", OCDM__F32, bias, SMALL_CLASSES)};
    ocdm__stream stream = {.task_count = 0};
    ocdm__run *run = NULL;
    ocdm__evaluation evaluation = {.task_count = 0};
    ocdm__run_settings settings = small_settings("ocdm");
    ocdm__output output;
    ocdm_error error;
    weight[2 * SMALL_WIDTH] = 3e38F; /* class 2 of a sample whose first feature is above 1.13 */
    tensors[0].rank = 2;
    tensors[0].shape[0] = SMALL_CLASSES;
    tensors[0].shape[1] = SMALL_WIDTH;
    assert_int_equal(ocdm__output_open(&output, "large", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, tensors, 2, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    settings.weights = "large";
    assert_int_equal(ocdm__stream_open(&stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_settings_resolve(&settings, &stream, "stream", NULL), OCDM_OK);
    assert_int_equal(ocdm__run_open(&settings, &stream, &ocdm__agent_maker, &run, NULL), OCDM_OK);
    size_t large = 0;
    float features[SMALL_WIDTH] = {0};
    while (features[0] * 3e38F <= FLT_MAX)
        ocdm__stream_features(&stream, run->tests.samples[large++], features);
    const ocdm__examination examination = {.learner = run->learner,
                                           .inputs = run->inputs,
                                           .table = &stream.table,
                                           .tests = &run->tests,
                                           .groups = run->groups,
                                           .source = {"a stream", "do something"}};
    const struct ocdm__version_result result = {.evaluation = &evaluation, .scores = run->scores};
    assert_int_equal(ocdm__evaluate(&examination, 3, &result, 1, &error), OCDM_BAD_RECORD);
    char message[80];
    snprintf(message, sizeof message, "a stream: sample %u: the logit of class 2 is not a finite number",
             (unsigned)run->tests.samples[large - 1]);
    assert_string_equal(error.message, message);
    assert_string_equal(error.hint, "do something");
    ocdm__evaluation_clear(&evaluation);
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

/* ---- groups ----------------------------------------------------------------------------------------------------------- */

TEST(groups_follow_bounds_file_or_stream)
{
    static const uint64_t starts[] = {0, 1, 2, 3};
    const uint64_t counts[] = {100, 99, 601};
    uint8_t own[] = {OCDM__MINORITY, OCDM__MINORITY, OCDM__MAJORITY}, groups[3];
    uint64_t class_starts[4];
    char names[] = "abc";
    ocdm_error error;
    memcpy(class_starts, starts, sizeof starts);
    ocdm__stream_table table = {.class_count = 3, .classes = {class_starts, names}};
    assert_int_equal(ocdm__evaluation_groups("600,100", &table, counts, groups, &error), OCDM_OK);
    assert_true(groups[0] == OCDM__MODERATE && groups[1] == OCDM__MINORITY && groups[2] == OCDM__MAJORITY);
    assert_int_equal(ocdm__evaluation_groups("601,99", &table, counts, groups, &error), OCDM_OK);
    assert_true(groups[0] == OCDM__MODERATE && groups[1] == OCDM__MODERATE && groups[2] == OCDM__MODERATE);
    assert_int_equal(ocdm__evaluation_groups("1,2", &table, counts, groups, &error), OCDM_BAD_ARGUMENT);
    assert_int_equal(ocdm__evaluation_groups("stream", &table, counts, groups, &error), OCDM_BAD_ARGUMENT);
    table.groups = own;
    assert_int_equal(ocdm__evaluation_groups("stream", &table, counts, groups, &error), OCDM_OK);
    assert_memory_equal(groups, own, 3);
    static const char text[] = "majority: b\nmoderate: a, c\n";
    assert_int_equal(write_whole("groups", (const unsigned char *)text, sizeof text - 1), 0);
    assert_int_equal(ocdm__evaluation_groups("groups", &table, counts, groups, &error), OCDM_OK);
    assert_true(groups[0] == OCDM__MODERATE && groups[1] == OCDM__MAJORITY && groups[2] == OCDM__MODERATE);
    assert_int_equal(ocdm__evaluation_groups("nowhere", &table, counts, groups, &error), OCDM_IO);
}

/* ---- the curve -------------------------------------------------------------------------------------------------------- */

/* However long a run is: at most a thousand points, evenly spaced from the first, and the newest always. */
TEST(curve_keeps_a_thousand_points_of_any_number)
{
    static const size_t lengths[] = {1, 999, 1000, 1001, 5000, 123457};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ocdm__curve *curve = calloc(1, sizeof *curve);
        for (size_t k = 1; k <= lengths[i]; k++) {
            ocdm__curve_point point = {.step = (double)k};
            ocdm__curve_add(curve, &point);
        }
        assert_true(curve->count < OCDM__CURVE_ROOM && (lengths[i] < 1000 || curve->count >= 499));
        for (size_t k = 0; k < curve->count; k++)
            assert_true(curve->points[k].step == (double)(1 + k * curve->stride));
        assert_true(curve->last.step == (double)lengths[i]);
        ocdm__output output;
        assert_int_equal(ocdm__output_open_memory(&output, "a curve", NULL), OCDM_OK);
        ocdm__curve_write(&output, curve);
        ocdm__output_write(&output, "", 1);
        char last[40];
        snprintf(last, sizeof last, "%s%zu],\"task\"", lengths[i] > 1 ? "," : "[", lengths[i]);
        assert_non_null(strstr(output.buffer, last));
        ocdm__output_abandon(&output);
        free(curve);
    }
}

static int make_stream(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    small_file(&plan, "stream");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_is_on_the_tests_of_the_tasks_so_far),
        cmocka_unit_test(tasks_are_evaluated_before_they_are_learnt),
        cmocka_unit_test(threshold_is_chosen_on_what_is_held_out),
        cmocka_unit_test(evaluation_without_an_agent_has_distances_alone),
        cmocka_unit_test(evaluation_names_the_sample_when_a_logit_is_not_finite),
        cmocka_unit_test(groups_follow_bounds_file_or_stream),
        cmocka_unit_test(curve_keeps_a_thousand_points_of_any_number),
    };
    return cmocka_run_group_tests(tests, make_stream, leave_folder);
}
