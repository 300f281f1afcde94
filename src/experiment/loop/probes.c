/*
 * Evaluations at any time: every --eval-every steps, on a fixed part of the tests that is balanced over the classes, and the
 * area under the curve of their mAP over the samples seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "experiment/loop/run.h"

/* ---- the part of the tests --------------------------------------------------------------------------------------------- */

/* What the draw works on. Tests are places in the order of the tests. */
struct draw {
    const ocdm__stream_table *table;
    const ocdm__stream_order *tests;
    struct keyed {
        uint64_t key;
        size_t test;
    } * shuffled;
    size_t *starts;  /* of each class in `lists`, and the end */
    size_t *lists;   /* the tests of each class, shuffled */
    size_t *next;    /* of each class: the first one of its list that may not be taken yet */
    uint32_t *taken; /* tests of each class */
    bool *is_taken;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->test > y->test) - (x->test < y->test);
}

static uint64_t labels_start(const struct draw *draw, size_t test)
{
    return draw->table->label_starts[draw->tests->samples[test]];
}

static uint64_t labels_end(const struct draw *draw, size_t test)
{
    return draw->table->label_starts[draw->tests->samples[test] + (size_t)1];
}

static size_t count_labels(const struct draw *draw)
{
    size_t sum = 0;
    for (size_t i = 0; i < draw->tests->count; i++)
        sum += (size_t)(labels_end(draw, i) - labels_start(draw, i));
    return sum;
}

static bool make_draw(struct draw *draw)
{
    size_t classes = draw->table->class_count, tests = draw->tests->count;
    draw->shuffled = ocdm__allocate(tests, sizeof *draw->shuffled);
    draw->starts = ocdm__allocate(classes + 1, sizeof *draw->starts);
    draw->lists = ocdm__allocate(count_labels(draw), sizeof *draw->lists);
    draw->next = ocdm__allocate(classes, sizeof *draw->next);
    draw->taken = ocdm__allocate(classes, sizeof *draw->taken);
    draw->is_taken = ocdm__allocate(tests, sizeof *draw->is_taken);
    return draw->shuffled != NULL && draw->starts != NULL && draw->lists != NULL && draw->next != NULL && draw->taken != NULL &&
           draw->is_taken != NULL;
}

static void list_tests(struct draw *draw, uint64_t seed)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_PROBES);
    size_t classes = draw->table->class_count, tests = draw->tests->count;
    for (size_t i = 0; i < tests; i++) {
        draw->shuffled[i] = (struct keyed){ocdm__random_at(base, i), i};
        for (uint64_t k = labels_start(draw, i); k < labels_end(draw, i); k++)
            draw->starts[draw->table->labels[k] + (size_t)1]++;
    }
    for (size_t c = 0; c < classes; c++) {
        draw->starts[c + 1] += draw->starts[c];
        draw->next[c] = draw->starts[c];
    }
    qsort(draw->shuffled, tests, sizeof *draw->shuffled, by_key);
    for (size_t i = 0; i < tests; i++) {
        size_t test = draw->shuffled[i].test;
        for (uint64_t k = labels_start(draw, test); k < labels_end(draw, test); k++)
            draw->lists[draw->next[draw->table->labels[k]]++] = test;
    }
    for (size_t c = 0; c < classes; c++)
        draw->next[c] = draw->starts[c];
}

/* One test after another, each for the class that has the fewest. */
static void take_tests(struct draw *draw, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++) {
        /* The class with the fewest tests so far among those that have another one; class_count if there is none. */
        size_t classes = draw->table->class_count, class = classes;
        for (size_t c = 0; c < classes; c++) {
            while (draw->next[c] < draw->starts[c + 1] && draw->is_taken[draw->lists[draw->next[c]]])
                draw->next[c]++;
            if (draw->next[c] < draw->starts[c + 1] && (class == classes || draw->taken[c] < draw->taken[class]))
                class = c;
        }

        if (class == draw->table->class_count)
            return;
        size_t test = draw->lists[draw->next[class]];
        draw->is_taken[test] = true;
        for (uint64_t k = labels_start(draw, test); k < labels_end(draw, test); k++)
            draw->taken[draw->table->labels[k]]++;
    }
}

/* The part keeps the order of the tests. */
static void fill_part(ocdm__probes *probes, const ocdm__stream_order *tests, const bool *is_taken)
{
    ocdm__stream_order *part = &probes->part;
    size_t test = 0;
    for (size_t k = 0; k < tests->task_count; k++) {
        for (; test < tests->ends[k]; test++) {
            if (!is_taken[test])
                continue;
            probes->places[part->count] = test;
            part->samples[part->count++] = tests->samples[test];
        }
        part->tasks[k] = tests->tasks[k];
        part->ends[k] = part->count;
    }
}

