/*
 * The order of the samples, and the steps that they are divided into.
 *
 * Nothing here is kept from step to step but the shuffle of multitask, which is made again when it is needed: a run continues
 * at any step without a state to save.
 */
#include "experiment/loop/schedule.h"

#include "base/random.h"
#include "stream/statistics.h"

/* ---- order --------------------------------------------------------------------------------------------------------------- */

/* What is wrong with a task comes before a wrong number of them: it says more. */
static ocdm_status take_tasks(ocdm__stream_order *order, const uint64_t *tasks, size_t task_count, const bool *exists,
                              ocdm_error *error)
{
    static const char hint[] = "name every task of the stream once, for example --order 0,3,1,2; `ocdm stream info` lists them";
    for (size_t i = 0; i < task_count; i++) {
        if (tasks[i] >= OCDM__MAX_TASKS || !exists[tasks[i]])
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the order names task %llu, which the stream does not have",
                              (unsigned long long)tasks[i]);
        for (size_t j = 0; j < i; j++)
            if (tasks[j] == tasks[i])
                return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the order names task %llu twice",
                                  (unsigned long long)tasks[i]);
    }
    if (task_count != order->task_count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "the order names %zu tasks, the stream has %zu", task_count,
                          order->task_count);
    for (size_t i = 0; i < task_count; i++)
        order->tasks[i] = (uint32_t)tasks[i];
    return OCDM_OK;
}

/* Shuffles have numbers: those of the tasks, and above them one for each task and epoch of multitask. */
static void shuffle(uint32_t *samples, size_t count, uint64_t seed, uint64_t number)
{
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_SHUFFLES), number);
    ocdm__random_shuffle(&random, samples, count);
}

ocdm_status ocdm__stream_order_allocate(ocdm__stream_order *order, size_t samples, size_t tasks, ocdm_error *error)
{
    *order = (ocdm__stream_order){.task_count = tasks};
    order->samples = ocdm__arena_new(&order->arena, samples, sizeof *order->samples);
    order->tasks = ocdm__arena_new(&order->arena, tasks, sizeof *order->tasks);
    order->ends = ocdm__arena_new(&order->arena, tasks, sizeof *order->ends);
    return ocdm__arena_check(&order->arena, "the order of the samples", error);
}

/* ---- classes that tasks introduce ---------------------------------------------------------------------------------------- */

/* Only streams of partial labels have tasks that introduce classes. Finds where, by what the training samples of each task
 * know: a row of bits of `known` for each. */
static ocdm_status place_classes(ocdm__stream_order *order, const ocdm__stream_table *table, ocdm_error *error)
{
    size_t size = ocdm__bits_size(table->class_count);
    bool trains = false;
    if (table->known == NULL)
        return OCDM_OK;
    ocdm__arena room = {.failed = false};
    uint32_t *places = ocdm__arena_new(&room, OCDM__MAX_TASKS, sizeof *places); /* of the tasks */
    uint8_t *known = ocdm__arena_new(&room, order->task_count, size);
    uint32_t *first = ocdm__arena_new(&order->arena, table->class_count, sizeof *first);
    room.failed = room.failed || order->arena.failed;
    ocdm_status status = ocdm__arena_check(&room, "the classes of the tasks", error);
    for (size_t k = 0; status == OCDM_OK && k < order->task_count; k++)
        places[order->tasks[k]] = (uint32_t)k;
    for (size_t i = 0; status == OCDM_OK && i < table->sample_count; i++) {
        uint8_t *row = known + places[table->tasks[i]] * size;
        for (size_t k = 0; table->parts[i] == OCDM__TRAIN && k < size; k++)
            row[k] = (uint8_t)(row[k] | ocdm__known_labels(table, i)[k]);
        trains = trains || table->parts[i] == OCDM__TRAIN;
    }
    order->disjoint = true;
    for (size_t c = 0; status == OCDM_OK && c < table->class_count; c++) {
        first[c] = OCDM_NONE;
        for (uint32_t k = 0; k < order->task_count; k++) {
            if (!ocdm__bits_have(known + k * size, c))
                continue;
            order->disjoint = order->disjoint && first[c] == OCDM_NONE;
            first[c] = first[c] == OCDM_NONE ? k : first[c];
        }
    }
    order->class_places = status == OCDM_OK && trains ? first : NULL;
    ocdm__arena_clear(&room);
    return status;
}

