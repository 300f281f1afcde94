/* A comparison as tables. */
#include "report/tables/tables.h"

#include "base/text.h"
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
static void put_difference(ocdm__table *table, const ocdm__compare_results *results, const ocdm__judgement *judgement,
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

/* A row for each method. Deviations are of what is ranked; those of times and distances say little. */
ocdm_status ocdm__table_of_comparison(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                      size_t point, ocdm_error *error)
{
    ocdm__column columns[MOST_COLUMNS];
    char missing[OCDM__TABLE_NOTE / 8] = ""; /* " (rs: 1, prs: 0)": the methods of which runs are missing */
    double seen = NAN;                       /* labels per sample of the stream, which all runs share */
    size_t place = 1 + (plan->choices != NULL);
    OCDM_TRY(ocdm__table_begin(table, columns, name_columns(plan, results, columns), error));
    snprintf(table->title, sizeof table->title, "%s", plan->points[point].label);
    for (size_t i = 0; i < results->method_count; i++) {
        ocdm__cell *row = ocdm__table_row(table);
        OCDM_TRY(ocdm__table_check(table, error));
        row[0] = ocdm__cell_text(table, results->methods[i]);
        if (plan->choices != NULL)
            row[1] = ocdm__cell_text(table, plan->choices[point * results->method_count + i]->label);
        if (seeds_of(results, i) < results->seed_count)
            ocdm__append(missing, sizeof missing, "%s%s: %zu", missing[0] != '\0' ? ", " : " (", results->methods[i],
                         seeds_of(results, i));
        for (uint64_t seed = 0; isnan(seen) && seed < results->seed_count; seed++)
            seen = ocdm__compare_values(results, point, i, seed)[OCDM__COMPARE_LABELS_SEEN];
    }
    if (missing[0] != '\0')
        ocdm__append(missing, sizeof missing, ")");
    for (size_t column = 0; column < OCDM__COMPARE_COLUMNS; column++) {
        const ocdm__compare_column *about = &ocdm__compare_columns[column];
        if (!is_shown(results, column))
            continue;
        const ocdm__judgement *judgements = ocdm__compare_judge(results, point, column);
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
    if (!isnan(seen))
        ocdm__append(table->note, sizeof table->note, " Labels: per sample in memory; the stream has %.2f.", seen);
    return ocdm__table_check(table, error);
}

/* ---- for programs ----------------------------------------------------------------------------------------------------- */

/* Begins a row with the settings that are swept. */
static void add_point(ocdm__table *table, const ocdm__compare_plan *plan, size_t point)
{
    const ocdm__compare_point *at = &plan->points[point];
    char order[OCDM__TABLE_TEXT];
    ocdm__table_row(table);
    if (plan->sweeps_memory)
        OCDM__CELLS(table, OCDM__EXACT("memory", at->memory));
    if (plan->sweeps_rho)
        OCDM__CELLS(table, OCDM__EXACT("rho", at->rho));
    if (plan->sweeps_order) {
        ocdm__compare_order_text(at, order, sizeof order);
        OCDM__CELLS(table, OCDM__WORD("order", order));
    }
}

ocdm_status ocdm__table_of_comparison_data(ocdm__table *table, const ocdm__compare_plan *plan,
                                           const ocdm__compare_results *results, ocdm_error *error)
{
    *table = (ocdm__table){.row_count = 0};
    for (size_t i = 0; i < plan->point_count * OCDM__COMPARE_COLUMNS; i++) {
        size_t point = i / OCDM__COMPARE_COLUMNS, column = i % OCDM__COMPARE_COLUMNS;
        if (!ocdm__compare_has(results, column))
            continue;
        const ocdm__judgement *judgements = ocdm__compare_judge(results, point, column);
        for (size_t method = 0; method < results->method_count; method++) {
            const size_t group = ocdm__compare_group(column);
            const ocdm__summary *summary = &judgements[method].summary, *difference = &judgements[method].difference;
            bool has_classes = group < OCDM__COMPARE_GROUPS && results->classes[group] > 0;
            add_point(table, plan, point);
            OCDM__CELLS(
                table, OCDM__WORD("method", results->methods[method]), OCDM__WORD("group", ocdm__compare_columns[column].group),
                OCDM__WORD("metric", ocdm__compare_columns[column].metric),
                OCDM__EXACT("classes", has_classes ? (double)results->classes[group] : NAN), OCDM__EXACT("mean", summary->mean),
                OCDM__EXACT("std", summary->deviation), OCDM__EXACT("n", (double)summary->count),
                OCDM__EXACT("low", summary->low), OCDM__EXACT("high", summary->high),
                OCDM__EXACT("bold", judgements[method].bold),
                OCDM__WORD("other", judgements[method].other < results->method_count
                                        ? results->methods[judgements[method].other]
                                        : NULL),
                OCDM__EXACT("difference", difference->mean), OCDM__EXACT("difference_low", difference->low),
                OCDM__EXACT("difference_high", difference->high),
                OCDM__WORD("chosen",
                           plan->choices != NULL ? plan->choices[point * results->method_count + method]->label : NULL));
            for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
                char key[OCDM__TABLE_TEXT];
                snprintf(key, sizeof key, "seed_%llu", (unsigned long long)ocdm__compare_seed(plan, seed));
                OCDM__CELLS(table, OCDM__EXACT(key, ocdm__compare_values(results, point, method, seed)[column]));
            }
        }
    }
    return ocdm__table_check(table, error);
}

ocdm_status ocdm__table_of_grid(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_results *results,
                                const ocdm__compare_choice *const *chosen, size_t combinations, ocdm_error *error)
{
    size_t methods = plan->method_count;
    *table = (ocdm__table){.row_count = 0};
    for (size_t i = 0; i < plan->point_count * methods; i++) {
        size_t point = i / methods, method = i % methods;
        const ocdm__summary summary = ocdm__compare_summary(results, point, OCDM__COMPARE_VALIDATION, method);
        add_point(table, plan, point);
        OCDM__CELLS(table, OCDM__WORD("method", plan->methods[method]), OCDM__WORD("settings", plan->choices[i]->label),
                    OCDM__EXACT("validation_mAP", summary.mean), OCDM__EXACT("std", summary.deviation),
                    OCDM__EXACT("n", (double)summary.count),
                    OCDM__EXACT("chosen", plan->choices[i] == chosen[point / combinations * methods + method]));
    }
    return ocdm__table_check(table, error);
}

/* ---- memories without a network ----------------------------------------------------------------------------------------- */

/* The number of points with the same memory and rho as `point`, from there on: one for each order. */
static size_t orders_at(const ocdm__compare_plan *plan, size_t point)
{
    size_t end = point + 1;
    while (end < plan->point_count && plan->points[end].memory == plan->points[point].memory &&
           plan->points[end].rho == plan->points[point].rho)
        end++;
    return end - point;
}

/* A figure is three cells as data, otherwise one: "0.0223 [0.0180, 0.0289]". */
ocdm_status ocdm__table_of_spreads(ocdm__table *table, const ocdm__compare_plan *plan, const ocdm__compare_memories *memories,
                                   bool data, ocdm_error *error)
{
    static const struct {
        const char *key, *shown;
        int decimals;
    } figures[] = {{"distance", "distance", 4},
                   {"distance_seen", "distance of seen", 4},
                   {"fewest", "fewest of a class", 0},
                   {"lost", "classes lost", 0},
                   {"labels", "labels", 2}};
    static const char *const ends[] = {"median", "p05", "p95"};
    size_t seeds = (size_t)plan->seed_count, methods = plan->method_count;
    *table = (ocdm__table){.row_count = 0};
    double *values = ocdm__arena_new(&table->texts, plan->point_count, seeds * sizeof *values);
    OCDM_TRY(ocdm__table_check(table, error));
    if (!data)
        snprintf(table->note, sizeof table->note,
                 "Median over the runs [5 %%, 95 %%]. Labels: per sample in memory; the stream has %.2f.",
                 memories->results[0].labels_seen);
    for (size_t point = 0; point < plan->point_count; point += orders_at(plan, point))
        for (size_t method = 0; method < methods; method++) {
            size_t count = orders_at(plan, point) * seeds;
            OCDM__ROW(table, OCDM__WORD("method", plan->methods[method]), OCDM__NUMBER("memory", plan->points[point].memory, 0),
                      OCDM__NUMBER("rho", plan->points[point].rho, 2), OCDM__NUMBER(data ? "n" : "runs", (double)count, 0));
            for (size_t figure = 0; figure < sizeof figures / sizeof *figures; figure++) {
                int decimals = figures[figure].decimals;
                char text[OCDM__TABLE_TEXT], key[OCDM__TABLE_TEXT];
                for (size_t i = 0; i < count; i++) {
                    const ocdm__memory_result *run = &memories->results[(point * seeds + i) * methods + method];
                    const double numbers[] = {run->distance, run->distance_seen, run->balance.fewest, (double)run->balance.lost,
                                              run->labels};
                    values[i] = numbers[figure];
                }
                ocdm__spread spread = ocdm__spread_of(values, count);
                const double shown[] = {spread.median, spread.low, spread.high};
                for (size_t i = 0; data && i < 3; i++) {
                    snprintf(key, sizeof key, "%s_%s", figures[figure].key, ends[i]);
                    OCDM__CELLS(table, OCDM__EXACT(key, shown[i]));
                }
                snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", decimals, shown[0], decimals, shown[1], decimals, shown[2]);
                if (!data)
                    OCDM__CELLS(table, OCDM__WORD(figures[figure].shown, text));
            }
        }
    return ocdm__table_check(table, error);
}

ocdm_status ocdm__table_of_memory_runs(ocdm__table *table, const ocdm__compare_plan *plan,
                                       const ocdm__compare_memories *memories, ocdm_error *error)
{
    *table = (ocdm__table){.row_count = 0};
    for (size_t i = 0; i < plan->point_count * plan->method_count * plan->seed_count; i++) {
        size_t point = i / plan->seed_count / plan->method_count, method = i / plan->seed_count % plan->method_count;
        uint64_t seed = i % plan->seed_count;
        const ocdm__memory_result *result = ocdm__compare_memory(memories, plan, point, method, seed);
        char order[OCDM__TABLE_TEXT];
        ocdm__compare_order_text(&plan->points[point], order, sizeof order);
        OCDM__ROW(table, OCDM__WORD("method", plan->methods[method]), OCDM__EXACT("memory", plan->points[point].memory),
                  OCDM__EXACT("rho", plan->points[point].rho), OCDM__WORD("order", order[0] != '\0' ? order : NULL),
                  OCDM__EXACT("seed", (double)ocdm__compare_seed(plan, seed)), OCDM__EXACT("kept", result->size),
                  OCDM__EXACT("distance", result->distance), OCDM__EXACT("distance_seen", result->distance_seen),
                  OCDM__EXACT("fewest", result->balance.fewest), OCDM__EXACT("most", result->balance.most),
                  OCDM__EXACT("lost", (double)result->balance.lost), OCDM__EXACT("under_20", (double)result->balance.under),
                  OCDM__EXACT("over_40", (double)result->balance.over), OCDM__EXACT("labels", result->labels),
                  OCDM__EXACT("labels_seen", result->labels_seen));
    }
    return ocdm__table_check(table, error);
}
