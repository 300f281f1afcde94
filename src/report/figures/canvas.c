/* Scales, axes and text as SVG, and files of several pictures. */
#include "report/figures/canvas.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report/text.h"

const char ocdm__figure_style[] =
    ".fig{font-family:system-ui,\"DejaVu Sans\",Arial,sans-serif;font-size:13px}\n"
    ".fig text{fill:#1f2328}\n.fig .small{font-size:11.5px}\n.fig .tiny{font-size:10px}\n.fig .faint{fill:#57606a}\n"
    ".fig .strong{font-weight:600}\n.fig .head{font-size:17px;font-weight:600}\n"
    ".fig .paper{fill:#ffffff}\n.fig .axis{stroke:#57606a;fill:none}\n.fig .field{fill:none;pointer-events:all}\n"
    ".fig .grid{stroke:#d8dee4;fill:none}\n.fig .mark{stroke:#1f2328;stroke-width:1.5;fill:none}\n.fig .solid{fill:#1f2328}\n"
    ".fig .change{stroke:#8c959f;stroke-dasharray:3 3;fill:none}\n.fig .lead{stroke:#8c959f;stroke-width:.8;fill:none}\n"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}\n.fig .band{fill-opacity:.18}\n"
    ".fig .raw{fill:none;stroke-width:1;stroke-opacity:.3}\n"
    ".d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}.d4{stroke-dasharray:5 2 1 2 1 2}\n"
    ".ink{stroke:#1f2328}.inkf{fill:#1f2328}\n"
    ".s0{stroke:#0067c0}.s1{stroke:#00996b}.s2{stroke:#8a478b}.s3{stroke:#bd8600}.s4{stroke:#2492ea}.s5{stroke:#c8420a}\n"
    ".s6{stroke:#5b2b12}.s7{stroke:#7d7a3c}.s8{stroke:#6902d3}.s9{stroke:#6b7480}.s10{stroke:#1f2328}\n"
    ".f0{fill:#0067c0}.f1{fill:#00996b}.f2{fill:#8a478b}.f3{fill:#bd8600}.f4{fill:#2492ea}.f5{fill:#c8420a}\n"
    ".f6{fill:#5b2b12}.f7{fill:#7d7a3c}.f8{fill:#6902d3}.f9{fill:#6b7480}.f10{fill:#1f2328}\n"
    ".h0{fill:#f4f1fb}.h1{fill:#e5dff5}.h2{fill:#d2c8ed}.h3{fill:#bcaee3}.h4{fill:#a493d6}\n"
    ".h5{fill:#7b68ba}.h6{fill:#664fa6}.h7{fill:#523b8e}.h8{fill:#3d2873}\n"
    ".k0,.k1,.k3{stroke:none}.k1{fill-opacity:.5}.k2{fill-opacity:.2;stroke-width:1}.k3{fill-opacity:.3}\n"
    ".fig .t5,.fig .t6,.fig .t7,.fig .t8{fill:#ffffff}\n.part{stroke:#664fa6;stroke-width:.7}\n";

const char ocdm__figure_style_dark[] =
    ".fig text{fill:#e6edf3}.fig .faint{fill:#a3adb8}.fig .paper{fill:#0d1117}.fig .axis{stroke:#a3adb8}\n"
    ".fig .grid{stroke:#30363d}.fig .mark{stroke:#e6edf3}.fig .solid{fill:#e6edf3}\n"
    ".fig .change,.fig .lead{stroke:#7d8590}.ink{stroke:#e6edf3}.inkf{fill:#e6edf3}\n"
    ".s0{stroke:#4aa3f5}.s1{stroke:#1be0a0}.s2{stroke:#c36fc0}.s3{stroke:#ffba1b}.s4{stroke:#a9c4ee}.s5{stroke:#e0560f}\n"
    ".s6{stroke:#a8684e}.s7{stroke:#a8a552}.s8{stroke:#9a52ff}.s9{stroke:#78818c}.s10{stroke:#e6edf3}\n"
    ".f0{fill:#4aa3f5}.f1{fill:#1be0a0}.f2{fill:#c36fc0}.f3{fill:#ffba1b}.f4{fill:#a9c4ee}.f5{fill:#e0560f}\n"
    ".f6{fill:#a8684e}.f7{fill:#a8a552}.f8{fill:#9a52ff}.f9{fill:#78818c}.f10{fill:#e6edf3}\n"
    ".h0{fill:#1d1830}.h1{fill:#282043}.h2{fill:#352a59}.h3{fill:#443771}.h4{fill:#55478b}\n"
    ".h5{fill:#6a5ca4}.h6{fill:#8275bc}.h7{fill:#9f94d3}.h8{fill:#c1b9e8}\n"
    ".k0,.k1,.k3{stroke:none}\n.fig .t5{fill:#e6edf3}.fig .t6,.fig .t7,.fig .t8{fill:#0d1117}.part{stroke:#9f94d3}\n";

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

