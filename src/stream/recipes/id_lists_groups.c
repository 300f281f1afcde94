/* PRS's class groups: three files of names. Which of several sets of them is meant shows in the classes. */
#define _POSIX_C_SOURCE 200809L

#include "stream/recipes/id_lists_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/recipes/class_groups_file.h"

#define MOST_NAME 64

static const char *const places[] = {"", "groups/", "../groups/"};
static const char *const endings[] = {"", "_nuswide"};
static const char *const group_files[] = {"major_cats", "moderate_cats", "minor_cats"}; /* by enum ocdm__class_group */
#define GROUPS 3

static void forget_files(ocdm__id_lists *lists, size_t count)
{
    while (lists->file_count > count)
        ocdm__release(lists->files[--lists->file_count]);
}

/* Notes the three files; *found tells whether all of them are there. */
static ocdm_status find_files(ocdm__id_lists *lists, const char *folder, const char *place, const char *ending, bool *found,
                              ocdm_error *error)
{
    *found = true;
    for (int group = 0; group < GROUPS && *found; group++) {
        char name[MOST_NAME];
        snprintf(name, sizeof name, "%s%s%s.json", place, group_files[group], ending);
        const char *path = ocdm__id_lists_file(lists, folder, name);
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
    if (status == OCDM_OK)
        status = ocdm__class_groups_add_array(named, &file, group, error);
    if (status == OCDM_OK)
        status = ocdm__json_file_expect(&file, OCDM__JSON_END, "the end of the file", error);
    ocdm__json_file_close(&file);
    return status;
}

/* Reads the three files; *fit tells whether they have a group for every class. */
static ocdm_status read_files(ocdm__id_lists *lists, char *const *files, bool *fit, ocdm_error *error)
{
    ocdm__named_groups named = {.room = 0};
    ocdm_status status = OCDM_OK;
    size_t without = 0;
    for (int group = 0; status == OCDM_OK && group < GROUPS; group++)
        status = read_group(&named, files[group], (enum ocdm__class_group)group, error);
    if (status == OCDM_OK)
        status = ocdm__class_groups_assign(&named, &lists->classes, lists->groups, &without, error);
    ocdm__class_groups_clear(&named);
    *fit = without == 0;
    return status;
}

ocdm_status ocdm__id_lists_read_groups(ocdm__id_lists *lists, const char *folder, ocdm_error *error)
{
    size_t before = lists->file_count;
    ocdm_status status = OCDM_OK;
    bool fit = false;
    lists->groups = ocdm__allocate(lists->classes.count, sizeof *lists->groups);
    if (lists->groups == NULL)
        return ocdm__fail_memory(error, "the groups of classes");
    for (size_t i = 0; i < sizeof places / sizeof *places && !fit; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings && !fit; k++) {
            bool found;
            forget_files(lists, before);
            status = find_files(lists, folder, places[i], endings[k], &found, error);
            if (status == OCDM_OK && found)
                status = read_files(lists, lists->files + before, &fit, error);
            if (status != OCDM_OK)
                return status;
        }
    if (!fit) {
        forget_files(lists, before);
        ocdm__release(lists->groups);
        lists->groups = NULL;
    }
    return OCDM_OK;
}
