/* The kinds of tables and figures of the paper: their columns, their rows, how to read each, and the charts of each. */
#include "report/paper/paper.h"

#include "base/text.h"
#include "metrics/metrics.h"
#include "report/charts/chart.h"
#include "report/text.h"

/* One stream's part of a figure, and where it is drawn. */
struct drawing {
    const ocdm__paper_part *part;
    const ocdm__table *table;
    size_t first; /* its rows are from here to the end */
    ocdm__sheet *sheet;
};

/* The height of a chart of lines, lower than in the report since there are several. */
#define LOW_FIELD 190

static const char no_runs[] = "There are no runs with a network on this stream, so mAP is left out.";

/* Adds a point to the last series. The tables of these charts are not written: what the program prints has the same numbers. */
static void add_point(ocdm__chart *chart, double x, double y, double deviation)
{
    OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT("x", x), OCDM__EXACT("y", y), OCDM__EXACT("deviation", deviation));
}

/* A chart of bars has the mark across each where others have a deviation. */
static ocdm__chart begin_chart(enum ocdm__chart_kind kind, const char *y_what)
{
    ocdm__chart chart = {
        .kind = kind, .x = "x", .y = "y", .deviation = "deviation", .target = "deviation", .height = LOW_FIELD};
    snprintf(chart.y_what, sizeof chart.y_what, "%s", y_what);
    return chart;
}

/* Draws a chart, and clears it. */
static ocdm_status end_chart(ocdm__chart *chart, const struct drawing *drawing, const char *title, ocdm_error *error)
{
    ocdm__canvas canvas = ocdm__sheet_canvas(drawing->sheet, title);
    ocdm_status status = ocdm__chart_draw(chart, &canvas, error);
    ocdm__chart_clear(chart);
    return status;
}

static const char *text_at(const struct drawing *drawing, size_t row, size_t column)
{
    const ocdm__cell *cell = ocdm__table_at(drawing->table, row, column);
    return cell->kind == OCDM__CELL_TEXT ? cell->text : "";
}

static bool cells_are_same(const ocdm__cell *a, const ocdm__cell *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == OCDM__CELL_TEXT ? strcmp(a->text, b->text) == 0 : a->kind == OCDM__CELL_EMPTY || a->value == b->value;
}

/* The end of the rows that start at `row` and have equal values in the first `keys` columns. */
static size_t rows_end(const ocdm__table *table, size_t row, size_t columns)
{
    for (size_t end = row; end < table->row_count; end++)
        for (size_t k = 0; k < columns; k++)
            if (!cells_are_same(ocdm__table_at(table, row, k), ocdm__table_at(table, end, k)))
                return end;
    return table->row_count;
}

/* ---- in the stream ------------------------------------------------------------------------------------------------------ */

/* The bars of a stream's classes: by task, then in the stream's order. */
static void add_classes(ocdm__chart *chart, const ocdm__paper_part *part)
{
    for (size_t i = 0; i < part->class_count; i++) {
        const ocdm__paper_class *class = &part->classes[i];
        ocdm__chart_add_class(chart, class->name, class->group, (size_t) class->task, (double)class->task);
    }
}

static ocdm_status draw_stream(const struct drawing *drawing, ocdm_error *error)
{
    const ocdm__paper_part *part = drawing->part;
    const ocdm__statistics *statistics = &part->info->statistics;
    ocdm__chart chart = begin_chart(OCDM__CHART_BARS, "training samples");
    chart.is_log = true;
    add_classes(&chart, part);
    chart.section_count = 0;
    for (size_t i = 0; i < statistics->task_count; i++) {
        const ocdm__tally *task = &statistics->tasks[i];
        char name[40], setting[32];
        ocdm__task_text((double)task->task, name, sizeof name);
        snprintf(setting, sizeof setting, "task%zu", i + 1);
        double ours = ocdm__tally_amlr(task);
        double paper = ocdm__paper_number("amlr", part->stands_for, setting, "", "total", "AMLR");
        ocdm__series *panel = ocdm__chart_add_series(&chart, ocdm__cell_text(&chart.table, name).text, NULL, OCDM__INK(0));
        snprintf(panel->notes[0], sizeof panel->notes[0], "%zu classes", ocdm__tally_class_count(task));
        snprintf(panel->notes[1], sizeof panel->notes[1], "%llu samples", (unsigned long long)task->train);
        if (isfinite(ours))
            snprintf(panel->notes[2], sizeof panel->notes[2], "AMLR %.1f", ours);
        if (isfinite(ours) && isfinite(paper))
            ocdm__append(panel->notes[2], sizeof panel->notes[2], ", paper %.1f", paper);
        for (size_t c = 0; c < part->class_count; c++)
            add_point(&chart, (double)c, (double)ocdm__tally_class(task, part->classes[c].number).count, NAN);
    }
    return end_chart(&chart, drawing, "classes of each task", error);
}

