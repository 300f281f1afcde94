/* Applies a network to the samples of a stream: opens the files, prepares batches, and writes logits as an NPY file. */
#include "experiment/predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/model.h"
#include "base/allocate.h"
#include "base/error.h"
#include "base/output.h"
#include "experiment/agent_learner.h"
#include "experiment/loop/evaluation.h"
#include "experiment/run_ranks.h"
#include "stream/labelled_set.h"

/* ---- network ------------------------------------------------------------------------------------------------------------- */

static ocdm_status open_stream(ocdm__predictor *predictor, const char *path, ocdm_error *error)
{
    ocdm_status status = ocdm__stream_open(&predictor->stream, path, error);
    if (status == OCDM_OK && predictor->stream.table.sample_count > UINT32_MAX)
        status = ocdm__fail(error, OCDM_LIMIT, "", "%s: more than 2^32 - 1 samples", path);
    return status;
}

/* Opens the weights, and chooses model and sizes by them. */
static ocdm_status open_weights(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    ocdm_status status = ocdm__weights_open(&predictor->weights, settings->weights, error);
    if (status == OCDM_OK)
        status = ocdm__weights_describe(&predictor->weights, &predictor->fit, &predictor->about, error);
    predictor->model = settings->model;
    if (status == OCDM_OK)
        status = ocdm__weights_choose_model(&predictor->weights, &predictor->fit, &predictor->model, error);
    if (status == OCDM_OK)
        status = ocdm__weights_check_size(predictor->model, settings->resize, settings->crop, error);
    predictor->resize = settings->resize;
    predictor->crop = settings->crop;
    if (status == OCDM_OK)
        ocdm__weights_choose_size(&predictor->about, &predictor->resize, &predictor->crop, settings->note);
    return status;
}

static ocdm_status open_inputs(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    bool features = predictor->stream.shape.kind == OCDM__FEATURES;
    if (ocdm__model_takes_images(predictor->model) == features)
        return ocdm__fail(error, OCDM_BAD_FILE, "choose another --model, or a stream of the other kind",
                          "%s: %s takes %s, and the stream has %s", settings->stream, predictor->model,
                          features ? "images" : "features", features ? "features" : "none");
    ocdm__model_input_settings inputs = {.resize = predictor->resize,
                                         .crop = predictor->crop,
                                         .symmetric = ocdm__model_is_symmetric(predictor->model),
                                         .strict = !settings->skip_bad,
                                         .image_root = settings->image_root,
                                         .threads = settings->threads,
                                         .images = &ocdm__image_loading};
    ocdm_status status = ocdm__model_inputs_open(&predictor->stream, &inputs, &predictor->inputs, error);
    if (status == OCDM_OK)
        predictor->crop = ocdm__model_inputs_height(predictor->inputs);
    return status;
}

/* Image files alone are brought to a size as those of a stream. */
static ocdm_status choose_sizes(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    if (!ocdm__model_takes_images(predictor->model))
        return ocdm__fail(error, OCDM_BAD_FILE,
                          "build a stream with such features of your images, then: ocdm predict STREAM --weights FILE -o "
                          "scores.npy",
                          "%s: the weights are for %" PRIu32 " features, not for images", settings->weights,
                          predictor->fit.features);
    ocdm__weights_usual_size(&predictor->about, &predictor->resize, &predictor->crop);
    return OCDM_OK;
}

