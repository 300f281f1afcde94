/* Scales, axes and text as SVG, and files of several pictures. */
#include "report/charts/canvas.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/text.h"

/* ---- scales ------------------------------------------------------------------------------------------------------------- */

double ocdm__scale_place(const ocdm__scale *scale, double value)
{
    double low = scale->low, high = scale->high;
    if (scale->is_log) {
        value = value > low ? log10(value) : log10(low);
        low = log10(low);
        high = log10(high);
    }
    double share = high > low ? (value - low) / (high - low) : 0.5;
    share = share > 1 ? 1 : share > 0 ? share : 0;
    return scale->from + share * (scale->to - scale->from);
}

/* 1, 2 or 5 times a power of ten; about five steps cover the range. */
static double tick_step(const ocdm__scale *scale)
{
    double raw = (scale->high - scale->low) / 5;
    if (!(raw > 0) || !isfinite(raw))
        return 1;
    double power = pow(10, floor(log10(raw)));
    double digit = raw / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* Round numbers in the range, ascending, at most `room`; powers of ten on a logarithmic scale. Returns their number. */
static size_t find_ticks(const ocdm__scale *scale, double *ticks, size_t room)
{
    size_t count = 0;
    if (scale->is_log) {
        for (double power = ceil(log10(scale->low) - 1e-9); power <= log10(scale->high) + 1e-9 && count < room; power++)
            ticks[count++] = pow(10, power);
        return count;
    }
    double step = tick_step(scale);
    for (double number = ceil(scale->low / step - 1e-9); number * step <= scale->high + step * 1e-9 && count < room; number++)
        ticks[count++] = number * step;
    return count;
}

void ocdm__scale_widen(ocdm__scale *scale)
{
    if (scale->is_log) {
        scale->low = pow(10, floor(log10(scale->low) + 1e-9));
        scale->high = pow(10, ceil(log10(scale->high) - 1e-9));
        scale->high = scale->high > scale->low ? scale->high : scale->low * 10;
        return;
    }
    if (!(scale->high > scale->low))
        scale->high = scale->low + 1;
    /* A wider range may need wider steps, and its ends must be multiples of those. Two rounds are enough; more need not
     * converge. */
    for (int round = 0; round < 2; round++) {
        double step = tick_step(scale);
        scale->low = floor(scale->low / step + 1e-9) * step;
        scale->high = ceil(scale->high / step - 1e-9) * step;
    }
}

void ocdm__tick_text(double value, char *text, size_t room)
{
    if (fabs(value) < 1e-12)
        snprintf(text, room, "0");
    else if (fabs(value) >= 1e6 || fabs(value) < 1e-4)
        snprintf(text, room, "%.3g", value);
    else if (fabs(value) >= 1000)
        snprintf(text, room, "%.0f,%03.0f", trunc(value / 1000), fmod(fabs(value), 1000));
    else
        snprintf(text, room, "%.4g", value);
}

void ocdm__task_text(double task, char *text, size_t room)
{
    if (task >= 0 && task < 1e9)
        snprintf(text, room, "task %.0f", task);
    else
        snprintf(text, room, "task ?");
}

/* ---- the picture -------------------------------------------------------------------------------------------------------- */

void ocdm__put_place(ocdm__output *out, double place)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.1f", place);
    if (length > 2 && text[length - 1] == '0')
        length -= 2;
    ocdm__output_write(out, text, (size_t)length);
}

static void put_attribute(ocdm__output *out, const char *name, double place)
{
    ocdm__put(out, " %s=\"", name);
    ocdm__put_place(out, place);
    ocdm__output_text(out, "\"");
}

bool ocdm__canvas_is_page(const ocdm__canvas *canvas)
{
    return !canvas->alone && canvas->top == NULL;
}

