/*
 * The commands that repeat the runs: one `ocdm compare` if it makes them all, otherwise an `ocdm run` for each. They are for a
 * shell in the page's folder: paths lead there from it, and results go to a new folder beside the old one.
 */
#include "base/files.h"
#include "base/text.h"
#include "experiment/loop/settings.h"
#include "report/page/parts.h"
#include "report/runs/log.h"
#include "report/text.h"

/* A failure is remembered, and later parts are left out: only the end is checked. */
struct commands {
    ocdm__output *out;
    const ocdm__study *study;
    const ocdm__run_record *first; /* run of the study */
    const char *folder;            /* of the page */
    ocdm__json_tree compare;       /* compare.json beside the runs; empty when there is none */
    ocdm_status status;
    ocdm_error *error;
};

/* ---- words and paths ----------------------------------------------------------------------------------------------------- */

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

/* " --adam-eps 0.0001"; the value may be NULL. */
static void put_flag(struct commands *commands, const char *key, const char *value)
{
    char flag[80];
    name_flag("--", key, flag);
    ocdm__output_text(commands->out, " <span class=\"flag\">");
    put_word(commands, flag);
    ocdm__output_text(commands->out, value != NULL ? "</span> " : "</span>");
    if (value != NULL)
        put_word(commands, value);
}

/* The path from the page's folder to the file of this kind, where the run says that it is. NULL if it is not there. To be
 * released. */
static char *find_file(struct commands *commands, const ocdm__run_record *run, const char *kind)
{
    char where[96], *path = NULL;
    snprintf(where, sizeof where, "environment.files.%.60s", kind);
    const char *name = ocdm__json_text(ocdm__json_find(run->summary.root, where), "");
    if (name[0] == '\0')
        return NULL;
    const ocdm__path there = ocdm__path_in(run->folder, name);
    ocdm_status status = ocdm__path_from(commands->folder, name[0] == '/' ? name : there.text, &path, commands->error);
    commands->status = status != OCDM_OK ? status : commands->status;
    return path;
}

/* A file of the run; its plain name where it is not found. */
static void put_file(struct commands *commands, const ocdm__run_record *run, const char *kind, const char *name)
{
    char *path = find_file(commands, run, kind);
    put_word(commands, path != NULL ? path : name);
    ocdm__release(path);
}

static const char *stream_of(const ocdm__run_record *run)
{
    return ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), "STREAM");
}

/* The folder of the runs: that of one run without its last part. */
static ocdm__path parent_of(const ocdm__run_record *run)
{
    size_t parent = (size_t)(run->name - run->folder);
    ocdm__path folder = ocdm__path_in(parent > 0 ? run->folder : ".", "");
    if (parent > 0)
        folder.text[parent > 1 ? parent - 1 : parent] = '\0';
    return folder;
}

/* What comes last: the folder of images, which is no setting of the result, and " -o three-again", a new folder beside the old
 * one, seen from the page. */
static void put_end(struct commands *commands, const ocdm__run_record *run, const char *old, const char *below)
{
    char *path = NULL, name[4096];
    if (ocdm__json_find(run->summary.root, "environment.files.images") != NULL) {
        put_flag(commands, "images", NULL);
        ocdm__output_text(commands->out, " ");
        put_file(commands, run, "images", "IMAGES");
    }
    ocdm_status status = ocdm__path_from(commands->folder, old, &path, commands->error);
    commands->status = status != OCDM_OK ? status : commands->status;
    const char *from = path != NULL ? path : old;
    const char *slash = strrchr(from, '/'), *last = slash != NULL ? slash + 1 : from;
    bool is_here = strcmp(from, ".") == 0, climbs = strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
    snprintf(name, sizeof name, "%.3900s%s%s%.100s", is_here ? "" : from,
             is_here  ? "again"
             : climbs ? "/again"
                      : "-again",
             below[0] != '\0' ? "/" : "", below);
    ocdm__release(path);
    ocdm__output_text(commands->out, " <span class=\"flag\">-o</span> ");
    put_word(commands, name);
}

/* ---- ocdm run ------------------------------------------------------------------------------------------------------------ */

