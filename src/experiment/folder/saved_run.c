/*
 * Compares a saved run with the requested one, setting by setting.
 *
 * Values are compared as the JSON that a run writes, so that there is no second reader of settings; numbers that are written
 * in two ways are equal if their values are.
 */
#include "experiment/folder/saved_run.h"

#include "base/files.h"
#include "base/json.h"
#include "base/output.h"
#include "base/text.h"
#include "experiment/folder/summary_read.h"
#include "experiment/loop/evaluation.h"

static const char hint[] = "go on with the settings that the run began with, or begin another in a new folder";

/* ---- settings ---------------------------------------------------------------------------------------------------------- */

/* A member of the object that a scanner is in. */
struct member {
    const char *key, *value;
    int key_length, value_length; /* as printf takes them */
};

/* The next member of an object, its value as it is written. False at the end. */
static bool next_member(ocdm__json *json, struct member *member)
{
    if (ocdm__json_next(json) != OCDM__JSON_KEY)
        return false;
    member->key = json->text;
    member->key_length = (int)json->length;
    const char *after_key = (const char *)json->at;
    if (ocdm__json_skip(json, OCDM__JSON_KEY) == OCDM__JSON_ERROR)
        return false;
    member->value = after_key + strspn(after_key, ": ");
    member->value_length = (int)((const char *)json->at - member->value);
    return true;
}

static bool is_same(const char *a, int a_length, const char *b, int b_length)
{
    return a_length == b_length && memcmp(a, b, (size_t)a_length) == 0;
}

static bool is_text(const char *text, int length, const char *wanted)
{
    return is_same(text, length, wanted, (int)strlen(wanted));
}

/* Finds a member of the saved settings. */
static bool find_saved(const ocdm__saved_run *saved, const char *key, struct member *member)
{
    ocdm__json json;
    ocdm__json_begin(&json, saved->settings, saved->settings_length);
    ocdm__json_next(&json);
    while (next_member(&json, member))
        if (is_text(member->key, member->key_length, key))
            return true;
    return false;
}

/* A setting that this version does not know may have changed the results. */
static ocdm_status check_keys(const ocdm__saved_run *saved, ocdm_error *error)
{
    ocdm__json json;
    struct member member;
    ocdm__json_begin(&json, saved->settings, saved->settings_length);
    ocdm__json_next(&json);
    while (next_member(&json, &member)) {
        bool known = is_text(member.key, member.key_length, OCDM__WEIGHTS_DIGEST_KEY);
        for (size_t i = 0; !known && ocdm__setting_at(i) != NULL; i++)
            known = ocdm__setting_at(i)->key != NULL && is_text(member.key, member.key_length, ocdm__setting_at(i)->key);
        if (!known)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a newer version of ocdm made the run; resume it with that version",
                              "%s: unknown setting \"%.*s\"", saved->name, member.key_length, member.key);
    }
    return OCDM_OK;
}

/* A file of groups: a string, and what is between its quotes. */
static bool is_of_a_file(const struct member *member)
{
    return member->value[0] == '"' && ocdm__groups_are_of_a_file(member->value + 1, (size_t)member->value_length - 2);
}

/* Files whose content is stored may have different names: the content is compared afterwards. */
static bool is_same_value(const ocdm__saved_run *saved, const ocdm__setting *setting, const struct member *was,
                          const struct member *is)
{
    double a, b;
    if (is_same(was->value, was->value_length, is->value, is->value_length))
        return true;
    if (setting->kind == OCDM__SETTING_GROUPS)
        return saved->groups != NULL && is_of_a_file(was) && is_of_a_file(is);
    if (setting->kind == OCDM__SETTING_CLASS_FILE)
        return saved->class_weights != NULL && was->value[0] == '"' && is->value[0] == '"';
    return setting->kind == OCDM__SETTING_REAL && ocdm__text_to_double(was->value, (size_t)was->value_length, &a) &&
           ocdm__text_to_double(is->value, (size_t)is->value_length, &b) && a == b;
}

