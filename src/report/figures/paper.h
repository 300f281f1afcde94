/*
 * The figures of the paper as SVG, drawn from the rows that `ocdm paper` prints (report/tables/tables.h), with the paper's
 * numbers next to ours where it gives any. Bars and lines are drawn as in the report.
 */
#ifndef OCDM_REPORT_FIGURES_PAPER_H
#define OCDM_REPORT_FIGURES_PAPER_H

#include "report/figures/panels.h"
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

/* ---- parts, for the paper_*.c of this folder ---------------------------------------------------------------------------- */

/* One stream's part of a figure. */
typedef struct ocdm__paper_part {
    const ocdm__paper_item *item;
    const ocdm__stand_in *source;
    const ocdm__table *table;
    size_t first; /* its rows are from here to the end */
} ocdm__paper_part;

ocdm_status ocdm__paper_draw_process(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_stream(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_kept(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_curves(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_rho(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);

/* The end of the rows that start at `row` and have equal values in the first `keys` columns. */
size_t ocdm__paper_rows_end(const ocdm__table *table, size_t row, size_t keys);

/* The classes of a stream as bars. Initialise with zeros. */
typedef struct ocdm__paper_bars {
    ocdm__class_list list;
    ocdm__study_class *classes; /* those of the list; `column` is a class's number in the stream */
    ocdm__paper_class *numbers;
    double *tasks;
} ocdm__paper_bars;

/* By task, then in the stream's order. Returns OCDM_OK or OCDM_NO_MEMORY; must be cleared in either case. */
ocdm_status ocdm__paper_bars_make(ocdm__paper_bars *bars, const ocdm__stream_info *info, ocdm_error *error);
void ocdm__paper_bars_clear(ocdm__paper_bars *bars);

#endif