/* The agent would create a network of another size or a new head; here both are errors. */
static ocdm_status check_fit(const ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    const struct ocdm__weights_fit *fit = &predictor->fit;
    const ocdm__stream_table *table = &predictor->stream.table;
    size_t features = predictor->inputs != NULL ? ocdm__model_inputs_size(predictor->inputs) : 0;
    if (fit->model == NULL)
        return OCDM_OK; /* the agent reports which tensors are wrong */
    if (strcmp(fit->model, predictor->model) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm weights info FILE` shows more about them",
                          "%s: the weights are for %s, not for %s", settings->weights, fit->model, predictor->model);
    if (fit->features > 0 && fit->features != features)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights and stream must come from the same features",
                          "%s: the weights are for %" PRIu32 " features, the stream has %zu", settings->weights, fit->features,
                          features);
    if (!settings->needs_head)
        return OCDM_OK;
    size_t classes = settings->stream != NULL ? table->class_count : fit->class_count;
    ocdm_status status = ocdm__weights_check_head(settings->weights, fit, classes, error);
    if (status == OCDM_OK && settings->stream != NULL)
        status = ocdm__weights_check_classes(settings->weights, &predictor->about, table, error);
    return status;
}

static ocdm_status make_agent(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    struct ocdm__weights weights = {settings->weights, &predictor->weights.tensors};
    ocdm__agent_settings agent = {
        .size = {.name = predictor->model,
                 .class_count = predictor->fit.class_count > 0 ? predictor->fit.class_count : 1, /* the head is not used */
                 .features = predictor->inputs != NULL ? (uint32_t)ocdm__model_inputs_size(predictor->inputs) : 0,
                 .height = predictor->crop,
                 .width = predictor->crop},
        .network = ocdm__network_settings_default()};
    agent.network.precision = settings->bf16 ? OCDM__PRECISION_BF16 : OCDM__PRECISION_F32;
    agent.network.threads = settings->threads;
    ocdm_status status = ocdm__agent_create(&agent, &weights, &predictor->agent, error);
    if (status != OCDM_OK || !ocdm__joined())
        return status;
    predictor->learner = ocdm__agent_learner(predictor->agent);
    predictor->unusable = ocdm__allocate(predictor->batch, sizeof *predictor->unusable);
    predictor->usable = ocdm__allocate(predictor->batch, sizeof *predictor->usable);
    predictor->again = ocdm__allocate(predictor->batch, sizeof *predictor->again);
    return predictor->unusable != NULL && predictor->usable != NULL && predictor->again != NULL
               ? OCDM_OK
               : ocdm__fail_memory(error, "parts of a batch");
}

ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    bool stream = settings->stream != NULL;
    ocdm_status status = stream ? open_stream(predictor, settings->stream, error) : OCDM_OK;
    predictor->batch = settings->batch;
    if (status == OCDM_OK)
        status = open_weights(predictor, settings, error);
    if (status == OCDM_OK && stream)
        status = ocdm__weights_match_features(settings->weights, &predictor->about, &predictor->stream, settings->note, error);
    if (status == OCDM_OK)
        status = stream ? open_inputs(predictor, settings, error) : choose_sizes(predictor, settings, error);
    if (status == OCDM_OK)
        status = check_fit(predictor, settings, error);
    if (status == OCDM_OK && ocdm__ranks_lead())
        ocdm__join_begin(ocdm__model_takes_images(predictor->model));
    if (status == OCDM_OK)
        status = make_agent(predictor, settings, error);
    status = ocdm__join_ready(&predictor->learner, &predictor->stream, status, error);
    predictor->goes_on = status == OCDM_OK && ocdm__joined();
    return status;
}

bool ocdm__predictor_goes_on(ocdm__predictor *predictor, bool wanted)
{
    uint32_t more = wanted;
    if (predictor->unusable == NULL)
        return wanted;
    ocdm__ranks_all()->broadcast(&more, 1);
    predictor->goes_on = more != 0;
    return predictor->goes_on;
}

void ocdm__predictor_close(ocdm__predictor *predictor)
{
    if (predictor->goes_on)
        (void)ocdm__predictor_goes_on(predictor, false);
    ocdm__release(predictor->unusable);
    ocdm__release(predictor->usable);
    ocdm__release(predictor->again);
    ocdm__agent_destroy(predictor->agent);
    ocdm__model_inputs_close(predictor->inputs);
    ocdm__weights_about_clear(&predictor->about);
    ocdm__weights_close(&predictor->weights);
    ocdm__stream_close(&predictor->stream);
    *predictor = (ocdm__predictor){.agent = NULL};
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

static size_t batch_size(const ocdm__predictor *predictor, size_t first)
{
    size_t rest = predictor->count - first;
    return rest < predictor->batch ? rest : predictor->batch;
}

ocdm__learner_part ocdm__predictor_part(const ocdm__predictor *predictor, size_t count)
{
    const ocdm__learner_part all = {.ranks = &ocdm__ranks_alone, .end = count};
    return predictor->unusable != NULL ? ocdm__learner_part_of(&predictor->learner, count, false) : all;
}

/* Starts preparing this process's part of the samples. */
static ocdm_status request_part(ocdm__predictor *predictor, unsigned slot, const uint32_t *samples, size_t count,
                                ocdm_error *error)
{
    const ocdm__learner_part part = ocdm__predictor_part(predictor, count);
    if (part.first == part.end)
        return OCDM_OK;
    return ocdm__model_inputs_request(predictor->inputs, slot, samples + part.first, part.end - part.first, 0, false, error);
}

static ocdm_status request(ocdm__predictor *predictor, unsigned slot, size_t first, ocdm_error *error)
{
    size_t count = batch_size(predictor, first);
    return count > 0 ? request_part(predictor, slot, predictor->samples + first, count, error) : OCDM_OK;
}

static ocdm_status await_part(ocdm__predictor *predictor, const ocdm__learner_part *part, ocdm__batch *ready, ocdm_error *error)
{
    *ready = (ocdm__batch){.count = 0};
    return part->first < part->end ? ocdm__model_inputs_wait(predictor->inputs, predictor->slot, ready, error) : OCDM_OK;
}

/* Finds which samples of a batch can be used, by whichever rank. */
static size_t share_usable(ocdm__predictor *predictor, const ocdm__learner_part *part, const ocdm__predictor_batch *batch)
{
    size_t count = 0;
    for (size_t i = part->first; i < part->end; i++)
        predictor->unusable[i] = 1;
    for (size_t i = 0; i < batch->ready.count; i++)
        predictor->unusable[part->first + batch->ready.usable[i]] = 0;
    predictor->lost += ocdm__learner_part_share(part, predictor->unusable, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        if (predictor->unusable[i] != 0)
            continue;
        predictor->again[count] = predictor->samples[batch->first + i];
        predictor->usable[count++] = (uint32_t)i;
    }
    return count;
}

/* With fewer samples every rank has another part. The leader tries the first that was left out, which it tells users about. */
static ocdm_status take_again(ocdm__predictor *predictor, const ocdm__predictor_batch *batch, size_t count, ocdm__batch *ready,
                              ocdm_error *error)
{
    size_t first = 0;
    ocdm_status status = OCDM_OK;
    while (predictor->unusable[first] == 0)
        first++;
    if (ocdm__ranks_lead() && ocdm__model_inputs_first_skipped(predictor->inputs) == NULL)
        status = ocdm__model_inputs_request(predictor->inputs, predictor->slot, &predictor->samples[batch->first + first], 1, 0,
                                            false, error);
    if (status == OCDM_OK && ocdm__ranks_lead() && ocdm__model_inputs_first_skipped(predictor->inputs) == NULL)
        status = ocdm__model_inputs_wait(predictor->inputs, predictor->slot, ready, error);
    if (status == OCDM_OK)
        status = request_part(predictor, predictor->slot, predictor->again, count, error);
    const ocdm__learner_part part = ocdm__predictor_part(predictor, count);
    if (status == OCDM_OK)
        status = await_part(predictor, &part, ready, error);
    if (status == OCDM_OK && ready->count < part.end - part.first)
        status = ocdm__fail(error, OCDM_IO, "", "an image that another rank could decode cannot be decoded here");
    return status;
}

/* Waits for this process's part of a batch. What a rank cannot prepare ends the work of all; the leader reports the first. */
static ocdm_status take(ocdm__predictor *predictor, ocdm__predictor_batch *batch, ocdm_error *error)
{
    const ocdm__learner_part part = ocdm__predictor_part(predictor, batch->count);
    if (part.ranks->size == 1)
        return await_part(predictor, &part, &batch->ready, error);
    ocdm_error own = {.status = OCDM_OK};
    own.status = await_part(predictor, &part, &batch->ready, &own);
    ocdm_status status = ocdm__ranks_agree(part.ranks, &own);
    predictor->goes_on = status == OCDM_OK;
    if (status != OCDM_OK && error != NULL)
        *error = own;
    if (status != OCDM_OK)
        return status;
    size_t count = share_usable(predictor, &part, batch);
    if (count < batch->count)
        status = take_again(predictor, batch, count, &batch->ready, &own);
    if (status != OCDM_OK)
        ocdm__ranks_end_after(part.ranks, &own);
    batch->ready.usable = predictor->usable;
    batch->ready.count = count;
    return OCDM_OK;
}

ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, const uint32_t *samples, size_t count, ocdm_error *error)
{
    predictor->samples = samples;
    predictor->count = count;
    return request(predictor, 0, 0, error);
}

ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__predictor_batch *batch, ocdm_error *error)
{
    ocdm__predictor_batch found = {.first = predictor->next, .count = batch_size(predictor, predictor->next)};
    ocdm_status status = OCDM_OK;
    if (!ocdm__predictor_goes_on(predictor, found.count > 0))
        found.count = 0;
    if (found.count > 0)
        status = request(predictor, 1 - predictor->slot, found.first + found.count, error);
    if (status == OCDM_OK && found.count > 0)
        status = take(predictor, &found, error);
    if (status != OCDM_OK)
        return status;
    predictor->next += found.count;
    predictor->slot = 1 - predictor->slot;
    *batch = found;
    return OCDM_OK;
}

uint64_t ocdm__predictor_skipped(const ocdm__predictor *predictor)
{
    return predictor->unusable != NULL ? predictor->lost : ocdm__model_inputs_skipped(predictor->inputs);
}

/* ---- logits -------------------------------------------------------------------------------------------------------------- */

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
            status = ocdm__agent_predict(predictor->agent, batch.ready.input, batch.ready.count, predicting->logits,
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
    const ocdm__model_inputs *inputs = predicting->predictor.inputs;
    const ocdm_error *first = ocdm__model_inputs_first_skipped(inputs);
    *report = (ocdm__predict_report){.samples = predicting->count,
                                     .classes = predicting->classes,
                                     .skipped = ocdm__predictor_skipped(&predicting->predictor)};
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

/* Rank 0 reports what goes wrong. */
void ocdm__predict_follow(const ocdm__predict_settings *settings)
{
    ocdm_error error = {.status = OCDM_OK};
    struct predicting predicting = {.settings = settings, .error = &error};
    ocdm__predictor_settings network = settings->network;
    ocdm__predictor *predictor = &predicting.predictor;
    ocdm__predictor_batch batch = {.count = 1};
    network.needs_head = true;
    network.note = NULL;
    ocdm_status status = ocdm__predictor_open(predictor, &network, &error);
    if (status == OCDM_OK)
        status = list_samples(&predicting);
    bool same = status == OCDM_OK; /* otherwise the leader has found the same */
    if (status == OCDM_OK)
        status = make_rows(&predicting);
    if (status == OCDM_OK)
        status = ocdm__predictor_begin(predictor, predicting.samples, predicting.count, &error);
    while (status == OCDM_OK && batch.count > 0) {
        status = ocdm__predictor_next(predictor, &batch, &error);
        if (status == OCDM_OK && batch.ready.count > 0)
            status = ocdm__agent_predict(predictor->agent, batch.ready.input, batch.ready.count, predicting.logits, &error);
    }
    if (same && predictor->goes_on)
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
    ocdm__predictor_close(predictor);
    ocdm__release(predicting.samples);
    ocdm__release(predicting.logits);
    ocdm__release(predicting.missing);
}
