/*
 * Opens weights files and finds out what they are.
 *
 * Which model a file is of follows from its tensors; what the file says about itself must agree with them.
 */

#include "experiment/weights_file.h"

#include <unistd.h>

#include "agent/model.h"
#include "base/bytes.h"
#include "base/text.h"
#include "experiment/folder/checkpoint.h"

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

/* A zip archive or a bare pickle. The length of a safetensors header may start with any bytes, but after its eight comes the
 * header's brace. */
static bool is_pickle(const ocdm__mapped_file *file)
{
    const unsigned char *bytes = file->bytes;
    if (file->size < 4 || (file->size > 8 && bytes[8] == '{'))
        return false;
    return memcmp(bytes, "PK\x03\x04", 4) == 0 || (bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5);
}

/* Finds the wrapper of the tensor that every network has one of: its first weights, or its head. Wrappers are those of
 * torch.nn.parallel, torch.compile, Lightning, training scripts, and our checkpoints; any may follow any. Tensors beside the
 * wrapper, as those of an optimiser, are not of the network. */
static ocdm_status unwrap(ocdm__weights_file *weights, ocdm_error *error)
{
    static const char *const wrappers[] = {
        "module.", "_orig_mod.", "model.", "state_dict.", "model_state_dict.", "net.", OCDM__CHECKPOINT_LEARNER};
    static const char *const firsts[] = {"conv1.weight", "hidden.weight", "fc.weight"};
    size_t count = weights->whole.tensor_count;
    for (size_t k = 0; k < sizeof firsts / sizeof *firsts && weights->wrapper == NULL; k++)
        for (size_t i = 0; i < count && weights->wrapper == NULL; i++) {
            struct ocdm__tensor rest = weights->whole.tensors[i];
            for (size_t w = 0; w < sizeof wrappers / sizeof *wrappers; w++) {
                size_t length = ocdm__tensor_prefix(&rest, wrappers[w]);
                rest.name += length;
                rest.name_length -= length;
                w = length > 0 ? (size_t)-1 : w;
            }
            if (!ocdm__text_is(rest.name, rest.name_length, firsts[k]))
                continue;
            weights->wrapper = weights->whole.tensors[i].name;
            weights->wrapper_length = weights->whole.tensors[i].name_length - rest.name_length;
        }
    weights->tensors = weights->whole;
    weights->tensors.tensor_count = 0;
    OCDM_TRY(ocdm__new(&weights->tensors.tensors, count + 1, sizeof *weights->tensors.tensors, "a file's tensors", error));
    for (size_t i = 0; i < count; i++) {
        struct ocdm__tensor tensor = weights->whole.tensors[i];
        bool is_wrapped = weights->wrapper_length == 0 || (tensor.name_length > weights->wrapper_length &&
                                                           memcmp(tensor.name, weights->wrapper, weights->wrapper_length) == 0);
        if (!is_wrapped)
            continue;
        tensor.name += weights->wrapper_length;
        tensor.name_length -= weights->wrapper_length;
        weights->tensors.tensors[weights->tensors.tensor_count++] = tensor;
    }
    return OCDM_OK;
}

ocdm_status ocdm__weights_open_any(ocdm__weights_file *weights, const char *path, ocdm_error *error)
{
    OCDM_TRY(ocdm__map_file(&weights->map, path, error));
    ocdm_status status =
        is_pickle(&weights->map)
            ? ocdm__fail(error, OCDM_BAD_FILE,
                         "convert it once, in Python: safetensors.torch.save_file(torch.load(FILE, weights_only=True), "
                         "\"W.safetensors\")",
                         "%s: a pickled file (.pt, .pth), which could run anything when it is read", path)
            : ocdm__safetensors_read(&weights->whole, path, weights->map.bytes, weights->map.size, error);
    OCDM_THEN(status, unwrap(weights, error));
    if (status != OCDM_OK)
        ocdm__weights_close(weights);
    return status;
}

ocdm_status ocdm__weights_open(ocdm__weights_file *weights, const char *path, ocdm_error *error)
{
    OCDM_TRY(ocdm__weights_open_any(weights, path, error));
    ocdm_status status = ocdm__weights_check_kind(weights, error);
    if (status != OCDM_OK)
        ocdm__weights_close(weights);
    return status;
}

