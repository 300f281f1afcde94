/* Which samples come in which step: batches inside tasks, everything once, and multitask's unions. */
#include <math.h>
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
    settings.network.seed = seed;
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

/* A step can be computed without those before it: resuming from a checkpoint needs this. */
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

/* ---- validation and resampled tests ------------------------------------------------------------------------------------- */

#define CLASSES 6

/* Gives each sample one or two of six classes, of which the last is rare. */
static void add_labels(struct made *made, uint32_t *labels, size_t count, uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)ocdm__random_below(&random, CLASSES - 1), b = (uint32_t)ocdm__random_below(&random, CLASSES - 1);
        uint64_t at = made->starts[i];
        labels[at++] = i % 31 == 7 ? CLASSES - 1 : a;
        if (b != a)
            labels[at++] = b;
        made->starts[i + 1] = at;
    }
    made->table.labels = labels;
    made->table.class_count = CLASSES;
}

static size_t rarest(const struct made *made, const uint64_t *counts, uint32_t sample)
{
    size_t best = CLASSES;
    for (uint64_t k = made->starts[sample]; k < made->starts[sample + 1]; k++)
        if (best == CLASSES || counts[made->table.labels[k]] < counts[best] ||
            (counts[made->table.labels[k]] == counts[best] && made->table.labels[k] < best))
            best = made->table.labels[k];
    return best;
}

/* What is held out leaves the stream and nothing else changes; each task gives its share, each stratum with it within one. */
TEST(held_out_samples_leave_the_stream)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct made made;
        uint32_t labels[402];
        ocdm__schedule whole, parted, again;
        ocdm__run_settings settings = settings_for("ocdm", 7, 1, seed);
        char where[32];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        make_table(&made, 200, 3, seed);
        add_labels(&made, labels, 201, seed);
        assert_int_equal(ocdm__schedule_make(&whole, &settings, &made.table, NULL), OCDM_OK);
        settings.validation = 0.2;
        assert_int_equal(ocdm__schedule_make(&parted, &settings, &made.table, NULL), OCDM_OK);
        assert_int_equal(ocdm__schedule_make(&again, &settings, &made.table, NULL), OCDM_OK);
        const ocdm__stream_order *held = &parted.held_out;
        HOLDS(where, parted.order.count + held->count == 200 && whole.held_out.count == 0);
        HOLDS(where, held->count >= 33 && held->count <= 43);
        HOLDS(where, memcmp(held->samples, again.held_out.samples, held->count * sizeof *held->samples) == 0);
        size_t next = 0, out = 0, task = 0;
        for (size_t i = 0; i < whole.order.count; i++) {
            while (i >= whole.order.ends[task]) {
                HOLDS(where, parted.order.ends[task] == next && held->ends[task] == out);
                task++;
            }
            if (out < held->count && whole.order.samples[i] == held->samples[out])
                out++;
            else
                HOLDS(where, whole.order.samples[i] == parted.order.samples[next++]);
        }
        HOLDS(where, next == parted.order.count && out == held->count);
        ocdm__schedule_clear(&whole);
        ocdm__schedule_clear(&parted);
        ocdm__schedule_clear(&again);
    }
}

/* Each stratum gives its share, to within one sample; one that is alone in its stratum stays. */
TEST(held_out_samples_are_spread_over_the_classes)
{
    struct made made;
    uint32_t labels[402];
    uint64_t counts[CLASSES] = {0};
    double all[3][CLASSES] = {{0}}, held[3][CLASSES] = {{0}};
    ocdm__schedule schedule;
    ocdm__run_settings settings = settings_for("ocdm", 7, 1, 4);
    make_table(&made, 200, 3, 4);
    add_labels(&made, labels, 201, 4);
    for (size_t k = 0; k < made.starts[200]; k++)
        counts[labels[k]]++;
    settings.validation = 0.25;
    assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, NULL), OCDM_OK);
    for (uint32_t i = 0; i < 200; i++)
        all[made.tasks[i]][rarest(&made, counts, i)]++;
    for (size_t i = 0; i < schedule.held_out.count; i++) {
        uint32_t sample = schedule.held_out.samples[i];
        held[made.tasks[sample]][rarest(&made, counts, sample)]++;
    }
    for (size_t task = 0; task < 3; task++)
        for (size_t c = 0; c < CLASSES; c++) {
            double off = held[task][c] - 0.25 * all[task][c];
            assert_true(off > -1 && off < 1);
            assert_true(all[task][c] != 1 || held[task][c] == 0);
        }
    ocdm__schedule_clear(&schedule);
}

