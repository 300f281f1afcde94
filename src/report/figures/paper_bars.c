/* The figures of classes: in the tasks of a stream, in memory, and in one step of OCDM (Figure 1). */
#include "report/figures/paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/paper/process.h"
#include "report/figures/lines.h"
#include "report/tables/paper_numbers.h"

/* ---- classes ------------------------------------------------------------------------------------------------------------ */

/* The index of a task in the order; a new task is appended. */
static size_t turn_of(ocdm__paper_bars *bars, uint64_t task)
{
    ocdm__numbers *order = &bars->list.order;
    if (order->count == 0 || order->values[order->count - 1] != (double)task)
        order->values[order->count++] = (double)task;
    return order->count - 1;
}

ocdm_status ocdm__paper_bars_make(ocdm__paper_bars *bars, const ocdm__stream_info *info, ocdm_error *error)
{
    size_t count = 0;
    ocdm_status status = ocdm__paper_classes(info, &bars->numbers, &count, error);
    if (status != OCDM_OK)
        return status;
    bars->classes = ocdm__allocate(count, sizeof *bars->classes);
    bars->tasks = ocdm__allocate(count, sizeof *bars->tasks);
    if (bars->classes == NULL || bars->tasks == NULL)
        return ocdm__fail_memory(error, "a figure");
    bars->list = (ocdm__class_list){.classes = bars->classes, .count = count, .order = {.values = bars->tasks}};
    for (size_t i = 0; i < count; i++)
        bars->classes[i] = (ocdm__study_class){.name = bars->numbers[i].name,
                                               .group = bars->numbers[i].group,
                                               .column = bars->numbers[i].number,
                                               .turn = turn_of(bars, bars->numbers[i].task)};
    return OCDM_OK;
}

void ocdm__paper_bars_clear(ocdm__paper_bars *bars)
{
    ocdm__release(bars->classes);
    ocdm__release(bars->numbers);
    ocdm__release(bars->tasks);
    *bars = (ocdm__paper_bars){.tasks = NULL};
}

/* ---- in the stream ------------------------------------------------------------------------------------------------------ */

static double count_in_task(const void *task, const ocdm__study_class *class)
{
    return (double)ocdm__tally_class(task, class->column).count;
}

static void note_task(const ocdm__stand_in *source, size_t number, ocdm__panel *panel)
{
    const ocdm__tally *task = &source->info->statistics.tasks[number];
    char setting[32];
    snprintf(setting, sizeof setting, "task%zu", number + 1);
    ocdm__paper_line line = ocdm__paper_line_find("amlr", source->stands_for, setting, "");
    double ours = ocdm__tally_amlr(task), paper = ocdm__paper_line_number(&line, "total", "AMLR");
    snprintf(panel->notes[0], sizeof panel->notes[0], "%zu classes", ocdm__tally_class_count(task));
    snprintf(panel->notes[1], sizeof panel->notes[1], "%llu samples", (unsigned long long)task->train);
    if (isfinite(ours))
        snprintf(panel->notes[2], sizeof panel->notes[2], "AMLR %.1f", ours);
    size_t used = strlen(panel->notes[2]);
    if (used > 0 && isfinite(paper))
        snprintf(panel->notes[2] + used, sizeof panel->notes[2] - used, ", paper %.1f", paper);
}

ocdm_status ocdm__paper_draw_stream(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error)
{
    const ocdm__statistics *statistics = &part->source->info->statistics;
    ocdm__panels panels = {.y_what = "training samples", .is_log = true};
    ocdm__paper_bars bars = {.tasks = NULL};
    char(*names)[40] = ocdm__allocate(statistics->task_count, sizeof *names);
    ocdm_status status =
        names == NULL ? ocdm__fail_memory(error, "a figure") : ocdm__paper_bars_make(&bars, part->source->info, error);
    if (status == OCDM_OK)
        status = ocdm__class_panels_begin(&panels, &bars.list, error);
    panels.section_count = 0;
    for (size_t i = 0; status == OCDM_OK && i < statistics->task_count; i++) {
        ocdm__task_text((double)statistics->tasks[i].task, names[i], sizeof names[i]);
        ocdm__panel *panel = ocdm__panels_add(&panels, names[i]);
        if (panel == NULL) {
            status = ocdm__fail_memory(error, "a figure");
            break;
        }
        ocdm__class_panels_fill(&bars.list, panel->values, count_in_task, &statistics->tasks[i]);
        note_task(part->source, i, panel);
    }
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "classes of each task");
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, &canvas);
    ocdm__panels_clear(&panels);
    ocdm__paper_bars_clear(&bars);
    ocdm__release(names);
    return status;
}

