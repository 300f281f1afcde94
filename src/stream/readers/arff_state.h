/* What the files of the ARFF reader share. Everyone else includes stream/readers/arff.h. */
#ifndef OCDM_STREAM_READERS_ARFF_STATE_H
#define OCDM_STREAM_READERS_ARFF_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"
#include "stream/label_table.h"
#include "stream/readers/table_lines.h"

enum ocdm__arff_kind {
    OCDM__ARFF_NUMERIC,
    OCDM__ARFF_BINARY,  /* nominal, of the values 0 and 1 */
    OCDM__ARFF_NOMINAL, /* any other list of values */
    OCDM__ARFF_TEXT     /* string, date */
};

typedef struct ocdm__arff_attribute {
    enum ocdm__arff_kind kind;
    float omitted;          /* what it is where a sparse row leaves it out */
    uint32_t label;         /* its number among the labels, or UINT32_MAX */
    size_t feature;         /* its column among the features, when it is no label */
    ocdm__line_place place; /* where it is declared */
    size_t column;          /* its name's, in bytes from 0 */
} ocdm__arff_attribute;

/* A name or value: quotes and escapes undone. */
typedef struct ocdm__arff_token {
    const char *at; /* in the file */
    const char *text;
    size_t length;
    bool quoted;
} ocdm__arff_token;

/* A table that is open. */
typedef struct ocdm__arff {
    ocdm__table_lines lines;
    const char *at; /* how far the line at hand is read */

    ocdm__label_table names; /* of attributes, by number */
    ocdm__arff_attribute *attributes;
    size_t attribute_count, attribute_room;
    ocdm__label_table values; /* of nominal attributes: the attribute's number, four bytes, and the value */
    uint32_t value_count;
    float *value_numbers; /* what each stands for */
    size_t value_room;

    uint32_t *label_attributes; /* by label, in the order of the XML file */
    size_t label_count, label_room;
    size_t feature_count;
    ocdm__line_place data; /* where the rows start */

    char *scratch; /* the token at hand */
    size_t scratch_room;
    const char *trouble; /* what kind of bad row the last one was, static text */
} ocdm__arff;

/* ---- arff_token.c ---- */

/* The next byte of the line that is no blank, or -1 at its end or at a comment. */
int ocdm__arff_peek(ocdm__arff *arff);

/* The name or value that comes next, which ocdm__arff_peek has found not to be the end, nor a comma or brace. Lives until the
 * next call. OCDM_OK, OCDM_BAD_RECORD (no closing quote), OCDM_NO_MEMORY. */
ocdm_status ocdm__arff_next_token(ocdm__arff *arff, ocdm__arff_token *token, ocdm_error *error);

/* Copies bytes to the scratch, `before` bytes into it, with OCDM__LABEL_PADDING after them; NULL when memory is out. */
char *ocdm__arff_copy(ocdm__arff *arff, const char *text, size_t length, size_t before);

/* The number of a value of a nominal attribute; a new one when it is not there. OCDM_OK, OCDM_NO_MEMORY, OCDM_LIMIT. */
ocdm_status ocdm__arff_find_value(ocdm__arff *arff, size_t attribute, const ocdm__arff_token *token, uint32_t *number,
                                  ocdm_error *error);

/* ---- arff_header.c ---- */

/* Opens the table and reads everything before its rows. To be closed in either case. */
ocdm_status ocdm__arff_open(ocdm__arff *arff, const char *path, ocdm_error *error);

/* Gives everything back. */
void ocdm__arff_close(ocdm__arff *arff);

/* ---- arff_xml.c ---- */

/* Reads which attributes are labels, and numbers labels and features. */
ocdm_status ocdm__arff_read_labels(ocdm__arff *arff, const char *xml_path, ocdm_error *error);

/* ---- arff_row.c ---- */

/* Makes the next line that is a row the one at hand; false at the end. */
bool ocdm__arff_next_row(ocdm__arff *arff);

/* Reads the row at hand: features unless NULL, and for each label whether it is there. OCDM_OK, OCDM_BAD_RECORD,
 * OCDM_NO_MEMORY, OCDM_LIMIT. */
ocdm_status ocdm__arff_read_row(ocdm__arff *arff, float *features, unsigned char *labels, ocdm_error *error);

#endif
