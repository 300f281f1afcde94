/*
 * Featurizing. The network acts as a table of feature rows, computed when they are first read, in ascending order, so that
 * standardizing and storing work as for every other stream of features. Standardizing reads the rows twice, so they are kept
 * in a temporary file.
 */
#define _XOPEN_SOURCE 700

#include "experiment/predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/run_ranks.h"
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

static ocdm_status spool_write(struct spool *spool, uint64_t first, size_t count, const float *rows, ocdm_error *error)
{
    const char *bytes = (const char *)rows;
    size_t size = count * spool->width * sizeof *rows;
    off_t at = (off_t)(first * spool->width * sizeof *rows);
    while (size > 0) {
        ssize_t some = pwrite(spool->fd, bytes, size, at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return fail(spool, "write", errno, error);
        bytes += some;
        at += some;
        size -= (size_t)some;
    }
    return OCDM_OK;
}

static ocdm_status spool_read(struct spool *spool, uint64_t first, size_t count, float *rows, ocdm_error *error)
{
    char *bytes = (char *)rows;
    size_t size = count * spool->width * sizeof *rows;
    off_t at = (off_t)(first * spool->width * sizeof *rows);
    while (size > 0) {
        ssize_t some = pread(spool->fd, bytes, size, at);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0) /* the file is too short only if another process changed it */
            return fail(spool, "read", some < 0 ? errno : EIO, error);
        bytes += some;
        at += some;
        size -= (size_t)some;
    }
    return OCDM_OK;
}

