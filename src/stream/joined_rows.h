/* Tables of features made of others: two one after another, and one whose rows are picked by number. */
#ifndef OCDM_STREAM_JOINED_ROWS_H
#define OCDM_STREAM_JOINED_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"

/* The rows of the second after those of the first. Both belong to the result afterwards, and are closed on an error too.
 * OCDM_OK, OCDM_BAD_FILE (of another width; `second_name` is for the message), OCDM_NO_MEMORY. */
ocdm_status ocdm__join_rows(ocdm__feature_rows *first, ocdm__feature_rows *second, const char *second_name,
                            ocdm__feature_rows **rows, ocdm_error *error);

/* Row i is row numbers[i] of `from`, which belongs to the result afterwards, and is closed on an error too; the numbers, all
 * below from->count, must outlive it. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__pick_rows(ocdm__feature_rows *from, const uint64_t *numbers, size_t count, ocdm__feature_rows **rows,
                            ocdm_error *error);

#endif
