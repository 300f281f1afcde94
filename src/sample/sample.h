/*
 * Sampling a stream of records: batch after batch through a replay memory, and at the end the records that are left, byte for
 * byte and in the order in which they came. Of all that passes through, the records in memory and the current batch are held,
 * and the ids.
 *
 *     ocdm__sampling *sampling;
 *     bool more = true;
 *     ocdm_status status = ocdm__sampling_open(&sampling, &options, error);
 *     while (status == OCDM_OK && more)
 *         status = ocdm__sampling_step(sampling, &more, error);
 *     if (status == OCDM_OK)
 *         status = ocdm__sampling_finish(sampling, STDOUT_FILENO, error);
 *     ocdm__sampling_close(sampling);
 *
 * A record whose id an earlier one had (as content: 1 and "1" are the same) is a bad record, however long ago that was. The ids
 * of all records are held for it; with records.no_id nothing is, and ids may repeat.
 */
#ifndef OCDM_SAMPLE_SAMPLE_H
#define OCDM_SAMPLE_SAMPLE_H

#include "base/output.h"
#include "ocdm/ocdm.h"
#include "stream/records/record.h"

#include <signal.h>
#include <stdbool.h>

/* The largest batch. */
#define OCDM__MAX_BATCH OCDM_MAX_CAPACITY

typedef struct ocdm__sample_options {
    const char *path; /* NULL or "-" is standard input */
    ocdm__record_options records;
    ocdm_options memory;
    const char *weights;               /* of classes: label=weight, separated by commas; NULL: all 1 */
    bool skip_duplicates;              /* a record whose id was there before is skipped and counted, not an error */
    const char *trace;                 /* a file for one JSON object a batch; NULL for none */
    const char *summary;               /* a file for one JSON object at the end; NULL for none */
    const volatile sig_atomic_t *stop; /* ends the stream after the last complete record; may be NULL */
} ocdm__sample_options;

typedef struct ocdm__sampling ocdm__sampling;

/* Opens input and output files and creates the memory. On success close it with ocdm__sampling_close. The texts of the options
 * must outlive it. */
ocdm_status ocdm__sampling_open(ocdm__sampling **sampling, const ocdm__sample_options *options, ocdm_error *error);

/* Reads a batch and offers it to the memory; more = false after the last one. */
ocdm_status ocdm__sampling_step(ocdm__sampling *sampling, bool *more, ocdm_error *error);

/* Writes the kept records to `fd`, each with a newline after it, after the header if they are csv or tsv; then puts trace and
 * summary in their places, whatever happened to the others. The first thing that failed is the error. To be called once. */
ocdm_status ocdm__sampling_finish(ocdm__sampling *sampling, int fd, ocdm_error *error);

/* Releases everything; files that are not finished leave nothing behind. NULL is fine. */
void ocdm__sampling_close(ocdm__sampling *sampling);

const ocdm_memory *ocdm__sampling_memory(const ocdm__sampling *sampling);
const ocdm__records *ocdm__sampling_records(const ocdm__sampling *sampling);

/* One class with its label, for reports. */
typedef struct ocdm__class_row {
    const char *label;
    size_t length;
    ocdm_class counts;
} ocdm__class_row;

/* Every class seen, sorted bytewise by label; release the array with ocdm__release. The labels live as long as the sampling. */
ocdm_status ocdm__sampling_classes(const ocdm__sampling *sampling, ocdm__class_row **rows, size_t *count, ocdm_error *error);

/* Writes a summary for people: what was read and kept, and a table of the classes with their counts, targets and a bar, the
 * largest first; of over 40 classes only both ends of the table. */
ocdm_status ocdm__sampling_report(const ocdm__sampling *sampling, ocdm__output *output, ocdm_error *error);

#endif
