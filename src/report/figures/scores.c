/* The mAP over the tasks: of all of them together, against the best method, and of each task by itself; and of every class. */
#include "report/figures/figure.h"
#include "report/text.h"

static const ocdm__json_node *evaluation(const ocdm__run_record *run, size_t number)
{
    return ocdm__json_element(ocdm__json_find(run->summary.root, "evaluations"), number);
}

static size_t evaluation_count(const ocdm__run_group *group)
{
    const ocdm__json_node *list = ocdm__json_find(group->runs[0]->summary.root, "evaluations");
    return list != NULL && list->kind == OCDM__JSON_ARRAY ? list->count : 0;
}

static double task_at(const ocdm__run_group *group, size_t after)
{
    return ocdm__json_number(ocdm__json_find(evaluation(group->runs[0], after), "task"));
}

/* "task 0", "+ task 3", ... */
static void name_evaluations(const ocdm__study *study, ocdm__chart *chart)
{
    for (size_t i = 0; i < evaluation_count(&study->groups[0]); i++) {
        char name[40] = "+ ";
        ocdm__task_text(task_at(&study->groups[0], i), name + (i == 0 ? 0 : 2), sizeof name - 2);
        ocdm__chart_add_name(chart, name);
    }
}

/* ---- mAP after each task ------------------------------------------------------------------------------------------------ */

static void fill_map(const ocdm__study *study, ocdm__chart *chart)
{
    name_evaluations(study, chart);
    for (size_t i = 0; i < study->base_count && study->trained; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
        for (size_t k = 0; k < evaluation_count(group); k++) {
            ocdm__chart_row(chart, i);
            ocdm__add_text(&chart->table, "label", group->label);
            ocdm__add_value(&chart->table, "after", (double)k);
            ocdm__add_summary(&chart->table, "mean", ocdm__group_evaluation(group, k, "total." OCDM__MAP_NAME));
        }
    }
}

const ocdm__figure ocdm__figure_map = {
    .name = "map",
    .title = "mAP after each task",
    .reading =
        "Higher is better. After each task the network is tested on the test samples of all tasks so far, so the test gets "
        "harder to the right; how little a line falls shows how little is forgotten. Bars are one standard deviation over "
        "seeds to either side.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_DOTS,
                                  .x = "after",
                                  .y = "mean",
                                  .deviation = "deviation",
                                  .x_what = "evaluated after",
                                  .y_what = "total " OCDM__MAP_AXIS},
    .fill = fill_map,
};

/* ---- difference to the best ---------------------------------------------------------------------------------------------- */

static void fill_difference(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    const char *measure = strchr(ocdm__study_measure(study), '.') + 1; /* by its path in an evaluation */
    if (best == NULL || study->base_count < 2)
        return;
    snprintf(chart->y_what, sizeof chart->y_what, "%s minus that of %.40s", study->trained ? "mAP in points" : "distance",
             best->label);
    name_evaluations(study, chart);
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
        for (size_t k = 0; k < evaluation_count(group); k++) {
            ocdm__chart_row(chart, i);
            ocdm__add_text(&chart->table, "label", group->label);
            ocdm__add_text(&chart->table, "best", best->label);
            ocdm__add_value(&chart->table, "after", (double)k);
            ocdm__add_summary(&chart->table, "mean", ocdm__group_evaluation_difference(group, best, k, measure));
        }
    }
}

const ocdm__figure ocdm__figure_difference = {
    .name = "difference",
    .title = "Difference to the best method over time",
    .reading =
        "How far each method is from the one that is best at the end, after each task: the mean of the differences of runs "
        "with the same seed, and one standard deviation of them to either side. The best method is the line at 0; a "
        "method whose bars stay on one side of it differs by more than the choice of the seed.",
    .chart =
        &(const ocdm__chart){
            .kind = OCDM__CHART_DOTS, .x = "after", .y = "mean", .deviation = "deviation", .x_what = "evaluated after"},
    .fill = fill_difference,
};

/* ---- each task after each task ------------------------------------------------------------------------------------------- */

