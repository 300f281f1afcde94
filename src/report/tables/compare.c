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

/* The method, what was chosen for it, the columns that have a head, the difference. */
enum { MOST_COLUMNS = OCDM__COMPARE_COLUMNS + 3 };

static size_t name_columns(const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                           ocdm__column columns[MOST_COLUMNS])
{
    size_t count = 0;
    memset(columns, 0, MOST_COLUMNS * sizeof *columns);
    snprintf(columns[count++].head, OCDM__TABLE_TEXT, "method");
    if (plan->choices != NULL)
        snprintf(columns[count++].head, OCDM__TABLE_TEXT, "chosen");
    for (size_t i = 0; i < OCDM__COMPARE_COLUMNS; i++) {
        if (ocdm__compare_columns[i].head == NULL || !ocdm__compare_has(results, i))
            continue;
        snprintf(columns[count].head, OCDM__TABLE_TEXT, "%s", ocdm__compare_columns[i].head);
        if (i < OCDM__COMPARE_OF_GROUPS)
            ocdm__compare_group_head(&results, 1, ocdm__compare_columns[i].group, columns[count].group);
        count++;
    }
    snprintf(columns[count++].head, OCDM__TABLE_TEXT, OCDM__MAP_NAME " against best other");
    return count;
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

/* Deviations of what is ranked; those of times and distances say little. */
static ocdm_status fill_column(ocdm__table *table, const ocdm__compare_results *results, size_t point, size_t column,
                               size_t place, ocdm__compare_judgement *judgements, ocdm_error *error)
{
    const ocdm__compare_column *about = &ocdm__compare_columns[column];
    ocdm_status status = ocdm__compare_judge(results, point, column, judgements, error);
    for (size_t i = 0; status == OCDM_OK && i < results->method_count; i++) {
        const ocdm__summary *summary = &judgements[i].summary;
        ocdm__cell *cell = ocdm__table_at(table, i, place);
        *cell = ocdm__cell_number(summary->mean, about->ranked ? summary->deviation : NAN, about->decimals);
        cell->bold = judgements[i].bold;
        if (column == OCDM__COMPARE_TOTAL_MAP)
            write_difference(results, &judgements[i], ocdm__table_at(table, i, table->column_count - 1));
    }
    return status;
}

static ocdm_status fill_columns(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                size_t point, ocdm__compare_judgement *judgements, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    size_t place = 1;
    for (size_t i = 0; plan->choices != NULL && i < results->method_count; i++)
        ocdm__cell_text(ocdm__table_at(table, i, 1), plan->choices[point * results->method_count + i]->label);
    place += plan->choices != NULL;
    for (size_t column = 0; status == OCDM_OK && column < OCDM__COMPARE_COLUMNS; column++)
        if (ocdm__compare_columns[column].head != NULL && ocdm__compare_has(results, column))
            status = fill_column(table, results, point, column, place++, judgements, error);
    return status;
}

static ocdm_status add_methods(ocdm__table *table, const ocdm__compare_results *results, ocdm_error *error)
{
    for (size_t i = 0; i < results->method_count; i++) {
        ocdm__cell *row = ocdm__table_row(table, error);
        if (row == NULL)
            return OCDM_NO_MEMORY;
        ocdm__cell_text(&row[0], results->methods[i]);
    }
    return OCDM_OK;
}

/* The fewest seeds of which a method has a run, over all points. */
static size_t seeds_of(const ocdm__compare_results *results, size_t method)
{
    size_t fewest = results->seed_count;
    for (size_t point = 0; point < results->point_count; point++) {
        size_t count = 0;
        for (uint64_t seed = 0; seed < results->seed_count; seed++)
            count += isnan(ocdm__compare_values(results, point, method, seed)[OCDM__COMPARE_TIME]) ? 0 : 1;
        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

/* " (rs: 1, prs: 0)": the methods of which runs are missing. */
static void write_missing(const ocdm__compare_results *results, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < results->method_count && used < room; i++)
        if (seeds_of(results, i) < results->seed_count)
            used += (size_t)snprintf(text + used, room - used, "%s%s: %zu", used > 0 ? ", " : " (", results->methods[i],
                                     seeds_of(results, i));
    if (used > 0 && used < room)
        snprintf(text + used, room - used, ")");
}

/* Beside the labels per kept sample, those of the stream, which all runs share. */
static void write_labels_seen(ocdm__table *table, const ocdm__compare_results *results, size_t point)
{
    size_t used = strlen(table->note);
    for (size_t i = 0; i < results->method_count; i++)
        for (uint64_t seed = 0; seed < results->seed_count; seed++) {
            double seen = ocdm__compare_values(results, point, i, seed)[OCDM__COMPARE_LABELS_SEEN];
            if (isnan(seen))
                continue;
            snprintf(table->note + used, sizeof table->note - used, " Labels: per sample in memory; the stream has %.2f.",
                     seen);
            return;
        }
}

static void write_note(ocdm__table *table, const ocdm__compare_results *results)
{
    char missing[OCDM__TABLE_NOTE / 8];
    write_missing(results, missing, sizeof missing);
    if (results->seed_count > 1)
        snprintf(table->note, sizeof table->note,
                 "Mean and standard deviation over %zu seeds%s; after a group, the number of its classes. Bold, or a star: the "
                 "best, and "
                 "what is not significantly worse, by Tukey's studentised range of all methods, paired over seeds: with equal "
                 "methods one loses its bold in 5 %% of columns. Nothing is bold if no two methods differ significantly. Last "
                 "column: "
                 "difference in total mAP to the best other method, with the 95 %% interval that holds for all pairs together.",
                 results->seed_count, missing);
    else
        snprintf(
            table->note, sizeof table->note,
            "One seed: no deviation, no interval, and nothing about chance. Bold, or a star: the best. Last column: difference "
            "in total mAP to the best other method.");
}

ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error)
{
    ocdm__column named[MOST_COLUMNS];
    size_t count = name_columns(plan, results, named);
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = ocdm__table_begin(table, named, count, error);
    if (status == OCDM_OK && judgements == NULL)
        status = ocdm__fail_memory(error, "judging the methods");
    if (status == OCDM_OK)
        status = add_methods(table, results, error);
    if (status == OCDM_OK)
        status = fill_columns(table, plan, results, point, judgements, error);
    ocdm__release(judgements);
    snprintf(table->title, sizeof table->title, "%s", plan->points[point].label);
    write_note(table, results);
    if (status == OCDM_OK)
        write_labels_seen(table, results, point);
    return status;
}

/* ---- for programs ----------------------------------------------------------------------------------------------------- */

/* What every row has, after the settings that are swept and before the values of the seeds. */
enum {
    D_METHOD,
    D_GROUP,
    D_METRIC,
    D_CLASSES,
    D_MEAN,
    D_STD,
    D_N,
    D_LOW,
    D_HIGH,
    D_BOLD,
    D_OTHER,
    D_DIFFERENCE,
    D_DIFFERENCE_LOW,
    D_DIFFERENCE_HIGH,
    D_CHOSEN,
    D_COUNT
};

static ocdm__column named(const char *key, const char *head, const char *group)
{
    ocdm__column column;
    snprintf(column.key, sizeof column.key, "%s", key);
    snprintf(column.head, sizeof column.head, "%s", head);
    snprintf(column.group, sizeof column.group, "%s", group);
    return column;
}

/* Those of the point: returns how many. */
static size_t name_point(const ocdm__compare_plan *plan, ocdm__column *columns)
{
    size_t count = 0;
    if (plan->sweeps_memory)
        columns[count++] = named("memory", "memory", "");
    if (plan->sweeps_rho)
        columns[count++] = named("rho", "rho", "");
    if (plan->sweeps_order)
        columns[count++] = named("order", "order", "");
    return count;
}

static size_t name_data(const ocdm__compare_plan *plan, ocdm__column *columns)
{
    static const char *const keys[D_COUNT] = {
        "method", "group",      "metric",         "classes",         "mean",  "std", "n", "low", "high", "bold",
        "other",  "difference", "difference_low", "difference_high", "chosen"};
    size_t count = name_point(plan, columns);
    for (size_t i = 0; i < D_COUNT; i++)
        columns[count++] = named(keys[i], keys[i], "");
    for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
        char key[OCDM__TABLE_TEXT];
        snprintf(key, sizeof key, "seed_%llu", (unsigned long long)ocdm__compare_seed(plan, seed));
        columns[count++] = named(key, key, "");
    }
    return count;
}

