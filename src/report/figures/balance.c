/* The picture of `ocdm demo`: panels of bars on a scale that does not depend on the numbers, with a title above them. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "report/figures/panels.h"

static const char reading[] =
    "Each bar is a class: how many samples in memory carry it at the end of the stream. The mark across it is an equal share of "
    "all labels in memory: the closer the bars are to it, the better the balance. The distance is the KL divergence to equal "
    "shares; 0 is best. Bars are filled by how frequent the class is in the stream.";

static double kept_of(const void *panel, const ocdm__study_class *class)
{
    return (double)((const ocdm__picture_panel *)panel)->kept[class->column];
}

/* A distance is negative only by rounding, and NaN when no sample in memory has a label. */
static void note_distance(char note[40], const char *before, double distance, const char *after)
{
    if (isfinite(distance))
        snprintf(note, 40, "%s%.4f%s", before, fabs(distance), after);
    else
        snprintf(note, 40, "%snone%s", before, after);
}

static void note_balance(const ocdm__picture_panel *policy, size_t lost, double share, ocdm__panel *panel)
{
    note_distance(panel->notes[0], "distance ", policy->distance, "");
    snprintf(panel->notes[1], sizeof panel->notes[1], "equal share %.1f", share);
    if (lost == 0)
        return;
    snprintf(panel->notes[2], sizeof panel->notes[2], "%zu class%s lost,", lost, lost == 1 ? "" : "es");
    note_distance(panel->notes[3], "", policy->distance_seen, lost == 1 ? " with it" : " with them");
}

static ocdm_status add_panel(ocdm__panels *panels, const ocdm__class_list *classes, const ocdm__picture_panel *policy,
                             ocdm_error *error)
{
    double labels = 0;
    size_t lost = 0;
    ocdm__panel *panel = ocdm__panels_add(panels, policy->policy);
    if (panel == NULL)
        return ocdm__fail_memory(error, "a figure");
    panel->colour = (int)ocdm__method_colour(policy->policy);
    for (size_t c = 0; c < classes->count; c++) {
        labels += kept_of(policy, &classes->classes[c]);
        lost += policy->kept[c] == 0;
    }
    ocdm__class_panels_fill(classes, panel->values, kept_of, policy);
    for (size_t i = 0; i < panels->bar_count; i++)
        panel->targets[i] = labels / (double)classes->count;
    note_balance(policy, lost, labels / (double)classes->count, panel);
    return OCDM_OK;
}

static ocdm_status draw(const ocdm__balance_picture *picture, ocdm__sheet *sheet, ocdm_error *error)
{
    ocdm__panels panels = {
        .y_what = "samples in memory", .target_what = "equal share", .marks_lost = true, .highest = OCDM__PICTURE_TOP};
    ocdm__class_list classes = {picture->classes, picture->class_count, picture->tasks};
    ocdm_status status = ocdm__class_panels_begin(&panels, &classes, error);
    for (size_t i = 0; status == OCDM_OK && i < picture->panel_count; i++)
        status = add_panel(&panels, &classes, &picture->panels[i], error);
    ocdm__canvas canvas = ocdm__sheet_canvas(sheet, "classes in memory");
    if (status == OCDM_OK)
        ocdm__panels_draw(&panels, &canvas);
    ocdm__panels_clear(&panels);
    return status;
}

ocdm_status ocdm__balance_picture_write(const ocdm__balance_picture *picture, const char *path, ocdm_error *error)
{
    ocdm__sheet sheet;
    ocdm_status status = ocdm__sheet_begin(&sheet, error);
    if (status == OCDM_OK) {
        ocdm__sheet_remark(&sheet, picture->caption);
        status = draw(picture, &sheet, error);
    }
    if (status == OCDM_OK)
        status = ocdm__sheet_write(&sheet, "How evenly each policy keeps the classes", reading, path, error);
    ocdm__sheet_clear(&sheet);
    return status;
}
