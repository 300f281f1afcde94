/* Draws lines. Their names are at their right ends, moved apart where they would overlap, with a thin line to the end; in a
 * page also in a legend above, since a narrow screen does not reach the right ends. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/charts/points.h"
#include "report/text.h"

enum {
    LEFT = 74,
    TOP = 30,
    HEIGHT = 280,
    BOTTOM = 50,
    LABEL_LIMIT = 34,
    LABEL_PITCH = 17,
    UPRIGHT_LIMIT = 18,
    UPRIGHT_ROOM = 90
};

/* Values below this are not distinguished on a logarithmic axis. */
#define SMALLEST 1e-6

/* ---- classes of the style sheet ----------------------------------------------------------------------------------------- */

static bool is_ink(unsigned colour)
{
    return colour >= OCDM__INK(0);
}

static unsigned dash_of(unsigned colour)
{
    return (is_ink(colour) ? colour - OCDM__INK(0) : colour / OCDM__COLOURS) % OCDM__DASHES;
}

/* "s3 d1": the stroke of a line, with its dash. */
static void put_stroke(ocdm__output *out, unsigned colour, bool dashed)
{
    if (is_ink(colour))
        ocdm__output_text(out, "ink");
    else
        ocdm__put(out, "s%u", colour % OCDM__COLOURS);
    if (dashed && dash_of(colour) > 0)
        ocdm__put(out, " d%u", dash_of(colour));
}

static void put_fill(ocdm__output *out, unsigned colour)
{
    if (is_ink(colour))
        ocdm__output_text(out, "inkf");
    else
        ocdm__put(out, "f%u", colour % OCDM__COLOURS);
}

/* ---- where things are --------------------------------------------------------------------------------------------------- */

struct frame {
    const ocdm__chart *chart;
    const ocdm__canvas *canvas;
    ocdm__lines lines;
    ocdm__scale x, y;
    double bottom; /* of the field */
    double right;  /* where the names start */
    bool upright;  /* the names below are rotated, since they would overlap */
};

static void stretch(ocdm__scale *scale, double value, bool *any)
{
    if (!isfinite(value) || (scale->is_log && !(value > 0)))
        return;
    value = scale->is_log && value < SMALLEST ? SMALLEST : value;
    scale->low = *any && scale->low < value ? scale->low : value;
    scale->high = *any && scale->high > value ? scale->high : value;
    *any = true;
}

static double label_room(const struct frame *frame)
{
    size_t widest = 0;
    const char *sources[] = {frame->chart->mark_what, frame->chart->point_what};
    size_t widest_source = 0;
    for (size_t i = 0; i < 2; i++)
        if (sources[i] != NULL && strlen(sources[i]) > widest_source)
            widest_source = strlen(sources[i]);
    for (size_t i = 0; i < frame->chart->series_count; i++) {
        size_t width = ocdm__plain_width(frame->chart->series[i].label, LABEL_LIMIT);
        widest = width > widest ? width : widest;
    }
    return 34 + fmax(OCDM__WIDE_COLUMN * (double)widest, OCDM__COLUMN * (double)widest_source);
}

/* false when there is nothing to draw. */
static bool plan_frame(struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    bool any_x = false, any_y = false, is_log = chart->is_log != frame->canvas->other_scale;
    frame->bottom = TOP + (chart->height > 0 ? chart->height : HEIGHT);
    frame->y = (ocdm__scale){.from = frame->bottom, .to = TOP, .is_log = is_log};
    for (size_t i = 0; i < frame->lines.count; i++)
        for (size_t k = 0; k < frame->lines.lines[i].count; k++) {
            const ocdm__line *line = &frame->lines.lines[i];
            if (isfinite(line->points[k].y))
                stretch(&frame->x, line->points[k].x, &any_x);
            stretch(&frame->y, line->points[k].y, &any_y);
            stretch(&frame->y, line->points[k].low, &any_y);
            stretch(&frame->y, line->points[k].high, &any_y);
        }
    for (size_t i = 0; i < chart->mark_count; i++)
        stretch(&frame->y, chart->marks[i].y, &any_y);
    for (size_t i = 0; i < 2 && chart->y_reach[0] < chart->y_reach[1]; i++)
        stretch(&frame->y, chart->y_reach[i], &any_y);
    if (any_y && chart->is_log && !is_log) /* a scale that is linear instead of logarithmic starts at 0 */
        stretch(&frame->y, 0, &any_y);
    if (any_y)
        ocdm__scale_widen(&frame->y);
    if (chart->kind == OCDM__CHART_LINES)
        stretch(&frame->x, 0, &any_x);
    if (chart->names != NULL)
        frame->x.low = -0.3, frame->x.high = (double)chart->name_count - 0.7;
    else if (chart->kind == OCDM__CHART_DOTS && any_x) {
        double margin = (frame->x.high - frame->x.low) * 0.04;
        frame->x.low -= margin, frame->x.high += margin;
    }
    frame->right = OCDM__FIGURE_WIDTH - label_room(frame);
    frame->x.from = LEFT;
    frame->x.to = frame->right;
    for (size_t i = 0; i < chart->name_count; i++)
        if (OCDM__COLUMN * (double)strlen(chart->names[i]) > (frame->right - LEFT) / (double)chart->name_count - 6)
            frame->upright = true;
    return any_x && any_y;
}

