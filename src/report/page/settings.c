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
        ocdm__output_text(out, "<tr><th scope=\"row\">");
        ocdm__put_name(out, group->label, 60);
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

/* ---- where they ran ----------------------------------------------------------------------------------------------------- */

/* Run number `number` of all groups of a study, one after another; NULL beyond the last. */
static const ocdm__run_record *run_at(const ocdm__study *study, size_t number)
{
    for (size_t i = 0; i < study->group_count; i++) {
        if (number < study->groups[i].run_count)
            return study->groups[i].runs[number];
        number -= study->groups[i].run_count;
    }
    return NULL;
}

static bool same_place(const ocdm__run_record *a, const ocdm__run_record *b)
{
    return ocdm__json_same(ocdm__json_find(a->summary.root, "environment"), ocdm__json_find(b->summary.root, "environment")) &&
           ocdm__json_same(ocdm__json_find(a->summary.root, "program"), ocdm__json_find(b->summary.root, "program"));
}

void ocdm__put_environment(ocdm__output *out, const ocdm__study *study)
{
    static const char *const names[] = {"environment.cpu", "environment.cores", "environment.threads", "environment.system",
                                        "program"};
    ocdm__output_text(out,
                      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"environment\"><table class=\"wrap\" "
                      "data-name=\"environment\">\n<thead><tr><th scope=\"col\" class=\"text\">processor</th>"
                      "<th scope=\"col\">cores</th><th scope=\"col\">threads</th><th scope=\"col\" class=\"text\">system</th>"
                      "<th scope=\"col\" class=\"text\">ocdm</th><th scope=\"col\">runs</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; run_at(study, i) != NULL; i++) {
        const ocdm__run_record *run = run_at(study, i);
        size_t same = 0;
        bool earlier = false;
        for (size_t j = 0; run_at(study, j) != NULL; j++) {
            earlier = earlier || (j < i && same_place(run, run_at(study, j)));
            same += same_place(run, run_at(study, j));
        }
        if (earlier)
            continue;
        ocdm__output_text(out, "<tr>");
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            ocdm__output_text(out, k == 1 || k == 2 ? "<td>" : "<td class=\"text\">");
            put_setting(out, ocdm__json_find(run->summary.root, names[k]));
            ocdm__output_text(out, "</td>");
        }
        ocdm__put(out, "<td>%zu</td></tr>\n", same);
    }
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
