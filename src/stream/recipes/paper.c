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
 * Draws are uniform without replacement: each sample has a number for each class, a hash of seed, class name and sample id
 * (by FNV-1a, base/bytes.h), and the smallest numbers win. The order of the source does not matter, and adding or removing a
 * sample changes at most one place in the draw of a class.
 */
#include "base/bytes.h"
#include "base/random.h"
#include "stream/build.h"
#include "stream/readers/readers.h"
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
    uint32_t class_number;
};

struct work {
    const struct ocdm__recipe_job *job;
    const ocdm__labelled_set *set;
    const uint32_t *class_tasks;
    uint8_t *parts; /* by sample: OCDM__TRAIN, OCDM__TEST, or OCDM__NO_PART when it is left out */
    uint32_t *tasks;
    uint8_t *kept;           /* by class: the selection's */
    ocdm__label_lists pools; /* by class: the samples that it may draw */
    struct turn *turns;
    struct candidate *candidates; /* as many as the largest pool has at most */
    ocdm__arena arena;
};

/* ---- what a sample is ----------------------------------------------------------------------------------------------- */

static size_t label_count(const ocdm__labelled_set *set, size_t sample)
{
    return (size_t)(set->label_starts[sample + 1] - set->label_starts[sample]);
}

/* The task that all labels are of; OCDM__NO_TASK when there is none. `*outside` tells whether a label is of no task. */
static uint32_t common_task(const struct work *work, size_t sample, bool *outside)
{
    const uint32_t *labels = work->set->labels + work->set->label_starts[sample];
    size_t count = label_count(work->set, sample);
    uint32_t task = count > 0 ? work->class_tasks[labels[0]] : OCDM__NO_TASK;
    *outside = false;
    bool same = true;
    for (size_t k = 0; k < count; k++) {
        uint32_t other = work->class_tasks[labels[k]];
        *outside |= other == OCDM__NO_TASK;
        same &= other == task;
    }
    return same ? task : OCDM__NO_TASK;
}

static bool could_train(const struct work *work, size_t sample, uint32_t *task)
{
    bool outside;
    *task = common_task(work, sample, &outside);
    return *task != OCDM__NO_TASK && label_count(work->set, sample) >= 2;
}

/* A number that belongs to a text, an id or a class's name. */
static uint64_t key_of(const ocdm__label_table *texts, size_t number)
{
    size_t length;
    const char *text = ocdm__label_table_text(texts, (uint32_t)number, &length);
    return ocdm__checksum(OCDM__CHECKSUM_START, text, length);
}

static ocdm_status make_pools(struct work *work)
{
    const ocdm__labelled_set *set = work->set;
    size_t labels = set->count > 0 ? (size_t)set->label_starts[set->count] : 0, count = 0;
    ocdm__label_pair *pairs;
    OCDM_TRY(ocdm__new(&pairs, labels, sizeof *pairs, "the list of samples", work->job->error));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t task;
        size_t count_labels = label_count(set, i);
        bool rest = work->job->settings->test_from_rest && !could_train(work, i, &task);
        bool test = count_labels == 1 || (count_labels > 1 && rest);
        for (uint64_t k = set->label_starts[i]; test && k < set->label_starts[i + 1]; k++)
            if (work->class_tasks[set->labels[k]] != OCDM__NO_TASK)
                pairs[count++] = (ocdm__label_pair){.sample = set->labels[k], .label = (uint32_t)i};
    }
    ocdm_status status = ocdm__label_lists_make(&work->pools, set->classes.count, pairs, count, work->job->error);
    ocdm__release(pairs);
    return status;
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
    const ocdm__build_settings *settings = work->job->settings;
    uint64_t base = ocdm__random_at(ocdm__random_base(settings->seed, OCDM__FOR_TEST_PARTS), turn->key);
    size_t count = 0;
    for (size_t k = work->pools.starts[turn->class_number]; k < work->pools.starts[turn->class_number + 1]; k++) {
        size_t sample = work->pools.labels[k];
        if (work->parts[sample] == OCDM__NO_PART)
            work->candidates[count++] = (struct candidate){ocdm__random_at(base, key_of(&work->set->ids, sample)), sample};
    }
    work->kept[turn->class_number] = count >= settings->test_per_class;
    if (count < settings->test_per_class)
        return;
    qsort(work->candidates, count, sizeof *work->candidates, compare_candidates);
    for (size_t k = 0; k < settings->test_per_class; k++) {
        size_t sample = work->candidates[k].sample;
        work->parts[sample] = OCDM__TEST;
        work->tasks[sample] = work->class_tasks[turn->class_number];
    }
}

