/*
 * A picture of how evenly policies hold the classes of a stream: one self-contained SVG, for each policy a panel of bars, a bar
 * for each class. One sample is one unit high, so that the numbers can be read back from the file. The same bytes for the same
 * numbers, whatever the locale.
 */
#ifndef OCDM_BENCH_BALANCE_PICTURE_H
#define OCDM_BENCH_BALANCE_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* The most samples that a bar shows; a taller one is cut off there, marked, and has its number written over it. */
#define OCDM__PICTURE_TOP 70u

/* The paper's groups: majority classes occur more often than the first, minority classes less often than the second. */
#define OCDM__PICTURE_MAJORITY 600u
#define OCDM__PICTURE_MINORITY 100u

typedef struct ocdm__picture_class {
    const char *name; /* UTF-8 */
    uint64_t seen;    /* n_i at the end of the stream */
    uint32_t task;    /* classes of a task stand together */
} ocdm__picture_class;

typedef struct ocdm__picture_panel {
    const char *policy;   /* UTF-8 */
    double distance;      /* over the classes in play */
    double distance_seen; /* over all classes seen: told when the policy lost some */
    const uint32_t *kept; /* m_i of each class */
} ocdm__picture_panel;

typedef struct ocdm__balance_picture {
    const ocdm__picture_class *classes; /* in the order of the stream */
    size_t class_count;                 /* at least 1 */
    const ocdm__picture_panel *panels;  /* from top to bottom */
    size_t panel_count;
    uint32_t capacity;     /* M, below 10,000: the numbers over the bars have room for four digits */
    uint64_t sample_count; /* of the stream */
} ocdm__balance_picture;

/* Writes the picture, as base/output.h writes a path. OCDM_OK, OCDM_IO, OCDM_NO_MEMORY. */
ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error);

#endif
