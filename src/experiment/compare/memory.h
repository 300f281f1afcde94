/* A comparison of memories alone, `--model none`: every method, seed and point of a plan in this process. */
#ifndef OCDM_EXPERIMENT_COMPARE_MEMORY_H
#define OCDM_EXPERIMENT_COMPARE_MEMORY_H

#include <stdbool.h>

#include "base/progress.h"
#include "experiment/compare/memory_only.h"
#include "experiment/compare/plan.h"
#include "ocdm/ocdm.h"
#include "stream/file.h"

/* Whether a method is a policy that needs no network. */
bool ocdm__runs_alone(const char *method);

/* Start with all bytes zero. */
typedef struct ocdm__compare_memories {
    ocdm__memory_result *results; /* [point][seed][method] */
    size_t count;
} ocdm__compare_memories;

typedef struct ocdm__compare_memory_options {
    ocdm_options memory; /* batch, distance, tie; the plan has the rest */
    uint64_t curve_every;
    unsigned threads;
} ocdm__compare_memory_options;

/* Runs the plan; its methods are policies of the library. OCDM_OK, OCDM_UNKNOWN_NAME, and as ocdm__memory_only. To be cleared
 * in either case. */
ocdm_status ocdm__compare_memories_run(ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                       const ocdm__stream_table *table, const ocdm__compare_memory_options *options,
                                       const ocdm__progress *progress, ocdm_error *error);

const ocdm__memory_result *ocdm__compare_memory(const ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                                size_t point, size_t method, uint64_t seed);

void ocdm__compare_memories_clear(ocdm__compare_memories *memories);

#endif
