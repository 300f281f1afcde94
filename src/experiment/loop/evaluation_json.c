/* Evaluations as JSON. */
#include "experiment/loop/evaluation.h"

#include <math.h>

/* NaN stays NaN, which is written as null. */
static void write_percent(ocdm__output *output, const char *before, double fraction)
{
    ocdm__output_real(output, before, 100 * fraction);
}

static void write_averages(ocdm__output *output, const ocdm__averages *averages)
{
    ocdm__output_count(output, "\"classes\":", averages->classes);
    for (size_t i = 0; i < OCDM__METRIC_COUNT; i++) {
        ocdm__output_text(output, ",\"");
        ocdm__output_text(output, ocdm__metric_name((enum ocdm__metric)i));
        write_percent(output, "\":", averages->value[i]);
    }
}

static void write_member(ocdm__output *output, const char *name, const ocdm__averages *averages)
{
    ocdm__output_text(output, ",\"");
    ocdm__output_text(output, name);
    ocdm__output_text(output, "\":{");
    write_averages(output, averages);
    ocdm__output_text(output, "}");
}

void ocdm__evaluation_write(ocdm__output *output, const ocdm__evaluation *evaluation, size_t after, const uint32_t *tasks)
{
    ocdm__output_count(output, "\"after\":", after);
    ocdm__output_count(output, ",\"task\":", evaluation->task);
    ocdm__output_count(output, ",\"step\":", evaluation->step);
    ocdm__output_count(output, ",\"samples\":", evaluation->samples);
    ocdm__output_real(output, ",\"distance\":", evaluation->distance);
    ocdm__output_real(output, ",\"distance_seen\":", evaluation->distance_seen);
    ocdm__evaluation_metrics_write(output, evaluation, tasks);
}

void ocdm__evaluation_metrics_write(ocdm__output *output, const ocdm__evaluation *evaluation, const uint32_t *tasks)
{
    write_member(output, "total", &evaluation->total);
    for (int g = 0; g < OCDM__GROUPS; g++)
        write_member(output, ocdm__class_group_name((enum ocdm__class_group)g), &evaluation->groups[g]);
    ocdm__output_text(output, ",\"tasks\":[");
    for (size_t k = 0; k < evaluation->task_count; k++) {
        ocdm__output_count(output, k > 0 ? ",{\"task\":" : "{\"task\":", tasks[k]);
        ocdm__output_text(output, ",");
        write_averages(output, &evaluation->tasks[k]);
        ocdm__output_text(output, "}");
    }
    ocdm__output_text(output, "]");
}

static void write_score(ocdm__output *output, const ocdm__class_score *score)
{
    double hits = score->hits;
    bool carried = score->positives > 0;
    write_percent(output, "{\"AP\":", score->ap);
    write_percent(output, ",\"precision\":", !carried ? NAN : score->predicted > 0 ? hits / score->predicted : 0);
    write_percent(output, ",\"recall\":", carried ? hits / score->positives : NAN);
    ocdm__output_count(output, ",\"positives\":", score->positives);
    ocdm__output_text(output, "}");
}

void ocdm__class_scores_write(ocdm__output *output, const ocdm__class_score *scores, size_t class_count)
{
    ocdm__output_text(output, "[");
    for (size_t c = 0; c < class_count; c++) {
        ocdm__output_text(output, c > 0 ? "," : "");
        if (scores != NULL)
            write_score(output, &scores[c]);
        else
            ocdm__output_text(output, "{\"AP\":null,\"precision\":null,\"recall\":null,\"positives\":null}");
    }
    ocdm__output_text(output, "]");
}
