/*
 * The built-in stream: its classes and counts, and the samples made from them.
 *
 * The numbers were chosen, because the paper does not publish its own: a long tail in which one class (tree, which plays the
 * part of "person" in COCO) is on more than half of all samples, rare classes that hardly ever occur without it (nest, acorn,
 * swing), and the published counts of samples, classes, groups and multi-label ratios.
 *
 * Counts are dealt out exactly, not drawn: leads are a shuffled deck, extras are chosen by selection sampling (Knuth, algorithm
 * S), which takes exactly k of n in one pass. So every statistic that the recipe fixes holds for every seed, and only which
 * classes meet, and when, is random.
 */
#include "stream/scenes/scenes.h"

#include "base/random.h"

/* A class, and how many samples carry it and nothing else. */
struct recipe_class {
    const char *name;
    uint32_t task;
    uint32_t alone;
};

/* A class that turns up in a scene: `lead` of its samples have it as their first companion; of the others, `extra` have it too.
 */
struct companion {
    uint32_t class_number;
    uint32_t lead;
    uint32_t extra;
};

/*
 * A context in which classes meet: each of its samples carries the setting and exactly one lead, so two labels at least, and
 * any number of extras. A scene has as many samples as its companions have leads.
 */
struct scene {
    uint32_t setting;
    uint32_t companion_count;
    const struct companion *companions;
};

enum { MAX_COMPANIONS = 16 };

/* Classes are numbered task by task, the frequent ones of a task first. */
enum { TREE, CLOUD, LEAF, HOUSE, FLOWER, FENCE, SUN, BALL, MUSHROOM, TENT, KITE, SWING, NEST, ACORN };
enum { PLATE = ACORN + 1, MUG, JAR, BREAD, EGG, CANDLE, KETTLE, PEAR, BASKET, CHEESE, PAN, WHISK };
enum { SHOE = WHISK + 1, HAT, SOCK, GLOVE, MIRROR, COMB, RIBBON, BUTTON, RING, CROWN };
enum { BOX = CROWN + 1, HAMMER, KEY, SAW, LAMP, BUCKET, LADDER, MAGNET };

