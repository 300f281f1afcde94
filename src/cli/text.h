/* Evaluations and streams as tables for a terminal. */
#ifndef OCDM_CLI_TEXT_H
#define OCDM_CLI_TEXT_H

#include "base/base.h"

#include "base/output.h"
#include "experiment/loop/evaluation.h"
#include "stream/file.h"
#include "stream/info.h"

/* The groups and the total, a row each: classes, CF1, OF1, mAP in percent. */
void ocdm__print_evaluation(ocdm__output *out, const ocdm__evaluation *evaluation, const char *groups);

/* After an empty line, a row for each class: name, group, tests with it, AP, precision, recall. */
void ocdm__print_class_scores(ocdm__output *out, const ocdm__stream_table *table, const uint8_t *groups,
                              const ocdm__class_score *scores);

/* Writes summary, tasks and classes; `bounds` are those of the groups as for ocdm__stream_info_groups, NULL for the stream's
 * own; bars end within `width`. */
void ocdm__write_stream_text(ocdm__output *output, const ocdm__stream_info *info, const uint64_t *bounds, size_t width);

#endif
