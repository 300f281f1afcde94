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

/* A member of an object in JSON, key and value as they are written; lengths are as printf takes them. */
struct member {
    const char *key, *value;
    int key_length, value_length;
};

/* The next member of the object that a scanner is in. False at the end. */
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

/* Finds a member of an object by its key. */
static bool find_member(const char *object, size_t size, const char *key, int key_length, struct member *member)
{
    ocdm__json json;
    ocdm__json_begin(&json, object, size);
    ocdm__json_next(&json);
    while (next_member(&json, member))
        if (is_same(member->key, member->key_length, key, key_length))
            return true;
    return false;
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

/* Two objects, one after the other: the settings that are asked for, and the defaults, which have every key. Weights are the
 * same if their digests are, whatever their files are called; where a digest is not known, as with runs of an earlier version,
 * the names are compared. */
static ocdm_status compare_settings(const ocdm__saved_run *saved, const ocdm__run_settings *settings, const char *asked,
                                    size_t asked_size, size_t both_size, ocdm_error *error)
{
    static const char digest[] = OCDM__WEIGHTS_DIGEST_KEY;
    const char *usual = asked + asked_size;
    size_t usual_size = both_size - asked_size;
    ocdm__json json;
    struct member was, is;
    const ocdm__setting *setting;
    ocdm__json_begin(&json, saved->settings, saved->settings_length);
    ocdm__json_next(&json);
    while (next_member(&json, &was)) /* a setting that this version does not know may have changed the results */
        if (!is_same(was.key, was.key_length, digest, sizeof digest - 1) &&
            !find_member(usual, usual_size, was.key, was.key_length, &is))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a newer version of ocdm made the run; resume it with that version",
                              "%s: unknown setting \"%.*s\"", saved->name, was.key_length, was.key);
    for (size_t i = 0; (setting = ocdm__setting_at(i)) != NULL; i++) {
        if (setting->key == NULL)
            continue;
        if (setting->kind == OCDM__SETTING_WEIGHTS_FILE && settings->weights_sha256[0] != '\0' &&
            find_member(saved->settings, saved->settings_length, digest, sizeof digest - 1, &was)) {
            int length = was.value_length > 2 ? was.value_length - 2 : 0; /* between the quotes */
            if (ocdm__text_is(was.value + 1, (size_t)length, settings->weights_sha256))
                continue;
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint,
                              "%s: the run began with other weights than %.200s has: SHA-256 %.*s, not %s", saved->name,
                              settings->weights, length, was.value + 1, settings->weights_sha256);
        }
        int length = (int)strlen(setting->key);
        (void)find_member(asked, asked_size, setting->key, length, &is);
        if (!find_member(saved->settings, saved->settings_length, setting->key, length, &was)) /* the run is older */
            (void)find_member(usual, usual_size, setting->key, length, &was);
        if (!is_same_value(saved, setting, &was, &is))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, hint, "%s: the run began with %s %.*s, not %.*s", saved->name,
                              setting->key, was.value_length, was.value, is.value_length, is.value);
    }
    return OCDM_OK;
}

ocdm_status ocdm__saved_settings_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error)
{
    const ocdm__run_settings usual = ocdm__run_settings_default();
    ocdm__output text;
    OCDM_TRY(ocdm__output_open_memory(&text, "a setting", error));
    ocdm__run_settings_write(&text, asked->settings, asked->tasks, asked->task_count);
    ocdm__output_text(&text, "\n");
    size_t size = text.used;
    ocdm__run_settings_write(&text, &usual, asked->tasks, asked->task_count);
    ocdm_status status = ocdm__output_check(&text, error);
    OCDM_THEN(status, compare_settings(saved, asked->settings, text.buffer, size, text.used, error));
    ocdm__output_abandon(&text);
    return status;
}

/* ---- classes ----------------------------------------------------------------------------------------------------------- */

