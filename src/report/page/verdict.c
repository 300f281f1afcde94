/* Which method wins by how much, how certain that is, and the commands that repeat the runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "experiment/folder/settings.h"
#include "report/page/parts.h"
#include "report/text.h"

#define LABEL_LIMIT 60

/* ---- the verdict -------------------------------------------------------------------------------------------------------- */

/* The best two groups of the base, bounds excluded; NULL when there are fewer. */
static void find_best(const ocdm__study *study, const ocdm__run_group *best[2])
{
    size_t found = 0;
    best[0] = best[1] = NULL;
    for (size_t i = 0; i < study->base_count && found < 2; i++)
        if (!study->groups[i].bound && !isnan(ocdm__group_summary(&study->groups[i], ocdm__study_measure(study)).mean))
            best[found++] = &study->groups[i];
}

static int decimals_of(const ocdm__study *study)
{
    return study->trained ? 1 : 4;
}

static void put_mean(ocdm__output *out, const ocdm__study *study, const ocdm__run_group *group)
{
    ocdm__summary summary = ocdm__group_summary(group, ocdm__study_measure(study));
    ocdm__put_decimals(out, summary.mean, decimals_of(study));
    if (isfinite(summary.deviation)) {
        ocdm__output_text(out, " ± ");
        ocdm__put_decimals(out, summary.deviation, decimals_of(study));
    }
    if (study->trained)
        ocdm__output_text(out, " %");
}

static void put_difference(ocdm__output *out, const ocdm__study *study, const ocdm__summary *difference)
{
    int decimals = decimals_of(study);
    double sign = study->trained ? 1 : -1;
    ocdm__put_decimals(out, sign * difference->mean, decimals);
    ocdm__output_text(out, study->trained ? " points" : "");
    if (!isfinite(difference->low))
        return;
    ocdm__output_text(out, " (95 % interval ");
    ocdm__put_decimals(out, sign > 0 ? difference->low : -difference->high, decimals);
    ocdm__output_text(out, " to ");
    ocdm__put_decimals(out, sign > 0 ? difference->high : -difference->low, decimals);
    ocdm__put(out, ", %zu paired seeds)", difference->count);
}

/* Compares the best with the next. With fewer than two common seeds there is no interval. */
static void put_comparison(ocdm__output *out, const ocdm__study *study, const ocdm__run_group *const best[2])
{
    double least = ocdm__study_least_difference(study, ocdm__study_measure(study));
    ocdm__summary difference = ocdm__group_difference(best[0], best[1], ocdm__study_measure(study));
    difference.low = difference.mean - least;
    difference.high = difference.mean + least;
    bool sure = isfinite(difference.low) && (difference.low > 0 || difference.high < 0);
    ocdm__output_text(out, "<strong>");
    ocdm__put_name(out, best[0]->label, LABEL_LIMIT);
    ocdm__output_text(out, !sure ? isfinite(difference.low) ? "</strong> is ahead, but not beyond chance: its "
                                                            : "</strong> is ahead: its "
                                 : "</strong> wins: its ");
    ocdm__output_text(out,
                      study->trained ? "total mAP at the end is " : "memory ends nearest to the target, at a distance of ");
    put_mean(out, study, best[0]);
    ocdm__output_text(out, ", ");
    if (difference.count > 0 && !isnan(difference.mean)) {
        put_difference(out, study, &difference);
        ocdm__output_text(out, study->trained ? " above " : " below ");
    } else {
        ocdm__output_text(out, "before ");
    }
    ocdm__put_name(out, best[1]->label, LABEL_LIMIT);
    ocdm__output_text(out, " with ");
    put_mean(out, study, best[1]);
    if (isfinite(difference.low))
        ocdm__output_text(out, sure ? "." : "; the interval includes 0.");
    else
        ocdm__output_text(out, ". With fewer than two seeds in common this says nothing about chance.");
}

void ocdm__put_verdict(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__run_group *best[2];
    find_best(study, best);
    ocdm__output_text(out, "<p class=\"verdict\" data-name=\"verdict\">");
    if (best[1] != NULL) {
        put_comparison(out, study, best);
    } else if (best[0] != NULL) {
        ocdm__output_text(out, "One method was run: <strong>");
        ocdm__put_name(out, best[0]->label, LABEL_LIMIT);
        ocdm__output_text(out, study->trained ? "</strong>, with a total mAP at the end of "
                                              : "</strong>, whose memory ends at a distance to the target of ");
        put_mean(out, study, best[0]);
        ocdm__output_text(out, ". There is nothing to compare it with.");
    } else {
        ocdm__output_text(out, "These runs have no number to compare them by.");
    }
    ocdm__output_text(out, "</p>\n");
}

/* ---- the command -------------------------------------------------------------------------------------------------------- */

static ocdm_status put_word(ocdm__output *out, const char *text, ocdm_error *error)
{
    char *word = ocdm__shell_word(text);
    if (word == NULL)
        return ocdm__fail_memory(error, "a command");
    ocdm__put_whole(out, word);
    ocdm__release(word);
    return OCDM_OK;
}

/* Whether the groups are the stream's own, the default of `ocdm run`. */
static bool is_default_groups(const ocdm__json_node *setting)
{
    return strcmp(setting->key, "groups") == 0 && strcmp(ocdm__json_text(setting, ""), "stream") == 0;
}

