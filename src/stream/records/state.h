/* Shared by the files of the record reader. All other code includes stream/records/record.h. */
#ifndef OCDM_STREAM_RECORDS_STATE_H
#define OCDM_STREAM_RECORDS_STATE_H

#include "base/error.h"
#include "base/input.h"
#include "stream/records/record.h"

/* A label of the current record: bytes in the window or in the reader's scratch. */
typedef struct ocdm__label_piece {
    const char *text;
    size_t length;
} ocdm__label_piece;

/* A dotted path, or a column's name: the parts are slices of one text. */
typedef struct ocdm__name_path {
    const char *text; /* the whole */
    size_t length;
    ocdm__label_piece *parts;
    size_t part_count;
    bool simple;       /* one part of up to 16 bytes, ... */
    uint64_t words[2]; /* ... which are these */
} ocdm__name_path;

/* Where the current record lies. A csv record may span lines; the first line may start with a byte order mark. */
typedef struct ocdm__record_place {
    size_t line_at; /* where its first line starts */
    size_t at;      /* where the record starts */
    size_t end;     /* where it ends, before the end of line */
    uint64_t line;
} ocdm__record_place;

/* Part of csv's state machine, so that the end of a record can be sought in pieces. */
enum ocdm__csv_state {
    OCDM__CSV_FIELD_START = 0,
    OCDM__CSV_PLAIN,
    OCDM__CSV_QUOTED,
    OCDM__CSV_QUOTE_IN_QUOTED /* the end of a quoted field, or the first of a doubled quote */
};

struct ocdm__records {
    ocdm__input input;
    char *const *paths; /* the files that follow */
    size_t path_count;
    bool file_begins; /* the next line is the first of a file that is not the first */
    size_t file_at;   /* where the current file starts in the window, as long as its first line is the current one */
    ocdm__record_options options;
    enum ocdm__record_format format;
    ocdm__name_path labels, id;
    bool id_required;

    size_t next;              /* where the next line starts in the window */
    uint64_t line;            /* its number, from 1 */
    size_t kept;              /* where the last record that is not released ends; the bytes between are not needed */
    size_t kept_before;       /* the same without the record last read */
    ocdm__record_place place; /* of the current record */

    ocdm__label_table table;
    uint32_t *numbers; /* the labels of the records not released */
    size_t number_count, number_room;
    char *ids; /* the ids of the records not released */
    size_t id_used, id_room;

    ocdm__label_piece *pieces; /* the labels of the current record */
    size_t piece_count, piece_room;
    char *scratch; /* its labels whose escapes or quotes had to be undone; room for a whole record, so that pieces stay valid */
    size_t scratch_used, scratch_room;

    char *header; /* csv, tsv */
    size_t header_length;
    size_t column_count, label_column, id_column; /* id_column is SIZE_MAX when there is none */
    uint8_t *hot;                                 /* by column, with one_hot: whether it is a label */
    uint32_t *hot_at;                             /* by column: where its label is in hot_names */
    size_t hot_used;                              /* of hot_names */
    bool in_range;                                /* the header is between the first and the last column of one_hot */
    char *hot_names;                              /* the labels of the columns, each ended by a NUL */
    char delimiter;                               /* csv, tsv: between columns */
    bool has_read;                                /* some record was good */
    bool separated;                               /* some record had several labels */
    bool lost_count;                              /* csv, tsv: the current record has broken quotes or too few or many fields */

    uint64_t skipped;
    ocdm_error first_skipped;
};

/* ---- opening (record.c) ---- */

/* Reads records from an input that is open, which the reader takes over, on failure too. `path` is for its extension. */
ocdm_status ocdm__records_begin(ocdm__records **records, ocdm__input *input, const char *path,
                                const ocdm__record_options *options, ocdm_error *error);

/* ---- contents (content.c) ---- */

/* Checks the first bytes of the file that starts at `from`, the end of the window or later: decompresses it if it is gzip or
 * zstd, fails with OCDM_BAD_RECORD if it is known not to be records. */
ocdm_status ocdm__records_sniff(ocdm__records *records, size_t from, ocdm_error *error);

/* OCDM_BAD_RECORD when what follows `next` is JSON other than JSON Lines, or is taken for a table. */
ocdm_status ocdm__check_json(ocdm__records *records, ocdm_error *error);

/* ---- lines (record.c) ---- */

/* Finds the next line that is not blank, or, in csv, the lines of the next record; found = false at the end. Too long a record
 * is bad. The place is what the reader moves past either way. */
ocdm_status ocdm__next_place(ocdm__records *records, ocdm__record_place *place, bool *found, ocdm_error *error);

/* Removes what was skipped since the last good record from the window if it is large enough to be worth a move, so that any
 * number of bad records and blank lines may be between two good ones. The current place is invalid afterwards. */
void ocdm__close_gap(ocdm__records *records);

/* Makes the second line of a csv record with several lines the next to be read; false for other records. */
bool ocdm__resume_after_first_line(ocdm__records *records, const ocdm__record_place *place);

