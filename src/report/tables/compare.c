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

static ocdm__column named(const char *key, const char *head, const char *group)
{
    ocdm__column column;
    snprintf(column.key, sizeof column.key, "%s", key);
    snprintf(column.head, sizeof column.head, "%s", head);
    snprintf(column.group, sizeof column.group, "%s", group);
    return column;
}

static bool is_shown(const ocdm__compare_results *results, size_t column)
{
    return ocdm__compare_columns[column].head != NULL && ocdm__compare_has(results, column);
}

/* The method, what was chosen for it, the columns that have a head, the difference. */
enum { MOST_COLUMNS = OCDM__COMPARE_COLUMNS + 3 };

static size_t name_columns(const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                           ocdm__column columns[MOST_COLUMNS])
{
    size_t count = 0;
    columns[count++] = named("", "method", "");
    if (plan->choices != NULL)
        columns[count++] = named("", "chosen", "");
    for (size_t i = 0; i < OCDM__COMPARE_COLUMNS; i++) {
        if (!is_shown(results, i))
            continue;
        columns[count] = named("", ocdm__compare_columns[i].head, "");
        if (i < OCDM__COMPARE_OF_GROUPS)
            ocdm__compare_group_head(&results, 1, ocdm__compare_columns[i].group, columns[count].group);
        count++;
    }
    columns[count++] = named("", OCDM__MAP_NAME " against best other", "");
    return count;
}

/* "+1.3 [0.2, 2.4] prs"; without an interval (one seed) only the difference. */
static void put_difference(ocdm__table *table, const ocdm__compare_results *results, const ocdm__compare_judgement *judgement,
                           ocdm__cell *cell)
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
    *cell = ocdm__cell_text(table, text);
}

