/*
 * The built-in world: the labels of the built-in stream, a test part, and the scenes behind both. As a stream it goes through a
 * labelled set like every other source.
 */
#include "stream/scenes/scenes.h"

#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "stream/labelled_set.h"
#include "stream/scenes/builtin.h"
#include "stream/selection.h"

static ocdm__random noise_stream(const ocdm__scenes *scenes, size_t sample)
{
    return ocdm__random_stream(scenes->base, 2 * (uint64_t)sample + 1);
}

/* Copies the training part, with room for the test part after it. */
static ocdm_status copy_train(ocdm__scenes *scenes, const ocdm__builtin *builtin, ocdm_error *error)
{
    size_t tests = builtin->class_count * OCDM__SCENE_TESTS_A_CLASS;
    size_t labels = builtin->label_start[builtin->sample_count];
    scenes->train_count = builtin->sample_count;
    scenes->sample_count = builtin->sample_count + tests;
    scenes->class_count = builtin->class_count;
    scenes->task_count = builtin->task_count;
    scenes->task = ocdm__allocate(scenes->sample_count, sizeof *scenes->task);
    scenes->label_start = ocdm__allocate(scenes->sample_count + 1, sizeof *scenes->label_start);
    scenes->label = ocdm__allocate(labels + tests, sizeof *scenes->label);
    if (scenes->task == NULL || scenes->label_start == NULL || scenes->label == NULL)
        return ocdm__fail_memory(error, "the built-in world");
    for (size_t i = 0; i < builtin->sample_count; i++) {
        scenes->task[i] = builtin->task[i];
        scenes->label_start[i] = builtin->label_start[i];
    }
    for (size_t i = 0; i < labels; i++)
        scenes->label[i] = builtin->label[i];
    return OCDM_OK;
}

/*
 * Features are centred by a part of the training samples, as the layers of a trained network are. Without it all vectors point
 * the same way, and a linear model forgets by its offset alone, which no ranking shows.
 */
static ocdm_status centre_features(ocdm__scenes *scenes, ocdm_error *error)
{
    enum { VECTORS = 1024 };
    float *mixed = ocdm__allocate((size_t)VECTORS * OCDM__SCENE_FEATURES, sizeof *mixed);
    if (mixed == NULL)
        return ocdm__fail_memory(error, "the built-in world");
    for (size_t i = 0; i < VECTORS; i++) {
        size_t sample = i * (scenes->train_count / VECTORS);
        ocdm__scene_plan plan;
        ocdm__scene_plan_sample(scenes, sample, &plan);
        ocdm__scene_plan_mix(scenes->space, &plan, noise_stream(scenes, sample), mixed + i * OCDM__SCENE_FEATURES);
    }
    ocdm__scene_space_centre(scenes->space, mixed, VECTORS);
    ocdm__release(mixed);
    return OCDM_OK;
}

static ocdm_status make(uint64_t seed, ocdm__scenes *scenes, ocdm_error *error)
{
    ocdm__builtin *builtin = NULL;
    OCDM_TRY(ocdm__builtin_create(seed, &builtin, error));
    scenes->base = ocdm__random_base(seed, OCDM__FOR_SCENES);
    ocdm_status status = copy_train(scenes, builtin, error);
    if (status == OCDM_OK) {
        size_t labels = builtin->label_start[builtin->sample_count];
        for (size_t i = scenes->train_count; i < scenes->sample_count; i++) {
            uint32_t class_number = (uint32_t)((i - scenes->train_count) / OCDM__SCENE_TESTS_A_CLASS);
            scenes->task[i] = ocdm__builtin_class_task(class_number);
            scenes->label_start[i] = labels;
            scenes->label[labels++] = class_number;
        }
        scenes->label_start[scenes->sample_count] = labels;
    }
    ocdm__builtin_destroy(builtin);
    OCDM_THEN(status, ocdm__scene_space_create(scenes->base, &scenes->space, error));
    return status == OCDM_OK ? centre_features(scenes, error) : status;
}

