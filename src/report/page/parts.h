/* The parts of a page. Internal to src/report. */
#ifndef OCDM_REPORT_PAGE_PARTS_H
#define OCDM_REPORT_PAGE_PARTS_H

#include "base/output.h"
#include "report/page/page.h"

/* verdict.c: which method wins by how much, in one paragraph; the commands that repeat the runs. */
void ocdm__put_verdict(ocdm__output *out, const ocdm__study *study);
ocdm_status ocdm__put_repeat(ocdm__output *out, const ocdm__study *study, ocdm_error *error);

/* tables.c: tables of numbers by group. */
void ocdm__put_paper_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_memory_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_sweep_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_class_table(ocdm__output *out, const ocdm__study *study);
void ocdm__put_time_table(ocdm__output *out, const ocdm__study *study);

/* settings.c: the settings that runs share and those that differ; where the runs ran; incomplete runs. */
void ocdm__put_settings(ocdm__output *out, const ocdm__study *study);
void ocdm__put_environment(ocdm__output *out, const ocdm__study *study);
void ocdm__put_unfinished(ocdm__output *out, const ocdm__run_list *runs);

/* kept.c: the samples in memory. */
ocdm_status ocdm__put_kept(ocdm__output *out, const ocdm__study *study, const ocdm__picture_source *pictures,
                           ocdm_error *error);

/* data.c: everything as JSON, escaped so that it cannot end its script element. */
void ocdm__put_data(ocdm__output *out, const ocdm__page *page);

/* data.c: the digest of a text as a Content-Security-Policy takes it; a picture as a data URL. */
void ocdm__put_digest(ocdm__output *out, const char *text);
ocdm_status ocdm__put_picture(ocdm__output *out, const uint8_t *rgb, uint32_t side, ocdm_error *error);

#endif
