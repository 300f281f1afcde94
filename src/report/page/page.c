/* The page from top to bottom: the verdict first, then what it rests on. */
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/figures/figure.h"
#include "report/page/parts.h"
#include "report/page/text.h"

/* ---- the head ----------------------------------------------------------------------------------------------------------- */

static void put_title(ocdm__output *out, const ocdm__page *page)
{
    if (page->title != NULL)
        ocdm__put_plain(out, page->title, 200);
    else
        ocdm__output_text(out, "What the memory kept and what was learned");
}

/* The style is one text, so that one digest allows it. */
static void put_style(ocdm__output *out, const char *style)
{
    ocdm__output_text(out, "<style>");
    ocdm__output_text(out, style);
    ocdm__output_text(out, "</style>\n");
}

#define STYLE_ROOM 16384

static void put_head(ocdm__output *out, const ocdm__page *page)
{
    char style[STYLE_ROOM];
    snprintf(style, sizeof style, "%s%s@media screen and (prefers-color-scheme:dark){\n%s}\n", ocdm__page_style,
             ocdm__figure_style, ocdm__figure_style_dark);
    ocdm__output_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                           "base-uri 'none'; form-action 'none'; style-src ");
    ocdm__put_digest(out, style);
    ocdm__output_text(out, "; script-src ");
    ocdm__put_digest(out, ocdm__page_script);
    ocdm__output_text(out, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<meta name=\"generator\" content=\"ocdm ");
    ocdm__output_text(out, ocdm_version());
    ocdm__output_text(out, "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    put_title(out, page);
    ocdm__output_text(out, "</title>\n");
    put_style(out, style);
    ocdm__output_text(out, "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n");
}

/* ---- a study ------------------------------------------------------------------------------------------------------------ */

/* The parts of a study that the list of contents names. */
enum part { RESULTS, FIGURES, KEPT, TIME, SETTINGS, ENVIRONMENT, PARTS };
static const char *const part_ids[PARTS] = {"results", "figures", "kept", "time", "settings", "environment"};
static const char *const part_titles[PARTS] = {"Results",         "Figures",     "Who is in memory", "Where the time went",
                                               "What was varied", "Where it ran"};

static void put_heading(ocdm__output *out, enum part part, size_t number)
{
    ocdm__put(out, "<h2 id=\"%s-%zu\">%s</h2>\n", part_ids[part], number, part_titles[part]);
}

static void put_contents(ocdm__output *out, const ocdm__page *page)
{
    ocdm__output_text(out, "<nav aria-label=\"Contents\"><ul>\n");
    for (size_t i = 0; i < page->studies->count; i++)
        for (size_t part = 0; part < PARTS; part++) {
            ocdm__put(out, "<li><a href=\"#%s-%zu\">%s", part_ids[part], i, part_titles[part]);
            if (page->studies->count > 1)
                ocdm__put(out, " (%zu)", i + 1);
            ocdm__output_text(out, "</a></li>\n");
        }
    ocdm__output_text(out, "</ul></nav>\n");
}

/* Which values of swept settings the plain comparison is about. */
static void put_base(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__json_node *settings = study->groups[0].runs[0]->settings;
    bool first = true;
    for (const ocdm__json_node *node = settings != NULL ? settings->first : NULL; node != NULL; node = node->next) {
        char value[100];
        if (strcmp(node->key, "seed") == 0 || !ocdm__study_sweeps(study, node->key))
            continue;
        ocdm__setting_text(node, value, sizeof value);
        ocdm__output_text(out, first ? " Some settings were swept; verdict, tables and plain figures are about " : ", ");
        ocdm__put_name(out, node->key, 40);
        ocdm__output_text(out, " ");
        ocdm__put_name(out, value, 40);
        first = false;
    }
    if (!first)
        ocdm__output_text(out, ".");
}

/* The stream in a sentence. */
static void put_stream(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__json_node *root = study->groups[0].runs[0]->summary.root;
    size_t runs = 0;
    for (size_t i = 0; i < study->group_count; i++)
        runs += study->groups[i].run_count;
    ocdm__put(out, "<p class=\"note\">%zu run%s on ", runs, runs == 1 ? "" : "s");
    ocdm__put_name(out, ocdm__json_text(ocdm__json_find(root, "stream.file"), "a stream without a name"), 80);
    ocdm__output_text(out, ": ");
    ocdm__put_grouped(out, ocdm__json_number(ocdm__json_find(root, "stream.train")));
    ocdm__output_text(out, " training and ");
    ocdm__put_grouped(out, ocdm__json_number(ocdm__json_find(root, "stream.test")));
    ocdm__put(out, " test samples, %zu classes, %zu tasks.", study->class_count, study->task_count);
    put_base(out, study);
    ocdm__output_text(out, "</p>\n");
}

