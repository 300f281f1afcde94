/* The figures with line charts: mAP after each task, distance step by step, and the effect of rho. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/lines.h"
#include "report/figures/paper.h"
#include "report/tables/paper_numbers.h"
#include "report/text.h"

/* The height of a chart, lower than in the report since there are several. */
#define LOW_FIELD 190

static const char no_runs[] = "There are no runs with a network on this stream, so mAP is left out.";

static double number_at(const ocdm__table *table, size_t row, size_t column)
{
    const ocdm__cell *cell = ocdm__table_at(table, row, column);
    return cell->kind == OCDM__CELL_NUMBER ? cell->value : NAN;
}

static ocdm_status draw_chart(ocdm__chart *chart, ocdm__sheet *sheet, const char *title, ocdm_error *error)
{
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, title);
    return ocdm__chart_draw(chart, &canvas, error);
}

/* ---- orders of tasks ---------------------------------------------------------------------------------------------------- */

/* The tally of the task at position `turn`. `order` is a list as in the flag, "" for ascending tasks. NULL when there is
 * none. */
static const ocdm__tally *task_at(const ocdm__statistics *statistics, const char *order, size_t turn)
{
    uint64_t task = 0;
    if (order[0] == '\0')
        return turn < statistics->task_count ? &statistics->tasks[turn] : NULL;
    for (size_t i = 0; i <= turn; i++) {
        char *end;
        task = strtoull(order, &end, 10);
        if (end == order)
            return NULL;
        order = *end == ',' ? end + 1 : end;
    }
    for (size_t i = 0; i < statistics->task_count; i++)
        if (statistics->tasks[i].task == task)
            return &statistics->tasks[i];
    return NULL;
}

/* Where tasks begin, in steps: a batch holds samples of one task. */
static ocdm_status add_sections(ocdm__chart *chart, const ocdm__paper_part *part, const char *order, ocdm_error *error)
{
    const ocdm__statistics *statistics = &part->source->info->statistics;
    uint64_t batch = ocdm_options_default().batch, step = 0;
    chart->sections = ocdm__allocate(statistics->task_count, sizeof *chart->sections);
    if (chart->sections == NULL)
        return ocdm__fail_memory(error, "a figure");
    for (size_t turn = 0; turn < statistics->task_count; turn++) {
        const ocdm__tally *task = task_at(statistics, order, turn);
        if (task == NULL)
            break;
        ocdm__chart_section *section = &chart->sections[chart->section_count++];
        section->from = (double)step;
        ocdm__task_text((double)task->task, section->name, sizeof section->name);
        step += (task->train + batch - 1) / batch;
    }
    return OCDM_OK;
}

/* ---- curves ------------------------------------------------------------------------------------------------------------- */

/* Columns of the table. */
enum { METHOD = 1, ORDER = 2, SERIES = 3, X = 4, VALUE = 5, DEVIATION = 6 };

static bool is_series(const ocdm__paper_part *part, size_t row, const char *series)
{
    return row < part->table->row_count && strcmp(ocdm__table_at(part->table, row, SERIES)->text, series) == 0;
}

/* The line of a method: rows [row, end). */
static ocdm_status add_line(ocdm__chart *chart, const ocdm__paper_part *part, size_t row, size_t end, ocdm_error *error)
{
    const char *method = ocdm__table_at(part->table, row, METHOD)->text;
    ocdm__chart_line *line = ocdm__chart_add(chart, method, ocdm__method_colour(method), end - row);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    for (size_t k = 0; k < end - row; k++) {
        double deviation = number_at(part->table, row + k, DEVIATION);
        line->x[k] = number_at(part->table, row + k, X) - (chart->names != NULL ? 1 : 0);
        line->y[k] = number_at(part->table, row + k, VALUE);
        line->low[k] = line->y[k] - deviation;
        line->high[k] = line->y[k] + deviation;
    }
    return OCDM_OK;
}

/* The paper's total mAP of a method at the end of its stream. */
static void mark_total(ocdm__chart *chart, const ocdm__paper_part *part, const ocdm__chart_line *line)
{
    const char *stream = part->source->stands_for;
    ocdm__paper_line numbers = ocdm__paper_line_find(stream, stream, "", line->label);
    double total = ocdm__paper_line_number(&numbers, "total", OCDM__MAP_NAME);
    if (isfinite(total) && line->count > 0)
        chart->marks[chart->mark_count++] =
            (ocdm__chart_mark){.x = line->x[line->count - 1], .y = total, .colour = line->colour};
}

