/* The kinds of the paper's figures, for paper.c. Inside src/report only. */
#ifndef OCDM_REPORT_FIGURES_PAPER_PARTS_H
#define OCDM_REPORT_FIGURES_PAPER_PARTS_H

#include "report/figures/classes.h"
#include "report/figures/paper.h"

/* One stream's part of a figure. */
typedef struct ocdm__paper_part {
    const ocdm__paper_item *item;
    const ocdm__paper_source *source;
    const ocdm__table *table;
    size_t first; /* its rows are from here to the end */
} ocdm__paper_part;

ocdm_status ocdm__paper_draw_process(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_stream(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_kept(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_curves(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
ocdm_status ocdm__paper_draw_rho(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);

/* The row after `row` and those that have the same in the first `keys` columns. */
size_t ocdm__paper_rows_end(const ocdm__table *table, size_t row, size_t keys);

/* The classes of a stream as bars. Start with all bytes zero. */
typedef struct ocdm__paper_bars {
    ocdm__class_list list;
    ocdm__study_class *classes; /* those of the list; `column` is a class's number in the stream */
    ocdm__paper_class *numbers;
    double *tasks;
} ocdm__paper_bars;

/* By task, then in the stream's order. OCDM_OK, OCDM_NO_MEMORY. To be cleared in either case. */
ocdm_status ocdm__paper_bars_make(ocdm__paper_bars *bars, const ocdm__stream_info *info, ocdm_error *error);
void ocdm__paper_bars_clear(ocdm__paper_bars *bars);

#endif
