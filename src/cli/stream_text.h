/* The statistics of a stream as text for people. */
#ifndef OCDM_CLI_STREAM_TEXT_H
#define OCDM_CLI_STREAM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "stream/info.h"

/* Writes summary, tasks and classes; `bounds` are those of the groups as for ocdm__stream_info_groups, NULL for the stream's
 * own; bars end within `width`. */
void ocdm__write_stream_text(ocdm__output *output, const ocdm__stream_info *info, const uint64_t *bounds, size_t width);

#endif