static const struct recipe_class recipe_classes[OCDM__BUILTIN_CLASSES] = {
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

#define SCENE(what, setting_, ...)                                                                                             \
    .setting = setting_, .companions = (const struct companion[]){__VA_ARGS__},                                                \
    .companion_count = sizeof((const struct companion[]){__VA_ARGS__}) / sizeof(struct companion)

/* The scenes, task by task, each with its name, its setting, whose task it has, and its companions. */
static const struct scene recipe_scenes[] = {
    {SCENE(avenue, TREE, {CLOUD, 2250, 300}, {LEAF, 1550, 300}, {HOUSE, 1280, 360}, {FLOWER, 500, 140}, {FENCE, 470, 250},
           {SUN, 60, 35}, {BALL, 30, 10}, {KITE, 20, 6}, {SWING, 12, 6}, {MUSHROOM, 10, 6}, {TENT, 8, 4}, {NEST, 4, 2},
           {ACORN, 2, 1})},
    {SCENE(yard, TREE, {HOUSE, 1400, 1150}, {FENCE, 900, 1000}, {CLOUD, 700, 1150}, {LEAF, 500, 750}, {FLOWER, 350, 520},
           {BALL, 60, 40}, {SWING, 50, 30}, {SUN, 30, 50}, {KITE, 6, 10}, {NEST, 5, 7}, {MUSHROOM, 0, 12}, {TENT, 0, 8},
           {ACORN, 0, 4})},
    {SCENE(garden, TREE, {LEAF, 900, 1200}, {FLOWER, 900, 1150}, {CLOUD, 400, 900}, {FENCE, 200, 800}, {HOUSE, 100, 600},
           {MUSHROOM, 80, 70}, {BALL, 20, 30}, {NEST, 10, 16}, {ACORN, 6, 10}, {SUN, 0, 80}, {SWING, 0, 20}, {KITE, 0, 15},
           {TENT, 0, 12})},
    {SCENE(picnic, TREE, {CLOUD, 300, 560}, {LEAF, 200, 600}, {FLOWER, 150, 480}, {HOUSE, 110, 430}, {BALL, 80, 110},
           {TENT, 60, 90}, {FENCE, 60, 450}, {KITE, 40, 60}, {SUN, 20, 80}, {MUSHROOM, 20, 60}, {SWING, 20, 60}, {NEST, 3, 16},
           {ACORN, 3, 11})},
    {SCENE(sky, CLOUD, {HOUSE, 420, 180}, {FLOWER, 160, 140}, {LEAF, 150, 110}, {FENCE, 90, 150}, {SUN, 80, 40}, {KITE, 80, 30},
           {BALL, 20, 20}, {TENT, 10, 10})},
    {SCENE(meadow, FLOWER, {LEAF, 380, 180}, {FENCE, 220, 150}, {HOUSE, 60, 120}, {BALL, 30, 20}, {SUN, 20, 20},
           {MUSHROOM, 10, 10}, {CLOUD, 0, 200})},
    {SCENE(breakfast, PLATE, {MUG, 700, 260}, {BREAD, 140, 90}, {JAR, 140, 200}, {EGG, 130, 90}, {CHEESE, 40, 40},
           {PEAR, 20, 15}, {CANDLE, 15, 10}, {KETTLE, 10, 15}, {PAN, 5, 10})},
    {SCENE(dinner, PLATE, {MUG, 160, 230}, {JAR, 150, 230}, {CANDLE, 90, 80}, {PEAR, 50, 40}, {CHEESE, 40, 60}, {BREAD, 30, 80},
           {EGG, 20, 80}, {BASKET, 20, 40}, {KETTLE, 20, 40}, {PAN, 20, 30}, {WHISK, 2, 8})},
    {SCENE(stove, MUG, {JAR, 330, 150}, {KETTLE, 160, 50}, {CANDLE, 60, 40}, {PAN, 20, 15}, {BREAD, 20, 20}, {PEAR, 10, 10})},
    {SCENE(pantry, JAR, {BASKET, 90, 30}, {PEAR, 80, 40}, {MUG, 80, 100}, {EGG, 60, 40}, {PAN, 30, 15}, {CANDLE, 25, 20},
           {CHEESE, 20, 20}, {WHISK, 3, 6})},
    {SCENE(baking, PLATE, {PAN, 60, 20}, {EGG, 20, 60}, {BREAD, 20, 50}, {JAR, 15, 60}, {WHISK, 5, 16})},
    {SCENE(hall, SHOE, {HAT, 700, 190}, {SOCK, 150, 110}, {MIRROR, 70, 60}, {GLOVE, 60, 90}, {RIBBON, 30, 40}, {BUTTON, 30, 30},
           {COMB, 10, 20})},
    {SCENE(dresser, MIRROR, {COMB, 90, 40}, {HAT, 80, 80}, {RING, 60, 20}, {RIBBON, 30, 40}, {BUTTON, 10, 30}, {CROWN, 1, 2})},
    {SCENE(stage, HAT, {GLOVE, 120, 60}, {BUTTON, 70, 30}, {RIBBON, 60, 50}, {RING, 30, 30}, {COMB, 30, 20}, {SOCK, 20, 30},
           {CROWN, 8, 5})},
    {SCENE(laundry, SOCK, {SHOE, 80, 70}, {GLOVE, 40, 30}, {BUTTON, 30, 30}, {HAT, 10, 30})},
    {SCENE(bench, BOX, {HAMMER, 150, 70}, {SAW, 110, 70}, {BUCKET, 90, 50}, {KEY, 70, 40}, {LAMP, 70, 40}, {LADDER, 50, 30},
           {MAGNET, 8, 5})},
    {SCENE(shed, LADDER, {BUCKET, 60, 30}, {LAMP, 40, 20}, {SAW, 30, 30}, {HAMMER, 20, 30})},
    {SCENE(drawer, KEY, {LAMP, 40, 20}, {HAMMER, 30, 20}, {SAW, 10, 20}, {MAGNET, 7, 5})},
};

static const size_t recipe_scene_count = sizeof recipe_scenes / sizeof recipe_scenes[0];

/* ---- samples -------------------------------------------------------------------------------------------------------- */

/* While they are made, label sets are bit sets: 44 classes fit into 64 bits. */
struct making {
    uint64_t *set;
    size_t count;
    uint32_t *deck; /* the leads of the current scene */
    uint64_t base;
};

static void make_scene(struct making *making, const struct scene *scene, ocdm__random random)
{
    size_t size = 0;
    uint32_t wanted[MAX_COMPANIONS]; /* extras of a companion still to be placed ... */
    size_t places[MAX_COMPANIONS];   /* ... on this many samples ahead that do not have it as their lead */
    /* The deck has the leads, as positions among the companions, in random order. */
    for (uint32_t i = 0; i < scene->companion_count; i++)
        for (uint32_t n = 0; n < scene->companions[i].lead; n++)
            making->deck[size++] = i;
    ocdm__random_shuffle(&random, making->deck, size);
    for (uint32_t i = 0; i < scene->companion_count; i++) {
        wanted[i] = scene->companions[i].extra;
        places[i] = size - scene->companions[i].lead;
    }
    for (size_t n = 0; n < size; n++) {
        uint32_t lead = making->deck[n];
        uint64_t set = UINT64_C(1) << scene->setting | UINT64_C(1) << scene->companions[lead].class_number;
        for (uint32_t i = 0; i < scene->companion_count; i++) {
            if (i == lead || ocdm__random_below(&random, places[i]--) >= wanted[i])
                continue;
            wanted[i]--;
            set |= UINT64_C(1) << scene->companions[i].class_number;
        }
        making->set[making->count++] = set;
    }
}

static void make_task(struct making *making, uint32_t task)
{
    size_t first = making->count;
    for (uint32_t c = 0; c < OCDM__BUILTIN_CLASSES; c++)
        for (uint32_t n = 0; recipe_classes[c].task == task && n < recipe_classes[c].alone; n++)
            making->set[making->count++] = UINT64_C(1) << c;
    for (size_t i = 0; i < recipe_scene_count; i++)
        if (recipe_classes[recipe_scenes[i].setting].task == task)
            make_scene(making, &recipe_scenes[i], ocdm__random_stream(making->base, OCDM__BUILTIN_TASKS + i));
    ocdm__random random = ocdm__random_stream(making->base, task);
    for (size_t left = making->count - first; left > 1; left--) {
        uint64_t *a = making->set + first + left - 1;
        uint64_t *b = making->set + first + ocdm__random_below(&random, left);
        uint64_t set = *a;
        *a = *b;
        *b = set;
    }
}

/* Spreads the bit sets out into label lists; the test samples, class by class, follow. */
static ocdm_status spread(const struct making *making, size_t tests, ocdm__builtin *builtin, ocdm_error *error)
{
    size_t samples = making->count + tests * OCDM__BUILTIN_CLASSES, labels = tests * OCDM__BUILTIN_CLASSES, at = 0;
    for (size_t i = 0; i < making->count; i++)
        for (uint64_t set = making->set[i]; set != 0; set &= set - 1)
            labels++;
    builtin->task = ocdm__allocate(samples, sizeof *builtin->task);
    builtin->label_start = ocdm__allocate(samples + 1, sizeof *builtin->label_start);
    builtin->label = ocdm__allocate(labels, sizeof *builtin->label);
    builtin->samples = ocdm__allocate(samples, sizeof *builtin->samples);
    if (builtin->task == NULL || builtin->label_start == NULL || builtin->label == NULL || builtin->samples == NULL)
        return ocdm__fail_memory(error, "the built-in stream");
    for (size_t i = 0; i < samples; i++) {
        uint64_t set = i < making->count ? making->set[i] : UINT64_C(1) << (i - making->count) / tests;
        for (uint32_t c = 0; c < OCDM__BUILTIN_CLASSES; c++)
            if (set >> c & 1)
                builtin->label[at++] = c;
        builtin->label_start[i + 1] = at;
        builtin->task[i] = recipe_classes[builtin->label[at - 1]].task;
        builtin->samples[i] = (ocdm_sample){i, builtin->label + builtin->label_start[i], at - builtin->label_start[i]};
    }
    builtin->train_count = making->count;
    builtin->sample_count = samples;
    builtin->class_count = OCDM__BUILTIN_CLASSES;
    builtin->task_count = OCDM__BUILTIN_TASKS;
    return OCDM_OK;
}

ocdm_status ocdm__builtin_create(uint64_t seed, size_t tests, ocdm__builtin **builtin, ocdm_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < OCDM__BUILTIN_CLASSES; i++)
        size += recipe_classes[i].alone;
    for (size_t i = 0; i < recipe_scene_count; i++)
        for (uint32_t k = 0; k < recipe_scenes[i].companion_count; k++)
            size += recipe_scenes[i].companions[k].lead;

    struct making making = {.base = ocdm__random_base(seed, OCDM__FOR_BUILTIN_STREAM)};
    ocdm__builtin *made = ocdm__allocate(1, sizeof *made);
    making.set = ocdm__allocate(size, sizeof *making.set);
    making.deck = ocdm__allocate(size, sizeof *making.deck);
    ocdm_status status;
    if (made == NULL || making.set == NULL || making.deck == NULL) {
        status = ocdm__fail_memory(error, "the built-in stream");
    } else {
        for (uint32_t task = 0; task < OCDM__BUILTIN_TASKS; task++)
            make_task(&making, task);
        status = spread(&making, tests, made, error);
    }
    OCDM_RELEASE(making.deck, making.set);
    if (status == OCDM_OK)
        *builtin = made;
    else
        ocdm__builtin_destroy(made);
    return status;
}

void ocdm__builtin_destroy(ocdm__builtin *builtin)
{
    if (builtin == NULL)
        return;
    OCDM_RELEASE(builtin->task, builtin->label_start, builtin->label, builtin->samples, builtin);
}

const char *ocdm__builtin_class_name(uint32_t class_number)
{
    return recipe_classes[class_number].name;
}

uint32_t ocdm__builtin_class_task(uint32_t class_number)
{
    return recipe_classes[class_number].task;
}
