/* Classes in their order, selections of samples, and the tables of a stream made from both. */
#include "stream/selection.h"

#include "base/bytes.h"
#include "base/text.h"
#include "stream/lines.h"
#include "stream/statistics.h"

/* ---- texts one after another, as a stream file has them ------------------------------------------------------------- */

/* A list that is being made: text number `count` comes next. */
struct texts {
    ocdm__text_list *list;
    size_t count, room;
};

static bool begin_texts(struct texts *texts, ocdm__text_list *list, size_t count)
{
    *texts = (struct texts){.list = list};
    list->starts = ocdm__allocate(count + 1, sizeof *list->starts);
    return list->starts != NULL && ocdm__reserve(&list->bytes, &texts->room, 1, 1);
}

/* A text of two parts. */
static bool add_text(struct texts *texts, const char *text, size_t length, const char *suffix)
{
    ocdm__text_list *list = texts->list;
    uint64_t start = list->starts[texts->count], end = start + length + strlen(suffix);
    if (!ocdm__reserve(&list->bytes, &texts->room, (size_t)end + 1, 1))
        return false;
    memcpy(list->bytes + start, text, length);
    memcpy(list->bytes + start + length, suffix, strlen(suffix));
    list->starts[++texts->count] = end;
    return true;
}

/* ---- classes in an order -------------------------------------------------------------------------------------------- */

ocdm_status ocdm__class_columns_make(ocdm__class_columns *columns, const ocdm__label_table *labels, const char *path,
                                     const uint8_t *kept, ocdm_error *error)
{
    struct texts texts;
    ocdm__label_table names = {.count = 0};
    uint32_t *order = NULL, number;
    size_t count = 0;
    ocdm_status status = OCDM_OK;
    if (path != NULL) {
        status = ocdm__class_names_read(&names, path, error);
    } else {
        status = ocdm__new(&order, labels->count, sizeof *order, "the order of the classes", error);
        OCDM_THEN(status, ocdm__label_table_sort(labels, kept, order, &count, error));
    }
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        status = ocdm__label_table_copy(&names, labels, order[i], &number, error);
    ocdm__release(order);
    columns->count = names.count;
    OCDM_THEN(status, ocdm__new(&columns->of, labels->count, sizeof *columns->of, "the order of the classes", error));
    bool made = status == OCDM_OK && begin_texts(&texts, &columns->names, names.count);
    for (uint32_t i = 0; made && i < names.count; i++) {
        size_t length;
        const char *name = ocdm__label_table_text(&names, i, &length);
        made = add_text(&texts, name, length, "");
    }
    for (uint32_t i = 0; made && i < labels->count; i++)
        columns->of[i] = ocdm__label_table_match(&names, labels, i);
    ocdm__label_table_clear(&names);
    return made || status != OCDM_OK ? status : ocdm__fail_memory(error, "the order of the classes");
}

