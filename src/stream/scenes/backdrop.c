/* Gradient, texture, light and grain, the same on every machine: doubles with +, -, * only, and whole numbers from there on. */
#include "stream/scenes/backdrop.h"

#include "stream/scenes/arithmetic.h"

static double corner(uint64_t noise, int x, int y)
{
    return (double)(ocdm__random_at(noise, ((uint64_t)(unsigned)x << 32) + (unsigned)y) >> 40) * 0x1p-24;
}

/* Value noise: random values on a lattice, passing smoothly from one to the next. The last cell is kept, since neighbouring
 * pixels mostly fall into the same one. */
struct mottle {
    uint64_t noise;
    int x, y;
    double value[4];
};

static double mottle_at(struct mottle *mottle, double u, double v)
{
    int x = (int)(u + 1000);
    int y = (int)(v + 1000);
    if (x != mottle->x || y != mottle->y) {
        for (int i = 0; i < 4; i++)
            mottle->value[i] = corner(mottle->noise, x + i % 2, y + i / 2);
        mottle->x = x;
        mottle->y = y;
    }
    double p = u + 1000 - x;
    double q = v + 1000 - y;
    p = p * p * (3 - 2 * p);
    q = q * q * (3 - 2 * q);
    double top = mottle->value[0] + p * (mottle->value[1] - mottle->value[0]);
    double bottom = mottle->value[2] + p * (mottle->value[3] - mottle->value[2]);
    return top + q * (bottom - top);
}

/* 0..1, about a half on average. */
static double texture_at(const ocdm__scene_backdrop *backdrop, struct mottle *mottle, double x, double y)
{
    double u = backdrop->scale * (x * backdrop->cosine + y * backdrop->sine);
    double v = backdrop->scale * (y * backdrop->cosine - x * backdrop->sine);
    double a, b;
    switch (backdrop->texture) {
    case OCDM__TEXTURE_STRIPES:
        return ocdm__wave(u);
    case OCDM__TEXTURE_TILES:
        a = ocdm__wave(u);
        b = ocdm__wave(v);
        return a < b ? a : b;
    case OCDM__TEXTURE_MOTTLE:
        return mottle_at(mottle, u, v);
    default:
        return 0.5;
    }
}

void ocdm__scene_fill(const ocdm__scene_backdrop *backdrop, uint32_t size, uint8_t *rgb)
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

void ocdm__scene_light_up(const ocdm__scene_light *light, uint32_t size, uint8_t *rgb)
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
