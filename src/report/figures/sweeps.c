/*
 * Sweeps: a group belongs to the sweep of a setting if it is in the base, or differs from a group of the base in that
 * setting only. A method is in the figure if it has at least two such groups.
 */
#include "report/figures/figure.h"
#include "report/text.h"

/* With more lines or panels than this the figure is not readable. */
#define MOST_CURVES 16

static bool differs_only_in(const ocdm__run_group *a, const ocdm__run_group *b, const char *setting)
{
    for (const ocdm__json_node *node = ocdm__settings_first(a->runs[0]); node != NULL; node = ocdm__settings_next(node))
        if (strcmp(node->key, setting) != 0 && !ocdm__groups_agree(a, b, node->key))
            return false;
    return true;
}

static bool belongs(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    if (group->base)
        return true;
    for (size_t i = 0; i < study->base_count; i++)
        if (differs_only_in(group, &study->groups[i], setting))
            return true;
    return false;
}

/* Whether two groups are of one method and model: they have the same base group. */
static bool are_of_one(const ocdm__run_group *a, const ocdm__run_group *b)
{
    return a->mark == b->mark;
}

static bool is_in_sweep(const ocdm__study *study, const ocdm__run_group *group, const char *setting)
{
    size_t length = 0; /* of the sweep of one method, in groups */
    if (!belongs(study, group, setting))
        return false;
    for (size_t i = 0; i < study->group_count; i++)
        length += are_of_one(&study->groups[i], group) && belongs(study, &study->groups[i], setting);
    return length > 1;
}

bool ocdm__chart_takes(const ocdm__chart *chart, const ocdm__study *study, const ocdm__run_group *group)
{
    size_t groups = 0;
    if (chart->sweep == NULL)
        return group->base;
    for (size_t i = 0; i < study->group_count; i++)
        groups += is_in_sweep(study, &study->groups[i], chart->sweep);
    return (groups <= MOST_CURVES || chart->kind == OCDM__CHART_DOTS) && is_in_sweep(study, group, chart->sweep);
}

/* The row of a group: its method, the value of what was swept, what the number is of, and the number. */
static void add_row(ocdm__chart *chart, size_t series, const ocdm__run_group *group, const char *part_key, const char *part,
                    ocdm__summary summary)
{
    char value[100];
    const ocdm__json_node *setting = ocdm__group_setting(group, chart->sweep);
    ocdm__setting_text(setting, value, sizeof value);
    OCDM__POINT(chart, series, OCDM__EXACT(".x", ocdm__json_number(setting)), OCDM__WORD("method", group->method),
                OCDM__WORD(chart->sweep, value), OCDM__WORD(part_key, part), OCDM__SUMMARY(chart->y, summary));
}

/* ---- rho ---------------------------------------------------------------------------------------------------------------- */

/* Samples in memory of a class, mean over the classes of a group. */
static ocdm__summary kept_per_class(const ocdm__study *study, const ocdm__run_group *group, const char *name)
{
    for (size_t i = 0; i < group->run_count; i++) {
        double sum = 0, classes = 0;
        for (size_t c = 0; c < study->class_count; c++) {
            if (strcmp(study->classes[c].group, name) != 0 && strcmp(name, "total") != 0)
                continue;
            size_t column = study->classes[c].column;
            sum += column < group->runs[i]->counts.count ? group->runs[i]->counts.values[column] : NAN;
            classes++;
        }
        group->room[i] = sum / classes;
    }
    return ocdm__summarise(group->room, group->run_count);
}

/* A line for each group of classes: its mAP, or what is kept of it. If several methods were swept, the first one is shown,
 * which is the best. */
static void fill_rho(const ocdm__study *study, ocdm__chart *chart)
{
    bool kept = strcmp(chart->y, OCDM__MAP_NAME) != 0;
    const ocdm__run_group *first = NULL;
    for (size_t i = 0; i < study->group_count && first == NULL; i++)
        first = ocdm__chart_takes(chart, study, &study->groups[i]) ? &study->groups[i] : NULL;
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++) {
        const char *name = ocdm__paper_groups[g];
        char path[OCDM__METRIC_PATH];
        ocdm__metric_path(g, OCDM_MAP, path);
        ocdm__chart_add_series(chart, name, first != NULL ? first->mark : NULL, OCDM__INK(g));
        for (size_t i = 0; i < study->group_count; i++) {
            const ocdm__run_group *group = &study->groups[i];
            if (ocdm__chart_takes(chart, study, group)) {
                ocdm__summary summary = kept ? kept_per_class(study, group, name) : ocdm__group_summary(group, path);
                add_row(chart, are_of_one(group, first) ? g : OCDM__NO_SERIES, group, "group", name, summary);
            }
        }
    }
}

