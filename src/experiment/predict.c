/* Predicting: the samples of a part, batch by batch, and their logits into the file. */
#include "experiment/predict.h"

#include <math.h>
#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/output.h"
#include "experiment/loop/logits_check.h"
#include "stream/images/prepare.h"
#include "stream/labelled_set.h"

struct predicting {
    const ocdm__predict_settings *settings;
    const ocdm__progress *progress;
    ocdm__predictor predictor;
    uint32_t *samples; /* of the part, in the order of the stream */
    size_t count;
    size_t classes;
    float *logits;  /* of a batch */
    float *missing; /* a row of NaN */
    ocdm__output output;
    ocdm_error *error;
};

static bool is_in_part(const struct predicting *predicting, size_t sample)
{
    enum ocdm__predict_part part = predicting->settings->part;
    bool test = predicting->predictor.stream.table.parts[sample] == OCDM__TEST;
    return part == OCDM__PREDICT_ALL || test == (part == OCDM__PREDICT_TEST);
}

static ocdm_status list_samples(struct predicting *predicting)
{
    const ocdm__predict_settings *settings = predicting->settings;
    size_t all = predicting->predictor.stream.table.sample_count;
    predicting->samples = ocdm__allocate(all, sizeof *predicting->samples);
    if (predicting->samples == NULL)
        return ocdm__fail_memory(predicting->error, "the list of samples");
    for (size_t i = 0; i < all; i++)
        if (is_in_part(predicting, i))
            predicting->samples[predicting->count++] = (uint32_t)i;
    if (predicting->count == 0)
        return ocdm__fail(predicting->error, OCDM_BAD_FILE, "--split train or --split all may have some",
                          "%s: the stream has no %ssamples", settings->network.stream,
                          settings->part == OCDM__PREDICT_TEST    ? "test "
                          : settings->part == OCDM__PREDICT_TRAIN ? "training "
                                                                  : "");
    return OCDM_OK;
}

static ocdm_status make_rows(struct predicting *predicting)
{
    size_t batch = predicting->settings->network.batch;
    predicting->classes = predicting->predictor.stream.table.class_count;
    predicting->logits = ocdm__allocate(batch, predicting->classes * sizeof *predicting->logits);
    predicting->missing = ocdm__allocate(predicting->classes, sizeof *predicting->missing);
    if (predicting->logits == NULL || predicting->missing == NULL)
        return ocdm__fail_memory(predicting->error, "logits");
    for (size_t i = 0; i < predicting->classes; i++)
        predicting->missing[i] = NAN;
    return OCDM_OK;
}

static ocdm_status check_row(const struct predicting *predicting, size_t sample, const float *row)
{
    const ocdm__logits_source source = {predicting->settings->network.stream,
                                        "the weights are too large, or not for such inputs"};
    return ocdm__logits_check(&source, predicting->samples[sample], row, predicting->classes, predicting->error);
}

/* Rows of the samples that could be read, and between them those of the others. */
static ocdm_status write_rows(struct predicting *predicting, const ocdm__predictor_batch *batch)
{
    size_t classes = predicting->classes, used = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const float *row = predicting->missing;
        if (used < batch->ready.count && batch->ready.usable[used] == i) {
            row = predicting->logits + used++ * classes;
            ocdm_status status = check_row(predicting, batch->first + i, row);
            if (status != OCDM_OK)
                return status;
        }
        ocdm__npy_write_floats(&predicting->output, row, classes);
    }
    return ocdm__output_check(&predicting->output, predicting->error);
}

static ocdm_status next_batch(struct predicting *predicting, ocdm__predictor_batch *batch)
{
    ocdm_status status = ocdm__predictor_next(&predicting->predictor, batch, predicting->error);
    if (ocdm__image_may_be_skipped(status) && predicting->error != NULL)
        snprintf(predicting->error->hint, sizeof predicting->error->hint,
                 "--skip-bad gives such samples a row of NaN and counts them");
    return status;
}

static ocdm_status write_batches(struct predicting *predicting)
{
    ocdm__predictor *predictor = &predicting->predictor;
    ocdm__predictor_batch batch = {.count = 0};
    ocdm_status status = ocdm__predictor_begin(predictor, predicting->samples, predicting->count, predicting->error);
    while (status == OCDM_OK) {
        status = next_batch(predicting, &batch);
        if (status != OCDM_OK || batch.count == 0)
            return status;
        if (batch.ready.count > 0)
            status = ocdm__agent_predict(predictor->agent, batch.ready.tensor, batch.ready.count, predicting->logits,
                                         predicting->error);
        if (status == OCDM_OK)
            status = write_rows(predicting, &batch);
        ocdm__progress_tell(predicting->progress, "predicting", batch.first + batch.count, predicting->count);
        if (status == OCDM_OK && ocdm__progress_stopped(predicting->progress))
            status = ocdm__fail(predicting->error, OCDM_STOPPED, "", "stopped while predicting; nothing was left behind");
    }
    return status;
}

static ocdm_status write_file(struct predicting *predicting)
{
    ocdm_status status = ocdm__output_open(&predicting->output, predicting->settings->output, predicting->error);
    if (status != OCDM_OK)
        return status;
    ocdm__npy_write_header(&predicting->output, predicting->count, predicting->classes);
    status = write_batches(predicting);
    if (status == OCDM_OK)
        return ocdm__output_commit(&predicting->output, predicting->error);
    ocdm__output_abandon(&predicting->output);
    return status;
}

static void fill_report(const struct predicting *predicting, ocdm__predict_report *report)
{
    const ocdm__inputs *inputs = predicting->predictor.inputs;
    const ocdm_error *first = ocdm__inputs_first_skipped(inputs);
    *report = (ocdm__predict_report){
        .samples = predicting->count, .classes = predicting->classes, .skipped = ocdm__inputs_skipped(inputs)};
    if (first != NULL)
        report->first_skipped = *first;
}

ocdm_status ocdm__predict(const ocdm__predict_settings *settings, const ocdm__progress *progress, ocdm__predict_report *report,
                          ocdm_error *error)
{
    struct predicting predicting = {.settings = settings, .progress = progress, .error = error};
    ocdm__predictor_settings network = settings->network;
    network.needs_head = true;
    ocdm_status status = ocdm__predictor_open(&predicting.predictor, &network, error);
    if (status == OCDM_OK)
        status = list_samples(&predicting);
    if (status == OCDM_OK)
        status = make_rows(&predicting);
    if (status == OCDM_OK)
        status = write_file(&predicting);
    if (status == OCDM_OK)
        fill_report(&predicting, report);
    ocdm__predictor_close(&predicting.predictor);
    ocdm__release(predicting.samples);
    ocdm__release(predicting.logits);
    ocdm__release(predicting.missing);
    return status;
}
