/*
 * Draws panels of bars, one below another, with the same bars in each. All panels share one scale, unless each has its own.
 * Where there are targets, a bar far above them is cut off, marked, and labelled with its value, so that one class that fills a
 * memory does not flatten all others. With very many classes, a bar represents several that are neighbours.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "metrics/metrics.h"
#include "report/charts/chart.h"
#include "report/text.h"

enum {
    LEFT = 208,       /* where bars start */
    RIGHT = 848,      /* and end */
    HEIGHT = 84,      /* of a panel's bars */
    GAP = 24,         /* between panels */
    OVERHANG = 24,    /* two rows of numbers above bars that are cut off */
    HEADER = 30,      /* the legend */
    LEGEND = 28,      /* where it starts: all of it has to fit */
    SECTION_ROW = 20, /* the names of sections */
    NAME_LIMIT = 13,
    PAIR_LIMIT = 27,
    NAMES = 20, /* room for the names of bars, */
    LETTER = 6, /* and for each of their characters */
    AXIS = 46,  /* room for numbers instead */
    MOST_BARS = 160
};

/* The narrowest bar that still has a name under it. */
#define NARROWEST_NAMED 7.5

/* The minimum upper end of a panel's own scale, so that its ticks are integers. */
#define LOWEST_OWN 4

/* The upper end of the scale, as a multiple of the largest target. */
#define REACH 1.8

/* All panels: what the bars of each are. */
struct panels {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    size_t merged; /* classes in a bar */
    size_t count;  /* of bars in a panel */
    double pitch;
    bool is_log;
    double *values, *targets; /* panel by panel; NaN for no bar, no mark across it */
};

/* ---- what is drawn ------------------------------------------------------------------------------------------------------ */

/* A bar is the mean of its classes; NaN when one of them has no value. In place. */
static void merge_bars(const struct panels *panels, double *values)
{
    size_t classes = panels->chart->bar_count;
    for (size_t i = 0; i < panels->chart->series_count * panels->count; i++) {
        size_t first = i % panels->count * panels->merged;
        size_t count = classes - first < panels->merged ? classes - first : panels->merged;
        const double *from = values + i / panels->count * classes + first;
        double mean = 0;
        for (size_t c = 0; c < count; c++)
            mean += from[c] / (double)count;
        values[i] = mean;
    }
}

static const char *name_of(const struct panels *panels, size_t bar)
{
    return panels->chart->bars[bar * panels->merged].name;
}

/* The kind of `merged` classes from `first` on. */
static unsigned kind_of(const ocdm__chart *chart, size_t merged, size_t first)
{
    for (size_t c = first; c < first + merged && c < chart->bar_count; c++)
        if (chart->bars[c].kind != chart->bars[first].kind)
            return OCDM__BAR_MIXED;
    return chart->bars[first].kind;
}

static bool are_classes(const struct panels *panels)
{
    return panels->count > 0 && name_of(panels, 0) != NULL;
}

