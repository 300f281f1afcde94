/* A curve of bounded size. */
#include "experiment/folder/summary_curve.h"

static void thin(ocdm__curve *curve)
{
    size_t kept = 0;
    for (size_t i = 0; i < curve->count; i += 2)
        curve->points[kept++] = curve->points[i];
    curve->count = kept;
    curve->stride *= 2;
}

void ocdm__curve_add(ocdm__curve *curve, const ocdm__curve_point *point)
{
    if (curve->stride == 0)
        curve->stride = 1;
    /* One place stays free for the newest point. */
    if (curve->offered % curve->stride == 0 && curve->count == OCDM__CURVE_ROOM - 1)
        thin(curve);
    if (curve->offered % curve->stride == 0)
        curve->points[curve->count++] = *point;
    curve->last = *point;
    curve->offered++;
}

static void write_list(ocdm__output *output, const char *before, const ocdm__curve *curve, size_t member)
{
    size_t extra = curve->count > 0 && curve->points[curve->count - 1].step != curve->last.step;
    ocdm__output_text(output, before);
    for (size_t i = 0; i < curve->count + extra; i++) {
        const ocdm__curve_point *point = i < curve->count ? &curve->points[i] : &curve->last;
        const double values[] = {point->step, point->task, point->loss, point->distance, point->distance_seen};
        ocdm__output_real(output, i > 0 ? "," : "", values[member]);
    }
}

void ocdm__curve_write(ocdm__output *output, const ocdm__curve *curve)
{
    write_list(output, "{\"step\":[", curve, 0);
    write_list(output, "],\"task\":[", curve, 1);
    write_list(output, "],\"loss\":[", curve, 2);
    write_list(output, "],\"distance\":[", curve, 3);
    write_list(output, "],\"distance_seen\":[", curve, 4);
    ocdm__output_text(output, "]}");
}
