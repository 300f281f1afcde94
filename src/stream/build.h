/*
 * From a labelled source to a stream file: read the labels, choose samples and tasks by a recipe, order the classes, then write
 * with the features block by block. Labels are in memory, and one block of features.
 */
#ifndef OCDM_STREAM_BUILD_H
#define OCDM_STREAM_BUILD_H

#include "base/safetensors.h"
#include "base/sha256.h"
#include "stream/features.h"
#include "stream/labelled_set.h"
#include "stream/readers/readers.h"
#include "stream/recipes/recipes.h"
#include "stream/records/record.h"

/* All zero except source and output is a good default. Texts must outlive the build. */
typedef struct ocdm__build_settings {
    enum ocdm__source_kind kind;
    const char *const *sources; /* files; for NUS-WIDE one folder */
    size_t source_count;
    const char *test_source;          /* a second file of the same kind, all of it test samples; NULL for none */
    ocdm__record_options records;     /* how to read records */
    const char *tasks_by;             /* records: the member whose values are the tasks; NULL: "task" */
    const char *task, *split, *image; /* records: members or columns with other names than these; NULL: these */
    const char *xml;                  /* ARFF: its label list */

    const char *features; /* NPY, or the ARFF or LIBSVM file itself; NULL for none */
    bool source_features; /* the source has features of its own, and they are wanted */
    enum ocdm__standardize standardize;
    enum ocdm__dtype feature_type; /* OCDM__F32 or OCDM__F16 */
    const char *image_root;        /* the folder that image paths are relative to; NULL: paths are not stored */

    enum ocdm__recipe recipe;
    const char *ids;   /* a folder with PRS's lists */
    bool original_ids; /* their unbalanced test lists instead of the balanced ones */
    const char *tasks; /* a shipped list, or a file of class lists; NULL for none */
    size_t clusters;   /* tasks found by co-occurrence; 0 for none */
    bool drop_mixed;
    bool test_from_rest; /* the paper's recipe: test samples from all the rest, not only single-label ones */
    uint32_t test_per_class;
    uint32_t base, step; /* incremental: classes of the first task, 0 for as many as in the others; of each other one */
    double test_share;

    const char *classes; /* the file with the order of the classes; NULL: sorted */
    const char *groups;  /* the file with the groups; NULL for none */
    bool bounded_groups; /* groups by the training counts: */
    uint64_t bounds[2];  /* over the first majority, under the second minority */

    uint32_t image_size; /* scenes: pixels a side; 0 for features */
    uint64_t seed;
    const char *command; /* for the file's notes */
    const char *output;
} ocdm__build_settings;

/* The result. */
typedef struct ocdm__build_report {
    size_t train, test, classes, tasks;
    char ids[OCDM__SHA256_TEXT]; /* see ocdm__digest_ids */
} ocdm__build_report;

/*
 * Builds a stream file, atomically. `reading` says how to treat bad records and reports progress; afterwards it contains what
 * was left out and why. OCDM_OK, OCDM_BAD_ARGUMENT, OCDM_BAD_FILE, OCDM_BAD_RECORD, OCDM_IO, OCDM_LIMIT, OCDM_NO_MEMORY,
 * OCDM_STOPPED; after an error the output is as it was.
 */
ocdm_status ocdm__stream_build(const ocdm__build_settings *settings, ocdm__reading *reading, ocdm__build_report *report,
                               ocdm_error *error);

#endif
