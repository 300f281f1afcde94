/* Chooses and runs the recipe of a build: the source's own tasks, PRS's lists of ids, the paper, tasks by class, or classes
 * that are annotated task by task. */
#include "base/random.h"
#include "stream/build.h"
#include "stream/recipes/recipes.h"
#include "stream/statistics.h"

static ocdm_status apply_listed(const struct ocdm__recipe_job *job)
{
    ocdm__id_lists lists;
    OCDM_TRY(ocdm__id_lists_read(&lists, job->settings->ids, job->settings->original_ids, job->error));
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < lists.files.count && status == OCDM_OK; i++)
        status = ocdm__found_files_add(job->reading->files, lists.files.paths[i], job->error);
    OCDM_THEN(status, ocdm__id_lists_choose(&lists, job->set, job->reading, job->selection, job->groups, job->error));
    ocdm__id_lists_clear(&lists);
    return status;
}

/* ---- tasks by class -------------------------------------------------------------------------------------------------- */

/* Assigns classes to tasks, by a list or by how they occur together, then selects samples by them. */
static ocdm_status select_by_class(const struct ocdm__recipe_job *job,
                                   ocdm_status (*select)(const struct ocdm__recipe_job *, const uint32_t *))
{
    const ocdm__labelled_set *set = job->set;
    size_t empty = 0, class_count = set->classes.count;
    uint32_t *class_tasks;
    ocdm__task_list list = {.task_count = 0};
    OCDM_TRY(ocdm__new(&class_tasks, class_count, sizeof *class_tasks, "the tasks of the classes", job->error));
    ocdm_status status = OCDM_OK;
    if (job->settings->tasks == NULL) {
        status = ocdm__cluster_samples(set->count, set->label_starts, set->labels, class_count, job->settings->clusters,
                                       class_tasks, job->error);
    } else {
        status = ocdm__task_list_open(&list, job->settings->tasks, job->error);
        OCDM_THEN(status, ocdm__task_list_apply(&list, &set->classes, class_tasks, job->error));
        ocdm__task_list_clear(&list);
    }
    OCDM_THEN(status, select(job, class_tasks));
    OCDM_THEN(status, ocdm__selection_close_gaps(job->selection, class_count, &empty, job->error));
    ocdm__reading_skip_many(job->reading, "tasks that no sample is in", empty);
    ocdm__release(class_tasks);
    return status;
}

static ocdm_status apply_paper(const struct ocdm__recipe_job *job)
{
    return select_by_class(job, ocdm__select_paper);
}

/* Without a list or number of tasks, the samples' own tasks are used. */
static ocdm_status apply_split(const struct ocdm__recipe_job *job)
{
    bool by_class = job->settings->tasks != NULL || job->settings->clusters > 0;
    return by_class ? select_by_class(job, ocdm__select_split) : ocdm__select_split(job, NULL);
}

/* Gives a class its task; one without a task does not stay. */
static void set_class_task(ocdm__selection *selection, size_t class_number, uint32_t task)
{
    selection->class_tasks[class_number] = task;
    selection->kept_classes[class_number] = task != OCDM__NO_TASK;
}

/* ---- each sample in one task ---------------------------------------------------------------------------------------- */

/*
 * Tasks for any labelled data: each class belongs to a task, and a sample to the task that has most of its labels (the lowest
 * number on a tie). A sample with labels of several tasks is mixed: its labels of other tasks are removed, because the samples
 * of a task are labelled with the task's classes only; or the sample is dropped.
 *
 * If the source does not distinguish training and test samples, each sample goes to the test part with the same probability.
 */

/* How samples are divided into parts: as in the source, or at random. */
struct part_rule {
    const ocdm__labelled_set *set;
    bool given;
    uint64_t base; /* of random numbers */
    double test_share;
};

static struct part_rule part_rule_of(const struct ocdm__recipe_job *job)
{
    struct part_rule rule = {.set = job->set,
                             .base = ocdm__random_base(job->settings->seed, OCDM__FOR_TEST_PARTS),
                             .test_share = job->settings->test_share};
    for (size_t i = 0; i < rule.set->count; i++)
        rule.given = rule.given || rule.set->parts[i] != OCDM__NO_PART;
    return rule;
}