/* Whether the model is none of the program's: the run was made by a program of the user's own. */
static bool is_own_model(const ocdm__json_node *setting)
{
    const char *model = ocdm__json_text(setting, ocdm__run_models[0]);
    size_t i = 0;
    while (ocdm__run_models[i] != NULL && strcmp(ocdm__run_models[i], model) != 0)
        i++;
    return ocdm__run_models[i] == NULL;
}

/* --adam-eps 0.0001 for "adam_eps": 0.0001; nothing for null and false. */
static ocdm_status put_flag(ocdm__output *out, const ocdm__json_node *setting, ocdm_error *error)
{
    char flag[64], value[400];
    if (setting->kind == OCDM__JSON_NULL || setting->kind == OCDM__JSON_FALSE || is_default_groups(setting))
        return OCDM_OK;
    bool own = strcmp(setting->key, "model") == 0 && is_own_model(setting);
    snprintf(flag, sizeof flag, "--%s%.56s", own ? "own-" : "", setting->key);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    ocdm__output_text(out, " <span class=\"flag\">");
    ocdm_status status = put_word(out, flag, error);
    ocdm__output_text(out, "</span>");
    if (status != OCDM_OK || setting->kind == OCDM__JSON_TRUE)
        return status;
    ocdm__setting_text(setting, value, sizeof value);
    ocdm__output_text(out, " ");
    return put_word(out, value, error);
}

static ocdm_status put_flags(ocdm__output *out, const ocdm__json_node *settings, bool all, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    const ocdm__json_node *node = settings != NULL && settings->kind == OCDM__JSON_OBJECT ? settings->first : NULL;
    for (; status == OCDM_OK && node != NULL; node = node->next)
        if (all || (strcmp(node->key, "method") != 0 && strcmp(node->key, "seed") != 0))
            status = put_flag(out, node, error);
    return status;
}

static ocdm_status put_run_command(ocdm__output *out, const ocdm__run_record *run, ocdm_error *error)
{
    bool own = is_own_model(ocdm__json_find(run->settings, "model"));
    ocdm__output_text(out, own ? "# by a program of your own: " : "ocdm run ");
    ocdm_status status = put_word(out, ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), "STREAM"), error);
    if (status == OCDM_OK)
        status = put_flags(out, run->settings, true, error);
    ocdm__output_text(out, " -o ");
    return status == OCDM_OK ? put_word(out, run->folder, error) : status;
}

/* Whether one `ocdm compare` repeats all runs: groups differ only in the method, and each has the seeds 0, 1, ... */
static bool is_comparison(const ocdm__study *study)
{
    const ocdm__json_node *settings = study->groups[0].runs[0]->settings;
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next)
        if (strcmp(node->key, "method") != 0 && strcmp(node->key, "seed") != 0 && ocdm__study_varies(study, node->key))
            return false;
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        if (group->run_count != study->groups[0].run_count)
            return false;
        for (size_t j = 0; j < group->run_count; j++)
            if (group->runs[j]->seed != (double)j)
                return false;
    }
    return study->group_count > 1;
}

static ocdm_status put_compare_command(ocdm__output *out, const ocdm__study *study, ocdm_error *error)
{
    const ocdm__run_record *run = study->groups[0].runs[0];
    ocdm__output_text(out, "ocdm compare ");
    ocdm_status status = put_word(out, ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), "STREAM"), error);
    for (size_t i = 0; status == OCDM_OK && i < study->group_count; i++) {
        ocdm__output_text(out, i == 0 ? " <span class=\"flag\">--methods</span> " : ",");
        status = put_word(out, study->groups[i].method, error);
    }
    ocdm__put(out, " <span class=\"flag\">--seeds</span> %zu", study->groups[0].run_count);
    if (status == OCDM_OK)
        status = put_flags(out, run->settings, false, error);
    size_t parent = (size_t)(run->name - run->folder);
    char *folder = ocdm__path_in(run->folder, "");
    if (status != OCDM_OK || folder == NULL) {
        ocdm__release(folder);
        return status == OCDM_OK ? ocdm__fail_memory(error, "a command") : status;
    }
    folder[parent > 1 ? parent - 1 : parent] = '\0';
    ocdm__output_text(out, " -o ");
    status = put_word(out, folder[0] != '\0' ? folder : ".", error);
    ocdm__release(folder);
    return status;
}

ocdm_status ocdm__put_repeat(ocdm__output *out, const ocdm__study *study, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    bool one = is_comparison(study), single = study->group_count == 1 && study->groups[0].run_count == 1;
    if (one || single) {
        ocdm__output_text(out, "<p>To repeat it:</p>\n<pre data-name=\"repeat\"><code>");
        status = one ? put_compare_command(out, study, error) : put_run_command(out, study->groups[0].runs[0], error);
        ocdm__output_text(out, "</code></pre>\n");
    }
    if (single || status != OCDM_OK)
        return status;
    ocdm__output_text(out,
                      one ? "<details><summary>Each run by itself</summary>\n<pre><code>"
                          : "<details><summary>The commands to repeat the runs</summary>\n<pre data-name=\"repeat\"><code>");
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; status == OCDM_OK && j < study->groups[i].run_count; j++) {
            status = put_run_command(out, study->groups[i].runs[j], error);
            ocdm__output_text(out, "\n");
        }
    ocdm__output_text(out, "</code></pre></details>\n");
    return status;
}
