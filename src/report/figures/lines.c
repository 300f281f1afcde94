/* Draws lines. Their names are at their right ends, moved apart where they would overlap, with a thin line to the end; in a
 * page also in a legend above, since a narrow screen does not reach the right ends. */
#include "report/figures/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
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

ocdm__chart_line *ocdm__chart_add(ocdm__chart *chart, const char *label, unsigned colour, size_t count)
{
    ocdm__chart_line *larger = ocdm__resize(chart->lines, chart->line_count + 1, sizeof *larger);
    if (larger == NULL)
        return NULL;
    chart->lines = larger;
    double *numbers = ocdm__allocate(count, 4 * sizeof *numbers);
    if (numbers == NULL)
        return NULL;
    ocdm__chart_line *line = &chart->lines[chart->line_count++];
    *line = (ocdm__chart_line){.label = label,
                               .colour = colour,
                               .count = count,
                               .x = numbers,
                               .y = numbers + count,
                               .low = numbers + 2 * count,
                               .high = numbers + 3 * count};
    return line;
}

void ocdm__chart_clear(ocdm__chart *chart)
{
    for (size_t i = 0; i < chart->line_count; i++)
        ocdm__release(chart->lines[i].x);
    ocdm__release(chart->lines);
    ocdm__release(chart->sections);
    ocdm__release(chart->marks);
    ocdm__release(chart->names);
    *chart = (ocdm__chart){.x_what = NULL};
}

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

static double label_room(const ocdm__chart *chart)
{
    size_t widest = 0;
    for (size_t i = 0; i < chart->line_count; i++) {
        size_t width = chart->lines[i].behind ? 0 : ocdm__plain_width(chart->lines[i].label, LABEL_LIMIT);
        widest = width > widest ? width : widest;
    }
    double legend = chart->mark_what != NULL ? OCDM__COLUMN * (double)strlen(chart->mark_what) : 0;
    double room = OCDM__WIDE_COLUMN * (double)widest;
    return 34 + (room > legend ? room : legend);
}

/* A scale that is linear instead of logarithmic starts at 0. */
static bool starts_at_0(const ocdm__chart *chart, const struct frame *frame)
{
    return chart->is_log && !frame->y.is_log;
}

/* false when there is nothing to draw. */
static bool plan_frame(const ocdm__chart *chart, bool is_log, struct frame *frame)
{
    bool any_x = false, any_y = false;
    double bottom = TOP + (chart->height > 0 ? chart->height : HEIGHT);
    *frame = (struct frame){.y = {.from = bottom, .to = TOP, .is_log = is_log}, .bottom = bottom};
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t k = 0; k < chart->lines[i].count; k++) {
            const ocdm__chart_line *line = &chart->lines[i];
            if (isfinite(line->y[k]))
                stretch(&frame->x, line->x[k], &any_x);
            stretch(&frame->y, line->y[k], &any_y);
            stretch(&frame->y, line->low[k], &any_y);
            stretch(&frame->y, line->high[k], &any_y);
        }
    for (size_t i = 0; i < chart->mark_count; i++)
        stretch(&frame->y, chart->marks[i].y, &any_y);
    for (size_t i = 0; i < 2 && chart->y_reach[0] < chart->y_reach[1]; i++)
        stretch(&frame->y, chart->y_reach[i], &any_y);
    if (any_y && starts_at_0(chart, frame))
        stretch(&frame->y, 0, &any_y);
    if (any_y)
        ocdm__scale_widen(&frame->y);
    if (!chart->dotted)
        stretch(&frame->x, 0, &any_x);
    if (chart->names != NULL)
        frame->x.low = -0.3, frame->x.high = (double)chart->name_count - 0.7;
    else if (chart->dotted && any_x) {
        double margin = (frame->x.high - frame->x.low) * 0.04;
        frame->x.low -= margin, frame->x.high += margin;
    }
    frame->right = OCDM__FIGURE_WIDTH - label_room(chart);
    frame->x.from = LEFT;
    frame->x.to = frame->right;
    for (size_t i = 0; chart->names != NULL && i < chart->name_count; i++)
        if (OCDM__COLUMN * (double)strlen(chart->names[i]) > (frame->right - LEFT) / (double)chart->name_count - 6)
            frame->upright = true;
    return any_x && any_y;
}