/* Each sample has its own random number: adding samples to a source does not move the others. */
static enum ocdm__part part_of(const struct part_rule *rule, uint32_t sample)
{
    ocdm__random random = ocdm__random_stream(rule->base, sample);
    bool test = rule->given ? rule->set->parts[sample] == OCDM__TEST : ocdm__random_unit(&random) < rule->test_share;
    return test ? OCDM__TEST : OCDM__TRAIN;
}

/* The task with most votes of a sample's labels, OCDM__NO_TASK without any; `votes`, by task, are zero before and after. */
static uint32_t find_task(const ocdm__labelled_set *set, size_t sample, const uint32_t *class_tasks, uint32_t *votes,
                          bool *mixed)
{
    uint32_t best = OCDM__NO_TASK;
    *mixed = false;
    for (uint64_t k = set->label_starts[sample]; k < set->label_starts[sample + 1]; k++) {
        uint32_t task = class_tasks[set->labels[k]];
        if (task == OCDM__NO_TASK)
            continue;
        uint32_t count = ++votes[task];
        *mixed |= best != OCDM__NO_TASK && best != task;
        if (best == OCDM__NO_TASK || count > votes[best] || (count == votes[best] && task < best))
            best = task;
    }
    for (uint64_t k = set->label_starts[sample]; k < set->label_starts[sample + 1]; k++)
        if (class_tasks[set->labels[k]] != OCDM__NO_TASK)
            votes[class_tasks[set->labels[k]]] = 0;
    return best;
}

static ocdm_status split_by_class(const struct ocdm__recipe_job *job, const uint32_t *class_tasks)
{
    bool drop_mixed = job->settings->drop_mixed;
    uint64_t without_task = 0, mixed_count = 0;
    OCDM_TRY(ocdm__selection_begin(job->selection, job->set->count, job->set->classes.count, job->error));
    uint32_t *votes;
    OCDM_TRY(ocdm__new(&votes, OCDM__MAX_TASKS, sizeof *votes, "the list of samples", job->error));
    for (size_t i = 0; i < job->set->classes.count; i++)
        set_class_task(job->selection, i, class_tasks[i]);
    for (size_t i = 0; i < job->set->count; i++) {
        bool mixed;
        uint32_t task = find_task(job->set, i, class_tasks, votes, &mixed);
        without_task += task == OCDM__NO_TASK;
        mixed_count += mixed;
        if (task != OCDM__NO_TASK && !(mixed && drop_mixed))
            job->selection->chosen[job->selection->count++] = (ocdm__chosen){(uint32_t)i, task, job->set->parts[i]};
    }
    ocdm__release(votes);
    ocdm__reading_skip_many(job->reading, "samples without a label of any task", without_task);
    ocdm__reading_skip_many(
        job->reading, drop_mixed ? "samples with labels of several tasks" : "samples' labels of other tasks", mixed_count);
    return OCDM_OK;
}

ocdm_status ocdm__select_split(const struct ocdm__recipe_job *job, const uint32_t *class_tasks)
{
    OCDM_TRY(class_tasks != NULL ? split_by_class(job, class_tasks) : ocdm__select_all(job->selection, job->set, job->error));
    const struct part_rule rule = part_rule_of(job);
    for (size_t i = 0; i < job->selection->count; i++)
        job->selection->chosen[i].part = part_of(&rule, job->selection->chosen[i].sample);
    return OCDM_OK;
}

/* ---- each sample in every task that has a label of it --------------------------------------------------------------- */

/*
 * Class-incremental learning with partial labels: the classes, in their order, are divided into tasks, `base` in the first one
 * and `step` in each of the others. A training sample is in every task that has one of its classes, and in each of them only
 * the classes of that task are known. A test sample is there once, with all its labels, in the first task that has one of its
 * classes.
 */

