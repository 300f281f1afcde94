/* The mAP over the tasks: of all of them together, against the best method, and of each task by itself; and of every class;
 * what thresholds give. */
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

static void add_map(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    if (!study->trained)
        return;
    ocdm__chart_add_group(chart, group);
    for (size_t k = 0; k < evaluation_count(group); k++) {
        ocdm__summary summary = ocdm__group_evaluation(group, k, "total." OCDM__MAP_NAME);
        OCDM__POINT(chart, chart->series_count - 1, OCDM__WORD("label", group->label), OCDM__EXACT("after", (double)k),
                    OCDM__SUMMARY("mean", summary));
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
    .fill = name_evaluations,
    .fill_group = add_map,
};

/* ---- difference to the best ---------------------------------------------------------------------------------------------- */

static void begin_difference(const ocdm__study *study, ocdm__chart *chart)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    snprintf(chart->y_what, sizeof chart->y_what, "%s minus that of %.40s", study->trained ? "mAP in points" : "distance",
             best != NULL ? best->label : "");
    name_evaluations(study, chart);
}

static void add_difference(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    const char *measure = strchr(ocdm__study_measure(study), '.') + 1; /* by its path in an evaluation */
    if (best == NULL || study->base_count < 2)
        return;
    ocdm__chart_add_group(chart, group);
    for (size_t k = 0; k < evaluation_count(group); k++) {
        ocdm__summary summary = ocdm__group_evaluation_difference(group, best, k, measure);
        OCDM__POINT(chart, chart->series_count - 1, OCDM__WORD("label", group->label), OCDM__WORD("best", best->label),
                    OCDM__EXACT("after", (double)k), OCDM__SUMMARY("mean", summary));
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
    .fill = begin_difference,
    .fill_group = add_difference,
};

/* ---- each task after each task ------------------------------------------------------------------------------------------- */

static void add_tasks(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    size_t side = chart->name_count;
    (void)study;
    if (side < 2)
        return;
    ocdm__chart_add_group(chart, group);
    for (size_t k = 0; k < side * side; k++) {
        /* The mAP of the task of one evaluation in another, on that task's own test samples. */
        for (size_t i = 0; i < group->run_count; i++) {
            double task = ocdm__json_number(ocdm__json_find(evaluation(group->runs[i], k / side), "task"));
            const ocdm__json_node *node = ocdm__json_first(ocdm__json_find(evaluation(group->runs[i], k % side), "tasks"));
            group->room[i] = NAN;
            for (; node != NULL; node = node->next)
                if (ocdm__json_number(ocdm__json_find(node, "task")) == task)
                    group->room[i] = ocdm__json_number(ocdm__json_find(node, OCDM__MAP_NAME));
        }
        ocdm__summary summary = ocdm__summarise(group->room, group->run_count);
        if (k % side >= k / side || !isnan(summary.mean))
            OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".cell", (double)k), OCDM__WORD("label", group->label),
                        OCDM__EXACT("task", task_at(group, k / side)), OCDM__EXACT("after_task", task_at(group, k % side)),
                        OCDM__SUMMARY("mean", summary));
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
    .fill = name_evaluations,
    .fill_group = add_tasks,
};

/* ---- every class --------------------------------------------------------------------------------------------------------- */

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
    chart->table.texts.failed = classes == NULL;
    if (classes == NULL)
        return;
    for (size_t c = 0; c < study->class_count; c++)
        classes[c] = &study->classes[c];
    if (study->class_count > 1)
        qsort((void *)classes, study->class_count, sizeof *classes, by_frequency);
    for (size_t i = 0; i < study->base_count; i++)
        ocdm__chart_add_group(chart, &study->groups[i]);
    for (size_t c = 0; c < study->class_count; c++) {
        const ocdm__study_class *class = classes[c];
        ocdm__chart_add_class(chart, class->name, class->group, 0, NAN);
        for (size_t i = 0; i < study->base_count; i++)
            OCDM__POINT(chart, i, OCDM__EXACT(".bar", (double)c), OCDM__WORD("class", class->name),
                        OCDM__WORD("group", class->group), OCDM__EXACT("training_samples", class->train),
                        OCDM__WORD("label", study->groups[i].label),
                        OCDM__EXACT("AP", ocdm__group_precision(&study->groups[i], class->column)));
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

/* ---- thresholds ---------------------------------------------------------------------------------------------------------- */

enum { RECALLS = 32 };

/* The means over the runs of a group of the numbers at these paths of their summaries. */
static void add_mark(ocdm__chart *chart, const ocdm__run_group *group, const char *recall, const char *precision, bool is_point)
{
    const ocdm__chart_mark mark = {ocdm__group_summary(group, recall).mean, ocdm__group_summary(group, precision).mean,
                                   group->colour, is_point};
    if (isfinite(mark.x) && isfinite(mark.y))
        ocdm__chart_add_mark(chart, mark);
}

/* With a threshold that was chosen, the metrics of what is held out are those at the best one, not at 1/2. */
static void add_thresholds(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    if (!study->trained || ocdm__json_find(group->runs[0]->summary.root, "validation.thresholds") == NULL)
        return;
    ocdm__chart_add_group(chart, group);
    for (size_t r = 0; r < group->run_count; r++) {
        /* At recalls that all runs have, each by the first point that reaches it, so that a line is the mean over runs. */
        const ocdm__json_node *node = ocdm__json_first(ocdm__json_find(group->runs[r]->summary.root, "validation.thresholds"));
        for (int step = 1; step <= RECALLS; step++) {
            double recall = 100.0 * step / RECALLS;
            while (node != NULL && !(ocdm__json_number(ocdm__json_find(node, "CR")) >= recall - 1e-9))
                node = node->next;
            OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".run", (double)r), OCDM__WORD("label", group->label),
                        OCDM__EXACT("seed", group->runs[r]->seed), OCDM__EXACT("CR", recall),
                        OCDM__EXACT("CP", ocdm__json_number(ocdm__json_find(node, "CP"))),
                        OCDM__EXACT("threshold", ocdm__json_number(ocdm__json_find(node, "threshold"))));
        }
    }
    add_mark(chart, group, "validation.best_threshold.CR", "validation.best_threshold.CP", false);
    if (strcmp(ocdm__json_text(ocdm__group_setting(group, "threshold"), ""), "fixed") == 0)
        add_mark(chart, group, "validation.total.CR", "validation.total.CP", true);
}

const ocdm__figure ocdm__figure_thresholds = {
    .name = "thresholds",
    .title = "Precision against recall",
    .reading =
        "Each line is a method on the samples that were held out, at the end: mean precision (CP) and recall (CR) of the classes as one "
        "threshold for all of them falls from left to right. The diamond is the threshold with the greatest CF1, which "
        "<code>--threshold validation</code> uses; the square is that of 1/2. Where the two are far apart, CF1 and OF1 at 1/2 say more "
        "about the scale of the scores than about the method.",
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_LINES,
                                  .x = "CR",
                                  .y = "CP",
                                  .x_what = "recall, %",
                                  .y_what = "precision, %",
                                  .mark_what = "best for CF1",
                                  .point_what = "at 1/2"},
    .fill_group = add_thresholds,
};
