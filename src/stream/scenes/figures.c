/* The figures, drawn by hand. Classes are in the order of builtin.c. */
#include "stream/scenes/plan.h"

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

/* A part: ink, pattern, then what the form takes. */
#define PART(form_, ink_, pattern_, ...)                                                                                       \
    {                                                                                                                          \
        .form = OCDM__##form_, .ink = OCDM__##ink_, .pattern = OCDM__##pattern_, .at = { __VA_ARGS__ }                         \
    }
#define HALF(form_, keep_, ink_, pattern_, ...)                                                                                \
    {                                                                                                                          \
        .form = OCDM__##form_, .keep = OCDM__KEEP_##keep_, .ink = OCDM__##ink_, .pattern = OCDM__##pattern_, .at = {           \
            __VA_ARGS__                                                                                                        \
        }                                                                                                                      \
    }
#define MANY(repeat_, copies_, x_, y_, form_, ink_, ...)                                                                       \
    {                                                                                                                          \
        .form = OCDM__##form_, .ink = OCDM__##ink_, .repeat = OCDM__##repeat_, .copies = copies_, .step = {x_, y_}, .at = {    \
            __VA_ARGS__                                                                                                        \
        }                                                                                                                      \
    }

static const ocdm__scene_part tree[] = {
    PART(BLOCK, WOOD, PLAIN, 0, 58, 13, 42, 2), PART(ELLIPSE, MAIN, PLAIN, -38, 2, 42, 36),
    PART(ELLIPSE, MAIN, PLAIN, 38, 2, 42, 36),  PART(ELLIPSE, MAIN, PLAIN, 0, -38, 56, 58),
    PART(ELLIPSE, DARK, PLAIN, 22, -6, 16, 12), PART(ELLIPSE, LIGHT, PLAIN, -16, -52, 18, 14),
};
static const ocdm__scene_part cloud[] = {
    PART(BLOCK, MAIN, PLAIN, 0, 28, 74, 22, 22),
    PART(ELLIPSE, MAIN, PLAIN, -48, 10, 42, 36),
    PART(ELLIPSE, MAIN, PLAIN, 46, 12, 46, 36),
    PART(ELLIPSE, LIGHT, PLAIN, -4, -12, 50, 44),
};
static const ocdm__scene_part leaf[] = {
    PART(LENS, MAIN, PLAIN, 0, -12, 44, 82),
    PART(STROKE, DARK, PLAIN, 0, -70, 0, 98, 5),
    MANY(ALONG, 3, 0, 34, STROKE, DARK, 0, -20, -28, -44, 3),
    MANY(ALONG, 3, 0, 34, STROKE, DARK, 0, -20, 28, -44, 3),
};
static const ocdm__scene_part house[] = {
    PART(BLOCK, MAIN, PLAIN, 0, 40, 62, 50, 0),   PART(POLYGON, SECOND, BANDS, -88, -8, 0, -88, 88, -8, 88, -8),
    PART(BLOCK, SOOT, PLAIN, -24, 60, 15, 30, 0), PART(BLOCK, GLASS, PLAIN, 28, 32, 17, 17, 0),
    PART(STROKE, SOOT, PLAIN, 28, 16, 28, 48, 2),
};
static const ocdm__scene_part flower[] = {
    PART(STROKE, GREENERY, PLAIN, 0, 10, 0, 96, 6),
    PART(ELLIPSE, GREENERY, PLAIN, 26, 66, 25, 11),
    MANY(AROUND, 6, 0, -30, ELLIPSE, MAIN, 0, -70, 21, 30),
    PART(ELLIPSE, GLOW, PLAIN, 0, -30, 21, 21),
};
static const ocdm__scene_part fence[] = {
    PART(BLOCK, DARK, PLAIN, 0, -18, 98, 9, 0),
    PART(BLOCK, DARK, PLAIN, 0, 44, 98, 9, 0),
    MANY(ALONG, 5, 41, 0, BLOCK, MAIN, -82, 18, 13, 68, 2),
    MANY(ALONG, 5, 41, 0, POLYGON, MAIN, -95, -49, -82, -80, -69, -49, -69, -49),
};
static const ocdm__scene_part sun[] = {
    MANY(AROUND, 10, 0, 0, POLYGON, SECOND, -13, -58, 0, -100, 13, -58, 13, -58),
    PART(ELLIPSE, MAIN, PLAIN, 0, 0, 54, 54),
    PART(ELLIPSE, LIGHT, PLAIN, -14, -14, 22, 22),
};
static const ocdm__scene_part ball[] = {
    PART(ELLIPSE, MAIN, PLAIN, 0, 0, 84, 84),
    PART(LENS, SECOND, PLAIN, 0, 0, 34, 84),
    PART(STROKE, SECOND, PLAIN, -78, 0, 78, 0, 8),
    PART(ELLIPSE, LIGHT, PLAIN, -36, -38, 16, 12),
};
static const ocdm__scene_part mushroom[] = {
    PART(BLOCK, CREAMY, PLAIN, 0, 50, 22, 46, 12),  HALF(ELLIPSE, ABOVE, MAIN, PLAIN, 0, 14, 92, 88),
    PART(ELLIPSE, CREAMY, PLAIN, -42, -16, 16, 13), PART(ELLIPSE, CREAMY, PLAIN, 10, -40, 17, 14),
    PART(ELLIPSE, CREAMY, PLAIN, 46, -8, 14, 11),
};
static const ocdm__scene_part tent[] = {
    PART(POLYGON, MAIN, STRIPES, -96, 82, 0, -82, 96, 82, 96, 82),
    PART(POLYGON, SOOT, PLAIN, -28, 82, 0, -14, 28, 82, 28, 82),
    PART(STROKE, WOOD, PLAIN, -8, -98, 6, -72, 4),
    PART(STROKE, WOOD, PLAIN, 8, -98, -6, -72, 4),
};
static const ocdm__scene_part kite[] = {
    PART(POLYGON, MAIN, PLAIN, 0, -98, 56, -34, 0, 48, -56, -34),
    PART(POLYGON, SECOND, PLAIN, 0, -98, 56, -34, 0, -34, 0, -34),
    PART(POLYGON, SECOND, PLAIN, 0, 48, -56, -34, 0, -34, 0, -34),
    PART(STROKE, SOOT, PLAIN, 0, 48, 20, 70, 3),
    PART(STROKE, SOOT, PLAIN, 20, 70, -8, 98, 3),
    PART(ELLIPSE, MAIN, PLAIN, 20, 70, 14, 8),
    PART(ELLIPSE, SECOND, PLAIN, -6, 94, 14, 8),
};
static const ocdm__scene_part swing[] = {
    PART(STROKE, MAIN, PLAIN, -54, -80, -86, 92, 7), PART(STROKE, MAIN, PLAIN, 54, -80, 86, 92, 7),
    PART(STROKE, DARK, PLAIN, -60, -80, 60, -80, 8), PART(STROKE, SOOT, PLAIN, -24, -76, -24, 42, 3),
    PART(STROKE, SOOT, PLAIN, 24, -76, 24, 42, 3),   PART(BLOCK, SECOND, PLAIN, 0, 46, 38, 10, 2),
};
static const ocdm__scene_part nest[] = {
    PART(ELLIPSE, SECOND, PLAIN, -34, -14, 24, 31), PART(ELLIPSE, SECOND, PLAIN, 34, -14, 24, 31),
    PART(ELLIPSE, SECOND, PLAIN, 0, -22, 24, 31),   HALF(ELLIPSE, BELOW, MAIN, SLANTS, 0, 0, 92, 68),
    PART(STROKE, DARK, PLAIN, -88, 4, 88, 4, 9),
};
static const ocdm__scene_part acorn[] = {
    HALF(ELLIPSE, BELOW, MAIN, PLAIN, 0, -4, 50, 96),
    PART(STROKE, WOOD, PLAIN, 0, -50, 12, -92, 8),
    HALF(ELLIPSE, ABOVE, WOOD, CHECKS, 0, 6, 68, 64),
    PART(ELLIPSE, LIGHT, PLAIN, -18, 28, 9, 18),
};
static const ocdm__scene_part plate[] = {
    PART(ELLIPSE, MAIN, PLAIN, 0, 0, 94, 94),
    PART(RING, SECOND, PLAIN, 0, 0, 78, 78, 6),
    PART(RING, DARK, PLAIN, 0, 0, 52, 52, 3),
};
static const ocdm__scene_part mug[] = {
    PART(RING, DARK, PLAIN, 48, 12, 32, 38, 10),    PART(BLOCK, MAIN, PLAIN, -14, 12, 54, 74, 12),
    PART(BLOCK, SECOND, PLAIN, -14, 18, 54, 16, 0), PART(ELLIPSE, DARK, PLAIN, -14, -58, 53, 14),
    PART(ELLIPSE, SOOT, PLAIN, -14, -57, 44, 9),
};
static const ocdm__scene_part jar[] = {
    PART(BLOCK, MAIN, PLAIN, 0, 24, 60, 70, 26),   PART(BLOCK, SECOND, PLAIN, 0, -70, 48, 17, 5),
    PART(BLOCK, CREAMY, PLAIN, 0, 30, 46, 28, 2),  PART(STROKE, SOOT, PLAIN, -28, 22, 28, 22, 4),
    PART(STROKE, SOOT, PLAIN, -28, 38, 14, 38, 4),
};
static const ocdm__scene_part bread[] = {
    PART(BLOCK, MAIN, PLAIN, 0, 22, 92, 44, 30),
    PART(ELLIPSE, MAIN, PLAIN, -44, -8, 42, 38),
    PART(ELLIPSE, MAIN, PLAIN, 44, -8, 42, 38),
    PART(ELLIPSE, MAIN, PLAIN, 0, -14, 44, 40),
    MANY(ALONG, 3, 44, 0, STROKE, LIGHT, -56, 8, -36, -28, 7),
    PART(STROKE, DARK, PLAIN, -70, 58, 70, 58, 5),
};
static const ocdm__scene_part egg[] = {
    HALF(ELLIPSE, ABOVE, MAIN, DOTS, 0, 16, 62, 98),
    HALF(ELLIPSE, BELOW, MAIN, DOTS, 0, 15, 62, 66),
    PART(ELLIPSE, LIGHT, PLAIN, -20, -16, 13, 24),
};
static const ocdm__scene_part candle[] = {
    PART(ELLIPSE, METAL, PLAIN, 0, 84, 58, 13),   PART(BLOCK, MAIN, SLANTS, 0, 30, 25, 54, 4),
    PART(STROKE, SOOT, PLAIN, 0, -24, 0, -40, 4), PART(LENS, GLOW, PLAIN, 0, -64, 20, 34),
    PART(LENS, CREAMY, PLAIN, 0, -56, 9, 18),
};
static const ocdm__scene_part kettle[] = {
    HALF(RING, ABOVE, SOOT, PLAIN, -6, -8, 46, 66, 7), PART(STROKE, MAIN, PLAIN, 36, 36, 88, -16, 12),
    PART(ELLIPSE, MAIN, PLAIN, -6, 34, 66, 56),        PART(BLOCK, DARK, PLAIN, -6, 84, 48, 8, 3),
    PART(STROKE, SECOND, PLAIN, -36, -10, 24, -10, 7), PART(ELLIPSE, SOOT, PLAIN, -6, -24, 11, 11),
};
static const ocdm__scene_part pear[] = {
    PART(STROKE, WOOD, PLAIN, 0, -54, 12, -94, 7), PART(ELLIPSE, GREENERY, PLAIN, 36, -76, 24, 11),
    PART(ELLIPSE, MAIN, PLAIN, 0, -18, 38, 54),    PART(ELLIPSE, MAIN, PLAIN, 0, 42, 62, 54),
    PART(ELLIPSE, LIGHT, PLAIN, -24, 30, 12, 20),
};
static const ocdm__scene_part basket[] = {
    HALF(RING, ABOVE, DARK, PLAIN, 0, 0, 72, 84, 8),
    PART(POLYGON, MAIN, CHECKS, -88, 2, 88, 2, 62, 88, -62, 88),
    PART(BLOCK, DARK, PLAIN, 0, 4, 94, 10, 4),
};
static const ocdm__scene_part cheese[] = {
    PART(POLYGON, LIGHT, PLAIN, -94, 12, 70, -56, 92, 12, 92, 12),
    PART(POLYGON, MAIN, PLAIN, -94, 12, 92, 12, 92, 70, -94, 70),
    PART(ELLIPSE, DARK, PLAIN, -44, 42, 17, 15),
    PART(ELLIPSE, DARK, PLAIN, 14, 34, 12, 11),
    PART(ELLIPSE, DARK, PLAIN, 60, 48, 18, 15),
    PART(ELLIPSE, DARK, PLAIN, 44, -18, 13, 8),
};
static const ocdm__scene_part pan[] = {
    PART(STROKE, SECOND, PLAIN, 28, -24, 92, -72, 12),
    PART(ELLIPSE, MAIN, PLAIN, -26, 16, 70, 70),
    PART(ELLIPSE, DARK, PLAIN, -26, 16, 56, 56),
    PART(ELLIPSE, MAIN, PLAIN, -44, 0, 14, 10),
};
static const ocdm__scene_part whisk[] = {
    PART(RING, METAL, PLAIN, 0, -38, 48, 58, 5),   PART(RING, METAL, PLAIN, 0, -38, 22, 58, 5),
    PART(STROKE, METAL, PLAIN, 0, 24, 0, -94, 4),  PART(STROKE, MAIN, PLAIN, 0, 24, 0, 92, 12),
    PART(STROKE, SECOND, PLAIN, 0, 24, 0, 30, 13),
};
static const ocdm__scene_part shoe[] = {
    PART(BLOCK, MAIN, PLAIN, -52, 0, 38, 56, 8),
    HALF(ELLIPSE, ABOVE, MAIN, PLAIN, 30, 54, 64, 58),
    PART(POLYGON, MAIN, PLAIN, -20, -20, 30, 14, 30, 54, -60, 54),
    PART(BLOCK, SOOT, PLAIN, 2, 66, 94, 14, 8),
    MANY(ALONG, 3, 19, 15, STROKE, CREAMY, -30, 2, -8, -20, 5),
    PART(BLOCK, SECOND, PLAIN, -52, -50, 40, 10, 4),
};
static const ocdm__scene_part hat[] = {
    PART(ELLIPSE, MAIN, PLAIN, 0, 54, 98, 24),
    PART(BLOCK, MAIN, PLAIN, 0, -6, 56, 62, 24),
    PART(BLOCK, SECOND, PLAIN, 0, 32, 57, 14, 0),
    PART(STROKE, DARK, PLAIN, -30, -50, 30, -50, 5),
};
static const ocdm__scene_part sock[] = {
    PART(STROKE, MAIN, BANDS, -22, 56, 50, 62, 34),
    PART(BLOCK, MAIN, BANDS, -24, -10, 32, 68, 4),
    PART(ELLIPSE, SECOND, PLAIN, 62, 62, 24, 32),
    PART(BLOCK, SECOND, PLAIN, -24, -80, 37, 16, 5),
};
static const ocdm__scene_part glove[] = {
    PART(STROKE, MAIN, PLAIN, 34, 46, 80, 2, 14),
    MANY(ALONG, 4, 28, 0, STROKE, MAIN, -44, 10, -44, -76, 13),
    PART(BLOCK, MAIN, PLAIN, -2, 34, 56, 44, 14),
    PART(BLOCK, SECOND, PLAIN, -2, 84, 52, 14, 4),
};
static const ocdm__scene_part mirror[] = {
    PART(STROKE, MAIN, PLAIN, 0, 44, 0, 88, 12),      PART(ELLIPSE, GLASS, PLAIN, 0, -26, 58, 68),
    PART(STROKE, CREAMY, PLAIN, -24, -6, 18, -54, 6), PART(STROKE, CREAMY, PLAIN, 2, 2, 28, -28, 4),
    PART(RING, MAIN, PLAIN, 0, -26, 58, 68, 9),
};
static const ocdm__scene_part comb[] = {
    MANY(ALONG, 10, 19, 0, STROKE, MAIN, -86, -30, -86, 56, 5),
    PART(BLOCK, MAIN, PLAIN, 0, -46, 96, 22, 10),
    PART(STROKE, SECOND, PLAIN, -70, -48, 70, -48, 6),
};
static const ocdm__scene_part ribbon[] = {
    PART(POLYGON, DARK, PLAIN, -14, -6, 8, 4, -24, 96, -62, 86),
    PART(POLYGON, DARK, PLAIN, 14, -6, -8, 4, 24, 96, 62, 86),
    PART(POLYGON, MAIN, DOTS, -96, -66, -96, 38, -6, 0, -6, -20),
    PART(POLYGON, MAIN, DOTS, 96, -66, 96, 38, 6, 0, 6, -20),
    PART(ELLIPSE, SECOND, PLAIN, 0, -10, 20, 20),
};
static const ocdm__scene_part button[] = {
    PART(ELLIPSE, MAIN, PLAIN, 0, 0, 86, 86),
    PART(RING, DARK, PLAIN, 0, 0, 66, 66, 7),
    MANY(AROUND, 4, 0, 0, ELLIPSE, SOOT, 20, 20, 12, 12),
};
static const ocdm__scene_part ring[] = {
    PART(RING, MAIN, PLAIN, 0, 32, 56, 56, 12),
    PART(POLYGON, SECOND, PLAIN, -40, -66, 40, -66, 0, -16, 0, -16),
    PART(POLYGON, GLASS, PLAIN, -24, -92, 24, -92, 40, -64, -40, -64),
};
static const ocdm__scene_part crown[] = {
    PART(POLYGON, MAIN, PLAIN, -86, 60, -90, -52, -26, 60, -26, 60),
    PART(POLYGON, MAIN, PLAIN, 86, 60, 90, -52, 26, 60, 26, 60),
    PART(POLYGON, MAIN, PLAIN, -56, 60, 0, -74, 56, 60, 56, 60),
    PART(BLOCK, DARK, PLAIN, 0, 64, 86, 18, 3),
    MANY(ALONG, 3, 54, 0, ELLIPSE, SECOND, -54, 64, 11, 11),
    PART(ELLIPSE, SECOND, PLAIN, 0, -78, 13, 13),
    PART(ELLIPSE, SECOND, PLAIN, -88, -56, 11, 11),
    PART(ELLIPSE, SECOND, PLAIN, 88, -56, 11, 11),
};
static const ocdm__scene_part box[] = {
    PART(POLYGON, MAIN, PLAIN, -86, -24, 32, -24, 32, 88, -86, 88),
    PART(POLYGON, LIGHT, PLAIN, -86, -24, -40, -74, 82, -74, 32, -24),
    PART(POLYGON, DARK, PLAIN, 32, -24, 82, -74, 82, 34, 32, 88),
    PART(BLOCK, SECOND, PLAIN, -27, 32, 11, 56, 0),
    PART(POLYGON, SECOND, PLAIN, -38, -24, -16, -24, 30, -74, 8, -74),
};
static const ocdm__scene_part hammer[] = {
    PART(STROKE, WOOD, PLAIN, 0, -40, 0, 92, 11),
    PART(BLOCK, MAIN, PLAIN, 14, -58, 48, 23, 4),
    PART(POLYGON, MAIN, PLAIN, -34, -80, -34, -40, -86, -34, -86, -34),
    PART(BLOCK, DARK, PLAIN, 66, -58, 12, 30, 3),
};
static const ocdm__scene_part key[] = {
    PART(STROKE, MAIN, PLAIN, 0, -20, 0, 92, 9),
    PART(BLOCK, MAIN, PLAIN, 22, 82, 22, 9, 1),
    PART(BLOCK, MAIN, PLAIN, 18, 54, 18, 8, 1),
    PART(RING, MAIN, PLAIN, 0, -54, 32, 32, 13),
};
static const ocdm__scene_part saw[] = {
    MANY(ALONG, 8, 16, 2, POLYGON, METAL, -94, 6, -78, 8, -90, 26, -90, 26),
    PART(POLYGON, METAL, PLAIN, -96, -22, 46, -44, 46, 26, -96, 10),
    PART(RING, MAIN, PLAIN, 66, -2, 24, 34, 13),
};
static const ocdm__scene_part lamp[] = {
    PART(STROKE, METAL, PLAIN, 0, -10, 0, 78, 7),    PART(ELLIPSE, DARK, PLAIN, 0, 84, 50, 14),
    PART(ELLIPSE, GLOW, PLAIN, 0, 2, 20, 20),        PART(POLYGON, MAIN, PLAIN, -36, -88, 36, -88, 76, 0, -76, 0),
    PART(STROKE, SECOND, PLAIN, -72, -4, 72, -4, 5),
};
static const ocdm__scene_part bucket[] = {
    HALF(RING, ABOVE, METAL, PLAIN, 0, -28, 72, 68, 5),
    PART(POLYGON, MAIN, PLAIN, -78, -30, 78, -30, 54, 92, -54, 92),
    PART(POLYGON, SECOND, PLAIN, -69, 16, 69, 16, 64, 42, -64, 42),
    PART(ELLIPSE, DARK, PLAIN, 0, -30, 78, 18),
    PART(ELLIPSE, SOOT, PLAIN, 0, -28, 66, 12),
};
static const ocdm__scene_part ladder[] = {
    MANY(ALONG, 5, 0, 38, STROKE, DARK, -42, -76, 42, -76, 7),
    PART(STROKE, MAIN, PLAIN, -40, -92, -50, 92, 8),
    PART(STROKE, MAIN, PLAIN, 40, -92, 50, 92, 8),
};
static const ocdm__scene_part magnet[] = {
    HALF(RING, ABOVE, MAIN, PLAIN, 0, -12, 56, 58, 24), PART(BLOCK, MAIN, PLAIN, -56, 18, 24, 32, 0),
    PART(BLOCK, MAIN, PLAIN, 56, 18, 24, 32, 0),        PART(BLOCK, METAL, PLAIN, -56, 68, 24, 20, 0),
    PART(BLOCK, METAL, PLAIN, 56, 68, 24, 20, 0),
};

