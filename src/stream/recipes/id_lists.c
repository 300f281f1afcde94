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
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/text.h"
#include "stream/recipes/class_files.h"
#include "stream/recipes/recipes.h"

#define MAP_NAME "multihot_map.json"
#define MOST_TASK_DIGITS 6
#define COLUMN_HINT "columns are 0, 1, 2, ... without gaps, one for each class"
#define FOLDER_HINT "give a folder with multihot_map.json and ids/train_task<K>_id_*.json, ids/test_task<K>_id_*.json"

/* ---- files ----------------------------------------------------------------------------------------------------------- */

/* Adds folder/name to the files that are read; it is released with the lists. NULL when out of memory. */
static char *id_lists_file(ocdm__id_lists *lists, const char *folder, const char *name)
{
    if (!ocdm__reserve(&lists->files, &lists->file_room, lists->file_count + 1, sizeof *lists->files))
        return NULL;
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = ocdm__allocate(size, 1);
    if (path == NULL)
        return NULL;
    snprintf(path, size, "%s/%s", folder, name);
    lists->files[lists->file_count++] = path;
    return path;
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

static ocdm_status add_list(ocdm__id_lists *lists, const char *folder, const char *name, uint32_t task, enum ocdm__part part,
                            ocdm_error *error)
{
    bool room = ocdm__reserve(&lists->lists, &lists->list_room, lists->list_count + 1, sizeof *lists->lists);
    char *path = room ? id_lists_file(lists, folder, name) : NULL;
    if (path == NULL)
        return ocdm__fail_memory(error, "the names of id lists");
    lists->lists[lists->list_count++] = (ocdm__id_list){.path = path, .task = task, .part = part};
    return OCDM_OK;
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
        for (int part = OCDM__TRAIN; status == OCDM_OK && part <= OCDM__TEST; part++)
            if (parse_name(entry->d_name, kind_of((enum ocdm__part)part, unbalanced), &task))
                status = add_list(lists, folder, entry->d_name, task, (enum ocdm__part)part, error);
    }
    closedir(listing);
    if (status == OCDM_OK && lists->list_count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, FOLDER_HINT, "%s: no lists of ids", folder);
    if (status != OCDM_OK)
        return status;
    qsort(lists->lists, lists->list_count, sizeof *lists->lists, compare_lists);
    /* readdir returns names in any order; the files are sorted like the lists. */
    size_t first = lists->file_count - lists->list_count;
    for (size_t i = 0; i < lists->list_count; i++)
        lists->files[first + i] = lists->lists[i].path;
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

/* ---- the class map ---------------------------------------------------------------------------------------------------- */

struct column {
    uint64_t number;
    ocdm__place place;
};

/* The names in the order of the file, with the column of each. */
struct class_map {
    ocdm__label_table names;
    struct column *columns;
    size_t room;
};

static bool add_column(struct class_map *map, struct column column)
{
    if (!ocdm__reserve(&map->columns, &map->room, map->names.count, sizeof *map->columns))
        return false;
    map->columns[map->names.count - 1] = column;
    return true;
}

/* The name of a class, the current key. */
static ocdm_status read_class_name(struct class_map *map, ocdm__json_file *file, ocdm_error *error)
{
    uint32_t number, before = map->names.count;
    OCDM_TRY(ocdm__json_file_text(file, error));
    if (file->length == 0)
        return ocdm__json_file_fail(file, ocdm__json_file_here(file), error, "", "a class without a name");
    OCDM_TRY(ocdm__label_table_add(&map->names, file->text, file->length, &number, error));
    if (number < before)
        return ocdm__json_file_fail(file, ocdm__json_file_here(file), error, "", "class \"%s\" is here a second time",
                                    ocdm__show_label(file->text, file->length).text);
    return OCDM_OK;
}

static ocdm_status read_column(struct class_map *map, ocdm__json_file *file, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_file_expect(file, OCDM__JSON_NUMBER, "the column of the class, a number", error));
    struct column column = {.place = ocdm__json_file_here(file)};
    if (!ocdm__json_uint64(&file->json, &column.number))
        return ocdm__json_file_fail(file, column.place, error, "", "a column must be a whole number from 0");
    return add_column(map, column) ? OCDM_OK : ocdm__fail_memory(error, "the class map");
}

static ocdm_status read_map_file(struct class_map *map, ocdm__json_file *file, ocdm_error *error)
{
    ocdm_status status = ocdm__json_file_expect(file, OCDM__JSON_OBJECT, "an object of class names and columns", error);
    while (status == OCDM_OK) {
        status = ocdm__json_file_next(file, error);
        if (status != OCDM_OK || file->event == OCDM__JSON_OBJECT_END)
            break;
        status = read_class_name(map, file, error);
        OCDM_THEN(status, read_column(map, file, error));
    }
    return status == OCDM_OK ? ocdm__json_file_expect(file, OCDM__JSON_END, "the end of the file", error) : status;
}

