/* A comparison as tables. */
#include "report/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/compare/memory_only.h"
#include "metrics/metrics.h"

/* ---- for people ------------------------------------------------------------------------------------------------------- */

enum { METHOD, FIRST_METRIC, TIME = FIRST_METRIC + OCDM__COMPARE_TIME, DISTANCE, DIFFERENCE, COLUMNS };

static void name_columns(const ocdm__compare_results *results, ocdm__column columns[COLUMNS])
{
    memset(columns, 0, COLUMNS * sizeof *columns);
    snprintf(columns[METHOD].head, OCDM__TABLE_TEXT, "method");
    for (size_t i = 0; i < OCDM__COMPARE_TIME; i++) {
        snprintf(columns[FIRST_METRIC + i].head, OCDM__TABLE_TEXT, "%s", ocdm__compare_columns[i].metric);
        ocdm__compare_group_head(results, ocdm__compare_columns[i].group, columns[FIRST_METRIC + i].group);
    }
    snprintf(columns[TIME].head, OCDM__TABLE_TEXT, "s/1000 steps");
    snprintf(columns[DISTANCE].head, OCDM__TABLE_TEXT, "distance");
    snprintf(columns[DIFFERENCE].head, OCDM__TABLE_TEXT, OCDM__MAP_NAME " against best other");
}

/* "+1.3 [0.2, 2.4] prs"; without an interval (one seed) only the difference. */
static void write_difference(const ocdm__compare_results *results, const ocdm__compare_judgement *judgement, ocdm__cell *cell)
{
    char text[OCDM__TABLE_TEXT];
    const ocdm__summary *difference = &judgement->difference;
    if (judgement->other == results->method_count || isnan(difference->mean))
        return;
    const char *other = results->methods[judgement->other];
    if (isnan(difference->low))
        snprintf(text, sizeof text, "%+.1f %.20s", difference->mean, other);
    else
        snprintf(text, sizeof text, "%+.1f [%.1f, %.1f] %.20s", difference->mean, difference->low, difference->high, other);
    ocdm__cell_text(cell, text);
}

static ocdm_status fill_column(ocdm__table *table, const ocdm__compare_results *results, size_t point, size_t column,
                               ocdm__compare_judgement *judgements, ocdm_error *error)
{
    static const size_t places[] = {[OCDM__COMPARE_TIME] = TIME, [OCDM__COMPARE_DISTANCE] = DISTANCE};
    size_t place = column < OCDM__COMPARE_TIME ? FIRST_METRIC + column : places[column];
    int decimals = column == OCDM__COMPARE_TIME ? 2 : column == OCDM__COMPARE_DISTANCE ? 4 : 1;
    ocdm_status status = ocdm__compare_judge(results, point, column, judgements, error);
    for (size_t i = 0; status == OCDM_OK && i < results->method_count; i++) {
        const ocdm__summary *summary = &judgements[i].summary;
        double deviation = column < OCDM__COMPARE_TIME ? summary->deviation : NAN;
        ocdm__cell *cell = ocdm__table_at(table, i, place);
        *cell = ocdm__cell_number(summary->mean, deviation, decimals);
        cell->bold = judgements[i].bold && column != OCDM__COMPARE_DISTANCE && cell->kind == OCDM__CELL_NUMBER;
        if (column == OCDM__COMPARE_TOTAL_MAP)
            write_difference(results, &judgements[i], ocdm__table_at(table, i, DIFFERENCE));
    }
    return status;
}

static ocdm_status add_methods(ocdm__table *table, const ocdm__compare_results *results, ocdm_error *error)
{
    for (size_t i = 0; i < results->method_count; i++) {
        ocdm__cell *row = ocdm__table_row(table, error);
        if (row == NULL)
            return OCDM_NO_MEMORY;
        ocdm__cell_text(&row[METHOD], results->methods[i]);
    }
    return OCDM_OK;
}

