/*
 * The report: one HTML file that shows what the memories of some runs kept and what their networks learned. It loads
 * nothing from outside and runs only its own script, which sorts tables, hides methods, searches classes and reads values; the
 * page is complete without it. Its Content-Security-Policy enforces both.
 */
#ifndef OCDM_REPORT_PAGE_PAGE_H
#define OCDM_REPORT_PAGE_PAGE_H

#include "report/runs/groups.h"

/* The width and height of a thumbnail in pixels, and the maximum number on a page. */
#define OCDM__PICTURE_SIDE 64u
#define OCDM__MOST_PICTURES 96u

/* The source of thumbnails, for streams of images. */
typedef struct ocdm__picture_source {
    /* Fills rgb (OCDM__PICTURE_SIDE squared times three bytes, rows from the top) with the image of the sample with this id
     * in the study's stream. Returns false if there is none. */
    bool (*picture)(void *state, const ocdm__study *study, const char *id, uint8_t *rgb);
    void *state;
} ocdm__picture_source;

typedef struct ocdm__page {
    const char *title;          /* NULL for the default */
    const ocdm__run_list *runs; /* all runs, including those that could not be read */
    const ocdm__study_list *studies;
    ocdm__picture_source pictures; /* all zero for none */
} ocdm__page;

/* Writes the page, as base/output.h writes a path. Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__page_write(const ocdm__page *page, const char *path, ocdm_error *error);

#endif
