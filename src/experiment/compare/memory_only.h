/*
 * The memory alone, without a network: the training samples of a stream are offered in the order of a run, and the samples in
 * memory at the end are counted. Many runs are made at once on several threads; results do not depend on how many.
 *
 * A batch never mixes tasks, and the last batch of a task is shorter: the memory is the same as that of `ocdm run` with the
 * same settings. No files are written, nothing is replayed (draws do not change what is kept), and gss, which needs a network,
 * cannot be used.
 */
#ifndef OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_H
#define OCDM_EXPERIMENT_COMPARE_MEMORY_ONLY_H

#include "base/base.h"
#include "base/progress.h"
#include "experiment/compare/plan.h"
#include "experiment/loop/settings.h"
#include "stream/file.h"

/* ---- balance ------------------------------------------------------------------------------------------------------------- */

/* The paper counts the classes with fewer samples than the first and with more than the second. */
#define OCDM__BALANCE_FEW 20u
#define OCDM__BALANCE_MANY 40u

/* Start with all bytes zero. */
typedef struct ocdm__balance {
    size_t classes;        /* that were seen in training; all other numbers are about these */
    uint32_t fewest, most; /* samples of any class */
    size_t lost;           /* classes without a sample */
    size_t under;          /* classes with fewer than OCDM__BALANCE_FEW, the lost ones among them */
    size_t over;           /* classes with more than OCDM__BALANCE_MANY */
} ocdm__balance;

/* Counts a class with `kept` samples in memory and `seen` in the stream so far. A class that was never seen, such as one that
 * only test samples have, is not counted: it cannot be lost. */
static inline void ocdm__balance_add(ocdm__balance *balance, uint32_t kept, uint64_t seen)
{
    if (seen == 0)
        return;
    balance->fewest = balance->classes == 0 || kept < balance->fewest ? kept : balance->fewest;
    balance->most = kept > balance->most ? kept : balance->most;
    balance->lost += kept == 0;
    balance->under += kept < OCDM__BALANCE_FEW;
    balance->over += kept > OCDM__BALANCE_MANY;
    balance->classes++;
}

/* Counts the classes 0 .. class_count - 1; `kept` has room for their m_i. */
static inline ocdm__balance ocdm__balance_of(const ocdm_memory *memory, size_t class_count, uint32_t *kept)
{
    ocdm__balance balance = {.classes = 0};
    for (uint32_t c = 0; c < class_count; c++) {
        kept[c] = ocdm_memory_kept(memory, c);
        ocdm__balance_add(&balance, kept[c], ocdm_memory_seen(memory, c));
    }
    return balance;
}

/* ---- the runs of a comparison -------------------------------------------------------------------------------------------- */

/* The memory after one step. */
typedef struct ocdm__memory_moment {
    uint64_t step; /* from 1 */
    uint32_t task;
    double distance, distance_seen;
} ocdm__memory_moment;

typedef struct ocdm__memory_result {
    uint32_t size;                  /* samples in memory */
    double distance, distance_seen; /* NaN when no sample in memory has a label */
    double labels, labels_seen;     /* mean number of labels of a sample in memory and of the stream; NaN without samples */
    ocdm__balance balance;          /* of the classes that the stream's training part has */
    uint32_t *kept;                 /* m_i of each class of the stream */
    ocdm__memory_moment *curve;     /* NULL unless asked for */
    size_t curve_count;
} ocdm__memory_result;

/* Whether a method is a policy that needs no network. */
bool ocdm__runs_alone(const char *method);

/* Start with all bytes zero. */
typedef struct ocdm__compare_memories {
    ocdm__memory_result *results; /* [point][seed][method] */
    size_t count;
} ocdm__compare_memories;

typedef struct ocdm__compare_memory_options {
    const ocdm__run_settings *settings; /* those that concern neither a network nor the plan */
    const double *class_weights;        /* in the target, for each class of the stream; NULL: 1 */
    uint64_t curve_every; /* steps between two moments of a curve, the last of a task always among them; 0: no curve */
    unsigned threads;     /* at least 1 */
} ocdm__compare_memory_options;

/*
 * Runs the plan; its methods are policies of the library, and the seed also shuffles the samples inside a task.
 *
 * OCDM_OK, OCDM_UNKNOWN_NAME (another method), OCDM_BAD_ARGUMENT (an order that is none), OCDM_NOT_SINGLE_LABEL (cbrs),
 * OCDM_NO_MEMORY, OCDM_STOPPED: the error is that of the first run, in the order of the results, that failed. Clear it even
 * after an error.
 */
ocdm_status ocdm__compare_memories_run(ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                       const ocdm__stream_table *table, const ocdm__compare_memory_options *options,
                                       const ocdm__progress *progress, ocdm_error *error);

const ocdm__memory_result *ocdm__compare_memory(const ocdm__compare_memories *memories, const ocdm__compare_plan *plan,
                                                size_t point, size_t method, uint64_t seed);

void ocdm__compare_memories_clear(ocdm__compare_memories *memories);

/* ---- quantiles ----------------------------------------------------------------------------------------------------------- */

typedef struct ocdm__spread {
    double low, median, high; /* quantiles 0.05, 0.5, 0.95, interpolated between neighbours; NaN when there is no value */
} ocdm__spread;

/* Of `count` numbers, which are sorted in place; NaNs are left out. O(count log count). */
ocdm__spread ocdm__spread_of(double *values, size_t count);

#endif
