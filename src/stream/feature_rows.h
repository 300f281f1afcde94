/*
 * A table of features, a row for each sample of a source, read a row at a time: the table itself may be larger than the memory.
 * Rows are asked for in ascending order; asking for an earlier one may start the file again.
 */
#ifndef OCDM_STREAM_FEATURE_ROWS_H
#define OCDM_STREAM_FEATURE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

typedef struct ocdm__feature_rows ocdm__feature_rows;
struct ocdm__feature_rows {
    uint64_t count; /* rows */
    size_t width;   /* numbers in a row */
    /* Writes row `row` < count as `width` floats. A number that is not finite is an error with file and position.
     * OCDM_OK, OCDM_BAD_FILE, OCDM_BAD_RECORD, OCDM_IO, OCDM_NO_MEMORY. */
    ocdm_status (*read)(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error);
    /* Gives everything back, the struct itself too. */
    void (*close)(ocdm__feature_rows *rows);
};

/* Gives a table back. NULL is fine. */
static inline void ocdm__feature_rows_close(ocdm__feature_rows *rows)
{
    if (rows != NULL)
        rows->close(rows);
}

#endif
