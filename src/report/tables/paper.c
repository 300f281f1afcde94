/* The tables of the paper: ours beside its numbers. */
#include "report/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "metrics/metrics.h"
#include "report/tables/paper_numbers.h"

/* ---- columns of each kind --------------------------------------------------------------------------------------------- */

static const char *const keys_of[][11] = {
    [OCDM__PAPER_AMLR] = {"stream", "task", "ours", "paper"},
    [OCDM__PAPER_METRICS] = {"stream", "setting", "method", "group", "metric", "ours", "ours_std", "n", "paper", "paper_std"},
    [OCDM__PAPER_PROCESS] = {"step", "event", "id", "labels", "distance"},
    [OCDM__PAPER_STREAM] = {"stream", "task", "class", "group", "samples"},
    [OCDM__PAPER_KEPT] = {"stream", "method", "order", "task", "class", "group", "seen", "kept", "target"},
    [OCDM__PAPER_CURVES] = {"stream", "method", "order", "series", "x", "value", "std"},
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
    [OCDM__PAPER_RHO] = {"stream", "rho", "group", "kept", "kept_per_class", OCDM__MAP_NAME, OCDM__MAP_NAME "_std"},
    [OCDM__PAPER_DISTANCE] = {"stream", "method", "order", "series", "x", "value", "std"},
    [OCDM__PAPER_CLAIMS] = {"stream", "claim", "ours", "paper"},
};

ocdm_status ocdm__paper_table_begin(ocdm__table *table, enum ocdm__paper_kind kind, ocdm_error *error)
{
    return ocdm__table_begin_keys(table, keys_of[kind], error);
}

/* ---- statistics of streams -------------------------------------------------------------------------------------------- */

static void add_amlr(ocdm__table *table, const ocdm__stand_in *source, const char *task, double ours)
{
    ocdm__paper_line line = ocdm__paper_line_find("amlr", source->stands_for, task, "");
    ocdm__table_row(table);
    ocdm__add_text(table, "stream", source->label);
    ocdm__add_text(table, "task", task);
    ocdm__add_number(table, "ours", ours, NAN, 2);
    ocdm__add_number(table, "paper", line.columns != NULL ? line.values[0] : NAN, NAN, 2);
}

ocdm_status ocdm__paper_add_amlr(ocdm__table *table, const ocdm__stand_in *source, ocdm_error *error)
{
    const ocdm__statistics *statistics = &source->info->statistics;
    for (size_t i = 0; i < statistics->task_count; i++) {
        char task[32];
        snprintf(task, sizeof task, "task%zu", i + 1);
        add_amlr(table, source, task, ocdm__tally_amlr(&statistics->tasks[i]));
    }
    add_amlr(table, source, "total", ocdm__tally_amlr(&statistics->total));
    return ocdm__table_check(table, error);
}

/* ---- runs ------------------------------------------------------------------------------------------------------------- */

/* The setting of the paper's table that corresponds to a point of the plan. */
static void setting_of(const ocdm__compare_plan *plan, size_t point, char setting[OCDM__TABLE_TEXT])
{
    setting[0] = '\0';
    if (plan->sweeps_memory)
        snprintf(setting, OCDM__TABLE_TEXT, "%u", plan->points[point].memory);
    else if (plan->sweeps_order)
        ocdm__compare_order_text(&plan->points[point], setting, OCDM__TABLE_TEXT);
}

/* Our column with a group and metric. */
static size_t column_of(const ocdm__paper_column *column)
{
    size_t i = 0;
    while (i < OCDM__COMPARE_COLUMNS && (strcmp(ocdm__compare_columns[i].group, column->group) != 0 ||
                                         strcmp(ocdm__compare_columns[i].metric, column->metric) != 0))
        i++;
    return i;
}

/* Ours and the paper's in one column of the table. */
struct beside {
    ocdm__summary ours;
    double paper, paper_deviation;
};

static ocdm_status look_up(const ocdm__compare_results *results, size_t point, size_t method, const ocdm__paper_line *line,
                           size_t k, struct beside *beside, ocdm_error *error)
{
    *beside = (struct beside){.paper = line->values[k], .paper_deviation = line->deviations[k]};
    return ocdm__compare_summary(results, point, column_of(&line->columns[k]), method, &beside->ours, error);
}

