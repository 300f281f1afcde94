/*
 * Checks the settings of a run against each other and against the stream, and fills in what depends on the stream.
 *
 * A setting that would have no effect is refused: the files of a run name all its settings, and none of them may mislead.
 */
#include "experiment/loop/settings.h"

#include "agent/model.h"
#include "base/files.h"
#include "base/text.h"
#include "experiment/loop/evaluation.h"
#include "experiment/loop/store.h"
#include "stream/labelled_set.h"

/* What torchvision's ImageNet weights were trained with. */
#define USUAL_RESIZE 256u
#define USUAL_CROP 224u

bool ocdm__is_upper_bound(const char *method)
{
    return strcmp(method, OCDM__UPPER_BOUND) == 0;
}

bool ocdm__run_has_memory(const ocdm__run_settings *settings)
{
    return !ocdm__is_upper_bound(settings->method) && strcmp(settings->method, OCDM__LOWER_BOUND) != 0;
}

bool ocdm__run_has_agent(const ocdm__run_settings *settings)
{
    return strcmp(settings->model, "none") != 0;
}

const char *ocdm__stream_kind(const ocdm__stream *stream)
{
    static const char *const names[] = {[OCDM_STREAM_LABELS] = "labels",
                                        [OCDM_STREAM_FEATURES] = "features",
                                        [OCDM_STREAM_IMAGES] = "images",
                                        [OCDM_STREAM_FILES] = "files"};
    return names[ocdm__stream_kind_of(stream)];
}

bool ocdm__run_is_ridge(const ocdm__run_settings *settings)
{
    return !settings->own_learner && strcmp(settings->model, "ridge") == 0;
}

/* For checks that only refuse. */
#define REFUSE_IF(condition, hint, ...)                                                                                        \
    do {                                                                                                                       \
        if (condition)                                                                                                         \
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, __VA_ARGS__);                                                    \
    } while (0)

/* ---- checks ------------------------------------------------------------------------------------------------------------- */

/* Whether the method is a policy with that trait. */
static bool has_trait(const ocdm__run_settings *settings, uint32_t trait)
{
    const ocdm_policy *policy = ocdm_policy_find(settings->method);
    return policy != NULL && (policy->traits & trait) != 0;
}

/* Which of the needs of OCDM__NEEDS a run has, as bits. */
static uint32_t find_needs(const ocdm__run_settings *settings, const ocdm__stream *stream)
{
    bool model = ocdm__run_has_agent(settings), ridge = ocdm__run_is_ridge(settings);
    bool sgd = settings->network.optimiser == OCDM__OPTIMISER_SGD, multitask = ocdm__is_upper_bound(settings->method);
    bool replay = ocdm__run_has_memory(settings) && model && !ridge && settings->replay > 0;
    const bool has[] = {[OCDM__NEED_MODEL] = model,
                        [OCDM__NEED_STEPS] = !ridge,
                        [OCDM__NEED_INSIDE] = !settings->own_learner,
                        [OCDM__NEED_IMAGES] = model && ocdm__model_takes_images(settings->model),
                        [OCDM__NEED_RIDGE] = ridge,
                        [OCDM__NEED_ADAM] = !sgd,
                        [OCDM__NEED_SGD] = sgd,
                        [OCDM__NEED_AVERAGES] = settings->network.averages.count > 0,
                        [OCDM__NEED_REPLAY] = replay,
                        [OCDM__NEED_STREAM] = !multitask,
                        [OCDM__NEED_MULTITASK] = multitask,
                        [OCDM__NEED_UNKNOWN] = stream->table.known != NULL,
                        [OCDM__NEED_HELD_OUT] = settings->validation > 0,
                        [OCDM__NEED_PROBES] = settings->eval_every > 0};
    uint32_t bits = 0;
    for (unsigned i = 0; i < sizeof has / sizeof *has; i++)
        bits |= (uint32_t)has[i] << i;
    return bits;
}

#define NEED_TEXTS(symbol, reason, instead) {reason, instead},

