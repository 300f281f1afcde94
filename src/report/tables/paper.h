/*
 * Ours beside the paper's: tables that `ocdm paper` prints. Data of several streams go into one table: begin it by the item's
 * kind, add each stream. The tables of runs have a form for people too, one for each stream, laid out as in the paper.
 */
#ifndef OCDM_REPORT_TABLES_PAPER_H
#define OCDM_REPORT_TABLES_PAPER_H

#include "experiment/compare/memory_only.h"
#include "experiment/compare/results.h"
#include "experiment/paper/paper.h"
#include "report/tables/table.h"

/* A stream at hand: what it is called in the tables, and which of the paper's it stands for. */
typedef struct ocdm__paper_source {
    const char *label, *stands_for;
    const ocdm__stream_info *info;
} ocdm__paper_source;

/* A table with the columns of a kind and no rows. OCDM_OK, OCDM_NO_MEMORY. To be cleared. */
ocdm_status ocdm__paper_table_begin(ocdm__table *table, enum ocdm__paper_kind kind, ocdm_error *error);

/* Each adds the rows of a stream. OCDM_OK, OCDM_NO_MEMORY, and what reading gives. */
ocdm_status ocdm__paper_add_amlr(ocdm__table *table, const ocdm__paper_source *source, ocdm_error *error);
ocdm_status ocdm__paper_add_metrics(ocdm__table *table, const char *item, const ocdm__paper_source *source,
                                    const ocdm__compare_plan *plan, const ocdm__compare_results *results, ocdm_error *error);
ocdm_status ocdm__paper_add_process(ocdm__table *table, const ocdm__paper_source *source, ocdm_error *error);
ocdm_status ocdm__paper_add_stream(ocdm__table *table, const ocdm__paper_source *source, ocdm_error *error);
ocdm_status ocdm__paper_add_kept(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                 const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_distances(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                      const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_evaluations(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                        const char *folder, ocdm_error *error);
ocdm_status ocdm__paper_add_rho(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                const ocdm__compare_memories *memories, const ocdm__compare_results *results,
                                ocdm_error *error);
ocdm_status ocdm__paper_add_claims(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error);
ocdm_status ocdm__paper_add_trends(ocdm__table *table, const ocdm__paper_source *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error);

/* A table of runs on one stream as the paper lays it out: under each method ours, then the paper's. */
ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_item *item, const ocdm__paper_source *source,
                                 const ocdm__compare_plan *plan, const ocdm__compare_results *results, ocdm_error *error);

#endif
