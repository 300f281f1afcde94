/*
 * The commands that repeat the runs: one `ocdm compare` if it makes them all, otherwise an `ocdm run` for each. They are for a
 * shell in the page's folder: paths lead there from it, and results go to a new folder beside the old one.
 */
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "base/files.h"
#include "experiment/loop/settings.h"
#include "report/page/parts.h"
#include "report/text.h"

struct repeat {
    ocdm__output *out;
    const ocdm__study *study;
    const char *folder;      /* of the page */
    ocdm__json_tree compare; /* compare.json beside the runs; empty when there is none */
};

static const ocdm__run_record *first_run(const struct repeat *repeat)
{
    return repeat->study->groups[0].runs[0];
}

/* ---- words --------------------------------------------------------------------------------------------------------------- */

static ocdm_status put_word(const struct repeat *repeat, const char *text, ocdm_error *error)
{
    char *word = ocdm__shell_word(text);
    if (word == NULL)
        return ocdm__fail_memory(error, "a command");
    ocdm__put_whole(repeat->out, word);
    ocdm__release(word);
    return OCDM_OK;
}

/* " --adam-eps" for "adam_eps". */
static ocdm_status put_flag_name(const struct repeat *repeat, const char *before, const char *key, ocdm_error *error)
{
    char flag[80];
    snprintf(flag, sizeof flag, "--%s%.56s", before, key);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    ocdm__output_text(repeat->out, " <span class=\"flag\">");
    ocdm_status status = put_word(repeat, flag, error);
    ocdm__output_text(repeat->out, "</span>");
    return status;
}

/* ---- paths --------------------------------------------------------------------------------------------------------------- */

/* The path from the page's folder to a file, `name` as seen from the run's folder. NULL if it is not there. */
static ocdm_status path_of(const struct repeat *repeat, const ocdm__run_record *run, const char *name, char **path,
                           ocdm_error *error)
{
    char *there = ocdm__path_in(name[0] == '/' ? "" : run->folder, name[0] == '/' ? name + 1 : name);
    ocdm_status status = there != NULL ? ocdm__path_from(repeat->folder, there, path, error) : ocdm__fail_memory(error, name);
    ocdm__release(there);
    return status;
}

/* Where the run says that it is, or, in runs that do not say, in or near their folder. NULL if it is not there. */
static ocdm_status find_file(const struct repeat *repeat, const ocdm__run_record *run, const char *kind, const char *name,
                             char **path, ocdm_error *error)
{
    static const char *const places[] = {"", "../", "../../"};
    char where[96], beside[1024];
    snprintf(where, sizeof where, "environment.files.%.60s", kind);
    const ocdm__json_node *known = ocdm__json_find(run->summary.root, where);
    *path = NULL;
    ocdm_status status = known != NULL && known->text != NULL ? path_of(repeat, run, known->text, path, error) : OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && *path == NULL && i < sizeof places / sizeof places[0]; i++) {
        snprintf(beside, sizeof beside, "%s%.900s", places[i], name);
        status = path_of(repeat, run, beside, path, error);
    }
    return status;
}

/* A file of the run; its plain name where it is not found. */
static ocdm_status put_file(const struct repeat *repeat, const ocdm__run_record *run, const char *kind, const char *name,
                            ocdm_error *error)
{
    char *path = NULL;
    ocdm_status status = find_file(repeat, run, kind, name, &path, error);
    if (status == OCDM_OK)
        status = put_word(repeat, path != NULL ? path : name, error);
    ocdm__release(path);
    return status;
}

static const char *stream_of(const ocdm__run_record *run)
{
    return ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), "STREAM");
}

/* The folder of the runs: that of one run without its last part. To be released. */
static char *parent_of(const ocdm__run_record *run)
{
    char *folder = ocdm__path_in(run->folder, "");
    size_t parent = (size_t)(run->name - run->folder);
    if (folder != NULL)
        folder[parent > 1 ? parent - 1 : parent] = '\0';
    if (folder != NULL && folder[0] == '\0') {
        ocdm__release(folder);
        return ocdm__path_in(".", "");
    }
    return folder;
}