/* Weights are the same if their digests are, whatever their files are called. Where a digest is not known, as with runs of an
 * earlier version, the names are compared: then `decided` is false. */
static ocdm_status compare_weights_files(const ocdm__saved_run *saved, const ocdm__run_settings *asked, bool *decided,
                                         ocdm_error *error)
{
    struct member was;
    const char *is = asked->weights_sha256;
    *decided = is[0] != '\0' && find_saved(saved, OCDM__WEIGHTS_DIGEST_KEY, &was);
    if (!*decided || (was.value_length > 2 && is_text(was.value + 1, was.value_length - 2, is)))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint,
                      "%s: the run began with other weights than %.200s has: SHA-256 %.*s, not %s", saved->name, asked->weights,
                      was.value_length > 2 ? was.value_length - 2 : 0, was.value + 1, is);
}

/* A key that is missing in the file means its default: the run is older than the setting. `text` is room. */
static ocdm_status compare_setting(const ocdm__saved_run *saved, const ocdm__setting *setting, const ocdm__asked_run *asked,
                                   ocdm__output *text, ocdm_error *error)
{
    const ocdm__run_settings defaults = ocdm__run_settings_default();
    struct member was;
    bool decided = false;
    if (setting->kind == OCDM__SETTING_WEIGHTS_FILE)
        OCDM_TRY(compare_weights_files(saved, asked->settings, &decided, error));
    if (decided)
        return OCDM_OK;
    text->used = 0;
    ocdm__setting_write(text, setting, asked->settings, asked->tasks, asked->task_count);
    size_t length = text->used;
    ocdm__output_text(text, "["); /* no comma comes behind it */
    ocdm__setting_write(text, setting, &defaults, asked->tasks, asked->task_count);
    OCDM_TRY(ocdm__output_check(text, error));
    const struct member is = {.value = text->buffer, .value_length = (int)length};
    if (!find_saved(saved, setting->key, &was))
        was = (struct member){.value = text->buffer + length + 1, .value_length = (int)(text->used - length - 1)};
    if (is_same_value(saved, setting, &was, &is))
        return OCDM_OK;
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the run began with %s %.*s, not %.*s", saved->name, setting->key,
                      was.value_length, was.value, is.value_length, is.value);
}

ocdm_status ocdm__saved_settings_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error)
{
    ocdm__output text;
    const ocdm__setting *setting;
    ocdm_status status = OCDM_OK;
    OCDM_TRY(check_keys(saved, error));
    OCDM_TRY(ocdm__output_open_memory(&text, "a setting", error));
    for (size_t i = 0; status == OCDM_OK && (setting = ocdm__setting_at(i)) != NULL; i++)
        if (setting->key != NULL)
            status = compare_setting(saved, setting, asked, &text, error);
    ocdm__output_abandon(&text);
    return status;
}

/* ---- classes ----------------------------------------------------------------------------------------------------------- */

/* The first class whose group or weight in the target is another one. */
static ocdm_status compare_classes(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error)
{
    const ocdm__stream_table *table = &asked->stream->table;
    bool weighted = saved->class_weights != NULL && asked->class_weights != NULL;
    for (size_t c = 0; c < table->class_count; c++) {
        bool group = saved->groups != NULL && saved->groups[c] != asked->groups[c];
        bool weight = weighted && saved->class_weights[c] != asked->class_weights[c];
        if (!group && !weight)
            continue;
        size_t length;
        const char *name = ocdm__text_at(&table->classes, c, &length);
        if (group)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the run began with the class %s in the group %s, not %s",
                              saved->name, ocdm__show_label(name, length).text,
                              ocdm__class_group_name((enum ocdm__class_group)saved->groups[c]),
                              ocdm__class_group_name((enum ocdm__class_group)asked->groups[c]));
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the run began with the weight %g for the class %s, not %g",
                          saved->name, saved->class_weights[c], ocdm__show_label(name, length).text, asked->class_weights[c]);
    }
    return OCDM_OK;
}

