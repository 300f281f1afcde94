/* Tables of a comparison of memories alone: how far the figures lie apart over orders of tasks and seeds, and every run. */
#ifndef OCDM_REPORT_TABLES_MEMORY_ONLY_H
#define OCDM_REPORT_TABLES_MEMORY_ONLY_H

#include "experiment/compare/memory_only.h"
#include "report/tables/table.h"

/* A row for each method, memory size and rho: median and the range from 5 to 95 % of the final distances, the fewest samples of
 * a class and the classes lost, over all orders and seeds. OCDM_OK, OCDM_NO_MEMORY. To be cleared in either case. */
ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   ocdm_error *error);

/* A row for each run: method, memory, rho, order, seed, and its figures. */
ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error);

#endif
