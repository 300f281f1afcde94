/* The paper's recipe on a labelled set: keys from ids and names, and the choice as a selection. */
#include <stdbool.h>

#include "base/allocate.h"
#include "base/checksum.h"
#include "base/error.h"
#include "stream/recipes/paper.h"

static const char what[] = "the list of samples";

/* A key for each of the first `count` texts; NULL when there is no room. */
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

/* The choice moves into the selection, samples in the order of the set. */
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
    ocdm__paper_source source = {.count = set->count,
                                 .label_starts = set->label_starts != NULL ? set->label_starts : no_labels,
                                 .labels = set->labels,
                                 .class_count = set->classes.count,
                                 .sample_keys = sample_keys,
                                 .class_keys = class_keys};
    ocdm_status status = sample_keys == NULL || class_keys == NULL ? ocdm__fail_memory(error, what)
                                                                   : ocdm__paper_choose(&choice, &source, settings, error);
    if (status == OCDM_OK)
        status = take_choice(selection, set, settings->class_tasks, &choice, error);
    if (status == OCDM_OK)
        *tally = choice.tally;
    ocdm__release(sample_keys);
    ocdm__release(class_keys);
    ocdm__paper_choice_clear(&choice);
    return status;
}