static ocdm_status name_tasks(ocdm__chart *chart, const ocdm__paper_part *part, ocdm_error *error)
{
    const ocdm__statistics *statistics = &part->source->info->statistics;
    const char *order = ocdm__table_at(part->table, part->first, ORDER)->text;
    chart->names = ocdm__allocate(statistics->task_count, sizeof *chart->names);
    chart->marks = ocdm__allocate(sizeof part->item->methods / sizeof *part->item->methods, sizeof *chart->marks);
    if (chart->names == NULL || chart->marks == NULL)
        return ocdm__fail_memory(error, "a figure");
    for (size_t turn = 0; turn < statistics->task_count && task_at(statistics, order, turn) != NULL; turn++) {
        char *name = chart->names[chart->name_count++];
        snprintf(name, sizeof *chart->names, "%s", turn == 0 ? "" : "+ ");
        ocdm__task_text((double)task_at(statistics, order, turn)->task, name + strlen(name), sizeof *chart->names - 2);
    }
    return OCDM_OK;
}

/* mAP after each task, the first rows of the part; advances `row` past them. */
static ocdm_status draw_map(const ocdm__paper_part *part, size_t *row, ocdm__sheet *sheet, ocdm_error *error)
{
    char what[40];
    ocdm__chart chart = {
        .x_what = "evaluated after", .y_what = what, .mark_what = "the paper", .height = LOW_FIELD, .dotted = true};
    ocdm__metric_text("total ", OCDM_MAP, what, sizeof what);
    ocdm_status status = name_tasks(&chart, part, error);
    while (status == OCDM_OK && is_series(part, *row, OCDM__MAP_NAME)) {
        size_t end = ocdm__paper_rows_end(part->table, *row, SERIES + 1);
        status = add_line(&chart, part, *row, end, error);
        *row = end;
    }
    for (size_t i = 0; status == OCDM_OK && i < chart.line_count && i + 1 < sizeof part->item->methods / sizeof(char *); i++)
        mark_total(&chart, part, &chart.lines[i]);
    if (status == OCDM_OK)
        status = draw_chart(&chart, sheet, "mAP after each task", error);
    ocdm__chart_clear(&chart);
    return status;
}

/* All charts of a stream have the same vertical range, so that they can be compared. */
static void find_reach(const ocdm__paper_part *part, size_t row, double reach[2])
{
    reach[0] = INFINITY;
    reach[1] = 0;
    for (; row < part->table->row_count; row++) {
        double value = number_at(part->table, row, VALUE);
        reach[0] = value > 0 && value < reach[0] ? value : reach[0];
        reach[1] = value > reach[1] ? value : reach[1];
    }
}

/* The distances in one order of the tasks; advances `row` past them. */
static ocdm_status draw_order(const ocdm__paper_part *part, size_t *row, const double reach[2], ocdm__sheet *sheet,
                              ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "training steps",
                         .y_what = "distance (KL)",
                         .height = LOW_FIELD,
                         .y_reach = {reach[0], reach[1]},
                         .is_log = true};
    char title[OCDM__TABLE_TEXT + 60];
    const char *order = ocdm__table_at(part->table, *row, ORDER)->text;
    ocdm_status status = add_sections(&chart, part, order, error);
    snprintf(title, sizeof title, "distance step by step%s%s", order[0] != '\0' ? ", tasks in the order " : "", order);
    if (order[0] != '\0')
        ocdm__sheet_remark(sheet, title + strlen("distance step by step, "));
    while (status == OCDM_OK && *row < part->table->row_count &&
           strcmp(ocdm__table_at(part->table, *row, ORDER)->text, order) == 0) {
        size_t end = ocdm__paper_rows_end(part->table, *row, SERIES + 1);
        status = add_line(&chart, part, *row, end, error);
        *row = end;
    }
    if (status == OCDM_OK)
        status = draw_chart(&chart, sheet, title, error);
    ocdm__chart_clear(&chart);
    return status;
}

