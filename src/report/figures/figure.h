/*
 * The figures of a report: each is a picture (SVG) and its numbers (CSV) of one study. The pictures are text in the page, or
 * files of their own with colours and a ground of their own; both are legible without colour: lines have names at their ends,
 * bars have titles.
 */
#ifndef OCDM_REPORT_FIGURES_FIGURE_H
#define OCDM_REPORT_FIGURES_FIGURE_H

#include <stdbool.h>

#include "report/figures/canvas.h"
#include "report/runs/groups.h"

typedef struct ocdm__figure {
    const char *name;                           /* of its files, and in the page */
    const char *title;                          /* a few words */
    const char *reading;                        /* a sentence or two on how to read it */
    bool (*is_there)(const ocdm__study *study); /* whether the runs hold it */
    ocdm_status (*draw)(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error);
    ocdm_status (*write_csv)(const ocdm__study *study, ocdm__output *out, ocdm_error *error);
} ocdm__figure;

/* All of them, in the order of the page, ended by NULL. */
extern const ocdm__figure *const ocdm__figures[];

/* What the pictures look like: rules for a light ground, which files of their own carry; and what changes on a dark one. */
extern const char ocdm__figure_style[];
extern const char ocdm__figure_style_dark[];

/* Writes FOLDER/PREFIXname.svg and .csv of every figure that the study holds. The folder is made when it is missing.
 * OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__figures_write(const ocdm__study *study, const char *folder, const char *prefix, ocdm_error *error);

#endif
