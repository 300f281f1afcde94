/* The list of figures, and writing them to files. */
#define _POSIX_C_SOURCE 200809L

#include "report/figures/figure.h"

#include <sys/stat.h>

#include "report/runs/log.h"

#define FIGURE_ADDRESS(name) &ocdm__figure_##name,
const ocdm__figure *const ocdm__figures[] = {OCDM__FIGURES(FIGURE_ADDRESS) NULL};

/* Writes FOLDER/PREFIXname.ending, the picture or, without a canvas, the numbers. */
static ocdm_status write_file(const ocdm__figure *figure, const ocdm__chart *chart, const char *folder, const char *prefix,
                              bool is_picture, ocdm_error *error)
{
    char file[120];
    ocdm__output out = {.buffer = NULL};
    snprintf(file, sizeof file, "%.40s%.60s.%s", prefix, figure->name, is_picture ? "svg" : "csv");
    ocdm_status status = ocdm__output_open_own(&out, ocdm__path_in(folder, file).text, error);
    if (is_picture)
        OCDM_THEN(status, ocdm__chart_draw(chart, &(ocdm__canvas){.out = &out, .alone = true, .title = figure->title}, error));
    else if (status == OCDM_OK)
        ocdm__table_write(&chart->table, OCDM__CSV, NULL, &out);
    OCDM_THEN(status, ocdm__output_commit(&out, error));
    ocdm__output_abandon(&out);
    return status;
}

ocdm__series *ocdm__chart_add_group(ocdm__chart *chart, const ocdm__run_group *group)
{
    return ocdm__chart_add_series(chart, group->label, group->mark, group->colour);
}

ocdm_status ocdm__figure_make(const ocdm__figure *figure, const ocdm__study *study, ocdm__chart *chart, ocdm_error *error)
{
    *chart = *figure->chart;
    chart->sweep = figure->sweep;
    if (figure->fill != NULL)
        figure->fill(study, chart);
    for (size_t i = 0; figure->fill_group != NULL && i < study->group_count; i++)
        if (ocdm__chart_takes(chart, study, &study->groups[i]))
            figure->fill_group(study, &study->groups[i], chart);
    return ocdm__table_check(&chart->table, error);
}

ocdm_status ocdm__figures_write(const ocdm__study *study, const char *folder, const char *prefix, ocdm_error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ocdm__fail(error, OCDM_IO, "", "%s: %s", folder, strerror(errno));
    for (size_t i = 0; ocdm__figures[i] != NULL; i++) {
        ocdm__chart chart = {.x = NULL};
        ocdm_status status = ocdm__figure_make(ocdm__figures[i], study, &chart, error);
        bool is_there = status == OCDM_OK && ocdm__chart_has_numbers(&chart);
        for (int is_picture = 1; is_there && is_picture >= 0; is_picture--)
            OCDM_THEN(status, write_file(ocdm__figures[i], &chart, folder, prefix, is_picture == 1, error));
        ocdm__chart_clear(&chart);
        OCDM_TRY(status);
    }
    return OCDM_OK;
}