ocdm_status ocdm__paper_add_metrics(ocdm__table *table, const char *item, const ocdm__stand_in *source,
                                    const ocdm__compare_plan *plan, const ocdm__compare_results *results, ocdm_error *error)
{
    for (size_t i = 0; i < plan->point_count * plan->method_count; i++) {
        size_t point = i / plan->method_count, method = i % plan->method_count;
        char setting[OCDM__TABLE_TEXT];
        setting_of(plan, point, setting);
        ocdm__paper_line line = ocdm__paper_line_find(item, source->stands_for, setting, plan->methods[method]);
        for (size_t k = 0; line.columns != NULL && k < line.count; k++) {
            struct beside beside;
            OCDM_TRY(look_up(results, point, method, &line, k, &beside, error));
            ocdm__table_row(table);
            ocdm__add_text(table, "stream", source->label);
            ocdm__add_text(table, "setting", line.setting);
            ocdm__add_text(table, "method", line.method);
            ocdm__add_text(table, "group", line.columns[k].group);
            ocdm__add_text(table, "metric", line.columns[k].metric);
            ocdm__add_number(table, "ours", beside.ours.mean, NAN, 2);
            ocdm__add_number(table, "ours_std", beside.ours.deviation, NAN, 2);
            ocdm__add_number(table, "n", (double)beside.ours.count, NAN, 0);
            ocdm__add_number(table, "paper", beside.paper, NAN, 2);
            ocdm__add_number(table, "paper_std", beside.paper_deviation, NAN, 2);
        }
    }
    return ocdm__table_check(table, error);
}

/* ---- as the paper lays it out ----------------------------------------------------------------------------------------- */

static ocdm_status begin_wide(ocdm__table *table, const ocdm__paper_item *item, const ocdm__stand_in *source,
                              const ocdm__compare_plan *plan, const ocdm__compare_results *const *results, size_t lists,
                              ocdm_error *error)
{
    ocdm__column columns[1 + 3 * OCDM__PAPER_COLUMNS];
    size_t count = 1;
    memset(columns, 0, sizeof columns);
    snprintf(columns[0].head, OCDM__TABLE_TEXT, "method");
    for (size_t point = 0; point < plan->point_count; point++) {
        char setting[OCDM__TABLE_TEXT];
        setting_of(plan, point, setting);
        ocdm__paper_line line = ocdm__paper_line_find(item->name, source->stands_for, setting, "ocdm");
        for (size_t k = 0; line.columns != NULL && k < line.count; k++, count++) {
            bool time = strcmp(line.columns[k].group, "run") == 0;
            snprintf(columns[count].head, OCDM__TABLE_TEXT, "%s", time ? "s/1000 steps" : line.columns[k].metric);
            char group[OCDM__GROUP_HEAD];
            ocdm__compare_group_head(results, lists, line.columns[k].group, group);
            if (setting[0] != '\0')
                snprintf(columns[count].group, OCDM__TABLE_TEXT, "%.20s, %s %.30s", group,
                         plan->sweeps_memory ? "memory" : "order", setting);
            else if (!time)
                snprintf(columns[count].group, OCDM__TABLE_TEXT, "%s", group);
        }
    }
    return ocdm__table_begin(table, columns, count, error);
}

/* Our row and the paper's of a method. */
static ocdm_status add_wide(ocdm__table *table, const char *item, const ocdm__stand_in *source, const ocdm__compare_plan *plan,
                            const ocdm__compare_results *results, size_t method, ocdm_error *error)
{
    char name[OCDM__TABLE_TEXT];
    size_t first = table->row_count, column = 1;
    snprintf(name, sizeof name, "%.40s, ours", plan->methods[method]);
    ocdm__table_row(table)[0] = ocdm__cell_text(table, name);
    ocdm__table_row(table)[0] = ocdm__cell_text(table, "  the paper");
    OCDM_TRY(ocdm__table_check(table, error));
    for (size_t point = 0; point < plan->point_count; point++) {
        char setting[OCDM__TABLE_TEXT];
        setting_of(plan, point, setting);
        ocdm__paper_line line = ocdm__paper_line_find(item, source->stands_for, setting, plan->methods[method]);
        for (size_t k = 0; line.columns != NULL && k < line.count; k++, column++) {
            struct beside beside;
            OCDM_TRY(look_up(results, point, method, &line, k, &beside, error));
            bool time = strcmp(line.columns[k].group, "run") == 0;
            *ocdm__table_at(table, first, column) =
                ocdm__cell_number(beside.ours.mean, time ? NAN : beside.ours.deviation, time ? 2 : line.decimals);
            *ocdm__table_at(table, first + 1, column) = ocdm__cell_number(beside.paper, beside.paper_deviation, line.decimals);
        }
    }
    return OCDM_OK;
}

ocdm_status ocdm__table_of_paper(ocdm__table *table, const ocdm__paper_item *item, const ocdm__stand_in *source,
                                 const ocdm__compare_plan *plan, const ocdm__compare_results *const *results, size_t lists,
                                 ocdm_error *error)
{
    OCDM_TRY(begin_wide(table, item, source, plan, results, lists, error));
    for (size_t list = 0; list < lists; list++)
        for (size_t method = 0; method < plan->method_count; method++)
            OCDM_TRY(add_wide(table, item->name, source, plan, results[list], method, error));
    ocdm__table_fold(table, 0, lists);
    snprintf(table->title, sizeof table->title, "%.100s; ours on %.100s", item->what, source->label);
    return OCDM_OK;
}
