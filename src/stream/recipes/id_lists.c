/*
 * Reads tasks as lists of ids, as PRS (Kim, Jeong, Kim 2020) published them for COCOseq and NUS-WIDEseq. A folder has
 *
 *     multihot_map.json                {"name": column, ...}: the classes; labels outside it are dropped
 *     ids/train_task<K>_id_*.json      an array of ids: the training samples of task K, counted from 0
 *     ids/test_task<K>_id_*.json       its test samples, balanced over the classes
 *     ids/teorg_task<K>_id_*.json      its test samples before balancing; used instead on request
 *
 * It may also have class groups: arrays of class names in major_cats.json, moderate_cats.json and minor_cats.json, or with
 * _nuswide before the dot, in the folder itself, in its subfolder `groups` or in a folder `groups` beside it. If there are
 * several sets of them, the first that has a group for every class is used.
 */
#include <dirent.h>
#include <unistd.h>

#include "base/text.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"

#define MAP_NAME "multihot_map.json"
#define MOST_TASK_DIGITS 6
#define COLUMN_HINT "columns are 0, 1, 2, ... without gaps, one for each class"
#define FOLDER_HINT "give a folder with multihot_map.json and ids/train_task<K>_id_*.json, ids/test_task<K>_id_*.json"

/* ---- files ----------------------------------------------------------------------------------------------------------- */

/* Adds folder/name to the files that are read; `*path` lives as long as the lists. */
static ocdm_status add_file(ocdm__id_lists *lists, const char *folder, const char *name, const char **path, ocdm_error *error)
{
    char *made;
    OCDM_TRY(ocdm__format(&made, error, "%s/%s", folder, name));
    ocdm_status status = ocdm__found_files_add(&lists->files, made, error);
    ocdm__release(made);
    if (status == OCDM_OK)
        *path = lists->files.paths[lists->files.count - 1];
    return status;
}

