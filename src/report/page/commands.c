/*
 * The commands that repeat the runs: one `ocdm compare` if it makes them all, otherwise an `ocdm run` for each. They are for a
 * shell in the page's folder: paths lead there from it, and results go to a new folder beside the old one.
 */
#include "base/files.h"
#include "base/text.h"
#include "experiment/loop/settings.h"
#include "report/page/parts.h"
#include "report/text.h"

/* A failure is remembered, and later parts are left out: only the end is checked. */
struct commands {
    ocdm__output *out;
    const ocdm__study *study;
    const char *folder;      /* of the page */
    ocdm__json_tree compare; /* compare.json beside the runs; empty when there is none */
    ocdm_status status;
    ocdm_error *error;
};

static const ocdm__run_record *first_run(const struct commands *commands)
{
    return commands->study->groups[0].runs[0];
}

static void keep_failure(struct commands *commands, ocdm_status status)
{
    if (status != OCDM_OK)
        commands->status = status;
}

/* ---- words --------------------------------------------------------------------------------------------------------------- */

/* A word for a shell, in single quotes if necessary. */
static void put_word(struct commands *commands, const char *text)
{
    char *word = ocdm__shell_word(text);
    if (word != NULL)
        ocdm__put_name(commands->out, word, SIZE_MAX);
    else
        commands->status = ocdm__fail_memory(commands->error, "a command");
    ocdm__release(word);
}

/* "adam-eps" for "adam_eps". */
static void name_flag(const char *before, const char *key, char flag[80])
{
    snprintf(flag, 80, "%s%.56s", before, key);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
}

/* " --adam-eps " */
static void put_flag(struct commands *commands, const char *key)
{
    char flag[80];
    name_flag("--", key, flag);
    ocdm__output_text(commands->out, " <span class=\"flag\">");
    put_word(commands, flag);
    ocdm__output_text(commands->out, "</span>");
}

static void put_flag_with(struct commands *commands, const char *key, const char *value)
{
    put_flag(commands, key);
    ocdm__output_text(commands->out, " ");
    put_word(commands, value);
}

/* ---- paths --------------------------------------------------------------------------------------------------------------- */

/* The path from the page's folder to a file, `name` as seen from the run's folder. NULL if it is not there. To be released. */
static char *path_of(struct commands *commands, const ocdm__run_record *run, const char *name)
{
    char *there = ocdm__path_in(name[0] == '/' ? "" : run->folder, name[0] == '/' ? name + 1 : name), *path = NULL;
    keep_failure(commands, there != NULL ? ocdm__path_from(commands->folder, there, &path, commands->error)
                                         : ocdm__fail_memory(commands->error, name));
    ocdm__release(there);
    return path;
}

/* Where the run says that it is, or, in runs that do not say, in or near their folder. NULL if it is not there. */
static char *find_file(struct commands *commands, const ocdm__run_record *run, const char *kind, const char *name)
{
    static const char *const places[] = {"", "../", "../../"};
    char where[96], beside[1024];
    snprintf(where, sizeof where, "environment.files.%.60s", kind);
    const ocdm__json_node *known = ocdm__json_find(run->summary.root, where);
    char *path = known != NULL && known->text != NULL ? path_of(commands, run, known->text) : NULL;
    for (size_t i = 0; commands->status == OCDM_OK && path == NULL && i < sizeof places / sizeof places[0]; i++) {
        snprintf(beside, sizeof beside, "%s%.900s", places[i], name);
        path = path_of(commands, run, beside);
    }
    return path;
}

/* A file of the run; its plain name where it is not found. */
static void put_file(struct commands *commands, const ocdm__run_record *run, const char *kind, const char *name)
{
    char *path = find_file(commands, run, kind, name);
    put_word(commands, path != NULL ? path : name);
    ocdm__release(path);
}

static const char *stream_of(const ocdm__run_record *run)
{
    return ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), "STREAM");
}

/* The folder of the runs: that of one run without its last part. To be released. */
static char *parent_of(struct commands *commands, const ocdm__run_record *run)
{
    size_t parent = (size_t)(run->name - run->folder);
    char *folder = ocdm__path_in(parent > 0 ? run->folder : ".", "");
    if (folder == NULL)
        commands->status = ocdm__fail_memory(commands->error, "a command");
    else if (parent > 0)
        folder[parent > 1 ? parent - 1 : parent] = '\0';
    return folder;
}

