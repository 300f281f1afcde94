/*
 * The report: one HTML file that shows what the memories of some runs kept and what their networks learned. It needs nothing
 * from outside, runs no script but its own (which sorts tables), is complete without it, and says so in its
 * Content-Security-Policy.
 */
#ifndef OCDM_REPORT_PAGE_PAGE_H
#define OCDM_REPORT_PAGE_PAGE_H

#include <stdint.h>

#include "report/runs/groups.h"

/* The side of a small picture in pixels, and the most of them on a page. */
#define OCDM__PICTURE_SIDE 64u
#define OCDM__MOST_PICTURES 36u

/* Where small pictures of samples come from, for streams of images. */
typedef struct ocdm__picture_source {
    /* Fills rgb, OCDM__PICTURE_SIDE squared times three bytes, rows from the top, with the picture of the sample with this id
     * in the study's stream. false: there is none. */
    bool (*picture)(void *state, const ocdm__study *study, const char *id, uint8_t *rgb);
    void *state;
} ocdm__picture_source;

typedef struct ocdm__page {
    const char *title;          /* NULL for one that fits */
    const ocdm__run_list *runs; /* all that were looked for */
    const ocdm__study_list *studies;
    ocdm__picture_source pictures; /* all zero for none */
} ocdm__page;

/* Writes the page, as base/output.h writes a path. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__page_write(const ocdm__page *page, const char *path, ocdm_error *error);

#endif