ocdm__asked_run ocdm__asked_of(const ocdm__run *run)
{
    return (ocdm__asked_run){.settings = run->settings,
                             .tasks = run->schedule.order.tasks,
                             .task_count = run->schedule.order.task_count,
                             .stream = run->stream,
                             .groups = run->groups,
                             .class_weights = run->class_weights};
}

ocdm_status ocdm__saved_run_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error)
{
    char checksum[OCDM__CHECKSUM_TEXT];
    OCDM_TRY(ocdm__saved_settings_compare(saved, asked, error));
    ocdm__checksum_text(asked->stream->checksum, checksum);
    if (strcmp(saved->checksum, checksum) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "go on with the stream that the run began with, or begin in a new folder",
                          "%s: the stream %s has changed since the run began", saved->name, asked->stream->file.name);
    return compare_classes(saved, asked, error);
}

/* ---- summaries --------------------------------------------------------------------------------------------------------- */

/* `groups` and `weights` are room for those of the file. Settings are compared as they are written, which a tree does not keep.
 */
static ocdm_status compare_summary(const ocdm__mapped_file *file, const ocdm__json_node *root, uint8_t *groups, double *weights,
                                   const ocdm__asked_run *asked, ocdm_error *error)
{
    ocdm__saved_run saved = {.name = file->name};
    const char *checksum = ocdm__json_text(ocdm__json_find(root, "stream.checksum"), "");
    size_t classes = asked->stream->table.class_count;
    char wanted[OCDM__CHECKSUM_TEXT];
    ocdm__json json;
    struct member member;
    ocdm__json_begin(&json, file->bytes, file->size);
    ocdm__json_next(&json);
    while (saved.settings == NULL && next_member(&json, &member))
        if (is_text(member.key, member.key_length, "settings")) {
            saved.settings = member.value;
            saved.settings_length = (size_t)member.value_length;
        }
    if (saved.settings == NULL || strlen(checksum) != OCDM__CHECKSUM_TEXT - 1)
        return ocdm__fail(error, OCDM_BAD_FILE, "name another folder", "%s has no settings or no checksum of the stream",
                          file->name);
    memcpy(saved.checksum, checksum, OCDM__CHECKSUM_TEXT);
    ocdm__checksum_text(asked->stream->checksum, wanted);
    if (strcmp(checksum, wanted) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "name the stream of the run, or another folder",
                          "%.160s: the run was made on the stream %.60s (checksum %.32s), not on %.100s (%s)", file->name,
                          ocdm__json_text(ocdm__json_find(root, "stream.file"), "?"), checksum, asked->stream->file.name,
                          wanted);
    saved.groups = ocdm__summary_groups(root, groups, classes) ? groups : NULL;
    saved.class_weights = ocdm__summary_class_weights(root, weights, classes) ? weights : NULL;
    return ocdm__saved_run_compare(&saved, asked, error);
}

ocdm_status ocdm__summary_compare(const char *path, const ocdm__asked_run *asked, ocdm_error *error)
{
    ocdm__mapped_file file = {.bytes = NULL};
    ocdm__json_tree tree = {.root = NULL};
    uint8_t *groups = ocdm__allocate(asked->stream->table.class_count, sizeof *groups);
    double *weights = ocdm__allocate(asked->stream->table.class_count, sizeof *weights);
    ocdm_status status = groups != NULL && weights != NULL ? ocdm__map_file(&file, path, error)
                                                           : ocdm__fail_memory(error, "the groups and weights of classes");
    OCDM_THEN(status, ocdm__summary_read(&tree, path, error));
    OCDM_THEN(status, compare_summary(&file, tree.root, groups, weights, asked, error));
    ocdm__json_tree_clear(&tree);
    ocdm__unmap_file(&file);
    ocdm__release(groups);
    ocdm__release(weights);
    return status;
}
