/*
 * The average precision of every class: a row for each, the most frequent in the stream first, and a column of bars for each
 * method. Very many classes share rows with their neighbours.
 */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/panels.h"
#include "report/text.h"

enum {
    NAME_RIGHT = 142,
    NAME_LIMIT = 18,
    MARK_LEFT = 150,
    COUNT_RIGHT = 216,
    LEFT = 232, /* where the columns of methods start */
    TOP = 50,
    UPRIGHT_ROOM = 66,
    PITCH = 17,
    BAR = 11,
    NUMBER = 36, /* room for a number behind a bar */
    GAP = 8,     /* between columns */
    MOST_ROWS = 200
};

/* The narrowest column with room for numbers. */
#define NUMBERED 84.0

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* More frequent classes first, then as in the stream. */
static int by_frequency(const void *a, const void *b)
{
    const ocdm__study_class *left = *(const ocdm__study_class *const *)a, *right = *(const ocdm__study_class *const *)b;
    double x = isfinite(left->train) ? left->train : -1, y = isfinite(right->train) ? right->train : -1;
    if (x != y)
        return x > y ? -1 : 1;
    return left->column < right->column ? -1 : left->column > right->column;
}

static const ocdm__study_class **sorted_classes(const ocdm__study *study)
{
    const ocdm__study_class **classes = ocdm__allocate(study->class_count, sizeof *classes);
    for (size_t c = 0; classes != NULL && c < study->class_count; c++)
        classes[c] = &study->classes[c];
    if (classes != NULL && study->class_count > 1)
        qsort((void *)classes, study->class_count, sizeof *classes, by_frequency);
    return classes;
}

/* The classes of a row. */
struct row {
    const ocdm__study_class *const *classes;
    size_t count;
};

static size_t merged_classes(const ocdm__study *study)
{
    return (study->class_count + MOST_ROWS - 1) / MOST_ROWS;
}

/* The mean over the classes that have one: a class without test samples has no average precision. */
static double precision_of(const ocdm__run_group *group, const struct row *row)
{
    double sum = 0;
    size_t count = 0;
    for (size_t c = 0; c < row->count; c++) {
        double value = ocdm__group_precision(group, row->classes[c]->column);
        sum += isfinite(value) ? value : 0;
        count += isfinite(value) ? 1 : 0;
    }
    return count > 0 ? sum / (double)count : NAN;
}

static void put_row_name(ocdm__output *out, const struct row *row, size_t limit)
{
    ocdm__put_plain(out, row->classes[0]->name, row->count > 1 ? limit - 4 : limit);
    if (row->count > 1)
        ocdm__put(out, " +%zu", row->count - 1);
}

/* ---- columns ------------------------------------------------------------------------------------------------------------- */

struct columns {
    double width; /* of one, with its gap */
    double bar;   /* of 100 % */
    double top;   /* of the first row */
    bool numbers, upright;
};

static struct columns plan_columns(const ocdm__study *study)
{
    struct columns plan = {.width = (OCDM__FIGURE_WIDTH - LEFT) / (double)study->base_count};
    plan.numbers = plan.width >= NUMBERED;
    plan.bar = plan.width - GAP - (plan.numbers ? NUMBER : 0);
    for (size_t i = 0; i < study->base_count; i++)
        if (OCDM__WIDE_COLUMN * (double)ocdm__plain_width(study->groups[i].label, OCDM__MARK_LIMIT) > plan.width - GAP)
            plan.upright = true;
    plan.top = TOP + (plan.upright ? UPRIGHT_ROOM : 0);
    return plan;
}

static double column_left(const struct columns *plan, size_t group)
{
    return LEFT + plan->width * (double)group;
}

static void draw_heads(const ocdm__study *study, const ocdm__canvas *canvas, const struct columns *plan)
{
    ocdm__output_text(canvas->out, "<g role=\"row\">\n<g role=\"columnheader\">");
    ocdm__draw_text(canvas, NAME_RIGHT, plan->top - 12, OCDM__ANCHOR_END, "small faint", "class");
    ocdm__output_text(canvas->out, "</g>\n<g role=\"columnheader\">");
    ocdm__draw_text(canvas, COUNT_RIGHT, plan->top - 12, OCDM__ANCHOR_END, "small faint", "samples");
    ocdm__output_text(canvas->out, "</g>\n");
    for (size_t i = 0; i < study->base_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__output_text(canvas->out, "<g role=\"columnheader\"");
        ocdm__put_mark(canvas, group->mark);
        ocdm__output_text(canvas->out, ">");
        if (plan->upright)
            ocdm__draw_text_up(canvas, column_left(plan, i) + 12, plan->top - 12, OCDM__ANCHOR_START, "strong", group->label,
                               13);
        else
            ocdm__draw_text(canvas, column_left(plan, i), plan->top - 12, OCDM__ANCHOR_START, "strong", group->label);
        ocdm__output_text(canvas->out, "</g>\n");
    }
    ocdm__output_text(canvas->out, "</g>\n");
}

/* ---- a row --------------------------------------------------------------------------------------------------------------- */

