/* Draws matrices of numbers, each number in a colour as deep as it is high, on one scale for all. Each is a table to a screen
 * reader. */
#include "report/charts/chart.h"
#include "report/text.h"

enum { NAMES = 58, CELL_HEIGHT = 26, CELL_WIDTH = 48, HEAD = 58, GAP = 28, LEGEND_ROOM = 34, WIDEST_LABEL = 30 };

/* The narrowest cell that has room for its number. */
#define NUMBERED 30.0

struct matrices {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    double *values;   /* of all cells; NaN for none */
    double *tasks;    /* of their rows */
    double *afters;   /* of their columns */
    size_t side;      /* rows and columns of each */
    double cell;      /* width */
    double width;     /* with its names and the gap to the next */
    double height;    /* likewise */
    size_t per_row;   /* matrices side by side, about as many in the last row */
    double low, high; /* of all numbers */
};

/* The task of a row or of a column of a matrix, from the cell on the diagonal: a task is always tested when it was learned. */
static double task_of(const struct matrices *plan, const double *tasks, size_t series, size_t place)
{
    return tasks[(series * plan->side + place) * plan->side + place];
}

static void draw_cell(const struct matrices *plan, size_t series, size_t row, size_t column)
{
    ocdm__output *out = plan->canvas->out;
    double value = plan->values[(series * plan->side + row) * plan->side + column];
    double x = NAMES + plan->cell * (double)column, y = HEAD + CELL_HEIGHT * (double)row;
    char class[16];
    if (!isfinite(value)) {
        ocdm__output_text(out, "<g role=\"cell\" aria-label=\"not seen yet\"></g>\n");
        return;
    }
    double share = plan->high > plan->low ? (value - plan->low) / (plan->high - plan->low) : 0.5;
    unsigned heat = (unsigned)(share * OCDM__HEATS);
    heat = heat < OCDM__HEATS ? heat : OCDM__HEATS - 1;
    snprintf(class, sizeof class, "small t%u", heat);
    ocdm__put_markup(out,
                     "<g role=\"cell\" aria-label=\"%.1f\"><rect class=\"h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                     "height=\"%d\"><title>task %.0f after task %.0f: %.1f</title></rect>\n",
                     value, heat, x, y, plan->cell - 2, CELL_HEIGHT - 2, task_of(plan, plan->tasks, series, row),
                     task_of(plan, plan->afters, series, column), value);
    if (plan->cell >= NUMBERED)
        ocdm__draw_text(plan->canvas, x + plan->cell / 2 - 1, y + 16, OCDM__MIDDLE, class, "%.1f", value);
    ocdm__output_text(out, "</g>\n");
}

static void draw_matrix(const struct matrices *plan, size_t number)
{
    const ocdm__canvas *canvas = plan->canvas;
    const ocdm__series *series = &plan->chart->series[number];
    const size_t above = number / plan->per_row;
    const double x = plan->width * (double)(number % plan->per_row), y = LEGEND_ROOM + plan->height * (double)above;
    char text[40];
    ocdm__put_markup(canvas->out, "<g role=\"table\" aria-label=\"%.*s: mAP of each task after each task\"", OCDM__MARK_LIMIT,
                     series->label);
    ocdm__put_mark(canvas, series->mark);
    ocdm__put_markup(canvas->out, " transform=\"translate(%.1f %.1f)\"", x, y);
    if (ocdm__canvas_is_page(canvas))
        ocdm__put_markup(canvas->out, " data-slot=\"%.1f %.1f\"", x, y);
    ocdm__put_markup(canvas->out, ">\n<rect class=\"%s\" width=\"11\" height=\"11\" y=\"6\"/>\n",
                     ocdm__fill(series->colour).text);
    ocdm__draw_text(canvas, 17, 16, OCDM__START, "strong", "%.*s", WIDEST_LABEL, series->label);
    ocdm__output_text(canvas->out, "<g role=\"row\">\n");
    ocdm__draw_cell(canvas, "columnheader", NAMES, 34, OCDM__START, "after task");
    for (size_t column = 0; column < plan->side; column++) {
        snprintf(text, sizeof text, "%.0f", task_of(plan, plan->afters, number, column));
        ocdm__draw_cell(canvas, "columnheader", NAMES + plan->cell * ((double)column + 0.5) - 1, HEAD - 7, OCDM__MIDDLE, text);
    }
    ocdm__output_text(canvas->out, "</g>\n");
    for (size_t row = 0; row < plan->side; row++) {
        ocdm__task_text(task_of(plan, plan->tasks, number, row), text, sizeof text);
        ocdm__output_text(canvas->out, "<g role=\"row\">\n");
        ocdm__draw_cell(canvas, "rowheader", NAMES - 8, HEAD + CELL_HEIGHT * (double)row + 16, OCDM__END, text);
        for (size_t column = 0; column < plan->side; column++)
            draw_cell(plan, number, row, column);
        ocdm__output_text(canvas->out, "</g>\n");
    }
    ocdm__output_text(canvas->out, "</g>\n");
}

void ocdm__matrix_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena)
{
    const size_t side = chart->name_count, count = chart->series_count;
    double room = (OCDM__FIGURE_WIDTH - NAMES - 2) / (double)side, cell = room < CELL_WIDTH ? room : CELL_WIDTH;
    struct matrices plan = {.chart = chart,
                            .canvas = canvas,
                            .values = ocdm__chart_values(arena, chart, chart->y, side * side),
                            .tasks = ocdm__chart_values(arena, chart, "task", side * side),
                            .afters = ocdm__chart_values(arena, chart, "after_task", side * side),
                            .side = side,
                            .cell = cell,
                            .width = NAMES + cell * (double)side + GAP,
                            .height = HEAD + CELL_HEIGHT * (double)side + GAP,
                            .low = INFINITY,
                            .high = -INFINITY};
    if (arena->failed)
        return;
    plan.per_row = (size_t)((OCDM__FIGURE_WIDTH + GAP) / plan.width);
    plan.per_row = plan.per_row > 0 ? plan.per_row : 1;
    size_t rows = (count + plan.per_row - 1) / plan.per_row;
    plan.per_row = (count + rows - 1) / rows;
    rows = (count + plan.per_row - 1) / plan.per_row;
    for (size_t i = 0; i < count * side * side; i++) {
        plan.low = plan.values[i] < plan.low ? plan.values[i] : plan.low;
        plan.high = plan.values[i] > plan.high ? plan.values[i] : plan.high;
    }
    ocdm__picture_begin(canvas, LEGEND_ROOM + plan.height * (double)rows - GAP + 4, true);
    ocdm__draw_text(canvas, NAMES - 8, 18, OCDM__END, "small faint", "%.1f", plan.low);
    for (unsigned step = 0; step < OCDM__HEATS; step++)
        ocdm__put_markup(canvas->out, "<rect class=\"h%u\" x=\"%u\" y=\"7\" width=\"20\" height=\"14\"/>\n", step,
                         NAMES + 20 * step);
    ocdm__draw_text(canvas, NAMES + 20 * OCDM__HEATS + 8, 18, OCDM__START, "small faint", "%.1f %s", plan.high, chart->y_what);
    for (size_t i = 0; i < count; i++)
        draw_matrix(&plan, i);
    ocdm__output_text(canvas->out, "</svg>\n");
}
