/*
 * Applies a network to the samples of a stream: opens the files, prepares batches, and writes logits as an NPY file.
 *
 * The weights must fit exactly: where training would make a new head or another input, predicting would give noise.
 */
#include "experiment/predict.h"

#include "agent/model.h"
#include "base/output.h"
#include "experiment/agent_learner.h"
#include "experiment/loop/evaluation.h"
#include "experiment/run_ranks.h"
#include "stream/labelled_set.h"

/* ---- network ------------------------------------------------------------------------------------------------------------- */

/* Image files without a stream have their whole paths; each that fails is told. */
ocdm_status ocdm__predictor_open_inputs(ocdm__predictor *predictor, ocdm_error *error)
{
    const ocdm__predictor_settings *settings = &predictor->settings;
    bool stream = settings->stream != NULL;
    const ocdm__model_input_settings inputs = {.resize = predictor->resize,
                                               .crop = predictor->crop,
                                               .keep_size = predictor->about.images,
                                               .symmetric = ocdm__model_is_symmetric(predictor->model),
                                               .strict = stream && !settings->skip_bad,
                                               .skips_missing = !stream,
                                               .image_root = stream ? settings->image_root : "",
                                               .threads = settings->threads,
                                               .images = &ocdm__image_loading};
    OCDM_TRY(ocdm__model_inputs_open(&predictor->stream, &inputs, &predictor->inputs, error));
    predictor->crop = predictor->inputs->side;
    predictor->inputs->learner = &predictor->learner;
    predictor->inputs->reports = true;
    return OCDM_OK;
}

