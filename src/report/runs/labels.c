/* What groups are called, and the numbers that they are asked for. */
#include "report/runs/labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

#define LABEL_ROOM 400

/* ---- settings as text --------------------------------------------------------------------------------------------------- */

static const char *plain_text(const ocdm__json_node *setting)
{
    if (setting == NULL || setting->kind == OCDM__JSON_NULL)
        return "none";
    if (setting->kind == OCDM__JSON_TRUE || setting->kind == OCDM__JSON_FALSE)
        return setting->kind == OCDM__JSON_TRUE ? "yes" : "no";
    return setting->text != NULL ? setting->text : "{}";
}

void ocdm__setting_text(const ocdm__json_node *setting, char *text, size_t room)
{
    if (setting == NULL || setting->kind != OCDM__JSON_ARRAY) {
        snprintf(text, room, "%s", plain_text(setting));
        return;
    }
    size_t used = 0;
    text[0] = '\0';
    for (const ocdm__json_node *node = setting->first; node != NULL && used < room; node = node->next)
        used += (size_t)snprintf(text + used, room - used, "%s%s", node == setting->first ? "" : ",", plain_text(node));
}

/* ---- labels ------------------------------------------------------------------------------------------------------------- */

/* The one base group of a method, which goes by the method's name; NULL when there are several. */
static const ocdm__run_group *plain_group(const ocdm__study *study, const char *method)
{
    const ocdm__run_group *plain = NULL;
    for (size_t i = 0; i < study->group_count; i++) {
        if (!study->groups[i].base || strcmp(study->groups[i].method, method) != 0)
            continue;
        if (plain != NULL)
            return NULL;
        plain = &study->groups[i];
    }
    return plain;
}

/* Whether the setting tells the group from the plain one of its method or, without such a one, from any other of its method. */
static bool tells_apart(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    const ocdm__run_group *plain = plain_group(study, group->method);
    for (size_t i = 0; i < study->group_count; i++)
        if (strcmp(study->groups[i].method, group->method) == 0 && (plain == NULL || plain == &study->groups[i]) &&
            !ocdm__json_same(ocdm__json_find(study->groups[i].runs[0]->settings, setting),
                             ocdm__json_find(group->runs[0]->settings, setting)))
            return true;
    return false;
}

static ocdm_status label_group(const ocdm__study *study, ocdm__run_group *group, ocdm_error *error)
{
    char text[LABEL_ROOM];
    size_t used = (size_t)snprintf(text, sizeof text, "%.99s", group->method[0] != '\0' ? group->method : "(no method)");
    const ocdm__json_node *settings = group->runs[0]->settings;
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next) {
        char value[100];
        if (strcmp(node->key, "seed") == 0 || !tells_apart(study, group, node->key))
            continue;
        ocdm__setting_text(node, value, sizeof value);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, ", %.40s %s", node->key, value);
    }
    group->label = ocdm__allocate(strlen(text) + 1, 1);
    if (group->label == NULL)
        return ocdm__fail_memory(error, "a label");
    memcpy(group->label, text, strlen(text) + 1);
    return OCDM_OK;
}

ocdm_status ocdm__label_groups(ocdm__study *study, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++)
        status = label_group(study, &study->groups[i], error);
    return status;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

ocdm__summary ocdm__group_summary(const ocdm__run_group *group, const char *path)
{
    for (size_t i = 0; i < group->run_count; i++)
        group->room[i] = ocdm__json_number(ocdm__json_find(group->runs[i]->summary.root, path));
    return ocdm__summarise(group->room, group->run_count);
}

ocdm__summary ocdm__group_evaluation(const ocdm__run_group *group, size_t after, const char *path)
{
    for (size_t i = 0; i < group->run_count; i++) {
        const ocdm__json_node *list = ocdm__json_find(group->runs[i]->summary.root, "evaluations");
        group->room[i] = ocdm__json_number(ocdm__json_find(ocdm__json_element(list, after), path));
    }
    return ocdm__summarise(group->room, group->run_count);
}

ocdm__summary ocdm__group_difference(const ocdm__run_group *a, const ocdm__run_group *b, const char *path)
{
    size_t count = 0;
    for (size_t i = 0; i < a->run_count; i++)
        for (size_t j = 0; j < b->run_count && count < a->run_count && count < b->run_count; j++) {
            if (!(a->runs[i]->seed == b->runs[j]->seed))
                continue;
            a->room[count] = ocdm__json_number(ocdm__json_find(a->runs[i]->summary.root, path));
            b->room[count++] = ocdm__json_number(ocdm__json_find(b->runs[j]->summary.root, path));
            break;
        }
    return ocdm__summarise_pairs(a->room, b->room, count);
}

double ocdm__group_count(const ocdm__run_group *group, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < group->run_count; i++)
        sum += column < group->runs[i]->counts.count ? group->runs[i]->counts.values[column] : NAN;
    return sum / (double)group->run_count;
}

double ocdm__group_target(const ocdm__run_group *group, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < group->run_count; i++)
        sum += column < group->runs[i]->target.count ? group->runs[i]->target.values[column] : NAN;
    return sum / (double)group->run_count;
}

const char *ocdm__study_measure(const ocdm__study *study)
{
    return study->trained ? "final.total.mAP" : "final.distance_seen";
}

bool ocdm__study_better(const ocdm__study *study, double a, double b)
{
    return study->trained ? a > b : a < b;
}

bool ocdm__study_varies(const ocdm__study *study, const char *setting)
{
    for (size_t i = 1; i < study->group_count; i++)
        if (!ocdm__json_same(ocdm__json_find(study->groups[i].runs[0]->settings, setting),
                             ocdm__json_find(study->groups[0].runs[0]->settings, setting)))
            return true;
    return false;
}
