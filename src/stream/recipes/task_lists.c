/*
 * Reads which class belongs to which task, as text: one task per line, class names separated by commas; spaces around a name
 * are ignored. A line that starts with # is a comment; blank lines are not tasks; a class is in at most one task. A name cannot
 * contain a comma.
 *
 *     # two tasks
 *     person, bicycle, car
 *     cup, fork, dining table
 *
 * Ten lists are built in, coco44 and nus44 with four more of each (docs/task-lists.md describes how they were found). In each
 * of their tasks, classes that the paper's recipe keeps come first; the others are removed for lack of test samples, but affect
 * which samples train.
 */
#include "base/files.h"
#include "base/text.h"
#include "stream/lines.h"
#include "stream/recipes/recipes.h"
#include "stream/statistics.h"

const struct ocdm__shipped_list ocdm__shipped_lists[] = {
    {"coco44", "giraffe, person, horse, elephant, stop sign, train, bench, sandwich, bird, kite, remote, suitcase, hot dog, "
               "cell phone, boat, donut, sheep, cow, skateboard, handbag, fork, spoon, tie, baseball bat, frisbee, baseball "
               "glove, sports ball, tennis racket, surfboard, hair drier\n"
               "car, truck, toothbrush, bus, cat, parking meter, fire hydrant, book, chair, backpack, skis\n"
               "vase, dog, clock, airplane, oven, bed, teddy bear, refrigerator, sink, toilet, cup, bottle, snowboard, "
               "couch, mouse, keyboard, toaster\n"
               "broccoli, orange, zebra, umbrella, microwave, pizza, banana, carrot, apple, bowl, potted plant, knife, "
               "laptop\n"},
    {"coco44-2", "person, umbrella, horse, car, clock, truck, bicycle, bench, pizza, teddy bear, kite, toothbrush, remote, "
                 "bus, suitcase, boat, tv, parking meter, skateboard, handbag, bottle, backpack, sports ball, skis, tennis "
                 "racket, surfboard, keyboard\n"
                 "dog, elephant, sheep, cow, potted plant, tie, snowboard\n"
                 "broccoli, orange, giraffe, vase, microwave, oven, refrigerator, sink, banana, sandwich, bird, carrot, "
                 "traffic light, apple, bowl, chair, cup, wine glass, baseball bat, baseball glove, mouse\n"
                 "motorcycle, cake, bed, scissors, donut, cat, bear, toilet, dining table, couch, frisbee, laptop, toaster, "
                 "hair drier\n"},
    {"coco44-3",
     "person, umbrella, horse, elephant, car, stop sign, motorcycle, bicycle, oven, bench, pizza, teddy bear, "
     "refrigerator, traffic light, cell phone, boat, donut, handbag, tie, baseball bat, snowboard, couch, "
     "backpack, frisbee, baseball glove, sports ball, skis, surfboard\n"
     "orange, truck, airplane, sink, banana, kite, scissors, apple, parking meter, chair, spoon\n"
     "vase, clock, bed, bird, remote, suitcase, cat, toilet, tv, bowl, book, knife, wine glass, toaster, hair "
     "drier\n"
     "broccoli, dog, microwave, cake, sandwich, carrot, hot dog, sheep, cow, fork, dining table, bottle, keyboard\n"},
    {"coco44-4", "orange, sink, banana, cat, toilet, apple, cup, wine glass\n"
                 "broccoli, giraffe, vase, person, elephant, car, truck, bicycle, airplane, cake, bench, teddy bear, sandwich,"
                 " kite, scissors, bus, suitcase, cell phone, donut, sheep, parking meter, fire hydrant, cow, skateboard, "
                 "handbag, knife, dining table, tie, sports ball, skis, tennis racket, surfboard, keyboard\n"
                 "clock, train, motorcycle, oven, refrigerator, bird, traffic light, boat, bear, bowl, fork, spoon, bottle, "
                 "laptop, mouse, toaster\n"
                 "dog, microwave, bed, carrot, hot dog, tv, book, chair, couch, hair drier\n"},
    {"coco44-5", "person, umbrella, horse, elephant, car, clock, motorcycle, bicycle, microwave, oven, bench, sink, banana, "
                 "sandwich, kite, toothbrush, remote, hot dog, cell phone, tv, fire hydrant, skateboard, handbag, knife, fork,"
                 " tie, baseball bat, snowboard, couch, baseball glove, sports ball, laptop, mouse, tennis racket, surfboard\n"
                 "stop sign, bed, teddy bear, bus, bear, bottle, wine glass, hair drier\n"
                 "giraffe, zebra, dog, train, refrigerator, traffic light, sheep, cow, potted plant, book\n"
                 "orange, truck, airplane, cake, pizza, bird, boat, donut, cat, parking meter, bowl, dining table, skis, "
                 "keyboard, toaster\n"},
    {"nus44", "ocean, water, plane, vehicle, military, fire, cars, train, swimmers\n"
              "person, sky, clouds, grass, lake, moon, sun, tattoo, beach, food, mountain, boats, bridge, town, tree, "
              "horses, flags, cow, fox, tiger, rainbow, glacier, castle, harbor, earthquake\n"
              "nighttime, buildings, tower, cityscape\n"
              "street, window, animal, sand, police, leaf, dog, cat, plants, flowers, birds, bear, coral, sports, running, "
              "surf, waterfall, soccer\n"
              "road, snow, valley, airport, zebra\n"},
    {"nus44-2", "grass, animal, wedding, dog, cat, computer, bear, cow, fox, tiger, whales\n"
                "person, sky, clouds, ocean, buildings, sun, rocks, tattoo, beach, statue, garden, fish, sign, flowers, snow,"
                " toy, mountain, fire, boats, frost, cars, train, protest, flags, valley, zebra, earthquake\n"
                "water, reflection, vehicle, rainbow, surf, waterfall, harbor\n"
                "road, nighttime, tower, bridge, cityscape, airport\n"
                "street, window, leaf, plants, town, sports, running, swimmers, castle, soccer\n"},
    {"nus44-3", "street, window, vehicle, house, plants, flowers, mountain, bridge, town, tree, cars, train, glacier, castle\n"
                "sky, clouds, ocean, grass, plane, road, moon, sun, animal, sand, statue, dog, fish, sign, birds, computer, "
                "bear, fire, frost, railroad, flags, fox, rainbow, airport\n"
                "nighttime, buildings, tower, cityscape, harbor\n"
                "water, rocks, military, boats, sports, cow, running, surf\n"
                "person, lake, tattoo, swimmers, valley, zebra, waterfall, earthquake, soccer\n"},
    {"nus44-4", "person, dancing, rocks, animal, vehicle, wedding, police, dog, birds, computer, temple, horses, protest, "
                "fox, tiger, valley, glacier, zebra\n"
                "sky, clouds, grass, reflection, sunset, sand, statue, tower, leaf, cat, house, plants, sign, flowers, food, "
                "toy, fire, flags, rainbow, cityscape, elk, waterfall\n"
                "ocean, water, plane, street, buildings, town, surf, airport, earthquake\n"
                "window, bridge, railroad, train, cow, castle\n"
                "snow, military, frost, running\n"},
    {"nus44-5", "window, police, town, swimmers, airport\n"
                "sky, clouds, plane, dancing, road, lake, street, buildings, moon, sun, rocks, animal, statue, tower, "
                "wedding, dog, cat, plants, food, birds, toy, boats, bridge, temple, coral, tree, cars, sports, running, fox,"
                " glacier, cityscape, elk\n"
                "person, tattoo, beach, computer, mountain, railroad, tiger, valley, zebra\n"
                "grass, leaf, flowers, cow, rainbow, harbor, soccer\n"
                "water, house, snow, frost, waterfall, earthquake, whales\n"},
    {NULL, NULL},
};

