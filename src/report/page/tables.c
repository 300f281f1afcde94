/* Tables of numbers by group: mean and standard deviation over seeds. Bold: not significantly worse than the best. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/figures/figure.h"
#include "report/page/parts.h"
#include "report/text.h"

#define LABEL_LIMIT 60
#define MOST_CLASSES 300
#define MOST_COLUMNS 24

#define SECONDS (-1)
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef ocdm__summary cell_of(const ocdm__study *study, const ocdm__run_group *group, const char *path);

struct column {
    char name[40];
    char path[OCDM__METRIC_PATH];
    cell_of *cell; /* NULL: the number at the path of the summary */
    int decimals;  /* SECONDS: as many as the size asks for */
    int better;    /* 1: more is, -1: less is, 0: neither */
    bool starts;   /* a group of columns */
};

static ocdm__summary cell(const ocdm__study *study, const ocdm__run_group *group, const struct column *column)
{
    return column->cell != NULL ? column->cell(study, group, column->path) : ocdm__group_summary(group, column->path);
}

/* The group with the best mean of a column, bounds excluded; NULL when the column has no order. */
static const ocdm__run_group *best_of(const ocdm__study *study, const struct column *column)
{
    const ocdm__run_group *best = NULL;
    for (size_t i = 0; i < study->base_count && column->better != 0; i++) {
        double mean = cell(study, &study->groups[i], column).mean;
        if (!study->groups[i].bound && !isnan(mean) &&
            (best == NULL || (mean - cell(study, best, column).mean) * column->better > 0))
            best = &study->groups[i];
    }
    return best;
}

static bool is_rival(const ocdm__study *study, size_t group, const struct column *column)
{
    return !study->groups[group].bound && !isnan(cell(study, &study->groups[group], column).mean);
}

/* Whether a group is not significantly worse than the best, as in `ocdm compare`; only the best itself where there is no such
 * difference: with one seed, and for what is counted here. */
static bool is_as_good(const ocdm__study *study, size_t group, const struct column *column, double least)
{
    const ocdm__run_group *best = best_of(study, column);
    double mean = cell(study, &study->groups[group], column).mean, most = cell(study, best, column).mean;
    if (mean == most)
        return true;
    return column->cell == NULL && fabs(ocdm__group_difference(best, &study->groups[group], column->path).mean) <= least;
}

/* The least significant difference of a column in which some groups are bold, NaN where only the best is; -1 where none is: a
 * column that distinguishes no two groups is not marked. */
static double mark_column(const ocdm__study *study, const struct column *column)
{
    size_t rivals = 0, bold = 0;
    if (best_of(study, column) == NULL)
        return -1;
    double least = column->cell == NULL ? ocdm__study_least_difference(study, column->path) : NAN;
    for (size_t i = 0; i < study->base_count; i++)
        if (is_rival(study, i, column)) {
            rivals++;
            bold += is_as_good(study, i, column, least);
        }
    return bold < rivals ? least : -1;
}

static void put_value(ocdm__output *out, double value)
{
    ocdm__output_text(out, " data-v=\"");
    if (isfinite(value))
        ocdm__output_double(out, value);
    ocdm__output_text(out, "\"");
}

static void put_cell(ocdm__output *out, const ocdm__study *study, size_t group, const struct column *column, double least)
{
    ocdm__summary summary = cell(study, &study->groups[group], column);
    bool best =
        !(least < 0) && group < study->base_count && is_rival(study, group, column) && is_as_good(study, group, column, least);
    ocdm__put(out, "<td class=\"%s%s\"", best ? "best" : "", column->starts ? " start" : "");
    put_value(out, summary.mean);
    ocdm__output_text(out, ">");
    int decimals = column->decimals != SECONDS ? column->decimals : summary.mean >= 100 ? 1 : summary.mean >= 1 ? 2 : 4;
    ocdm__put_decimals(out, summary.mean, decimals);
    if (isfinite(summary.deviation)) {
        ocdm__output_text(out, " <span class=\"sd\">± ");
        ocdm__put_decimals(out, summary.deviation, decimals);
        ocdm__output_text(out, "</span>");
    }
    ocdm__output_text(out, "</td>");
}

