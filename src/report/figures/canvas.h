/*
 * The drawing of pictures as SVG: where a picture goes, scales, axes, text, and sheets of several pictures. Units are pixels at
 * natural size. Pictures are readable without colour: lines have names at their ends, bars have titles.
 */
#ifndef OCDM_REPORT_FIGURES_CANVAS_H
#define OCDM_REPORT_FIGURES_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"
#include "ocdm/ocdm.h"

/* Where a picture goes: into a page, into a file of its own, or into a file with others. */
typedef struct ocdm__canvas {
    ocdm__output *out;
    bool alone;        /* a file of its own */
    const char *title; /* what the picture is called */
    double *top;       /* one of several in a file: where it starts, then where the next one does; else NULL */
} ocdm__canvas;

/* The style sheet for a light background, which files of their own include, and the changes for a dark one. */
extern const char ocdm__figure_style[];
extern const char ocdm__figure_style_dark[];

/* How many colours there are before they come again, dashed. */
#define OCDM__COLOURS 8u

/* The width that figures have, so that they look alike. */
#define OCDM__FIGURE_WIDTH 860.0

/* Columns of small text and of text to pixels, for the widest of the usual fonts. */
#define OCDM__COLUMN 7.3
#define OCDM__WIDE_COLUMN 8.7

/* Numbers to places. */
typedef struct ocdm__scale {
    double low, high; /* numbers; both positive when `is_log` */
    double from, to;  /* their places */
    bool is_log;
} ocdm__scale;

/* The place of a number; outside the range it stays at the edge. */
double ocdm__scale_place(const ocdm__scale *scale, double value);

/* Round numbers in the range, ascending; at most `room`. A scale of logarithms has powers of ten. Returns how many. */
size_t ocdm__scale_ticks(const ocdm__scale *scale, double *ticks, size_t room);

/* Widens the range to round numbers, so that nothing touches the edge. */
void ocdm__scale_widen(ocdm__scale *scale);

/* Starts and ends a picture. One of several moves the canvas's top below itself. */
void ocdm__picture_begin(const ocdm__canvas *canvas, double width, double height);
void ocdm__picture_end(const ocdm__canvas *canvas);

enum ocdm__anchor { OCDM__ANCHOR_START, OCDM__ANCHOR_MIDDLE, OCDM__ANCHOR_END };

/* Text of ours or of others, at most 1000 characters. `class` is of the style: "", "faint", "strong", "small", or several. */
void ocdm__draw_text(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                     const char *text);

/* The same, at most `limit` characters, read upwards from (x, y). */
void ocdm__draw_text_up(const ocdm__canvas *canvas, double x, double y, enum ocdm__anchor anchor, const char *class,
                        const char *text, size_t limit);

/* A straight line. */
void ocdm__draw_rule(const ocdm__canvas *canvas, const char *class, double x1, double y1, double x2, double y2);

/* The numbers at the left, a faint line for each across to `right`, and what they are, upwards. */
void ocdm__draw_y_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double left, double right, const char *what);

/* The numbers below, and what they are. */
void ocdm__draw_x_axis(const ocdm__canvas *canvas, const ocdm__scale *scale, double y, const char *what);

/* A number of an axis: as short as it can be. */
void ocdm__tick_text(double value, char *text, size_t room);

/* What a task is called: "task 3"; "task ?" when its number is none. */
void ocdm__task_text(double task, char *text, size_t room);

/* A place as text with at most one decimal. */
void ocdm__put_place(ocdm__output *out, double place);

/* ---- sheets ------------------------------------------------------------------------------------------------------------- */

/*
 * A file of several pictures under one another, with a title, headings, and a description that says how to read it.
 *
 *     ocdm__sheet sheet;
 *     if (ocdm__sheet_begin(&sheet, error) != OCDM_OK) ...
 *     ocdm__sheet_heading(&sheet, "nuswide");
 *     ocdm__canvas canvas = ocdm__sheet_canvas(&sheet, "classes in memory");
 *     ocdm__panels_draw(&panels, &canvas);
 *     ocdm__sheet_write(&sheet, "Figure 4", "Each bar is a class.", "figure.svg", error);
 *     ocdm__sheet_clear(&sheet);
 */

/* Start with all bytes zero, or with ocdm__sheet_begin. */
typedef struct ocdm__sheet {
    ocdm__output body;
    double top; /* where the next picture starts */
} ocdm__sheet;

/* OCDM_OK, OCDM_NO_MEMORY. To be cleared in either case. */
ocdm_status ocdm__sheet_begin(ocdm__sheet *sheet, ocdm_error *error);

/* A line over the pictures that follow: a heading, or a remark in faint letters. */
void ocdm__sheet_heading(ocdm__sheet *sheet, const char *text);
void ocdm__sheet_remark(ocdm__sheet *sheet, const char *text);

/* Where the next picture goes, below all others. The sheet stays where it is until that is drawn. */
ocdm__canvas ocdm__sheet_canvas(ocdm__sheet *sheet, const char *title);

/* Writes it. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__sheet_write(const ocdm__sheet *sheet, const char *title, const char *reading, const char *path,
                              ocdm_error *error);

void ocdm__sheet_clear(ocdm__sheet *sheet);

#endif
