/* The figures, drawn by hand. Classes are in the order of builtin.c. */
#include "stream/scenes/scenes.h"

enum colour { RED, ORANGE, YELLOW, OLIVE, GREEN, TEAL, SKY, BLUE, PURPLE, PINK, BROWN, TAN, CREAM, WHITE, GREY, CHARCOAL };

const uint8_t ocdm__scene_palette[OCDM__SCENE_COLOURS][3] = {
    [RED] = {200, 50, 45},     [ORANGE] = {228, 128, 40}, [YELLOW] = {236, 204, 60}, [OLIVE] = {130, 140, 50},
    [GREEN] = {58, 142, 62},   [TEAL] = {40, 140, 135},   [SKY] = {130, 180, 225},   [BLUE] = {52, 88, 176},
    [PURPLE] = {122, 70, 160}, [PINK] = {228, 140, 172},  [BROWN] = {120, 76, 44},   [TAN] = {196, 154, 104},
    [CREAM] = {238, 222, 184}, [WHITE] = {238, 238, 240}, [GREY] = {140, 142, 148},  [CHARCOAL] = {62, 64, 72},
};

const uint8_t ocdm__scene_materials[OCDM__SCENE_INKS][3] = {
    [OCDM__WOOD] = {124, 82, 50},     [OCDM__GREENERY] = {70, 140, 60}, [OCDM__METAL] = {158, 164, 172},
    [OCDM__CREAMY] = {236, 222, 190}, [OCDM__GLOW] = {250, 206, 70},    [OCDM__GLASS] = {196, 222, 236},
    [OCDM__SOOT] = {44, 40, 42},
};

/*
 * A part is its form, its ink, and what the form takes; PATTERN, HALF (above or below its centre), ALONG and AROUND (copies)
 * say more of it before that. A figure is the class's name, its kin, whether any way is up, its usual hues, then its parts in
 * the order of painting.
 */
#define FORM(form_, ink_, ...) .form = OCDM__##form_, .ink = OCDM__##ink_, .at = {__VA_ARGS__}
#define PART(...)                                                                                                              \
    {                                                                                                                          \
        FORM(__VA_ARGS__)                                                                                                      \
    }
#define PATTERN(pattern_, ...)                                                                                                 \
    {                                                                                                                          \
        .pattern = OCDM__##pattern_, FORM(__VA_ARGS__)                                                                         \
    }
#define HALF(keep_, form_, ink_, pattern_, ...)                                                                                \
    {                                                                                                                          \
        .keep = OCDM__KEEP_##keep_, .pattern = OCDM__##pattern_, FORM(form_, ink_, __VA_ARGS__)                                \
    }
#define ALONG(copies_, x_, y_, ...)                                                                                            \
    {                                                                                                                          \
        .repeat = OCDM__ALONG, .copies = copies_, .step = {x_, y_}, FORM(__VA_ARGS__)                                          \
    }
#define AROUND(copies_, x_, y_, ...)                                                                                           \
    {                                                                                                                          \
        .repeat = OCDM__AROUND, .copies = copies_, .step = {x_, y_}, FORM(__VA_ARGS__)                                         \
    }
#define PARTS(...)                                                                                                             \
    (const ocdm__scene_part[]){__VA_ARGS__}, sizeof((const ocdm__scene_part[]){__VA_ARGS__}) / sizeof(ocdm__scene_part)
#define FIGURE(name, kin_, any_way_up_, hue_0, hue_1, hue_2, ...)                                                              \
    {                                                                                                                          \
        PARTS(__VA_ARGS__), kin_, any_way_up_,                                                                                 \
        {                                                                                                                      \
            hue_0, hue_1, hue_2                                                                                                \
        }                                                                                                                      \
    }

enum kin { STEMMED, ROUND, GABLED, BARRED, VESSEL, OVAL, HANDLED, WORN, HOOPED, JEWELLED, BOXY };

