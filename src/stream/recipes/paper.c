/*
 * The stream construction of the OCDM paper (section 4.1), for a labelled set whose classes have been assigned to tasks:
 *
 *   train    samples with two labels or more, all of them classes of one task;
 *   test     of the rest, exactly `test_per_class` samples for each class, in the class's task;
 *   removed  a class with fewer test samples than that: its label is removed from the training samples, and training samples
 *            without labels are dropped.
 *
 * The paper says that the test samples are "the remaining samples" but not which of them, so there are two pools:
 *
 *   single   samples with one label: about as many classes survive as in the paper;
 *   rest     every sample of the class that is not a training sample, including those with labels of several tasks or of none.
 *            Such a sample is in the test part of one task only, that of the class it was drawn for, and keeps the labels of
 *            this task. Classes draw in ascending order of pool size, so that rare classes are not left short; a class may then
 *            have more than `test_per_class` test samples.
 *
 * Draws are uniform without replacement: each sample has a number for each class, a hash of seed, class key and sample key, and
 * the smallest numbers win. With keys that belong to samples and classes (ids and names), the order of the source does not
 * matter, and adding or removing a sample changes at most one place in the draw of a class.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "stream/recipes/recipes.h"

/* A sample that a class may draw. */
struct candidate {
    uint64_t number; /* the smallest are drawn */
    size_t sample;
};

/* A class in the order of drawing. */
struct turn {
    size_t pool;
    uint64_t key;
    size_t class_number;
};

struct work {
    const ocdm__paper_samples *source;
    const ocdm__paper_settings *settings;
    ocdm__paper_choice choice;
    size_t *starts; /* of each class in `pool`; class_count + 1 of them */
    size_t *pool;   /* samples that a class may draw, class after class */
    struct turn *turns;
    struct candidate *candidates; /* as many as the largest pool has */
};

/* ---- what a sample is ----------------------------------------------------------------------------------------------- */

static size_t label_count(const ocdm__paper_samples *source, size_t sample)
{
    return (size_t)(source->label_starts[sample + 1] - source->label_starts[sample]);
}

static const uint32_t *labels_of(const ocdm__paper_samples *source, size_t sample)
{
    return source->labels + source->label_starts[sample];
}

/* The task that all labels are of; OCDM__NO_TASK when there is none. `*outside` tells whether a label is of no task. */
static uint32_t common_task(const struct work *work, size_t sample, bool *outside)
{
    const uint32_t *labels = labels_of(work->source, sample);
    size_t count = label_count(work->source, sample);
    uint32_t task = count > 0 ? work->settings->class_tasks[labels[0]] : OCDM__NO_TASK;
    *outside = false;
    bool same = true;
    for (size_t k = 0; k < count; k++) {
        uint32_t other = work->settings->class_tasks[labels[k]];
        *outside |= other == OCDM__NO_TASK;
        same &= other == task;
    }
    return same ? task : OCDM__NO_TASK;
}

static bool could_train(const struct work *work, size_t sample, uint32_t *task)
{
    bool outside;
    *task = common_task(work, sample, &outside);
    return *task != OCDM__NO_TASK && label_count(work->source, sample) >= 2;
}

static bool could_test(const struct work *work, size_t sample)
{
    uint32_t task;
    size_t count = label_count(work->source, sample);
    return count == 1 || (count > 1 && work->settings->pool == OCDM__TEST_FROM_REST && !could_train(work, sample, &task));
}

/* ---- the pools ------------------------------------------------------------------------------------------------------ */

/* Counts each class's pool into starts[class + 1]; with `fill`, puts the samples in and moves starts[class] to its end. */
static void walk_pools(struct work *work, bool fill)
{
    for (size_t i = 0; i < work->source->count; i++) {
        if (!could_test(work, i))
            continue;
        const uint32_t *labels = labels_of(work->source, i);
        for (size_t k = 0; k < label_count(work->source, i); k++) {
            if (work->settings->class_tasks[labels[k]] == OCDM__NO_TASK)
                continue;
            if (fill)
                work->pool[work->starts[labels[k]]++] = i;
            else
                work->starts[labels[k] + 1]++;
        }
    }
}

static bool make_pools(struct work *work)
{
    size_t classes = work->source->class_count, largest = 0;
    work->starts = ocdm__allocate(classes + 1, sizeof *work->starts);
    if (work->starts == NULL)
        return false;
    walk_pools(work, false);
    for (size_t c = 0; c < classes; c++) {
        if (work->starts[c + 1] > largest)
            largest = work->starts[c + 1];
        work->starts[c + 1] += work->starts[c];
    }
    work->pool = ocdm__allocate(work->starts[classes], sizeof *work->pool);
    work->candidates = ocdm__allocate(largest, sizeof *work->candidates);
    if (work->pool == NULL || work->candidates == NULL)
        return false;
    walk_pools(work, true);
    for (size_t c = classes; c > 0; c--)
        work->starts[c] = work->starts[c - 1];
    work->starts[0] = 0;
    return true;
}

