/*
 * The figures of the paper as SVG, drawn from the rows that `ocdm paper` prints (report/tables/tables.h), with the paper's
 * numbers next to ours where it gives any. Bars and lines are drawn as in the report.
 */
#ifndef OCDM_REPORT_FIGURES_PAPER_H
#define OCDM_REPORT_FIGURES_PAPER_H

#include "report/charts/canvas.h"
#include "report/tables/tables.h"

/* Whether an item is a figure, not a table. */
bool ocdm__paper_is_figure(const ocdm__paper_item *item);

/* How to read it: some sentences. */
const char *ocdm__paper_reading(const ocdm__paper_item *item);

/*
 * Draws an item of one stream below the sheet's other pictures. The stream's rows of the table start at `first`; Figures 1,
 * 2 and 3 need none. Returns OCDM_OK or OCDM_NO_MEMORY; for Figure 1 also the errors of ocdm__process_of.
 */
ocdm_status ocdm__paper_draw(ocdm__sheet *sheet, const ocdm__paper_item *item, const ocdm__stand_in *source,
                             const ocdm__table *table, size_t first, ocdm_error *error);

#endif