size_t ocdm__scale_ticks(const ocdm__scale *scale, double *ticks, size_t room)
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

static void begin_picture(const ocdm__canvas *canvas, double width, double height, const char *role)
{
    ocdm__output *out = canvas->out;
    ocdm__output_text(out, "<svg class=\"fig\"");
    if (canvas->top == NULL)
        ocdm__put(out, " role=\"%s\"", role);
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

void ocdm__picture_begin(const ocdm__canvas *canvas, double width, double height)
{
    begin_picture(canvas, width, height, "img");
}

void ocdm__picture_begin_tables(const ocdm__canvas *canvas, double width, double height)
{
    begin_picture(canvas, width, height, "group");
}

void ocdm__picture_end(const ocdm__canvas *canvas)
{
    ocdm__output_text(canvas->out, "</svg>\n");
}

static void begin_text(ocdm__output *out, double x, double y, enum ocdm__anchor anchor, const char *class)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    ocdm__output_text(out, "<text");
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    ocdm__output_text(out, anchors[anchor]);
    if (class[0] != '\0')
        ocdm__put(out, " class=\"%s\"", class);
}

void ocdm__draw_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                     const char *text)
{
    begin_text(canvas->out, x, y, anchor, class);
    ocdm__output_text(canvas->out, ">");
    ocdm__put_plain(canvas->out, text, 1000);
    ocdm__output_text(canvas->out, "</text>\n");
}

void ocdm__draw_text_up(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                        const char *text, size_t limit)
{
    begin_text(canvas->out, x, y, anchor, class);
    ocdm__output_text(canvas->out, " transform=\"rotate(-90 ");
    ocdm__put_place(canvas->out, x);
    ocdm__output_text(canvas->out, " ");
    ocdm__put_place(canvas->out, y);
    ocdm__output_text(canvas->out, ")\">");
    ocdm__put_plain(canvas->out, text, limit);
    ocdm__output_text(canvas->out, "</text>\n");
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

void ocdm__draw_y_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double left, double right, const char *what)
{
    double ticks[16];
    size_t count = ocdm__scale_ticks(scale, ticks, sizeof ticks / sizeof ticks[0]);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        double y = ocdm__scale_place(scale, ticks[i]);
        ocdm__tick_text(ticks[i], text, sizeof text);
        ocdm__draw_rule(canvas, "grid", left, y, right, y);
        ocdm__draw_text(canvas, left - 6, y + 4, OCDM__ANCHOR_END, "small faint", text);
    }
    ocdm__draw_text_up(canvas, 14, (scale->from + scale->to) / 2, OCDM__ANCHOR_MIDDLE, "", what, 100);
}

void ocdm__draw_x_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double y, const char *what)
{
    double ticks[16];
    size_t count = ocdm__scale_ticks(scale, ticks, sizeof ticks / sizeof ticks[0]);
    ocdm__draw_rule(canvas, "axis", scale->from, y, scale->to, y);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        double x = ocdm__scale_place(scale, ticks[i]);
        ocdm__tick_text(ticks[i], text, sizeof text);
        ocdm__draw_rule(canvas, "axis", x, y, x, y + 4);
        ocdm__draw_text(canvas, x, y + 17, OCDM__ANCHOR_MIDDLE, "small faint", text);
    }
    ocdm__draw_text(canvas, (scale->from + scale->to) / 2, y + 36, OCDM__ANCHOR_MIDDLE, "", what);
}

