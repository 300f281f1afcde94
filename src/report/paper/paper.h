/*
 * The tables and figures that `ocdm paper` prints and draws: our numbers beside the paper's. Rows of several streams go into
 * one table: begin it with the item's kind, then add each stream. Tables of runs can also be laid out as in the paper, one for
 * each stream. Figures are SVG, drawn from the same rows, with bars and lines as in the report.
 */
#ifndef OCDM_REPORT_PAPER_PAPER_H
#define OCDM_REPORT_PAPER_PAPER_H

#include "experiment/paper/paper.h"
#include "report/charts/canvas.h"
#include "report/tables/table.h"

/* The most streams that one table is about. */
#define OCDM__PAPER_SOURCES ((size_t)OCDM__PAPER_STREAMS * 8)

/* Creates a table with the columns of a kind and no rows. Returns OCDM_OK or OCDM_NO_MEMORY; must be cleared. */
ocdm_status ocdm__paper_table_begin(ocdm__table *table, enum ocdm__paper_kind kind, ocdm_error *error);

/* Adds the rows of a stream. Returns OCDM_OK, OCDM_NO_MEMORY or an error of reading the runs. */
typedef ocdm_status ocdm__paper_filler(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error);
ocdm__paper_filler ocdm__paper_fill;

/* Those of the distances step by step, which the curves have besides. */
ocdm__paper_filler ocdm__paper_fill_distances;

/* A table of runs in place of one stream of the paper, laid out as in the paper: for each method our row, then the paper's.
 * With several lists of tasks, at most OCDM__PAPER_SOURCES, our numbers are means over them with their range. */
ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_part *const *parts, size_t lists, ocdm_error *error);

/* Whether an item is a figure, not a table. */
bool ocdm__paper_is_figure(const ocdm__paper_item *item);

/* How to read it: some sentences. */
const char *ocdm__paper_reading(const ocdm__paper_item *item);

/* Draws an item of one stream below the sheet's other pictures. The stream's rows of the table start at `first`; Figures 1,
 * 2 and 3 need none. Returns OCDM_OK or OCDM_NO_MEMORY. */
ocdm_status ocdm__paper_draw(ocdm__sheet *sheet, const ocdm__paper_part *part, const ocdm__table *table, size_t first,
                             ocdm_error *error);

/* ---- for the files of this folder --------------------------------------------------------------------------------------- */

/* rows.c: those of each kind. */
ocdm__paper_filler ocdm__paper_fill_amlr, ocdm__paper_fill_metrics, ocdm__paper_fill_process, ocdm__paper_fill_stream;
ocdm__paper_filler ocdm__paper_fill_kept, ocdm__paper_fill_evaluations, ocdm__paper_fill_rho, ocdm__paper_fill_claims;

/* The classes of a sample, cut where the room ends. */
void ocdm__paper_labels(const ocdm__stream_table *table, uint32_t sample, const char *between, char *text, size_t room);

#endif
