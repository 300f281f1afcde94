/*
 * The built-in world. Feature vectors are what a fixed, pretrained network might make of a scene, without the network: each
 * object adds its class's direction (look-alikes have directions in common), more of it the larger and the less hidden it is,
 * with variation by its view and colour; backdrop, strays and noise add unrelated components. A fixed random layer with a kink
 * mixes it all. docs/scenes.md has the formulas. Floats with + and * in a fixed order, so that a vector is the same bytes
 * everywhere; normal numbers are sums of uniform ones.
 */
#include "stream/scenes/scenes.h"

#include "base/bytes.h"

/* ---- what features are made with ------------------------------------------------------------------------------------ */

/* Chosen so that the world is hard but learnable for a linear model; docs/scenes.md has the results. */
enum { LATENT = 32, VIEWS = 3 };
static const float likeness = 0.7f;     /* the share of a class's direction that its look-alikes have, too */
static const float view_spread = 0.25f; /* how far an object is from its class's direction, along each of its views */
static const float colour_pull = 0.5f;
static const float backdrop_pull = 0.45f;
static const float stray_pull = 0.3f;
static const float noise_level = 0.10f; /* on each latent number; a direction has length 1 */

/* Mean and 1 / deviation of a normal number whose negative half is cut to 0. */
static const float kink_mean = 0.3989f;
static const float kink_scale = 1.7128f;

/* The directions and the mixing layer of a seed. */
struct ocdm__scene_space {
    float class_direction[OCDM__BUILTIN_CLASSES][LATENT];
    float view[OCDM__BUILTIN_CLASSES][VIEWS][LATENT];
    float stray[OCDM__SCENE_STRAYS][LATENT];
    float colour[3][LATENT];
    float backdrop[6][LATENT]; /* of its two colours */
    float texture[OCDM__SCENE_TEXTURES][LATENT];
    float mixing[LATENT][OCDM__SCENE_FEATURES];
    float centre[OCDM__SCENE_FEATURES]; /* what is mixed passes the kink as (value - centre) * scale */
    float scale[OCDM__SCENE_FEATURES];
};

