/*
 * Checks the settings of a run against each other and against the stream, and fills in what depends on the stream.
 *
 * A setting that would have no effect is refused: the files of a run name all its settings, and none of them may mislead.
 */
#include "experiment/loop/settings.h"

#include <string.h>

#include "agent/model.h"
#include "base/error.h"
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
    REFUSE_IF(settings->epochs != 1 && !ocdm__is_upper_bound(method), "leave --epochs out, or take --method multitask",
              "%s sees the stream once: --epochs %lu is for multitask alone", method, (unsigned long)settings->epochs);
    return OCDM_OK;
}

/* Numbers that were not read from a text, as those of a program around the library, may be out of the range of their row. */
static ocdm_status check_numbers(ocdm__run_settings *settings, ocdm_error *error)
{
    const ocdm__setting *setting;
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++) {
        const void *member = ocdm__setting_member(settings, setting);
        bool real = setting->kind == OCDM__SETTING_REAL || setting->kind == OCDM__SETTING_OPTIONAL_REAL;
        bool whole = setting->kind == OCDM__SETTING_WHOLE || setting->kind == OCDM__SETTING_OPTIONAL_WHOLE;
        if (!real && !whole)
            continue;
        double value = real ? *(const double *)member : *(const uint32_t *)member;
        bool none = (setting->kind == OCDM__SETTING_OPTIONAL_REAL && value == 0) ||
                    (setting->kind == OCDM__SETTING_OPTIONAL_WHOLE && value == OCDM_NONE);
        REFUSE_IF(!none && !(value >= setting->low && value <= setting->high), "`ocdm run --help` lists the settings",
                  "%s %g is out of range: %g to %g", setting->flag, value, setting->low, setting->high);
    }
    return OCDM_OK;
}

/* --precision, --validation and --resample-tests need a model, --resize and --crop a model of images. */
static ocdm_status check_images(const ocdm__run_settings *settings, ocdm_error *error)
{
    const char *model = settings->model;
    if (ocdm__run_has_agent(settings) && ocdm__model_takes_images(model))
        return OCDM_OK;
    REFUSE_IF(settings->network.precision == OCDM__PRECISION_BF16 && !ocdm__run_has_agent(settings), "leave --precision out",
              "the model %s computes nothing", model);
    REFUSE_IF((settings->validation > 0 || settings->resample_tests) && !ocdm__run_has_agent(settings),
              "leave --validation and --resample-tests out", "the model %s predicts nothing that could be evaluated", model);
    REFUSE_IF(settings->image_size != OCDM_NONE, "leave --image-size out", "the model %s takes no images", model);
    REFUSE_IF(settings->resize != OCDM_NONE || settings->crop != OCDM_NONE, "leave --resize and --crop out",
              "the model %s takes no images", model);
    return OCDM_OK;
}

/* What concerns the networks of this program alone. */
static bool has_training_options(const ocdm__run_settings *settings)
{
    const ocdm__run_settings usual = ocdm__run_settings_default();
    const ocdm__network_settings *own = &settings->network, *other = &usual.network;
    return own->loss.kind != other->loss.kind || own->loss.negatives != other->loss.negatives ||
           own->loss.focal != other->loss.focal || own->loss.dark != other->loss.dark || settings->loss_balance != 0 ||
           own->averages.count > 0 || own->optimiser != other->optimiser || own->weight_decay != other->weight_decay ||
           settings->replay_policy == OCDM__REPLAY_LOSS || own->lr_schedule != other->lr_schedule ||
           own->horizon != other->horizon || own->warmup != other->warmup || settings->pseudo != 0;
}

