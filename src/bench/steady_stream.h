/* Endless streams of label sets, made batch by batch: sample n depends on the seed and on n only, so nothing is stored. */
#ifndef OCDM_BENCH_STEADY_STREAM_H
#define OCDM_BENCH_STEADY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/label_stream.h"
#include "ocdm/ocdm.h"

enum ocdm__steady_kind {
    OCDM__STEADY_SKEWED,  /* 1 to 4 draws of class int(80 x^2), x uniform; a repeated class counts once */
    OCDM__STEADY_UNIFORM, /* a set of 1 to 8 of 1,000 classes, each size and each set of a size equally likely */
    OCDM__STEADY_RECORDS, /* the label sets of a label stream, drawn with replacement */
    OCDM__STEADY_SINGLE,  /* one of 1,000 classes */
    OCDM__STEADY_KINDS
};

/* The name of each kind as on the command line, terminated by NULL. */
extern const char *const ocdm__steady_names[OCDM__STEADY_KINDS + 1];

typedef struct ocdm__steady_stream {
    enum ocdm__steady_kind kind;
    const ocdm__label_stream *records; /* for OCDM__STEADY_RECORDS */
    size_t class_count;                /* labels are below this */
    bool single_label;                 /* no sample has more than one label */
    uint64_t base;
    uint32_t batch;
    ocdm_sample *samples; /* of the current batch */
    uint32_t *labels;     /* of the current batch, a fixed number of places for each sample */
} ocdm__steady_stream;

/*
 * Starts a stream of batches of `batch` samples. `records` must outlive it; the other kinds ignore it.
 * OCDM_OK or OCDM_NO_MEMORY. On success, close it when done.
 */
ocdm_status ocdm__steady_stream_open(ocdm__steady_stream *stream, enum ocdm__steady_kind kind,
                                     const ocdm__label_stream *records, uint64_t seed, uint32_t batch, ocdm_error *error);

/* Samples `first` to `first` + batch - 1; their ids are their numbers. Labels have no repeats. Valid until the next call. */
const ocdm_sample *ocdm__steady_stream_batch(ocdm__steady_stream *stream, uint64_t first);

/* Frees the batch. A stream whose bytes are all zero is fine. */
void ocdm__steady_stream_close(ocdm__steady_stream *stream);

#endif
