/* Collects label sets, from records or from the built-in stream, into one block of labels with samples that point into it. */
#include "stream/label_stream.h"

#include "base/allocate.h"
#include "base/error.h"
#include "stream/records/record.h"
#include "stream/scenes/scenes.h"

/* A stream that grows: where each sample's labels start, as positions, since the block of labels still moves. */
struct collection {
    size_t *start;
    size_t sample_count, sample_room;
    uint32_t *label;
    size_t label_count, label_room;
    size_t *last_seen; /* by class: 1 + the number of the last sample that had it, which is how repeats are noticed */
    size_t class_count, class_room;
};

static const char what[] = "the labels of a stream";

static size_t grown(size_t room)
{
    return room < 1024 ? 1024 : room + room / 2;
}

/* Room for one sample more and for its labels, as far as they are known to be at most `labels`. */
static ocdm_status reserve(struct collection *collection, size_t labels, ocdm_error *error)
{
    while (collection->sample_count == collection->sample_room) {
        size_t room = grown(collection->sample_room);
        size_t *start = ocdm__resize(collection->start, room, sizeof *start);
        if (start == NULL)
            return ocdm__fail_memory(error, what);
        collection->start = start;
        collection->sample_room = room;
    }
    while (collection->label_room - collection->label_count < labels) {
        size_t room = grown(collection->label_room);
        uint32_t *label = ocdm__resize(collection->label, room, sizeof *label);
        if (label == NULL)
            return ocdm__fail_memory(error, what);
        collection->label = label;
        collection->label_room = room;
    }
    return OCDM_OK;
}

static ocdm_status know_class(struct collection *collection, uint32_t class_number, ocdm_error *error)
{
    while (class_number >= collection->class_room) {
        size_t room = grown(collection->class_room);
        size_t *last_seen = ocdm__resize(collection->last_seen, room, sizeof *last_seen);
        if (last_seen == NULL)
            return ocdm__fail_memory(error, what);
        collection->last_seen = last_seen;
        collection->class_room = room;
    }
    while (class_number >= collection->class_count)
        collection->last_seen[collection->class_count++] = 0;
    return OCDM_OK;
}

static ocdm_status collect(struct collection *collection, const uint32_t *label, size_t count, ocdm_error *error)
{
    ocdm_status status = reserve(collection, count, error);
    if (status != OCDM_OK)
        return status;
    collection->start[collection->sample_count++] = collection->label_count;
    for (size_t j = 0; j < count; j++) {
        status = know_class(collection, label[j], error);
        if (status != OCDM_OK)
            return status;
        if (collection->last_seen[label[j]] == collection->sample_count)
            continue;
        collection->last_seen[label[j]] = collection->sample_count;
        collection->label[collection->label_count++] = label[j];
    }
    return OCDM_OK;
}

static ocdm_status collect_records(struct collection *collection, const char *path, ocdm_error *error)
{
    ocdm__records *records = NULL;
    ocdm__record_options options = {.format = OCDM__FORMAT_AUTO};
    ocdm_status status = ocdm__records_open(&records, path, &options, NULL, error);
    bool found = status == OCDM_OK;
    while (found) {
        ocdm__record record;
        status = ocdm__records_next(records, &record, &found, error);
        found = found && status == OCDM_OK;
        if (found)
            status = collect(collection, records->numbers + record.label_at, record.label_count, error);
        if (status != OCDM_OK)
            break;
        ocdm__records_release(records);
    }
    ocdm__records_close(records);
    if (status == OCDM_OK && collection->sample_count == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, "", "%s: there are no records in it", path);
    return status;
}

static ocdm_status collect_builtin(struct collection *collection, uint64_t seed, ocdm_error *error)
{
    ocdm__builtin *builtin = NULL;
    ocdm_status status = ocdm__builtin_create(seed, 0, &builtin, error);
    for (size_t i = 0; status == OCDM_OK && i < builtin->sample_count; i++) {
        size_t start = builtin->label_start[i];
        status = collect(collection, builtin->label + start, builtin->label_start[i + 1] - start, error);
    }
    ocdm__builtin_destroy(builtin);
    return status;
}

/* Hands the labels over to a stream whose samples point into them. */
static ocdm_status finish(struct collection *collection, ocdm__label_stream **stream, ocdm_error *error)
{
    ocdm__label_stream *made = ocdm__allocate(1, sizeof *made);
    ocdm_sample *samples = ocdm__allocate(collection->sample_count, sizeof *samples);
    if (made == NULL || samples == NULL) {
        ocdm__release(samples);
        ocdm__release(made);
        return ocdm__fail_memory(error, what);
    }
    *made = (ocdm__label_stream){collection->sample_count, samples, collection->class_count,
                                 collection->label_count,  true,    collection->label};
    for (size_t i = 0; i < made->sample_count; i++) {
        size_t end = i + 1 < made->sample_count ? collection->start[i + 1] : collection->label_count;
        samples[i] = (ocdm_sample){i, collection->label + collection->start[i], end - collection->start[i]};
        made->single_label = made->single_label && samples[i].label_count <= 1;
    }
    collection->label = NULL;
    *stream = made;
    return OCDM_OK;
}

ocdm_status ocdm__label_stream_open(const char *path, uint64_t seed, ocdm__label_stream **stream, ocdm_error *error)
{
    struct collection collection = {0};
    ocdm_status status = path != NULL ? collect_records(&collection, path, error) : collect_builtin(&collection, seed, error);
    OCDM_THEN(status, finish(&collection, stream, error));
    ocdm__release(collection.start);
    ocdm__release(collection.label);
    ocdm__release(collection.last_seen);
    return status;
}

void ocdm__label_stream_destroy(ocdm__label_stream *stream)
{
    if (stream == NULL)
        return;
    ocdm__release(stream->samples);
    ocdm__release(stream->label);
    ocdm__release(stream);
}
