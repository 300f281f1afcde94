/* Joins the labels of the built-in stream, a test part, and the scenes behind both. */
#include "stream/scenes/scenes.h"

#include "base/allocate.h"
#include "base/error.h"
#include "stream/scenes/backdrop.h"
#include "stream/scenes/builtin.h"
#include "stream/scenes/paint.h"

/* Under the world's base, streams 2 i and 2 i + 1 belong to sample i: its plan, and the noise of its features. */
static ocdm__random plan_stream(const ocdm__scenes *scenes, size_t sample)
{
    return ocdm__random_stream(scenes->base, 2 * (uint64_t)sample);
}

static ocdm__random noise_stream(const ocdm__scenes *scenes, size_t sample)
{
    return ocdm__random_stream(scenes->base, 2 * (uint64_t)sample + 1);
}

/* Takes the training part over, with room for the test part behind it. */
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

static void add_tests(ocdm__scenes *scenes, size_t labels)
{
    for (size_t i = scenes->train_count; i < scenes->sample_count; i++) {
        uint32_t class_number = (uint32_t)((i - scenes->train_count) / OCDM__SCENE_TESTS_A_CLASS);
        scenes->task[i] = ocdm__builtin_class_task(class_number);
        scenes->label_start[i] = labels;
        scenes->label[labels++] = class_number;
    }
    scenes->label_start[scenes->sample_count] = labels;
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
    ocdm_status status = ocdm__builtin_create(seed, &builtin, error);
    if (status != OCDM_OK)
        return status;
    scenes->base = ocdm__random_base(seed, OCDM__FOR_SCENES);
    status = copy_train(scenes, builtin, error);
    if (status == OCDM_OK)
        add_tests(scenes, builtin->label_start[builtin->sample_count]);
    ocdm__builtin_destroy(builtin);
    if (status == OCDM_OK)
        status = ocdm__scene_space_create(scenes->base, &scenes->space, error);
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
    ocdm__scene_plan_make(plan_stream(scenes, sample), scenes->label + first, scenes->label_start[sample + 1] - first, plan);
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
