/* Panels of bars with a title above them. */
#include "report/figures/balance.h"

#include "report/charts/chart.h"

static const char reading[] =
    "Each bar is a class: how many samples in memory carry it at the end of the stream. The mark across it is an equal share of "
    "all labels in memory: the closer the bars are to it, the better the balance. The distance is the KL divergence to equal "
    "shares; 0 is best. Bars are filled by how frequent the class is in the stream.";

/* A distance is negative only by rounding, and NaN when no sample in memory has a label. */
static void note_distance(char note[40], const char *before, double distance, const char *after)
{
    if (isfinite(distance))
        snprintf(note, 40, "%s%.4f%s", before, fabs(distance), after);
    else
        snprintf(note, 40, "%snone%s", before, after);
}

static void add_panel(ocdm__chart *chart, const ocdm__picture_panel *memory, size_t class_count)
{
    double labels = 0;
    size_t lost = 0, number = chart->series_count;
    ocdm__series *panel = ocdm__chart_add_series(chart, memory->policy, NULL, ocdm__method_colour(memory->policy));
    for (size_t c = 0; c < class_count; c++) {
        labels += memory->kept[c];
        lost += memory->kept[c] == 0;
    }
    double share = labels / (double)class_count;
    note_distance(panel->notes[0], "distance ", memory->distance, "");
    if (memory->targets == NULL)
        snprintf(panel->notes[1], sizeof panel->notes[1], "equal share %.1f", share);
    if (lost > 0) {
        snprintf(panel->notes[2], sizeof panel->notes[2], "%zu class%s lost,", lost, lost == 1 ? "" : "es");
        note_distance(panel->notes[3], "", memory->distance_seen, lost == 1 ? " with it" : " with them");
    }
    for (size_t c = 0; c < class_count; c++)
        OCDM__POINT(chart, number, OCDM__EXACT("class", (double)c), OCDM__EXACT("kept", memory->kept[c]),
                    OCDM__EXACT("target", memory->targets != NULL ? memory->targets[c] : share));
}

ocdm_status ocdm__balance_picture_put(const ocdm__balance_picture *picture, ocdm__output *out, ocdm_error *error)
{
    ocdm__sheet sheet;
    ocdm__chart chart = {.kind = OCDM__CHART_BARS,
                         .x = "class",
                         .y = "kept",
                         .target = "target",
                         .y_what = "samples in memory",
                         .target_what = "equal share",
                         .marks_lost = true,
                         .highest = picture->top};
    size_t turn = 0;
    for (size_t c = 0; c < picture->class_count; c++) {
        const ocdm__picture_class *class = &picture->classes[c];
        turn += c > 0 && !isnan(class->task) && class->task != picture->classes[c - 1].task;
        ocdm__chart_add_class(&chart, class->name, class->group, turn, class->task);
    }
    for (size_t i = 0; i < picture->panel_count; i++) {
        chart.target_what = picture->panels[i].targets != NULL ? "target" : chart.target_what;
        add_panel(&chart, &picture->panels[i], picture->class_count);
    }
    ocdm_status status = ocdm__sheet_begin(&sheet, error);
    if (status == OCDM_OK)
        ocdm__sheet_line(&sheet, false, picture->caption);
    ocdm__canvas canvas = ocdm__sheet_canvas(&sheet, "classes in memory");
    OCDM_THEN(status, ocdm__chart_draw(&chart, &canvas, error));
    OCDM_THEN(status, ocdm__sheet_put(&sheet, "How evenly each policy keeps the classes", reading, out, error));
    ocdm__chart_clear(&chart);
    ocdm__sheet_clear(&sheet);
    return status;
}

ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    OCDM_TRY(ocdm__output_open(&out, path, error));
    ocdm_status status = ocdm__balance_picture_put(picture, &out, error);
    OCDM_THEN(status, ocdm__output_commit(&out, error));
    ocdm__output_abandon(&out);
    return status;
}
