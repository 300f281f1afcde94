/* From a labelled set to the tables of a stream. */
#include "stream/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/statistics.h"

ocdm_status ocdm__select_all(ocdm__selection *selection, const ocdm__labelled_set *set, ocdm_error *error)
{
    selection->chosen = ocdm__allocate(set->count, sizeof *selection->chosen);
    if (selection->chosen == NULL)
        return ocdm__fail_memory(error, "the list of samples");
    for (size_t i = 0; i < set->count; i++) {
        bool has_task = set->tasks[i] != OCDM__NO_TASK;
        size_t length;
        const char *id = ocdm__label_table_text(&set->ids, (uint32_t)i, &length);
        if (has_task != (set->tasks[0] != OCDM__NO_TASK))
            return ocdm__fail(error, OCDM_BAD_RECORD, "give every sample a task, or none",
                              "sample %zu (id %.*s) has %s task, unlike the first sample", i,
                              (int)(length < 100 ? length : 100), id, has_task ? "a" : "no");
        if (has_task && set->tasks[i] >= OCDM__MAX_TASKS)
            return ocdm__fail(error, OCDM_BAD_RECORD, "number the tasks 0, 1, 2, ...",
                              "sample %zu is of task %u, the most is %d", i, set->tasks[i], OCDM__MAX_TASKS - 1);
        selection->chosen[i] = (ocdm__chosen){.sample = (uint32_t)i,
                                              .task = has_task ? set->tasks[i] : 0,
                                              .part = set->parts[i] == OCDM__TEST ? OCDM__TEST : OCDM__TRAIN};
    }
    selection->count = set->count;
    return OCDM_OK;
}

/* Gives tasks with a sample, which have a 1, their new numbers, and OCDM__NO_TASK to others that have a class; returns how many
 * those are. */
static size_t number_tasks(uint32_t *numbers, const uint32_t *class_tasks, size_t class_count)
{
    size_t left = 0;
    uint32_t next = 0;
    for (size_t i = 0; i < class_count; i++) {
        uint32_t task = class_tasks[i];
        if (task == OCDM__NO_TASK || numbers[task] != 0)
            continue;
        numbers[task] = OCDM__NO_TASK;
        left++;
    }
    for (size_t i = 0; i < OCDM__MAX_TASKS; i++)
        if (numbers[i] == 1)
            numbers[i] = next++;
    return left;
}

ocdm_status ocdm__selection_close_gaps(ocdm__selection *selection, size_t class_count, size_t *left, ocdm_error *error)
{
    uint32_t *numbers = ocdm__allocate(OCDM__MAX_TASKS, sizeof *numbers);
    if (numbers == NULL)
        return ocdm__fail_memory(error, "the numbers of the tasks");
    for (size_t i = 0; i < selection->count; i++)
        numbers[selection->chosen[i].task] = 1;
    *left = number_tasks(numbers, selection->class_tasks, class_count);
    for (size_t i = 0; i < selection->count; i++)
        selection->chosen[i].task = numbers[selection->chosen[i].task];
    for (size_t i = 0; i < class_count; i++) {
        if (selection->class_tasks[i] == OCDM__NO_TASK)
            continue;
        selection->class_tasks[i] = numbers[selection->class_tasks[i]];
        selection->kept_classes[i] = selection->kept_classes[i] != 0 && selection->class_tasks[i] != OCDM__NO_TASK;
    }
    ocdm__release(numbers);
    return OCDM_OK;
}

void ocdm__selection_clear(ocdm__selection *selection)
{
    ocdm__release(selection->chosen);
    ocdm__release(selection->kept_classes);
    ocdm__release(selection->class_tasks);
    *selection = (ocdm__selection){.count = 0};
}

/* ---- the tables ------------------------------------------------------------------------------------------------------ */

struct making {
    ocdm__stream_table *table;
    const ocdm__labelled_set *set;
    const ocdm__selection *selection;
    const ocdm__class_columns *columns;
};

