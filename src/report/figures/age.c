/* When the samples in memory arrived: a histogram over the stream, a panel for each group. */
#include "report/figures/age.h"

#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/panels.h"
#include "report/page/text.h"

#define BINS 64

static double samples_of(const ocdm__run *run)
{
    double samples = ocdm__json_number(ocdm__json_find(run->summary.root, "samples"));
    return samples > 0 && samples < 1e15 ? samples : 0;
}

/* Adds up the arrivals of a run's memory; returns how many there were. */
static size_t count_arrivals(const ocdm__run *run, double samples, double *bins)
{
    size_t count = 0;
    for (const ocdm__json_node *line = run->kept.root != NULL ? run->kept.root->first : NULL; line != NULL; line = line->next) {
        double arrival = ocdm__json_number(ocdm__json_find(line, "arrival"));
        if (!(arrival >= 0 && arrival < samples))
            continue;
        bins[(size_t)(arrival / samples * BINS)]++;
        count++;
    }
    return count;
}

/* Means over the runs that have a memory; returns how many have. */
static size_t fill_bins(const ocdm__run_group *group, double samples, double *bins)
{
    size_t runs = 0;
    for (size_t i = 0; i < BINS; i++)
        bins[i] = 0;
    for (size_t i = 0; i < group->run_count; i++)
        runs += count_arrivals(group->runs[i], samples, bins) > 0;
    for (size_t i = 0; i < BINS && runs > 0; i++)
        bins[i] /= (double)runs;
    return runs;
}

static bool has_age(const ocdm__study *study)
{
    double bins[BINS];
    for (size_t i = 0; i < study->base_count; i++)
        if (fill_bins(&study->groups[i], samples_of(study->groups[0].runs[0]), bins) > 0)
            return true;
    return false;
}

static ocdm_status add_sections(const ocdm__study *study, double samples, ocdm__panels *panels, ocdm_error *error)
{
    const ocdm__json_node *list = ocdm__json_find(study->groups[0].runs[0]->summary.root, "evaluations");
    size_t count = list != NULL && list->kind == OCDM__JSON_ARRAY ? list->count : 0;
    panels->sections = ocdm__allocate(count, sizeof *panels->sections);
    if (panels->sections == NULL)
        return ocdm__fail_memory(error, "a figure");
    double from = 0;
    for (const ocdm__json_node *node = count > 0 ? list->first : NULL; node != NULL; node = node->next) {
        ocdm__panel_section *section = &panels->sections[panels->section_count++];
        section->from = from;
        ocdm__task_text(ocdm__json_number(ocdm__json_find(node, "task")), section->name, sizeof section->name);
        from = ocdm__json_number(ocdm__json_find(node, "samples")) / samples * BINS;
        from = from >= 0 && from <= BINS ? from : BINS;
    }
    return OCDM_OK;
}

static void note_age(const double *bins, ocdm__panel *panel)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < BINS; i++) {
        total += bins[i];
        sum += bins[i] * ((double)i + 0.5) / BINS;
    }
    for (size_t i = 0; i < BINS; i++)
        panel->targets[i] = total / BINS;
    snprintf(panel->notes[0], sizeof panel->notes[0], "mean age %.3g %%", 100 * (1 - sum / total));
    snprintf(panel->notes[1], sizeof panel->notes[1], "of the stream");
}

static ocdm_status draw_age(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    double samples = samples_of(study->groups[0].runs[0]);
    ocdm__panels panels = {.y_what = "samples in memory",
                           .x_what = "position in the stream (samples)",
                           .target_what = "equally remembered",
                           .bar_count = BINS};
    panels.x = (ocdm__scale){.low = 0, .high = samples};
    ocdm_status status = add_sections(study, samples, &panels, error);
    for (size_t i = 0; status == OCDM_OK && i < study->base_count; i++) {
        double bins[BINS];
        if (fill_bins(&study->groups[i], samples, bins) == 0)
            continue;
        ocdm__panel *panel = ocdm__panels_add(&panels, study->groups[i].label);
        if (panel == NULL) {
            status = ocdm__fail_memory(error, "a figure");
            break;
        }
        for (size_t k = 0; k < BINS; k++)
            panel->values[k] = bins[k];
        panel->colour = (int)study->groups[i].colour;
        note_age(bins, panel);
    }
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, canvas);
    ocdm__panels_clear(&panels);
    return status;
}

static ocdm_status csv_age(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    double samples = samples_of(study->groups[0].runs[0]);
    ocdm__output_text(out, "label,from_sample,to_sample,samples_in_memory\n");
    for (size_t i = 0; i < study->base_count; i++) {
        double bins[BINS];
        if (fill_bins(&study->groups[i], samples, bins) == 0)
            continue;
        for (size_t k = 0; k < BINS; k++) {
            ocdm__put_csv(out, study->groups[i].label);
            ocdm__put(out, ",%.1f,%.1f,", samples * (double)k / BINS, samples * (double)(k + 1) / BINS);
            ocdm__output_double(out, bins[k]);
            ocdm__output_text(out, "\n");
        }
    }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_age = {
    .name = "age",
    .title = "How old the samples in memory are",
    .reading =
        "Each bar is a stretch of the stream: how many samples of the memory at the end arrived in it, mean over seeds. The "
        "mark is what every stretch would have if all were equally remembered; a memory that forgets is empty at the left.",
    .is_there = has_age,
    .draw = draw_age,
    .write_csv = csv_age,
};
