/*
 * The numbers behind the built-in stream. They were chosen, since the paper does not give its own: a long tail in which one
 * class (tree, the part that "person" plays in COCO) is on more than half of all samples, rare classes that hardly ever come
 * without it (nest, acorn, swing), and the published counts of samples, classes, groups and multi-label ratios.
 */
#include "stream/scenes/builtin_recipe.h"

/* Classes are numbered task by task, the frequent ones of a task first. */
enum {
    TREE,
    CLOUD,
    LEAF,
    HOUSE,
    FLOWER,
    FENCE,
    SUN,
    BALL,
    MUSHROOM,
    TENT,
    KITE,
    SWING,
    NEST,
    ACORN,
    PLATE,
    MUG,
    JAR,
    BREAD,
    EGG,
    CANDLE,
    KETTLE,
    PEAR,
    BASKET,
    CHEESE,
    PAN,
    WHISK,
    SHOE,
    HAT,
    SOCK,
    GLOVE,
    MIRROR,
    COMB,
    RIBBON,
    BUTTON,
    RING,
    CROWN,
    BOX,
    HAMMER,
    KEY,
    SAW,
    LAMP,
    BUCKET,
    LADDER,
    MAGNET
};

const ocdm__recipe_class ocdm__recipe_classes[OCDM__BUILTIN_CLASSES] = {
    [TREE] = {"tree", 0, 930},        [CLOUD] = {"cloud", 0, 150},   [LEAF] = {"leaf", 0, 160},    [HOUSE] = {"house", 0, 110},
    [FLOWER] = {"flower", 0, 180},    [FENCE] = {"fence", 0, 70},    [SUN] = {"sun", 0, 45},       [BALL] = {"ball", 0, 44},
    [MUSHROOM] = {"mushroom", 0, 12}, [TENT] = {"tent", 0, 24},      [KITE] = {"kite", 0, 28},     [SWING] = {"swing", 0, 3},
    [NEST] = {"nest", 0, 1},          [ACORN] = {"acorn", 0, 0},     [PLATE] = {"plate", 1, 330},  [MUG] = {"mug", 1, 290},
    [JAR] = {"jar", 1, 180},          [BREAD] = {"bread", 1, 78},    [EGG] = {"egg", 1, 65},       [CANDLE] = {"candle", 1, 65},
    [KETTLE] = {"kettle", 1, 38},     [PEAR] = {"pear", 1, 52},      [BASKET] = {"basket", 1, 20}, [CHEESE] = {"cheese", 1, 7},
    [PAN] = {"pan", 1, 14},           [WHISK] = {"whisk", 1, 1},     [SHOE] = {"shoe", 2, 400},    [HAT] = {"hat", 2, 290},
    [SOCK] = {"sock", 2, 100},        [GLOVE] = {"glove", 2, 88},    [MIRROR] = {"mirror", 2, 80}, [COMB] = {"comb", 2, 48},
    [RIBBON] = {"ribbon", 2, 18},     [BUTTON] = {"button", 2, 30},  [RING] = {"ring", 2, 36},     [CROWN] = {"crown", 2, 1},
    [BOX] = {"box", 3, 620},          [HAMMER] = {"hammer", 3, 200}, [KEY] = {"key", 3, 180},      [SAW] = {"saw", 3, 150},
    [LAMP] = {"lamp", 3, 182},        [BUCKET] = {"bucket", 3, 72},  [LADDER] = {"ladder", 3, 98}, [MAGNET] = {"magnet", 3, 4},
};

