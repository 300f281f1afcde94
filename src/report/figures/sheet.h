/*
 * A file of several pictures under one another, with a title, headings, and how to read it as its description. The pictures
 * wait in memory, since a file of SVG begins with its height.
 *
 *     ocdm__sheet sheet;
 *     ocdm_status status = ocdm__sheet_begin(&sheet, error);
 *     ...
 *     ocdm__sheet_heading(&sheet, "mscoco");
 *     ocdm__canvas canvas = ocdm__sheet_canvas(&sheet, "mAP after each task");
 *     status = ocdm__chart_draw(&chart, &canvas, error);
 *     ...
 *     status = ocdm__sheet_write(&sheet, title, reading, path, error);
 *     ocdm__sheet_clear(&sheet);
 */
#ifndef OCDM_REPORT_FIGURES_SHEET_H
#define OCDM_REPORT_FIGURES_SHEET_H

#include "report/figures/canvas.h"

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