/* Tests count from the first task on that introduces one of their labels, whatever the order of the tasks; from their own if
 * none does. */
static ocdm_status place_tests(ocdm__stream_order *order, const ocdm__stream_table *table, ocdm_error *error)
{
    uint32_t *places = ocdm__arena_new(&order->arena, order->count, sizeof *places);
    uint32_t *samples = ocdm__arena_new(&order->arena, table->sample_count, sizeof *samples);
    size_t *next = ocdm__arena_new(&order->arena, order->task_count + 1, sizeof *next);
    OCDM_TRY(ocdm__arena_check(&order->arena, "the order of the samples", error));
    for (size_t k = 0, i = 0; k < order->task_count; k++)
        for (; i < order->ends[k]; i++) {
            const ocdm_sample test = ocdm__sample_of(table, order->samples[i]);
            uint32_t place = OCDM_NONE; /* the largest number */
            for (size_t j = 0; j < test.label_count; j++) {
                uint32_t introduced = order->class_places[test.labels[j]];
                place = introduced < place ? introduced : place;
            }
            places[i] = place != OCDM_NONE ? place : (uint32_t)k;
            next[places[i] + 1]++;
        }
    for (size_t k = 0; k < order->task_count; k++)
        order->ends[k] = next[k + 1] += next[k];
    for (size_t i = 0; i < order->count; i++)
        samples[next[places[i]]++] = order->samples[i];
    order->samples = samples;
    return OCDM_OK;
}

/* A task that only tests is a task too. */
ocdm_status ocdm__stream_order_make(ocdm__stream_order *order, const ocdm__stream_table *table, enum ocdm__part part,
                                    const uint64_t *tasks, size_t task_count, uint64_t seed, ocdm_error *error)
{
    ocdm__arena room = {.failed = false};
    size_t *counts = ocdm__arena_new(&room, OCDM__MAX_TASKS, sizeof *counts), next = 0, all = 0; /* samples of each task */
    bool *exists = ocdm__arena_new(&room, OCDM__MAX_TASKS, sizeof *exists);
    *order = (ocdm__stream_order){.count = 0};
    ocdm_status status = ocdm__arena_check(&room, "the order of the samples", error);
    for (size_t i = 0; status == OCDM_OK && i < table->sample_count; i++) {
        uint32_t task = table->tasks[i];
        all += !exists[task];
        exists[task] = true;
        counts[task] += table->parts[i] == part;
    }
    OCDM_THEN(status, ocdm__stream_order_allocate(order, table->sample_count, all, error));
    if (tasks != NULL)
        OCDM_THEN(status, take_tasks(order, tasks, task_count, exists, error));
    for (uint32_t task = 0; status == OCDM_OK && tasks == NULL && task < OCDM__MAX_TASKS; task++)
        if (exists[task])
            order->tasks[next++] = task;
    for (size_t k = 0; status == OCDM_OK && k < order->task_count; k++) {
        size_t count = counts[order->tasks[k]];
        counts[order->tasks[k]] = order->count; /* from here on: the place of its next sample */
        order->ends[k] = order->count += count;
    }
    for (size_t i = 0; status == OCDM_OK && i < table->sample_count; i++)
        if (table->parts[i] == part)
            order->samples[counts[table->tasks[i]]++] = (uint32_t)i;
    for (size_t k = 0; status == OCDM_OK && part == OCDM__TRAIN && k < order->task_count; k++) {
        size_t start = k > 0 ? order->ends[k - 1] : 0;
        shuffle(order->samples + start, order->ends[k] - start, seed, order->tasks[k]);
    }
    OCDM_THEN(status, place_classes(order, table, error));
    if (part == OCDM__TEST && order->class_places != NULL && order->disjoint)
        OCDM_THEN(status, place_tests(order, table, error));
    ocdm__arena_clear(&room);
    if (status != OCDM_OK)
        ocdm__stream_order_clear(order);
    return status;
}

