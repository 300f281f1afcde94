/* Classes in their order, selections of samples, and the tables of a stream made from both. */
#include "stream/selection.h"

#include "base/bytes.h"
#include "base/text.h"
#include "stream/lines.h"
#include "stream/statistics.h"

/* ---- classes -------------------------------------------------------------------------------------------------------- */

/* ---- texts one after another, as a stream file has them ---- */

/* Writes text number i of a context if there is room; returns its length. */
typedef size_t put_text(const void *context, size_t i, char *room);

/* False when out of memory. */
static bool make_texts(ocdm__text_list *list, size_t count, put_text *put, const void *context)
{
    list->starts = ocdm__allocate(count + 1, sizeof *list->starts);
    for (size_t i = 0; list->starts != NULL && i < count; i++)
        list->starts[i + 1] = list->starts[i] + put(context, i, NULL);
    list->bytes = list->starts != NULL ? ocdm__allocate((size_t)list->starts[count], 1) : NULL;
    for (size_t i = 0; list->bytes != NULL && i < count; i++)
        put(context, i, list->bytes + list->starts[i]);
    return list->bytes != NULL;
}

/* ---- classes in an order ---- */

static size_t put_name(const void *context, size_t i, char *room)
{
    size_t length;
    const char *name = ocdm__label_table_text(context, (uint32_t)i, &length);
    if (room != NULL)
        memcpy(room, name, length);
    return length;
}

/* Columns with the names of a table, in its order. */
static ocdm_status make_columns(ocdm__class_columns *columns, const ocdm__label_table *names, const ocdm__label_table *labels,
                                ocdm_error *error)
{
    columns->count = names->count;
    columns->of = ocdm__allocate(labels->count, sizeof *columns->of);
    if (columns->of == NULL || !make_texts(&columns->names, names->count, put_name, names))
        return ocdm__fail_memory(error, "the order of the classes");
    for (uint32_t i = 0; i < labels->count; i++) {
        size_t length;
        const char *text = ocdm__label_table_text(labels, i, &length);
        columns->of[i] = ocdm__label_table_number(names, text, length);
    }
    return OCDM_OK;
}

ocdm_status ocdm__class_columns_sorted(ocdm__class_columns *columns, const ocdm__label_table *labels, const uint8_t *kept,
                                       ocdm_error *error)
{
    ocdm__label_table names = {.count = 0};
    ocdm_status status = ocdm__label_table_add_sorted(&names, labels, kept, error);
    OCDM_THEN(status, make_columns(columns, &names, labels, error));
    ocdm__label_table_clear(&names);
    return status;
}

/* ---- from a file ----------------------------------------------------------------------------------------------------- */

static bool is_name(const char *line, size_t length)
{
    const unsigned char *at = (const unsigned char *)line, *end = at + length;
    for (size_t step = 1; at < end && step > 0; at += step)
        step = *at != 0 ? ocdm__utf8_sequence(at, end) : 0;
    return at == end;
}

static ocdm_status read_names(ocdm__label_table *names, ocdm__lines *lines, ocdm_error *error)
{
    while (ocdm__lines_next(lines)) {
        uint32_t number, expected = names->count;
        size_t length = (size_t)(lines->end - lines->start);
        length -= length > 0 && lines->end[-1] == '\r';
        if (length == 0)
            continue;
        if (!is_name(lines->start, length))
            return ocdm__fail(error, OCDM_BAD_RECORD, "give a text file in UTF-8 with one class per line",
                              "%s:%" PRIu64 ": the name of a class is not UTF-8", lines->path, lines->line);
        OCDM_TRY(ocdm__label_table_add(names, lines->start, length, &number, error));
        if (number != expected)
            return ocdm__fail(error, OCDM_BAD_RECORD, "list every class once", "%s:%" PRIu64 ": the class \"%s\" occurs twice",
                              lines->path, lines->line, ocdm__show_label(lines->start, length).text);
    }
    return names->count > 0
               ? OCDM_OK
               : ocdm__fail(error, OCDM_BAD_RECORD, "list one class per line", "%s: no classes in it", lines->path);
}

ocdm_status ocdm__class_names_read(ocdm__label_table *names, const char *path, ocdm_error *error)
{
    ocdm__lines lines;
    ocdm_status status = ocdm__lines_open(&lines, path, error);
    OCDM_THEN(status, read_names(names, &lines, error));
    ocdm__lines_close(&lines);
    return status;
}

ocdm_status ocdm__class_columns_read(ocdm__class_columns *columns, const ocdm__label_table *labels, const char *path,
                                     ocdm_error *error)
{
    ocdm__label_table names = {.count = 0};
    ocdm_status status = ocdm__class_names_read(&names, path, error);
    OCDM_THEN(status, make_columns(columns, &names, labels, error));
    ocdm__label_table_clear(&names);
    return status;
}

void ocdm__class_columns_clear(ocdm__class_columns *columns)
{
    OCDM_RELEASE(columns->names.starts, columns->names.bytes, columns->of);
    *columns = (ocdm__class_columns){.count = 0};
}

