/*
 * Which classes a stream has and in what order: those of a file, or the labels of the source sorted bytewise. The order of the
 * classes is the order of a network's outputs and of every table.
 */
#ifndef OCDM_STREAM_CLASS_COLUMNS_H
#define OCDM_STREAM_CLASS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/file.h"
#include "stream/label_table.h"

/* Start with all bytes zero. */
typedef struct ocdm__class_columns {
    size_t count;
    ocdm__text_list names; /* in order */
    uint32_t *of;          /* by number of a label in the source: its column, or UINT32_MAX for a label that is left out */
} ocdm__class_columns;

/* All labels of a source whose `kept` is not 0, sorted bytewise; all of them when `kept` is NULL. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__class_columns_sorted(ocdm__class_columns *columns, const ocdm__label_table *labels, const uint8_t *kept,
                                       ocdm_error *error);

/*
 * The classes of a file, one a line, blank lines aside, in the file's order, whether the source has them or not. Labels of the
 * source that the file does not list are left out. OCDM_OK, OCDM_BAD_RECORD (file:line: a class twice, none at all), OCDM_IO,
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__class_columns_read(ocdm__class_columns *columns, const ocdm__label_table *labels, const char *path,
                                     ocdm_error *error);

/* Gives everything back. */
void ocdm__class_columns_clear(ocdm__class_columns *columns);

#endif
