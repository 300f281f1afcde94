/* What the samples in memory are like: which classes occur together, how old the samples of each class are; and what thresholds
 * give. */
#include "report/figures/figure.h"

/* ---- pairs of classes ---------------------------------------------------------------------------------------------------- */

static const ocdm__json_node *pairs_of(const ocdm__run_record *run)
{
    const ocdm__json_node *pairs = ocdm__json_find(run->summary.root, "memory.pairs");
    return pairs != NULL && pairs->kind == OCDM__JSON_ARRAY ? pairs : NULL;
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
static void add_bars(const ocdm__study *study, ocdm__chart *chart)
{
    char name[128];
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t r = 0; r < study->groups[i].run_count && chart->bar_count == 0; r++) {
            const ocdm__run_record *run = study->groups[i].runs[r];
            const ocdm__json_node *pairs = pairs_of(run), *pair = pairs != NULL ? pairs->first : NULL;
            for (; pair != NULL; pair = pair->next)
                if (name_pair(run, pair, name, sizeof name))
                    ocdm__chart_add_bar(chart, ocdm__cell_text(&chart->table, name).text, OCDM__BAR_MAJORITY);
        }
}

/* The bar of a pair; their number if it has none, since runs on other streams may have other pairs. */
static size_t bar_of(const ocdm__chart *chart, const char *name)
{
    size_t bar = 0;
    while (bar < chart->bar_count && strcmp(chart->bars[bar].name, name) != 0)
        bar++;
    return bar;
}

static void fill_pairs(const ocdm__study *study, ocdm__chart *chart)
{
    char name[128];
    add_bars(study, chart);
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!(ocdm__group_summary(group, "memory.kept").mean > 0))
            continue;
        ocdm__series *panel = ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
        snprintf(panel->notes[0], sizeof panel->notes[0], "%.2f labels a sample",
                 ocdm__group_summary(group, "memory.labels").mean);
        snprintf(panel->notes[1], sizeof panel->notes[1], "%.2f in the stream",
                 ocdm__group_summary(group, "memory.labels_seen").mean);
        for (size_t r = 0; r < group->run_count; r++) {
            const ocdm__run_record *run = group->runs[r];
            const ocdm__json_node *list = pairs_of(run), *pair = list != NULL ? list->first : NULL;
            for (; pair != NULL; pair = pair->next) {
                size_t bar = name_pair(run, pair, name, sizeof name) ? bar_of(chart, name) : chart->bar_count;
                if (bar == chart->bar_count)
                    continue;
                ocdm__chart_row(chart, chart->series_count - 1);
                ocdm__add_value(&chart->table, ".bar", (double)bar);
                ocdm__add_text(&chart->table, "label", group->label);
                ocdm__add_value(&chart->table, "seed", run->seed);
                ocdm__add_text(&chart->table, "classes", name);
                ocdm__add_value(&chart->table, "in_memory", share_of(run, pair, "kept", "memory.kept"));
                ocdm__add_value(&chart->table, "in_stream", share_of(run, pair, "seen", "stream.train"));
            }
        }
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
    .fill = fill_pairs,
};

/* ---- age of each class --------------------------------------------------------------------------------------------------- */

/* Of a class in a run's memory: its samples, and the sum of their ages in percent of the stream. */
struct class_age {
    double samples, age;
};

/* Adds up the ages of a run's samples, class by class. */
static void add_ages(const ocdm__study *study, const ocdm__run_record *run, struct class_age *ages)
{
    double all = ocdm__json_number(ocdm__json_find(run->summary.root, "samples"));
    const ocdm__json_node *line = run->kept.root != NULL ? run->kept.root->first : NULL;
    memset(ages, 0, study->class_count * sizeof *ages);
    for (; line != NULL && all > 0; line = line->next) {
        double age = 100 * (1 - ocdm__json_number(ocdm__json_find(line, "arrival")) / all);
        const ocdm__json_node *labels = ocdm__json_find(line, "labels"), *label = labels != NULL ? labels->first : NULL;
        for (; label != NULL && isfinite(age); label = label->next) {
            size_t class = ocdm__study_class_of(study, label);
            if (class == study->class_count)
                continue;
            ages[class].samples++;
            ages[class].age += age;
        }
    }
}