const ocdm__scene_figure ocdm__scene_figures[OCDM__BUILTIN_CLASSES] = {
    FIGURE(tree, STEMMED, 0, GREEN, OLIVE, ORANGE, PART(BLOCK, WOOD, 0, 58, 13, 42, 2), PART(ELLIPSE, MAIN, -38, 2, 42, 36),
           PART(ELLIPSE, MAIN, 38, 2, 42, 36), PART(ELLIPSE, MAIN, 0, -38, 56, 58), PART(ELLIPSE, DARK, 22, -6, 16, 12),
           PART(ELLIPSE, LIGHT, -16, -52, 18, 14)),
    FIGURE(cloud, OVAL, 0, WHITE, GREY, SKY, PART(BLOCK, MAIN, 0, 28, 74, 22, 22), PART(ELLIPSE, MAIN, -48, 10, 42, 36),
           PART(ELLIPSE, MAIN, 46, 12, 46, 36), PART(ELLIPSE, LIGHT, -4, -12, 50, 44)),
    FIGURE(leaf, OVAL, 1, GREEN, OLIVE, ORANGE, PART(LENS, MAIN, 0, -12, 44, 82), PART(STROKE, DARK, 0, -70, 0, 98, 5),
           ALONG(3, 0, 34, STROKE, DARK, 0, -20, -28, -44, 3), ALONG(3, 0, 34, STROKE, DARK, 0, -20, 28, -44, 3)),
    FIGURE(house, GABLED, 0, CREAM, RED, TAN, PART(BLOCK, MAIN, 0, 40, 62, 50, 0),
           PATTERN(BANDS, POLYGON, SECOND, -88, -8, 0, -88, 88, -8, 88, -8), PART(BLOCK, SOOT, -24, 60, 15, 30, 0),
           PART(BLOCK, GLASS, 28, 32, 17, 17, 0), PART(STROKE, SOOT, 28, 16, 28, 48, 2)),
    FIGURE(flower, STEMMED, 0, PINK, RED, YELLOW, PART(STROKE, GREENERY, 0, 10, 0, 96, 6),
           PART(ELLIPSE, GREENERY, 26, 66, 25, 11), AROUND(6, 0, -30, ELLIPSE, MAIN, 0, -70, 21, 30),
           PART(ELLIPSE, GLOW, 0, -30, 21, 21)),
    FIGURE(fence, BARRED, 0, WHITE, BROWN, TAN, PART(BLOCK, DARK, 0, -18, 98, 9, 0), PART(BLOCK, DARK, 0, 44, 98, 9, 0),
           ALONG(5, 41, 0, BLOCK, MAIN, -82, 18, 13, 68, 2),
           ALONG(5, 41, 0, POLYGON, MAIN, -95, -49, -82, -80, -69, -49, -69, -49)),
    FIGURE(sun, ROUND, 1, YELLOW, ORANGE, RED, AROUND(10, 0, 0, POLYGON, SECOND, -13, -58, 0, -100, 13, -58, 13, -58),
           PART(ELLIPSE, MAIN, 0, 0, 54, 54), PART(ELLIPSE, LIGHT, -14, -14, 22, 22)),
    FIGURE(ball, ROUND, 1, RED, BLUE, YELLOW, PART(ELLIPSE, MAIN, 0, 0, 84, 84), PART(LENS, SECOND, 0, 0, 34, 84),
           PART(STROKE, SECOND, -78, 0, 78, 0, 8), PART(ELLIPSE, LIGHT, -36, -38, 16, 12)),
    FIGURE(mushroom, STEMMED, 0, RED, BROWN, ORANGE, PART(BLOCK, CREAMY, 0, 50, 22, 46, 12),
           HALF(ABOVE, ELLIPSE, MAIN, PLAIN, 0, 14, 92, 88), PART(ELLIPSE, CREAMY, -42, -16, 16, 13),
           PART(ELLIPSE, CREAMY, 10, -40, 17, 14), PART(ELLIPSE, CREAMY, 46, -8, 14, 11)),
    FIGURE(tent, GABLED, 0, ORANGE, GREEN, BLUE, PATTERN(STRIPES, POLYGON, MAIN, -96, 82, 0, -82, 96, 82, 96, 82),
           PART(POLYGON, SOOT, -28, 82, 0, -14, 28, 82, 28, 82), PART(STROKE, WOOD, -8, -98, 6, -72, 4),
           PART(STROKE, WOOD, 8, -98, -6, -72, 4)),
    FIGURE(kite, GABLED, 1, RED, YELLOW, BLUE, PART(POLYGON, MAIN, 0, -98, 56, -34, 0, 48, -56, -34),
           PART(POLYGON, SECOND, 0, -98, 56, -34, 0, -34, 0, -34), PART(POLYGON, SECOND, 0, 48, -56, -34, 0, -34, 0, -34),
           PART(STROKE, SOOT, 0, 48, 20, 70, 3), PART(STROKE, SOOT, 20, 70, -8, 98, 3), PART(ELLIPSE, MAIN, 20, 70, 14, 8),
           PART(ELLIPSE, SECOND, -6, 94, 14, 8)),
    FIGURE(swing, BARRED, 0, BROWN, RED, GREY, PART(STROKE, MAIN, -54, -80, -86, 92, 7), PART(STROKE, MAIN, 54, -80, 86, 92, 7),
           PART(STROKE, DARK, -60, -80, 60, -80, 8), PART(STROKE, SOOT, -24, -76, -24, 42, 3),
           PART(STROKE, SOOT, 24, -76, 24, 42, 3), PART(BLOCK, SECOND, 0, 46, 38, 10, 2)),
    FIGURE(nest, VESSEL, 0, BROWN, TAN, OLIVE, PART(ELLIPSE, SECOND, -34, -14, 24, 31), PART(ELLIPSE, SECOND, 34, -14, 24, 31),
           PART(ELLIPSE, SECOND, 0, -22, 24, 31), HALF(BELOW, ELLIPSE, MAIN, SLANTS, 0, 0, 92, 68),
           PART(STROKE, DARK, -88, 4, 88, 4, 9)),
    FIGURE(acorn, OVAL, 1, TAN, OLIVE, ORANGE, HALF(BELOW, ELLIPSE, MAIN, PLAIN, 0, -4, 50, 96),
           PART(STROKE, WOOD, 0, -50, 12, -92, 8), HALF(ABOVE, ELLIPSE, WOOD, CHECKS, 0, 6, 68, 64),
           PART(ELLIPSE, LIGHT, -18, 28, 9, 18)),
    FIGURE(plate, ROUND, 1, WHITE, CREAM, SKY, PART(ELLIPSE, MAIN, 0, 0, 94, 94), PART(RING, SECOND, 0, 0, 78, 78, 6),
           PART(RING, DARK, 0, 0, 52, 52, 3)),
    FIGURE(mug, VESSEL, 0, WHITE, RED, BLUE, PART(RING, DARK, 48, 12, 32, 38, 10), PART(BLOCK, MAIN, -14, 12, 54, 74, 12),
           PART(BLOCK, SECOND, -14, 18, 54, 16, 0), PART(ELLIPSE, DARK, -14, -58, 53, 14),
           PART(ELLIPSE, SOOT, -14, -57, 44, 9)),
    FIGURE(jar, VESSEL, 0, SKY, ORANGE, RED, PART(BLOCK, MAIN, 0, 24, 60, 70, 26), PART(BLOCK, SECOND, 0, -70, 48, 17, 5),
           PART(BLOCK, CREAMY, 0, 30, 46, 28, 2), PART(STROKE, SOOT, -28, 22, 28, 22, 4),
           PART(STROKE, SOOT, -28, 38, 14, 38, 4)),
    FIGURE(bread, OVAL, 0, TAN, BROWN, ORANGE, PART(BLOCK, MAIN, 0, 22, 92, 44, 30), PART(ELLIPSE, MAIN, -44, -8, 42, 38),
           PART(ELLIPSE, MAIN, 44, -8, 42, 38), PART(ELLIPSE, MAIN, 0, -14, 44, 40),
           ALONG(3, 44, 0, STROKE, LIGHT, -56, 8, -36, -28, 7), PART(STROKE, DARK, -70, 58, 70, 58, 5)),
    FIGURE(egg, OVAL, 1, CREAM, WHITE, TAN, HALF(ABOVE, ELLIPSE, MAIN, DOTS, 0, 16, 62, 98),
           HALF(BELOW, ELLIPSE, MAIN, DOTS, 0, 15, 62, 66), PART(ELLIPSE, LIGHT, -20, -16, 13, 24)),
    FIGURE(candle, STEMMED, 0, CREAM, RED, WHITE, PART(ELLIPSE, METAL, 0, 84, 58, 13),
           PATTERN(SLANTS, BLOCK, MAIN, 0, 30, 25, 54, 4), PART(STROKE, SOOT, 0, -24, 0, -40, 4),
           PART(LENS, GLOW, 0, -64, 20, 34), PART(LENS, CREAMY, 0, -56, 9, 18)),
    FIGURE(kettle, VESSEL, 0, GREY, RED, BLUE, HALF(ABOVE, RING, SOOT, PLAIN, -6, -8, 46, 66, 7),
           PART(STROKE, MAIN, 36, 36, 88, -16, 12), PART(ELLIPSE, MAIN, -6, 34, 66, 56), PART(BLOCK, DARK, -6, 84, 48, 8, 3),
           PART(STROKE, SECOND, -36, -10, 24, -10, 7), PART(ELLIPSE, SOOT, -6, -24, 11, 11)),
    FIGURE(pear, OVAL, 1, YELLOW, GREEN, OLIVE, PART(STROKE, WOOD, 0, -54, 12, -94, 7),
           PART(ELLIPSE, GREENERY, 36, -76, 24, 11), PART(ELLIPSE, MAIN, 0, -18, 38, 54), PART(ELLIPSE, MAIN, 0, 42, 62, 54),
           PART(ELLIPSE, LIGHT, -24, 30, 12, 20)),
    FIGURE(basket, VESSEL, 0, TAN, BROWN, ORANGE, HALF(ABOVE, RING, DARK, PLAIN, 0, 0, 72, 84, 8),
           PATTERN(CHECKS, POLYGON, MAIN, -88, 2, 88, 2, 62, 88, -62, 88), PART(BLOCK, DARK, 0, 4, 94, 10, 4)),
    FIGURE(cheese, BOXY, 0, YELLOW, ORANGE, CREAM, PART(POLYGON, LIGHT, -94, 12, 70, -56, 92, 12, 92, 12),
           PART(POLYGON, MAIN, -94, 12, 92, 12, 92, 70, -94, 70), PART(ELLIPSE, DARK, -44, 42, 17, 15),
           PART(ELLIPSE, DARK, 14, 34, 12, 11), PART(ELLIPSE, DARK, 60, 48, 18, 15), PART(ELLIPSE, DARK, 44, -18, 13, 8)),
    FIGURE(pan, HANDLED, 1, GREY, CHARCOAL, RED, PART(STROKE, SECOND, 28, -24, 92, -72, 12),
           PART(ELLIPSE, MAIN, -26, 16, 70, 70), PART(ELLIPSE, DARK, -26, 16, 56, 56), PART(ELLIPSE, MAIN, -44, 0, 14, 10)),
    FIGURE(whisk, HANDLED, 1, BROWN, CHARCOAL, RED, PART(RING, METAL, 0, -38, 48, 58, 5), PART(RING, METAL, 0, -38, 22, 58, 5),
           PART(STROKE, METAL, 0, 24, 0, -94, 4), PART(STROKE, MAIN, 0, 24, 0, 92, 12), PART(STROKE, SECOND, 0, 24, 0, 30, 13)),
    FIGURE(shoe, WORN, 0, BROWN, RED, BLUE, PART(BLOCK, MAIN, -52, 0, 38, 56, 8),
           HALF(ABOVE, ELLIPSE, MAIN, PLAIN, 30, 54, 64, 58), PART(POLYGON, MAIN, -20, -20, 30, 14, 30, 54, -60, 54),
           PART(BLOCK, SOOT, 2, 66, 94, 14, 8), ALONG(3, 19, 15, STROKE, CREAMY, -30, 2, -8, -20, 5),
           PART(BLOCK, SECOND, -52, -50, 40, 10, 4)),
    FIGURE(hat, WORN, 0, CHARCOAL, TAN, BLUE, PART(ELLIPSE, MAIN, 0, 54, 98, 24), PART(BLOCK, MAIN, 0, -6, 56, 62, 24),
           PART(BLOCK, SECOND, 0, 32, 57, 14, 0), PART(STROKE, DARK, -30, -50, 30, -50, 5)),
    FIGURE(sock, WORN, 0, WHITE, RED, PURPLE, PATTERN(BANDS, STROKE, MAIN, -22, 56, 50, 62, 34),
           PATTERN(BANDS, BLOCK, MAIN, -24, -10, 32, 68, 4), PART(ELLIPSE, SECOND, 62, 62, 24, 32),
           PART(BLOCK, SECOND, -24, -80, 37, 16, 5)),
    FIGURE(glove, WORN, 0, BROWN, PURPLE, BLUE, PART(STROKE, MAIN, 34, 46, 80, 2, 14),
           ALONG(4, 28, 0, STROKE, MAIN, -44, 10, -44, -76, 13), PART(BLOCK, MAIN, -2, 34, 56, 44, 14),
           PART(BLOCK, SECOND, -2, 84, 52, 14, 4)),
    FIGURE(mirror, HOOPED, 0, BROWN, YELLOW, PINK, PART(STROKE, MAIN, 0, 44, 0, 88, 12), PART(ELLIPSE, GLASS, 0, -26, 58, 68),
           PART(STROKE, CREAMY, -24, -6, 18, -54, 6), PART(STROKE, CREAMY, 2, 2, 28, -28, 4),
           PART(RING, MAIN, 0, -26, 58, 68, 9)),
    FIGURE(comb, BARRED, 1, PINK, BROWN, CHARCOAL, ALONG(10, 19, 0, STROKE, MAIN, -86, -30, -86, 56, 5),
           PART(BLOCK, MAIN, 0, -46, 96, 22, 10), PART(STROKE, SECOND, -70, -48, 70, -48, 6)),
    FIGURE(ribbon, JEWELLED, 0, PINK, RED, PURPLE, PART(POLYGON, DARK, -14, -6, 8, 4, -24, 96, -62, 86),
           PART(POLYGON, DARK, 14, -6, -8, 4, 24, 96, 62, 86), PATTERN(DOTS, POLYGON, MAIN, -96, -66, -96, 38, -6, 0, -6, -20),
           PATTERN(DOTS, POLYGON, MAIN, 96, -66, 96, 38, 6, 0, 6, -20), PART(ELLIPSE, SECOND, 0, -10, 20, 20)),
    FIGURE(button, ROUND, 1, WHITE, PURPLE, BLUE, PART(ELLIPSE, MAIN, 0, 0, 86, 86), PART(RING, DARK, 0, 0, 66, 66, 7),
           AROUND(4, 0, 0, ELLIPSE, SOOT, 20, 20, 12, 12)),
    FIGURE(ring, HOOPED, 0, YELLOW, GREY, ORANGE, PART(RING, MAIN, 0, 32, 56, 56, 12),
           PART(POLYGON, SECOND, -40, -66, 40, -66, 0, -16, 0, -16),
           PART(POLYGON, GLASS, -24, -92, 24, -92, 40, -64, -40, -64)),
    FIGURE(crown, JEWELLED, 0, YELLOW, ORANGE, GREY, PART(POLYGON, MAIN, -86, 60, -90, -52, -26, 60, -26, 60),
           PART(POLYGON, MAIN, 86, 60, 90, -52, 26, 60, 26, 60), PART(POLYGON, MAIN, -56, 60, 0, -74, 56, 60, 56, 60),
           PART(BLOCK, DARK, 0, 64, 86, 18, 3), ALONG(3, 54, 0, ELLIPSE, SECOND, -54, 64, 11, 11),
           PART(ELLIPSE, SECOND, 0, -78, 13, 13), PART(ELLIPSE, SECOND, -88, -56, 11, 11),
           PART(ELLIPSE, SECOND, 88, -56, 11, 11)),
    FIGURE(box, BOXY, 0, TAN, BROWN, GREY, PART(POLYGON, MAIN, -86, -24, 32, -24, 32, 88, -86, 88),
           PART(POLYGON, LIGHT, -86, -24, -40, -74, 82, -74, 32, -24), PART(POLYGON, DARK, 32, -24, 82, -74, 82, 34, 32, 88),
           PART(BLOCK, SECOND, -27, 32, 11, 56, 0), PART(POLYGON, SECOND, -38, -24, -16, -24, 30, -74, 8, -74)),
    FIGURE(hammer, HANDLED, 1, GREY, CHARCOAL, RED, PART(STROKE, WOOD, 0, -40, 0, 92, 11),
           PART(BLOCK, MAIN, 14, -58, 48, 23, 4), PART(POLYGON, MAIN, -34, -80, -34, -40, -86, -34, -86, -34),
           PART(BLOCK, DARK, 66, -58, 12, 30, 3)),
    FIGURE(key, HANDLED, 1, YELLOW, GREY, BROWN, PART(STROKE, MAIN, 0, -20, 0, 92, 9), PART(BLOCK, MAIN, 22, 82, 22, 9, 1),
           PART(BLOCK, MAIN, 18, 54, 18, 8, 1), PART(RING, MAIN, 0, -54, 32, 32, 13)),
    FIGURE(saw, HANDLED, 1, RED, BROWN, YELLOW, ALONG(8, 16, 2, POLYGON, METAL, -94, 6, -78, 8, -90, 26, -90, 26),
           PART(POLYGON, METAL, -96, -22, 46, -44, 46, 26, -96, 10), PART(RING, MAIN, 66, -2, 24, 34, 13)),
    FIGURE(lamp, STEMMED, 0, YELLOW, CREAM, RED, PART(STROKE, METAL, 0, -10, 0, 78, 7), PART(ELLIPSE, DARK, 0, 84, 50, 14),
           PART(ELLIPSE, GLOW, 0, 2, 20, 20), PART(POLYGON, MAIN, -36, -88, 36, -88, 76, 0, -76, 0),
           PART(STROKE, SECOND, -72, -4, 72, -4, 5)),
    FIGURE(bucket, VESSEL, 0, BLUE, GREY, RED, HALF(ABOVE, RING, METAL, PLAIN, 0, -28, 72, 68, 5),
           PART(POLYGON, MAIN, -78, -30, 78, -30, 54, 92, -54, 92), PART(POLYGON, SECOND, -69, 16, 69, 16, 64, 42, -64, 42),
           PART(ELLIPSE, DARK, 0, -30, 78, 18), PART(ELLIPSE, SOOT, 0, -28, 66, 12)),
    FIGURE(ladder, BARRED, 0, TAN, GREY, YELLOW, ALONG(5, 0, 38, STROKE, DARK, -42, -76, 42, -76, 7),
           PART(STROKE, MAIN, -40, -92, -50, 92, 8), PART(STROKE, MAIN, 40, -92, 50, 92, 8)),
    FIGURE(magnet, HOOPED, 0, RED, BLUE, CHARCOAL, HALF(ABOVE, RING, MAIN, PLAIN, 0, -12, 56, 58, 24),
           PART(BLOCK, MAIN, -56, 18, 24, 32, 0), PART(BLOCK, MAIN, 56, 18, 24, 32, 0), PART(BLOCK, METAL, -56, 68, 24, 20, 0),
           PART(BLOCK, METAL, 56, 68, 24, 20, 0)),
};

