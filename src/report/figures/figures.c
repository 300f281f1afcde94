/* The list of figures, and writing them to files. */
#define _POSIX_C_SOURCE 200809L

#include "report/figures/figure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/error.h"

const ocdm__figure *const ocdm__figures[] = {
    &ocdm__figure_memory,
    &ocdm__figure_distance,
    &ocdm__figure_map,
    &ocdm__figure_anytime,
    &ocdm__figure_difference,
    &ocdm__figure_tasks,
    &ocdm__figure_classes,
    &ocdm__figure_loss,
    &ocdm__figure_rho,
    &ocdm__figure_rho_kept,
    &ocdm__figure_memory_size,
    &ocdm__figure_orders,
    &ocdm__figure_orders_distance,
    &ocdm__figure_orders_memory,
    &ocdm__figure_stream,
    &ocdm__figure_age,
    &ocdm__figure_time,
    NULL,
};

/* Opens FOLDER/PREFIXname.ending. */
static ocdm_status open_file(const char *folder, const char *prefix, const char *name, const char *ending, ocdm__output *out,
                             ocdm_error *error)
{
    char file[120];
    snprintf(file, sizeof file, "%.40s%.60s.%.10s", prefix, name, ending);
    char *path = ocdm__path_in(folder, file);
    if (path == NULL)
        return ocdm__fail_memory(error, "a path");
    ocdm_status status = ocdm__output_open_own(out, path, error);
    ocdm__release(path);
    return status;
}

static ocdm_status write_figure(const ocdm__study *study, const ocdm__figure *figure, const char *folder, const char *prefix,
                                ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    ocdm_status status = open_file(folder, prefix, figure->name, "svg", &out, error);
    if (status == OCDM_OK)
        status = figure->draw(study, &(ocdm__canvas){.out = &out, .alone = true, .title = figure->title}, error);
    if (status == OCDM_OK)
        status = ocdm__output_commit(&out, error);
    if (status == OCDM_OK)
        status = open_file(folder, prefix, figure->name, "csv", &out, error);
    if (status == OCDM_OK)
        status = figure->write_csv(study, &out, error);
    if (status == OCDM_OK)
        status = ocdm__output_commit(&out, error);
    ocdm__output_abandon(&out);
    return status;
}

ocdm_status ocdm__figures_write(const ocdm__study *study, const char *folder, const char *prefix, ocdm_error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ocdm__fail(error, OCDM_IO, "", "%s: %s", folder, strerror(errno));
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && ocdm__figures[i] != NULL; i++)
        if (ocdm__figures[i]->is_there(study))
            status = write_figure(study, ocdm__figures[i], folder, prefix, error);
    return status;
}
