/*
 * The readers of labelled sources. Each adds the samples of its files to a labelled set; some also open the features that the
 * files contain. The .c files describe the formats and what is not supported. To add a reader, write its file, the two
 * functions that call it in source.c, and a row of OCDM__SOURCES.
 */
#ifndef OCDM_STREAM_READERS_READERS_H
#define OCDM_STREAM_READERS_READERS_H

#include "stream/features.h"
#include "stream/labelled_set.h"
#include "stream/lines.h"

struct ocdm__build_settings; /* stream/build.h */
struct ocdm__source_job;     /* source.c */

/* ---- the kinds of sources (source.c) ---- */

/* Properties of a kind. */
enum {
    OCDM__SEVERAL_FILES = 1, /* may consist of several files */
    OCDM__ALL_AT_ONCE = 2,   /* all files are read by one call, the test file included */
    OCDM__IS_TABLE = 4,      /* a sample knows its row, also when rows before it were skipped */
    OCDM__NO_TEST_FILE = 8   /* cannot be combined with --test */
};

/*
 * One row per kind: ROW(KIND, flag, value, help, properties, read, open_rows, OWN_FLAGS). The enum, the flags of `ocdm stream
 * build` with their help and checks, and the choice of the reader are made from it. The functions are those of source.c;
 * open_rows is NULL for files without features. OWN_FLAGS lists flags that only make sense with this kind and follow it in the
 * help: FLAG(owner, name, value, fallback, choices, help).
 */
#define OCDM__SOURCES(ROW)                                                                                                     \
    ROW(RECORDS, "records", "FILE", "label records", OCDM__SEVERAL_FILES, read_records, open_record_rows, OCDM__NO_FLAGS)      \
    ROW(COCO, "coco", "FILE", "COCO annotations of instances", OCDM__SEVERAL_FILES | OCDM__ALL_AT_ONCE, read_coco, NULL,       \
        OCDM__NO_FLAGS)                                                                                                        \
    ROW(NUSWIDE, "nuswide", "FOLDER", "NUS-WIDE as distributed", OCDM__NO_TEST_FILE, read_nuswide, NULL, OCDM__NO_FLAGS)       \
    ROW(ARFF, "arff", "FILE", "a Mulan data set", OCDM__IS_TABLE, read_arff, open_arff_rows, OCDM__ARFF_FLAGS)                 \
    ROW(MULTIHOT, "multihot", "FILE", "labels as a table of zeros and ones, NPY", OCDM__IS_TABLE, read_multihot, NULL,         \
        OCDM__NO_FLAGS)

#define OCDM__NO_FLAGS(FLAG)
#define OCDM__ARFF_FLAGS(FLAG) FLAG("arff", "xml", "FILE", NULL, NULL, "its label list, by default next to it")

#define OCDM__SOURCE_KIND(KIND, ...) OCDM__FROM_##KIND,
enum ocdm__source_kind { OCDM__SOURCES(OCDM__SOURCE_KIND) OCDM__SOURCE_KINDS };
#undef OCDM__SOURCE_KIND

/* The rows by enum ocdm__source_kind. */
struct ocdm__source_row {
    const char *flag;
    unsigned properties;
    ocdm_status (*read)(const struct ocdm__source_job *job, const char *path);
    ocdm_status (*open_rows)(const struct ocdm__build_settings *settings, const char *path, ocdm__feature_rows **rows,
                             ocdm_error *error);
};
extern const struct ocdm__source_row ocdm__sources[OCDM__SOURCE_KINDS];

/* ---- any source (source.c) ---- */

/* Reads the labels of every file into an empty set. Returns the reader's status. Clear the set in either case. */
ocdm_status ocdm__source_read(ocdm__labelled_set *set, const struct ocdm__build_settings *settings, ocdm__reading *reading,
                              ocdm_error *error);

/* Opens the features of the samples, row i for sample i; `rows` is NULL when there are none. OCDM_BAD_FILE when the numbers of
 * rows and records differ, or the reader's status. The set must outlive the rows. */
