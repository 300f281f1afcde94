/* The page from top to bottom: the verdict first, then what supports it. */
#include "report/page/page.h"

#include "report/figures/figure.h"
#include "report/page/parts.h"
#include "report/runs/log.h"
#include "report/text.h"

/* ---- the head ----------------------------------------------------------------------------------------------------------- */

static const char *title_of(const ocdm__page *page)
{
    return page->title != NULL ? page->title : "What the memory kept and what was learned";
}

/* The style sheet and the script, each in parts: the Content-Security-Policy allows them by their digests. */
static const char *const style[] = {ocdm__page_css,
                                    ocdm__figure_style,
                                    "@media screen and (prefers-color-scheme: dark) {\n",
                                    ocdm__figure_style_dark,
                                    "}\n",
                                    NULL};
static const char *const script[] = {ocdm__page_js, NULL};

static void put_parts(ocdm__output *out, const char *const *parts)
{
    for (; *parts != NULL; parts++)
        ocdm__output_text(out, *parts);
}

/* ---- a study ------------------------------------------------------------------------------------------------------------ */

/* The sections of a study in the table of contents. */
enum part { RESULTS, FIGURES, KEPT, TIME, SETTINGS, ENVIRONMENT, PARTS };
static const char *const part_ids[PARTS] = {"results", "figures", "kept", "time", "settings", "environment"};
static const char *const part_titles[PARTS] = {
    "Results", "Figures", "Who is in memory", "Where the time went", "What was varied", "When and where it ran"};

static void put_heading(ocdm__output *out, enum part part, size_t number)
{
    ocdm__put_markup(out, "<h2 id=\"%s-%zu\">%s</h2>\n", part_ids[part], number, part_titles[part]);
}

static const char *file_of(const ocdm__study *study)
{
    const ocdm__json_node *file = ocdm__json_find(study->groups[0].runs[0]->summary.root, "stream.file");
    return ocdm__json_text(file, "a stream without a name");
}

/* The file of a stream without folder and ending. */
static void name_stream(const ocdm__study *study, char *name, size_t room)
{
    static const char ending[] = ".safetensors";
    snprintf(name, room, "%s", file_of(study));
    size_t length = strlen(name), end = sizeof ending - 1;
    if (length > end && strcmp(name + length - end, ending) == 0)
        name[length - end] = '\0';
}

/* Its name, and its number if another stream of the page has the same. */
static void put_stream_name(ocdm__output *out, const ocdm__page *page, size_t number)
{
    char name[100], other[100];
    size_t same = 0, before = 0;
    name_stream(&page->studies->studies[number], name, sizeof name);
    for (size_t i = 0; i < page->studies->count; i++) {
        name_stream(&page->studies->studies[i], other, sizeof other);
        same += strcmp(name, other) == 0;
        before += i <= number && strcmp(name, other) == 0;
    }
    ocdm__put_name(out, name, 60);
    if (same > 1)
        ocdm__put_markup(out, " (%zu)", before);
}

/* The stream in a sentence, and the values of swept settings that the plain comparison uses. */
static void put_stream(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__run_record *run = study->groups[0].runs[0];
    const char *before = " Some settings were swept; verdict, tables and plain figures are about ";
    size_t runs = 0;
    for (size_t i = 0; i < study->group_count; i++)
        runs += study->groups[i].run_count;
    ocdm__put_markup(out, "<p class=\"note\">%zu run%s on %-.80s: ", runs, runs == 1 ? "" : "s", file_of(study));
    ocdm__put_grouped(out, ocdm__json_number(ocdm__json_find(run->summary.root, "stream.train")));
    ocdm__output_text(out, " training and ");
    ocdm__put_grouped(out, ocdm__json_number(ocdm__json_find(run->summary.root, "stream.test")));
    ocdm__put_markup(out, " test samples, %zu classes, %zu tasks.", study->class_count, study->order.count);
    for (const ocdm__json_node *node = ocdm__settings_first(run); node != NULL; node = ocdm__settings_next(node)) {
        char value[100];
        if (!ocdm__study_sweeps(study, node->key))
            continue;
        ocdm__setting_text(node, value, sizeof value);
        ocdm__put_markup(out, "%s%-.40s %-.40s", before, node->key, value);
        before = ", ";
    }
    ocdm__output_text(out, strcmp(before, ", ") == 0 ? ".</p>\n" : "</p>\n");
}

/* In two scales, the style sheet shows the picture of the one that is chosen, without a script. */
static ocdm_status put_figure(ocdm__output *out, const ocdm__figure *figure, const ocdm__chart *chart, size_t number,
                              ocdm_error *error)
{
    static const char *const classes[2] = {"to-own", "to-other"}, *const pictures[2] = {"own", "other"};
    size_t scales = figure->scales[1] != NULL ? 2 : 1;
    ocdm__put_markup(out, "<figure data-name=\"%s\"><figcaption><strong>%s</strong>\n<span class=\"how\">", figure->name,
                     figure->title);
    ocdm__output_text(out, figure->reading);
    ocdm__output_text(out, "</span></figcaption>\n");
    for (size_t i = 0; scales == 2 && i < 2; i++) {
        ocdm__put_markup(out, "<input type=\"radio\" class=\"switch %s\" name=\"scale-%s-%zu\" id=\"scale-%s-%zu-%zu\"",
                         classes[i], figure->name, number, figure->name, number, i);
        ocdm__put_markup(out, "%s><label for=\"scale-%s-%zu-%zu\">%s</label>", i == 0 ? " checked" : "", figure->name, number,
                         i, figure->scales[i]);
    }
    for (size_t i = 0; i < scales; i++) {
        ocdm__canvas canvas = {.out = out, .title = figure->title, .other_scale = i == 1};
        ocdm__put_markup(out, "<div class=\"scroll %s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n", pictures[i],
                         figure->title);
        OCDM_TRY(ocdm__chart_draw(chart, &canvas, error));
        ocdm__output_text(out, "</div>\n");
    }
    ocdm__output_text(out, "</figure>\n");
    return OCDM_OK;
}