/* ---- the ground --------------------------------------------------------------------------------------------------------- */

static void draw_sections(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    for (size_t i = 0; i < chart->section_count; i++) {
        const char *name = chart->sections[i].name;
        double end = i + 1 < chart->section_count ? chart->sections[i + 1].from : frame->x.high;
        double from = ocdm__scale_place(&frame->x, chart->sections[i].from), to = ocdm__scale_place(&frame->x, end);
        if (i > 0)
            ocdm__draw_rule(frame->canvas, "change", from, TOP - 4, from, frame->bottom);
        if (to - from > OCDM__COLUMN * (double)strlen(name))
            ocdm__draw_text(frame->canvas, (from + to) / 2, TOP - 10, OCDM__ANCHOR_MIDDLE, "small faint", name, 40);
    }
}

/* The axis of points: their names, or, since they are few, their own numbers, except those too close to the previous one. */
static void draw_points_axis(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    const ocdm__line *line = frame->lines.count > 0 ? &frame->lines.lines[0] : NULL;
    double y = frame->bottom, last = -1e9;
    ocdm__draw_rule(frame->canvas, "axis", LEFT, y, frame->right, y);
    for (size_t i = 0; i < chart->name_count; i++) {
        double x = ocdm__scale_place(&frame->x, (double)i);
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        if (frame->upright)
            ocdm__draw_text_up(frame->canvas, x + 4, y + 8, OCDM__ANCHOR_END, "small faint", chart->names[i], UPRIGHT_LIMIT);
        else
            ocdm__draw_text(frame->canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, "small faint", chart->names[i], 40);
    }
    for (size_t k = 0; chart->names == NULL && line != NULL && k < line->count; k++) {
        char text[32];
        double x = ocdm__scale_place(&frame->x, line->points[k].x);
        ocdm__tick_text(line->points[k].x, text, sizeof text);
        if (!isfinite(line->points[k].x) || x - last < OCDM__COLUMN * (double)strlen(text) + 8)
            continue;
        ocdm__draw_rule(frame->canvas, "axis", x, y, x, y + 4);
        ocdm__draw_number(frame->canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, line->points[k].x);
        last = x;
    }
    ocdm__draw_text(frame->canvas, (LEFT + frame->right) / 2, y + (frame->upright ? UPRIGHT_ROOM : 0) + 36, OCDM__ANCHOR_MIDDLE,
                    "", chart->x_what, 1000);
}

static void draw_ground(const struct frame *frame)
{
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", frame->chart->y_what, frame->y.is_log ? ", log scale" : "");
    ocdm__draw_grid(frame->canvas, &frame->y, LEFT, frame->right);
    ocdm__draw_text_up(frame->canvas, 14, (frame->y.from + frame->y.to) / 2, OCDM__ANCHOR_MIDDLE, "", what, 100);
    draw_sections(frame);
    if (frame->chart->kind == OCDM__CHART_DOTS)
        draw_points_axis(frame);
    else
        ocdm__draw_x_axis(frame->canvas, &frame->x, frame->bottom, frame->chart->x_what);
    /* The field that the pointer reads values in: how places are numbers along x, and what those are. */
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    if (!ocdm__canvas_is_page(frame->canvas))
        return;
    ocdm__put(out, "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" data-x=\"%.6g %.6g\" data-what=\"",
              LEFT, TOP, frame->right - LEFT, frame->bottom - TOP, frame->x.low, frame->x.high);
    ocdm__put_plain(out, chart->x_what, 60);
    for (size_t i = 0; i < chart->name_count; i++) {
        ocdm__output_text(out, i == 0 ? "\" data-names=\"" : "|");
        ocdm__put_plain(out, chart->names[i], 40);
    }
    ocdm__output_text(out, "\"/>\n");
}