static ocdm_status read_names(ocdm__label_table *names, ocdm__lines *lines, ocdm_error *error)
{
    while (ocdm__lines_next(lines)) {
        uint32_t number, expected = names->count;
        size_t length = (size_t)(lines->end - lines->start);
        length -= length > 0 && lines->end[-1] == '\r';
        if (length == 0)
            continue;
        if (!ocdm__is_text(lines->start, length, true))
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
        if (has_task != (set->tasks[0] != OCDM__NO_TASK))
            return ocdm__fail(error, OCDM_BAD_RECORD, "give every sample a task, or none",
                              "sample %zu (id %s) has %s task, unlike the first sample", i,
                              ocdm__label_table_show(&set->ids, (uint32_t)i).text, has_task ? "a" : "no");
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

ocdm_status ocdm__selection_begin(ocdm__selection *selection, size_t most, size_t class_count, ocdm_error *error)
{
    selection->chosen = ocdm__allocate(most, sizeof *selection->chosen);
    selection->class_tasks = ocdm__allocate(class_count, sizeof *selection->class_tasks);
    selection->kept_classes = ocdm__allocate(class_count, 1);
    bool made = selection->chosen != NULL && selection->class_tasks != NULL && selection->kept_classes != NULL;
    return made ? OCDM_OK : ocdm__fail_memory(error, "the list of samples");
}

ocdm_status ocdm__selection_close_gaps(ocdm__selection *selection, size_t class_count, size_t *left, ocdm_error *error)
{
    uint32_t *numbers, next = 0; /* by task: 0 for one without samples, 1 for another, then its new number */
    OCDM_TRY(ocdm__new(&numbers, OCDM__MAX_TASKS, sizeof *numbers, "the numbers of the tasks", error));
    for (size_t i = 0; i < selection->count; i++)
        numbers[selection->chosen[i].task] = 1;
    *left = 0;
    for (size_t i = 0; i < class_count; i++) {
        uint32_t task = selection->class_tasks[i];
        if (task == OCDM__NO_TASK || numbers[task] != 0)
            continue;
        numbers[task] = OCDM__NO_TASK;
        ++*left;
    }
    for (size_t i = 0; i < OCDM__MAX_TASKS; i++)
        if (numbers[i] == 1)
            numbers[i] = next++;
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

static bool make_samples(const struct making *making)
{
    ocdm__stream_table *table = making->table;
    const ocdm__labelled_set *set = making->set;
    const ocdm__selection *selection = making->selection;
    size_t count = selection->count, room = 0;
    for (size_t i = 0; i < count; i++)
        room += (size_t)(set->label_starts[selection->chosen[i].sample + 1] - set->label_starts[selection->chosen[i].sample]);
    table->sample_count = count;
    table->label_starts = ocdm__allocate(count + 1, sizeof *table->label_starts);
    table->labels = ocdm__allocate(room, sizeof *table->labels);
    table->tasks = ocdm__allocate(count, sizeof *table->tasks);
    table->parts = ocdm__allocate(count, 1);
    if (!table->label_starts || !table->labels || !table->tasks || !table->parts)
        return false;
    for (size_t i = 0; i < count; i++) {
        const ocdm__chosen *chosen = &selection->chosen[i];
        const uint32_t *tasks = selection->partial && chosen->part == OCDM__TEST ? NULL : selection->class_tasks;
        uint32_t *labels = table->labels + table->label_starts[i];
        size_t kept = 0;
        /* The set's labels are in the order of their first occurrence; the stream's are columns. */
        for (uint64_t k = set->label_starts[chosen->sample]; k < set->label_starts[chosen->sample + 1]; k++) {
            uint32_t label = set->labels[k], column = making->columns->of[label];
            if (column != UINT32_MAX && (tasks == NULL || tasks[label] == chosen->task))
                labels[kept++] = column;
        }
        table->label_starts[i + 1] = table->label_starts[i] + ocdm__sort_numbers(labels, kept);
        table->tasks[i] = chosen->task;
        table->parts[i] = (uint8_t)chosen->part;
    }
    return true;
}

/* Of a training sample the classes of its task are known, of a test all. */
static bool make_known(const struct making *making)
{
    ocdm__stream_table *table = making->table;
    size_t size = ocdm__bits_size(table->class_count), count = 0;
    for (size_t i = 0; i < making->set->classes.count; i++)
        if (making->selection->class_tasks[i] != OCDM__NO_TASK && making->selection->class_tasks[i] >= count)
            count = (size_t)making->selection->class_tasks[i] + 1;
    uint8_t *rows = ocdm__allocate(count, size); /* by task */
    table->known = ocdm__allocate(table->sample_count, size);
    bool made = rows != NULL && table->known != NULL;
    for (size_t i = 0; made && i < making->set->classes.count; i++) {
        uint32_t task = making->selection->class_tasks[i], column = making->columns->of[i];
        if (task != OCDM__NO_TASK && column != UINT32_MAX)
            ocdm__bits_add(rows + task * size, column);
    }
    for (size_t i = 0; made && i < table->sample_count; i++) {
        uint8_t *row = table->known + i * size;
        if (table->parts[i] == OCDM__TRAIN)
            memcpy(row, rows + table->tasks[i] * size, size);
        for (size_t c = 0; table->parts[i] == OCDM__TEST && c < table->class_count; c++)
            ocdm__bits_add(row, c);
    }
    ocdm__release(rows);
    return made;
}

/* ---- texts ----------------------------------------------------------------------------------------------------------- */

/* The ids and paths of the samples: the id of a repeated one with @ and its task, an empty path for one that has none. An id
 * that was made may be another sample's own. */
static ocdm_status make_texts(const struct making *making, ocdm_error *error)
{
    struct texts ids, paths;
    const ocdm__labelled_set *set = making->set;
    const ocdm__chosen *chosen = making->selection->chosen;
    size_t count = making->selection->count;
    bool has_paths = set->paths.count > 0;
    bool made =
        begin_texts(&ids, &making->table->ids, count) && (!has_paths || begin_texts(&paths, &making->table->paths, count));
    for (size_t i = 0; made && i < count; i++) {
        char suffix[16] = "";
        size_t length, path_length = 0;
        const char *id = ocdm__label_table_text(&set->ids, chosen[i].sample, &length), *path = "";
        uint32_t path_number = set->path_numbers[chosen[i].sample];
        if (path_number != UINT32_MAX)
            path = ocdm__label_table_text(&set->paths, path_number, &path_length);
        if (i > 0 && chosen[i - 1].sample == chosen[i].sample)
            snprintf(suffix, sizeof suffix, "@%" PRIu32, chosen[i].task);
        made = add_text(&ids, id, length, suffix) && (!has_paths || add_text(&paths, path, path_length, ""));
        id = made ? ocdm__text_at(&making->table->ids, i, &length) : NULL;
        if (made && suffix[0] != '\0' && ocdm__label_table_number(&set->ids, id, length) != UINT32_MAX)
            return ocdm__fail(error, OCDM_BAD_RECORD, "rename one: ID@T is sample ID in its task T",
                              "the id %s of a sample is also that of another sample in task %" PRIu32,
                              ocdm__show_label(id, length).text, chosen[i].task);
    }
    return made ? OCDM_OK : ocdm__fail_memory(error, "the tables of a stream");
}

ocdm_status ocdm__stream_table_make(ocdm__stream_table *table, const ocdm__labelled_set *set, const ocdm__selection *selection,
                                    ocdm__class_columns *columns, ocdm_error *error)
{
    struct making making = {table, set, selection, columns};
    *table = (ocdm__stream_table){.class_count = columns->count};
    bool made = make_samples(&making) && (!selection->partial || make_known(&making));
    ocdm_status status = made ? make_texts(&making, error) : ocdm__fail_memory(error, "the tables of a stream");
    if (status != OCDM_OK) {
        ocdm__stream_table_clear(table);
        return status;
    }
    table->classes = columns->names;
    columns->names = (ocdm__text_list){.starts = NULL};
    return OCDM_OK;
}
