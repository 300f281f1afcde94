/* Where a picture goes: into a page, into a file of its own, or among others into one. */
#ifndef OCDM_REPORT_FIGURES_CANVAS_H
#define OCDM_REPORT_FIGURES_CANVAS_H

#include <stdbool.h>

#include "base/output.h"

typedef struct ocdm__canvas {
    ocdm__output *out;
    bool alone;        /* a file of its own */
    const char *title; /* what the picture is called */
    double *top;       /* one of several in a file: where it starts, then where the next one does; else NULL */
} ocdm__canvas;

#endif
