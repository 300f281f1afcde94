/* Drawing the streams of made_stream.h. */
#include "made_stream.h"

static uint32_t draw(ocdm__random *random, uint32_t below)
{
    return (uint32_t)ocdm__random_below(random, below);
}

static bool chance(ocdm__random *random, uint32_t percent)
{
    return draw(random, 100) < percent;
}

static uint32_t one_of(ocdm__random *random, const uint32_t *choices, uint32_t count)
{
    return choices[draw(random, count)];
}

struct made_shape made_shape_from(uint64_t seed, bool single, ocdm_options *options)
{
    static const uint32_t capacities[] = {1, 1, 2, 2, 3, 4, 5, 7, 10, 16, 23, 40};
    static const uint32_t classes[] = {1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20, 40};
    static const uint32_t batches[] = {1, 1, 2, 3, 5, 8, 10, 17, 30, MADE_LARGEST_BATCH};
    static const uint32_t sets[] = {1, 2, 2, 3, 3, 4, 6, 10};
    static const uint32_t percents[] = {0, 0, 0, 5, 10, 30, 60, 100};
    ocdm__random random = ocdm__random_stream(seed, 1);
    struct made_shape shape = {0};
    options->capacity = one_of(&random, capacities, 12);
    shape.classes = one_of(&random, classes, 12);
    shape.window = 1 + draw(&random, shape.classes);
    shape.period = draw(&random, 6);
    shape.most_labels = single ? 1 : one_of(&random, sets, 8);
    if (shape.most_labels > shape.classes)
        shape.most_labels = shape.classes;
    shape.batch = one_of(&random, batches, 10);
    shape.unlabelled = one_of(&random, percents, 8);
    if (shape.unlabelled == 100 && !chance(&random, 20))
        shape.unlabelled = 0;
    shape.repeated = one_of(&random, percents, 7);
    shape.recurring = one_of(&random, percents, 8);
    shape.sparse = chance(&random, 50);
    return shape;
}

void made_stream_start(struct made_stream *stream, uint64_t seed, const struct made_shape *shape)
{
    *stream = (struct made_stream){.shape = *shape, .seed = seed};
    stream->random = ocdm__random_stream(seed, 2);
}

static uint32_t class_id(const struct made_stream *stream, uint32_t c)
{
    if (!stream->shape.sparse)
        return c;
    if (c < 2)
        return c == 0 ? UINT32_MAX : 0;
    return (uint32_t)ocdm__random_at(stream->seed, c);
}

/* A class on stage, the first ones more often. */
static uint32_t class_on_stage(const struct made_stream *stream, ocdm__random *random)
{
    const struct made_shape *shape = &stream->shape;
    double u = ocdm__random_unit(random);
    uint32_t offset = (uint32_t)(u * u * shape->window);
    uint32_t first = shape->period > 0 ? stream->step / shape->period : 0;
    return class_id(stream, (first + offset) % shape->classes);
}

static bool among(const uint32_t *label, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (label[i] == id)
            return true;
    return false;
}

/* Draws a label set; a class drawn twice is not drawn again, so that a set may come out smaller. */
static size_t draw_set(const struct made_stream *stream, ocdm__random *random, uint32_t *label)
{
    uint32_t wanted = 1 + draw(random, 1 + draw(random, stream->shape.most_labels));
    size_t count = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t id = class_on_stage(stream, random);
        if (!among(label, count, id))
            label[count++] = id;
    }
    return count;
}

/* Says some labels of a set again, in places between the others. */
static size_t repeat_labels(ocdm__random *random, uint32_t *label, size_t count)
{
    size_t distinct = count;
    for (size_t i = 0; i < distinct; i++) {
        size_t place = draw(random, (uint32_t)count + 1);
        if (chance(random, 50))
            continue;
        for (size_t j = count; j > place; j--)
            label[j] = label[j - 1];
        label[place] = label[draw(random, (uint32_t)distinct)];
        count++;
    }
    return count;
}

static size_t draw_labels(struct made_stream *stream, uint32_t *label)
{
    ocdm__random *random = &stream->random;
    size_t count;
    if (chance(random, stream->shape.unlabelled))
        return 0;
    if (chance(random, stream->shape.recurring)) {
        ocdm__random palette = ocdm__random_stream(stream->seed, 1000 + draw(random, 5));
        count = draw_set(stream, &palette, label);
    } else {
        count = draw_set(stream, random, label);
    }
    return chance(random, stream->shape.repeated) ? repeat_labels(random, label, count) : count;
}

static bool id_is_free(const struct made_stream *stream, size_t count, const struct naive *naive, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (stream->batch[i].id == id)
            return false;
    return !naive_holds(naive, id);
}

size_t made_stream_next(struct made_stream *stream, const struct naive *naive)
{
    size_t count = 1 + draw(&stream->random, stream->shape.batch);
    uint32_t ids = 2 * (naive->options.capacity + MADE_LARGEST_BATCH);
    for (size_t i = 0; i < count; i++) {
        ocdm_sample *sample = &stream->batch[i];
        uint64_t id;
        do
            id = ocdm__random_at(stream->seed, draw(&stream->random, ids));
        while (!id_is_free(stream, i, naive, id));
        sample->id = id;
        sample->label_count = draw_labels(stream, stream->label[i]);
        sample->labels = sample->label_count > 0 ? stream->label[i] : NULL;
    }
    stream->step++;
    return count;
}