void ocdm__stream_order_clear(ocdm__stream_order *order)
{
    ocdm__arena_clear(&order->arena);
    *order = (ocdm__stream_order){.count = 0};
}

/* ---- strata -------------------------------------------------------------------------------------------------------------- */

/* A sample and where it belongs; inside a stratum samples are in a random order. */
struct member {
    uint32_t task, class; /* the place of the task in the order; the rarest class, OCDM_NONE for a sample without labels */
    uint64_t key;
    uint32_t sample;
};

static int by_stratum(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

static bool is_same_stratum(const struct member *a, const struct member *b)
{
    return a->task == b->task && a->class == b->class;
}

uint32_t ocdm__rarest_class(const ocdm__stream_table *table, uint32_t sample, const uint64_t *counts)
{
    uint32_t rarest = OCDM_NONE;
    const ocdm_sample found = ocdm__sample_of(table, sample);
    for (size_t k = 0; k < found.label_count; k++) {
        uint32_t label = found.labels[k];
        if (rarest == OCDM_NONE || counts[label] < counts[rarest] || (label < rarest && counts[label] == counts[rarest]))
            rarest = label;
    }
    return rarest;
}

/* The samples of an order by stratum, in an arena; NULL with an error if an allocation fails. Counts are those of the part
 * itself: what is rare in training may not be so among the tests. */
static struct member *stratify(const ocdm__stream_order *order, const ocdm__stream_table *table, uint64_t base,
                               ocdm__arena *room, ocdm_error *error)
{
    struct member *members = ocdm__arena_new(room, order->count, sizeof *members);
    uint64_t *counts = ocdm__arena_new(room, table->class_count, sizeof *counts);
    if (ocdm__arena_check(room, "the strata of the samples", error) != OCDM_OK)
        return NULL;
    for (size_t i = 0; i < order->count; i++)
        ocdm__count_labels(table, order->samples[i], counts);
    for (size_t i = 0, task = 0; i < order->count; i++) {
        while (i >= order->ends[task])
            task++;
        uint32_t sample = order->samples[i];
        members[i] = (struct member){.task = (uint32_t)task,
                                     .class = ocdm__rarest_class(table, sample, counts),
                                     .key = ocdm__random_at(base, sample),
                                     .sample = sample};
    }
    qsort(members, order->count, sizeof *members, by_stratum);
    return members;
}

ocdm_status ocdm__stream_order_resample(ocdm__stream_order *tests, const ocdm__stream_table *table, uint64_t seed,
                                        ocdm_error *error)
{
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_TEST_DRAWS);
    ocdm__arena room = {.failed = false};
    struct member *members = stratify(tests, table, base, &room, error);
    for (size_t first = 0, end = 0; members != NULL && first < tests->count; first = end) {
        while (end < tests->count && is_same_stratum(&members[first], &members[end]))
            end++;
        ocdm__random random = ocdm__random_stream(base, members[first].sample);
        for (size_t i = first; i < end; i++)
            tests->samples[i] = members[first + (size_t)ocdm__random_below(&random, end - first)].sample;
    }
    ocdm__arena_clear(&room);
    return members != NULL ? OCDM_OK : OCDM_NO_MEMORY;
}

/* ---- samples that are held out ---------------------------------------------------------------------------------------- */

/* Of each task the same share, spread evenly over its strata; where a share begins depends on the seed. Both orders keep the
 * order of their samples. */
