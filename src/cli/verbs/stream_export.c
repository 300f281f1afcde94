/* `ocdm stream export`: a stream's records in the order of a run. `ocdm stream show`: a few of them, to look at. */
#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "experiment/loop/schedule.h"
#include "report/text.h"
#include "stream/file.h"

static const char *const split_names[] = {"train", "test", "all", NULL};
enum { SPLIT_TRAIN, SPLIT_TEST, SPLIT_ALL };

#define MOST_TASKS 1024

static ocdm_status open_operand(const ocdm__arguments *arguments, ocdm__stream *stream, ocdm_error *error)
{
    const char *path;
    OCDM_TRY(ocdm__need_stream(arguments, &path, error));
    return ocdm__stream_open(stream, path, error);
}

/* ---- export ---------------------------------------------------------------------------------------------------------- */

struct wanted {
    size_t split;
    uint64_t seed;
    uint64_t tasks[MOST_TASKS];
    size_t task_count;
    ocdm__blur blur;
};

/* As `ocdm run` reads it. */
static const char blur_flag[] = "blur";

static ocdm_status read_blur(const ocdm__arguments *arguments, ocdm__blur *blur, ocdm_error *error)
{
    ocdm__run_settings settings = ocdm__run_settings_default();
    ocdm_error found;
    const char *text = ocdm__argument_text(arguments, blur_flag);
    if (text != NULL && ocdm__setting_read(ocdm__setting_of_flag(blur_flag), text, &settings, NULL, &found) != OCDM_OK)
        return ocdm__argument_fail(arguments, found.message, error);
    *blur = settings.blur;
    return OCDM_OK;
}

static ocdm_status read_wanted(const ocdm__arguments *arguments, struct wanted *wanted, ocdm_error *error)
{
    wanted->split = ocdm__argument_choice(arguments, "split");
    wanted->seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    if (ocdm__argument_text(arguments, "order") != NULL)
        wanted->task_count = ocdm__argument_list(arguments, "order", 0, UINT32_MAX, wanted->tasks, MOST_TASKS);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    return read_blur(arguments, &wanted->blur, error);
}

static ocdm_status write_part(ocdm__output *output, const ocdm__stream *stream, enum ocdm__part part,
                              const struct wanted *wanted, ocdm_error *error)
{
    ocdm__stream_order order;
    ocdm_status status = ocdm__stream_order_make(&order, &stream->table, part, wanted->task_count > 0 ? wanted->tasks : NULL,
                                                 wanted->task_count, wanted->seed, error);
    if (status == OCDM_OK && part == OCDM__TRAIN)
        status = ocdm__stream_order_blur(&order, &stream->table, &wanted->blur, wanted->seed, error);
    for (size_t i = 0; status == OCDM_OK && i < order.count; i++)
        ocdm__write_record(output, &stream->table, order.samples[i]);
    ocdm__stream_order_clear(&order);
    return status;
}

static ocdm_status run_export(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__output output = {.buffer = NULL};
    ocdm__stream stream = {.task_count = 0};
    struct wanted wanted = {.task_count = 0};
    OCDM_TRY(read_wanted(arguments, &wanted, error));
    ocdm_status status = open_operand(arguments, &stream, error);
    const char *path = ocdm__argument_text(arguments, "output");
    OCDM_THEN(status, path != NULL && strcmp(path, "-") != 0
                          ? ocdm__output_open(&output, path, error)
                          : ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    if (status == OCDM_OK && wanted.split != SPLIT_TEST)
        status = write_part(&output, &stream, OCDM__TRAIN, &wanted, error);
    if (status == OCDM_OK && wanted.split != SPLIT_TRAIN)
        status = write_part(&output, &stream, OCDM__TEST, &wanted, error);
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    ocdm__output_abandon(&output);
    ocdm__stream_close(&stream);
    return status;
}

/* ---- show ------------------------------------------------------------------------------------------------------------ */

/* Which samples are shown. */
struct filter {
    size_t split;
    uint64_t first, most;
    bool has_task;
    uint64_t task;
    uint32_t class_number; /* UINT32_MAX for any */
};

static ocdm_status find_class(const ocdm__stream_table *table, const char *name, uint32_t *number, ocdm_error *error)
{
    for (size_t i = 0; i < table->class_count; i++) {
        size_t length;
        const char *text = ocdm__text_at(&table->classes, i, &length);
        if (length == strlen(name) && memcmp(text, name, length) == 0) {
            *number = (uint32_t)i;
            return OCDM_OK;
        }
    }
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream info` lists the classes",
                      "the stream has no class "
                      "\"%s\"",
                      name);
}

static ocdm_status check_task(const ocdm__stream_table *table, uint64_t task, ocdm_error *error)
{
    for (size_t i = 0; i < table->sample_count; i++)
        if (table->tasks[i] == task)
            return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream info` lists the tasks", "the stream has no task %llu",
                      (unsigned long long)task);
}

