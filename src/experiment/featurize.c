/*
 * Featurizing. The network acts as a table of feature rows, computed when they are first read, in ascending order, so that
 * standardizing and storing work as for every other stream of features. Standardizing reads the rows twice, so they are kept
 * in a temporary file.
 */
#define _XOPEN_SOURCE 700

#include "experiment/predict.h"

#include <sys/types.h>
#include <unistd.h>

#include "stream/features.h"
#include "stream/file.h"
#include "stream/selection.h"

/* ---- spool --------------------------------------------------------------------------------------------------------------- */

/* Rows of floats in an unnamed temporary file, which the system removes when the program ends: for rows that are needed twice,
 * are expensive to compute and too many to keep in memory. */
struct spool {
    int fd; /* -1: none */
    size_t width;
    const char *beside; /* for messages */
};

static ocdm_status fail(const struct spool *spool, const char *verb, int reason, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_IO, reason == ENOSPC ? "free some space, or write to another place" : "",
                      "cannot %s a temporary file beside %s: %s", verb, spool->beside, strerror(reason));
}

/* The file has no name in the folder once it is open: nothing is left behind, however the program ends. */
static ocdm_status spool_open(struct spool *spool, const char *beside, size_t width, ocdm_error *error)
{
    static const char name[] = ".ocdm-features-XXXXXX";
    const char *slash = strrchr(beside, '/');
    size_t folder = slash != NULL ? (size_t)(slash - beside) + 1 : 0;
    char *path = ocdm__allocate(folder + sizeof name, 1);
    *spool = (struct spool){.fd = -1, .width = width, .beside = beside};
    if (path == NULL)
        return ocdm__fail_memory(error, "a file name");
    memcpy(path, beside, folder);
    memcpy(path + folder, name, sizeof name);
    spool->fd = mkstemp(path);
    int reason = errno;
    if (spool->fd >= 0)
        unlink(path);
    ocdm__release(path);
    return spool->fd >= 0 ? OCDM_OK : fail(spool, "make", reason, error);
}

/* Writes rows, or reads them. Rows go where their numbers say, since the payload may ask for them more than once. */
static ocdm_status spool_move(const struct spool *spool, bool writes, uint64_t first, size_t count, float *rows,
                              ocdm_error *error)
{
    char *bytes = (char *)rows;
    size_t size = count * spool->width * sizeof *rows;
    off_t at = (off_t)(first * spool->width * sizeof *rows);
    while (size > 0) {
        ssize_t some = writes ? pwrite(spool->fd, bytes, size, at) : pread(spool->fd, bytes, size, at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0 || (some == 0 && !writes)) /* the file is too short only if another process changed it */
            return fail(spool, writes ? "write" : "read", some < 0 ? errno : EIO, error);
        bytes += some;
        at += some;
        size -= (size_t)some;
    }
    return OCDM_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

struct featurizing {
    ocdm__feature_rows rows; /* first: the payload knows this part alone */
    const ocdm__featurize_settings *settings;
    const ocdm__progress *progress;
    ocdm__predictor predictor;
    ocdm__selection selection;
    struct spool spool;
};

/* For the payload: rows are computed, a batch at a time, when they are first asked for, in ascending order; earlier ones come
 * from the spool. */
static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct featurizing *work = (struct featurizing *)(void *)rows;
    ocdm__predictor *predictor = &work->predictor;
    const ocdm__walk *walk = &predictor->walk;
    while (row >= walk->next) {
        ocdm__batch batch;
        OCDM_TRY(ocdm__predictor_next(predictor, &batch, error));
        for (size_t i = 0; i < batch.count * rows->width; i++)
            if (!isfinite(predictor->rows[i]))
                return ocdm__fail(error, OCDM_BAD_RECORD, "the weights are too large, or not for such inputs",
                                  "%s: sample %zu: feature %zu is not a finite number", work->settings->network.stream,
                                  walk->first + i / rows->width, i % rows->width);
        if (work->spool.fd >= 0)
            OCDM_TRY(spool_move(&work->spool, true, walk->first, batch.count, predictor->rows, error));
        ocdm__progress_tell(work->progress, "featurizing", walk->next, rows->count);
        if (ocdm__progress_stopped(work->progress))
            return ocdm__fail(error, OCDM_STOPPED, "", "stopped while featurizing; nothing was left behind");
    }
    if (row < walk->first)
        return spool_move(&work->spool, false, row, 1, out, error);
    memcpy(out, predictor->rows + (size_t)(row - walk->first) * rows->width, rows->width * sizeof *out);
    return OCDM_OK;
}

/* ---- the file -------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__featurize(const ocdm__featurize_settings *settings, const ocdm__progress *progress,
                            ocdm__featurize_report *report, ocdm_error *error)
{
    struct featurizing work = {.settings = settings, .progress = progress, .spool = {.fd = -1}};
    ocdm__feature_payload payload = {.rows = NULL};
    ocdm__predictor_settings network = settings->network;
    network.features = true;
    network.skip_bad = false;
    ocdm_status status = ocdm__predictor_open(&work.predictor, &network, error);
    const ocdm__stream_table *table = &work.predictor.stream.table;
    size_t count = status == OCDM_OK ? table->sample_count : 0;
    work.rows = (ocdm__feature_rows){.count = count, .width = work.predictor.width, .read = read_row};
    OCDM_THEN(status, ocdm__new(&work.selection.chosen, count, sizeof *work.selection.chosen, "the samples", error));
    work.selection.count = count;
    for (size_t i = 0; status == OCDM_OK && i < count; i++)
        work.selection.chosen[i] = (ocdm__chosen){(uint32_t)i, table->tasks[i], table->parts[i]};
    if (settings->standardize)
        OCDM_THEN(status, spool_open(&work.spool, settings->output, work.rows.width, error));
    OCDM_THEN(status, ocdm__predictor_begin(&work.predictor, OCDM__PREDICT_ALL, error));
    OCDM_THEN(status, ocdm__feature_payload_open(&payload, &work.rows, &work.selection, settings->type, settings->standardize,
                                                 NULL, error));
    /* The new stream has the tables of the old one, without progress of its own: reading the rows reports it. */
    const char *const files[] = {settings->network.stream, settings->network.weights};
    ocdm__stream_table tables = *table; /* shares the arrays */
    ocdm__progress quiet = {.stop = progress != NULL ? progress->stop : NULL};
    ocdm__provenance provenance = {.note_count = 0};
    tables.paths = (ocdm__text_list){.starts = NULL}; /* a stream has features or images */
    OCDM_THEN(status, ocdm__provenance_make(&provenance, settings->command, NULL, files, 2, &tables, progress, error));
    OCDM_THEN(status, ocdm__stream_write(settings->output, &tables, &payload.source, provenance.notes, provenance.note_count,
                                         &quiet, error));
    if (status == OCDM_OK) {
        *report = (ocdm__featurize_report){.samples = count, .features = work.rows.width, .classes = tables.class_count};
        memcpy(report->ids, provenance.ids, sizeof report->ids);
    }
    ocdm__provenance_clear(&provenance);
    ocdm__feature_payload_close(&payload);
    ocdm__predictor_close(&work.predictor);
    if (work.spool.fd >= 0)
        close(work.spool.fd);
    ocdm__selection_clear(&work.selection);
    return status;
}