static ocdm_status put_figure(ocdm__output *out, const ocdm__study *study, const ocdm__figure *figure, ocdm_error *error)
{
    ocdm__put(out, "<figure data-name=\"%s\"><figcaption><strong>%s</strong>\n<span class=\"how\">", figure->name,
              figure->title);
    ocdm__output_text(out, figure->reading);
    ocdm__put(out, "</span></figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
              figure->title);
    ocdm_status status = figure->draw(study, &(ocdm__canvas){out, false, figure->title, NULL}, error);
    ocdm__output_text(out, "</div></figure>\n");
    return status;
}

/* The figure of the time stands with its table; all others together. */
static ocdm_status put_figures(ocdm__output *out, const ocdm__study *study, bool time, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && ocdm__figures[i] != NULL; i++)
        if ((ocdm__figures[i + 1] == NULL) == time && ocdm__figures[i]->is_there(study))
            status = put_figure(out, study, ocdm__figures[i], error);
    return status;
}

static ocdm_status put_study(ocdm__output *out, const ocdm__page *page, size_t number, ocdm_error *error)
{
    const ocdm__study *study = &page->studies->studies[number];
    if (page->studies->count > 1)
        ocdm__put(out, "<h2>Stream %zu</h2>\n", number + 1);
    ocdm__put_verdict(out, study);
    put_stream(out, study);
    ocdm_status status = ocdm__put_repeat(out, study, error);
    if (page->studies->count == 1)
        ocdm__put_unfinished(out, page->runs);
    put_heading(out, RESULTS, number);
    ocdm__put_paper_table(out, study);
    ocdm__put_memory_table(out, study);
    ocdm__put_sweep_table(out, study);
    put_heading(out, FIGURES, number);
    if (status == OCDM_OK)
        status = put_figures(out, study, false, error);
    ocdm__put_class_table(out, study);
    put_heading(out, KEPT, number);
    if (status == OCDM_OK)
        status = ocdm__put_kept(out, study, &page->pictures, error);
    put_heading(out, TIME, number);
    if (status == OCDM_OK)
        status = put_figures(out, study, true, error);
    ocdm__put_time_table(out, study);
    put_heading(out, SETTINGS, number);
    ocdm__put_settings(out, study);
    put_heading(out, ENVIRONMENT, number);
    ocdm__put_environment(out, study);
    return status;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------- */

static ocdm_status put_page(ocdm__output *out, const ocdm__page *page, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    put_head(out, page);
    ocdm__output_text(out, "<header><h1>");
    put_title(out, page);
    ocdm__output_text(out, "</h1>\n");
    put_contents(out, page);
    ocdm__output_text(out, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    if (page->studies->count == 0)
        ocdm__output_text(out, "<p class=\"verdict\">No run is finished yet: there is nothing to compare.</p>\n");
    if (page->studies->count != 1)
        ocdm__put_unfinished(out, page->runs);
    for (size_t i = 0; status == OCDM_OK && i < page->studies->count; i++)
        status = put_study(out, page, i, error);
    ocdm__output_text(out, "</main>\n<footer><p>Written by ocdm ");
    ocdm__output_text(out, ocdm_version());
    ocdm__output_text(out, ". The numbers behind this page are in it as JSON, in the element with the id \"data\"; <code>ocdm "
                           "report --figures FOLDER</code> writes every figure as SVG and CSV.</p></footer>\n");
    ocdm__put_data(out, page);
    ocdm__output_text(out, "<script>");
    ocdm__output_text(out, ocdm__page_script);
    ocdm__output_text(out, "</script>\n</body>\n</html>\n");
    return status;
}

ocdm_status ocdm__page_write(const ocdm__page *page, const char *path, ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    ocdm_status status = ocdm__output_open(&out, path, error);
    if (status == OCDM_OK)
        status = put_page(&out, page, error);
    if (status == OCDM_OK)
        status = ocdm__output_commit(&out, error);
    ocdm__output_abandon(&out);
    return status;
}