static void put_label(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<tr");
    ocdm__put_mark_of(out, group);
    ocdm__output_text(out, "><th scope=\"row\">");
    ocdm__put_method(out, group);
    if (group->bound)
        ocdm__output_text(out, " <span class=\"sd\">(upper bound)</span>");
    ocdm__put(out, "</th><td data-v=\"%zu\">%zu</td>", group->run_count, group->run_count);
}

static void put_rows(ocdm__output *out, const ocdm__study *study, size_t groups, const struct column *columns, size_t count)
{
    double least[MOST_COLUMNS];
    for (size_t c = 0; c < count; c++)
        least[c] = mark_column(study, &columns[c]);
    ocdm__output_text(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < groups; i++) {
        put_label(out, &study->groups[i]);
        for (size_t c = 0; c < count; c++)
            put_cell(out, study, i, &columns[c], least[c]);
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, "</tbody></table></div>\n");
}

static void put_heads(ocdm__output *out, const struct column *columns, size_t count)
{
    ocdm__output_text(out, "<tr><th scope=\"col\" class=\"text\">method</th><th scope=\"col\">seeds</th>");
    for (size_t c = 0; c < count; c++)
        ocdm__put(out, "<th scope=\"col\"%s>%s</th>", columns[c].starts ? " class=\"start\"" : "", columns[c].name);
}

/* The caption is outside the scrolling box, so that it stays visible. */
static void begin_table(ocdm__output *out, const char *name, const char *caption)
{
    ocdm__put(out, "<p class=\"note\">%s</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">", caption,
              name);
    ocdm__put(out, "<table class=\"sort\" data-name=\"%s\">\n<thead>", name);
}

/* ---- methods ------------------------------------------------------------------------------------------------------------ */

void ocdm__put_mark_of(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__put_mark(&(ocdm__canvas){.out = out}, group->mark);
}

void ocdm__put_method(ocdm__output *out, const ocdm__run_group *group)
{
    ocdm__output_text(out, "<svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">");
    if (group->colour < OCDM__COLOURS)
        ocdm__put(out, "<rect class=\"f%u\" width=\"12\" height=\"12\"/></svg>", group->colour);
    else /* dashed lines: a ring */
        ocdm__put(out, "<path class=\"f%u\" fill-rule=\"evenodd\" d=\"M0 0h12v12h-12zM4 4h4v4h-4z\"/></svg>",
                  group->colour % OCDM__COLOURS);
    ocdm__put_name(out, group->label, LABEL_LIMIT);
}

/* ---- the paper's table -------------------------------------------------------------------------------------------------- */

/* A metric over one of ocdm__paper_groups. */
static struct column metric_column(size_t group, ocdm_metric metric)
{
    struct column column = {.decimals = ocdm__metrics[metric].decimals};
    snprintf(column.name, sizeof column.name, "%s", ocdm__metric_name(metric));
    ocdm__metric_path(group, metric, column.path);
    return column;
}

/* "minority (14)": a group and the classes that its metrics are means over, where the runs say so. */
static void name_group(const ocdm__study *study, size_t group, char *text, size_t room)
{
    char path[OCDM__METRIC_PATH];
    snprintf(path, sizeof path, "final.%s.classes", ocdm__paper_groups[group]);
    double classes = ocdm__json_number(ocdm__json_find(study->groups[0].runs[0]->summary.root, path));
    if (classes > 0)
        snprintf(text, room, "%s (%.0f)", ocdm__paper_groups[group], classes);
    else
        snprintf(text, room, "%s", ocdm__paper_groups[group]);
}

/* The columns of the paper's table: all classes first, since a narrow screen shows the first columns. */
static size_t group_at(size_t place)
{
    return (place + OCDM__PAPER_GROUPS - 1) % OCDM__PAPER_GROUPS;
}

static void put_group_heads(ocdm__output *out, const ocdm__study *study)
{
    ocdm__output_text(out, "<tr class=\"groups\"><td></td><td></td>");
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++) {
        char name[40];
        name_group(study, group_at(g), name, sizeof name);
        ocdm__put(out, "<th scope=\"colgroup\" class=\"start\" colspan=\"%u\">%s</th>", OCDM__TABLE_METRICS, name);
    }
    ocdm__output_text(out, "</tr>\n");
}

