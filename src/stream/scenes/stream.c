/* The built-in world goes through a labelled set as every other source does. */
#include "stream/scenes/stream.h"

#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "stream/labelled_set.h"
#include "stream/scenes/builtin.h"
#include "stream/scenes/features.h"
#include "stream/selection.h"

static ocdm_status add_classes(ocdm__labelled_set *set, const ocdm__scenes *scenes, ocdm_error *error)
{
    for (uint32_t i = 0; i < scenes->class_count; i++) {
        char name[64 + OCDM__LABEL_PADDING] = "";
        uint32_t number;
        snprintf(name, sizeof name, "%s", ocdm__builtin_class_name(i));
        ocdm_status status = ocdm__label_table_add(&set->classes, name, strlen(name), &number, error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

static ocdm_status add_samples(ocdm__labelled_set *set, const ocdm__scenes *scenes, ocdm_error *error)
{
    for (size_t i = 0; i < scenes->sample_count; i++) {
        char id[24 + OCDM__LABEL_PADDING] = "";
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        sample.id = id;
        sample.id_length = (size_t)snprintf(id, sizeof id, "%zu", i);
        sample.labels = scenes->label + scenes->label_start[i];
        sample.label_count = scenes->label_start[i + 1] - scenes->label_start[i];
        sample.task = scenes->task[i];
        sample.part = i < scenes->train_count ? OCDM__TRAIN : OCDM__TEST;
        ocdm_status status = ocdm__labelled_set_add(set, &sample, error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

static ocdm_status make_table(ocdm__scene_stream *stream, ocdm_error *error)
{
    ocdm__labelled_set set = {.count = 0};
    ocdm__selection selection = {.count = 0};
    ocdm__class_columns columns = {.count = 0};
    ocdm_status status = add_classes(&set, stream->scenes, error);
    if (status == OCDM_OK)
        status = add_samples(&set, stream->scenes, error);
    if (status == OCDM_OK)
        status = ocdm__select_all(&selection, &set, error);
    if (status == OCDM_OK)
        status = ocdm__class_columns_sorted(&columns, &set.classes, NULL, error);
    if (status == OCDM_OK)
        status = ocdm__stream_table_make(&stream->table, &set, &selection, &columns, error);
    ocdm__class_columns_clear(&columns);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
    return status;
}

static ocdm_status fill_images(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__scene_stream *stream = state;
    size_t each = ocdm__payload_size(&stream->source.shape);
    (void)error;
    for (size_t i = 0; i < count; i++)
        ocdm__scene_render(stream->scenes, first + i, stream->size, bytes + i * each);
    return OCDM_OK;
}

static ocdm_status fill_features(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__scene_stream *stream = state;
    float row[OCDM__SCENE_FEATURES];
    (void)error;
    for (size_t i = 0; i < count; i++) {
        ocdm__scene_features(stream->scenes, first + i, row);
        for (size_t k = 0; k < OCDM__SCENE_FEATURES; k++) {
            uint32_t bits;
            memcpy(&bits, &row[k], sizeof bits);
            ocdm__put_u32(bytes + 4 * (i * OCDM__SCENE_FEATURES + k), bits);
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__scene_stream_open(ocdm__scene_stream *stream, uint64_t seed, uint32_t size, ocdm_error *error)
{
    *stream = (ocdm__scene_stream){.size = size};
    stream->source.state = stream;
    if (size > 0) {
        stream->source.fill = fill_images;
        stream->source.shape =
            (ocdm__payload_shape){.kind = OCDM__IMAGES, .dtype = OCDM__U8, .width = size, .height = size, .channels = 3};
    } else {
        stream->source.fill = fill_features;
        stream->source.shape = (ocdm__payload_shape){.kind = OCDM__FEATURES, .dtype = OCDM__F32, .width = OCDM__SCENE_FEATURES};
    }
    ocdm_status status = ocdm__scenes_create(seed, &stream->scenes, error);
    return status == OCDM_OK ? make_table(stream, error) : status;
}

void ocdm__scene_stream_close(ocdm__scene_stream *stream)
{
    ocdm__stream_table_clear(&stream->table);
    ocdm__scenes_destroy(stream->scenes);
    *stream = (ocdm__scene_stream){.size = 0};
}
