/* Classes as bars: in memory, and in the stream. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_MEMORY_H
#define OCDM_REPORT_FIGURES_MEMORY_H

#include "report/figures/curves.h"

/* The class distribution in memory of the groups that the filter takes. */
ocdm_status ocdm__draw_memory(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                              ocdm_error *error);
void ocdm__csv_memory(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out);

extern const ocdm__figure ocdm__figure_memory;
extern const ocdm__figure ocdm__figure_stream;

#endif