/* Partial labels: the part has the classes that the tasks introduce, as all tests have. */
static bool copy_class_places(ocdm__stream_order *part, const ocdm__stream_order *tests, size_t class_count)
{
    if (tests->class_places == NULL)
        return true;
    part->disjoint = tests->disjoint;
    part->class_places = ocdm__allocate(class_count, sizeof *part->class_places);
    if (part->class_places != NULL)
        memcpy(part->class_places, tests->class_places, class_count * sizeof *part->class_places);
    return part->class_places != NULL;
}

ocdm_status ocdm__probes_make(ocdm__probes *probes, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                              const ocdm__stream_order *tests, ocdm_error *error)
{
    struct draw draw = {.table = table, .tests = tests};
    *probes =
        (ocdm__probes){.part = {.task_count = tests->task_count}, .versions = 1 + (size_t)settings->network.averages.count};
    if (settings->eval_every == 0)
        return OCDM_OK;
    probes->part.samples = ocdm__allocate(tests->count, sizeof *probes->part.samples);
    probes->part.tasks = ocdm__allocate(tests->task_count, sizeof *probes->part.tasks);
    probes->part.ends = ocdm__allocate(tests->task_count, sizeof *probes->part.ends);
    probes->places = ocdm__allocate(tests->count, sizeof *probes->places);
    bool made = make_draw(&draw) && probes->part.samples != NULL && probes->part.tasks != NULL && probes->part.ends != NULL &&
                probes->places != NULL && copy_class_places(&probes->part, tests, table->class_count);
    if (made && settings->eval_samples >= tests->count) {
        memset(draw.is_taken, 1, tests->count * sizeof *draw.is_taken);
    } else if (made) {
        list_tests(&draw, settings->network.seed);
        take_tests(&draw, settings->eval_samples);
    }
    if (made)
        fill_part(probes, tests, draw.is_taken);
    void *const blocks[] = {draw.shuffled, draw.starts, draw.lists, draw.next, draw.taken, draw.is_taken};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        ocdm__release(blocks[i]);
    return made ? OCDM_OK : ocdm__fail_memory(error, "the tests of evaluations at any time");
}

void ocdm__probes_clear(ocdm__probes *probes)
{
    ocdm__stream_order_clear(&probes->part);
    ocdm__release(probes->places);
    ocdm__release(probes->map);
    *probes = (ocdm__probes){.count = 0};
}

/* ---- the curve --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__probes_reserve(ocdm__probes *probes, size_t count, ocdm_error *error)
{
    bool failed = false;
    if (count <= probes->room)
        return OCDM_OK;
    size_t room = count > 2 * probes->room ? count : 2 * probes->room;
    probes->map = ocdm__grown(probes->map, room * probes->versions, sizeof *probes->map, &failed);
    if (failed)
        return ocdm__fail_memory(error, "the curve of evaluations at any time");
    probes->room = room;
    return OCDM_OK;
}

uint64_t ocdm__run_probe_step(const ocdm__run *run, size_t number)
{
    uint64_t steps = ocdm__schedule_steps(&run->schedule), every = run->settings->eval_every;
    return number < steps / every ? (number + 1) * every : steps;
}

bool ocdm__run_probes_after(const ocdm__run *run, uint64_t steps)
{
    uint64_t every = run->settings->eval_every;
    return every > 0 && steps > 0 && (steps % every == 0 || steps == ocdm__schedule_steps(&run->schedule));
}

/* i-Blurry's A_AUC: each evaluation stands for the samples since the one before it. */
double ocdm__run_probe_area(const ocdm__run *run, size_t version)
{
    const ocdm__probes *probes = &run->probes;
    double area = 0, known = 0, before = 0;
    for (size_t i = 0; i < probes->count; i++) {
        double map = probes->map[i * probes->versions + version];
        double samples = (double)ocdm__schedule_time(&run->schedule, ocdm__run_probe_step(run, i));
        if (!isnan(map)) {
            area += map * (samples - before);
            known += samples - before;
        }
        before = samples;
    }
    return known > 0 ? area / known : NAN;
}

void ocdm__run_probes_write(ocdm__output *output, const ocdm__run *run)
{
    const ocdm__probes *probes = &run->probes;
    if (run->settings->eval_every == 0)
        return;
    ocdm__json_open(output, "anytime", '{');
    ocdm__json_count(output, "tests", probes->part.count);
    ocdm__json_real(output, "AUC_mAP", 100 * ocdm__run_probe_area(run, run->reported));
    ocdm__json_open(output, "step", '[');
    for (size_t i = 0; i < probes->count; i++)
        ocdm__json_count(output, NULL, ocdm__run_probe_step(run, i));
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "samples", '[');
    for (size_t i = 0; i < probes->count; i++)
        ocdm__json_count(output, NULL, ocdm__schedule_time(&run->schedule, ocdm__run_probe_step(run, i)));
    ocdm__json_close(output, ']');
    ocdm__json_open(output, "mAP", '[');
    for (size_t i = 0; i < probes->count; i++)
        ocdm__json_real(output, NULL, 100 * probes->map[i * probes->versions + run->reported]);
    ocdm__json_close(output, ']');
    ocdm__json_close(output, '}');
}
