/* The labelled sources behind one door: which reader, and where the features come from. */
#ifndef OCDM_STREAM_STREAM_SOURCE_H
#define OCDM_STREAM_STREAM_SOURCE_H

#include <stddef.h>

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"
#include "stream/labelled_set.h"
#include "stream/stream_build.h"

/* Reads the labels of every source into an empty set. What the reader gives. */
ocdm_status ocdm__read_source(ocdm__labelled_set *set, const ocdm__build_settings *settings, ocdm__reading *reading,
                              ocdm_error *error);

/* Opens the rows that belong to the samples; NULL in `rows` when the stream has no features. What the reader gives. */
ocdm_status ocdm__open_source_rows(const ocdm__build_settings *settings, ocdm__feature_rows **rows, ocdm_error *error);

#endif
