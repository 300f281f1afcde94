/* Spreads over orders and seeds, and the runs themselves. */
#include "report/tables/memory_only.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "experiment/compare/memory_only.h"

static ocdm__column named(const char *key, const char *head, const char *group)
{
    ocdm__column column;
    snprintf(column.key, sizeof column.key, "%s", key);
    snprintf(column.head, sizeof column.head, "%s", head);
    snprintf(column.group, sizeof column.group, "%s", group);
    return column;
}

/* ---- spreads ---------------------------------------------------------------------------------------------------------- */

enum { METHOD, MEMORY, RHO, RUNS, FIRST_FIGURE, COLUMNS = FIRST_FIGURE + 3 * OCDM__FIGURE_COUNT };

static const struct {
    const char *key, *shown;
    int decimals;
} figures[OCDM__FIGURE_COUNT] = {
    {"distance", "distance", 4},
    {"distance_seen", "distance of seen", 4},
    {"fewest", "fewest of a class", 0},
    {"lost", "classes lost", 0},
};

static void name_spreads(ocdm__column columns[COLUMNS])
{
    static const char *const ends[] = {"median", "p05", "p95"}, *const shown[] = {"median", "5 %", "95 %"};
    columns[METHOD] = named("method", "method", "");
    columns[MEMORY] = named("memory", "memory", "");
    columns[RHO] = named("rho", "rho", "");
    columns[RUNS] = named("n", "runs", "");
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++)
        for (size_t end = 0; end < 3; end++) {
            char key[OCDM__TABLE_TEXT];
            snprintf(key, sizeof key, "%s_%s", figures[figure].key, ends[end]);
            columns[FIRST_FIGURE + 3 * figure + end] = named(key, shown[end], figures[figure].shown);
        }
}

/* The points with the same memory and rho as `point`, one for each order, are neighbours: where they start, and how many. */
static size_t orders_at(const ocdm__compare_plan *plan, size_t point)
{
    size_t end = point + 1;
    while (end < plan->point_count && plan->points[end].memory == plan->points[point].memory &&
           plan->points[end].rho == plan->points[point].rho)
        end++;
    return end - point;
}

static ocdm_status fill_spread(ocdm__cell *row, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                               size_t point, size_t method, ocdm_error *error)
{
    size_t seeds = (size_t)plan->seed_count, count = orders_at(plan, point) * seeds;
    ocdm__cell_text(&row[METHOD], plan->methods[method]);
    row[MEMORY] = ocdm__cell_number(plan->points[point].memory, NAN, 0);
    row[RHO] = ocdm__cell_number(plan->points[point].rho, NAN, 2);
    row[RUNS] = ocdm__cell_number((double)count, NAN, 0);
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++) {
        ocdm__spread spread;
        ocdm_status status = ocdm__memory_spread(memories->results, point * seeds * plan->method_count + method,
                                                 plan->method_count, count, (enum ocdm__memory_figure)figure, &spread, error);
        if (status != OCDM_OK)
            return status;
        ocdm__cell *cells = &row[FIRST_FIGURE + 3 * figure];
        cells[0] = ocdm__cell_number(spread.median, NAN, figures[figure].decimals);
        cells[1] = ocdm__cell_number(spread.low, NAN, figures[figure].decimals);
        cells[2] = ocdm__cell_number(spread.high, NAN, figures[figure].decimals);
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   ocdm_error *error)
{
    ocdm__column columns[COLUMNS];
    name_spreads(columns);
    ocdm_status status = ocdm__table_begin(table, columns, COLUMNS, error);
    for (size_t point = 0; status == OCDM_OK && point < plan->point_count; point += orders_at(plan, point))
        for (size_t method = 0; status == OCDM_OK && method < plan->method_count; method++) {
            ocdm__cell *row = ocdm__table_row(table, error);
            status = row != NULL ? fill_spread(row, plan, memories, point, method, error) : OCDM_NO_MEMORY;
        }
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

enum {
    R_METHOD,
    R_MEMORY,
    R_RHO,
    R_ORDER,
    R_SEED,
    R_KEPT,
    R_DISTANCE,
    R_SEEN,
    R_FEWEST,
    R_MOST,
    R_LOST,
    R_UNDER,
    R_OVER,
    R_ALL
};

static void fill_run(ocdm__cell *row, const ocdm__compare_plan *plan, size_t point, const ocdm__memory_result *result)
{
    char order[OCDM__TABLE_TEXT];
    ocdm__compare_order_text(&plan->points[point], order, sizeof order);
    row[R_MEMORY] = ocdm__cell_number(plan->points[point].memory, NAN, 0);
    row[R_RHO] = ocdm__cell_number(plan->points[point].rho, NAN, 2);
    if (order[0] != '\0')
        ocdm__cell_text(&row[R_ORDER], order);
    row[R_KEPT] = ocdm__cell_number(result->size, NAN, 0);
    row[R_DISTANCE] = ocdm__cell_number(result->distance, NAN, 4);
    row[R_SEEN] = ocdm__cell_number(result->distance_seen, NAN, 4);
    row[R_FEWEST] = ocdm__cell_number(result->balance.fewest, NAN, 0);
    row[R_MOST] = ocdm__cell_number(result->balance.most, NAN, 0);
    row[R_LOST] = ocdm__cell_number((double)result->balance.lost, NAN, 0);
    row[R_UNDER] = ocdm__cell_number((double)result->balance.under, NAN, 0);
    row[R_OVER] = ocdm__cell_number((double)result->balance.over, NAN, 0);
}

ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error)
{
    static const char *const keys[R_ALL] = {"method",        "memory", "rho",  "order", "seed",     "kept",   "distance",
                                            "distance_seen", "fewest", "most", "lost",  "under_20", "over_40"};
    ocdm__column columns[R_ALL];
    for (size_t i = 0; i < R_ALL; i++)
        columns[i] = named(keys[i], keys[i], "");
    ocdm_status status = ocdm__table_begin(table, columns, R_ALL, error);
    for (size_t point = 0; status == OCDM_OK && point < plan->point_count; point++)
        for (size_t method = 0; method < plan->method_count; method++)
            for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
                ocdm__cell *row = ocdm__table_row(table, error);
                if (row == NULL)
                    return OCDM_NO_MEMORY;
                fill_run(row, plan, point, ocdm__compare_memory(memories, plan, point, method, seed));
                ocdm__cell_text(&row[R_METHOD], plan->methods[method]);
                row[R_SEED] = ocdm__cell_number((double)seed, NAN, 0);
            }
    return status;
}
