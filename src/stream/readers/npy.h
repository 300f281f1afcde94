/*
 * Tables as NumPy saves them (.npy, versions 1.0 to 3.0): two axes in C order, little-endian. The file is mapped, so it may be
 * larger than the memory. Rows and columns in messages count from 0, as NumPy does.
 *
 * Left out, with a hint how to convert: Fortran order, other numbers of axes, big-endian, objects, structures, text.
 */
#ifndef OCDM_STREAM_READERS_NPY_H
#define OCDM_STREAM_READERS_NPY_H

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"
#include "stream/labelled_set.h"

/*
 * Opens a table of features: f2, f4, f8, u1 or i1. `rows` is set on success, yours to close; `path` need not outlive the call.
 * OCDM_OK, OCDM_BAD_FILE (the message starts with the path and the byte or the row and column), OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__npy_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error);

/*
 * Adds the samples of a multi-hot table: a row each, a column for each class, 0 or 1 in u1, i1, b1, i4, i8, f4 or f8. Classes
 * are named after their columns, "0", "1", ..., whether a sample has them or not; a sample's id and row are its row. With
 * skip_bad, a row with another value is left out. OCDM_OK, OCDM_BAD_FILE, OCDM_BAD_RECORD, OCDM_DUPLICATE_ID, OCDM_IO,
 * OCDM_NO_MEMORY, OCDM_TOO_MANY_LABELS, OCDM_LIMIT, OCDM_STOPPED; after an error the set can only be cleared.
 */
ocdm_status ocdm__npy_read_labels(ocdm__labelled_set *set, const char *path, ocdm__reading *reading, ocdm_error *error);

#endif
