/* Tables of numbers by group: mean and standard deviation over seeds. Bold: not significantly worse than the best. */
#include "report/figures/figure.h"
#include "report/page/parts.h"
#include "report/text.h"

#define MOST_CLASSES 300

#define SECONDS (-1)
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct column {
    char name[40];
    char path[OCDM__METRIC_PATH]; /* as ocdm__group_summary takes it */
    double unit;                  /* that the number is shown in; 0 for 1 */
    int decimals;                 /* SECONDS: as many as the size asks for */
    int better;                   /* 1: more is, -1: less is, 0: neither */
    bool starts;                  /* a group of columns */
};

static const char *class_of(const struct column *column, bool best)
{
    return best ? (column->starts ? "best start" : "best") : column->starts ? "start" : "";
}

/* The heads of a table of numbers, below those of its groups, and its rows: a row for each of the first `groups`. */
static void put_numbers(ocdm__output *out, const ocdm__study *study, size_t groups, const struct column *columns, size_t count)
{
    const ocdm__judgement *judged[OCDM__STUDY_SLOTS] = {NULL};
    ocdm__output_text(out, "<tr>" OCDM__HEAD("text", "method") "<th scope=\"col\">seeds</th>");
    for (size_t c = 0; c < count; c++) {
        ocdm__html_head(out, class_of(&columns[c], false), NULL, columns[c].name);
        if (columns[c].better != 0)
            judged[c] = ocdm__study_judge(study, c, columns[c].path, columns[c].better);
    }
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t i = 0; i < groups; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__html_row(out, group);
        ocdm__output_text(out, group->bound ? " <span class=\"sd\">(upper bound)</span>" : "");
        ocdm__put_markup(out, "</th><td data-v=\"%zu\">%zu</td>", group->run_count, group->run_count);
        for (size_t c = 0; c < count; c++) {
            ocdm__summary number = ocdm__group_summary(group, columns[c].path);
            number.mean /= columns[c].unit > 0 ? columns[c].unit : 1;
            number.deviation /= columns[c].unit > 0 ? columns[c].unit : 1;
            int places = number.mean >= 100 ? 1 : number.mean >= 1 ? 2 : 4;
            ocdm__html_number(out, class_of(&columns[c], i < study->base_count && judged[c] != NULL && judged[c][i].bold), NULL,
                              &number, columns[c].decimals != SECONDS ? columns[c].decimals : places);
        }
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, OCDM__HTML_END);
}

/* Runs of earlier versions do not have every number. */
static bool has_number(const ocdm__study *study, const char *path)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (!isnan(ocdm__group_summary(&study->groups[i], path).mean))
            return true;
    return false;
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

void ocdm__put_paper_table(ocdm__output *out, const ocdm__study *study)
{
    if (!study->trained)
        return;
    ocdm__html_begin(
        out, "results", "sort",
        "At the end of the stream, on the test samples of all tasks, in percent: mean ± standard deviation over seeds; "
        "bold is the best of a column, and what is not significantly worse (Tukey's studentised range, paired over seeds, "
        "family-wise error 5 %); nothing is bold if no two methods differ significantly. After a group, its classes.");
    struct column columns[OCDM__PAPER_GROUPS * OCDM__TABLE_METRICS];
    for (size_t i = 0; i < COUNT(columns); i++) {
        columns[i] = metric_column(group_at(i / OCDM__TABLE_METRICS), (ocdm_metric)(i % OCDM__TABLE_METRICS));
        columns[i].better = 1;
        columns[i].starts = i % OCDM__TABLE_METRICS == 0;
    }
    ocdm__output_text(out, "<tr class=\"groups\"><td></td><td></td>");
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++) {
        char name[40];
        name_group(study, group_at(g), name, sizeof name);
        ocdm__put_markup(out, "<th scope=\"colgroup\" class=\"start\" colspan=\"%u\">%s</th>", OCDM__TABLE_METRICS, name);
    }
    ocdm__output_text(out, "</tr>\n");
    put_numbers(out, study, study->base_count, columns, COUNT(columns));
}

