/* The distance over steps, and the mAP after each task. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/lines.h"
#include "report/text.h"

/* A line has two points in each bucket, its lowest and its highest, so that no peak is lost. */
#define BUCKETS ((size_t)220)

bool ocdm__is_base_group(const ocdm__study *study, const ocdm__run_group *group)
{
    (void)study;
    return group->base;
}

/* ---- distance ----------------------------------------------------------------------------------------------------------- */

/* Runs that differ only in the seed log the same steps. If one is shorter, the common part counts. */
static size_t curve_length(const ocdm__run_group *group)
{
    size_t length = SIZE_MAX;
    for (size_t i = 0; i < group->run_count; i++) {
        const ocdm__run_record *run = group->runs[i];
        size_t here = run->step.count < run->distance_seen.count ? run->step.count : run->distance_seen.count;
        length = here < length ? here : length;
    }
    return length;
}

struct spread {
    double mean, low, high;
};

static struct spread spread_at(const ocdm__run_group *group, size_t k)
{
    struct spread spread = {0, INFINITY, -INFINITY};
    for (size_t i = 0; i < group->run_count; i++) {
        double value = group->runs[i]->distance_seen.values[k];
        spread.mean += value / (double)group->run_count;
        spread.low = value < spread.low ? value : spread.low;
        spread.high = value > spread.high ? value : spread.high;
    }
    return spread;
}

static void put_sample(ocdm__chart_line *line, const ocdm__run_group *group, size_t k)
{
    struct spread spread = spread_at(group, k);
    line->x[line->count] = group->runs[0]->step.values[k];
    line->y[line->count] = spread.mean;
    line->low[line->count] = group->run_count > 1 ? spread.low : NAN;
    line->high[line->count] = group->run_count > 1 ? spread.high : NAN;
    line->count++;
}

static ocdm_status add_curve(ocdm__chart *chart, const ocdm__run_group *group, ocdm_error *error)
{
    size_t length = curve_length(group);
    size_t bucket = (length + BUCKETS - 1) / BUCKETS;
    ocdm__chart_line *line = ocdm__chart_add(chart, group->label, group->colour, 2 * BUCKETS);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->count = 0;
    for (size_t k = 0; k < length; k += bucket) {
        size_t lowest = k, highest = k;
        for (size_t i = k; i < k + bucket && i < length; i++) {
            lowest = spread_at(group, i).mean < spread_at(group, lowest).mean ? i : lowest;
            highest = spread_at(group, i).mean > spread_at(group, highest).mean ? i : highest;
        }
        put_sample(line, group, lowest < highest ? lowest : highest);
        if (lowest != highest)
            put_sample(line, group, lowest < highest ? highest : lowest);
    }
    return OCDM_OK;
}

/* Where tasks begin: after the step of the evaluation before. */
static ocdm_status add_sections(ocdm__chart *chart, const ocdm__run_record *run, ocdm_error *error)
{
    const ocdm__json_node *list = ocdm__json_find(run->summary.root, "evaluations");
    size_t count = list != NULL && list->kind == OCDM__JSON_ARRAY ? list->count : 0;
    chart->sections = ocdm__allocate(count, sizeof *chart->sections);
    if (chart->sections == NULL)
        return ocdm__fail_memory(error, "a figure");
    double from = 0;
    for (const ocdm__json_node *node = count > 0 ? list->first : NULL; node != NULL; node = node->next) {
        ocdm__chart_section *section = &chart->sections[chart->section_count++];
        section->from = from;
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), section->name, sizeof section->name);
        from = ocdm__json_number(ocdm__json_find(node, "step"));
    }
    return OCDM_OK;
}

ocdm_status ocdm__draw_distance(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                                ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "training steps", .y_what = "distance to the target (KL, log scale)", .is_log = true};
    ocdm_status status = OCDM_OK;
    const ocdm__run_group *first = NULL;
    bool one_order = true;
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!takes(study, group))
            continue;
        first = first == NULL ? group : first;
        one_order = one_order && ocdm__json_same(ocdm__json_find(first->runs[0]->settings, "order"),
                                                 ocdm__json_find(group->runs[0]->settings, "order"));
        status = add_curve(&chart, group, error);
    }
    for (size_t i = 0; i < chart.line_count && !one_order; i++)
        chart.lines[i].colour = (unsigned)i;
    if (status == OCDM_OK && first != NULL && one_order)
        status = add_sections(&chart, first->runs[0], error);
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