void ocdm__put_mark(const ocdm__canvas *canvas, const char *mark)
{
    if (mark == NULL || !ocdm__canvas_is_page(canvas))
        return;
    ocdm__output_text(canvas->out, " data-m=\"");
    ocdm__put_plain(canvas->out, mark, OCDM__MARK_LIMIT);
    ocdm__output_text(canvas->out, "\"");
}

void ocdm__mark_begin(const ocdm__canvas *canvas, const char *mark, double height)
{
    ocdm__output_text(canvas->out, height > 0 ? "<g class=\"panel\"" : "<g");
    ocdm__put_mark(canvas, mark);
    if (height > 0 && ocdm__canvas_is_page(canvas))
        put_attribute(canvas->out, "data-high", height);
    ocdm__output_text(canvas->out, ">\n");
}

void ocdm__mark_end(const ocdm__canvas *canvas)
{
    ocdm__output_text(canvas->out, "</g>\n");
}

void ocdm__picture_begin(const ocdm__canvas *canvas, double width, double height, bool as_tables)
{
    ocdm__output *out = canvas->out;
    ocdm__output_text(out, "<svg class=\"fig\"");
    if (canvas->top == NULL)
        ocdm__output_text(out, as_tables ? " role=\"group\"" : " role=\"img\"");
    if (canvas->alone)
        ocdm__output_text(out, " xmlns=\"http://www.w3.org/2000/svg\"");
    if (canvas->top != NULL) {
        put_attribute(out, "y", *canvas->top);
        *canvas->top += height;
    }
    if (canvas->alone || canvas->top != NULL) {
        put_attribute(out, "width", width);
        put_attribute(out, "height", height);
    }
    ocdm__put(out, " viewBox=\"0 0 %.0f %.0f\">\n<title>", width, height);
    ocdm__put_plain(out, canvas->title, 200);
    ocdm__output_text(out, "</title>\n");
    if (!canvas->alone)
        return;
    ocdm__put(out, "<style>\n");
    ocdm__output_text(out, ocdm__figure_style);
    ocdm__put(out, "</style>\n<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
}

void ocdm__picture_end(const ocdm__canvas *canvas)
{
    ocdm__output_text(canvas->out, "</svg>\n");
}

static void put_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class, bool up,
                     const char *text, size_t limit)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    ocdm__output *out = canvas->out;
    ocdm__output_text(out, "<text");
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    ocdm__output_text(out, anchors[anchor]);
    if (class[0] != '\0')
        ocdm__put(out, " class=\"%s\"", class);
    if (up) {
        ocdm__output_text(out, " transform=\"rotate(-90 ");
        ocdm__put_place(out, x);
        ocdm__output_text(out, " ");
        ocdm__put_place(out, y);
        ocdm__output_text(out, ")\"");
    }
    ocdm__output_text(out, ">");
    ocdm__put_plain(out, text, limit);
    ocdm__output_text(out, "</text>\n");
}

void ocdm__draw_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                     const char *text, size_t limit)
{
    put_text(canvas, x, y, anchor, class, false, text, limit);
}

void ocdm__draw_text_up(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                        const char *text, size_t limit)
{
    put_text(canvas, x, y, anchor, class, true, text, limit);
}

void ocdm__draw_number(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, double value)
{
    char text[32];
    ocdm__tick_text(value, text, sizeof text);
    ocdm__draw_text(canvas, x, y, anchor, "small faint", text, sizeof text);
}

void ocdm__draw_rule(const ocdm__canvas *canvas, const char *class, double x1, double y1, double x2, double y2)
{
    ocdm__put(canvas->out, "<line class=\"%s\"", class);
    put_attribute(canvas->out, "x1", x1);
    put_attribute(canvas->out, "y1", y1);
    put_attribute(canvas->out, "x2", x2);
    put_attribute(canvas->out, "y2", y2);
    ocdm__output_text(canvas->out, "/>\n");
}

