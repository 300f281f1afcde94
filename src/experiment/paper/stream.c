/* What figures say of a stream and its runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "experiment/folder/summary_read.h"
#include "experiment/paper/paper.h"
#include "stream/class_group.h"

#define MAJORITY_OVER 600u
#define MINORITY_UNDER 100u

static const char *group_of(const ocdm__stream_info *info, uint32_t class_number, uint64_t seen)
{
    const uint8_t *groups = info->stream.table.groups;
    if (groups != NULL)
        return ocdm__class_group_name((enum ocdm__class_group)groups[class_number]);
    return seen > MAJORITY_OVER ? "majority" : seen < MINORITY_UNDER ? "minority" : "moderate";
}

static uint64_t first_task(const ocdm__statistics *statistics, uint32_t class_number)
{
    for (size_t i = 0; i < statistics->task_count; i++)
        if (ocdm__tally_class(&statistics->tasks[i], class_number).count > 0)
            return statistics->tasks[i].task;
    return 0;
}

static int by_task(const void *a, const void *b)
{
    const ocdm__paper_class *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

ocdm_status ocdm__paper_classes(const ocdm__stream_info *info, ocdm__paper_class **classes, size_t *count, ocdm_error *error)
{
    ocdm__paper_class *list = ocdm__allocate(info->class_count, sizeof *list);
    if (list == NULL)
        return ocdm__fail_memory(error, "the classes of a stream");
    for (size_t i = 0; i < info->class_count; i++) {
        uint32_t number = info->classes[i];
        size_t length;
        const char *label = ocdm__stream_info_label(info, number, &length);
        list[i].number = number;
        list[i].seen = ocdm__tally_class(&info->statistics.total, number).count;
        list[i].task = first_task(&info->statistics, number);
        list[i].group = group_of(info, number, list[i].seen);
        snprintf(list[i].name, sizeof list[i].name, "%.*s", (int)(length < 60 ? length : 60), label);
    }
    qsort(list, info->class_count, sizeof *list, by_task);
    *classes = list;
    *count = info->class_count;
    return OCDM_OK;
}

ocdm_status ocdm__paper_evaluations(const char *folder, double *values, size_t room, size_t *count, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm__json_tree tree = {.root = NULL};
    *count = 0;
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    ocdm_status status = ocdm__summary_read(&tree, path, error);
    if (status != OCDM_OK)
        return status;
    *count = ocdm__summary_maps(tree.root, values, room);
    ocdm__json_tree_clear(&tree);
    return OCDM_OK;
}
