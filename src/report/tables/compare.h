/* The tables of a comparison: methods by groups of classes and metrics as in the paper, and the same as data. */
#ifndef OCDM_REPORT_TABLES_COMPARE_H
#define OCDM_REPORT_TABLES_COMPARE_H

#include "experiment/compare/memory.h"
#include "experiment/compare/plan.h"
#include "experiment/compare/results.h"
#include "report/tables/table.h"

/* One point of the sweep, for reading: a row for each method with mean and standard deviation over seeds, seconds per 1000
 * steps, the distance of the memory, and the paired difference in total mAP to the best other method with its 95 %
 * interval. Returns OCDM_OK or OCDM_NO_MEMORY; the table must be cleared in either case. */
ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error);

/* All points as data: a row for each method, group and metric with method, group, metric, mean, std, n, preceded by memory,
 * rho and order where they are swept. */
ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error);

/* ---- memories without a network ----------------------------------------------------------------------------------------- */

/* A row for each method, memory size and rho: median and 5 % to 95 % range of the final distances, the fewest samples of a
 * class and the classes lost, over all orders and seeds. Returns OCDM_OK or OCDM_NO_MEMORY; the table must be cleared in
 * either case. */
ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   ocdm_error *error);

/* A row for each run: method, memory, rho, order, seed, and its figures. */
ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error);

#endif
