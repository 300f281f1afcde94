/* Formats evaluations and streams as tables for a terminal. */
#include "cli/text.h"

#include "base/text.h"
#include "base/terminal.h"
#include "report/text.h"

/* ---- evaluations -------------------------------------------------------------------------------------------------------- */

/* A number in `columns`, a dash where there is none. */
static void put_number(ocdm__output *output, int columns, int decimals, double value)
{
    if (isnan(value))
        ocdm__put(output, "%*s", columns, "-");
    else
        ocdm__put(output, "%*.*f", columns, decimals, value);
}

static void print_row(ocdm__output *out, const char *name, const ocdm__averages *averages)
{
    ocdm__put(out, "%-8s  %7zu", name, averages->classes);
    for (size_t i = 0; i < OCDM__TABLE_METRICS; i++)
        put_number(out, 8, 1, 100 * averages->value[i]);
    ocdm__output_text(out, "\n");
}

void ocdm__print_evaluation(ocdm__output *out, const ocdm__evaluation *evaluation, const char *groups)
{
    ocdm__put(out, "%-8s  %7s", ocdm__groups_are_terciles(groups) ? groups : "", "classes");
    for (size_t i = 0; i < OCDM__TABLE_METRICS; i++)
        ocdm__put(out, "  %6s", ocdm__metrics[i].about.name);
    ocdm__output_text(out, "\n");
    for (int g = 0; g < OCDM__GROUPS; g++)
        print_row(out, ocdm__class_group_name((enum ocdm__class_group)g), &evaluation->groups[g]);
    print_row(out, "total", &evaluation->total);
}

void ocdm__print_class_scores(ocdm__output *out, const ocdm__stream_table *table, const uint8_t *groups,
                              const ocdm__class_score *scores)
{
    ocdm__put(out, "\n%-*s  %-8s  %7s  %6s  %6s  %6s\n", OCDM__LABEL_WIDTH, "class", "group", "tests", "AP", "prec.", "recall");
    for (size_t c = 0; c < table->class_count; c++) {
        size_t length;
        const char *name = ocdm__text_at(&table->classes, c, &length);
        ocdm__shown_label shown = ocdm__show_label(name, length);
        const ocdm__class_score *score = &scores[c];
        ocdm__put(out, "%s%*s  %-8s  %7lu", shown.text, (int)(OCDM__LABEL_WIDTH - shown.width), "",
                  ocdm__class_group_name((enum ocdm__class_group)groups[c]), (unsigned long)score->positives);
        put_number(out, 8, 1, 100 * score->ap);
        put_number(out, 8, 1,
                   score->positives == 0  ? NAN
                   : score->predicted > 0 ? 100 * ((double)score->hits / score->predicted)
                                          : 0);
        put_number(out, 8, 1, score->positives > 0 ? 100 * ((double)score->hits / score->positives) : NAN);
        ocdm__output_text(out, "\n");
    }
}

/* ---- streams ------------------------------------------------------------------------------------------------------------ */

#define WIDEST_BAR 60
#define MLR_COLUMNS 8

/* Two spaces, a bar of at most `room` characters for `share` of the longest, and the end of the line. */
static void put_bar(ocdm__output *output, double share, size_t room)
{
    char bar[WIDEST_BAR + 1];
    size_t widest = room < WIDEST_BAR ? room : WIDEST_BAR;
    size_t length = ocdm__bar_fill(bar, share * (double)widest);
    ocdm__put(output, "%s%s\n", length > 0 ? "  " : "", bar);
}

/* The remaining width after `used` columns, two spaces, and the last column, at which many terminals wrap. */
static size_t room_for_bar(size_t width, size_t used)
{
    return width > used + 3 ? width - used - 3 : 0;
}

/* ---- the summary ---------------------------------------------------------------------------------------------------- */