/* " -o three-again": a new folder beside the old one, seen from the page. */
static void put_new_folder(struct commands *commands, const char *old, const char *below)
{
    char *path = NULL, name[4096];
    keep_failure(commands, ocdm__path_from(commands->folder, old, &path, commands->error));
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
    ocdm__output_text(commands->out, " <span class=\"flag\">-o</span> ");
    put_word(commands, name);
}

/* The same for the folder that the run is in. */
static void put_folder_near(struct commands *commands, const ocdm__run_record *run, const char *below)
{
    char *parent = parent_of(commands, run);
    if (parent != NULL)
        put_new_folder(commands, parent, below);
    ocdm__release(parent);
}

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

/* Whether the model is none of the program's: the run was made by a program of the user's own. */
static bool is_own_model(const ocdm__run_record *run)
{
    return !ocdm__is_among(ocdm__json_text(ocdm__json_find(run->settings, "model"), ocdm__run_models[0]), ocdm__run_models);
}

/* Whether the value of a setting is the name of a file. */
static bool is_file(const ocdm__json_node *setting, const char *flag)
{
    const ocdm__setting *row = ocdm__setting_of_flag(flag);
    const char *value = ocdm__json_text(setting, "");
    return row != NULL && (row->kind == OCDM__SETTING_FILE || row->kind == OCDM__SETTING_CLASS_FILE ||
                           (row->kind == OCDM__SETTING_GROUPS && strspn(value, "0123456789,") != strlen(value)));
}

/* Whether the setting is the memory of a run whose memory follows from bytes. */
static bool follows_from_bytes(const ocdm__run_record *run, const char *key)
{
    return strcmp(key, "memory") == 0 && ocdm__json_number(ocdm__json_find(run->settings, "memory_bytes")) > 0;
}

/* --adam-eps 0.0001 for "adam_eps": 0.0001; nothing for null, false and the stream's own groups, the default. */
static void put_setting(struct commands *commands, const ocdm__run_record *run, const ocdm__json_node *setting)
{
    char value[400], flag[80];
    if (setting->kind == OCDM__JSON_NULL || setting->kind == OCDM__JSON_FALSE || follows_from_bytes(run, setting->key) ||
        (strcmp(setting->key, "groups") == 0 && strcmp(ocdm__json_text(setting, ""), "stream") == 0))
        return;
    name_flag(strcmp(setting->key, "model") == 0 && is_own_model(run) ? "own-" : "", setting->key, flag);
    put_flag(commands, flag);
    if (setting->kind == OCDM__JSON_TRUE)
        return;
    ocdm__setting_text(setting, value, sizeof value);
    ocdm__output_text(commands->out, " ");
    if (is_file(setting, flag))
        put_file(commands, run, flag, value);
    else
        put_word(commands, value);
}

/* The folder of images is no setting of the result. */
static void put_images(struct commands *commands, const ocdm__run_record *run)
{
    if (ocdm__json_find(run->summary.root, "environment.files.images") == NULL)
        return;
    put_flag(commands, "images");
    ocdm__output_text(commands->out, " ");
    put_file(commands, run, "images", "IMAGES");
}

/* ---- ocdm run ------------------------------------------------------------------------------------------------------------ */

static void put_run(struct commands *commands, const ocdm__run_record *run, bool beside)
{
    ocdm__output_text(commands->out, is_own_model(run) ? "# by a program of your own: " : "ocdm run ");
    put_file(commands, run, "stream", stream_of(run));
    for (const ocdm__json_node *node = run->settings != NULL ? run->settings->first : NULL; node != NULL; node = node->next)
        put_setting(commands, run, node);
    put_images(commands, run);
    if (beside)
        put_new_folder(commands, run->folder, "");
    else
        put_folder_near(commands, run, run->name);
}

/* ---- ocdm compare -------------------------------------------------------------------------------------------------------- */

/* The settings that compare takes several values of, other than methods and seeds. */
static const char *const swept_keys[] = {"memory", "rho", "order", NULL};

