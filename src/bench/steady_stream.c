/* Draws label sets. Each sample has a random stream of its own, so any batch can be made without those before it. */
#include "bench/steady_stream.h"

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"

enum { SKEWED_CLASSES = 80, SKEWED_LABELS = 4, UNIFORM_CLASSES = 1000, UNIFORM_LABELS = 8, MOST_LABELS = 8 };

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
        sample = stream->records->samples[ocdm__random_below(&random, stream->records->sample_count)];
        sample.id = number;
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
    ocdm__steady_stream made = {.kind = kind, .batch = batch, .class_count = UNIFORM_CLASSES};
    made.base = ocdm__random_at(ocdm__random_base(seed, OCDM__FOR_BENCH), kind);
    made.single_label = kind == OCDM__STEADY_SINGLE;
    if (kind == OCDM__STEADY_SKEWED)
        made.class_count = SKEWED_CLASSES;
    if (kind == OCDM__STEADY_RECORDS) {
        made.records = records;
        made.class_count = records->class_count;
        made.single_label = records->single_label;
    }
    made.samples = ocdm__allocate(batch, sizeof *made.samples);
    made.labels = ocdm__allocate(batch, MOST_LABELS * sizeof *made.labels);
    *stream = made;
    if (made.samples != NULL && made.labels != NULL)
        return OCDM_OK;
    ocdm__steady_stream_close(stream);
    return ocdm__fail_memory(error, "a batch");
}

const ocdm_sample *ocdm__steady_stream_batch(ocdm__steady_stream *stream, uint64_t first)
{
    for (uint32_t i = 0; i < stream->batch; i++)
        stream->samples[i] = draw_sample(stream, first + i, stream->labels + (size_t)MOST_LABELS * i);
    return stream->samples;
}

void ocdm__steady_stream_close(ocdm__steady_stream *stream)
{
    ocdm__release(stream->samples);
    ocdm__release(stream->labels);
    *stream = (ocdm__steady_stream){.kind = stream->kind};
}
