/*
 * Paints scenes: backdrop, parts of objects, light and grain, the same on every machine. Doubles with +, -, *, / and the square
 * root only, which IEEE 754 defines to the last bit; from coverage on, integers.
 *
 * A part is painted pixel by pixel within its bounding box: the pixel's centre is mapped back to the figure's own plane, and
 * the distance to the part's edge there determines how much of the pixel is covered. Distances are exact for strokes, blocks
 * and round ellipses, and close enough at the edge for the others.
 */
#include "stream/scenes/scenes.h"

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* From 1 down to 0 and back, once in a unit. `t` is within 1000 of 0: the shift makes truncation round down. */
static inline double wave(double t)
{
    double shifted = t + 1000;
    return 2 * fabs(shifted - (double)(int)shifted - 0.5);
}

/* ---- backdrop and light --------------------------------------------------------------------------------------------- */

/* Value noise: random values on a lattice, passing smoothly from one to the next. The last cell is kept, since neighbouring
 * pixels mostly fall into the same one. */
struct mottle {
    uint64_t noise;
    int x, y;
    double value[4];
};

/* 0..1, about a half on average. */
static double texture_at(const ocdm__scene_backdrop *backdrop, struct mottle *mottle, double x, double y)
{
    double u = backdrop->scale * (x * backdrop->cosine + y * backdrop->sine);
    double v = backdrop->scale * (y * backdrop->cosine - x * backdrop->sine);
    if (backdrop->texture == OCDM__TEXTURE_STRIPES)
        return wave(u);
    if (backdrop->texture == OCDM__TEXTURE_TILES)
        return wave(u) < wave(v) ? wave(u) : wave(v);
    if (backdrop->texture != OCDM__TEXTURE_MOTTLE)
        return 0.5;
    int cell_x = (int)(u + 1000), cell_y = (int)(v + 1000);
    for (int i = 0; (cell_x != mottle->x || cell_y != mottle->y) && i < 4; i++) {
        uint64_t corner = ((uint64_t)(unsigned)(cell_x + i % 2) << 32) + (unsigned)(cell_y + i / 2);
        mottle->value[i] = (double)(ocdm__random_at(mottle->noise, corner) >> 40) * 0x1p-24;
    }
    mottle->x = cell_x;
    mottle->y = cell_y;
    double p = u + 1000 - cell_x, q = v + 1000 - cell_y;
    p = p * p * (3 - 2 * p);
    q = q * q * (3 - 2 * q);
    double top = mottle->value[0] + p * (mottle->value[1] - mottle->value[0]);
    double bottom = mottle->value[2] + p * (mottle->value[3] - mottle->value[2]);
    return top + q * (bottom - top);
}

static void fill_backdrop(const ocdm__scene_backdrop *backdrop, uint32_t size, uint8_t *rgb)
{
    struct mottle mottle = {.noise = backdrop->noise, .x = -1, .y = -1};
    size_t plane = (size_t)size * size;
    double step = 1.0 / size;
    for (uint32_t row = 0; row < size; row++)
        for (uint32_t column = 0; column < size; column++) {
            double x = (column + 0.5) * step - 0.5;
            double y = (row + 0.5) * step - 0.5;
            double mix = 0.5 + 0.7 * (x * backdrop->slope_x + y * backdrop->slope_y);
            mix += backdrop->strength * (texture_at(backdrop, &mottle, x, y) - 0.5) * 2;
            int share = mix <= 0 ? 0 : mix >= 1 ? 256 : (int)(mix * 256);
            for (size_t i = 0; i < 3; i++)
                rgb[i * plane + (size_t)row * size + column] =
                    (uint8_t)((backdrop->colour[0][i] * (256 - share) + backdrop->colour[1][i] * share) / 256);
        }
}