/* ---- drawing -------------------------------------------------------------------------------------------------------- */

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

static int compare_turns(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->class_number > b->class_number) - (a->class_number < b->class_number);
}

/* Draws the test samples of a class, or removes the class when there are too few. */
static void draw_class(struct work *work, const struct turn *turn)
{
    const uint64_t *keys = work->source->sample_keys;
    uint64_t base = ocdm__random_at(ocdm__random_base(work->settings->seed, OCDM__FOR_TEST_PARTS), turn->key);
    size_t count = 0;
    for (size_t k = work->starts[turn->class_number]; k < work->starts[turn->class_number + 1]; k++) {
        size_t sample = work->pool[k];
        if (work->choice.parts[sample] == OCDM__NO_PART)
            work->candidates[count++] = (struct candidate){ocdm__random_at(base, keys != NULL ? keys[sample] : sample), sample};
    }

    work->choice.kept_classes[turn->class_number] = count >= work->settings->test_per_class;
    if (count < work->settings->test_per_class)
        return;
    qsort(work->candidates, count, sizeof *work->candidates, compare_candidates);
    for (size_t k = 0; k < work->settings->test_per_class; k++) {
        size_t sample = work->candidates[k].sample;
        work->choice.parts[sample] = OCDM__TEST;
        work->choice.tasks[sample] = work->settings->class_tasks[turn->class_number];
    }
}

static bool draw_tests(struct work *work)
{
    const ocdm__paper_samples *source = work->source;
    size_t count = 0;
    work->turns = ocdm__allocate(source->class_count, sizeof *work->turns);
    if (work->turns == NULL)
        return false;
    for (size_t c = 0; c < source->class_count; c++)
        if (work->settings->class_tasks[c] != OCDM__NO_TASK)
            work->turns[count++] =
                (struct turn){work->starts[c + 1] - work->starts[c], source->class_keys != NULL ? source->class_keys[c] : c, c};
    qsort(work->turns, count, sizeof *work->turns, compare_turns);
    for (size_t t = 0; t < count; t++)
        draw_class(work, &work->turns[t]);
    return true;
}

/* ---- what is left ---------------------------------------------------------------------------------------------------- */

static bool keeps_a_label(const struct work *work, size_t sample)
{
    const uint32_t *labels = labels_of(work->source, sample);
    for (size_t k = 0; k < label_count(work->source, sample); k++)
        if (work->choice.kept_classes[labels[k]])
            return true;
    return false;
}

static void count_left_out(struct work *work, size_t sample)
{
    ocdm__paper_tally *tally = &work->choice.tally;
    bool outside;
    uint32_t task = common_task(work, sample, &outside);
    if (label_count(work->source, sample) == 0)
        tally->without_label++;
    else if (outside)
        tally->without_task++;
    else if (task == OCDM__NO_TASK)
        tally->mixed++;
    else if (!keeps_a_label(work, sample))
        tally->of_removed++;
    else
        tally->not_drawn++;
}

static void place_samples(struct work *work)
{
    ocdm__paper_choice *choice = &work->choice;
    for (size_t i = 0; i < work->source->count; i++) {
        uint32_t task;
        if (choice->parts[i] == OCDM__TEST) {
            choice->tally.test++;
        } else if (could_train(work, i, &task) && keeps_a_label(work, i)) {
            choice->parts[i] = OCDM__TRAIN;
            choice->tasks[i] = task;
            choice->tally.train++;
        } else {
            count_left_out(work, i);
        }
    }
}

/* ---- the recipe ------------------------------------------------------------------------------------------------------ */

