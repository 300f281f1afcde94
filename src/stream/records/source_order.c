/* New numbers for classes and tasks: a table of old to new, then one pass over the samples. */
#include "stream/records/source_order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/number_text.h"

/* Adds a name to a table, padded as that needs. */
static ocdm_status add_name(ocdm__label_table *table, const char *name, size_t length, uint32_t *number, ocdm_error *error)
{
    char *padded = ocdm__allocate(length + OCDM__LABEL_PADDING, 1);
    if (padded == NULL)
        return ocdm__fail_memory(error, "a name");
    memcpy(padded, name, length);
    ocdm_status status = ocdm__label_table_add(table, padded, length, number, error);
    ocdm__release(padded);
    return status;
}

/* ---- classes -------------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The labels of a sample ascend: after new numbers they may not. */
static void renumber(ocdm__labelled_set *set, size_t sample, const uint32_t *numbers)
{
    size_t start = (size_t)set->label_starts[sample], end = (size_t)set->label_starts[sample + 1];
    bool ascending = true;
    for (size_t i = start; i < end; i++) {
        set->labels[i] = numbers[set->labels[i]];
        ascending = ascending && (i == start || set->labels[i - 1] < set->labels[i]);
    }
    if (!ascending)
        qsort(set->labels + start, end - start, sizeof *set->labels, compare_numbers);
}

ocdm_status ocdm__settle_classes(ocdm__labelled_set *set, size_t first, const ocdm__label_table *labels, ocdm_error *error)
{
    uint32_t *numbers = ocdm__allocate(labels->count, sizeof *numbers);
    ocdm_status status = numbers != NULL ? OCDM_OK : ocdm__fail_memory(error, "the classes of records");
    if (numbers != NULL && first < set->count)
        for (size_t i = (size_t)set->label_starts[first]; i < set->label_starts[set->count]; i++)
            numbers[set->labels[i]] = 1; /* in use */
    for (uint32_t i = 0; status == OCDM_OK && i < labels->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(labels, i, &length);
        if (numbers[i] == 1)
            status = add_name(&set->classes, text, length, &numbers[i], error);
    }
    for (size_t sample = first; status == OCDM_OK && sample < set->count; sample++)
        renumber(set, sample, numbers);
    ocdm__release(numbers);
    return status;
}

/* ---- tasks ---------------------------------------------------------------------------------------------------------- */

struct named_task {
    const char *text;
    size_t length;
    double value;
    uint32_t number;
};

static int compare_texts(const void *left, const void *right)
{
    const struct named_task *a = left, *b = right;
    return ocdm__compare_texts(a->text, a->length, b->text, b->length);
}

static int compare_values(const void *left, const void *right)
{
    const struct named_task *a = left, *b = right;
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value) : compare_texts(left, right);
}

/* The names in use in their order; returns how many. */
static size_t sort_names(const ocdm__label_table *names, const uint32_t *used, struct named_task *sorted)
{
    size_t count = 0;
    bool numbers = true;
    for (uint32_t i = 0; i < names->count; i++) {
        if (used[i] == 0)
            continue;
        struct named_task *task = &sorted[count++];
        task->number = i;
        task->text = ocdm__label_table_text(names, i, &task->length);
        numbers = numbers && ocdm__text_to_double(task->text, task->length, &task->value) && isfinite(task->value);
    }
    qsort(sorted, count, sizeof *sorted, numbers ? compare_values : compare_texts);
    return count;
}

/* The new names, and for each old number that is in use its new one. */
static ocdm_status order_names(const ocdm__label_table *names, uint32_t *numbers, ocdm__label_table *ordered, ocdm_error *error)
{
    struct named_task *sorted = ocdm__allocate(names->count, sizeof *sorted);
    if (sorted == NULL)
        return ocdm__fail_memory(error, "the tasks of records");
    size_t count = sort_names(names, numbers, sorted);
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        status = add_name(ordered, sorted[i].text, sorted[i].length, &numbers[sorted[i].number], error);
    ocdm__release(sorted);
    return status;
}

ocdm_status ocdm__settle_tasks(ocdm__labelled_set *set, size_t first, ocdm__label_table *names, ocdm_error *error)
{
    ocdm__label_table ordered = {.count = 0};
    uint32_t *numbers = ocdm__allocate(names->count, sizeof *numbers);
    if (numbers == NULL)
        return ocdm__fail_memory(error, "the tasks of records");
    for (size_t i = first; i < set->count; i++)
        numbers[set->tasks[i]] = 1; /* in use */
    ocdm_status status = order_names(names, numbers, &ordered, error);
    if (status == OCDM_OK) {
        for (size_t i = first; i < set->count; i++)
            set->tasks[i] = numbers[set->tasks[i]];
        ocdm__label_table_clear(names);
        *names = ordered;
    } else {
        ocdm__label_table_clear(&ordered);
    }
    ocdm__release(numbers);
    return status;
}