static ocdm_status put_figures(ocdm__output *out, const ocdm__study *study, enum ocdm__figure_section section, size_t number,
                               ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && ocdm__figures[i] != NULL; i++) {
        ocdm__chart chart = {.x = NULL};
        if (ocdm__figures[i]->section == section)
            status = ocdm__figure_make(ocdm__figures[i], study, &chart, error);
        if (status == OCDM_OK && ocdm__chart_has_numbers(&chart))
            status = put_figure(out, ocdm__figures[i], &chart, number, error);
        ocdm__chart_clear(&chart);
    }
    return status;
}

static ocdm_status put_study(ocdm__output *out, const ocdm__page *page, const char *folder, size_t number, ocdm_error *error)
{
    const ocdm__study *study = &page->studies->studies[number];
    if (page->studies->count > 1) {
        ocdm__output_text(out, "<h2 class=\"stream\">Stream ");
        put_stream_name(out, page, number);
        ocdm__output_text(out, "</h2>\n");
    }
    ocdm__put_verdict(out, study);
    put_stream(out, study);
    OCDM_TRY(ocdm__put_commands(out, study, folder, error));
    if (page->studies->count == 1)
        ocdm__put_unfinished(out, page->runs);
    put_heading(out, RESULTS, number);
    ocdm__put_paper_table(out, study);
    ocdm__put_other_metrics(out, study);
    ocdm__put_memory_table(out, study);
    ocdm__put_sweep_table(out, study);
    put_heading(out, FIGURES, number);
    OCDM_TRY(put_figures(out, study, OCDM__SECTION_FIGURES, number, error));
    ocdm__put_class_table(out, study);
    put_heading(out, KEPT, number);
    OCDM_TRY(ocdm__put_kept(out, study, &page->pictures, error));
    put_heading(out, TIME, number);
    OCDM_TRY(put_figures(out, study, OCDM__SECTION_TIME, number, error));
    ocdm__put_time_table(out, study);
    put_heading(out, SETTINGS, number);
    ocdm__put_settings(out, study);
    put_heading(out, ENVIRONMENT, number);
    ocdm__put_environment(out, study);
    return OCDM_OK;
}

/* ---- the whole page ----------------------------------------------------------------------------------------------------- */

static ocdm_status put_page(ocdm__output *out, const ocdm__page *page, const char *folder, ocdm_error *error)
{
    ocdm__output_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                           "base-uri 'none'; form-action 'none'; style-src ");
    ocdm__put_digest(out, style);
    ocdm__output_text(out, "; script-src ");
    ocdm__put_digest(out, script);
    ocdm__put_markup(out,
                     "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"generator\" content=\"ocdm %s\">\n<link rel=\"icon\" href=\"data:,\">\n"
                     "<title>%.200s</title>\n<style>",
                     ocdm_version(), title_of(page));
    put_parts(out, style);
    ocdm__output_text(out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n");
    ocdm__put_markup(out, "<header><h1>%.200s</h1>\n<nav aria-label=\"Contents\">\n", title_of(page));
    for (size_t i = 0; i < page->studies->count; i++) {
        ocdm__output_text(out, "<ul>\n");
        if (page->studies->count > 1) {
            ocdm__output_text(out, "<li><strong>");
            put_stream_name(out, page, i);
            ocdm__output_text(out, "</strong></li>\n");
        }
        for (size_t part = 0; part < PARTS; part++)
            ocdm__put_markup(out, "<li><a href=\"#%s-%zu\">%s</a></li>\n", part_ids[part], i, part_titles[part]);
        ocdm__output_text(out, "</ul>\n");
    }
    ocdm__output_text(out, "</nav>\n</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    if (page->studies->count == 0)
        ocdm__output_text(out, "<p class=\"verdict\">No run is finished yet: there is nothing to compare.</p>\n");
    if (page->studies->count != 1)
        ocdm__put_unfinished(out, page->runs);
    for (size_t i = 0; i < page->studies->count; i++)
        OCDM_TRY(put_study(out, page, folder, i, error));
    ocdm__put_markup(out,
                     "</main>\n<footer><p>Written by ocdm %s. The numbers behind this page are in it as JSON, in the element "
                     "with the id \"data\"; <code>ocdm report --figures FOLDER</code> writes every figure as SVG and "
                     "CSV.</p></footer>\n",
                     ocdm_version());
    OCDM_TRY(ocdm__put_data(out, page, error));
    ocdm__output_text(out, "<script>");
    put_parts(out, script);
    ocdm__output_text(out, "</script>\n</body>\n</html>\n");
    return OCDM_OK;
}

ocdm_status ocdm__page_write(const ocdm__page *page, const char *path, ocdm_error *error)
{
    ocdm__output out = {.buffer = NULL};
    /* The folder of the page; what is not in one, such as /dev/stdout, is read where the program runs. */
    const char *slash = strncmp(path, "/dev/", 5) == 0 ? NULL : strrchr(path, '/');
    ocdm__path folder = {"."};
    if (slash != NULL)
        snprintf(folder.text, sizeof folder.text, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    ocdm_status status = ocdm__output_open(&out, path, error);
    OCDM_THEN(status, put_page(&out, page, folder.text, error));
    OCDM_THEN(status, ocdm__output_commit(&out, error));
    ocdm__output_abandon(&out);
    return status;
}
