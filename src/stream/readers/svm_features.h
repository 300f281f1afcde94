/*
 * The features of LIBSVM and XMC files (stream/records/svm.c has their labels): index:value, the others 0, in any order but
 * each at most once. A row for each record of the file, as the record reader counts them: blank lines and comments are none.
 *
 * An XMC file starts with a line of three numbers, samples, features, labels: its indices count from 0, its width is what the
 * line says, and so must be its number of records. A LIBSVM file has no such line: its indices count from 1, and its width is
 * the largest of them.
 */
#ifndef OCDM_STREAM_READERS_SVM_FEATURES_H
#define OCDM_STREAM_READERS_SVM_FEATURES_H

#include "ocdm/ocdm.h"
#include "stream/feature_rows.h"

/* The widest row: rows are written in full, zeros too. */
#define OCDM__SVM_WIDEST ((size_t)1 << 24)

/*
 * Opens a table, after a pass over the file that counts records and checks indices; values are looked at when a row is read.
 * `rows` is set on success, yours to close; `path` need not outlive the call.
 * OCDM_OK, OCDM_BAD_RECORD (with file:line:column), OCDM_BAD_FILE (no records or features, or not as many records as the header
 * says), OCDM_LIMIT (over OCDM__SVM_WIDEST), OCDM_IO, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__svm_open_rows(const char *path, ocdm__feature_rows **rows, ocdm_error *error);

#endif
