/*
 * Label records (stream/records/record.h: jsonl, csv, tsv, svm) as a labelled set. A record without an id gets its number as
 * id, from 0, or from the number of samples that the set already has. Members of a JSON record, or columns of a csv or tsv
 * file, may add `task`, `split`, `image` and `row`, all optional; see enum ocdm__member. In JSON Lines they are members of the
 * record itself, not of nested objects; in csv and tsv an empty field counts as missing. A repeated id is an error, unless the
 * record has a row, which identifies it: then # and its number are appended to the id, because NUS-WIDE's list has six photos
 * twice.
 */
#ifndef OCDM_STREAM_RECORDS_SOURCE_H
#define OCDM_STREAM_RECORDS_SOURCE_H

#include "stream/label_table.h"
#include "stream/labelled_set.h"
#include "stream/records/record.h"

enum ocdm__member {
    OCDM__MEMBER_TASK,  /* an integer from 0 */
    OCDM__MEMBER_SPLIT, /* "train" or "test" */
    OCDM__MEMBER_IMAGE, /* a relative path that does not lead out of its root */
    OCDM__MEMBER_ROW,   /* an integer from 0 */
    OCDM__MEMBER_OTHER, /* a string or number, by a name of the caller's */
    OCDM__MEMBERS
};

/* The longest image path, and the longest value of the other member. */
#define OCDM__LONGEST_MEMBER 4095

/* The members of one record. One that is not in `found` has OCDM__NO_TASK, OCDM__NO_PART, OCDM__NO_ROW or no length. */
typedef struct ocdm__record_members {
    unsigned found; /* a bit for each member that is there: 1u << OCDM__MEMBER_TASK ... */
    uint64_t task, row;
    enum ocdm__part part;
    size_t image_length, other_length;
    char image[OCDM__LONGEST_MEMBER + 1];
    char other[OCDM__LONGEST_MEMBER + 1];
    char reason[256]; /* of a bad record: what is wrong ... */
    size_t at;        /* ... and where, in bytes from the start of the record */
} ocdm__record_members;

/* Which members matter: a bit for each; the others are ignored. A name that is NULL is the member's usual one, and must not be
 * for OCDM__MEMBER_OTHER. A column that is named must be there. */
typedef struct ocdm__wanted_members {
    unsigned which;
    const char *names[OCDM__MEMBERS];
} ocdm__wanted_members;

/* Reads members of records: set `wanted`, all else zero. */
typedef struct ocdm__member_reader {
    ocdm__wanted_members wanted;
    uint8_t *member; /* csv, tsv: by column; OCDM__MEMBERS for none */
    size_t count;
    char delimiter; /* of csv, which has quotes, or a tab */
} ocdm__member_reader;

/* Finds the columns by the header, if the records have one. OCDM_OK, OCDM_BAD_RECORD (a column that is there twice, or one that
 * is named and missing), OCDM_NO_MEMORY. Clear the reader in either case. */
ocdm_status ocdm__member_reader_begin(ocdm__member_reader *reader, const ocdm__records *records, const char *file,
                                      ocdm_error *error);

/* Reads the members of a record that the record reader has accepted. False if one occurs twice or is invalid: see `reason`. */
bool ocdm__member_reader_read(const ocdm__member_reader *reader, const ocdm__records *records, const ocdm__record *record,
                              ocdm__record_members *members);
void ocdm__member_reader_clear(ocdm__member_reader *reader);

/* Start with all bytes zero. */
typedef struct ocdm__records_source {
    /* What to read. */
    ocdm__record_options options; /* its skip_bad is ignored: the reading has one */
    const char *tasks_by; /* the member or column whose values, strings or numbers, are the tasks, instead of `task`; every
                             record must have one; NULL for none */
    const char *names[OCDM__MEMBERS]; /* of members or columns other than the usual ones; NULL: the usual */

    /* What was found. */
    ocdm__label_table task_names; /* with tasks_by: task t is the value with number t. Numbers in numeric order when all values
                                     are numbers, else bytewise. Values are distinguished as text: 1 is not 1.0. */
} ocdm__records_source;

/*
 * Adds the records of a file, of standard input when `path` is NULL or "-".
 *
 * OCDM_OK, OCDM_BAD_ARGUMENT (an option that does not apply to the format), OCDM_BAD_RECORD (with file:line:column; also an id
 * that is there already, or a task beyond 32 bits), OCDM_IO, OCDM_NO_MEMORY, OCDM_LIMIT (over 65,536 values of tasks_by),
 * OCDM_STOPPED. After an error the set can only be cleared. The source must be cleared in either case.
 */
ocdm_status ocdm__records_source_read(ocdm__labelled_set *set, const char *path, ocdm__records_source *source,
                                      ocdm__reading *reading, ocdm_error *error);

/* Releases what was found. */
void ocdm__records_source_clear(ocdm__records_source *source);

#endif
