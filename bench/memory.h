/* How long a policy takes for a batch, on a stream that is in memory already, and how long the paper's loop takes for the same.
 */
#ifndef OCDM_BENCH_MEMORY_H
#define OCDM_BENCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "bench/label_stream.h"
#include "ocdm/ocdm.h"

/* The most passes over the stream that one figure is the median of. */
#define OCDM__BENCH_PASSES 99

typedef struct ocdm__bench_plan {
    const ocdm__label_stream *stream;
    uint32_t capacity;
    uint32_t batch;
    uint32_t passes; /* 1 to OCDM__BENCH_PASSES; fewer are made when a policy is slow: see ocdm__bench_policy */
    uint64_t seed;
} ocdm__bench_plan;

typedef struct ocdm__bench_result {
    size_t steps;         /* that were timed in one pass */
    size_t passes;        /* that were made */
    double us_per_step;   /* the median over the passes */
    double distance;      /* at the end, over the classes in play */
    double distance_seen; /* at the end, over all classes seen */
} ocdm__bench_result;

/* Seconds that have passed since some moment, for differences. */
double ocdm__bench_clock(void);

/* The number of batches in the plan's stream. */
size_t ocdm__bench_steps(const ocdm__bench_plan *plan);

/*
 * Times whole passes of ocdm_memory_update over the stream, nothing else, each on a fresh memory. No pass is started after ten
 * seconds. Hands over the memory of the last pass if `memory` is not NULL; yours to destroy.
 *
 * OCDM_OK, OCDM_NO_MEMORY, OCDM_NOT_SINGLE_LABEL.
 */
ocdm_status ocdm__bench_policy(const ocdm__bench_plan *plan, const ocdm_policy *policy, ocdm__bench_result *result,
                               ocdm_memory **memory, ocdm_error *error);

/*
 * Times the paper's loop (bench/reference.h) on steps spread evenly over the stream, the last one among them: as many as about
 * three seconds allow. Each is the step from the memory that the policy ocdm had reached. `distance` is what the loop itself
 * leaves after the last step; there is no distance_seen.
 *
 * OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__bench_reference(const ocdm__bench_plan *plan, ocdm__bench_result *result, ocdm_error *error);

#endif
