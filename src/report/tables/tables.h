/* The tables of `ocdm compare`, for reading and as data, and those of `ocdm paper`. */
#ifndef OCDM_REPORT_TABLES_TABLES_H
#define OCDM_REPORT_TABLES_TABLES_H

#include "experiment/compare/memory_only.h"
#include "experiment/compare/plan.h"
#include "experiment/compare/results.h"
#include "experiment/paper/paper.h"
#include "report/tables/table.h"

/* ---- a comparison ------------------------------------------------------------------------------------------------------- */

/* One point of the sweep, for reading: a row for each method with mean and standard deviation over seeds, mean mAP,
 * forgetting, seconds per 1000 steps, the distance of the memory, and the difference in total mAP to the best other method with
 * its 95 % interval. Returns OCDM_OK or OCDM_NO_MEMORY; the table must be cleared in either case. */
ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error);

/* All points as data: a row for each method, group and metric, preceded by memory, rho and order where they are swept: the
 * classes of the group; mean, standard deviation, number of values and the 95 % interval of the mean; whether it is bold; the
 * best other method, and the difference to it with its interval; the value of each seed. */
ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error);

/* What was tried to choose settings, as data: a row for each method and combination at each point, with mean, standard
 * deviation and number of its validation mAP, and whether it was chosen. `plan` and `results` are of all that was tried, point
 * by point with `combinations` each; `chosen` has the choice for each point and method. */
ocdm_status ocdm__table_of_grid(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                const ocdm__compare_choice *const *chosen, size_t combinations, ocdm_error *error);

/* ---- memories without a network ----------------------------------------------------------------------------------------- */

/* A row for each method, memory size and rho: median and 5 % to 95 % range of the final distances, the fewest samples of a
 * class and the classes lost, over all orders and seeds; in three columns each as data, else in one. Returns OCDM_OK or
 * OCDM_NO_MEMORY; the table must be cleared in either case. */
ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   bool data, ocdm_error *error);

/* A row for each run: method, memory, rho, order, seed, and its figures. */
ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error);

/* ---- the paper ---------------------------------------------------------------------------------------------------------- */

/*
 * The tables that `ocdm paper` prints: our numbers next to the paper's. Rows of several streams go into one table: begin it
 * with the item's kind, then add each stream. Tables of runs can also be laid out as in the paper, one for each stream.
 */

/* An available stream: its name in the tables, and the stream of the paper that it represents. */
typedef struct ocdm__stand_in {
    const char *label, *stands_for;
    const ocdm__stream_info *info;
} ocdm__stand_in;

/* The classes of a sample, cut where the room ends. */
void ocdm__paper_labels(const ocdm__stream_table *table, uint32_t sample, const char *between, char *text, size_t room);

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
/* What the plan does not have, such as gss, is counted in the memories of runs with a network. */
ocdm_status ocdm__paper_add_claims(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, const ocdm__compare_plan *learnt_plan,
                                   const ocdm__compare_memories *learnt, ocdm_error *error);
ocdm_status ocdm__paper_add_trends(ocdm__table *table, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                                   const ocdm__compare_memories *memories, ocdm_error *error);

/* A table of runs in place of one stream of the paper, laid out as in the paper: for each method our row, then the paper's.
 * With several lists of tasks, each with results of its own, our numbers are means over them with their range. */
ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_item *item, const ocdm__stand_in *source,
                                 const ocdm__compare_plan *plan, const ocdm__compare_results *const *results, size_t lists,
                                 ocdm_error *error);

#endif
