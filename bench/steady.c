/* Warms memories up and times their updates one by one. A memory's count of arrivals is its position in the stream. */
#define _POSIX_C_SOURCE 200809L

#include "bench/steady.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "bench/reference.h"

static double read_clock(bool cpu_time)
{
    struct timespec now;
    clock_gettime(cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* ---- quantiles ---------------------------------------------------------------------------------------------------------- */

static int smaller_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double ocdm__quantile(const double *ascending, size_t count, unsigned per_mille)
{
    /* ceil(count * per_mille / 1000), without overflow */
    size_t rank = count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
    return ascending[rank > 0 ? rank - 1 : 0];
}

ocdm__quantiles ocdm__quantiles_of(double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    qsort(values, count, sizeof *values, smaller_first);
    return (ocdm__quantiles){sum / (double)count, ocdm__quantile(values, count, 500), ocdm__quantile(values, count, 990),
                             ocdm__quantile(values, count, 999), values[count - 1]};
}

double ocdm__steady_clock_us(bool cpu_time)
{
    double us[1001];
    for (size_t i = 0; i < 1001; i++) {
        double start = read_clock(cpu_time);
        us[i] = read_clock(cpu_time) - start;
    }
    return ocdm__quantiles_of(us, 1001).p50;
}

/* ---- policies ----------------------------------------------------------------------------------------------------------- */

static ocdm_status offer_next(const ocdm__steady_plan *plan, ocdm_memory *memory, ocdm_error *error)
{
    const ocdm_sample *batch = ocdm__steady_stream_batch(plan->stream, ocdm_memory_arrived(memory));
    return ocdm_memory_update(memory, batch, plan->stream->batch, NULL, error);
}

static ocdm_status warm_up(const ocdm__steady_plan *plan, ocdm_memory *memory, ocdm_error *error)
{
    uint64_t enough = (1 + plan->warmup) * plan->options.capacity;
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && ocdm_memory_arrived(memory) < enough)
        status = offer_next(plan, memory, error);
    return status;
}

/* Times updates into us[0], us[1], ... until there are enough or the plan's seconds have passed. */
static ocdm_status time_updates(const ocdm__steady_plan *plan, ocdm_memory *memory, double *us, size_t *count,
                                ocdm_error *error)
{
    double clock_us = ocdm__steady_clock_us(plan->cpu_time), spent = 0;
    ocdm_status status = OCDM_OK;
    *count = 0;
    while (status == OCDM_OK && *count < plan->updates && (*count == 0 || spent <= 1e6 * plan->seconds)) {
        const ocdm_sample *batch = ocdm__steady_stream_batch(plan->stream, ocdm_memory_arrived(memory));
        double start = read_clock(plan->cpu_time);
        status = ocdm_memory_update(memory, batch, plan->stream->batch, NULL, error);
        double passed = read_clock(plan->cpu_time) - start;
        us[(*count)++] = passed > clock_us ? passed - clock_us : 0;
        spent += passed;
    }
    return status;
}

/* Searches and steps per deletion between two moments. */
static void count_work(ocdm_work from, ocdm_work to, ocdm__steady_result *result)
{
    uint64_t deletions = to.deletions - from.deletions;
    result->searches = deletions > 0 ? (double)(to.searches - from.searches) / (double)deletions : NAN;
    result->steps = deletions > 0 ? (double)(to.steps - from.steps) / (double)deletions : NAN;
}

static ocdm_status measure(const ocdm__steady_plan *plan, ocdm_memory *memory, ocdm__steady_result *result, ocdm_error *error)
{
    ocdm_status status = warm_up(plan, memory, error);
    if (status != OCDM_OK)
        return status;
    double *us;
    OCDM_TRY(ocdm__new(&us, plan->updates, sizeof *us, "the times of updates", error));
    ocdm_work before = ocdm_memory_work(memory);
    ocdm__steady_result measured = {.deletions = 0};
    status = time_updates(plan, memory, us, &measured.updates, error);
    if (status == OCDM_OK) {
        count_work(before, ocdm_memory_work(memory), &measured);
        measured.us = ocdm__quantiles_of(us, measured.updates);
        *result = measured;
    }
    ocdm__release(us);
    return status;
}

ocdm_status ocdm__steady_policy(const ocdm__steady_plan *plan, const ocdm_policy *policy, ocdm__steady_result *result,
                                ocdm_memory **memory, ocdm_error *error)
{
    ocdm_options options = plan->options;
    options.policy = policy;
    options.batch = plan->stream->batch;
    ocdm_memory *made = NULL;
    ocdm_status status = ocdm_memory_create(&options, &made, error);
    if (status == OCDM_OK)
        status = measure(plan, made, result, error);
    if (status == OCDM_OK && memory != NULL)
        *memory = made;
    else
        ocdm_memory_destroy(made);
    return status;
}

/* ---- the paper's loop --------------------------------------------------------------------------------------------------- */

/* The pool that the loop works on, and the times of its steps. */
struct loop {
    const ocdm__steady_plan *plan;
    ocdm_memory *memory;
    ocdm__snapshot snapshot;
    size_t deletions;  /* of a whole update from the current pool */
    uint32_t *deleted; /* room for a batch */
    double *us;        /* plan->updates of them */
};

/* Takes the pool of the next update. */
static ocdm_status take_pool(struct loop *loop, ocdm_error *error)
{
    const ocdm__steady_stream *stream = loop->plan->stream;
    const ocdm_sample *batch = ocdm__steady_stream_batch(loop->plan->stream, ocdm_memory_arrived(loop->memory));
    ocdm_status status = ocdm__snapshot_take(&loop->snapshot, loop->memory, batch, stream->batch, stream->class_count, error);
    size_t size = loop->snapshot.pool.sample_count, capacity = loop->plan->options.capacity;
    loop->deletions = size > capacity ? size - capacity : 0;
    return status;
}

static ocdm_status time_deletions(struct loop *loop, size_t deletions, double *us, ocdm_error *error)
{
    double start = read_clock(loop->plan->cpu_time);
    ocdm_status status = ocdm__reference_delete(&loop->snapshot.pool, deletions, loop->deleted, NULL, error);
    *us = read_clock(loop->plan->cpu_time) - start;
    return status;
}

static ocdm_status time_loop(struct loop *loop, ocdm__steady_result *result, ocdm_error *error)
{
    double one, spent = 0, budget = 1e6 * loop->plan->seconds;
    ocdm_status status = take_pool(loop, error);
    if (status == OCDM_OK)
        status = time_deletions(loop, loop->deletions > 0, &one, error);
    if (status != OCDM_OK)
        return status;
    ocdm__steady_result measured = {.searches = NAN, .steps = NAN};
    if (loop->deletions > 1 && one * (double)loop->deletions > budget) {
        measured.deletions = 1;
        measured.us = (ocdm__quantiles){one * (double)loop->deletions, NAN, NAN, NAN, NAN};
        *result = measured;
        return OCDM_OK;
    }
    while (status == OCDM_OK && measured.updates < loop->plan->updates && spent <= budget) {
        status = take_pool(loop, error);
        if (status == OCDM_OK)
            status = time_deletions(loop, loop->deletions, &loop->us[measured.updates], error);
        if (status != OCDM_OK)
            return status;
        spent += loop->us[measured.updates++];
        status = offer_next(loop->plan, loop->memory, error);
    }
    measured.us = ocdm__quantiles_of(loop->us, measured.updates);
    *result = measured;
    return status;
}

ocdm_status ocdm__steady_reference(const ocdm__steady_plan *plan, ocdm_memory *memory, ocdm__steady_result *result,
                                   ocdm_error *error)
{
    struct loop loop = {.plan = plan, .memory = memory};
    loop.deleted = ocdm__allocate(plan->stream->batch, sizeof *loop.deleted);
    loop.us = ocdm__allocate(plan->updates, sizeof *loop.us);
    ocdm_status status = loop.deleted != NULL && loop.us != NULL ? time_loop(&loop, result, error)
                                                                 : ocdm__fail_memory(error, "the reference loop");
    ocdm__snapshot_release(&loop.snapshot);
    ocdm__release(loop.deleted);
    ocdm__release(loop.us);
    return status;
}

/* ---- streams ------------------------------------------------------------------------------------------------------- */

/* Draws label sets. Each sample has a random stream of its own, so any batch can be made without those before it. */

enum { SKEWED_CLASSES = 80, SKEWED_LABELS = 4, UNIFORM_CLASSES = 1000, UNIFORM_LABELS = 8 };

const char *const ocdm__steady_names[OCDM__STEADY_KINDS + 1] = {
    [OCDM__STEADY_SKEWED] = "skewed",
    [OCDM__STEADY_UNIFORM] = "uniform",
    [OCDM__STEADY_RECORDS] = "records",
    [OCDM__STEADY_SINGLE] = "single",
};

static bool is_among(const uint32_t *labels, size_t count, uint32_t label)
{
    for (size_t j = 0; j < count; j++)
        if (labels[j] == label)
            return true;
    return false;
}

static size_t draw_skewed(ocdm__random *random, uint32_t *labels)
{
    size_t draws = 1 + (size_t)ocdm__random_below(random, SKEWED_LABELS), count = 0;
    for (size_t j = 0; j < draws; j++) {
        double x = ocdm__random_unit(random);
        uint32_t label = (uint32_t)(SKEWED_CLASSES * x * x);
        if (!is_among(labels, count, label))
            labels[count++] = label;
    }
    return count;
}

static size_t draw_uniform(ocdm__random *random, uint32_t *labels)
{
    size_t wanted = 1 + (size_t)ocdm__random_below(random, UNIFORM_LABELS), count = 0;
    while (count < wanted) {
        uint32_t label = (uint32_t)ocdm__random_below(random, UNIFORM_CLASSES);
        if (!is_among(labels, count, label))
            labels[count++] = label;
    }
    return count;
}

/* The labels are copied, so that an update finds them in the cache, as it does those of the other kinds. */
static size_t draw_record(const ocdm__steady_stream *stream, ocdm__random *random, uint32_t *labels)
{
    const ocdm_sample *record = &stream->records->samples[ocdm__random_below(random, stream->records->sample_count)];
    for (size_t i = 0; i < record->label_count; i++)
        labels[i] = record->labels[i];
    return record->label_count;
}

static ocdm_sample draw_sample(const ocdm__steady_stream *stream, uint64_t number, uint32_t *labels)
{
    ocdm__random random = ocdm__random_stream(stream->base, number);
    ocdm_sample sample = {number, labels, 1};
    switch (stream->kind) {
    case OCDM__STEADY_SKEWED:
        sample.label_count = draw_skewed(&random, labels);
        break;
    case OCDM__STEADY_UNIFORM:
        sample.label_count = draw_uniform(&random, labels);
        break;
    case OCDM__STEADY_RECORDS:
        sample.label_count = draw_record(stream, &random, labels);
        break;
    case OCDM__STEADY_SINGLE:
    case OCDM__STEADY_KINDS:
        labels[0] = (uint32_t)ocdm__random_below(&random, UNIFORM_CLASSES);
        break;
    }
    return sample;
}

ocdm_status ocdm__steady_stream_open(ocdm__steady_stream *stream, enum ocdm__steady_kind kind,
                                     const ocdm__label_stream *records, uint64_t seed, uint32_t batch, ocdm_error *error)
{
    ocdm__steady_stream made = {.kind = kind, .batch = batch, .class_count = UNIFORM_CLASSES, .most_labels = UNIFORM_LABELS};
    made.base = ocdm__random_at(ocdm__random_base(seed, OCDM__FOR_BENCH), kind);
    made.single_label = kind == OCDM__STEADY_SINGLE;
    if (kind == OCDM__STEADY_SKEWED)
        made.class_count = SKEWED_CLASSES;
    if (kind == OCDM__STEADY_RECORDS) {
        made.records = records;
        made.class_count = records->class_count;
        made.single_label = records->single_label;
        for (size_t i = 0; i < records->sample_count; i++)
            made.most_labels =
                records->samples[i].label_count > made.most_labels ? records->samples[i].label_count : made.most_labels;
    }
    made.samples = ocdm__allocate(batch, sizeof *made.samples);
    made.labels = ocdm__allocate(batch, made.most_labels * sizeof *made.labels);
    *stream = made;
    if (made.samples != NULL && made.labels != NULL)
        return OCDM_OK;
    ocdm__steady_stream_close(stream);
    return ocdm__fail_memory(error, "a batch");
}

const ocdm_sample *ocdm__steady_stream_batch(ocdm__steady_stream *stream, uint64_t first)
{
    for (uint32_t i = 0; i < stream->batch; i++)
        stream->samples[i] = draw_sample(stream, first + i, stream->labels + stream->most_labels * i);
    return stream->samples;
}

void ocdm__steady_stream_close(ocdm__steady_stream *stream)
{
    ocdm__release(stream->samples);
    ocdm__release(stream->labels);
    *stream = (ocdm__steady_stream){.kind = stream->kind};
}