/* ---- the ground --------------------------------------------------------------------------------------------------------- */

static void draw_sections(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    for (size_t i = 0; i < chart->section_count; i++) {
        double end = i + 1 < chart->section_count ? chart->sections[i + 1].from : frame->x.high;
        double from = ocdm__scale_place(&frame->x, chart->sections[i].from), to = ocdm__scale_place(&frame->x, end);
        if (i > 0)
            ocdm__draw_rule(canvas, "change", from, TOP - 4, from, frame->bottom);
        if (to - from > OCDM__COLUMN * (double)strlen(chart->sections[i].name))
            ocdm__draw_text(canvas, (from + to) / 2, TOP - 10, OCDM__ANCHOR_MIDDLE, "small faint", chart->sections[i].name);
    }
}

/* If there are few points, the axis shows their own numbers, except those too close to the previous one. */
static void draw_values(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    double last = -1e9;
    ocdm__draw_rule(canvas, "axis", LEFT, frame->bottom, frame->right, frame->bottom);
    for (size_t k = 0; chart->line_count > 0 && k < chart->lines[0].count; k++) {
        char text[32];
        double x = ocdm__scale_place(&frame->x, chart->lines[0].x[k]);
        ocdm__tick_text(chart->lines[0].x[k], text, sizeof text);
        if (!isfinite(chart->lines[0].x[k]) || x - last < OCDM__COLUMN * (double)strlen(text) + 8)
            continue;
        ocdm__draw_rule(canvas, "axis", x, frame->bottom, x, frame->bottom + 4);
        ocdm__draw_text(canvas, x, frame->bottom + 17, OCDM__ANCHOR_MIDDLE, "small faint", text);
        last = x;
    }
    ocdm__draw_text(canvas, (LEFT + frame->right) / 2, frame->bottom + 36, OCDM__ANCHOR_MIDDLE, "", chart->x_what);
}

static void draw_names(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    ocdm__draw_rule(canvas, "axis", LEFT, frame->bottom, frame->right, frame->bottom);
    for (size_t i = 0; i < chart->name_count; i++) {
        double x = ocdm__scale_place(&frame->x, (double)i), y = frame->bottom;
        ocdm__draw_rule(canvas, "axis", x, y, x, y + 4);
        if (frame->upright)
            ocdm__draw_text_up(canvas, x + 4, y + 8, OCDM__ANCHOR_END, "small faint", chart->names[i], UPRIGHT_LIMIT);
        else
            ocdm__draw_text(canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, "small faint", chart->names[i]);
    }
    ocdm__draw_text(canvas, (LEFT + frame->right) / 2, frame->bottom + (frame->upright ? UPRIGHT_ROOM : 0) + 36,
                    OCDM__ANCHOR_MIDDLE, "", chart->x_what);
}

/* The field that the pointer reads values in: how places are numbers along x, and what those are. */
static void draw_field(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    ocdm__output *out = canvas->out;
    if (!ocdm__canvas_is_page(canvas))
        return;
    ocdm__put(out, "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" data-x=\"%.6g %.6g\" data-what=\"",
              LEFT, TOP, frame->right - LEFT, frame->bottom - TOP, frame->x.low, frame->x.high);
    ocdm__put_plain(out, chart->x_what, 60);
    ocdm__output_text(out, "\"");
    for (size_t i = 0; chart->names != NULL && i < chart->name_count; i++) {
        ocdm__output_text(out, i == 0 ? " data-names=\"" : "|");
        ocdm__put_plain(out, chart->names[i], 40);
    }
    ocdm__output_text(out, chart->names != NULL && chart->name_count > 0 ? "\"/>\n" : "/>\n");
}