static void light_up(const ocdm__scene_light *light, uint32_t size, uint8_t *rgb)
{
    size_t plane = (size_t)size * size;
    double step = 1.0 / size;
    int grain = (int)light->grain;
    size_t at = 0;
    for (uint32_t row = 0; row < size; row++)
        for (uint32_t column = 0; column < size; column++, at++) {
            double x = (column + 0.5) * step - 0.5;
            double y = (row + 0.5) * step - 0.5;
            double gain = 1 + 2 * (x * light->slope_x + y * light->slope_y);
            uint64_t bits = ocdm__random_at(light->noise, at);
            for (size_t i = 0; i < 3; i++, bits >>= 16) {
                int noise = (int)(bits & 0xFF) + (int)(bits >> 8 & 0xFF) - 255; /* -255..255, mostly near 0 */
                int value = (int)(rgb[i * plane + at] * (gain * light->gain[i])) + noise * grain / 256;
                rgb[i * plane + at] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

/* A part made ready: from pixels to its own plane, and its numbers as doubles. */
struct brush {
    const ocdm__scene_part *part;
    const ocdm__scene_object *object;
    double xx, xy, x0; /* u = xx x + xy y + x0 */
    double yx, yy, y0;
    double pixels; /* to one unit of the part's plane */
    double at[8];
    double edge[4][3]; /* polygon: distance is the largest of a u + b v + c */
    int edges;
    double radius; /* lens: of its two circles, and how far their centres are from its own */
    double offset;
};

/* cos and sin of a full circle over n, n = 1..12, as written here on every machine. */
static const double circle[13][2] = {
    {1, 0},
    {1, 0},
    {-1, 0},
    {-0.5, 0.86602540378443864676},
    {0, 1},
    {0.30901699437494742410, 0.95105651629515357212},
    {0.5, 0.86602540378443864676},
    {0.62348980185873353053, 0.78183148246802980871},
    {0.70710678118654752440, 0.70710678118654752440},
    {0.76604444311897803520, 0.64278760968653932632},
    {0.80901699437494742410, 0.58778525229247312917},
    {0.84125353283118116886, 0.54064081745559758211},
    {0.86602540378443864676, 0.5},
};

/* By how much the point is outside (positive) or inside (negative), to first order: exact for a circle. */
static double ellipse_distance(double u, double v, double radius_x, double radius_y)
{
    double p = u / radius_x, q = v / radius_y;
    double gp = p / radius_x, gq = q / radius_y;
    double square = p * p + q * q, slope = sqrt(gp * gp + gq * gq);
    if (slope <= 0)
        return -(radius_x < radius_y ? radius_x : radius_y);
    double root = sqrt(square);
    return root * (root - 1) / slope;
}

/* From a point to the edge of the whole form: negative inside. */
static double form_distance(const struct brush *brush, double u, double v)
{
    const double *at = brush->at;
    double px = u - at[0], py = v - at[1], dx, dy, d;
    switch ((enum ocdm__scene_form)brush->part->form) {
    case OCDM__ELLIPSE:
        return ellipse_distance(px, py, at[2], at[3]);
    case OCDM__RING:
        return fabs(ellipse_distance(px, py, at[2], at[3])) - at[4];
    case OCDM__LENS:
        d = fabs(px) + brush->offset;
        return sqrt(d * d + py * py) - brush->radius;
    case OCDM__BLOCK:
        dx = fabs(px) - at[2] + at[4];
        dy = fabs(py) - at[3] + at[4];
        d = larger(dx, dy);
        return sqrt(larger(dx, 0) * larger(dx, 0) + larger(dy, 0) * larger(dy, 0)) + (d < 0 ? d : 0) - at[4];
    case OCDM__STROKE:
        dx = at[2] - at[0];
        dy = at[3] - at[1];
        d = dx * dx + dy * dy;
        d = d > 0 ? (px * dx + py * dy) / d : 0; /* the nearest point is this far along the stroke */
        d = d < 0 ? 0 : d > 1 ? 1 : d;
        px -= d * dx;
        py -= d * dy;
        return sqrt(px * px + py * py) - at[4];
    default:
        d = brush->edge[0][0] * u + brush->edge[0][1] * v + brush->edge[0][2];
        for (int i = 1; i < brush->edges; i++)
            d = larger(d, brush->edge[i][0] * u + brush->edge[i][1] * v + brush->edge[i][2]);
        return d;
    }
}

/* Where a pattern that repeats f times in a unit shows the other ink: from 0.25 on all of it, up to -0.25 none. */
static double pattern_level(enum ocdm__scene_pattern pattern, double f, double u, double v)
{
    if (pattern == OCDM__PLAIN)
        return -1;
    double across = wave(u * f), down = wave(v * f);
    return pattern == OCDM__STRIPES  ? across - 0.5
           : pattern == OCDM__BANDS  ? down - 0.5
           : pattern == OCDM__SLANTS ? wave((u + v) * f) - 0.5
           : pattern == OCDM__CHECKS ? 6 * (across - 0.5) * (down - 0.5)
                                     : across + down - 1.4;
}

static void make_edges(struct brush *brush)
{
    const double *at = brush->at;
    double area = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t j = (i + 1) % 4;
        area += at[2 * i] * at[2 * j + 1] - at[2 * j] * at[2 * i + 1];
    }
    for (size_t i = 0; i < 4; i++) {
        size_t j = (i + 1) % 4;
        double dx = at[2 * j] - at[2 * i];
        double dy = at[2 * j + 1] - at[2 * i + 1];
        double length = sqrt(dx * dx + dy * dy);
        if (length <= 0)
            continue;
        double sign = (area > 0 ? 1 : -1) / length;
        double *edge = brush->edge[brush->edges++];
        edge[0] = dy * sign;
        edge[1] = -dx * sign;
        edge[2] = -(edge[0] * at[2 * i] + edge[1] * at[2 * i + 1]);
    }
}

static struct brush make_brush(const ocdm__scene_object *object, const ocdm__scene_part *part, int copy, uint32_t size)
{
    struct brush brush = {.part = part, .object = object};
    /* From pixels to the figure's plane: the object's place, turn and size undone. */
    double scale_x = object->mirror / (object->half * object->stretch * size);
    double scale_y = object->stretch / (object->half * size);
    double centre_x = object->x * size - 0.5, centre_y = object->y * size - 0.5;
    brush.pixels = object->half * size;
    brush.xx = object->cosine * scale_x;
    brush.xy = object->sine * scale_x;
    brush.yx = -object->sine * scale_y;
    brush.yy = object->cosine * scale_y;
    brush.x0 = -(brush.xx * centre_x + brush.xy * centre_y);
    brush.y0 = -(brush.yx * centre_x + brush.yy * centre_y);
    /* From the figure's plane to where copy number `copy` is drawn: its step or turn undone. */
    double x = brush.part->step[0] * 0.01, y = brush.part->step[1] * 0.01;
    const double *turn = circle[brush.part->copies];
    if (brush.part->repeat == OCDM__ALONG) {
        brush.x0 -= copy * x;
        brush.y0 -= copy * y;
    }
    for (int i = 0; brush.part->repeat == OCDM__AROUND && i < copy; i++) {
        struct brush was = brush;
        brush.xx = turn[0] * was.xx + turn[1] * was.yx;
        brush.xy = turn[0] * was.xy + turn[1] * was.yy;
        brush.x0 = turn[0] * (was.x0 - x) + turn[1] * (was.y0 - y) + x;
        brush.yx = turn[0] * was.yx - turn[1] * was.xx;
        brush.yy = turn[0] * was.yy - turn[1] * was.xy;
        brush.y0 = turn[0] * (was.y0 - y) - turn[1] * (was.x0 - x) + y;
    }
    for (int i = 0; i < 8; i++)
        brush.at[i] = part->at[i] * 0.01;
    if (part->form == OCDM__POLYGON)
        make_edges(&brush);
    if (part->form == OCDM__LENS) {
        brush.radius = (brush.at[2] * brush.at[2] + brush.at[3] * brush.at[3]) / (2 * brush.at[2]);
        brush.offset = brush.radius - brush.at[2];
    }
    return brush;
}

/* From..to of pixels, in x and y, that a part may touch; empty when it is outside the image. */
static void pixel_box(const struct brush *brush, uint32_t size, int from[2], int to[2])
{
    double middle[2], reach[2];
    /* The part's bounds in its own plane: middle and reach, x and y. */
    const double *at = brush->at;
    int corners = brush->part->form == OCDM__POLYGON ? 4 : brush->part->form == OCDM__STROKE ? 2 : 1;
    for (int axis = 0; axis < 2; axis++) {
        double low = at[axis], high = at[axis];
        for (int i = 1; i < corners; i++) {
            low = at[2 * i + axis] < low ? at[2 * i + axis] : low;
            high = larger(high, at[2 * i + axis]);
        }
        middle[axis] = (low + high) / 2;
        reach[axis] = (high - low) / 2;
        if (corners == 1)
            reach[axis] = at[2 + axis];
        if (brush->part->form == OCDM__RING || brush->part->form == OCDM__STROKE)
            reach[axis] += at[4];
    }
    double area = brush->xx * brush->yy - brush->xy * brush->yx;
    double u = middle[0] - brush->x0;
    double v = middle[1] - brush->y0;
    double centre[2] = {(brush->yy * u - brush->xy * v) / area, (brush->xx * v - brush->yx * u) / area};
    double spread[2] = {fabs(brush->yy / area) * reach[0] + fabs(brush->xy / area) * reach[1],
                        fabs(brush->yx / area) * reach[0] + fabs(brush->xx / area) * reach[1]};
    for (int axis = 0; axis < 2; axis++) {
        double low = centre[axis] - spread[axis] - 1;
        double high = centre[axis] + spread[axis] + 2;
        from[axis] = low < 0 ? 0 : low > size ? (int)size : (int)low;
        to[axis] = high < 0 ? 0 : high > size ? (int)size : (int)high;
    }
}

/* Lays the colour over each pixel that the part covers. The figure is lit from above and darker along the part's edge. */
static void paint_copy(const struct brush *brush, uint32_t size, uint8_t *rgb)
{
    const uint8_t(*ink)[3] = brush->object->ink;
    const uint8_t *colour = ink[brush->part->ink];
    const double f = 2.6 * brush->object->beat;
    int from[2], to[2];
    pixel_box(brush, size, from, to);
    for (int y = from[1]; y < to[1]; y++)
        for (int x = from[0]; x < to[0]; x++) {
            double u = brush->xx * x + brush->xy * y + brush->x0;
            double v = brush->yx * x + brush->yy * y + brush->y0;
            double outside = form_distance(brush, u, v);
            if (brush->part->keep != OCDM__KEEP_ALL) /* the half that stays */
                outside = larger(outside, brush->part->keep == OCDM__KEEP_ABOVE ? v - brush->at[1] : brush->at[1] - v);
            double inside = -outside * brush->pixels;
            if (inside <= -0.5)
                continue;
            int cover = inside >= 0.5 ? 256 : (int)((inside + 0.5) * 256);
            double share = 128 + pattern_level((enum ocdm__scene_pattern)brush->part->pattern, f, u, v) * 512;
            int other = share <= 0 ? 0 : share >= 256 ? 256 : (int)share;
            int light = 256 - (int)(40 * v) - (inside < 1.2 ? 56 : 0);
            for (size_t i = 0; i < 3; i++) {
                int against = brush->part->ink == OCDM__MAIN ? ink[OCDM__SECOND][i] : colour[i] * 5 / 8;
                int value = (colour[i] * (256 - other) + against * other) / 256 * light / 256;
                value = value > 255 ? 255 : value;
                uint8_t *at = rgb + (i * size + (size_t)y) * size + (size_t)x;
                *at = (uint8_t)((*at * (256 - cover) + value * cover + 128) / 256);
            }
        }
}

void ocdm__scene_draw(const ocdm__scene_plan *plan, uint32_t size, uint8_t *rgb_chw)
{
    fill_backdrop(&plan->backdrop, size, rgb_chw);
    for (size_t o = 0; o < plan->object_count; o++) {
        const ocdm__scene_object *object = &plan->object[o];
        for (uint8_t i = 0; i < object->figure->part_count; i++) {
            const ocdm__scene_part *part = &object->figure->parts[i];
            int copies = part->repeat == OCDM__ONCE ? 1 : part->copies;
            for (int copy = 0; copy < copies; copy++) {
                struct brush brush = make_brush(object, part, copy, size);
                paint_copy(&brush, size, rgb_chw);
            }
        }
    }
    light_up(&plan->light, size, rgb_chw);
}
