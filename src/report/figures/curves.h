/* The charts of several groups over steps or evaluations, for more than one figure. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_CURVES_H
#define OCDM_REPORT_FIGURES_CURVES_H

#include "report/figures/figure.h"

/* Which groups a figure shows. */
typedef bool ocdm__group_filter(const ocdm__study *study, const ocdm__run_group *group);

/* Those of the plain comparison. */
bool ocdm__is_base_group(const ocdm__study *study, const ocdm__run_group *group);

/* The distance over the steps of the groups that the filter takes. */
ocdm_status ocdm__draw_distance(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                                ocdm_error *error);
void ocdm__csv_distance(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out);

extern const ocdm__figure ocdm__figure_distance;
extern const ocdm__figure ocdm__figure_map;

#endif