/* ---- in memory ---------------------------------------------------------------------------------------------------------- */

/* Columns of the table. */
enum { METHOD = 1, ORDER = 2, KEPT = 7, TARGET = 8 };

/* Rows of one method and order: a row for each class. */
struct rows {
    const ocdm__table *table;
    size_t first;
    const ocdm__class_list *list;
};

static double number_in(const struct rows *rows, const ocdm__study_class *class, size_t column)
{
    const ocdm__cell *cell = ocdm__table_at(rows->table, rows->first + (size_t)(class - rows->list->classes), column);
    return cell->kind == OCDM__CELL_NUMBER ? cell->value : NAN;
}

static double kept_of(const void *rows, const ocdm__study_class *class)
{
    return number_in(rows, class, KEPT);
}

static double target_of(const void *rows, const ocdm__study_class *class)
{
    return number_in(rows, class, TARGET);
}

static double classes_beyond(const struct rows *rows, const ocdm__paper_claim *claim)
{
    double found = 0;
    for (size_t i = 0; i < rows->list->count; i++) {
        double kept = kept_of(rows, &rows->list->classes[i]);
        found += claim->more ? kept > claim->mark : kept < claim->mark;
    }
    return found;
}

/* The paper's claims about the memory, in the panel's notes from number `note` on. They are about the default order of
 * tasks. */
static void note_claims(const ocdm__paper_part *part, const struct rows *rows, ocdm__panel *panel, size_t note)
{
    const char *order = ocdm__table_at(rows->table, rows->first, ORDER)->text;
    for (size_t i = 0; ocdm__paper_claim_at(i) != NULL && note < 3 && order[0] == '\0'; i++) {
        const ocdm__paper_claim *claim = ocdm__paper_claim_at(i);
        if (strcmp(claim->stream, part->source->stands_for) == 0 && strcmp(claim->method, panel->label) == 0)
            snprintf(panel->notes[note++], sizeof panel->notes[0], "%s %u: %.0f, paper %u", claim->more ? "over" : "under",
                     claim->mark, classes_beyond(rows, claim), claim->classes);
    }
}

static void note_kept(const ocdm__paper_part *part, const struct rows *rows, ocdm__panel *panel)
{
    double fewest = INFINITY, most = -INFINITY, lost = 0;
    for (size_t i = 0; i < rows->list->count; i++) {
        double kept = kept_of(rows, &rows->list->classes[i]);
        fewest = kept < fewest ? kept : fewest;
        most = kept > most ? kept : most;
        lost += !(kept > 0);
    }
    size_t note = 0;
    const char *order = ocdm__table_at(rows->table, rows->first, ORDER)->text;
    if (part->item->orders)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "order %.30s", order);
    if (most >= fewest)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "fewest %.0f, most %.0f", fewest, most);
    if (lost > 0)
        snprintf(panel->notes[note++], sizeof panel->notes[0], "%.0f class%s lost", lost, lost > 1 ? "es" : "");
    note_claims(part, rows, panel, note);
}

static ocdm_status add_panel(const ocdm__paper_part *part, const struct rows *rows, ocdm__panels *panels, ocdm_error *error)
{
    ocdm__panel *panel = ocdm__panels_add(panels, ocdm__table_at(rows->table, rows->first, METHOD)->text);
    if (panel == NULL)
        return ocdm__fail_memory(error, "a figure");
    panel->colour = (int)ocdm__method_colour(panel->label);
    ocdm__class_panels_fill(rows->list, panel->values, kept_of, rows);
    ocdm__class_panels_fill(rows->list, panel->targets, target_of, rows);
    note_kept(part, rows, panel);
    return OCDM_OK;
}

