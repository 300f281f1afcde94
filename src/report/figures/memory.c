/* What is in memory: the class distribution, the age of the samples, pairs of classes; and the classes of the stream. */
#include "report/figures/figure.h"

/* A bar for each class of the stream, in its order. */
static void add_classes(const ocdm__study *study, ocdm__chart *chart)
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

static double number_of(const ocdm__numbers *numbers, size_t column)
{
    return column < numbers->count ? numbers->values[column] : NAN;
}

static void add_counts(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    bool is_drawn = has_counts(group);
    if (is_drawn) {
        ocdm__series *panel =
            ocdm__chart_add_series(chart, group->method[0] != '\0' ? group->method : group->label, group->mark, group->colour);
        double distance = ocdm__group_summary(group, "final.distance_seen").mean;
        if (isfinite(distance))
            snprintf(panel->notes[0], sizeof panel->notes[0], "distance %.4f", distance);
        snprintf(panel->notes[1], sizeof panel->notes[1], "fewest %.1f, most %.1f",
                 ocdm__group_summary(group, "count.fewest").mean, ocdm__group_summary(group, "count.most").mean);
        const char *comma = strchr(group->label, ',');
        if (comma != NULL)
            snprintf(panel->notes[2], sizeof panel->notes[2], "%.20s", comma + 2);
    }
    for (size_t k = 0; k < group->run_count * study->class_count; k++) {
        const ocdm__run_record *run = group->runs[k / study->class_count];
        const ocdm__study_class *class = &study->classes[k % study->class_count];
        OCDM__POINT(chart, is_drawn ? chart->series_count - 1 : OCDM__NO_SERIES,
                    OCDM__EXACT(".bar", (double)(k % study->class_count)), OCDM__WORD("label", group->label),
                    OCDM__EXACT("seed", run->seed), OCDM__WORD("class", class->name), OCDM__WORD("group", class->group),
                    OCDM__EXACT("in_memory", number_of(&run->counts, class->column)),
                    OCDM__EXACT("target", number_of(&run->target, class->column)),
                    OCDM__EXACT("in_stream", number_of(&run->seen, class->column)));
    }
}

static const ocdm__chart memory_chart = {.kind = OCDM__CHART_BARS,
                                         .x = ".bar",
                                         .y = "in_memory",
                                         .target = "target",
                                         .y_what = "samples in memory with the class",
                                         .target_what = "target",
                                         .marks_lost = true};

const ocdm__figure ocdm__figure_memory = {
    .name = "memory",
    .title = "Classes in memory at the end",
    .reading =
        "Each bar is a class: how many samples in memory carry it, mean over seeds. The mark across it is what the target "
        "asks for: the closer the bars are to their marks, the better the balance. All methods have one scale; a bar that is far "
        "above its target is cut off, with its number. Classes are in the order of the stream, filled by how frequent they are in "
        "it.",
    .scales = {"linear", "logarithmic"},
    .chart = &memory_chart,
    .fill = add_classes,
    .fill_group = add_counts,
};

const ocdm__figure ocdm__figure_orders_memory = {
    .name = "orders-memory",
    .title = "Classes in memory in each order of the tasks",
    .reading = "As the figure of the memory above, a panel for each method and order; classes are in the same order in all of "
               "them. Panels of a method that look alike mean that the order does not matter to it.",
    .chart = &memory_chart,
    .sweep = "order",
    .fill = add_classes,
    .fill_group = add_counts,
};

/* ---- in the stream ------------------------------------------------------------------------------------------------------ */

