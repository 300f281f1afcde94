/* The labelled sources behind one door: which reader, and where the features come from. */
#ifndef OCDM_STREAM_READERS_SOURCE_H
#define OCDM_STREAM_READERS_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/build.h"
#include "stream/feature_rows.h"
#include "stream/labelled_set.h"

/* A source that was read. Start with all bytes zero. */
typedef struct ocdm__source {
    ocdm__labelled_set set;
    uint64_t *row_numbers; /* of each sample: its row among the source's features, records that were skipped counted too */
    size_t room;
    uint64_t row_count; /* rows up to the last sample */
} ocdm__source;

/* Reads the labels of every file. What the reader gives. To be cleared in either case. */
ocdm_status ocdm__source_read(ocdm__source *source, const ocdm__build_settings *settings, ocdm__reading *reading,
                              ocdm_error *error);

/* Opens the rows that belong to the samples, row i to sample i; NULL when there are no features. OCDM_BAD_FILE when there are
 * not as many rows as records, and what the reader gives. The source must outlive the rows. */
ocdm_status ocdm__source_open_rows(const ocdm__source *source, const ocdm__build_settings *settings,
                                   const ocdm__reading *reading, ocdm__feature_rows **rows, ocdm_error *error);

/* Gives everything back. */
void ocdm__source_clear(ocdm__source *source);

#endif