/* ---- sheets ------------------------------------------------------------------------------------------------------------- */

enum { TITLE_ROOM = 40, HEADING_ROOM = 30, REMARK_ROOM = 20, LEFT = 12, BELOW = 10, TEXT_LIMIT = 2000 };

ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error)
{
    *sheet = (ocdm__sheet){.top = TITLE_ROOM};
    return ocdm__output_open_memory(&sheet->body, "a figure", error);
}

static void put_line(ocdm__sheet *sheet, const char *class, const char *text)
{
    ocdm__canvas canvas = {.out = &sheet->body};
    ocdm__draw_text(&canvas, LEFT, sheet->top, OCDM__ANCHOR_START, class, text);
}

void ocdm__sheet_heading(ocdm__sheet *sheet, const char *text)
{
    sheet->top += HEADING_ROOM;
    put_line(sheet, "strong", text);
    sheet->top += BELOW;
}

void ocdm__sheet_remark(ocdm__sheet *sheet, const char *text)
{
    sheet->top += REMARK_ROOM;
    put_line(sheet, "small faint", text);
    sheet->top += BELOW;
}

ocdm__canvas ocdm__sheet_canvas(ocdm__sheet *sheet, const char *title)
{
    return (ocdm__canvas){.out = &sheet->body, .title = title, .top = &sheet->top};
}

ocdm_status ocdm__sheet_write(const ocdm__sheet *sheet, const char *title, const char *reading, const char *path,
                              ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    ocdm__canvas canvas = {.out = &out, .alone = true, .title = title};
    ocdm_status status = ocdm__output_check(&sheet->body, error);
    if (status == OCDM_OK)
        status = ocdm__output_open(&out, path, error);
    if (status != OCDM_OK)
        return status;
    ocdm__picture_begin(&canvas, OCDM__FIGURE_WIDTH, sheet->top + BELOW);
    ocdm__output_text(&out, "<desc>");
    ocdm__put_plain(&out, reading, TEXT_LIMIT);
    ocdm__output_text(&out, "</desc>\n");
    ocdm__draw_text(&canvas, LEFT, 28, OCDM__ANCHOR_START, "head", title);
    ocdm__output_write(&out, sheet->body.buffer, sheet->body.used);
    ocdm__picture_end(&canvas);
    status = ocdm__output_commit(&out, error);
    ocdm__output_abandon(&out);
    return status;
}

void ocdm__sheet_clear(ocdm__sheet *sheet)
{
    ocdm__output_abandon(&sheet->body);
}

/* ---- colours ------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *method;
    unsigned colour;
} method_colours[] = {
    {"ocdm", 0},
    {"prs", 1},
    {"cbes", 2},
    {"max", 3},
    {"onlyone", 4},
    {"rs", 5},
    {"random", 6},
    {"cbrs", 7},
    {"gss", 8},
    {"finetune", 9},
    {"multitask", 10},
    {"prs-released", OCDM__COLOURS + 1},
    {"gss-released", OCDM__COLOURS + 8},
};

/* FNV-1a of the name; dashed, since the solid lines belong to the table. */
static unsigned hashed_colour(const char *method)
{
    uint32_t hash = 2166136261u;
    for (const char *at = method; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return OCDM__COLOURS + (hash ^ hash >> 16) % (OCDM__COLOURS * (OCDM__DASHES - 1));
}

enum { METHOD_COLOURS = sizeof method_colours / sizeof method_colours[0] };

/* The row of a method; METHOD_COLOURS: it has none. */
static size_t colour_row(const char *method)
{
    size_t i = 0;
    while (i < METHOD_COLOURS && strcmp(method_colours[i].method, method) != 0)
        i++;
    return i;
}

bool ocdm__method_is_coloured(const char *method)
{
    return colour_row(method) < METHOD_COLOURS;
}

unsigned ocdm__method_colour(const char *method)
{
    size_t row = colour_row(method);
    return row < METHOD_COLOURS ? method_colours[row].colour : hashed_colour(method);
}