ocdm_status ocdm__source_open_rows(const ocdm__labelled_set *set, const struct ocdm__build_settings *settings,
                                   ocdm__feature_rows **rows, ocdm_error *error);

/* ---- what readers share (source.c) ---- */

/* What a reader of rows adds samples with. Set the first three, all else zero. */
typedef struct ocdm__table_samples {
    ocdm__labelled_set *set;
    ocdm__reading *reading;
    ocdm_error *error;
    uint64_t first; /* samples in the set before, or rows if some were skipped: ids continue from there */
    uint64_t rows_before;
    uint32_t *classes; /* of the table's labels in their order; the reader's to fill in */
    uint32_t *found;   /* classes of the current row */
    size_t found_count;
} ocdm__table_samples;

/* Makes room for so many labels. OCDM_OK, OCDM_NO_MEMORY. Clear it in either case. */
ocdm_status ocdm__table_samples_begin(ocdm__table_samples *samples, size_t label_count);

/* Adds the current row under its number; messages start with `where`. As ocdm__labelled_set_add. */
ocdm_status ocdm__table_samples_add(ocdm__table_samples *samples, uint64_t row, const char *where);
void ocdm__table_samples_clear(ocdm__table_samples *samples);

/* The labels of each sample, out of pairs in any order: those of sample i are labels[starts[i]] up to labels[starts[i + 1] -
 * 1], in the order of the pairs. OCDM_OK, OCDM_NO_MEMORY. Clear it in either case. */
typedef struct ocdm__label_pair {
    uint32_t sample, label;
} ocdm__label_pair;

typedef struct ocdm__label_lists {
    size_t *starts;
    uint32_t *labels;
} ocdm__label_lists;

ocdm_status ocdm__label_lists_make(ocdm__label_lists *lists, size_t sample_count, const ocdm__label_pair *pairs,
                                   size_t pair_count, ocdm_error *error);
void ocdm__label_lists_clear(ocdm__label_lists *lists);

/* Feature rows that are lines of a text file. */
typedef struct ocdm__line_rows {
    ocdm__feature_rows rows;
    ocdm__lines *lines;
    ocdm__line_place first;                        /* where the rows start */
    uint64_t next;                                 /* the row that comes next */
    bool (*advance)(struct ocdm__line_rows *rows); /* to the next line that is a row; false at the end */
} ocdm__line_rows;

/* Makes a row's line the current one; goes back to the first row if it is behind. OCDM_OK, OCDM_BAD_ARGUMENT (no such row),
 * OCDM_IO (the file has become shorter). */
ocdm_status ocdm__line_rows_go(ocdm__line_rows *rows, uint64_t row, ocdm_error *error);

/* ---- ARFF (arff.c) ---- */

/*
 * Adds the samples of a table. Its labels become classes in the order of the XML file, including those that no sample has. A
 * sample's id and row are its row number. Every value is checked. With skip_bad, bad rows and rows with a missing value (?) are
 * skipped; do not read their features.
 * OCDM_OK, OCDM_BAD_RECORD (with file:line:column), OCDM_DUPLICATE_ID, OCDM_TOO_MANY_LABELS, OCDM_IO, OCDM_NO_MEMORY,
 * OCDM_LIMIT, OCDM_STOPPED; after an error the set can only be cleared.
 */
ocdm_status ocdm__arff_read(ocdm__labelled_set *set, const char *arff_path, const char *xml_path, ocdm__reading *reading,
                            ocdm_error *error);

/*
 * Opens the features, after a pass over the file that counts rows; values are checked when a row is read. `rows` is set on
 * success and closed by the caller; the paths need not outlive the call. OCDM_OK, OCDM_BAD_RECORD, OCDM_BAD_FILE (no rows or no
 * features), OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT.
 */
ocdm_status ocdm__arff_open_rows(const char *arff_path, const char *xml_path, ocdm__feature_rows **rows, ocdm_error *error);