static void draw_ground(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    char what[120];
    snprintf(what, sizeof what, "%.100s%s", chart->y_what, frame->y.is_log ? ", log scale" : "");
    ocdm__draw_y_axis(canvas, &frame->y, LEFT, frame->right, what);
    draw_sections(chart, canvas, frame);
    if (chart->names != NULL)
        draw_names(chart, canvas, frame);
    else if (chart->dotted)
        draw_values(chart, canvas, frame);
    else
        ocdm__draw_x_axis(canvas, &frame->x, frame->bottom, chart->x_what);
    draw_field(chart, canvas, frame);
}

/* ---- a line ------------------------------------------------------------------------------------------------------------- */

static void put_point(ocdm__output *out, const struct frame *frame, double x, double y)
{
    ocdm__put_place(out, ocdm__scale_place(&frame->x, x));
    ocdm__output_text(out, ",");
    ocdm__put_place(out, ocdm__scale_place(&frame->y, y));
    ocdm__output_text(out, " ");
}

/* The end of the range from `k` on in which every point has a y and, for a band, a spread. */
static size_t stretch_end(const ocdm__chart_line *line, size_t k, bool band)
{
    while (k < line->count && isfinite(line->y[k]) && (!band || (isfinite(line->low[k]) && isfinite(line->high[k]))))
        k++;
    return k;
}

static void draw_band(const ocdm__canvas *canvas, const struct frame *frame, const ocdm__chart_line *line)
{
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, true);
        if (end < k + 2)
            continue;
        ocdm__output_text(canvas->out, "<polygon class=\"band ");
        put_fill(canvas->out, line->colour);
        ocdm__output_text(canvas->out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(canvas->out, frame, line->x[i], line->low[i]);
        for (size_t i = end; i-- > k;)
            put_point(canvas->out, frame, line->x[i], line->high[i]);
        ocdm__output_text(canvas->out, "\"/>\n");
    }
}

static void draw_curve(const ocdm__canvas *canvas, const struct frame *frame, const ocdm__chart_line *line)
{
    for (size_t k = 0, end; k < line->count; k = end + 1) {
        end = stretch_end(line, k, false);
        if (end < k + 2)
            continue;
        ocdm__output_text(canvas->out, line->behind ? "<polyline class=\"raw " : "<polyline class=\"line ");
        put_stroke(canvas->out, line->colour, !line->behind);
        ocdm__output_text(canvas->out, "\" points=\"");
        for (size_t i = k; i < end; i++)
            put_point(canvas->out, frame, line->x[i], line->y[i]);
        ocdm__output_text(canvas->out, "\"><title>");
        ocdm__put_plain(canvas->out, line->label, LABEL_LIMIT);
        ocdm__output_text(canvas->out, "</title></polyline>\n");
    }
}

/* A point: a circle for a method, a shape of its own for every line in ink. */
static void draw_point(const ocdm__canvas *canvas, unsigned colour, double x, double y)
{
    static const char *const shapes[OCDM__DASHES] = {
        "M%.1f %.1fm-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M%.1f %.1fm-4 -4h8v8h-8z", "M%.1f %.1fm0 -5l5 9h-10z",
        "M%.1f %.1fm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z", "M%.1f %.1fm0 5l5 -9h-10z"};
    char path[96];
    ocdm__output_text(canvas->out, "<path class=\"dot ");
    put_fill(canvas->out, colour);
    snprintf(path, sizeof path, shapes[is_ink(colour) ? dash_of(colour) : 0], x, y);
    ocdm__put(canvas->out, "\" d=\"%s\">", path);
}