ocdm_status ocdm__paper_draw_curves(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error)
{
    size_t row = part->first;
    double reach[2];
    ocdm_status status = OCDM_OK;
    if (is_series(part, row, OCDM__MAP_NAME))
        status = draw_map(part, &row, sheet, error);
    else if (part->item->kind == OCDM__PAPER_CURVES)
        ocdm__sheet_remark(sheet, no_runs);
    find_reach(part, row, reach);
    while (status == OCDM_OK && row < part->table->row_count)
        status = draw_order(part, &row, reach, sheet, error);
    return status;
}

/* ---- rho ---------------------------------------------------------------------------------------------------------------- */

/* Columns of the table. */
enum { RHO = 1, GROUP = 2, KEPT_PER_CLASS = 4, MAP = 5, MAP_DEVIATION = 6 };

static bool has_map(const ocdm__paper_part *part)
{
    for (size_t row = part->first; row < part->table->row_count; row++)
        if (isfinite(number_at(part->table, row, MAP)))
            return true;
    return false;
}

static ocdm_status add_group(ocdm__chart *chart, const ocdm__paper_part *part, const char *group, const char *label,
                             size_t column, ocdm_error *error)
{
    ocdm__chart_line *line = ocdm__chart_add(chart, label, OCDM__INK(chart->line_count), part->table->row_count - part->first);
    if (line == NULL)
        return ocdm__fail_memory(error, "a figure");
    line->count = 0;
    for (size_t row = part->first; row < part->table->row_count; row++) {
        if (strcmp(ocdm__table_at(part->table, row, GROUP)->text, group) != 0)
            continue;
        double value = number_at(part->table, row, column);
        double deviation = column == MAP ? number_at(part->table, row, MAP_DEVIATION) : NAN;
        line->x[line->count] = number_at(part->table, row, RHO);
        line->y[line->count] = value;
        line->low[line->count] = value - deviation;
        line->high[line->count++] = value + deviation;
    }
    return OCDM_OK;
}

/* The paper's mAP of a group at rho 0: its main result. */
static void mark_group(ocdm__chart *chart, const ocdm__paper_part *part, const char *group, unsigned colour)
{
    const char *stream = part->source->stands_for;
    ocdm__paper_line numbers = ocdm__paper_line_find(stream, stream, "", "ocdm");
    double value = ocdm__paper_line_number(&numbers, group, OCDM__MAP_NAME);
    if (isfinite(value))
        chart->marks[chart->mark_count++] = (ocdm__chart_mark){.x = 0, .y = value, .colour = colour};
}

#define MOST_TRENDS 8

static ocdm_status draw_groups(const ocdm__paper_part *part, size_t column, ocdm__sheet *sheet, ocdm_error *error)
{
    bool is_map = column == MAP;
    char labels[MOST_TRENDS][40], what[40] = "samples per class";
    ocdm__chart chart = {.x_what = "rho", .y_what = what, .height = LOW_FIELD, .dotted = true};
    if (is_map)
        ocdm__metric_text("", OCDM_MAP, what, sizeof what);
    ocdm_status status = OCDM_OK;
    chart.mark_what = is_map ? "the paper" : NULL;
    chart.marks = ocdm__allocate(MOST_TRENDS, sizeof *chart.marks);
    if (chart.marks == NULL)
        status = ocdm__fail_memory(error, "a figure");
    for (size_t i = 0; status == OCDM_OK && i < MOST_TRENDS && ocdm__paper_trend_at(i) != NULL; i++) {
        const ocdm__paper_trend *trend = ocdm__paper_trend_at(i);
        snprintf(labels[i], sizeof labels[i], "%s (paper: %s)", trend->group, trend->sign > 0 ? "rises" : "falls");
        status = add_group(&chart, part, trend->group, labels[i], column, error);
        if (status == OCDM_OK && is_map)
            mark_group(&chart, part, trend->group, chart.lines[i].colour);
    }
    if (status == OCDM_OK)
        status = draw_chart(&chart, sheet, is_map ? "mAP against rho" : "samples kept against rho", error);
    ocdm__chart_clear(&chart);
    return status;
}

ocdm_status ocdm__paper_draw_rho(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    if (has_map(part))
        status = draw_groups(part, MAP, sheet, error);
    else
        ocdm__sheet_remark(sheet, no_runs);
    return status == OCDM_OK ? draw_groups(part, KEPT_PER_CLASS, sheet, error) : status;
}
