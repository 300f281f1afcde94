/* Two tables of features as one: the rows of the second follow those of the first. */
#ifndef OCDM_STREAM_JOINED_ROWS_H
#define OCDM_STREAM_JOINED_ROWS_H

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"

/* Joins them; both belong to the result afterwards, and are closed on an error too. OCDM_OK, OCDM_BAD_FILE (of another width;
 * `second_name` is for the message), OCDM_NO_MEMORY. */
ocdm_status ocdm__join_rows(ocdm__feature_rows *first, ocdm__feature_rows *second, const char *second_name,
                            ocdm__feature_rows **rows, ocdm_error *error);

#endif
