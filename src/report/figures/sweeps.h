/* What a swept setting does: rho, the size of the memory, the order of tasks. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_SWEEPS_H
#define OCDM_REPORT_FIGURES_SWEEPS_H

#include "report/figures/figure.h"

extern const ocdm__figure ocdm__figure_rho;
extern const ocdm__figure ocdm__figure_rho_kept;
extern const ocdm__figure ocdm__figure_memory_size;
extern const ocdm__figure ocdm__figure_orders;
extern const ocdm__figure ocdm__figure_orders_distance;
extern const ocdm__figure ocdm__figure_orders_memory;

#endif
