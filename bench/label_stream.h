/* A stream of label sets that is in memory as a whole, ready to be offered batch by batch: what the benches run on. */
#ifndef OCDM_BENCH_LABEL_STREAM_H
#define OCDM_BENCH_LABEL_STREAM_H

#include "base/base.h"

typedef struct ocdm__label_stream {
    size_t sample_count;
    ocdm_sample *samples; /* ids are 0, 1, 2, ...; labels are below class_count, no repeats */
    size_t class_count;
    size_t label_count; /* on all samples */
    bool single_label;  /* no sample has more than one */
    uint32_t *label;    /* what the samples point into */
} ocdm__label_stream;

/*
 * All records of a file in file order, "-" for standard input (stream/records/record.h; their own ids are not looked at); or,
 * when `path` is NULL, the built-in stream of the seed (stream/scenes/scenes.h).
 *
 * OCDM_OK, OCDM_IO, OCDM_BAD_RECORD (an empty file is one), OCDM_LIMIT, OCDM_NO_MEMORY. On success yours to destroy.
 */
ocdm_status ocdm__label_stream_open(const char *path, uint64_t seed, ocdm__label_stream **stream, ocdm_error *error);

/* Frees it. NULL is fine. */
void ocdm__label_stream_destroy(ocdm__label_stream *stream);

#endif
