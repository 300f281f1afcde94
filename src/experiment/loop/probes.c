/*
 * Evaluations at any time: every --eval-every steps, on a fixed part of the tests that is balanced over the classes, and the
 * area under the curve of their mAP over the samples seen.
 */

#include "base/random.h"
#include "experiment/loop/run.h"

/* ---- the part of the tests --------------------------------------------------------------------------------------------- */

/* A test by its place in the order of the tests, and when it comes in a random one. */
struct keyed {
    uint64_t key;
    size_t test;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->test > y->test) - (x->test < y->test);
}

/* What the draw keeps of a class: tests taken and left, and how far it has looked in the random order. */
struct need {
    size_t taken, left, looked;
};

/* One test after another, each the next one of the class that has the fewest so far among those that have another one. */
static void take_tests(const ocdm__stream_table *table, const ocdm__stream_order *tests, const struct keyed *shuffled,
                       struct need *needs, size_t wanted, bool *is_taken)
{
    for (size_t i = 0; i < tests->count; i++) {
        const ocdm_sample test = ocdm__sample_of(table, tests->samples[i]);
        for (size_t k = 0; k < test.label_count; k++)
            needs[test.labels[k]].left++;
    }
    for (size_t i = 0; i < wanted; i++) {
        struct need *poorest = NULL;
        for (size_t c = 0; c < table->class_count; c++)
            if (needs[c].left > 0 && (poorest == NULL || needs[c].taken < poorest->taken))
                poorest = &needs[c];
        if (poorest == NULL)
            return;
        while (is_taken[shuffled[poorest->looked].test] ||
               !ocdm__has_label(table, tests->samples[shuffled[poorest->looked].test], (uint32_t)(poorest - needs)))
            poorest->looked++;
        size_t test = shuffled[poorest->looked].test;
        is_taken[test] = true;
        const ocdm_sample taken = ocdm__sample_of(table, tests->samples[test]);
        for (size_t k = 0; k < taken.label_count; k++) {
            needs[taken.labels[k]].taken++;
            needs[taken.labels[k]].left--;
        }
    }
}

ocdm_status ocdm__probes_make(ocdm__probes *probes, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                              const ocdm__stream_order *tests, ocdm_error *error)
{
    uint64_t base = ocdm__random_base(settings->network.seed, OCDM__FOR_PROBES);
    *probes = (ocdm__probes){.versions = 1 + settings->network.averages.count};
    if (settings->eval_every == 0)
        return OCDM_OK;
    ocdm__stream_order *part = &probes->part;
    OCDM_TRY(ocdm__stream_order_allocate(part, tests->count, tests->task_count, error));
    ocdm__arena *arena = &part->arena;
    probes->places = ocdm__arena_new(arena, tests->count, sizeof *probes->places);
    struct keyed *shuffled = ocdm__arena_new(arena, tests->count, sizeof *shuffled);
    struct need *needs = ocdm__arena_new(arena, table->class_count, sizeof *needs);
    bool *is_taken = ocdm__arena_new(arena, tests->count, sizeof *is_taken);
    OCDM_TRY(ocdm__arena_check(arena, "the tests of evaluations at any time", error));
    for (size_t i = 0; i < tests->count; i++) {
        shuffled[i] = (struct keyed){ocdm__random_at(base, i), i};
        is_taken[i] = settings->eval_samples >= tests->count;
    }
    if (settings->eval_samples < tests->count) {
        qsort(shuffled, tests->count, sizeof *shuffled, by_key);
        take_tests(table, tests, shuffled, needs, settings->eval_samples, is_taken);
    }
    /* The part keeps the order of the tests, and in a stream of partial labels shares the classes that the tasks introduce. */
    for (size_t k = 0, test = 0; k < tests->task_count; k++) {
        for (; test < tests->ends[k]; test++) {
            if (!is_taken[test])
                continue;
            probes->places[part->count] = test;
            part->samples[part->count++] = tests->samples[test];
        }
        part->tasks[k] = tests->tasks[k];
        part->ends[k] = part->count;
    }
    part->disjoint = tests->disjoint;
    part->class_places = tests->class_places;
    return OCDM_OK;
}

/* ---- the curve --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__probes_reserve(ocdm__probes *probes, size_t count, ocdm_error *error)
{
    if (ocdm__reserve(&probes->map, &probes->room, count, probes->versions * sizeof *probes->map))
        return OCDM_OK;
    return ocdm__fail_memory(error, "the curve of evaluations at any time");
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
    static const char *const keys[] = {"step", "samples", "mAP"};
    const ocdm__probes *probes = &run->probes;
    if (run->settings->eval_every == 0)
        return;
    ocdm__json_open(output, "anytime", '{');
    ocdm__json_count(output, "tests", probes->part.count);
    ocdm__json_real(output, "AUC_mAP", 100 * ocdm__run_probe_area(run, run->reported));
    for (size_t k = 0; k < 3; k++) {
        ocdm__json_open(output, keys[k], '[');
        for (size_t i = 0; i < probes->count; i++) {
            uint64_t step = ocdm__run_probe_step(run, i);
            if (k == 2)
                ocdm__json_real(output, NULL, 100 * probes->map[i * probes->versions + run->reported]);
            else
                ocdm__json_count(output, NULL, k == 0 ? step : ocdm__schedule_time(&run->schedule, step));
        }
        ocdm__json_close(output, ']');
    }
    ocdm__json_close(output, '}');
}