/* As many of each task and rarest class as before, some of them twice; by the seed alone. */
TEST(tests_are_resampled_inside_their_strata)
{
    struct made made;
    uint32_t labels[402];
    uint64_t counts[CLASSES] = {0};
    ocdm__stream_order first, second, other;
    make_table(&made, 200, 3, 8);
    add_labels(&made, labels, 201, 8);
    memset(made.parts, OCDM__TEST, sizeof made.parts);
    made.parts[200] = OCDM__TRAIN;
    for (size_t k = 0; k < made.starts[200]; k++)
        counts[labels[k]]++;
    ocdm__stream_order *const orders[] = {&first, &second, &other};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ocdm__stream_order_make(orders[i], &made.table, OCDM__TEST, NULL, 0, 0, NULL), OCDM_OK);
        assert_int_equal(ocdm__stream_order_resample(orders[i], &made.table, i / 2, NULL), OCDM_OK);
    }
    assert_memory_equal(first.samples, second.samples, 200 * sizeof *first.samples);
    assert_memory_not_equal(first.samples, other.samples, 200 * sizeof *first.samples);
    long balance[4][CLASSES] = {{0}};
    bool drawn[200] = {false};
    size_t distinct = 0, task = 0;
    for (uint32_t i = 0; i < 200; i++) {
        while (i >= first.ends[task])
            task++;
        assert_int_equal(made.tasks[first.samples[i]], first.tasks[task]);
        balance[made.tasks[i]][rarest(&made, counts, i)]++;
        balance[made.tasks[first.samples[i]]][rarest(&made, counts, first.samples[i])]--;
        distinct += !drawn[first.samples[i]];
        drawn[first.samples[i]] = true;
    }
    for (size_t i = 0; i < 4 * CLASSES; i++)
        assert_int_equal(balance[i / CLASSES][i % CLASSES], 0);
    assert_true(distinct > 100 && distinct < 160);
    for (size_t i = 0; i < 3; i++)
        ocdm__stream_order_clear(orders[i]);
}

/* ---- blur ---------------------------------------------------------------------------------------------------------------- */

/* Places of samples in a run without blur, and the naive construction: a list per period, filled sample by sample. */
static size_t naive_spread(const ocdm__schedule *plain, double share, uint64_t seed, size_t periods, uint32_t *blurred)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_BLUR);
    size_t used = 0;
    for (size_t period = 0; period < periods; period++) {
        size_t first = used;
        for (size_t k = 0; k < periods; k++) {
            size_t start = k > 0 ? plain->order.ends[k - 1] : 0, size = plain->order.ends[k] - start;
            size_t leaving = (size_t)(share * (double)size + 0.5);
            for (size_t i = 0; i < size; i++) {
                size_t where = k;
                for (size_t turn = 0; i >= size - leaving && turn <= i - (size - leaving); turn++) {
                    where = (where + 1) % periods;
                    where = where == k ? (where + 1) % periods : where;
                }
                if (where == period)
                    blurred[used++] = plain->order.samples[start + i];
            }
        }
        for (size_t i = first; i < used; i++) /* by their random numbers, smallest first */
            for (size_t j = i + 1; j < used; j++)
                if (ocdm__random_at(base, blurred[j]) < ocdm__random_at(base, blurred[i])) {
                    uint32_t sample = blurred[i];
                    blurred[i] = blurred[j];
                    blurred[j] = sample;
                }
    }
    return used;
}

