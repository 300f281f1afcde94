/*
 * Reads the summaries of runs, and judges methods by paired seeds.
 *
 * The columns are one table: where a number is in summary.json, what heads its column, and which direction is better.
 */
#include "experiment/compare/results.h"

#include "base/json_tree.h"
#include "experiment/folder/summary_read.h"

#define METRIC(group, metric)                                                                                                  \
    {                                                                                                                          \
        group, metric, "final." group "." metric, metric, 1, false, true                                                       \
    }
#define GROUP(name) METRIC(name, OCDM__CF1_NAME), METRIC(name, OCDM__OF1_NAME), METRIC(name, OCDM__MAP_NAME)
#define OTHER(group, metric, decimals, low)                                                                                    \
    {                                                                                                                          \
        group, metric, "final." group "." metric, NULL, decimals, low, true                                                    \
    }
#define OTHERS(name)                                                                                                           \
    OTHER(name, OCDM__AUC_NAME, 1, false), OTHER(name, OCDM__RANKING_LOSS_NAME, 2, true),                                      \
        OTHER(name, OCDM__COVERAGE_NAME, 2, true), OTHER(name, OCDM__HAMMING_NAME, 2, true),                                   \
        OTHER(name, OCDM__ONE_ERROR_NAME, 1, true), OTHER(name, OCDM__ECE_NAME, 2, true)

const ocdm__compare_column ocdm__compare_columns[OCDM__COMPARE_COLUMNS] = {
    GROUP("majority"),
    GROUP("moderate"),
    GROUP("minority"),
    GROUP("total"),
    {"run", "mean_mAP", "mean_mAP", "mean mAP", 1, false, true},
    {"run", "forgetting", "forgetting.mean", "forgetting", 1, true, true},
    {"run", "seconds_per_1000_steps", "times.per_1000_steps", "s/1000 steps", 2, true, false},
    {"run", "distance", "final.distance", "distance", 4, true, false},
    {"run", "distance_seen", "final.distance_seen", NULL, 4, true, false},
    {"run", "update_share", "times.update_share", NULL, 2, true, false},
    {"validation", "mAP", "validation.total.mAP", NULL, 1, false, false},
    {"run", "mean_CF1", "mean_CF1", NULL, 1, false, true},
    {"run", "mean_OF1", "mean_OF1", NULL, 1, false, true},
    {"run", "AUC_mAP", "anytime.AUC_mAP", "AUC of mAP", 1, false, true},
    {"run", "gflop_per_step", "cost.gflop_per_step", NULL, 4, true, false},
    {"run", "memory_bytes", "cost.memory_bytes", NULL, 0, true, false},
    {"run", "missed", "cost.missed", NULL, 0, true, false},
    {"run", "labels", "memory.labels", "labels", 2, false, false},
    {"run", "labels_seen", "memory.labels_seen", NULL, 2, false, false},
    {"run", "BWT", "BWT", "BWT", 1, false, true},
    {"run", "FWT", "FWT", "FWT", 1, false, true},
    OTHERS("majority"),
    OTHERS("moderate"),
    OTHERS("minority"),
    OTHERS("total"),
};

