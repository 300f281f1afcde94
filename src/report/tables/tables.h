/* The tables of `ocdm compare`, for reading and as data. */
#ifndef OCDM_REPORT_TABLES_TABLES_H
#define OCDM_REPORT_TABLES_TABLES_H

#include "experiment/compare/memory_only.h"
#include "experiment/compare/plan.h"
#include "experiment/compare/results.h"
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

#endif