const ocdm__scene_figure ocdm__scene_strays[OCDM__SCENE_STRAYS] = {
    FIGURE(cross, 0, 1, RED, BLUE, GREEN, PART(STROKE, MAIN, -80, 0, 80, 0, 14), PART(STROKE, MAIN, 0, -80, 0, 80, 14)),
    FIGURE(wedge, 0, 1, YELLOW, TEAL, PURPLE, PATTERN(BANDS, POLYGON, MAIN, -80, 60, -60, -70, 90, 50, 90, 50)),
    FIGURE(elbow, 0, 1, TAN, GREY, OLIVE, PART(STROKE, MAIN, -60, -80, -60, 60, 16), PART(STROKE, MAIN, -60, 60, 80, 60, 16)),
    FIGURE(bow, 0, 1, ORANGE, WHITE, BROWN, HALF(ABOVE, RING, MAIN, PLAIN, 0, 40, 80, 90, 10)),
    FIGURE(zigzag, 0, 1, RED, GREEN, CREAM, ALONG(3, 60, 0, STROKE, MAIN, -90, 30, -60, -30, 9),
           ALONG(3, 60, 0, STROKE, MAIN, -60, -30, -30, 30, 9)),
    FIGURE(domino, 0, 1, WHITE, BROWN, SKY, PATTERN(CHECKS, BLOCK, MAIN, 0, 0, 90, 40, 0)),
    FIGURE(spark, 0, 1, YELLOW, PINK, TEAL, AROUND(3, 0, 0, STROKE, MAIN, 0, 0, 0, -85, 10)),
    FIGURE(bar, 0, 1, CHARCOAL, BROWN, OLIVE, PART(STROKE, MAIN, -100, 0, 100, 0, 5)),
};