void ocdm__put_paper_table(ocdm__output *out, const ocdm__study *study)
{
    if (!study->trained)
        return;
    begin_table(
        out, "results",
        "At the end of the stream, on the test samples of all tasks, in percent: mean ± standard deviation over seeds; "
        "bold is the best of a column, and what is not significantly worse (Tukey's studentised range, paired over seeds, "
        "family-wise error 5 %); nothing is bold if no two methods differ significantly. After a group, its classes.");
    struct column columns[OCDM__PAPER_GROUPS * OCDM__TABLE_METRICS];
    for (size_t i = 0; i < COUNT(columns); i++) {
        columns[i] = metric_column(group_at(i / OCDM__TABLE_METRICS), (ocdm_metric)(i % OCDM__TABLE_METRICS));
        columns[i].better = 1;
        columns[i].starts = i % OCDM__TABLE_METRICS == 0;
    }
    put_group_heads(out, study);
    put_heads(out, columns, COUNT(columns));
    put_rows(out, study, study->base_count, columns, COUNT(columns));
}

/* Runs of earlier versions have no such numbers. */
static bool has_other_metrics(const ocdm__study *study)
{
    const struct column column = metric_column(group_at(0), OCDM__OTHER_METRICS);
    for (size_t i = 0; i < study->base_count; i++)
        if (!isnan(ocdm__group_summary(&study->groups[i], column.path).mean))
            return true;
    return false;
}

void ocdm__put_other_metrics(ocdm__output *out, const ocdm__study *study)
{
    struct column columns[OCDM__METRIC_COUNT - OCDM__OTHER_METRICS];
    if (!study->trained || !has_other_metrics(study))
        return;
    for (size_t i = 0; i < COUNT(columns); i++) {
        ocdm_metric metric = (ocdm_metric)(OCDM__OTHER_METRICS + i);
        columns[i] = metric_column(group_at(0), metric);
        columns[i].better = ocdm__metrics[metric].low ? -1 : 1;
        snprintf(columns[i].name, sizeof columns[i].name, "%s, %s", ocdm__metric_name(metric), ocdm__metrics[metric].unit);
    }
    ocdm__output_text(out, "<details><summary>AUC, rankings and calibration</summary>\n");
    begin_table(out, "other metrics",
                "At the end of the stream, over all classes; less is better in all columns but the first. "
                "<code>ocdm eval --explain</code> prints the formulas.");
    put_heads(out, columns, COUNT(columns));
    put_rows(out, study, study->base_count, columns, COUNT(columns));
    ocdm__output_text(out, "</details>\n");
}

/* ---- the memory --------------------------------------------------------------------------------------------------------- */

static ocdm__summary fewest_cell(const ocdm__study *study, const ocdm__run_group *group, const char *path)
{
    (void)path;
    return ocdm__group_balance(study, group, OCDM__COUNT_FEWEST);
}

static ocdm__summary most_cell(const ocdm__study *study, const ocdm__run_group *group, const char *path)
{
    (void)path;
    return ocdm__group_balance(study, group, OCDM__COUNT_MOST);
}

static ocdm__summary lost_cell(const ocdm__study *study, const ocdm__run_group *group, const char *path)
{
    (void)path;
    return ocdm__group_balance(study, group, OCDM__COUNT_LOST);
}

static const struct column memory_columns[] = {
    {.name = "distance", .path = "final.distance", .decimals = 4, .better = -1},
    {.name = "distance, all seen", .path = "final.distance_seen", .decimals = 4, .better = -1},
    {.name = "samples kept", .path = "memory.kept"},
    {.name = "labels a sample", .path = "memory.labels", .decimals = 2},
    {.name = "in the stream", .path = "memory.labels_seen", .decimals = 2},
    {.name = "fewest of a class", .cell = fewest_cell, .decimals = 1, .better = 1},
    {.name = "most of a class", .cell = most_cell, .decimals = 1},
    {.name = "classes lost", .cell = lost_cell, .decimals = 1, .better = -1},
    {.name = "forgetting, points", .path = "forgetting.mean", .decimals = 1, .better = -1},
    {.name = "mean mAP, %", .path = "mean_mAP", .decimals = 1, .better = 1},
    {.name = "mean CF1, %", .path = "mean_CF1", .decimals = 1, .better = 1},
    {.name = "mean OF1, %", .path = "mean_OF1", .decimals = 1, .better = 1},
};