void ocdm__put_other_metrics(ocdm__output *out, const ocdm__study *study)
{
    struct column columns[OCDM__METRIC_COUNT - OCDM__OTHER_METRICS];
    if (!study->trained || !has_number(study, metric_column(group_at(0), OCDM__OTHER_METRICS).path))
        return;
    for (size_t i = 0; i < COUNT(columns); i++) {
        ocdm_metric metric = (ocdm_metric)(OCDM__OTHER_METRICS + i);
        columns[i] = metric_column(group_at(0), metric);
        columns[i].better = ocdm__metrics[metric].low ? -1 : 1;
        snprintf(columns[i].name, sizeof columns[i].name, "%s, %s", ocdm__metric_name(metric), ocdm__metrics[metric].unit);
    }
    ocdm__output_text(out, "<details><summary>AUC, rankings and calibration</summary>\n");
    ocdm__html_begin(out, "other metrics", "sort",
                     "At the end of the stream, over all classes; less is better in all columns but the first. "
                     "<code>ocdm eval --explain</code> prints the formulas.");
    put_numbers(out, study, study->base_count, columns, COUNT(columns));
    ocdm__output_text(out, "</details>\n");
}

/* ---- the memory --------------------------------------------------------------------------------------------------------- */

static const struct column memory_columns[] = {
    {.name = "distance", .path = "final.distance", .decimals = 4, .better = -1},
    {.name = "distance, all seen", .path = "final.distance_seen", .decimals = 4, .better = -1},
    {.name = "samples kept", .path = "memory.kept"},
    {.name = "labels a sample", .path = "memory.labels", .decimals = 2},
    {.name = "in the stream", .path = "memory.labels_seen", .decimals = 2},
    {.name = "fewest of a class", .path = "count.fewest", .decimals = 1, .better = 1},
    {.name = "most of a class", .path = "count.most", .decimals = 1},
    {.name = "classes lost", .path = "count.lost", .decimals = 1, .better = -1},
    {.name = "forgetting, points", .path = "forgetting.mean", .decimals = 1, .better = -1},
    {.name = "BWT", .path = "BWT", .decimals = 1, .better = 1},
    {.name = "FWT", .path = "FWT", .decimals = 1, .better = 1},
    {.name = "mean mAP, %", .path = "mean_mAP", .decimals = 1, .better = 1},
    {.name = "mean CF1, %", .path = "mean_CF1", .decimals = 1, .better = 1},
    {.name = "mean OF1, %", .path = "mean_OF1", .decimals = 1, .better = 1},
};

void ocdm__put_memory_table(ocdm__output *out, const ocdm__study *study)
{
    size_t count = COUNT(memory_columns) - (study->trained ? 0 : 6);
    ocdm__html_begin(
        out, "balance", "sort",
        study->trained
            ? "The memory at the end: its distance to the target (KL divergence; over the classes in play, and "
              "over all classes seen), and what it holds of the rarest and the most frequent class, how many labels a sample has there and in the stream; how much "
              "of what was learned is lost again, what later tasks add to a task (BWT) and what earlier ones gave it before it was learned "
              "(FWT, with <code>--transfer</code>), in points of mAP; the mean over the evaluations after each task."
            : "The memory at the end: its distance to the target (KL divergence; over the classes in play, and "
              "over all classes seen), and what it holds of the rarest and the most frequent class, and how many labels a sample has there and in "
              "the stream.");
    put_numbers(out, study, study->base_count, memory_columns, count);
}

static const struct column sweep_columns[] = {
    {.name = "distance, all seen", .path = "final.distance_seen", .decimals = 4},
    {.name = "fewest of a class", .path = "count.fewest", .decimals = 1},
    {.name = "classes lost", .path = "count.lost", .decimals = 1},
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
    ocdm__html_begin(out, "sweeps", "sort", "As above, for every combination of settings that was run; mAP in percent.");
    put_numbers(out, study, study->group_count, columns, count);
    ocdm__output_text(out, "</details>\n");
}

/* ---- time --------------------------------------------------------------------------------------------------------------- */

static const struct column costs[] = {
    {.name = "GFLOP per step", .path = "cost.gflop_per_step", .decimals = SECONDS, .starts = true},
    {.name = "memory, MB", .path = "cost.memory_bytes", .unit = 1e6, .decimals = 2},
};