/* ---- in memory ---------------------------------------------------------------------------------------------------------- */

/* Columns of the rows of this figure and of the curves. */
enum { METHOD = 1, ORDER = 2, KEPT = 7, TARGET = 8 };

/* What is beside the bars of rows [row, end): what the fullest and the emptiest class have, and the paper's claims about the
 * memory, which are about the default order of tasks. */
static void note_kept(const struct drawing *drawing, size_t row, size_t end, ocdm__series *panel)
{
    const char *order = text_at(drawing, row, ORDER);
    double fewest = INFINITY, most = -INFINITY;
    size_t lost = 0, note = 0;
    for (size_t k = row; k < end; k++) {
        double kept = ocdm__table_number(drawing->table, k, KEPT);
        fewest = kept < fewest ? kept : fewest;
        most = kept > most ? kept : most;
        lost += !(kept > 0);
    }
    if (drawing->part->item->orders)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "order %.30s", order);
    if (most >= fewest)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "fewest %.0f, most %.0f", fewest, most);
    if (lost > 0)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "%zu class%s lost", lost, lost > 1 ? "es" : "");
    for (const ocdm__paper_claim *claim = ocdm__paper_claims; claim->stream != NULL && note < 3 && order[0] == '\0'; claim++) {
        size_t found = 0;
        if (strcmp(claim->stream, drawing->part->stands_for) != 0 || strcmp(claim->method, panel->label) != 0)
            continue;
        for (size_t k = row; k < end; k++) {
            double kept = ocdm__table_number(drawing->table, k, KEPT);
            found += claim->more ? kept > claim->mark : kept < claim->mark;
        }
        snprintf(panel->notes[note++], sizeof panel->notes[0], "%s %u: %zu, paper %u", claim->more ? "over" : "under",
                 claim->mark, found, claim->classes);
    }
}

static ocdm_status draw_kept(const struct drawing *drawing, ocdm_error *error)
{
    ocdm__chart chart = begin_chart(OCDM__CHART_BARS, "samples in memory");
    chart.target_what = "equal share";
    chart.marks_lost = true;
    add_classes(&chart, drawing->part);
    for (size_t row = drawing->first, end; row < drawing->table->row_count; row = end) {
        const char *method = text_at(drawing, row, METHOD);
        end = rows_end(drawing->table, row, ORDER + 1);
        if (end - row != drawing->part->class_count)
            continue;
        note_kept(drawing, row, end, ocdm__chart_add_series(&chart, method, NULL, ocdm__method_colour(method)));
        for (size_t k = row; k < end; k++)
            add_point(&chart, (double)(k - row), ocdm__table_number(drawing->table, k, KEPT),
                      ocdm__table_number(drawing->table, k, TARGET));
    }
    return end_chart(&chart, drawing, "classes in memory", error);
}

/* ---- one step (Figure 1) ------------------------------------------------------------------------------------------------ */

#define STEP_FIELD 150

/* Samples with a class: in memory before, those that join, those that leave, in memory after. */
enum moment { BEFORE, JOINS, LEAVES, AFTER, MOMENTS };

/* A bar for each class that is in the pool; one that a panel has no samples of has none there. The target is the mean of the
 * bars that are there. */
