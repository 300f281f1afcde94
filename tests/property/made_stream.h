/*
 * Label streams made from a seed, for comparing the library with the judge: few or many classes that come and go, sparse class
 * ids up to 2^32 - 1, unlabelled samples, repeated labels, label sets that recur, batches larger than the memory, ids that are
 * used again once they have left.
 */
#ifndef OCDM_TESTS_MADE_STREAM_H
#define OCDM_TESTS_MADE_STREAM_H

#include "naive.h"

#define MADE_LARGEST_BATCH 64
#define MADE_LARGEST_SET 40

/* What a stream is like. Percentages are chances per sample. */
struct made_shape {
    uint32_t classes;
    uint32_t window;      /* how many neighbouring classes are on stage at a time */
    uint32_t period;      /* batches until the stage moves on by one class; 0: never */
    uint32_t most_labels; /* cardinalities run from 1 to this, small ones more often */
    uint32_t batch;       /* batches have 1 to this many samples */
    uint32_t unlabelled;  /* percent */
    uint32_t repeated;    /* percent of samples with labels said twice */
    uint32_t recurring;   /* percent of samples that take one of a few fixed label sets */
    bool sparse;          /* class ids scattered over 32 bits, 0 and 2^32 - 1 among them */
};

struct made_stream {
    struct made_shape shape;
    ocdm__random random;
    uint64_t seed;
    uint32_t step;
    ocdm_sample batch[MADE_LARGEST_BATCH];
    uint32_t label[MADE_LARGEST_BATCH][MADE_LARGEST_SET * 2];
};

/* A shape and memory options drawn from the seed, small ones more often; at most one label a sample when `single`. */
struct made_shape made_shape_from(uint64_t seed, bool single, ocdm_options *options);

void made_stream_start(struct made_stream *stream, uint64_t seed, const struct made_shape *shape);

/* The next batch, in stream->batch; its ids are not in `naive`. Returns how many samples it has. */
size_t made_stream_next(struct made_stream *stream, const struct naive *naive);

#endif
