/* Chooses and runs the recipe of a build: the source's own tasks, PRS's lists of ids, the paper, or tasks by class. */
#include "base/allocate.h"

#include "base/error.h"
#include "base/random.h"
#include "stream/build.h"
#include "stream/recipes/recipes.h"
#include "stream/statistics.h"

/* What a recipe works on. */
struct job {
    ocdm__selection *selection;
    const ocdm__labelled_set *set;
    const ocdm__build_settings *settings;
    ocdm__reading *reading;
    uint8_t **groups;
    ocdm_error *error;
};

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

static ocdm_status apply_listed(const struct job *job)
{
    ocdm__id_lists lists = {.task_count = 0};
    ocdm__id_choices choices = {.count = 0};
    ocdm_status status = ocdm__id_lists_read(&lists, job->settings->ids, job->settings->original_ids, job->error);
    if (status != OCDM_OK)
        return status;
    for (size_t i = 0; i < lists.file_count && status == OCDM_OK; i++)
        status = ocdm__found_files_add(job->reading->files, lists.files[i], job->error);
    if (status == OCDM_OK)
        status = ocdm__id_lists_choose(&lists, job->set, job->reading, &choices, job->error);
    if (status == OCDM_OK)
        status = take_choices(job->selection, job->set, &choices, job->error);
    if (status == OCDM_OK)
        status = take_groups(&lists, &choices, job->set->classes.count, job->groups, job->error);
    ocdm__id_choices_clear(&choices);
    ocdm__id_lists_clear(&lists);
    return status;
}

/* ---- tasks by class -------------------------------------------------------------------------------------------------- */

static ocdm_status find_class_tasks(const struct job *job, uint32_t *class_tasks)
{
    const ocdm__labelled_set *set = job->set;
    if (job->settings->tasks == NULL)
        return ocdm__cluster_samples(set->count, set->label_starts, set->labels, set->classes.count, job->settings->clusters,
                                     class_tasks, job->error);
    ocdm__task_list list = {.task_count = 0};
    ocdm_status status = ocdm__task_list_open(&list, job->settings->tasks, job->error);
    if (status == OCDM_OK)
        status = ocdm__task_list_apply(&list, &set->classes, class_tasks, job->error);
    ocdm__task_list_clear(&list);
    return status;
}

