/*
 * Writes and reads the metadata of weights files.
 *
 * Entries are read with the care for files from elsewhere, although only those of this program have them: a file may be
 * damaged or edited.
 */
#include "experiment/folder/weights_about.h"

#include "agent/model.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiment/loop/settings.h"

enum { MOST_NOTES = 12 };

ocdm__image_scale ocdm__image_scale_of(const char *model)
{
    static const ocdm__image_scale symmetric = {.mean = {0.5F, 0.5F, 0.5F}, .deviation = {0.5F, 0.5F, 0.5F}},
                                   usual = {.mean = OCDM__IMAGENET_MEAN, .deviation = OCDM__IMAGENET_DEVIATION};
    ocdm__image_scale scale = ocdm__model_is_symmetric(model) ? symmetric : usual;
    const float *mean = scale.mean, *deviation = scale.deviation;
    snprintf(scale.mean_text, sizeof scale.mean_text, "[%g,%g,%g]", (double)mean[0], (double)mean[1], (double)mean[2]);
    snprintf(scale.deviation_text, sizeof scale.deviation_text, "[%g,%g,%g]", (double)deviation[0], (double)deviation[1],
             (double)deviation[2]);
    return scale;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__run_id(const ocdm__run *run, char id[OCDM__RUN_ID], ocdm_error *error)
{
    char checksum[OCDM__CHECKSUM_TEXT], digest[OCDM__SHA256_TEXT];
    ocdm__output settings;
    ocdm__sha256 sha;
    OCDM_TRY(ocdm__output_open_memory(&settings, "the settings", error));
    ocdm__run_settings_write(&settings, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    ocdm__checksum_text(run->stream->checksum, checksum);
    ocdm__output_text(&settings, checksum);
    ocdm_status status = ocdm__output_check(&settings, error);
    ocdm__sha256_begin(&sha);
    ocdm__sha256_add(&sha, settings.buffer, settings.used);
    ocdm__sha256_end(&sha, digest);
    ocdm__output_abandon(&settings);
    snprintf(id, OCDM__RUN_ID, "%.16s", digest);
    return status;
}

/* Notes whose values follow each other in memory, each ended by a NUL. */
struct notes {
    ocdm__output texts;
    const char *keys[MOST_NOTES];
    size_t starts[MOST_NOTES], count;
};

/* Starts a value; the caller appends it to `texts`. */
static ocdm__output *begin_note(struct notes *notes, const char *key)
{
    if (notes->count > 0)
        ocdm__output_write(&notes->texts, "", 1);
    notes->keys[notes->count] = key;
    notes->starts[notes->count++] = notes->texts.used;
    return &notes->texts;
}

static void add_text(struct notes *notes, const char *key, const char *text)
{
    ocdm__output_text(begin_note(notes, key), text);
}

/* The mean or deviation of features that the stream has standardized. */
static void add_moments(struct notes *notes, const char *key, const ocdm__stream *stream)
{
    const unsigned char *values = ocdm__stream_moments(stream, key);
    if (values == NULL)
        return;
    ocdm__output *output = begin_note(notes, key);
    for (size_t i = 0; i < stream->shape.width; i++) {
        char text[24];
        snprintf(text, sizeof text, "%s%.9g", i > 0 ? "," : "[", (double)ocdm__get_float(values + 4 * i));
        ocdm__output_text(output, text);
    }
    ocdm__json_close(output, ']');
}

void ocdm__class_names_write(ocdm__output *output, const ocdm__text_list *classes, size_t count)
{
    ocdm__json_open(output, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *name = ocdm__text_at(classes, i, &length);
        ocdm__json_bytes(output, NULL, name, length);
    }
    ocdm__json_close(output, ']');
}

/* docs/agent.md describes each of the notes. */
ocdm_status ocdm__weights_write(const ocdm__run *run, const char *average, const char *path, ocdm_error *error)
{
    char id[OCDM__RUN_ID];
    const ocdm__payload_shape *shape = &run->stream->shape;
    const ocdm__image_scale scale = ocdm__image_scale_of(run->settings->model);
    struct notes notes = {.count = 0};
    struct ocdm__note list[MOST_NOTES];
    OCDM_TRY(ocdm__run_id(run, id, error));
    OCDM_TRY(ocdm__output_open_memory(&notes.texts, "a file's header", error));
    add_text(&notes, "format", "pt");
    add_text(&notes, "model", run->settings->model);
    add_text(&notes, "ocdm", ocdm_version());
    add_text(&notes, "run", id);
    if (average != NULL)
        add_text(&notes, "ema", average);
    add_text(&notes, "input", shape->kind == OCDM__FEATURES ? "features" : "images");
    if (shape->kind == OCDM__FEATURES) {
        ocdm__output_uint64(begin_note(&notes, "features"), shape->width);
        add_moments(&notes, "feature_mean", run->stream);
        add_moments(&notes, "feature_deviation", run->stream);
    } else {
        ocdm__output_uint64(begin_note(&notes, "resize"), run->inputs->resize);
        ocdm__output_uint64(begin_note(&notes, "crop"), run->inputs->side);
        add_text(&notes, "mean", scale.mean_text);
        add_text(&notes, "std", scale.deviation_text);
    }
    ocdm__class_names_write(begin_note(&notes, "classes"), &run->stream->table.classes, run->stream->table.class_count);
    ocdm__output_write(&notes.texts, "", 1);
    ocdm_status status = ocdm__output_check(&notes.texts, error);
    for (size_t i = 0; status == OCDM_OK && i < notes.count; i++)
        list[i] = (struct ocdm__note){.key = notes.keys[i], .value = notes.texts.buffer + notes.starts[i]};
    OCDM_THEN(status, ocdm__learner_save(run->learner, list, notes.count, path, error));
    ocdm__output_abandon(&notes.texts);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

struct reading {
    const char *name;
    const struct ocdm__safetensors *file;
    ocdm_error *error;
};

/* Only files of ours are read: an entry that makes no sense was edited. */
static ocdm_status fail(const struct reading *reading, const char *key)
{
    return ocdm__fail(reading->error, OCDM_BAD_FILE, "the file is damaged or was edited: use another copy",
                      "%s: the entry %s of the metadata makes no sense", reading->name, key);
}

/* A text that would not print as it is was edited too. */
static ocdm_status read_text(const struct reading *reading, const char *key, char *text, size_t room)
{
    const struct ocdm__note *note = ocdm__safetensors_note(reading->file, key);
    if (note == NULL || note->value_length >= room)
        return fail(reading, key);
    text[ocdm__json_unescape(note->value, note->value_length, text)] = '\0';
    return ocdm__show_label(text, strlen(text)).width == strlen(text) ? OCDM_OK : fail(reading, key);
}

/* A whole number up to `high`. */
static ocdm_status read_number(const struct reading *reading, const char *key, uint64_t high, uint32_t *number)
{
    const struct ocdm__note *note = ocdm__safetensors_note(reading->file, key);
    uint64_t value;
    if (note == NULL || !ocdm__text_to_whole(note->value, note->value_length, 0, high, &value))
        return fail(reading, key);
    *number = (uint32_t)value;
    return OCDM_OK;
}

/* A list in JSON. The caller clears the tree. */
static ocdm_status read_list(const struct reading *reading, const char *key, ocdm__json_tree *tree)
{
    const struct ocdm__note *note = ocdm__safetensors_note(reading->file, key);
    if (note == NULL)
        return fail(reading, key);
    char *text;
    OCDM_TRY(ocdm__new(&text, note->value_length + 1, 1, "a file's metadata", reading->error));
    text[ocdm__json_unescape(note->value, note->value_length, text)] = '\0';
    ocdm_status status = ocdm__json_tree_parse(tree, key, text, strlen(text), NULL);
    ocdm__release(text);
    if (status == OCDM_NO_MEMORY)
        return ocdm__fail_memory(reading->error, "a file's metadata");
    return status == OCDM_OK && tree->root->kind == OCDM__JSON_ARRAY ? OCDM_OK : fail(reading, key);
}

/* As many finite numbers as there are features. */
static ocdm_status read_floats(const struct reading *reading, const char *key, size_t count, float **values)
{
    ocdm__json_tree tree = {.root = NULL};
    ocdm_status status = read_list(reading, key, &tree);
    const ocdm__json_node *node = status == OCDM_OK ? tree.root->first : NULL;
    OCDM_THEN(status, tree.root->count == count ? OCDM_OK : fail(reading, key));
    *values = status == OCDM_OK ? ocdm__allocate(count, sizeof **values) : NULL;
    OCDM_THEN(status, *values != NULL ? OCDM_OK : ocdm__fail_memory(reading->error, "the mean and deviation of features"));
    for (size_t i = 0; status == OCDM_OK && i < count; i++, node = node->next) {
        (*values)[i] = (float)node->number;
        status = isfinite((*values)[i]) ? OCDM_OK : fail(reading, key);
    }
    ocdm__json_tree_clear(&tree);
    return status;
}

/* The normalisation belongs to the model; another one could not be applied. */
static ocdm_status read_images(const struct reading *reading, ocdm__weights_about *about)
{
    const struct ocdm__note *model = ocdm__safetensors_note(reading->file, "model");
    const char *name = "";
    for (size_t i = 0; ocdm__model_names[i] != NULL; i++)
        if (ocdm__note_is(model, ocdm__model_names[i]))
            name = ocdm__model_names[i];
    about->images = true;
    OCDM_TRY(read_number(reading, "resize", OCDM__IMAGE_LARGEST_SIDE, &about->resize));
    OCDM_TRY(read_number(reading, "crop", OCDM__IMAGE_LARGEST_SIDE, &about->crop));
    if (about->crop == 0 || (about->resize > 0 && about->crop > about->resize))
        return fail(reading, "crop");
    about->scale = ocdm__image_scale_of(name);
    if (!ocdm__note_is(ocdm__safetensors_note(reading->file, "mean"), about->scale.mean_text))
        return fail(reading, "mean");
    bool same = ocdm__note_is(ocdm__safetensors_note(reading->file, "std"), about->scale.deviation_text);
    return same ? OCDM_OK : fail(reading, "std");
}

ocdm_status ocdm__weights_about_read(ocdm__weights_about *about, const char *name, const struct ocdm__safetensors *file,
                                     ocdm_error *error)
{
    const struct reading reading = {name, file, error};
    const struct ocdm__note *input = ocdm__safetensors_note(file, "input");
    if (ocdm__safetensors_note(file, "ocdm") == NULL)
        return OCDM_OK;
    OCDM_TRY(read_text(&reading, "ocdm", about->program, sizeof about->program));
    OCDM_TRY(read_text(&reading, "run", about->run, sizeof about->run));
    ocdm__json_tree tree = {.root = NULL};
    ocdm_status status = read_list(&reading, "classes", &tree);
    const ocdm__json_node *first = status == OCDM_OK ? tree.root->first : NULL;
    size_t count = status == OCDM_OK ? tree.root->count : 0, size = 0, at = 0;
    for (const ocdm__json_node *node = first; status == OCDM_OK && node != NULL; node = node->next) {
        status = node->kind == OCDM__JSON_STRING ? OCDM_OK : fail(&reading, "classes");
        size += status == OCDM_OK ? strlen(node->text) : 0;
    }
    OCDM_THEN(status,
              ocdm__new(&about->classes.starts, count + 1, sizeof *about->classes.starts, "the names of classes", error));
    OCDM_THEN(status, ocdm__new(&about->classes.bytes, size + 1, 1, "the names of classes", error));
    for (const ocdm__json_node *node = first; status == OCDM_OK && node != NULL; node = node->next) {
        memcpy(about->classes.bytes + at, node->text, strlen(node->text));
        at += strlen(node->text);
        about->classes.starts[++about->class_count] = at;
    }
    ocdm__json_tree_clear(&tree);
    OCDM_TRY(status);
    if (ocdm__note_is(input, "images"))
        return read_images(&reading, about);
    if (!ocdm__note_is(input, "features"))
        return fail(&reading, "input");
    OCDM_TRY(read_number(&reading, "features", INT32_MAX, &about->features));
    if (ocdm__safetensors_note(file, "feature_mean") == NULL) /* they were not standardized */
        return OCDM_OK;
    OCDM_TRY(read_floats(&reading, "feature_mean", about->features, &about->feature_mean));
    return read_floats(&reading, "feature_deviation", about->features, &about->feature_deviation);
}

void ocdm__weights_about_clear(ocdm__weights_about *about)
{
    OCDM_RELEASE(about->classes.starts, about->classes.bytes, about->feature_mean, about->feature_deviation);
    *about = (ocdm__weights_about){.class_count = 0};
}