static ocdm_status read_filter(const ocdm__arguments *arguments, const ocdm__stream *stream, struct filter *filter,
                               ocdm_error *error)
{
    const char *name = ocdm__argument_text(arguments, "class");
    filter->class_number = UINT32_MAX;
    filter->has_task = ocdm__argument_text(arguments, "task") != NULL;
    filter->split = ocdm__argument_choice(arguments, "split");
    filter->first = ocdm__argument_unsigned(arguments, "first", 0, UINT64_MAX);
    filter->most = ocdm__argument_unsigned(arguments, "count", 1, UINT64_MAX);
    filter->task = filter->has_task ? ocdm__argument_unsigned(arguments, "task", 0, UINT32_MAX) : 0;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (filter->has_task)
        OCDM_TRY(check_task(&stream->table, filter->task, error));
    return name != NULL ? find_class(&stream->table, name, &filter->class_number, error) : OCDM_OK;
}

static bool passes(const struct filter *filter, const ocdm__stream_table *table, size_t sample)
{
    if (filter->split != SPLIT_ALL && (table->parts[sample] == OCDM__TEST) != (filter->split == SPLIT_TEST))
        return false;
    if (filter->has_task && table->tasks[sample] != filter->task)
        return false;
    bool carries = filter->class_number == UINT32_MAX;
    for (uint64_t k = table->label_starts[sample]; !carries && k < table->label_starts[sample + 1]; k++)
        carries = table->labels[k] == filter->class_number;
    return carries;
}

static void write_shown(ocdm__output *output, const char *before, const char *text, size_t length)
{
    ocdm__put(output, "%s%s", before, ocdm__show_label(text, length).text);
}

static void write_line(ocdm__output *output, const ocdm__stream_table *table, size_t sample)
{
    size_t length;
    const char *id = ocdm__text_at(&table->ids, sample, &length);
    uint64_t first = table->label_starts[sample], end = table->label_starts[sample + 1];
    ocdm__put(output, "%zu  task %" PRIu32 "  %-5s  ", sample, table->tasks[sample],
              table->parts[sample] == OCDM__TEST ? "test" : "train");
    write_shown(output, "", id, length);
    ocdm__output_text(output, first == end ? "  (no label)" : " ");
    for (uint64_t k = first; k < end; k++) {
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        write_shown(output, k > first ? ", " : " ", label, length);
    }
    size_t known = ocdm__bits_count(ocdm__known_labels(table, sample), table->class_count);
    if (known < table->class_count)
        ocdm__put(output, "  known: %zu of %zu", known, table->class_count);
    if (table->paths.starts != NULL) {
        const char *path = ocdm__text_at(&table->paths, sample, &length);
        write_shown(output, "  ", path, length);
    }
    ocdm__output_text(output, "\n");
}

static ocdm_status show(const ocdm__stream *stream, const struct filter *filter, bool json, ocdm_error *error)
{
    ocdm__output output;
    uint64_t shown = 0;
    OCDM_TRY(ocdm__output_open_fd(&output, STDOUT_FILENO, "standard output", error));
    for (size_t i = (size_t)filter->first; i < stream->table.sample_count && shown < filter->most; i++) {
        if (!passes(filter, &stream->table, i))
            continue;
        if (json)
            ocdm__write_record(&output, &stream->table, i);
        else
            write_line(&output, &stream->table, i);
        shown++;
    }
    return ocdm__output_commit(&output, error);
}

static ocdm_status run_show(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__stream stream = {.task_count = 0};
    struct filter filter = {.most = 0};
    ocdm_status status = open_operand(arguments, &stream, error);
    OCDM_THEN(status, read_filter(arguments, &stream, &filter, error));
    OCDM_THEN(status, show(&stream, &filter, ocdm__argument_given(arguments, "json"), error));
    ocdm__stream_close(&stream);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag export_flags[] = {
    OCDM__CHOICE(0, "split", "PART", "train", split_names, "which part to write"),
    OCDM__VALUE(0, "order", "K,K,...", NULL, "the order of the tasks, ascending by default"),
    OCDM__VALUE(0, "seed", "S", "0", "shuffles the samples inside a task"),
    OCDM__VALUE(0, blur_flag, "SHARE|gaussian:SD|si:N:M", NULL, "let samples leave their tasks, as `ocdm run --blur` does"),
    OCDM__VALUE('o', "output", "FILE", NULL, "write to FILE instead of standard output"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_stream_export = {
    .name = "stream export",
    .summary = "write a stream's records in the order of a run",
    .operands = "STREAM",
    .operand_limit = 1,
    .flags = export_flags,
    .run = run_export,
};

static const ocdm__flag show_flags[] = {
    OCDM__VALUE('n', "count", "N", "10", "show at most N samples"),
    OCDM__VALUE(0, "first", "I", "0", "start at sample number I"),
    OCDM__CHOICE(0, "split", "PART", "all", split_names, "samples of this part only"),
    OCDM__VALUE(0, "task", "K", NULL, "samples of this task only"),
    OCDM__VALUE(0, "class", "NAME", NULL, "samples with this label only"),
    OCDM__SWITCH(0, "json", "print records as lines of JSON"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_stream_show = {
    .name = "stream show",
    .summary = "print samples of a stream",
    .operands = "STREAM",
    .operand_limit = 1,
    .flags = show_flags,
    .run = run_show,
};