static void write_note(ocdm__table *table, const ocdm__compare_results *results)
{
    if (results->seed_count > 1)
        snprintf(
            table->note, sizeof table->note,
            "Mean and standard deviation over %zu seeds. Bold, or a star: the best, and what is not significantly worse (95 %% "
            "interval of the paired differences). Last column: difference in total mAP to the best other method, with "
            "that interval.",
            results->seed_count);
    else
        snprintf(table->note, sizeof table->note,
                 "One seed: no deviation and no interval. Bold, or a star: the best. Last column: difference in total mAP to "
                 "the best other method.");
}

ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error)
{
    ocdm__column named[COLUMNS];
    name_columns(results, named);
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = ocdm__table_begin(table, named, COLUMNS, error);
    if (status == OCDM_OK && judgements == NULL)
        status = ocdm__fail_memory(error, "judging the methods");
    if (status == OCDM_OK)
        status = add_methods(table, results, error);
    for (size_t column = 0; status == OCDM_OK && column <= OCDM__COMPARE_DISTANCE; column++)
        status = fill_column(table, results, point, column, judgements, error);
    ocdm__release(judgements);
    snprintf(table->title, sizeof table->title, "%s", plan->points[point].label);
    write_note(table, results);
    return status;
}

/* ---- for programs ----------------------------------------------------------------------------------------------------- */

/* The positions of the columns; settings that are not swept have none. */
struct places {
    size_t memory, rho, order; /* the position + 1; 0 for none */
    size_t method, group, metric, mean, std, n;
    size_t count;
};

static size_t add_column(ocdm__column *columns, struct places *places, const char *key)
{
    snprintf(columns[places->count].key, OCDM__TABLE_TEXT, "%s", key);
    snprintf(columns[places->count].head, OCDM__TABLE_TEXT, "%s", key);
    return places->count++;
}

static struct places place_columns(const ocdm__compare_plan *plan, ocdm__column columns[9])
{
    struct places places = {.count = 0};
    memset(columns, 0, 9 * sizeof *columns);
    if (plan->sweeps_memory)
        places.memory = add_column(columns, &places, "memory") + 1;
    if (plan->sweeps_rho)
        places.rho = add_column(columns, &places, "rho") + 1;
    if (plan->sweeps_order)
        places.order = add_column(columns, &places, "order") + 1;
    places.method = add_column(columns, &places, "method");
    places.group = add_column(columns, &places, "group");
    places.metric = add_column(columns, &places, "metric");
    places.mean = add_column(columns, &places, "mean");
    places.std = add_column(columns, &places, "std");
    places.n = add_column(columns, &places, "n");
    return places;
}

static void fill_point(ocdm__cell *row, const struct places *places, const ocdm__compare_point *point)
{
    if (places->memory > 0)
        row[places->memory - 1] = ocdm__cell_number(point->memory, NAN, 0);
    if (places->rho > 0)
        row[places->rho - 1] = ocdm__cell_number(point->rho, NAN, 2);
    if (places->order > 0) {
        char text[OCDM__TABLE_TEXT];
        ocdm__compare_order_text(point, text, sizeof text);
        ocdm__cell_text(&row[places->order - 1], text);
    }
}