size_t ocdm__compare_group(size_t column)
{
    if (column < OCDM__COMPARE_OF_GROUPS)
        return column / OCDM__COMPARE_METRICS;
    return column < OCDM__COMPARE_OTHERS ? OCDM__COMPARE_GROUPS : (column - OCDM__COMPARE_OTHERS) / OCDM__COMPARE_OTHER_METRICS;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static size_t value_count(const ocdm__compare_results *results)
{
    return results->point_count * results->method_count * results->seed_count * OCDM__COMPARE_COLUMNS;
}

ocdm_status ocdm__compare_results_create(ocdm__compare_results *results, const ocdm__compare_plan *plan, ocdm_error *error)
{
    *results = (ocdm__compare_results){.point_count = plan->point_count,
                                       .method_count = plan->method_count,
                                       .seed_count = (size_t)plan->seed_count,
                                       .methods = plan->methods};
    OCDM_TRY(ocdm__new(&results->values, value_count(results), sizeof *results->values, "the results of the runs", error));
    for (size_t i = 0; i < value_count(results); i++)
        results->values[i] = NAN;
    return OCDM_OK;
}

double *ocdm__compare_values(const ocdm__compare_results *results, size_t point, size_t method, uint64_t seed)
{
    size_t run = (point * results->method_count + method) * results->seed_count + (size_t)seed;
    return results->values + run * OCDM__COMPARE_COLUMNS;
}

bool ocdm__compare_has(const ocdm__compare_results *results, size_t column)
{
    if (column != OCDM__COMPARE_AREA && column != OCDM__COMPARE_FORWARD)
        return true;
    for (size_t i = column; i < value_count(results); i += OCDM__COMPARE_COLUMNS)
        if (!isnan(results->values[i]))
            return true;
    return false;
}

static const char *group_name(size_t group)
{
    return ocdm__compare_columns[group * OCDM__COMPARE_METRICS].group;
}

void ocdm__compare_group_head(const ocdm__compare_results *const *results, size_t count, const char *group,
                              char text[OCDM__GROUP_HEAD])
{
    size_t i = 0, fewest = SIZE_MAX, most = 0;
    while (i < OCDM__COMPARE_GROUPS && strcmp(group_name(i), group) != 0)
        i++;
    for (size_t k = 0; i < OCDM__COMPARE_GROUPS && k < count; k++) {
        size_t classes = results[k]->classes[i];
        fewest = classes < fewest ? classes : fewest;
        most = classes > most ? classes : most;
    }
    if (most == 0)
        snprintf(text, OCDM__GROUP_HEAD, "%.30s", group);
    else if (fewest == most)
        snprintf(text, OCDM__GROUP_HEAD, "%.16s (%zu)", group, most);
    else
        snprintf(text, OCDM__GROUP_HEAD, "%.16s (%zu-%zu)", group, fewest, most);
}

ocdm_status ocdm__compare_results_read(ocdm__compare_results *results, const ocdm__compare_plan *plan, const char *folder,
                                       ocdm_error *error)
{
    size_t seeds = (size_t)plan->seed_count, methods = plan->method_count;
    char run[OCDM__SUMMARY_PATH], path[OCDM__SUMMARY_PATH], name[OCDM__COMPARE_NAME];
    for (size_t i = 0; i < plan->point_count * methods * seeds; i++) {
        size_t point = i / seeds / methods, method = i / seeds % methods;
        ocdm__json_tree tree = {.root = NULL};
        ocdm__compare_folder(plan, point, method, i % seeds, name);
        if ((size_t)snprintf(run, sizeof run, "%s/%s", folder, name) >= sizeof run)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%.64s...: the name is too long", folder);
        if (!ocdm__summary_find(run, path)) /* it is not finished: its numbers stay NaN */
            continue;
        double *values = ocdm__compare_values(results, point, method, i % seeds);
        OCDM_TRY(ocdm__summary_read(&tree, path, error));
        for (size_t k = 0; k < OCDM__COMPARE_COLUMNS; k++)
            values[k] = ocdm__json_number(ocdm__json_find(tree.root, ocdm__compare_columns[k].path));
        for (size_t k = 0; k < OCDM__COMPARE_GROUPS; k++) { /* every run has the same groups */
            snprintf(path, sizeof path, "final.%s.classes", group_name(k));
            double classes = ocdm__json_number(ocdm__json_find(tree.root, path));
            if (classes > 0)
                results->classes[k] = (size_t)classes;
        }
        ocdm__json_tree_clear(&tree);
    }
    return OCDM_OK;
}

void ocdm__compare_results_clear(ocdm__compare_results *results)
{
    ocdm__release(results->values);
    *results = (ocdm__compare_results){.point_count = 0};
}

/* ---- judging ---------------------------------------------------------------------------------------------------------- */

/* The numbers of a column at a point. */
struct view {
    const ocdm__compare_results *results;
    size_t point, column;
    ocdm__compare_judgement *judgements;
    double *values; /* room for [method][seed] */
    size_t seeds;   /* that all competing methods have */
};

static double value_at(const struct view *view, size_t method, size_t seed)
{
    return ocdm__compare_values(view->results, view->point, method, seed)[view->column];
}

/* Over the seeds that have a value. */
static ocdm__summary summary_of(const struct view *view, size_t method)
{
    size_t count = 0;
    for (size_t seed = 0; seed < view->results->seed_count; seed++)
        if (!isnan(value_at(view, method, seed)))
            view->values[count++] = value_at(view, method, seed);
    return ocdm__summarise(view->values, count);
}

ocdm_status ocdm__compare_summary(const ocdm__compare_results *results, size_t point, size_t column, size_t method,
                                  ocdm__summary *summary, ocdm_error *error)
{
    struct view view = {.results = results, .point = point, .column = column};
    OCDM_TRY(ocdm__new(&view.values, results->seed_count, sizeof *view.values, "the numbers of a method", error));
    *summary = column < OCDM__COMPARE_COLUMNS ? summary_of(&view, method) : ocdm__summarise(view.values, 0);
    ocdm__release(view.values);
    return OCDM_OK;
}

/* Whether a method takes part in being the best: not without any value, and not multitask, the upper bound, which sees all
 * data. */
static bool competes(const struct view *view, size_t method)
{
    return !isnan(view->judgements[method].summary.mean) && !ocdm__is_upper_bound(view->results->methods[method]);
}

/* Whether a seed can be compared: all competing methods have a value for it. */
static bool all_have(const struct view *view, size_t seed)
{
    for (size_t i = 0; i < view->results->method_count; i++)
        if (competes(view, i) && isnan(value_at(view, i, seed)))
            return false;
    return true;
}

/* Over the seeds that all have. */
static ocdm__summary difference_of(const struct view *view, size_t method, size_t other, double least)
{
    ocdm__summary difference = {0, NAN, NAN, NAN, NAN};
    double sum = 0;
    for (size_t seed = 0; seed < view->results->seed_count; seed++) {
        double value = value_at(view, method, seed) - value_at(view, other, seed);
        if (isnan(value) || !all_have(view, seed))
            continue;
        sum += value;
        difference.count++;
    }
    if (difference.count == 0)
        return difference;
    difference.mean = sum / (double)difference.count;
    if (competes(view, method)) {
        difference.low = difference.mean - least;
        difference.high = difference.mean + least;
    }
    return difference;
}

/* The best competing method except `but`, the first of equals; method_count if there is none. */
static size_t best_but(const struct view *view, size_t but)
{
    size_t best = view->results->method_count;
    double sign = ocdm__compare_columns[view->column].low ? -1 : 1;
    for (size_t i = 0; i < view->results->method_count; i++) {
        if (i == but || !competes(view, i))
            continue;
        if (best == view->results->method_count ||
            sign * view->judgements[i].summary.mean > sign * view->judgements[best].summary.mean)
            best = i;
    }
    return best;
}

/* Those as good as the best are bold. A column is not marked if it does not distinguish any two methods. */
static void mark(const struct view *view, double least)
{
    ocdm__compare_judgement *judgements = view->judgements;
    size_t best = best_but(view, view->results->method_count), rivals = 0, bold = 0;
    for (size_t i = 0; i < view->results->method_count; i++) {
        if (!competes(view, i))
            continue;
        bool equal = judgements[i].summary.mean == judgements[best].summary.mean ||
                     fabs(difference_of(view, best, i, least).mean) <= least;
        judgements[i].bold = ocdm__compare_columns[view->column].ranked && equal;
        bold += judgements[i].bold;
        rivals++;
    }
    for (size_t i = 0; bold == rivals && i < view->results->method_count; i++)
        judgements[i].bold = false;
}

ocdm_status ocdm__compare_judge(const ocdm__compare_results *results, size_t point, size_t column,
                                ocdm__compare_judgement *judgements, ocdm_error *error)
{
    struct view view = {.results = results, .point = point, .column = column, .judgements = judgements};
    OCDM_TRY(ocdm__new(&view.values, results->method_count, results->seed_count * sizeof *view.values, "judging the methods",
                       error));
    for (size_t i = 0; i < results->method_count; i++)
        judgements[i] = (ocdm__compare_judgement){.summary = summary_of(&view, i), .other = results->method_count};
    /* Collects the seeds that all competing methods have, and returns the least significant difference. */
    size_t methods = 0, used = 0;
    for (size_t i = 0; i < view.results->method_count; i++) {
        if (!competes(&view, i))
            continue;
        methods++;
        for (size_t seed = 0; seed < view.results->seed_count; seed++)
            if (all_have(&view, seed))
                view.values[used++] = value_at(&view, i, seed);
    }
    view.seeds = methods > 0 ? used / methods : 0;
    double least = ocdm__least_significant_difference(view.values, methods, view.seeds);
    mark(&view, least);
    for (size_t i = 0; i < results->method_count; i++) {
        judgements[i].other = best_but(&view, i);
        judgements[i].difference = judgements[i].other < results->method_count
                                       ? difference_of(&view, i, judgements[i].other, least)
                                       : ocdm__summarise(view.values, 0);
    }
    ocdm__release(view.values);
    return OCDM_OK;
}
