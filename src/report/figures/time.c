/* Where the time went: a bar for each group, divided by what the run did. */
#include "report/figures/figure.h"

const ocdm__time_part ocdm__time_parts[OCDM__TIME_PARTS] = {
    {"draw", "times.draw", "draw from memory", 2}, {"decode", "times.decode", "decode images", 3},
    {"train", "times.train", "train", 5},          {"update", "times.update", "update the memory", 8},
    {"evaluate", "times.evaluate", "evaluate", 0},
};

bool ocdm__time_part_is_there(const ocdm__study *study, size_t part)
{
    return strcmp(ocdm__time_parts[part].name, "decode") != 0 || ocdm__study_has_images(study);
}

static void add_parts(const ocdm__study *study, ocdm__chart *chart)
{
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++)
        if (ocdm__time_part_is_there(study, part))
            ocdm__chart_add_bar(chart, ocdm__time_parts[part].text, ocdm__time_parts[part].heat);
}

static void add_times(const ocdm__study *study, const ocdm__run_group *group, ocdm__chart *chart)
{
    ocdm__series *series = ocdm__chart_add_group(chart, group);
    double share = ocdm__group_summary(group, "times.update_share").mean, bar = 0;
    if (isfinite(share))
        snprintf(series->notes[0], sizeof series->notes[0], "update %.3g %%", share);
    for (size_t part = 0; part < OCDM__TIME_PARTS; part++) {
        ocdm__summary seconds = ocdm__group_summary(group, ocdm__time_parts[part].path);
        bool is_there = ocdm__time_part_is_there(study, part);
        OCDM__POINT(chart, chart->series_count - 1, OCDM__EXACT(".part", is_there ? bar : NAN),
                    OCDM__WORD("label", group->label), OCDM__WORD("part", ocdm__time_parts[part].name),
                    OCDM__SUMMARY("seconds", seconds));
        bar += is_there;
    }
}

const ocdm__figure ocdm__figure_time = {
    .name = "time",
    .title = "Seconds, by what they went into",
    .reading = "Seconds of a whole run, mean over seeds. The number at the right is the memory update's share of the training "
               "steps; evaluation is not part of them.",
    .section = OCDM__SECTION_TIME,
    .chart = &(const ocdm__chart){.kind = OCDM__CHART_STACKS, .x = ".part", .y = "seconds", .x_what = "seconds"},
    .fill = add_parts,
    .fill_group = add_times,
};
