/* Shared by the verbs that make several runs: what they are asked for, making the runs, choosing settings, printing tables. */
#ifndef OCDM_CLI_COMPARE_RUNS_H
#define OCDM_CLI_COMPARE_RUNS_H

#include "base/base.h"
#include "cli/flags.h"
#include "experiment/compare/execute.h"
#include "experiment/compare/memory_only.h"
#include "report/tables/table.h"

/* --seeds: "3" for 0, 1, 2; "5..14"; "5,7,9", ranges among them too. A seed that comes twice counts once. */
#define OCDM__SEEDS_FLAG OCDM__VALUE(0, "seeds", "N|A..B|A,B,...", "1", "the first N seeds from 0, or these")

/* --grid and --grid-seeds: settings that are chosen by validation. */
#define OCDM__GRID_FLAGS                                                                                                       \
    {.name = "grid",                                                                                                           \
     .value = "SETTING=A,B,...",                                                                                               \
     .repeats = true,                                                                                                          \
     .help = "choose a setting of each method by validation, as lr=0.001,0.003; may be given for several settings"},           \
        OCDM__VALUE(0, "grid-seeds", "N", NULL, "choose by the first N of the seeds; by all of them by default")

/* How tables are printed, and how much is said meanwhile. */
#define OCDM__TABLE_FLAGS                                                                                                      \
    OCDM__CHOICE(0, "format", "F", "text", ocdm__table_formats, "how the table is printed"),                                   \
        OCDM__SWITCH(0, "json", "the same as --format json")

/* What is asked for on all streams. Start with all bytes zero. Too large for the stack of some systems. */
#define OCDM__MOST_SEEDS 10000u
typedef struct ocdm__compare_request {
    const ocdm__arguments *arguments;
    enum ocdm__table_format format;
    uint64_t seeds[OCDM__MOST_SEEDS];
    size_t seed_count;
    size_t jobs; /* runs at a time: --jobs, or as many as fit on the cores, or one on each of several ranks */
    bool quiet;
    /* The flags for `ocdm run`: those of the verb that are settings of a run and that a plan does not vary, as far as they are
     * given or have another default there. Without --threads each run has one thread. */
    char names[OCDM__MAX_FLAGS][40];
    const char *words[2 * OCDM__MAX_FLAGS + 6];
    size_t word_count;
    int failed; /* the exit code of the first run that failed; 0 for none */
} ocdm__compare_request;

/* OCDM_OK, OCDM_BAD_ARGUMENT. */
ocdm_status ocdm__compare_request_read(ocdm__compare_request *request, const ocdm__arguments *arguments, ocdm_error *error);

/* The combinations of values that --grid names, and what was chosen. */
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

/* The runs on one stream. Start with all bytes zero. */
typedef struct ocdm__comparison {
    const char *path, *folder; /* the stream's file; where the runs are */
    const ocdm__stream *stream;
    ocdm__run_setup setup;
    ocdm__grid grid;
} ocdm__comparison;

/*
 * Fills in setup and grid by settings and flags: --grid, --grid-seeds, and --validation, which is then the share for the
 * choice, 0.1 without it, and not held out of the other runs. OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_LIMIT, OCDM_NO_MEMORY. Clear the
 * comparison even after an error.
 */
ocdm_status ocdm__comparison_begin(ocdm__comparison *comparison, const ocdm__run_settings *settings,
                                   const ocdm__arguments *arguments, ocdm_error *error);
void ocdm__comparison_clear(ocdm__comparison *comparison);

/*
 * Runs what is missing of every combination in FOLDER/grid, with validation samples held out, and gives each method at each
 * point of the plan the combination with the best mean validation mAP over those seeds that choose, the first of equals. The
 * plan's own runs are then made with all training samples. Does nothing without a grid. As ocdm__run_plan; OCDM_BAD_FILE when
 * no combination of a method has a value for every seed.
 */
ocdm_status ocdm__choose_settings(ocdm__compare_request *request, ocdm__comparison *comparison, ocdm__compare_plan *plan,
                                  ocdm_error *error);

/* Runs what is missing of a plan, and reports progress on stderr unless quiet. For a run that fails, its error line is printed
 * and the others continue. */
ocdm_status ocdm__run_plan(ocdm__compare_request *request, ocdm__comparison *comparison, const ocdm__compare_plan *plan,
                           ocdm_error *error);

/* Runs the memories of a plan without a network, on as many threads as there are jobs, and reports progress. Clear the memories
 * even after an error. As ocdm__compare_memories_run. */
ocdm_status ocdm__run_memories(const ocdm__compare_request *request, const ocdm__stream_table *table,
                               const ocdm__compare_plan *plan, const ocdm__compare_memory_options *options,
                               ocdm__compare_memories *memories, ocdm_error *error);

/* What was chosen on one stream of a table. */
typedef struct ocdm__grid_choice {
    const ocdm__grid *grid;
    const ocdm__compare_plan *plan;
    const char *stream; /* its name, where the table is about several; else NULL */
} ocdm__grid_choice;

/* Appends to the note of a table how settings were chosen, and which; the grids of several streams are the same. Nothing
 * without a grid. */
void ocdm__grid_note(const ocdm__grid_choice *choices, size_t count, char note[OCDM__TABLE_NOTE]);

/* Writes a table to standard output, what was printed before it first: text as wide as the terminal, 100 columns at most and
 * where there is none, bold only on a terminal. */
ocdm_status ocdm__print_table(const ocdm__table *table, enum ocdm__table_format format, ocdm_error *error);

#endif
