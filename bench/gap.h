/*
 * The greedy against the optimum of eq. (3), which the paper does not measure. The greedy is the policy `ocdm` as it is, KL and
 * an equal target (rho = 0); the optimum is the least distance that any choice of deletions from the same pool leaves.
 */
#ifndef OCDM_BENCH_GAP_H
#define OCDM_BENCH_GAP_H

#include <stddef.h>
#include <stdint.h>

#include "bench/label_stream.h"
#include "ocdm/ocdm.h"

enum ocdm__gap_kind {
    OCDM__GAP_BRUTE_FORCE, /* small random pools, every choice */
    OCDM__GAP_PAIRS,       /* two deletions from full pools along the stream, every pair */
    OCDM__GAP_SWAPS,       /* ten deletions from full pools, exchanges of one and two, and a bound from below */
    OCDM__GAP_KINDS
};

/* A gap is the distance that the greedy leaves minus the least that was found, in nats. */
typedef struct ocdm__gap_result {
    size_t pools;
    size_t optimal; /* pools where nothing better was found */
    double mean_gap, worst_gap;
    double mean_limit, worst_limit; /* no choice can make the gaps larger than this; for OCDM__GAP_SWAPS, else the gaps again */
    double mean_distance;           /* that the greedy leaves */
    double mean_sets;               /* distinct label sets in a pool */
} ocdm__gap_result;

/* The name of a kind, as in the JSON: "brute-force", "pairs", "swaps". */
const char *ocdm__gap_name(enum ocdm__gap_kind kind);

/* Measures one kind. A stream too short to fill the memory gives 0 pools. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__bench_gap(enum ocdm__gap_kind kind, const ocdm__label_stream *stream, uint64_t seed, ocdm__gap_result *result,
                            ocdm_error *error);

#endif
