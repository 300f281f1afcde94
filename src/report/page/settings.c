/* The settings that runs share and those that differ, where the runs ran, and which are incomplete. */
#include <stdio.h>
#include <string.h>

#include "report/page/parts.h"
#include "report/text.h"

static void put_setting(ocdm__output *out, const ocdm__json_node *setting)
{
    char text[400];
    ocdm__setting_text(setting, text, sizeof text);
    ocdm__put_name(out, text, 60);
}

static void put_seed(ocdm__output *out, const char *before, double seed)
{
    ocdm__output_text(out, before);
    ocdm__put_decimals(out, seed, 0);
}

static void put_different(ocdm__output *out, const ocdm__study *study, const ocdm__json_node *settings)
{
    ocdm__output_text(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"differences\"><table "
                           "class=\"sort\" data-name=\"differences\">\n<thead><tr>"
                           "<th scope=\"col\" class=\"text\">runs</th><th scope=\"col\" class=\"text\">seeds</th>");
    for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next)
        if (ocdm__study_varies(study, node->key)) {
            ocdm__output_text(out, "<th scope=\"col\" class=\"text\">");
            ocdm__put_name(out, node->key, 40);
            ocdm__output_text(out, "</th>");
        }
    ocdm__output_text(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < study->group_count; i++) {
        const ocdm__run_group *group = &study->groups[i];
        ocdm__output_text(out, "<tr");
        ocdm__put_mark_of(out, group);
        ocdm__output_text(out, "><th scope=\"row\">");
        ocdm__put_method(out, group);
        ocdm__output_text(out, "</th><td class=\"text\">");
        for (size_t j = 0; j < group->run_count; j++)
            put_seed(out, j == 0 ? "" : ", ", group->runs[j]->seed);
        ocdm__output_text(out, "</td>");
        for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next)
            if (ocdm__study_varies(study, node->key)) {
                ocdm__output_text(out, "<td class=\"text\">");
                put_setting(out, ocdm__json_find(group->runs[0]->settings, node->key));
                ocdm__output_text(out, "</td>");
            }
        ocdm__output_text(out, "</tr>\n");
    }
    ocdm__output_text(out, "</tbody></table></div>\n");
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
    for (const ocdm__json_node *node = settings->first; node != NULL; node = node->next) {
        if (strcmp(node->key, "seed") == 0 || ocdm__study_varies(study, node->key))
            continue;
        ocdm__output_text(out, "<tr><th scope=\"row\">");
        ocdm__put_name(out, node->key, 40);
        ocdm__output_text(out, "</th><td class=\"text\">");
        put_setting(out, node);
        ocdm__output_text(out, "</td></tr>\n");
    }
    const ocdm__json_node *stream = ocdm__json_find(study->groups[0].runs[0]->summary.root, "stream");
    const ocdm__json_node *node = stream != NULL && stream->kind == OCDM__JSON_OBJECT ? stream->first : NULL;
    for (; node != NULL; node = node->next) {
        ocdm__output_text(out, "<tr><th scope=\"row\">stream: ");
        ocdm__put_name(out, node->key, 40);
        ocdm__output_text(out, "</th><td class=\"text\">");
        put_setting(out, node);
        ocdm__output_text(out, "</td></tr>\n");
    }
    ocdm__output_text(out, "</tbody></table></div></details>\n");
}

/* ---- when and where they ran -------------------------------------------------------------------------------------------- */

static void put_text_cell(ocdm__output *out, const ocdm__run_record *run, const char *path)
{
    const ocdm__json_node *node = ocdm__json_find(run->summary.root, path);
    ocdm__output_text(out, "<td class=\"text\">");
    if (node != NULL && node->text != NULL && node->text[0] != '\0')
        put_setting(out, node);
    else
        ocdm__output_text(out, "–");
    ocdm__output_text(out, "</td>");
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

static void put_run_row(ocdm__output *out, const ocdm__run_group *group, const ocdm__run_record *run)
{
    ocdm__output_text(out, "<tr");
    ocdm__put_mark_of(out, group);
    ocdm__output_text(out, "><th scope=\"row\">");
    ocdm__put_method(out, group);
    ocdm__output_text(out, "</th><td>");
    put_seed(out, "", run->seed);
    ocdm__output_text(out, "</td>");
    put_date_cell(out, run);
    put_duration_cell(out, run);
    put_text_cell(out, run, "environment.cpu");
    ocdm__output_text(out, "<td>");
    put_setting(out, ocdm__json_find(run->summary.root, "environment.threads"));
    ocdm__output_text(out, "</td>");
    put_text_cell(out, run, "environment.system");
    put_text_cell(out, run, "program");
    ocdm__output_text(out, "</tr>\n");
}

void ocdm__put_environment(ocdm__output *out, const ocdm__study *study)
{
    ocdm__output_text(
        out,
        "<p class=\"note\">When each run ended (UTC), how long it took with evaluations, and the processor and "
        "system that it ran on.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"runs\"><table class=\"sort\" "
        "data-name=\"environment\">\n<thead><tr><th scope=\"col\" class=\"text\">run</th><th scope=\"col\">seed</th>"
        "<th scope=\"col\" class=\"text\">ended</th><th scope=\"col\">took</th>"
        "<th scope=\"col\" class=\"text\">processor</th>"
        "<th scope=\"col\">threads</th><th scope=\"col\" class=\"text\">system</th>"
        "<th scope=\"col\" class=\"text\">ocdm</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < study->group_count; i++)
        for (size_t j = 0; j < study->groups[i].run_count; j++)
            put_run_row(out, &study->groups[i], study->groups[i].runs[j]);
    ocdm__output_text(out, "</tbody></table></div>\n");
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
              "<section class=\"notice\" id=\"unfinished\"><p><strong>%zu of %zu runs %s not in the comparison.</strong></p>\n"
              "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"unfinished\"><table class=\"wrap\"><thead><tr>"
              "<th scope=\"col\" class=\"text\">folder</th><th scope=\"col\" class=\"text\">state</th>"
              "<th scope=\"col\" class=\"text\">why</th></tr></thead>\n<tbody>\n",
              count, runs->count, count == 1 ? "is" : "are");
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        if (run->state == OCDM__RUN_WHOLE)
            continue;
        ocdm__output_text(out, "<tr><th scope=\"row\">");
        ocdm__put_name(out, run->folder, 80);
        ocdm__put(out, "</th><td class=\"text\">%s</td><td class=\"text long\">", states[run->state]);
        ocdm__put_name(out, run->why.message, 200);
        ocdm__output_text(out, "</td></tr>\n");
    }
    ocdm__output_text(out, "</tbody></table></div></section>\n");
}
