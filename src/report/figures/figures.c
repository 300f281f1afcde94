/* The list of figures, and writing them to files. */
#define _POSIX_C_SOURCE 200809L

#include "report/figures/figure.h"

#include <sys/stat.h>

#include "report/runs/log.h"

#define FIGURE_ADDRESS(name) &ocdm__figure_##name,
const ocdm__figure *const ocdm__figures[] = {OCDM__FIGURES(FIGURE_ADDRESS) NULL};

/* Opens FOLDER/PREFIXname.ending. */
static ocdm_status open_file(const char *folder, const char *prefix, const char *name, const char *ending, ocdm__output *out,
                             ocdm_error *error)
{
    char file[120];
    snprintf(file, sizeof file, "%.40s%.60s.%.10s", prefix, name, ending);
    return ocdm__output_open_own(out, ocdm__path_in(folder, file).text, error);
}

static ocdm_status write_files(const ocdm__figure *figure, const ocdm__chart *chart, const char *folder, const char *prefix,
                               ocdm__output *out, ocdm_error *error)
{
    OCDM_TRY(open_file(folder, prefix, figure->name, "svg", out, error));
    OCDM_TRY(ocdm__chart_draw(chart, &(ocdm__canvas){.out = out, .alone = true, .title = figure->title}, error));
    OCDM_TRY(ocdm__output_commit(out, error));
    OCDM_TRY(open_file(folder, prefix, figure->name, "csv", out, error));
    ocdm__table_write(&chart->table, OCDM__CSV, NULL, out);
    return ocdm__output_commit(out, error);
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
        ocdm__output out = {.buffer = NULL};
        ocdm__chart chart = {.x = NULL};
        ocdm_status status = ocdm__figure_make(ocdm__figures[i], study, &chart, error);
        if (status == OCDM_OK && ocdm__chart_has_numbers(&chart))
            status = write_files(ocdm__figures[i], &chart, folder, prefix, &out, error);
        ocdm__output_abandon(&out);
        ocdm__chart_clear(&chart);
        OCDM_TRY(status);
    }
    return OCDM_OK;
}