ocdm_status ocdm__paper_draw_kept(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error)
{
    ocdm__panels panels = {.y_what = "samples in memory", .target_what = "equal share", .marks_lost = true};
    ocdm__paper_bars bars = {.tasks = NULL};
    ocdm_status status = ocdm__paper_bars_make(&bars, part->source->info, error);
    if (status == OCDM_OK)
        status = ocdm__class_panels_begin(&panels, &bars.list, error);
    for (size_t row = part->first, end; status == OCDM_OK && row < part->table->row_count; row = end) {
        struct rows rows = {part->table, row, &bars.list};
        end = ocdm__paper_rows_end(part->table, row, ORDER + 1);
        if (end - row == bars.list.count)
            status = add_panel(part, &rows, &panels, error);
    }
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "classes in memory");
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, &canvas);
    ocdm__panels_clear(&panels);
    ocdm__paper_bars_clear(&bars);
    return status;
}

/* ---- one step (Figure 1) ------------------------------------------------------------------------------------------------ */

#define CAPACITY 1000
#define FIELD 150

/* Samples of each class that join and leave, and what is there before and after. */
struct counts {
    double *joins, *leaves, *before, *after; /* by class number; one block */
};

static ocdm_status make_counts(struct counts *counts, const ocdm__process *process, const ocdm__stream_table *table,
                               ocdm_error *error)
{
    size_t classes = table->class_count;
    counts->joins = ocdm__allocate(classes, 4 * sizeof *counts->joins);
    if (counts->joins == NULL)
        return ocdm__fail_memory(error, "a figure");
    counts->leaves = counts->joins + classes;
    counts->before = counts->leaves + classes;
    counts->after = counts->before + classes;
    memset(counts->joins, 0, 2 * classes * sizeof *counts->joins);
    for (size_t i = 0; i < process->event_count; i++) {
        uint32_t sample = process->events[i].sample;
        for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1]; k++)
            (process->events[i].joins ? counts->joins : counts->leaves)[table->labels[k]]++;
    }
    for (size_t c = 0; c < classes; c++) {
        counts->after[c] = (double)process->counts[c];
        counts->before[c] = counts->after[c] + counts->leaves[c] - counts->joins[c];
    }
    return OCDM_OK;
}

/* Leaves the classes that are in the pool. */
static void keep_classes(ocdm__paper_bars *bars, const struct counts *counts)
{
    size_t kept = 0;
    for (size_t i = 0; i < bars->list.count; i++)
        if (counts->before[bars->classes[i].column] + counts->joins[bars->classes[i].column] > 0)
            bars->classes[kept++] = bars->classes[i];
    bars->list.count = kept;
}

/* ---- panels ------------------------------------------------------------------------------------------------------------- */

/* A class without samples has no bar. */
static double count_of(const void *counts, const ocdm__study_class *class)
{
    double count = ((const double *)counts)[class->column];
    return count > 0 ? count : NAN;
}

/* The mean of the bars that are there. */
static double equal_share(const ocdm__class_list *list, const double *counts)
{
    double sum = 0, classes = 0;
    for (size_t i = 0; i < list->count; i++) {
        sum += counts[list->classes[i].column];
        classes += counts[list->classes[i].column] > 0;
    }
    return sum / classes;
}

static ocdm_status add_step_panel(ocdm__panels *panels, const ocdm__class_list *list, const char *label, const double *counts,
                                  bool has_target, ocdm_error *error)
{
    ocdm__panel *panel = ocdm__panels_add(panels, label);
    if (panel == NULL)
        return ocdm__fail_memory(error, "a figure");
    ocdm__class_panels_fill(list, panel->values, count_of, counts);
    double share = equal_share(list, counts);
    for (size_t i = 0; has_target && i < panels->bar_count; i++)
        panel->targets[i] = share;
    return OCDM_OK;
}

/* "10 samples", in the notes of the last panel. */
static void note_samples(ocdm__panels *panels, const ocdm__process *process, bool joins)
{
    ocdm__panel *panel = &panels->panels[panels->panel_count - 1];
    size_t samples = 0;
    for (size_t i = 0; i < process->event_count; i++)
        samples += process->events[i].joins == joins;
    snprintf(panel->notes[0], sizeof panel->notes[0], "%zu sample%s", samples, samples == 1 ? "" : "s");
}

