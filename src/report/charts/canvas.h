/*
 * The drawing of pictures as SVG: where a picture goes, scales, axes, text, and sheets of several pictures. Units are pixels at
 * natural size. Pictures are readable without colour: lines have names at their ends, bars have titles.
 */
#ifndef OCDM_REPORT_CHARTS_CANVAS_H
#define OCDM_REPORT_CHARTS_CANVAS_H

#include "base/output.h"

/* Where a picture goes: into a page, into a file of its own, or into a file with others. */
typedef struct ocdm__canvas {
    ocdm__output *out;
    bool alone;        /* a file of its own */
    const char *title; /* what the picture is called */
    double *top;       /* in a file of several pictures: where it starts, then where the next one starts; otherwise NULL */
    bool other_scale;  /* a logarithmic scale where the figure's own is linear, and the reverse */
} ocdm__canvas;

/* Whether the picture goes into a page, whose script reads its attributes. */
bool ocdm__canvas_is_page(const ocdm__canvas *canvas);

/* The width of all figures. */
#define OCDM__FIGURE_WIDTH 860.0

/* Pixels per character of small and normal text in the widest of the common fonts. */
#define OCDM__COLUMN 7.3
#define OCDM__WIDE_COLUMN 8.7

/* ---- colours ------------------------------------------------------------------------------------------------------------ */

/*
 * The style sheet for a light background, which files of their own include, and the changes for a dark one. Methods have the
 * classes s0, s1, ... (strokes) and f0, f1, ... (fills) of their colours, and d1, d2, ... for dashes; what is not a method has
 * ink, the fills k0 to k3, or the steps h0 to h8 of one other colour. All have a contrast of at least 3 to the background, and
 * the colours differ for readers with protanopia, deuteranopia and tritanopia too.
 */
extern const char ocdm__figure_style[];
extern const char ocdm__figure_style_dark[];

#define OCDM__HEATS 9u
#define OCDM__COLOURS 11u
#define OCDM__DASHES 5u

/* The colour of lines that are not methods, such as groups of classes: their dashes and marks tell them apart. */
#define OCDM__INK(dash) (OCDM__COLOURS * OCDM__DASHES + (unsigned)(dash))

/*
 * The colour of a method, the same on every page: its number modulo OCDM__COLOURS is one of the style sheet's colours, the rest
 * a dash of its lines. That of a method of this program follows from its place in the list of them; other names are hashed to a
 * dashed line of one of the colours, so that a name has its colour whatever it is compared with, unless another name on the
 * page has it already.
 */
unsigned ocdm__method_colour(const char *method);
bool ocdm__method_is_coloured(const char *method); /* by the list */

/* The dash of a colour, 0 for none. */
unsigned ocdm__dash_of(unsigned colour);

/* The classes of a colour: "s3 d1" of a line, without its dash where points have it too, and "f3" of an area. */
typedef struct ocdm__colour_class {
    char text[16];
} ocdm__colour_class;
ocdm__colour_class ocdm__stroke(unsigned colour, bool dashed);
ocdm__colour_class ocdm__fill(unsigned colour);

/* ---- scales ------------------------------------------------------------------------------------------------------------- */

/* Maps numbers to positions. */
typedef struct ocdm__scale {
    double low, high; /* numbers; both positive when `is_log` */
    double from, to;  /* their places */
    bool is_log;
} ocdm__scale;

/* The position of a number, clamped to the range. */
double ocdm__scale_place(const ocdm__scale *scale, double value);

/* Extends the range to round numbers, so that no point lies on the edge. */
void ocdm__scale_widen(ocdm__scale *scale);

/* The numbers of the scale at the left, with a grid line from each to `right`. */
void ocdm__draw_grid(const ocdm__canvas *canvas, const ocdm__scale *scale, double left, double right);

/* The numbers below, and the title of the axis. */
void ocdm__draw_x_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double y, const char *what);

/* ---- parts of pictures -------------------------------------------------------------------------------------------------- */

/* Starts a picture, which ends with "</svg>\n". In a file of several, the canvas's top moves below it. To a screen reader it
 * is one image with a title, or, `as_tables`, what its parts say. */
void ocdm__picture_begin(const ocdm__canvas *canvas, double height, bool as_tables);

/*
 * In a page, what belongs to a method has its name as an attribute, so that the script can hide it; at most OCDM__MARK_LIMIT
 * characters. ocdm__mark_begin starts a group of shapes with it, which ends with "</g>\n"; with a height above 0 the group is
 * one of several that are stacked, and those below it move up when it is hidden.
 */
#define OCDM__MARK_LIMIT 60
#define OCDM__CLASS_LIMIT 60 /* the same of a class, which the script searches for */
void ocdm__put_mark(const ocdm__canvas *canvas, const char *mark);
void ocdm__mark_begin(const ocdm__canvas *canvas, const char *mark, double height);

/* What of a text is at its place; UP: it reads upwards. */
enum ocdm__anchor { OCDM__START, OCDM__MIDDLE, OCDM__END, OCDM__UP_START, OCDM__UP_MIDDLE, OCDM__UP_END };

/* Text, with the conversions of ocdm__put_markup. `class` is a class of the style sheet: "", "faint", "strong", "small", or
 * several. */
OCDM_FORMAT(6, 7)
void ocdm__draw_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                     const char *format, ...);

/* Small, faint text with a role in the table that a screen reader reads. */
void ocdm__draw_cell(const ocdm__canvas *canvas, const char *role, double x, double y, enum ocdm__anchor anchor,
                     const char *text);

/* A straight line. */
void ocdm__draw_rule(const ocdm__canvas *canvas, const char *class, double x1, double y1, double x2, double y2);

/* The name of a task: "task 3"; "task ?" when the number is not valid. */
void ocdm__task_text(double task, char *text, size_t room);

/* ---- sheets ------------------------------------------------------------------------------------------------------------- */

/*
 * A file of several pictures under one another, with a title, headings, and a description that says how to read it.
 *
 *     ocdm__sheet sheet;
 *     if (ocdm__sheet_begin(&sheet, error) != OCDM_OK) ...
 *     ocdm__sheet_line(&sheet, true, "nuswide");
 *     ocdm__canvas canvas = ocdm__sheet_canvas(&sheet, "classes in memory");
 *     status = ocdm__chart_draw(&chart, &canvas, error);
 *     ocdm__sheet_write(&sheet, "Figure 4", "Each bar is a class.", "figure.svg", error);
 *     ocdm__sheet_clear(&sheet);
 */

/* Initialise with zeros or with ocdm__sheet_begin. */
typedef struct ocdm__sheet {
    ocdm__output body;
    double top; /* where the next picture starts */
} ocdm__sheet;

/* Returns OCDM_OK or OCDM_NO_MEMORY. It must be cleared in either case. */
ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error);

/* A line above the following pictures: a heading, or a remark in faint text. */
void ocdm__sheet_line(ocdm__sheet *sheet, bool is_heading, const char *text);

/* The canvas of the next picture, below all others. The sheet must not move until it is drawn. */
ocdm__canvas ocdm__sheet_canvas(ocdm__sheet *sheet, const char *title);

/* Writes it to an open output, or to a path. Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__sheet_put(const ocdm__sheet *sheet, const char *title, const char *reading, ocdm__output *out,
                            ocdm_error *error);
ocdm_status ocdm__sheet_write(const ocdm__sheet *sheet, const char *title, const char *reading, const char *path,
                              ocdm_error *error);

void ocdm__sheet_clear(ocdm__sheet *sheet);

#endif