static void fill_stream(const ocdm__study *study, ocdm__chart *chart)
{
    add_classes(study, chart);
    chart->section_count = 0;
    for (size_t turn = 0; turn < study->order.count; turn++) {
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
    for (size_t c = 0; c < study->class_count; c++)
        for (size_t turn = 0; turn < study->order.count; turn++)
            OCDM__POINT(chart, turn, OCDM__EXACT(".bar", (double)c), OCDM__WORD("class", study->classes[c].name),
                        OCDM__WORD("group", study->classes[c].group), OCDM__EXACT("task", study->order.values[turn]),
                        OCDM__EXACT("training_samples", number_of(&study->classes[c].turns, turn)));
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

/* The bins of a group: means over the runs that have a memory. */
static void add_arrivals(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    const double samples = samples_of(study->groups[0].runs[0]);
    double bins[BINS] = {0}, total = 0, sum = 0;
    size_t runs = 0;
    for (size_t i = 0; i < group->run_count; i++) {
        size_t count = 0;
        for (const ocdm__json_node *line = ocdm__json_first(group->runs[i]->kept.root); line != NULL; line = line->next) {
            double arrival = ocdm__json_number(ocdm__json_find(line, "arrival"));
            if (!(arrival >= 0 && arrival < samples))
                continue;
            bins[(size_t)(arrival / samples * BINS)]++;
            count++;
        }
        runs += count > 0;
    }
    if (runs == 0)
        return;
    for (size_t k = 0; k < BINS; k++) {
        bins[k] /= (double)runs;
        total += bins[k];
        sum += bins[k] * ((double)k + 0.5) / BINS;
    }
    ocdm__series *panel = ocdm__chart_add_group(chart, group);
    snprintf(panel->notes[0], sizeof panel->notes[0], "mean age %.3g %%", 100 * (1 - sum / total));
    snprintf(panel->notes[1], sizeof panel->notes[1], "of the stream");
    for (size_t k = 0; k < BINS; k++) {
        char from[32], to[32];
        snprintf(from, sizeof from, "%.1f", samples * (double)k / BINS);
        snprintf(to, sizeof to, "%.1f", samples * (double)(k + 1) / BINS);
        OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".bar", (double)k), OCDM__EXACT(".target", total / BINS),
                    OCDM__WORD("label", group->label), OCDM__WORD("from_sample", from), OCDM__WORD("to_sample", to),
                    OCDM__EXACT("samples_in_memory", bins[k]));
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
    .fill_group = add_arrivals,
};

/* ---- age of each class --------------------------------------------------------------------------------------------------- */

/* Of a class in a run's memory: its samples, and the sum of their ages in percent of the stream. */
struct class_age {
    double samples, age;
};

static void add_class_ages(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    struct class_age *ages = ocdm__allocate(study->class_count, sizeof *ages);
    size_t before = chart->series_count;
    chart->table.texts.failed = chart->table.texts.failed || ages == NULL;
    for (size_t k = 0; ages != NULL && k < group->run_count * study->class_count; k++) {
        const ocdm__run_record *run = group->runs[k / study->class_count];
        size_t c = k % study->class_count;
        if (c == 0) {
            double all = ocdm__json_number(ocdm__json_find(run->summary.root, "samples"));
            const ocdm__json_node *line = ocdm__json_first(run->kept.root);
            memset(ages, 0, study->class_count * sizeof *ages);
            for (; line != NULL && all > 0; line = line->next) {
                double age = 100 * (1 - ocdm__json_number(ocdm__json_find(line, "arrival")) / all);
                const ocdm__json_node *label = ocdm__json_first(ocdm__json_find(line, "labels"));
                for (; label != NULL && isfinite(age); label = label->next) {
                    size_t class = ocdm__study_class_of(study, label);
                    if (class == study->class_count)
                        continue;
                    ages[class].samples++;
                    ages[class].age += age;
                }
            }
        }
        if (!(ages[c].samples > 0))
            continue;
        if (chart->series_count == before)
            ocdm__chart_add_group(chart, group);
        OCDM__POINT(chart, before, OCDM__EXACT(".bar", (double)c), OCDM__WORD("label", group->label),
                    OCDM__EXACT("seed", run->seed), OCDM__WORD("class", study->classes[c].name),
                    OCDM__EXACT("samples", ages[c].samples), OCDM__EXACT("age", ages[c].age / ages[c].samples));
    }
    ocdm__release(ages);
}

const ocdm__figure ocdm__figure_class_age = {
    .name = "class-age",
    .title = "How old the samples of each class are",
    .reading =
        "Each bar is a class: the mean age of its samples in memory at the end, in percent of the stream, mean over seeds; 100 is "
        "the first sample of the stream, 0 the last. Classes are in the order of the stream: bars that are low at the left are "
        "classes whose first samples have been replaced by later ones.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_BARS, .x = ".bar", .y = "age", .y_what = "mean age, % of the stream"},
    .fill = add_classes,
    .fill_group = add_class_ages,
};

/* ---- pairs of classes ---------------------------------------------------------------------------------------------------- */

static const ocdm__json_node *first_pair(const ocdm__run_record *run)
{
    return ocdm__json_first(ocdm__json_find(run->summary.root, "memory.pairs"));
}

/* The name of the class with this number in the stream; NULL: it is none. */
static const char *class_name(const ocdm__run_record *run, double number)
{
    const ocdm__json_node *classes = ocdm__json_find(run->summary.root, "classes");
    if (!(number >= 0 && number < 4294967296.0))
        return NULL;
    const ocdm__json_node *name = ocdm__json_find(ocdm__json_element(classes, (size_t)number), "name");
    return name != NULL ? name->text : NULL;
}

/* "cat + dog"; false for classes that the stream does not have. */
static bool name_pair(const ocdm__run_record *run, const ocdm__json_node *pair, char *text, size_t room)
{
    const ocdm__json_node *classes = ocdm__json_find(pair, "classes");
    const char *low = class_name(run, ocdm__json_number(ocdm__json_element(classes, 0)));
    const char *high = class_name(run, ocdm__json_number(ocdm__json_element(classes, 1)));
    if (low == NULL || high == NULL)
        return false;
    snprintf(text, room, "%.60s + %.60s", low, high);
    return true;
}

/* In percent of the samples that the run has at this path: of its memory, or of the training part of its stream. */
static double share_of(const ocdm__run_record *run, const ocdm__json_node *pair, const char *key, const char *whole)
{
    double count = ocdm__json_number(ocdm__json_find(pair, key));
    double samples = ocdm__json_number(ocdm__json_find(run->summary.root, whole));
    return samples > 0 ? 100 * count / samples : NAN;
}

/* The bars are the pairs of the first run that has some: an older version did not write them. */
static void add_pairs(const ocdm__study *study, ocdm__chart *chart)
{
    char name[128];
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t r = 0; r < study->groups[i].run_count && chart->bar_count == 0; r++) {
            const ocdm__run_record *run = study->groups[i].runs[r];
            for (const ocdm__json_node *pair = first_pair(run); pair != NULL; pair = pair->next)
                if (name_pair(run, pair, name, sizeof name))
                    ocdm__chart_add_bar(chart, ocdm__cell_text(&chart->table, name).text, OCDM__BAR_MAJORITY);
        }
}