#define FIGURE(parts_, kin_, any_way_up_, ...)                                                                                 \
    {                                                                                                                          \
        .parts = parts_, .part_count = sizeof(parts_) / sizeof(parts_)[0], .kin = kin_, .any_way_up = any_way_up_, .hue = {    \
            __VA_ARGS__                                                                                                        \
        }                                                                                                                      \
    }

enum kin { STEMMED, ROUND, GABLED, BARRED, VESSEL, OVAL, HANDLED, WORN, HOOPED, JEWELLED, BOXY };

const ocdm__scene_figure ocdm__scene_figures[OCDM__BUILTIN_CLASSES] = {
    FIGURE(tree, STEMMED, 0, GREEN, OLIVE, ORANGE),   FIGURE(cloud, OVAL, 0, WHITE, GREY, SKY),
    FIGURE(leaf, OVAL, 1, GREEN, OLIVE, ORANGE),      FIGURE(house, GABLED, 0, CREAM, RED, TAN),
    FIGURE(flower, STEMMED, 0, PINK, RED, YELLOW),    FIGURE(fence, BARRED, 0, WHITE, BROWN, TAN),
    FIGURE(sun, ROUND, 1, YELLOW, ORANGE, RED),       FIGURE(ball, ROUND, 1, RED, BLUE, YELLOW),
    FIGURE(mushroom, STEMMED, 0, RED, BROWN, ORANGE), FIGURE(tent, GABLED, 0, ORANGE, GREEN, BLUE),
    FIGURE(kite, GABLED, 1, RED, YELLOW, BLUE),       FIGURE(swing, BARRED, 0, BROWN, RED, GREY),
    FIGURE(nest, VESSEL, 0, BROWN, TAN, OLIVE),       FIGURE(acorn, OVAL, 1, TAN, OLIVE, ORANGE),
    FIGURE(plate, ROUND, 1, WHITE, CREAM, SKY),       FIGURE(mug, VESSEL, 0, WHITE, RED, BLUE),
    FIGURE(jar, VESSEL, 0, SKY, ORANGE, RED),         FIGURE(bread, OVAL, 0, TAN, BROWN, ORANGE),
    FIGURE(egg, OVAL, 1, CREAM, WHITE, TAN),          FIGURE(candle, STEMMED, 0, CREAM, RED, WHITE),
    FIGURE(kettle, VESSEL, 0, GREY, RED, BLUE),       FIGURE(pear, OVAL, 1, YELLOW, GREEN, OLIVE),
    FIGURE(basket, VESSEL, 0, TAN, BROWN, ORANGE),    FIGURE(cheese, BOXY, 0, YELLOW, ORANGE, CREAM),
    FIGURE(pan, HANDLED, 1, GREY, CHARCOAL, RED),     FIGURE(whisk, HANDLED, 1, BROWN, CHARCOAL, RED),
    FIGURE(shoe, WORN, 0, BROWN, RED, BLUE),          FIGURE(hat, WORN, 0, CHARCOAL, TAN, BLUE),
    FIGURE(sock, WORN, 0, WHITE, RED, PURPLE),        FIGURE(glove, WORN, 0, BROWN, PURPLE, BLUE),
    FIGURE(mirror, HOOPED, 0, BROWN, YELLOW, PINK),   FIGURE(comb, BARRED, 1, PINK, BROWN, CHARCOAL),
    FIGURE(ribbon, JEWELLED, 0, PINK, RED, PURPLE),   FIGURE(button, ROUND, 1, WHITE, PURPLE, BLUE),
    FIGURE(ring, HOOPED, 0, YELLOW, GREY, ORANGE),    FIGURE(crown, JEWELLED, 0, YELLOW, ORANGE, GREY),
    FIGURE(box, BOXY, 0, TAN, BROWN, GREY),           FIGURE(hammer, HANDLED, 1, GREY, CHARCOAL, RED),
    FIGURE(key, HANDLED, 1, YELLOW, GREY, BROWN),     FIGURE(saw, HANDLED, 1, RED, BROWN, YELLOW),
    FIGURE(lamp, STEMMED, 0, YELLOW, CREAM, RED),     FIGURE(bucket, VESSEL, 0, BLUE, GREY, RED),
    FIGURE(ladder, BARRED, 0, TAN, GREY, YELLOW),     FIGURE(magnet, HOOPED, 0, RED, BLUE, CHARCOAL),
};

