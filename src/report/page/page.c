/* The page from top to bottom: the verdict first, then what supports it. */
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/figures/figure.h"
#include "report/page/parts.h"
#include "report/text.h"

/* ---- style and script --------------------------------------------------------------------------------------------------- */

/* What the page looks like, and the script that sorts its tables. The Content-Security-Policy allows both by their digests. */
static const char page_style[] =
    ":root{color-scheme:light dark}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:#ffffff;color:#1f2328;font:16px/1.5 system-ui,\"DejaVu Sans\",Arial,sans-serif}\n"
    "header,main,footer{max-width:84rem;margin:0 auto;padding:0 1rem}\n"
    "h1{font-size:1.7rem;line-height:1.25;margin:1.2rem 0 .4rem;overflow-wrap:anywhere}\n"
    "h2{font-size:1.3rem;margin:2.4rem 0 .5rem;padding-top:.5rem;border-top:1px solid #d8dee4}\n"
    "h3{font-size:1.08rem;margin:1.8rem 0 .3rem}\n"
    "p,li,dd{max-width:46rem;overflow-wrap:anywhere}\n"
    ".skip{position:absolute;left:-99rem}\n.skip:focus{left:1rem;top:.5rem;background:#ffffff;padding:.4rem .8rem}\n"
    "a{color:#0550ae}\n"
    ":focus-visible{outline:3px solid #D55E00;outline-offset:2px}\n"
    "nav ul{list-style:none;margin:.6rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}\n"
    ".verdict{font-size:1.2rem;line-height:1.45;border-left:5px solid #0072B2;padding:.5rem 0 .5rem 1rem;margin:.8rem 0}\n"
    ".notice{border-left:5px solid #D55E00;padding:.2rem 0 .2rem 1rem;margin:1.2rem 0}\n"
    ".how,.note{color:#57606a}\n"
    "pre{background:#f3f5f7;padding:.7rem .9rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0;font-size:.86rem}\n"
    ".scroll{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.28rem .42rem;border-bottom:1px solid #d8dee4;text-align:right;white-space:nowrap;vertical-align:top}\n"
    "thead th{border-bottom:2px solid #57606a;font-weight:600;vertical-align:bottom}\n"
    "thead tr.groups th{border-bottom:1px solid #d8dee4;text-align:center}\n"
    "th:first-child,td:first-child,.text{text-align:left}\n"
    "tbody th{font-weight:600}\n.wrap{min-width:36rem}\n.wrap td,.wrap "
    "th,.long{white-space:normal;overflow-wrap:anywhere}\n.long{min-width:12rem}\n"
    ".sd{color:#57606a;font-weight:400;font-size:.92em}\n.flag{white-space:nowrap}\n.best{font-weight:700}\n.start{border-left:"
    "1px solid #d8dee4}\n"
    "th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer;"
    "text-decoration:underline dotted;text-underline-offset:3px}\n"
    "th[aria-sort=ascending] button::after{content:\" \\2191\"}\nth[aria-sort=descending] button::after{content:\" \\2193\"}\n"
    "figure{margin:1.2rem 0 2rem}\nfigcaption{margin:0 0 .2rem}\nfigcaption strong{display:block;font-size:1.08rem}\n"
    "figure svg{display:block;width:100%;min-width:860px;max-width:1180px;height:auto}\n"
    ".key{display:inline-block;width:.75rem;height:.75rem;margin-right:.4rem;vertical-align:-.05rem}\n"
    ".thumbs{display:flex;flex-wrap:wrap;gap:.7rem;margin:.4rem 0 1.2rem;padding:0;list-style:none}\n"
    ".thumbs li{width:7rem;font-size:.8rem;line-height:1.3}\n.thumbs img{display:block;width:7rem;height:7rem;"
    "image-rendering:auto}\n"
    "details{margin:.6rem 0}\nsummary{cursor:pointer;color:#0550ae}\n"
    "footer{color:#57606a;margin:3rem auto 2rem;font-size:.9rem}\n"
    "@media (prefers-color-scheme:dark){\n"
    "body{background:#0d1117;color:#e6edf3}\na,summary{color:#79b8ff}\n.skip:focus{background:#0d1117}\n"
    "h2{border-color:#30363d}\n.how,.note,.sd,footer{color:#a3adb8}\npre{background:#161b22}\n"
    "th,td,thead tr.groups th{border-color:#30363d}\nthead th{border-bottom-color:#a3adb8}\n}\n"
    "@media print{\n@page{size:A4;margin:13mm}\nbody{font-size:9.5pt;background:#ffffff;color:#000000}\n"
    "nav,.skip{display:none}\nheader,main,footer{max-width:none;padding:0}\n.scroll{overflow:visible}\n"
    "figure,tr,.verdict{break-inside:avoid}\nh2,h3{break-after:avoid}\n"
    "figure svg{min-width:0;max-width:none}\ntable{font-size:6.6pt}\n.wrap{min-width:0}\nth,td{padding:.12rem "
    ".2rem}\nth{white-space:normal}\n.sd{display:block}\n"
    "th button{text-decoration:none}\n}\n";