/* What samples are made of, and where they come from. */
static void write_file(ocdm__output *output, const ocdm__stream *stream)
{
    static const char *const keys[][2] = {{"command", "made by            "}, {"ids_sha256", "SHA-256 of ids     "}};
    const ocdm__payload_shape *shape = &stream->shape;
    if (shape->kind == OCDM__FEATURES)
        ocdm__put(output, "features           %zu, %s%s\n", shape->width, shape->dtype == OCDM__F16 ? "f16" : "f32",
                  ocdm__stream_moments(stream, "feature_mean") != NULL ? ", standardized" : "");
    if (shape->kind == OCDM__IMAGES)
        ocdm__put(output, "images             %zu x %zu pixels\n", shape->width, shape->height);
    if (stream->table.paths.starts != NULL)
        ocdm__put(output, "image files        under %.200s\n", stream->image_root != NULL ? stream->image_root : ".");
    for (size_t i = 0; i < 2; i++) {
        const struct ocdm__note *note = ocdm__safetensors_note(&stream->tensors, keys[i][0]);
        if (note == NULL)
            continue;
        ocdm__output_text(output, keys[i][1]);
        ocdm__output_write(output, note->value, note->value_length);
        ocdm__output_text(output, "\n");
    }
}

/* ---- labels per sample ---------------------------------------------------------------------------------------------- */

static void write_histogram(ocdm__output *output, const ocdm__statistics *statistics, size_t width)
{
    uint64_t most = 0;
    size_t steps = 0;
    for (size_t i = 0; i < OCDM__LABEL_STEPS; i++) {
        most = statistics->samples[i] > most ? statistics->samples[i] : most;
        steps = statistics->samples[i] > 0 ? i + 1 : steps;
    }
    if (most == 0)
        return;
    ocdm__put(output, "\nlabels    samples\n");
    for (size_t i = statistics->samples[0] > 0 ? 0 : 1; i < steps; i++) {
        ocdm__put(output, "%5zu%c %10llu", i, i + 1 == OCDM__LABEL_STEPS ? '+' : ' ',
                  (unsigned long long)statistics->samples[i]);
        put_bar(output, (double)statistics->samples[i] / (double)most, room_for_bar(width, 17));
    }
}

/* ---- tasks ---------------------------------------------------------------------------------------------------------- */

static void write_tally(ocdm__output *output, const char *name, const ocdm__tally *tally)
{
    ocdm__put(output, "%6s %10llu %10llu %8zu ", name, (unsigned long long)tally->train, (unsigned long long)tally->test,
              ocdm__tally_class_count(tally));
    put_number(output, 8, 2, ocdm__tally_amlr(tally));
    ocdm__put(output, "\n");
}

static void write_tasks(ocdm__output *output, const ocdm__statistics *statistics)
{
    if (statistics->task_count == 0)
        return;
    ocdm__put(output, "\n%6s %10s %10s %8s %8s\n", "task", "train", "test", "classes", "AMLR");
    for (size_t i = 0; i < statistics->task_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)statistics->tasks[i].task);
        write_tally(output, number, &statistics->tasks[i]);
    }
    write_tally(output, "total", &statistics->total);
}

/* ---- classes -------------------------------------------------------------------------------------------------------- */

/* The maximum number of task columns in the table of classes; without a limit a small file could print a table of any size. */
#define MOST_TASK_COLUMNS 100u

static size_t digits(uint64_t number)
{
    return (size_t)snprintf(NULL, 0, "%llu", (unsigned long long)number);
}

