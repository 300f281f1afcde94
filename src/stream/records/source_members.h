/*
 * What a record says beyond its id and labels: task, split, image, row, and one more by any name. In JSON Lines they are
 * members of the record itself, not of objects inside it; in csv and tsv columns, an empty field being none.
 */
#ifndef OCDM_STREAM_RECORDS_SOURCE_MEMBERS_H
#define OCDM_STREAM_RECORDS_SOURCE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/labelled_set.h"

enum ocdm__member {
    OCDM__MEMBER_TASK,  /* a whole number from 0 */
    OCDM__MEMBER_SPLIT, /* "train" or "test" */
    OCDM__MEMBER_IMAGE, /* a relative path that does not lead out of its root */
    OCDM__MEMBER_ROW,   /* a whole number from 0 */
    OCDM__MEMBER_OTHER, /* a string or number, by a name of the caller's */
    OCDM__MEMBERS
};

/* The longest image path, and the longest value of the other member. */
#define OCDM__LONGEST_MEMBER 4095

/* The members of one record. A member that is not in `found` has its value from an earlier record, or none. */
typedef struct ocdm__record_members {
    unsigned found; /* a bit for each member that is there: 1u << OCDM__MEMBER_TASK ... */
    uint64_t task, row;
    enum ocdm__part part;
    size_t image_length, other_length;
    char image[OCDM__LONGEST_MEMBER + 1 + OCDM__LABEL_PADDING];
    char other[OCDM__LONGEST_MEMBER + 1 + OCDM__LABEL_PADDING];
    char reason[256]; /* of a bad record: what is wrong ... */
    size_t at;        /* ... and where, in bytes from the start of the record */
} ocdm__record_members;

/* Which members matter: a bit for each; the others are not looked at. `other` is the name of OCDM__MEMBER_OTHER. */
typedef struct ocdm__wanted_members {
    unsigned which;
    const char *other;
} ocdm__wanted_members;

/* Reads the members of a record that the record reader has accepted as JSON. False when one is there twice or not as it should
 * be: see `reason`. */
bool ocdm__read_json_members(const char *bytes, size_t length, const ocdm__wanted_members *wanted,
                             ocdm__record_members *members);

/* ---- csv and tsv (source_fields.c) ---- */

/* Which column is which member. Start with all bytes zero. */
typedef struct ocdm__member_columns {
    uint8_t *member; /* by column; OCDM__MEMBERS for none */
    size_t count;
    char delimiter; /* , for csv, which has quotes, or a tab */
} ocdm__member_columns;

/* Finds the columns by the header, which the record reader has accepted. OCDM_OK, OCDM_BAD_RECORD (a column that is there
 * twice, or no column of the other name), OCDM_NO_MEMORY. To be released in either case: `member`. */
ocdm_status ocdm__find_member_columns(ocdm__member_columns *columns, const char *header, size_t length,
                                      const ocdm__wanted_members *wanted, const char *file, ocdm_error *error);

/* Reads the members of a record that the record reader has accepted. */
bool ocdm__read_field_members(const char *bytes, size_t length, const ocdm__wanted_members *wanted,
                              const ocdm__member_columns *columns, ocdm__record_members *members);

/* ---- for both ---- */

/* A value of a member: in JSON it is a string or a number; a field of a table will do for either. */
typedef struct ocdm__member_value {
    const char *text; /* escapes and quotes undone */
    size_t length;
    bool string, whole, number; /* what it may be taken for */
} ocdm__member_value;

/* The name of a member. */
const char *ocdm__member_name(enum ocdm__member member, const ocdm__wanted_members *wanted);

/* Keeps a value. False, with a reason, when it is not as it should be. */
bool ocdm__take_member(ocdm__record_members *members, enum ocdm__member member, const ocdm__wanted_members *wanted,
                       const ocdm__member_value *value);

#endif