void ocdm__weights_close(ocdm__weights_file *weights)
{
    ocdm__release(weights->tensors.tensors);
    ocdm__safetensors_close(&weights->whole);
    ocdm__unmap_file(&weights->map);
    *weights = (ocdm__weights_file){.map = {.bytes = NULL}};
}

/* ---- what it is ---------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__weights_check_kind(const ocdm__weights_file *weights, ocdm_error *error)
{
    const struct ocdm__note *format = ocdm__safetensors_note(&weights->whole, "format");
    if (ocdm__note_is(format, OCDM__CHECKPOINT_FORMAT)) {
        const char *path = weights->map.name;
        static const char name[] = "weights.safetensors";
        char take[300];
        const char *slash = strrchr(path, '/');
        int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
        snprintf(take, sizeof take, "%.*s%s", folder < 200 ? folder : 0, path, name);
        if (access(take, R_OK) == 0)
            return ocdm__fail(error, OCDM_BAD_FILE, "", "%s: this is the checkpoint of a run; take its weights, %s", path,
                              take);
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm run --resume` finishes it and writes them: weights.safetensors",
                          "%s: this is the checkpoint of a run that has not written its weights yet", path);
    }
    if (ocdm__note_is(format, "ocdm-stream"))
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm run` leaves weights: weights.safetensors",
                          "%s: this is a stream, not a weights file", weights->map.name);
    return OCDM_OK;
}

ocdm_status ocdm__weights_describe(const ocdm__weights_file *weights, struct ocdm__weights_fit *fit, ocdm__weights_about *about,
                                   ocdm_error *error)
{
    const char *path = weights->map.name;
    OCDM_TRY(ocdm__weights_fit(&weights->tensors, fit, error));
    OCDM_TRY(ocdm__weights_about_read(about, path, &weights->whole, error));
    if (!ocdm__weights_about_known(about) || fit->model == NULL)
        return OCDM_OK;
    if (about->class_count == fit->class_count && about->features == fit->features)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_FILE, "the file is damaged or was edited: use another copy",
                      "%s: the metadata is of %zu classes and %" PRIu32 " features, the tensors of %" PRIu32 " and %" PRIu32,
                      path, about->class_count, about->features, fit->class_count, fit->features);
}

ocdm_status ocdm__weights_choose_model(const ocdm__weights_file *weights, const struct ocdm__weights_fit *fit,
                                       const char **model, ocdm_error *error)
{
    if (*model == NULL)
        *model = fit->model;
    if (*model != NULL)
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm weights info FILE` lists them; docs/agent.md describes the models",
                      "%s: the tensors are %s", weights->map.name, fit->reason);
}

ocdm_status ocdm__weights_check_head(const char *path, const struct ocdm__weights_fit *fit, size_t classes, ocdm_error *error)
{
    if (fit->class_count == 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "`ocdm stream featurize` needs no head; predicting does",
                          "%s: the weights have no head, so they cannot predict", path);
    if (fit->class_count != classes)
        return ocdm__fail(error, OCDM_BAD_FILE, "weights can predict the classes that they were trained with",
                          "%s: the head of the weights has %" PRIu32 " classes, the stream has %zu", path, fit->class_count,
                          classes);
    return OCDM_OK;
}

ocdm_status ocdm__weights_check_classes(const char *path, const ocdm__weights_about *about, const ocdm__stream_table *table,
                                        ocdm_error *error)
{
    for (size_t i = 0; i < about->class_count && i < table->class_count; i++) {
        size_t length, other_length;
        const char *name = ocdm__text_at(&about->classes, i, &length);
        const char *other = ocdm__text_at(&table->classes, i, &other_length);
        if (length == other_length && memcmp(name, other, length) == 0)
            continue;
        return ocdm__fail(error, OCDM_BAD_FILE, "weights can predict the classes that they were trained with, in their order",
                          "%s: class %zu of the weights is %s, that of the stream is %s", path, i,
                          ocdm__show_label(name, length).text, ocdm__show_label(other, other_length).text);
    }
    return OCDM_OK;
}

/* The weights carry what the stream of their run carried, bit by bit. */
static ocdm_status compare_moments(const char *path, const ocdm__weights_about *about, const ocdm__stream *stream,
                                   ocdm_error *error)
{
    static const char hint[] = "build the stream without --standardize: raw features are standardized as the weights say";
    const unsigned char *mean = ocdm__stream_moments(stream, "feature_mean");
    const unsigned char *deviation = ocdm__stream_moments(stream, "feature_deviation");
    if (about->feature_mean == NULL)
        return ocdm__fail(error, OCDM_BAD_FILE, hint, "%s was trained on raw features, and those of %s are standardized", path,
                          stream->file.name);
    for (size_t i = 0; i < about->features; i++) {
        float other_mean = ocdm__get_float(mean + 4 * i), other_deviation = ocdm__get_float(deviation + 4 * i);
        if (about->feature_mean[i] == other_mean && about->feature_deviation[i] == other_deviation)
            continue;
        return ocdm__fail(
            error, OCDM_BAD_FILE, hint,
            "%s and %s: the features were standardized in two ways; feature %zu has mean %g and deviation %g in the "
            "weights, %g and %g in the stream",
            path, stream->file.name, i, (double)about->feature_mean[i], (double)about->feature_deviation[i], (double)other_mean,
            (double)other_deviation);
    }
    return OCDM_OK;
}

