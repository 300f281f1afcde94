/*
 * Features of a source and of a stream file: tables that are read a row at a time, tables made of other tables, and the
 * payload of a stream file (selected rows, standardized on request, as 32 or 16 bits). One row is in memory at a time.
 */
#ifndef OCDM_STREAM_FEATURES_H
#define OCDM_STREAM_FEATURES_H

#include "base/progress.h"
#include "stream/file.h"
#include "stream/selection.h"

/* ---- rows ---- */

/*
 * A table of features, one row per sample of a source, read a row at a time: the table itself may be larger than memory.
 * Request rows in ascending order; going back may restart the file.
 */
typedef struct ocdm__feature_rows ocdm__feature_rows;
struct ocdm__feature_rows {
    uint64_t count; /* rows */
    size_t width;   /* numbers in a row */
    /* Writes row `row` < count as `width` floats. A number that is not finite is an error with file and position.
     * OCDM_OK, OCDM_BAD_FILE, OCDM_BAD_RECORD, OCDM_IO, OCDM_NO_MEMORY. */
    ocdm_status (*read)(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error);
    /* Releases everything, the struct itself too. */
    void (*close)(ocdm__feature_rows *rows);
};

/* Releases a table. NULL is fine. */
static inline void ocdm__feature_rows_close(ocdm__feature_rows *rows)
{
    if (rows != NULL)
        rows->close(rows);
}

/* ---- payload ---- */

/* By which training samples features are standardized. */
enum ocdm__standardize {
    OCDM__AS_THEY_ARE, /* not at all */
    OCDM__BY_ALL,      /* all of them, those of later tasks included */
    OCDM__BY_FIRST_TASK
};

/* Their names in this order, ended by NULL. */
extern const char *const ocdm__standardize_names[];

/* How features can be stored, ended by NULL. */
extern const char *const ocdm__feature_type_names[];

/* Start with all bytes zero. */
typedef struct ocdm__feature_payload {
    ocdm__payload_source source; /* for ocdm__stream_write */
    ocdm__feature_rows *rows;
    const ocdm__selection *selection;
    float *mean, *deviation; /* NULL when features stay as they are */
    float *row;              /* the current one */
    uint32_t last_task;      /* its training samples and those of the tasks before it count when features are standardized */
    const char *file;        /* for messages; may be NULL; set it after opening */
} ocdm__feature_payload;

/*
 * Prepares the features of a selection; row i belongs to sample i of the set. Unless features stay as they are, mean and
 * deviation (of the population: divided by n) of the training samples that `standardize` names are found in a first pass over
 * the rows. The first task is the one with the lowest number that has a training sample.
 * OCDM_OK, OCDM_BAD_FILE (no rows for some samples, no training samples), OCDM_NO_MEMORY, OCDM_STOPPED, and the status of the
 * reader.
 */
ocdm_status ocdm__feature_payload_open(ocdm__feature_payload *payload, ocdm__feature_rows *rows,
                                       const ocdm__selection *selection, enum ocdm__dtype dtype,
                                       enum ocdm__standardize standardize, const ocdm__progress *progress, ocdm_error *error);

/* Releases everything except the rows and the selection. */
void ocdm__feature_payload_close(ocdm__feature_payload *payload);

#endif