/* Nearly normal: four uniform numbers from one draw; mean 0, deviation 1, within 3.47. */
static float normal(ocdm__random *random)
{
    uint64_t bits = ocdm__random_next(random);
    int32_t sum = (int32_t)((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
    return (float)(sum - 131070) * 2.6429e-5f; /* sqrt(3) / 65536 */
}

/* `count` random directions of a length. */
static void draw_directions(ocdm__random *random, double length, size_t count, float (*direction)[LATENT])
{
    for (size_t d = 0; d < count; d++) {
        double square = 0, drawn[LATENT];
        for (size_t i = 0; i < LATENT; i++) {
            drawn[i] = (double)normal(random);
            square += drawn[i] * drawn[i];
        }
        double scale = length / sqrt(square);
        for (size_t i = 0; i < LATENT; i++)
            direction[d][i] = (float)(drawn[i] * scale);
    }
}

static void add(float *to, float share, const float *direction)
{
    for (size_t i = 0; i < LATENT; i++)
        to[i] += share * direction[i];
}

static void draw_space(struct ocdm__scene_space *space, uint64_t base)
{
    ocdm__random random = ocdm__random_stream(base, UINT64_MAX);
    float kin[OCDM__SCENE_KINS][LATENT];
    draw_directions(&random, sqrt((double)likeness), OCDM__SCENE_KINS, kin);
    for (size_t c = 0; c < OCDM__BUILTIN_CLASSES; c++) {
        draw_directions(&random, sqrt(1 - (double)likeness), 1, &space->class_direction[c]);
        add(space->class_direction[c], 1, kin[ocdm__scene_figures[c].kin]);
        draw_directions(&random, (double)view_spread, VIEWS, space->view[c]);
    }
    draw_directions(&random, (double)stray_pull, OCDM__SCENE_STRAYS, space->stray);
    draw_directions(&random, (double)colour_pull, 3, space->colour);
    draw_directions(&random, (double)backdrop_pull, 6, space->backdrop);
    draw_directions(&random, (double)backdrop_pull, OCDM__SCENE_TEXTURES, space->texture);
    for (size_t i = 0; i < LATENT; i++)
        for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
            space->mixing[i][j] = normal(&random);
}

/* ---- features ------------------------------------------------------------------------------------------------------- */

/* -1..1 */
static float channel(uint8_t value)
{
    return (float)((int)value * 2 - 255) * (1.0f / 255);
}

/* The vector of a sample before centring and the kink. Under the world's base, streams 2 i and 2 i + 1 belong to sample i: its
 * plan, and the noise of its features. */
static void mix(const ocdm__scenes *scenes, size_t sample, float *out)
{
    const struct ocdm__scene_space *space = scenes->space;
    ocdm__random random = ocdm__random_stream(scenes->base, 2 * (uint64_t)sample + 1);
    ocdm__scene_plan plan;
    float latent[LATENT];
    ocdm__scene_plan_sample(scenes, sample, &plan);
    for (size_t i = 0; i < LATENT; i++)
        latent[i] = noise_level * normal(&random);
    for (size_t i = 0; i < 6; i++)
        add(latent, 0.5f * channel(plan.backdrop.colour[i / 3][i % 3]), space->backdrop[i]);
    add(latent, (float)plan.backdrop.strength, space->texture[plan.backdrop.texture]);
    for (size_t k = 0; k < plan.object_count; k++) {
        const ocdm__scene_object *object = &plan.object[k];
        float share = (float)(object->half * object->visible * 2.5); /* by its width and by what is visible of it */
        bool stray = object->class_number == OCDM__NO_CLASS;
        add(latent, share,
            stray ? space->stray[object->figure - ocdm__scene_strays] : space->class_direction[object->class_number]);
        for (size_t i = 0; !stray && i < VIEWS; i++)
            add(latent, share * normal(&random), space->view[object->class_number][i]);
        for (size_t i = 0; i < 3; i++)
            add(latent, share * channel(object->ink[OCDM__MAIN][i]), space->colour[i]);
    }
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
        out[j] = 0;
    for (size_t i = 0; i < LATENT; i++)
        for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
            out[j] += latent[i] * space->mixing[i][j];
}

/*
 * Features are centred by a part of the training samples, as the layers of a trained network are. Without it all vectors point
 * the same way, and a linear model forgets by its offset alone, which no ranking shows.
 */
static void centre_features(ocdm__scenes *scenes)
{
    enum { VECTORS = 1024 };
    double sum[OCDM__SCENE_FEATURES] = {0}, squares[OCDM__SCENE_FEATURES] = {0};
    for (size_t i = 0; i < VECTORS; i++) {
        float mixed[OCDM__SCENE_FEATURES];
        mix(scenes, i * (scenes->labels->train_count / VECTORS), mixed);
        for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++) {
            sum[j] += (double)mixed[j];
            squares[j] += (double)mixed[j] * (double)mixed[j];
        }
    }
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++) {
        double mean = sum[j] / (double)VECTORS, variance = squares[j] / (double)VECTORS - mean * mean;
        scenes->space->centre[j] = (float)mean;
        scenes->space->scale[j] = variance > 0 ? (float)(1 / sqrt(variance)) : 0;
    }
}

void ocdm__scene_features(const ocdm__scenes *scenes, size_t sample, float *out)
{
    mix(scenes, sample, out);
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++) {
        float value = (out[j] - scenes->space->centre[j]) * scenes->space->scale[j];
        out[j] = ((value < 0 ? 0 : value) - kink_mean) * kink_scale;
    }
}

/* ---- the world ------------------------------------------------------------------------------------------------------ */

