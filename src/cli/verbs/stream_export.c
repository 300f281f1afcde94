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

static ocdm_status write_part(ocdm__output *output, const ocdm__stream_table *table, enum ocdm__part part,
                              const struct wanted *wanted, ocdm_error *error)
{
    ocdm__stream_order order;
    const uint64_t *tasks = wanted->task_count > 0 ? wanted->tasks : NULL;
    if (wanted->split != SPLIT_ALL && (part == OCDM__TEST) != (wanted->split == SPLIT_TEST))
        return OCDM_OK;
    ocdm_status status = ocdm__stream_order_make(&order, table, part, tasks, wanted->task_count, wanted->seed, error);
    if (status == OCDM_OK && part == OCDM__TRAIN)
        status = ocdm__stream_order_blur(&order, table, &wanted->blur, wanted->seed, error);
    for (size_t i = 0; status == OCDM_OK && i < order.count; i++)
        ocdm__write_record(output, table, order.samples[i]);
    ocdm__stream_order_clear(&order);
    return status;
}

static ocdm_status run_export(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__output file = {.buffer = NULL}, *output = arguments->out;
    ocdm__stream stream = {.task_count = 0};
    struct wanted wanted = {.task_count = 0};
    ocdm__run_settings settings = ocdm__run_settings_default();
    ocdm_error found;
    const char *blur = ocdm__argument_text(arguments, blur_flag);
    wanted.split = ocdm__argument_choice(arguments, "split");
    wanted.seed = ocdm__argument_unsigned(arguments, "seed", 0, UINT64_MAX);
    if (ocdm__argument_given(arguments, "order"))
        wanted.task_count = ocdm__argument_list(arguments, "order", 0, UINT32_MAX, wanted.tasks, MOST_TASKS);
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (blur != NULL && ocdm__setting_read(ocdm__setting_of_flag(blur_flag), blur, &settings, NULL, &found) != OCDM_OK)
        return ocdm__argument_fail(arguments, found.message, error);
    wanted.blur = settings.blur;
    ocdm_status status = open_operand(arguments, &stream, error);
    const char *path = ocdm__argument_text(arguments, "output");
    if (path != NULL && strcmp(path, "-") != 0) {
        OCDM_THEN(status, ocdm__output_open(&file, path, error));
        output = &file;
    }
    OCDM_THEN(status, write_part(output, &stream.table, OCDM__TRAIN, &wanted, error));
    OCDM_THEN(status, write_part(output, &stream.table, OCDM__TEST, &wanted, error));
    if (output == &file)
        OCDM_THEN(status, ocdm__output_commit(&file, error));
    ocdm__output_abandon(&file);
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

static ocdm_status read_filter(const ocdm__arguments *arguments, const ocdm__stream_table *table, struct filter *filter,
                               ocdm_error *error)
{
    const char *name = ocdm__argument_text(arguments, "class");
    size_t of_task = 0;
    bool found = name == NULL;
    filter->class_number = UINT32_MAX;
    filter->has_task = ocdm__argument_given(arguments, "task");
    filter->split = ocdm__argument_choice(arguments, "split");
    filter->first = ocdm__argument_unsigned(arguments, "first", 0, UINT64_MAX);
    filter->most = ocdm__argument_unsigned(arguments, "count", 1, UINT64_MAX);
    filter->task = filter->has_task ? ocdm__argument_unsigned(arguments, "task", 0, UINT32_MAX) : 0;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    for (size_t i = 0; i < table->sample_count; i++)
        of_task += table->tasks[i] == filter->task;
    if (filter->has_task && of_task == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream info` lists the tasks", "the stream has no task %" PRIu64,
                          filter->task);
    for (size_t i = 0, length; !found && i < table->class_count; i++) {
        const char *text = ocdm__text_at(&table->classes, i, &length);
        filter->class_number = (uint32_t)i;
        found = ocdm__text_is(text, length, name);
    }
    return found ? OCDM_OK
                 : ocdm__fail(error, OCDM_BAD_ARGUMENT, "`ocdm stream info` lists the classes",
                              "the stream has no class \"%s\"", name);
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

static void write_shown(ocdm__output *output, const char *before, const ocdm__text_list *texts, size_t number)
{
    size_t length;
    const char *text = ocdm__text_at(texts, number, &length);
    ocdm__put(output, "%s%s", before, ocdm__show_label(text, length).text);
}

static ocdm_status run_show(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__stream stream = {.task_count = 0};
    const ocdm__stream_table *table = &stream.table;
    struct filter filter = {.most = 0};
    ocdm_status status = open_operand(arguments, &stream, error);
    OCDM_THEN(status, read_filter(arguments, table, &filter, error));
    uint64_t left = filter.most;
    for (size_t i = (size_t)filter.first; status == OCDM_OK && i < table->sample_count && left > 0; i++) {
        if (!passes(&filter, table, i))
            continue;
        if (ocdm__argument_given(arguments, "json"))
            ocdm__write_record(arguments->out, table, i);
        else {
            uint64_t first = table->label_starts[i], end = table->label_starts[i + 1];
            ocdm__put(arguments->out, "%zu  task %" PRIu32 "  %-5s", i, table->tasks[i],
                      table->parts[i] == OCDM__TEST ? "test" : "train");
            write_shown(arguments->out, "  ", &table->ids, i);
            ocdm__output_text(arguments->out, first == end ? "  (no label)" : " ");
            for (uint64_t k = first; k < end; k++)
                write_shown(arguments->out, k > first ? ", " : " ", &table->classes, table->labels[k]);
            size_t known = ocdm__bits_count(ocdm__known_labels(table, i), table->class_count);
            if (known < table->class_count)
                ocdm__put(arguments->out, "  known: %zu of %zu", known, table->class_count);
            if (table->paths.starts != NULL)
                write_shown(arguments->out, "  ", &table->paths, i);
            ocdm__output_text(arguments->out, "\n");
        }
        left--;
    }
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
