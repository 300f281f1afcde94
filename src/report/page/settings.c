/* The settings that runs share and those that differ, where the runs ran, and which are incomplete. */
#include "report/page/parts.h"
#include "report/text.h"

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

static void put_setting_cell(ocdm__output *out, const ocdm__json_node *setting)
{
    char text[400];
    ocdm__setting_text(setting, text, sizeof text);
    ocdm__put_markup(out, "<td class=\"text\">%-.60s</td>", text);
}

static void put_common_row(ocdm__output *out, const char *before, const ocdm__json_node *setting)
{
    ocdm__put_markup(out, "<tr><th scope=\"row\">%s%-.40s</th>", before, setting->key);
    put_setting_cell(out, setting);
    ocdm__output_text(out, "</tr>\n");
}

void ocdm__put_settings(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__run_record *run = study->groups[0].runs[0];
    if (run->settings == NULL || run->settings->kind != OCDM__JSON_OBJECT) {
        ocdm__output_text(out, "<p>The runs do not contain their settings.</p>\n");
        return;
    }
    ocdm__html_begin(out, "differences", "sort", NULL);
    ocdm__output_text(out, "<tr>" OCDM__HEAD("text", "runs") OCDM__HEAD("text", "seeds"));
    for (const ocdm__json_node *node = run->settings->first; node != NULL; node = node->next)
        if (ocdm__study_varies(study, node->key))
            ocdm__put_markup(out, "<th scope=\"col\" class=\"text\">%-.40s</th>", node->key);
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__html_row(out, group);
        ocdm__output_text(out, "</th><td class=\"text\">");
        for (size_t j = 0; j < group->run_count; j++)
            ocdm__put_markup(out, "%s%#.0f", j == 0 ? "" : ", ", group->runs[j]->seed);
        ocdm__output_text(out, "</td>");
        for (const ocdm__json_node *node = run->settings->first; node != NULL; node = node->next)
            if (ocdm__study_varies(study, node->key))
                put_setting_cell(out, ocdm__group_setting(group, node->key));
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, OCDM__HTML_END);
    ocdm__output_text(out,
                      "<details><summary>What all runs have in common</summary>\n<div class=\"scroll\"><table>\n<tbody>\n");
    for (const ocdm__json_node *node = ocdm__settings_first(run); node != NULL; node = ocdm__settings_next(node))
        if (!ocdm__study_varies(study, node->key))
            put_common_row(out, "", node);
    const ocdm__json_node *stream = ocdm__json_find(run->summary.root, "stream");
    bool is_object = stream != NULL && stream->kind == OCDM__JSON_OBJECT;
    for (const ocdm__json_node *node = is_object ? stream->first : NULL; node != NULL; node = node->next)
        put_common_row(out, "stream: ", node);
    ocdm__output_text(out, "</tbody></table></div></details>\n");
}

/* ---- when and where they ran -------------------------------------------------------------------------------------------- */

static void put_text_cell(ocdm__output *out, const ocdm__run_record *run, const char *path)
{
    const ocdm__json_node *node = ocdm__json_find(run->summary.root, path);
    if (node != NULL && node->text != NULL && node->text[0] != '\0')
        put_setting_cell(out, node);
    else
        ocdm__output_text(out, "<td class=\"text\">–</td>");
}

/* "1:02:03", "2:03" or "3.4 s"; the sorting number is the seconds. */
static void put_duration_cell(ocdm__output *out, double seconds)
{
    unsigned whole = seconds >= 0 && seconds < 1e9 ? (unsigned)(seconds + 0.5) : 0;
    if (!(seconds >= 0 && seconds < 1e9))
        ocdm__output_text(out, "<td data-v=\"\">–</td>");
    else if (seconds < 60)
        ocdm__put_markup(out, "<td data-v=\"%.6g\">%.1f s</td>", seconds, seconds);
    else if (whole < 3600)
        ocdm__put_markup(out, "<td data-v=\"%.6g\">%u:%02u min</td>", seconds, whole / 60, whole % 60);
    else
        ocdm__put_markup(out, "<td data-v=\"%.6g\">%u:%02u:%02u h</td>", seconds, whole / 3600, whole / 60 % 60, whole % 60);
}

void ocdm__put_environment(ocdm__output *out, const ocdm__study *study)
{
    ocdm__html_begin(
        out, "environment", "sort",
        "When each run ended (UTC), how long it took with evaluations, and the processor and system that it ran on.");
    ocdm__output_text(
        out,
        "<tr>" OCDM__HEAD("text", "run") "<th scope=\"col\">seed</th>" OCDM__HEAD(
            "text",
            "ended") "<th scope=\"col\">took</th>" OCDM__HEAD("text",
                                                              "processor") "<th scope=\"col\">threads</th>" OCDM__HEAD("text",
                                                                                                                       "system")
            OCDM__HEAD("text", "ocdm"));
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; j < study->groups[i].run_count; j++) {
            const ocdm__run_record *run = study->groups[i].runs[j];
            char threads[400];
            ocdm__html_row(out, &study->groups[i]);
            ocdm__put_markup(out, "</th><td>%#.0f</td>", run->seed);
            /* "2026-11-18 03:40" of "2026-11-18T03:40:12Z". */
            char text[32];
            snprintf(text, sizeof text, "%.16s", ocdm__json_text(ocdm__json_find(run->summary.root, "times.ended"), "–"));
            char *gap = strchr(text, 'T');
            if (gap != NULL)
                *gap = ' ';
            ocdm__put_markup(out, "<td class=\"text\">%.16s</td>", text);
            put_duration_cell(out, ocdm__json_number(ocdm__json_find(run->summary.root, "times.total")));
            put_text_cell(out, run, "environment.cpu");
            ocdm__setting_text(ocdm__json_find(run->summary.root, "environment.threads"), threads, sizeof threads);
            ocdm__put_markup(out, "<td>%-.60s</td>", threads);
            put_text_cell(out, run, "environment.system");
            put_text_cell(out, run, "program");
            ocdm__output_text(out, "</tr>\n");
        }
    ocdm__output_text(out, OCDM__HTML_END);
}

/* ---- what is not whole -------------------------------------------------------------------------------------------------- */

void ocdm__put_unfinished(ocdm__output *out, const ocdm__run_list *runs)
{
    static const char *const states[] = {"whole", "not finished", "damaged", "missing"};
    size_t count = 0;
    for (size_t i = 0; i < runs->count; i++)
        count += runs->runs[i].state != OCDM__RUN_WHOLE;
    if (count == 0)
        return;
    ocdm__put_markup(
        out, "<section class=\"notice\" id=\"unfinished\"><p><strong>%zu of %zu runs %s not in the comparison.</strong></p>\n",
        count, runs->count, count == 1 ? "is" : "are");
    ocdm__html_begin(out, "unfinished", "wrap", NULL);
    ocdm__output_text(out, "<tr>" OCDM__HEAD("text", "folder") OCDM__HEAD("text", "state") OCDM__HEAD("text", "why"));
    ocdm__output_text(out, OCDM__HTML_BODY);
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        if (run->state != OCDM__RUN_WHOLE)
            ocdm__put_markup(out,
                             "<tr><th scope=\"row\">%-.80s</th><td class=\"text\">%s</td><td class=\"text "
                             "long\">%-.200s</td></tr>\n",
                             run->folder, states[run->state], run->why.message);
    }
    ocdm__output_text(out, OCDM__HTML_END);
    ocdm__output_text(out, "</section>\n");
}