static void add_step_panels(ocdm__chart *chart, const ocdm__paper_part *part, const double (*counts)[MOMENTS],
                            const size_t samples[MOMENTS])
{
    static const char *const labels[MOMENTS] = {"memory before", "a batch joins", "samples leave", "memory after"};
    for (size_t i = 0; i < part->class_count; i++) {
        const ocdm__paper_class *class = &part->classes[i];
        if (counts[class->number][BEFORE] + counts[class->number][JOINS] > 0)
            ocdm__chart_add_class(chart, class->name, class->group, (size_t) class->task, (double)class->task);
    }
    for (int moment = 0; moment < MOMENTS; moment++) {
        ocdm__series *panel = ocdm__chart_add_series(chart, labels[moment], NULL, OCDM__INK(0));
        bool is_memory = moment == BEFORE || moment == AFTER;
        double sum = 0, there = 0;
        size_t bar = 0;
        for (size_t i = 0; i < part->class_count; i++) {
            sum += counts[part->classes[i].number][moment];
            there += counts[part->classes[i].number][moment] > 0;
        }
        if (!is_memory)
            snprintf(panel->notes[0], sizeof panel->notes[0], "%zu sample%s", samples[moment], samples[moment] == 1 ? "" : "s");
        for (size_t i = 0; i < part->class_count; i++) {
            const double *class = counts[part->classes[i].number];
            if (class[BEFORE] + class[JOINS] > 0)
                add_point(chart, (double)bar++, class[moment] > 0 ? class[moment] : NAN, is_memory ? sum / there : NAN);
        }
    }
}

static ocdm_status draw_process(const struct drawing *drawing, ocdm_error *error)
{
    const ocdm__paper_part *part = drawing->part;
    const ocdm__stream_table *table = &part->info->stream.table;
    const ocdm__process *process = &part->process;
    double(*counts)[MOMENTS];
    size_t samples[MOMENTS] = {0};
    char text[80];
    OCDM_TRY(ocdm__new(&counts, table->class_count, sizeof *counts, "a figure", error));
    for (const ocdm__process_event *event = process->events; event < process->events + process->event_count; event++) {
        samples[event->joins ? JOINS : LEAVES]++;
        for (uint64_t k = table->label_starts[event->sample]; k < table->label_starts[event->sample + 1]; k++)
            counts[table->labels[k]][event->joins ? JOINS : LEAVES]++;
    }
    for (size_t c = 0; c < table->class_count; c++) {
        counts[c][AFTER] = (double)process->counts[c];
        counts[c][BEFORE] = counts[c][AFTER] + counts[c][LEAVES] - counts[c][JOINS];
    }
    ocdm__chart panels = begin_chart(OCDM__CHART_BARS, "samples with the class");
    panels.target_what = "equal share";
    panels.own_scales = true;
    add_step_panels(&panels, part, (const double(*)[MOMENTS])counts, samples);
    ocdm__release(counts);
    snprintf(text, sizeof text, "step %llu of the stream, a memory of %d samples", (unsigned long long)process->step,
             OCDM__PROCESS_MEMORY);
    ocdm__sheet_line(drawing->sheet, false, text);
    OCDM_TRY(end_chart(&panels, drawing, "the memory before and after", error));
    ocdm__chart chart = begin_chart(OCDM__CHART_DOTS, "distance (KL)");
    chart.x_what = "the samples that leave, one after another";
    chart.height = STEP_FIELD;
    ocdm__chart_add_series(&chart, "ocdm", NULL, ocdm__method_colour("ocdm"));
    for (const ocdm__process_event *event = process->events; event < process->events + process->event_count; event++) {
        char name[40] = "all have joined";
        if (isnan(event->distance))
            continue;
        if (!event->joins)
            ocdm__paper_labels(table, event->sample, ", ", name, sizeof name);
        add_point(&chart, (double)chart.name_count, event->distance, NAN);
        ocdm__chart_add_name(&chart, name);
    }
    return end_chart(&chart, drawing, "the distance, sample by sample", error);
}

/* ---- curves ------------------------------------------------------------------------------------------------------------- */

