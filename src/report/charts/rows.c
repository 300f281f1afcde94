/*
 * Draws rows of bars that lie: a row for each class, with its training samples and a bar of percents for each series, as a
 * table to a screen reader, very many classes sharing rows with their neighbours; or a row for each series, its parts one after
 * another.
 */
#include <limits.h>

#include "report/charts/chart.h"
#include "report/text.h"

/* ---- a row for each class ------------------------------------------------------------------------------------------------ */

enum {
    NAME_RIGHT = 142,
    NAME_LIMIT = 18,
    MARK_LEFT = 150,
    COUNT_RIGHT = 216,
    LEFT = 232, /* where the columns of series start */
    LEGEND = 28,
    TOP = 50,
    UPRIGHT_ROOM = 66,
    PITCH = 17,
    BAR = 11,
    NUMBER = 36, /* room for a number behind a bar */
    GAP = 8,     /* between columns */
    MOST_ROWS = 200
};

/* The narrowest column with room for numbers. */
#define NUMBERED 84.0

struct plan {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    double *values;  /* series by series */
    double *samples; /* of training */
    size_t merged;   /* classes in a row */
    double width;    /* of a column, with its gap */
    double bar;      /* of 100 % */
    double top;      /* of the first row */
    bool numbers, upright;
};

/* The classes of the row that begins with class `first`. */
static size_t row_size(const struct plan *plan, size_t first)
{
    size_t left = plan->chart->bar_count - first;
    return left < plan->merged ? left : plan->merged;
}