/* Whether the model is none of the program's: the run was made by a program of the user's own. */
static bool is_own_model(const ocdm__run_record *run)
{
    return !ocdm__is_among(ocdm__json_text(ocdm__json_find(run->settings, "model"), ocdm__run_models[0]), ocdm__run_models);
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
    const char *text = ocdm__json_text(setting, "");
    bool is_true = setting->kind == OCDM__JSON_TRUE;
    if (setting->kind == OCDM__JSON_NULL || setting->kind == OCDM__JSON_FALSE || follows_from_bytes(run, setting->key) ||
        (strcmp(setting->key, "groups") == 0 && strcmp(text, "stream") == 0))
        return;
    name_flag(strcmp(setting->key, "model") == 0 && is_own_model(run) ? "own-" : "", setting->key, flag);
    ocdm__setting_text(setting, value, sizeof value);
    const ocdm__setting *row = ocdm__setting_of_flag(flag);
    bool names_file = !is_true && row != NULL &&
                      (row->kind == OCDM__SETTING_FILE || row->kind == OCDM__SETTING_CLASS_FILE ||
                       (row->kind == OCDM__SETTING_GROUPS && strspn(text, "0123456789,") != strlen(text)));
    put_flag(commands, flag, is_true || names_file ? NULL : value);
    if (names_file) {
        ocdm__output_text(commands->out, " ");
        put_file(commands, run, flag, value);
    }
}

