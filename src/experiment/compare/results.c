/* Reading summaries and judging methods by paired seeds. */
#include "experiment/compare/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "experiment/folder/summary_read.h"

#define GROUP(name)                                                                                                            \
    {name, "CF1", "final." name ".CF1", false}, {name, "OF1", "final." name ".OF1", false},                                    \
    {                                                                                                                          \
        name, "mAP", "final." name ".mAP", false                                                                               \
    }

const ocdm__compare_column ocdm__compare_columns[OCDM__COMPARE_COLUMNS] = {
    GROUP("majority"),
    GROUP("moderate"),
    GROUP("minority"),
    GROUP("total"),
    {"run", "seconds_per_1000_steps", "times.per_1000_steps", true},
    {"run", "distance", "final.distance", true},
    {"run", "distance_seen", "final.distance_seen", true},
    {"run", "update_share", "times.update_share", true},
};

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
    results->values = ocdm__allocate(value_count(results), sizeof *results->values);
    if (results->values == NULL)
        return ocdm__fail_memory(error, "the results of the runs");
    for (size_t i = 0; i < value_count(results); i++)
        results->values[i] = NAN;
    return OCDM_OK;
}

double *ocdm__compare_values(const ocdm__compare_results *results, size_t point, size_t method, uint64_t seed)
{
    size_t run = (point * results->method_count + method) * results->seed_count + (size_t)seed;
    return results->values + run * OCDM__COMPARE_COLUMNS;
}

static const char *group_name(size_t group)
{
    return ocdm__compare_columns[group * OCDM__COMPARE_METRICS].group;
}

/* Every run of a comparison has the same groups. */
static void read_classes(ocdm__compare_results *results, const ocdm__json_node *root)
{
    for (size_t i = 0; i < OCDM__COMPARE_GROUPS; i++) {
        char path[64];
        snprintf(path, sizeof path, "final.%s.classes", group_name(i));
        double classes = ocdm__json_number(ocdm__json_find(root, path));
        if (classes > 0)
            results->classes[i] = (size_t)classes;
    }
}

void ocdm__compare_group_head(const ocdm__compare_results *results, const char *group, char text[OCDM__GROUP_HEAD])
{
    size_t i = 0;
    while (i < OCDM__COMPARE_GROUPS && strcmp(group_name(i), group) != 0)
        i++;
    if (i < OCDM__COMPARE_GROUPS && results->classes[i] > 0)
        snprintf(text, OCDM__GROUP_HEAD, "%.16s (%zu)", group, results->classes[i]);
    else
        snprintf(text, OCDM__GROUP_HEAD, "%.30s", group);
}

static ocdm_status read_run(ocdm__compare_results *results, const char *folder, double *values, ocdm_error *error)
{
    char path[OCDM__SUMMARY_PATH];
    ocdm__json_tree tree = {.root = NULL};
    if (!ocdm__summary_find(folder, path))
        return OCDM_OK;
    ocdm_status status = ocdm__summary_read(&tree, path, error);
    for (size_t i = 0; status == OCDM_OK && i < OCDM__COMPARE_COLUMNS; i++)
        values[i] = ocdm__json_number(ocdm__json_find(tree.root, ocdm__compare_columns[i].path));
    if (status == OCDM_OK)
        read_classes(results, tree.root);
    ocdm__json_tree_clear(&tree);
    return status;
}

ocdm_status ocdm__compare_results_read(ocdm__compare_results *results, const ocdm__compare_plan *plan, const char *folder,
                                       ocdm_error *error)
{
    char path[4096], name[OCDM__COMPARE_NAME];
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t method = 0; method < plan->method_count; method++)
            for (uint64_t seed = 0; seed < plan->seed_count; seed++) {
                ocdm__compare_folder(plan, point, method, seed, name);
                if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
                    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "%.64s...: the name is too long", folder);
                ocdm_status status = read_run(results, path, ocdm__compare_values(results, point, method, seed), error);
                if (status != OCDM_OK)
                    return status;
            }
    return OCDM_OK;
}