/* Every second one if there are many for a low scale. */
void ocdm__draw_grid(const ocdm__canvas *canvas, const ocdm__scale *scale, double left, double right)
{
    double ticks[16];
    size_t count = find_ticks(scale, ticks, sizeof ticks / sizeof ticks[0]);
    size_t every = count > 4 && fabs(scale->from - scale->to) < 100 ? 2 : 1;
    for (size_t i = 0; i < count; i += every) {
        double y = ocdm__scale_place(scale, ticks[i]);
        ocdm__draw_rule(canvas, "grid", left, y, right, y);
        ocdm__draw_number(canvas, left - 6, y + 4, OCDM__ANCHOR_END, ticks[i]);
    }
}

void ocdm__draw_x_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double y, const char *what)
{
    double ticks[16];
    size_t count = find_ticks(scale, ticks, sizeof ticks / sizeof ticks[0]);
    ocdm__draw_rule(canvas, "axis", scale->from, y, scale->to, y);
    for (size_t i = 0; i < count; i++) {
        double x = ocdm__scale_place(scale, ticks[i]);
        ocdm__draw_rule(canvas, "axis", x, y, x, y + 4);
        ocdm__draw_number(canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, ticks[i]);
    }
    ocdm__draw_text(canvas, (scale->from + scale->to) / 2, y + 36, OCDM__ANCHOR_MIDDLE, "", what, 1000);
}

/* ---- sheets ------------------------------------------------------------------------------------------------------------- */

enum { TITLE_ROOM = 40, HEADING_ROOM = 30, REMARK_ROOM = 20, LEFT = 12, BELOW = 10, TEXT_LIMIT = 2000 };

ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error)
{
    *sheet = (ocdm__sheet){.top = TITLE_ROOM};
    return ocdm__output_open_memory(&sheet->body, "a figure", error);
}

static void put_line(ocdm__sheet *sheet, double room, const char *class, const char *text)
{
    ocdm__canvas canvas = {.out = &sheet->body};
    sheet->top += room;
    ocdm__draw_text(&canvas, LEFT, sheet->top, OCDM__ANCHOR_START, class, text, 1000);
    sheet->top += BELOW;
}

void ocdm__sheet_heading(ocdm__sheet *sheet, const char *text)
{
    put_line(sheet, HEADING_ROOM, "strong", text);
}

void ocdm__sheet_remark(ocdm__sheet *sheet, const char *text)
{
    put_line(sheet, REMARK_ROOM, "small faint", text);
}

ocdm__canvas ocdm__sheet_canvas(ocdm__sheet *sheet, const char *title)
{
    return (ocdm__canvas){.out = &sheet->body, .title = title, .top = &sheet->top};
}

ocdm_status ocdm__sheet_put(const ocdm__sheet *sheet, const char *title, const char *reading, ocdm__output *out,
                            ocdm_error *error)
{
    ocdm__canvas canvas = {.out = out, .alone = true, .title = title};
    OCDM_TRY(ocdm__output_check(&sheet->body, error));
    ocdm__picture_begin(&canvas, OCDM__FIGURE_WIDTH, sheet->top + BELOW, false);
    ocdm__output_text(out, "<desc>");
    ocdm__put_plain(out, reading, TEXT_LIMIT);
    ocdm__output_text(out, "</desc>\n");
    ocdm__draw_text(&canvas, LEFT, 28, OCDM__ANCHOR_START, "head", title, 1000);
    ocdm__output_write(out, sheet->body.buffer, sheet->body.used);
    ocdm__picture_end(&canvas);
    return OCDM_OK;
}

ocdm_status ocdm__sheet_write(const ocdm__sheet *sheet, const char *title, const char *reading, const char *path,
                              ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    OCDM_TRY(ocdm__output_open(&out, path, error));
    ocdm_status status = ocdm__sheet_put(sheet, title, reading, &out, error);
    OCDM_THEN(status, ocdm__output_commit(&out, error));
    ocdm__output_abandon(&out);
    return status;
}

void ocdm__sheet_clear(ocdm__sheet *sheet)
{
    ocdm__output_abandon(&sheet->body);
}
