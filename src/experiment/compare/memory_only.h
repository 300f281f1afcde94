/*
 * The memory alone, without a network: a stream's training samples pass by it in the order of a run, and what it holds at the
 * end is counted. Many runs at once on several threads; the results do not depend on how many.
 *
 * A batch never mixes tasks, the last one of a task is shorter: a run has the same memory as `ocdm run` with the same settings.
 * Left out: files of a run, replay draws (they change nothing in what is kept), gss, which needs a network.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_H
#define OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "experiment/compare/balance.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

/* One run. */
typedef struct ocdm__memory_run {
    ocdm_options options;  /* the memory's, batch and seed too; the seed also shuffles the samples inside a task */
    const uint64_t *order; /* the tasks, every one once; NULL for ascending */
    size_t order_count;
} ocdm__memory_run;

/* The memory after one step. */
typedef struct ocdm__memory_moment {
    uint64_t step; /* from 1 */
    uint32_t task;
    double distance, distance_seen;
} ocdm__memory_moment;

typedef struct ocdm__memory_result {
    uint32_t size;                  /* samples in memory */
    double distance, distance_seen; /* NaN when no sample in memory has a label */
    ocdm__balance balance;          /* of the classes that the stream's training part has */
    uint32_t *kept;                 /* m_i of each class of the stream */
    ocdm__memory_moment *curve;     /* NULL unless asked for */
    size_t curve_count;
} ocdm__memory_result;

typedef struct ocdm__memory_plan {
    const ocdm__stream_table *table;
    const ocdm__memory_run *runs; /* those with the same order and seed best one after another: they share the shuffle */
    size_t run_count;
    uint64_t curve_every; /* steps between two moments of a curve, the last of a task always among them; 0: no curve */
    unsigned threads;     /* at least 1 */
} ocdm__memory_plan;

/*
 * Runs them all. `results` has room for one each.
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (an order that is none), OCDM_NOT_SINGLE_LABEL (cbrs), OCDM_NO_MEMORY, OCDM_STOPPED. The results
 * are to be cleared in either case; on error it is that of the first run, in the plan's order, that failed.
 */
ocdm_status ocdm__memory_only(const ocdm__memory_plan *plan, ocdm__memory_result *results, const ocdm__progress *progress,
                              ocdm_error *error);

/* Frees what `count` results hold. Results of zeros are fine. */
void ocdm__memory_results_clear(ocdm__memory_result *results, size_t count);

#endif
