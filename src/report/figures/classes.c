/* The average precision of every class. */
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"
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

static ocdm_status make_classes(const ocdm__study *study, ocdm__chart *chart, ocdm_error *error)
{
    static const char *const keys[] = {".series", ".bar", "class", "group", "training_samples", "label", "AP", NULL};
    *chart = (ocdm__chart){.kind = OCDM__CHART_ROWS, .x = ".bar", .y = "AP"};
    OCDM_TRY(ocdm__table_begin_keys(&chart->table, keys, error));
    const ocdm__study_class **classes = ocdm__allocate(study->class_count, sizeof *classes);
    if (classes == NULL)
        return ocdm__fail_memory(error, "a figure");
    for (size_t c = 0; c < study->class_count; c++)
        classes[c] = &study->classes[c];
    if (study->class_count > 1)
        qsort((void *)classes, study->class_count, sizeof *classes, by_frequency);
    for (size_t i = 0; i < study->base_count; i++)
        ocdm__chart_add_series(chart, study->groups[i].label, study->groups[i].mark, study->groups[i].colour);
    for (size_t c = 0; c < study->class_count; c++) {
        ocdm__chart_add_class(chart, classes[c]->name, classes[c]->group, 0, NAN);
        for (size_t i = 0; i < study->base_count; i++) {
            ocdm__cell *row = ocdm__chart_row(chart, i);
            row[1] = ocdm__cell_value((double)c);
            row[2] = ocdm__cell_text(&chart->table, classes[c]->name);
            row[3] = ocdm__cell_text(&chart->table, classes[c]->group);
            row[4] = ocdm__cell_value(classes[c]->train);
            row[5] = ocdm__cell_text(&chart->table, study->groups[i].label);
            row[6] = ocdm__cell_value(ocdm__group_precision(&study->groups[i], classes[c]->column));
        }
    }
    ocdm__release((void *)classes);
    return OCDM_OK;
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