static const ocdm__companion avenue[] = {
    {CLOUD, 2250, 300}, {LEAF, 1550, 300}, {HOUSE, 1280, 360}, {FLOWER, 500, 140}, {FENCE, 470, 250},
    {SUN, 60, 35},      {BALL, 30, 10},    {KITE, 20, 6},      {SWING, 12, 6},     {MUSHROOM, 10, 6},
    {TENT, 8, 4},       {NEST, 4, 2},      {ACORN, 2, 1},
};
static const ocdm__companion yard[] = {
    {HOUSE, 1400, 1150}, {FENCE, 900, 1000}, {CLOUD, 700, 1150}, {LEAF, 500, 750}, {FLOWER, 350, 520},
    {BALL, 60, 40},      {SWING, 50, 30},    {SUN, 30, 50},      {KITE, 6, 10},    {NEST, 5, 7},
    {MUSHROOM, 0, 12},   {TENT, 0, 8},       {ACORN, 0, 4},
};
static const ocdm__companion garden[] = {
    {LEAF, 900, 1200},  {FLOWER, 900, 1150}, {CLOUD, 400, 900}, {FENCE, 200, 800}, {HOUSE, 100, 600},
    {MUSHROOM, 80, 70}, {BALL, 20, 30},      {NEST, 10, 16},    {ACORN, 6, 10},    {SUN, 0, 80},
    {SWING, 0, 20},     {KITE, 0, 15},       {TENT, 0, 12},
};
static const ocdm__companion picnic[] = {
    {CLOUD, 300, 560}, {LEAF, 200, 600}, {FLOWER, 150, 480}, {HOUSE, 110, 430}, {BALL, 80, 110},
    {TENT, 60, 90},    {FENCE, 60, 450}, {KITE, 40, 60},     {SUN, 20, 80},     {MUSHROOM, 20, 60},
    {SWING, 20, 60},   {NEST, 3, 16},    {ACORN, 3, 11},
};
static const ocdm__companion sky[] = {
    {HOUSE, 420, 180}, {FLOWER, 160, 140}, {LEAF, 150, 110}, {FENCE, 90, 150},
    {SUN, 80, 40},     {KITE, 80, 30},     {BALL, 20, 20},   {TENT, 10, 10},
};
static const ocdm__companion meadow[] = {
    {LEAF, 380, 180}, {FENCE, 220, 150}, {HOUSE, 60, 120}, {BALL, 30, 20}, {SUN, 20, 20}, {MUSHROOM, 10, 10}, {CLOUD, 0, 200},
};
static const ocdm__companion breakfast[] = {
    {MUG, 700, 260}, {BREAD, 140, 90}, {JAR, 140, 200},  {EGG, 130, 90}, {CHEESE, 40, 40},
    {PEAR, 20, 15},  {CANDLE, 15, 10}, {KETTLE, 10, 15}, {PAN, 5, 10},
};
static const ocdm__companion dinner[] = {
    {MUG, 160, 230}, {JAR, 150, 230},  {CANDLE, 90, 80}, {PEAR, 50, 40}, {CHEESE, 40, 60}, {BREAD, 30, 80},
    {EGG, 20, 80},   {BASKET, 20, 40}, {KETTLE, 20, 40}, {PAN, 20, 30},  {WHISK, 2, 8},
};
static const ocdm__companion stove[] = {
    {JAR, 330, 150}, {KETTLE, 160, 50}, {CANDLE, 60, 40}, {PAN, 20, 15}, {BREAD, 20, 20}, {PEAR, 10, 10},
};
static const ocdm__companion pantry[] = {
    {BASKET, 90, 30}, {PEAR, 80, 40},   {MUG, 80, 100},   {EGG, 60, 40},
    {PAN, 30, 15},    {CANDLE, 25, 20}, {CHEESE, 20, 20}, {WHISK, 3, 6},
};
static const ocdm__companion baking[] = {
    {PAN, 60, 20}, {EGG, 20, 60}, {BREAD, 20, 50}, {JAR, 15, 60}, {WHISK, 5, 16},
};
static const ocdm__companion hall[] = {
    {HAT, 700, 190}, {SOCK, 150, 110}, {MIRROR, 70, 60}, {GLOVE, 60, 90}, {RIBBON, 30, 40}, {BUTTON, 30, 30}, {COMB, 10, 20},
};
static const ocdm__companion dresser[] = {
    {COMB, 90, 40}, {HAT, 80, 80}, {RING, 60, 20}, {RIBBON, 30, 40}, {BUTTON, 10, 30}, {CROWN, 1, 2},
};
static const ocdm__companion stage[] = {
    {GLOVE, 120, 60}, {BUTTON, 70, 30}, {RIBBON, 60, 50}, {RING, 30, 30}, {COMB, 30, 20}, {SOCK, 20, 30}, {CROWN, 8, 5},
};
static const ocdm__companion laundry[] = {
    {SHOE, 80, 70},
    {GLOVE, 40, 30},
    {BUTTON, 30, 30},
    {HAT, 10, 30},
};
static const ocdm__companion bench[] = {
    {HAMMER, 150, 70}, {SAW, 110, 70}, {BUCKET, 90, 50}, {KEY, 70, 40}, {LAMP, 70, 40}, {LADDER, 50, 30}, {MAGNET, 8, 5},
};
static const ocdm__companion shed[] = {
    {BUCKET, 60, 30},
    {LAMP, 40, 20},
    {SAW, 30, 30},
    {HAMMER, 20, 30},
};
static const ocdm__companion drawer[] = {
    {LAMP, 40, 20},
    {HAMMER, 30, 20},
    {SAW, 10, 20},
    {MAGNET, 7, 5},
};

#define SCENE(setting, companions)                                                                                             \
    {                                                                                                                          \
        setting, sizeof(companions) / sizeof(companions)[0], companions                                                        \
    }

const ocdm__scene ocdm__recipe_scenes[] = {
    SCENE(TREE, avenue),   SCENE(TREE, yard),       SCENE(TREE, garden),    SCENE(TREE, picnic), SCENE(CLOUD, sky),
    SCENE(FLOWER, meadow), SCENE(PLATE, breakfast), SCENE(PLATE, dinner),   SCENE(MUG, stove),   SCENE(JAR, pantry),
    SCENE(PLATE, baking),  SCENE(SHOE, hall),       SCENE(MIRROR, dresser), SCENE(HAT, stage),   SCENE(SOCK, laundry),
    SCENE(BOX, bench),     SCENE(LADDER, shed),     SCENE(KEY, drawer),
};

const size_t ocdm__recipe_scene_count = sizeof ocdm__recipe_scenes / sizeof ocdm__recipe_scenes[0];
