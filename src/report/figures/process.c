/* Figure 1 on a real stream: what a memory holds, what joins it, what leaves it, and the distance on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/paper/process.h"
#include "report/figures/lines.h"
#include "report/figures/paper_parts.h"

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

/* A class that has none has no bar: it is not there yet. */
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

static ocdm_status add_panel(ocdm__panels *panels, const ocdm__class_list *list, const char *label, const double *counts,
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

static ocdm_status draw_panels(const ocdm__class_list *list, const ocdm__process *process, const struct counts *counts,
                               ocdm__sheet *sheet, ocdm_error *error)
{
    ocdm__panels panels = {.y_what = "samples with the class", .target_what = "equal share", .own_scales = true};
    ocdm_status status = ocdm__class_panels_begin(&panels, list, error);
    if (status == OCDM_OK)
        status = add_panel(&panels, list, "memory before", counts->before, true, error);
    if (status == OCDM_OK)
        status = add_panel(&panels, list, "a batch joins", counts->joins, false, error);
    if (status == OCDM_OK)
        note_samples(&panels, process, true);
    if (status == OCDM_OK)
        status = add_panel(&panels, list, "samples leave", counts->leaves, false, error);
    if (status == OCDM_OK)
        note_samples(&panels, process, false);
    if (status == OCDM_OK)
        status = add_panel(&panels, list, "memory after", counts->after, true, error);
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "the memory before and after");
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, &canvas);
    ocdm__panels_clear(&panels);
    return status;
}

/* ---- the distance ------------------------------------------------------------------------------------------------------- */

/* The classes of a sample, cut where the room ends: the drawing shows less of it. */
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

static ocdm_status draw_distance(const ocdm__process *process, const ocdm__stream_table *table, ocdm__sheet *sheet,
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
        status = draw_panels(&bars.list, &process, &counts, sheet, error);
    }
    if (status == OCDM_OK)
        status = draw_distance(&process, table, sheet, error);
    ocdm__paper_bars_clear(&bars);
    ocdm__release(counts.joins);
    ocdm__process_clear(&process);
    return status;
}
