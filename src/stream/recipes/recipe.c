/* Chooses and runs the recipe of a build: the source's own tasks, PRS's lists of ids, the paper, tasks by class, or classes
 * that are annotated task by task. */
#include <stdlib.h>

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
    OCDM_THEN(status, ocdm__id_lists_choose(&lists, job->set, job->reading, &choices, job->error));
    OCDM_THEN(status, take_choices(job->selection, job->set, &choices, job->error));
    OCDM_THEN(status, take_groups(&lists, &choices, job->set->classes.count, job->groups, job->error));
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
    OCDM_THEN(status, ocdm__task_list_apply(&list, &set->classes, class_tasks, job->error));
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
    OCDM_TRY(ocdm__select_paper(job->selection, job->set, &paper, &tally, job->error));
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
    OCDM_TRY(ocdm__select_split(job->selection, job->set, &split, &tally, job->error));
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
    OCDM_THEN(status, select(job, class_tasks));
    OCDM_THEN(status, ocdm__selection_close_gaps(job->selection, class_count, &empty, job->error));
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

static ocdm_status apply_incremental(const struct job *job)
{
    const ocdm__build_settings *settings = job->settings;
    ocdm__class_columns columns = {.count = 0};
    ocdm__incremental_tally tally = {.without_task = 0};
    size_t empty = 0;
    /* The places of the classes are the columns that they will have in the stream. */
    const char *path = job->settings->classes;
    ocdm_status status = path != NULL ? ocdm__class_columns_read(&columns, &job->set->classes, path, job->error)
                                      : ocdm__class_columns_sorted(&columns, &job->set->classes, NULL, job->error);
    const ocdm__incremental_settings incremental = {.places = columns.of,
                                                    .class_count = columns.count,
                                                    .base = settings->base,
                                                    .step = settings->step,
                                                    .test_share = settings->test_share,
                                                    .seed = settings->seed};
    OCDM_THEN(status, ocdm__select_incremental(job->selection, job->set, &incremental, &tally, job->error));
    OCDM_THEN(status, ocdm__selection_close_gaps(job->selection, job->set->classes.count, &empty, job->error));
    ocdm__reading_skip_many(job->reading, "samples without a label of any task", tally.without_task);
    ocdm__reading_skip_many(job->reading, "labels of classes that --classes does not list", tally.unlisted);
    ocdm__reading_skip_many(job->reading, "tasks that no sample is in", empty);
    ocdm__class_columns_clear(&columns);
    return status;
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

/* ---- parts -------------------------------------------------------------------------------------------------------------- */

static bool has_parts(const ocdm__labelled_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->parts[i] != OCDM__NO_PART)
            return true;
    return false;
}

/* How samples are divided into parts: as in the source, or at random. */
struct part_rule {
    const ocdm__labelled_set *set;
    bool given;
    uint64_t base; /* of random numbers */
    double test_share;
};

static struct part_rule part_rule_of(const ocdm__labelled_set *set, double test_share, uint64_t seed)
{
    return (struct part_rule){set, has_parts(set), ocdm__random_base(seed, OCDM__FOR_TEST_PARTS), test_share};
}

/* Each sample has its own random number: adding samples to a source does not move the others. */
static enum ocdm__part part_of(const struct part_rule *rule, uint32_t sample)
{
    ocdm__random random = ocdm__random_stream(rule->base, sample);
    bool test = rule->given ? rule->set->parts[sample] == OCDM__TEST : ocdm__random_unit(&random) < rule->test_share;
    return test ? OCDM__TEST : OCDM__TRAIN;
}

/* ---- each sample in one task -------------------------------------------------------------------------------------------- */

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
        for (size_t i = 0; i < set->count; i++) {
            take_votes(&votes, set, i, settings->class_tasks);
            tally->without_task += votes.best == OCDM__NO_TASK;
            tally->mixed += votes.mixed;
            if (votes.best == OCDM__NO_TASK || (votes.mixed && settings->drop_mixed))
                continue;
            selection->chosen[selection->count++] =
                (ocdm__chosen){.sample = (uint32_t)i, .task = votes.best, .part = set->parts[i]};
        }
    }
    ocdm__release(votes.counts);
    return made ? OCDM_OK : ocdm__fail_memory(error, "the list of samples");
}