void ocdm__put_memory_table(ocdm__output *out, const ocdm__study *study)
{
    size_t count = COUNT(memory_columns) - (study->trained ? 0 : 4);
    begin_table(
        out, "balance",
        study->trained
            ? "The memory at the end: its distance to the target (KL divergence; over the classes in play, and "
              "over all classes seen), and what it holds of the rarest and the most frequent class, how many labels a sample has there and in the stream; how much "
              "of what was learned is lost again; the mean over the evaluations after each task."
            : "The memory at the end: its distance to the target (KL divergence; over the classes in play, and "
              "over all classes seen), and what it holds of the rarest and the most frequent class, and how many labels a sample has there and in "
              "the stream.");
    put_heads(out, memory_columns, count);
    put_rows(out, study, study->base_count, memory_columns, count);
}

static const struct column sweep_columns[] = {
    {.name = "distance, all seen", .path = "final.distance_seen", .decimals = 4},
    {.name = "fewest of a class", .cell = fewest_cell, .decimals = 1},
    {.name = "classes lost", .cell = lost_cell, .decimals = 1},
};

void ocdm__put_sweep_table(ocdm__output *out, const ocdm__study *study)
{
    struct column columns[OCDM__PAPER_GROUPS + COUNT(sweep_columns)];
    size_t count = 0;
    if (study->base_count == study->group_count)
        return;
    for (size_t g = 0; g < OCDM__PAPER_GROUPS && study->trained; g++, count++) {
        columns[count] = metric_column(group_at(g), OCDM_MAP);
        char name[32];
        name_group(study, group_at(g), name, sizeof name);
        snprintf(columns[count].name, sizeof columns[count].name, "%s " OCDM__MAP_NAME, name);
    }
    memcpy(columns + count, sweep_columns, sizeof sweep_columns);
    count += COUNT(sweep_columns);
    ocdm__output_text(out, "<details><summary>Every setting that was swept</summary>\n");
    begin_table(out, "sweeps", "As above, for every combination of settings that was run; mAP in percent.");
    put_heads(out, columns, count);
    put_rows(out, study, study->group_count, columns, count);
    ocdm__output_text(out, "</details>\n");
}

/* ---- time --------------------------------------------------------------------------------------------------------------- */

static struct column time_column(const char *name, const char *path)
{
    struct column column = {.decimals = SECONDS};
    snprintf(column.name, sizeof column.name, "%s", name);
    snprintf(column.path, sizeof column.path, "%s", path);
    return column;
}

/* In millions of bytes. */
static ocdm__summary megabytes(const ocdm__study *study, const ocdm__run_group *group, const char *path)
{
    ocdm__summary bytes = ocdm__group_summary(group, path);
    (void)study;
    bytes.mean /= 1e6;
    bytes.deviation /= 1e6;
    return bytes;
}

static const struct column costs[] = {
    {.name = "GFLOP per step", .path = "cost.gflop_per_step", .decimals = SECONDS, .starts = true},
    {.name = "memory, MB", .path = "cost.memory_bytes", .cell = megabytes, .decimals = 2},
};

/* Runs of earlier versions do not say. */
static bool has_cost(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (isfinite(ocdm__group_summary(&study->groups[i], costs[0].path).mean))
            return true;
    return false;
}

void ocdm__put_time_table(ocdm__output *out, const ocdm__study *study)
{
    struct column columns[OCDM__TIME_PARTS + 3 + COUNT(costs)];
    size_t count = 0;
    columns[count++] = time_column("1000 steps", "times.per_1000_steps");
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++)
        if (ocdm__time_part_is_there(study, part))
            columns[count++] = time_column(ocdm__time_parts[part].name, ocdm__time_parts[part].path);
    columns[count++] = time_column("total", "times.total");
    columns[count] = time_column("update, % of steps", "times.update_share");
    columns[count++].decimals = 2;
    bool known = has_cost(study);
    for (size_t i = 0; known && i < COUNT(costs); i++)
        columns[count++] = costs[i];
    char caption[256];
    snprintf(caption, sizeof caption,
             "Seconds; 1000 steps are drawing, %straining and updating the memory, without evaluation.%s",
             ocdm__study_has_images(study) ? "decoding, " : "",
             known ? " GFLOP are operations of training in a step; MB is what the samples in memory take." : "");
    begin_table(out, "times", caption);
    put_heads(out, columns, count);
    put_rows(out, study, study->base_count, columns, count);
}