void ocdm__csv_distance(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out)
{
    ocdm__output_text(out, "label,seed,step,distance_seen\n");
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; takes(study, &study->groups[i]) && j < study->groups[i].run_count; j++) {
            const ocdm__run_record *run = study->groups[i].runs[j];
            for (size_t k = 0; k < run->step.count && k < run->distance_seen.count; k++) {
                ocdm__put_csv(out, study->groups[i].label);
                ocdm__put_csv_number(out, run->seed);
                ocdm__put_csv_number(out, run->step.values[k]);
                ocdm__put_csv_number(out, run->distance_seen.values[k]);
                ocdm__output_text(out, "\n");
            }
        }
}

static bool has_distance(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__numbers *curve = &study->groups[i].runs[0]->distance_seen;
        for (size_t k = 0; k < curve->count; k++)
            if (isfinite(curve->values[k]))
                return true;
    }
    return false;
}

static ocdm_status draw_distance(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return ocdm__draw_distance(study, ocdm__is_base_group, canvas, error);
}

static ocdm_status csv_distance(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__csv_distance(study, ocdm__is_base_group, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_distance = {
    .name = "distance",
    .title = "Distance to the target over the stream",
    .reading =
        "Lower is better: at 0 the classes have exactly the shares in memory that the target asks for, over all classes "
        "seen so far. New classes arrive where a dashed line marks the next task, so the distance jumps there; a good "
        "memory comes down quickly. The line is the mean over seeds, the band reaches from the lowest seed to the highest.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_distance,
    .draw = draw_distance,
    .write_csv = csv_distance,
};

/* ---- mAP after each task ------------------------------------------------------------------------------------------------ */

static size_t evaluation_count(const ocdm__run_group *group)
{
    const ocdm__json_node *list = ocdm__json_find(group->runs[0]->summary.root, "evaluations");
    return list != NULL && list->kind == OCDM__JSON_ARRAY ? list->count : 0;
}

static bool has_map(const ocdm__study *study)
{
    return study->trained && evaluation_count(&study->groups[0]) > 0;
}

static ocdm_status name_evaluations(const ocdm__study *study, ocdm__chart *chart, ocdm_error *error)
{
    size_t count = evaluation_count(&study->groups[0]);
    chart->names = ocdm__allocate(count, sizeof *chart->names);
    if (chart->names == NULL)
        return ocdm__fail_memory(error, "a figure");
    chart->name_count = count;
    const ocdm__json_node *list = ocdm__json_find(study->groups[0].runs[0]->summary.root, "evaluations");
    size_t i = 0;
    for (const ocdm__json_node *node = list->first; node != NULL; node = node->next, i++) {
        snprintf(chart->names[i], sizeof chart->names[i], "%s", i == 0 ? "" : "+ ");
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), chart->names[i] + (i == 0 ? 0 : 2),
                        sizeof chart->names[i] - 2);
    }
    return OCDM_OK;
}

static ocdm_status draw_map(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[40];
    ocdm__chart chart = {.x_what = "evaluated after", .y_what = what, .dotted = true};
    ocdm__metric_text("total ", OCDM_MAP, what, sizeof what);
    ocdm_status status = name_evaluations(study, &chart, error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__chart_line *line = ocdm__chart_add(&chart, group->label, group->colour, chart.name_count);
        if (line == NULL)
            status = ocdm__fail_memory(error, "a figure");
        for (size_t k = 0; line != NULL && k < chart.name_count; k++) {
            ocdm__summary summary = ocdm__group_evaluation(group, k, "total." OCDM__MAP_NAME);
            line->x[k] = (double)k;
            line->y[k] = summary.mean;
            line->low[k] = summary.mean - summary.deviation;
            line->high[k] = summary.mean + summary.deviation;
        }
    }
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_map(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "label,after,mean,deviation,runs\n");
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t k = 0; k < evaluation_count(&study->groups[i]); k++) {
            ocdm__summary summary = ocdm__group_evaluation(&study->groups[i], k, "total." OCDM__MAP_NAME);
            ocdm__put_csv(out, study->groups[i].label);
            ocdm__put(out, ",%zu", k);
            ocdm__put_csv_summary(out, &summary);
        }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_map = {
    .name = "map",
    .title = "mAP after each task",
    .reading =
        "Higher is better. After each task the network is tested on the test samples of all tasks so far, so the test gets "
        "harder to the right; how little a line falls shows how little is forgotten. Bars are one standard deviation over "
        "seeds to either side.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_map,
    .draw = draw_map,
    .write_csv = csv_map,
};