/* Adds the names to the lists' classes by ascending column; the columns must be 0, 1, ... without gaps. */
static ocdm_status order_classes(ocdm__id_lists *lists, const struct class_map *map, ocdm__json_file *file, ocdm_error *error)
{
    size_t count = map->names.count;
    uint32_t *name_of = ocdm__allocate(count, sizeof *name_of), number;
    if (name_of == NULL)
        return ocdm__fail_memory(error, "the class map");
    ocdm_status status = OCDM_OK;
    for (uint32_t i = 0; status == OCDM_OK && i < count; i++) {
        const struct column *column = &map->columns[i];
        if (column->number >= count)
            status = ocdm__json_file_fail(file, column->place, error, COLUMN_HINT, "column %llu, but there %s only %zu class%s",
                                          (unsigned long long)column->number, count == 1 ? "is" : "are", count,
                                          count == 1 ? "" : "es");
        else if (name_of[column->number] != 0)
            status = ocdm__json_file_fail(file, column->place, error, COLUMN_HINT, "column %llu a second time",
                                          (unsigned long long)column->number);
        else
            name_of[column->number] = i + 1;
    }
    for (size_t i = 0; status == OCDM_OK && i < count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(&map->names, name_of[i] - 1, &length);
        status = ocdm__json_file_copy(file, text, length, error);
        OCDM_THEN(status, ocdm__label_table_add(&lists->classes, file->text, length, &number, error));
    }
    ocdm__release(name_of);
    return status;
}

/* ---- the ids ---------------------------------------------------------------------------------------------------------- */

static bool make_room(ocdm__id_lists *lists, size_t length)
{
    return ocdm__reserve(&lists->ids, &lists->id_room, lists->id_count + 1, sizeof *lists->ids) &&
           ocdm__reserve(&lists->text, &lists->text_room, lists->text_used + length + 1, 1);
}

/* The current id. */
static ocdm_status add_id(ocdm__id_lists *lists, ocdm__json_file *file, uint32_t list, ocdm_error *error)
{
    uint64_t number;
    ocdm__place place = ocdm__json_file_here(file);
    if (file->event != OCDM__JSON_STRING && (file->event != OCDM__JSON_NUMBER || !ocdm__json_uint64(&file->json, &number)))
        return ocdm__json_file_fail(file, place, error, "", "expected an id: a whole number from 0, or a string");
    OCDM_TRY(ocdm__json_file_text(file, error));
    if (lists->id_count >= UINT32_MAX - 2)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: more than %u ids", file->file.name, UINT32_MAX - 2);
    if (!make_room(lists, file->length))
        return ocdm__fail_memory(error, "the ids of a list");
    memcpy(lists->text + lists->text_used, file->text, file->length);
    lists->ids[lists->id_count++] = (ocdm__listed_id){
        .text_at = lists->text_used, .length = file->length, .line = place.line, .column = place.column, .list = list};
    lists->text_used += file->length;
    return OCDM_OK;
}

static ocdm_status read_ids(ocdm__id_lists *lists, uint32_t number, ocdm_error *error)
{
    ocdm__id_list *list = &lists->lists[number];
    ocdm__json_file file = {.line = 1};
    list->first = lists->id_count;
    ocdm_status status = ocdm__json_file_open(&file, list->path, error);
    OCDM_THEN(status, ocdm__json_file_expect(&file, OCDM__JSON_ARRAY, "an array of ids", error));
    while (status == OCDM_OK) {
        status = ocdm__json_file_next(&file, error);
        if (status != OCDM_OK || file.event == OCDM__JSON_ARRAY_END)
            break;
        status = add_id(lists, &file, number, error);
    }
    OCDM_THEN(status, ocdm__json_file_expect(&file, OCDM__JSON_END, "the end of the file", error));
    ocdm__json_file_close(&file);
    list->count = lists->id_count - list->first;
    return status;
}

/* ---- class groups --------------------------------------------------------------------------------------------------- */

#define MOST_NAME 64

static const char *const places[] = {"", "groups/", "../groups/"};
static const char *const endings[] = {"", "_nuswide"};
static const char *const group_files[] = {"major_cats", "moderate_cats", "minor_cats"}; /* by enum ocdm__class_group */

static void forget_files(ocdm__id_lists *lists, size_t count)
{
    while (lists->file_count > count)
        ocdm__release(lists->files[--lists->file_count]);
}