void ocdm__compare_results_clear(ocdm__compare_results *results)
{
    ocdm__release(results->values);
    *results = (ocdm__compare_results){.point_count = 0};
}

/* ---- judging ---------------------------------------------------------------------------------------------------------- */

bool ocdm__compare_competes(const char *method)
{
    return strcmp(method, "multitask") != 0;
}

/* Where a column's values are looked at, and room for those of two methods. */
struct view {
    const ocdm__compare_results *results;
    size_t point, column;
    double *a, *b;
};

static ocdm__summary summary_of(const struct view *view, size_t method)
{
    size_t count = 0;
    for (size_t seed = 0; seed < view->results->seed_count; seed++) {
        double value = ocdm__compare_values(view->results, view->point, method, seed)[view->column];
        if (!isnan(value))
            view->a[count++] = value;
    }
    return ocdm__summarise(view->a, count);
}

/* Over the seeds that both methods have. */
static ocdm__summary difference_of(const struct view *view, size_t method, size_t other)
{
    size_t count = 0;
    for (size_t seed = 0; seed < view->results->seed_count; seed++) {
        double a = ocdm__compare_values(view->results, view->point, method, seed)[view->column];
        double b = ocdm__compare_values(view->results, view->point, other, seed)[view->column];
        if (isnan(a) || isnan(b))
            continue;
        view->a[count] = a;
        view->b[count++] = b;
    }
    return ocdm__summarise_pairs(view->a, view->b, count);
}

/* The best method that competes, `but` aside; method_count when there is none. The first of equals. */
static size_t best_but(const struct view *view, const ocdm__compare_judgement *judgements, size_t but)
{
    size_t best = view->results->method_count;
    double sign = ocdm__compare_columns[view->column].low ? -1 : 1;
    for (size_t i = 0; i < view->results->method_count; i++) {
        double mean = judgements[i].summary.mean;
        if (i == but || isnan(mean) || !ocdm__compare_competes(view->results->methods[i]))
            continue;
        if (best == view->results->method_count || sign * mean > sign * judgements[best].summary.mean)
            best = i;
    }
    return best;
}

static bool is_as_good(const struct view *view, const ocdm__compare_judgement *judgements, size_t method, size_t best)
{
    double mean = judgements[method].summary.mean;
    if (isnan(mean) || !ocdm__compare_competes(view->results->methods[method]))
        return false;
    if (mean == judgements[best].summary.mean)
        return true;
    ocdm__summary difference = difference_of(view, best, method);
    return difference.low <= 0 && difference.high >= 0;
}

ocdm_status ocdm__compare_judge(const ocdm__compare_results *results, size_t point, size_t column,
                                ocdm__compare_judgement *judgements, ocdm_error *error)
{
    size_t room = results->seed_count;
    struct view view = {.results = results, .point = point, .column = column};
    view.a = ocdm__allocate(room, sizeof *view.a);
    view.b = ocdm__allocate(room, sizeof *view.b);
    bool have_room = view.a != NULL && view.b != NULL;
    for (size_t i = 0; have_room && i < results->method_count; i++)
        judgements[i] = (ocdm__compare_judgement){.summary = summary_of(&view, i), .other = results->method_count};
    size_t best = have_room ? best_but(&view, judgements, results->method_count) : results->method_count;
    for (size_t i = 0; have_room && i < results->method_count; i++) {
        judgements[i].bold = best < results->method_count && is_as_good(&view, judgements, i, best);
        judgements[i].other = best_but(&view, judgements, i);
        judgements[i].difference = judgements[i].other < results->method_count ? difference_of(&view, i, judgements[i].other)
                                                                               : ocdm__summarise(view.a, 0);
    }
    ocdm__release(view.a);
    ocdm__release(view.b);
    return have_room ? OCDM_OK : ocdm__fail_memory(error, "judging the methods");
}
