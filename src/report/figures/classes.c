/* The average precision of every class. */
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "report/figures/figure.h"

/* More frequent classes first, then as in the stream. */
static int by_frequency(const void *a, const void *b)
{
    const ocdm__study_class *left = *(const ocdm__study_class *const *)a, *right = *(const ocdm__study_class *const *)b;
    double x = isfinite(left->train) ? left->train : -1, y = isfinite(right->train) ? right->train : -1;
    if (x != y)
        return x > y ? -1 : 1;
    return left->column < right->column ? -1 : left->column > right->column;
}

static void make_classes(const ocdm__study *study, ocdm__chart *chart)
{
    *chart = (ocdm__chart){.kind = OCDM__CHART_ROWS, .x = ".bar", .y = "AP"};
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
    .section = OCDM__SECTION_FIGURES,
    .make = make_classes,
};
