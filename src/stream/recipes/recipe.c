/* Chooses and runs the recipe of a build: the source's own tasks, PRS's lists of ids, the paper, or tasks by class. */
#include "stream/recipes/recipes.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

/* ---- PRS's lists ----------------------------------------------------------------------------------------------------- */

static ocdm_status take_choices(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__id_choices *choices,
                                ocdm_error *error)
{
    selection->chosen = ocdm__allocate(choices->count, sizeof *selection->chosen);
    selection->kept_classes = ocdm__allocate(set->classes.count, 1);
    if (selection->chosen == NULL || selection->kept_classes == NULL)
        return ocdm__fail_memory(error, "the list of samples");
    for (size_t i = 0; i < choices->count; i++)
        selection->chosen[i] = (ocdm__chosen){choices->samples[i].sample, choices->samples[i].task, choices->samples[i].part};
    for (size_t i = 0; i < set->classes.count; i++)
        selection->kept_classes[i] = choices->class_of[i] != UINT32_MAX;
    selection->count = choices->count;
    return OCDM_OK;
}

static ocdm_status take_groups(const ocdm__id_lists *lists, const ocdm__id_choices *choices, size_t class_count,
                               uint8_t **groups, ocdm_error *error)
{
    if (lists->groups == NULL)
        return OCDM_OK;
    *groups = ocdm__allocate(class_count, 1);
    if (*groups == NULL)
        return ocdm__fail_memory(error, "the groups of the classes");
    for (size_t i = 0; i < class_count; i++)
        (*groups)[i] = choices->class_of[i] != UINT32_MAX ? lists->groups[choices->class_of[i]] : UINT8_MAX;
    return OCDM_OK;
}

static ocdm_status select_listed(ocdm__selection *selection, const ocdm__labelled_set *set,
                                 const ocdm__build_settings *settings, ocdm__reading *reading, uint8_t **groups,
                                 ocdm_error *error)
{
    ocdm__id_lists lists = {.task_count = 0};
    ocdm__id_choices choices = {.count = 0};
    ocdm_status status = ocdm__id_lists_read(&lists, settings->ids, settings->original_ids, error);
    if (status != OCDM_OK)
        return status;
    for (size_t i = 0; i < lists.file_count && status == OCDM_OK; i++)
        status = ocdm__found_files_add(reading->files, lists.files[i], error);
    if (status == OCDM_OK)
        status = ocdm__id_lists_choose(&lists, set, reading, &choices, error);
    if (status == OCDM_OK)
        status = take_choices(selection, set, &choices, error);
    if (status == OCDM_OK)
        status = take_groups(&lists, &choices, set->classes.count, groups, error);
    ocdm__id_choices_clear(&choices);
    ocdm__id_lists_clear(&lists);
    return status;
}

/* ---- tasks by class -------------------------------------------------------------------------------------------------- */

static ocdm_status find_class_tasks(uint32_t *class_tasks, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                                    ocdm_error *error)
{
    if (settings->tasks == NULL)
        return ocdm__cluster_samples(set->count, set->label_starts, set->labels, set->classes.count, settings->clusters,
                                     class_tasks, error);
    ocdm__task_list list = {.task_count = 0};
    ocdm_status status = ocdm__task_list_open(&list, settings->tasks, error);
    if (status == OCDM_OK)
        status = ocdm__task_list_apply(&list, &set->classes, class_tasks, error);
    ocdm__task_list_clear(&list);
    return status;
}

static ocdm_status select_paper(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                                const uint32_t *class_tasks, ocdm__reading *reading, ocdm_error *error)
{
    ocdm__paper_settings paper = {.class_tasks = class_tasks,
                                  .pool = settings->test_from_rest ? OCDM__TEST_FROM_REST : OCDM__TEST_FROM_SINGLE,
                                  .test_per_class = settings->test_per_class,
                                  .seed = settings->seed};
    ocdm__paper_tally tally;
    ocdm_status status = ocdm__select_paper(selection, set, &paper, &tally, error);
    if (status != OCDM_OK)
        return status;
    ocdm__reading_skip_many(reading, "samples without a label", tally.without_label);
    ocdm__reading_skip_many(reading, "samples with a label that no task has", tally.without_task);
    ocdm__reading_skip_many(reading, "samples with labels of several tasks", tally.mixed);
    ocdm__reading_skip_many(reading, "samples of removed classes only", tally.of_removed);
    ocdm__reading_skip_many(reading, "single-label samples that the test part did not need", tally.not_drawn);
    ocdm__reading_skip_many(reading, "classes with too few test samples", tally.removed);
    return OCDM_OK;
}

static ocdm_status select_split(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                                const uint32_t *class_tasks, ocdm__reading *reading, ocdm_error *error)
{
    ocdm__split_settings split = {.class_tasks = class_tasks,
                                  .drop_mixed = settings->drop_mixed,
                                  .test_share = settings->test_share,
                                  .seed = settings->seed};
    ocdm__split_tally tally;
    ocdm_status status = ocdm__select_split(selection, set, &split, &tally, error);
    if (status != OCDM_OK)
        return status;
    ocdm__reading_skip_many(reading, "samples without a label of any task", tally.without_task);
    ocdm__reading_skip_many(
        reading, settings->drop_mixed ? "samples with labels of several tasks" : "samples' labels of other tasks", tally.mixed);
    return OCDM_OK;
}

static ocdm_status select_by_class(ocdm__selection *selection, const ocdm__labelled_set *set,
                                   const ocdm__build_settings *settings, ocdm__reading *reading, ocdm_error *error)
{
    size_t empty = 0;
    uint32_t *class_tasks = ocdm__allocate(set->classes.count, sizeof *class_tasks);
    if (class_tasks == NULL)
        return ocdm__fail_memory(error, "the tasks of the classes");
    ocdm_status status = find_class_tasks(class_tasks, set, settings, error);
    if (status == OCDM_OK)
        status = (settings->recipe == OCDM__RECIPE_PAPER ? select_paper : select_split)(selection, set, settings, class_tasks,
                                                                                        reading, error);
    if (status == OCDM_OK)
        status = ocdm__selection_close_gaps(selection, set->classes.count, &empty, error);
    ocdm__reading_skip_many(reading, "tasks that no sample is in", empty);
    ocdm__release(class_tasks);
    return status;
}

ocdm_status ocdm__apply_recipe(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                               ocdm__reading *reading, uint8_t **groups, ocdm_error *error)
{
    bool by_class = settings->tasks != NULL || settings->clusters > 0;
    if (settings->recipe == OCDM__RECIPE_IDS)
        return select_listed(selection, set, settings, reading, groups, error);
    if (settings->recipe == OCDM__RECIPE_NONE)
        return ocdm__select_all(selection, set, error);
    return by_class ? select_by_class(selection, set, settings, reading, error)
                    : select_split(selection, set, settings, NULL, reading, error);
}
