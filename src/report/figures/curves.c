/* What was logged over the steps: the distance to the target, the loss, and mAP at any time. */
#include "report/figures/figure.h"

void ocdm__add_task_sections(ocdm__chart *chart, const ocdm__run_record *run, const char *what, double scale)
{
    const ocdm__json_node *list = ocdm__json_find(run->summary.root, "evaluations");
    double from = 0;
    for (const ocdm__json_node *node = list != NULL && list->kind == OCDM__JSON_ARRAY ? list->first : NULL; node != NULL;
         node = node->next) {
        char name[40];
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), name, sizeof name);
        ocdm__chart_add_section(chart, from, name);
        from = ocdm__json_number(ocdm__json_find(node, what)) * scale;
    }
}

/* ---- curves ------------------------------------------------------------------------------------------------------------- */

/* A line for each group that logged such numbers, a row for each step of its runs. What the axes show are lists of a run. */
static void add_curves(const ocdm__study *study, ocdm__chart *chart)
{
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        size_t series = OCDM__NO_SERIES;
        for (size_t j = 0; ocdm__chart_takes(chart, study, group) && j < group->run_count; j++) {
            const ocdm__run_record *run = group->runs[j];
            const ocdm__numbers *x = ocdm__run_list_of(run, chart->x), *y = ocdm__run_list_of(run, chart->y);
            for (size_t k = 0; k < x->count && k < y->count; k++) {
                if (series == OCDM__NO_SERIES) {
                    ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
                    series = chart->series_count - 1;
                }
                ocdm__chart_row(chart, series);
                ocdm__add_value(&chart->table, ".run", (double)j);
                ocdm__add_value(&chart->table, ".task", k < run->task.count ? run->task.values[k] : NAN);
                ocdm__add_text(&chart->table, "label", group->label);
                ocdm__add_value(&chart->table, "seed", run->seed);
                ocdm__add_value(&chart->table, chart->x, x->values[k]);
                ocdm__add_value(&chart->table, chart->y, y->values[k]);
            }
        }
    }
}

/* The tasks are those of the best group's runs. */
static void fill_curves(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    add_curves(study, chart);
    ocdm__add_task_sections(chart, (best != NULL ? best : &study->groups[0])->runs[0], chart->x, 1);
}

/* ---- distance ----------------------------------------------------------------------------------------------------------- */

const ocdm__chart ocdm__distance_chart = {.kind = OCDM__CHART_LINES,
                                          .x = "step",
                                          .y = "distance_seen",
                                          .x_what = "training steps",
                                          .y_what = "distance to the target (KL)",
                                          .is_log = true};

/* Tasks are shown where all groups have one order. Several lines of a method, those of other orders, have other dashes. */
void ocdm__fill_distance(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__run_group *first = NULL;
    bool one_order = true;
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!ocdm__chart_takes(chart, study, group))
            continue;
        first = first == NULL || first->bound ? group : first;
        one_order = one_order && ocdm__groups_agree(first, group, "order");
    }
    add_curves(study, chart);
    if (first != NULL && one_order)
        ocdm__add_task_sections(chart, first->runs[0], "step", 1);
    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t j = 0; j < i; j++)
            if (chart->series[i].mark == chart->series[j].mark)
                chart->series[i].colour += OCDM__COLOURS;
}

const ocdm__figure ocdm__figure_distance = {
    .name = "distance",
    .title = "Distance to the target over the stream",
    .reading =
        "Lower is better: at 0 the classes have exactly the shares in memory that the target asks for, over all classes "
        "seen so far. New classes arrive where a dashed line marks the next task, so the distance jumps there; a good "
        "memory comes down quickly. The line is the mean over seeds, the band reaches from the lowest seed to the highest.",
    .scales = {"logarithmic", "linear"},
    .chart = &ocdm__distance_chart,
    .fill = ocdm__fill_distance,
};

/* ---- loss --------------------------------------------------------------------------------------------------------------- */

const ocdm__figure ocdm__figure_loss = {
    .name = "loss",
    .title = "Loss over the stream",
    .reading =
        "The loss of each logged step, on its batch and what was replayed: thin lines are means over seeds, thick lines their "
        "running means, which do not cross a change of task. New classes make it jump. A low loss with a low mAP means that "
        "the network has learned the memory by heart.",
    .scales = {"linear", "logarithmic"},
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_LINES,
                                  .x = "step",
                                  .y = "loss",
                                  .x_what = "training steps",
                                  .y_what = "training loss",
                                  .smooth = true},
    .fill = fill_curves,
};

/* ---- mAP at any time ----------------------------------------------------------------------------------------------------- */

const ocdm__figure ocdm__figure_anytime = {
    .name = "anytime",
    .title = "mAP at any time",
    .reading =
        "Higher is better, everywhere: the network may be asked at any moment, not only at the end of a task. The tests are "
        "a fixed part, balanced over the classes, of which those of the tasks seen so far count. AUC of mAP is the height of "
        "the line averaged over the stream. The line is the mean over seeds, the band reaches from the lowest to the highest.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_LINES,
                                  .x = "samples",
                                  .y = OCDM__MAP_NAME,
                                  .x_what = "samples seen",
                                  .y_what = "mAP on a balanced part of the tests (%)"},
    .fill = fill_curves,
};
