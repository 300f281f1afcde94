/*
 * How long a single update takes in the steady state: after the memory has filled up and many times its capacity of further
 * samples have passed. Reports quantiles, since a mean hides pauses. Making the samples is outside the clock.
 */
#ifndef OCDM_BENCH_STEADY_H
#define OCDM_BENCH_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/label_stream.h"
#include "ocdm/ocdm.h"

/* ---- streams ------------------------------------------------------------------------------------------------------- */

/* Endless streams of label sets, made batch by batch: sample n depends on the seed and on n only, so nothing is stored. */

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
    size_t most_labels;                /* of a sample */
    bool single_label;                 /* no sample has more than one label */
    uint64_t base;
    uint32_t batch;
    ocdm_sample *samples; /* of the current batch */
    uint32_t *labels;     /* of the current batch, `most_labels` places for each sample */
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

typedef struct ocdm__steady_plan {
    ocdm__steady_stream *stream;
    ocdm_options options; /* `batch` is the stream's; `policy` is replaced */
    uint64_t warmup;      /* samples before the first timed update, after those that fill the memory, in multiples of M */
    size_t updates;       /* to time, at least 1 */
    double seconds;       /* of timed updates, after which no further one is timed; one is timed in any case */
    bool cpu_time;        /* use the CPU time of the thread, not the time that passes */
} ocdm__steady_plan;

/* Microseconds. A quantile is a measured value: the least one that at least this share of all values does not exceed. */
typedef struct ocdm__quantiles {
    double mean;
    double p50;
    double p99;
    double p999;
    double max;
} ocdm__quantiles;

typedef struct ocdm__steady_result {
    size_t updates;   /* that were timed; 0: one would have taken too long */
    size_t deletions; /* that were timed on their own instead; else 0 */
    ocdm__quantiles us;
    double searches; /* per deletion, counted by the index of the policy ocdm (memory/index.h); NaN if there is none */
    double steps;    /* per deletion too: scores read or changed */
} ocdm__steady_result;

/* The quantile of `per_mille` / 1000 of ascending values; `count` is at least 1, `per_mille` at most 1000. */
double ocdm__quantile(const double *ascending, size_t count, unsigned per_mille);

/* Sorts the values and summarises them; `count` is at least 1. */
ocdm__quantiles ocdm__quantiles_of(double *values, size_t count);

/* What reading the clock twice costs, in microseconds: the median of many attempts. It is subtracted from each timed update. */
double ocdm__steady_clock_us(bool cpu_time);

/*
 * Makes a memory with this policy, warms it up and times updates. Sets `memory` on success if it is not NULL; yours to destroy.
 * OCDM_OK, OCDM_NO_MEMORY, OCDM_NOT_SINGLE_LABEL, OCDM_BAD_ARGUMENT (bad options).
 */
ocdm_status ocdm__steady_policy(const ocdm__steady_plan *plan, const ocdm_policy *policy, ocdm__steady_result *result,
                                ocdm_memory **memory, ocdm_error *error);

/*
 * Times the paper's loop (bench/reference.h) on the next updates of a memory that ocdm__steady_policy left; the memory itself
 * does each of them afterwards. One deletion is timed first. If a whole update would exceed the plan's seconds, that deletion
 * times the number of deletions is the mean, and the quantiles are NaN. Otherwise updates are timed until the seconds have
 * passed. The loop minimises KL to an equal target, whatever the plan's options are. OCDM_OK or OCDM_NO_MEMORY.
 */
ocdm_status ocdm__steady_reference(const ocdm__steady_plan *plan, ocdm_memory *memory, ocdm__steady_result *result,
                                   ocdm_error *error);

#endif