/* Skips `text` at *at. */
static bool pass(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

/* Whether a name is <kind>_task<K>_id*.json. */
static bool parse_name(const char *name, const char *kind, uint32_t *task)
{
    const char *at = name;
    if (!pass(&at, kind) || !pass(&at, "_task"))
        return false;
    size_t digits = strspn(at, "0123456789"), length = strlen(at);
    if (digits == 0 || digits > MOST_TASK_DIGITS || length < 5 || strcmp(at + length - 5, ".json") != 0)
        return false;
    *task = (uint32_t)strtoul(at, NULL, 10);
    at += digits;
    return pass(&at, "_id");
}

static int compare_lists(const void *left, const void *right)
{
    const ocdm__id_list *a = left, *b = right;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->task != b->task ? (a->task < b->task ? -1 : 1) : strcmp(a->path, b->path);
}

static const char *kind_of(enum ocdm__part part, bool unbalanced)
{
    return part == OCDM__TRAIN ? "train" : unbalanced ? "teorg" : "test";
}

static ocdm_status find_lists(ocdm__id_lists *lists, const char *folder, bool unbalanced, ocdm_error *error)
{
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return ocdm__fail(error, OCDM_IO, FOLDER_HINT, "%s: %s", folder, strerror(errno));
    ocdm_status status = OCDM_OK;
    for (struct dirent *entry; status == OCDM_OK && (entry = readdir(listing)) != NULL;) {
        uint32_t task;
        for (int part = OCDM__TRAIN; status == OCDM_OK && part <= OCDM__TEST; part++) {
            if (!parse_name(entry->d_name, kind_of((enum ocdm__part)part, unbalanced), &task))
                continue;
            if (!ocdm__reserve(&lists->lists, &lists->list_room, lists->list_count + 1, sizeof *lists->lists))
                status = ocdm__fail_memory(error, "the names of id lists");
            ocdm__id_list list = {.task = task, .part = (enum ocdm__part)part};
            OCDM_THEN(status, add_file(lists, folder, entry->d_name, &list.path, error));
            if (status == OCDM_OK)
                lists->lists[lists->list_count++] = list;
        }
    }
    closedir(listing);
    if (status == OCDM_OK && lists->list_count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, FOLDER_HINT, "%s: no lists of ids", folder);
    if (status != OCDM_OK)
        return status;
    qsort(lists->lists, lists->list_count, sizeof *lists->lists, compare_lists);
    /* readdir returns names in any order; the files are sorted like the lists. */
    size_t first = lists->files.count - lists->list_count;
    for (size_t i = 0; i < lists->list_count; i++)
        lists->files.paths[first + i] = (char *)lists->lists[i].path;
    /* Sorted lists must be those of tasks 0, 1, ... for training, then the same for test. */
    for (size_t i = 0; i < lists->list_count; i++) {
        const ocdm__id_list *list = &lists->lists[i];
        if (i > 0 && list[-1].part == list->part && list[-1].task == list->task)
            return ocdm__fail(error, OCDM_BAD_FILE, "remove one of them", "%s: is of the same task and part as %s", list->path,
                              list[-1].path);
        if (list->task >= lists->task_count)
            lists->task_count = list->task + 1;
    }
    for (size_t i = 0; i < 2 * (size_t)lists->task_count; i++) {
        enum ocdm__part part = i < lists->task_count ? OCDM__TRAIN : OCDM__TEST;
        uint32_t task = (uint32_t)(part == OCDM__TRAIN ? i : i - lists->task_count);
        if (i >= lists->list_count || lists->lists[i].part != part || lists->lists[i].task != task)
            return ocdm__fail(error, OCDM_BAD_FILE, "every task from 0 on needs a training and a test list",
                              "%s: no %s_task%u_id_*.json", folder, kind_of(part, unbalanced), task);
    }
    return OCDM_OK;
}

/* ---- the files' contents --------------------------------------------------------------------------------------------- */

/* OCDM_BAD_FILE at a place; hint, format and arguments follow. */
#define FAIL(path, place, error, ...) ocdm__fail_at(path, place, OCDM_BAD_FILE, error, __VA_ARGS__)

/* What a file is to be as a whole; `what` says it in words. */
static ocdm_status read_tree(ocdm__json_tree *tree, const char *path, enum ocdm__json_event kind, const char *what,
                             ocdm_error *error)
{
    OCDM_TRY(ocdm__json_tree_read(tree, path, error));
    return tree->root->kind == kind ? OCDM_OK : FAIL(path, tree->root->place, error, "", "expected %s", what);
}

/* A class and its column, which becomes its number: `by_column` receives the node. */
static ocdm_status take_column(const char *path, const ocdm__json_node *node, size_t count, const ocdm__json_node **by_column,
                               ocdm_error *error)
{
    uint64_t column;
    if (node->key_length == 0)
        return FAIL(path, node->key_place, error, "", "a class without a name");
    if (node->kind != OCDM__JSON_NUMBER)
        return FAIL(path, node->place, error, "", "expected the column of the class, a number");
    if (!ocdm__text_to_whole(node->text, node->length, 0, UINT64_MAX, &column))
        return FAIL(path, node->place, error, "", "a column must be a whole number from 0");
    if (column >= count)
        return FAIL(path, node->place, error, COLUMN_HINT, "column %llu, but there %s only %zu class%s",
                    (unsigned long long)column, count == 1 ? "is" : "are", count, count == 1 ? "" : "es");
    if (by_column[column] != NULL)
        return FAIL(path, node->place, error, COLUMN_HINT, "column %llu a second time", (unsigned long long)column);
    by_column[column] = node;
    return OCDM_OK;
}

/* The class map: the columns must be 0, 1, ... without gaps. */
static ocdm_status read_classes(ocdm__id_lists *lists, const char *folder, ocdm_error *error)
{
    ocdm__json_tree tree = {.root = NULL};
    const ocdm__json_node **by_column = NULL;
    const char *path = NULL;
    ocdm_status status = add_file(lists, folder, MAP_NAME, &path, error);
    OCDM_THEN(status, read_tree(&tree, path, OCDM__JSON_OBJECT, "an object of class names and columns", error));
    size_t count = status == OCDM_OK ? tree.root->count : 0;
    if (status == OCDM_OK && count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s:1:1: no classes", path);
    OCDM_THEN(status, ocdm__new(&by_column, count, sizeof *by_column, "the class map", error));
    for (const ocdm__json_node *node = ocdm__json_first(tree.root); status == OCDM_OK && node != NULL; node = node->next)
        status = take_column(path, node, count, by_column, error);
    for (uint32_t i = 0, number; status == OCDM_OK && i < count; i++) {
        const ocdm__json_node *node = by_column[i];
        status = ocdm__label_table_add(&lists->classes, node->key, node->key_length, &number, error);
        if (status == OCDM_OK && number < i)
            status = FAIL(path, node->key_place, error, "", "class \"%s\" is here a second time",
                          ocdm__show_label(node->key, node->key_length).text);
    }
    ocdm__json_tree_clear(&tree);
    ocdm__release(by_column);
    return status;
}

static ocdm_status add_id(ocdm__id_lists *lists, const ocdm__json_node *node, uint32_t list, ocdm_error *error)
{
    uint64_t number;
    const char *path = lists->lists[list].path;
    if (node->kind != OCDM__JSON_STRING &&
        (node->kind != OCDM__JSON_NUMBER || !ocdm__text_to_whole(node->text, node->length, 0, UINT64_MAX, &number)))
        return FAIL(path, node->place, error, "", "expected an id: a whole number from 0, or a string");
    if (lists->id_count >= UINT32_MAX - 2)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: more than %u ids", path, UINT32_MAX - 2);
    if (!ocdm__reserve(&lists->ids, &lists->id_room, lists->id_count + 1, sizeof *lists->ids) ||
        !ocdm__reserve(&lists->text, &lists->text_room, lists->text_used + node->length + 1, 1))
        return ocdm__fail_memory(error, "the ids of a list");
    memcpy(lists->text + lists->text_used, node->text, node->length);
    lists->ids[lists->id_count++] =
        (ocdm__listed_id){.text_at = lists->text_used, .length = node->length, .place = node->place, .list = list};
    lists->text_used += node->length;
    return OCDM_OK;
}

/* ---- class groups --------------------------------------------------------------------------------------------------- */

#define MOST_NAME 64

static const char *const places[] = {"", "groups/", "../groups/"};
static const char *const endings[] = {"", "_nuswide"};
static const char *const group_files[] = {"major_cats", "moderate_cats", "minor_cats"}; /* by enum ocdm__class_group */

/* Sets `groups` from the first group files that exist and have a group for every class; of the others nothing is remembered. */
static ocdm_status read_groups(ocdm__id_lists *lists, const char *folder, ocdm_error *error)
{
    const size_t before = lists->files.count, endings_count = sizeof endings / sizeof *endings;
    bool fit = false;
    ocdm_status status = ocdm__new(&lists->groups, lists->classes.count, sizeof *lists->groups, "the groups of classes", error);
    for (size_t i = 0; status == OCDM_OK && !fit && i < sizeof places / sizeof *places * endings_count; i++) {
        ocdm__named_groups named = {.room = 0};
        bool found = true;
        for (int group = 0; group < OCDM__GROUPS && status == OCDM_OK && found; group++) {
            char name[MOST_NAME];
            const char *path;
            snprintf(name, sizeof name, "%s%s%s.json", places[i / endings_count], group_files[group],
                     endings[i % endings_count]);
            status = add_file(lists, folder, name, &path, error);
            found = status == OCDM_OK && access(path, F_OK) == 0;
        }
        for (int group = 0; group < OCDM__GROUPS && status == OCDM_OK && found; group++) {
            const char *path = lists->files.paths[before + (size_t)group];
            ocdm__json_tree tree = {.root = NULL};
            status = ocdm__json_tree_read(&tree, path, error);
            OCDM_THEN(status, ocdm__class_groups_add_array(&named, path, tree.root, (enum ocdm__class_group)group, error));
            ocdm__json_tree_clear(&tree);
        }
        fit = status == OCDM_OK && found && ocdm__class_groups_assign(&named, &lists->classes, lists->groups) == 0;
        ocdm__class_groups_clear(&named);
        while (!fit && lists->files.count > before)
            ocdm__release(lists->files.paths[--lists->files.count]);
    }
    if (!fit) {
        ocdm__release(lists->groups);
        lists->groups = NULL;
    }
    return status;
}

/* ---- the folder ----------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__id_lists_read(ocdm__id_lists *lists, const char *folder, bool unbalanced, ocdm_error *error)
{
    *lists = (ocdm__id_lists){.task_count = 0};
    char *ids = NULL;
    ocdm_status status = read_classes(lists, folder, error);
    OCDM_THEN(status, ocdm__format(&ids, error, "%s/ids", folder));
    OCDM_THEN(status, find_lists(lists, ids, unbalanced, error));
    for (uint32_t i = 0; status == OCDM_OK && i < lists->list_count; i++) {
        ocdm__json_tree tree = {.root = NULL};
        status = read_tree(&tree, lists->lists[i].path, OCDM__JSON_ARRAY, "an array of ids", error);
        for (const ocdm__json_node *node = ocdm__json_first(tree.root); status == OCDM_OK && node != NULL; node = node->next)
            status = add_id(lists, node, i, error);
        ocdm__json_tree_clear(&tree);
    }
    OCDM_THEN(status, read_groups(lists, folder, error));
    ocdm__release(ids);
    if (status != OCDM_OK)
        ocdm__id_lists_clear(lists);
    return status;
}

void ocdm__id_lists_clear(ocdm__id_lists *lists)
{
    ocdm__found_files_clear(&lists->files);
    ocdm__label_table_clear(&lists->classes);
    OCDM_RELEASE(lists->groups, lists->lists, lists->ids, lists->text);
    *lists = (ocdm__id_lists){.task_count = 0};
}

/* ---- the samples of a source ---------------------------------------------------------------------------------------- */

/*
 * An id is a sample's id, as a number or a string; if samples have rows (NUS-WIDE), it is a row of the source's list of
 * training samples or, in a test list, of its list of test samples. Each sample is looked up among the listed ids, so that
 * memory depends on the lists only.
 */

#define SKIP_HINT "`--skip-bad` leaves them out"

/* Values of `sample_of` for ids that are not samples of the set. */
#define NOT_FOUND UINT32_MAX
#define LISTED_TWICE (UINT32_MAX - 1)

struct search {
    const ocdm__id_lists *lists;
    const ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    bool by_row;
    ocdm__label_table keys; /* what different ids are found by */
    uint32_t *id_of;        /* by key: the first id that has it */
    uint32_t *sample_of;    /* by id */
};

/* What an id or a sample is found by: a text, or where ids are rows, the row and its part. */
struct key {
    const char *text;
    size_t length;
    char row[9];
};

static void key_of_row(struct key *key, uint64_t row, uint8_t part)
{
    memcpy(key->row, &row, sizeof row);
    key->row[8] = (char)part;
    key->text = key->row;
    key->length = sizeof key->row;
}

static const ocdm__id_list *list_of(const struct search *search, uint32_t id)
{
    return &search->lists->lists[search->lists->ids[id].list];
}

/* The key of an id; false when it should be a row and is none. */
static bool key_of_id(const struct search *search, uint32_t id, struct key *key)
{
    const ocdm__listed_id *listed = &search->lists->ids[id];
    uint64_t row;
    key->text = search->lists->text + listed->text_at;
    key->length = listed->length;
    if (!search->by_row)
        return true;
    bool good = ocdm__text_to_whole(key->text, key->length, 0, UINT64_MAX, &row);
    if (good)
        key_of_row(key, row, (uint8_t)list_of(search, id)->part);
    return good;
}

static ocdm__shown_label show_id(const struct search *search, uint32_t id)
{
    const ocdm__listed_id *listed = &search->lists->ids[id];
    return ocdm__show_label(search->lists->text + listed->text_at, listed->length);
}

/* Writes file:line:column of an id. */
static const char *write_place(const struct search *search, uint32_t id, char *where, size_t size)
{
    const ocdm__place *place = &search->lists->ids[id].place;
    snprintf(where, size, "%s:%llu:%llu", list_of(search, id)->path, (unsigned long long)place->line,
             (unsigned long long)place->column);
    return where;
}

/* Notes what the ids are found by. */
static ocdm_status note_ids(struct search *search)
{
    const ocdm__id_lists *lists = search->lists;
    for (uint32_t i = 0; i < lists->id_count; i++) {
        struct key key;
        uint32_t number, before = search->keys.count;
        if (!key_of_id(search, i, &key))
            return ocdm__fail_at(list_of(search, i)->path, lists->ids[i].place, OCDM_BAD_FILE, search->error,
                                 "the samples of this source are named by their row in its lists",
                                 "\"%s\" is not the number of a row", show_id(search, i).text);
        OCDM_TRY(ocdm__label_table_add(&search->keys, key.text, key.length, &number, search->error));
        search->sample_of[i] = number < before ? LISTED_TWICE : NOT_FOUND;
        if (number == before)
            search->id_of[number] = i;
    }
    return OCDM_OK;
}

static ocdm_status look_up_samples(const struct search *search)
{
    const ocdm__labelled_set *set = search->set;
    for (uint32_t i = 0; i < set->count; i++) {
        struct key key;
        key.text = ocdm__label_table_text(&set->ids, i, &key.length);
        if (search->by_row)
            key_of_row(&key, set->rows[i], set->parts[i]);
        uint32_t number = ocdm__label_table_number(&search->keys, key.text, key.length);
        if (number == UINT32_MAX || (search->by_row && set->rows[i] == OCDM__NO_ROW))
            continue;
        uint32_t *sample = &search->sample_of[search->id_of[number]];
        if (*sample != NOT_FOUND)
            return ocdm__fail(search->error, OCDM_BAD_FILE,
                              "rows must be different within the training and within the test samples",
                              "row %llu of the %s list is that of two samples of the source, \"%s\" and \"%s\"",
                              (unsigned long long)set->rows[i], set->parts[i] == OCDM__TRAIN ? "training" : "test",
                              ocdm__label_table_show(&set->ids, *sample).text, ocdm__label_table_show(&set->ids, i).text);
        *sample = i;
    }
    return OCDM_OK;
}

static ocdm_status fail_twice(const struct search *search, uint32_t id)
{
    char where[200], before[200];
    struct key key;
    key_of_id(search, id, &key);
    uint32_t first = search->id_of[ocdm__label_table_number(&search->keys, key.text, key.length)];
    return ocdm__fail(search->error, OCDM_BAD_FILE, "a sample can be in a stream once; `--skip-bad` leaves the later ones out",
                      "%s: id %s is listed already, in %s", write_place(search, id, where, sizeof where),
                      show_id(search, id).text, write_place(search, first, before, sizeof before));
}

static ocdm_status fail_missing(const struct search *search, uint32_t first)
{
    size_t count = 0;
    char where[256], others[64] = "";
    for (size_t i = first; i < search->lists->id_count; i++)
        count += search->sample_of[i] == NOT_FOUND;
    if (count > 1)
        snprintf(others, sizeof others, ", nor has it %zu other%s of the lists", count - 1, count > 2 ? "s" : "");
    return ocdm__fail(search->error, OCDM_BAD_FILE, "give the whole source of which the lists were made; " SKIP_HINT,
                      "%s: the source has no %s %s%s", write_place(search, first, where, sizeof where),
                      !search->by_row                               ? "sample with the id"
                      : list_of(search, first)->part == OCDM__TRAIN ? "training sample with the row"
                                                                    : "test sample with the row",
                      show_id(search, first).text, others);
}

static ocdm_status choose_samples(struct search *search, ocdm__selection *selection)
{
    size_t count = search->lists->id_count;
    for (size_t i = 0; i < search->set->count; i++)
        search->by_row = search->by_row || search->set->rows[i] != OCDM__NO_ROW;
    search->id_of = ocdm__allocate(count, sizeof *search->id_of);
    search->sample_of = ocdm__allocate(count, sizeof *search->sample_of);
    selection->chosen = ocdm__allocate(count, sizeof *selection->chosen);
    if (search->id_of == NULL || search->sample_of == NULL || selection->chosen == NULL)
        return ocdm__fail_memory(search->error, "the samples of the id lists");
    OCDM_TRY(note_ids(search));
    OCDM_TRY(look_up_samples(search));
    for (uint32_t i = 0; i < count; i++) {
        const ocdm__id_list *list = list_of(search, i);
        uint32_t sample = search->sample_of[i];
        bool twice = sample == LISTED_TWICE;
        char where[160];
        if (sample < search->set->count)
            selection->chosen[selection->count++] = (ocdm__chosen){sample, list->task, list->part};
        else if (!search->reading->skip_bad)
            return twice ? fail_twice(search, i) : fail_missing(search, i);
        else
            ocdm__reading_skip(search->reading, twice ? "ids listed twice" : "ids of the lists that the source lacks",
                               write_place(search, i, where, sizeof where));
    }
    return OCDM_OK;
}

/* Keeps the classes of the map, with their groups. One that no sample has most likely has a wrong name. */
static ocdm_status choose_classes(const struct search *search, ocdm__selection *selection, uint8_t **groups)
{
    const ocdm__id_lists *lists = search->lists;
    const ocdm__label_table *given = &search->set->classes;
    selection->kept_classes = ocdm__allocate(given->count, 1);
    if (lists->groups != NULL)
        *groups = ocdm__allocate(given->count, 1);
    if (selection->kept_classes == NULL || (lists->groups != NULL && *groups == NULL))
        return ocdm__fail_memory(search->error, "the classes of the id lists");
    for (uint32_t i = 0; i < given->count; i++) {
        uint32_t class = ocdm__label_table_match(&lists->classes, given, i);
        selection->kept_classes[i] = class != UINT32_MAX;
        if (lists->groups != NULL)
            (*groups)[i] = class != UINT32_MAX ? lists->groups[class] : UINT8_MAX;
    }
    for (uint32_t i = 0; i < lists->classes.count; i++) {
        const char *map = lists->files.paths[0];
        if (ocdm__label_table_match(given, &lists->classes, i) != UINT32_MAX)
            continue;
        if (!search->reading->skip_bad)
            return ocdm__fail(search->error, OCDM_BAD_FILE,
                              "the source must be the one that the class map was made for; " SKIP_HINT,
                              "%s: the source has no class \"%s\"", map, ocdm__label_table_show(&lists->classes, i).text);
        ocdm__reading_skip(search->reading, "classes of the map that the source lacks", map);
    }
    return OCDM_OK;
}

ocdm_status ocdm__id_lists_choose(const ocdm__id_lists *lists, const ocdm__labelled_set *set, ocdm__reading *reading,
                                  ocdm__selection *selection, uint8_t **groups, ocdm_error *error)
{
    struct search search = {.lists = lists, .set = set, .reading = reading, .error = error};
    ocdm_status status = choose_classes(&search, selection, groups);
    OCDM_THEN(status, choose_samples(&search, selection));
    ocdm__label_table_clear(&search.keys);
    OCDM_RELEASE(search.id_of, search.sample_of);
    if (status != OCDM_OK)
        ocdm__selection_clear(selection);
    return status;
}
