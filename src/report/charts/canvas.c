/* Scales, axes and text as SVG, and files of several pictures. */
#include "report/charts/canvas.h"

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

enum { MOST_TICKS = 16 };

/* Round numbers in the range, ascending; powers of ten on a logarithmic scale. Returns their number. */
static size_t find_ticks(const ocdm__scale *scale, double ticks[MOST_TICKS])
{
    size_t count = 0;
    double step = scale->is_log ? 1 : tick_step(scale), low = scale->is_log ? log10(scale->low) : scale->low / step;
    double high = scale->is_log ? log10(scale->high) + 1e-9 : scale->high + step * 1e-9;
    for (double number = ceil(low - 1e-9); number * step <= high && count < MOST_TICKS; number++)
        ticks[count++] = scale->is_log ? pow(10, number) : number * step;
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

void ocdm__task_text(double task, char *text, size_t room)
{
    if (task >= 0 && task < 1e9)
        snprintf(text, room, "task %.0f", task);
    else
        snprintf(text, room, "task ?");
}

/* ---- the picture -------------------------------------------------------------------------------------------------------- */

bool ocdm__canvas_is_page(const ocdm__canvas *canvas)
{
    return !canvas->alone && canvas->top == NULL;
}

void ocdm__put_mark(const ocdm__canvas *canvas, const char *mark)
{
    if (mark != NULL && ocdm__canvas_is_page(canvas))
        ocdm__put_markup(canvas->out, " data-m=\"%.*s\"", OCDM__MARK_LIMIT, mark);
}

void ocdm__mark_begin(const ocdm__canvas *canvas, const char *mark, double height)
{
    ocdm__output_text(canvas->out, height > 0 ? "<g class=\"panel\"" : "<g");
    ocdm__put_mark(canvas, mark);
    if (height > 0 && ocdm__canvas_is_page(canvas))
        ocdm__put_markup(canvas->out, " data-high=\"%-.1f\"", height);
    ocdm__output_text(canvas->out, ">\n");
}

void ocdm__picture_begin(const ocdm__canvas *canvas, double height, bool as_tables)
{
    ocdm__output *out = canvas->out;
    const double width = OCDM__FIGURE_WIDTH;
    ocdm__output_text(out, "<svg class=\"fig\"");
    if (canvas->top == NULL)
        ocdm__put_markup(out, " role=\"%s\"", as_tables ? "group" : "img");
    if (canvas->alone)
        ocdm__output_text(out, " xmlns=\"http://www.w3.org/2000/svg\"");
    if (canvas->top != NULL) {
        ocdm__put_markup(out, " y=\"%-.1f\"", *canvas->top);
        *canvas->top += height;
    }
    if (!ocdm__canvas_is_page(canvas))
        ocdm__put_markup(out, " width=\"%-.1f\" height=\"%-.1f\"", width, height);
    ocdm__put_markup(out, " viewBox=\"0 0 %.0f %.0f\">\n<title>%.200s</title>\n", width, height, canvas->title);
    if (!canvas->alone)
        return;
    ocdm__output_text(out, "<style>\n");
    ocdm__output_text(out, ocdm__figure_style);
    ocdm__put_markup(out, "</style>\n<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
}

void ocdm__draw_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                     const char *format, ...)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    ocdm__output *out = canvas->out;
    va_list list;
    ocdm__put_markup(out, "<text x=\"%-.1f\" y=\"%-.1f\"", x, y);
    ocdm__output_text(out, anchors[anchor % OCDM__UP_START]);
    if (class[0] != '\0')
        ocdm__put_markup(out, " class=\"%s\"", class);
    if (anchor >= OCDM__UP_START)
        ocdm__put_markup(out, " transform=\"rotate(-90 %-.1f %-.1f)\"", x, y);
    ocdm__output_text(out, ">");
    va_start(list, format);
    ocdm__put_markup_list(out, format, &list);
    va_end(list);
    ocdm__output_text(out, "</text>\n");
}

void ocdm__draw_cell(const ocdm__canvas *canvas, const char *role, double x, double y, enum ocdm__anchor anchor,
                     const char *text)
{
    ocdm__put_markup(canvas->out, "<g role=\"%s\">", role);
    ocdm__draw_text(canvas, x, y, anchor, "small faint", "%s", text);
    ocdm__output_text(canvas->out, "</g>\n");
}

void ocdm__draw_rule(const ocdm__canvas *canvas, const char *class, double x1, double y1, double x2, double y2)
{
    ocdm__put_markup(canvas->out, "<line class=\"%s\" x1=\"%-.1f\" y1=\"%-.1f\" x2=\"%-.1f\" y2=\"%-.1f\"/>\n", class, x1, y1,
                     x2, y2);
}

/* Every second one if there are many for a low scale. */
void ocdm__draw_grid(const ocdm__canvas *canvas, const ocdm__scale *scale, double left, double right)
{
    double ticks[MOST_TICKS];
    size_t count = find_ticks(scale, ticks), every = count > 4 && fabs(scale->from - scale->to) < 100 ? 2 : 1;
    for (size_t i = 0; i < count; i += every) {
        double y = ocdm__scale_place(scale, ticks[i]);
        ocdm__draw_rule(canvas, "grid", left, y, right, y);
        ocdm__draw_text(canvas, left - 6, y + 4, OCDM__END, "small faint", "%-g", ticks[i]);
    }
}

void ocdm__draw_x_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double y, const char *what)
{
    double ticks[MOST_TICKS];
    size_t count = find_ticks(scale, ticks);
    ocdm__draw_rule(canvas, "axis", scale->from, y, scale->to, y);
    for (size_t i = 0; i < count; i++) {
        double x = ocdm__scale_place(scale, ticks[i]);
        ocdm__draw_rule(canvas, "axis", x, y, x, y + 4);
        ocdm__draw_text(canvas, x, y + 17, OCDM__MIDDLE, "small faint", "%-g", ticks[i]);
    }
    ocdm__draw_text(canvas, (scale->from + scale->to) / 2, y + 36, OCDM__MIDDLE, "", "%s", what);
}

/* ---- sheets ------------------------------------------------------------------------------------------------------------- */

enum { TITLE_ROOM = 40, HEADING_ROOM = 30, REMARK_ROOM = 20, LEFT = 12, BELOW = 10 };

ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error)
{
    *sheet = (ocdm__sheet){.top = TITLE_ROOM};
    return ocdm__output_open_memory(&sheet->body, "a figure", error);
}

void ocdm__sheet_line(ocdm__sheet *sheet, bool is_heading, const char *text)
{
    sheet->top += is_heading ? HEADING_ROOM : REMARK_ROOM;
    ocdm__draw_text(&(ocdm__canvas){.out = &sheet->body}, LEFT, sheet->top, OCDM__START, is_heading ? "strong" : "small faint",
                    "%.1000s", text);
    sheet->top += BELOW;
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
    ocdm__picture_begin(&canvas, sheet->top + BELOW, false);
    ocdm__put_markup(out, "<desc>%.2000s</desc>\n", reading);
    ocdm__draw_text(&canvas, LEFT, 28, OCDM__START, "head", "%.1000s", title);
    ocdm__output_write(out, sheet->body.buffer, sheet->body.used);
    ocdm__output_text(out, "</svg>\n");
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
