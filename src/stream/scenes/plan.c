/*
 * Plans scenes. Only +, -, * and / on doubles, so that a plan is the same on every machine: angles are drawn through the
 * half-angle formula, where a tangent that is drawn gives sine and cosine by division.
 */
#include "stream/scenes/scenes.h"

static double between(ocdm__random *random, double low, double high)
{
    return low + (high - low) * ocdm__random_unit(random);
}

/* A turn by at most 2 atan(most); a uniform tangent is near enough to a uniform angle. */
static void draw_turn(ocdm__random *random, double most, double *cosine, double *sine)
{
    double t = between(random, -most, most);
    *cosine = (1 - t * t) / (1 + t * t);
    *sine = 2 * t / (1 + t * t);
}

static void draw_any_turn(ocdm__random *random, double *cosine, double *sine)
{
    draw_turn(random, 1, cosine, sine); /* half of all; the other half is opposite */
    if (ocdm__random_below(random, 2) == 1) {
        *cosine = -*cosine;
        *sine = -*sine;
    }
}

static uint8_t to_byte(double value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* A colour near the given one: brighter or darker as a whole, and each channel a little off. */
static void jitter(ocdm__random *random, const uint8_t *from, double most, uint8_t *to)
{
    double gain = between(random, 0.8, 1.15);
    for (size_t i = 0; i < 3; i++)
        to[i] = to_byte(from[i] * gain + between(random, -most, most));
}

static const uint8_t *any_colour(ocdm__random *random)
{
    return ocdm__scene_palette[ocdm__random_below(random, OCDM__SCENE_COLOURS)];
}

static void draw_look(ocdm__random *random, ocdm__scene_object *object)
{
    if (object->figure->any_way_up)
        draw_any_turn(random, &object->cosine, &object->sine);
    else
        draw_turn(random, 0.18, &object->cosine, &object->sine);
    object->mirror = ocdm__random_below(random, 2) == 1 ? 1 : -1;
    object->stretch = between(random, 0.88, 1.12);
    object->beat = between(random, 0.8, 1.3);
    object->visible = 1;
    /* A class only tends to its hues: one object in five has any colour. */
    uint8_t hue = object->figure->hue[ocdm__random_below(random, OCDM__SCENE_HUES)];
    bool faithful = ocdm__random_below(random, 5) != 0;
    jitter(random, faithful ? ocdm__scene_palette[hue] : any_colour(random), 24, object->ink[OCDM__MAIN]);
    const uint8_t *main = object->ink[OCDM__MAIN];
    const uint8_t *second;
    int apart;
    do { /* the two must be distinguishable */
        second = any_colour(random);
        apart = 0;
        for (size_t i = 0; i < 3; i++)
            apart += second[i] > main[i] ? second[i] - main[i] : main[i] - second[i];
    } while (apart < 120);
    jitter(random, second, 16, object->ink[OCDM__SECOND]);
    for (size_t i = 0; i < 3; i++) {
        object->ink[OCDM__DARK][i] = to_byte(main[i] * 0.6);
        object->ink[OCDM__LIGHT][i] = to_byte(main[i] * 0.6 + 102);
    }
    for (size_t i = OCDM__WOOD; i < OCDM__SCENE_INKS; i++)
        jitter(random, ocdm__scene_materials[i], 16, object->ink[i]);
}

/* The least crowded of three places: objects often overlap but seldom cover each other completely. Crowding is how much the
 * object would lie over those that are there: overlap of squares, roughly. */
static void place(ocdm__random *random, const ocdm__scene_plan *plan, size_t first, ocdm__scene_object *object)
{
    double least = 0, half = object->half, margin = 0.75 * half;
    for (int i = 0; i < 3; i++) {
        double x = between(random, margin, 1 - margin);
        double y = between(random, margin, 1 - margin);
        double crowd = 0;
        for (size_t k = first; k < plan->object_count; k++) {
            const ocdm__scene_object *other = &plan->object[k];
            double dx = fabs(other->x - x), dy = fabs(other->y - y), reach = half + other->half;
            if (dx < reach && dy < reach)
                crowd += (reach - dx) * (reach - dy) / (half * half);
        }
        if (i > 0 && crowd >= least)
            continue;
        least = crowd;
        object->x = x;
        object->y = y;
    }
}

static void add_stray(ocdm__random *random, ocdm__scene_plan *plan, const ocdm__scene_figure *figure, double low, double high)
{
    ocdm__scene_object *object = &plan->object[plan->object_count++];
    object->figure = figure;
    object->class_number = OCDM__NO_CLASS;
    object->half = between(random, low, high);
    object->x = between(random, 0, 1);
    object->y = between(random, 0, 1);
    draw_look(random, object);
}

/* What is outside the image or behind a later object is hidden. */
static void estimate_visible(ocdm__scene_plan *plan, size_t at)
{
    enum { REACH = 2, POINTS = (2 * REACH + 1) * (2 * REACH + 1) };
    ocdm__scene_object *object = &plan->object[at];
    double step = object->half * 0.35;
    int seen = 0;
    for (int i = 0; i < POINTS; i++) {
        int column = i % (2 * REACH + 1) - REACH, row = i / (2 * REACH + 1) - REACH;
        double x = object->x + column * step, y = object->y + row * step;
        bool hidden = x < 0 || x > 1 || y < 0 || y > 1;
        for (size_t later = at + 1; !hidden && later < plan->object_count; later++) {
            /* A bar hides by its own outline, any other object by the ellipse that most figures nearly fill. */
            const ocdm__scene_object *other = &plan->object[later];
            double dx = x - other->x, dy = y - other->y;
            double u = (dx * other->cosine + dy * other->sine) / other->half;
            double v = (dy * other->cosine - dx * other->sine) / other->half;
            hidden = other->figure == &ocdm__scene_strays[OCDM__STRAY_BAR] ? u > -1 && u < 1 && v > -0.05 && v < 0.05
                                                                           : u * u + v * v < 0.6;
        }
        seen += !hidden;
    }
    object->visible = (double)seen / POINTS;
}

void ocdm__scene_plan_make(ocdm__random random, const uint32_t *label, size_t label_count, ocdm__scene_plan *plan)
{
    plan->object_count = 0;
    plan->backdrop.texture = (enum ocdm__scene_texture)ocdm__random_below(&random, OCDM__SCENE_TEXTURES);
    jitter(&random, any_colour(&random), 30, plan->backdrop.colour[0]);
    jitter(&random, any_colour(&random), 30, plan->backdrop.colour[1]);
    draw_any_turn(&random, &plan->backdrop.slope_x, &plan->backdrop.slope_y);
    draw_any_turn(&random, &plan->backdrop.cosine, &plan->backdrop.sine);
    plan->backdrop.scale = between(&random, 3, 9);
    plan->backdrop.strength = between(&random, 0.15, 0.5);
    plan->backdrop.noise = ocdm__random_next(&random);
    ocdm__scene_light *light = &plan->light;
    double gain = between(&random, 0.65, 1.1), slope = between(&random, 0, 0.35);
    for (size_t i = 0; i < 3; i++)
        light->gain[i] = gain * between(&random, 0.92, 1.08);
    draw_any_turn(&random, &light->slope_x, &light->slope_y);
    light->slope_x *= slope;
    light->slope_y *= slope;
    light->grain = (uint32_t)(4 + ocdm__random_below(&random, 17));
    light->noise = ocdm__random_next(&random);
    for (size_t left = (size_t)ocdm__random_below(&random, OCDM__SCENE_BEHIND + 1); left > 0; left--)
        add_stray(&random, plan, &ocdm__scene_strays[ocdm__random_below(&random, OCDM__STRAY_BAR)], 0.07, 0.2);
    /* The classes' objects, in random order; the more there are, the smaller they are. */
    uint32_t order[OCDM__BUILTIN_CLASSES];
    size_t first = plan->object_count;
    double shrink = 1.25 / (1 + 0.18 * (double)label_count);
    for (size_t i = 0; i < label_count; i++) {
        size_t j = (size_t)ocdm__random_below(&random, i + 1);
        order[i] = j < i ? order[j] : label[i];
        order[j] = label[i];
    }
    for (size_t i = 0; i < label_count; i++) {
        ocdm__scene_object *object = &plan->object[plan->object_count];
        object->figure = &ocdm__scene_figures[order[i]];
        object->class_number = order[i];
        object->half = shrink * between(&random, 0.2, 0.36);
        place(&random, plan, first, object);
        draw_look(&random, object);
        plan->object_count++;
    }
    for (size_t left = (size_t)ocdm__random_below(&random, OCDM__SCENE_IN_FRONT + 1); left > 0; left--)
        add_stray(&random, plan, &ocdm__scene_strays[OCDM__STRAY_BAR], 0.25, 0.6);
    for (size_t i = 0; i < plan->object_count; i++)
        if (plan->object[i].class_number != OCDM__NO_CLASS)
            estimate_visible(plan, i);
}