/* ---- COCO (coco.c) ---- */

/* The reasons for skipping that a reading may count. */
#define OCDM__COCO_DUPLICATE_IMAGES "duplicate images"
#define OCDM__COCO_UNKNOWN_CATEGORIES "annotations of unknown categories"
#define OCDM__COCO_UNKNOWN_IMAGES "annotations of unknown images" /* or of images of this file that were skipped */

/*
 * Reads one file or several, such as those of training and validation. Categories with the same name are one class; their ids
 * must be unique within a file only. Image ids must be unique over all files, and annotations refer to their own file. Samples
 * come in the order of "images", file after file, with no task.
 *
 * set      empty; on error it is empty again
 * parts    of all samples of each file; NULL: none
 * reading  with skip_bad, the three kinds of problems above are skipped and counted; everything else is an error
 *
 * OCDM_OK, OCDM_BAD_FILE (not JSON, nested too deeply, or not COCO), OCDM_BAD_RECORD (an invalid image, annotation or
 * category), both with file:line:column, columns counted in bytes; OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT, OCDM_STOPPED,
 * OCDM_TOO_MANY_LABELS. O(bytes). Memory: 36 bytes per annotation and the set; the files are mapped.
 */
ocdm_status ocdm__coco_read(ocdm__labelled_set *set, const char *const *paths, const enum ocdm__part *parts, size_t path_count,
                            ocdm__reading *reading, ocdm_error *error);

/* ---- NPY (npy.c) ---- */

/*
 * Opens a table of features: f2, f4, f8, u1 or i1. `rows` is set on success and closed by the caller; `path` need not outlive
 * the call. OCDM_OK, OCDM_BAD_FILE (the message starts with the path and the byte or the row and column), OCDM_IO,
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__npy_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error);

/*
 * Adds the samples of a multi-hot table: one per row, one column per class, 0 or 1 in u1, i1, b1, i4, i8, f4 or f8. Classes are
 * named after their columns, "0", "1", ..., including those that no sample has; a sample's id and row are its row number. With
 * skip_bad, rows with another value are skipped. OCDM_OK, OCDM_BAD_FILE, OCDM_BAD_RECORD, OCDM_DUPLICATE_ID, OCDM_IO,
 * OCDM_NO_MEMORY, OCDM_TOO_MANY_LABELS, OCDM_LIMIT, OCDM_STOPPED; after an error the set can only be cleared.
 */
ocdm_status ocdm__npy_read_labels(ocdm__labelled_set *set, const char *path, ocdm__reading *reading, ocdm_error *error);

/* ---- NUS-WIDE (nuswide.c) ---- */

/*
 * Adds all images of a folder. With skip_bad, images are skipped that have no photo id, a path that leads out of the folder, a
 * line that repeats an earlier one, or a label other than 0 and 1; the others keep their rows. A label file whose length
 * differs from its list's is always an error.
 *
 * OCDM_OK, OCDM_BAD_FILE (the message starts with file:line), OCDM_IO, OCDM_STOPPED, OCDM_LIMIT, OCDM_NO_MEMORY. After an error
 * the set can only be cleared. Label files are read one at a time; memory is needed for the labels and names.
 */
ocdm_status ocdm__nuswide_read(ocdm__labelled_set *set, const char *folder, ocdm__reading *reading, ocdm_error *error);

/* ---- features of LIBSVM and XMC files (svm_features.c) ---- */

/* The widest row: rows are written in full, zeros too. */
#define OCDM__SVM_WIDEST ((size_t)1 << 24)

/*
 * Opens a table, after a pass over the file that counts records and checks indices; values are checked when a row is read.
 * `rows` is set on success and closed by the caller; `path` need not outlive the call. OCDM_OK, OCDM_BAD_RECORD (with
 * file:line:column), OCDM_BAD_FILE (no records or features, or another number of records than the header states), OCDM_LIMIT
 * (over OCDM__SVM_WIDEST), OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__svm_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error);

#endif
