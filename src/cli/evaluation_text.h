/* An evaluation as a table for people. */
#ifndef OCDM_CLI_EVALUATION_TEXT_H
#define OCDM_CLI_EVALUATION_TEXT_H

#include <stdio.h>

#include "experiment/loop/evaluation.h"
#include "stream/file.h"

/* The groups and the total, a row each: classes, CF1, OF1, mAP in percent. */
void ocdm__print_evaluation(FILE *out, const ocdm__evaluation *evaluation);

/* A row for each class: name, group, tests with it, AP, precision, recall. */
void ocdm__print_class_scores(FILE *out, const ocdm__stream_table *table, const uint8_t *groups,
                              const ocdm__class_score *scores);

#endif