static ocdm_status select_paper(const struct job *job, const uint32_t *class_tasks)
{
    const ocdm__build_settings *settings = job->settings;
    ocdm__reading *reading = job->reading;
    ocdm__paper_settings paper = {.class_tasks = class_tasks,
                                  .pool = settings->test_from_rest ? OCDM__TEST_FROM_REST : OCDM__TEST_FROM_SINGLE,
                                  .test_per_class = settings->test_per_class,
                                  .seed = settings->seed};
    ocdm__paper_tally tally;
    ocdm_status status = ocdm__select_paper(job->selection, job->set, &paper, &tally, job->error);
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

static ocdm_status select_split(const struct job *job, const uint32_t *class_tasks)
{
    const ocdm__build_settings *settings = job->settings;
    ocdm__split_settings split = {.class_tasks = class_tasks,
                                  .drop_mixed = settings->drop_mixed,
                                  .test_share = settings->test_share,
                                  .seed = settings->seed};
    ocdm__split_tally tally;
    ocdm_status status = ocdm__select_split(job->selection, job->set, &split, &tally, job->error);
    if (status != OCDM_OK)
        return status;
    const char *mixed = settings->drop_mixed ? "samples with labels of several tasks" : "samples' labels of other tasks";
    ocdm__reading_skip_many(job->reading, "samples without a label of any task", tally.without_task);
    ocdm__reading_skip_many(job->reading, mixed, tally.mixed);
    return OCDM_OK;
}

/* Assigns classes to tasks, then selects samples by them. */
static ocdm_status select_by_class(const struct job *job, ocdm_status (*select)(const struct job *, const uint32_t *))
{
    size_t empty = 0, class_count = job->set->classes.count;
    uint32_t *class_tasks = ocdm__allocate(class_count, sizeof *class_tasks);
    if (class_tasks == NULL)
        return ocdm__fail_memory(job->error, "the tasks of the classes");
    ocdm_status status = find_class_tasks(job, class_tasks);
    if (status == OCDM_OK)
        status = select(job, class_tasks);
    if (status == OCDM_OK)
        status = ocdm__selection_close_gaps(job->selection, class_count, &empty, job->error);
    ocdm__reading_skip_many(job->reading, "tasks that no sample is in", empty);
    ocdm__release(class_tasks);
    return status;
}

static ocdm_status apply_paper(const struct job *job)
{
    return select_by_class(job, select_paper);
}

/* Without a list or number of tasks, the samples' own tasks are used. */
static ocdm_status apply_split(const struct job *job)
{
    bool by_class = job->settings->tasks != NULL || job->settings->clusters > 0;
    return by_class ? select_by_class(job, select_split) : select_split(job, NULL);
}

/* ---- the rows ------------------------------------------------------------------------------------------------------- */

static ocdm_status apply_none(const struct job *job)
{
    return ocdm__select_all(job->selection, job->set, job->error);
}

#define RECIPE_ROW(RECIPE, name, apply) [OCDM__RECIPE_##RECIPE] = apply,
static ocdm_status (*const recipes[OCDM__RECIPE_COUNT])(const struct job *) = {
    [OCDM__RECIPE_NONE] = apply_none, [OCDM__RECIPE_IDS] = apply_listed, OCDM__RECIPES(RECIPE_ROW)};

ocdm_status ocdm__apply_recipe(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__build_settings *settings,
                               ocdm__reading *reading, uint8_t **groups, ocdm_error *error)
{
    struct job job = {selection, set, settings, reading, groups, error};
    return recipes[settings->recipe](&job);
}

/* ---- tasks by class ------------------------------------------------------------------------------------------------ */

/*
 * Tasks for any labelled data: each class belongs to a task, and a sample to the task that has most of its labels (the lowest
 * number on a tie). A sample with labels of several tasks is mixed: its labels of other tasks are removed, because the samples
 * of a task are labelled with the task's classes only; or the sample is dropped.
 *
 * If the source does not distinguish training and test samples, each sample goes to the test part with the same probability.
 */

/* Votes of a sample's labels, by task; zero between samples. */
struct votes {
    uint32_t *counts;
    uint32_t best;
    bool mixed;
};

static void take_votes(struct votes *votes, const ocdm__labelled_set *set, size_t sample, const uint32_t *class_tasks)
{
    votes->best = OCDM__NO_TASK;
    votes->mixed = false;
    for (uint64_t k = set->label_starts[sample]; k < set->label_starts[sample + 1]; k++) {
        uint32_t task = class_tasks[set->labels[k]];
        if (task == OCDM__NO_TASK)
            continue;
        uint32_t count = ++votes->counts[task];
        votes->mixed |= votes->best != OCDM__NO_TASK && votes->best != task;
        if (votes->best == OCDM__NO_TASK || count > votes->counts[votes->best] ||
            (count == votes->counts[votes->best] && task < votes->best))
            votes->best = task;
    }
    for (uint64_t k = set->label_starts[sample]; k < set->label_starts[sample + 1]; k++)
        if (class_tasks[set->labels[k]] != OCDM__NO_TASK)
            votes->counts[class_tasks[set->labels[k]]] = 0;
}

static void choose_by_class(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings,
                            struct votes *votes, ocdm__split_tally *tally)
{
    for (size_t i = 0; i < set->count; i++) {
        take_votes(votes, set, i, settings->class_tasks);
        tally->without_task += votes->best == OCDM__NO_TASK;
        tally->mixed += votes->mixed;
        if (votes->best == OCDM__NO_TASK || (votes->mixed && settings->drop_mixed))
            continue;
        selection->chosen[selection->count++] =
            (ocdm__chosen){.sample = (uint32_t)i, .task = votes->best, .part = set->parts[i]};
    }
}

static bool has_parts(const ocdm__labelled_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->parts[i] != OCDM__NO_PART)
            return true;
    return false;
}

/* Each sample has its own random number: adding samples to a source does not move the others. */
static void draw_parts(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings)
{
    bool given = has_parts(set);
    uint64_t base = ocdm__random_base(settings->seed, OCDM__FOR_TEST_PARTS);
    for (size_t i = 0; i < selection->count; i++) {
        ocdm__chosen *chosen = &selection->chosen[i];
        ocdm__random random = ocdm__random_stream(base, chosen->sample);
        bool test = given ? set->parts[chosen->sample] == OCDM__TEST : ocdm__random_unit(&random) < settings->test_share;
        chosen->part = test ? OCDM__TEST : OCDM__TRAIN;
    }
}

static ocdm_status split_by_class(ocdm__selection *selection, const ocdm__labelled_set *set,
                                  const ocdm__split_settings *settings, ocdm__split_tally *tally, ocdm_error *error)
{
    struct votes votes = {.counts = ocdm__allocate(OCDM__MAX_TASKS, sizeof *votes.counts)};
    size_t classes = set->classes.count;
    selection->chosen = ocdm__allocate(set->count, sizeof *selection->chosen);
    selection->class_tasks = ocdm__allocate(classes, sizeof *selection->class_tasks);
    selection->kept_classes = ocdm__allocate(classes, 1);
    bool made = votes.counts && selection->chosen && selection->class_tasks && selection->kept_classes;
    if (made) {
        for (size_t i = 0; i < classes; i++) {
            selection->class_tasks[i] = settings->class_tasks[i];
            selection->kept_classes[i] = settings->class_tasks[i] != OCDM__NO_TASK;
        }
        choose_by_class(selection, set, settings, &votes, tally);
    }
    ocdm__release(votes.counts);
    return made ? OCDM_OK : ocdm__fail_memory(error, "the list of samples");
}

ocdm_status ocdm__select_split(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings,
                               ocdm__split_tally *tally, ocdm_error *error)
{
    *tally = (ocdm__split_tally){.mixed = 0};
    ocdm_status status = settings->class_tasks != NULL ? split_by_class(selection, set, settings, tally, error)
                                                       : ocdm__select_all(selection, set, error);
    if (status == OCDM_OK)
        draw_parts(selection, set, settings);
    return status;
}