/* OCDM_BAD_RECORD with file:line:column of a position in the record and the reason, formatted as by printf. */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
ocdm_status
ocdm__bad_record(const ocdm__records *records, const ocdm__record_place *place, size_t position, ocdm_error *error,
                 const char *hint, const char *format, ...);

/* OCDM_BAD_RECORD when the record has a NUL byte or invalid UTF-8. */
ocdm_status ocdm__check_text(const ocdm__records *records, const ocdm__record_place *place, ocdm_error *error);

/* ---- labels and ids of the current record (record.c) ---- */

/* Makes room for another label of the current record. OCDM_BAD_RECORD when there are too many; `position` is the label's, for
 * the message. */
ocdm_status ocdm__grow_pieces(ocdm__records *records, const ocdm__record_place *place, size_t position, ocdm_error *error);

/* Notes a label of the current record, after which OCDM__LABEL_PADDING bytes may be read. */
static inline ocdm_status ocdm__add_piece(ocdm__records *records, const ocdm__record_place *place, size_t position,
                                          const char *text, size_t length, ocdm_error *error)
{
    if (records->piece_count == records->piece_room) {
        ocdm_status status = ocdm__grow_pieces(records, place, position, error);
        if (status != OCDM_OK)
            return status;
    }
    records->pieces[records->piece_count++] = (ocdm__label_piece){.text = text, .length = length};
    return OCDM_OK;
}

/* Room in `scratch` for a record of `length` bytes; only while it is not in use. */
ocdm_status ocdm__reserve_scratch(ocdm__records *records, size_t length, ocdm_error *error);

/* Turns the noted labels into numbers and adds them to the record: once the whole record is known to be good, so that a bad one
 * leaves no label behind. */
ocdm_status ocdm__add_labels(ocdm__records *records, ocdm__record *record, ocdm_error *error);

/* Room for an id of up to `length` bytes at ids + id_used, and for OCDM__INPUT_PADDING bytes more. */
ocdm_status ocdm__grow_ids(ocdm__records *records, size_t length, ocdm_error *error);
static inline ocdm_status ocdm__reserve_id(ocdm__records *records, size_t length, ocdm_error *error)
{
    return length + OCDM__INPUT_PADDING <= records->id_room - records->id_used ? OCDM_OK
                                                                               : ocdm__grow_ids(records, length, error);
}

/* Gives the record the id that was written to ids + id_used. */
static inline void ocdm__add_id(ocdm__records *records, ocdm__record *record, size_t length)
{
    record->has_id = true;
    record->id_at = records->id_used;
    record->id_length = length;
    records->id_used += length;
}

/* Splits a dotted path. OCDM_OK, OCDM_BAD_ARGUMENT (an empty part), OCDM_NO_MEMORY. */
ocdm_status ocdm__split_path(const char *text, ocdm__name_path *path, ocdm_error *error);

/* ---- formats: each reads the record at `place`; the caller has emptied `pieces` and filled in the record's place ---- */

/* Reads a record of the simplest kind; false if it is of another kind or bad; the reader's state is then partly changed. */
bool ocdm__read_simple(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record);
ocdm_status ocdm__read_jsonl(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error);
ocdm_status ocdm__read_fields(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error);
ocdm_status ocdm__read_svm(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error);

/* Notes the labels between separators in a text, without the spaces around them; empty ones are passed over. */
ocdm_status ocdm__add_separated(ocdm__records *records, const ocdm__record_place *place, size_t position, const char *at,
                                const char *end, ocdm_error *error);

/* Whether the line at `place` is the header again; sets `other` if it is a different header that names the column of the
 * labels. */
bool ocdm__is_header_again(const ocdm__records *records, const ocdm__record_place *place, bool *other);

/* Reads the header of a csv or tsv file. */
ocdm_status ocdm__read_header(ocdm__records *records, const ocdm__record_place *place, ocdm_error *error);

/* The position of the newline that ends the csv record, from `bytes` on, or `size` when it is not there; the state carries over
 * from one piece to the next. */
size_t ocdm__find_csv_end(enum ocdm__csv_state *state, char delimiter, const char *bytes, size_t size);

/* Whether the line is an XMC header: three integers. */
bool ocdm__is_xmc_header(const char *line, size_t length);

/* Whether the line has a token such as 12:0.5. */
bool ocdm__has_feature(const char *line, size_t length);

/* ---- tokens of a LIBSVM or XMC line ---- */

/* Tokens are separated by blanks; a # at the start of a token starts a comment. `at` == `end` when no token is left. */
struct ocdm__svm_token {
    const char *at, *end;
};

static inline bool ocdm__is_svm_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static inline struct ocdm__svm_token ocdm__next_svm_token(const char *at, const char *end)
{
    while (at < end && ocdm__is_svm_blank(*at))
        at++;
    if (at < end && *at == '#')
        at = end;
    struct ocdm__svm_token token = {.at = at, .end = at};
    while (token.end < end && !ocdm__is_svm_blank(*token.end))
        token.end++;
    return token;
}

#endif
