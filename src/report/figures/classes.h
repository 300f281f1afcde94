/*
 * Classes as the bars of panels: their names and groups, and the tasks that bring them. A stream of very many classes has
 * several of them in a bar, side by side in the order of the stream. Inside src/report only.
 */
#ifndef OCDM_REPORT_FIGURES_CLASSES_H
#define OCDM_REPORT_FIGURES_CLASSES_H

#include "report/figures/panels.h"

/* The classes that the bars stand for; of each, `name`, `group` and `turn` are looked at. */
typedef struct ocdm__class_list {
    const ocdm__study_class *classes; /* by turn */
    size_t count;
    ocdm__numbers order; /* of the tasks: a class's turn is its place in it */
} ocdm__class_list;

/* Starts panels with the bars of the classes, which must outlive them. OCDM_OK, OCDM_NO_MEMORY; to be cleared in either case.
 */
ocdm_status ocdm__class_panels_begin(ocdm__panels *panels, const ocdm__class_list *list, ocdm_error *error);

/* A number of a class. */
typedef double ocdm__class_number(const void *state, const ocdm__study_class *class);

/* Fills a panel's values or targets. A bar is the mean of its classes; NaN when one of them has no number. */
void ocdm__class_panels_fill(const ocdm__class_list *list, double *bars, ocdm__class_number *number, const void *state);

#endif