/* " -o three-again": a new folder beside the old one, seen from the page. */
static ocdm_status put_new_folder(const struct repeat *repeat, const char *old, const char *below, ocdm_error *error)
{
    char *path = NULL, name[4096];
    ocdm_status status = ocdm__path_from(repeat->folder, old, &path, error);
    const char *from = path != NULL ? path : old;
    const char *slash = strrchr(from, '/'), *last = slash != NULL ? slash + 1 : from;
    bool climbs = strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
    const char *stem = strcmp(from, ".") == 0 ? "" : from;
    snprintf(name, sizeof name, "%.3900s%s%s%.100s", stem,
             stem[0] == '\0' ? "again"
             : climbs        ? "/again"
                             : "-again",
             below[0] != '\0' ? "/" : "", below);
    ocdm__release(path);
    ocdm__output_text(repeat->out, " <span class=\"flag\">-o</span> ");
    return status == OCDM_OK ? put_word(repeat, name, error) : status;
}

/* The same for the folder that the run is in. */
static ocdm_status put_folder_near(const struct repeat *repeat, const ocdm__run_record *run, const char *below,
                                   ocdm_error *error)
{
    char *parent = parent_of(run);
    ocdm_status status = parent != NULL ? put_new_folder(repeat, parent, below, error) : ocdm__fail_memory(error, "a command");
    ocdm__release(parent);
    return status;
}

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

/* Whether the groups are the stream's own, the default of `ocdm run`. */
static bool is_default_groups(const ocdm__json_node *setting)
{
    return strcmp(setting->key, "groups") == 0 && strcmp(ocdm__json_text(setting, ""), "stream") == 0;
}

/* Whether the model is none of the program's: the run was made by a program of the user's own. */
static bool is_own_model(const ocdm__run_record *run)
{
    const char *model = ocdm__json_text(ocdm__json_find(run->settings, "model"), ocdm__run_models[0]);
    size_t i = 0;
    while (ocdm__run_models[i] != NULL && strcmp(ocdm__run_models[i], model) != 0)
        i++;
    return ocdm__run_models[i] == NULL;
}

/* Whether the value of a setting is the name of a file. */
static bool is_file(const ocdm__json_node *setting)
{
    char flag[64];
    snprintf(flag, sizeof flag, "%.60s", setting->key);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    const ocdm__setting *row = ocdm__setting_of_flag(flag);
    return row != NULL && (row->kind == OCDM__SETTING_FILE || row->kind == OCDM__SETTING_CLASS_FILE ||
                           (row->kind == OCDM__SETTING_GROUPS &&
                            strspn(ocdm__json_text(setting, ""), "0123456789,") != strlen(ocdm__json_text(setting, ""))));
}

static ocdm_status put_value(const struct repeat *repeat, const ocdm__run_record *run, const ocdm__json_node *setting,
                             ocdm_error *error)
{
    char value[400], kind[64];
    ocdm__setting_text(setting, value, sizeof value);
    ocdm__output_text(repeat->out, " ");
    if (!is_file(setting))
        return put_word(repeat, value, error);
    snprintf(kind, sizeof kind, "%.60s", setting->key);
    for (char *at = kind; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    return put_file(repeat, run, kind, value, error);
}

/* Whether the setting is the memory of a run whose memory follows from bytes. */
static bool follows_from_bytes(const ocdm__run_record *run, const char *key)
{
    return strcmp(key, "memory") == 0 && ocdm__json_number(ocdm__json_find(run->settings, "memory_bytes")) > 0;
}

/* --adam-eps 0.0001 for "adam_eps": 0.0001; nothing for null and false. */
static ocdm_status put_setting(const struct repeat *repeat, const ocdm__run_record *run, const ocdm__json_node *setting,
                               ocdm_error *error)
{
    if (setting->kind == OCDM__JSON_NULL || setting->kind == OCDM__JSON_FALSE || is_default_groups(setting) ||
        follows_from_bytes(run, setting->key))
        return OCDM_OK;
    bool own = strcmp(setting->key, "model") == 0 && is_own_model(run);
    ocdm_status status = put_flag_name(repeat, own ? "own-" : "", setting->key, error);
    return status == OCDM_OK && setting->kind != OCDM__JSON_TRUE ? put_value(repeat, run, setting, error) : status;
}

/* The folder of images is no setting of the result. */
static ocdm_status put_images(const struct repeat *repeat, const ocdm__run_record *run, ocdm_error *error)
{
    if (ocdm__json_find(run->summary.root, "environment.files.images") == NULL)
        return OCDM_OK;
    ocdm_status status = put_flag_name(repeat, "", "images", error);
    ocdm__output_text(repeat->out, " ");
    return status == OCDM_OK ? put_file(repeat, run, "images", "IMAGES", error) : status;
}

/* ---- ocdm run ------------------------------------------------------------------------------------------------------------ */

static ocdm_status put_run(const struct repeat *repeat, const ocdm__run_record *run, bool beside, ocdm_error *error)
{
    ocdm__output_text(repeat->out, is_own_model(run) ? "# by a program of your own: " : "ocdm run ");
    ocdm_status status = put_file(repeat, run, "stream", stream_of(run), error);
    const ocdm__json_node *node = run->settings != NULL ? run->settings->first : NULL;
    for (; status == OCDM_OK && node != NULL; node = node->next)
        status = put_setting(repeat, run, node, error);
    if (status == OCDM_OK)
        status = put_images(repeat, run, error);
    if (status == OCDM_OK)
        status = beside ? put_new_folder(repeat, run->folder, "", error) : put_folder_near(repeat, run, run->name, error);
    return status;
}

/* ---- ocdm compare -------------------------------------------------------------------------------------------------------- */

/* The settings that compare takes several values of, other than methods and seeds. */
static const char *const swept_keys[] = {"memory", "rho", "order"};
#define SWEPT (sizeof swept_keys / sizeof swept_keys[0])

static bool is_swept_key(const char *key)
{
    for (size_t i = 0; i < SWEPT; i++)
        if (strcmp(swept_keys[i], key) == 0)
            return true;
    return false;
}

/* Whether group i is the first with its value of the setting. */
static bool is_first_value(const ocdm__study *study, const char *key, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (ocdm__json_same(ocdm__group_setting(&study->groups[i], key), ocdm__group_setting(&study->groups[j], key)))
            return false;
    return true;
}

static size_t count_values(const ocdm__study *study, const char *key)
{
    size_t count = 0;
    for (size_t i = 0; i < study->group_count; i++)
        count += is_first_value(study, key, i);
    return count;
}

/* The part of a text such as "lr 0.001, adam_eps 1e-4" that begins with the key; NULL when there is none. */
static const char *find_axis(const char *settings, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = settings; at != NULL; at = strstr(at, ", ") != NULL ? strstr(at, ", ") + 2 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == ' ')
            return at + length + 1;
    return NULL;
}