/* ---- parsing -------------------------------------------------------------------------------------------------------- */

static const char form[] = "give one task per line, the names of its classes separated by commas";

static ocdm_status add_class(ocdm__task_list *list, const char *name, const char *end, uint64_t line, ocdm_error *error)
{
    uint32_t number, count = list->classes.count;
    ocdm__trim(&name, &end);
    size_t length = (size_t)(end - name);
    if (length == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, form, "%s:%" PRIu64 ": the name of a class is empty", list->name, line);
    if (!ocdm__is_text(name, length, false))
        return ocdm__fail(error, OCDM_BAD_RECORD, form, "%s:%" PRIu64 ": a name that is not UTF-8", list->name, line);
    if (!ocdm__reserve(&list->tasks, &list->task_room, (size_t)count + 1, sizeof *list->tasks) ||
        !ocdm__reserve(&list->lines, &list->line_room, (size_t)count + 1, sizeof *list->lines))
        return ocdm__fail_memory(error, "a list of classes");
    OCDM_TRY(ocdm__label_table_add(&list->classes, name, length, &number, error));
    if (number < count)
        return ocdm__fail(error, OCDM_BAD_RECORD, "a class belongs to one task: list it once",
                          "%s:%" PRIu64 ": the class \"%s\" is on line %" PRIu64 " already", list->name, line,
                          ocdm__show_label(name, length).text, list->lines[number]);
    list->tasks[number] = (uint32_t)list->task_count;
    list->lines[number] = line;
    return OCDM_OK;
}