static void spool_close(struct spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

struct featurizing {
    ocdm__feature_rows rows; /* first: the payload knows this part alone */
    const ocdm__featurize_settings *settings;
    const ocdm__progress *progress;
    ocdm__predictor predictor;
    uint32_t *samples; /* 0, 1, 2, ... */
    ocdm__selection selection;
    float *block; /* the rows of a batch: number block_first up to, not including, `computed` */
    uint64_t block_first, computed;
    struct spool spool;
};

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

static ocdm_status check_block(const struct featurizing *work, size_t count, ocdm_error *error)
{
    for (size_t i = 0; i < count * work->rows.width; i++)
        if (!isfinite(work->block[i]))
            return ocdm__fail(error, OCDM_BAD_RECORD, "the weights are too large, or not for such inputs",
                              "%s: sample %llu: feature %zu is not a finite number", work->settings->network.stream,
                              (unsigned long long)work->block_first + i / work->rows.width, i % work->rows.width);
    return OCDM_OK;
}

static ocdm_status compute_block(struct featurizing *work, ocdm_error *error)
{
    ocdm__predictor_batch batch = {.count = 0};
    ocdm_status status = ocdm__predictor_next(&work->predictor, &batch, error);
    if (status == OCDM_OK)
        status = ocdm__agent_features(work->predictor.agent, batch.ready.input, batch.ready.count, work->block, error);
    if (status != OCDM_OK)
        return status;
    work->block_first = batch.first;
    status = check_block(work, batch.count, error);
    if (status == OCDM_OK && work->spool.fd >= 0)
        status = spool_write(&work->spool, batch.first, batch.count, work->block, error);
    work->computed = batch.first + batch.count;
    ocdm__progress_tell(work->progress, "featurizing", work->computed, work->rows.count);
    if (status == OCDM_OK && ocdm__progress_stopped(work->progress))
        status = ocdm__fail(error, OCDM_STOPPED, "", "stopped while featurizing; nothing was left behind");
    return status;
}

static ocdm_status read_row(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct featurizing *work = (struct featurizing *)(void *)rows;
    while (row >= work->computed) {
        ocdm_status status = compute_block(work, error);
        if (status != OCDM_OK)
            return status;
    }
    if (row < work->block_first)
        return spool_read(&work->spool, row, 1, out, error);
    memcpy(out, work->block + (size_t)(row - work->block_first) * rows->width, rows->width * sizeof *out);
    return OCDM_OK;
}

/* ---- everything ready ------------------------------------------------------------------------------------------------ */

static ocdm_status list_samples(struct featurizing *work, ocdm_error *error)
{
    const ocdm__stream_table *table = &work->predictor.stream.table;
    work->samples = ocdm__allocate(table->sample_count, sizeof *work->samples);
    work->selection.chosen = ocdm__allocate(table->sample_count, sizeof *work->selection.chosen);
    if (work->samples == NULL || work->selection.chosen == NULL)
        return ocdm__fail_memory(error, "the list of samples");
    work->selection.count = table->sample_count;
    for (size_t i = 0; i < table->sample_count; i++) {
        work->samples[i] = (uint32_t)i;
        work->selection.chosen[i] = (ocdm__chosen){(uint32_t)i, table->tasks[i], table->parts[i]};
    }
    return OCDM_OK;
}

static ocdm_status open_rows(struct featurizing *work, ocdm_error *error)
{
    ocdm__predictor *predictor = &work->predictor;
    work->rows.count = predictor->stream.table.sample_count;
    work->rows.width = ocdm__agent_feature_width(predictor->agent);
    work->rows.read = read_row;
    work->block = ocdm__allocate(predictor->batch, work->rows.width * sizeof *work->block);
    if (work->block == NULL)
        return ocdm__fail_memory(error, "a block of features");
    ocdm_status status = OCDM_OK;
    if (work->settings->standardize)
        status = spool_open(&work->spool, work->settings->output, work->rows.width, error);
    if (status == OCDM_OK)
        status = ocdm__predictor_begin(predictor, work->samples, work->selection.count, error);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------------------------------- */

static ocdm_status write_stream(struct featurizing *work, ocdm__feature_payload *payload, ocdm__featurize_report *report,
                                ocdm_error *error)
{
    const ocdm__featurize_settings *settings = work->settings;
    const char *const files[] = {settings->network.stream, settings->network.weights};
    ocdm__stream_table table = work->predictor.stream.table; /* shares the arrays */
    ocdm__progress quiet = {.stop = work->progress != NULL ? work->progress->stop : NULL};
    ocdm__provenance provenance = {.note_count = 0};
    table.paths = (ocdm__text_list){.starts = NULL}; /* a stream has features or images */
    ocdm_status status = ocdm__provenance_make(&provenance, settings->command, NULL, files, 2, &table, work->progress, error);
    if (status == OCDM_OK) /* without progress of its own: reading the rows reports it */
        status = ocdm__stream_write(settings->output, &table, &payload->source, provenance.notes, provenance.note_count, &quiet,
                                    error);
    if (status == OCDM_OK) {
        *report =
            (ocdm__featurize_report){.samples = table.sample_count, .features = work->rows.width, .classes = table.class_count};
        memcpy(report->ids, provenance.ids, sizeof report->ids);
    }
    ocdm__provenance_clear(&provenance);
    return status;
}

static ocdm_status write_features(struct featurizing *work, ocdm__featurize_report *report, ocdm_error *error)
{
    const ocdm__featurize_settings *settings = work->settings;
    ocdm__feature_payload payload = {.rows = NULL};
    ocdm_status status =
        ocdm__feature_payload_open(&payload, &work->rows, &work->selection, settings->type, settings->standardize, NULL, error);
    if (status == OCDM_OK)
        status = write_stream(work, &payload, report, error);
    ocdm__feature_payload_close(&payload);
    return status;
}

ocdm_status ocdm__featurize(const ocdm__featurize_settings *settings, const ocdm__progress *progress,
                            ocdm__featurize_report *report, ocdm_error *error)
{
    struct featurizing work = {.settings = settings, .progress = progress, .spool = {.fd = -1}};
    ocdm__predictor_settings network = settings->network;
    network.needs_head = network.skip_bad = false;
    ocdm_status status = ocdm__predictor_open(&work.predictor, &network, error);
    if (status == OCDM_OK)
        status = list_samples(&work, error);
    if (status == OCDM_OK)
        status = open_rows(&work, error);
    if (status == OCDM_OK)
        status = write_features(&work, report, error);
    ocdm__predictor_close(&work.predictor);
    spool_close(&work.spool);
    ocdm__selection_clear(&work.selection);
    ocdm__release(work.samples);
    ocdm__release(work.block);
    return status;
}

/* ---- other ranks ----------------------------------------------------------------------------------------------------- */

/* Rank 0 reports what goes wrong. */
void ocdm__featurize_follow(const ocdm__featurize_settings *settings)
{
    struct featurizing work = {.settings = settings, .spool = {.fd = -1}};
    ocdm__predictor_settings network = settings->network;
    ocdm__predictor *predictor = &work.predictor;
    ocdm__predictor_batch batch = {.count = 1};
    ocdm_error error = {.status = OCDM_OK};
    network.needs_head = network.skip_bad = false;
    network.note = NULL;
    ocdm_status status = ocdm__predictor_open(predictor, &network, &error);
    bool same = status == OCDM_OK; /* otherwise the leader has found the same */
    if (status == OCDM_OK)
        status = list_samples(&work, &error);
    if (status == OCDM_OK) {
        work.block = ocdm__allocate(predictor->batch, ocdm__agent_feature_width(predictor->agent) * sizeof *work.block);
        status = work.block != NULL ? ocdm__predictor_begin(predictor, work.samples, work.selection.count, &error)
                                    : ocdm__fail_memory(&error, "a block of features");
    }
    while (status == OCDM_OK && batch.count > 0) {
        status = ocdm__predictor_next(predictor, &batch, &error);
        if (status == OCDM_OK && batch.ready.count > 0)
            status = ocdm__agent_features(predictor->agent, batch.ready.input, batch.ready.count, work.block, &error);
    }
    if (same && predictor->goes_on)
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
    ocdm__predictor_close(predictor);
    ocdm__selection_clear(&work.selection);
    ocdm__release(work.samples);
    ocdm__release(work.block);
}