ocdm_status ocdm__scenes_create(uint64_t seed, ocdm__scenes **scenes, ocdm_error *error)
{
    ocdm__scenes *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "the built-in world", error));
    made->base = ocdm__random_base(seed, OCDM__FOR_SCENES);
    made->space = ocdm__allocate(1, sizeof *made->space);
    ocdm_status status = made->space != NULL ? ocdm__builtin_create(seed, OCDM__SCENE_TESTS_A_CLASS, &made->labels, error)
                                             : ocdm__fail_memory(error, "the built-in world");
    if (status != OCDM_OK) {
        ocdm__scenes_destroy(made);
        return status;
    }
    draw_space(made->space, made->base);
    centre_features(made);
    *scenes = made;
    return OCDM_OK;
}

void ocdm__scenes_destroy(ocdm__scenes *scenes)
{
    if (scenes == NULL)
        return;
    ocdm__builtin_destroy(scenes->labels);
    OCDM_RELEASE(scenes->space, scenes);
}

void ocdm__scene_plan_sample(const ocdm__scenes *scenes, size_t sample, ocdm__scene_plan *plan)
{
    const size_t *start = scenes->labels->label_start + sample;
    ocdm__random random = ocdm__random_stream(scenes->base, 2 * (uint64_t)sample);
    ocdm__scene_plan_make(random, scenes->labels->label + start[0], start[1] - start[0], plan);
}

void ocdm__scene_render(const ocdm__scenes *scenes, size_t sample, uint32_t size, uint8_t *rgb_chw)
{
    ocdm__scene_plan plan;
    ocdm__scene_plan_sample(scenes, sample, &plan);
    ocdm__scene_draw(&plan, size, rgb_chw);
}

/* ---- the world as a source of a stream file ------------------------------------------------------------------------- */

ocdm_status ocdm__scenes_label(const ocdm__scenes *scenes, ocdm__labelled_set *set, ocdm_error *error)
{
    const ocdm__builtin *labels = scenes->labels;
    char text[24];
    for (uint32_t i = 0, number; i < labels->class_count; i++) {
        const char *name = ocdm__builtin_class_name(i);
        OCDM_TRY(ocdm__label_table_add(&set->classes, name, strlen(name), &number, error));
    }
    for (size_t i = 0; i < labels->sample_count; i++) {
        ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
        sample.id = text;
        sample.id_length = (size_t)snprintf(text, sizeof text, "%zu", i);
        sample.labels = labels->label + labels->label_start[i];
        sample.label_count = labels->label_start[i + 1] - labels->label_start[i];
        sample.task = labels->task[i];
        sample.part = i < labels->train_count ? OCDM__TRAIN : OCDM__TEST;
        OCDM_TRY(ocdm__labelled_set_add(set, &sample, error));
    }
    return OCDM_OK;
}

static ocdm_status fill(void *state, size_t first, size_t count, unsigned char *bytes, ocdm_error *error)
{
    const ocdm__scenes *scenes = state;
    (void)error;
    for (size_t i = first; i < first + count; i++) {
        float row[OCDM__SCENE_FEATURES];
        if (scenes->size > 0) {
            ocdm__scene_render(scenes, i, scenes->size, bytes);
            bytes += (size_t)3 * scenes->size * scenes->size;
            continue;
        }
        ocdm__scene_features(scenes, i, row);
        for (size_t k = 0; k < OCDM__SCENE_FEATURES; k++, bytes += 4)
            ocdm__put_float(bytes, row[k]);
    }
    return OCDM_OK;
}

ocdm__payload_source ocdm__scenes_payload(ocdm__scenes *scenes, uint32_t size)
{
    const ocdm__payload_shape images = {OCDM__IMAGES, OCDM__U8, .width = size, .height = size, .channels = 3};
    const ocdm__payload_shape features = {OCDM__FEATURES, OCDM__F32, .width = OCDM__SCENE_FEATURES};
    scenes->size = size;
    return (ocdm__payload_source){size > 0 ? images : features, fill, scenes};
}