/* Adds the three files; *found is whether all of them exist. */
static ocdm_status find_files(ocdm__id_lists *lists, const char *folder, const char *place, const char *ending, bool *found,
                              ocdm_error *error)
{
    *found = true;
    for (int group = 0; group < OCDM__GROUPS && *found; group++) {
        char name[MOST_NAME];
        snprintf(name, sizeof name, "%s%s%s.json", place, group_files[group], ending);
        const char *path = id_lists_file(lists, folder, name);
        if (path == NULL)
            return ocdm__fail_memory(error, "the name of a file");
        *found = access(path, F_OK) == 0;
    }
    return OCDM_OK;
}

static ocdm_status read_group(ocdm__named_groups *named, const char *path, enum ocdm__class_group group, ocdm_error *error)
{
    ocdm__json_file file = {.line = 1};
    ocdm_status status = ocdm__json_file_open(&file, path, error);
    OCDM_THEN(status, ocdm__class_groups_add_array(named, &file, group, error));
    OCDM_THEN(status, ocdm__json_file_expect(&file, OCDM__JSON_END, "the end of the file", error));
    ocdm__json_file_close(&file);
    return status;
}

/* Reads the three files; *fit is whether they have a group for every class. */
static ocdm_status read_files(ocdm__id_lists *lists, char *const *files, bool *fit, ocdm_error *error)
{
    ocdm__named_groups named = {.room = 0};
    ocdm_status status = OCDM_OK;
    size_t without = 0;
    for (int group = 0; status == OCDM_OK && group < OCDM__GROUPS; group++)
        status = read_group(&named, files[group], (enum ocdm__class_group)group, error);
    OCDM_THEN(status, ocdm__class_groups_assign(&named, &lists->classes, lists->groups, &without, error));
    ocdm__class_groups_clear(&named);
    *fit = without == 0;
    return status;
}

/* Sets `groups` from the first group files that fit, if there are such. */
static ocdm_status id_lists_read_groups(ocdm__id_lists *lists, const char *folder, ocdm_error *error)
{
    size_t before = lists->file_count;
    bool fit = false;
    lists->groups = ocdm__allocate(lists->classes.count, sizeof *lists->groups);
    if (lists->groups == NULL)
        return ocdm__fail_memory(error, "the groups of classes");
    for (size_t i = 0; i < sizeof places / sizeof *places && !fit; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings && !fit; k++) {
            bool found;
            forget_files(lists, before);
            OCDM_TRY(find_files(lists, folder, places[i], endings[k], &found, error));
            if (found)
                OCDM_TRY(read_files(lists, lists->files + before, &fit, error));
        }
    if (!fit) {
        forget_files(lists, before);
        ocdm__release(lists->groups);
        lists->groups = NULL;
    }
    return OCDM_OK;
}

/* ---- the folder ----------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__id_lists_read(ocdm__id_lists *lists, const char *folder, bool unbalanced, ocdm_error *error)
{
    *lists = (ocdm__id_lists){.task_count = 0};
    struct class_map map = {.room = 0};
    ocdm__json_file file = {.line = 1};
    const char *path = id_lists_file(lists, folder, MAP_NAME);
    ocdm_status status =
        path != NULL ? ocdm__json_file_open(&file, path, error) : ocdm__fail_memory(error, "the name of a file");
    OCDM_THEN(status, read_map_file(&map, &file, error));
    if (status == OCDM_OK && map.names.count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "", "%s:1:1: no classes", path);
    OCDM_THEN(status, order_classes(lists, &map, &file, error));
    ocdm__json_file_close(&file);
    ocdm__label_table_clear(&map.names);
    ocdm__release(map.columns);

    size_t size = strlen(folder) + sizeof "/ids";
    char *ids = ocdm__allocate(size, 1);
    if (status == OCDM_OK && ids == NULL)
        status = ocdm__fail_memory(error, "the name of a folder");
    if (status == OCDM_OK && ids != NULL) {
        snprintf(ids, size, "%s/ids", folder);
        status = find_lists(lists, ids, unbalanced, error);
    }
    for (uint32_t i = 0; status == OCDM_OK && i < lists->list_count; i++)
        status = read_ids(lists, i, error);
    OCDM_THEN(status, id_lists_read_groups(lists, folder, error));
    ocdm__release(ids);
    if (status != OCDM_OK)
        ocdm__id_lists_clear(lists);
    return status;
}

void ocdm__id_lists_clear(ocdm__id_lists *lists)
{
    for (size_t i = 0; i < lists->file_count; i++)
        ocdm__release(lists->files[i]);
    ocdm__release(lists->files);
    ocdm__label_table_clear(&lists->classes);
    ocdm__release(lists->groups);
    ocdm__release(lists->lists);
    ocdm__release(lists->ids);
    ocdm__release(lists->text);
    *lists = (ocdm__id_lists){.task_count = 0};
}