static const ocdm__json_node *grid_rows(const struct repeat *repeat)
{
    const ocdm__json_node *grid = ocdm__json_find(repeat->compare.root, "grid");
    return grid != NULL && grid->kind == OCDM__JSON_ARRAY ? grid->first : NULL;
}

/* Whether --grid chose the setting. */
static bool is_axis(const struct repeat *repeat, const char *key)
{
    const ocdm__json_node *row = grid_rows(repeat);
    return row != NULL && find_axis(ocdm__json_text(ocdm__json_find(row, "settings"), ""), key) != NULL;
}

/* Only multitask has several epochs: the value of all is its own. */
static const ocdm__json_node *common_value(const struct repeat *repeat, const ocdm__json_node *setting)
{
    for (size_t i = 0; strcmp(setting->key, "epochs") == 0 && i < repeat->study->group_count; i++)
        if (repeat->study->groups[i].bound)
            return ocdm__group_setting(&repeat->study->groups[i], setting->key);
    return setting;
}

/* Whether groups differ in the setting in a way that one command does not make. */
static bool tells_apart(const struct repeat *repeat, const char *key)
{
    const ocdm__study *study = repeat->study;
    const ocdm__run_group *first = NULL;
    if (strcmp(key, "method") == 0 || strcmp(key, "seed") == 0 || is_swept_key(key) || is_axis(repeat, key))
        return false;
    for (size_t i = 0; i < study->group_count; i++) {
        if (study->groups[i].bound && strcmp(key, "epochs") == 0)
            continue;
        if (first != NULL && !ocdm__json_same(ocdm__group_setting(first, key), ocdm__group_setting(&study->groups[i], key)))
            return true;
        first = &study->groups[i];
    }
    return false;
}

static bool same_seeds(const ocdm__run_group *a, const ocdm__run_group *b)
{
    bool same = a->run_count == b->run_count;
    for (size_t i = 0; same && i < a->run_count; i++)
        same = a->runs[i]->seed == b->runs[i]->seed && a->runs[i]->seed >= 0;
    return same;
}

/* Whether one `ocdm compare` makes all runs: every method has every seed and every value of what was swept, and a network of
 * the program. */
