/* What was logged over the steps: the distance to the target, the loss, and mAP at any time. */
#include "report/figures/figure.h"

void ocdm__add_task_sections(ocdm__chart *chart, const ocdm__run_record *run, const char *what, double scale)
{
    const ocdm__json_node *node = ocdm__json_first(ocdm__json_find(run->summary.root, "evaluations"));
    double from = 0;
    for (; node != NULL; node = node->next) {
        char name[40];
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), name, sizeof name);
        ocdm__chart_add_section(chart, from, name);
        from = ocdm__json_number(ocdm__json_find(node, what)) * scale;
    }
}

/* ---- curves ------------------------------------------------------------------------------------------------------------- */

/* The line of a group that logged such numbers, a row for each step of its runs. What the axes show are lists of a run. */
static void add_curve(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    bool begun = false;
    (void)study;
    for (size_t j = 0; j < group->run_count; j++) {
        const ocdm__run_record *run = group->runs[j];
        const ocdm__numbers *x = ocdm__run_list_of(run, chart->x), *y = ocdm__run_list_of(run, chart->y);
        for (size_t k = 0; k < x->count && k < y->count; k++) {
            if (!begun)
                ocdm__chart_add_group(chart, group);
            begun = true;
            OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".run", (double)j),
                        OCDM__EXACT(".task", k < run->task.count ? run->task.values[k] : NAN),
                        OCDM__WORD("label", group->label), OCDM__EXACT("seed", run->seed), OCDM__EXACT(chart->x, x->values[k]),
                        OCDM__EXACT(chart->y, y->values[k]));
        }
    }
}

/* The tasks are those of the best group's runs. */
static void add_tasks(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    ocdm__add_task_sections(chart, (best != NULL ? best : &study->groups[0])->runs[0], chart->x, 1);
}

/* ---- distance ----------------------------------------------------------------------------------------------------------- */

/* Tasks are shown where all groups have one order. */
static void fill_distance(const ocdm__study *study, ocdm__chart *chart)
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
    if (first != NULL && one_order)
        ocdm__add_task_sections(chart, first->runs[0], "step", 1);
}

/* Several lines of a method, those of other orders, have other dashes. */
static void add_distance(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    size_t before = chart->series_count;
    add_curve(study, group, chart);
    for (size_t i = 0; i < before && before < chart->series_count; i++)
        if (chart->series[i].mark == group->mark)
            chart->series[before].colour += OCDM__COLOURS;
}

static const ocdm__chart distance_chart = {.kind = OCDM__CHART_LINES,
                                           .x = "step",
                                           .y = "distance_seen",
                                           .x_what = "training steps",
                                           .y_what = "distance to the target (KL)",
                                           .is_log = true};

const ocdm__figure ocdm__figure_distance = {
    .name = "distance",
    .title = "Distance to the target over the stream",
    .reading =
        "Lower is better: at 0 the classes have exactly the shares in memory that the target asks for, over all classes "
        "seen so far. New classes arrive where a dashed line marks the next task, so the distance jumps there; a good "
        "memory comes down quickly. The line is the mean over seeds, the band reaches from the lowest seed to the highest.",
    .scales = {"logarithmic", "linear"},
    .chart = &distance_chart,
    .fill = fill_distance,
    .fill_group = add_distance,
};

const ocdm__figure ocdm__figure_orders_distance = {
    .name = "orders-distance",
    .title = "Distance to the target in each order of the tasks",
    .reading =
        "Lower is better, as above. Each order meets its new classes at steps of its own, so the jumps lie elsewhere; what "
        "counts is how far down the lines come after them.",
    .chart = &distance_chart,
    .sweep = "order",
    .fill = fill_distance,
    .fill_group = add_distance,
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
    .fill = add_tasks,
    .fill_group = add_curve,
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
    .fill = add_tasks,
    .fill_group = add_curve,
};