static ocdm_status add_data(ocdm__table *table, const struct places *places, const ocdm__compare_plan *plan, size_t point,
                            const ocdm__compare_results *results, ocdm__compare_judgement *judgements, ocdm_error *error)
{
    for (size_t column = 0; column < OCDM__COMPARE_COLUMNS; column++) {
        ocdm_status status = ocdm__compare_judge(results, point, column, judgements, error);
        for (size_t i = 0; status == OCDM_OK && i < results->method_count; i++) {
            ocdm__cell *row = ocdm__table_row(table, error);
            if (row == NULL)
                return OCDM_NO_MEMORY;
            fill_point(row, places, &plan->points[point]);
            ocdm__cell_text(&row[places->method], results->methods[i]);
            ocdm__cell_text(&row[places->group], ocdm__compare_columns[column].group);
            ocdm__cell_text(&row[places->metric], ocdm__compare_columns[column].metric);
            row[places->mean] = ocdm__cell_number(judgements[i].summary.mean, NAN, 2);
            row[places->std] = ocdm__cell_number(judgements[i].summary.deviation, NAN, 2);
            row[places->n] = ocdm__cell_number((double)judgements[i].summary.count, NAN, 0);
        }
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error)
{
    ocdm__column columns[9];
    struct places places = place_columns(plan, columns);
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = ocdm__table_begin(table, columns, places.count, error);
    if (status == OCDM_OK && judgements == NULL)
        status = ocdm__fail_memory(error, "judging the methods");
    for (size_t point = 0; status == OCDM_OK && point < plan->point_count; point++)
        status = add_data(table, &places, plan, point, results, judgements, error);
    ocdm__release(judgements);
    return status;
}

/* ---- memories without a network ----------------------------------------------------------------------------------------- */

static ocdm__column named(const char *key, const char *head, const char *group)
{
    ocdm__column column;
    snprintf(column.key, sizeof column.key, "%s", key);
    snprintf(column.head, sizeof column.head, "%s", head);
    snprintf(column.group, sizeof column.group, "%s", group);
    return column;
}

/* ---- spreads ---------------------------------------------------------------------------------------------------------- */

enum { S_METHOD, S_MEMORY, S_RHO, S_RUNS, S_FIGURES, S_COLUMNS = S_FIGURES + 3 * OCDM__FIGURE_COUNT };

static const struct {
    const char *key, *shown;
    int decimals;
} figures[OCDM__FIGURE_COUNT] = {
    {"distance", "distance", 4},
    {"distance_seen", "distance of seen", 4},
    {"fewest", "fewest of a class", 0},
    {"lost", "classes lost", 0},
};

static void name_spreads(ocdm__column columns[S_COLUMNS])
{
    static const char *const ends[] = {"median", "p05", "p95"}, *const shown[] = {"median", "5 %", "95 %"};
    columns[S_METHOD] = named("method", "method", "");
    columns[S_MEMORY] = named("memory", "memory", "");
    columns[S_RHO] = named("rho", "rho", "");
    columns[S_RUNS] = named("n", "runs", "");
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++)
        for (size_t end = 0; end < 3; end++) {
            char key[OCDM__TABLE_TEXT];
            snprintf(key, sizeof key, "%s_%s", figures[figure].key, ends[end]);
            columns[S_FIGURES + 3 * figure + end] = named(key, shown[end], figures[figure].shown);
        }
}

/* The number of points with the same memory and rho as `point`, from there on: one for each order. */
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
    ocdm__cell_text(&row[S_METHOD], plan->methods[method]);
    row[S_MEMORY] = ocdm__cell_number(plan->points[point].memory, NAN, 0);
    row[S_RHO] = ocdm__cell_number(plan->points[point].rho, NAN, 2);
    row[S_RUNS] = ocdm__cell_number((double)count, NAN, 0);
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++) {
        ocdm__spread spread;
        ocdm_status status = ocdm__memory_spread(memories->results, point * seeds * plan->method_count + method,
                                                 plan->method_count, count, (enum ocdm__memory_figure)figure, &spread, error);
        if (status != OCDM_OK)
            return status;
        ocdm__cell *cells = &row[S_FIGURES + 3 * figure];
        cells[0] = ocdm__cell_number(spread.median, NAN, figures[figure].decimals);
        cells[1] = ocdm__cell_number(spread.low, NAN, figures[figure].decimals);
        cells[2] = ocdm__cell_number(spread.high, NAN, figures[figure].decimals);
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   ocdm_error *error)
{
    ocdm__column columns[S_COLUMNS];
    name_spreads(columns);
    ocdm_status status = ocdm__table_begin(table, columns, S_COLUMNS, error);
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
    static const char *const keys[R_ALL] = {
        [R_METHOD] = "method", [R_MEMORY] = "memory", [R_RHO] = "rho",           [R_ORDER] = "order",
        [R_SEED] = "seed",     [R_KEPT] = "kept",     [R_DISTANCE] = "distance", [R_SEEN] = "distance_seen",
        [R_FEWEST] = "fewest", [R_MOST] = "most",     [R_LOST] = "lost",         [R_UNDER] = "under_20",
        [R_OVER] = "over_40",
    };
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