/* Columns of the rows, after the method and the order. */
enum { CURVE = 3, CURVE_X = 4, VALUE = 5, VALUE_DEVIATION = 6 };

/* The tally of the task at position `turn`. `order` is a list as in the flag, "" for ascending tasks. NULL when there is
 * none. */
static const ocdm__tally *task_at(const ocdm__statistics *statistics, const char *order, size_t turn)
{
    uint64_t task = 0;
    if (order[0] == '\0')
        return turn < statistics->task_count ? &statistics->tasks[turn] : NULL;
    for (size_t i = 0; i <= turn; i++) {
        char *end;
        task = strtoull(order, &end, 10);
        if (end == order)
            return NULL;
        order = *end == ',' ? end + 1 : end;
    }
    for (size_t i = 0; i < statistics->task_count; i++)
        if (statistics->tasks[i].task == task)
            return &statistics->tasks[i];
    return NULL;
}

static bool is_curve(const struct drawing *drawing, size_t row, const char *series)
{
    return row < drawing->table->row_count && strcmp(text_at(drawing, row, CURVE), series) == 0;
}

/* Adds the line that starts at `row`. Returns its end. */
static size_t add_line(ocdm__chart *chart, const struct drawing *drawing, size_t row)
{
    const char *method = text_at(drawing, row, METHOD);
    size_t end = rows_end(drawing->table, row, CURVE + 1);
    ocdm__chart_add_series(chart, method, NULL, ocdm__method_colour(method));
    for (; row < end; row++)
        add_point(chart, ocdm__table_number(drawing->table, row, CURVE_X) - (chart->names != NULL ? 1 : 0),
                  ocdm__table_number(drawing->table, row, VALUE), ocdm__table_number(drawing->table, row, VALUE_DEVIATION));
    return end;
}

/* mAP after each task, the first rows of the part; advances `row` past them. */
static ocdm_status draw_map(const struct drawing *drawing, size_t *row, ocdm_error *error)
{
    const ocdm__statistics *statistics = &drawing->part->info->statistics;
    const char *order = text_at(drawing, drawing->first, ORDER);
    ocdm__chart chart = begin_chart(OCDM__CHART_DOTS, "total " OCDM__MAP_AXIS);
    chart.x_what = "evaluated after";
    chart.mark_what = "the paper";
    for (size_t turn = 0; turn < statistics->task_count && task_at(statistics, order, turn) != NULL; turn++) {
        char name[40] = "+ ";
        ocdm__task_text((double)task_at(statistics, order, turn)->task, name + (turn == 0 ? 0 : 2), sizeof name - 2);
        ocdm__chart_add_name(&chart, name);
    }
    while (is_curve(drawing, *row, OCDM__MAP_NAME)) {
        const char *method = text_at(drawing, *row, METHOD);
        *row = add_line(&chart, drawing, *row);
        /* The paper's total mAP of a method at the end of its stream, beside the last point of our line. */
        const char *stream = drawing->part->stands_for;
        double total = ocdm__paper_number(stream, stream, "", method, "total", OCDM__MAP_NAME);
        if (isfinite(total) && !chart.table.texts.failed)
            ocdm__chart_add_mark(&chart, (ocdm__chart_mark){ocdm__table_number(&chart.table, chart.table.row_count - 1, 1),
                                                            total, ocdm__method_colour(method), false});
    }
    return end_chart(&chart, drawing, "mAP after each task", error);
}

/* The distances in one order of the tasks, which begin where a batch of another task does; advances `row` past them. All charts
 * of a stream have the same vertical range, so that they can be compared. */