const ocdm__figure ocdm__figure_rho = {
    .name = "rho",
    .title = "What rho does to the mAP",
    .reading = "The target gives a class a share that grows with its count in the stream to the power rho: 0 asks for equal "
               "shares, 1 for those of the stream. Where the lines of rare classes fall to the right, a larger rho costs them. "
               "Bars are one standard deviation over seeds to either side.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_DOTS,
                                  .x = ".x",
                                  .y = OCDM__MAP_NAME,
                                  .deviation = "deviation",
                                  .x_what = "rho",
                                  .y_what = OCDM__MAP_AXIS},
    .sweep = "rho",
    .fill = fill_rho,
};

const ocdm__figure ocdm__figure_rho_kept = {
    .name = "rho-kept",
    .title = "What rho does to the memory",
    .reading = "Samples in memory that carry a class, mean over the classes of a group: with rho the memory moves from rare "
               "classes to frequent ones.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_DOTS,
                                  .x = ".x",
                                  .deviation = "deviation",
                                  .x_what = "rho",
                                  .y = "samples_per_class",
                                  .y_what = "samples in memory per class"},
    .sweep = "rho",
    .fill = fill_rho,
};

/* ---- the size of the memory, orders of tasks ---------------------------------------------------------------------------- */

static void name_measure(const ocdm__study *study, ocdm__chart *chart)
{
    snprintf(chart->y_what, sizeof chart->y_what, "%s",
             study->trained ? "total " OCDM__MAP_AXIS : "final distance to the target (KL)");
}

/* The measure that ranks methods, a line for each method. */
static void add_measure(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    const char *measure = ocdm__study_measure(study);
    /* The line of the group's method, added when it is new. */
    size_t line = 0;
    while (line < chart->series_count && chart->series[line].mark != group->mark)
        line++;
    if (line == chart->series_count)
        ocdm__chart_add_series(chart, group->mark, group->mark, group->colour);
    add_row(chart, line, group, "measure", measure, ocdm__group_summary(group, measure));
}

const ocdm__figure ocdm__figure_memory_size = {
    .name = "memory-size",
    .title = "What the size of the memory does",
    .reading = "Each line is a method, each point a size of the memory, mean over seeds with one standard deviation to either "
               "side: a method is better where its line runs above the others (below, where the distance is shown).",
    .chart =
        &(const ocdm__chart){
            .kind = OCDM__CHART_DOTS, .x = ".x", .y = "mean", .deviation = "deviation", .x_what = "memory size (samples)"},
    .sweep = "memory",
    .fill = name_measure,
    .fill_group = add_measure,
};

/* x is the number of an order, in the order in which they come. */
static void add_order(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    char name[100];
    size_t number = 0;
    ocdm__setting_text(ocdm__group_setting(group, "order"), name, sizeof name);
    while (number < chart->name_count && strncmp(chart->names[number], name, sizeof *chart->names - 1) != 0)
        number++;
    if (number == chart->name_count)
        ocdm__chart_add_name(chart, name);
    add_measure(study, group, chart);
    if (!chart->table.texts.failed)
        *ocdm__table_at(&chart->table, chart->table.row_count - 1, 1) = ocdm__cell_number((double)number, NAN, 0);
}

const ocdm__figure ocdm__figure_orders = {
    .name = "orders",
    .title = "What the order of the tasks does",
    .reading =
        "Each point is a method on one order of the tasks, mean over seeds with one standard deviation to either side. A "
        "method that does not depend on the order has a level line.",
    .chart =
        &(const ocdm__chart){
            .kind = OCDM__CHART_DOTS, .x = ".x", .y = "mean", .deviation = "deviation", .x_what = "order of the tasks"},
    .sweep = "order",
    .fill = name_measure,
    .fill_group = add_order,
};
