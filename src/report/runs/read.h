/*
 * Reads run folders (docs/run-files.md) for a report. A folder that is missing, unfinished or damaged is not an error: it
 * becomes a run with a description of the problem, so that a page can show the others.
 *
 *     ocdm__run_list runs = {0};
 *     if (ocdm__runs_read(&runs, paths, count, error) != OCDM_OK) ...
 *     for (size_t i = 0; i < runs.count; i++)
 *         if (runs.runs[i].state == OCDM__RUN_WHOLE) ...
 *     ocdm__runs_clear(&runs);
 *
 * Checkpoints and weights are not read.
 */
#ifndef OCDM_REPORT_RUNS_READ_H
#define OCDM_REPORT_RUNS_READ_H

#include "base/json_tree.h"

enum ocdm__run_state {
    OCDM__RUN_WHOLE,  /* has a summary */
    OCDM__RUN_HALF,   /* has a log, but no summary yet */
    OCDM__RUN_BROKEN, /* has a summary.json that cannot be read */
    OCDM__RUN_MISSING /* has neither */
};

/* A list of numbers from JSON; NaN for elements that are not numbers. */
typedef struct ocdm__numbers {
    double *values;
    size_t count;
} ocdm__numbers;

typedef struct ocdm__run_record {
    const char *folder;
    const char *name; /* the last part of the folder's path */
    enum ocdm__run_state state;
    ocdm_error why;                  /* if it is not complete: what is wrong, or how far it is */
    ocdm__json_tree summary;         /* of a complete run */
    ocdm__json_tree log;             /* of an unfinished run: a list of its complete lines */
    ocdm__json_tree kept;            /* of a complete run: a list of the lines of memory.jsonl */
    ocdm_error kept_why;             /* status OCDM_OK, or why `kept` is empty */
    const ocdm__json_node *settings; /* NULL when not known */
    const char *method;              /* "" when not known */
    double seed;
    /* Of a complete run. */
    ocdm__numbers counts, target, seen;            /* by class */
    ocdm__numbers step, task, loss, distance_seen; /* the curve */
    ocdm__numbers probe_samples, probe_map;        /* of evaluations at any time */
} ocdm__run_record;

/* Initialise with zeros. */
typedef struct ocdm__run_list {
    ocdm__run_record *runs;
    size_t count;
    ocdm__arena arena; /* of folders and numbers */
} ocdm__run_list;

/*
 * Reads every run in the given folders. Each is the folder of a run or contains run folders, which are sorted by name. A
 * folder named METHOD-sSEED counts as a run even if it is empty; others without a run's files do not. Returns OCDM_OK or
 * OCDM_NO_MEMORY; problems of a run are stored in the run.
 */
ocdm_status ocdm__runs_read(ocdm__run_list *runs, char *const *paths, size_t count, ocdm_error *error);

/* The list of a run that is called so in its summary: "step", "loss", "distance_seen", ...; NULL when there is none. */
const ocdm__numbers *ocdm__run_list_of(const ocdm__run_record *run, const char *name);

/* The error for a folder that has nothing to show, OCDM_IO. */
ocdm_status ocdm__refuse_folder(const char *folder, const char *why, ocdm_error *error);

/* Releases everything. */
void ocdm__runs_clear(ocdm__run_list *runs);

/* Reads a file with one JSON value per line as one list. A last line without a newline is ignored, since it may still be
 * being written. Returns as ocdm__json_tree_read. */
ocdm_status ocdm__json_lines_read(ocdm__json_tree *tree, const char *path, ocdm_error *error);

/* The numbers of a list, in the arena. */
ocdm__numbers ocdm__numbers_of(ocdm__arena *arena, const ocdm__json_node *list);

#endif
