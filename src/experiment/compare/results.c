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
    results->values = ocdm__arena_new(&results->arena, value_count(results), sizeof *results->values);
    results->room = ocdm__arena_new(&results->arena, results->method_count, 2 * results->seed_count * sizeof *results->room);
    results->judgements = ocdm__arena_new(&results->arena, results->method_count, sizeof *results->judgements);
    OCDM_TRY(ocdm__arena_check(&results->arena, "the results of the runs", error));
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
    ocdm__arena_clear(&results->arena);
    *results = (ocdm__compare_results){.point_count = 0};
}

/* ---- judging ---------------------------------------------------------------------------------------------------------- */

ocdm__summary ocdm__compare_summary(const ocdm__compare_results *results, size_t point, size_t column, size_t method)
{
    size_t count = 0;
    for (size_t seed = 0; column < OCDM__COMPARE_COLUMNS && seed < results->seed_count; seed++) {
        results->room[count] = ocdm__compare_values(results, point, method, seed)[column];
        count += isnan(results->room[count]) ? 0 : 1;
    }
    return ocdm__summarise(results->room, count);
}

const ocdm__judgement *ocdm__compare_judge(const ocdm__compare_results *results, size_t point, size_t column)
{
    const size_t methods = results->method_count, seeds = results->seed_count;
    ocdm__judgement *judgements = results->judgements;
    for (size_t i = 0; i < methods * seeds; i++) {
        judgements[i / seeds].competes = !ocdm__is_upper_bound(results->methods[i / seeds]);
        results->room[i] = ocdm__compare_values(results, point, i / seeds, i % seeds)[column];
    }
    ocdm__judge(results->room, methods, seeds, ocdm__compare_columns[column].low ? -1 : 1, results->room + methods * seeds,
                judgements);
    for (size_t i = 0; i < methods; i++)
        judgements[i].bold = judgements[i].bold && ocdm__compare_columns[column].ranked;
    return judgements;
}
