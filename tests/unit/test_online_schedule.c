/* Which samples come in which step: batches inside tasks, everything once, and multitask's unions. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/random.h"
#include "experiment/loop/schedule.h"

/* A table with `count` training samples of random tasks, one more test sample, and no labels. */
struct made {
    ocdm__stream_table table;
    uint64_t starts[202];
    uint32_t tasks[201];
    uint8_t parts[201];
};

static void make_table(struct made *made, size_t count, uint32_t tasks, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 0);
    memset(made, 0, sizeof *made);
    for (size_t i = 0; i < count; i++)
        made->tasks[i] = i < tasks ? (uint32_t)i : (uint32_t)ocdm__random_below(&random, tasks);
    made->tasks[count] = tasks; /* a task that only tests */
    made->parts[count] = OCDM__TEST;
    made->table = (ocdm__stream_table){
        .sample_count = count + 1, .label_starts = made->starts, .tasks = made->tasks, .parts = made->parts};
}

static ocdm__run_settings settings_for(const char *method, uint32_t batch, uint32_t epochs, uint64_t seed)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    settings.method = method;
    settings.batch = batch;
    settings.replay = 3;
    settings.epochs = epochs;
    settings.seed = seed;
    return settings;
}

/* Every training sample once, no batch over two tasks, only the last of a task shorter, and the counts of samples seen. */
TEST(schedule_takes_each_sample_once_and_never_mixes_tasks)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct made made;
        ocdm__schedule schedule;
        ocdm__run_settings settings = settings_for("ocdm", 1 + (uint32_t)seed % 9, 1, seed);
        char where[32];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        make_table(&made, 60 + (size_t)seed, 4, seed);
        assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, NULL), OCDM_OK);
        bool taken[201] = {false};
        uint64_t seen = 0;
        for (uint64_t step = 0; step < ocdm__schedule_steps(&schedule); step++) {
            uint32_t samples[16];
            size_t count = ocdm__schedule_batch(&schedule, step, samples), place = ocdm__schedule_place(&schedule, step);
            HOLDS(where, count == settings.batch || (count > 0 && step + 1 == schedule.task_ends[place]));
            for (size_t i = 0; i < count; i++) {
                HOLDS(where, !taken[samples[i]] && made.parts[samples[i]] == OCDM__TRAIN);
                HOLDS(where, made.tasks[samples[i]] == schedule.order.tasks[place]);
                taken[samples[i]] = true;
            }
            seen += count;
            HOLDS(where, ocdm__schedule_seen(&schedule, step + 1) == seen);
        }
        uint32_t samples[16];
        HOLDS(where, seen == 60 + seed && ocdm__schedule_batch(&schedule, ocdm__schedule_steps(&schedule), samples) == 0);
        HOLDS(where, schedule.order.task_count == 5 && schedule.task_ends[4] == schedule.task_ends[3]);
        ocdm__schedule_clear(&schedule);
    }
}

/* At task k all samples of tasks 0..k, each once in an epoch, in an order that differs from epoch to epoch. */
TEST(multitask_trains_on_all_tasks_so_far)
{
    struct made made;
    ocdm__schedule schedule;
    ocdm__run_settings settings = settings_for("multitask", 7, 2, 3);
    make_table(&made, 90, 3, 1);
    assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, NULL), OCDM_OK);
    assert_int_equal(schedule.batch, 10);
    uint64_t step = 0;
    for (size_t place = 0; place < 3; place++) {
        uint32_t first_of_epoch[2];
        for (unsigned epoch = 0; epoch < 2; epoch++) {
            bool taken[201] = {false};
            size_t all = schedule.order.ends[place], count = 0;
            while (count < all) {
                uint32_t samples[16];
                size_t here = ocdm__schedule_batch(&schedule, step, samples);
                assert_int_equal(here, all - count < 10 ? all - count : 10);
                assert_int_equal(ocdm__schedule_place(&schedule, step), place);
                first_of_epoch[epoch] = count == 0 ? samples[0] : first_of_epoch[epoch];
                for (size_t i = 0; i < here; i++) {
                    assert_false(taken[samples[i]]);
                    assert_true(made.tasks[samples[i]] <= place);
                    taken[samples[i]] = true;
                }
                count += here;
                step++;
                assert_int_equal(ocdm__schedule_seen(&schedule, step), all);
            }
        }
        assert_int_not_equal(first_of_epoch[0], first_of_epoch[1]);
        assert_int_equal(schedule.task_ends[place], step);
    }
    ocdm__schedule_clear(&schedule);
}

/* A step can be asked for without those before it: that is what going on from a checkpoint needs. */
TEST(schedule_gives_any_step_by_itself)
{
    static const char *const methods[] = {"ocdm", "multitask"};
    for (size_t m = 0; m < 2; m++) {
        struct made made;
        ocdm__schedule forward, backward;
        ocdm__run_settings settings = settings_for(methods[m], 7, m == 1 ? 3 : 1, 3);
        make_table(&made, 90, 3, 1);
        assert_int_equal(ocdm__schedule_make(&forward, &settings, &made.table, NULL), OCDM_OK);
        assert_int_equal(ocdm__schedule_make(&backward, &settings, &made.table, NULL), OCDM_OK);
        uint64_t steps = ocdm__schedule_steps(&forward);
        uint32_t *all = calloc(steps, 16 * sizeof *all), samples[16];
        for (uint64_t step = 0; step < steps; step++)
            ocdm__schedule_batch(&forward, step, all + 16 * step);
        for (uint64_t step = steps; step-- > 0;) {
            size_t count = ocdm__schedule_batch(&backward, step, samples);
            assert_memory_equal(samples, all + 16 * step, count * sizeof *samples);
        }
        free(all);
        ocdm__schedule_clear(&forward);
        ocdm__schedule_clear(&backward);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_takes_each_sample_once_and_never_mixes_tasks),
        cmocka_unit_test(multitask_trains_on_all_tasks_so_far),
        cmocka_unit_test(schedule_gives_any_step_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
