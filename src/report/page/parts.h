/* The parts of a page. Internal to src/report. */
#ifndef OCDM_REPORT_PAGE_PARTS_H
#define OCDM_REPORT_PAGE_PARTS_H

#include "base/output.h"
#include "report/page/page.h"

/* page.css, the style sheet without that of the figures, and page.js, the script: built from the files (cmake/embed.cmake). */
extern const char ocdm__page_css[];
extern const char ocdm__page_js[];

/* verdict.c: which method wins by how much, in one paragraph. */
void ocdm__put_verdict(ocdm__output *out, const ocdm__study *study);

/* commands.c: the commands that repeat the runs, for a shell in the page's folder. */
ocdm_status ocdm__put_commands(ocdm__output *out, const ocdm__study *study, const char *folder, ocdm_error *error);

/* tables.c: tables of numbers by group. */
void ocdm__put_paper_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_other_metrics(ocdm__output *out, const ocdm__study *study);
void ocdm__put_memory_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_sweep_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_class_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_time_table(ocdm__output *out, const ocdm__study *study);

/* html.c: a method's name behind a square in its colour; the attribute of what is hidden with a method, nothing for NULL. */
void ocdm__put_method(ocdm__output *out, const ocdm__run_group *group);
void ocdm__put_mark_of(ocdm__output *out, const ocdm__run_group *group);

/*
 * html.c: a table, whose rows and columns may be of a group of runs. `class` is of the style sheet: "", "text", "start", ...
 *
 *     ocdm__html_begin(out, "runs", "sort", "When each run ended.");
 *     ocdm__output_text(out, "<tr>" OCDM__HEAD("text", "run"));
 *     ocdm__output_text(out, OCDM__HTML_BODY);
 *     ocdm__html_row(out, group);
 *     ocdm__output_text(out, "</th>");
 *     ocdm__html_number(out, "", NULL, &number, 1);
 *     ocdm__output_text(out, "</tr>\n");
 *     ocdm__output_text(out, OCDM__HTML_END);
 *
 * The caption, which may be NULL, is markup, and so is the text of a head, which may be NULL for the name of its group. A row
 * begins with its head, which has the name of the group already. Numbers are shown with this many decimals and their deviation;
 * sorting takes all of them; a value has no deviation.
 */
#define OCDM__HTML_BODY "</tr></thead>\n<tbody>\n"
#define OCDM__HTML_END "</tbody></table></div>\n"
#define OCDM__HEAD(class, text) "<th scope=\"col\" class=\"" class "\">" text "</th>"
void ocdm__html_begin(ocdm__output *out, const char *name, const char *class, const char *caption);
void ocdm__html_head(ocdm__output *out, const char *class, const ocdm__run_group *group, const char *text);
void ocdm__html_row(ocdm__output *out, const ocdm__run_group *group);
void ocdm__html_number(ocdm__output *out, const char *class, const ocdm__run_group *group, const ocdm__summary *number,
                       int decimals);
void ocdm__html_value(ocdm__output *out, const char *class, const ocdm__run_group *group, double value, int decimals);

/* settings.c: the settings that runs share and those that differ; when and where each run ran; incomplete runs. */
void ocdm__put_settings(ocdm__output *out, const ocdm__study *study);
void ocdm__put_environment(ocdm__output *out, const ocdm__study *study);
void ocdm__put_unfinished(ocdm__output *out, const ocdm__run_list *runs);

/* samples.c: the samples in memory. */
ocdm_status ocdm__put_kept(ocdm__output *out, const ocdm__study *study, const ocdm__picture_source *pictures,
                           ocdm_error *error);

/* data.c: everything as JSON, escaped so that it cannot end its script element. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__put_data(ocdm__output *out, const ocdm__page *page, ocdm_error *error);

/* html.c: the digest of a text in parts, ended by NULL, as a Content-Security-Policy takes it; a picture as a data URL. */
void ocdm__put_digest(ocdm__output *out, const char *const *parts);
ocdm_status ocdm__put_picture(ocdm__output *out, const uint8_t *rgb, uint32_t side, ocdm_error *error);

#endif