static bool is_comparison(const struct repeat *repeat)
{
    const ocdm__study *study = repeat->study;
    const ocdm__json_node *settings = first_run(repeat)->settings;
    size_t product = count_values(study, "method");
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next)
        if (tells_apart(repeat, node->key))
            return false;
    for (size_t i = 0; i < SWEPT; i++)
        product *= count_values(study, swept_keys[i]);
    for (size_t i = 0; i < study->group_count; i++)
        if (!same_seeds(&study->groups[0], &study->groups[i]) || is_own_model(study->groups[i].runs[0]))
            return false;
    bool alone = strcmp(ocdm__json_text(ocdm__json_find(settings, "model"), "none"), "none") == 0;
    bool single = study->group_count == 1 && study->groups[0].run_count == 1;
    return product == study->group_count && !alone && !single;
}

/* All values of a setting with commas between them; orders, which have commas, with semicolons. */
static ocdm_status put_values(const struct repeat *repeat, const char *key, ocdm_error *error)
{
    char list[2000] = "", value[200];
    size_t used = 0;
    for (size_t i = 0; i < repeat->study->group_count && used < sizeof list; i++) {
        if (!is_first_value(repeat->study, key, i))
            continue;
        ocdm__setting_text(ocdm__group_setting(&repeat->study->groups[i], key), value, sizeof value);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 used == 0                   ? ""
                                 : strcmp(key, "order") == 0 ? ";"
                                                             : ",",
                                 value);
    }
    ocdm__output_text(repeat->out, " ");
    return put_word(repeat, list, error);
}

/* "3" for 0, 1, 2; "2..4" for others in a row; otherwise the seeds themselves, as many as are needed for a list. */
static ocdm_status put_seeds(const struct repeat *repeat, ocdm_error *error)
{
    const ocdm__run_group *group = &repeat->study->groups[0];
    double first = group->runs[0]->seed, last = group->runs[group->run_count - 1]->seed;
    bool row = last - first == (double)(group->run_count - 1);
    ocdm_status status = put_flag_name(repeat, "", "seeds", error);
    if (row && first == 0)
        ocdm__put(repeat->out, " %zu", group->run_count);
    else if (row)
        ocdm__put(repeat->out, " %.0f..%.0f", first, last);
    for (size_t i = 0; !row && i < group->run_count; i++)
        ocdm__put(repeat->out, i == 0 ? " %.0f" : ",%.0f", group->runs[i]->seed);
    return status;
}

/* Whether an earlier row of the grid has the same value of the setting. */
static bool was_tried(const struct repeat *repeat, const ocdm__json_node *row, const char *key, const char *value)
{
    for (const ocdm__json_node *other = grid_rows(repeat); other != row; other = other->next) {
        const char *there = find_axis(ocdm__json_text(ocdm__json_find(other, "settings"), ""), key);
        size_t length = strcspn(value, ",");
        if (there != NULL && strncmp(there, value, length) == 0 && strcspn(there, ",") == length)
            return true;
    }
    return false;
}

/* " --grid lr=0.001,0.003" */
static ocdm_status put_axis(const struct repeat *repeat, const char *key, ocdm_error *error)
{
    char word[1000];
    size_t used = (size_t)snprintf(word, sizeof word, "%.60s=", key), start = used;
    for (const ocdm__json_node *row = grid_rows(repeat); row != NULL && used < sizeof word; row = row->next) {
        const char *value = find_axis(ocdm__json_text(ocdm__json_find(row, "settings"), ""), key);
        if (value != NULL && !was_tried(repeat, row, key, value))
            used += (size_t)snprintf(word + used, sizeof word - used, "%s%.*s", used == start ? "" : ",",
                                     (int)strcspn(value, ","), value);
    }
    ocdm_status status = put_flag_name(repeat, "", "grid", error);
    ocdm__output_text(repeat->out, " ");
    return status == OCDM_OK ? put_word(repeat, word, error) : status;
}

/* What the grid held out; the runs themselves held out nothing. */
static ocdm_status put_share(const struct repeat *repeat, ocdm_error *error)
{
    const ocdm__json_node *share = ocdm__json_find(repeat->compare.root, "validation");
    ocdm_status status = put_flag_name(repeat, "", "validation", error);
    ocdm__output_text(repeat->out, " ");
    return status == OCDM_OK ? put_word(repeat, share != NULL && share->text != NULL ? share->text : "0.1", error) : status;
}

