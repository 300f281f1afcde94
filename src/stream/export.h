/* A stream file's samples as records again: lines of JSON with id, labels, task, split and, where there is one, image. */
#ifndef OCDM_STREAM_EXPORT_H
#define OCDM_STREAM_EXPORT_H

#include <stddef.h>

#include "base/output.h"
#include "stream/file.h"

/* Writes one sample as a record and a line's end. An id of digits alone, without a zero in front, is written as a number. */
void ocdm__write_record(ocdm__output *output, const ocdm__stream_table *table, size_t sample);

/* The parts of it that other records share: the id's value, and the labels as JSON strings with commas between them. */
void ocdm__write_record_id(ocdm__output *output, const ocdm__stream_table *table, size_t sample);
void ocdm__write_record_labels(ocdm__output *output, const ocdm__stream_table *table, size_t sample);

#endif
