/*
 * The statistics of a stream that is a file of label records in JSON Lines. Two members say where a record belongs, both
 * optional: `task`, a whole number, and `split`, "train" or "test", without which a record is training data.
 */
#ifndef OCDM_RUN_STREAM_INFO_H
#define OCDM_RUN_STREAM_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/record.h"
#include "stream/statistics.h"

/* Start with all bytes zero. */
typedef struct ocdm__stream_info {
    ocdm__statistics statistics;
    uint32_t *classes; /* the classes of the training part, in the bytewise order of their labels */
    size_t class_count;
    ocdm__records *records; /* whose labels these are */
} ocdm__stream_info;

/*
 * Reads all records of a file, of standard input when `path` is NULL or "-". No records is fine.
 *
 * OCDM_OK, OCDM_BAD_RECORD (with file:line:column; a `task` or `split` of another kind too), OCDM_IO, OCDM_LIMIT,
 * OCDM_NO_MEMORY. To be cleared in either case.
 */
ocdm_status ocdm__stream_info_read(ocdm__stream_info *info, const char *path, ocdm_error *error);

/* The label of a class; no NUL after it. */
const char *ocdm__stream_info_label(const ocdm__stream_info *info, uint32_t class_number, size_t *length);

/* Gives everything back. */
void ocdm__stream_info_clear(ocdm__stream_info *info);

#endif
