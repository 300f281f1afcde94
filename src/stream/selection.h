/* What a recipe decides: which samples of a labelled set go into the stream, in what order, and to which task and part. */
#ifndef OCDM_STREAM_SELECTION_H
#define OCDM_STREAM_SELECTION_H

#include "stream/file.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"

/* ---- classes ---- */

/*
 * Which classes a stream has and in what order: those of a file, or the labels of the source sorted bytewise. The order of the
 * classes is the order of a network's outputs and of every table.
 */

/* Start with all bytes zero. */
typedef struct ocdm__class_columns {
    size_t count;
    ocdm__text_list names; /* in order */
    uint32_t *of;          /* by number of a label in the source: its column, or UINT32_MAX for a label that is left out */
} ocdm__class_columns;

/* The names of a file of classes, one a line, in its order. `names` is empty before, and to be cleared in either case. OCDM_OK,
 * OCDM_BAD_FILE, OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT. */
ocdm_status ocdm__class_names_read(ocdm__label_table *names, const char *path, ocdm_error *error);

/*
 * The classes of a file, one a line, blank lines aside, in the file's order, whether the source has them or not; labels of the
 * source that the file does not list are left out. When `path` is NULL, the labels of the source whose `kept` is not 0, all of
 * them when that is NULL, sorted bytewise. OCDM_OK, OCDM_BAD_RECORD (file:line: a class twice, none at all), OCDM_IO,
 * OCDM_NO_MEMORY.
 */
ocdm_status ocdm__class_columns_make(ocdm__class_columns *columns, const ocdm__label_table *labels, const char *path,
                                     const uint8_t *kept, ocdm_error *error);

/* Releases everything. */
void ocdm__class_columns_clear(ocdm__class_columns *columns);

/* ---- selections ---- */

typedef struct ocdm__chosen {
    uint32_t sample; /* of the set */
    uint32_t task;
    uint32_t part; /* OCDM__TRAIN or OCDM__TEST */
} ocdm__chosen;

/* Start with all bytes zero. */
typedef struct ocdm__selection {
    size_t count;
    ocdm__chosen *chosen;  /* a sample that is chosen several times has these one after another, each in another task */
    uint8_t *kept_classes; /* by number of a label in the set; NULL when all stay */
    uint32_t
        *class_tasks; /* by number of a label too: labels of other tasks are removed from a sample; NULL when all labels stay */
    bool partial;     /* of a training sample only the classes of its task are known; a test has all its labels */
} ocdm__selection;

/*
 * Takes every sample as it comes: its own task, 0 when no sample has one; its own part, training when it has none.
 * OCDM_OK, OCDM_BAD_RECORD (one sample has a task and another has none, or a number that is too large), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__select_all(ocdm__selection *selection, const ocdm__labelled_set *set, ocdm_error *error);

/* The tables of a selection by class, with room for `most` samples; all zero. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__selection_begin(ocdm__selection *selection, size_t most, size_t class_count, ocdm_error *error);

/* For a selection by class: removes tasks without samples and their classes, and renumbers the others in their order. `left` is
 * how many were removed. OCDM_OK, OCDM_NO_MEMORY. */
ocdm_status ocdm__selection_close_gaps(ocdm__selection *selection, size_t class_count, size_t *left, ocdm_error *error);

/* Releases everything. */
void ocdm__selection_clear(ocdm__selection *selection);

/*
 * The tables of a stream from a set, a selection and the order of the classes, whose names move into the table. The id of a
 * sample that was chosen before is followed by @ and its task, so that ids stay different. OCDM_OK, OCDM_BAD_RECORD (another
 * sample has such an id), OCDM_NO_MEMORY. On error the table is empty.
 */
ocdm_status ocdm__stream_table_make(ocdm__stream_table *table, const ocdm__labelled_set *set, const ocdm__selection *selection,
                                    ocdm__class_columns *columns, ocdm_error *error);

#endif