static ocdm_status put_common(const struct repeat *repeat, const ocdm__json_node *setting, ocdm_error *error)
{
    const char *key = setting->key;
    if (strcmp(key, "method") == 0 || strcmp(key, "seed") == 0 || follows_from_bytes(first_run(repeat), key))
        return OCDM_OK;
    if (is_swept_key(key) && count_values(repeat->study, key) > 1) {
        ocdm_status status = put_flag_name(repeat, "", key, error);
        return status == OCDM_OK ? put_values(repeat, key, error) : status;
    }
    if (is_axis(repeat, key))
        return put_axis(repeat, key, error);
    if (strcmp(key, "validation") == 0 && grid_rows(repeat) != NULL)
        return put_share(repeat, error);
    return put_setting(repeat, first_run(repeat), common_value(repeat, setting), error);
}

static ocdm_status put_compare(const struct repeat *repeat, ocdm_error *error)
{
    const ocdm__run_record *run = first_run(repeat);
    ocdm__output_text(repeat->out, "ocdm compare ");
    ocdm_status status = put_file(repeat, run, "stream", stream_of(run), error);
    if (status == OCDM_OK)
        status = put_flag_name(repeat, "", "methods", error);
    if (status == OCDM_OK)
        status = put_values(repeat, "method", error);
    if (status == OCDM_OK)
        status = put_seeds(repeat, error);
    for (const ocdm__json_node *node = run->settings->first; status == OCDM_OK && node != NULL; node = node->next)
        status = put_common(repeat, node, error);
    if (status == OCDM_OK)
        status = put_images(repeat, run, error);
    return status == OCDM_OK ? put_folder_near(repeat, run, "", error) : status;
}

/* ---- the command that repeats the runs ----------------------------------------------------------------------------------- */

static ocdm_status read_compare(struct repeat *repeat, ocdm_error *error)
{
    char *parent = parent_of(first_run(repeat));
    char *path = parent != NULL ? ocdm__path_in(parent, "compare.json") : NULL;
    ocdm_status status =
        path == NULL ? ocdm__fail_memory(error, "a command") : ocdm__json_tree_read(&repeat->compare, path, NULL);
    ocdm__release(path);
    ocdm__release(parent);
    return status == OCDM_NO_MEMORY ? ocdm__fail_memory(error, "a command") : OCDM_OK;
}

static ocdm_status put_runs(const struct repeat *repeat, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < repeat->study->group_count; i++)
        for (size_t j = 0; status == OCDM_OK && j < repeat->study->groups[i].run_count; j++) {
            status = put_run(repeat, repeat->study->groups[i].runs[j], false, error);
            ocdm__output_text(repeat->out, "\n");
        }
    return status;
}

/* A command that needs the stream is of no use without it. */
static ocdm_status put_missing(const struct repeat *repeat, ocdm_error *error)
{
    char *path = NULL;
    ocdm_status status = find_file(repeat, first_run(repeat), "stream", stream_of(first_run(repeat)), &path, error);
    if (status == OCDM_OK && path == NULL) {
        ocdm__output_text(repeat->out, "<p class=\"note\">The stream was not found from here; put its path in the place of ");
        status = put_word(repeat, stream_of(first_run(repeat)), error);
        ocdm__output_text(repeat->out, ".</p>\n");
    }
    ocdm__release(path);
    return status;
}

static ocdm_status put_commands(const struct repeat *repeat, ocdm_error *error)
{
    ocdm__output *out = repeat->out;
    const ocdm__study *study = repeat->study;
    ocdm_status status = OCDM_OK;
    bool one = is_comparison(repeat), single = study->group_count == 1 && study->groups[0].run_count == 1;
    if (one || single) {
        ocdm__output_text(out, "<p>To repeat it, in the folder of this page:</p>\n<pre data-name=\"repeat\"><code>");
        status = one ? put_compare(repeat, error) : put_run(repeat, first_run(repeat), true, error);
        ocdm__output_text(out, "</code></pre>\n");
    }
    if (status == OCDM_OK)
        status = put_missing(repeat, error);
    if (single || status != OCDM_OK)
        return status;
    ocdm__output_text(out, one ? "<details><summary>Each run by itself</summary>\n<pre><code>"
                               : "<details><summary>The commands to repeat the runs, in the folder of this page</summary>\n"
                                 "<pre data-name=\"repeat\"><code>");
    status = put_runs(repeat, error);
    ocdm__output_text(out, "</code></pre></details>\n");
    return status;
}

ocdm_status ocdm__put_repeat(ocdm__output *out, const ocdm__study *study, const char *folder, ocdm_error *error)
{
    struct repeat repeat = {.out = out, .study = study, .folder = folder};
    ocdm_status status = read_compare(&repeat, error);
    if (status == OCDM_OK)
        status = put_commands(&repeat, error);
    ocdm__json_tree_clear(&repeat.compare);
    return status;
}
