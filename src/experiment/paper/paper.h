/*
 * The tables and figures of the paper: what each is about, the streams, methods and settings that it needs. The paper's numbers
 * are in report/tables/paper_numbers.h, the tables that put ours beside them in report/tables/paper.h.
 */
#ifndef OCDM_EXPERIMENT_PAPER_PAPER_H
#define OCDM_EXPERIMENT_PAPER_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/compare/execute.h"
#include "experiment/compare/memory_only.h"
#include "experiment/compare/plan.h"
#include "ocdm/ocdm.h"
#include "stream/info.h"

enum ocdm__paper_kind {
    OCDM__PAPER_AMLR,     /* a table of the streams' statistics */
    OCDM__PAPER_METRICS,  /* a table of runs with a network */
    OCDM__PAPER_PROCESS,  /* one step of the memory */
    OCDM__PAPER_STREAM,   /* classes by task */
    OCDM__PAPER_KEPT,     /* classes in memory at the end */
    OCDM__PAPER_CURVES,   /* mAP after each task, distance step by step */
    OCDM__PAPER_RHO,      /* mAP and kept samples by group against rho */
    OCDM__PAPER_DISTANCE, /* distance step by step */
    OCDM__PAPER_CLAIMS    /* what the text says of the memory */
};

/* What the items of a kind need, and how their rows are. */
typedef struct ocdm__paper_need {
    bool runs;     /* with a network; claims have some of their own, see ocdm__paper_runs_of */
    bool memories; /* without one */
    bool curves;   /* these step by step */
    bool
        alike; /* rows are alike on all lists of tasks: they are about tasks, methods and groups, not about classes and steps */
} ocdm__paper_need;

/* By kind. */
extern const ocdm__paper_need ocdm__paper_needs[];

#define OCDM__PAPER_STREAMS 4

typedef struct ocdm__paper_item {
    const char *name;
    const char *what; /* one line, without a full stop */
    enum ocdm__paper_kind kind;
    const char *streams[OCDM__PAPER_STREAMS + 1]; /* of the paper, ended by NULL */
    const char *methods[12];                      /* ended by NULL */
    const char *memory, *rho;                     /* as flags take them */
    bool orders;                                  /* with the paper's three orders of tasks */
} ocdm__paper_item;

/* The items 0, 1, 2, ... until NULL; by name, NULL when there is none. */
const ocdm__paper_item *ocdm__paper_item_at(size_t index);
const ocdm__paper_item *ocdm__paper_item_find(const char *name);

/* The paper's streams, ended by NULL. */
extern const char *const ocdm__paper_streams[OCDM__PAPER_STREAMS + 1];

/* How many classes one of them has. */
size_t ocdm__paper_class_count(const char *stream);

/* The item whose runs with a network an item needs: itself, or the one that covers the methods whose memories need a network.
 * NULL if it needs none. */
const ocdm__paper_item *ocdm__paper_runs_of(const ocdm__paper_item *item);

/* Seeds of the claims about gss unless others are asked for: few of them show less than half of its spread. */
#define OCDM__PAPER_CLAIM_SEEDS 10u

/*
 * The runs of an item on a stream. `stands_for` is the paper's stream; where its order of tasks does not fit the number of
 * tasks of the given stream, as with the built-in one, tasks ascend. OCDM_OK, OCDM_BAD_ARGUMENT (the paper's orders do not
 * fit), OCDM_NO_MEMORY. Clear the plan after success.
 */
ocdm_status ocdm__paper_plan(ocdm__compare_plan *plan, const ocdm__paper_item *item, const char *stands_for,
                             const ocdm__stream_info *info, uint64_t seeds, ocdm_error *error);

/* ---- runs in a folder ------------------------------------------------------------------------------------------------- */

/* Whether every run of a plan is in the folder, and finished. */
bool ocdm__paper_has_runs(const ocdm__compare_plan *plan, const char *folder);

/*
 * Whether the existing runs have the stream and settings of the setup and the plan. OCDM_OK; OCDM_BAD_FILE with the first that
 * has another stream or setting, named with both values, or whose summary is damaged; OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__paper_check_runs(const ocdm__compare_plan *plan, const char *folder, ocdm__run_setup *setup,
                                   ocdm_error *error);

/*
 * The classes in memory at the end of each run, from its summary; the rest of a result is zero, `kept` NULL where a run is not
 * there. OCDM_OK, OCDM_BAD_FILE (a summary that is damaged or of other classes), OCDM_IO, OCDM_NO_MEMORY. Clear the memories
 * even after an error.
 */
ocdm_status ocdm__paper_read_memories(ocdm__compare_memories *memories, const ocdm__compare_plan *plan, const char *folder,
                                      size_t class_count, ocdm_error *error);

/* ---- a stream's classes ----------------------------------------------------------------------------------------------- */

/* A class for a figure. */
typedef struct ocdm__paper_class {
    uint32_t number;   /* its column */
    char name[64];     /* cut if it is longer */
    const char *group; /* "majority", "moderate", "minority" */
    uint64_t task;     /* the first in which it occurs */
    uint64_t seen;     /* training samples with it */
} ocdm__paper_class;

/* The classes of the training part by task, then in the stream's order; release them. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__paper_classes(const ocdm__stream_info *info, ocdm__paper_class **classes, size_t *count, ocdm_error *error);

/* ---- mAP after each task ---------------------------------------------------------------------------------------------- */

/* Total mAP after each task of a run, from its summary.json; at most `room`, the rest of them NaN. 0 when the run is not there.
 */
ocdm_status ocdm__paper_evaluations(const char *folder, double *values, size_t room, size_t *count, ocdm_error *error);

#endif