static void add_shares(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    char name[128];
    (void)study;
    if (!(ocdm__group_summary(group, "memory.kept").mean > 0))
        return;
    ocdm__series *panel = ocdm__chart_add_group(chart, group);
    snprintf(panel->notes[0], sizeof panel->notes[0], "%.2f labels a sample", ocdm__group_summary(group, "memory.labels").mean);
    snprintf(panel->notes[1], sizeof panel->notes[1], "%.2f in the stream",
             ocdm__group_summary(group, "memory.labels_seen").mean);
    for (size_t r = 0; r < group->run_count; r++)
        for (const ocdm__json_node *pair = first_pair(group->runs[r]); pair != NULL; pair = pair->next) {
            const ocdm__run_record *run = group->runs[r];
            size_t bar = name_pair(run, pair, name, sizeof name) ? 0 : chart->bar_count;
            while (bar < chart->bar_count && strcmp(chart->bars[bar].name, name) != 0)
                bar++;
            if (bar < chart->bar_count) /* runs on other streams may have other pairs */
                OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".bar", (double)bar), OCDM__WORD("label", group->label),
                            OCDM__EXACT("seed", run->seed), OCDM__WORD("classes", name),
                            OCDM__EXACT("in_memory", share_of(run, pair, "kept", "memory.kept")),
                            OCDM__EXACT("in_stream", share_of(run, pair, "seen", "stream.train")));
        }
}

const ocdm__figure ocdm__figure_pairs = {
    .name = "pairs",
    .title = "Classes that occur together",
    .reading =
        "Each bar is a pair of classes, the most frequent ones of the stream from left to right: the share of the samples in memory at "
        "the end that carry both, mean over seeds. The mark across it is their share in the stream. A memory that balances classes "
        "changes which classes occur together, and so what a network can learn from their company.",
    .scales = {"linear", "logarithmic"},
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_BARS,
                                  .x = ".bar",
                                  .y = "in_memory",
                                  .target = "in_stream",
                                  .y_what = "% of the samples that carry both classes",
                                  .target_what = "in the stream",
                                  .are_pairs = true},
    .fill = add_pairs,
    .fill_group = add_shares,
};