/* A row for each method. Deviations are of what is ranked; those of times and distances say little. */
static ocdm_status fill_methods(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                size_t point, ocdm__compare_judgement *judgements, ocdm_error *error)
{
    size_t place = 1 + (plan->choices != NULL);
    for (size_t i = 0; i < results->method_count; i++) {
        ocdm__cell *row = ocdm__table_row(table);
        row[0] = ocdm__cell_text(table, results->methods[i]);
        if (plan->choices != NULL)
            row[1] = ocdm__cell_text(table, plan->choices[point * results->method_count + i]->label);
    }
    OCDM_TRY(ocdm__table_check(table, error));
    for (size_t column = 0; column < OCDM__COMPARE_COLUMNS; column++) {
        const ocdm__compare_column *about = &ocdm__compare_columns[column];
        if (!is_shown(results, column))
            continue;
        OCDM_TRY(ocdm__compare_judge(results, point, column, judgements, error));
        for (size_t i = 0; i < results->method_count; i++) {
            const ocdm__summary *summary = &judgements[i].summary;
            ocdm__cell *cell = ocdm__table_at(table, i, place);
            *cell = ocdm__cell_number(summary->mean, about->ranked ? summary->deviation : NAN, about->decimals);
            cell->bold = judgements[i].bold;
            if (column == OCDM__COMPARE_TOTAL_MAP)
                put_difference(table, results, &judgements[i], ocdm__table_at(table, i, table->column_count - 1));
        }
        place++;
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

/* Labels per sample of the stream, which all runs share; NaN when none tells. */
static double labels_seen(const ocdm__compare_results *results, size_t point)
{
    for (size_t i = 0; i < results->method_count; i++)
        for (uint64_t seed = 0; seed < results->seed_count; seed++) {
            double seen = ocdm__compare_values(results, point, i, seed)[OCDM__COMPARE_LABELS_SEEN];
            if (!isnan(seen))
                return seen;
        }
    return NAN;
}

static void write_note(ocdm__table *table, const ocdm__compare_results *results, size_t point)
{
    char missing[OCDM__TABLE_NOTE / 8];
    write_missing(results, missing, sizeof missing);
    if (results->seed_count > 1)
        snprintf(table->note, sizeof table->note,
                 "Mean and standard deviation over %zu seeds%s; after a group, the number of its classes. Bold, or a star: the "
                 "best, and what is not significantly worse, by Tukey's studentised range of all methods, paired over seeds: "
                 "with equal methods one loses its bold in 5 %% of columns. Nothing is bold if no two methods differ "
                 "significantly. Last column: difference in total mAP to the best other method, with the 95 %% interval that "
                 "holds for all pairs together.",
                 results->seed_count, missing);
    else
        snprintf(table->note, sizeof table->note,
                 "One seed: no deviation, no interval, and nothing about chance. Bold, or a star: the best. Last column: "
                 "difference in total mAP to the best other method.");
    size_t used = strlen(table->note);
    double seen = labels_seen(results, point);
    if (!isnan(seen))
        snprintf(table->note + used, sizeof table->note - used, " Labels: per sample in memory; the stream has %.2f.", seen);
}

ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error)
{
    ocdm__column columns[MOST_COLUMNS];
    OCDM_TRY(ocdm__table_begin(table, columns, name_columns(plan, results, columns), error));
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = judgements == NULL ? ocdm__fail_memory(error, "judging the methods")
                                            : fill_methods(table, plan, results, point, judgements, error);
    ocdm__release(judgements);
    snprintf(table->title, sizeof table->title, "%s", plan->points[point].label);
    write_note(table, results, point);
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
static ocdm__cell *fill_point(ocdm__table *table, ocdm__cell *row, const ocdm__compare_plan *plan, size_t point)
{
    const ocdm__compare_point *at = &plan->points[point];
    if (plan->sweeps_memory)
        *row++ = ocdm__cell_value(at->memory);
    if (plan->sweeps_rho)
        *row++ = ocdm__cell_value(at->rho);
    if (plan->sweeps_order) {
        char text[OCDM__TABLE_TEXT];
        ocdm__compare_order_text(at, text, sizeof text);
        *row++ = ocdm__cell_text(table, text);
    }
    return row;
}

static ocdm_status add_data(ocdm__table *table, const ocdm__compare_plan *plan, size_t point,
                            const ocdm__compare_results *results, size_t column, ocdm__compare_judgement *judgements,
                            ocdm_error *error)
{
    const size_t group = ocdm__compare_group(column);
    OCDM_TRY(ocdm__compare_judge(results, point, column, judgements, error));
    for (size_t i = 0; i < results->method_count; i++) {
        const ocdm__summary *summary = &judgements[i].summary, *difference = &judgements[i].difference;
        ocdm__cell *row = fill_point(table, ocdm__table_row(table), plan, point);
        row[D_METHOD] = ocdm__cell_text(table, results->methods[i]);
        row[D_GROUP] = ocdm__cell_text(table, ocdm__compare_columns[column].group);
        row[D_METRIC] = ocdm__cell_text(table, ocdm__compare_columns[column].metric);
        if (group < OCDM__COMPARE_GROUPS && results->classes[group] > 0)
            row[D_CLASSES] = ocdm__cell_value((double)results->classes[group]);
        row[D_MEAN] = ocdm__cell_value(summary->mean);
        row[D_STD] = ocdm__cell_value(summary->deviation);
        row[D_N] = ocdm__cell_value((double)summary->count);
        row[D_LOW] = ocdm__cell_value(summary->low);
        row[D_HIGH] = ocdm__cell_value(summary->high);
        row[D_BOLD] = ocdm__cell_value(judgements[i].bold);
        if (judgements[i].other < results->method_count)
            row[D_OTHER] = ocdm__cell_text(table, results->methods[judgements[i].other]);
        row[D_DIFFERENCE] = ocdm__cell_value(difference->mean);
        row[D_DIFFERENCE_LOW] = ocdm__cell_value(difference->low);
        row[D_DIFFERENCE_HIGH] = ocdm__cell_value(difference->high);
        if (plan->choices != NULL)
            row[D_CHOSEN] = ocdm__cell_text(table, plan->choices[point * results->method_count + i]->label);
        for (uint64_t seed = 0; seed < plan->seed_count; seed++)
            row[D_COUNT + seed] = ocdm__cell_value(ocdm__compare_values(results, point, i, seed)[column]);
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error)
{
    ocdm__column *columns = ocdm__allocate(3 + D_COUNT + (size_t)plan->seed_count, sizeof *columns);
    ocdm__compare_judgement *judgements = ocdm__allocate(results->method_count, sizeof *judgements);
    ocdm_status status = columns == NULL || judgements == NULL
                             ? ocdm__fail_memory(error, "the table of a comparison")
                             : ocdm__table_begin(table, columns, name_data(plan, columns), error);
    for (size_t i = 0; status == OCDM_OK && i < plan->point_count * OCDM__COMPARE_COLUMNS; i++)
        if (ocdm__compare_has(results, i % OCDM__COMPARE_COLUMNS))
            status = add_data(table, plan, i / OCDM__COMPARE_COLUMNS, results, i % OCDM__COMPARE_COLUMNS, judgements, error);
    ocdm__release(columns);
    ocdm__release(judgements);
    return status == OCDM_OK ? ocdm__table_check(table, error) : status;
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
    OCDM_TRY(ocdm__table_begin(table, columns, count, error));
    for (size_t i = 0; i < plan->point_count * methods; i++) {
        size_t point = i / methods, method = i % methods;
        ocdm__summary summary;
        OCDM_TRY(ocdm__compare_summary(results, point, OCDM__COMPARE_VALIDATION, method, &summary, error));
        ocdm__cell *row = fill_point(table, ocdm__table_row(table), plan, point);
        row[G_METHOD] = ocdm__cell_text(table, plan->methods[method]);
        row[G_SETTING] = ocdm__cell_text(table, plan->choices[i]->label);
        row[G_MEAN] = ocdm__cell_value(summary.mean);
        row[G_STD] = ocdm__cell_value(summary.deviation);
        row[G_N] = ocdm__cell_value((double)summary.count);
        row[G_CHOSEN] = ocdm__cell_value(plan->choices[i] == chosen[point / combinations * methods + method]);
    }
    return ocdm__table_check(table, error);
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

/* The number of points with the same memory and rho as `point`, from there on: one for each order. */
static size_t orders_at(const ocdm__compare_plan *plan, size_t point)
{
    size_t end = point + 1;
    while (end < plan->point_count && plan->points[end].memory == plan->points[point].memory &&
           plan->points[end].rho == plan->points[point].rho)
        end++;
    return end - point;
}

/* A row: its figures are three cells each, or one: "0.0223 [0.0180, 0.0289]". */
static ocdm_status add_spread(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                              size_t point, size_t method, bool data, ocdm_error *error)
{
    size_t seeds = (size_t)plan->seed_count, count = orders_at(plan, point) * seeds;
    ocdm__cell *row = ocdm__table_row(table), *next = &row[S_FIGURES];
    row[S_METHOD] = ocdm__cell_text(table, plan->methods[method]);
    row[S_MEMORY] = ocdm__cell_number(plan->points[point].memory, NAN, 0);
    row[S_RHO] = ocdm__cell_number(plan->points[point].rho, NAN, 2);
    row[S_RUNS] = ocdm__cell_number((double)count, NAN, 0);
    for (size_t figure = 0; figure < OCDM__FIGURE_COUNT; figure++) {
        ocdm__spread spread;
        int decimals = figures[figure].decimals;
        char text[OCDM__TABLE_TEXT];
        OCDM_TRY(ocdm__memory_spread(memories->results, point * seeds * plan->method_count + method, plan->method_count, count,
                                     (enum ocdm__memory_figure)figure, &spread, error));
        if (data) {
            *next++ = ocdm__cell_value(spread.median);
            *next++ = ocdm__cell_value(spread.low);
            *next++ = ocdm__cell_value(spread.high);
            continue;
        }
        snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", decimals, spread.median, decimals, spread.low, decimals, spread.high);
        *next++ = ocdm__cell_text(table, text);
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   bool data, ocdm_error *error)
{
    ocdm__column columns[S_COLUMNS];
    OCDM_TRY(ocdm__table_begin(table, columns, name_spreads(columns, data), error));
    if (!data)
        snprintf(table->note, sizeof table->note,
                 "Median over the runs [5 %%, 95 %%]. Labels: per sample in memory; the stream has %.2f.",
                 memories->results[0].labels_seen);
    for (size_t point = 0; point < plan->point_count; point += orders_at(plan, point))
        for (size_t method = 0; method < plan->method_count; method++)
            OCDM_TRY(add_spread(table, plan, memories, point, method, data, error));
    return ocdm__table_check(table, error);
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

ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error)
{
    static const char *const keys[R_ALL + 1] = {
        [R_METHOD] = "method",     [R_MEMORY] = "memory",      [R_RHO] = "rho",
        [R_ORDER] = "order",       [R_SEED] = "seed",          [R_KEPT] = "kept",
        [R_DISTANCE] = "distance", [R_SEEN] = "distance_seen", [R_FEWEST] = "fewest",
        [R_MOST] = "most",         [R_LOST] = "lost",          [R_UNDER] = "under_20",
        [R_OVER] = "over_40",      [R_LABELS] = "labels",      [R_LABELS_SEEN] = "labels_seen",
    };
    OCDM_TRY(ocdm__table_begin_keys(table, keys, error));
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; method < plan->method_count; method++)
            for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
                const ocdm__memory_result *result = ocdm__compare_memory(memories, plan, point, method, seed);
                char order[OCDM__TABLE_TEXT];
                ocdm__cell *row = ocdm__table_row(table);
                ocdm__compare_order_text(&plan->points[point], order, sizeof order);
                row[R_METHOD] = ocdm__cell_text(table, plan->methods[method]);
                row[R_MEMORY] = ocdm__cell_value(plan->points[point].memory);
                row[R_RHO] = ocdm__cell_value(plan->points[point].rho);
                if (order[0] != '\0')
                    row[R_ORDER] = ocdm__cell_text(table, order);
                row[R_SEED] = ocdm__cell_value((double)ocdm__compare_seed(plan, seed));
                row[R_KEPT] = ocdm__cell_value(result->size);
                row[R_DISTANCE] = ocdm__cell_value(result->distance);
                row[R_SEEN] = ocdm__cell_value(result->distance_seen);
                row[R_FEWEST] = ocdm__cell_value(result->balance.fewest);
                row[R_MOST] = ocdm__cell_value(result->balance.most);
                row[R_LOST] = ocdm__cell_value((double)result->balance.lost);
                row[R_UNDER] = ocdm__cell_value((double)result->balance.under);
                row[R_OVER] = ocdm__cell_value((double)result->balance.over);
                row[R_LABELS] = ocdm__cell_value(result->labels);
                row[R_LABELS_SEEN] = ocdm__cell_value(result->labels_seen);
            }
    return ocdm__table_check(table, error);
}