static bool stays(const struct making *making, const ocdm__chosen *chosen, uint32_t label)
{
    const uint32_t *tasks = making->selection->class_tasks;
    return making->columns->of[label] != UINT32_MAX && (tasks == NULL || tasks[label] == chosen->task);
}

static int compare_columns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The set's labels are in the order in which they turned up; the stream's are columns. */
static size_t put_labels(const struct making *making, const ocdm__chosen *chosen, uint32_t *out)
{
    const ocdm__labelled_set *set = making->set;
    size_t count = 0;
    for (uint64_t k = set->label_starts[chosen->sample]; k < set->label_starts[chosen->sample + 1]; k++)
        if (stays(making, chosen, set->labels[k]))
            out[count++] = making->columns->of[set->labels[k]];
    qsort(out, count, sizeof *out, compare_columns);
    return count;
}

static size_t label_room(const struct making *making)
{
    size_t room = 0;
    for (size_t i = 0; i < making->selection->count; i++) {
        const uint64_t *start = &making->set->label_starts[making->selection->chosen[i].sample];
        room += (size_t)(start[1] - start[0]);
    }
    return room;
}

static bool make_samples(const struct making *making)
{
    ocdm__stream_table *table = making->table;
    size_t count = making->selection->count;
    table->sample_count = count;
    table->label_starts = ocdm__allocate(count + 1, sizeof *table->label_starts);
    table->labels = ocdm__allocate(label_room(making), sizeof *table->labels);
    table->tasks = ocdm__allocate(count, sizeof *table->tasks);
    table->parts = ocdm__allocate(count, 1);
    if (!table->label_starts || !table->labels || !table->tasks || !table->parts)
        return false;
    for (size_t i = 0; i < count; i++) {
        const ocdm__chosen *chosen = &making->selection->chosen[i];
        uint64_t at = table->label_starts[i];
        table->label_starts[i + 1] = at + put_labels(making, chosen, table->labels + at);
        table->tasks[i] = chosen->task;
        table->parts[i] = (uint8_t)chosen->part;
    }
    return true;
}

/* The texts of the chosen samples: `numbers` tells which of the table's texts is a sample's, its own number when NULL; a number
 * of UINT32_MAX is an empty text. */
static bool make_texts(const struct making *making, const ocdm__label_table *texts, const uint32_t *numbers,
                       ocdm__text_list *list)
{
    size_t count = making->selection->count, length;
    list->starts = ocdm__allocate(count + 1, sizeof *list->starts);
    if (list->starts == NULL)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            uint32_t sample = making->selection->chosen[i].sample;
            uint32_t number = numbers != NULL ? numbers[sample] : sample;
            const char *text = number != UINT32_MAX ? ocdm__label_table_text(texts, number, &length) : (length = 0, "");
            if (pass == 1)
                memcpy(list->bytes + list->starts[i], text, length);
            list->starts[i + 1] = list->starts[i] + length;
        }
        if (pass == 0 && (list->bytes = ocdm__allocate((size_t)list->starts[count] + OCDM__LABEL_PADDING, 1)) == NULL)
            return false;
    }
    return true;
}

ocdm_status ocdm__stream_table_make(ocdm__stream_table *table, const ocdm__labelled_set *set, const ocdm__selection *selection,
                                    ocdm__class_columns *columns, ocdm_error *error)
{
    struct making making = {table, set, selection, columns};
    *table = (ocdm__stream_table){.class_count = columns->count};
    bool made = make_samples(&making) && make_texts(&making, &set->ids, NULL, &table->ids);
    if (made && set->paths.count > 0)
        made = make_texts(&making, &set->paths, set->path_numbers, &table->paths);
    if (!made) {
        ocdm__stream_table_clear(table);
        return ocdm__fail_memory(error, "the tables of a stream");
    }
    table->classes = columns->names;
    columns->names = (ocdm__text_list){.starts = NULL};
    return OCDM_OK;
}
