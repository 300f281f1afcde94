/* The settings that runs share and those that differ, where the runs ran, and which are incomplete. */
#include "report/page/parts.h"
#include "report/text.h"

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

static void put_setting_cell(ocdm__output *out, const ocdm__json_node *setting, const char *class)
{
    char text[400];
    ocdm__setting_text(setting, text, sizeof text);
    ocdm__html_text(out, class, text, 60);
}

static void put_different(ocdm__output *out, const ocdm__study *study, const ocdm__json_node *settings)
{
    ocdm__html_begin(out, "differences", "sort", NULL);
    ocdm__output_text(out, "<tr>");
    ocdm__html_head(out, "text", NULL, "runs");
    ocdm__html_head(out, "text", NULL, "seeds");
    for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next)
        if (ocdm__study_varies(study, node->key)) {
            ocdm__output_text(out, "<th scope=\"col\" class=\"text\">");
            ocdm__put_name(out, node->key, 40);
            ocdm__output_text(out, "</th>");
        }
    ocdm__html_body(out);
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__html_row(out, group);
        ocdm__output_text(out, "</th><td class=\"text\">");
        for (size_t j = 0; j < group->run_count; j++) {
            ocdm__output_text(out, j == 0 ? "" : ", ");
            ocdm__put_decimals(out, group->runs[j]->seed, 0);
        }
        ocdm__output_text(out, "</td>");
        for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next)
            if (ocdm__study_varies(study, node->key))
                put_setting_cell(out, ocdm__group_setting(group, node->key), "text");
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__html_end(out);
}

static void put_common_row(ocdm__output *out, const char *before, const ocdm__json_node *setting)
{
    ocdm__put(out, "<tr><th scope=\"row\">%s", before);
    ocdm__put_name(out, setting->key, 40);
    ocdm__output_text(out, "</th>");
    put_setting_cell(out, setting, "text");
    ocdm__output_text(out, "</tr>\n");
}

void ocdm__put_settings(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__json_node *settings = study->groups[0].runs[0]->settings;
    if (settings == NULL || settings->kind != OCDM__JSON_OBJECT) {
        ocdm__output_text(out, "<p>The runs do not contain their settings.</p>\n");
        return;
    }
    put_different(out, study, settings);
    ocdm__output_text(out,
                      "<details><summary>What all runs have in common</summary>\n<div class=\"scroll\"><table>\n<tbody>\n");
    for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next)
        if (strcmp(node->key, "seed") != 0 && !ocdm__study_varies(study, node->key))
            put_common_row(out, "", node);
    const ocdm__json_node *stream = ocdm__json_find(study->groups[0].runs[0]->summary.root, "stream");
    const ocdm__json_node *node = stream != NULL && stream->kind == OCDM__JSON_OBJECT ? stream->first : NULL;
    for (; node != NULL; node = node->next)
        put_common_row(out, "stream: ", node);
    ocdm__output_text(out, "</tbody></table></div></details>\n");
}

/* ---- when and where they ran -------------------------------------------------------------------------------------------- */

static void put_text_cell(ocdm__output *out, const ocdm__run_record *run, const char *path)
{
    const ocdm__json_node *node = ocdm__json_find(run->summary.root, path);
    if (node != NULL && node->text != NULL && node->text[0] != '\0')
        put_setting_cell(out, node, "text");
    else
        ocdm__output_text(out, "<td class=\"text\">–</td>");
}

/* "2026-11-18 03:40" of "2026-11-18T03:40:12Z". */
static void put_date_cell(ocdm__output *out, const ocdm__run_record *run)
{
    char text[32];
    snprintf(text, sizeof text, "%.16s", ocdm__json_text(ocdm__json_find(run->summary.root, "times.ended"), "–"));
    char *gap = strchr(text, 'T');
    if (gap != NULL)
        *gap = ' ';
    ocdm__output_text(out, "<td class=\"text\">");
    ocdm__put_plain(out, text, 16);
    ocdm__output_text(out, "</td>");
}

/* "1:02:03", "2:03" or "3.4 s"; the sorting number is the seconds. */
static void put_duration_cell(ocdm__output *out, const ocdm__run_record *run)
{
    double seconds = ocdm__json_number(ocdm__json_find(run->summary.root, "times.total"));
    if (!(seconds >= 0 && seconds < 1e9)) {
        ocdm__output_text(out, "<td data-v=\"\">–</td>");
        return;
    }
    unsigned whole = (unsigned)(seconds + 0.5);
    ocdm__put(out, "<td data-v=\"%.6g\">", seconds);
    if (seconds < 60)
        ocdm__put(out, "%.1f s", seconds);
    else if (whole < 3600)
        ocdm__put(out, "%u:%02u min", whole / 60, whole % 60);
    else
        ocdm__put(out, "%u:%02u:%02u h", whole / 3600, whole / 60 % 60, whole % 60);
    ocdm__output_text(out, "</td>");
}

void ocdm__put_environment(ocdm__output *out, const ocdm__study *study)
{
    static const struct {
        const char *text, *class;
    } heads[] = {{"run", "text"},       {"seed", ""},    {"ended", "text"},  {"took", ""},
                 {"processor", "text"}, {"threads", ""}, {"system", "text"}, {"ocdm", "text"}};
    ocdm__html_begin(
        out, "environment", "sort",
        "When each run ended (UTC), how long it took with evaluations, and the processor and system that it ran on.");
    ocdm__output_text(out, "<tr>");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ocdm__html_head(out, heads[i].class, NULL, heads[i].text);
    ocdm__html_body(out);
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; j < study->groups[i].run_count; j++) {
            const ocdm__run_record *run = study->groups[i].runs[j];
            ocdm__html_row(out, &study->groups[i]);
            ocdm__output_text(out, "</th><td>");
            ocdm__put_decimals(out, run->seed, 0);
            ocdm__output_text(out, "</td>");
            put_date_cell(out, run);
            put_duration_cell(out, run);
            put_text_cell(out, run, "environment.cpu");
            put_setting_cell(out, ocdm__json_find(run->summary.root, "environment.threads"), "");
            put_text_cell(out, run, "environment.system");
            put_text_cell(out, run, "program");
            ocdm__output_text(out, "</tr>\n");
        }
    ocdm__html_end(out);
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
    ocdm__put(out,
              "<section class=\"notice\" id=\"unfinished\"><p><strong>%zu of %zu runs %s not in the comparison.</strong></p>\n",
              count, runs->count, count == 1 ? "is" : "are");
    ocdm__html_begin(out, "unfinished", "wrap", NULL);
    ocdm__output_text(out, "<tr>");
    ocdm__html_head(out, "text", NULL, "folder");
    ocdm__html_head(out, "text", NULL, "state");
    ocdm__html_head(out, "text", NULL, "why");
    ocdm__html_body(out);
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        if (run->state == OCDM__RUN_WHOLE)
            continue;
        ocdm__output_text(out, "<tr><th scope=\"row\">");
        ocdm__put_name(out, run->folder, 80);
        ocdm__put(out, "</th><td class=\"text\">%s</td>", states[run->state]);
        ocdm__html_text(out, "text long", run->why.message, 200);
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__html_end(out);
    ocdm__output_text(out, "</section>\n");
}