/* The mean over the classes that have one: a class without test samples has no average precision. */
static double value_of(const struct plan *plan, size_t series, size_t first)
{
    double sum = 0;
    size_t count = 0;
    for (size_t c = first; c < first + row_size(plan, first); c++) {
        double value = plan->values[series * plan->chart->bar_count + c];
        sum += isfinite(value) ? value : 0;
        count += isfinite(value) ? 1 : 0;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* "dog", or "dog +3" of several. */
static void put_row_name(const struct plan *plan, size_t first, int limit)
{
    size_t others = row_size(plan, first) - 1;
    ocdm__put_markup(plan->canvas->out, "%.*s", others > 0 ? limit - 4 : limit, plan->chart->bars[first].name);
    if (others > 0)
        ocdm__put_markup(plan->canvas->out, " +%zu", others);
}

static void draw_bar(const struct plan *plan, size_t number, size_t first, double y)
{
    const ocdm__canvas *canvas = plan->canvas;
    const ocdm__series *series = &plan->chart->series[number];
    double value = value_of(plan, number, first), x = LEFT + plan->width * (double)number;
    ocdm__output_text(canvas->out, "<g role=\"cell\"");
    ocdm__put_mark(canvas, series->mark);
    if (!isfinite(value)) {
        ocdm__output_text(canvas->out, " aria-label=\"no test samples\"></g>\n");
        return;
    }
    double width = plan->bar * (value < 0 ? 0 : value > 100 ? 100 : value) / 100;
    ocdm__put_markup(canvas->out,
                     " aria-label=\"%.1f\"><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                     "height=\"%d\"><title>%.40s, ",
                     value, ocdm__fill(series->colour).text, x, y, width > 0.5 ? width : 0.5, BAR, series->label);
    put_row_name(plan, first, 60);
    ocdm__put_markup(canvas->out, ": AP %.1f</title></rect>\n", value);
    if (plan->numbers)
        ocdm__draw_text(canvas, x + plan->bar + NUMBER - 2, y + 10, OCDM__END, "small faint", "%.1f", value);
    ocdm__output_text(canvas->out, "</g>\n");
}

/* In a page a row has its height and the names of its classes for the search. */
static void draw_row(const struct plan *plan, size_t first, double y)
{
    const ocdm__canvas *canvas = plan->canvas;
    char text[32];
    ocdm__output_text(canvas->out, "<g role=\"row\"");
    if (ocdm__canvas_is_page(canvas)) {
        ocdm__put_markup(canvas->out, " data-high=\"%d\" data-c=\"", PITCH);
        for (size_t c = 0; c < row_size(plan, first); c++) {
            ocdm__output_text(canvas->out, c > 0 ? " " : "");
            ocdm__put_plain(canvas->out, plan->chart->bars[first + c].name, OCDM__CLASS_LIMIT);
        }
        ocdm__output_text(canvas->out, "\"");
    }
    ocdm__put_markup(canvas->out, ">\n<g role=\"rowheader\"><text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
                     NAME_RIGHT, y + 10);
    put_row_name(plan, first, NAME_LIMIT);
    ocdm__output_text(canvas->out, "</text></g>\n");
    ocdm__draw_bar_kind(canvas, plan->chart->bars[first].kind, MARK_LEFT, y + 1, 9);
    ocdm__tick_text(plan->samples[first], text, sizeof text);
    ocdm__draw_cell(canvas, "cell", COUNT_RIGHT, y + 10, OCDM__END, isfinite(plan->samples[first]) ? text : "–");
    for (size_t i = 0; i < plan->chart->series_count; i++)
        draw_bar(plan, i, first, y);
    ocdm__output_text(canvas->out, "</g>\n");
}

void ocdm__rows_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena)
{
    struct plan plan = {.chart = chart,
                        .canvas = canvas,
                        .values = ocdm__chart_values(arena, chart, chart->y, chart->bar_count),
                        .samples = ocdm__chart_values(arena, chart, "training_samples", chart->bar_count),
                        .merged = (chart->bar_count + MOST_ROWS - 1) / MOST_ROWS,
                        .width = (OCDM__FIGURE_WIDTH - LEFT) / (double)chart->series_count};
    if (arena->failed)
        return;
    size_t rows = (chart->bar_count + plan.merged - 1) / plan.merged;
    plan.numbers = plan.width >= NUMBERED;
    plan.bar = plan.width - GAP - (plan.numbers ? NUMBER : 0);
    for (size_t i = 0; i < chart->series_count; i++)
        if (OCDM__WIDE_COLUMN * (double)ocdm__plain_width(chart->series[i].label, OCDM__MARK_LIMIT) > plan.width - GAP)
            plan.upright = true;
    plan.top = TOP + (plan.upright ? UPRIGHT_ROOM : 0);
    ocdm__picture_begin(canvas, plan.top + PITCH * (double)rows + 6, true);
    ocdm__draw_bar_kinds(chart, 1, canvas, LEGEND);
    ocdm__output_text(canvas->out, "<g role=\"table\" aria-label=\"average precision of each class\">\n");
    const double y = plan.top - 12;
    ocdm__output_text(canvas->out, "<g role=\"row\">\n");
    ocdm__draw_cell(canvas, "columnheader", NAME_RIGHT, y, OCDM__END, "class");
    ocdm__draw_cell(canvas, "columnheader", COUNT_RIGHT, y, OCDM__END, "samples");
    for (size_t i = 0; i < chart->series_count; i++) {
        const ocdm__series *series = &chart->series[i];
        ocdm__output_text(canvas->out, "<g role=\"columnheader\"");
        ocdm__put_mark(canvas, series->mark);
        ocdm__output_text(canvas->out, ">");
        ocdm__draw_text(canvas, LEFT + plan.width * (double)i + (plan.upright ? 12 : 0), y,
                        plan.upright ? OCDM__UP_START : OCDM__START, "strong", "%.*s", plan.upright ? 13 : INT_MAX,
                        series->label);
        ocdm__output_text(canvas->out, "</g>\n");
    }
    ocdm__output_text(canvas->out, "</g>\n");
    for (size_t row = 0; row < rows; row++)
        draw_row(&plan, row * plan.merged, plan.top + PITCH * (double)row);
    ocdm__output_text(canvas->out, "</g>\n</svg>\n");
}

/* ---- parts one after another --------------------------------------------------------------------------------------------- */

enum { STACK_LEFT = 190, STACK_RIGHT = 690, STACK_TOP = 36, STACK_PITCH = 30, STACK_BAR = 20, STACK_BOTTOM = 48 };

static double length_of(double value)
{
    return value > 0 && isfinite(value) ? value : 0;
}

static void draw_stack(const ocdm__chart *chart, const ocdm__canvas *canvas, size_t number, const double *parts,
                       const ocdm__scale *scale)
{
    const ocdm__series *series = &chart->series[number];
    double y = STACK_TOP + STACK_PITCH * (double)number + 2, sum = 0;
    ocdm__mark_begin(canvas, series->mark, STACK_PITCH);
    ocdm__draw_text(canvas, 182, y + STACK_BAR - 5, OCDM__END, "", "%.23s", series->label);
    for (size_t part = 0; part < chart->bar_count; part++) {
        double from = ocdm__scale_place(scale, sum);
        sum += length_of(parts[part]);
        ocdm__put_markup(canvas->out,
                         "<rect class=\"part h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"><title>%s: %.4g "
                         "s</title></rect>\n",
                         chart->bars[part].kind, from, y, ocdm__scale_place(scale, sum) - from, STACK_BAR,
                         chart->bars[part].name, length_of(parts[part]));
    }
    if (series->notes[0][0] != '\0')
        ocdm__draw_text(canvas, STACK_RIGHT + 12, y + STACK_BAR - 5, OCDM__START, "small faint", "%s", series->notes[0]);
    ocdm__output_text(canvas->out, "</g>\n");
}

void ocdm__stacks_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena)
{
    double *parts = ocdm__chart_values(arena, chart, chart->y, chart->bar_count),
           base = STACK_TOP + STACK_PITCH * (double)chart->series_count;
    ocdm__scale scale = {.from = STACK_LEFT, .to = STACK_RIGHT};
    if (arena->failed)
        return;
    for (size_t i = 0; i < chart->series_count; i++) {
        double sum = 0;
        for (size_t part = 0; part < chart->bar_count; part++)
            sum += length_of(parts[i * chart->bar_count + part]);
        scale.high = sum > scale.high ? sum : scale.high;
    }
    ocdm__picture_begin(canvas, base + STACK_BOTTOM, false);
    double x = STACK_LEFT;
    for (size_t part = 0; part < chart->bar_count; part++) {
        const ocdm__chart_bar *bar = &chart->bars[part];
        ocdm__put_markup(canvas->out, "<rect class=\"part h%u\" x=\"%.0f\" y=\"8\" width=\"11\" height=\"11\"/>\n", bar->kind,
                         x);
        ocdm__draw_text(canvas, x + 16, 18, OCDM__START, "small", "%s", bar->name);
        x += 40 + OCDM__COLUMN * (double)strlen(bar->name);
    }
    for (size_t i = 0; i < chart->series_count; i++)
        draw_stack(chart, canvas, i, parts + i * chart->bar_count, &scale);
    ocdm__output_text(canvas->out, "<g>\n");
    ocdm__draw_x_axis(canvas, &scale, base + 4, chart->x_what);
    ocdm__output_text(canvas->out, "</g>\n</svg>\n");
}