/* ---- a line ------------------------------------------------------------------------------------------------------------- */

static void put_point(const struct frame *frame, double x, double y)
{
    ocdm__put_place(frame->canvas->out, ocdm__scale_place(&frame->x, x));
    ocdm__output_text(frame->canvas->out, ",");
    ocdm__put_place(frame->canvas->out, ocdm__scale_place(&frame->y, y));
    ocdm__output_text(frame->canvas->out, " ");
}

/* The end of the range from `k` on in which every point has a y and, for a band, a spread. */
static size_t stretch_end(const ocdm__line *line, size_t k, bool band)
{
    while (k < line->count && isfinite(line->points[k].y) &&
           (!band || (isfinite(line->points[k].low) && isfinite(line->points[k].high))))
        k++;
    return k;
}

static void draw_band(const struct frame *frame, const ocdm__line *line)
{
    ocdm__output *out = frame->canvas->out;
    ocdm__mark_begin(frame->canvas, line->series->mark, 0);
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, true);
        if (end < k + 2)
            continue;
        ocdm__output_text(out, "<polygon class=\"band ");
        put_fill(out, line->series->colour);
        ocdm__output_text(out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(frame, line->points[i].x, line->points[i].low);
        for (size_t i = end; i-- > k;)
            put_point(frame, line->points[i].x, line->points[i].high);
        ocdm__output_text(out, "\"/>\n");
    }
    ocdm__mark_end(frame->canvas);
}

static void draw_curve(const struct frame *frame, const ocdm__line *line)
{
    ocdm__output *out = frame->canvas->out;
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, false);
        if (end < k + 2)
            continue;
        ocdm__output_text(out, line->behind ? "<polyline class=\"raw " : "<polyline class=\"line ");
        put_stroke(out, line->series->colour, !line->behind);
        ocdm__output_text(out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(frame, line->points[i].x, line->points[i].y);
        ocdm__output_text(out, "\"><title>");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__output_text(out, "</title></polyline>\n");
    }
}

/* A point: a circle for a method, a shape of its own for every line in ink. */
static void draw_point(ocdm__output *out, unsigned colour, double x, double y)
{
    static const char *const shapes[OCDM__DASHES] = {
        "M%.1f %.1fm-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M%.1f %.1fm-4 -4h8v8h-8z", "M%.1f %.1fm0 -5l5 9h-10z",
        "M%.1f %.1fm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z", "M%.1f %.1fm0 5l5 -9h-10z"};
    char path[96];
    ocdm__output_text(out, "<path class=\"dot ");
    put_fill(out, colour);
    snprintf(path, sizeof path, shapes[is_ink(colour) ? dash_of(colour) : 0], x, y);
    ocdm__put(out, "\" d=\"%s\">", path);
}

static void draw_dots(const struct frame *frame, const ocdm__line *line)
{
    ocdm__output *out = frame->canvas->out;
    for (size_t k = 0; k < line->count; k++) {
        double x = ocdm__scale_place(&frame->x, line->points[k].x);
        if (!isfinite(line->points[k].y))
            continue;
        if (isfinite(line->points[k].low) && isfinite(line->points[k].high)) {
            ocdm__output_text(out, "<path class=\"");
            put_stroke(out, line->series->colour, false);
            ocdm__put(out, "\" d=\"M%.1f %.1fV%.1f\"/>\n", x, ocdm__scale_place(&frame->y, line->points[k].low),
                      ocdm__scale_place(&frame->y, line->points[k].high));
        }
        draw_point(out, line->series->colour, x, ocdm__scale_place(&frame->y, line->points[k].y));
        ocdm__output_text(out, "<title>");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__put(out, ": %.4g</title></path>\n", line->points[k].y);
    }
}