/* Selects by the places of the classes in their order. */
static ocdm_status select_incremental(const struct ocdm__recipe_job *job, const ocdm__class_columns *columns)
{
    const ocdm__labelled_set *set = job->set;
    const ocdm__build_settings *settings = job->settings;
    ocdm__selection *selection = job->selection;
    size_t labels = set->count > 0 ? (size_t)set->label_starts[set->count] : 0, empty;
    uint64_t without_task = 0, unlisted = 0;
    const struct part_rule rule = part_rule_of(job);
    if (settings->base > columns->count)
        return ocdm__fail(job->error, OCDM_BAD_ARGUMENT, "take a smaller base", "--base %u, but there are %zu classes",
                          settings->base, columns->count);
    if (columns->count / settings->step >= OCDM__MAX_TASKS - 1)
        return ocdm__fail(job->error, OCDM_BAD_ARGUMENT, "take a larger step", "%zu classes in steps of %u are too many tasks",
                          columns->count, settings->step);
    selection->partial = true;
    OCDM_TRY(ocdm__selection_begin(selection, labels, set->classes.count, job->error));
    for (size_t i = 0; i < set->classes.count; i++) {
        uint32_t place = columns->of[i], task = OCDM__NO_TASK;
        if (place != UINT32_MAX)
            task = place < settings->base ? 0 : (place - settings->base) / settings->step + (settings->base > 0);
        set_class_task(selection, i, task);
    }
    uint32_t *tasks = ocdm__allocate(labels, sizeof *tasks); /* of a sample: room for those of all labels */
    if (tasks == NULL)
        return ocdm__fail_memory(job->error, "the list of samples");
    for (uint32_t i = 0; i < set->count; i++) {
        /* The tasks that have a label of the sample, ascending, each once. */
        size_t count = 0, all = (size_t)(set->label_starts[i + 1] - set->label_starts[i]);
        for (uint64_t k = set->label_starts[i]; k < set->label_starts[i + 1]; k++)
            if (selection->class_tasks[set->labels[k]] != OCDM__NO_TASK)
                tasks[count++] = selection->class_tasks[set->labels[k]];
        unlisted += count > 0 ? all - count : 0;
        count = ocdm__sort_numbers(tasks, count);
        enum ocdm__part part = part_of(&rule, i);
        without_task += count == 0;
        for (size_t k = 0; k < count && (k == 0 || part == OCDM__TRAIN); k++)
            selection->chosen[selection->count++] = (ocdm__chosen){i, tasks[k], part};
    }
    ocdm__release(tasks);
    OCDM_TRY(ocdm__selection_close_gaps(selection, set->classes.count, &empty, job->error));
    ocdm__reading_skip_many(job->reading, "samples without a label of any task", without_task);
    ocdm__reading_skip_many(job->reading, "labels of classes that --classes does not list", unlisted);
    ocdm__reading_skip_many(job->reading, "tasks that no sample is in", empty);
    return OCDM_OK;
}

/* The places of the classes are the columns that they will have in the stream. */
static ocdm_status apply_incremental(const struct ocdm__recipe_job *job)
{
    ocdm__class_columns columns = {.count = 0};
    ocdm_status status = ocdm__class_columns_make(&columns, &job->set->classes, job->settings->classes, NULL, job->error);
    OCDM_THEN(status, select_incremental(job, &columns));
    ocdm__class_columns_clear(&columns);
    return status;
}

static ocdm_status apply_none(const struct ocdm__recipe_job *job)
{
    return ocdm__select_all(job->selection, job->set, job->error);
}

ocdm_status ocdm__apply_recipe(const struct ocdm__recipe_job *job)
{
#define RECIPE_ROW(RECIPE, name, apply) [OCDM__RECIPE_##RECIPE] = apply,
    static ocdm_status (*const recipes[OCDM__RECIPE_COUNT])(const struct ocdm__recipe_job *) = {
        [OCDM__RECIPE_NONE] = apply_none, [OCDM__RECIPE_IDS] = apply_listed, OCDM__RECIPES(RECIPE_ROW)};
    return recipes[job->settings->recipe](job);
}
