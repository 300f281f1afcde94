/*
 * The tables and figures of the paper "Optimizing Class Distribution in Memory for Multi-Label Online Continual Learning"
 * (Liang and Li): what each is about, the streams, methods and settings that it needs, the paper's own numbers (items.c), and
 * what there is of it on a stream of ours. report/paper makes tables and pictures of it.
 *
 * Names are those of `ocdm run` and `ocdm paper`: methods "ocdm", "gss", ...; streams "mscoco" and "nuswide" (made by the
 * paper), "cocoseq" and "nuswideseq" (made by PRS); groups and metrics as in experiment/compare/results.h.
 */
#ifndef OCDM_EXPERIMENT_PAPER_PAPER_H
#define OCDM_EXPERIMENT_PAPER_PAPER_H

#include "base/base.h"
#include "experiment/compare/execute.h"
#include "experiment/compare/memory_only.h"
#include "experiment/compare/plan.h"
#include "experiment/compare/results.h"
#include "stream/info.h"

/* ---- items -------------------------------------------------------------------------------------------------------------- */

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
    bool alike;    /* rows are alike on all lists of tasks: about tasks, methods and groups, not about classes and steps */
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

/* The item whose runs with a network an item needs: itself, or the one that covers the methods whose memories need a network.
 * NULL if it needs none. */
const ocdm__paper_item *ocdm__paper_runs_of(const ocdm__paper_item *item);

/* Seeds of the claims about gss unless others are asked for: few of them show less than half of its spread. */
#define OCDM__PAPER_CLAIM_SEEDS 10u

/* One of the paper's streams. PRS gives its streams an order; the paper's own come as they are, and in three others (Section
 * "Randomizing Task Order"). */
typedef struct ocdm__paper_stream {
    const char *name;
    size_t tasks, classes;
    const char *order, *others; /* as flags take them; NULL: tasks ascend, there are no others */
} ocdm__paper_stream;

/* The stream whose name has these `length` letters; NULL when there is none. */
const ocdm__paper_stream *ocdm__paper_stream_find(const char *name, size_t length);

/* ---- the paper's numbers ------------------------------------------------------------------------------------------------ */

#define OCDM__PAPER_COLUMNS 13

/* A column of one of the paper's tables. */
typedef struct ocdm__paper_column {
    const char *group, *metric; /* "total", "mAP"; "run", "seconds_per_1000_steps"; "total", "AMLR" */
} ocdm__paper_column;

/* A row of a table under one setting. */
typedef struct ocdm__paper_line {
    const char *table;   /* as `ocdm paper` calls it */
    const char *stream;  /* which of the four */
    const char *setting; /* memory size, order of tasks, "task1".."total"; "" where a table has none */
    const char *method;  /* "" for the statistics of streams */
    const ocdm__paper_column *columns;
    size_t count;
    int decimals;             /* as printed */
    const double *values;     /* NaN: the paper has a dash */
    const double *deviations; /* NaN: none is given */
} ocdm__paper_line;

/* The lines 0, 1, 2, ... in the paper's order; columns NULL after the last. */
ocdm__paper_line ocdm__paper_line_at(size_t index);

/* The line of a table; columns NULL when there is none. */
ocdm__paper_line ocdm__paper_line_find(const char *table, const char *stream, const char *setting, const char *method);

/* The number of that line in one of its columns; NaN when there is none. */
double ocdm__paper_number(const char *table, const char *stream, const char *setting, const char *method, const char *group,
                          const char *metric);

/* What the paper's text says about the classes in memory at the end of a stream: how many have more, or fewer, samples than
 * a mark. Ended by one whose stream is NULL. */
typedef struct ocdm__paper_claim {
    const char *stream, *method;
    int more; /* 1: more than the mark, 0: fewer */
    unsigned mark;
    unsigned classes;
} ocdm__paper_claim;
extern const ocdm__paper_claim ocdm__paper_claims[];

