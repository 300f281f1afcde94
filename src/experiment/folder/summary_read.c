/*
 * Reads summary.json and checks that it is the summary of a run.
 *
 * What a summary lacks, as one of an earlier version may, is not an error here: callers decide whether they need it.
 */

#include "experiment/folder/summary_read.h"

#include <unistd.h>

#include "stream/statistics.h"

bool ocdm__summary_find(const char *folder, char path[OCDM__SUMMARY_PATH])
{
    int length = snprintf(path, OCDM__SUMMARY_PATH, "%s/summary.json", folder);
    return length > 0 && length < OCDM__SUMMARY_PATH && access(path, F_OK) == 0;
}

ocdm_status ocdm__summary_read(ocdm__json_tree *summary, const char *path, ocdm_error *error)
{
    OCDM_TRY(ocdm__json_tree_read(summary, path, error));
    if (strcmp(ocdm__json_text(ocdm__json_find(summary->root, "format"), ""), "ocdm-run") == 0 &&
        ocdm__json_number(ocdm__json_find(summary->root, "version")) == 1)
        return OCDM_OK;
    ocdm__json_tree_clear(summary);
    return ocdm__fail(error, OCDM_BAD_FILE, "name another folder", "%s is not the summary of a run, version 1", path);
}

/* The first of `count` classes; NULL if the summary has none, or a different number of them. */
static const ocdm__json_node *first_class(const ocdm__json_node *root, size_t count)
{
    const ocdm__json_node *classes = ocdm__json_find(root, "classes");
    return classes != NULL && classes->kind == OCDM__JSON_ARRAY && classes->count == count ? classes->first : NULL;
}

bool ocdm__summary_groups(const ocdm__json_node *root, uint8_t *groups, size_t count)
{
    const ocdm__json_node *class = first_class(root, count);
    if (class == NULL)
        return false;
    for (size_t c = 0; c < count; c++, class = class->next) {
        const char *name = ocdm__json_text(ocdm__json_find(class, "group"), "");
        for (groups[c] = 0; strcmp(name, ocdm__class_group_name((enum ocdm__class_group)groups[c])) != 0;)
            if (++groups[c] == OCDM__GROUPS)
                return false;
    }
    return true;
}

bool ocdm__summary_class_weights(const ocdm__json_node *root, double *weights, size_t count)
{
    const ocdm__json_node *class = first_class(root, count);
    if (class == NULL)
        return false;
    for (size_t c = 0; c < count; c++, class = class->next) {
        weights[c] = ocdm__json_number(ocdm__json_find(class, "weight"));
        if (isnan(weights[c]))
            return false;
    }
    return true;
}

bool ocdm__summary_kept(const ocdm__json_node *root, uint32_t *kept, size_t count)
{
    const ocdm__json_node *list = ocdm__json_find(root, "memory.counts");
    if (list == NULL || list->count != count)
        return false;
    const ocdm__json_node *node = list->first;
    for (size_t c = 0; c < count; c++, node = node->next) {
        double number = ocdm__json_number(node);
        if (!(number >= 0 && number <= UINT32_MAX))
            return false;
        kept[c] = (uint32_t)number;
    }
    return true;
}

size_t ocdm__summary_maps(const ocdm__json_node *root, double *values, size_t room)
{
    const ocdm__json_node *list = ocdm__json_find(root, "evaluations");
    size_t count = 0;
    for (; list != NULL && count < list->count && count < room; count++)
        values[count] = ocdm__json_number(ocdm__json_find(ocdm__json_element(list, count), "total.mAP"));
    return count;
}