/* Ridge takes no steps, and counts every sample once. */
static ocdm_status check_ridge(const ocdm__run_settings *settings, ocdm_error *error)
{
    const ocdm__run_settings usual = ocdm__run_settings_default();
    REFUSE_IF(settings->network.precision == OCDM__PRECISION_BF16 || settings->weights != NULL,
              "leave --precision and --weights out", "ridge computes in double precision, and from the stream alone");
    REFUSE_IF(settings->network.learning_rate != usual.network.learning_rate ||
                  settings->network.epsilon != usual.network.epsilon || settings->network.clip != 0,
              "leave --lr, --adam-eps and --clip out", "ridge is solved and takes no steps");
    REFUSE_IF(ocdm__is_upper_bound(settings->method), "--method finetune is the same as training on all data",
              "multitask trains on earlier samples again, and ridge counts each sample once");
    return OCDM_OK;
}

/* Settings that would be ignored are refused, rather than left in the files of a run as if they had counted. */
static ocdm_status check_learning(const ocdm__run_settings *settings, ocdm_error *error)
{
    bool ridge = ocdm__run_is_ridge(settings);
    if (ridge)
        OCDM_TRY(check_ridge(settings, error));
    REFUSE_IF(has_training_options(settings) && (ridge || settings->own_learner || !ocdm__run_has_agent(settings)),
              "leave the flags of loss, optimiser and schedule, --ema and --pseudo out",
              "ocdm does not train the model %s by gradients", settings->model);
    REFUSE_IF((settings->replay_policy != OCDM__REPLAY_UNIFORM || settings->network.loss.dark != 0) &&
                  (!ocdm__run_has_memory(settings) || !ocdm__run_has_agent(settings) || ridge || settings->replay == 0),
              "leave --replay-policy and --dark out", "nothing is replayed: --method %s, --model %s, --replay %lu",
              settings->method, settings->model, (unsigned long)settings->replay);
    OCDM_TRY(ocdm__network_settings_check(&settings->network, error));
    REFUSE_IF(settings->average_start != OCDM__AVERAGE_SINCE_STREAM && settings->network.averages.count == 0,
              "such as --ema 0.999", "--ema-start %s: there are no averages to start",
              ocdm__run_average_starts[settings->average_start]);
    REFUSE_IF(settings->network.average_delay > 0 && settings->network.averages.count == 0, "such as --ema 0.999",
              "--ema-delay: there are no averages to delay");
    /* What is of one optimiser or one model alone must not be given to another, which would ignore it. */
    const ocdm__run_settings usual = ocdm__run_settings_default();
    bool sgd = settings->network.optimiser == OCDM__OPTIMISER_SGD;
    REFUSE_IF(!sgd && settings->network.momentum != usual.network.momentum, "leave --momentum out, or take --optimiser sgd",
              "--momentum is of sgd, the optimiser is %s", ocdm__run_optimisers[settings->network.optimiser]);
    REFUSE_IF(sgd && settings->network.epsilon != usual.network.epsilon, "leave --adam-eps out", "sgd has no epsilon");
    REFUSE_IF(!ocdm__run_is_ridge(settings) && settings->lambda != usual.lambda, "leave --lambda out, or take --model ridge",
              "--lambda is of ridge, the model is %s", settings->model);
    REFUSE_IF(!ocdm__run_is_ridge(settings) && (settings->project > 0 || settings->class_balance),
              "leave them out, or take --model ridge", "--project and --class-balance are of ridge, the model is %s",
              settings->model);
    return OCDM_OK;
}

/* Pseudo-labels are guesses of an average about what nobody annotated. */
static ocdm_status check_pseudo(const ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                                ocdm_error *error)
{
    REFUSE_IF(settings->pseudo > 0 && settings->network.averages.count == 0, "such as --ema 0.999",
              "--pseudo: there is no averaged model to ask");
    REFUSE_IF(settings->pseudo > 0 && stream->table.known == NULL,
              "`ocdm stream build --recipe incremental` makes such streams", "%s: --pseudo: every label of the stream is known",
              path);
    return OCDM_OK;
}