/* A row for each class, with a column for each task. */
static void write_classes(ocdm__output *output, const ocdm__stream_info *info, size_t width)
{
    const ocdm__statistics *statistics = &info->statistics;
    const size_t tasks = statistics->task_count < MOST_TASK_COLUMNS ? statistics->task_count : MOST_TASK_COLUMNS;
    size_t length, label_width = strlen("class"), task_width = 1;
    uint64_t smallest, largest = 0;
    if (info->class_count == 0)
        return;
    for (size_t i = 0; i < info->class_count; i++) {
        const char *label = ocdm__stream_info_label(info, info->classes[i], &length);
        size_t columns = ocdm__show_label(label, length).width;
        label_width = columns > label_width ? columns : label_width;
    }
    for (size_t i = 0; i < tasks; i++) {
        uint64_t number = statistics->tasks[i].task;
        ocdm__tally_range(&statistics->tasks[i], &smallest, &largest);
        size_t columns = digits(number > largest ? number : largest);
        task_width = columns > task_width ? columns : task_width;
    }
    ocdm__tally_range(&statistics->total, &smallest, &largest); /* the largest has the longest bar */
    size_t total_width = digits(largest) > strlen("total") ? digits(largest) : strlen("total");
    size_t bar = room_for_bar(width, label_width + tasks * (task_width + 1) + 1 + total_width + MLR_COLUMNS);
    if (statistics->task_count > 0)
        ocdm__put(output, "\n%*s training samples of task", (int)label_width, "");
    if (statistics->task_count > tasks)
        ocdm__put(output, ", the first %zu of %zu tasks", tasks, statistics->task_count);
    ocdm__put(output, "\n%-*s", (int)label_width, "class");
    for (size_t i = 0; i < tasks; i++)
        ocdm__put(output, " %*llu", (int)task_width, (unsigned long long)statistics->tasks[i].task);
    ocdm__put(output, " %*s%*s\n", (int)total_width, "total", MLR_COLUMNS, "MLR");
    for (size_t i = 0; i < info->class_count; i++) {
        const uint32_t class = info->classes[i];
        const char *label = ocdm__stream_info_label(info, class, &length);
        ocdm__shown_label shown = ocdm__show_label(label, length);
        uint64_t total = ocdm__tally_class(&statistics->total, class).count;
        ocdm__put(output, "%s%*s", shown.text, (int)(label_width - shown.width), "");
        for (size_t k = 0; k < tasks; k++)
            ocdm__put(output, " %*llu", (int)task_width,
                      (unsigned long long)ocdm__tally_class(&statistics->tasks[k], class).count);
        ocdm__put(output, " %*llu", (int)total_width, (unsigned long long)total);
        put_number(output, MLR_COLUMNS, 2, ocdm__tally_mlr(&statistics->total, class));
        put_bar(output, (double)total / (double)largest, bar);
    }
}

void ocdm__write_stream_text(ocdm__output *output, const ocdm__stream_info *info, const uint64_t *bounds, size_t width)
{
    const ocdm__statistics *statistics = &info->statistics;
    const ocdm__tally *total = &statistics->total;
    uint64_t smallest, largest;
    ocdm__tally_range(total, &smallest, &largest);
    ocdm__put(output, "samples            %llu train, %llu test\n", (unsigned long long)total->train,
              (unsigned long long)total->test);
    ocdm__put(output, "classes            %zu\n", ocdm__tally_class_count(total));
    ocdm__put(output, "tasks              %zu", statistics->task_count);
    if (statistics->task_count > 0 && statistics->without_task > 0)
        ocdm__put(output, "; samples without one: %llu", (unsigned long long)statistics->without_task);
    ocdm__put(output, "\nAMLR               ");
    put_number(output, 0, 2, ocdm__tally_amlr(total));
    ocdm__put(output, "%s\n", isnan(ocdm__tally_amlr(total)) ? "" : " %");
    if (largest > 0)
        ocdm__put(output, "imbalance          %.1f: largest class %llu, smallest %llu\n", (double)largest / (double)smallest,
                  (unsigned long long)largest, (unsigned long long)smallest);
    /* Groups that come from the stream have no bounds. */
    ocdm__class_groups groups = ocdm__stream_info_groups(info, bounds);
    const ocdm__class_counts counts = ocdm__tally_counts(&info->statistics.total);
    uint64_t usual[2];
    bool terciles = ocdm__usual_bounds(&counts, usual) && bounds == NULL;
    const uint64_t *shown = bounds != NULL ? bounds : usual;
    if (bounds == NULL && info->stream.table.groups != NULL)
        ocdm__put(output, "groups             majority %zu, moderate %zu, minority %zu (the stream's own)\n", groups.majority,
                  groups.moderate, groups.minority);
    else
        ocdm__put(output, "groups             majority %zu (over %llu), moderate %zu, minority %zu (under %llu)%s\n",
                  groups.majority, (unsigned long long)shown[0], groups.moderate, groups.minority, (unsigned long long)shown[1],
                  terciles ? "; terciles" : "");
    if (total->train > 0)
        ocdm__put(output, "labels per sample  %.3f\n", (double)statistics->label_count / (double)total->train);
    if (info->stream.table.known != NULL)
        ocdm__put(output, "known labels       %.1f %% of the classes of a training sample, %.1f %% of a test\n",
                  100 * info->known[0], 100 * info->known[1]);
    if (info->is_stream_file)
        write_file(output, &info->stream);
    write_histogram(output, &info->statistics, width);
    write_tasks(output, &info->statistics);
    write_classes(output, info, width);
}
