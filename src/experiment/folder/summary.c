/* The summary of a run. */
#include "experiment/folder/summary.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "metrics/forgetting.h"
#include "stream/export.h"

void ocdm__summary_head_write(ocdm__output *output, const ocdm__run *run)
{
    const char *version = ocdm_version();
    ocdm__output_text(output, "\"program\":");
    ocdm__output_json_string(output, version, strlen(version));
    ocdm__output_text(output, ",\"settings\":");
    ocdm__run_settings_write(output, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    ocdm__output_text(output, ",\"stream\":");
    ocdm__stream_about_write(output, run->stream, run->schedule.order.task_count);
}

/* ---- evaluations ------------------------------------------------------------------------------------------------------- */

static void write_evaluations(ocdm__output *output, const ocdm__run *run)
{
    const uint32_t *tasks = run->schedule.order.tasks;
    size_t last = run->evaluation_count - 1;
    ocdm__output_text(output, ",\"evaluations\":[");
    for (size_t i = 0; i <= last; i++) {
        ocdm__output_text(output, i > 0 ? ",{" : "{");
        ocdm__evaluation_write(output, &run->evaluations[i], i, tasks);
        ocdm__output_text(output, "}");
    }
    ocdm__output_text(output, "],\"final\":{");
    ocdm__evaluation_write(output, &run->evaluations[last], last, tasks);
    ocdm__output_text(output, ",\"per_class\":");
    ocdm__class_scores_write(output, run->learner != NULL ? run->scores : NULL, run->stream->table.class_count);
    ocdm__output_text(output, "}");
}

/* `map` has the mAP in percent of each task, in their order, at each evaluation; NaN before it was seen. */
static void fill_map(const ocdm__run *run, double *map, double *totals)
{
    size_t count = run->evaluation_count;
    for (size_t e = 0; e < count; e++) {
        totals[e] = 100 * run->evaluations[e].total.value[OCDM__MAP];
        for (size_t k = 0; k < count; k++)
            map[e * count + k] = k <= e ? 100 * run->evaluations[e].tasks[k].value[OCDM__MAP] : NAN;
    }
}

static ocdm_status write_forgetting(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    size_t count = run->evaluation_count;
    double *map = ocdm__allocate(count + 2, count * sizeof *map);
    if (map == NULL)
        return ocdm__fail_memory(error, "the forgetting of tasks");
    double *totals = map + count * count, *points = totals + count;
    fill_map(run, map, totals);
    ocdm__output_real(output, ",\"forgetting\":{\"mean\":", ocdm__forgetting(map, count, count, points));
    ocdm__output_text(output, ",\"tasks\":[");
    for (size_t k = 0; k < count; k++) {
        ocdm__output_count(output, k > 0 ? ",{\"task\":" : "{\"task\":", run->schedule.order.tasks[k]);
        ocdm__output_real(output, ",\"points\":", points[k]);
        ocdm__output_text(output, "}");
    }
    ocdm__output_real(output, "]},\"mean_mAP\":", ocdm__mean_of_known(totals, count));
    ocdm__release(map);
    return OCDM_OK;
}

/* ---- the memory -------------------------------------------------------------------------------------------------------- */

/* Of each class the count that the target asks for: its share of all label occurrences in memory; 0 for one never seen. */
static ocdm_status find_targets(const ocdm_memory *memory, double *targets, size_t class_count, ocdm_error *error)
{
    size_t count = memory != NULL ? ocdm_memory_counts(memory, NULL, 0) : 0;
    ocdm_class *classes = ocdm__allocate(count, sizeof *classes);
    uint64_t occurrences = 0;
    if (classes == NULL)
        return ocdm__fail_memory(error, "the classes in memory");
    if (count > 0)
        ocdm_memory_counts(memory, classes, count);
    for (size_t i = 0; i < count; i++)
        occurrences += classes[i].kept;
    for (size_t i = 0; i < count; i++)
        if (classes[i].id < class_count)
            targets[classes[i].id] = classes[i].target * (double)occurrences;
    ocdm__release(classes);
    return OCDM_OK;
}

static ocdm_status write_memory(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    const ocdm_memory *memory = run->memory;
    size_t classes = run->stream->table.class_count;
    double *targets = ocdm__allocate(classes, sizeof *targets);
    ocdm_status status =
        targets != NULL ? find_targets(memory, targets, classes, error) : ocdm__fail_memory(error, "the targets of classes");
    if (status == OCDM_OK) {
        ocdm__output_count(output, ",\"memory\":{\"kept\":", memory != NULL ? ocdm_memory_size(memory) : 0);
        ocdm__output_text(output, ",\"counts\":[");
        for (size_t c = 0; c < classes; c++)
            ocdm__output_count(output, c > 0 ? "," : "", memory != NULL ? ocdm_memory_kept(memory, (uint32_t)c) : 0);
        ocdm__output_text(output, "],\"target\":[");
        for (size_t c = 0; c < classes; c++)
            ocdm__output_real(output, c > 0 ? "," : "", targets[c]);
        ocdm__output_text(output, "],\"seen\":[");
        for (size_t c = 0; c < classes; c++)
            ocdm__output_count(output, c > 0 ? "," : "",
                               memory != NULL ? ocdm_memory_seen(memory, (uint32_t)c) : run->train_counts[c]);
        ocdm__output_text(output, "]}");
    }
    ocdm__release(targets);
    return status;
}

static void write_kept(ocdm__output *output, const ocdm__run *run, uint32_t slot)
{
    size_t sample = (size_t)ocdm_memory_id(run->memory, slot);
    ocdm__output_text(output, "{\"id\":");
    ocdm__write_record_id(output, &run->stream->table, sample);
    ocdm__output_text(output, ",\"labels\":[");
    ocdm__write_record_labels(output, &run->stream->table, sample);
    ocdm__output_count(output, "],\"slot\":", slot);
    ocdm__output_count(output, ",\"arrival\":", ocdm_memory_arrival(run->memory, slot));
    ocdm__output_count(output, ",\"task\":", run->stream->table.tasks[sample]);
    ocdm__output_text(output, "}\n");
}

void ocdm__kept_samples_write(ocdm__output *output, const ocdm__run *run)
{
    for (uint32_t slot = 0; run->memory != NULL && slot < ocdm_memory_size(run->memory); slot++)
        write_kept(output, run, slot);
}

/* ---- times ------------------------------------------------------------------------------------------------------------- */

static void write_times(ocdm__output *output, const ocdm__run *run)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    double seconds = ocdm__step_seconds(&times.steps);
    ocdm__output_real(output, ",\"times\":{\"per_1000_steps\":", 1000 * seconds / (double)run->step);
    ocdm__output_real(output, ",\"draw\":", times.steps.draw);
    ocdm__output_real(output, ",\"decode\":", times.steps.decode);
    ocdm__output_real(output, ",\"train\":", times.steps.train);
    ocdm__output_real(output, ",\"update\":", times.steps.update);
    ocdm__output_real(output, ",\"evaluate\":", times.evaluate);
    ocdm__output_real(output, ",\"total\":", times.total);
    ocdm__output_real(output, ",\"update_share\":", 100 * times.steps.update / seconds);
    ocdm__output_text(output, "},\"environment\":");
    ocdm__environment_write(output, run->settings->threads);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__summary_write(ocdm__output *output, const ocdm__run *run, ocdm_error *error)
{
    ocdm__output_text(output, "{\"format\":\"ocdm-run\",\"version\":1,");
    ocdm__summary_head_write(output, run);
    ocdm__output_text(output, ",\"classes\":");
    ocdm_status status = ocdm__stream_classes_write(output, run, error);
    if (status != OCDM_OK)
        return status;
    write_evaluations(output, run);
    status = write_forgetting(output, run, error);
    if (status == OCDM_OK)
        status = write_memory(output, run, error);
    if (status != OCDM_OK)
        return status;
    ocdm__output_text(output, ",\"curve\":");
    ocdm__curve_write(output, run->curve);
    ocdm__output_count(output, ",\"steps\":", run->step);
    ocdm__output_count(output, ",\"samples\":", ocdm__schedule_seen(&run->schedule, run->step));
    ocdm__output_count(output, ",\"skipped\":", ocdm__run_skipped(run));
    write_times(output, run);
    ocdm__output_text(output, "}\n");
    return OCDM_OK;
}