/* ---- classes ------------------------------------------------------------------------------------------------------------ */

/* A number of a method, or of none. */
static void put_number(ocdm__output *out, double value, int decimals, bool starts, const ocdm__run_group *group)
{
    ocdm__put(out, "<td%s", starts ? " class=\"start\"" : "");
    if (group != NULL)
        ocdm__put_mark_of(out, group);
    put_value(out, value);
    ocdm__output_text(out, ">");
    ocdm__put_decimals(out, value, decimals);
    ocdm__output_text(out, "</td>");
}

static void put_class_heads(ocdm__output *out, const ocdm__study *study)
{
    ocdm__output_text(out, "<tr class=\"groups\"><td></td><td></td><td></td><td></td>");
    for (size_t i = 0; i < study->base_count; i++) {
        ocdm__put(out, "<th scope=\"colgroup\" class=\"start\"%s", study->trained ? " colspan=\"2\"" : "");
        ocdm__put_mark_of(out, &study->groups[i]);
        ocdm__output_text(out, ">");
        ocdm__put_method(out, &study->groups[i]);
        ocdm__output_text(out, "</th>");
    }
    ocdm__output_text(out, "</tr>\n<tr><th scope=\"col\" class=\"text\">class</th><th scope=\"col\" class=\"text\">group</th>"
                           "<th scope=\"col\">in stream</th><th scope=\"col\">target</th>");
    for (size_t i = 0; i < study->base_count; i++) {
        ocdm__output_text(out, "<th scope=\"col\" class=\"start\"");
        ocdm__put_mark_of(out, &study->groups[i]);
        ocdm__output_text(out, ">in memory</th>");
        if (!study->trained)
            continue;
        ocdm__output_text(out, "<th scope=\"col\"");
        ocdm__put_mark_of(out, &study->groups[i]);
        ocdm__output_text(out, ">AP</th>");
    }
    ocdm__output_text(out, "</tr></thead>\n<tbody>\n");
}

static void put_class_row(ocdm__output *out, const ocdm__study *study, const ocdm__study_class *class)
{
    ocdm__output_text(out, "<tr data-c=\"");
    ocdm__put_plain(out, class->name, OCDM__CLASS_LIMIT);
    ocdm__output_text(out, "\"><th scope=\"row\">");
    ocdm__put_name(out, class->name, 40);
    ocdm__output_text(out, "</th><td class=\"text\">");
    ocdm__put_name(out, class->group, 20);
    ocdm__output_text(out, "</td>");
    put_number(out, class->train, 0, false, NULL);
    put_number(out, ocdm__group_target(&study->groups[0], class->column), 1, false, NULL);
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        put_number(out, ocdm__group_count(group, class->column), 1, true, group);
        if (study->trained)
            put_number(out, ocdm__group_precision(group, class->column), 1, false, group);
    }
    ocdm__output_text(out, "</tr>\n");
}

void ocdm__put_class_table(ocdm__output *out, const ocdm__study *study)
{
    ocdm__output_text(out, "<details><summary>Every class in numbers</summary>\n");
    begin_table(out, "classes",
                "Training samples with the class; samples in memory with it at the end, and what the target of the "
                "first method asks for; average precision in percent. Means over seeds.");
    put_class_heads(out, study);
    for (size_t c = 0; c < study->class_count && c < MOST_CLASSES; c++)
        put_class_row(out, study, &study->classes[c]);
    ocdm__output_text(out, "</tbody></table></div>\n");
    if (study->class_count > MOST_CLASSES)
        ocdm__put(out, "<p class=\"note\">The first %d of %zu classes; the data at the end of this file has all.</p>\n",
                  MOST_CLASSES, study->class_count);
    ocdm__output_text(out, "</details>\n");
}