static ocdm_status hold_out(ocdm__schedule *schedule, const ocdm__stream_table *table, double share, ocdm_error *error)
{
    ocdm__stream_order *order = &schedule->order, *held_out = &schedule->held_out;
    uint64_t base = ocdm__random_base(schedule->seed, OCDM__FOR_VALIDATION);
    OCDM_TRY(ocdm__stream_order_allocate(held_out, order->count, order->task_count, error));
    ocdm__arena room = {.failed = false};
    bool *held = ocdm__arena_new(&room, table->sample_count, sizeof *held);
    struct member *members = stratify(order, table, base, &room, error);
    for (size_t i = 0, passed = 0; members != NULL && i < order->count; i++) {
        if (i == 0 || members[i].task != members[i - 1].task)
            passed = 0;
        bool alone = (i == 0 || !is_same_stratum(&members[i], &members[i - 1])) &&
                     (i + 1 == order->count || !is_same_stratum(&members[i], &members[i + 1]));
        double start = (double)(ocdm__random_at(base, UINT32_MAX + (uint64_t)members[i].task) >> 11) * 0x1p-53;
        bool taken = floor((double)(passed + 1) * share + start) > floor((double)passed * share + start);
        held[members[i].sample] = !alone && taken;
        passed += !alone;
    }
    order->count = 0;
    for (size_t k = 0, from = 0; members != NULL && k < order->task_count; k++) {
        for (; from < order->ends[k]; from++) {
            ocdm__stream_order *to = held[order->samples[from]] ? held_out : order;
            to->samples[to->count++] = order->samples[from];
        }
        order->ends[k] = order->count;
        held_out->ends[k] = held_out->count;
        held_out->tasks[k] = order->tasks[k];
    }
    ocdm__arena_clear(&room);
    return members != NULL ? place_classes(held_out, table, error) : OCDM_NO_MEMORY;
}

/* How many tasks have begun when `samples` samples of the order have come: with --blur some of the tasks before the last of
 * them may not have. */