ocdm_status ocdm__weights_match_features(const char *path, const ocdm__weights_about *about, ocdm__stream *stream,
                                         void (*note)(const char *text), ocdm_error *error)
{
    bool standardized =
        ocdm__stream_moments(stream, "feature_mean") != NULL && ocdm__stream_moments(stream, "feature_deviation") != NULL;
    if (!ocdm__weights_about_known(about) || stream->shape.kind != OCDM__FEATURES || about->features != stream->shape.width)
        return OCDM_OK;
    if (standardized)
        return compare_moments(path, about, stream, error);
    if (about->feature_mean == NULL)
        return OCDM_OK;
    stream->mean = about->feature_mean;
    stream->deviation = about->feature_deviation;
    if (note != NULL)
        note("the features of the stream are raw; they are standardized by the mean and deviation that the weights carry");
    return OCDM_OK;
}

void ocdm__weights_tell_size(const ocdm__weights_about *about, uint32_t resize, uint32_t crop, void (*note)(const char *text))
{
    char text[160];
    if (!about->images || (resize == about->resize && crop == about->crop) || note == NULL)
        return;
    snprintf(text, sizeof text,
             "the weights were trained with --resize %" PRIu32 " --crop %" PRIu32 "; they are used with --resize %" PRIu32
             " --crop %" PRIu32,
             about->resize, about->crop, resize, crop);
    note(text);
}

void ocdm__weights_choose_size(const ocdm__weights_about *about, uint32_t *resize, uint32_t *crop,
                               void (*note)(const char *text))
{
    if (!about->images)
        return;
    if (*resize == 0)
        *resize = *crop > about->resize && about->resize > 0 ? *crop : about->resize;
    if (*crop == 0)
        *crop = *resize > 0 && *resize < about->crop ? *resize : about->crop;
    ocdm__weights_tell_size(about, *resize, *crop, note);
}

void ocdm__weights_usual_size(const ocdm__weights_about *about, uint32_t *resize, uint32_t *crop)
{
    const ocdm__image_settings usual = ocdm__image_settings_default();
    if (*resize == 0 && !about->images)
        *resize = *crop > usual.resize ? *crop : usual.resize;
    if (*crop == 0)
        *crop = *resize < usual.crop ? *resize : usual.crop;
}

ocdm_status ocdm__weights_check_size(const char *model, uint32_t resize, uint32_t crop, ocdm_error *error)
{
    if (ocdm__model_takes_images(model) || (resize == 0 && crop == 0))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --resize, --crop and --image-size out", "the model %s takes no images",
                      model);
}

uint64_t ocdm__weights_parameters(const struct ocdm__safetensors *file)
{
    static const char *const others[] = {".running_mean", ".running_var", ".num_batches_tracked"};
    uint64_t count = 0;
    for (size_t i = 0; i < file->tensor_count; i++) {
        const struct ocdm__tensor *tensor = &file->tensors[i];
        bool learned = ocdm__tensor_prefix(tensor, "adam.") == 0 && ocdm__tensor_prefix(tensor, "ema.") == 0;
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            size_t length = strlen(others[k]);
            learned = learned && (tensor->name_length < length ||
                                  memcmp(tensor->name + tensor->name_length - length, others[k], length) != 0);
        }
        count += learned ? tensor->size / ocdm__dtype_size(tensor->dtype) : 0;
    }
    return count;
}
