/* Where the time went: a bar for each group, divided by what the run did. */
#include "report/figures/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/text.h"

enum { LEFT = 190, RIGHT = 690, TOP = 36, PITCH = 30, BAR = 20, BOTTOM = 48 };

const ocdm__time_part ocdm__time_parts[OCDM__TIME_PARTS] = {
    {"draw", "times.draw", "draw from memory", 2}, {"decode", "times.decode", "decode images", 3},
    {"train", "times.train", "train", 5},          {"update", "times.update", "update the memory", 8},
    {"evaluate", "times.evaluate", "evaluate", 0},
};

bool ocdm__time_part_is_there(const ocdm__study *study, size_t part)
{
    return strcmp(ocdm__time_parts[part].name, "decode") != 0 || ocdm__study_has_images(study);
}

static double part_of(const ocdm__run_group *group, size_t part)
{
    double seconds = ocdm__group_summary(group, ocdm__time_parts[part].path).mean;
    return seconds > 0 && isfinite(seconds) ? seconds : 0;
}

static double sum_of(const ocdm__study *study, const ocdm__run_group *group)
{
    double sum = 0;
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++)
        sum += ocdm__time_part_is_there(study, part) ? part_of(group, part) : 0;
    return sum;
}

static bool has_time(const ocdm__study *study)
{
    for (size_t i = 0; i < study->base_count; i++)
        if (sum_of(study, &study->groups[i]) > 0)
            return true;
    return false;
}

static void draw_legend(const ocdm__study *study, const ocdm__canvas *canvas)
{
    double x = LEFT;
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++) {
        if (!ocdm__time_part_is_there(study, part))
            continue;
        ocdm__put(canvas->out, "<rect class=\"part h%u\" x=\"%.0f\" y=\"8\" width=\"11\" height=\"11\"/>\n",
                  ocdm__time_parts[part].heat, x);
        ocdm__draw_text(canvas, x + 16, 18, OCDM__ANCHOR_START, "small", ocdm__time_parts[part].text);
        x += 40 + OCDM__COLUMN * (double)strlen(ocdm__time_parts[part].text);
    }
}

static void draw_row(const ocdm__study *study, const ocdm__canvas *canvas, const ocdm__run_group *group,
                     const ocdm__scale *scale, double y)
{
    double sum = 0;
    char text[80];
    ocdm__mark_begin(canvas, group->mark, PITCH);
    ocdm__output_text(canvas->out, "<text text-anchor=\"end\" x=\"182\" y=\"");
    ocdm__put_place(canvas->out, y + BAR - 5);
    ocdm__output_text(canvas->out, "\">");
    ocdm__put_plain(canvas->out, group->label, 23);
    ocdm__output_text(canvas->out, "</text>\n");
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++) {
        double seconds = part_of(group, part);
        if (!ocdm__time_part_is_there(study, part))
            continue;
        double from = ocdm__scale_place(scale, sum), to = ocdm__scale_place(scale, sum + seconds);
        sum += seconds;
        ocdm__put(
            canvas->out,
            "<rect class=\"part h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"><title>%s: %.4g s</title></rect>\n",
            ocdm__time_parts[part].heat, from, y, to - from, BAR, ocdm__time_parts[part].name, seconds);
    }
    double share = ocdm__group_summary(group, "times.update_share").mean;
    snprintf(text, sizeof text, "update %.3g %%", share);
    if (isfinite(share))
        ocdm__draw_text(canvas, RIGHT + 12, y + BAR - 5, OCDM__ANCHOR_START, "small faint", text);
    ocdm__mark_end(canvas);
}

static ocdm_status draw_time(const ocdm__study *study, const ocdm__canvas *canvas, ocdm_error *error)
{
    (void)error;
    ocdm__scale scale = {.from = LEFT, .to = RIGHT};
    for (size_t i = 0; i < study->base_count; i++) {
        double sum = sum_of(study, &study->groups[i]);
        scale.high = sum > scale.high ? sum : scale.high;
    }
    double base = TOP + PITCH * (double)study->base_count;
    ocdm__picture_begin(canvas, OCDM__FIGURE_WIDTH, base + BOTTOM);
    draw_legend(study, canvas);
    for (size_t i = 0; i < study->base_count; i++)
        draw_row(study, canvas, &study->groups[i], &scale, TOP + PITCH * (double)i + 2);
    ocdm__output_text(canvas->out, "<g>\n");
    ocdm__draw_x_axis(canvas, &scale, base + 4, "seconds");
    ocdm__output_text(canvas->out, "</g>\n");
    ocdm__picture_end(canvas);
    return OCDM_OK;
}

static ocdm_status csv_time(const ocdm__study *study, ocdm__output *out, ocdm_error *error)
{
    (void)error;
    ocdm__output_text(out, "label,part,seconds,deviation,runs\n");
    for (size_t i = 0; i < study->base_count; i++)
        for (size_t part = 0; part < OCDM__TIME_PARTS; part++) {
            ocdm__summary summary = ocdm__group_summary(&study->groups[i], ocdm__time_parts[part].path);
            ocdm__put_csv(out, study->groups[i].label);
            ocdm__put(out, ",%s", ocdm__time_parts[part].name);
            ocdm__put_csv_summary(out, &summary);
        }
    return OCDM_OK;
}

const ocdm__figure ocdm__figure_time = {
    .name = "time",
    .title = "Seconds, by what they went into",
    .reading = "Seconds of a whole run, mean over seeds. The number at the right is the memory update's share of the training "
               "steps; evaluation is not part of them.",
    .section = OCDM__SECTION_TIME,
    .is_there = has_time,
    .draw = draw_time,
    .write_csv = csv_time,
};
