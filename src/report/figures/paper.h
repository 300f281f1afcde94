/*
 * The figures of the paper as pictures: drawn from the rows that `ocdm paper` would print (report/tables/paper.h), ours, with
 * the paper's own numbers beside them where it gives any. Bars and lines are those of the report.
 */
#ifndef OCDM_REPORT_FIGURES_PAPER_H
#define OCDM_REPORT_FIGURES_PAPER_H

#include "report/figures/sheet.h"
#include "report/tables/paper.h"

/* Whether an item is a figure, not a table. */
bool ocdm__paper_is_figure(const ocdm__paper_item *item);

/* How to read it: some sentences. */
const char *ocdm__paper_reading(const ocdm__paper_item *item);

/*
 * Draws an item of one stream below what the sheet has. The table's rows from `first` on are that stream's; Figures 1, 2 and 3
 * need none. OCDM_OK, OCDM_NO_MEMORY, and for Figure 1 as ocdm__process_of.
 */
ocdm_status ocdm__paper_draw(ocdm__sheet *sheet, const ocdm__paper_item *item, const ocdm__paper_source *source,
                             const ocdm__table *table, size_t first, ocdm_error *error);

#endif