/* In a page a line with a name has its numbers for the script, x and y in turn. */
static void draw_line(const struct frame *frame, const ocdm__line *line)
{
    ocdm__output *out = frame->canvas->out;
    ocdm__output_text(out, "<g");
    ocdm__put_mark(frame->canvas, line->series->mark);
    if (ocdm__canvas_is_page(frame->canvas) && !line->behind) {
        ocdm__output_text(out, " data-label=\"");
        ocdm__put_plain(out, line->series->label, LABEL_LIMIT);
        ocdm__output_text(out, "\" data-p=\"");
        for (size_t k = 0; k < line->count; k++)
            if (isfinite(line->points[k].x) && isfinite(line->points[k].y))
                ocdm__put(out, "%.7g %.4g ", line->points[k].x, line->points[k].y);
        ocdm__output_text(out, "\"");
    }
    ocdm__output_text(out, ">\n");
    draw_curve(frame, line);
    if (frame->chart->kind == OCDM__CHART_DOTS)
        draw_dots(frame, line);
    ocdm__mark_end(frame->canvas);
}

static void begin_diamond(ocdm__output *out, const char *class, double x, double y)
{
    ocdm__put(out, "<path class=\"%s\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\">", class, x, y - 6);
}

static void begin_square(ocdm__output *out, const char *class, double x, double y)
{
    ocdm__put(out, "<path class=\"%s\" d=\"M%.1f %.1fh10v10h-10z\">", class, x - 5, y - 5);
}

/* What a kind of mark is, above the names of the lines. */
static void draw_mark_name(const struct frame *frame, bool is_point, double y, const char *what)
{
    (is_point ? begin_square : begin_diamond)(frame->canvas->out, "mark", frame->right + 17, y);
    ocdm__output_text(frame->canvas->out, "</path>\n");
    ocdm__draw_text(frame->canvas, frame->right + 29, y + 4, OCDM__ANCHOR_START, "small", what, 40);
}

/* A value to compare with is next to the point, which would hide it where the two agree; with points it is a point too. */
static void draw_marks(const struct frame *frame)
{
    const ocdm__chart *chart = frame->chart;
    ocdm__output *out = frame->canvas->out;
    for (size_t i = 0; i < chart->mark_count; i++) {
        const ocdm__chart_mark *mark = &chart->marks[i];
        char class[16] = "line ink";
        if (!is_ink(mark->colour))
            snprintf(class, sizeof class, "line s%u", mark->colour % OCDM__COLOURS);
        double x = ocdm__scale_place(&frame->x, mark->x), y = ocdm__scale_place(&frame->y, mark->y);
        (mark->is_point ? begin_square : begin_diamond)(out, class, chart->point_what != NULL ? x : x - 12, y);
        ocdm__output_text(out, "<title>");
        ocdm__put_plain(out, mark->is_point ? chart->point_what : chart->mark_what, 40);
        ocdm__put(out, ": %.4g</title></path>\n", mark->y);
    }
    if (chart->mark_count == 0)
        return;
    draw_mark_name(frame, false, TOP - 18, chart->mark_what);
    if (chart->point_what != NULL)
        draw_mark_name(frame, true, TOP - 2, chart->point_what);
}

/* ---- names at the ends -------------------------------------------------------------------------------------------------- */

struct end {
    const ocdm__line *line;
    double x, y;  /* of the last point */
    double place; /* where the name goes */
};

/* From top to bottom. */
static size_t find_ends(const struct frame *frame, struct end *ends)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->lines.count; i++) {
        const ocdm__line *line = &frame->lines.lines[i];
        size_t last = line->count;
        while (last > 0 && !isfinite(line->points[last - 1].y))
            last--;
        if (last == 0 || line->behind)
            continue;
        double y = ocdm__scale_place(&frame->y, line->points[last - 1].y);
        size_t place = count++;
        for (; place > 0 && y < ends[place - 1].y; place--)
            ends[place] = ends[place - 1];
        ends[place] = (struct end){line, ocdm__scale_place(&frame->x, line->points[last - 1].x), y, y};
    }
    return count;
}

