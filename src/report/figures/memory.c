/* What is in memory: the class distribution and the age of the samples; and the classes of the stream. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "report/figures/panels.h"
#include "report/text.h"

static ocdm__class_list classes_of(const ocdm__study *study)
{
    return (ocdm__class_list){study->classes, study->class_count, study->order};
}

/* ---- in memory ---------------------------------------------------------------------------------------------------------- */

static double count_of(const void *group, const ocdm__study_class *class)
{
    return ocdm__group_count(group, class->column);
}

static double target_of(const void *group, const ocdm__study_class *class)
{
    return ocdm__group_target(group, class->column);
}

static bool has_counts(const ocdm__run_group *group)
{
    for (size_t i = 0; i < group->run_count; i++)
        for (size_t c = 0; c < group->runs[i]->counts.count; c++)
            if (group->runs[i]->counts.values[c] > 0)
                return true;
    return false;
}

static void note_group(const ocdm__study *study, const ocdm__run_group *group, ocdm__panel *panel)
{
    double distance = ocdm__group_summary(group, "final.distance_seen").mean;
    if (isfinite(distance))
        snprintf(panel->notes[0], sizeof panel->notes[0], "distance %.4f", distance);
    snprintf(panel->notes[1], sizeof panel->notes[1], "fewest %.1f, most %.1f",
             ocdm__group_balance(study, group, OCDM__COUNT_FEWEST).mean,
             ocdm__group_balance(study, group, OCDM__COUNT_MOST).mean);
    const char *comma = strchr(group->label, ',');
    if (comma != NULL)
        snprintf(panel->notes[2], sizeof panel->notes[2], "%.20s", comma + 2);
}

ocdm_status ocdm__draw_memory(const ocdm__study *study, ocdm__group_filter *takes, const ocdm__canvas *canvas,
                              ocdm_error *error)
{
    ocdm__panels panels = {.y_what = "samples in memory with the class", .target_what = "target", .marks_lost = true};
    ocdm__class_list classes = classes_of(study);
    ocdm_status status = ocdm__class_panels_begin(&panels, &classes, error);
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (!takes(study, group) || !has_counts(group))
            continue;
        ocdm__panel *panel = ocdm__panels_add(&panels, group->method[0] != '\0' ? group->method : group->label);
        if (panel == NULL) {
            status = ocdm__fail_memory(error, "a figure");
            break;
        }
        ocdm__class_panels_fill(&classes, panel->values, count_of, group);
        ocdm__class_panels_fill(&classes, panel->targets, target_of, group);
        panel->mark = group->mark;
        panel->colour = (int)group->colour;
        note_group(study, group, panel);
    }
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, canvas);
    ocdm__panels_clear(&panels);
    return status;
}

static void csv_number(ocdm__output *out, const ocdm__numbers *numbers, size_t column)
{
    ocdm__put_csv_number(out, column < numbers->count ? numbers->values[column] : NAN);
}

void ocdm__csv_memory(const ocdm__study *study, ocdm__group_filter *takes, ocdm__output *out)
{
    ocdm__output_text(out, "label,seed,class,group,in_memory,target,in_stream\n");
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; takes(study, &study->groups[i]) && j < study->groups[i].run_count; j++)
            for (size_t c = 0; c < study->class_count; c++) {
                const ocdm__run_record *run = study->groups[i].runs[j];
                ocdm__put_csv(out, study->groups[i].label);
                ocdm__put_csv_number(out, run->seed);
                ocdm__output_text(out, ",");
                ocdm__put_csv(out, study->classes[c].name);
                ocdm__output_text(out, ",");
                ocdm__put_csv(out, study->classes[c].group);
                csv_number(out, &run->counts, study->classes[c].column);
                csv_number(out, &run->target, study->classes[c].column);
                csv_number(out, &run->seen, study->classes[c].column);
                ocdm__output_text(out, "\n");
            }
}

static bool has_memory(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (study->class_count > 0 && has_counts(&study->groups[i]))
            return true;
    return false;
}

static ocdm_status draw_memory(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    return ocdm__draw_memory(study, ocdm__is_base_group, canvas, error);
}

