/*
 * The tables that `ocdm paper` prints: our numbers next to the paper's. Rows of several streams go into one table: begin it
 * with the item's kind, then add each stream. Tables of runs can also be laid out as in the paper, one for each stream.
 */
#ifndef OCDM_REPORT_TABLES_PAPER_H
#define OCDM_REPORT_TABLES_PAPER_H

#include "experiment/compare/memory.h"
#include "experiment/compare/results.h"
#include "experiment/paper/paper.h"
#include "report/tables/table.h"

/* An available stream: its name in the tables, and the stream of the paper that it stands for. */
typedef struct ocdm__stand_in {
    const char *label, *stands_for;
    const ocdm__stream_info *info;
} ocdm__stand_in;

/* Creates a table with the columns of a kind and no rows. Returns OCDM_OK or OCDM_NO_MEMORY; must be cleared. */
ocdm_status ocdm__paper_table_begin(ocdm__table *table, enum ocdm__paper_kind kind, ocdm_error *error);

/* Each adds the rows of a stream. Returns OCDM_OK, OCDM_NO_MEMORY or an error of reading the runs. */
ocdm_status ocdm__paper_add_amlr(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error);
ocdm_status ocdm__paper_add_metrics(ocdm__table *table, const char *item, const ocdm__stand_in *source,
                                    const ocdm__compare_plan *plan, const ocdm__compare_results *results, ocdm_error *error);
ocdm_status ocdm__paper_add_process(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error);
ocdm_status ocdm__paper_add_stream(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error);
ocdm_status ocdm__paper_add_kept(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                 const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_distances(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                      const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_evaluations(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                        const char *folder, ocdm_error *error);
ocdm_status ocdm__paper_add_rho(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                const ocdm__compare_memories *memories, const ocdm__compare_results *results,
                                ocdm_error *error);
ocdm_status ocdm__paper_add_claims(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_trends(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error);

/* A table of runs on one stream, laid out as in the paper: for each method our row, then the paper's. */
ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_item *item, const ocdm__stand_in *source,
                                 const ocdm__compare_plan *plan, const ocdm__compare_results *results, ocdm_error *error);

#endif