void ocdm__put_time_table(ocdm__output *out, const ocdm__study *study)
{
    struct column columns[OCDM__TIME_PARTS + 3 + COUNT(costs)];
    size_t count = 0;
    columns[count++] = (struct column){.name = "1000 steps", .path = "times.per_1000_steps", .decimals = SECONDS};
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++) {
        if (!ocdm__time_part_is_there(study, part))
            continue;
        columns[count] = (struct column){.decimals = SECONDS};
        snprintf(columns[count].name, sizeof columns->name, "%s", ocdm__time_parts[part].name);
        snprintf(columns[count++].path, sizeof columns->path, "%s", ocdm__time_parts[part].path);
    }
    columns[count++] = (struct column){.name = "total", .path = "times.total", .decimals = SECONDS};
    columns[count++] = (struct column){.name = "update, % of steps", .path = "times.update_share", .decimals = 2};
    bool known = has_number(study, costs[0].path);
    for (size_t i = 0; known && i < COUNT(costs); i++)
        columns[count++] = costs[i];
    char caption[256];
    snprintf(caption, sizeof caption,
             "Seconds; 1000 steps are drawing, %straining and updating the memory, without evaluation.%s",
             ocdm__study_has_images(study) ? "decoding, " : "",
             known ? " GFLOP are operations of training in a step; MB is what the samples in memory take." : "");
    ocdm__html_begin(out, "times", "sort", caption);
    put_numbers(out, study, study->base_count, columns, count);
}

/* ---- classes ------------------------------------------------------------------------------------------------------------ */

void ocdm__put_class_table(ocdm__output *out, const ocdm__study *study)
{
    ocdm__output_text(out, "<details><summary>Every class in numbers</summary>\n");
    ocdm__html_begin(out, "classes", "sort",
                     "Training samples with the class; samples in memory with it at the end, and what the target of the "
                     "first method asks for; average precision in percent. Means over seeds.");
    ocdm__output_text(out, "<tr class=\"groups\"><td></td><td></td><td></td><td></td>");
    for (size_t i = 0; i < study->base_count; i++) {
        ocdm__output_text(out, "<th scope=\"colgroup\" class=\"start\"");
        ocdm__output_text(out, study->trained ? " colspan=\"2\"" : "");
        ocdm__put_mark_of(out, &study->groups[i]);
        ocdm__output_text(out, ">");
        ocdm__put_method(out, &study->groups[i]);
        ocdm__output_text(out, "</th>");
    }
    ocdm__output_text(out, "</tr>\n<tr>" OCDM__HEAD("text", "class")
                               OCDM__HEAD("text", "group") "<th scope=\"col\">in stream</th><th scope=\"col\">target</th>");
    for (size_t i = 0; i < study->base_count; i++) {
        ocdm__html_head(out, "start", &study->groups[i], "in memory");
        if (study->trained)
            ocdm__html_head(out, "", &study->groups[i], "AP");
    }
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t c = 0; c < study->class_count && c < MOST_CLASSES; c++) {
        const ocdm__study_class *class = &study->classes[c];
        ocdm__put_markup(out, "<tr data-c=\"%.*s\"><th scope=\"row\">%-.40s</th><td class=\"text\">%-.20s</td>",
                         OCDM__CLASS_LIMIT, class->name, class->name, class->group);
        ocdm__html_value(out, "", NULL, class->train, 0);
        ocdm__html_value(out, "", NULL, ocdm__group_entry(&study->groups[0], "target", class->column), 1);
        for (size_t i = 0; i < study->base_count; i++) {
            const ocdm__run_group *group = &study->groups[i];
            ocdm__html_value(out, "start", group, ocdm__group_entry(group, "counts", class->column), 1);
            if (study->trained)
                ocdm__html_value(out, "", group, ocdm__group_precision(group, class->column), 1);
        }
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, OCDM__HTML_END);
    if (study->class_count > MOST_CLASSES)
        ocdm__put_markup(out, "<p class=\"note\">The first %d of %zu classes; the data at the end of this file has all.</p>\n",
                         MOST_CLASSES, study->class_count);
    ocdm__output_text(out, "</details>\n");
}
