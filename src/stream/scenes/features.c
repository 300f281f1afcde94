/* Floats with + and * in a fixed order, so that a vector is the same bytes everywhere; normal numbers are sums of uniform
 * ones. */
#include "stream/scenes/plan.h"

#include <math.h>

#include "base/allocate.h"
#include "base/error.h"

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

/* A random direction of length 1, or the given length. */
static void draw_direction(ocdm__random *random, double length, float *direction)
{
    double square = 0;
    double drawn[LATENT];
    for (size_t i = 0; i < LATENT; i++) {
        drawn[i] = (double)normal(random);
        square += drawn[i] * drawn[i];
    }
    double scale = length / sqrt(square);
    for (size_t i = 0; i < LATENT; i++)
        direction[i] = (float)(drawn[i] * scale);
}

static void add(float *to, float share, const float *direction)
{
    for (size_t i = 0; i < LATENT; i++)
        to[i] += share * direction[i];
}

ocdm_status ocdm__scene_space_create(uint64_t base, ocdm__scene_space **space, ocdm_error *error)
{
    ocdm__scene_space *made = ocdm__allocate(1, sizeof *made);
    if (made == NULL)
        return ocdm__fail_memory(error, "the built-in world");
    ocdm__random random = ocdm__random_stream(base, UINT64_MAX);
    float kin[OCDM__SCENE_KINS][LATENT];
    for (size_t i = 0; i < OCDM__SCENE_KINS; i++)
        draw_direction(&random, sqrt((double)likeness), kin[i]);
    for (size_t c = 0; c < OCDM__BUILTIN_CLASSES; c++) {
        draw_direction(&random, sqrt(1 - (double)likeness), made->class_direction[c]);
        add(made->class_direction[c], 1, kin[ocdm__scene_figures[c].kin]);
        for (size_t i = 0; i < VIEWS; i++)
            draw_direction(&random, (double)view_spread, made->view[c][i]);
    }
    for (size_t i = 0; i < OCDM__SCENE_STRAYS; i++)
        draw_direction(&random, (double)stray_pull, made->stray[i]);
    for (size_t i = 0; i < 3; i++)
        draw_direction(&random, (double)colour_pull, made->colour[i]);
    for (size_t i = 0; i < 6; i++)
        draw_direction(&random, (double)backdrop_pull, made->backdrop[i]);
    for (size_t i = 0; i < OCDM__SCENE_TEXTURES; i++)
        draw_direction(&random, (double)backdrop_pull, made->texture[i]);
    for (size_t i = 0; i < LATENT; i++)
        for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
            made->mixing[i][j] = normal(&random);
    *space = made;
    return OCDM_OK;
}

void ocdm__scene_space_destroy(ocdm__scene_space *space)
{
    ocdm__release(space);
}

void ocdm__scene_space_centre(ocdm__scene_space *space, const float *mixed, size_t count)
{
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++) {
        double sum = 0;
        double squares = 0;
        for (size_t i = 0; i < count; i++) {
            double value = (double)mixed[i * OCDM__SCENE_FEATURES + j];
            sum += value;
            squares += value * value;
        }
        double mean = sum / (double)count;
        double variance = squares / (double)count - mean * mean;
        space->centre[j] = (float)mean;
        space->scale[j] = variance > 0 ? (float)(1 / sqrt(variance)) : 0;
    }
}

/* -1..1 */
static float channel(uint8_t value)
{
    return (float)((int)value * 2 - 255) * (1.0f / 255);
}

/* An object is weighted by its width, at most 1, and by its visible share. */
static void add_object(const ocdm__scene_space *space, const ocdm__scene_object *object, ocdm__random *random, float *latent)
{
    float share = (float)(object->half * object->visible * 2.5);
    if (object->class_number == OCDM__NO_CLASS) {
        add(latent, share, space->stray[object->figure - ocdm__scene_strays]);
    } else {
        add(latent, share, space->class_direction[object->class_number]);
        for (size_t i = 0; i < VIEWS; i++)
            add(latent, share * normal(random), space->view[object->class_number][i]);
    }
    for (size_t i = 0; i < 3; i++)
        add(latent, share * channel(object->ink[OCDM__MAIN][i]), space->colour[i]);
}

void ocdm__scene_plan_mix(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out)
{
    float latent[LATENT];
    for (size_t i = 0; i < LATENT; i++)
        latent[i] = noise_level * normal(&random);
    for (size_t i = 0; i < 6; i++)
        add(latent, 0.5f * channel(plan->backdrop.colour[i / 3][i % 3]), space->backdrop[i]);
    add(latent, (float)plan->backdrop.strength, space->texture[plan->backdrop.texture]);
    for (size_t i = 0; i < plan->object_count; i++)
        add_object(space, &plan->object[i], &random, latent);
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
        out[j] = 0;
    for (size_t i = 0; i < LATENT; i++)
        for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++)
            out[j] += latent[i] * space->mixing[i][j];
}

void ocdm__scene_plan_features(const ocdm__scene_space *space, const ocdm__scene_plan *plan, ocdm__random random, float *out)
{
    ocdm__scene_plan_mix(space, plan, random, out);
    for (size_t j = 0; j < OCDM__SCENE_FEATURES; j++) {
        float value = (out[j] - space->centre[j]) * space->scale[j];
        out[j] = ((value < 0 ? 0 : value) - kink_mean) * kink_scale;
    }
}