ocdm__asked_run ocdm__asked_of(const ocdm__run *run)
{
    return (ocdm__asked_run){.settings = run->settings,
                             .tasks = run->schedule.order.tasks,
                             .task_count = run->schedule.order.task_count,
                             .stream = run->stream,
                             .groups = run->groups,
                             .class_weights = run->class_weights};
}

/* Last, the first class whose group or weight in the target is another one. */
ocdm_status ocdm__saved_run_compare(const ocdm__saved_run *saved, const ocdm__asked_run *asked, ocdm_error *error)
{
    const ocdm__stream_table *table = &asked->stream->table;
    bool weighted = saved->class_weights != NULL && asked->class_weights != NULL;
    char checksum[OCDM__CHECKSUM_TEXT];
    OCDM_TRY(ocdm__saved_settings_compare(saved, asked, error));
    ocdm__checksum_text(asked->stream->checksum, checksum);
    if (strcmp(saved->checksum, checksum) != 0)
        return ocdm__fail(error, OCDM_BAD_FILE, "go on with the stream that the run began with, or begin in a new folder",
                          "%s: the stream %s has changed since the run began", saved->name, asked->stream->file.name);
    for (size_t c = 0; c < table->class_count; c++) {
        bool group = saved->groups != NULL && saved->groups[c] != asked->groups[c];
        size_t length;
        if (!group && (!weighted || saved->class_weights[c] == asked->class_weights[c]))
            continue;
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

/* ---- summaries --------------------------------------------------------------------------------------------------------- */

/* Settings are compared as they are written, which a tree does not keep. */
ocdm_status ocdm__summary_compare(const char *path, const ocdm__asked_run *asked, ocdm_error *error)
{
    size_t classes = asked->stream->table.class_count;
    ocdm__mapped_file file = {.bytes = NULL};
    ocdm__json_tree tree = {.root = NULL};
    ocdm__arena room = {.failed = false};
    ocdm__saved_run saved = {.name = path};
    char wanted[OCDM__CHECKSUM_TEXT];
    struct member settings = {.value = NULL};
    uint8_t *groups = ocdm__arena_new(&room, classes, sizeof *groups);
    double *weights = ocdm__arena_new(&room, classes, sizeof *weights);
    ocdm_status status = ocdm__arena_check(&room, "the groups and weights of classes", error);
    OCDM_THEN(status, ocdm__map_file(&file, path, error));
    OCDM_THEN(status, ocdm__summary_read(&tree, path, error));
    if (status == OCDM_OK) {
        const char *checksum = ocdm__json_text(ocdm__json_find(tree.root, "stream.checksum"), "");
        bool has = find_member((const char *)file.bytes, file.size, "settings", 8, &settings);
        snprintf(saved.checksum, sizeof saved.checksum, "%s", checksum);
        ocdm__checksum_text(asked->stream->checksum, wanted);
        if (!has || strlen(checksum) != OCDM__CHECKSUM_TEXT - 1)
            status = ocdm__fail(error, OCDM_BAD_FILE, "name another folder", "%s has no settings or no checksum of the stream",
                                path);
        else if (strcmp(checksum, wanted) != 0)
            status = ocdm__fail(error, OCDM_BAD_FILE, "name the stream of the run, or another folder",
                                "%.160s: the run was made on the stream %.60s (checksum %.32s), not on %.100s (%s)", path,
                                ocdm__json_text(ocdm__json_find(tree.root, "stream.file"), "?"), checksum,
                                asked->stream->file.name, wanted);
        saved.settings = settings.value;
        saved.settings_length = (size_t)settings.value_length;
        saved.groups = ocdm__summary_groups(tree.root, groups, classes) ? groups : NULL;
        saved.class_weights = ocdm__summary_class_weights(tree.root, weights, classes) ? weights : NULL;
    }
    OCDM_THEN(status, ocdm__saved_run_compare(&saved, asked, error));
    ocdm__json_tree_clear(&tree);
    ocdm__unmap_file(&file);
    ocdm__arena_clear(&room);
    return status;
}