static ocdm_status csv_memory(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__csv_memory(study, ocdm__is_base_group, out);
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_memory = {
    .name = "memory",
    .title = "Classes in memory at the end",
    .reading =
        "Each bar is a class: how many samples in memory carry it, mean over seeds. The mark across it is what the target "
        "asks for: the closer the bars are to their marks, the better the balance. All methods have one scale; a bar that is far "
        "above its target is cut off, with its number. Classes are in the order of the stream, filled by how frequent they are in "
        "it.",
    .section = OCDM__SECTION_FIGURES,
    .scales = {"linear", "logarithmic"},
    .is_there = has_memory,
    .draw = draw_memory,
    .write_csv = csv_memory,
};

/* ---- in the stream ------------------------------------------------------------------------------------------------------ */

static double count_of_turn(const void *turn, const ocdm__study_class *class)
{
    return class->turns.values[*(const size_t *)turn];
}

static bool has_stream(const ocdm__study *study)
{
    for (size_t c = 0; c < study->class_count; c++)
        for (size_t t = 0; t < study->classes[c].turns.count; t++)
            if (study->classes[c].turns.values[t] > 0)
                return true;
    return false;
}

static void note_task(const ocdm__study *study, size_t turn, ocdm__panel *panel)
{
    size_t classes = 0;
    double labels = 0;
    for (size_t c = 0; c < study->class_count; c++) {
        double count = count_of_turn(&turn, &study->classes[c]);
        classes += count > 0;
        labels += count > 0 ? count : 0;
    }
    snprintf(panel->notes[0], sizeof panel->notes[0], "%zu classes", classes);
    snprintf(panel->notes[1], sizeof panel->notes[1], "%.0f labels", labels);
}

static ocdm_status draw_stream(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    ocdm__panels panels = {.y_what = "training samples", .is_log = true};
    ocdm__class_list classes = classes_of(study);
    char(*names)[40] = ocdm__allocate(study->task_count, sizeof *names);
    ocdm_status status =
        names == NULL ? ocdm__fail_memory(error, "a figure") : ocdm__class_panels_begin(&panels, &classes, error);
    panels.section_count = 0;
    for (size_t turn = 0; status == OCDM_OK && turn < study->order.count; turn++) {
        snprintf(names[turn], sizeof names[turn], "task %.15g", study->order.values[turn]);
        ocdm__panel *panel = ocdm__panels_add(&panels, names[turn]);
        if (panel == NULL) {
            status = ocdm__fail_memory(error, "a figure");
            break;
        }
        ocdm__class_panels_fill(&classes, panel->values, count_of_turn, &turn);
        note_task(study, turn, panel);
    }
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, canvas);
    ocdm__panels_clear(&panels);
    ocdm__release(names);
    return status;
}

static ocdm_status csv_stream(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "class,group,task,training_samples\n");
    for (size_t c = 0; c < study->class_count; c++)
        for (size_t t = 0; t < study->classes[c].turns.count; t++) {
            ocdm__put_csv(out, study->classes[c].name);
            ocdm__output_text(out, ",");
            ocdm__put_csv(out, study->classes[c].group);
            ocdm__put(out, ",%.15g", study->order.values[t]);
            csv_number(out, &study->classes[c].turns, t);
            ocdm__output_text(out, "\n");
        }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_stream = {
    .name = "stream",
    .title = "Classes in the stream, task by task",
    .reading =
        "How many training samples of each task carry each class, tasks from top to bottom as the stream brings them. On the "
        "logarithmic scale a step from one number to the next is ten times as many samples.",
    .section = OCDM__SECTION_FIGURES,
    .scales = {"logarithmic", "linear"},
    .is_there = has_stream,
    .draw = draw_stream,
    .write_csv = csv_stream,
};

/* ---- age ---------------------------------------------------------------------------------------------------------------- */

#define BINS 64

static double samples_of(const ocdm__run_record *run)
{
    double samples = ocdm__json_number(ocdm__json_find(run->summary.root, "samples"));
    return samples > 0 && samples < 1e15 ? samples : 0;
}

/* Adds the arrivals of a run's memory to the bins. Returns their number. */
static size_t count_arrivals(const ocdm__run_record *run, double samples, double *bins)
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

/* Means over the runs that have a memory. Returns the number of those runs. */
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
        panel->mark = study->groups[i].mark;
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
    .section = OCDM__SECTION_FIGURES,
    .is_there = has_age,
    .draw = draw_age,
    .write_csv = csv_age,
};