static void draw_bar(const ocdm__canvas *canvas, const struct columns *plan, const ocdm__run_group *group,
                     const struct row *row, double x, double y)
{
    double value = precision_of(group, row);
    char text[24];
    ocdm__output_text(canvas->out, "<g role=\"cell\"");
    ocdm__put_mark(canvas, group->mark);
    if (!isfinite(value)) {
        ocdm__output_text(canvas->out, " aria-label=\"no test samples\"></g>\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f", value);
    double width = plan->bar * (value < 0 ? 0 : value > 100 ? 100 : value) / 100;
    ocdm__put(canvas->out, " aria-label=\"%s\"><rect class=\"f%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>",
              text, group->colour % OCDM__COLOURS, x, y, width > 0.5 ? width : 0.5, BAR);
    ocdm__put_plain(canvas->out, group->label, 40);
    ocdm__output_text(canvas->out, ", ");
    put_row_name(canvas->out, row, 60);
    ocdm__put(canvas->out, ": AP %s</title></rect>\n", text);
    if (plan->numbers)
        ocdm__draw_text(canvas, x + plan->bar + NUMBER - 2, y + 10, OCDM__ANCHOR_END, "small faint", text);
    ocdm__output_text(canvas->out, "</g>\n");
}

static void put_row_attributes(const ocdm__canvas *canvas, const struct row *row)
{
    if (!ocdm__canvas_is_page(canvas))
        return;
    ocdm__put(canvas->out, " data-high=\"%d\" data-c=\"", PITCH);
    for (size_t c = 0; c < row->count; c++) {
        ocdm__output_text(canvas->out, c > 0 ? " " : "");
        ocdm__put_plain(canvas->out, row->classes[c]->name, OCDM__CLASS_LIMIT);
    }
    ocdm__output_text(canvas->out, "\"");
}

static void draw_row(const ocdm__study *study, const ocdm__canvas *canvas, const struct columns *plan, const struct row *row,
                     double y)
{
    ocdm__output *out = canvas->out;
    char text[32];
    ocdm__output_text(out, "<g role=\"row\"");
    put_row_attributes(canvas, row);
    ocdm__put(out, ">\n<g role=\"rowheader\"><text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">", NAME_RIGHT,
              y + 10);
    put_row_name(out, row, NAME_LIMIT);
    ocdm__output_text(out, "</text></g>\n");
    ocdm__bar_kind_draw(canvas, ocdm__bar_kind_of(row->classes[0]), MARK_LEFT, y + 1, 9);
    ocdm__tick_text(row->classes[0]->train, text, sizeof text);
    ocdm__output_text(out, "<g role=\"cell\">");
    ocdm__draw_text(canvas, COUNT_RIGHT, y + 10, OCDM__ANCHOR_END, "small faint",
                    isfinite(row->classes[0]->train) ? text : "–");
    ocdm__output_text(out, "</g>\n");
    for (size_t i = 0; i < study->base_count; i++)
        draw_bar(canvas, plan, &study->groups[i], row, column_left(plan, i), y);
    ocdm__output_text(out, "</g>\n");
}

/* ---- the figure ---------------------------------------------------------------------------------------------------------- */

static bool has_precision(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t c = 0; c < study->class_count; c++)
            if (isfinite(ocdm__group_precision(&study->groups[i], c)))
                return true;
    return false;
}

static void draw_rows(const ocdm__study *study, const ocdm__study_class *const *classes, const ocdm__canvas *canvas)
{
    struct columns plan = plan_columns(study);
    size_t merged = merged_classes(study), rows = (study->class_count + merged - 1) / merged;
    ocdm__picture_begin_tables(canvas, OCDM__FIGURE_WIDTH, plan.top + PITCH * (double)rows + 6);
    ocdm__bar_kind_legend(canvas, study->classes, study->class_count);
    ocdm__output_text(canvas->out, "<g role=\"table\" aria-label=\"average precision of each class\">\n");
    draw_heads(study, canvas, &plan);
    for (size_t r = 0; r < rows; r++) {
        size_t first = r * merged, left = study->class_count - first;
        draw_row(study, canvas, &plan, &(struct row){classes + first, left < merged ? left : merged},
                 plan.top + PITCH * (double)r);
    }
    ocdm__output_text(canvas->out, "</g>\n");
    ocdm__picture_end(canvas);
}

static ocdm_status draw_classes(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    const ocdm__study_class **classes = sorted_classes(study);
    if (classes == NULL)
        return ocdm__fail_memory(error, "a figure");
    draw_rows(study, classes, canvas);
    ocdm__release((void *)classes);
    return OCDM_OK;
}

static ocdm_status csv_classes(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    const ocdm__study_class **classes = sorted_classes(study);
    if (classes == NULL)
        return ocdm__fail_memory(error, "a figure");
    ocdm__output_text(out, "class,group,training_samples,label,AP\n");
    for (size_t c = 0; c < study->class_count; c++)
        for (size_t i = 0; i < study->base_count; i++) {
            ocdm__put_csv(out, classes[c]->name);
            ocdm__output_text(out, ",");
            ocdm__put_csv(out, classes[c]->group);
            ocdm__put_csv_number(out, classes[c]->train);
            ocdm__output_text(out, ",");
            ocdm__put_csv(out, study->groups[i].label);
            ocdm__put_csv_number(out, ocdm__group_precision(&study->groups[i], classes[c]->column));
            ocdm__output_text(out, "\n");
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
    .is_there = has_precision,
    .draw = draw_classes,
    .write_csv = csv_classes,
};
