/*
 * Label records (stream/records/record.h: jsonl, csv, tsv, svm) as a labelled set. A record's id is what its id says, or,
 * without one, its number from 0 (from the number of samples that the set has already). Members of a JSON record, or columns of
 * a csv or tsv file, may tell more, each optional: `task`, `split`, `image` and `row`, as stream/records/source_members.h has
 * them. An id that is there already is an error, but a record with a row is known by that, and gets # and its number after the
 * id: in NUS-WIDE's list six photos stand twice.
 */
#ifndef OCDM_STREAM_RECORDS_SOURCE_H
#define OCDM_STREAM_RECORDS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"
#include "stream/records/record.h"

/* Start with all bytes zero. */
typedef struct ocdm__records_source {
    /* What to read. */
    ocdm__record_options options; /* its skip_bad is not looked at: the reading has one */
    const char *tasks_by;  /* the member or column whose values, strings or numbers, are the tasks, instead of `task`; every
                              record must have one; NULL for none */
    uint64_t first_number; /* records without an id are numbered from here, or from the set's count if that is more */

    /* What was found. */
    ocdm__label_table task_names; /* with tasks_by: task t is the value with number t. Numbers in numeric order when all values
                                     are numbers, else bytewise. Values are told apart as text: 1 is not 1.0. */
    uint64_t *record_numbers;     /* of each sample that was added: which record it is, from 0, those that were skipped counted,
                                     so that it is its row in a table that goes with the records */
    size_t record_count, record_room;
    uint64_t record_total; /* all records of the file, skipped ones too */
} ocdm__records_source;

/*
 * Adds the records of a file, of standard input when `path` is NULL or "-".
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (an option that the format has no use for), OCDM_BAD_RECORD (with file:line:column; also an id
 * that is there already, or a task beyond 32 bits), OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT (over 65,536 values of tasks_by),
 * OCDM_STOPPED. After an error the set can only be cleared. The source is to be cleared in either case.
 */
ocdm_status ocdm__records_source_read(ocdm__labelled_set *set, const char *path, ocdm__records_source *source,
                                      ocdm__reading *reading, ocdm_error *error);

/* Gives back what was found. */
void ocdm__records_source_clear(ocdm__records_source *source);

#endif