static ocdm_status draw_step_panels(const ocdm__class_list *list, const ocdm__process *process, const struct counts *counts,
                                    ocdm__sheet *sheet, ocdm_error *error)
{
    ocdm__panels panels = {.y_what = "samples with the class", .target_what = "equal share", .own_scales = true};
    ocdm_status status = ocdm__class_panels_begin(&panels, list, error);
    if (status == OCDM_OK)
        status = add_step_panel(&panels, list, "memory before", counts->before, true, error);
    if (status == OCDM_OK)
        status = add_step_panel(&panels, list, "a batch joins", counts->joins, false, error);
    if (status == OCDM_OK)
        note_samples(&panels, process, true);
    if (status == OCDM_OK)
        status = add_step_panel(&panels, list, "samples leave", counts->leaves, false, error);
    if (status == OCDM_OK)
        note_samples(&panels, process, false);
    if (status == OCDM_OK)
        status = add_step_panel(&panels, list, "memory after", counts->after, true, error);
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "the memory before and after");
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, &canvas);
    ocdm__panels_clear(&panels);
    return status;
}

/* ---- the distance ------------------------------------------------------------------------------------------------------- */

/* The classes of a sample, truncated to the room; the drawing shows fewer characters than that. */
static void name_sample(const ocdm__stream_table *table, uint32_t sample, char *name, size_t room)
{
    size_t used = 0;
    name[0] = '\0';
    for (uint64_t k = table->label_starts[sample]; k < table->label_starts[sample + 1] && used < room; k++) {
        size_t length;
        const char *label = ocdm__text_at(&table->classes, table->labels[k], &length);
        used +=
            (size_t)snprintf(name + used, room - used, "%s%.*s", used > 0 ? ", " : "", (int)(length < 40 ? length : 40), label);
    }
}

static ocdm_status draw_step_distance(const ocdm__process *process, const ocdm__stream_table *table, ocdm__sheet *sheet,
                                      ocdm_error *error)
{
    ocdm__chart chart = {.x_what = "the samples that leave, one after another",
                         .y_what = "distance (KL)",
                         .height = FIELD,
                         .dotted = true,
                         .names = ocdm__allocate(process->event_count, sizeof *chart.names)};
    ocdm__chart_line *line = chart.names != NULL ? ocdm__chart_add(&chart, "ocdm", 0, process->event_count) : NULL;
    ocdm_status status = line != NULL ? OCDM_OK : ocdm__fail_memory(error, "a figure");
    for (size_t i = 0; status == OCDM_OK && i < process->event_count; i++) {
        const ocdm__process_event *event = &process->events[i];
        if (isnan(event->distance))
            continue;
        char *name = chart.names[chart.name_count];
        if (event->joins)
            snprintf(name, sizeof *chart.names, "all have joined");
        else
            name_sample(table, event->sample, name, sizeof *chart.names);
        line->x[chart.name_count] = (double)chart.name_count;
        line->y[chart.name_count] = event->distance;
        line->low[chart.name_count] = line->high[chart.name_count] = NAN;
        line->count = ++chart.name_count;
    }
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "the distance, sample by sample");
    if (status == OCDM_OK)
        status = ocdm__chart_draw(&chart, &canvas, error);
    ocdm__chart_clear(&chart);
    return status;
}

ocdm_status ocdm__paper_draw_process(const ocdm__paper_part *part, ocdm__sheet *sheet, ocdm_error *error)
{
    const ocdm__stream_table *table = &part->source->info->stream.table;
    ocdm__process process;
    struct counts counts = {.joins = NULL};
    ocdm__paper_bars bars = {.tasks = NULL};
    char text[80];
    ocdm_status status = ocdm__process_of(&process, table, CAPACITY, error);
    if (status == OCDM_OK)
        status = make_counts(&counts, &process, table, error);
    if (status == OCDM_OK)
        status = ocdm__paper_bars_make(&bars, part->source->info, error);
    if (status == OCDM_OK) {
        keep_classes(&bars, &counts);
        snprintf(text, sizeof text, "step %llu of the stream, a memory of %d samples", (unsigned long long)process.step,
                 CAPACITY);
        ocdm__sheet_remark(sheet, text);
        status = draw_step_panels(&bars.list, &process, &counts, sheet, error);
    }
    if (status == OCDM_OK)
        status = draw_step_distance(&process, table, sheet, error);
    ocdm__paper_bars_clear(&bars);
    ocdm__release(counts.joins);
    ocdm__process_clear(&process);
    return status;
}