static const ocdm__scene_part cross[] = {
    PART(STROKE, MAIN, PLAIN, -80, 0, 80, 0, 14),
    PART(STROKE, MAIN, PLAIN, 0, -80, 0, 80, 14),
};
static const ocdm__scene_part wedge[] = {
    PART(POLYGON, MAIN, BANDS, -80, 60, -60, -70, 90, 50, 90, 50),
};
static const ocdm__scene_part elbow[] = {
    PART(STROKE, MAIN, PLAIN, -60, -80, -60, 60, 16),
    PART(STROKE, MAIN, PLAIN, -60, 60, 80, 60, 16),
};
static const ocdm__scene_part bow[] = {
    HALF(RING, ABOVE, MAIN, PLAIN, 0, 40, 80, 90, 10),
};
static const ocdm__scene_part zigzag[] = {
    MANY(ALONG, 3, 60, 0, STROKE, MAIN, -90, 30, -60, -30, 9),
    MANY(ALONG, 3, 60, 0, STROKE, MAIN, -60, -30, -30, 30, 9),
};
static const ocdm__scene_part domino[] = {
    PART(BLOCK, MAIN, CHECKS, 0, 0, 90, 40, 0),
};
static const ocdm__scene_part spark[] = {
    MANY(AROUND, 3, 0, 0, STROKE, MAIN, 0, 0, 0, -85, 10),
};
static const ocdm__scene_part bar[] = {
    PART(STROKE, MAIN, PLAIN, -100, 0, 100, 0, 5),
};

const ocdm__scene_figure ocdm__scene_strays[OCDM__SCENE_STRAYS] = {
    FIGURE(cross, 0, 1, RED, BLUE, GREEN),   FIGURE(wedge, 0, 1, YELLOW, TEAL, PURPLE), FIGURE(elbow, 0, 1, TAN, GREY, OLIVE),
    FIGURE(bow, 0, 1, ORANGE, WHITE, BROWN), FIGURE(zigzag, 0, 1, RED, GREEN, CREAM),   FIGURE(domino, 0, 1, WHITE, BROWN, SKY),
    FIGURE(spark, 0, 1, YELLOW, PINK, TEAL), FIGURE(bar, 0, 1, CHARCOAL, BROWN, OLIVE),
};