/* Whether group i is the first with its value of the setting. */
static bool is_first_value(const ocdm__study *study, const char *key, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (ocdm__groups_agree(&study->groups[i], &study->groups[j], key))
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

static const ocdm__json_node *grid_rows(const struct commands *commands)
{
    const ocdm__json_node *grid = ocdm__json_find(commands->compare.root, "grid");
    return grid != NULL && grid->kind == OCDM__JSON_ARRAY ? grid->first : NULL;
}

/* Whether --grid chose the setting. */
static bool is_axis(const struct commands *commands, const char *key)
{
    const ocdm__json_node *row = grid_rows(commands);
    return row != NULL && find_axis(ocdm__json_text(ocdm__json_find(row, "settings"), ""), key) != NULL;
}

/* Only multitask has several epochs: the value of all is its own. */
static const ocdm__json_node *common_value(const struct commands *commands, const ocdm__json_node *setting)
{
    for (size_t i = 0; strcmp(setting->key, "epochs") == 0 && i < commands->study->group_count; i++)
        if (commands->study->groups[i].bound)
            return ocdm__group_setting(&commands->study->groups[i], setting->key);
    return setting;
}

/* Whether groups differ in the setting in a way that one command does not make. */
static bool tells_apart(const struct commands *commands, const char *key)
{
    const ocdm__study *study = commands->study;
    const ocdm__run_group *first = NULL;
    if (strcmp(key, "method") == 0 || strcmp(key, "seed") == 0 || ocdm__is_among(key, swept_keys) || is_axis(commands, key))
        return false;
    for (size_t i = 0; i < study->group_count; i++) {
        if (study->groups[i].bound && strcmp(key, "epochs") == 0)
            continue;
        if (first != NULL && !ocdm__groups_agree(first, &study->groups[i], key))
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
static bool is_comparison(const struct commands *commands)
{
    const ocdm__study *study = commands->study;
    const ocdm__json_node *settings = first_run(commands)->settings;
    size_t product = count_values(study, "method");
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next)
        if (tells_apart(commands, node->key))
            return false;
    for (size_t i = 0; swept_keys[i] != NULL; i++)
        product *= count_values(study, swept_keys[i]);
    for (size_t i = 0; i < study->group_count; i++)
        if (!same_seeds(&study->groups[0], &study->groups[i]) || is_own_model(study->groups[i].runs[0]))
            return false;
    bool alone = strcmp(ocdm__json_text(ocdm__json_find(settings, "model"), "none"), "none") == 0;
    bool single = study->group_count == 1 && study->groups[0].run_count == 1;
    return product == study->group_count && !alone && !single;
}

/* All values of a setting with commas between them; orders, which have commas, with semicolons. */
static void put_values(struct commands *commands, const char *flag, const char *key)
{
    char list[2000] = "", value[200];
    const char *between = strcmp(key, "order") == 0 ? ";" : ",";
    for (size_t i = 0; i < commands->study->group_count; i++) {
        if (!is_first_value(commands->study, key, i))
            continue;
        ocdm__setting_text(ocdm__group_setting(&commands->study->groups[i], key), value, sizeof value);
        ocdm__append(list, sizeof list, "%s%s", list[0] == '\0' ? "" : between, value);
    }
    put_flag_with(commands, flag, list);
}

/* Whether an earlier row of the grid has the same value of the setting. */
static bool was_tried(const struct commands *commands, const ocdm__json_node *row, const char *key, const char *value)
{
    for (const ocdm__json_node *other = grid_rows(commands); other != row; other = other->next) {
        const char *there = find_axis(ocdm__json_text(ocdm__json_find(other, "settings"), ""), key);
        size_t length = strcspn(value, ",");
        if (there != NULL && strncmp(there, value, length) == 0 && strcspn(there, ",") == length)
            return true;
    }
    return false;
}

/* " --grid lr=0.001,0.003" */
static void put_axis(struct commands *commands, const char *key)
{
    char word[1000];
    const char *between = "";
    snprintf(word, sizeof word, "%.60s=", key);
    for (const ocdm__json_node *row = grid_rows(commands); row != NULL; row = row->next) {
        const char *value = find_axis(ocdm__json_text(ocdm__json_find(row, "settings"), ""), key);
        if (value == NULL || was_tried(commands, row, key, value))
            continue;
        ocdm__append(word, sizeof word, "%s%.*s", between, (int)strcspn(value, ","), value);
        between = ",";
    }
    put_flag_with(commands, "grid", word);
}

/* A setting of all runs; with a grid, the share of the validation is what the grid held out: the runs held out nothing. */
static void put_common(struct commands *commands, const ocdm__json_node *setting)
{
    const char *key = setting->key;
    const ocdm__json_node *share = ocdm__json_find(commands->compare.root, "validation");
    if (strcmp(key, "method") == 0 || strcmp(key, "seed") == 0 || follows_from_bytes(first_run(commands), key))
        return;
    if (ocdm__is_among(key, swept_keys) && count_values(commands->study, key) > 1)
        put_values(commands, key, key);
    else if (is_axis(commands, key))
        put_axis(commands, key);
    else if (strcmp(key, "validation") == 0 && grid_rows(commands) != NULL)
        put_flag_with(commands, key, share != NULL && share->text != NULL ? share->text : "0.1");
    else
        put_setting(commands, first_run(commands), common_value(commands, setting));
}

static void put_compare(struct commands *commands)
{
    const ocdm__run_record *run = first_run(commands);
    ocdm__output_text(commands->out, "ocdm compare ");
    put_file(commands, run, "stream", stream_of(run));
    put_values(commands, "methods", "method");
    /* "3" for 0, 1, 2; "2..4" for others in a row; otherwise the seeds themselves, as many as are needed for a list. */
    const ocdm__run_group *group = &commands->study->groups[0];
    double first = group->runs[0]->seed, last = group->runs[group->run_count - 1]->seed;
    bool row = last - first == (double)(group->run_count - 1);
    put_flag(commands, "seeds");
    if (row && first == 0)
        ocdm__put(commands->out, " %zu", group->run_count);
    else if (row)
        ocdm__put(commands->out, " %.0f..%.0f", first, last);
    for (size_t i = 0; !row && i < group->run_count; i++)
        ocdm__put(commands->out, i == 0 ? " %.0f" : ",%.0f", group->runs[i]->seed);
    for (const ocdm__json_node *node = run->settings->first; node != NULL; node = node->next)
        put_common(commands, node);
    put_images(commands, run);
    put_folder_near(commands, run, "");
}

/* ---- the command that repeats the runs ----------------------------------------------------------------------------------- */

static void put_all(struct commands *commands)
{
    ocdm__output *out = commands->out;
    const ocdm__study *study = commands->study;
    bool one = is_comparison(commands), single = study->group_count == 1 && study->groups[0].run_count == 1;
    if (one || single) {
        ocdm__output_text(out, "<p>To repeat it, in the folder of this page:</p>\n<pre data-name=\"repeat\"><code>");
        if (one)
            put_compare(commands);
        else
            put_run(commands, first_run(commands), true);
        ocdm__output_text(out, "</code></pre>\n");
    }
    /* A command that needs the stream is of no use without it. */
    char *path = find_file(commands, first_run(commands), "stream", stream_of(first_run(commands)));
    if (path == NULL) {
        ocdm__output_text(commands->out, "<p class=\"note\">The stream was not found from here; put its path in the place of ");
        put_word(commands, stream_of(first_run(commands)));
        ocdm__output_text(commands->out, ".</p>\n");
    }
    ocdm__release(path);
    if (single)
        return;
    ocdm__output_text(out, one ? "<details><summary>Each run by itself</summary>\n<pre><code>"
                               : "<details><summary>The commands to repeat the runs, in the folder of this page</summary>\n"
                                 "<pre data-name=\"repeat\"><code>");
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; j < study->groups[i].run_count; j++) {
            put_run(commands, study->groups[i].runs[j], false);
            ocdm__output_text(out, "\n");
        }
    ocdm__output_text(out, "</code></pre></details>\n");
}

ocdm_status ocdm__put_commands(ocdm__output *out, const ocdm__study *study, const char *folder, ocdm_error *error)
{
    struct commands commands = {.out = out, .study = study, .folder = folder, .error = error};
    /* A file that is not there, or no JSON, leaves the tree empty. */
    char *parent = parent_of(&commands, first_run(&commands));
    char *path = parent != NULL ? ocdm__path_in(parent, "compare.json") : NULL;
    if (path == NULL || ocdm__json_tree_read(&commands.compare, path, NULL) == OCDM_NO_MEMORY)
        commands.status = ocdm__fail_memory(commands.error, "a command");
    ocdm__release(path);
    ocdm__release(parent);
    if (commands.status == OCDM_OK)
        put_all(&commands);
    ocdm__json_tree_clear(&commands.compare);
    return commands.status;
}
