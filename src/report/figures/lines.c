/* Draws lines. Their names are at their right ends, moved apart where they would overlap, with a thin line to the end. */
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
    *line = (ocdm__chart_line){label, colour, count, numbers, numbers + count, numbers + 2 * count, numbers + 3 * count};
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
        size_t width = ocdm__plain_width(chart->lines[i].label, LABEL_LIMIT);
        widest = width > widest ? width : widest;
    }
    double legend = chart->mark_what != NULL ? OCDM__COLUMN * (double)strlen(chart->mark_what) : 0;
    double room = OCDM__WIDE_COLUMN * (double)widest;
    return 34 + (room > legend ? room : legend);
}

/* false when there is nothing to draw. */
static bool plan_frame(const ocdm__chart *chart, struct frame *frame)
{
    bool any_x = false, any_y = false;
    double bottom = TOP + (chart->height > 0 ? chart->height : HEIGHT);
    *frame = (struct frame){.y = {.from = bottom, .to = TOP, .is_log = chart->is_log}, .bottom = bottom};
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t k = 0; k < chart->lines[i].count; k++) {
            const ocdm__chart_line *line = &chart->lines[i];
            stretch(&frame->x, line->x[k], &any_x);
            stretch(&frame->y, line->y[k], &any_y);
            stretch(&frame->y, line->low[k], &any_y);
            stretch(&frame->y, line->high[k], &any_y);
        }
    for (size_t i = 0; i < chart->mark_count; i++)
        stretch(&frame->y, chart->marks[i].y, &any_y);
    for (size_t i = 0; i < 2 && chart->y_reach[0] < chart->y_reach[1]; i++)
        stretch(&frame->y, chart->y_reach[i], &any_y);
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

static void draw_ground(const ocdm__chart *chart, const ocdm__canvas *canvas, const struct frame *frame)
{
    ocdm__draw_y_axis(canvas, &frame->y, LEFT, frame->right, chart->y_what);
    draw_sections(chart, canvas, frame);
    if (chart->names == NULL && chart->dotted) {
        draw_values(chart, canvas, frame);
        return;
    }
    if (chart->names == NULL) {
        ocdm__draw_x_axis(canvas, &frame->x, frame->bottom, chart->x_what);
        return;
    }
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
        ocdm__put(canvas->out, "<polygon class=\"band f%u\" points=\"", line->colour % OCDM__COLOURS);
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
        ocdm__put(canvas->out, "<polyline class=\"line s%u d%u\" points=\"", line->colour % OCDM__COLOURS,
                  line->colour / OCDM__COLOURS % 3);
        for (size_t i = k; i < end; i++)
            put_point(canvas->out, frame, line->x[i], line->y[i]);
        ocdm__output_text(canvas->out, "\"><title>");
        ocdm__put_plain(canvas->out, line->label, LABEL_LIMIT);
        ocdm__output_text(canvas->out, "</title></polyline>\n");
    }
}

static void draw_dots(const ocdm__canvas *canvas, const struct frame *frame, const ocdm__chart_line *line)
{
    for (size_t k = 0; k < line->count; k++) {
        double x = ocdm__scale_place(&frame->x, line->x[k]);
        if (!isfinite(line->y[k]))
            continue;
        if (isfinite(line->low[k]) && isfinite(line->high[k])) {
            char class[16];
            snprintf(class, sizeof class, "s%u", line->colour % OCDM__COLOURS);
            ocdm__draw_rule(canvas, class, x, ocdm__scale_place(&frame->y, line->low[k]), x,
                            ocdm__scale_place(&frame->y, line->high[k]));
        }
        ocdm__put(canvas->out, "<circle class=\"f%u\" r=\"4\" cx=\"", line->colour % OCDM__COLOURS);
        ocdm__put_place(canvas->out, x);
        ocdm__output_text(canvas->out, "\" cy=\"");
        ocdm__put_place(canvas->out, ocdm__scale_place(&frame->y, line->y[k]));
        ocdm__output_text(canvas->out, "\"><title>");
        ocdm__put_plain(canvas->out, line->label, LABEL_LIMIT);
        ocdm__put(canvas->out, ": %.4g</title></circle>\n", line->y[k]);
    }
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
        if (last == 0)
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
        char class[24];
        const struct end *end = &ends[i];
        ocdm__draw_rule(canvas, "lead", end->x + 3, end->y, frame->right + 10, end->place);
        snprintf(class, sizeof class, "line s%u d%u", end->line->colour % OCDM__COLOURS, end->line->colour / OCDM__COLOURS % 3);
        ocdm__draw_rule(canvas, class, frame->right + 10, end->place, frame->right + 24, end->place);
        ocdm__output_text(canvas->out, "<text x=\"");
        ocdm__put_place(canvas->out, frame->right + 29);
        ocdm__output_text(canvas->out, "\" y=\"");
        ocdm__put_place(canvas->out, end->place + 4);
        ocdm__output_text(canvas->out, "\">");
        ocdm__put_plain(canvas->out, end->line->label, LABEL_LIMIT);
        ocdm__output_text(canvas->out, "</text>\n");
    }
}

ocdm_status ocdm__chart_draw(const ocdm__chart *chart, const ocdm__canvas *canvas, ocdm_error *error)
{
    struct frame frame;
    struct end *ends = ocdm__allocate(chart->line_count, sizeof *ends);
    if (ends == NULL)
        return ocdm__fail_memory(error, "a figure");
    bool any = plan_frame(chart, &frame);
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, frame.bottom + BOTTOM + (frame.upright ? UPRIGHT_ROOM : 0));
    if (any) {
        draw_ground(chart, canvas, &frame);
        for (size_t i = 0; i < chart->line_count && !chart->dotted; i++)
            draw_band(canvas, &frame, &chart->lines[i]);
        for (size_t i = 0; i < chart->line_count; i++)
            draw_curve(canvas, &frame, &chart->lines[i]);
        for (size_t i = 0; i < chart->line_count && chart->dotted; i++)
            draw_dots(canvas, &frame, &chart->lines[i]);
        draw_marks(chart, canvas, &frame);
        draw_ends(chart, canvas, &frame, ends);
    }
    ocdm__picture_end(canvas);
    ocdm__release(ends);
    return OCDM_OK;
}
