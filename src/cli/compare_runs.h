/* Shared by the verbs that make several runs: passing flags on to `ocdm run`, reporting progress, printing tables. */
#ifndef OCDM_CLI_COMPARE_RUNS_H
#define OCDM_CLI_COMPARE_RUNS_H

#include "base/base.h"

#include "cli/flags.h"
#include "experiment/compare/execute.h"
#include "report/tables/table.h"

/* The flags of a run as words for another command line. */
typedef struct ocdm__passed_flags {
    char names[OCDM__MAX_FLAGS][40];
    const char *words[2 * OCDM__MAX_FLAGS + 4];
    size_t word_count;
} ocdm__passed_flags;

/* Takes the flags of the verb that are settings of a run, except those that a plan varies: values that were given, and
 * defaults that differ from `ocdm run`. Without --threads each run has one thread. */
void ocdm__pass_flags(const ocdm__arguments *arguments, ocdm__passed_flags *passed);

/* Seeds that were asked for. Start with all bytes zero; release `values`. */
typedef struct ocdm__seed_list {
    uint64_t *values;
    size_t count;
} ocdm__seed_list;

/* --seeds: "3" for 0, 1, 2; "5..14"; "5,7,9", ranges among them too. A seed that comes twice counts once. OCDM_OK,
 * OCDM_BAD_ARGUMENT, OCDM_NO_MEMORY. */
#define OCDM__SEEDS_FLAG OCDM__VALUE(0, "seeds", "N|A..B|A,B,...", "1", "the first N seeds from 0, or these")
ocdm_status ocdm__read_seeds(const ocdm__arguments *arguments, ocdm__seed_list *seeds, ocdm_error *error);

/* The number of simultaneous runs: --jobs, or as many as fit on the cores, or one on each of several ranks. */
size_t ocdm__read_jobs(const ocdm__arguments *arguments);

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

/* ---- settings chosen by validation -------------------------------------------------------------------------------------- */

/* The flags, for a verb's table. */
#define OCDM__GRID_FLAG                                                                                                        \
    {                                                                                                                          \
        .name = "grid", .value = "SETTING=A,B,...", .repeats = true,                                                           \
        .help = "choose a setting of each method by validation, as lr=0.001,0.003; may be given for several settings"          \
    }
#define OCDM__GRID_SEEDS_FLAG                                                                                                  \
    OCDM__VALUE(0, "grid-seeds", "N", NULL, "choose by the first N of the seeds; by all of them by default")

/* The combinations of values that --grid names, and what was chosen. Start with all bytes zero. */
typedef struct ocdm__grid {
    size_t count; /* of combinations; 0: there is no --grid */
    ocdm__compare_choice *combinations;
    struct ocdm__grid_axis *axes;
    size_t axis_count;
    const char **words;                  /* of all combinations */
    double share;                        /* of the training samples that is held out for the choice */
    uint64_t seeds;                      /* the first so many seeds choose; 0: all of them */
    const ocdm__compare_choice **chosen; /* [point][method] of the plan */
    ocdm__table tried;                   /* as data: each combination of each method with its validation mAP */
} ocdm__grid;

/*
 * Reads --grid, --grid-seeds, and --validation: the share for the choice, 0.1 without it. With a grid the setup no longer holds
 * anything out: that is for the runs of the choice alone. `path` is the stream's, for messages. OCDM_OK, OCDM_BAD_ARGUMENT,
 * OCDM_LIMIT, OCDM_NO_MEMORY. Clear it even after an error.
 */
ocdm_status ocdm__grid_read(ocdm__grid *grid, const ocdm__arguments *arguments, ocdm__run_setup *setup, const char *path,
                            ocdm_error *error);
void ocdm__grid_clear(ocdm__grid *grid);

/*
 * Runs what is missing of every combination in FOLDER/grid, with validation samples held out, and gives each method at each
 * point of the plan the combination with the best mean validation mAP over those seeds that choose, the first of equals. The
 * plan's own runs are then made with all training samples. Does nothing without a grid. As ocdm__run_plan; OCDM_BAD_FILE when
 * no combination of a method has a value for every seed.
 */
ocdm_status ocdm__grid_choose(ocdm__grid *grid, const ocdm__plan_run *run, ocdm__compare_plan *plan, int *failed,
                              ocdm_error *error);

/* What was chosen on one stream of a table. */
typedef struct ocdm__grid_choice {
    const ocdm__grid *grid;
    const ocdm__compare_plan *plan;
    const char *stream; /* its name, where the table is about several; else NULL */
} ocdm__grid_choice;

/* Appends to the note of a table how settings were chosen, and which; the grids of several streams are the same. Nothing
 * without a grid. */
void ocdm__grid_note(const ocdm__grid_choice *choices, size_t count, char note[OCDM__TABLE_NOTE]);

/* ---- tables ------------------------------------------------------------------------------------------------------------- */

/* --format, for which --json is short. */
enum ocdm__table_format ocdm__read_format(const ocdm__arguments *arguments);

/* Text as wide as the terminal, 100 columns at most and where there is none; bold only on a terminal. */
ocdm__table_style ocdm__stdout_style(void);

/* Writes a table to standard output, what was printed before it first. */
ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error);

#endif
