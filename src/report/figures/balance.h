/*
 * How evenly memories hold the classes of a stream: a picture with a panel for each memory, from plain counts. The same numbers
 * give the same bytes.
 */
#ifndef OCDM_REPORT_FIGURES_BALANCE_H
#define OCDM_REPORT_FIGURES_BALANCE_H

#include "base/output.h"

/* The upper end of the bars' scale; a higher bar is cut off there, marked, and its number is written above it. */
#define OCDM__PICTURE_TOP 70.0

/* A class; those of one task follow each other. */
typedef struct ocdm__picture_class {
    const char *name;  /* UTF-8 */
    const char *group; /* "majority", "moderate" or "minority"; others are filled alike */
    double task;       /* the first with it */
} ocdm__picture_class;

typedef struct ocdm__picture_panel {
    const char *policy;    /* UTF-8 */
    double distance;       /* over the classes in play */
    double distance_seen;  /* over all classes seen; shown when the policy lost some */
    const uint32_t *kept;  /* samples in memory of each class */
    const double *targets; /* what is asked for of each class; NULL: equal shares of the labels */
} ocdm__picture_panel;

typedef struct ocdm__balance_picture {
    const ocdm__picture_class *classes;
    size_t class_count;                /* at least 1 */
    const ocdm__picture_panel *panels; /* from top to bottom */
    size_t panel_count;
    double top;          /* the upper end of the scale; 0: it follows from the targets */
    const char *caption; /* a line below the title */
} ocdm__balance_picture;

/* Writes the picture, as base/output.h writes a path. Returns OCDM_OK, OCDM_IO or OCDM_NO_MEMORY. */
ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error);

/* The same to an output that is open: memory, say. */
ocdm_status ocdm__balance_picture_put(const ocdm__balance_picture *picture, ocdm__output *out, ocdm_error *error);

#endif
