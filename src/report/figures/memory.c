/* What is in memory: the class distribution and the age of the samples; and the classes of the stream. */
#include "report/figures/figure.h"

void ocdm__add_classes(ocdm__chart *chart, const ocdm__study *study)
{
    for (size_t c = 0; c < study->class_count; c++) {
        const ocdm__study_class *class = &study->classes[c];
        ocdm__chart_add_class(chart, class->name, class->group, class->turn,
                              class->turn < study->order.count ? study->order.values[class->turn] : NAN);
    }
}

/* ---- in memory ---------------------------------------------------------------------------------------------------------- */

static bool has_counts(const ocdm__run_group *group)
{
    for (size_t i = 0; i < group->run_count; i++)
        for (size_t c = 0; c < group->runs[i]->counts.count; c++)
            if (group->runs[i]->counts.values[c] > 0)
                return true;
    return false;
}

static size_t add_panel(ocdm__chart *chart, const ocdm__run_group *group)
{
    ocdm__series *panel =
        ocdm__chart_add_series(chart, group->method[0] != '\0' ? group->method : group->label, group->mark, group->colour);
    double distance = ocdm__group_summary(group, "final.distance_seen").mean;
    if (isfinite(distance))
        snprintf(panel->notes[0], sizeof panel->notes[0], "distance %.4f", distance);
    snprintf(panel->notes[1], sizeof panel->notes[1], "fewest %.1f, most %.1f", ocdm__group_summary(group, "count.fewest").mean,
             ocdm__group_summary(group, "count.most").mean);
    const char *comma = strchr(group->label, ',');
    if (comma != NULL)
        snprintf(panel->notes[2], sizeof panel->notes[2], "%.20s", comma + 2);
    return chart->series_count - 1;
}

static double number_of(const ocdm__numbers *numbers, size_t column)
{
    return column < numbers->count ? numbers->values[column] : NAN;
}

const ocdm__chart ocdm__memory_chart = {.kind = OCDM__CHART_BARS,
                                        .x = ".bar",
                                        .y = "in_memory",
                                        .target = "target",
                                        .y_what = "samples in memory with the class",
                                        .target_what = "target",
                                        .marks_lost = true};

void ocdm__fill_memory(const ocdm__study *study, ocdm__chart *chart)
{
    ocdm__add_classes(chart, study);
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!ocdm__chart_takes(chart, study, group))
            continue;
        size_t series = has_counts(group) ? add_panel(chart, group) : OCDM__NO_SERIES;
        for (size_t k = 0; k < group->run_count * study->class_count; k++) {
            const ocdm__run_record *run = group->runs[k / study->class_count];
            const ocdm__study_class *class = &study->classes[k % study->class_count];
            ocdm__chart_row(chart, series);
            ocdm__add_value(&chart->table, ".bar", (double)(k % study->class_count));
            ocdm__add_text(&chart->table, "label", group->label);
            ocdm__add_value(&chart->table, "seed", run->seed);
            ocdm__add_text(&chart->table, "class", class->name);
            ocdm__add_text(&chart->table, "group", class->group);
            ocdm__add_value(&chart->table, "in_memory", number_of(&run->counts, class->column));
            ocdm__add_value(&chart->table, "target", number_of(&run->target, class->column));
            ocdm__add_value(&chart->table, "in_stream", number_of(&run->seen, class->column));
        }
    }
}

const ocdm__figure ocdm__figure_memory = {
    .name = "memory",
    .title = "Classes in memory at the end",
    .reading =
        "Each bar is a class: how many samples in memory carry it, mean over seeds. The mark across it is what the target "
        "asks for: the closer the bars are to their marks, the better the balance. All methods have one scale; a bar that is far "
        "above its target is cut off, with its number. Classes are in the order of the stream, filled by how frequent they are in "
        "it.",
    .scales = {"linear", "logarithmic"},
    .chart = &ocdm__memory_chart,
    .fill = ocdm__fill_memory,
};

/* ---- in the stream ------------------------------------------------------------------------------------------------------ */

static void add_task_panel(ocdm__chart *chart, const ocdm__study *study, size_t turn)
{
    char text[40];
    size_t classes = 0;
    double labels = 0;
    snprintf(text, sizeof text, "task %.15g", study->order.values[turn]);
    ocdm__series *panel = ocdm__chart_add_series(chart, ocdm__cell_text(&chart->table, text).text, NULL, OCDM__INK(0));
    for (size_t c = 0; c < study->class_count; c++) {
        double count = study->classes[c].turns.values[turn];
        classes += count > 0;
        labels += count > 0 ? count : 0;
    }
    snprintf(panel->notes[0], sizeof panel->notes[0], "%zu classes", classes);
    snprintf(panel->notes[1], sizeof panel->notes[1], "%.0f labels", labels);
}

