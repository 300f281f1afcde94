/*
 * Turns the recipe into samples. Counts are dealt out exactly, not drawn: leads are a shuffled deck, extras are chosen by
 * selection sampling (Knuth, algorithm S), which takes exactly k of n in one pass. So every statistic that the recipe fixes
 * holds for every seed, and only who meets whom, and when, is random.
 */
#include "stream/scenes/builtin.h"

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/scenes/builtin_recipe.h"

/* While they are made, label sets are bit sets: 44 classes fit into 64 bits. */
struct making {
    uint64_t *set;
    size_t count;
    uint32_t *deck; /* the leads of the scene at hand */
    uint64_t base;
};

static size_t scene_size(const ocdm__scene *scene)
{
    size_t size = 0;
    for (uint32_t i = 0; i < scene->companion_count; i++)
        size += scene->companions[i].lead;
    return size;
}

static size_t stream_size(void)
{
    size_t size = 0;
    for (size_t i = 0; i < OCDM__BUILTIN_CLASSES; i++)
        size += ocdm__recipe_classes[i].alone;
    for (size_t i = 0; i < ocdm__recipe_scene_count; i++)
        size += scene_size(&ocdm__recipe_scenes[i]);
    return size;
}

/* The scene's leads, as positions among its companions, in random order. */
static void shuffle_deck(uint32_t *deck, const ocdm__scene *scene, ocdm__random *random)
{
    size_t size = 0;
    for (uint32_t i = 0; i < scene->companion_count; i++)
        for (uint32_t n = 0; n < scene->companions[i].lead; n++)
            deck[size++] = i;
    for (size_t i = size; i > 1; i--) {
        size_t j = (size_t)ocdm__random_below(random, i);
        uint32_t card = deck[i - 1];
        deck[i - 1] = deck[j];
        deck[j] = card;
    }
}

static void make_scene(struct making *making, const ocdm__scene *scene, ocdm__random random)
{
    size_t size = scene_size(scene);
    uint32_t wanted[OCDM__MAX_COMPANIONS]; /* extras of a companion still to be placed ... */
    size_t places[OCDM__MAX_COMPANIONS];   /* ... on this many samples ahead that do not have it as their lead */
    shuffle_deck(making->deck, scene, &random);
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
        for (uint32_t n = 0; ocdm__recipe_classes[c].task == task && n < ocdm__recipe_classes[c].alone; n++)
            making->set[making->count++] = UINT64_C(1) << c;
    for (size_t i = 0; i < ocdm__recipe_scene_count; i++)
        if (ocdm__recipe_classes[ocdm__recipe_scenes[i].setting].task == task)
            make_scene(making, &ocdm__recipe_scenes[i], ocdm__random_stream(making->base, OCDM__BUILTIN_TASKS + i));
    ocdm__random random = ocdm__random_stream(making->base, task);
    for (size_t left = making->count - first; left > 1; left--) {
        uint64_t *a = making->set + first + left - 1;
        uint64_t *b = making->set + first + ocdm__random_below(&random, left);
        uint64_t set = *a;
        *a = *b;
        *b = set;
    }
}

static size_t label_total(const struct making *making)
{
    size_t total = 0;
    for (size_t i = 0; i < making->count; i++)
        for (uint64_t set = making->set[i]; set != 0; set &= set - 1)
            total++;
    return total;
}

/* Spreads the bit sets out into label lists. */
static ocdm_status spread(const struct making *making, ocdm__builtin *builtin, ocdm_error *error)
{
    builtin->task = ocdm__allocate(making->count, sizeof *builtin->task);
    builtin->label_start = ocdm__allocate(making->count + 1, sizeof *builtin->label_start);
    builtin->label = ocdm__allocate(label_total(making), sizeof *builtin->label);
    if (builtin->task == NULL || builtin->label_start == NULL || builtin->label == NULL)
        return ocdm__fail_memory(error, "the built-in stream");
    size_t at = 0;
    for (size_t i = 0; i < making->count; i++) {
        builtin->label_start[i] = at;
        for (uint32_t c = 0; c < OCDM__BUILTIN_CLASSES; c++)
            if (making->set[i] >> c & 1)
                builtin->label[at++] = c;
        builtin->task[i] = ocdm__recipe_classes[builtin->label[at - 1]].task;
    }
    builtin->label_start[making->count] = at;
    builtin->sample_count = making->count;
    builtin->class_count = OCDM__BUILTIN_CLASSES;
    builtin->task_count = OCDM__BUILTIN_TASKS;
    return OCDM_OK;
}

ocdm_status ocdm__builtin_create(uint64_t seed, ocdm__builtin **builtin, ocdm_error *error)
{
    size_t size = stream_size();
    struct making making = {.base = ocdm__random_base(seed, OCDM__FOR_BUILTIN_STREAM)};
    ocdm__builtin *made = ocdm__allocate(1, sizeof *made);
    making.set = ocdm__allocate(size, sizeof *making.set);
    making.deck = ocdm__allocate(size, sizeof *making.deck);
    ocdm_status status = OCDM_OK;
    if (made == NULL || making.set == NULL || making.deck == NULL) {
        status = ocdm__fail_memory(error, "the built-in stream");
    } else {
        for (uint32_t task = 0; task < OCDM__BUILTIN_TASKS; task++)
            make_task(&making, task);
        status = spread(&making, made, error);
    }
    ocdm__release(making.deck);
    ocdm__release(making.set);
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
    ocdm__release(builtin->task);
    ocdm__release(builtin->label_start);
    ocdm__release(builtin->label);
    ocdm__release(builtin);
}

const char *ocdm__builtin_class_name(uint32_t class_number)
{
    return ocdm__recipe_classes[class_number].name;
}

uint32_t ocdm__builtin_class_task(uint32_t class_number)
{
    return ocdm__recipe_classes[class_number].task;
}