static ocdm_status draw_order(const struct drawing *drawing, size_t *row, const double reach[2], ocdm_error *error)
{
    const ocdm__statistics *statistics = &drawing->part->info->statistics;
    const char *order = text_at(drawing, *row, ORDER);
    uint64_t batch = ocdm_options_default().batch, step = 0;
    char title[OCDM__TABLE_TEXT + 60];
    ocdm__chart chart = begin_chart(OCDM__CHART_LINES, "distance (KL)");
    chart.x_what = "training steps";
    chart.y_reach[0] = reach[0];
    chart.y_reach[1] = reach[1];
    chart.is_log = true;
    for (size_t turn = 0; turn < statistics->task_count && task_at(statistics, order, turn) != NULL; turn++) {
        char name[40];
        ocdm__task_text((double)task_at(statistics, order, turn)->task, name, sizeof name);
        ocdm__chart_add_section(&chart, (double)step, name);
        step += (task_at(statistics, order, turn)->train + batch - 1) / batch;
    }
    snprintf(title, sizeof title, "distance step by step%s%s", order[0] != '\0' ? ", tasks in the order " : "", order);
    if (order[0] != '\0')
        ocdm__sheet_line(drawing->sheet, false, title + strlen("distance step by step, "));
    while (*row < drawing->table->row_count && strcmp(text_at(drawing, *row, ORDER), order) == 0)
        *row = add_line(&chart, drawing, *row);
    return end_chart(&chart, drawing, title, error);
}

static ocdm_status draw_curves(const struct drawing *drawing, ocdm_error *error)
{
    double reach[2] = {INFINITY, 0};
    size_t row = drawing->first;
    if (is_curve(drawing, row, OCDM__MAP_NAME))
        OCDM_TRY(draw_map(drawing, &row, error));
    else if (drawing->part->item->kind == OCDM__PAPER_CURVES)
        ocdm__sheet_line(drawing->sheet, false, no_runs);
    for (size_t k = row; k < drawing->table->row_count; k++) {
        double value = ocdm__table_number(drawing->table, k, VALUE);
        reach[0] = value > 0 && value < reach[0] ? value : reach[0];
        reach[1] = value > reach[1] ? value : reach[1];
    }
    while (row < drawing->table->row_count)
        OCDM_TRY(draw_order(drawing, &row, reach, error));
    return OCDM_OK;
}

/* ---- rho ---------------------------------------------------------------------------------------------------------------- */

/* Columns of the rows. */
enum { RHO = 1, GROUP = 2, KEPT_PER_CLASS = 4, MAP = 5, MAP_DEVIATION = 6 };

/* A line for each group of classes whose trend the paper shows, beside mAP the paper's at rho 0: its main result. */
static ocdm_status draw_groups(const struct drawing *drawing, bool is_map, ocdm_error *error)
{
    const char *stream = drawing->part->stands_for;
    ocdm__chart chart = begin_chart(OCDM__CHART_DOTS, is_map ? OCDM__MAP_AXIS : "samples per class");
    chart.x_what = "rho";
    chart.mark_what = is_map ? "the paper" : NULL;
    for (size_t i = 0; i < OCDM__PAPER_TRENDS; i++) {
        const ocdm__paper_trend *trend = &ocdm__paper_trends[i];
        double paper = ocdm__paper_number(stream, stream, "", "ocdm", trend->group, OCDM__MAP_NAME);
        char label[40];
        snprintf(label, sizeof label, "%s (paper: %s)", trend->group, trend->sign > 0 ? "rises" : "falls");
        ocdm__chart_add_series(&chart, ocdm__cell_text(&chart.table, label).text, NULL, OCDM__INK(i));
        for (size_t row = drawing->first; row < drawing->table->row_count; row++)
            if (strcmp(text_at(drawing, row, GROUP), trend->group) == 0)
                add_point(&chart, ocdm__table_number(drawing->table, row, RHO),
                          ocdm__table_number(drawing->table, row, is_map ? MAP : KEPT_PER_CLASS),
                          is_map ? ocdm__table_number(drawing->table, row, MAP_DEVIATION) : NAN);
        if (is_map && isfinite(paper))
            ocdm__chart_add_mark(&chart, (ocdm__chart_mark){0, paper, OCDM__INK(i), false});
    }
    return end_chart(&chart, drawing, is_map ? "mAP against rho" : "samples kept against rho", error);
}

static ocdm_status draw_rho(const struct drawing *drawing, ocdm_error *error)
{
    size_t row = drawing->first;
    while (row < drawing->table->row_count && !isfinite(ocdm__table_number(drawing->table, row, MAP)))
        row++;
    if (row < drawing->table->row_count)
        OCDM_TRY(draw_groups(drawing, true, error));
    else
        ocdm__sheet_line(drawing->sheet, false, no_runs);
    return draw_groups(drawing, false, error);
}

