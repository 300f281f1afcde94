/*
 * The numbers of the paper "Optimizing Class Distribution in Memory for Multi-Label Online Continual Learning" (Liang and Li):
 * all numbers of its tables, and what its text says about the memory. Our numbers come from runs.
 *
 * Names are those of `ocdm run` and `ocdm paper`: methods "ocdm", "gss", ...; streams "mscoco" and "nuswide" (made by the
 * paper), "cocoseq" and "nuswideseq" (made by PRS); groups and metrics as in experiment/compare/results.h.
 */
#ifndef OCDM_REPORT_TABLES_PAPER_NUMBERS_H
#define OCDM_REPORT_TABLES_PAPER_NUMBERS_H

#include <stddef.h>

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

/* The number in one of its columns; NaN when there is none. */
double ocdm__paper_line_number(const ocdm__paper_line *line, const char *group, const char *metric);

/* What the paper's text says about the classes in memory at the end of a stream: how many have more, or fewer, samples than
 * a mark. */
typedef struct ocdm__paper_claim {
    const char *stream, *method;
    int more; /* 1: more than the mark, 0: fewer */
    unsigned mark;
    unsigned classes;
} ocdm__paper_claim;

/* The claims 0, 1, 2, ... until NULL. */
const ocdm__paper_claim *ocdm__paper_claim_at(size_t index);

/* The trend with increasing rho, 0 to 0.8: its sign for a group of classes, the same for kept samples and mAP. */
typedef struct ocdm__paper_trend {
    const char *group;
    int sign;
} ocdm__paper_trend;

const ocdm__paper_trend *ocdm__paper_trend_at(size_t index);

#endif
