/* The kinds of the paper's figures: how each is drawn and how to read it. */
#include "report/figures/paper.h"

#include <stdio.h>
#include <string.h>

static const char kept_reading[] =
    "Each bar is a class: how many samples in memory carry it at the end of the stream, mean over seeds. The mark across it is "
    "an equal share of all labels in memory: the closer the bars are to it, the better the balance. Colours show how frequent "
    "the class is in the stream; classes are grouped by their task. Beside the bars: how many classes have more or "
    "fewer samples than a mark that the paper's text names, ours and the paper's.";

static const char kept_orders_reading[] =
    "Each bar is a class: how many samples in memory carry it at the end of the stream, mean over seeds, a panel for each "
    "order of the tasks. The mark across it is an equal share of all labels in memory. Classes are in the same order in "
    "all panels: panels that look alike mean that the order of the tasks does not matter.";

static const char curves_reading[] =
    "Above, mAP over the test samples of all tasks so far, after each task: higher is better, and how little a line falls "
    "shows how little is forgotten. Bars are one standard deviation over seeds to either side; hollow marks are the paper's "
    "numbers at the end. Below, the distance of the memory to equal shares over all classes seen (first seed, logarithmic): "
    "lower is better, and new classes arrive where a dashed line marks the next task.";

static const char rho_reading[] =
    "The target gives a class a share that grows with its count in the stream to the power rho: 0 asks for equal shares, 1 for "
    "those of the stream. Above, mAP of each group of classes, hollow marks being the paper's numbers at rho 0; below, samples "
    "in memory per class, mean over the classes of a group. In brackets: whether the paper's lines rise or fall. Bars are one "
    "standard deviation over seeds to either side.";

static const char distance_reading[] =
    "The distance of the memory to equal shares over all classes seen, step by step, a chart for each order of the tasks "
    "(first seed, logarithmic): lower is better. New classes arrive where a dashed line marks the next task, so the distance "
    "jumps there; what counts is how far down a line comes after that.";

static const char stream_reading[] =
    "How many training samples of each task carry each class. The scale is logarithmic: a step from one number to the next "
    "is ten times as many samples. AMLR is the average multi-label ratio: of the samples of a class, how many percent carry "
    "others too, mean over classes; ours, then the paper's.";

static const char process_reading[] =
    "One step of OCDM, from top to bottom: what a full memory holds of each class, the batch that joins it, the samples that "
    "leave one after another, and what is left. The mark across a bar is an equal share of all labels. The lines below show "
    "the distance to equal shares over the classes in the pool: with the whole batch in it, then after each sample that "
    "left, which is named by its classes. Each time that sample leaves whose leaving brings the distance down furthest.";

/* A row for each kind of figure; the kinds that are tables have none. */
static const struct {
    const char *reading;
    const char *reading_of_orders; /* when the item has several orders of tasks; NULL: the same */
    ocdm_status (*draw)(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error);
} kinds[] = {
    [OCDM__PAPER_PROCESS] = {process_reading, NULL, ocdm__paper_draw_process},
    [OCDM__PAPER_STREAM] = {stream_reading, NULL, ocdm__paper_draw_stream},
    [OCDM__PAPER_KEPT] = {kept_reading, kept_orders_reading, ocdm__paper_draw_kept},
    [OCDM__PAPER_CURVES] = {curves_reading, NULL, ocdm__paper_draw_curves},
    [OCDM__PAPER_RHO] = {rho_reading, NULL, ocdm__paper_draw_rho},
    [OCDM__PAPER_DISTANCE] = {distance_reading, NULL, ocdm__paper_draw_curves},
    [OCDM__PAPER_CLAIMS] = {NULL, NULL, NULL},
};

const char *ocdm__paper_reading(const ocdm__paper_item *item)
{
    const char *of_orders = kinds[item->kind].reading_of_orders;
    return item->orders && of_orders != NULL ? of_orders : kinds[item->kind].reading;
}

bool ocdm__paper_is_figure(const ocdm__paper_item *item)
{
    return ocdm__paper_reading(item) != NULL;
}

static bool cells_are_same(const ocdm__cell *a, const ocdm__cell *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == OCDM__CELL_TEXT ? strcmp(a->text, b->text) == 0 : a->kind == OCDM__CELL_EMPTY || a->value == b->value;
}

size_t ocdm__paper_rows_end(const ocdm__table *table, size_t row, size_t keys)
{
    for (size_t end = row; end < table->row_count; end++)
        for (size_t k = 0; k < keys; k++)
            if (!cells_are_same(ocdm__table_at(table, row, k), ocdm__table_at(table, end, k)))
                return end;
    return table->row_count;
}

static void put_heading(ocdm__sheet *sheet, const ocdm__stand_in *source)
{
    char text[200];
    bool stands_in = strcmp(source->label, source->stands_for) != 0;
    snprintf(text, sizeof text, "%.60s%s%.60s", source->label, stands_in ? ", in place of " : "",
             stands_in ? source->stands_for : "");
    ocdm__sheet_heading(sheet, text);
}

ocdm_status ocdm__paper_draw(ocdm__sheet *sheet, const ocdm__paper_item *item, const ocdm__stand_in *source,
                             const ocdm__table *table, size_t first, ocdm_error *error)
{
    ocdm__paper_part part = {item, source, table, first};
    put_heading(sheet, source);
    return kinds[item->kind].draw != NULL ? kinds[item->kind].draw(&part, sheet, error) : OCDM_OK;
}