/* The trend with increasing rho, 0 to 0.8: its sign for a group of classes, the same for kept samples and mAP. */
typedef struct ocdm__paper_trend {
    const char *group;
    int sign;
} ocdm__paper_trend;
#define OCDM__PAPER_TRENDS 3
extern const ocdm__paper_trend ocdm__paper_trends[OCDM__PAPER_TRENDS];

/* ---- one step ----------------------------------------------------------------------------------------------------------- */

#define OCDM__PROCESS_BATCH 10
#define OCDM__PROCESS_MEMORY 1000

/* A sample that joins or leaves, and the distance of the pool after that. */
typedef struct ocdm__process_event {
    bool joins;
    uint32_t sample; /* of the stream */
    double distance; /* KL to equal shares over the classes in the pool; NaN while the batch joins */
} ocdm__process_event;

/* One step of OCDM on a real stream, as the paper's Figure 1 draws it: a batch joins a full memory, samples leave one by one,
 * and the class distribution approaches the target. */
typedef struct ocdm__process {
    uint64_t step; /* from 1 */
    ocdm__process_event events[2 * OCDM__PROCESS_BATCH];
    size_t event_count;
    uint64_t *counts; /* samples in memory with each class of the table, after the step; to be released */
} ocdm__process;

/*
 * Runs the memory up to the first step of the second task, or the first that finds the memory full if that comes later, and
 * records what happens in it. rho is 0. OCDM_OK, OCDM_BAD_ARGUMENT (the memory never fills), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__process_of(ocdm__process *process, const ocdm__stream_table *table, ocdm_error *error);

/* ---- an item on a stream of ours ---------------------------------------------------------------------------------------- */

/* A class for a figure. */
typedef struct ocdm__paper_class {
    uint32_t number;   /* its column */
    char name[64];     /* cut if it is longer */
    const char *group; /* "majority", "moderate", "minority" */
    uint64_t task;     /* the first in which it occurs */
    uint64_t seen;     /* training samples with it */
} ocdm__paper_class;

/* What an item shows of one stream. The caller fills what the item needs besides the stream. */
typedef struct ocdm__paper_part {
    const ocdm__paper_item *item;
    const char *label;      /* the stream's name in the tables */
    const char *stands_for; /* the stream of the paper that it replaces */
    const ocdm__stream_info *info;
    const char *folder;         /* of the runs */
    ocdm__paper_class *classes; /* of the training part by task, then in the stream's order */
    size_t class_count;
    ocdm__process process; /* of Figure 1 */
    ocdm__compare_plan plan;
    ocdm__compare_memories memories; /* without a network */
    ocdm__compare_results results;   /* with one */
    ocdm__compare_plan learnt_plan;  /* of methods whose memories need a network */
    ocdm__compare_memories learnt;
    ocdm__compare_plan rho_plan; /* of the trends with rho */
    ocdm__compare_memories rho_memories;
} ocdm__paper_part;

/* Begins with what follows from the stream. OCDM_OK, OCDM_NO_MEMORY, or an error of ocdm__process_of. Clear it even after an
 * error. */
ocdm_status ocdm__paper_part_begin(ocdm__paper_part *part, const ocdm__paper_item *item, const char *label,
                                   const char *stands_for, const ocdm__stream_info *info, ocdm_error *error);
void ocdm__paper_part_clear(ocdm__paper_part *part);

/*
 * The runs of an item on a stream. `stands_for` is the paper's stream; where its order of tasks does not fit the number of
 * tasks of the given stream, as with the built-in one, tasks ascend. OCDM_OK, OCDM_BAD_ARGUMENT (the paper's orders do not
 * fit), OCDM_NO_MEMORY. Clear the plan after success.
 */
ocdm_status ocdm__paper_plan(ocdm__compare_plan *plan, const ocdm__paper_item *item, const char *stands_for,
                             const ocdm__stream_info *info, uint64_t seeds, ocdm_error *error);

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

#endif