/* Returns where the columns begin that every row has. */
static ocdm__cell *fill_point(ocdm__cell *row, const ocdm__compare_plan *plan, size_t point)
{
    const ocdm__compare_point *at = &plan->points[point];
    if (plan->sweeps_memory)
        *row++ = ocdm__cell_number(at->memory, NAN, 0);
    if (plan->sweeps_rho)
        *row++ = ocdm__cell_number(at->rho, NAN, 2);
    if (plan->sweeps_order) {
        char text[OCDM__TABLE_TEXT];
        ocdm__compare_order_text(at, text, sizeof text);
        ocdm__cell_text(row++, text);
    }
    return row;
}

static void fill_data(ocdm__cell *row, const ocdm__compare_results *results, const ocdm__compare_judgement *judgement,
                      size_t column, size_t method)
{
    const ocdm__summary *summary = &judgement->summary, *difference = &judgement->difference;
    ocdm__cell_text(&row[D_METHOD], results->methods[method]);
    ocdm__cell_text(&row[D_GROUP], ocdm__compare_columns[column].group);
    ocdm__cell_text(&row[D_METRIC], ocdm__compare_columns[column].metric);
    const size_t group = ocdm__compare_group(column);
    if (group < OCDM__COMPARE_GROUPS && results->classes[group] > 0)
        row[D_CLASSES] = ocdm__cell_number((double)results->classes[group], NAN, 0);
    row[D_MEAN] = ocdm__cell_number(summary->mean, NAN, 2);
    row[D_STD] = ocdm__cell_number(summary->deviation, NAN, 2);
    row[D_N] = ocdm__cell_number((double)summary->count, NAN, 0);
    row[D_LOW] = ocdm__cell_number(summary->low, NAN, 2);
    row[D_HIGH] = ocdm__cell_number(summary->high, NAN, 2);
    row[D_BOLD] = ocdm__cell_number(judgement->bold, NAN, 0);
    if (judgement->other < results->method_count)
        ocdm__cell_text(&row[D_OTHER], results->methods[judgement->other]);
    row[D_DIFFERENCE] = ocdm__cell_number(difference->mean, NAN, 2);
    row[D_DIFFERENCE_LOW] = ocdm__cell_number(difference->low, NAN, 2);
    row[D_DIFFERENCE_HIGH] = ocdm__cell_number(difference->high, NAN, 2);
}

