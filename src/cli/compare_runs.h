/* What verbs that make several runs share: passing flags on to `ocdm run`, telling how far the runs are, printing tables. */
#ifndef OCDM_CLI_COMPARE_RUNS_H
#define OCDM_CLI_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/flags.h"
#include "experiment/compare/execute.h"
#include "report/tables/table.h"

/* The flags of a run as words for another command line. */
typedef struct ocdm__passed_flags {
    char names[OCDM__MAX_FLAGS][40];
    const char *words[2 * OCDM__MAX_FLAGS + 2];
    size_t word_count;
} ocdm__passed_flags;

/* Takes those flags of the verb that are settings of a run, but those that a plan takes several values of: what was given, and
 * defaults that are the verb's own. Without --threads each run has one. */
void ocdm__pass_flags(const ocdm__arguments *arguments, ocdm__passed_flags *passed);

/* Seeds that were asked for. Start with all bytes zero; release `values`. */
typedef struct ocdm__seed_list {
    uint64_t *values;
    size_t count;
} ocdm__seed_list;

/* --seeds: "3" for 0, 1, 2; "5..14"; "5,7,9", ranges among them too. A seed that comes twice counts once. OCDM_OK,
 * OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. */
#define OCDM__SEEDS_FLAG                                                                                                       \
    {                                                                                                                          \
        .name = "seeds", .value = "N|A..B|A,B,...", .fallback = "1", .help = "the first N seeds from 0, or these"              \
    }
ocdm_status ocdm__read_seeds(const ocdm__arguments *arguments, ocdm__seed_list *seeds, ocdm_error *error);

/* Runs at a time: --jobs, else as many as the cores have room for. OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__read_jobs(const ocdm__arguments *arguments, size_t *jobs, ocdm_error *error);

/*
 * Runs what is missing of a plan with the flags, `jobs` at a time, and reports progress on stderr unless quiet. For a run that
 * fails, its error line is printed and the others continue; `failed` is the exit code of the first one, 0 for none.
 */
typedef struct ocdm__plan_run {
    const ocdm__compare_plan *plan;
    const char *stream, *folder;
    const char *const *words;
    size_t word_count;
    ocdm__run_setup *setup;
    size_t jobs;
    bool quiet;
} ocdm__plan_run;

ocdm_status ocdm__run_plan(const ocdm__plan_run *run, int *failed, ocdm_error *error);

/* Text as wide as the terminal, 100 columns at most and where there is none; bold only on a terminal. */
ocdm__table_style ocdm__stdout_style(void);

/* Writes a table to standard output, what was printed before it first. */
ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error);

#endif