/* What is measured beside the usual metrics needs what it is measured with. */
static ocdm_status check_measures(const ocdm__run_settings *settings, ocdm_error *error)
{
    REFUSE_IF(settings->threshold == OCDM__THRESHOLD_VALIDATION && settings->validation == 0, "such as --validation 0.1",
              "--threshold validation: no samples are held out");
    REFUSE_IF(settings->threshold == OCDM__THRESHOLD_VALIDATION && settings->own_learner, "leave --threshold out",
              "--threshold validation asks the model in the loop, the model %s is outside", settings->model);
    REFUSE_IF(settings->transfer && (!ocdm__run_has_agent(settings) || settings->own_learner), "leave --transfer out",
              "--transfer asks the model about tasks to come, the model %s cannot be asked", settings->model);
    return OCDM_OK;
}

/* Steps, budgets and evaluations at any time. A method that trains on all samples so far has no stream that could move on;
 * ridge counts a sample once. */
static ocdm_status check_protocol(const ocdm__run_settings *settings, ocdm_error *error)
{
    const ocdm__run_settings usual = ocdm__run_settings_default();
    bool limited = settings->budget.seconds > 0 || settings->budget.operations > 0;
    REFUSE_IF(settings->steps_per_batch > 1 && (!ocdm__run_has_agent(settings) || ocdm__run_is_ridge(settings)),
              "leave --steps-per-batch out", "the model %s is not trained in steps", settings->model);
    REFUSE_IF(limited && !ocdm__run_has_agent(settings), "leave --budget out", "the model %s computes nothing",
              settings->model);
    REFUSE_IF(limited && ocdm__is_upper_bound(settings->method), "leave --budget out, or choose another method",
              "%s trains on all samples so far: no stream passes while it is busy", settings->method);
    REFUSE_IF(settings->budget.operations > 0 && settings->own_learner, "give the budget in seconds, such as --budget 20ms",
              "ocdm does not know the operations of the model %s", settings->model);
    REFUSE_IF(settings->eval_every > 0 && !ocdm__run_has_agent(settings), "leave --eval-every out",
              "the model %s predicts nothing that could be evaluated", settings->model);
    REFUSE_IF(settings->eval_every == 0 && settings->eval_samples != usual.eval_samples, "such as --eval-every 100",
              "--eval-samples without --eval-every");
    return OCDM_OK;
}

/* The model must exist and take what the stream has. */
static ocdm_status check_model(const ocdm__run_settings *settings, const ocdm__stream *stream, const char *path,
                               ocdm_error *error)
{
    const char *model = settings->model, *kind = ocdm__stream_kind(stream);
    if (!ocdm__run_has_agent(settings)) {
        if (settings->weights == NULL)
            return check_images(settings, error);
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --weights out, or name its model", "--weights with --model none");
    }
    if (!settings->own_learner && !ocdm__is_among(model, ocdm__run_models))
        return ocdm__fail(error, OCDM_UNKNOWN_NAME, "`ocdm run --help` lists the models", "there is no model \"%s\"", model);
    if (settings->own_inputs)
        return check_images(settings, error);
    REFUSE_IF(strcmp(kind, "labels") == 0, "--model none runs the memory alone",
              "%s: the stream has labels and nothing that a model could learn from", path);
    bool images = ocdm__model_takes_images(model);
    REFUSE_IF(images != (strcmp(kind, "features") != 0),
              images ? "linear and mlp learn from features" : "cnn, mobilenet1 and the resnets learn from images",
              "%s: the stream has %s, the model %s takes %s", path, images ? "features" : "images", model,
              images ? "images" : "features");
    return check_images(settings, error);
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
    OCDM_TRY(check_numbers(settings, error));
    OCDM_TRY(ocdm__store_fill_memory(settings, stream, path, error));
    OCDM_TRY(check_method(settings, error));
    OCDM_TRY(check_samples(settings, stream, path, error));
    OCDM_TRY(check_learning(settings, error));
    OCDM_TRY(check_protocol(settings, error));
    OCDM_TRY(check_pseudo(settings, stream, path, error));
    OCDM_TRY(check_measures(settings, error));
    OCDM_TRY(ocdm__run_settings_resolve_model(settings, stream, path, error));
    return ocdm__run_settings_digest_weights(settings, error);
}