static void draw_dots(const ocdm__canvas *canvas, const struct frame *frame, const ocdm__chart_line *line)
{
    for (size_t k = 0; k < line->count; k++) {
        double x = ocdm__scale_place(&frame->x, line->x[k]);
        if (!isfinite(line->y[k]))
            continue;
        if (isfinite(line->low[k]) && isfinite(line->high[k])) {
            ocdm__output_text(canvas->out, "<path class=\"");
            put_stroke(canvas->out, line->colour, false);
            ocdm__put(canvas->out, "\" d=\"M%.1f %.1fV%.1f\"/>\n", x, ocdm__scale_place(&frame->y, line->low[k]),
                      ocdm__scale_place(&frame->y, line->high[k]));
        }
        draw_point(canvas, line->colour, x, ocdm__scale_place(&frame->y, line->y[k]));
        ocdm__output_text(canvas->out, "<title>");
        ocdm__put_plain(canvas->out, line->label, LABEL_LIMIT);
        ocdm__put(canvas->out, ": %.4g</title></path>\n", line->y[k]);
    }
}

/* The numbers of a line for the script, x and y in turn; only of lines with a name. */
static void put_numbers(const ocdm__canvas *canvas, const ocdm__chart_line *line)
{
    if (!ocdm__canvas_is_page(canvas) || line->behind)
        return;
    ocdm__output_text(canvas->out, " data-label=\"");
    ocdm__put_plain(canvas->out, line->label, LABEL_LIMIT);
    ocdm__output_text(canvas->out, "\" data-p=\"");
    for (size_t k = 0; k < line->count; k++)
        if (isfinite(line->x[k]) && isfinite(line->y[k]))
            ocdm__put(canvas->out, "%.7g %.4g ", line->x[k], line->y[k]);
    ocdm__output_text(canvas->out, "\"");
}

static void draw_line(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame,
                      const ocdm__chart_line *line)
{
    ocdm__output_text(canvas->out, "<g");
    ocdm__put_mark(canvas, line->mark);
    put_numbers(canvas, line);
    ocdm__output_text(canvas->out, ">\n");
    draw_curve(canvas, frame, line);
    if (chart->dotted)
        draw_dots(canvas, frame, line);
    ocdm__mark_end(canvas);
}

static void draw_diamond(const ocdm__canvas *canvas, const char *class, double x, double y)
{
    ocdm__put(canvas->out, "<path class=\"%s\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\">", class, x, y - 6);
}

/* Next to the point, which would hide it where the two agree. */
static void draw_marks(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    for (size_t i = 0; i < chart->mark_count; i++) {
        const ocdm__chart_mark *mark = &chart->marks[i];
        char class[16];
        if (!isfinite(mark->y))
            continue;
        if (is_ink(mark->colour))
            snprintf(class, sizeof class, "line ink");
        else
            snprintf(class, sizeof class, "line s%u", mark->colour % OCDM__COLOURS);
        draw_diamond(canvas, class, ocdm__scale_place(&frame->x, mark->x) - 12, ocdm__scale_place(&frame->y, mark->y));
        ocdm__output_text(canvas->out, "<title>");
        ocdm__put_plain(canvas->out, chart->mark_what, 40);
        ocdm__put(canvas->out, ": %.4g</title></path>\n", mark->y);
    }
    if (chart->mark_count == 0 || chart->mark_what == NULL)
        return;
    draw_diamond(canvas, "mark", frame->right + 17, TOP - 18);
    ocdm__output_text(canvas->out, "</path>\n");
    ocdm__draw_text(canvas, frame->right + 29, TOP - 14, OCDM__ANCHOR_START, "small", chart->mark_what);
}

/* ---- names at the ends -------------------------------------------------------------------------------------------------- */

struct end {
    const ocdm__chart_line *line;
    double x, y;  /* of the last point */
    double place; /* where the name goes */
};

