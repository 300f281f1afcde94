/* Draws a bar for each series, its parts one after another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/charts/chart.h"
#include "report/text.h"

enum { LEFT = 190, RIGHT = 690, TOP = 36, PITCH = 30, BAR = 20, BOTTOM = 48 };

static double length_of(double value)
{
    return value > 0 && isfinite(value) ? value : 0;
}

static void draw_stack(const ocdm__chart *chart, const ocdm__canvas *canvas, size_t number, const double *parts,
                       const ocdm__scale *scale)
{
    const ocdm__series *series = &chart->series[number];
    double y = TOP + PITCH * (double)number + 2, sum = 0;
    ocdm__mark_begin(canvas, series->mark, PITCH);
    ocdm__draw_text(canvas, 182, y + BAR - 5, OCDM__ANCHOR_END, "", series->label, 23);
    for (size_t part = 0; part < chart->bar_count; part++) {
        double from = ocdm__scale_place(scale, sum);
        sum += length_of(parts[part]);
        ocdm__put(
            canvas->out,
            "<rect class=\"part h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"><title>%s: %.4g s</title></rect>\n",
            chart->bars[part].kind, from, y, ocdm__scale_place(scale, sum) - from, BAR, chart->bars[part].name,
            length_of(parts[part]));
    }
    if (series->notes[0][0] != '\0')
        ocdm__draw_text(canvas, RIGHT + 12, y + BAR - 5, OCDM__ANCHOR_START, "small faint", series->notes[0], 40);
    ocdm__mark_end(canvas);
}

ocdm_status ocdm__stacks_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    double *parts = ocdm__chart_values(chart, chart->y, chart->bar_count), base = TOP + PITCH * (double)chart->series_count;
    ocdm__scale scale = {.from = LEFT, .to = RIGHT};
    if (parts == NULL)
        return ocdm__fail_memory(error, "a chart");
    for (size_t i = 0; i < chart->series_count; i++) {
        double sum = 0;
        for (size_t part = 0; part < chart->bar_count; part++)
            sum += length_of(parts[i * chart->bar_count + part]);
        scale.high = sum > scale.high ? sum : scale.high;
    }
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, base + BOTTOM, false);
    double x = LEFT;
    for (size_t part = 0; part < chart->bar_count; part++) {
        ocdm__put(canvas->out, "<rect class=\"part h%u\" x=\"%.0f\" y=\"8\" width=\"11\" height=\"11\"/>\n",
                  chart->bars[part].kind, x);
        ocdm__draw_text(canvas, x + 16, 18, OCDM__ANCHOR_START, "small", chart->bars[part].name, 100);
        x += 40 + OCDM__COLUMN * (double)strlen(chart->bars[part].name);
    }
    for (size_t i = 0; i < chart->series_count; i++)
        draw_stack(chart, canvas, i, parts + i * chart->bar_count, &scale);
    ocdm__output_text(canvas->out, "<g>\n");
    ocdm__draw_x_axis(canvas, &scale, base + 4, chart->x_what);
    ocdm__output_text(canvas->out, "</g>\n");
    ocdm__picture_end(canvas);
    ocdm__release(parts);
    return OCDM_OK;
}