/* Every setting that is not at its default has what its row needs; of the needs, those of `which` are looked at. */
static ocdm_status check_needs(ocdm__run_settings *settings, const ocdm__stream *stream, uint32_t which, ocdm_error *error)
{
    static const struct {
        const char *reason, *instead;
    } needs[] = {OCDM__NEEDS(NEED_TEXTS)};
    ocdm__run_settings usual = ocdm__run_settings_default();
    uint32_t missing = which & ~find_needs(settings, stream);
    const ocdm__setting *row;
    for (size_t i = 0; (row = ocdm__setting_at(i)) != NULL; i++) {
        unsigned need = 0;
        if ((row->needs & missing) == 0 ||
            memcmp(ocdm__setting_member(settings, row), ocdm__setting_member(&usual, row), row->size) == 0)
            continue;
        while ((row->needs & missing & 1u << need) == 0)
            need++;
        char hint[128];
        snprintf(hint, sizeof hint, "leave --%s out%s", row->flag, needs[need].instead);
        REFUSE_IF(true, hint, "--%s has no effect with --method %s, --model %s: %s", row->flag, settings->method,
                  settings->model, needs[need].reason);
    }
    return OCDM_OK;
}

/* A method must exist and have what it needs: a memory, a model, or neither. */
static ocdm_status check_method(const ocdm__run_settings *settings, ocdm_error *error)
{
    const char *method = settings->method;
    bool has_memory = ocdm__run_has_memory(settings), has_agent = ocdm__run_has_agent(settings);
    if (!ocdm__is_among(method, ocdm__run_methods) || (has_memory && ocdm_policy_find(method) == NULL))
        return ocdm__fail(error, OCDM_UNKNOWN_NAME, "`ocdm run --help` lists the methods", "there is no method \"%s\"", method);
    REFUSE_IF(!has_agent && (!has_memory || has_trait(settings, OCDM_NEEDS_GRADIENTS)),
              "name a model with --model, or another method", "the method %s needs a model, and --model is none", method);
    REFUSE_IF(has_memory && has_agent && settings->memory < settings->replay, "make the memory larger or --replay smaller",
              "a memory of %lu samples is smaller than the %lu that are replayed", (unsigned long)settings->memory,
              (unsigned long)settings->replay);
    REFUSE_IF(ocdm__run_is_ridge(settings) && ocdm__is_upper_bound(method),
              "--method finetune is the same as training on all data",
              "multitask trains on earlier samples again, and ridge counts each sample once");
    return OCDM_OK;
}

/* The model must exist and take what the stream has. */
static ocdm_status check_model(const ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                               ocdm_error *error)
{
    const char *model = settings->model, *kind = ocdm__stream_kind(stream);
    if (!settings->own_learner && !ocdm__is_among(model, ocdm__run_models))
        return ocdm__fail(error, OCDM_UNKNOWN_NAME, "`ocdm run --help` lists the models", "there is no model \"%s\"", model);
    if (settings->own_inputs || !ocdm__run_has_agent(settings))
        return OCDM_OK;
    REFUSE_IF(strcmp(kind, "labels") == 0, "--model none runs the memory alone",
              "%s: the stream has labels and nothing that a model could learn from", path);
    bool images = ocdm__model_takes_images(model);
    REFUSE_IF(images != (strcmp(kind, "features") != 0),
              images ? "linear and mlp learn from features" : "cnn, mobilenet1 and the resnets learn from images",
              "%s: the stream has %s, the model %s takes %s", path, images ? "features" : "images", model,
              images ? "images" : "features");
    return OCDM_OK;
}