/* ---- the kinds ---------------------------------------------------------------------------------------------------------- */

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

typedef ocdm_status drawer(const struct drawing *drawing, ocdm_error *error);

/* A row for each kind; the kinds that are tables have no picture. */
static const struct {
    const char *keys[11]; /* of the columns */
    ocdm__paper_filler *fill;
    const char *reading;
    const char *reading_of_orders; /* when the item has several orders of tasks; NULL: the same */
    drawer *draw;
} kinds[] = {
    [OCDM__PAPER_AMLR] = {{"stream", "task", "ours", "paper"}, ocdm__paper_fill_amlr, NULL, NULL, NULL},
    [OCDM__PAPER_METRICS] = {{"stream", "setting", "method", "group", "metric", "ours", "ours_std", "n", "paper", "paper_std"},
                             ocdm__paper_fill_metrics,
                             NULL,
                             NULL,
                             NULL},
    [OCDM__PAPER_PROCESS] =
        {{"step", "event", "id", "labels", "distance"}, ocdm__paper_fill_process, process_reading, NULL, draw_process},
    [OCDM__PAPER_STREAM] =
        {{"stream", "task", "class", "group", "samples"}, ocdm__paper_fill_stream, stream_reading, NULL, draw_stream},
    [OCDM__PAPER_KEPT] = {{"stream", "method", "order", "task", "class", "group", "seen", "kept", "target"},
                          ocdm__paper_fill_kept,
                          kept_reading,
                          kept_orders_reading,
                          draw_kept},
    [OCDM__PAPER_CURVES] = {{"stream", "method", "order", "series", "x", "value", "std"},
                            ocdm__paper_fill_evaluations,
                            curves_reading,
                            NULL,
                            draw_curves},
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
    [OCDM__PAPER_RHO] = {{"stream", "rho", "group", "kept", "kept_per_class", OCDM__MAP_NAME, OCDM__MAP_NAME "_std"},
                         ocdm__paper_fill_rho,
                         rho_reading,
                         NULL,
                         draw_rho},
    [OCDM__PAPER_DISTANCE] = {{"stream", "method", "order", "series", "x", "value", "std"},
                              ocdm__paper_fill_distances,
                              distance_reading,
                              NULL,
                              draw_curves},
    [OCDM__PAPER_CLAIMS] = {{"stream", "claim", "ours", "paper"}, ocdm__paper_fill_claims, NULL, NULL, NULL},
};

ocdm_status ocdm__paper_table_begin(ocdm__table *table, enum ocdm__paper_kind kind, ocdm_error *error)
{
    return ocdm__table_begin_keys(table, kinds[kind].keys, error);
}

ocdm_status ocdm__paper_fill(ocdm__table *table, const ocdm__paper_part *part, ocdm_error *error)
{
    return kinds[part->item->kind].fill(table, part, error);
}

const char *ocdm__paper_reading(const ocdm__paper_item *item)
{
    const char *of_orders = kinds[item->kind].reading_of_orders;
    return item->orders && of_orders != NULL ? of_orders : kinds[item->kind].reading;
}

bool ocdm__paper_is_figure(const ocdm__paper_item *item)
{
    return ocdm__paper_reading(item) != NULL;
}

ocdm_status ocdm__paper_draw(ocdm__sheet *sheet, const ocdm__paper_part *part, const ocdm__table *table, size_t first,
                             ocdm_error *error)
{
    const struct drawing drawing = {part, table, first, sheet};
    bool stands_in = strcmp(part->label, part->stands_for) != 0;
    char text[200];
    snprintf(text, sizeof text, "%.60s%s%.60s", part->label, stands_in ? ", in place of " : "",
             stands_in ? part->stands_for : "");
    ocdm__sheet_line(sheet, true, text);
    drawer *draw = kinds[part->item->kind].draw;
    return draw != NULL ? draw(&drawing, error) : OCDM_OK;
}
