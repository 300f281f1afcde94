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

/* repeat.c: the commands that repeat the runs, for a shell in the page's folder. */
ocdm_status ocdm__put_repeat(ocdm__output *out, const ocdm__study *study, const char *folder, ocdm_error *error);

/* tables.c: tables of numbers by group. */
void ocdm__put_paper_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_other_metrics(ocdm__output *out, const ocdm__study *study);
void ocdm__put_memory_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_sweep_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_class_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_time_table(ocdm__output *out, const ocdm__study *study);

/* tables.c: a method's name behind a square in its colour; the attribute of what is hidden with a method. */
void ocdm__put_method(ocdm__output *out, const ocdm__run_group *group);
void ocdm__put_mark_of(ocdm__output *out, const ocdm__run_group *group);

/* settings.c: the settings that runs share and those that differ; when and where each run ran; incomplete runs. */
void ocdm__put_settings(ocdm__output *out, const ocdm__study *study);
void ocdm__put_environment(ocdm__output *out, const ocdm__study *study);
void ocdm__put_unfinished(ocdm__output *out, const ocdm__run_list *runs);

/* kept.c: the samples in memory. */
ocdm_status ocdm__put_kept(ocdm__output *out, const ocdm__study *study, const ocdm__picture_source *pictures,
                           ocdm_error *error);

/* data.c: everything as JSON, escaped so that it cannot end its script element. */
void ocdm__put_data(ocdm__output *out, const ocdm__page *page);

/* data.c: the digest of a text in parts, ended by NULL, as a Content-Security-Policy takes it; a picture as a data URL. */
void ocdm__put_digest(ocdm__output *out, const char *const *parts);
ocdm_status ocdm__put_picture(ocdm__output *out, const uint8_t *rgb, uint32_t side, ocdm_error *error);

#endif