ocdm_status ocdm__select_split(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__split_settings *settings,
                               ocdm__split_tally *tally, ocdm_error *error)
{
    *tally = (ocdm__split_tally){.mixed = 0};
    OCDM_TRY(settings->class_tasks != NULL ? split_by_class(selection, set, settings, tally, error)
                                           : ocdm__select_all(selection, set, error));
    const struct part_rule rule = part_rule_of(set, settings->test_share, settings->seed);
    for (size_t i = 0; i < selection->count; i++)
        selection->chosen[i].part = part_of(&rule, selection->chosen[i].sample);
    return OCDM_OK;
}

/* ---- each sample in every task that has a label of it -------------------------------------------------------------------- */

/*
 * Class-incremental learning with partial labels: the classes, in their order, are divided into tasks, `base` in the first one
 * and `step` in each of the others. A training sample is in every task that has one of its classes, and in each of them only
 * the classes of that task are known. A test sample is there once, with all its labels, in the first task that has one of its
 * classes.
 */

static uint32_t task_of_place(const ocdm__incremental_settings *settings, uint32_t place)
{
    if (place == UINT32_MAX)
        return OCDM__NO_TASK;
    if (place < settings->base)
        return 0;
    return (place - settings->base) / settings->step + (settings->base > 0);
}

static int compare_tasks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The tasks that have a label of the sample, ascending, each once; returns how many. */
static size_t tasks_of(const ocdm__labelled_set *set, size_t sample, const uint32_t *class_tasks, uint32_t *tasks)
{
    size_t count = 0, kept = 0;
    for (uint64_t k = set->label_starts[sample]; k < set->label_starts[sample + 1]; k++)
        if (class_tasks[set->labels[k]] != OCDM__NO_TASK)
            tasks[count++] = class_tasks[set->labels[k]];
    qsort(tasks, count, sizeof *tasks, compare_tasks);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || tasks[i] != tasks[kept - 1])
            tasks[kept++] = tasks[i];
    return kept;
}

ocdm_status ocdm__select_incremental(ocdm__selection *selection, const ocdm__labelled_set *set,
                                     const ocdm__incremental_settings *settings, ocdm__incremental_tally *tally,
                                     ocdm_error *error)
{
    size_t classes = set->classes.count, labels = set->count > 0 ? (size_t)set->label_starts[set->count] : 0;
    const struct part_rule rule = part_rule_of(set, settings->test_share, settings->seed);
    *tally = (ocdm__incremental_tally){.without_task = 0};
    if (settings->base > settings->class_count)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take a smaller base", "--base %u, but there are %zu classes",
                          settings->base, settings->class_count);
    if (settings->class_count / settings->step >= OCDM__MAX_TASKS - 1)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take a larger step", "%zu classes in steps of %u are too many tasks",
                          settings->class_count, settings->step);
    uint32_t *tasks = ocdm__allocate(labels, sizeof *tasks);
    selection->partial = true;
    selection->chosen = ocdm__allocate(labels, sizeof *selection->chosen);
    selection->class_tasks = ocdm__allocate(classes, sizeof *selection->class_tasks);
    selection->kept_classes = ocdm__allocate(classes, 1);
    bool made = tasks && selection->chosen && selection->class_tasks && selection->kept_classes;
    for (size_t i = 0; made && i < classes; i++) {
        selection->class_tasks[i] = task_of_place(settings, settings->places[i]);
        selection->kept_classes[i] = selection->class_tasks[i] != OCDM__NO_TASK;
    }
    if (made) {
        /* `tasks` is room for those of all labels. */
        for (uint32_t i = 0; i < set->count; i++) {
            size_t count = tasks_of(set, i, selection->class_tasks, tasks);
            enum ocdm__part part = part_of(&rule, i);
            tally->without_task += count == 0;
            for (uint64_t k = set->label_starts[i]; count > 0 && k < set->label_starts[i + 1]; k++)
                tally->unlisted += selection->class_tasks[set->labels[k]] == OCDM__NO_TASK;
            for (size_t k = 0; k < count && (k == 0 || part == OCDM__TRAIN); k++)
                selection->chosen[selection->count++] = (ocdm__chosen){.sample = i, .task = tasks[k], .part = part};
        }
    }
    ocdm__release(tasks);
    return made ? OCDM_OK : ocdm__fail_memory(error, "the list of samples");
}
