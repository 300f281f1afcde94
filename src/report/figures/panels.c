/*
 * Draws panels of bars. All panels share one scale, unless each has its own. Where there are targets, a bar far above them
 * is cut off, marked, and labelled with its value, so that one class that fills a memory does not flatten all others.
 */
#include "report/figures/panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
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
    NAMES = 98, /* room for the names of bars */
    AXIS = 46   /* room for numbers instead */
};

/* The narrowest bar that still has a name under it. */
#define NARROWEST_NAMED 7.5

/* The minimum upper end of a panel's own scale, so that its ticks are integers. */
#define LOWEST_OWN 4

/* The upper end of the scale, as a multiple of the largest target. */
#define REACH 1.8

ocdm__panel *ocdm__panels_add(ocdm__panels *panels, const char *label)
{
    ocdm__panel *larger = ocdm__resize(panels->panels, panels->panel_count + 1, sizeof *larger);
    if (larger == NULL)
        return NULL;
    panels->panels = larger;
    double *numbers = ocdm__allocate(panels->bar_count, 2 * sizeof *numbers);
    if (numbers == NULL)
        return NULL;
    for (size_t i = 0; i < 2 * panels->bar_count; i++)
        numbers[i] = NAN;
    ocdm__panel *panel = &panels->panels[panels->panel_count++];
    *panel = (ocdm__panel){.label = label, .colour = -1, .values = numbers, .targets = numbers + panels->bar_count};
    return panel;
}

