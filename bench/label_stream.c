/* Collects label sets, from records or from the built-in stream, into one block of labels with samples that point into it. */
#include "bench/label_stream.h"

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

static ocdm_status collect(struct collection *collection, const uint32_t *label, size_t count, ocdm_error *error)
{
    if (!ocdm__reserve(&collection->start, &collection->sample_room, collection->sample_count + 1, sizeof *collection->start) ||
        !ocdm__reserve(&collection->label, &collection->label_room, collection->label_count + count, sizeof *collection->label))
        return ocdm__fail_memory(error, what);
    collection->start[collection->sample_count++] = collection->label_count;
    for (size_t j = 0; j < count; j++) {
        if (!ocdm__reserve_zeroed(&collection->last_seen, &collection->class_room, (size_t)label[j] + 1,
                                  sizeof *collection->last_seen))
            return ocdm__fail_memory(error, what);
        if (label[j] >= collection->class_count)
            collection->class_count = (size_t)label[j] + 1;
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
    ocdm__record record;
    ocdm__record_options options = {.format = OCDM__FORMAT_AUTO};
    ocdm_status status = ocdm__records_open(&records, path, &options, NULL, error);
    for (bool found = true; status == OCDM_OK && found;) {
        status = ocdm__records_next(records, &record, &found, error);
        if (status != OCDM_OK || !found)
            break;
        status = collect(collection, records->numbers + record.label_at, record.label_count, error);
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
        const size_t *start = builtin->label_start + i;
        status = collect(collection, builtin->label + start[0], start[1] - start[0], error);
    }
    ocdm__builtin_destroy(builtin);
    return status;
}

ocdm_status ocdm__label_stream_open(const char *path, uint64_t seed, ocdm__label_stream **stream, ocdm_error *error)
{
    struct collection collection = {0};
    ocdm_status status = path != NULL ? collect_records(&collection, path, error) : collect_builtin(&collection, seed, error);
    size_t count = collection.sample_count;
    ocdm__label_stream *made = status == OCDM_OK ? ocdm__allocate(1, sizeof *made) : NULL;
    if (made != NULL) {
        /* The labels are the stream's from here on. */
        *made = (ocdm__label_stream){.sample_count = count,
                                     .samples = ocdm__allocate(count, sizeof *made->samples),
                                     .class_count = collection.class_count,
                                     .label_count = collection.label_count,
                                     .single_label = true,
                                     .label = collection.label};
        collection.label = NULL;
    }
    if (status == OCDM_OK && (made == NULL || made->samples == NULL)) {
        ocdm__label_stream_destroy(made);
        status = ocdm__fail_memory(error, what);
    }
    for (size_t i = 0; status == OCDM_OK && i < count; i++) {
        size_t start = collection.start[i], end = i + 1 < count ? collection.start[i + 1] : made->label_count;
        made->samples[i] = (ocdm_sample){i, made->label + start, end - start};
        made->single_label = made->single_label && end - start <= 1;
    }
    if (status == OCDM_OK)
        *stream = made;
    OCDM_RELEASE(collection.start, collection.label, collection.last_seen);
    return status;
}

void ocdm__label_stream_destroy(ocdm__label_stream *stream)
{
    if (stream == NULL)
        return;
    OCDM_RELEASE(stream->samples, stream->label, stream);
}
