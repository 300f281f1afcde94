/* Loss and distances over a run, thinned as it goes so that a run of any length keeps a thousand points at most. */
#ifndef OCDM_EXPERIMENT_FOLDER_SUMMARY_CURVE_H
#define OCDM_EXPERIMENT_FOLDER_SUMMARY_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

#define OCDM__CURVE_ROOM 1000

/* What is known after a step; doubles alone, so that files can hold it as it is. */
typedef struct ocdm__curve_point {
    double step, task, loss, distance, distance_seen;
} ocdm__curve_point;

/* Start with all bytes zero. */
typedef struct ocdm__curve {
    uint64_t offered; /* points so far */
    uint64_t stride;  /* every so many of them are kept; 0 stands for 1 */
    size_t count;
    ocdm__curve_point points[OCDM__CURVE_ROOM];
    ocdm__curve_point last; /* the newest, kept or not */
} ocdm__curve;

/* Adds a point; once there is no room left, every second one is dropped. */
void ocdm__curve_add(ocdm__curve *curve, const ocdm__curve_point *point);

/* Writes an object of lists of equal length; the newest point is always there. */
void ocdm__curve_write(ocdm__output *output, const ocdm__curve *curve);

#endif
