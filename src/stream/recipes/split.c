/*
 * Tasks for any labelled data: each class belongs to a task, and a sample to the task that has most of its labels (the lowest
 * number on a tie). A sample with labels of several tasks is mixed: its labels of other tasks are removed, because the samples
 * of a task are labelled with the task's classes only; or the sample is dropped.
 *
 * If the source does not distinguish training and test samples, each sample goes to the test part with the same probability.
 */

#include "base/allocate.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"
#include "stream/statistics.h"

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