/* Moves names down until none overlaps the one above it, then up from the bottom. Too many names for the height are
 * distributed evenly. */
static void spread_ends(struct end *ends, size_t count, double bottom)
{
    double pitch = LABEL_PITCH, room = bottom - TOP + LABEL_PITCH;
    pitch = pitch * (double)count > room ? room / (double)count : pitch;
    for (size_t i = 1; i < count; i++)
        if (ends[i].place < ends[i - 1].place + pitch)
            ends[i].place = ends[i - 1].place + pitch;
    for (size_t i = count; i-- > 0; bottom -= pitch) {
        if (ends[i].place <= bottom)
            bottom = ends[i].place;
        ends[i].place = bottom;
    }
}

static void draw_ends(const struct frame *frame, struct end *ends)
{
    ocdm__output *out = frame->canvas->out;
    size_t count = find_ends(frame, ends);
    spread_ends(ends, count, frame->bottom);
    for (size_t i = 0; i < count; i++) {
        const struct end *end = &ends[i];
        ocdm__mark_begin(frame->canvas, end->line->series->mark, 0);
        ocdm__draw_rule(frame->canvas, "lead", end->x + 3, end->y, frame->right + 10, end->place);
        ocdm__output_text(out, "<path class=\"line ");
        put_stroke(out, end->line->series->colour, true);
        ocdm__put(out, "\" d=\"M%.1f %.1fh14\"/>\n", frame->right + 10, end->place);
        ocdm__draw_text(frame->canvas, frame->right + 29, end->place + 4, OCDM__ANCHOR_START, "name", end->line->series->label,
                        LABEL_LIMIT);
        ocdm__mark_end(frame->canvas);
    }
}

/* ---- the chart ---------------------------------------------------------------------------------------------------------- */

/* The legend of a page. */
static void put_legend(const ocdm__chart *chart, ocdm__output *out)
{
    ocdm__output_text(out, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->series_count; i++) {
        const ocdm__series *series = &chart->series[i];
        ocdm__output_text(out, "<li");
        if (series->mark != NULL && !is_ink(series->colour)) {
            ocdm__output_text(out, " data-legend=\"");
            ocdm__put_plain(out, series->mark, OCDM__MARK_LIMIT);
            ocdm__output_text(out, "\"");
        }
        ocdm__output_text(out, "><svg class=\"key long-key\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line ");
        put_stroke(out, series->colour, true);
        ocdm__output_text(out, "\" d=\"M1 6h24\"/>");
        if (chart->kind == OCDM__CHART_DOTS) {
            draw_point(out, series->colour, 13, 6);
            ocdm__output_text(out, "</path>");
        }
        ocdm__output_text(out, "</svg>");
        ocdm__put_name(out, series->label, LABEL_LIMIT);
        ocdm__output_text(out, "</li>\n");
    }
    ocdm__output_text(out, "</ul>\n");
}

/* Without numbers only the background is drawn. */
static void draw_picture(struct frame *frame, struct end *ends)
{
    const ocdm__canvas *canvas = frame->canvas;
    bool any = plan_frame(frame);
    if (ocdm__canvas_is_page(canvas))
        put_legend(frame->chart, canvas->out);
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, frame->bottom + BOTTOM + (frame->upright ? UPRIGHT_ROOM : 0), false);
    if (any) {
        draw_ground(frame);
        for (size_t i = 0; frame->chart->kind == OCDM__CHART_LINES && i < frame->lines.count; i++)
            draw_band(frame, &frame->lines.lines[i]);
        for (size_t i = 0; i < frame->lines.count; i++)
            draw_line(frame, &frame->lines.lines[i]);
        draw_marks(frame);
        draw_ends(frame, ends);
    }
    ocdm__picture_end(canvas);
}

ocdm_status ocdm__lines_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    struct frame frame = {.chart = chart, .canvas = canvas};
    ocdm_status status = ocdm__lines_collect(&frame.lines, chart, error);
    struct end *ends = ocdm__allocate(frame.lines.count, sizeof *ends);
    if (status == OCDM_OK && ends == NULL)
        status = ocdm__fail_memory(error, "a chart");
    if (status == OCDM_OK)
        draw_picture(&frame, ends);
    ocdm__lines_clear(&frame.lines);
    ocdm__release(ends);
    return status;
}
