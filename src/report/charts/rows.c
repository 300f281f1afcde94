/*
 * Draws a row for each class, with its training samples and a bar of percents for each series, as a table to a screen reader.
 * Very many classes share rows with their neighbours.
 */
#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/charts/chart.h"
#include "report/text.h"

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

static void put_row_name(const struct plan *plan, size_t first, size_t limit)
{
    size_t others = row_size(plan, first) - 1;
    ocdm__put_plain(plan->canvas->out, plan->chart->bars[first].name, others > 0 ? limit - 4 : limit);
    if (others > 0)
        ocdm__put(plan->canvas->out, " +%zu", others);
}

static void draw_heads(const struct plan *plan)
{
    const ocdm__canvas *canvas = plan->canvas;
    ocdm__output_text(canvas->out, "<g role=\"row\">\n<g role=\"columnheader\">");
    ocdm__draw_text(canvas, NAME_RIGHT, plan->top - 12, OCDM__ANCHOR_END, "small faint", "class", 40);
    ocdm__output_text(canvas->out, "</g>\n<g role=\"columnheader\">");
    ocdm__draw_text(canvas, COUNT_RIGHT, plan->top - 12, OCDM__ANCHOR_END, "small faint", "samples", 40);
    ocdm__output_text(canvas->out, "</g>\n");
    for (size_t i = 0; i < plan->chart->series_count; i++) {
        const ocdm__series *series = &plan->chart->series[i];
        double left = LEFT + plan->width * (double)i;
        ocdm__output_text(canvas->out, "<g role=\"columnheader\"");
        ocdm__put_mark(canvas, series->mark);
        ocdm__output_text(canvas->out, ">");
        if (plan->upright)
            ocdm__draw_text_up(canvas, left + 12, plan->top - 12, OCDM__ANCHOR_START, "strong", series->label, 13);
        else
            ocdm__draw_text(canvas, left, plan->top - 12, OCDM__ANCHOR_START, "strong", series->label, 1000);
        ocdm__output_text(canvas->out, "</g>\n");
    }
    ocdm__output_text(canvas->out, "</g>\n");
}

static void draw_bar(const struct plan *plan, size_t series, size_t first, double y)
{
    const ocdm__canvas *canvas = plan->canvas;
    const ocdm__series *about = &plan->chart->series[series];
    double value = value_of(plan, series, first), x = LEFT + plan->width * (double)series;
    char text[24];
    ocdm__output_text(canvas->out, "<g role=\"cell\"");
    ocdm__put_mark(canvas, about->mark);
    if (!isfinite(value)) {
        ocdm__output_text(canvas->out, " aria-label=\"no test samples\"></g>\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f", value);
    double width = plan->bar * (value < 0 ? 0 : value > 100 ? 100 : value) / 100;
    ocdm__put(canvas->out, " aria-label=\"%s\"><rect class=\"f%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>",
              text, about->colour % OCDM__COLOURS, x, y, width > 0.5 ? width : 0.5, BAR);
    ocdm__put_plain(canvas->out, about->label, 40);
    ocdm__output_text(canvas->out, ", ");
    put_row_name(plan, first, 60);
    ocdm__put(canvas->out, ": AP %s</title></rect>\n", text);
    if (plan->numbers)
        ocdm__draw_text(canvas, x + plan->bar + NUMBER - 2, y + 10, OCDM__ANCHOR_END, "small faint", text, sizeof text);
    ocdm__output_text(canvas->out, "</g>\n");
}

/* In a page a row has its height and the names of its classes for the search. */
static void draw_row(const struct plan *plan, size_t first, double y)
{
    const ocdm__canvas *canvas = plan->canvas;
    char text[32];
    ocdm__output_text(canvas->out, "<g role=\"row\"");
    if (ocdm__canvas_is_page(canvas)) {
        ocdm__put(canvas->out, " data-high=\"%d\" data-c=\"", PITCH);
        for (size_t c = 0; c < row_size(plan, first); c++) {
            ocdm__output_text(canvas->out, c > 0 ? " " : "");
            ocdm__put_plain(canvas->out, plan->chart->bars[first + c].name, OCDM__CLASS_LIMIT);
        }
        ocdm__output_text(canvas->out, "\"");
    }
    ocdm__put(canvas->out, ">\n<g role=\"rowheader\"><text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
              NAME_RIGHT, y + 10);
    put_row_name(plan, first, NAME_LIMIT);
    ocdm__output_text(canvas->out, "</text></g>\n");
    ocdm__draw_bar_kind(canvas, plan->chart->bars[first].kind, MARK_LEFT, y + 1, 9);
    ocdm__tick_text(plan->samples[first], text, sizeof text);
    ocdm__output_text(canvas->out, "<g role=\"cell\">");
    ocdm__draw_text(canvas, COUNT_RIGHT, y + 10, OCDM__ANCHOR_END, "small faint", isfinite(plan->samples[first]) ? text : "–",
                    sizeof text);
    ocdm__output_text(canvas->out, "</g>\n");
    for (size_t i = 0; i < plan->chart->series_count; i++)
        draw_bar(plan, i, first, y);
    ocdm__output_text(canvas->out, "</g>\n");
}

static void draw_rows(struct plan *plan)
{
    const ocdm__canvas *canvas = plan->canvas;
    size_t rows = (plan->chart->bar_count + plan->merged - 1) / plan->merged;
    const ocdm__chart *chart = plan->chart;
    plan->width = (OCDM__FIGURE_WIDTH - LEFT) / (double)chart->series_count;
    plan->numbers = plan->width >= NUMBERED;
    plan->bar = plan->width - GAP - (plan->numbers ? NUMBER : 0);
    for (size_t i = 0; i < chart->series_count; i++)
        if (OCDM__WIDE_COLUMN * (double)ocdm__plain_width(chart->series[i].label, OCDM__MARK_LIMIT) > plan->width - GAP)
            plan->upright = true;
    plan->top = TOP + (plan->upright ? UPRIGHT_ROOM : 0);
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, plan->top + PITCH * (double)rows + 6, true);
    ocdm__draw_bar_kinds(plan->chart, 1, canvas, LEGEND);
    ocdm__output_text(canvas->out, "<g role=\"table\" aria-label=\"average precision of each class\">\n");
    draw_heads(plan);
    for (size_t row = 0; row < rows; row++)
        draw_row(plan, row * plan->merged, plan->top + PITCH * (double)row);
    ocdm__output_text(canvas->out, "</g>\n");
    ocdm__picture_end(canvas);
}

ocdm_status ocdm__rows_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    struct plan plan = {.chart = chart,
                        .canvas = canvas,
                        .values = ocdm__chart_values(chart, chart->y, chart->bar_count),
                        .samples = ocdm__chart_values(chart, "training_samples", chart->bar_count),
                        .merged = (chart->bar_count + MOST_ROWS - 1) / MOST_ROWS};
    bool fits = plan.values != NULL && plan.samples != NULL;
    if (fits)
        draw_rows(&plan);
    ocdm__release(plan.values);
    ocdm__release(plan.samples);
    return fits ? OCDM_OK : ocdm__fail_memory(error, "a chart");
}
