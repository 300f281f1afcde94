/* Where the time went. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_TIME_H
#define OCDM_REPORT_FIGURES_TIME_H

#include "report/figures/figure.h"

/* The parts of a run's time: members of `times`. */
#define OCDM__TIME_PARTS 5u
extern const char *const ocdm__time_parts[OCDM__TIME_PARTS];

extern const ocdm__figure ocdm__figure_time;

#endif