static bool make_choice(struct work *work)
{
    size_t count = work->source->count;
    ocdm__paper_choice *choice = &work->choice;
    choice->parts = ocdm__allocate(count, sizeof *choice->parts);
    choice->tasks = ocdm__allocate(count, sizeof *choice->tasks);
    choice->kept_classes = ocdm__allocate(work->source->class_count, sizeof *choice->kept_classes);
    if (choice->parts == NULL || choice->tasks == NULL || choice->kept_classes == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        choice->parts[i] = OCDM__NO_PART;
        choice->tasks[i] = OCDM__NO_TASK;
    }
    if (!make_pools(work) || !draw_tests(work))
        return false;
    place_samples(work);
    const ocdm__paper_samples *source = work->source;
    ocdm__paper_tally *tally = &work->choice.tally;
    uint8_t *trained = ocdm__allocate(source->class_count, 1);
    if (trained == NULL)
        return false;
    for (size_t i = 0; i < source->count; i++)
        for (size_t k = 0; work->choice.parts[i] == OCDM__TRAIN && k < label_count(source, i); k++)
            trained[labels_of(source, i)[k]] = 1;
    for (size_t c = 0; c < source->class_count; c++) {
        bool kept = work->choice.kept_classes[c] != 0;
        tally->kept += kept;
        tally->removed += !kept && work->settings->class_tasks[c] != OCDM__NO_TASK;
        tally->without_training += kept && !trained[c];
    }
    ocdm__release(trained);
    return true;
}

ocdm_status ocdm__paper_choose(ocdm__paper_choice *choice, const ocdm__paper_samples *source,
                               const ocdm__paper_settings *settings, ocdm_error *error)
{
    struct work work = {.source = source, .settings = settings};
    bool made = make_choice(&work);
    ocdm__release(work.starts);
    ocdm__release(work.pool);
    ocdm__release(work.turns);
    ocdm__release(work.candidates);
    if (made)
        *choice = work.choice;
    else
        ocdm__paper_choice_clear(&work.choice);
    return made ? OCDM_OK : ocdm__fail_memory(error, "the choice of samples");
}

void ocdm__paper_choice_clear(ocdm__paper_choice *choice)
{
    ocdm__release(choice->parts);
    ocdm__release(choice->tasks);
    ocdm__release(choice->kept_classes);
    *choice = (ocdm__paper_choice){.parts = NULL};
}

/* ---- a labelled set ------------------------------------------------------------------------------------------------- */

static const char what[] = "the list of samples";

/* A key for each of the first `count` texts; NULL when out of memory. */
static uint64_t *keys_of(const ocdm__label_table *texts, size_t count)
{
    uint64_t *keys = ocdm__allocate(count, sizeof *keys);
    for (size_t i = 0; keys != NULL && i < count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(texts, (uint32_t)i, &length);
        keys[i] = ocdm__checksum(OCDM__CHECKSUM_START, text, length);
    }
    return keys;
}

/* Moves the choice into the selection, with samples in the order of the set. */
static ocdm_status take_choice(ocdm__selection *selection, const ocdm__labelled_set *set, const uint32_t *class_tasks,
                               ocdm__paper_choice *choice, ocdm_error *error)
{
    size_t classes = set->classes.count;
    selection->chosen = ocdm__allocate((size_t)(choice->tally.train + choice->tally.test), sizeof *selection->chosen);
    selection->class_tasks = ocdm__allocate(classes, sizeof *selection->class_tasks);
    if (selection->chosen == NULL || selection->class_tasks == NULL)
        return ocdm__fail_memory(error, what);
    for (size_t c = 0; c < classes; c++)
        selection->class_tasks[c] = class_tasks[c];
    selection->kept_classes = choice->kept_classes;
    choice->kept_classes = NULL;
    for (size_t i = 0; i < set->count; i++)
        if (choice->parts[i] != OCDM__NO_PART)
            selection->chosen[selection->count++] =
                (ocdm__chosen){.sample = (uint32_t)i, .task = choice->tasks[i], .part = choice->parts[i]};
    return OCDM_OK;
}

ocdm_status ocdm__select_paper(ocdm__selection *selection, const ocdm__labelled_set *set, const ocdm__paper_settings *settings,
                               ocdm__paper_tally *tally, ocdm_error *error)
{
    static const uint64_t no_labels[1];
    uint64_t *sample_keys = keys_of(&set->ids, set->count);
    uint64_t *class_keys = keys_of(&set->classes, set->classes.count);
    ocdm__paper_choice choice = {.parts = NULL};
    ocdm__paper_samples source = {.count = set->count,
                                  .label_starts = set->label_starts != NULL ? set->label_starts : no_labels,
                                  .labels = set->labels,
                                  .class_count = set->classes.count,
                                  .sample_keys = sample_keys,
                                  .class_keys = class_keys};
    ocdm_status status = sample_keys == NULL || class_keys == NULL ? ocdm__fail_memory(error, what)
                                                                   : ocdm__paper_choose(&choice, &source, settings, error);
    OCDM_THEN(status, take_choice(selection, set, settings->class_tasks, &choice, error));
    if (status == OCDM_OK)
        *tally = choice.tally;
    ocdm__release(sample_keys);
    ocdm__release(class_keys);
    ocdm__paper_choice_clear(&choice);
    return status;
}