/* Its folder is new beside the old one, or in one that is new beside the old one of all runs. */
static void put_run(struct commands *commands, const ocdm__run_record *run, bool beside)
{
    ocdm__output_text(commands->out, is_own_model(run) ? "# by a program of your own: " : "ocdm run ");
    put_file(commands, run, "stream", stream_of(run));
    for (const ocdm__json_node *node = ocdm__json_first(run->settings); node != NULL; node = node->next)
        put_setting(commands, run, node);
    put_end(commands, run, beside ? run->folder : parent_of(run).text, beside ? "" : run->name);
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

/* What follows --grid among the flags that compare.json has, if it is about the setting, which "lr=0.001,0.003" may call by its
 * flag; NULL is any. NULL when there is none. */
static const char *find_axis(const struct commands *commands, const char *key)
{
    const ocdm__json_node *flag = ocdm__json_first(ocdm__json_find(commands->compare.root, "flags"));
    for (; flag != NULL && flag->next != NULL; flag = flag->next) {
        const char *axis = ocdm__json_text(flag->next, ""), *at = axis, *left = key != NULL ? key : "";
        for (; *left != '\0' && (*at == *left || (*at == '-' && *left == '_')); at++)
            left++;
        if (strcmp(ocdm__json_text(flag, ""), "--grid") == 0 && (key == NULL || (*left == '\0' && *at == '=')))
            return axis;
    }
    return NULL;
}

/* Whether groups differ in the setting in a way that one command does not make. Only multitask has several epochs. */
static bool tells_apart(const struct commands *commands, const char *key)
{
    const ocdm__study *study = commands->study;
    const ocdm__run_group *first = NULL;
    if (strcmp(key, "method") == 0 || ocdm__is_among(key, swept_keys) || find_axis(commands, key) != NULL)
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

/* Whether one `ocdm compare` makes all runs: every method has every seed and every value of what was swept, and a network of
 * the program. */
static bool is_comparison(const struct commands *commands)
{
    const ocdm__study *study = commands->study;
    const ocdm__json_node *node = ocdm__settings_first(commands->first);
    const ocdm__run_group *first = &study->groups[0];
    size_t product = count_values(study, "method");
    for (; node != NULL; node = ocdm__settings_next(node))
        if (tells_apart(commands, node->key))
            return false;
    for (size_t i = 0; swept_keys[i] != NULL; i++)
        product *= count_values(study, swept_keys[i]);
    for (const ocdm__run_group *group = first; group < first + study->group_count; group++) {
        if (group->run_count != first->run_count || is_own_model(group->runs[0]))
            return false;
        for (size_t i = 0; i < group->run_count; i++)
            if (group->runs[i]->seed != first->runs[i]->seed || !(group->runs[i]->seed >= 0))
                return false;
    }
    const char *model = ocdm__json_text(ocdm__json_find(commands->first->settings, "model"), "none");
    return product == study->group_count && strcmp(model, "none") != 0;
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
    put_flag(commands, flag, list);
}

/* A setting of all runs; with a grid, the share of the validation is what the grid held out: the runs held out nothing. The
 * epochs are those of multitask. */
static void put_common(struct commands *commands, const ocdm__json_node *setting)
{
    const ocdm__study *study = commands->study;
    const char *key = setting->key, *axis = find_axis(commands, key);
    const ocdm__json_node *share = ocdm__json_find(commands->compare.root, "validation");
    if (strcmp(key, "method") == 0 || follows_from_bytes(commands->first, key))
        return;
    for (size_t i = study->group_count; strcmp(key, "epochs") == 0 && i-- > 0;)
        setting = study->groups[i].bound ? ocdm__group_setting(&study->groups[i], key) : setting;
    if (ocdm__is_among(key, swept_keys) && count_values(study, key) > 1)
        put_values(commands, key, key);
    else if (axis != NULL)
        put_flag(commands, "grid", axis);
    else if (strcmp(key, "validation") == 0 && find_axis(commands, NULL) != NULL)
        put_flag(commands, key, share != NULL && share->text != NULL ? share->text : "0.1");
    else
        put_setting(commands, commands->first, setting);
}

/* Seeds are "3" for 0, 1, 2; "2..4" for others in a row; otherwise the seeds themselves, as many as are needed for a list. */
static void put_compare(struct commands *commands)
{
    const ocdm__run_group *group = &commands->study->groups[0];
    double first = group->runs[0]->seed, last = group->runs[group->run_count - 1]->seed;
    bool row = last - first == (double)(group->run_count - 1);
    ocdm__output_text(commands->out, "ocdm compare ");
    put_file(commands, commands->first, "stream", stream_of(commands->first));
    put_values(commands, "methods", "method");
    put_flag(commands, "seeds", NULL);
    if (row && first == 0)
        ocdm__put(commands->out, " %zu", group->run_count);
    else if (row)
        ocdm__put(commands->out, " %.0f..%.0f", first, last);
    for (size_t i = 0; !row && i < group->run_count; i++)
        ocdm__put(commands->out, i == 0 ? " %.0f" : ",%.0f", group->runs[i]->seed);
    const ocdm__json_node *node = ocdm__settings_first(commands->first);
    for (; node != NULL; node = ocdm__settings_next(node))
        put_common(commands, node);
    put_end(commands, commands->first, parent_of(commands->first).text, "");
}

/* ---- the command that repeats the runs ----------------------------------------------------------------------------------- */

ocdm_status ocdm__put_commands(ocdm__output *out, const ocdm__study *study, const char *folder, ocdm_error *error)
{
    const ocdm__run_record *first = study->groups[0].runs[0];
    struct commands commands = {.out = out, .study = study, .first = first, .folder = folder, .error = error};
    /* A file that is not there, or no JSON, leaves the tree empty. */
    const ocdm__path compared = ocdm__path_in(parent_of(first).text, "compare.json");
    if (ocdm__json_tree_read(&commands.compare, compared.text, NULL) == OCDM_NO_MEMORY)
        return ocdm__fail_memory(error, "a command");
    bool single = study->group_count == 1 && study->groups[0].run_count == 1, one = !single && is_comparison(&commands);
    if (one || single) {
        ocdm__output_text(out, "<p>To repeat it, in the folder of this page:</p>\n<pre data-name=\"repeat\"><code>");
        if (one)
            put_compare(&commands);
        else
            put_run(&commands, first, true);
        ocdm__output_text(out, "</code></pre>\n");
    }
    /* A command that needs the stream is of no use without it. */
    char *path = find_file(&commands, first, "stream");
    if (path == NULL) {
        ocdm__output_text(out, "<p class=\"note\">The stream was not found from here; put its path in the place of ");
        put_word(&commands, stream_of(first));
        ocdm__output_text(out, ".</p>\n");
    }
    ocdm__release(path);
    if (!single)
        ocdm__output_text(out, one ? "<details><summary>Each run by itself</summary>\n<pre><code>"
                                   : "<details><summary>The commands to repeat the runs, in the folder of this page</summary>\n"
                                     "<pre data-name=\"repeat\"><code>");
    for (size_t i = 0; !single && i < study->group_count; i++)
        for (size_t j = 0; j < study->groups[i].run_count; j++) {
            put_run(&commands, study->groups[i].runs[j], false);
            ocdm__output_text(out, "\n");
        }
    ocdm__output_text(out, single ? "" : "</code></pre></details>\n");
    ocdm__json_tree_clear(&commands.compare);
    return commands.status;
}
