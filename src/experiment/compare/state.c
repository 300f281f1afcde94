/* Whether a folder holds the run that is asked for. */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/number_text.h"
#include "experiment/compare/execute.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/evaluation_groups.h"

/* "0,3,1,2" against [0,3,1,2]. */
static bool is_list(const ocdm__json_node *node, const char *text)
{
    for (size_t i = 0; i < node->count; i++) {
        double value;
        size_t length = strcspn(text, ",");
        if (!ocdm__text_to_double(text, length, &value) || ocdm__json_number(ocdm__json_element(node, i)) != value)
            return false;
        text += length;
        if (i + 1 < node->count && *text++ != ',')
            return false;
    }
    return *text == '\0';
}

/* A file is the same by its name alone: its folder may have another path today. */
static bool is_text(const char *saved, const char *asked)
{
    const char *name = strrchr(asked, '/');
    return strcmp(saved, asked) == 0 || (name != NULL && strcmp(saved, name + 1) == 0);
}

static bool is_value(const ocdm__json_node *node, const char *text)
{
    double value;
    if (text == NULL)
        return node->kind == OCDM__JSON_NULL;
    switch (node->kind) {
    case OCDM__JSON_NUMBER:
        return ocdm__text_to_double(text, strlen(text), &value) && value == node->number;
    case OCDM__JSON_STRING:
        return is_text(node->text, text);
    case OCDM__JSON_ARRAY:
        return is_list(node, text);
    case OCDM__JSON_TRUE:
        return *text == '\0';
    default:
        return false;
    }
}

/* A saved value for a message. */
static const char *shown(const ocdm__json_node *node)
{
    if (node->kind == OCDM__JSON_NUMBER || node->kind == OCDM__JSON_STRING)
        return node->text;
    return node->kind == OCDM__JSON_ARRAY ? "another list" : node->kind == OCDM__JSON_NULL ? "null" : "another value";
}

/* Two files of groups are judged by what they say, where the summary tells that. */
enum groups { BY_NAME, SAME_GROUPS, OTHER_GROUPS };

static ocdm_status compare_groups(const ocdm__json_node *root, const char *saved, const ocdm__asked *asked, enum groups *groups,
                                  ocdm_error *error)
{
    *groups = BY_NAME;
    if (asked->groups == NULL || !ocdm__groups_are_of_a_file(saved, strlen(saved)))
        return OCDM_OK;
    uint8_t *told = ocdm__allocate(asked->class_count, sizeof *told);
    if (told == NULL)
        return ocdm__fail_memory(error, "the groups of classes");
    if (ocdm__summary_groups(root, told, asked->class_count))
        *groups = memcmp(told, asked->groups, asked->class_count) == 0 ? SAME_GROUPS : OTHER_GROUPS;
    ocdm__release(told);
    return OCDM_OK;
}

/* A member that the summary does not have says nothing: it belongs to another model. */
static ocdm_status compare_settings(const char *path, const ocdm__json_node *root, const ocdm__asked *asked, size_t count,
                                    ocdm_error *error)
{
    static const char hint[] = "take another folder with -o, or ask for what is there";
    const ocdm__json_node *settings = ocdm__json_find(root, "settings");
    for (size_t i = 0; i < count; i++) {
        bool outside = strchr(asked[i].member, '.') != NULL;
        const ocdm__json_node *saved = ocdm__json_find(outside ? root : settings, asked[i].member);
        enum groups groups;
        ocdm_status status = compare_groups(root, ocdm__json_text(saved, ""), &asked[i], &groups, error);
        if (status != OCDM_OK)
            return status;
        if (groups == OTHER_GROUPS)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s is of a run with other groups than %s has", path,
                              asked[i].value);
        if (groups == BY_NAME && saved != NULL && !is_value(saved, asked[i].value))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s is of a run with %s %s, asked is %s", path, asked[i].member,
                              shown(saved), asked[i].value != NULL ? asked[i].value : "none");
    }
    return OCDM_OK;
}

static bool exists(const char *folder, const char *file, char path[4096])
{
    return (size_t)snprintf(path, 4096, "%s/%s", folder, file) < 4096 && access(path, F_OK) == 0;
}

/* What `ocdm run` refuses to begin in. A run that was killed may have left its log alone, or the older checkpoint alone. */
static bool is_begun(const char *folder)
{
    char path[4096];
    return exists(folder, "checkpoint.safetensors", path) || exists(folder, "checkpoint.previous.safetensors", path) ||
           exists(folder, "run.jsonl", path);
}

ocdm_status ocdm__look_into_folder(const char *folder, const ocdm__asked *asked, size_t asked_count,
                                   enum ocdm__folder_state *state, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm__json_tree tree = {.root = NULL};
    *state = is_begun(folder) ? OCDM__FOLDER_HALF : OCDM__FOLDER_NEW;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    *state = OCDM__FOLDER_DONE;
    ocdm_status status = ocdm__summary_read(&tree, path, error);
    if (status == OCDM_OK)
        status = compare_settings(path, tree.root, asked, asked_count, error);
    ocdm__json_tree_clear(&tree);
    return status;
}