ocdm_status ocdm__task_list_parse(ocdm__task_list *list, const char *name, const char *text, size_t size, ocdm_error *error)
{
    ocdm__lines lines = ocdm__lines_of(name, text, size);
    list->name = name;
    while (ocdm__lines_next(&lines)) {
        const char *start = lines.start, *end = lines.end, *comma;
        ocdm__trim(&start, &end);
        if (start == end || *start == '#')
            continue;
        if (list->task_count == OCDM__MAX_TASKS)
            return ocdm__fail(error, OCDM_LIMIT, form, "%s:%" PRIu64 ": over %d tasks", name, lines.line, OCDM__MAX_TASKS);
        for (; (comma = memchr(start, ',', (size_t)(end - start))) != NULL; start = comma + 1)
            OCDM_TRY(add_class(list, start, comma, lines.line, error));
        OCDM_TRY(add_class(list, start, end, lines.line, error));
        list->task_count++;
    }
    if (list->task_count == 0)
        return ocdm__fail(error, OCDM_BAD_RECORD, form, "%s: there is no class in it", name);
    return OCDM_OK;
}

ocdm_status ocdm__task_list_open(ocdm__task_list *list, const char *name, ocdm_error *error)
{
    for (const struct ocdm__shipped_list *shipped = ocdm__shipped_lists; shipped->name != NULL; shipped++)
        if (strcmp(name, shipped->name) == 0)
            return ocdm__task_list_parse(list, shipped->name, shipped->text, strlen(shipped->text), error);
    ocdm__mapped_file file = {.bytes = NULL};
    ocdm_status status = ocdm__map_file(&file, name, error);
    OCDM_THEN(status, ocdm__task_list_parse(list, name, (const char *)file.bytes, file.size, error));
    ocdm__unmap_file(&file);
    return status;
}

void ocdm__task_list_clear(ocdm__task_list *list)
{
    ocdm__label_table_clear(&list->classes);
    OCDM_RELEASE(list->tasks, list->lines);
    *list = (ocdm__task_list){.name = NULL};
}

ocdm_status ocdm__task_list_apply(const ocdm__task_list *list, const ocdm__label_table *classes, uint32_t *class_tasks,
                                  ocdm_error *error)
{
    for (uint32_t i = 0; i < list->classes.count; i++)
        if (ocdm__label_table_match(classes, &list->classes, i) == UINT32_MAX)
            return ocdm__fail(error, OCDM_BAD_RECORD,
                              "is it misspelt, or the list for another source? A list may leave classes out",
                              "%s:%" PRIu64 ": no sample of the source has the class \"%s\"", list->name, list->lines[i],
                              ocdm__label_table_show(&list->classes, i).text);
    for (uint32_t i = 0; i < classes->count; i++) {
        uint32_t number = ocdm__label_table_match(&list->classes, classes, i);
        class_tasks[i] = number != UINT32_MAX ? list->tasks[number] : UINT32_MAX;
    }
    return OCDM_OK;
}
