/* How old the samples in memory are. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_AGE_H
#define OCDM_REPORT_FIGURES_AGE_H

#include "report/figures/figure.h"

extern const ocdm__figure ocdm__figure_age;

#endif
