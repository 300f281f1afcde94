/* The mAP over the tasks: of all of them together, against the best method, and of each task by itself. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/lines.h"
#include "report/text.h"

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

static ocdm_status add_line(ocdm__chart *chart, const ocdm__run_group *group, ocdm_error *error)
{
    ocdm__chart_line *line = ocdm__chart_add(chart, group->label, group->colour, chart->name_count);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->mark = group->mark;
    return OCDM_OK;
}

/* Point k of the last line. */
static void put_point(ocdm__chart *chart, size_t k, ocdm__summary summary)
{
    const ocdm__chart_line *line = &chart->lines[chart->line_count - 1];
    line->x[k] = (double)k;
    line->y[k] = summary.mean;
    line->low[k] = summary.mean - summary.deviation;
    line->high[k] = summary.mean + summary.deviation;
}

static ocdm_status draw_map(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[40];
    ocdm__chart chart = {.x_what = "evaluated after", .y_what = what, .dotted = true};
    ocdm__metric_text("total ", OCDM_MAP, what, sizeof what);
    ocdm_status status = name_evaluations(study, &chart, error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        status = add_line(&chart, group, error);
        for (size_t k = 0; status == OCDM_OK && k < chart.name_count; k++)
            put_point(&chart, k, ocdm__group_evaluation(group, k, "total." OCDM__MAP_NAME));
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

/* ---- difference to the best ---------------------------------------------------------------------------------------------- */

/* What is compared after each task, by its path in an evaluation. */
static const char *evaluation_measure(const ocdm__study *study)
{
    return strchr(ocdm__study_measure(study), '.') + 1;
}

static bool has_difference(const ocdm__study *study)
{
    return ocdm__study_best(study) != NULL && study->base_count > 1 && evaluation_count(&study->groups[0]) > 0;
}

static ocdm_status draw_difference(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    char what[80];
    const ocdm__run_group *best = ocdm__study_best(study);
    ocdm__chart chart = {.x_what = "evaluated after", .y_what = what, .dotted = true};
    snprintf(what, sizeof what, "%s minus that of %.40s", study->trained ? "mAP in points" : "distance", best->label);
    ocdm_status status = name_evaluations(study, &chart, error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++) {
        status = add_line(&chart, &study->groups[i], error);
        for (size_t k = 0; status == OCDM_OK && k < chart.name_count; k++)
            put_point(&chart, k, ocdm__group_evaluation_difference(&study->groups[i], best, k, evaluation_measure(study)));
    }
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

static ocdm_status csv_difference(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    const ocdm__run_group *best = ocdm__study_best(study);
    ocdm__output_text(out, "label,best,after,mean,deviation,runs\n");
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t k = 0; k < evaluation_count(&study->groups[i]); k++) {
            ocdm__summary summary = ocdm__group_evaluation_difference(&study->groups[i], best, k, evaluation_measure(study));
            ocdm__put_csv(out, study->groups[i].label);
            ocdm__output_text(out, ",");
            ocdm__put_csv(out, best->label);
            ocdm__put(out, ",%zu", k);
            ocdm__put_csv_summary(out, &summary);
        }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_difference = {
    .name = "difference",
    .title = "Difference to the best method over time",
    .reading =
        "How far each method is from the one that is best at the end, after each task: the mean of the differences of runs "
        "with the same seed, and one standard deviation of them to either side. The best method is the line at 0; a "
        "method whose bars stay on one side of it differs by more than the choice of the seed.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_difference,
    .draw = draw_difference,
    .write_csv = csv_difference,
};

/* ---- each task after each task ------------------------------------------------------------------------------------------- */

enum { NAMES = 58, CELL_HEIGHT = 26, CELL_WIDTH = 48, HEAD = 58, GAP = 28, LEGEND_ROOM = 34, WIDEST_LABEL = 30 };

/* The narrowest cell that has room for its number. */
#define NUMBERED 30.0

/* The mAP of the task of evaluation `row` in evaluation `column`, on that task's own test samples. */
static ocdm__summary task_map(const ocdm__run_group *group, size_t row, size_t column)
{
    for (size_t i = 0; i < group->run_count; i++) {
        const ocdm__json_node *list = ocdm__json_find(group->runs[i]->summary.root, "evaluations");
        double task = ocdm__json_number(ocdm__json_find(ocdm__json_element(list, row), "task"));
        const ocdm__json_node *tasks = ocdm__json_find(ocdm__json_element(list, column), "tasks");
        group->room[i] = NAN;
        for (const ocdm__json_node *node = tasks != NULL ? tasks->first : NULL; node != NULL; node = node->next)
            if (ocdm__json_number(ocdm__json_find(node, "task")) == task)
                group->room[i] = ocdm__json_number(ocdm__json_find(node, OCDM__MAP_NAME));
    }
    return ocdm__summarise(group->room, group->run_count);
}

static double task_at(const ocdm__run_group *group, size_t after)
{
    const ocdm__json_node *list = ocdm__json_find(group->runs[0]->summary.root, "evaluations");
    return ocdm__json_number(ocdm__json_find(ocdm__json_element(list, after), "task"));
}

struct matrix {
    size_t tasks;
    double cell;      /* width */
    double width;     /* with its names and the gap to the next */
    double height;    /* likewise */
    size_t per_row;   /* matrices side by side, about as many in the last row */
    double low, high; /* of all numbers */
};

static struct matrix plan_matrix(const ocdm__study *study)
{
    struct matrix plan = {.tasks = evaluation_count(&study->groups[0]), .low = INFINITY, .high = -INFINITY};
    double room = (OCDM__FIGURE_WIDTH - NAMES - 2) / (double)(plan.tasks > 0 ? plan.tasks : 1);
    plan.cell = room < CELL_WIDTH ? room : CELL_WIDTH;
    plan.width = NAMES + plan.cell * (double)plan.tasks + GAP;
    plan.height = HEAD + CELL_HEIGHT * (double)plan.tasks + GAP;
    plan.per_row = (size_t)((OCDM__FIGURE_WIDTH + GAP) / plan.width);
    plan.per_row = plan.per_row > 0 ? plan.per_row : 1;
    size_t rows = (study->base_count + plan.per_row - 1) / plan.per_row;
    plan.per_row = (study->base_count + rows - 1) / rows;
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t cell = 0; cell < plan.tasks * plan.tasks; cell++) {
            double value = task_map(&study->groups[i], cell / plan.tasks, cell % plan.tasks).mean;
            plan.low = value < plan.low ? value : plan.low;
            plan.high = value > plan.high ? value : plan.high;
        }
    return plan;
}

static bool has_matrix(const ocdm__study *study)
{
    struct matrix plan = plan_matrix(study);
    return plan.tasks > 1 && plan.high >= plan.low;
}

static unsigned heat_of(const struct matrix *plan, double value)
{
    double share = plan->high > plan->low ? (value - plan->low) / (plan->high - plan->low) : 0.5;
    unsigned step = (unsigned)(share * OCDM__HEATS);
    return step < OCDM__HEATS ? step : OCDM__HEATS - 1;
}

static void draw_cell(const ocdm__canvas *canvas, const struct matrix *plan, const ocdm__run_group *group, size_t row,
                      size_t column, double x, double y)
{
    double value = task_map(group, row, column).mean;
    char text[16], class[16];
    if (!isfinite(value)) {
        ocdm__output_text(canvas->out, "<g role=\"cell\" aria-label=\"not seen yet\"></g>\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f", value);
    ocdm__put(
        canvas->out,
        "<g role=\"cell\" aria-label=\"%s\"><rect class=\"h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>"
        "task %.0f after task %.0f: %s</title></rect>\n",
        text, heat_of(plan, value), x, y, plan->cell - 2, CELL_HEIGHT - 2, task_at(group, row), task_at(group, column), text);
    snprintf(class, sizeof class, "small t%u", heat_of(plan, value));
    if (plan->cell >= NUMBERED)
        ocdm__draw_text(canvas, x + plan->cell / 2 - 1, y + 16, OCDM__ANCHOR_MIDDLE, class, text);
    ocdm__output_text(canvas->out, "</g>\n");
}

/* Text with a role in the table of a screen reader. */
static void draw_head(const ocdm__canvas *canvas, const char *role, double x, double y, enum ocdm__anchor anchor,
                      const char *text)
{
    ocdm__put(canvas->out, "<g role=\"%s\">", role);
    ocdm__draw_text(canvas, x, y, anchor, "small faint", text);
    ocdm__output_text(canvas->out, "</g>\n");
}

static void draw_matrix_head(const ocdm__canvas *canvas, const struct matrix *plan, const ocdm__run_group *group)
{
    ocdm__put(canvas->out,
              "<rect class=\"f%u\" width=\"11\" height=\"11\" y=\"6\"/>\n<text class=\"strong\" x=\"17\" y=\"16\">",
              group->colour % OCDM__COLOURS);
    ocdm__put_plain(canvas->out, group->label, WIDEST_LABEL);
    ocdm__output_text(canvas->out, "</text>\n<g role=\"row\">\n");
    draw_head(canvas, "columnheader", NAMES, 34, OCDM__ANCHOR_START, "after task");
    for (size_t column = 0; column < plan->tasks; column++) {
        char text[24];
        snprintf(text, sizeof text, "%.0f", task_at(group, column));
        draw_head(canvas, "columnheader", NAMES + plan->cell * ((double)column + 0.5) - 1, HEAD - 7, OCDM__ANCHOR_MIDDLE, text);
    }
    ocdm__output_text(canvas->out, "</g>\n");
}

static void draw_matrix(const ocdm__canvas *canvas, const struct matrix *plan, const ocdm__run_group *group, double x, double y)
{
    ocdm__output_text(canvas->out, "<g role=\"table\" aria-label=\"");
    ocdm__put_plain(canvas->out, group->label, OCDM__MARK_LIMIT);
    ocdm__output_text(canvas->out, ": mAP of each task after each task\"");
    ocdm__put_mark(canvas, group->mark);
    ocdm__put(canvas->out, " transform=\"translate(%.1f %.1f)\"", x, y);
    if (ocdm__canvas_is_page(canvas))
        ocdm__put(canvas->out, " data-slot=\"%.1f %.1f\"", x, y);
    ocdm__output_text(canvas->out, ">\n");
    draw_matrix_head(canvas, plan, group);
    for (size_t row = 0; row < plan->tasks; row++) {
        char text[24];
        double top = HEAD + CELL_HEIGHT * (double)row;
        ocdm__task_text(task_at(group, row), text, sizeof text);
        ocdm__output_text(canvas->out, "<g role=\"row\">\n");
        draw_head(canvas, "rowheader", NAMES - 8, top + 16, OCDM__ANCHOR_END, text);
        for (size_t column = 0; column < plan->tasks; column++)
            draw_cell(canvas, plan, group, row, column, NAMES + plan->cell * (double)column, top);
        ocdm__output_text(canvas->out, "</g>\n");
    }
    ocdm__mark_end(canvas);
}

static void draw_heat_legend(const ocdm__canvas *canvas, const struct matrix *plan)
{
    char text[24];
    snprintf(text, sizeof text, "%.1f", plan->low);
    ocdm__draw_text(canvas, NAMES - 8, 18, OCDM__ANCHOR_END, "small faint", text);
    for (unsigned step = 0; step < OCDM__HEATS; step++)
        ocdm__put(canvas->out, "<rect class=\"h%u\" x=\"%u\" y=\"7\" width=\"20\" height=\"14\"/>\n", step, NAMES + 20 * step);
    snprintf(text, sizeof text, "%.1f %s", plan->high, OCDM__MAP_NAME);
    ocdm__draw_text(canvas, NAMES + 20 * OCDM__HEATS + 8, 18, OCDM__ANCHOR_START, "small faint", text);
}

static ocdm_status draw_tasks(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    (void)error;
    struct matrix plan = plan_matrix(study);
    size_t rows = (study->base_count + plan.per_row - 1) / plan.per_row;
    ocdm__picture_begin_tables(canvas, OCDM__FIGURE_WIDTH, LEGEND_ROOM + plan.height * (double)rows - GAP + 4);
    draw_heat_legend(canvas, &plan);
    for (size_t i = 0; i < study->base_count; i++)
        draw_matrix(canvas, &plan, &study->groups[i], plan.width * (double)(i % plan.per_row),
                    LEGEND_ROOM + plan.height * (double)(i / plan.per_row));
    ocdm__picture_end(canvas);
    return OCDM_OK;
}

static ocdm_status csv_tasks(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "label,task,after_task,mean,deviation,runs\n");
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t row = 0; row < evaluation_count(&study->groups[i]); row++)
            for (size_t column = 0; column < evaluation_count(&study->groups[i]); column++) {
                ocdm__summary summary = task_map(&study->groups[i], row, column);
                if (column < row && isnan(summary.mean))
                    continue;
                ocdm__put_csv(out, study->groups[i].label);
                ocdm__put(out, ",%.0f,%.0f", task_at(&study->groups[i], row), task_at(&study->groups[i], column));
                ocdm__put_csv_summary(out, &summary);
            }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_tasks = {
    .name = "tasks",
    .title = "mAP of each task after each task",
    .reading =
        "A row is a task, tested by itself, a column the time of the test; numbers are the mAP in percent, mean over seeds, on "
        "one scale for all methods. The diagonal is what a task scores when it has just been learned; how a row pales to "
        "the right is what is forgotten of it.",
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_matrix,
    .draw = draw_tasks,
    .write_csv = csv_tasks,
};