static ocdm_status add_data(ocdm__table *table, const ocdm__compare_plan *plan, size_t point,
                            const ocdm__compare_results *results, ocdm__compare_judgement *judgements, ocdm_error *error)
{
    for (size_t column = 0; column < OCDM__COMPARE_COLUMNS; column++) {
        if (!ocdm__compare_has(results, column))
            continue;
        ocdm_status status = ocdm__compare_judge(results, point, column, judgements, error);
        for (size_t i = 0; status == OCDM_OK && i < results->method_count; i++) {
            ocdm__cell *row = ocdm__table_row(table, error);
            if (row == NULL)
                return OCDM_NO_MEMORY;
            row = fill_point(row, plan, point);
            fill_data(row, results, &judgements[i], column, i);
            if (plan->choices != NULL)
                ocdm__cell_text(&row[D_CHOSEN], plan->choices[point * results->method_count + i]->label);
            for (uint64_t seed = 0; seed < plan->seed_count; seed++)
                row[D_COUNT + seed] = ocdm__cell_number(ocdm__compare_values(results, point, i, seed)[column], NAN, 2);
        }
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error)
{
    ocdm__column *columns = ocdm__allocate(3 + D_COUNT + (size_t)plan->seed_count, sizeof *columns);
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = OCDM_OK;
    if (columns == NULL || judgements == NULL)
        status = ocdm__fail_memory(error, "the table of a comparison");
    if (status == OCDM_OK)
        status = ocdm__table_begin(table, columns, name_data(plan, columns), error);
    for (size_t point = 0; status == OCDM_OK && point < plan->point_count; point++)
        status = add_data(table, plan, point, results, judgements, error);
    ocdm__release(columns);
    ocdm__release(judgements);
    return status;
}

enum { G_METHOD, G_SETTING, G_MEAN, G_STD, G_N, G_CHOSEN, G_COUNT };

ocdm_status ocdm__table_of_grid(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                const ocdm__compare_choice *const *chosen, size_t combinations, ocdm_error *error)
{
    static const char *const keys[G_COUNT] = {"method", "settings", "validation_mAP", "std", "n", "chosen"};
    ocdm__column columns[3 + G_COUNT];
    size_t count = name_point(plan, columns), methods = plan->method_count;
    for (size_t i = 0; i < G_COUNT; i++)
        columns[count++] = named(keys[i], keys[i], "");
    ocdm_status status = ocdm__table_begin(table, columns, count, error);
    for (size_t i = 0; status == OCDM_OK && i < plan->point_count * methods; i++) {
        size_t point = i / methods, method = i % methods;
        ocdm__summary summary;
        ocdm__cell *row = ocdm__table_row(table, error);
        if (row == NULL)
            return OCDM_NO_MEMORY;
        status = ocdm__compare_summary(results, point, OCDM__COMPARE_VALIDATION, method, &summary, error);
        row = fill_point(row, plan, point);
        ocdm__cell_text(&row[G_METHOD], plan->methods[method]);
        ocdm__cell_text(&row[G_SETTING], plan->choices[i]->label);
        row[G_MEAN] = ocdm__cell_number(summary.mean, NAN, 2);
        row[G_STD] = ocdm__cell_number(summary.deviation, NAN, 2);
        row[G_N] = ocdm__cell_number((double)summary.count, NAN, 0);
        row[G_CHOSEN] = ocdm__cell_number(plan->choices[i] == chosen[point / combinations * methods + method], NAN, 0);
    }
    return status;
}

/* ---- memories without a network ----------------------------------------------------------------------------------------- */

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
    {"labels", "labels", 2},
};