static size_t tasks_among(const ocdm__schedule *schedule, uint64_t samples)
{
    size_t tasks = 0;
    for (size_t k = 0; k < schedule->order.task_count; k++)
        if (schedule->first[k] < samples)
            tasks = k + 1;
    return tasks;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* The first sample of a task, by its place in the order. */
static size_t task_start(const ocdm__schedule *schedule, size_t place)
{
    return place > 0 ? schedule->order.ends[place - 1] : 0;
}

/* The first step of a task. */
static uint64_t first_step(const ocdm__schedule *schedule, size_t place)
{
    return place > 0 ? schedule->task_ends[place - 1] : 0;
}

/* The last batch may be shorter. */
static uint64_t batches_of(const ocdm__schedule *schedule, size_t samples)
{
    return samples / schedule->batch + (samples % schedule->batch != 0);
}

/* After a period, every task up to the last one seen is evaluated, those of which nothing was seen among them. */
ocdm_status ocdm__schedule_make(ocdm__schedule *schedule, const ocdm__run_settings *settings, const ocdm__stream_table *table,
                                ocdm_error *error)
{
    bool multitask = ocdm__is_upper_bound(settings->method);
    ocdm__stream_order *order = &schedule->order;
    ocdm__arena *arena = &schedule->arena;
    *schedule = (ocdm__schedule){.batch = multitask ? (size_t)settings->batch + settings->replay : settings->batch,
                                 .multitask = multitask,
                                 .epochs = settings->epochs,
                                 .seed = settings->network.seed,
                                 .pool_of = UINT64_MAX};
    OCDM_TRY(ocdm__stream_order_make(order, table, OCDM__TRAIN, settings->order, settings->order_count, settings->network.seed,
                                     error));
    if (settings->validation > 0)
        OCDM_TRY(hold_out(schedule, table, settings->validation, error));
    OCDM_TRY(ocdm__stream_order_blur(order, table, &settings->blur, settings->network.seed, error));
    size_t tasks = order->task_count;
    schedule->task_ends = ocdm__arena_new(arena, tasks, sizeof *schedule->task_ends);
    schedule->tested = ocdm__arena_new(arena, tasks, sizeof *schedule->tested);
    schedule->first = ocdm__arena_new(arena, tasks, sizeof *schedule->first);
    schedule->pool = ocdm__arena_new(arena, multitask ? order->count : 0, sizeof *schedule->pool);
    uint32_t *places;
    OCDM_TRY(ocdm__arena_check(arena, "the plan of the steps", error));
    OCDM_TRY(ocdm__new(&places, OCDM__MAX_TASKS, sizeof *places, "the plan of the steps", error));
    uint64_t steps = 0;
    for (size_t k = 0; k < tasks; k++) {
        size_t start = multitask ? 0 : task_start(schedule, k);
        steps += batches_of(schedule, order->ends[k] - start) * (multitask ? settings->epochs : 1);
        schedule->task_ends[k] = steps;
        places[order->tasks[k]] = (uint32_t)k;
        schedule->first[k] = SIZE_MAX;
    }
    for (size_t i = order->count; i-- > 0;)
        schedule->first[places[table->tasks[order->samples[i]]]] = i;
    for (size_t k = 0; k < tasks; k++) {
        size_t seen = tasks_among(schedule, order->ends[k]);
        schedule->tested[k] = seen > k + 1 ? seen : k + 1;
    }
    ocdm__release(places);
    return OCDM_OK;
}

void ocdm__schedule_clear(ocdm__schedule *schedule)
{
    ocdm__stream_order_clear(&schedule->order);
    ocdm__stream_order_clear(&schedule->held_out);
    ocdm__arena_clear(&schedule->arena);
    *schedule = (ocdm__schedule){.batch = 0};
}

uint64_t ocdm__schedule_steps(const ocdm__schedule *schedule)
{
    return schedule->task_ends[schedule->order.task_count - 1];
}

size_t ocdm__schedule_place(const ocdm__schedule *schedule, uint64_t step)
{
    size_t place = 0;
    while (place + 1 < schedule->order.task_count && step >= schedule->task_ends[place])
        place++;
    return place;
}

/* For multitask, all samples up to a task, shuffled again for each task and epoch. */
size_t ocdm__schedule_batch(ocdm__schedule *schedule, uint64_t step, uint32_t *samples)
{
    if (step >= ocdm__schedule_steps(schedule))
        return 0;
    size_t place = ocdm__schedule_place(schedule, step);
    uint64_t number = step - first_step(schedule, place);
    size_t start = schedule->multitask ? 0 : task_start(schedule, place), end = schedule->order.ends[place];
    const uint32_t *all = schedule->multitask ? schedule->pool : schedule->order.samples;
    if (schedule->multitask) {
        uint64_t each = batches_of(schedule, end), pool = ((uint64_t)place + 1) << 32 | number / each;
        if (schedule->pool_of != pool) {
            memcpy(schedule->pool, schedule->order.samples, end * sizeof *schedule->pool);
            shuffle(schedule->pool, end, schedule->seed, pool);
            schedule->pool_of = pool;
        }
        number %= each;
    }
    start += (size_t)number * schedule->batch;
    size_t count = end - start < schedule->batch ? end - start : schedule->batch;
    memcpy(samples, all + start, count * sizeof *samples);
    return count;
}

uint64_t ocdm__schedule_seen(const ocdm__schedule *schedule, uint64_t steps)
{
    if (steps == 0)
        return 0;
    size_t place = ocdm__schedule_place(schedule, steps - 1);
    uint64_t of_task = (steps - first_step(schedule, place)) * schedule->batch, end = schedule->order.ends[place];
    uint64_t seen = task_start(schedule, place) + of_task;
    return schedule->multitask || seen > end ? end : seen;
}

size_t ocdm__schedule_tasks_seen(const ocdm__schedule *schedule, uint64_t steps)
{
    return tasks_among(schedule, ocdm__schedule_seen(schedule, steps));
}

uint64_t ocdm__schedule_time(const ocdm__schedule *schedule, uint64_t steps)
{
    if (!schedule->multitask || steps == 0)
        return ocdm__schedule_seen(schedule, steps);
    size_t place = ocdm__schedule_place(schedule, steps - 1), start = task_start(schedule, place);
    uint64_t made = steps - first_step(schedule, place), all = schedule->task_ends[place] - first_step(schedule, place);
    return start + (schedule->order.ends[place] - start) * made / all;
}