/* Against the naive construction; no step or evaluation moves, and every task of which a sample was seen is tested. */
TEST(a_share_of_each_task_is_spread_evenly_over_the_others)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct made made;
        ocdm__schedule plain, schedule;
        ocdm__run_settings settings = settings_for("ocdm", 1 + (uint32_t)seed % 7, 1, seed);
        char where[32];
        snprintf(where, sizeof where, "seed %d", (int)seed);
        make_table(&made, 60 + (size_t)seed, 4, seed);
        assert_int_equal(ocdm__schedule_make(&plain, &settings, &made.table, NULL), OCDM_OK);
        settings.blur.share = (double)seed / 39;
        assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, NULL), OCDM_OK);
        uint32_t expected[201];
        size_t count = naive_spread(&plain, settings.blur.share, seed, 4, expected);
        HOLDS(where, count == schedule.order.count && count == 60 + seed);
        HOLDS(where, settings.blur.share == 0 || memcmp(expected, schedule.order.samples, count * sizeof *expected) == 0);
        uint32_t last = 0;
        for (size_t k = 0, i = 0; k < 5; k++) {
            HOLDS(where, schedule.task_ends[k] == plain.task_ends[k] && schedule.order.ends[k] == plain.order.ends[k]);
            for (; i < schedule.order.ends[k]; i++)
                last = made.tasks[schedule.order.samples[i]] > last ? made.tasks[schedule.order.samples[i]] : last;
            HOLDS(where, schedule.tested[k] == (last > k ? last : k) + 1 && plain.tested[k] == k + 1);
        }
        ocdm__schedule_clear(&plain);
        ocdm__schedule_clear(&schedule);
    }
}

/* The same draws as in the program, sorted by insertion. */
TEST(jittered_arrivals_are_in_the_order_of_their_times)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct made made;
        ocdm__schedule plain, schedule;
        ocdm__run_settings settings = settings_for("multitask", 5, 1, seed);
        make_table(&made, 150, 3, seed);
        assert_int_equal(ocdm__schedule_make(&plain, &settings, &made.table, NULL), OCDM_OK);
        settings.blur.deviation = 0.1 * (double)(seed + 1);
        assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, NULL), OCDM_OK);
        double times[201];
        uint32_t expected[201];
        for (size_t i = 0; i < 150; i++) {
            uint32_t sample = plain.order.samples[i], k = made.tasks[sample];
            size_t start = k > 0 ? plain.order.ends[k - 1] : 0;
            ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_BLUR), sample);
            double x = 1, y = 1;
            while (x * x + y * y >= 1) {
                y = 2 * ocdm__random_unit(&random) - 1;
                x = 2 * ocdm__random_unit(&random) - 1;
            }
            double square = x * x + y * y;
            double time = k + ((double)(i - start) + 0.5) / (double)(plain.order.ends[k] - start) +
                          settings.blur.deviation * x * sqrt(-2 * log(square) / square);
            size_t at = i;
            for (; at > 0 && times[at - 1] > time; at--) {
                times[at] = times[at - 1];
                expected[at] = expected[at - 1];
            }
            times[at] = time;
            expected[at] = sample;
        }
        assert_memory_equal(expected, schedule.order.samples, 150 * sizeof *expected);
        assert_memory_equal(plain.order.ends, schedule.order.ends, 4 * sizeof *plain.order.ends);
        ocdm__schedule_clear(&plain);
        ocdm__schedule_clear(&schedule);
    }
}

TEST(a_stream_of_one_task_cannot_be_blurred)
{
    struct made made;
    ocdm__schedule schedule;
    ocdm_error error;
    ocdm__run_settings settings = settings_for("ocdm", 5, 1, 0);
    settings.blur.share = 0.5;
    make_table(&made, 20, 1, 0);
    assert_int_equal(ocdm__schedule_make(&schedule, &settings, &made.table, &error), OCDM_BAD_ARGUMENT);
    ocdm__schedule_clear(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_takes_each_sample_once_and_never_mixes_tasks),
        cmocka_unit_test(multitask_trains_on_all_tasks_so_far),
        cmocka_unit_test(schedule_gives_any_step_by_itself),
        cmocka_unit_test(held_out_samples_leave_the_stream),
        cmocka_unit_test(held_out_samples_are_spread_over_the_classes),
        cmocka_unit_test(tests_are_resampled_inside_their_strata),
        cmocka_unit_test(a_share_of_each_task_is_spread_evenly_over_the_others),
        cmocka_unit_test(jittered_arrivals_are_in_the_order_of_their_times),
        cmocka_unit_test(a_stream_of_one_task_cannot_be_blurred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