/* ---- what is left ---------------------------------------------------------------------------------------------------- */

/* Why a sample is left out. */
enum reason { WITHOUT_LABEL, WITHOUT_TASK, MIXED, OF_REMOVED, NOT_DRAWN, REASONS };
static const char *const reasons[REASONS] = {"samples without a label", "samples with a label that no task has",
                                             "samples with labels of several tasks", "samples of removed classes only",
                                             "single-label samples that the test part did not need"};

static bool keeps_a_label(const struct work *work, size_t sample)
{
    for (uint64_t k = work->set->label_starts[sample]; k < work->set->label_starts[sample + 1]; k++)
        if (work->kept[work->set->labels[k]])
            return true;
    return false;
}

/* The test samples were drawn; here the others train or are left out. */
static void place_samples(struct work *work)
{
    ocdm__selection *selection = work->job->selection;
    uint64_t left_out[REASONS] = {0};
    for (size_t i = 0; i < work->set->count; i++) {
        uint32_t task = work->tasks[i];
        bool test = work->parts[i] == OCDM__TEST;
        if (test || (could_train(work, i, &task) && keeps_a_label(work, i)))
            selection->chosen[selection->count++] = (ocdm__chosen){(uint32_t)i, task, test ? OCDM__TEST : OCDM__TRAIN};
        else {
            bool outside;
            uint32_t common = common_task(work, i, &outside);
            enum reason reason = label_count(work->set, i) == 0 ? WITHOUT_LABEL
                                 : outside                      ? WITHOUT_TASK
                                 : common == OCDM__NO_TASK      ? MIXED
                                 : !keeps_a_label(work, i)      ? OF_REMOVED
                                                                : NOT_DRAWN;
            left_out[reason]++;
        }
    }
    for (size_t i = 0; i < REASONS; i++)
        ocdm__reading_skip_many(work->job->reading, reasons[i], left_out[i]);
}

/* A sample in the stream keeps those of its labels that stay and are of its task. */
static ocdm_status select_samples(struct work *work)
{
    ocdm__selection *selection = work->job->selection;
    size_t count = work->set->count, classes = work->set->classes.count;
    OCDM_TRY(ocdm__selection_begin(selection, count, classes, work->job->error));
    work->kept = selection->kept_classes;
    work->parts = ocdm__arena_new(&work->arena, count, sizeof *work->parts);
    work->tasks = ocdm__arena_new(&work->arena, count, sizeof *work->tasks);
    work->turns = ocdm__arena_new(&work->arena, classes, sizeof *work->turns);
    work->candidates = ocdm__arena_new(&work->arena, count, sizeof *work->candidates);
    OCDM_TRY(ocdm__arena_check(&work->arena, "the list of samples", work->job->error));
    for (size_t i = 0; i < count; i++)
        work->parts[i] = OCDM__NO_PART;
    for (size_t c = 0; c < classes; c++)
        selection->class_tasks[c] = work->class_tasks[c];
    OCDM_TRY(make_pools(work));
    size_t turns = 0, removed = 0;
    for (uint32_t c = 0; c < classes; c++)
        if (work->class_tasks[c] != OCDM__NO_TASK)
            work->turns[turns++] =
                (struct turn){work->pools.starts[c + 1] - work->pools.starts[c], key_of(&work->set->classes, c), c};
    qsort(work->turns, turns, sizeof *work->turns, compare_turns);
    for (size_t t = 0; t < turns; t++) {
        draw_class(work, &work->turns[t]);
        removed += !work->kept[work->turns[t].class_number];
    }
    place_samples(work);
    ocdm__reading_skip_many(work->job->reading, "classes with too few test samples", removed);
    return OCDM_OK;
}

ocdm_status ocdm__select_paper(const struct ocdm__recipe_job *job, const uint32_t *class_tasks)
{
    struct work work = {.job = job, .set = job->set, .class_tasks = class_tasks};
    ocdm_status status = select_samples(&work);
    ocdm__label_lists_clear(&work.pools);
    ocdm__arena_clear(&work.arena);
    return status;
}
