/*
 * Draws panels of bars, one below another, with the same bars in each. All panels share one scale, unless each has its own.
 * Where there are targets, a bar far above them is cut off, marked, and labelled with its value, so that one class that fills a
 * memory does not flatten all others. With very many classes, a bar represents several that are neighbours.
 */
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

/* What the bars of a series show, and where. */
struct panel {
    const ocdm__series *series;
    double *values, *targets; /* NaN for no bar, no mark across it */
    ocdm__scale scale;        /* 0 is at 0 */
    double base;              /* the line that the bars stand on */
    bool is_cut;              /* one of its bars is higher than the scale */
};

struct panels {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    size_t merged; /* classes in a bar */
    size_t count;  /* of bars in a panel */
    double pitch;
    bool is_log, are_classes, has_names;
    double *values, *targets; /* panel by panel */
    struct panel *panel;
    double base; /* of the last one */
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

/* The kind of `merged` classes from `first` on. */
static unsigned kind_of(const ocdm__chart *chart, size_t merged, size_t first)
{
    for (size_t c = first; c < first + merged && c < chart->bar_count; c++)
        if (chart->bars[c].kind != chart->bars[first].kind)
            return OCDM__BAR_MIXED;
    return chart->bars[first].kind;
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

/* The vertical scale of `count` bars. */
static ocdm__scale scale_of(const struct panels *panels, const double *values, const double *targets, size_t count)
{
    const ocdm__chart *chart = panels->chart;
    double highest = 0, target = 0;
    for (size_t i = 0; i < count; i++) {
        highest = values[i] > highest && isfinite(values[i]) ? values[i] : highest;
        target = targets[i] > target && isfinite(targets[i]) ? targets[i] : target;
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

static bool is_cut(const struct panel *panel, double value)
{
    return !panel->scale.is_log && value > panel->scale.high * 1.0001;
}

static void place_panels(struct panels *panels)
{
    const ocdm__chart *chart = panels->chart;
    size_t count = panels->count;
    panels->base = HEADER + (chart->section_count > 0 ? SECTION_ROW : 0);
    for (size_t p = 0; p < chart->series_count; p++) {
        struct panel *panel = &panels->panel[p];
        *panel = (struct panel){
            .series = &chart->series[p], .values = panels->values + p * count, .targets = panels->targets + p * count};
        panel->scale = chart->own_scales ? scale_of(panels, panel->values, panel->targets, count)
                                         : scale_of(panels, panels->values, panels->targets, chart->series_count * count);
        for (size_t i = 0; i < count; i++)
            panel->is_cut = panel->is_cut || is_cut(panel, panel->values[i]);
        panels->base += HEIGHT + (p > 0 ? GAP : 0) + (panel->is_cut ? OVERHANG : 0);
        panel->base = panels->base;
    }
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
    ocdm__draw_text(canvas, x, 18, OCDM__START, "small", "%s", text);
    return x + OCDM__COLUMN * (double)strlen(text) + 24;
}

void ocdm__draw_bar_kind(const ocdm__canvas *canvas, unsigned kind, double x, double y, double side)
{
    ocdm__put_markup(canvas->out, "<rect class=\"inkf ink k%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", kind,
                     x, y, side, side);
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
    ocdm__put_markup(canvas->out, "<path class=\"%s %s k0\" d=\"M%.1f %.1fh6l-3 -5z\"/>\n", ocdm__fill(colour).text,
                     ocdm__stroke(colour, false).text, middle - 3, bottom - 2);
}

static void draw_cross(const ocdm__canvas *canvas, double middle, double bottom)
{
    ocdm__put_markup(canvas->out, "<path class=\"mark\" d=\"M%.1f %.1fl6 -6m-6 0l6 6\"/>\n", middle - 3, bottom - 2);
}

static void draw_legend(const struct panels *panels)
{
    bool cut = false, target = false;
    for (size_t i = 0; i < panels->chart->series_count * panels->count; i++) {
        cut = cut || panels->panel[i / panels->count].is_cut;
        target = target || isfinite(panels->targets[i]);
    }
    double x = LEGEND;
    if (panels->are_classes && !panels->chart->are_pairs)
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

/* In a page a bar has the name that its search looks for. */
static void draw_bar(const struct panels *panels, const struct panel *panel, size_t bar)
{
    ocdm__output *out = panels->canvas->out;
    double pitch = panels->pitch, width = pitch > 4 ? pitch - 2 : pitch * 0.8, value = panel->values[bar];
    double top = panel->base + ocdm__scale_place(&panel->scale, value);
    const size_t first = bar * panels->merged;
    const char *name = panels->chart->bars[first].name;
    const unsigned colour = panel->series->colour;
    if (!isfinite(value) || (panels->is_log && !(value > 0)))
        return;
    if (panels->chart->marks_lost && !(value > 0))
        draw_cross(panels->canvas, LEFT + pitch * ((double)bar + 0.5), panel->base);
    /* "f3 s3 k2": its colour, in fill and outline, and how its kind fills it. */
    ocdm__put_markup(out, "<rect class=\"%s %s k%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                     ocdm__fill(colour).text, ocdm__stroke(colour, false).text, kind_of(panels->chart, panels->merged, first),
                     LEFT + pitch * (double)bar + (pitch - width) / 2, top, width, panel->base - top);
    if (name != NULL && ocdm__canvas_is_page(panels->canvas))
        ocdm__put_markup(out, " data-c=\"%.*s\"", OCDM__CLASS_LIMIT, name);
    ocdm__output_text(out, "><title>");
    if (name != NULL)
        ocdm__put_markup(out, "%.60s: ", name);
    ocdm__put_markup(out, "%.4g", value);
    if (isfinite(panel->targets[bar]))
        ocdm__put_markup(out, ", target %.4g", panel->targets[bar]);
    ocdm__output_text(out, "</title></rect>\n");
}

/* Bars that are cut off are marked. Their numbers alternate between two rows; a number that fits neither is omitted, and only
 * the bar's title has it. */
static void draw_panel(const struct panels *panels, const struct panel *panel)
{
    const ocdm__canvas *canvas = panels->canvas;
    const double base = panel->base, top = base - HEIGHT, pitch = panels->pitch;
    double ends[2] = {-1e9, -1e9}; /* of the numbers in each row */
    ocdm__scale grid = panel->scale;
    grid.from += base;
    grid.to += base;
    ocdm__mark_begin(canvas, panel->series->mark, HEIGHT + GAP + (panel->is_cut ? OVERHANG : 0));
    ocdm__draw_grid(canvas, &grid, LEFT, RIGHT);
    for (size_t i = 1; i < panels->chart->section_count; i++)
        ocdm__draw_rule(canvas, "change", section_left(panels, i), top, section_left(panels, i), base);
    for (size_t i = 0; i < panels->count; i++)
        draw_bar(panels, panel, i);
    for (size_t i = 0; i < panels->count; i++) {
        double x = LEFT + pitch * (double)i, y = base + ocdm__scale_place(&panel->scale, panel->targets[i]);
        if (isfinite(panel->targets[i]))
            ocdm__draw_rule(canvas, "mark", x, y, x + pitch, y);
    }
    for (size_t i = 0; i < panels->count; i++) {
        char text[32];
        double middle = LEFT + pitch * ((double)i + 0.5);
        if (!is_cut(panel, panel->values[i]))
            continue;
        draw_arrow(canvas, panel->series->colour, middle, top);
        double half = 3.2 * snprintf(text, sizeof text, "%.0f", panel->values[i]);
        int row = middle - half > ends[0] ? 0 : 1;
        if (middle - half > ends[row]) {
            ocdm__draw_text(canvas, middle, top - 9 - 10 * row, OCDM__MIDDLE, "tiny", "%s", text);
            ends[row] = middle + half;
        }
    }
    ocdm__draw_rule(canvas, "axis", LEFT, base, RIGHT, base);
    ocdm__draw_text(canvas, 28, top + 14, OCDM__START, "strong", "%.18s", panel->series->label);
    for (size_t i = 0; i < OCDM__SERIES_NOTES; i++)
        if (panel->series->notes[i][0] != '\0')
            ocdm__draw_text(canvas, 28, top + 32 + 16 * (double)i, OCDM__START, "small faint", "%s", panel->series->notes[i]);
    ocdm__output_text(canvas->out, "</g>\n");
}

/* ---- the chart ---------------------------------------------------------------------------------------------------------- */

void ocdm__bars_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm__arena *arena)
{
    size_t merged = chart->bar_count > MOST_BARS ? (chart->bar_count + MOST_BARS - 1) / MOST_BARS : 1;
    struct panels panels = {.chart = chart,
                            .canvas = canvas,
                            .merged = merged,
                            .count = (chart->bar_count + merged - 1) / merged,
                            .is_log = chart->is_log != canvas->other_scale,
                            .are_classes = chart->bar_count > 0 && chart->bars[0].name != NULL,
                            .values = ocdm__chart_values(arena, chart, chart->y, chart->bar_count),
                            .targets = ocdm__chart_values(arena, chart, chart->target, chart->bar_count),
                            .panel = ocdm__arena_new(arena, chart->series_count, sizeof *panels.panel)};
    panels.pitch = (double)(RIGHT - LEFT) / (double)(panels.count > 0 ? panels.count : 1);
    panels.has_names = panels.are_classes && panels.pitch >= NARROWEST_NAMED;
    if (arena->failed)
        return;
    merge_bars(&panels, panels.values);
    merge_bars(&panels, panels.targets);
    /* Below the last panel are the names of the bars, or the numbers that they stand for. */
    char what[120];
    int name_limit = chart->are_pairs ? PAIR_LIMIT : NAME_LIMIT;
    place_panels(&panels);
    snprintf(what, sizeof what, "%.100s%s", chart->y_what, panels.is_log ? ", log scale" : "");
    double middle = (HEADER + panels.base) / 2, half = OCDM__COLUMN * (double)strlen(what) / 2;
    ocdm__picture_begin(canvas, panels.base + (panels.has_names ? NAMES + LETTER * name_limit : AXIS), false);
    draw_legend(&panels);
    for (size_t i = 0; i < chart->section_count; i++) {
        const char *name = chart->sections[i].name;
        double from = section_left(&panels, i), to = section_left(&panels, i + 1);
        if (to - from > OCDM__COLUMN * (double)strlen(name))
            ocdm__draw_text(canvas, (from + to) / 2, HEADER + 12, OCDM__MIDDLE, "small faint", "%s", name);
    }
    ocdm__draw_text(canvas, 14, middle > half ? middle : half, OCDM__UP_MIDDLE, "", "%.100s", what);
    for (size_t p = 0; p < chart->series_count; p++)
        draw_panel(&panels, &panels.panel[p]);
    ocdm__scale x = {.low = chart->x_reach[0], .high = chart->x_reach[1], .from = LEFT, .to = RIGHT};
    ocdm__output_text(canvas->out, "<g>\n");
    if (!panels.are_classes)
        ocdm__draw_x_axis(canvas, &x, panels.base, chart->x_what);
    else if (!panels.has_names)
        ocdm__draw_text(canvas, (LEFT + RIGHT) / 2.0, panels.base + 20, OCDM__MIDDLE, "",
                        "classes, in the order of the stream");
    for (size_t i = 0; panels.has_names && i < panels.count; i++)
        ocdm__draw_text(canvas, LEFT + panels.pitch * ((double)i + 0.5) + 4, panels.base + 6, OCDM__UP_END, "tiny", "%.*s",
                        name_limit, chart->bars[i * panels.merged].name);
    ocdm__output_text(canvas->out, "</g>\n</svg>\n");
}