static size_t find_ends(const ocdm__chart *chart, const struct frame *frame, struct end *ends)
{
    size_t count = 0;
    for (size_t i = 0; i < chart->line_count; i++) {
        const ocdm__chart_line *line = &chart->lines[i];
        size_t last = line->count;
        while (last > 0 && !isfinite(line->y[last - 1]))
            last--;
        if (last == 0 || line->behind)
            continue;
        struct end end = {line, ocdm__scale_place(&frame->x, line->x[last - 1]),
                          ocdm__scale_place(&frame->y, line->y[last - 1]), 0};
        end.place = end.y;
        size_t place = count++;
        for (; place > 0 && end.y < ends[place - 1].y; place--)
            ends[place] = ends[place - 1];
        ends[place] = end;
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

static void draw_ends(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame, struct end *ends)
{
    size_t count = find_ends(chart, frame, ends);
    spread_ends(ends, count, frame->bottom);
    for (size_t i = 0; i < count; i++) {
        const struct end *end = &ends[i];
        ocdm__mark_begin(canvas, end->line->mark, 0);
        ocdm__draw_rule(canvas, "lead", end->x + 3, end->y, frame->right + 10, end->place);
        ocdm__output_text(canvas->out, "<path class=\"line ");
        put_stroke(canvas->out, end->line->colour, true);
        ocdm__put(canvas->out, "\" d=\"M%.1f %.1fh14\"/>\n<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", frame->right + 10,
                  end->place, frame->right + 29, end->place + 4);
        ocdm__put_plain(canvas->out, end->line->label, LABEL_LIMIT);
        ocdm__output_text(canvas->out, "</text>\n");
        ocdm__mark_end(canvas);
    }
}

/* ---- the legend of a page ------------------------------------------------------------------------------------------------ */

static void put_legend(const ocdm__chart *chart, const ocdm__canvas *canvas)
{
    if (!ocdm__canvas_is_page(canvas))
        return;
    ocdm__output_text(canvas->out, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->line_count; i++) {
        const ocdm__chart_line *line = &chart->lines[i];
        if (line->behind)
            continue;
        ocdm__output_text(canvas->out, "<li");
        if (line->mark != NULL && !is_ink(line->colour)) {
            ocdm__output_text(canvas->out, " data-legend=\"");
            ocdm__put_plain(canvas->out, line->mark, OCDM__MARK_LIMIT);
            ocdm__output_text(canvas->out, "\"");
        }
        ocdm__output_text(canvas->out,
                          "><svg class=\"key long-key\" viewBox=\"0 0 26 12\" aria-hidden=\"true\"><path class=\"line ");
        put_stroke(canvas->out, line->colour, true);
        ocdm__output_text(canvas->out, "\" d=\"M1 6h24\"/>");
        if (chart->dotted) {
            draw_point(canvas, line->colour, 13, 6);
            ocdm__output_text(canvas->out, "</path>");
        }
        ocdm__output_text(canvas->out, "</svg>");
        ocdm__put_name(canvas->out, line->label, LABEL_LIMIT);
        ocdm__output_text(canvas->out, "</li>\n");
    }
    ocdm__output_text(canvas->out, "</ul>\n");
}

/* ---- the chart ---------------------------------------------------------------------------------------------------------- */

static void draw_bands(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    for (size_t i = 0; i < chart->line_count; i++) {
        ocdm__mark_begin(canvas, chart->lines[i].mark, 0);
        draw_band(canvas, frame, &chart->lines[i]);
        ocdm__mark_end(canvas);
    }
}

ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    struct frame frame;
    struct end *ends = ocdm__allocate(chart->line_count, sizeof *ends);
    if (ends == NULL)
        return ocdm__fail_memory(error, "a figure");
    bool any = plan_frame(chart, chart->is_log != canvas->other_scale, &frame);
    put_legend(chart, canvas);
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, frame.bottom + BOTTOM + (frame.upright ? UPRIGHT_ROOM : 0));
    if (any) {
        draw_ground(chart, canvas, &frame);
        if (!chart->dotted)
            draw_bands(chart, canvas, &frame);
        for (size_t i = 0; i < 2 * chart->line_count; i++) {
            const ocdm__chart_line *line = &chart->lines[i % chart->line_count];
            if (line->behind == (i < chart->line_count))
                draw_line(chart, canvas, &frame, line);
        }
        draw_marks(chart, canvas, &frame);
        draw_ends(chart, canvas, &frame, ends);
    }
    ocdm__picture_end(canvas);
    ocdm__release(ends);
    return OCDM_OK;
}