ocdm_status ocdm__scenes_create(uint64_t seed, ocdm__scenes **scenes, ocdm_error *error)
{
    ocdm__scenes *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "the built-in world");
    ocdm_status status = make(seed, made, error);
    if (status == OCDM_OK)
        *scenes = made;
    else
        ocdm__scenes_destroy(made);
    return status;
}

void ocdm__scenes_destroy(ocdm__scenes *scenes)
{
    if (scenes == NULL)
        return;
    ocdm__release(scenes->task);
    ocdm__release(scenes->label_start);
    ocdm__release(scenes->label);
    ocdm__scene_space_destroy(scenes->space);
    ocdm__release(scenes);
}

void ocdm__scene_plan_sample(const ocdm__scenes *scenes, size_t sample, ocdm__scene_plan *plan)
{
    size_t first = scenes->label_start[sample];
    /* Under the world's base, streams 2 i and 2 i + 1 belong to sample i: its plan, and the noise of its features. */
    ocdm__scene_plan_make((ocdm__random_stream(scenes->base, 2 * (uint64_t)sample)), scenes->label + first,
                          scenes->label_start[sample + 1] - first, plan);
}

void ocdm__scene_draw(const ocdm__scene_plan *plan, uint32_t size, uint8_t *rgb_chw)
{
    ocdm__scene_fill(&plan->backdrop, size, rgb_chw);
    for (size_t i = 0; i < plan->object_count; i++)
        ocdm__scene_paint(&plan->object[i], size, rgb_chw);
    ocdm__scene_light_up(&plan->light, size, rgb_chw);
}

void ocdm__scene_render(const ocdm__scenes *scenes, size_t sample, uint32_t size, uint8_t *rgb_chw)
{
    ocdm__scene_plan plan;
    ocdm__scene_plan_sample(scenes, sample, &plan);
    ocdm__scene_draw(&plan, size, rgb_chw);
}

void ocdm__scene_features(const ocdm__scenes *scenes, size_t sample, float *out)
{
    ocdm__scene_plan plan;
    ocdm__scene_plan_sample(scenes, sample, &plan);
    ocdm__scene_plan_features(scenes->space, &plan, noise_stream(scenes, sample), out);
}

/* ---- the world as a stream file ------------------------------------------------------------------------------------- */

static ocdm_status add_classes(ocdm__labelled_set *set, const ocdm__scenes *scenes, ocdm_error *error)
{
    for (uint32_t i = 0; i < scenes->class_count; i++) {
        char name[64 + OCDM__LABEL_PADDING] = "";
        uint32_t number;
        snprintf(name, sizeof name, "%s", ocdm__builtin_class_name(i));
        OCDM_TRY(ocdm__label_table_add(&set->classes, name, strlen(name), &number, error));
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
        OCDM_TRY(ocdm__labelled_set_add(set, &sample, error));
    }
    return OCDM_OK;
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
    OCDM_TRY(ocdm__scenes_create(seed, &stream->scenes, error));
    ocdm__labelled_set set = {.count = 0};
    ocdm__selection selection = {.count = 0};
    ocdm__class_columns columns = {.count = 0};
    ocdm_status status = add_classes(&set, stream->scenes, error);
    OCDM_THEN(status, add_samples(&set, stream->scenes, error));
    OCDM_THEN(status, ocdm__select_all(&selection, &set, error));
    OCDM_THEN(status, ocdm__class_columns_sorted(&columns, &set.classes, NULL, error));
    OCDM_THEN(status, ocdm__stream_table_make(&stream->table, &set, &selection, &columns, error));
    ocdm__class_columns_clear(&columns);
    ocdm__selection_clear(&selection);
    ocdm__labelled_set_clear(&set);
    return status;
}

void ocdm__scene_stream_close(ocdm__scene_stream *stream)
{
    ocdm__stream_table_clear(&stream->table);
    ocdm__scenes_destroy(stream->scenes);
    *stream = (ocdm__scene_stream){.size = 0};
}