static const char page_script[] =
    "document.querySelectorAll('table.sort').forEach(function(table){\n"
    "  var body=table.tBodies[0],row=table.tHead.rows[table.tHead.rows.length-1];\n"
    "  function key(tr,i){var c=tr.cells[i],v=c.getAttribute('data-v');return v===null?c.textContent.trim():v===''?null:+v}\n"
    "  function order(a,b){if(a===null||b===null)return a===b?0:a===null?1:-1;"
    "return typeof a==='number'&&typeof b==='number'?a-b:String(a).localeCompare(String(b))}\n"
    "  Array.prototype.forEach.call(row.cells,function(th,i){\n"
    "    var button=document.createElement('button');button.type='button';\n"
    "    while(th.firstChild)button.appendChild(th.firstChild);\n"
    "    th.appendChild(button);\n"
    "    button.addEventListener('click',function(){\n"
    "      var was=th.getAttribute('aria-sort'),text=th.classList.contains('text');\n"
    "      var up=was?was==='descending':text;\n"
    "      Array.prototype.forEach.call(row.cells,function(other){other.removeAttribute('aria-sort')});\n"
    "      th.setAttribute('aria-sort',up?'ascending':'descending');\n"
    "      Array.prototype.slice.call(body.rows).sort(function(a,b){\n"
    "        var x=key(a,i),y=key(b,i);\n"
    "        return x===null||y===null?order(x,y):up?order(x,y):order(y,x);\n"
    "      }).forEach(function(tr){body.appendChild(tr)});\n"
    "    });\n"
    "  });\n"
    "});\n";

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
    snprintf(style, sizeof style, "%s%s@media screen and (prefers-color-scheme:dark){\n%s}\n", page_style, ocdm__figure_style,
             ocdm__figure_style_dark);
    ocdm__output_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                           "base-uri 'none'; form-action 'none'; style-src ");
    ocdm__put_digest(out, style);
    ocdm__output_text(out, "; script-src ");
    ocdm__put_digest(out, page_script);
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

/* The sections of a study in the table of contents. */
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

/* The values of swept settings that the plain comparison uses. */
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

static ocdm_status put_figures(ocdm__output *out, const ocdm__study *study, enum ocdm__figure_section section,
                               ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; status == OCDM_OK && ocdm__figures[i] != NULL; i++)
        if (ocdm__figures[i]->section == section && ocdm__figures[i]->is_there(study))
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
        status = put_figures(out, study, OCDM__SECTION_FIGURES, error);
    ocdm__put_class_table(out, study);
    put_heading(out, KEPT, number);
    if (status == OCDM_OK)
        status = ocdm__put_kept(out, study, &page->pictures, error);
    put_heading(out, TIME, number);
    if (status == OCDM_OK)
        status = put_figures(out, study, OCDM__SECTION_TIME, error);
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
    ocdm__output_text(out, page_script);
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