/* ---- selections ----------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__select_all(ocdm__selection *selection, const ocdm__labelled_set *set, ocdm_error *error)
{
    OCDM_TRY(ocdm__new(&selection->chosen, set->count, sizeof *selection->chosen, "the list of samples", error));
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
    uint32_t *numbers;
    OCDM_TRY(ocdm__new(&numbers, OCDM__MAX_TASKS, sizeof *numbers, "the numbers of the tasks", error));
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
    OCDM_RELEASE(selection->chosen, selection->kept_classes, selection->class_tasks);
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
    bool all = tasks == NULL || (making->selection->partial && chosen->part == OCDM__TEST);
    return making->columns->of[label] != UINT32_MAX && (all || tasks[label] == chosen->task);
}

/* The set's labels are in the order of their first occurrence; the stream's are columns. */
static size_t put_labels(const struct making *making, const ocdm__chosen *chosen, uint32_t *out)
{
    const ocdm__labelled_set *set = making->set;
    size_t count = 0;
    for (uint64_t k = set->label_starts[chosen->sample]; k < set->label_starts[chosen->sample + 1]; k++)
        if (stays(making, chosen, set->labels[k]))
            out[count++] = making->columns->of[set->labels[k]];
    return ocdm__sort_numbers(out, count);
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

/* ---- known labels ---------------------------------------------------------------------------------------------------- */

static bool make_known(const struct making *making)
{
    ocdm__stream_table *table = making->table;
    size_t size = ocdm__bits_size(table->class_count);
    /* A row of bits for the classes of each task. */
    const uint32_t *tasks = making->selection->class_tasks;
    size_t count = 0;
    for (size_t i = 0; i < making->set->classes.count; i++)
        if (tasks[i] != OCDM__NO_TASK && tasks[i] >= count)
            count = (size_t)tasks[i] + 1;
    uint8_t *rows = ocdm__allocate(count, size);
    for (size_t i = 0; rows != NULL && i < making->set->classes.count; i++)
        if (tasks[i] != OCDM__NO_TASK && making->columns->of[i] != UINT32_MAX)
            ocdm__bits_add(rows + tasks[i] * size, making->columns->of[i]);

    table->known = ocdm__allocate(table->sample_count, size);
    for (size_t i = 0; rows != NULL && table->known != NULL && i < table->sample_count; i++) {
        uint8_t *row = table->known + i * size;
        if (table->parts[i] == OCDM__TRAIN)
            memcpy(row, rows + table->tasks[i] * size, size);
        for (size_t c = 0; table->parts[i] == OCDM__TEST && c < table->class_count; c++)
            ocdm__bits_add(row, c);
    }
    bool made = rows != NULL && table->known != NULL;
    ocdm__release(rows);
    return made;
}

/* ---- texts ----------------------------------------------------------------------------------------------------------- */

/* The path of a chosen sample, an empty text when it has none. */
static size_t put_path(const void *context, size_t i, char *room)
{
    const struct making *making = context;
    uint32_t number = making->set->path_numbers[making->selection->chosen[i].sample];
    size_t length = 0;
    const char *text = number != UINT32_MAX ? ocdm__label_table_text(&making->set->paths, number, &length) : "";
    if (room != NULL)
        memcpy(room, text, length);
    return length;
}

/* The id of a sample, a repeated one with @ and its task. */
static size_t put_id(const void *context, size_t i, char *room)
{
    const struct making *making = context;
    const ocdm__chosen *chosen = making->selection->chosen;
    char suffix[16] = "";
    size_t length;
    const char *id = ocdm__label_table_text(&making->set->ids, chosen[i].sample, &length);
    if (i > 0 && chosen[i - 1].sample == chosen[i].sample)
        snprintf(suffix, sizeof suffix, "@%" PRIu32, chosen[i].task);
    size_t more = strlen(suffix);
    if (room != NULL) {
        memcpy(room, id, length);
        memcpy(room + length, suffix, more);
    }
    return length + more;
}

/* An id that was made for a repeated sample may be another sample's own. */
static ocdm_status check_made_ids(const struct making *making, ocdm_error *error)
{
    const ocdm__chosen *chosen = making->selection->chosen;
    for (size_t i = 1; i < making->selection->count; i++) {
        size_t length;
        const char *id = ocdm__text_at(&making->table->ids, i, &length);
        if (chosen[i - 1].sample == chosen[i].sample && ocdm__label_table_number(&making->set->ids, id, length) != UINT32_MAX)
            return ocdm__fail(error, OCDM_BAD_RECORD, "rename one: ID@T is sample ID in its task T",
                              "the id %s of a sample is also that of another sample in task %" PRIu32,
                              ocdm__show_label(id, length).text, chosen[i].task);
    }
    return OCDM_OK;
}

ocdm_status ocdm__stream_table_make(ocdm__stream_table *table, const ocdm__labelled_set *set, const ocdm__selection *selection,
                                    ocdm__class_columns *columns, ocdm_error *error)
{
    struct making making = {table, set, selection, columns};
    *table = (ocdm__stream_table){.class_count = columns->count};
    bool made = make_samples(&making) && make_texts(&table->ids, selection->count, put_id, &making);
    if (made && set->paths.count > 0)
        made = make_texts(&table->paths, selection->count, put_path, &making);
    if (made && selection->partial)
        made = make_known(&making);
    ocdm_status status = made ? check_made_ids(&making, error) : ocdm__fail_memory(error, "the tables of a stream");
    if (status != OCDM_OK) {
        ocdm__stream_table_clear(table);
        return status;
    }
    table->classes = columns->names;
    columns->names = (ocdm__text_list){.starts = NULL};
    return OCDM_OK;
}