static void fill_stream(const ocdm__study *study, ocdm__chart *chart)
{
    ocdm__add_classes(chart, study);
    chart->section_count = 0;
    for (size_t turn = 0; turn < study->order.count; turn++)
        add_task_panel(chart, study, turn);
    for (size_t c = 0; c < study->class_count; c++)
        for (size_t turn = 0; turn < study->order.count; turn++) {
            ocdm__chart_row(chart, turn);
            ocdm__add_value(&chart->table, ".bar", (double)c);
            ocdm__add_text(&chart->table, "class", study->classes[c].name);
            ocdm__add_text(&chart->table, "group", study->classes[c].group);
            ocdm__add_value(&chart->table, "task", study->order.values[turn]);
            ocdm__add_value(&chart->table, "training_samples", number_of(&study->classes[c].turns, turn));
        }
}

const ocdm__figure ocdm__figure_stream = {
    .name = "stream",
    .title = "Classes in the stream, task by task",
    .reading =
        "How many training samples of each task carry each class, tasks from top to bottom as the stream brings them. On the "
        "logarithmic scale a step from one number to the next is ten times as many samples.",
    .scales = {"logarithmic", "linear"},
    .chart =
        &(const ocdm__chart){
            .kind = OCDM__CHART_BARS, .x = ".bar", .y = "training_samples", .y_what = "training samples", .is_log = true},
    .fill = fill_stream,
};

/* ---- age ---------------------------------------------------------------------------------------------------------------- */

#define BINS 64

static double samples_of(const ocdm__run_record *run)
{
    double samples = ocdm__json_number(ocdm__json_find(run->summary.root, "samples"));
    return samples > 0 && samples < 1e15 ? samples : 0;
}

/* The samples of a run's memory by their arrival: adds them to the bins. Returns their number. */
static size_t count_arrivals(const ocdm__run_record *run, double samples, double *bins)
{
    size_t count = 0;
    for (const ocdm__json_node *line = run->kept.root != NULL ? run->kept.root->first : NULL; line != NULL; line = line->next) {
        double arrival = ocdm__json_number(ocdm__json_find(line, "arrival"));
        if (!(arrival >= 0 && arrival < samples))
            continue;
        bins[(size_t)(arrival / samples * BINS)]++;
        count++;
    }
    return count;
}

/* The bins of a group: means over the runs that have a memory. */
static void add_arrivals(ocdm__chart *chart, const ocdm__run_group *group, double samples)
{
    double bins[BINS] = {0}, total = 0, sum = 0;
    size_t runs = 0;
    for (size_t i = 0; i < group->run_count; i++)
        runs += count_arrivals(group->runs[i], samples, bins) > 0;
    if (runs == 0)
        return;
    for (size_t k = 0; k < BINS; k++) {
        bins[k] /= (double)runs;
        total += bins[k];
        sum += bins[k] * ((double)k + 0.5) / BINS;
    }
    ocdm__series *panel = ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
    snprintf(panel->notes[0], sizeof panel->notes[0], "mean age %.3g %%", 100 * (1 - sum / total));
    snprintf(panel->notes[1], sizeof panel->notes[1], "of the stream");
    for (size_t k = 0; k < BINS; k++) {
        char from[32], to[32];
        ocdm__chart_row(chart, chart->series_count - 1);
        snprintf(from, sizeof from, "%.1f", samples * (double)k / BINS);
        snprintf(to, sizeof to, "%.1f", samples * (double)(k + 1) / BINS);
        ocdm__add_value(&chart->table, ".bar", (double)k);
        ocdm__add_value(&chart->table, ".target", total / BINS);
        ocdm__add_text(&chart->table, "label", group->label);
        ocdm__add_text(&chart->table, "from_sample", from);
        ocdm__add_text(&chart->table, "to_sample", to);
        ocdm__add_value(&chart->table, "samples_in_memory", bins[k]);
    }
}

static void fill_age(const ocdm__study *study, ocdm__chart *chart)
{
    double samples = samples_of(study->groups[0].runs[0]);
    chart->x_reach[1] = samples;
    for (size_t k = 0; k < BINS; k++)
        ocdm__chart_add_bar(chart, NULL, OCDM__BAR_MAJORITY);
    ocdm__add_task_sections(chart, study->groups[0].runs[0], "samples", BINS / samples);
    for (size_t i = 0; i < chart->section_count; i++)
        if (!(chart->sections[i].from >= 0 && chart->sections[i].from <= BINS))
            chart->sections[i].from = BINS;
    for (size_t i = 0; i < study->base_count; i++)
        add_arrivals(chart, &study->groups[i], samples);
}

const ocdm__figure ocdm__figure_age = {
    .name = "age",
    .title = "How old the samples in memory are",
    .reading =
        "Each bar is a stretch of the stream: how many samples of the memory at the end arrived in it, mean over seeds. The "
        "mark is what every stretch would have if all were equally remembered; a memory that forgets is empty at the left.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_BARS,
                                  .x = ".bar",
                                  .y = "samples_in_memory",
                                  .target = ".target",
                                  .x_what = "position in the stream (samples)",
                                  .y_what = "samples in memory",
                                  .target_what = "equally remembered"},
    .fill = fill_age,
};