static void add_class_ages(const ocdm__study *study, struct class_age *ages, ocdm__chart *chart)
{
    ocdm__add_classes(chart, study);
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        size_t series = OCDM__NO_SERIES;
        for (size_t r = 0; r < group->run_count; r++) {
            add_ages(study, group->runs[r], ages);
            for (size_t c = 0; c < study->class_count; c++) {
                if (!(ages[c].samples > 0))
                    continue;
                if (series == OCDM__NO_SERIES) {
                    ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
                    series = chart->series_count - 1;
                }
                ocdm__chart_row(chart, series);
                ocdm__add_value(&chart->table, ".bar", (double)c);
                ocdm__add_text(&chart->table, "label", group->label);
                ocdm__add_value(&chart->table, "seed", group->runs[r]->seed);
                ocdm__add_text(&chart->table, "class", study->classes[c].name);
                ocdm__add_value(&chart->table, "samples", ages[c].samples);
                ocdm__add_value(&chart->table, "age", ages[c].age / ages[c].samples);
            }
        }
    }
}

static void fill_class_age(const ocdm__study *study, ocdm__chart *chart)
{
    struct class_age *ages = ocdm__allocate(study->class_count, sizeof *ages);
    chart->table.failed = ages == NULL;
    if (ages != NULL)
        add_class_ages(study, ages, chart);
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
    .fill = fill_class_age,
};

/* ---- thresholds ---------------------------------------------------------------------------------------------------------- */

enum { RECALLS = 32 };

/* At recalls that all runs have, each by the first point that reaches it, so that a line is the mean over runs. */
static void add_curve(ocdm__chart *chart, const ocdm__run_group *group, const ocdm__run_record *run, double number)
{
    const ocdm__json_node *points = ocdm__json_find(run->summary.root, "validation.thresholds");
    const ocdm__json_node *node = points != NULL ? points->first : NULL;
    for (int step = 1; step <= RECALLS; step++) {
        double recall = 100.0 * step / RECALLS;
        while (node != NULL && !(ocdm__json_number(ocdm__json_find(node, "CR")) >= recall - 1e-9))
            node = node->next;
        ocdm__chart_row(chart, chart->series_count - 1);
        ocdm__add_value(&chart->table, ".run", number);
        ocdm__add_text(&chart->table, "label", group->label);
        ocdm__add_value(&chart->table, "seed", run->seed);
        ocdm__add_value(&chart->table, "CR", recall);
        ocdm__add_value(&chart->table, "CP", node != NULL ? ocdm__json_number(ocdm__json_find(node, "CP")) : (double)NAN);
        ocdm__add_value(&chart->table, "threshold",
                        node != NULL ? ocdm__json_number(ocdm__json_find(node, "threshold")) : (double)NAN);
    }
}

/* The means over the runs of a group of the numbers at these paths of their summaries. */
static void add_mark(ocdm__chart *chart, const ocdm__run_group *group, const char *recall, const char *precision, bool is_point)
{
    const ocdm__chart_mark mark = {ocdm__group_summary(group, recall).mean, ocdm__group_summary(group, precision).mean,
                                   group->colour, is_point};
    if (isfinite(mark.x) && isfinite(mark.y))
        ocdm__chart_add_mark(chart, mark);
}

/* With a threshold that was chosen, the metrics of what is held out are those at the best one, not at 1/2. */
static void fill_thresholds(const ocdm__study *study, ocdm__chart *chart)
{
    for (size_t i = 0; i < study->base_count && study->trained; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (ocdm__json_find(group->runs[0]->summary.root, "validation.thresholds") == NULL)
            continue;
        ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
        for (size_t r = 0; r < group->run_count; r++)
            add_curve(chart, group, group->runs[r], (double)r);
        const ocdm__json_node *rule = ocdm__group_setting(group, "threshold");
        bool fixed = rule != NULL && rule->text != NULL && strcmp(rule->text, "fixed") == 0;
        add_mark(chart, group, "validation.best_threshold.CR", "validation.best_threshold.CP", false);
        if (fixed)
            add_mark(chart, group, "validation.total.CR", "validation.total.CP", true);
    }
}

const ocdm__figure ocdm__figure_thresholds = {
    .name = "thresholds",
    .title = "Precision against recall",
    .reading =
        "Each line is a method on the samples that were held out, at the end: mean precision (CP) and recall (CR) of the classes as one "
        "threshold for all of them falls from left to right. The diamond is the threshold with the greatest CF1, which "
        "<code>--threshold validation</code> uses; the square is that of 1/2. Where the two are far apart, CF1 and OF1 at 1/2 say more "
        "about the scale of the scores than about the method.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_LINES,
                                  .x = "CR",
                                  .y = "CP",
                                  .x_what = "recall, %",
                                  .y_what = "precision, %",
                                  .mark_what = "best for CF1",
                                  .point_what = "at 1/2"},
    .fill = fill_thresholds,
};