/* A run needs training samples; some methods need samples with one label. */
static ocdm_status check_samples(const ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                 ocdm_error *error)
{
    const ocdm__stream_table *table = &stream->table;
    bool single = has_trait(settings, OCDM_SINGLE_LABEL), train = false;
    for (size_t i = 0; i < table->sample_count; i++) {
        if (table->parts[i] != OCDM__TRAIN)
            continue;
        train = true;
        size_t labels = (size_t)(table->label_starts[i + 1] - table->label_starts[i]), length;
        const char *id = ocdm__text_at(&table->ids, i, &length);
        if (single && labels > 1)
            return ocdm__fail(error, OCDM_NOT_SINGLE_LABEL, "cbes is its form for several labels",
                              "%s: the method %s takes samples with one label, sample \"%.*s\" has %zu", path, settings->method,
                              (int)(length < 64 ? length : 64), id, labels);
    }
    if (!train || table->class_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream info` shows what is in it", "%s: the stream has no %s", path,
                          train ? "class" : "training sample");
    return OCDM_OK;
}

/* The shorter side before a crop of this size: 256 for 224, as torchvision has it. */
static uint32_t usual_resize(uint32_t crop)
{
    return crop + crop / 7;
}

ocdm_status ocdm__take_image_size(uint32_t size, uint32_t none, uint32_t *resize, uint32_t *crop, ocdm_error *error)
{
    if (size == none || (*crop == size && *resize == usual_resize(size)))
        return OCDM_OK;
    REFUSE_IF(*crop != none || *resize != none, "leave --resize and --crop out",
              "--image-size %lu stands for --resize %lu --crop %lu", (unsigned long)size, (unsigned long)usual_resize(size),
              (unsigned long)size);
    *crop = size;
    *resize = usual_resize(size);
    return OCDM_OK;
}

ocdm_status ocdm__run_settings_resolve_model(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                             ocdm_error *error)
{
    OCDM_TRY(check_model(settings, stream, path, error));
    OCDM_TRY(check_needs(settings, stream, OCDM__NEED(MODEL) | OCDM__NEED(IMAGES), error));
    OCDM_TRY(ocdm__store_fill_memory(settings, stream, path, error));
    if (ocdm__run_has_agent(settings) && ocdm__model_takes_images(settings->model)) {
        OCDM_TRY(ocdm__take_image_size(settings->image_size, OCDM_NONE, &settings->resize, &settings->crop, error));
        /* Images in the stream keep their size; image files may have any size and are resized to the usual one. */
        bool files = strcmp(ocdm__stream_kind(stream), "files") == 0;
        size_t side = stream->shape.height < stream->shape.width ? stream->shape.height : stream->shape.width;
        if (settings->crop == OCDM_NONE)
            settings->crop = files ? USUAL_CROP : (uint32_t)side;
        if (settings->resize == OCDM_NONE)
            settings->resize = !files ? 0 : settings->crop > USUAL_CROP ? usual_resize(settings->crop) : USUAL_RESIZE;
    }
    return settings->groups != NULL ? OCDM_OK : ocdm__evaluation_usual_groups(&stream->table, &settings->groups, error);
}

ocdm_status ocdm__run_settings_digest_weights(ocdm__run_settings *settings, ocdm_error *error)
{
    ocdm__mapped_file file = {.bytes = NULL};
    ocdm__sha256 sha;
    settings->weights_sha256[0] = '\0';
    if (settings->weights == NULL)
        return OCDM_OK;
    OCDM_TRY(ocdm__map_file(&file, settings->weights, error));
    ocdm__sha256_begin(&sha);
    ocdm__sha256_add(&sha, file.bytes, file.size);
    ocdm__sha256_end(&sha, settings->weights_sha256);
    ocdm__unmap_file(&file);
    return OCDM_OK;
}

ocdm_status ocdm__run_settings_resolve(ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                       ocdm_error *error)
{
    /* Numbers that were not read from a text, as those of a program around the library, may be out of the range of their row.
     */
    const ocdm__setting *row;
    for (size_t i = 0; (row = ocdm__setting_at(i)) != NULL; i++) {
        const void *member = ocdm__setting_member(settings, row);
        bool real = row->kind == OCDM__SETTING_REAL || row->kind == OCDM__SETTING_OPTIONAL_REAL;
        bool whole = row->kind == OCDM__SETTING_WHOLE || row->kind == OCDM__SETTING_OPTIONAL_WHOLE;
        double value = real ? *(const double *)member : whole ? *(const uint32_t *)member : 0;
        bool none = (row->kind == OCDM__SETTING_OPTIONAL_REAL && value == 0) ||
                    (row->kind == OCDM__SETTING_OPTIONAL_WHOLE && value == OCDM_NONE);
        REFUSE_IF((real || whole) && !none && !(value >= row->low && value <= row->high),
                  "`ocdm run --help` lists the settings", "%s %g is out of range: %g to %g", row->flag, value, row->low,
                  row->high);
    }
    OCDM_TRY(ocdm__store_fill_memory(settings, stream, path, error));
    OCDM_TRY(check_method(settings, error));
    OCDM_TRY(check_samples(settings, stream, path, error));
    OCDM_TRY(check_needs(settings, stream, UINT32_MAX, error));
    OCDM_TRY(ocdm__network_settings_check(&settings->network, error));
    REFUSE_IF(settings->own_learner && settings->replay_policy == OCDM__REPLAY_LOSS, "such as --replay-policy balanced",
              "--replay-policy loss: ocdm does not know the losses of the model %s", settings->model);
    REFUSE_IF(settings->own_learner && settings->budget.operations > 0, "give the budget in seconds, such as --budget 20ms",
              "ocdm does not know the operations of the model %s", settings->model);
    OCDM_TRY(ocdm__run_settings_resolve_model(settings, stream, path, error));
    return ocdm__run_settings_digest_weights(settings, error);
}