void ocdm__panels_clear(ocdm__panels *panels)
{
    for (size_t i = 0; i < panels->panel_count; i++)
        ocdm__release(panels->panels[i].values);
    ocdm__release(panels->panels);
    ocdm__release(panels->kinds);
    ocdm__release((void *)panels->names);
    ocdm__release(panels->sections);
    *panels = (ocdm__panels){.y_what = NULL};
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

static double pitch_of(const ocdm__panels *panels)
{
    return (double)(RIGHT - LEFT) / (double)(panels->bar_count > 0 ? panels->bar_count : 1);
}

static bool has_names(const ocdm__panels *panels)
{
    return panels->names != NULL && pitch_of(panels) >= NARROWEST_NAMED;
}

/* The vertical scale of a panel; 0 is at 0. */
static ocdm__scale scale_of(const ocdm__panels *panels, size_t number)
{
    double highest = 0, target = 0;
    for (size_t p = 0; p < panels->panel_count; p++)
        for (size_t i = 0; i < panels->bar_count && (p == number || !panels->own_scales); i++) {
            double value = panels->panels[p].values[i], asked = panels->panels[p].targets[i];
            highest = value > highest && isfinite(value) ? value : highest;
            target = asked > target && isfinite(asked) ? asked : target;
        }
    highest = target > 0 && highest > REACH * target ? REACH * target : highest;
    highest = highest > target ? highest : target;
    highest = panels->own_scales && highest < LOWEST_OWN ? LOWEST_OWN : highest;
    ocdm__scale scale = {.low = panels->is_log ? 0.5 : 0, .high = highest, .to = -HEIGHT, .is_log = panels->is_log};
    if (panels->is_log)
        scale.high = highest > 1 ? highest * 1.1 : 10;
    else if (panels->highest > 0)
        scale.high = panels->highest;
    else
        ocdm__scale_widen(&scale);
    return scale;
}

static bool is_cut(const ocdm__panels *panels, const ocdm__panel *panel, const ocdm__scale *scale, size_t bar)
{
    return !panels->is_log && panel->values[bar] > scale->high * 1.0001;
}

static bool any_cut(const ocdm__panels *panels, size_t number)
{
    ocdm__scale scale = scale_of(panels, number);
    for (size_t i = 0; i < panels->bar_count; i++)
        if (is_cut(panels, &panels->panels[number], &scale, i))
            return true;
    return false;
}

/* The line that the bars of a panel stand on. */
static double base_line(const ocdm__panels *panels, size_t number)
{
    double y = HEADER + (panels->section_count > 0 ? SECTION_ROW : 0);
    for (size_t p = 0; p <= number && p < panels->panel_count; p++)
        y += HEIGHT + (p > 0 ? GAP : 0) + (any_cut(panels, p) ? OVERHANG : 0);
    return y;
}

/* ---- legend ------------------------------------------------------------------------------------------------------------- */

static double draw_legend_text(const ocdm__canvas *canvas, double x, const char *text)
{
    ocdm__draw_text(canvas, x, 18, OCDM__ANCHOR_START, "small", text);
    return x + OCDM__COLUMN * (double)strlen(text) + 24;
}

/* "f3 s3 k2": the colour of a bar, in fill and outline, and how its kind fills it. A negative colour is ink. */
static void put_colour(ocdm__output *out, int colour, unsigned kind)
{
    if (colour < 0)
        ocdm__put(out, "inkf ink k%u", kind);
    else
        ocdm__put(out, "f%u s%u k%u", (unsigned)colour % OCDM__COLOURS, (unsigned)colour % OCDM__COLOURS, kind);
}

void ocdm__bar_kind_draw(const ocdm__canvas *canvas, enum ocdm__bar_kind kind, double x, double y, double side)
{
    ocdm__output_text(canvas->out, "<rect class=\"");
    put_colour(canvas->out, -1, kind);
    ocdm__put(canvas->out, "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x, y, side, side);
}

static double draw_kind_name(const ocdm__canvas *canvas, double x, unsigned kind)
{
    ocdm__bar_kind_draw(canvas, (enum ocdm__bar_kind)kind, x, 8, 11);
    return draw_legend_text(canvas, x + 16, kind < OCDM__BAR_MIXED ? ocdm__paper_groups[kind] : "several");
}

void ocdm__bar_kind_legend(const ocdm__canvas *canvas, const ocdm__study_class *classes, size_t count)
{
    double x = LEGEND;
    for (unsigned kind = 0; kind <= OCDM__BAR_MIXED; kind++)
        for (size_t c = 0; c < count; c++)
            if (ocdm__bar_kind_of(&classes[c]) == kind) {
                x = draw_kind_name(canvas, x, kind);
                break;
            }
}

static void draw_arrow(const ocdm__canvas *canvas, int colour, double middle, double bottom)
{
    ocdm__output_text(canvas->out, "<path class=\"");
    put_colour(canvas->out, colour, OCDM__BAR_MAJORITY);
    ocdm__put(canvas->out, "\" d=\"M%.1f %.1fh6l-3 -5z\"/>\n", middle - 3, bottom - 2);
}

static void draw_cross(const ocdm__canvas *canvas, double middle, double bottom)
{
    ocdm__put(canvas->out, "<path class=\"mark\" d=\"M%.1f %.1fl6 -6m-6 0l6 6\"/>\n", middle - 3, bottom - 2);
}

static bool any_kind(const ocdm__panels *panels, unsigned kind)
{
    for (size_t i = 0; i < panels->bar_count; i++)
        if (panels->kinds != NULL && panels->kinds[i] == kind)
            return true;
    return false;
}

static void draw_legend(const ocdm__panels *panels, const ocdm__canvas *canvas)
{
    bool cut = false, target = false;
    for (size_t p = 0; p < panels->panel_count; p++) {
        cut = cut || any_cut(panels, p);
        for (size_t i = 0; i < panels->bar_count; i++)
            target = target || isfinite(panels->panels[p].targets[i]);
    }
    double x = LEGEND;
    for (unsigned kind = 0; panels->has_groups && kind <= OCDM__BAR_MIXED; kind++)
        if (any_kind(panels, kind))
            x = draw_kind_name(canvas, x, kind);
    if (target) {
        ocdm__draw_rule(canvas, "mark", x, 14, x + 12, 14);
        x = draw_legend_text(canvas, x + 17, panels->target_what);
    }
    if (cut) {
        draw_arrow(canvas, -1, x + 4, 20);
        x = draw_legend_text(canvas, x + 13, "higher");
    }
    if (panels->marks_lost) {
        draw_cross(canvas, x + 4, 20);
        draw_legend_text(canvas, x + 13, "none left");
    }
}

/* ---- a panel ------------------------------------------------------------------------------------------------------------ */

static unsigned kind_of_bar(const ocdm__panels *panels, size_t bar)
{
    return panels->kinds != NULL ? panels->kinds[bar] : OCDM__BAR_MAJORITY;
}

static void put_bar_title(ocdm__output *out, const ocdm__panels *panels, const ocdm__panel *panel, size_t bar)
{
    ocdm__output_text(out, "<title>");
    if (panels->names != NULL) {
        ocdm__put_plain(out, panels->names[bar], 60);
        ocdm__output_text(out, ": ");
    }
    ocdm__put(out, "%.4g", panel->values[bar]);
    if (isfinite(panel->targets[bar]))
        ocdm__put(out, ", target %.4g", panel->targets[bar]);
    ocdm__output_text(out, "</title>");
}

/* The name that the page's search looks for. */
static void put_class(const ocdm__canvas *canvas, const ocdm__panels *panels, size_t bar)
{
    if (panels->names == NULL || !ocdm__canvas_is_page(canvas))
        return;
    ocdm__output_text(canvas->out, " data-c=\"");
    ocdm__put_plain(canvas->out, panels->names[bar], OCDM__CLASS_LIMIT);
    ocdm__output_text(canvas->out, "\"");
}

static void draw_bar(const ocdm__panels *panels, const ocdm__canvas *canvas, const ocdm__panel *panel, const ocdm__scale *scale,
                     size_t bar, double base)
{
    double pitch = pitch_of(panels), width = pitch > 4 ? pitch - 2 : pitch * 0.8;
    double top = base + ocdm__scale_place(scale, panel->values[bar]);
    if (!isfinite(panel->values[bar]) || (panels->is_log && !(panel->values[bar] > 0)))
        return;
    if (panels->marks_lost && !(panel->values[bar] > 0))
        draw_cross(canvas, LEFT + pitch * ((double)bar + 0.5), base);
    ocdm__output_text(canvas->out, "<rect class=\"");
    put_colour(canvas->out, panel->colour, kind_of_bar(panels, bar));
    ocdm__put(canvas->out, "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
              LEFT + pitch * (double)bar + (pitch - width) / 2, top, width, base - top);
    put_class(canvas, panels, bar);
    ocdm__output_text(canvas->out, ">");
    put_bar_title(canvas->out, panels, panel, bar);
    ocdm__output_text(canvas->out, "</rect>\n");
}

/* Marks bars that are cut off. Their numbers alternate between two rows; a number that fits neither is omitted, and only
 * the bar's title has it. */
static void draw_cuts(const ocdm__panels *panels, const ocdm__canvas *canvas, const ocdm__panel *panel,
                      const ocdm__scale *scale, double base)
{
    double pitch = pitch_of(panels), ends[2] = {-1e9, -1e9};
    for (size_t i = 0; i < panels->bar_count; i++) {
        if (!is_cut(panels, panel, scale, i))
            continue;
        char text[32];
        double middle = LEFT + pitch * ((double)i + 0.5);
        draw_arrow(canvas, panel->colour, middle, base - HEIGHT);
        snprintf(text, sizeof text, "%.0f", panel->values[i]);
        double half = 3.2 * (double)strlen(text);
        for (int row = 0; row < 2; row++)
            if (middle - half > ends[row]) {
                ocdm__draw_text(canvas, middle, base - HEIGHT - 9 - 10 * row, OCDM__ANCHOR_MIDDLE, "tiny", text);
                ends[row] = middle + half;
                break;
            }
    }
}

static void draw_targets(const ocdm__panels *panels, const ocdm__canvas *canvas, const ocdm__panel *panel,
                         const ocdm__scale *scale, double base)
{
    double pitch = pitch_of(panels);
    for (size_t i = 0; i < panels->bar_count; i++) {
        double x = LEFT + pitch * (double)i, y = base + ocdm__scale_place(scale, panel->targets[i]);
        if (isfinite(panel->targets[i]))
            ocdm__draw_rule(canvas, "mark", x, y, x + pitch, y);
    }
}

static void draw_side(const ocdm__canvas *canvas, const ocdm__panel *panel, double base)
{
    ocdm__output_text(canvas->out, "<text class=\"strong\" x=\"28\" y=\"");
    ocdm__put_place(canvas->out, base - HEIGHT + 14);
    ocdm__output_text(canvas->out, "\">");
    ocdm__put_plain(canvas->out, panel->label, 18);
    ocdm__output_text(canvas->out, "</text>\n");
    for (size_t i = 0; i < OCDM__PANEL_NOTES; i++)
        if (panel->notes[i][0] != '\0')
            ocdm__draw_text(canvas, 28, base - HEIGHT + 32 + 16 * (double)i, OCDM__ANCHOR_START, "small faint",
                            panel->notes[i]);
}

/* Few numbers: panels are low. */
static void draw_heights(const ocdm__canvas *canvas, const ocdm__scale *scale, double base)
{
    double ticks[16];
    size_t count = ocdm__scale_ticks(scale, ticks, 16), every = count > 4 ? 2 : 1;
    for (size_t i = 0; i < count; i += every) {
        char text[32];
        double y = base + ocdm__scale_place(scale, ticks[i]);
        ocdm__tick_text(ticks[i], text, sizeof text);
        ocdm__draw_rule(canvas, "grid", LEFT, y, RIGHT, y);
        ocdm__draw_text(canvas, LEFT - 6, y + 4, OCDM__ANCHOR_END, "small faint", text);
    }
}

static void draw_panel(const ocdm__panels *panels, const ocdm__canvas *canvas, size_t number)
{
    const ocdm__panel *panel = &panels->panels[number];
    ocdm__scale scale = scale_of(panels, number);
    double base = base_line(panels, number);
    ocdm__mark_begin(canvas, panel->mark, HEIGHT + GAP + (any_cut(panels, number) ? OVERHANG : 0));
    draw_heights(canvas, &scale, base);
    for (size_t i = 1; i < panels->section_count; i++) {
        double x = LEFT + pitch_of(panels) * panels->sections[i].from;
        ocdm__draw_rule(canvas, "change", x, base - HEIGHT, x, base);
    }
    for (size_t i = 0; i < panels->bar_count; i++)
        draw_bar(panels, canvas, panel, &scale, i, base);
    draw_targets(panels, canvas, panel, &scale, base);
    draw_cuts(panels, canvas, panel, &scale, base);
    ocdm__draw_rule(canvas, "axis", LEFT, base, RIGHT, base);
    draw_side(canvas, panel, base);
    ocdm__mark_end(canvas);
}

/* ---- around them -------------------------------------------------------------------------------------------------------- */

static void draw_sections(const ocdm__panels *panels, const ocdm__canvas *canvas)
{
    for (size_t i = 0; i < panels->section_count; i++) {
        double end = i + 1 < panels->section_count ? panels->sections[i + 1].from : (double)panels->bar_count;
        double from = LEFT + pitch_of(panels) * panels->sections[i].from, to = LEFT + pitch_of(panels) * end;
        if (to - from > OCDM__COLUMN * (double)strlen(panels->sections[i].name))
            ocdm__draw_text(canvas, (from + to) / 2, HEADER + 12, OCDM__ANCHOR_MIDDLE, "small faint", panels->sections[i].name);
    }
}

static void draw_feet(const ocdm__panels *panels, const ocdm__canvas *canvas, double base)
{
    if (has_names(panels)) {
        for (size_t i = 0; i < panels->bar_count; i++) {
            double x = LEFT + pitch_of(panels) * ((double)i + 0.5) + 4;
            ocdm__draw_text_up(canvas, x, base + 6, OCDM__ANCHOR_END, "tiny", panels->names[i], NAME_LIMIT);
        }
    } else if (panels->names == NULL) {
        ocdm__scale x = panels->x;
        x.from = LEFT;
        x.to = RIGHT;
        ocdm__draw_x_axis(canvas, &x, base, panels->x_what);
    } else {
        ocdm__draw_text(canvas, (LEFT + RIGHT) / 2.0, base + 20, OCDM__ANCHOR_MIDDLE, "", panels->x_what);
    }
}

static void draw_shown(const ocdm__panels *panels, const ocdm__canvas *canvas)
{
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", panels->y_what, panels->is_log ? ", log scale" : "");
    double base = base_line(panels, panels->panel_count);
    double middle = (HEADER + base) / 2, half = OCDM__COLUMN * (double)strlen(what) / 2;
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, base + (has_names(panels) ? NAMES : AXIS));
    draw_legend(panels, canvas);
    draw_sections(panels, canvas);
    ocdm__draw_text_up(canvas, 14, middle > half ? middle : half, OCDM__ANCHOR_MIDDLE, "", what, 100);
    for (size_t p = 0; p < panels->panel_count; p++)
        draw_panel(panels, canvas, p);
    ocdm__output_text(canvas->out, "<g>\n");
    draw_feet(panels, canvas, base);
    ocdm__output_text(canvas->out, "</g>\n");
    ocdm__picture_end(canvas);
}

void ocdm__panels_draw(const ocdm__panels *panels, const ocdm__canvas *canvas)
{
    ocdm__panels shown = *panels;
    shown.is_log = panels->is_log != canvas->other_scale;
    draw_shown(&shown, canvas);
}

/* ---- classes as bars ---------------------------------------------------------------------------------------------------- */

/* The most bars that a panel has room for. */
#define MOST_BARS 160

static size_t merged_classes(const ocdm__class_list *list)
{
    return list->count <= MOST_BARS ? 1 : (list->count + MOST_BARS - 1) / MOST_BARS;
}

enum ocdm__bar_kind ocdm__bar_kind_of(const ocdm__study_class *class)
{
    for (unsigned i = 0; i < OCDM__BAR_MIXED; i++)
        if (strcmp(class->group, ocdm__paper_groups[i]) == 0)
            return (enum ocdm__bar_kind)i;
    return OCDM__BAR_MIXED;
}

static void name_bars(const ocdm__class_list *list, ocdm__panels *panels)
{
    size_t merged = merged_classes(list);
    for (size_t c = 0; c < list->count; c++) {
        unsigned char kind = (unsigned char)ocdm__bar_kind_of(&list->classes[c]);
        size_t bar = c / merged;
        panels->kinds[bar] = c % merged == 0 || panels->kinds[bar] == kind ? kind : OCDM__BAR_MIXED;
        panels->names[bar] = c % merged == 0 ? list->classes[c].name : panels->names[bar];
    }
}

/* Where the classes of the next task begin. */
static void find_sections(const ocdm__class_list *list, ocdm__panels *panels)
{
    for (size_t c = 0; c < list->count; c++) {
        size_t turn = list->classes[c].turn;
        if (c > 0 && turn == list->classes[c - 1].turn)
            continue;
        ocdm__panel_section *section = &panels->sections[panels->section_count++];
        section->from = (double)c / (double)merged_classes(list);
        if (turn < list->order.count)
            ocdm__task_text(list->order.values[turn], section->name, sizeof section->name);
    }
}

ocdm_status ocdm__class_panels_begin(ocdm__panels *panels, const ocdm__class_list *list, ocdm_error *error)
{
    bool failed = false;
    size_t merged = merged_classes(list);
    panels->x_what = "classes, in the order of the stream";
    panels->has_groups = true;
    panels->bar_count = (list->count + merged - 1) / merged;
    panels->kinds = ocdm__grown(NULL, panels->bar_count, sizeof *panels->kinds, &failed);
    panels->names = ocdm__grown(NULL, panels->bar_count, sizeof *panels->names, &failed);
    panels->sections = ocdm__grown(NULL, list->count, sizeof *panels->sections, &failed);
    if (failed)
        return ocdm__fail_memory(error, "a figure");
    memset(panels->sections, 0, list->count * sizeof *panels->sections);
    name_bars(list, panels);
    find_sections(list, panels);
    return OCDM_OK;
}

void ocdm__class_panels_fill(const ocdm__class_list *list, double *bars, ocdm__class_number *number, const void *state)
{
    size_t merged = merged_classes(list);
    for (size_t first = 0, bar = 0; first < list->count; first += merged, bar++) {
        size_t count = list->count - first < merged ? list->count - first : merged;
        bars[bar] = 0;
        for (size_t c = first; c < first + count; c++)
            bars[bar] += number(state, &list->classes[c]) / (double)count;
    }
}