/* The mAP of the task of evaluation `row` in evaluation `column`, on that task's own test samples. */
static ocdm__summary task_map(const ocdm__run_group *group, size_t row, size_t column)
{
    for (size_t i = 0; i < group->run_count; i++) {
        double task = ocdm__json_number(ocdm__json_find(evaluation(group->runs[i], row), "task"));
        const ocdm__json_node *tasks = ocdm__json_find(evaluation(group->runs[i], column), "tasks");
        group->room[i] = NAN;
        for (const ocdm__json_node *node = tasks != NULL ? tasks->first : NULL; node != NULL; node = node->next)
            if (ocdm__json_number(ocdm__json_find(node, "task")) == task)
                group->room[i] = ocdm__json_number(ocdm__json_find(node, OCDM__MAP_NAME));
    }
    return ocdm__summarise(group->room, group->run_count);
}

static void fill_tasks(const ocdm__study *study, ocdm__chart *chart)
{
    name_evaluations(study, chart);
    size_t side = chart->name_count;
    for (size_t i = 0; i < study->base_count && side > 1; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
        for (size_t k = 0; k < side * side; k++) {
            ocdm__summary summary = task_map(group, k / side, k % side);
            if (k % side < k / side && isnan(summary.mean))
                continue;
            ocdm__chart_row(chart, i);
            ocdm__add_value(&chart->table, ".cell", (double)k);
            ocdm__add_text(&chart->table, "label", group->label);
            ocdm__add_value(&chart->table, "task", task_at(group, k / side));
            ocdm__add_value(&chart->table, "after_task", task_at(group, k % side));
            ocdm__add_summary(&chart->table, "mean", summary);
        }
    }
}

const ocdm__figure ocdm__figure_tasks = {
    .name = "tasks",
    .title = "mAP of each task after each task",
    .reading =
        "A row is a task, tested by itself, a column the time of the test; numbers are the mAP in percent, mean over seeds, on "
        "one scale for all methods. The diagonal is what a task scores when it has just been learned; how a row pales to "
        "the right is what is forgotten of it.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_MATRIX, .x = ".cell", .y = "mean", .y_what = OCDM__MAP_NAME},
    .fill = fill_tasks,
};

/* ---- every class ----------------------------------------------------------------------------------------------------------
 */

/* More frequent classes first, then as in the stream. */
static int by_frequency(const void *a, const void *b)
{
    const ocdm__study_class *left = *(const ocdm__study_class *const *)a, *right = *(const ocdm__study_class *const *)b;
    double x = isfinite(left->train) ? left->train : -1, y = isfinite(right->train) ? right->train : -1;
    if (x != y)
        return x > y ? -1 : 1;
    return left->column < right->column ? -1 : left->column > right->column;
}

static void fill_classes(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__study_class **classes = ocdm__allocate(study->class_count, sizeof *classes);
    chart->table.failed = classes == NULL;
    if (classes == NULL)
        return;
    for (size_t c = 0; c < study->class_count; c++)
        classes[c] = &study->classes[c];
    if (study->class_count > 1)
        qsort((void *)classes, study->class_count, sizeof *classes, by_frequency);
    for (size_t i = 0; i < study->base_count; i++)
        ocdm__chart_add_series(chart, study->groups[i].label, study->groups[i].mark, study->groups[i].colour);
    for (size_t c = 0; c < study->class_count; c++) {
        ocdm__chart_add_class(chart, classes[c]->name, classes[c]->group, 0, NAN);
        for (size_t i = 0; i < study->base_count; i++) {
            ocdm__chart_row(chart, i);
            ocdm__add_value(&chart->table, ".bar", (double)c);
            ocdm__add_text(&chart->table, "class", classes[c]->name);
            ocdm__add_text(&chart->table, "group", classes[c]->group);
            ocdm__add_value(&chart->table, "training_samples", classes[c]->train);
            ocdm__add_text(&chart->table, "label", study->groups[i].label);
            ocdm__add_value(&chart->table, "AP", ocdm__group_precision(&study->groups[i], classes[c]->column));
        }
    }
    ocdm__release((void *)classes);
}

const ocdm__figure ocdm__figure_classes = {
    .name = "classes",
    .title = "Average precision of every class",
    .reading =
        "Each row is a class, the most frequent in the stream first, with its training samples; each bar is the average "
        "precision at the end in percent of a method, mean over seeds, and all columns have the same scale from 0 to 100. "
        "Where bars get shorter further down, a method learns frequent classes better than rare ones.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_ROWS, .x = ".bar", .y = "AP"},
    .fill = fill_classes,
};