static bool has_names(const struct panels *panels)
{
    return are_classes(panels) && panels->pitch >= NARROWEST_NAMED;
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

/* The vertical scale of a panel; 0 is at 0. */
static ocdm__scale scale_of(const struct panels *panels, size_t number)
{
    const ocdm__chart *chart = panels->chart;
    double highest = 0, target = 0;
    for (size_t i = 0; i < chart->series_count * panels->count; i++) {
        if (chart->own_scales && i / panels->count != number)
            continue;
        highest = panels->values[i] > highest && isfinite(panels->values[i]) ? panels->values[i] : highest;
        target = panels->targets[i] > target && isfinite(panels->targets[i]) ? panels->targets[i] : target;
    }
    highest = target > 0 && highest > REACH * target ? REACH * target : highest;
    highest = highest > target ? highest : target;
    highest = chart->own_scales && highest < LOWEST_OWN ? LOWEST_OWN : highest;
    ocdm__scale scale = {.low = panels->is_log ? 0.5 : 0, .high = highest, .to = -HEIGHT, .is_log = panels->is_log};
    if (panels->is_log)
        scale.high = highest > 1 ? highest * 1.1 : 10;
    else if (chart->highest > 0)
        scale.high = chart->highest;
    else
        ocdm__scale_widen(&scale);
    return scale;
}

static bool is_cut(const struct panels *panels, double value, const ocdm__scale *scale)
{
    return !panels->is_log && value > scale->high * 1.0001;
}

static bool any_cut(const struct panels *panels, size_t number)
{
    ocdm__scale scale = scale_of(panels, number);
    for (size_t i = 0; i < panels->count; i++)
        if (is_cut(panels, panels->values[number * panels->count + i], &scale))
            return true;
    return false;
}

/* The line that the bars of a panel stand on. */
static double base_line(const struct panels *panels, size_t number)
{
    double y = HEADER + (panels->chart->section_count > 0 ? SECTION_ROW : 0);
    for (size_t p = 0; p <= number && p < panels->chart->series_count; p++)
        y += HEIGHT + (p > 0 ? GAP : 0) + (any_cut(panels, p) ? OVERHANG : 0);
    return y;
}

/* Where a section starts, which may be between bars. */
static double section_left(const struct panels *panels, size_t section)
{
    const ocdm__chart *chart = panels->chart;
    double from =
        section < chart->section_count ? chart->sections[section].from / (double)panels->merged : (double)panels->count;
    return LEFT + panels->pitch * from;
}

/* ---- legend ------------------------------------------------------------------------------------------------------------- */

static double draw_legend_text(const ocdm__canvas *canvas, double x, const char *text)
{
    ocdm__draw_text(canvas, x, 18, OCDM__ANCHOR_START, "small", text, 100);
    return x + OCDM__COLUMN * (double)strlen(text) + 24;
}

/* "f3 s3 k2": the colour of a bar, in fill and outline, and how its kind fills it. */
static void put_colour(ocdm__output *out, unsigned colour, unsigned kind)
{
    if (colour >= OCDM__INK(0))
        ocdm__put(out, "inkf ink k%u", kind);
    else
        ocdm__put(out, "f%u s%u k%u", colour % OCDM__COLOURS, colour % OCDM__COLOURS, kind);
}

void ocdm__draw_bar_kind(const ocdm__canvas *canvas, unsigned kind, double x, double y, double side)
{
    ocdm__put(canvas->out, "<rect class=\"inkf ink k%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", kind, x, y,
              side, side);
}

double ocdm__draw_bar_kinds(const ocdm__chart *chart, size_t merged, const ocdm__canvas *canvas, double x)
{
    for (unsigned kind = 0; kind <= OCDM__BAR_MIXED; kind++)
        for (size_t c = 0; c < chart->bar_count; c += merged)
            if (kind_of(chart, merged, c) == kind) {
                ocdm__draw_bar_kind(canvas, kind, x, 8, 11);
                x = draw_legend_text(canvas, x + 16, kind < OCDM__BAR_MIXED ? ocdm__paper_groups[kind] : "several");
                break;
            }
    return x;
}

static void draw_arrow(const ocdm__canvas *canvas, unsigned colour, double middle, double bottom)
{
    ocdm__output_text(canvas->out, "<path class=\"");
    put_colour(canvas->out, colour, OCDM__BAR_MAJORITY);
    ocdm__put(canvas->out, "\" d=\"M%.1f %.1fh6l-3 -5z\"/>\n", middle - 3, bottom - 2);
}

static void draw_cross(const ocdm__canvas *canvas, double middle, double bottom)
{
    ocdm__put(canvas->out, "<path class=\"mark\" d=\"M%.1f %.1fl6 -6m-6 0l6 6\"/>\n", middle - 3, bottom - 2);
}

static void draw_legend(const struct panels *panels)
{
    bool cut = false, target = false;
    for (size_t p = 0; p < panels->chart->series_count; p++)
        cut = cut || any_cut(panels, p);
    for (size_t i = 0; i < panels->chart->series_count * panels->count; i++)
        target = target || isfinite(panels->targets[i]);
    double x = LEGEND;
    if (are_classes(panels) && !panels->chart->are_pairs)
        x = ocdm__draw_bar_kinds(panels->chart, panels->merged, panels->canvas, x);
    if (target) {
        ocdm__draw_rule(panels->canvas, "mark", x, 14, x + 12, 14);
        x = draw_legend_text(panels->canvas, x + 17, panels->chart->target_what);
    }
    if (cut) {
        draw_arrow(panels->canvas, OCDM__INK(0), x + 4, 20);
        x = draw_legend_text(panels->canvas, x + 13, "higher");
    }
    if (panels->chart->marks_lost) {
        draw_cross(panels->canvas, x + 4, 20);
        draw_legend_text(panels->canvas, x + 13, "none left");
    }
}

/* ---- a panel ------------------------------------------------------------------------------------------------------------ */

struct panel {
    const ocdm__series *series;
    const double *values, *targets;
    ocdm__scale scale;
    double base; /* the line that the bars stand on */
};

/* In a page a bar has the name that its search looks for. */
static void draw_bar(const struct panels *panels, const struct panel *panel, size_t bar)
{
    ocdm__output *out = panels->canvas->out;
    double pitch = panels->pitch, width = pitch > 4 ? pitch - 2 : pitch * 0.8, value = panel->values[bar];
    double top = panel->base + ocdm__scale_place(&panel->scale, value);
    const char *name = name_of(panels, bar);
    if (!isfinite(value) || (panels->is_log && !(value > 0)))
        return;
    if (panels->chart->marks_lost && !(value > 0))
        draw_cross(panels->canvas, LEFT + pitch * ((double)bar + 0.5), panel->base);
    ocdm__output_text(out, "<rect class=\"");
    put_colour(out, panel->series->colour, kind_of(panels->chart, panels->merged, bar * panels->merged));
    ocdm__put(out, "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", LEFT + pitch * (double)bar + (pitch - width) / 2,
              top, width, panel->base - top);
    if (name != NULL && ocdm__canvas_is_page(panels->canvas)) {
        ocdm__output_text(out, " data-c=\"");
        ocdm__put_plain(out, name, OCDM__CLASS_LIMIT);
        ocdm__output_text(out, "\"");
    }
    ocdm__output_text(out, "><title>");
    if (name != NULL) {
        ocdm__put_plain(out, name, 60);
        ocdm__output_text(out, ": ");
    }
    ocdm__put(out, "%.4g", value);
    if (isfinite(panel->targets[bar]))
        ocdm__put(out, ", target %.4g", panel->targets[bar]);
    ocdm__output_text(out, "</title></rect>\n");
}

/* Marks bars that are cut off. Their numbers alternate between two rows; a number that fits neither is omitted, and only
 * the bar's title has it. */
static void draw_cuts(const struct panels *panels, const struct panel *panel)
{
    double ends[2] = {-1e9, -1e9}, top = panel->base - HEIGHT;
    for (size_t i = 0; i < panels->count; i++) {
        if (!is_cut(panels, panel->values[i], &panel->scale))
            continue;
        char text[32];
        double middle = LEFT + panels->pitch * ((double)i + 0.5);
        draw_arrow(panels->canvas, panel->series->colour, middle, top);
        snprintf(text, sizeof text, "%.0f", panel->values[i]);
        double half = 3.2 * (double)strlen(text);
        for (int row = 0; row < 2; row++)
            if (middle - half > ends[row]) {
                ocdm__draw_text(panels->canvas, middle, top - 9 - 10 * row, OCDM__ANCHOR_MIDDLE, "tiny", text, sizeof text);
                ends[row] = middle + half;
                break;
            }
    }
}

static void draw_panel(const struct panels *panels, size_t number)
{
    const ocdm__canvas *canvas = panels->canvas;
    struct panel panel = {.series = &panels->chart->series[number],
                          .values = panels->values + number * panels->count,
                          .targets = panels->targets + number * panels->count,
                          .scale = scale_of(panels, number),
                          .base = base_line(panels, number)};
    ocdm__scale grid = panel.scale;
    grid.from += panel.base;
    grid.to += panel.base;
    ocdm__mark_begin(canvas, panel.series->mark, HEIGHT + GAP + (any_cut(panels, number) ? OVERHANG : 0));
    ocdm__draw_grid(canvas, &grid, LEFT, RIGHT);
    for (size_t i = 1; i < panels->chart->section_count; i++)
        ocdm__draw_rule(canvas, "change", section_left(panels, i), panel.base - HEIGHT, section_left(panels, i), panel.base);
    for (size_t i = 0; i < panels->count; i++)
        draw_bar(panels, &panel, i);
    for (size_t i = 0; i < panels->count; i++) {
        double x = LEFT + panels->pitch * (double)i, y = panel.base + ocdm__scale_place(&panel.scale, panel.targets[i]);
        if (isfinite(panel.targets[i]))
            ocdm__draw_rule(canvas, "mark", x, y, x + panels->pitch, y);
    }
    draw_cuts(panels, &panel);
    ocdm__draw_rule(canvas, "axis", LEFT, panel.base, RIGHT, panel.base);
    ocdm__draw_text(canvas, 28, panel.base - HEIGHT + 14, OCDM__ANCHOR_START, "strong", panel.series->label, 18);
    for (size_t i = 0; i < OCDM__SERIES_NOTES; i++)
        if (panel.series->notes[i][0] != '\0')
            ocdm__draw_text(canvas, 28, panel.base - HEIGHT + 32 + 16 * (double)i, OCDM__ANCHOR_START, "small faint",
                            panel.series->notes[i], 40);
    ocdm__mark_end(canvas);
}

/* ---- the chart ---------------------------------------------------------------------------------------------------------- */

static size_t name_limit(const struct panels *panels)
{
    return panels->chart->are_pairs ? PAIR_LIMIT : NAME_LIMIT;
}

/* Below the last panel: the names of the bars, or the numbers that they stand for. */
static void draw_feet(const struct panels *panels, double base)
{
    const ocdm__chart *chart = panels->chart;
    ocdm__scale x = {.low = chart->x_reach[0], .high = chart->x_reach[1], .from = LEFT, .to = RIGHT};
    ocdm__output_text(panels->canvas->out, "<g>\n");
    if (!are_classes(panels))
        ocdm__draw_x_axis(panels->canvas, &x, base, chart->x_what);
    else if (!has_names(panels))
        ocdm__draw_text(panels->canvas, (LEFT + RIGHT) / 2.0, base + 20, OCDM__ANCHOR_MIDDLE, "",
                        "classes, in the order of the stream", 100);
    for (size_t i = 0; has_names(panels) && i < panels->count; i++)
        ocdm__draw_text_up(panels->canvas, LEFT + panels->pitch * ((double)i + 0.5) + 4, base + 6, OCDM__ANCHOR_END, "tiny",
                           name_of(panels, i), name_limit(panels));
    ocdm__output_text(panels->canvas->out, "</g>\n");
}

static void draw_panels(const struct panels *panels)
{
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", panels->chart->y_what, panels->is_log ? ", log scale" : "");
    double base = base_line(panels, panels->chart->series_count);
    double middle = (HEADER + base) / 2, half = OCDM__COLUMN * (double)strlen(what) / 2;
    ocdm__picture_begin(panels->canvas, OCDM__FIGURE_WIDTH,
                        base + (has_names(panels) ? NAMES + LETTER * (double)name_limit(panels) : AXIS), false);
    draw_legend(panels);
    for (size_t i = 0; i < panels->chart->section_count; i++) {
        const char *name = panels->chart->sections[i].name;
        double from = section_left(panels, i), to = section_left(panels, i + 1);
        if (to - from > OCDM__COLUMN * (double)strlen(name))
            ocdm__draw_text(panels->canvas, (from + to) / 2, HEADER + 12, OCDM__ANCHOR_MIDDLE, "small faint", name, 40);
    }
    ocdm__draw_text_up(panels->canvas, 14, middle > half ? middle : half, OCDM__ANCHOR_MIDDLE, "", what, 100);
    for (size_t p = 0; p < panels->chart->series_count; p++)
        draw_panel(panels, p);
    draw_feet(panels, base);
    ocdm__picture_end(panels->canvas);
}

ocdm_status ocdm__bars_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    size_t merged = chart->bar_count > MOST_BARS ? (chart->bar_count + MOST_BARS - 1) / MOST_BARS : 1;
    struct panels panels = {.chart = chart,
                            .canvas = canvas,
                            .merged = merged,
                            .count = (chart->bar_count + merged - 1) / merged,
                            .is_log = chart->is_log != canvas->other_scale};
    panels.pitch = (double)(RIGHT - LEFT) / (double)(panels.count > 0 ? panels.count : 1);
    panels.values = ocdm__chart_values(chart, chart->y, chart->bar_count);
    panels.targets = ocdm__chart_values(chart, chart->target, chart->bar_count);
    bool fits = panels.values != NULL && panels.targets != NULL;
    if (fits) {
        merge_bars(&panels, panels.values);
        merge_bars(&panels, panels.targets);
        draw_panels(&panels);
    }
    ocdm__release(panels.values);
    ocdm__release(panels.targets);
    return fits ? OCDM_OK : ocdm__fail_memory(error, "a chart");
}