/* The agent would create a network of another size or a new head; here both are errors. */
static ocdm_status check_fit(const ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    const struct ocdm__weights_fit *fit = &predictor->fit;
    const ocdm__stream_table *table = &predictor->stream.table;
    size_t features = predictor->inputs != NULL ? predictor->inputs->size : 0;
    if (fit->model == NULL)
        return OCDM_OK; /* the agent reports which tensors are wrong */
    if (strcmp(fit->model, predictor->model) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm weights info FILE` shows more about them",
                          "%s: the weights are for %s, not for %s", settings->weights, fit->model, predictor->model);
    if (fit->features > 0 && fit->features != features)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights and stream must come from the same features",
                          "%s: the weights are for %" PRIu32 " features, the stream has %zu", settings->weights, fit->features,
                          features);
    if (settings->features)
        return OCDM_OK;
    OCDM_TRY(ocdm__weights_check_head(settings->weights, fit, settings->stream != NULL ? table->class_count : fit->class_count,
                                      error));
    return settings->stream != NULL ? ocdm__weights_check_classes(settings->weights, &predictor->about, table, error) : OCDM_OK;
}

/* The leader asks the other ranks to join as soon as the model is known to take images. */
static ocdm_status open_all(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    bool stream = settings->stream != NULL;
    if (stream)
        OCDM_TRY(ocdm__stream_open(&predictor->stream, settings->stream, error));
    if (predictor->stream.table.sample_count > UINT32_MAX)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: more than 2^32 - 1 samples", settings->stream);
    /* Opens the weights, and chooses model and sizes by them. */
    OCDM_TRY(ocdm__weights_open(&predictor->weights, settings->weights, error));
    OCDM_TRY(ocdm__weights_describe(&predictor->weights, &predictor->fit, &predictor->about, error));
    predictor->model = settings->model;
    OCDM_TRY(ocdm__weights_choose_model(&predictor->weights, &predictor->fit, &predictor->model, error));
    OCDM_TRY(ocdm__weights_check_size(predictor->model, settings->resize, settings->crop, error));
    predictor->resize = settings->resize;
    predictor->crop = settings->crop;
    ocdm__weights_choose_size(&predictor->about, &predictor->resize, &predictor->crop, settings->note);
    if (stream) {
        bool features = predictor->stream.shape.kind == OCDM__FEATURES;
        OCDM_TRY(ocdm__weights_match_features(settings->weights, &predictor->about, &predictor->stream, settings->note, error));
        if (ocdm__model_takes_images(predictor->model) == features)
            return ocdm__fail(error, OCDM_BAD_FILE, "choose another --model, or a stream of the other kind",
                              "%s: %s takes %s, and the stream has %s", settings->stream, predictor->model,
                              features ? "images" : "features", features ? "features" : "none");
    }
    if (stream)
        OCDM_TRY(ocdm__predictor_open_inputs(predictor, error));
    else if (!ocdm__model_takes_images(predictor->model))
        return ocdm__fail(error, OCDM_BAD_FILE,
                          "build a stream with such features of your images, then: ocdm predict STREAM --weights FILE -o "
                          "scores.npy",
                          "%s: the weights are for %" PRIu32 " features, not for images", settings->weights,
                          predictor->fit.features);
    else /* image files alone are brought to a size as those of a stream */
        ocdm__weights_usual_size(&predictor->about, &predictor->resize, &predictor->crop);
    OCDM_TRY(check_fit(predictor, settings, error));
    if (ocdm__ranks_all()->rank == 0)
        ocdm__join_begin(ocdm__model_takes_images(predictor->model));
    struct ocdm__weights weights = {settings->weights, &predictor->weights.tensors};
    ocdm__agent_settings agent = {
        .size = {.name = predictor->model,
                 .class_count = predictor->fit.class_count > 0 ? predictor->fit.class_count : 1, /* the head is not used */
                 .features = predictor->inputs != NULL ? (uint32_t)predictor->inputs->size : 0,
                 .height = predictor->crop,
                 .width = predictor->crop},
        .network = ocdm__network_settings_default()};
    agent.network.precision = settings->bf16 ? OCDM__PRECISION_BF16 : OCDM__PRECISION_F32;
    agent.network.threads = settings->threads;
    OCDM_TRY(ocdm__agent_create(&agent, &weights, &predictor->agent, error));
    predictor->learner = ocdm__agent_learner(predictor->agent);
    predictor->width = settings->features ? ocdm__agent_feature_width(predictor->agent) : predictor->fit.class_count;
    return OCDM_OK;
}

ocdm_status ocdm__predictor_open(ocdm__predictor *predictor, const ocdm__predictor_settings *settings, ocdm_error *error)
{
    predictor->settings = *settings;
    ocdm_status status = open_all(predictor, settings, error);
    status = ocdm__join_ready(&predictor->learner, &predictor->stream, status, error);
    predictor->joined = predictor->goes_on = status == OCDM_OK && ocdm__joined();
    return status;
}

bool ocdm__predictor_goes_on(ocdm__predictor *predictor, bool wanted)
{
    uint32_t more = wanted;
    if (!predictor->joined)
        return wanted;
    ocdm__ranks_all()->broadcast(&more, 1);
    predictor->goes_on = more != 0;
    return predictor->goes_on;
}

void ocdm__predictor_close(ocdm__predictor *predictor)
{
    if (predictor->goes_on)
        (void)ocdm__predictor_goes_on(predictor, false);
    OCDM_RELEASE(predictor->samples, predictor->rows);
    ocdm__agent_destroy(predictor->agent);
    ocdm__model_inputs_close(predictor->inputs);
    ocdm__weights_about_clear(&predictor->about);
    ocdm__weights_close(&predictor->weights);
    ocdm__stream_close(&predictor->stream);
    *predictor = (ocdm__predictor){.agent = NULL};
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__predictor_begin(ocdm__predictor *predictor, enum ocdm__predict_part part, ocdm_error *error)
{
    const ocdm__stream_table *table = &predictor->stream.table;
    ocdm__walk *walk = &predictor->walk;
    OCDM_TRY(ocdm__new(&predictor->samples, table->sample_count, sizeof *predictor->samples, "the list of samples", error));
    *walk = (ocdm__walk){.inputs = predictor->inputs, .samples = predictor->samples, .most = predictor->settings.batch};
    for (size_t i = 0; i < table->sample_count; i++)
        if (part == OCDM__PREDICT_ALL || (table->parts[i] == OCDM__TEST) == (part == OCDM__PREDICT_TEST))
            predictor->samples[walk->count++] = (uint32_t)i;
    return ocdm__new(&predictor->rows, walk->most, predictor->width * sizeof *predictor->rows, "a batch of results", error);
}

ocdm_status ocdm__predictor_next(ocdm__predictor *predictor, ocdm__batch *batch, ocdm_error *error)
{
    ocdm__walk *walk = &predictor->walk;
    walk->first = walk->next;
    if (!ocdm__predictor_goes_on(predictor, walk->next < walk->count))
        return OCDM_OK;
    ocdm_status status = ocdm__walk_next(walk, batch, error);
    predictor->goes_on = predictor->goes_on && status == OCDM_OK; /* all ranks know of an error */
    if (status != OCDM_OK || batch->count == 0)
        return status;
    return predictor->settings.features
               ? ocdm__agent_features(predictor->agent, batch->input, batch->count, predictor->rows, error)
               : ocdm__agent_predict(predictor->agent, batch->input, batch->count, predictor->rows, error);
}

void ocdm__predictor_follow(const ocdm__predictor_settings *settings, enum ocdm__predict_part part)
{
    static const ocdm__found_files none = {.count = 0};
    ocdm_error error = {.status = OCDM_OK};
    ocdm__predictor predictor = {.agent = NULL};
    ocdm__predictor_settings network = *settings;
    ocdm__batch batch;
    network.note = NULL;
    if (ocdm__predictor_open(&predictor, &network, &error) != OCDM_OK ||
        (settings->stream == NULL && !ocdm__predictor_goes_on(&predictor, false))) {
        ocdm__predictor_close(&predictor);
        return;
    }
    ocdm_status status = settings->stream == NULL ? ocdm__photos_open(&predictor, &none, &error) : OCDM_OK;
    OCDM_THEN(status, ocdm__predictor_begin(&predictor, settings->stream == NULL ? OCDM__PREDICT_ALL : part, &error));
    do
        OCDM_THEN(status, ocdm__predictor_next(&predictor, &batch, &error));
    while (status == OCDM_OK && predictor.walk.first < predictor.walk.next);
    if (predictor.goes_on)
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
    ocdm__predictor_close(&predictor);
}

/* ---- logits -------------------------------------------------------------------------------------------------------------- */

/* Up to the end of the list, an error, or a signal: rows of the samples that could be read, and between them rows of NaN, which
 * `no_row` is, for the others. */
static ocdm_status write_batches(ocdm__predictor *predictor, const ocdm__progress *progress, const float *no_row,
                                 ocdm__output *output, ocdm_error *error)
{
    const ocdm__walk *walk = &predictor->walk;
    const ocdm__logits_source source = {predictor->settings.stream, "the weights are too large, or not for such inputs"};
    ocdm__batch batch;
    for (;;) {
        size_t classes = predictor->width, used = 0;
        ocdm_status status = ocdm__predictor_next(predictor, &batch, error);
        if (ocdm__image_may_be_skipped(status) && error != NULL)
            snprintf(error->hint, sizeof error->hint, "--skip-bad gives such samples a row of NaN and counts them");
        if (status != OCDM_OK || walk->first == walk->next)
            return status;
        for (size_t i = 0; i < walk->next - walk->first; i++) {
            const float *row = no_row;
            if (used < batch.count && batch.usable[used] == i) {
                row = predictor->rows + used * classes;
                OCDM_TRY(ocdm__logits_check(&source, batch.samples[used++], row, classes, error));
            }
            ocdm__npy_write_floats(output, row, classes);
        }
        OCDM_TRY(ocdm__output_check(output, error));
        ocdm__progress_tell(progress, "predicting", walk->next, walk->count);
        if (ocdm__progress_stopped(progress))
            return ocdm__fail(error, OCDM_STOPPED, "", "stopped while predicting; nothing was left behind");
    }
}

/* The file takes its place only when every row is written. */
ocdm_status ocdm__predict(const ocdm__predict_settings *settings, const ocdm__progress *progress, ocdm__predict_report *report,
                          ocdm_error *error)
{
    static const char *const parts[] = {
        [OCDM__PREDICT_TEST] = "test ", [OCDM__PREDICT_TRAIN] = "training ", [OCDM__PREDICT_ALL] = ""};
    ocdm__predictor predictor = {.agent = NULL};
    ocdm__output output = {.buffer = NULL};
    float *no_row = NULL;
    ocdm_status status = ocdm__predictor_open(&predictor, &settings->network, error);
    OCDM_THEN(status, ocdm__new(&no_row, predictor.width, sizeof *no_row, "logits", error));
    for (size_t i = 0; status == OCDM_OK && i < predictor.width; i++)
        no_row[i] = NAN;
    OCDM_THEN(status, ocdm__predictor_begin(&predictor, settings->part, error));
    if (status == OCDM_OK && predictor.walk.count == 0)
        status = ocdm__fail(error, OCDM_BAD_FILE, "--split train or --split all may have some",
                            "%s: the stream has no %ssamples", settings->network.stream, parts[settings->part]);
    OCDM_THEN(status, ocdm__output_open(&output, settings->output, error));
    if (status == OCDM_OK)
        ocdm__npy_write_header(&output, predictor.walk.count, predictor.width);
    OCDM_THEN(status, write_batches(&predictor, progress, no_row, &output, error));
    if (status == OCDM_OK)
        *report = (ocdm__predict_report){.samples = predictor.walk.count,
                                         .classes = predictor.width,
                                         .skipped = predictor.inputs->lost,
                                         .first_skipped = predictor.inputs->first_skipped};
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    ocdm__output_abandon(&output);
    ocdm__predictor_close(&predictor);
    ocdm__release(no_row);
    return status;
}
