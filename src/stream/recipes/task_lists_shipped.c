/* The built-in lists, as texts that a file could have too. Classes that the recipe keeps come first in each task; those behind
 * them are removed for want of test samples, but decide which samples train. docs/task-lists.md tells how they were found. */
#include "stream/recipes/task_lists.h"

static const char coco44[] =
    "airplane, bear, bicycle, bird, bus, car, fire hydrant, motorcycle, parking meter, stop sign, suitcase, traffic "
    "light, truck, handbag, potted plant\n"
    "bench, boat, cow, elephant, giraffe, hot dog, kite, person, pizza, sheep, teddy bear, train, umbrella, "
    "backpack, baseball bat, baseball glove, dining table, skateboard, skis, sports ball, surfboard, tennis racket, "
    "tie\n"
    "apple, banana, broccoli, carrot, microwave, orange, oven, refrigerator, sandwich, sink, bowl, knife, spoon, "
    "toaster, wine glass\n"
    "bed, cat, cell phone, remote, scissors, toothbrush, tv, vase, chair, cup, fork, hair drier, keyboard, laptop, "
    "mouse\n";

static const char nus44[] =
    "animal, birds, dog, fish, flowers, frost, garden, grass, plants, sports, toy, tree, elk, running, soccer\n"
    "beach, boats, bridge, buildings, clouds, food, horses, house, lake, moon, nighttime, plane, protest, railroad, "
    "reflection, sign, sky, snow, statue, town, castle, cow, fox, glacier\n"
    "ocean, water, harbor, surf, swimmers, whales\n"
    "book, computer, person, rocks, vehicle, waterfall\n"
    "cars, mountain, road, street, window, cityscape, rainbow, valley\n";

static const struct {
    const char *name, *text;
} lists[] = {{"coco44", coco44}, {"nus44", nus44}};

enum { LISTS = sizeof lists / sizeof lists[0] };

const char *ocdm__shipped_list_name(size_t number)
{
    return number < LISTS ? lists[number].name : NULL;
}

const char *ocdm__shipped_list_text(size_t number)
{
    return number < LISTS ? lists[number].text : NULL;
}