static size_t name_spreads(ocdm__column columns[S_COLUMNS], bool data)
{
    static const char *const ends[] = {"median", "p05", "p95"};
    size_t count = S_FIGURES;
    columns[S_METHOD] = named("method", "method", "");
    columns[S_MEMORY] = named("memory", "memory", "");
    columns[S_RHO] = named("rho", "rho", "");
    columns[S_RUNS] = named("n", "runs", "");
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++)
        for (size_t end = 0; end < (data ? 3 : 1); end++) {
            char key[OCDM__TABLE_TEXT];
            snprintf(key, sizeof key, "%s_%s", figures[figure].key, ends[end]);
            columns[count++] = named(key, figures[figure].shown, "");
        }
    return count;
}

/* Three cells, or one: "0.0223 [0.0180, 0.0289]". Returns how many. */
static size_t fill_figure(ocdm__cell *cells, const ocdm__spread *spread, int decimals, bool data)
{
    if (data) {
        cells[0] = ocdm__cell_number(spread->median, NAN, decimals);
        cells[1] = ocdm__cell_number(spread->low, NAN, decimals);
        cells[2] = ocdm__cell_number(spread->high, NAN, decimals);
        return 3;
    }
    char text[OCDM__TABLE_TEXT];
    snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", decimals, spread->median, decimals, spread->low, decimals, spread->high);
    ocdm__cell_text(cells, text);
    return 1;
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
                               size_t point, size_t method, bool data, ocdm_error *error)
{
    ocdm__cell *next = &row[S_FIGURES];
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
        next += fill_figure(next, &spread, figures[figure].decimals, data);
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   bool data, ocdm_error *error)
{
    ocdm__column columns[S_COLUMNS];
    ocdm_status status = ocdm__table_begin(table, columns, name_spreads(columns, data), error);
    if (!data)
        snprintf(table->note, sizeof table->note,
                 "Median over the runs [5 %%, 95 %%]. Labels: per sample in memory; the stream has %.2f.",
                 memories->results[0].labels_seen);
    for (size_t point = 0; status == OCDM_OK && point < plan->point_count; point += orders_at(plan, point))
        for (size_t method = 0; status == OCDM_OK && method < plan->method_count; method++) {
            ocdm__cell *row = ocdm__table_row(table, error);
            status = row != NULL ? fill_spread(row, plan, memories, point, method, data, error) : OCDM_NO_MEMORY;
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
    R_LABELS,
    R_LABELS_SEEN,
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
    row[R_LABELS] = ocdm__cell_number(result->labels, NAN, 2);
    row[R_LABELS_SEEN] = ocdm__cell_number(result->labels_seen, NAN, 2);
    row[R_OVER] = ocdm__cell_number((double)result->balance.over, NAN, 0);
}

ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error)
{
    static const char *const keys[R_ALL] = {
        [R_METHOD] = "method",     [R_MEMORY] = "memory",      [R_RHO] = "rho",
        [R_ORDER] = "order",       [R_SEED] = "seed",          [R_KEPT] = "kept",
        [R_DISTANCE] = "distance", [R_SEEN] = "distance_seen", [R_FEWEST] = "fewest",
        [R_MOST] = "most",         [R_LOST] = "lost",          [R_UNDER] = "under_20",
        [R_OVER] = "over_40",      [R_LABELS] = "labels",      [R_LABELS_SEEN] = "labels_seen",
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
                row[R_SEED] = ocdm__cell_number((double)ocdm__compare_seed(plan, seed), NAN, 0);
            }
    return status;
}
